"""The parts of a connection that need no port: waiting, speaking, motions, the picture of a state."""

from __future__ import annotations

import dataclasses
import random

from firmware_protocol import messages as m
from firmware_protocol.paging import state_digest
from firmware_protocol.schema import Message
from firmware_protocol.vocabulary import ActionKind, ActionState, Phase, Result
from tablectl.table.drivers import MarkSent, Motion, SettleMotion
from tablectl.table.motions import ASK_EVERY, ASK_MOST, Motions
from tablectl.table.options import ReconnectOptions
from tablectl.table.picture import DevicePicture
from tablectl.table.reconnect import Backoff, FoldedLog

PATIENCE = 20_000_000


# ------------------------------------------------------------------ waiting


def test_waits_grow_to_their_limit_and_are_spread() -> None:
    options = ReconnectOptions()
    waits = [[], []]  # type: list[list[int]]
    for seed in (1, 2):
        backoff = Backoff(options, random.Random(seed))
        waits[seed - 1] = [backoff.wait_ms("port_lost") for _ in range(30)]
    assert waits[0] != waits[1], "twenty tables do not knock at once"
    for series in waits:
        assert series[0] <= options.first_ms * 1.25
        assert all(wait <= options.most_ms * 1.25 for wait in series)
        assert series[-1] >= options.most_ms * 0.75


def test_a_missing_port_is_looked_for_often_and_a_refused_one_left_alone() -> None:
    options = ReconnectOptions(jitter=0)
    backoff = Backoff(options, random.Random(1))
    assert max(backoff.wait_ms("port_missing") for _ in range(50)) == options.missing_ms
    assert backoff.wait_ms("version_refused") == options.refused_ms
    backoff.reset()
    assert backoff.wait_ms("port_lost") == options.first_ms


def test_the_same_line_is_folded_and_counted() -> None:
    """Known fault 43: once, then a summary every five minutes with the count."""
    folded = FoldedLog(300_000)
    told = [line for ms in range(0, 3_600_000, 1000) if (line := folded.line("port is gone", ms))]
    assert told[0] == "port is gone"
    assert len(told) == 12
    assert told[1] == "port is gone (for 5 min, 300 times more)"
    assert folded.line("port is back", 3_600_000) == "port is back"
    assert folded.line("port is gone", 3_600_001) == "port is gone"


# ------------------------------------------------------------------ motions


def lift(cmd_id: int, deadline_ms: int | None = 15_000, *, sent: bool = False) -> Motion:
    return Motion(cmd_id, m.Action(cmd_id, ActionKind.LIFT, 0, 0, 0), deadline_ms, sent)


def settled(motions: Motions) -> dict[int, tuple[str, object]]:
    return {
        o.cmd_id: (o.state, o.result.get("name", o.result.get("reason")))
        for o in motions.wanted
        if isinstance(o, SettleMotion)
    }


def test_a_motion_is_ready_only_after_it_is_marked() -> None:
    motions = Motions(PATIENCE)
    motions.begin(lift(1), 0)
    motions.begin(lift(1), 0)
    assert motions.wanted == [MarkSent(1)]
    assert motions.ready(0) == []
    motions.marked(1, 0)
    assert [motion.cmd_id for motion in motions.ready(0)] == [1]
    assert motions.ready(0) == [], "once"


def test_results_say_whether_anything_moved() -> None:
    ends = {
        Result.DONE: "done",
        Result.FAILED_JAM: "done",
        Result.FAILED_MOTOR: "done",
        Result.STOPPED: "done",
        Result.UNSUPPORTED: "refused",
        Result.REFUSED_INTERLOCK: "refused",
        Result.REFUSED_PRECONDITION: "refused",
        Result.REFUSED_BUSY: "refused",
        Result.EXPIRED: "refused",
    }
    assert set(ends) == set(Result)
    motions = Motions(PATIENCE)
    for number, result in enumerate(ends, 1):
        motions.result(m.ActionResult(number, result, 0, 0))
    assert [state for state, _ in settled(motions).values()] == list(ends.values())


def test_after_a_reconnection_only_what_was_never_written_and_is_not_late_is_sent() -> None:
    motions = Motions(PATIENCE)
    old = [lift(1), lift(2, deadline_ms=1), lift(3, sent=True), lift(4, sent=True)]
    motions.resync(old, 5_000_000, reset=False)
    assert motions.asking
    assert motions.to_query == [1, 2, 3, 4]
    for cmd_id in (1, 2, 3):
        motions.status(m.ActionStatus(cmd_id, ActionState.UNKNOWN, 0, 0), 5_000_000)
    motions.status(m.ActionStatus(4, ActionState.RUNNING, 0, 0), 5_000_000)
    assert not motions.asking
    assert [o.cmd_id for o in motions.wanted if isinstance(o, MarkSent)] == [1]
    assert settled(motions) == {2: ("refused", "expired"), 3: ("unknown", "not_remembered")}


