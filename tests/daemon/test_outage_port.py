"""Cables, boards and ports: unplugged, reset in each phase, wanted by two: what everybody saw."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Coroutine, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.daemon.halls import Hall, short_is_right
from tests.first_light.brokers import Mosquitto, mosquitto


def go(story: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(story, 90))


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[Mosquitto]:
    with mosquitto(tmp_path) as running:
        yield running


# ---------------------------------------------------------------- the cable


def test_unplugged_and_back_under_another_name(tmp_path: Path, broker: Mosquitto) -> None:
    """ttyUSB0 comes back as ttyUSB1; the by-id name leads to it."""

    async def story() -> None:
        faults = {"t1": "When tile 3 is discarded in hand 1, unplug the cable."}
        hall = Hall(tmp_path, broker.port, faults=faults)
        async with hall.open(), hall.subscriber() as subscriber:
            await hall.up()
            await hall.online()
            await hall.until(lambda: _told_up(hall, "t1"))
            name = device_of(hall.tables["t1"].path)
            await hall.begin()
            await hall.until(lambda: hall.links["t1"][-1]["state"] == "down")
            table = hall.tables["t1"]
            assert not there(table.path)
            # The public word is short; the technician is told where, and the doctor what to do.
            assert hall.links["t1"][-1]["reason"]
            found = await hall.doctor()
            assert found["port_missing"].status == "fail"
            assert found["link_down"].status == "fail"
            shown = dict(hall.report()["displays"])
            others = [os.openpty() for _ in range(2)]  # somebody else takes the old name
            table.poke(lambda sim: setattr(sim.line, "plugged", True))
            await hall.until(lambda: hall.links["t1"][-1]["state"] == "up")
            for pair in others:
                for fd in pair:
                    os.close(fd)
            assert device_of(table.path) != name
            await hall.played()
            await hall.published()
            short_is_right(hall)
            assert hall.report()["displays"]["scores"] != shown["scores"]
            assert {"down", "up"} <= {link["state"] for link in hall.links["t1"]}
            ups = [link for link in hall.links["t1"] if link["state"] == "up"]
            assert ups[0]["boot_id"] == ups[-1]["boot_id"], "unplugged, not restarted"
            assert subscriber.seen.streams == {hall.unit().source.stream}
            # One line for the loss, one for the return, however often it was looked for.
            assert len(hall.lines("ERROR", "t1: link down")) == 1
            assert len(hall.lines("WARNING", "t1: link down", "is not there")) <= 1
            assert len(hall.lines("t1: link up")) == 2
            assert await hall.doctor() == {}

    go(story())


def there(path: str) -> bool:
    return Path(path).exists()


def device_of(path: str) -> str:
    return str(Path(path).resolve())


# ---------------------------------------------------------------- the board

PHASES = {
    "lift-asked": "When start is pressed in hand 1, the watchdog resets the board.",
    "walls-rising": "When the walls begin to rise in hand 1, the board browns out.",
    "walls-up": "When the walls of hand 1 are up, the watchdog resets the board.",
    "dice-still": "When the dice of hand 1 lie still, the watchdog resets the board.",
    "dealt": "When hand 1 is dealt, somebody presses the reset pin.",
    "play": "When tile 5 is discarded in hand 1, the watchdog resets the board.",
    "call": "When somebody calls in hand 1, the watchdog resets the board.",
    "riichi": "When somebody lays a riichi stick in hand 1, the watchdog resets the board.",
    "result": "When hand 1 ends, the watchdog resets the board.",
    "settled": "When the tiles of hand 1 are in the machine, the watchdog resets the board.",
}


def test_a_board_that_restarts_in_any_phase(tmp_path: Path, broker: Mosquitto) -> None:
    """One hall, a table a phase; each board restarts in its phase of the first hand."""

    async def story() -> None:
        hall = Hall(tmp_path, broker.port, tuple(PHASES), faults=PHASES)
        async with hall.open(), hall.subscribers():
            await hall.up()
            for name in PHASES:
                await hall.online(name)
                await hall.until(lambda name=name: _told_up(hall, name))  # type: ignore[misc]
            await hall.begin()
            await hall.played()
            for name in PHASES:
                await hall.published(name)
        for name in PHASES:
            after_a_restart(hall, name)

    go(story())


def _told_up(hall: Hall, name: str) -> bool:
    return bool(hall.links[name]) and hall.links[name][-1]["state"] == "up"


def after_a_restart(hall: Hall, phase: str) -> None:
    report = hall.report(phase)
    assert report["boots"] == 2, phase
    assert hall.tables[phase].table.faults.finished
    # Subscribers: everything once, the right end; the reset is told with its cause.
    short_is_right(hall, phase)
    links = hall.links[phase]
    cause = {"walls-rising": "brown_out", "dealt": "pin"}.get(phase, "watchdog")
    ups = [link for link in links if link["state"] == "up"]
    assert links[-1] == ups[-1], phase
    assert (ups[0]["reset_cause"], ups[-1]["reset_cause"]) == ("power_on", cause), (phase, links)
    assert ups[0]["boot_id"] != ups[-1]["boot_id"], phase
    # Displays: dark after the restart, and written again from the mirror.
    shown = [text for _, text in hall.tables[phase].table.parts.displays.history]
    assert shown.count("round E1") >= 2, (phase, shown)
    # No motion was done twice, none was sent again under its old number.
    assert all(action["executed"] == 1 for action in report["actions"].values()), phase
    # The technician: the restart has a line of its own, and the last frames stand beside it.
    assert len(hall.lines("INFO", f"{phase}: last frames: ")) == 1, phase
    assert len(hall.lines(f"{phase}: the board has started anew (cause: {cause})")) == 1, phase


# ---------------------------------------------------------------- two on one


def run_daemon(config: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tablectl", "run", "--config", str(config)],
        cwd=ROOT, capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip


def test_two_daemons_on_one_port(tmp_path: Path, broker: Mosquitto) -> None:
    """The second says whose it is and waits; the first notices nothing."""

    async def story() -> None:
        hall = Hall(tmp_path, broker.port)
        async with hall.open(), hall.subscriber():
            await hall.up()
            await hall.online()
            second = tmp_path / "second"
            second.mkdir()
            config = second / "hall.toml"
            config.write_text(
                f'[venue]\nid = "other"\n[mqtt]\nurl = "mqtt://127.0.0.1:{broker.port}"\n'
                f'[web]\nenabled = false\n[journal]\npath = "j.db"\n'
                f'[[tables]]\nid = "t1"\nport = "{hall.tables["t1"].path}"\n',
                encoding="utf-8",
            )
            process = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "tablectl", "run", "--config", str(config),
                cwd=ROOT, stderr=asyncio.subprocess.PIPE,
            )  # fmt: skip
            assert process.stderr is not None
            said = ""
            async with asyncio.timeout(30):
                while "is in use by process" not in said:
                    said = (await process.stderr.readline()).decode()
            assert f"is in use by process {os.getpid()}" in said
            await hall.begin()
            await hall.played()
            await hall.published()
            short_is_right(hall)
            assert hall.unit().session is not None
            found = await hall.doctor(config)
            assert (
                f"process {os.getpid()}" in found["port_busy"].message or "port_not_taken" in found
            )
            process.terminate()
            assert await process.wait() == 0

    go(story())


def test_two_daemons_on_one_journal(tmp_path: Path, broker: Mosquitto) -> None:
    async def story() -> None:
        hall = Hall(tmp_path, broker.port)
        async with hall.open(), hall.subscriber():
            await hall.up()
            done = await asyncio.to_thread(run_daemon, hall.file)
            assert done.returncode == 2
            assert f"is held by process {os.getpid()}" in done.stderr
            assert f"kill {os.getpid()}" in done.stderr
            assert "Traceback" not in done.stderr
            await hall.begin()
            await hall.played()
            await hall.published()
            short_is_right(hall)

    go(story())


@pytest.mark.parametrize(
    ("second", "code", "place"),
    [
        ('id = "t1"\nport = "/dev/ttyUSB1"\n', "id 't1' is used by two tables", ":5:1"),
        ('id = "t2"\nport = "/dev/ttyUSB0"\n', "port '/dev/ttyUSB0' is used by two tables", ":6:1"),
    ],
    ids=["one id on two ports", "one port for two ids"],
)
def test_a_table_given_twice_is_refused_with_both_places(
    second: str, code: str, place: str, tmp_path: Path
) -> None:
    config = tmp_path / "hall.toml"
    config.write_text(f'[[tables]]\nid = "t1"\nport = "/dev/ttyUSB0"\n[[tables]]\n{second}')
    done = run_daemon(config)
    assert done.returncode == 2
    assert f"{config}{place}" in done.stderr
    assert code in done.stderr
    assert "the other one stands in line" in done.stderr
    assert not (tmp_path / "tablectl.db").exists(), "nothing was begun"


# ---------------------------------------------------------------- one of five


def test_one_table_of_five_that_raises_on_every_event_is_alone(
    tmp_path: Path, broker: Mosquitto, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def story() -> None:
        names = ("t1", "t2", "t3", "t4", "t5")
        hall = Hall(tmp_path, broker.port, names)
        async with hall.open(), hall.subscribers():
            await hall.up()
            for name in names:
                await hall.online(name)

            def broken(_fact: object) -> None:
                raise ZeroDivisionError("a defect in the middle of the house")

            writer = hall.unit("t3").writer
            make_core = writer._make_core

            def make_broken() -> Any:
                core = make_core()
                core.handle_fact = broken  # type: ignore[method-assign]
                return core

            writer._make_core = make_broken
            await hall.begin()
            await writer.restore()
            good = [name for name in names if name != "t3"]
            await hall.played(*good)
            for name in good:
                await hall.published(name)
                short_is_right(hall, name)
            # The bad table: nothing public came of it, its facts are kept, its board is acknowledged.
            assert hall.unit("t3").writer.fault
            await hall.until(lambda: hall.tables["t3"].table.board.told())
            assert hall.daemon is not None
            healthy, facts = hall.daemon.health()
            assert healthy
            assert [n for n, table in facts["tables"].items() if table["fault"]] == ["t3"]
            assert facts["tables"]["t3"]["link"] == "up"
            assert hall.daemon.watchdog.stuck() == []
            found = await hall.doctor()
            found.pop("loop_late", None)  # a machine that is busy with other tests
            assert (found["defect"].subject, set(found)) == ("t3", {"defect"})
            # The log has the trace once, and not once an event.
            assert "ZeroDivisionError" in hall.log()
            assert len(hall.lines("t3: fact ButtonEvent led to a defect")) == 1
            journal = hall.daemon.journal
            assert journal is not None
            tail = await journal.tail_since_snapshot("t3")
            assert any(getattr(row, "kind", "") == "ButtonEvent" for row in tail.entries)

    go(story())
