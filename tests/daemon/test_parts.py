"""The small parts of the daemon: rows of facts, feeds, displays, motions, log lines, metrics, reload."""

from __future__ import annotations

import asyncio
import io
import json
import logging
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from firmware_protocol import messages as m
from firmware_protocol.schema import Kind, Message
from firmware_protocol.vocabulary import ActionKind, Capability, Lamp
from tablectl.config import Settings, loads
from tablectl.config.reload import Change
from tablectl.daemon import facts, feeds, logs, motions
from tablectl.daemon.app import Daemon
from tablectl.daemon.clock import ManualClock, SystemClock
from tablectl.daemon.displays import desired, lamps
from tablectl.daemon.ids import SeededIds
from tablectl.daemon.lag import LoopLag
from tablectl.daemon.source import PublicSource
from tablectl.engine import rules
from tablectl.engine.game import commands as cmd
from tablectl.engine.game import events as ev
from tablectl.engine.game.apply import apply_all
from tablectl.engine.game.codec import mask
from tablectl.engine.game.decide import decide
from tablectl.engine.game.state import EMPTY, GameState
from tablectl.journal import StoredAction
from tablectl.mirror.submit import Fact, Request
from tablectl.table.drivers import DeviceInfo
from tablectl.table.session import LinkStatus
from tests.conftest import ROOT

ALL = Capability((1 << 29) - 1)


def started(*more: cmd.Command) -> GameState:
    state = EMPTY
    ruleset = rules.load("tenhou").to_dict()
    for command in (cmd.StartGame("g", ruleset, ("a", "b", "c", "d"), knowledge="score"), *more):
        answer = decide(state, command)
        assert isinstance(answer, list), answer
        state = apply_all(state, answer)
    return state


# ---- facts --------------------------------------------------------------------------------------------

EXAMPLES: list[Message] = [
    m.ButtonEvent(1, 255, 1),
    m.StickTray(2, (1, 2, 3, 4, 5), 0),
    m.TileEvent(0x23, 7, (m.TileSight(255, 3, 200, 2**63 + 5), m.TileSight(1, 0, 0, 9))),
    m.TestEvent(7, -1),
    m.SnapshotState(9, 2, 1, (3, 3, 3, 3), 0, 5, (0,) * 20, 1),
    m.SnapshotTiles(9, 1, 0x21, 0, (m.TileAt(4, 1, 77),)),
    m.TestEchoReply(1, b"\x00\xff"),
]


@pytest.mark.parametrize("message", EXAMPLES, ids=lambda message: type(message).__name__)
def test_a_fact_comes_back_from_its_row(message: Message) -> None:
    row = facts.entry_of(Fact("t1", message, 5, 6, 7))
    assert (row.boot_id, row.event_no, row.uptime_ms) == (5, 6, 7)
    assert facts.message_of(row.kind, json.loads(row.body)) == message


def test_every_event_of_the_wire_finds_its_class_again() -> None:
    kinds = [cls for cls in m.SCHEMA.by_id.values() if cls.SPEC.kind is Kind.EVENT]
    assert kinds
    for cls in kinds:
        zeros = {
            f.name: () if f.code == "list" else (f.lo,) * f.count if f.count else f.lo
            for f in cls.SPEC.fields
        }
        message = cls(**zeros)
        row = facts.entry_of(Fact("t1", message, 1, 1, 1))
        assert facts.message_of(row.kind, json.loads(row.body)) == message


def test_a_row_of_a_later_version_is_no_message() -> None:
    assert facts.message_of("NoSuchMessage", {}) is None


# ---- feeds --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("event", "expected"),
    [
        (ev.Drawn(2, 5), feeds.ALL),
        (ev.Dealt((None, None, None, None)), feeds.ALL),
        (ev.MissedWin(3, True), ("seat3", "broadcast", "referee")),
        (ev.Found(1, "P6", 0, "chombo", "A55", "certain", True), ("referee",)),
    ],
)
def test_feeds_follow_from_visibility(event: ev.Event, expected: tuple[str, ...]) -> None:
    assert feeds.feeds_of(event) == expected


