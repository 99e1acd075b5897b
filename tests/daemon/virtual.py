"""Table, link and core in one process on one virtual clock: no thread, no socket, no sleep.

The same core and mirror as in the daemon, the same link on both ends, the journal's own store in memory.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from firmware_protocol import messages as m
from firmware_protocol.deliveries import Delivery, LinkFailed, LinkUp
from firmware_protocol.link import Link
from firmware_protocol.schema import Schema
from hardware_sim.people import Progress
from hardware_sim.record import Game
from hardware_sim.table import Options, SimTable
from tablectl.bus.payloads import EventMessage, PublicView, Stamp
from tablectl.daemon.clock import ManualClock
from tablectl.daemon.core import Change, TableCore
from tablectl.daemon.displays import desired
from tablectl.daemon.ids import SeededIds
from tablectl.daemon.motions import motion_of
from tablectl.engine.game.events import event_from_json
from tablectl.engine.game.state import GameState
from tablectl.journal import CommitResult, StoredEvent
from tablectl.journal.store import Store
from tablectl.mirror.mirror import Mirror, MirrorOptions
from tablectl.mirror.submit import Accepted, Fact, Refused, Request
from tablectl.mirror.tags import TagMap, load_tags

STREAM = "00000000-0000-4000-8000-000000000000"
WALL_0 = 1_700_000_000_000


@dataclass
class Bridge:
    """One table and its core, played on a virtual clock."""

    game: Game
    options: Options
    tags: TagMap = field(default_factory=TagMap)
    mirror_options: MirrorOptions = field(default_factory=MirrorOptions)
    on_progress: Callable[[Bridge, Progress], None] = lambda _b, _p: None
    on_change: Callable[[Change, GameState], None] = lambda _c, _s: None
    seed: str = "virtual"
    schema: Schema = m.SCHEMA
    """What the host speaks."""

    def __post_init__(self) -> None:
        self.clock = ManualClock(0, WALL_0)
        self.store = Store(None, new_id=lambda: STREAM)
        self.sim = SimTable(self.options, self.game, self._progress)
        rng = random.Random(self.seed)
        self.link = Link.host(0, nonce=lambda: rng.getrandbits(32), schema=self.schema)
        self.core = self.make_core()
        self.events: list[StoredEvent] = []
        self.public: list[bytes] = []
        self.transactions = 0
        self.refused: list[tuple[str, str]] = []
        self._asked: list[Progress] = []
        self.link.connect(0)

    def make_core(self) -> TableCore:
        mirror = Mirror(self.tags, self.mirror_options)
        return TableCore("t1", mirror=mirror, clock=self.clock, ids=SeededIds(self.seed))

    # ------------------------------------------------------------------ from outside

    def request(self, name: str, data: dict[str, Any], role: str = "referee") -> Accepted | Refused:
        request = Request("t1", name, data, "test", f"x{self.transactions}", role)
        change = self.core.handle_request(request)
        self._commit(change)
        assert change.answer is not None
        return change.answer

    def start(self, ruleset: str = "tenhou", **data: Any) -> None:
        """Announce the record's game and let people begin."""
        self.run(until=lambda: self.core.capabilities != 0)
        players = ["p0", "p1", "p2", "p3"]
        first = self.game.hands[0].dealer
        answer = self.request(
            "game/start", {"ruleset": ruleset, "players": players, "first_dealer": first, **data}
        )
        assert isinstance(answer, Accepted), answer
        self.sim.begin()

    def run(
        self, until: Callable[[], bool], limit_s: float = 36_000, patience_s: float = 3_600
    ) -> None:
        """Let virtual time pass until something is so.

        Fails when nothing can happen any more, or nothing was written down for `patience_s`.
        """
        now = self.clock.mono_ms() * 1000
        final = now + int(limit_s * 1e6)
        written, end = self.transactions, final
        while not until():
            if self.transactions != written or end == final:
                written, end = self.transactions, min(final, now + int(patience_s * 1e6))
            if not self._exchange(now):
                following = self._next(now)
                if following is None or following > end:
                    raise AssertionError(f"nothing more happens; people wait for {self.waiting()}")
                now = max(now, following)
                self.clock.advance(now // 1000 - self.clock.mono_ms())
                self._tick(now)

    def play(self, patience_s: float = 3_600) -> None:
        """Run to the end of the record, the last result settled."""
        self.run(until=lambda: self.sim.over, patience_s=patience_s)
        self.rest(1.0)

    def rest(self, seconds: float) -> None:
        """Let so much time pass."""
        until = self.clock.mono_ms() + int(seconds * 1000)
        self.run(until=lambda: self.clock.mono_ms() >= until)

    def waiting(self) -> str:
        return self.sim.agenda.waiting_for("people")

    @property
    def state(self) -> GameState:
        return self.core.state

    # ------------------------------------------------------------------ inside

    def _progress(self, progress: Progress) -> None:
        self._asked.append(progress)

    def _exchange(self, now: int) -> bool:
        moved = False
        down = self.link.data_to_send(now)
        if down:
            moved = True
            self.sim.receive(down, now)
        self.sim.advance(now)
        up = self.sim.data_to_send(now)
        if up:
            moved = True
            for item in self.link.receive(up, now):
                self._take(item, now)
        asked, self._asked = self._asked, []
        for progress in asked:
            moved = True
            self.on_progress(self, progress)
        return moved

    def _next(self, now: int) -> int | None:
        times = [t for t in (self.sim.next_deadline, self.link.next_deadline) if t is not None]
        if self.core.wake_at is not None:
            times.append(self.core.wake_at * 1000)
        later = [t for t in times if t > now]
        return min([*later, now + 1000] if len(later) < len(times) else later, default=None)

    def _tick(self, now: int) -> None:
        due = self.core.wake_at
        if due is not None and due <= self.clock.mono_ms():
            change = self.core.handle_timer()
            if change is not None:
                self._commit(change)
        for item in self.link.poll(now):
            self._take(item, now)

    def _take(self, item: object, now: int) -> None:
        if isinstance(item, LinkUp):
            self._commit(self.core.handle_link(True))
            change = self.core.handle_device(item.peer.capabilities, {})
            if change is not None:
                self._commit(change)
            self._show()
        elif isinstance(item, LinkFailed):
            self._commit(self.core.handle_link(False))
            self.link.connect(now)
        elif isinstance(item, Delivery) and item.ticket:
            self._deliver(item, now)

    def _deliver(self, item: Delivery, now: int) -> None:
        if item.event_no is not None:
            fact = Fact("t1", item.message, item.boot, item.event_no, item.uptime_ms)
            self._commit(self.core.handle_fact(fact))
            if isinstance(item.message, m.ActionResult):
                self.core.action_changed("lift", settled=True)
        self.link.accept(item)

    def _commit(self, change: Change) -> CommitResult:
        (result,) = self.store.commit_many([change.transaction])
        assert isinstance(result, CommitResult), result
        self.transactions += 1
        self.refused += [(c.type, r.code) for c, r in change.refused]
        self.events += result.events
        self.public += [public_bytes(e) for e in result.events if "public" in e.seqs]
        for action in result.actions:
            motion = motion_of(action, self.clock.wall_ms(), self.clock.mono_ms())
            self.link.send(motion.message, self.clock.mono_ms() * 1000)
        self._show()
        self.on_change(change, self.core.state)
        return result

    def _show(self) -> None:
        for message in desired(self.core.state, self.core.capabilities):
            self.link.show(message)


def public_bytes(event: StoredEvent) -> bytes:
    """The payload of the public feed, as the bus would send it."""
    view = PublicView(event_from_json(json.loads(event.body)))
    stamp = Stamp(
        event.seqs["public"],
        event.event_id,
        event.epoch,
        event.t_wall_ms,
        event.t_mono_ms,
        event.time_synced,
    )
    return EventMessage(STREAM, stamp, view).encode()


def tiles_bridge(game: Game, folder: Path, *, seed: int = 1, **options: Any) -> Bridge:
    """A bridge at level tiles, the tile file of its simulator read."""
    opts = Options(level="tiles", seed=seed, hold=True, **options)
    path = folder / "tiles.toml"
    SimTable(opts, game).write_tiles_toml(path)
    return Bridge(game, opts, load_tags(path))
