"""The wall clock jumps while people play: durations come from the monotonic clock, the truth of the time is told."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

from tablectl.bus.payloads import Response, SeenEvent
from tablectl.bus.watcher import Seen, Watcher
from tablectl.daemon.clock import SystemClock
from tablectl.doctor import host as doctor
from tablectl.journal.check import check
from tests.conftest import ROOT, missing, need_program
from tests.daemon.halls import Hall, short_is_right
from tests.daemon.technician import look
from tests.first_light.brokers import mosquitto

DAY_MS = 86_400_000


def go(story: Coroutine[Any, Any, None], within_s: int = 90) -> None:
    asyncio.run(asyncio.wait_for(story, within_s))


class SteppingClock(SystemClock):
    """The host's monotonic clock; a wall clock that jumps when it is told to."""

    def __init__(self) -> None:
        super().__init__()
        self.step_ms = 0
        self.in_sync = False

    def wall_ms(self) -> int:
        return super().wall_ms() + self.step_ms

    def synced(self) -> bool:
        return self.in_sync


def test_the_wall_clock_stepped_both_ways_moves_nothing_but_its_own_stamp(tmp_path: Path) -> None:
    """A computer without battery: starts in the past, is set right, and later back by a day."""

    async def story() -> None:
        clock = SteppingClock()
        clock.step_ms = -20 * 365 * DAY_MS
        with mosquitto(tmp_path) as broker:
            hall = Hall(tmp_path, broker.port, clock=clock)
            async with hall.open(), hall.subscriber() as subscriber:
                await hall.up()
                await hall.online()
                await hall.begin()
                seen = subscriber.seen
                await hall.until(lambda: seen.last_seq >= 8)
                first = seen.last_seq
                clock.step_ms, clock.in_sync = 0, True
                await hall.until(lambda: sum(e.type == "hand_ended" for e in seen.events) >= 1)
                second = seen.last_seq
                clock.step_ms, clock.in_sync = -DAY_MS, False
                await hall.played()
                await hall.published()
                short_is_right(hall)
                session = hall.unit().session
                assert session is not None
                assert session.reconnects == 0, "a jump of the wall clock cost a connection"
                assert hall.links["t1"][-1]["state"] == "up"
                # Subscribers: order and monotonic time go on; the stamp jumps and says what it is worth.
                monos = [event.t_mono for event in seen.events]
                assert monos == sorted(monos)
                assert monos[-1] - monos[0] < 80_000
                now = int(time.time() * 1000)
                early, late = seen.events[: first - 1], seen.events[second + 3 :]
                assert all(event.t_wall < now - 19 * 365 * DAY_MS for event in early)
                assert not any(event.time_synced for event in early)
                middle = [event for event in seen.events if event.time_synced]
                assert middle
                assert all(abs(event.t_wall - now) < 90_000 for event in middle)
                assert late
                assert all(abs(event.t_wall + DAY_MS - now) < 90_000 for event in late)
                # So do the snapshots, and the link's own age is none of the wall clock's business.
                assert seen.retained["state"]["time_synced"] is False
                assert seen.retained["state"]["t_wall"] == seen.events[-1].t_wall
                ups = [link for link in hall.links["t1"] if link["state"] == "up"]
                assert len({link["since"] for link in ups}) == 1, "a jump was told as a new link"
                # The technician: nothing is wrong with the bridge, and doctor names the clock.
                assert not hall.lines("Traceback")
                assert hall.lines("ERROR") == hall.lines("WARNING") == []
                assert (await look(hall)).status == 200
                assert doctor.clock(clock).code == "clock_not_synced"
                clock.step_ms = -20 * 365 * DAY_MS
                assert "sudo timedatectl set-ntp true" in doctor.clock(clock).fix
                clock.step_ms, clock.in_sync = 0, True
                assert doctor.clock(clock).status == "ok"

    go(story())


def day(event: SeenEvent) -> int:
    return round((event.t_wall - time.time() * 1000) / DAY_MS)


def test_under_faketime_a_game_goes_on_over_restarts_at_other_times(tmp_path: Path) -> None:
    """A computer without battery comes up a month early, then a month late: three lives in one game."""
    need_program("faketime")
    # Loaded directly: the program itself stays between us and the daemon, and signals stop there.
    library = next(Path("/usr/lib").glob("**/faketime/libfaketime.so.1"), None)
    if library is None:
        missing("libfaketime.so.1", "apt-get install faketime")

    async def story() -> None:
        with mosquitto(tmp_path) as broker:
            hall = Hall(tmp_path, broker.port)
            async with hall.open(daemon=False), hall.subscriber() as subscriber:
                seen = subscriber.seen
                said = ""

                async def life(offset: str, until: Callable[[], bool]) -> None:
                    nonlocal said
                    fake = {"LD_PRELOAD": str(library), "FAKETIME": offset}
                    fake |= {"DONT_FAKE_MONOTONIC": "1", "NO_FAKE_STAT": "1"}
                    process = await asyncio.create_subprocess_exec(
                        sys.executable, "-m", "tablectl", "run", "--config", str(hall.file),
                        cwd=ROOT, stderr=asyncio.subprocess.PIPE, env=os.environ | fake,
                    )  # fmt: skip
                    assert process.stderr is not None
                    reading = asyncio.create_task(process.stderr.read())
                    try:
                        await hall.until(lambda: process.returncode is not None or until(), 150)
                        process.terminate()
                        # By a clock of 30 days ago it would never end.
                        async with asyncio.timeout(30):
                            said += (await reading).decode()
                        assert await process.wait() == 0, said
                    finally:
                        if process.returncode is None:
                            process.kill()  # a test that fails leaves no daemon behind

                starting: list[asyncio.Task[Any]] = []

                def begun() -> bool:
                    links = hall.links["t1"]
                    if not starting and links and links[-1]["state"] == "up":
                        starting.append(asyncio.create_task(start(subscriber, hall)))
                    return seen.last_seq >= 8

                def hands(count: int) -> bool:
                    return sum(event.type == "hand_ended" for event in seen.events) >= count

                await life("+0d", begun)
                await life("-30d", lambda: hands(1))
                await life(
                    "+30d", lambda: hands(3) and hall.tables["t1"].table.over and _rests(seen)
                )
                assert (await starting[0]).status == "accepted"
                short_is_right(hall)
                assert {day(event) for event in seen.events} == {0, 30, -30}
                assert len({event.epoch for event in seen.events}) == 3
                assert seen.streams == {seen.events[0].stream}, "the journal went on"
                assert "Traceback" not in said
                report = check(tmp_path / "journal.db")
                assert report.findings == ()

    go(story(), 450)  # three programs under a preloaded library: each takes many times its time


async def start(subscriber: Watcher, hall: Hall) -> Response:
    data = {"ruleset": "tenhou", "players": list("abcd"), "first_dealer": 0}
    answer = await subscriber.request("game/start", data)
    hall.tables["t1"].begin()
    return answer


def _rests(seen: Seen) -> bool:
    return (seen.retained.get("state") or {}).get("last_seq") == seen.last_seq