def test_an_event_is_on_public_and_seat_feeds_exactly_where_its_mask_shows_something() -> None:
    for event in (ev.Drawn(1, 3), ev.MissedWin(0, False), ev.KanEstablished(2), ev.DrawReached()):
        seen = feeds.feeds_of(event)
        assert ("public" in seen) == (mask(event, "public") is not None)
        for seat in range(4):
            assert (f"seat{seat}" in seen) == (mask(event, seat) is not None)


# ---- displays -----------------------------------------------------------------------------------------


def test_only_displays_that_are_there_are_written() -> None:
    state = started()
    assert desired(state, int(Capability.HONBA_DISPLAY)) == [m.SetHonba(0)]
    kinds = [type(message) for message in desired(state, int(ALL))]
    assert kinds.count(m.SetDifferences) == 4
    assert set(kinds) == {
        m.SetRound, m.SetHonba, m.SetDeposits, m.SetScores, m.SetDifferences, m.SetLamps,
    }  # fmt: skip


def test_scores_show_what_is_to_be_paid_as_soon_as_the_result_stands() -> None:
    state = started(
        cmd.PressStart(0), cmd.WallsReady(), cmd.RollDice(1, 2), cmd.Deal(), cmd.RevealDora()
    )
    win = decide(state, cmd.Win(1, 2, han=2, fu=30))
    assert isinstance(win, list)
    after = apply_all(state, win)
    shown = next(x for x in desired(after, int(ALL)) if isinstance(x, m.SetScores))
    assert shown.scores == (25000, 27000, 23000, 25000)
    assert after.scores == (25000,) * 4


def test_negative_scores_show_as_zero_where_the_display_knows_no_sign() -> None:
    state = started()
    poor = state.copy()
    poor.scores = (-700, 40400, 60300, 0)
    has = Capability.SCORE_DISPLAYS
    assert desired(poor, int(has)) == [m.SetScores((0, 40400, 60300, 0))]
    assert desired(poor, int(has | Capability.NEGATIVE_SCORES)) == [
        m.SetScores((-700, 40400, 60300, 0))
    ]


def test_riichi_lamps_blink_until_the_tile_has_passed_and_go_out_with_the_hand() -> None:
    state = started(
        cmd.PressStart(0), cmd.WallsReady(), cmd.RollDice(1, 2), cmd.Deal(), cmd.RevealDora()
    )
    answer = decide(state, cmd.DeclareRiichi(2))
    assert isinstance(answer, list)
    playing = apply_all(state, answer)
    assert lamps(playing)[0] & Lamp.RIICHI_2
    result = decide(playing, cmd.ResultDraw("suufon"))
    assert isinstance(result, list)
    settled = decide(apply_all(playing, result), cmd.Settle())
    assert isinstance(settled, list)
    assert not lamps(apply_all(apply_all(playing, result), settled))[0] & Lamp.RIICHI_2
    assert lamps(EMPTY) == (0, 0)


# ---- motions ------------------------------------------------------------------------------------------


def test_a_hand_asks_for_the_lift_where_there_is_one() -> None:
    event = ev.HandStarted(0, 1, 0, 0, 0, (25000,) * 4)
    asked = motions.asked_by(event, int(Capability.LIFT), 1000)
    assert asked is not None
    assert json.loads(asked.body)["action"] == ActionKind.LIFT
    assert motions.asked_by(event, 0, 1000) is None
    assert motions.asked_by(ev.WallsBuilt(), int(Capability.LIFT), 1000) is None


def test_a_motion_keeps_its_deadline_in_monotonic_time() -> None:
    body = json.dumps({"action": 2, "arg": 0, "require": 1})
    row = StoredAction("t1", 9, "lift", body, "sent", None, "g", 5000, 1000, 1)
    motion = motions.motion_of(row, wall_ms=2000, mono_ms=70)
    assert (motion.cmd_id, motion.deadline_ms, motion.sent) == (9, 3070, True)


