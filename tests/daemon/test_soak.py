"""Many tables for long: no growth of memory or descriptors, no lost event; the figures are printed.

Two halls play at the same time, each with a daemon process, a broker and subscribers of its own: twenty
tables that see tiles at five times people's speed, and a hundred that see sticks at people's speed. Games
follow each other, a monitor and a page come and go.

How growth is seen. In months a leak of one entry a hand, a game or a request fills the memory; in three
minutes it is a few hundred octets, which no measure of memory shows beside caches that warm up. So the
daemon under test tells what it holds, collection by collection (`holdings`): one that is never emptied and
keeps rising fails the test by its name, unless it is among `limits`, each of which is checked. Memory,
descriptors, threads, tasks and the write-ahead log are measured beside it; memory must not rise by more
than `GROWTH` from the middle to the end of the run, which is what shows a leak below Python in the thirty
minutes of `make soak`.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import json
import logging
import multiprocessing
import os
import signal
import sys
import time
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from hardware_sim.people import Progress
from tablectl.daemon.lag import LoopLag
from tablectl.daemon.logs import Folding
from tablectl.engine.game.state import EMPTY
from tablectl.engine.game.timeline import Entry, Timeline
from tablectl.journal.reader import open_reads
from tests.conftest import ROOT, scaled
from tests.daemon.halls import Hall, whole
from tests.daemon.holdings import Sizes, growing, holdings
from tests.daemon.long_evening import begins, long_evening
from tests.daemon.operator import results
from tests.first_light.brokers import mosquitto

SECONDS = scaled(1800, 180)
GROWTH = 0.04 if SECONDS >= 600 else 0.1
"""Part of its size that the daemon may grow by from the middle to the end of the run. In three minutes at
people's speed the last events that are kept of each table (`RECENT`, `KEPT`) have not come together yet."""
SAMPLES = max(18, SECONDS // 15)
WAL_MOST = 32 << 20
"""Octets of the write-ahead log: it is moved into the journal at 16 MiB, or later while somebody reads."""
VISITORS = 3
"""Descriptors of those who come and go: a page, a scrape of the metrics, and one that is just closing."""
ANSWER_S = 60.0
START = {"ruleset": "tenhou", "players": list("abcd"), "first_dealer": 0}


@dataclass(frozen=True)
class Plan:
    """One hall."""

    level: str
    speed: float
    tables: int

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(f"{self.level}{n}" for n in range(self.tables))

    @property
    def hands(self) -> int:
        """More than people play in the time, at ten seconds a hand."""
        return int(SECONDS * self.speed / 10) + 10


PLANS = (Plan("tiles", 5.0, 20), Plan("score", 1.0, 100))


def limits(tables: int) -> Sizes:
    """What may fill up in a daemon, and how far."""
    engine = "tablectl.engine"
    return {
        # The commands of three hands; a hand has at most 70 draws and as many discards.
        f"{engine}.game.timeline.Timeline.entries": 500 * tables,
        # One plan a type of event or command.
        f"{engine}.game.codec._PLANS": 200,
        # Judged hands, as many as their modules keep.
        f"{engine}.game.hands._known_waits": 1 << 15,
        f"{engine}.game.hands._tenpai_discards": 1 << 12,
        f"{engine}.game.hands.scoring_melds": 1 << 12,
        f"{engine}.scoring.waits._numbers": 1 << 16,
        f"{engine}.scoring.waits._honours": 1 << 16,
        # Prices by the few circumstances there are, for each ruleset met.
        f"{engine}.scoring.compiled.Compiled._rows": 1 << 17,
        f"{engine}.scoring.compiled.Compiled._pairs": 1 << 12,
        # Chains of the games played last.
        "tablectl.journal.memory.Figures.chains": 2048,
    }


@dataclass
class Measured:
    """What was seen of a daemon from outside and from inside, sample by sample."""

    memory: list[int] = field(default_factory=list)
    descriptors: list[int] = field(default_factory=list)
    wal: list[int] = field(default_factory=list)
    held: list[Sizes] = field(default_factory=list)
    late_ms: list[tuple[float, float]] = field(default_factory=list)
    """How late the daemon's loop and the boards' were at worst in the last minute."""

    def look(self, pid: int, folder: Path) -> None:
        """Take the figures that show from outside."""
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
        self.memory.append(pages * os.sysconf("SC_PAGE_SIZE"))
        self.descriptors.append(len(list(Path(f"/proc/{pid}/fd").iterdir())))
        self.wal.append((folder / "journal.db-wal").stat().st_size)


class Soak:
    """One hall that plays for long, and its daemon."""

    def __init__(self, plan: Plan, hall: Hall, rounds: list[dict[str, Any]]) -> None:
        self.plan = plan
        self.hall = hall
        self.measured = Measured()
        self._rounds = rounds
        self._lag = LoopLag()
        self._process: Process | None = None

    # ------------------------------------------------------------------ the daemon

    @contextlib.asynccontextmanager
    async def daemon(self) -> AsyncIterator[None]:
        """The daemon as a process of its own; it stops in order and met no defect."""
        self._process = process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "tests.daemon.holdings", "run", "--log", "warning",
            "--config", str(self.hall.file), cwd=ROOT, stdout=PIPE, stderr=PIPE, limit=1 << 20,
        )  # fmt: skip
        assert process.stderr is not None
        reading = asyncio.create_task(process.stderr.read())
        try:
            yield
        finally:
            with contextlib.suppress(ProcessLookupError):
                process.terminate()
            said = (await reading).decode()
            code = await process.wait()
            print(said)
        assert code == 0
        assert "Traceback" not in said

    def _cpu(self) -> float:
        assert self._process is not None
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    async def _sample(self) -> None:
        process, seen = self._process, self.measured
        assert process is not None
        assert process.stdout is not None
        process.send_signal(signal.SIGUSR1)
        async with asyncio.timeout(ANSWER_S):
            seen.held.append(json.loads(await process.stdout.readline()))
        seen.look(process.pid, self.hall.folder)
        address = f"http://127.0.0.1:{self.hall.web_port}/healthz"
        async with aiohttp.ClientSession() as session, session.get(address) as answer:
            health = await answer.json()
        seen.late_ms.append((health["loop_lag_ms"], self._lag.worst_ms()))

    # ------------------------------------------------------------------ people

    async def begin(self) -> None:
        """Every board is up and every table has a game."""

        for name, watcher in self.hall.watchers.items():
            await watcher.until(
                lambda seen: (seen.retained.get("link") or {}).get("state") == "up", ANSWER_S
            )
            await self._ask(name, "game/start", START)
            self.hall.tables[name].begin()

    async def operate(self) -> None:
        """Type in what a table cannot see, and start a new game when one is over."""
        async with asyncio.TaskGroup() as busy:
            while True:
                name, progress = await self.hall.asked.get()
                busy.create_task(self._after_a_hand(name, progress))

    async def _after_a_hand(self, name: str, progress: Progress) -> None:
        round_ = self._rounds[progress.hand]
        if self.plan.level == "tiles":
            await self._seen(name, ("won", "hand_drawn"), progress.hand + 1)
        else:
            for request, data in results(round_):
                await self._ask(name, request, data)
        if begins(self._rounds[progress.hand + 1]):
            await self._ask(name, "settle", {})
            games = sum(begins(one) for one in self._rounds[: progress.hand + 1])
            await self._seen(name, ("game_ended",), games)
            await self._ask(name, "game/start", START)
        self.hall.tables[name].operator_done()

    async def _seen(self, name: str, kinds: tuple[str, ...], count: int) -> None:
        watcher = self.hall.watchers[name]
        try:
            await watcher.until(
                lambda seen: sum(event.type in kinds for event in seen.events) >= count, ANSWER_S
            )
        except TimeoutError:
            last = [event.type for event in watcher.seen.events[-12:]]
            raise AssertionError(f"{name}: no {kinds} number {count} after {last}") from None

    async def _ask(self, name: str, request: str, data: dict[str, Any]) -> None:
        answer = await self.hall.watchers[name].request(request, data, wait_s=ANSWER_S)
        assert answer.status == "accepted", (name, request, answer)

    async def visit(self) -> None:
        """A monitor asks for figures, and a page opens and is closed again."""
        address = f"http://127.0.0.1:{self.hall.web_port}"
        async with aiohttp.ClientSession() as session:
            while True:
                for path in ("/metrics", "/healthz", "/api/tables"):
                    async with session.get(address + path) as answer:
                        await answer.read()
                for path in ("/api/stream", f"/api/tables/{self.plan.names[0]}/stream"):
                    async with session.get(address + path) as stream:
                        await stream.content.readline()
                await asyncio.sleep(1.0)

    # ------------------------------------------------------------------ the run

    async def play(self) -> str:
        """Play for the time, and measure; the figures in words."""
        await self.begin()
        people = [asyncio.create_task(part()) for part in (self.operate, self.visit, self._lag.run)]
        began, used, events = time.monotonic(), self._cpu(), self._events()
        try:
            for number in range(1, SAMPLES + 1):
                # Samples are taken at times, not on events: people play meanwhile.
                due = began + number * SECONDS / SAMPLES - time.monotonic()
                await asyncio.wait(people, timeout=due, return_when=asyncio.FIRST_EXCEPTION)
                for task in people:
                    if task.done():
                        task.result()
                await self._sample()
            took = time.monotonic() - began
            return self._figures(took, (self._cpu() - used) / took, self._events() - events)
        finally:
            for task in people:
                task.cancel()
            await asyncio.gather(*people, return_exceptions=True)

    def _events(self) -> int:
        return sum(watcher.seen.last_seq for watcher in self.hall.watchers.values())

    def _figures(self, took: float, share: float, events: int) -> str:
        seen = self.measured
        middle = seen.memory[len(seen.memory) // 2]
        daemon_ms, boards_ms = map(max, zip(*seen.late_ms, strict=True))
        hands = sum(self.hall.report(name)["hands_played"] for name in self.hall.tables)
        return (
            f"{self.plan.tables} tables at level {self.plan.level}, speed {self.plan.speed:g}, {took:.0f} s: "
            f"{events:,} events, {hands} hands, {share:.0%} of a core, "
            f"memory {seen.memory[0] / 2**20:.1f} → {middle / 2**20:.1f} → {seen.memory[-1] / 2**20:.1f} MiB, "
            f"{seen.descriptors[0]} → {seen.descriptors[-1]} descriptors, {seen.held[-1]['tasks']} tasks, "
            f"log {max(seen.wal) / 2**20:.1f} MiB at most, "
            f"loops late by {daemon_ms:.0f} ms (daemon) and {boards_ms:.0f} ms (boards) at most"
        )

    # ------------------------------------------------------------------ what must be so

    def nothing_grew(self) -> None:
        """Neither what the daemon holds, nor memory, descriptors, log."""
        seen, tables = self.measured, self.plan.tables
        found = growing(seen.held, limits(tables), max(4, tables // 5))
        complaints = [f"{name} grows: {sizes}" for name, sizes in found.items()]
        middle = max(seen.memory[len(seen.memory) // 2 - 1 : len(seen.memory) // 2 + 2])
        if min(seen.memory[-3:]) > middle * (1 + GROWTH):
            complaints.append(f"memory grows: {seen.memory}")
        if max(seen.descriptors) > min(seen.descriptors) + VISITORS:
            complaints.append(f"descriptors grow: {seen.descriptors}")
        if max(seen.wal) > WAL_MOST:
            complaints.append(f"the write-ahead log is not moved into the journal: {seen.wal}")
        assert not complaints, "\n".join([self.plan.level, *complaints])

    async def no_link_broke(self) -> None:
        """Neither at the boards' ends nor at the daemon's; no board had to throw an event away."""
        figures = await self._of_links()
        for name in self.hall.tables:
            report = self.hall.report(name)
            assert (report["boots"], report["link"]["failures"]) == (1, {}), name
            assert (report["events_lost"], report["executed_twice"]) == (0, 0), name
            told = {
                figure: figures[name, figure] for figure in ("failures", "resets", "reconnects")
            }
            assert told == {"failures": 0, "resets": 0, "reconnects": 0}, name

    async def _of_links(self) -> dict[tuple[str, str], float]:
        """`tablectl_link_figure` of /metrics by table and figure."""
        async with (
            aiohttp.ClientSession() as session,
            session.get(f"http://127.0.0.1:{self.hall.web_port}/metrics") as answer,
        ):
            text = await answer.text()
        found = {}
        for line in text.splitlines():
            if line.startswith("tablectl_link_figure{"):
                labels, value = line.rsplit(" ", 1)
                _, table, _, figure, _ = labels.split('"')
                found[table, figure] = float(value)
        return found

    async def nothing_lost(self) -> None:
        """What is in the journal of the stopped daemon is at the subscribers, once and in order."""
        with open_reads(self.hall.folder / "journal.db") as reads:
            last = {name: reads.counter(name, "seq:public") for name in self.hall.tables}
        for name, watcher in self.hall.watchers.items():
            await watcher.until(lambda seen, all_=last[name]: seen.last_seq >= all_, ANSWER_S)  # type: ignore[misc]
            whole(watcher.seen)
            assert watcher.seen.last_seq == last[name]


def evening(plan: Plan, folder: Path) -> str:
    """The run of one hall, in a process of its own; its figures."""
    # A session of its own, too: Linux shares the processor by sessions, and the other tests are busy.
    os.setsid()

    async def story() -> str:
        record = long_evening(plan.hands)
        with mosquitto(folder) as broker:
            hall = Hall(
                folder, broker.port, plan.names, level=plan.level, speed=plan.speed, record=record,
                operator=True,
            )  # fmt: skip
            soak = Soak(plan, hall, record["rounds"])
            async with hall.open(daemon=False), hall.subscribers():
                async with soak.daemon():
                    figures = await soak.play()
                    print(figures)
                    await soak.no_link_broke()
                await soak.nothing_lost()
        soak.nothing_grew()
        return figures

    return asyncio.run(story())


@pytest.mark.soak
@pytest.mark.long
def test_many_tables_for_long(
    tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    with ProcessPoolExecutor(len(PLANS), mp_context=multiprocessing.get_context("spawn")) as pool:
        halls = []
        for plan in PLANS:
            folder = tmp_path / plan.level
            folder.mkdir()
            halls.append(pool.submit(evening, plan, folder))
        try:
            for hall in as_completed(halls):
                record_property("figures", hall.result())
        except BaseException:
            for process in multiprocessing.active_children():
                os.kill(process.pid or 0, signal.SIGINT)
            raise


def test_what_only_grows_is_named() -> None:
    """Of all collections of a process, the one that is never emptied; not those that come and go."""
    folding = Folding(clock=lambda: 0.0)
    timeline = Timeline()
    samples = []
    for number in range(12):
        for line in range(5):
            folding.filter(logging.makeLogRecord({"msg": f"line {number}/{line}"}))
        timeline.entries[:] = [Entry("r-1", None, EMPTY, False, ())] * (number % 4)
        gc.collect()
        samples.append(holdings())
    name = "tablectl.daemon.logs.Folding._seen"
    found = growing(samples, {}, 4)
    assert list(found) == [name]
    assert found[name][-1] - found[name][0] == 55
    assert growing(samples, {name: 1000}, 4) == {}
    assert list(growing(samples, {name: 20}, 4)) == [name], "a limit that does not hold"
