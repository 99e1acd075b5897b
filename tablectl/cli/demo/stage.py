"""Everything a demo puts up: folder, broker, simulated table, daemon, subscriber, operator."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self

import aiomqtt

from tablectl.bus.broker import Broker
from tablectl.bus.payloads import SeenEvent
from tablectl.bus.tasks import end
from tablectl.bus.topics import Topics
from tablectl.bus.watcher import Seen, Watcher
from tablectl.cli.demo.broker import DemoBroker
from tablectl.cli.demo.operator import DUTIES, Operator
from tablectl.cli.demo.process import DemoError, Program, free_port, until_port_answers
from tablectl.records.reader import Record

VENUE: Final = "demo"
TABLE: Final = "t1"
LINK_S: Final = 20.0
STUCK_S: Final = 60.0
"""Nothing new for so long (at human speed), and the demo gives up and says what it waited for."""
WEB_PORT: Final = 8731
"""Where people know the daemon's pages."""
TRIES: Final = 3


@dataclass(frozen=True, slots=True)
class Plan:
    """What to play, and how."""

    record: Record
    record_name: str
    """`FILE#ID` for the simulator."""
    level: str = "tiles"
    speed: float | None = 1.0
    """Times faster than people; None: as fast as possible."""
    seed: int = 0
    wheel_broker: bool = False
    """Use the broker of the wheel even where mosquitto is installed."""
    known_port: bool = False
    """Serve the page on the daemon's own port, if it is free: for people, not for scripts."""