# ---- time and ids ---------------------------------------------------------------------------------------


def test_secret_ids_never_shift_public_ones() -> None:
    one, other = SeededIds("x"), SeededIds("x")
    first = one("public")
    other("secret")
    other("command")
    assert other("public") == first


def test_the_system_clock_is_monotonic_and_says_whether_it_is_synchronised() -> None:
    clock = SystemClock()
    before = clock.mono_ms()
    assert clock.mono_us() // 1000 >= before
    assert abs(clock.wall_ms() - time.time() * 1000) < 1000
    assert clock.synced() in (True, False)
    manual = ManualClock(5, 7)
    manual.advance(3)
    assert (manual.mono_ms(), manual.mono_us(), manual.wall_ms()) == (8, 8000, 10)


def test_a_reset_too_short_to_be_seen_is_told_by_the_next_up() -> None:
    """`link` is retained and at most five a second: what happened between two values is in the second."""
    clock = ManualClock(1_000, 1_800_000_000_000)
    told: list[LinkStatus] = []

    def up(boot_id: int, since_ms: int) -> None:
        device = DeviceInfo(boot_id=boot_id, reset_cause="watchdog")
        told.append(LinkStatus("t1", "up", "up", since_ms, device=device))

    source = PublicSource(
        SimpleNamespace(table_id="t1"), SimpleNamespace(), clock,  # type: ignore[arg-type]  # not asked for the link
        table_name="", venue_name="", figures=dict, loop_lag_ms=float, status=lambda: told[-1],
    )  # fmt: skip
    up(7, 900)
    first = source.link()
    assert (first.boot_id, first.since) == (7, 1_799_999_999_900)
    clock.advance(60_000)
    clock.wall += 86_400_000  # the wall clock is set: nothing happened to the link
    assert source.link() == first
    up(7, 60_500)  # lost and back
    second = source.link()
    assert (second.boot_id, second.since) == (7, 1_800_086_459_500)
    up(8, 60_900)  # reset, read anew, up: 400 ms
    third = source.link()
    assert (third.boot_id, third.reset_cause) == (8, "watchdog")
    assert third.since == second.since + 400


def test_loop_lag_is_seen() -> None:
    async def story() -> tuple[float, int]:
        lag = LoopLag()
        task = asyncio.create_task(lag.run())
        await asyncio.sleep(0)
        time.sleep(0.25)  # noqa: ASYNC251 - a loop that is blocked is the point
        async with asyncio.timeout(10):
            while not lag.beats:  # noqa: ASYNC110 - the beat is what is measured
                await asyncio.sleep(0.01)
        task.cancel()
        return lag.worst_ms(), lag.beats

    worst, beats = asyncio.run(story())
    assert beats >= 1
    assert worst >= 100


# ---- logs -----------------------------------------------------------------------------------------------


def test_equal_lines_are_folded_and_counted() -> None:
    now = [0.0]
    folding = logs.Folding(lambda: now[0])
    out = []
    for _ in range(10):
        record = logging.LogRecord("x", logging.WARNING, "", 0, "port %s is gone", ("a",), None)
        if folding.filter(record):
            out.append(record.getMessage())
        now[0] += 60
    assert out == ["port a is gone"] * 3 + ["port a is gone (3 times in 300 s)"]


def test_forms_of_log_lines() -> None:
    for form, pattern in (
        ("text", r"\d\d:\d\d:\d\d WARNING 卓が\n"),
        (
            "json",
            r'\{"t": "[^"]+Z", "level": "warning", "logger": "tablectl\.x", "message": "卓が"\}\n',
        ),
        ("journald", r"<4>tablectl\.x: 卓が\n"),
    ):
        stream = io.StringIO()
        logs.configure("info", form, stream)  # type: ignore[arg-type]  # the three of `Format`
        logging.getLogger("tablectl.x").warning("卓が")
        assert re.fullmatch(pattern, stream.getvalue()), stream.getvalue()
    logging.getLogger().handlers.clear()


