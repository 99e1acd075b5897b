"""A hall for a test: mosquitto, simulated tables on ptys, the daemon, subscribers, and what a technician reads."""

from __future__ import annotations

import asyncio
import contextlib
import io
import logging
import random
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from hardware_sim.people import Progress
from hardware_sim.record import Game, parse
from hardware_sim.runner import RunConfig, RunningTable
from hardware_sim.table import Options
from hardware_sim.tags import full_set
from tablectl.bus.broker import Broker
from tablectl.bus.topics import Topics
from tablectl.bus.watcher import Seen, Watcher
from tablectl.config import load
from tablectl.daemon import logs
from tablectl.daemon.app import Daemon
from tablectl.daemon.clock import Clock, ManualClock
from tablectl.daemon.unit import TableUnit
from tablectl.doctor.examine import Plan, examine
from tablectl.doctor.finding import Finding
from tests.first_light.brokers import free_port
from tests.sim.games import AFTER_SHORT, short

LIMIT_S = 60.0
SEED = 3
"""Of the first table; each further one has the next, so that tables do not go in step."""
FAST_SENSORS = (
    "[tables.sensors]\nsettle_ms = 0\nmissed_reads = 1\nread_period_ms = 10\nsame_tag_ms = 0\n"
)


def evening(hands: int, seed: int = 1) -> dict[str, Any]:
    """A record of `hands` hands in which everybody discards what he drew and nobody is tenpai."""
    rounds = []
    for number in range(hands):
        wall = full_set(reds=True)
        random.Random(f"{seed}/{number}").shuffle(wall)
        dealer = number % 4
        dealt = ["".join(wall[13 * seat : 13 * seat + 13]) for seat in range(4)]
        events: list[dict[str, Any]] = []
        for turn in range(70):
            seat, tile = (dealer + turn) % 4, wall[52 + turn]
            events.append({"e": "draw", "p": seat, "t": tile})
            events.append({"e": "discard", "p": seat, "t": tile, "tg": True})
        events.append({"e": "drawn", "reason": "exhaustive", "tenpai": [False] * 4})
        rounds.append(
            {"wind": "ESWN"[number // 4], "num": number % 4 + 1, "honba": number, "deposits": 0,
             "dealer": dealer, "dora": wall[130], "hands": dealt, "events": events}
        )  # fmt: skip
    return short() | {"id": f"evening{hands}", "rounds": rounds}


class Hall:
    """Tables by id; the daemon runs in this loop on real ptys and a real broker."""

    def __init__(
        self,
        folder: Path,
        broker: int,
        tables: Sequence[str] = ("t1",),
        *,
        level: str = "tiles",
        record: dict[str, Any] | None = None,
        faults: dict[str, str] | None = None,
        mqtt: str = "",
        journal: str = "",
        speed: float | None = None,
        operator: bool = False,
        clock: Clock | None = None,
        make_daemon: Callable[..., Daemon] = Daemon,
    ) -> None:
        self.folder = folder
        self.broker = broker
        self.clock = clock
        self._make_daemon = make_daemon
        self.bell = asyncio.Event()
        self.asked: asyncio.Queue[tuple[str, Progress]] = asyncio.Queue()
        """Tables whose people wait for `operator_done` after a hand, and after which."""
        game = parse(record or short(), SEED)
        waits = operator or level != "tiles"
        self.tables = {
            name: self._table(name, game, level, speed, waits, SEED + number, faults or {})
            for number, name in enumerate(tables)
        }
        self.web_port = free_port()
        self.file = folder / "hall.toml"
        self.file.write_text(
            f'[mqtt]\nurl = "mqtt://127.0.0.1:{broker}"\n{mqtt}[web]\nport = {self.web_port}\n'
            f'[journal]\npath = "journal.db"\n{journal}'
            + "".join(
                f'[[tables]]\nid = "{name}"\nport = "{table.path}"\n'
                + (f'tiles = "{name}.toml"\n' if level == "tiles" else "")
                + (FAST_SENSORS if speed is None else "")
                for name, table in self.tables.items()
            ),
            encoding="utf-8",
        )
        self.daemon: Daemon | None = None
        self._life: asyncio.Task[None] | None = None
        self._boards: list[asyncio.Task[Any]] = []
        self._text = io.StringIO()
        self.links: dict[str, list[dict[str, Any]]] = {name: [] for name in tables}
        """Values of the topic `link` in the order a subscriber saw them."""
        self.watchers: dict[str, Watcher] = {}

    def _table(
        self,
        name: str,
        game: Game,
        level: str,
        speed: float | None,
        waits: bool,
        seed: int,
        faults: dict[str, str],
    ) -> RunningTable:
        script = None
        if name in faults:
            script = self.folder / f"{name}.faults"
            script.write_text(faults[name] + "\n", encoding="utf-8")
        return RunningTable(
            RunConfig(
                Options(
                    level=level, seed=seed, speed=speed, hold=True,
                    operator=frozenset({"result"} if waits else ()),
                ),
                link=self.folder / f"tty-{name}",
                tiles_toml=self.folder / f"{name}.toml", faults=str(script) if script else None,
                exit_at_end=False, on_event=lambda progress: self._heard(name, progress),
            ),
            game,
        )  # fmt: skip

    def _heard(self, name: str, progress: Progress) -> None:
        self.bell.set()
        if progress.waits:
            self.asked.put_nowait((name, progress))

    # ------------------------------------------------------------------ life

    @contextlib.asynccontextmanager
    async def open(self, *, daemon: bool = True) -> AsyncIterator[Hall]:
        """Boards powered, the daemon running (or for the caller to run); everything closed at the end."""
        with self._technician() if daemon else contextlib.nullcontext():
            self._boards = [asyncio.create_task(table.run()) for table in self.tables.values()]
            try:
                if daemon:
                    await self.start()
                yield self
            finally:
                await self.stop()
                for table in self.tables.values():
                    table.stop()
                await asyncio.gather(*self._boards, return_exceptions=True)

    @contextlib.contextmanager
    def _technician(self) -> Iterator[None]:
        """The log as it would stand in the journal of systemd, kept in a text."""
        before = list(logging.getLogger().handlers)
        level = logging.getLogger().level
        logs.configure("info", "text", _Ringing(self._text, self.bell))
        try:
            yield
        finally:
            logging.getLogger().handlers[:] = before
            logging.getLogger().setLevel(level)

    async def start(self) -> None:
        """Start the daemon, again where it was stopped."""
        settings = load(self.file)
        self.daemon = self._make_daemon(settings, clock=self.clock)
        self._life = asyncio.create_task(self.daemon.run())
        ready = asyncio.create_task(self.daemon.ready.wait())
        await asyncio.wait({self._life, ready}, return_when=asyncio.FIRST_COMPLETED)
        if not self.daemon.ready.is_set():
            ready.cancel()
            await self._life
        for unit in self.daemon.units.values():
            self._listen(unit)

    def _listen(self, unit: TableUnit) -> None:
        wake = unit.wake_pages

        def ring() -> None:
            wake()
            self.bell.set()

        unit.wake_pages = ring

    async def stop(self) -> None:
        """Stop the daemon in order."""
        if self.daemon is not None and self._life is not None:
            self.daemon.stop()
            await self._life
            self.daemon = self._life = None

    def unit(self, table: str = "t1") -> TableUnit:
        assert self.daemon is not None
        return self.daemon.units[table]

    @contextlib.asynccontextmanager
    async def subscriber(
        self, table: str = "t1", port: int | None = None
    ) -> AsyncIterator[Watcher]:
        """Somebody who hears all of a table."""

        def retained(topic: str, value: Any) -> None:
            if topic.endswith("/link"):
                self.links[table].append(value)

        watcher = Watcher(
            Broker("127.0.0.1", port or self.broker), Topics("home", table), on_retained=retained,
            on_event=lambda _event: self.bell.set(),
        )  # fmt: skip
        self.watchers[table] = watcher
        async with watcher.connected():
            yield watcher

    @contextlib.asynccontextmanager
    async def subscribers(self) -> AsyncIterator[None]:
        """One for each table."""
        async with contextlib.AsyncExitStack() as stack:
            for name in self.tables:
                await stack.enter_async_context(self.subscriber(name))
            yield

    # ------------------------------------------------------------------ waiting

    async def until(self, condition: Callable[[], bool], limit_s: float = LIMIT_S) -> None:
        """Wait until something is so; the log is told when it does not come."""
        try:
            async with asyncio.timeout(limit_s):
                while not condition():
                    self.bell.clear()
                    # Most changes ring; figures inside the simulator do not.
                    with contextlib.suppress(TimeoutError):
                        await asyncio.wait_for(self.bell.wait(), 0.1)
        except TimeoutError:
            raise AssertionError(f"it did not come; the log says:\n{self.log()}") from None

    async def up(self, *tables: str) -> None:
        """Until boards are up and, where the broker is there, everything is online."""
        for name in tables or tuple(self.tables):
            await self.until(lambda name=name: self._is_up(name))  # type: ignore[misc]

    def _is_up(self, name: str) -> bool:
        status = self.unit(name).status
        return status is not None and status.state == "up"

    async def online(self, table: str = "t1") -> None:
        await self.until(lambda: self.bus_state(table) == "online")

    def bus_state(self, table: str = "t1") -> str:
        bus = self.unit(table).bus
        return bus.status.state if bus is not None else "off"

    # ------------------------------------------------------------------ play

    async def begin(self, *tables: str) -> None:
        """Announce the game to the daemon itself, and let people press start."""
        from tablectl.mirror.submit import Accepted, Request

        for name in tables or tuple(self.tables):
            data = {"ruleset": "tenhou", "players": list("abcd"), "first_dealer": 0}
            answer = await self.unit(name).writer.request(
                Request(name, "game/start", data, "test", f"start-{name}", "referee")
            )
            assert isinstance(answer, Accepted), answer
            self.tables[name].begin()

    async def played(self, *tables: str) -> None:
        """Until people have played the record and the displays rest."""
        for name in tables or tuple(self.tables):
            playing = asyncio.ensure_future(self.tables[name].played())
            board = self._boards[list(self.tables).index(name)]
            done, _ = await asyncio.wait(
                {playing, board}, timeout=LIMIT_S, return_when=asyncio.FIRST_COMPLETED
            )
            if playing in done:
                continue
            playing.cancel()
            if board in done:
                board.result()
            people = self.tables[name].table.agenda.waiting_for("people")
            raise AssertionError(f"{name}: people wait for {people!r}; the log says:\n{self.log()}")

    async def published(self, table: str = "t1") -> Seen:
        """Until a subscriber has every event there is, and the last snapshot."""
        unit = self.unit(table)
        seen = self.watchers[table].seen
        await self.until(lambda: seen.last_seq == unit.source.last_seq() and not unit.waiting)
        await self.until(
            lambda: (seen.retained.get("state") or {}).get("last_seq") == seen.last_seq
        )
        return seen

    # ------------------------------------------------------------------ what people saw

    def log(self) -> str:
        """What the technician reads."""
        return self._text.getvalue()

    def lines(self, *words: str) -> list[str]:
        """Log lines with all these words."""
        return [line for line in self.log().splitlines() if all(word in line for word in words)]

    def report(self, table: str = "t1") -> dict[str, Any]:
        return self.tables[table].table.report()

    async def doctor(self, file: Path | None = None) -> dict[str, Finding]:
        """Findings that are not ok, by code."""
        path = file or self.file
        clock = ManualClock(0, 1_790_000_000_000)
        marked = len(self._text.getvalue())
        found = await examine(load(path), path, Plan(wait_s=1.0), clock=clock)
        # The doctor greets boards with a connection of its own: its lines are no part of the daemon's.
        own = "(it has not worked since the start)"
        tail = [ln for ln in self._text.getvalue()[marked:].splitlines(True) if own not in ln]
        self._text.seek(marked)
        self._text.truncate()
        self._text.write("".join(tail))
        return {finding.code: finding for finding in found if finding.status != "ok"}


class _Ringing(io.TextIOBase):
    def __init__(self, text: io.StringIO, bell: asyncio.Event) -> None:
        self._text = text
        self._bell = bell
        self._loop = asyncio.get_event_loop_policy().get_event_loop()

    def write(self, text: str) -> int:
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._bell.set)
        return self._text.write(text)


def whole(seen: Seen) -> None:
    """A subscriber missed nothing: every number once, in order, each id one content."""
    assert seen.gaps == []
    assert [event.seq for event in seen.events] == list(range(1, seen.last_seq + 1))
    assert len(seen.ids) == len(seen.events) == seen.last_seq


def short_is_right(hall: Hall, table: str = "t1") -> None:
    """The short record came out right on displays, trays, motions and at the subscriber."""
    report = hall.report(table)
    assert report["over"]
    assert report["executed_twice"] == 0
    assert report["displays"]["scores"] == AFTER_SHORT, (table, report["displays"], hall.log())
    assert (report["displays"]["round"], report["displays"]["honba"]) == ("E2", 0)
    seen = hall.watchers[table].seen
    whole(seen)
    ends = [event.field("scores") for event in seen.events if event.type == "hand_ended"]
    assert ends[-1] == AFTER_SHORT
    assert len(ends) == 3
    assert [seen.retained[f"seat/{seat}/score"] for seat in range(4)] == AFTER_SHORT
