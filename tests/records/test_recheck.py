"""Journals: the engine's own events decided again."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import pytest

from tablectl.cli.main import main
from tablectl.engine.game import commands as cmd
from tablectl.engine.game import events as ev
from tablectl.engine.game.codec import canonical
from tablectl.engine.game.commands import Command, Refusal
from tablectl.engine.game.events import Event
from tablectl.engine.game.timeline import Timeline
from tablectl.engine.rules import ids, load
from tablectl.journal import EventEntry, Journal, Transaction
from tablectl.records.recheck import Group, recheck
from tablectl.records.replay import Report
from tests.game.table import RandomGame, at_basic_level


def groups_of(log: Sequence[tuple[cmd.Command, list[Event]]]) -> list[Group]:
    return [(str(number), events) for number, (_, events) in enumerate(log)]


@pytest.mark.parametrize("ruleset", ids())
def test_a_played_game_is_decided_the_same_again(ruleset: str) -> None:
    game = RandomGame(load(ruleset), 4)
    game.play()
    report = Report()
    state = recheck("g", groups_of(game.log), report)
    assert not report.mismatches, str(report.mismatches[0])
    assert state.canonical() == game.state.canonical()
    assert report.uncompared == 0
    twin = at_basic_level(load(ruleset), game, random.Random(1))
    basic = Report()
    recheck("b", groups_of(twin.log), basic)
    assert not basic.mismatches, str(basic.mismatches[0])


def test_a_changed_event_is_found() -> None:
    game = RandomGame(load("tenhou"), 2)
    game.play()
    groups = groups_of(game.log)
    for number, (command_id, events) in enumerate(groups):
        if any(
            isinstance(event, ev.HandEnded) and event.reason == "exhaustive" for event in events
        ):
            spoilt = [
                replace(event, honba=event.honba + 1) if isinstance(event, ev.HandEnded) else event
                for event in events
            ]
            groups[number] = (command_id, spoilt)
            break
    report = Report()
    recheck("g", groups, report)
    assert report.mismatches
    assert "hand_ended" in report.mismatches[0].expected


@pytest.mark.parametrize("opened", [cmd.RollDice(3, 3), cmd.BreakWall(6)], ids=["dice", "break"])
def test_undone_commands_leave_no_trace(opened: Command) -> None:
    line = Timeline()
    groups: list[Group] = []
    start = cmd.StartGame(
        "g", load("saikouisen").to_dict(), ("a", "b", "c", "d"), knowledge="basic"
    )
    for number, command in enumerate(
        (
            start, cmd.PressStart(), cmd.WallsReady(), opened, cmd.Deal(), cmd.Win(1, 0, han=1, fu=30),
            cmd.Undo("5"), cmd.Win(2, 0, han=2, fu=40), cmd.Settle(),
        )
    ):  # fmt: skip
        answer = line.submit(str(number), command)
        assert not isinstance(answer, Refusal)
        groups += answer
    report = Report()
    state = recheck("g", groups, report)
    assert not report.mismatches
    assert state.canonical() == line.state.canonical()


def test_the_command_line_reads_a_journal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    game = RandomGame(load("saikouisen"), 9)
    game.play()
    file = tmp_path / "journal.db"
    asyncio.run(_journal(file, groups_of(game.log)))
    assert main(["replay", str(file), "--check", "--json"]) == 0
    summary = json.loads(capsys.readouterr().out)
    ended = sum(isinstance(event, ev.HandEnded) for event in game.events())
    assert (summary["games"], summary["hands"], summary["mismatches"]) == (1, ended, [])
    assert main(["replay", f"{file}#nobody", "--check"]) == 2
    assert "nobody" in capsys.readouterr().err


async def _journal(file: Path, groups: list[Group]) -> None:
    journal = Journal.open(file, threaded=False, fsync=False)
    try:
        for command_id, events in groups:
            entries = tuple(
                EventEntry(
                    str(uuid4()),
                    event.type,
                    canonical(event.to_json()).decode(),
                    ("referee",),
                    command_id,
                )
                for event in events
            )
            await journal.append(Transaction("t1", 0, 0, game_id="g", entries=entries))
    finally:
        await journal.close()