# ---- metrics, reload ------------------------------------------------------------------------------------


def hall(folder: Path, more: str = "") -> Settings:
    return loads(
        "mqtt = false\n[web]\nenabled = false\n[journal]\npath = 'j.db'\n"
        f"[[tables]]\nid = 't1'\nport = '{folder}/absent'\nname = '一番'\n{more}",
        folder=folder,
    )


async def living(settings: Settings) -> tuple[Daemon, asyncio.Task[None]]:
    daemon = Daemon(settings)
    task = asyncio.create_task(daemon.run())
    await asyncio.wait_for(daemon.ready.wait(), 10)
    return daemon, task


def test_metrics_are_prometheus_text(tmp_path: Path) -> None:
    async def story() -> str:
        daemon, task = await living(hall(tmp_path))
        start = {"players": list("abcd")}
        await daemon.units["t1"].writer.request(Request("t1", "game/start", start, "test", "1"))
        text = daemon.metrics()
        daemon.stop()
        await task
        return text

    text = asyncio.run(story())
    assert 'tablectl_events_total{table="t1"} 1\n' in text
    assert 'tablectl_link_up{table="t1"} 0\n' in text
    line = re.compile(r'[a-z_]+(\{[a-z]+="[^"]*"(,[a-z]+="[^"]*")*\})? -?[0-9.e+-]+')
    names = set()
    for row in text.splitlines():
        if row.startswith("# TYPE "):
            names.add(row.split()[2])
        elif not row.startswith("#"):
            assert line.fullmatch(row), row
            assert row.split("{")[0].split()[0] in names


def test_reload_takes_over_what_it_can_and_names_the_rest(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def story() -> tuple[list[Change], Daemon]:
        daemon, task = await living(hall(tmp_path))
        new = hall(tmp_path, "baud = 9600\n[tables.sensors]\nsettle_ms = 777\n").model_copy(
            update={"venue": loads("[venue]\nname = '雀荘'").venue}
        )
        with caplog.at_level(logging.INFO):
            found = daemon.reload(new)
        daemon.stop()
        await task
        return found, daemon

    found, daemon = asyncio.run(story())
    assert {(change.key, change.live) for change in found} == {
        ("venue.name", True), ("tables.t1.sensors", True), ("tables.t1.baud", False),
    }  # fmt: skip
    assert daemon.units["t1"].writer.core.mirror.options.settle_ms == 777
    assert daemon.units["t1"].source.info().venue_name == "雀荘"
    assert daemon.settings.tables[0].baud == 115200
    assert "tables.t1.baud needs a restart" in caplog.text


def test_a_second_daemon_on_the_same_journal_ends_with_the_holders_pid(tmp_path: Path) -> None:
    config = tmp_path / "hall.toml"
    config.write_text(
        "mqtt = false\n[web]\nenabled = false\n[journal]\npath = 'j.db'\n"
        f"[[tables]]\nid = 't1'\nport = '{tmp_path}/absent'\n",
        encoding="utf-8",
    )
    command = [sys.executable, "-m", "tablectl", "run", "--config", str(config)]
    first = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True)
    try:
        assert first.stderr is not None
        lines = iter(first.stderr.readline, "")
        assert any("running" in line for line in lines)
        second = subprocess.run(
            command, cwd=ROOT, capture_output=True, text=True, timeout=20, check=False
        )
        assert second.returncode == 2
        assert str(first.pid) in second.stderr
        assert "Traceback" not in second.stderr
        os.kill(first.pid, signal.SIGHUP)
        assert any("nothing has changed" in line for line in lines)
        began = time.monotonic()
        first.terminate()
        assert first.wait(10) == 0
        assert time.monotonic() - began < 2
    finally:
        first.kill()
        first.wait()
        assert first.stderr is not None
        first.stderr.close()
