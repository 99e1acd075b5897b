"""A table whose board restarts, loses events or is unplugged at a chosen event: driver and core on one virtual clock.

Like `virtual.Bridge`, with the daemon's own driver between link and core: handshake, snapshot and resync are the real ones.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from firmware_protocol.messages import TileEvent
from firmware_protocol.schema import Kind, Message
from firmware_protocol.vocabulary import ZoneKind, zone_kind
from hardware_sim.board import Firmware
from hardware_sim.record import Game
from hardware_sim.table import Options, SimTable
from tablectl.daemon.core import Change
from tablectl.daemon.displays import desired
from tablectl.daemon.motions import motion_of
from tablectl.journal import CommitResult
from tablectl.mirror.tags import load_tags
from tablectl.table.device import FramedDevice
from tablectl.table.drivers import (
    AskUnsettled,
    DriverContext,
    KnownBoot,
    MarkSent,
    Motion,
    Output,
    Reopen,
    ReportFact,
    SettleMotion,
    Standing,
)
from tablectl.table.options import PortOptions, TableOptions
from tests.daemon.virtual import Bridge

PATIENCE = 3
"""Presses of the start button in vain after which people call somebody."""


@dataclass
class GapBridge(Bridge):
    """A bridge with the real driver, and a fault at the board's k-th event."""

    at_event: int = 0
    """Number of the device event, counted from the start, in which the fault happens; 0: never."""
    fault: Callable[[GapBridge], None] = lambda _bridge: None
    sent: list[str] = field(default_factory=list)
    """What the device reported so far: the zone of a tile event, the name of any other."""

    def __post_init__(self) -> None:
        super().__post_init__()
        rng = random.Random(self.seed)
        context = DriverContext(
            TableOptions("t1", PortOptions("virtual")), KnownBoot(),
            lambda: rng.getrandbits(32), lambda: 0,
        )  # fmt: skip
        self.device = FramedDevice(context)
        self.motions: dict[int, Motion] = {}
        self.kinds: dict[int, str] = {}
        self.facts: set[tuple[int, int]] = set()
        self.plugged = True
        self.reached = self.up = False
        self.fault_at: tuple[int, str] | None = None
        """(hand of the record, event of the board) at which the fault happened."""
        self.later: list[tuple[int, Callable[[], None]]] = []
        self._watch_board()
        self.device.opened(0)

    # ------------------------------------------------------------------ faults

    def _watch_board(self) -> None:
        """Count what the board sends; `fault` happens as soon as the event has its number."""
        link = self.sim.board.link
        send = link.send

        def counted(message: Message, now: int) -> Any:
            answer = send(message, now)
            if message.SPEC.kind is Kind.EVENT:
                self.sent.append(_name(message))
                if len(self.sent) == self.at_event:
                    hand = self.sim.people.hand
                    self.fault_at = (-1 if hand is None else hand.number, self.sent[-1])
                    self.fault(self)
            return answer

        link.send = counted  # type: ignore[method-assign] # the board's every event passes here

    def unplug(self) -> None:
        """The cable comes out."""
        self.plugged = False
        self.device.closed(self.now)
        self._outputs()
        self._down()

    def plug(self) -> None:
        """The cable is in again."""
        self.plugged = True
        self.device.opened(self.now)
        self._outputs()

    def after(self, seconds: float, do: Callable[[], None]) -> None:
        """Do it so much later."""
        self.later.append((self.now + round(seconds * 1e6), do))

    def start(self, ruleset: str = "tenhou", **data: Any) -> None:
        """Announce the record's game once the board has told its state, and let people begin."""
        self.run(until=lambda: self.up)
        super().start(ruleset, **data)

    def play(self) -> None:
        """Until the record is played, or people press start in vain: they wait for somebody to settle it."""
        people = self.sim.people
        self.run(until=lambda: self.sim.over or people.pressed_again > PATIENCE)
        self.run(until=lambda: self.up and not self.later)
        self.rest(20.0)

    # ------------------------------------------------------------------ inside

    @property
    def now(self) -> int:
        return self.clock.mono_ms() * 1000

    def _exchange(self, now: int) -> bool:
        moved = False
        for item in [item for item in self.later if item[0] <= now]:
            self.later.remove(item)
            item[1]()
            moved = True
        down = self.device.data_to_send(now) if self.plugged else b""
        if down:
            moved = True
            self.sim.receive(down, now)
        self.sim.advance(now)
        up = self.sim.data_to_send(now)
        if up and self.plugged:
            moved = True
            self.device.receive(up, now)
        moved |= self._outputs()
        asked, self._asked = self._asked, []
        for progress in asked:
            moved = True
            self.on_progress(self, progress)
        return moved

    def _next(self, now: int) -> int | None:
        times = [self.sim.next_deadline, *(when for when, _ in self.later)]
        if self.plugged:
            times.append(self.device.next_deadline)
        if self.core.wake_at is not None and self.reached:
            times.append(self.core.wake_at * 1000)
        known = [t for t in times if t is not None]
        later = [t for t in known if t > now]
        return min([*later, now + 1000] if len(later) < len(known) else later, default=None)

    def _tick(self, now: int) -> None:
        due = self.core.wake_at
        if due is not None and due <= self.clock.mono_ms() and self.reached:
            change = self.core.handle_timer()
            if change is not None:
                self._commit(change)
        if self.plugged:
            self.device.poll(now)
            self._outputs()

    def _outputs(self) -> bool:
        moved = False
        while outputs := self.device.take():
            for output in outputs:
                moved = True
                self.device.done(output, self.now, self._answer(output))
        return moved

    def _answer(self, output: Output) -> list[Motion]:
        match output:
            case ReportFact():
                fact = output.fact
                key = (fact.boot_id, fact.event_no)
                if fact.boot_id is None or fact.event_no is None or key not in self.facts:
                    self.facts.add(key)  # type: ignore[arg-type] # None only where nobody looks
                    self._commit(self.core.handle_fact(fact))
            case MarkSent():
                motion = self.motions[output.cmd_id]
                self.motions[output.cmd_id] = Motion(
                    motion.cmd_id, motion.message, motion.deadline_ms, True
                )
            case SettleMotion():
                self.motions.pop(output.cmd_id, None)
                self.core.action_changed(self.kinds[output.cmd_id], settled=True)
            case AskUnsettled():
                return list(self.motions.values())
            case Standing():
                self._standing(output)
            case Reopen():
                self.after(1.0, lambda: self.device.opened(self.now))
        return []

    def _standing(self, standing: Standing) -> None:
        self.up = standing.stand == "up"
        if standing.stand not in ("resync", "up"):
            self._down()
            return
        if not self.reached:
            self.reached = True
            self._commit(self.core.handle_link(True, reset=standing.reset))
        if standing.device is not None:
            change = self.core.handle_device(standing.device.capabilities, {})
            if change is not None:
                self._commit(change)
        self._show()

    def _down(self) -> None:
        if self.reached:
            self.reached = False
            self._commit(self.core.handle_link(False))

    def _commit(self, change: Change) -> CommitResult:
        (result,) = self.store.commit_many([change.transaction])
        assert isinstance(result, CommitResult), result
        self.transactions += 1
        self.refused += [(c.type, r.code) for c, r in change.refused]
        self.events += result.events
        for action in result.actions:
            motion = motion_of(action, self.clock.wall_ms(), self.clock.mono_ms())
            self.motions[action.cmd_id] = motion
            self.kinds[action.cmd_id] = action.kind
            self.device.command(motion, self.now)
        self._show()
        self.on_change(change, self.core.state)
        return result

    def _show(self) -> None:
        self.device.desire(desired(self.core.state, self.core.capabilities), self.now)


def _name(message: Message) -> str:
    if isinstance(message, TileEvent):
        return ZoneKind(zone_kind(message.zone)).name.lower()
    return message.SPEC.name


def gap_bridge(
    game: Game, folder: Path, *, at_event: int = 0,
    fault: Callable[[GapBridge], None] = lambda _bridge: None, capacity: int = 128, **options: Any,
) -> GapBridge:  # fmt: skip
    """A table at level tiles with a fault at one of its board's events."""
    opts = Options(
        level="tiles", seed=1, hold=True, firmware=Firmware(event_capacity=capacity), **options
    )
    path = folder / "tiles.toml"
    SimTable(opts, game).write_tiles_toml(path)
    return GapBridge(game, opts, load_tags(path), at_event=at_event, fault=fault)
