"""SPEC chapters 6 and 7: events and actions."""

from __future__ import annotations

import pytest

from firmware_protocol import messages as m
from firmware_protocol.deliveries import Delivery, LinkFailed
from firmware_protocol.memory import EventBuffer
from firmware_protocol.timing import MS, SECOND, DeviceClock
from firmware_protocol.vocabulary import ActionKind, ActionState, Result
from tests.wire.ends import (
    BOOT,
    NONCE,
    Hand,
    data_frames,
    device,
    fresh_device,
    host,
    ids,
    of,
    reconnect,
    reliable,
)

SLOT = m.RiichiSlot(seat=1, present=1)


def action(cmd_id: int, *, deadline_ms: int = 0, kind: int = ActionKind.BEEP) -> m.Action:
    """An action."""
    return m.Action(cmd_id=cmd_id, action=kind, arg=0, deadline_ms=deadline_ms, require=0)


def numbers(found: list) -> list[int]:  # type: ignore[type-arg]  # frames
    """event_no of event frames."""
    return [
        int.from_bytes(f.payload[:4], "little")
        for f in data_frames(found)
        if 0x30 <= f.message_id < 0x50
    ]


def results(board: Hand, found: list) -> list[tuple[int, int, int]]:  # type: ignore[type-arg]  # frames
    """cmd_id, result and repeated of the ActionResults among frames, acknowledging all."""
    out = []
    for f in data_frames(found):
        if f.message_id == m.ActionResult.SPEC.id:
            r = m.ActionResult.unpack(f.payload[8:])
            out.append((r.cmd_id, r.result, r.repeated))
    return out


# --------------------------------------------------------------------------- events


@pytest.mark.spec("E-1")
def test_an_event_begins_with_its_number_and_time() -> None:
    board = device()
    board.link.send(SLOT, 1_234 * MS)
    (frame,) = board.at(1_300 * MS).flush()
    assert frame.payload.hex() == "01000000d20400000101"


@pytest.mark.spec("E-2")
def test_numbers_count_events_that_found_room_and_skip_0() -> None:
    buffer = EventBuffer(3)
    assert [buffer.add(SLOT, 0) for _ in range(5)] == [True, True, True, False, False]
    assert buffer.event_no == 3
    buffer = EventBuffer(3)
    buffer.event_no = 0xFFFFFFFE
    seen = []
    for _ in range(3):
        buffer.add(SLOT, 0)
        seen.append(buffer.event_no)
    assert seen == [0xFFFFFFFF, 1, 2]


@pytest.mark.spec("E-3")
def test_unacknowledged_events_come_again_in_the_next_session() -> None:
    board = fresh_device()
    for at in (10, 20, 30, 40, 50, 60):
        board.link.send(SLOT, at * MS)
    first = board.at(100 * MS).hello()
    assert numbers(first) == [1, 2, 3, 4]
    assert numbers(board.ack(2)) == [5, 6]
    second = board.at(5 * SECOND).hello(NONCE + 1)
    assert numbers(second) == [3, 4, 5, 6]
    assert [int.from_bytes(f.payload[4:8], "little") for f in data_frames(second)] == [
        30,
        40,
        50,
        60,
    ]
    assert [f.seq for f in data_frames(second)] == [0, 1, 2, 3]


@pytest.mark.spec("E-4")
@pytest.mark.parametrize(
    ("boot", "hello", "expected"),
    [
        (BOOT, {"boot_id": BOOT, "event_no": 2}, [3]),
        (BOOT, {"boot_id": BOOT, "event_no": 0}, [1, 2, 3]),
        (BOOT, {"boot_id": BOOT + 1, "event_no": 2}, [1, 2, 3]),
        (0, {"boot_id": 0, "event_no": 2}, [1, 2, 3]),
        (BOOT, {"boot_id": BOOT, "event_no": 3}, []),
    ],
)
def test_hello_releases_events_that_the_host_has(
    boot: int, hello: dict[str, int], expected: list[int]
) -> None:
    board = fresh_device(boot_id=boot)
    for _ in range(3):
        board.link.send(SLOT, 0)
    assert numbers(board.hello(**hello)) == expected