class Stage:
    """One table from the pty to the page. `async with Stage(plan) as stage: await stage.play()`."""

    def __init__(self, plan: Plan, on_event: Callable[[SeenEvent], None] | None = None) -> None:
        from hardware_sim.runner import RunConfig, RunningTable
        from hardware_sim.table import Options

        self.plan = plan
        self.watcher: Watcher
        self.operator: Operator
        self.web_port = WEB_PORT if plan.known_port else free_port()
        self._on_event = on_event
        self.topics = Topics(VENUE, TABLE)
        self.folder = Path(tempfile.mkdtemp(prefix="tablectl-demo-"))
        try:
            self.broker = DemoBroker(self.folder, wheel=plan.wheel_broker)
            options = Options(
                level=plan.level,
                seed=plan.seed,
                speed=plan.speed,
                operator=DUTIES[plan.level],
                hold=True,
            )
            self._asked: asyncio.Queue[Any] = asyncio.Queue()
            self.simulator = RunningTable(
                RunConfig(
                    options=options,
                    record=plan.record_name,
                    link=self.folder / "table",
                    tiles_toml=self.folder / "tiles.toml",
                    on_event=self.heard,
                    exit_at_end=False,
                )
            )
        except BaseException:
            shutil.rmtree(self.folder, ignore_errors=True)
            raise
        self.daemon = Program("the daemon", self._daemon_command(), self.folder / "daemon.log")
        self._stack = contextlib.AsyncExitStack()
        self._moved = asyncio.Event()
        self._table: asyncio.Task[dict[str, Any]] | None = None

    @property
    def address(self) -> str:
        """The page."""
        return f"http://127.0.0.1:{self.web_port}/board"

    @property
    def seen(self) -> Seen:
        """What the subscriber has received."""
        return self.watcher.seen

    # ---- up and down --------------------------------------------------------------------------------

    async def __aenter__(self) -> Self:
        self._stack.callback(shutil.rmtree, self.folder, ignore_errors=True)
        try:
            self._stack.push_async_callback(self.broker.stop)
            await self.broker.start()
            self.watcher = Watcher(
                Broker("127.0.0.1", self.broker.port),
                self.topics,
                lasting=True,
                on_event=self._on_event,
            )
            self.operator = Operator(self.plan.record, self.watcher)
            try:
                await self._stack.enter_async_context(self.watcher.connected())
            except aiomqtt.MqttError as error:
                raise DemoError("no_broker", f"the broker takes nobody: {error}") from None
            self._table = asyncio.create_task(self.simulator.run())
            self._stack.push_async_callback(end, [self._table])
            self._stack.push_async_callback(self.daemon.stop)
            await self._start_daemon()
        except BaseException:
            await self._stack.aclose()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()

    async def _start_daemon(self) -> None:
        """Start the daemon and wait for its page; a port that is taken is left for a free one."""
        for tries_left in reversed(range(TRIES)):
            self._write_config()
            await self.daemon.start()
            try:
                await until_port_answers(self.web_port, self.daemon)
                # Somebody else may have answered on a port that is not ours.
                await self.watcher.until(lambda seen: "bridge/info" in seen.retained, LINK_S)
            except (DemoError, TimeoutError, ConnectionError):
                ended = not self.daemon.running
                await self.daemon.stop()
                if not tries_left or not ended:
                    raise DemoError(
                        "no_start", f"the daemon does not come up:\n{self.daemon.tail()}"
                    ) from None
                self.web_port = free_port()
            else:
                return

    def _daemon_command(self) -> list[str]:
        return [sys.executable, "-m", "tablectl", "run", "--config", str(self.folder / "demo.toml")]

    def _write_config(self) -> None:
        # At full speed a tile lies where it lies the moment it is read; people are slower than antennas.
        sensors = "" if self.plan.speed is not None else FAST_SENSORS
        (self.folder / "demo.toml").write_text(
            f"""\
[venue]
id = "{VENUE}"
name = "tablectl demo"

[mqtt]
url = "mqtt://127.0.0.1:{self.broker.port}"

[web]
port = {self.web_port}

[journal]
path = "journal.db"

[[tables]]
id = "{TABLE}"
name = "1番卓"
port = "{self.simulator.path}"
tiles = "tiles.toml"
{sensors}""",
            encoding="utf-8",
        )

    # ---- the play -----------------------------------------------------------------------------------

    async def play(self) -> None:
        """From the first request to the last event at the subscriber; `DemoError` when it sticks."""
        tasks = [
            asyncio.create_task(part)
            for part in (self._game(), self._operate(), self._watch_parts(), self._watch_progress())
        ]
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in tasks:
                if task in done:
                    task.result()
        except (ConnectionError, aiomqtt.MqttError) as error:
            raise DemoError(
                "broker_lost", f"{self.broker.program.name} ended or hung up: {error}"
            ) from None
        finally:
            await end(tasks)

    async def _game(self) -> None:
        wanted = self.plan.level
        try:
            await self.watcher.until(lambda seen: _ready(seen, wanted), LINK_S)
        except TimeoutError:
            raise DemoError(
                "no_link", f"daemon and table do not find each other:\n{self.daemon.tail()}"
            ) from None
        await self.operator.start_game()
        self.simulator.begin()
        await self.simulator.played()
        hands = len(self.plan.record.rounds)
        with contextlib.suppress(TimeoutError):
            await self.watcher.until(lambda seen: _over(seen, hands), STUCK_S)

    async def _operate(self) -> None:
        while True:
            progress = await self._asked.get()
            if progress.kind == "riichi":
                await self.operator.riichi(progress.hand, progress.index)
            else:
                await self.operator.result(progress.hand)
            self.simulator.operator_done()

    async def _watch_parts(self) -> None:
        """Every part must live until the end."""
        assert self._table is not None
        programs = {
            asyncio.create_task(program.ended()): program
            for program in (self.broker.program, self.daemon)
        }
        try:
            done, _ = await asyncio.wait(
                [*programs, self._table], return_when=asyncio.FIRST_COMPLETED
            )
            if self._table in done:
                self._raise_table_error()
            for task, program in programs.items():
                if task in done:
                    raise DemoError("part_ended", f"{program.name} ended:\n{program.tail()}")
        finally:
            await end(programs)

    def _raise_table_error(self) -> None:
        from hardware_sim.errors import SimError

        assert self._table is not None
        error = self._table.exception()
        if isinstance(error, SimError):
            raise error
        raise DemoError("table_ended", f"the simulated table ended: {error!r}")

    async def _watch_progress(self) -> None:
        said = -1
        patience = STUCK_S / min(1.0, self.plan.speed or 1.0)
        while True:
            self._moved.clear()
            try:
                async with asyncio.timeout(patience):
                    await self._moved.wait()
            except TimeoutError:
                if len(self.seen.events) == said:
                    raise DemoError(
                        "stuck",
                        f"nothing has happened for {patience:.0f} s; people waited for: "
                        f"{', '.join(self.simulator.table.people.unmet) or 'nothing named'}; "
                        f"the daemon says:\n{self.daemon.tail()}",
                    ) from None
            said = len(self.seen.events)

    def heard(self, progress: Any) -> None:
        """Something the people at the table did; what waits is handed to the operator."""
        self._moved.set()
        if progress.waits:
            self._asked.put_nowait(progress)


FAST_SENSORS: Final = """
[tables.sensors]
settle_ms = 0
missed_reads = 1
read_period_ms = 10
same_tag_ms = 0
"""


def _ready(seen: Seen, level: str) -> bool:
    link = seen.retained.get("link") or {}
    info = seen.retained.get("bridge/info") or {}
    return link.get("state") == "up" and info.get("level") == level


def _over(seen: Seen, hands: int) -> bool:
    kinds = [event.type for event in seen.events]
    return "game_ended" in kinds or kinds.count("hand_ended") >= hands