def test_after_a_reset_all_is_unknown_and_nothing_is_asked() -> None:
    motions = Motions(PATIENCE)
    motions.resync([lift(1), lift(2)], 0, reset=True)
    assert settled(motions) == {1: ("unknown", "reset"), 2: ("unknown", "reset")}
    assert motions.to_query == []
    assert motions.next_deadline is None


def test_a_motion_under_way_for_long_is_asked_for_and_given_up_in_the_end() -> None:
    motions = Motions(PATIENCE)
    motions.begin(lift(1), 0)
    motions.marked(1, 0)
    motions.ready(0)
    assert motions.next_deadline == PATIENCE
    now = PATIENCE
    for _ in range(ASK_MOST):
        motions.poll(now)
        assert motions.to_query == [1]
        motions.to_query.clear()
        now += ASK_EVERY
    motions.poll(now)
    assert settled(motions) == {1: ("unknown", "not_remembered")}
    assert [o for o in motions.wanted if isinstance(o, MarkSent)] == [MarkSent(1)], (
        "never sent again"
    )


def test_running_is_patience_anew() -> None:
    motions = Motions(PATIENCE)
    motions.begin(lift(1), 0)
    motions.marked(1, 0)
    motions.ready(0)
    motions.poll(PATIENCE)
    motions.status(m.ActionStatus(1, ActionState.RUNNING, 0, 0), PATIENCE)
    assert motions.next_deadline == 2 * PATIENCE


def test_nothing_is_written_after_the_link_went_down() -> None:
    motions = Motions(PATIENCE)
    motions.begin(lift(1), 0)
    motions.link_down()
    motions.marked(1, 0)
    assert motions.ready(0) == []


# ------------------------------------------------------------------ the picture

STATE = m.SnapshotState(9, 1, Phase.DOWN, (Phase.DOWN,) * 4, 0, 0, tuple(range(20)), 0)


def beat(state: m.SnapshotState, event_no: int = 9) -> m.Heartbeat:
    return m.Heartbeat(0, 1, event_no, 0, state_digest(state), 0, 0, 0)


def test_events_move_the_picture_as_they_move_the_board() -> None:
    picture = DevicePicture()
    assert picture.stale
    picture.snapshot(STATE)
    steps: list[tuple[Message, dict[str, object]]] = [
        (m.LidEvent(Phase.UP, 0, 0), {"lid": Phase.UP}),
        (m.WallEvent(2, Phase.RISING, 0, 0), {"walls": (1, 1, 2, 1)}),
        (m.WallEvent(255, Phase.UP, 0, 0), {"walls": (3, 3, 3, 3)}),
        (m.LockEvent(1, 0), {"locked": 1}),
        (m.RiichiSlot(2, 1), {"riichi": 4}),
        (m.RiichiSlot(0, 1), {"riichi": 5}),
        (m.RiichiSlot(2, 0), {"riichi": 1}),
        (m.StickTray(1, (9, 8, 7, 6, 5), 0), {"trays": (*range(5), 9, 8, 7, 6, 5, *range(10, 20))}),
        (m.DiceSettled(1, 2, 0, 0), {}),
    ]
    board = STATE
    for message, change in steps:
        board = dataclasses.replace(board, **change)  # type: ignore[arg-type]
        picture.observe(message)
        assert not picture.compare(beat(board), 9), message
        assert picture.state == board


def test_two_differences_in_a_row_count_and_only_at_the_same_event() -> None:
    other = dataclasses.replace(STATE, lid=Phase.JAMMED)
    picture = DevicePicture()
    picture.snapshot(STATE)
    assert not picture.compare(beat(other), 9)
    assert not picture.compare(beat(STATE), 9)
    assert not picture.compare(beat(other), 9), "not in a row"
    assert not picture.compare(beat(other, event_no=10), 9), "another moment"
    assert picture.compare(beat(other), 9)
    assert picture.stale


def test_a_fault_that_ends_without_an_event_is_learnt_from_the_digest() -> None:
    picture = DevicePicture()
    picture.snapshot(STATE)
    faulty = dataclasses.replace(STATE, fault=1)
    assert not picture.compare(beat(faulty), 9)
    assert not picture.compare(beat(faulty), 9)
    assert picture.state == faulty


def test_lost_events_make_the_picture_void() -> None:
    picture = DevicePicture()
    picture.snapshot(STATE)
    picture.observe(m.EventsLost(3))
    assert picture.stale
    assert picture.state is None