@pytest.mark.spec("E-5")
def test_an_event_is_delivered_once_and_its_copy_waits_for_the_first() -> None:
    hall = host()
    hall.event(0, 1, SLOT)
    (first,) = of(hall.items, Delivery)
    assert first.event_no == 1
    assert first.boot == BOOT
    reconnect(hall)
    assert hall.event(0, 1, SLOT) == []  # neither delivered nor acknowledged
    assert reliable(hall.items) == []
    hall.link.accept(first)  # the journal commits at last
    assert [f.ack for f in hall.flush()] == [1]
    reconnect(hall)
    assert [f.ack for f in hall.event(0, 1, SLOT)] == [1]
    assert reliable(hall.items) == []
    assert hall.link.stats.events_repeated == 2
    hall.event(1, 2, SLOT)
    assert len(reliable(hall.items)) == 1


@pytest.mark.spec("E-6")
def test_events_without_room_are_counted_and_told_in_their_place() -> None:
    board = device(event_capacity=4)
    for number in range(9):
        board.link.send(m.StickTray(seat=0, sticks=(number, 0, 0, 0, 0), fault=0), 0)
    assert numbers(board.flush()) == [1, 2, 3, 4]
    board.ack(4)
    (lost,) = board.poll(10 * MS)
    assert lost.message_id == m.EventsLost.SPEC.id
    assert m.EventsLost.unpack(lost.payload[8:]) == m.EventsLost(count=5)
    assert numbers([lost]) == [5]
    board.link.send(SLOT, board.now)
    assert numbers(board.flush()) == [6]
    tight = device(event_capacity=2)
    for _ in range(3):
        tight.link.send(SLOT, 0)
    tight.flush()
    tight.ack(2)
    tight.link.send(SLOT, 0)  # the gap is told before the later event
    assert ids(tight.flush()) == [m.EventsLost.SPEC.id, m.RiichiSlot.SPEC.id]


@pytest.mark.spec("E-7")
def test_device_time_wraps_and_the_host_unwraps_it() -> None:
    clock = DeviceClock()
    clock.sample(10 * SECOND, 10 * SECOND, 0xFFFFFF00)
    assert clock.to_host(0xFFFFFF00 + 5) == 10 * SECOND + 5 * MS
    assert clock.to_host(0x100) == 10 * SECOND + 512 * MS
    assert clock.uptime_at(10 * SECOND + 512 * MS) == 0x100
    hall = host(ack={"uptime_ms": 0xFFFFFF00})
    hall.at(1 * SECOND)
    items = reconnect(hall, uptime_ms=(0xFFFFFF00 + 1000) & 0xFFFFFFFF)
    assert [type(item).__name__ for item in items] == ["LinkUp"]  # gone round, not restarted
    board = Hand(device().link)
    assert board.link.uptime_ms((1 << 32) * MS + 7 * MS) == 7


# --------------------------------------------------------------------------- actions


@pytest.mark.spec("A-1")
def test_the_host_never_writes_an_action_again_in_a_later_session() -> None:
    hall = host()
    for cmd_id in range(1, 6):
        hall.link.send(action(cmd_id), 0)
    assert len(ids(hall.flush())) == 3
    wrote = []
    reconnect(hall)
    wrote += ids(hall.heartbeat(0xFFFF))
    for at in range(1, 6):
        wrote += ids(hall.poll(at * 500 * MS))
    assert wrote == []
    assert hall.link.stats.failures["reset"] == 1


@pytest.mark.spec("A-2")
def test_a_repeated_action_is_answered_and_not_done() -> None:
    board = device()
    for seq, cmd_id in enumerate(range(1, 10)):
        board.data(seq, seq, action(cmd_id))
        assert [x.cmd_id for x in reliable(board.items) if isinstance(x, m.Action)] == [cmd_id]
        board.link.accept(of(board.items, Delivery)[0])
        board.link.finish(cmd_id, Result.DONE, cmd_id * 10, 0)
        board.flush()
        board.ack(seq + 1)
    frames = board.data(9, 9, action(2))
    assert results(board, frames) == [(2, Result.DONE, 1)]
    assert m.ActionResult.unpack(frames[0].payload[8:]).detail == 20
    assert reliable(board.items) == []
    board.data(10, 10, action(9))
    assert reliable(board.items) == []
    running = device()
    running.data(0, 0, action(5))
    assert running.data(1, 0, action(5)) == []  # no result yet, and nothing is accepted yet
    assert reliable(running.items) == []


