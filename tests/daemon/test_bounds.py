"""What a daemon keeps in memory for months has a bound, and what fell out of memory is still known."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import pytest

from firmware_protocol import messages as m
from firmware_protocol.vocabulary import Button, Capability, Press
from tablectl.daemon.clock import ManualClock
from tablectl.daemon.core import TableCore
from tablectl.daemon.ids import SeededIds
from tablectl.daemon.writer import TableWriter
from tablectl.engine.scoring import waits
from tablectl.engine.scoring.suits import key_of
from tablectl.engine.tiles import parse
from tablectl.journal import Journal, memory
from tablectl.journal.check import check
from tablectl.journal.store import Store
from tablectl.mirror.mirror import Mirror
from tablectl.mirror.submit import Accepted, Fact, Request
from tablectl.table.drivers import DriverContext, KnownBoot, Motion, Output, ReportFact, Say
from tablectl.table.line import FACTS_MOST, LineDevice
from tablectl.table.options import PortOptions, TableOptions
from tests.daemon.journal_kit import change


def play(story: Coroutine[Any, Any, None]) -> None:
    async def bounded() -> None:
        async with asyncio.timeout(30):
            await story

    asyncio.run(bounded())


def test_chains_of_games_long_over_leave_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Forty games, now and then a row for the first one again, two openings: every seal holds."""
    monkeypatch.setattr(memory, "KEPT_CHAINS", 6)
    file = tmp_path / "journal.db"
    number = 0
    for _ in range(2):
        store = Store(file)
        assert store._figures.chains == {}, "none is read before it is needed"
        for game in range(20):
            for name in (f"g{number}", f"g{number}", "g0", None):
                number += 1
                store.commit(change(number, game=name))
                store.commit(change(number, table="t2", game=f"other{game}"))
                assert len(store._figures.chains) <= 6
        store.close()
    report = check(file)
    assert report.findings == ()
    assert report.games == 1 + 39 + 20


def test_of_each_board_the_last_boot_is_remembered(tmp_path: Path) -> None:
    """A board that restarts a thousand times; an event of an earlier boot is still known to be written."""

    async def story() -> None:
        journal = Journal.open(tmp_path / "journal.db", threaded=False, fsync=False)
        for boot in range(1, 200):
            await journal.append(change(1, boot=boot))
            await journal.append(change(2, boot=boot))
            assert journal.is_new_fact("t1", boot, 3)
            assert not journal.is_new_fact("t1", boot, 2)
        assert len(journal._newest) == 1
        assert not journal.is_new_fact("t1", 7, 3), "it has to be looked up"
        assert await journal.find_fact("t1", 7, 2) is not None
        assert await journal.find_fact("t1", 7, 3) is None
        assert journal.is_new_fact("t1", 7, 3)
        await journal.close()

    play(story())


def test_a_motion_is_forgotten_once_its_fate_is_known(caplog: pytest.LogCaptureFixture) -> None:
    async def story() -> None:
        clock, ids = ManualClock(0, 1_790_000_000_000), SeededIds("bounds")
        journal = Journal.open(None, threaded=False)
        writer = TableWriter(
            "t1", journal, clock, lambda: TableCore("t1", mirror=Mirror(), clock=clock, ids=ids)
        )
        sent: list[Motion] = []
        writer.on_motion = sent.append
        await writer.restore()
        writer.reached(True)
        writer.met(int(Capability.LIFT | Capability.DICE), {})
        start = {"ruleset": "tenhou", "players": list("abcd"), "first_dealer": 0}
        answer = await writer.request(Request("t1", "game/start", start, "test", "1", "operator"))
        assert isinstance(answer, Accepted)
        for number, fate in enumerate(("done", "unknown"), 1):
            press = m.ButtonEvent(Button.START, 0, Press.PRESSED)
            await writer.fact(Fact("t1", press, 5, number, number))
            cmd_id = sent[-1].cmd_id
            assert len(sent) == number
            assert writer._kinds == {cmd_id: "lift"}
            await writer.sent(cmd_id)
            await writer.settled(cmd_id, fate, {})  # type: ignore[arg-type]  # both are fates
            await writer.settled(cmd_id, fate, {})  # type: ignore[arg-type]
            assert writer._kinds == {}
        assert f"t1: lift (cmd_id {cmd_id}) is unknown" in caplog.text
        await writer.close()
        await journal.close()

    play(story())


def test_a_sketch_that_prints_without_end_fills_nothing() -> None:
    """What waits to be written is bounded; what comes when there is room again is heard."""
    options = TableOptions("t1", PortOptions("/dev/null"), driver="line")
    board = LineDevice(DriverContext(options, KnownBoot(), lambda: 1, lambda: 0))
    board.opened(0)
    waiting: list[Output] = []
    for _ in range(5):
        board.receive(b"DICE 3 4\n" * 1000, 0)
        waiting += board.take()
    facts = [output for output in waiting if isinstance(output, ReportFact)]
    assert len(facts) == FACTS_MOST
    told = [output.text for output in waiting if isinstance(output, Say)]
    assert len(told) == 1, "said once"
    assert "lines are dropped" in told[0]
    assert board.figures["lines_dropped"] == 5000 - FACTS_MOST
    for output in facts:
        board.done(output, 0)
    board.receive(b"DICE 5 6\n", 0)
    (heard,) = board.take()
    assert isinstance(heard, ReportFact)
    assert heard.fact.message == m.DiceSettled(5, 6, 0, 0)


def test_judged_suits_are_as_many_as_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many hands come by; what was forgotten is judged the same again."""
    monkeypatch.setattr(waits, "_KEPT", 50)
    monkeypatch.setattr(waits, "_numbers", {})
    tanki = key_of(parse("1m2m3m4m5m6m7m8m9m1p1p1p2s"))
    before = waits.wait_kinds(tanki)
    for key in range(1, 300):
        waits._look(key * 3, honours=False)
        assert len(waits._numbers) <= 50
    assert waits.wait_kinds(tanki) == before


@pytest.fixture(autouse=True)
def _loud(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING)
