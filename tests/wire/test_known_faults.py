"""Faults that other serial links had in the field, by their row in ../shared/known-faults.md: here they do not happen."""

from __future__ import annotations

from firmware_protocol import messages as m
from firmware_protocol.deliveries import (
    Delivery,
    LinkFailed,
    LinkRefused,
    LinkUp,
    LogBytes,
    PeerReset,
    State,
)
from firmware_protocol.framing import Frame, encode
from firmware_protocol.schema import Message
from firmware_protocol.timing import MS, SECOND
from firmware_protocol.vocabulary import ActionKind
from tests.wire.ends import Ends, data_frames, device, host, ids, of, reconnect, reliable

SLOT = m.RiichiSlot(seat=1, present=1)


def action(cmd_id: int) -> Message:
    """An action."""
    return m.Action(cmd_id, ActionKind.LIFT, 0, 0, 0)


def test_row_20_boot_text_in_the_handshake_is_a_log_and_hello_is_repeated() -> None:
    ends = Ends()
    text = b"\x00\xf8\x80ets Jun  8 2016 rst:0x1 (POWERON_RESET)\r\n" * 3
    pieces = iter([text, text + b"half a line"])
    ends.channel["device"] = lambda data: next(pieces, b"") + data
    ends.connect()
    assert b"POWERON" in b"".join(x.data for x in of(ends.items["host"], LogBytes))
    assert ends.host.stats.crc_errors == 0


def test_row_22_and_21_a_frame_in_pieces_is_one_frame() -> None:
    board = device()
    line = encode(0x51, 0, 0, m.TestEcho.SPEC.id, m.TestEcho(token=1, data=b"x").pack())
    for octet in line[:-1]:
        assert board.feed(bytes((octet,))) == []
    assert ids(board.feed(line[-1:])) == [m.TestEchoReply.SPEC.id]


def test_row_23_frames_from_before_the_reset_are_dropped_and_there_is_one_timer() -> None:
    hall = host()
    old = hall.session
    hall.link.send(action(1), 0)
    hall.flush()
    hall.link.connect(0)
    hello = hall.poll()[0]
    stale = encode(old << 4 | 1, 0, 1, SLOT.SPEC.id, b"\x01\0\0\0\0\0\0\0" + SLOT.pack())
    hall.feed(stale)  # before HelloAck
    assert reliable(hall.items) == []
    hall.hello_ack(int.from_bytes(hello.payload[:4], "little"))
    hall.feed(stale)  # and after it
    assert reliable(hall.items) == []
    assert data_frames(hall.poll(240 * MS)) == []  # the timer of the old session is gone
    assert data_frames(hall.poll(260 * MS)) == []


def test_row_24_a_stalled_loop_comes_back_with_one_repetition_not_a_burst() -> None:
    board = device()
    board.link.send(SLOT, 0)
    board.flush()
    board.at(3 * SECOND).datagram(m.Watchdog(timeout_ms=60_000))
    late = board.poll(20 * SECOND)  # nobody called poll for 20 s
    assert len(data_frames(late)) == 1
    assert data_frames(board.poll(20 * SECOND + 1)) == []


def test_rows_25_and_27_a_restart_is_seen_and_its_cause_told() -> None:
    ends = Ends().connect()
    ends.restart_device(reset_cause=3)
    assert ends.run(10 * SECOND, until=lambda: len(of(ends.items["host"], LinkUp)) == 2)
    (reset,) = of(ends.items["host"], PeerReset)
    assert reset.cause == 3
    assert [f.reason for f in of(ends.items["host"], LinkFailed)] == ["peer_reset"]
    assert ends.host.stats.resets == {"watchdog": 1}
    assert ends.now < 3 * SECOND  # not after some long time-out


def test_row_28_the_last_frames_and_figures_are_there_for_the_report() -> None:
    hall = host()
    hall.event(0, 1, SLOT)
    hall.link.send(action(7), hall.now)
    hall.flush()
    hall.poll(10 * SECOND)
    recent = hall.link.recent()
    assert len(recent) <= 32
    assert {way for _, way, _ in recent} == {"rx", "tx"}
    assert recent[-1][2][3] == m.Action.SPEC.id
    assert hall.link.stats.as_dict()["failures"] == {"silent": 1}


def test_row_29_after_a_device_reset_no_outstanding_command_runs() -> None:
    ends = Ends().connect()
    ends.channel["host"] = lambda _: b""  # the command does not get through
    ends.host.send(action(1), ends.now)
    ends.run(20 * MS)
    ends.channel["host"] = bytes
    ends.restart_device()
    ends.run(10 * SECOND)
    assert ends.host.state is State.UP
    assert not [x for x in reliable(ends.items["device"]) if isinstance(x, m.Action)]
    failed = of(ends.items["host"], LinkFailed)[0]
    assert [x.cmd_id for x in failed.unsure if isinstance(x, m.Action)] == [1]


def test_row_30_a_corrupted_number_neither_acknowledges_nor_loops_for_ever() -> None:
    board = device()
    for _ in range(3):
        board.link.send(SLOT, 0)
    board.flush()
    for wrong in range(4, 256):
        board.ack(wrong)
        board.ack(0, received=wrong)
    assert board.link.stats.bad_acks == 252
    wrote: list[Frame] = []
    for at in range(1, 12_000):
        board.at(at * MS)
        if at % 1000 == 0 and board.link.state is State.UP:
            board.datagram(m.Watchdog(timeout_ms=60_000))
        wrote += data_frames(board.poll())
    assert len(wrote) == 3 * 4  # five tries in all, then the link is reset
    assert board.link.state is State.FAILED


def test_row_31_no_verdict_on_versions_from_a_frame_in_mid_session() -> None:
    hall = host()
    hall.hello_ack(0xBAD0BAD5, major=7)
    assert of(hall.items, LinkRefused) == []
    assert hall.link.state is State.UP


def test_row_32_data_without_heartbeats_keeps_the_link_alive() -> None:
    hall = host()
    for number in range(1, 40):
        hall.at(number * SECOND).event(number - 1, number, SLOT)
        hall.link.accept(of(hall.items, Delivery)[0])
        hall.poll()
        assert hall.link.state is State.UP
    reconnect(hall)
    assert hall.link.state is State.UP