@pytest.mark.spec("A-3")
def test_running_actions_are_not_forgotten_and_a_ninth_is_refused() -> None:
    board = device()
    for seq, cmd_id in enumerate(range(1, 9)):
        board.data(seq, 0, action(cmd_id))
        board.link.accept(of(board.items, Delivery)[0])
        board.flush()
    frames = board.data(8, 0, action(9))
    assert results(board, frames) == [(9, Result.REFUSED_BUSY, 0)]
    assert reliable(board.items) == []
    board.data(9, 0, action(1))
    assert reliable(board.items) == []
    assert board.link.running == tuple(range(1, 9))


@pytest.mark.spec("A-4")
@pytest.mark.parametrize(("uptime", "deadline", "begins"), [(100, 99, False), (100, 100, True), (100, 0, True),
                                                             (5, 0xFFFFFFF0, False), (100, 0x7FFFFFFF, True)])  # fmt: skip
def test_an_action_past_its_deadline_does_not_begin(
    uptime: int, deadline: int, begins: bool
) -> None:
    board = device()
    frames = board.at(uptime * MS).data(0, 0, action(7, deadline_ms=deadline))
    assert bool(reliable(board.items)) is begins
    assert results(board, frames) == ([] if begins else [(7, Result.EXPIRED, 0)])


@pytest.mark.spec("A-5")
def test_every_action_ends_with_one_result() -> None:
    board = device()
    seen = []
    for seq, (cmd_id, deadline) in enumerate(((1, 0), (2, 1), (3, 0), (3, 0), (2, 1))):
        frames = board.at(board.now + 100 * MS).data(
            seq, board.link.event_no & 0xFF, action(cmd_id, deadline_ms=deadline)
        )
        for delivery in of(board.items, Delivery):
            board.link.accept(delivery)
            board.link.finish(cmd_id, Result.DONE, 0, board.now)
        seen += results(board, frames + board.flush())
    assert [(cmd, result) for cmd, result, repeated in seen if not repeated] == [
        (1, Result.DONE),
        (2, Result.EXPIRED),
        (3, Result.DONE),
    ]
    assert [cmd for cmd, _, repeated in seen if repeated] == [3, 2]
    assert board.link.actions == 2


@pytest.mark.spec("A-6")
def test_a_query_tells_the_fate_of_an_action() -> None:
    board = device()
    board.data(0, 0, action(5))
    board.link.accept(of(board.items, Delivery)[0])
    board.flush()

    def ask(seq: int, ack: int, cmd_id: int) -> tuple[int, int, int]:
        reply = next(
            f for f in board.data(seq, ack, m.ActionQuery(cmd_id=cmd_id)) if f.message_id == 0x73
        )
        status = m.ActionStatus.unpack(reply.payload)
        assert status.cmd_id == cmd_id
        return status.state, status.result, status.detail

    assert ask(1, 0, 5) == (ActionState.RUNNING, 0, 0)
    board.link.finish(5, Result.FAILED_JAM, 3, 0)
    board.flush()
    assert ask(2, 2, 5) == (ActionState.FINISHED, Result.FAILED_JAM, 3)
    assert ask(3, 3, 6) == (ActionState.UNKNOWN, 0, 0)


@pytest.mark.spec("A-7")
def test_stop_is_delivered_whatever_is_running() -> None:
    board = device()
    for seq in range(8):
        board.data(seq, 0, action(seq + 1))
        board.link.accept(of(board.items, Delivery)[0])
        board.flush()
    board.data(8, 0, m.Stop(cmd_id=50))
    assert reliable(board.items) == [m.Stop(cmd_id=50)]
    board.link.finish(50, Result.DONE, 0, 0)
    assert results(board, board.flush()) == [(50, Result.DONE, 0)]
    assert of(board.items, LinkFailed) == []
