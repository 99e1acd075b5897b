"""SPEC chapter 3: reliable delivery."""

from __future__ import annotations

import pytest

from firmware_protocol import messages as m
from firmware_protocol.deliveries import Delivery, LinkFailed, State
from firmware_protocol.errors import LinkDown
from firmware_protocol.framing import ACK, DATA, DATAGRAM, LINK, encode
from firmware_protocol.link import Link
from firmware_protocol.schema import Kind
from firmware_protocol.timing import MS, SECOND, RetransmissionTimer
from firmware_protocol.vocabulary import ActionKind
from tests.wire.ends import Ends, Hand, data_frames, device, fresh_device, host, ids, of, reliable

ECHO = m.TestEcho(token=7, data=b"ping")
SLOT = m.RiichiSlot(seat=1, present=1)


def press(link: Link, number: int, now: int = 0) -> None:
    """Events that tell themselves apart."""
    link.send(m.StickTray(seat=0, sticks=(number & 0xFF, number >> 8, 0, 0, 0), fault=0), now)


def roll(cmd_id: int) -> m.Action:
    """An action."""
    return m.Action(cmd_id=cmd_id, action=ActionKind.ROLL, arg=0, deadline_ms=0, require=0)


def keep_alive(board: Hand, now: int) -> None:
    """A sign of life that acknowledges nothing."""
    board.at(now).datagram(m.Watchdog(timeout_ms=60_000))


@pytest.mark.spec("L-1")
def test_data_is_numbered_from_0_modulo_256() -> None:
    board = device()
    seen = []
    for number in range(600):
        press(board.link, number)
        (frame,) = data_frames(board.flush())
        seen.append(frame.seq)
        board.ack((number + 1) & 0xFF)
    assert seen == [number & 0xFF for number in range(600)]


@pytest.mark.spec("L-2")
@pytest.mark.parametrize(("ours", "theirs"), [(4, 4), (4, 2), (3, 4), (1, 1)])
def test_not_more_than_the_smaller_window_is_in_flight(ours: int, theirs: int) -> None:
    board = device(window=ours)
    board.hello(0x1006, window=theirs)
    for number in range(10):
        press(board.link, number)
    assert len(data_frames(board.flush())) == min(ours, theirs)
    assert data_frames(board.flush()) == []
    assert len(data_frames(board.ack(1))) == 1


@pytest.mark.spec("L-3")
def test_ack_is_the_first_number_not_accepted() -> None:
    hall = host()
    hall.event(0, 1, SLOT)
    first = hall.items
    hall.event(1, 2, SLOT)
    second = hall.items
    hall.link.send(m.TestEcho(token=1, data=b""), hall.now)
    (frame,) = hall.flush()
    assert (frame.type, frame.ack) == (DATA, 0)
    hall.link.accept(of(second, Delivery)[0])
    assert hall.flush() == []  # the first one is still open
    hall.link.send(m.TestEcho(token=2, data=b""), hall.now)
    assert [f.ack for f in hall.flush()] == [0]
    hall.link.accept(of(first, Delivery)[0])
    (frame,) = hall.flush()
    assert (frame.type, frame.ack) == (ACK, 2)
    beat = hall.poll(1_100 * MS)
    assert {(f.type, f.ack) for f in beat} >= {(DATAGRAM, 2)}


@pytest.mark.spec("L-4")
def test_nothing_is_acknowledged_before_its_owner_accepts() -> None:
    hall = host()
    assert hall.event(0, 1, SLOT) == []
    (delivery,) = of(hall.items, Delivery)
    assert all(f.ack == 0 for f in hall.poll(1_100 * MS))
    hall.link.accept(delivery)
    assert [f.ack for f in hall.flush()] == [1]
    board = device()
    assert board.data(0, 0, m.SetHonba(honba=1)) == []
    board.link.accept(of(board.items, Delivery)[0])
    assert [f.ack for f in board.flush()] == [1]


@pytest.mark.spec("L-5")
@pytest.mark.parametrize("seq", [1, 2, 200, 255])
def test_only_the_next_number_is_taken(seq: int) -> None:
    board = device()
    (answer,) = board.data(seq, 0, ECHO)
    assert (answer.type, answer.ack) == (ACK, 0)
    assert reliable(board.items) == []
    assert ids(board.data(0, 0, ECHO)) == [m.TestEchoReply.SPEC.id]


@pytest.mark.spec("L-6")
def test_frames_beyond_a_full_window_are_dropped_without_an_answer() -> None:
    board = device()
    for seq in range(4):
        board.data(seq, 0, m.SetHonba(honba=seq))
    assert board.data(4, 0, m.SetHonba(honba=4)) == []
    assert board.items == []
    assert board.link.stats.overruns == 1


@pytest.mark.spec("L-7")
def test_a_bare_ack_tells_the_next_number_it_would_take() -> None:
    hall = host()
    hall.event(0, 1, SLOT)
    hall.event(1, 2, SLOT)
    (answer,) = hall.event(1, 2, SLOT)
    assert (answer.type, answer.seq, answer.ack, answer.message_id, answer.payload) == (
        ACK,
        2,
        0,
        0,
        b"",
    )
    board = device()
    board.data(0, 0, m.SetHonba(honba=1))
    board.link.accept(of(board.items, Delivery)[0])
    press(board.link, 1)
    assert [f.type for f in board.flush()] == [DATA]  # it carries the acknowledgement


@pytest.mark.spec("L-8")
def test_an_ack_outside_the_frames_in_flight_is_ignored() -> None:
    board = device()
    for number in range(3):
        press(board.link, number)
    board.flush()
    for wrong in (4, 5, 100, 255):
        board.ack(wrong)
    assert board.link.stats.bad_acks == 4
    assert not board.link.idle
    board.ack(3)
    assert board.link.idle


@pytest.mark.spec("L-9")
def test_one_timer_repeats_all_in_flight_unchanged_with_the_ack_of_now() -> None:
    board = device()
    press(board.link, 1)
    first = data_frames(board.flush())
    board.at(100 * MS)
    press(board.link, 2, board.now)
    first += data_frames(board.flush())
    board.data(0, 0, m.SetHonba(honba=1))
    board.link.accept(of(board.items, Delivery)[0])
    board.flush()
    assert data_frames(board.poll(249 * MS)) == []
    again = data_frames(board.poll(250 * MS))
    assert [(f.seq, f.message_id, f.payload) for f in again] == [
        (f.seq, f.message_id, f.payload) for f in first
    ]
    assert [f.ack for f in first] == [0, 0]
    assert [f.ack for f in again] == [1, 1]


@pytest.mark.spec("L-10")
def test_timer_follows_rfc_6298_between_25_ms_and_2_s() -> None:
    timer = RetransmissionTimer()
    assert timer.rto == 250 * MS
    timer.sample(100 * MS)  # SRTT 100, RTTVAR 50
    assert timer.rto == 300 * MS
    timer.sample(180 * MS)  # RTTVAR 3/4·50 + 1/4·80 = 57.5, SRTT 7/8·100 + 1/8·180 = 110
    assert timer.rto == 340 * MS
    fast = RetransmissionTimer()
    for _ in range(50):
        fast.sample(1 * MS)
    assert fast.rto == 25 * MS
    steady = RetransmissionTimer()
    for _ in range(100):
        steady.sample(40 * MS)
    assert steady.rto == 41 * MS  # no variance left: the granularity remains
    slow = RetransmissionTimer()
    slow.sample(5 * SECOND)
    assert slow.rto == 2 * SECOND


@pytest.mark.spec("L-11")
def test_repeated_frames_give_no_sample_and_the_doubling_stays() -> None:
    board = device()
    press(board.link, 1)
    board.flush()
    board.poll(250 * MS)
    board.at(251 * MS).ack(1)
    assert board.link.stats.round_trip(0.5) is None
    press(board.link, 2, board.now)
    board.flush()
    start = board.now
    assert data_frames(board.poll(start + 499 * MS)) == []  # still doubled
    assert len(data_frames(board.poll(start + 500 * MS))) == 1
    board.ack(2)
    press(board.link, 3, board.now)
    board.flush()
    board.at(board.now + 40 * MS).ack(3)
    assert board.link.stats.round_trip(0.5) == 40 * MS
    press(board.link, 4, board.now)
    board.flush()
    start = board.now
    assert (
        len(data_frames(board.poll(start + 120 * MS))) == 1
    )  # 40 + 4·20 ms: the sample ended the doubling


@pytest.mark.spec("L-12")
def test_five_tries_without_acknowledgement_fail_the_link() -> None:
    board = device()
    press(board.link, 1)
    assert len(data_frames(board.flush())) == 1
    tries = 1
    for at in (250, 750, 1750, 3750):
        keep_alive(board, at * MS - 1)
        tries += len(data_frames(board.poll(at * MS)))
    assert tries == 5
    keep_alive(board, 5_749 * MS)
    assert board.link.state is State.UP
    board.poll(5_750 * MS)
    assert board.link.state is State.FAILED
    assert [f.reason for f in of(board.items, LinkFailed)] == ["tries"]


@pytest.mark.spec("L-13")
def test_progress_starts_timer_and_tries_again() -> None:
    board = device()
    for number in range(3):
        press(board.link, number)
    board.flush()
    for at in (250, 750, 1750, 3750):
        keep_alive(board, at * MS - 1)
        board.poll(at * MS)
    keep_alive(board, 5_749 * MS)
    board.ack(1)  # at the last moment
    board.poll(5_750 * MS)
    assert board.link.state is State.UP
    assert len(data_frames(board.poll(7_749 * MS))) == 2
    keep_alive(board, 7_760 * MS)
    for at in (9_749, 11_749, 13_749):
        keep_alive(board, at * MS - 1)
        board.poll(at * MS)
        assert board.link.state is State.UP


@pytest.mark.spec("L-14")
def test_a_peer_that_received_and_cannot_accept_is_waited_for() -> None:
    board = device()
    press(board.link, 1)
    board.flush()
    at = 250 * MS
    for _ in range(30):
        keep_alive(board, at - 2)
        board.at(at - 1).ack(0, received=1)
        board.poll(at)
        assert board.link.state is State.UP
        deadline = at + 2 * SECOND
        at = deadline
    board.ack(1)
    assert board.link.idle


@pytest.mark.spec("L-15")
def test_a_failed_link_refuses_and_writes_handshakes_only() -> None:
    hall = host()
    hall.poll(10 * SECOND)
    assert hall.link.state is State.FAILED
    for message in (roll(1), m.Stop(cmd_id=2), ECHO, m.TimeRequest(token=1, unix_s=0)):
        with pytest.raises(LinkDown) as caught:
            hall.link.send(message, hall.now)
        assert caught.value.code == "wire.link_down"
    hall.link.send(m.SetHonba(honba=3), hall.now)  # a wish, not a write
    assert hall.poll(20 * SECOND) == []
    board = device()
    press(board.link, 1)
    board.flush()
    board.poll(10 * SECOND)
    assert board.link.state is State.FAILED
    press(board.link, 2, board.now)
    assert {f.type for f in board.poll(12 * SECOND)} == {LINK}


@pytest.mark.spec("L-16")
def test_frames_of_another_session_have_no_effect() -> None:
    board = device()
    press(board.link, 1)
    board.flush()
    assert board.data(0, 1, ECHO, session=board.session + 1) == []
    assert board.items == []
    assert not board.link.idle  # its ack counted for nothing
    board.feed(
        encode(
            (board.session + 1) << 4 | DATAGRAM, 0, 1, 0x12, m.TimeRequest(token=1, unix_s=0).pack()
        )
    )
    assert board.items == []
    board.feed(encode((board.session + 1) << 4 | ACK, 1, 1, 0))
    assert not board.link.idle
    assert board.link.stats.stale == 3


@pytest.mark.spec("L-17")
def test_any_valid_frame_is_a_sign_of_life() -> None:
    hall = host()
    hall.at(3_000 * MS).event(0, 1, SLOT)  # an event, no heartbeat
    hall.poll(6_499 * MS)
    assert hall.link.state is State.UP
    hall.poll(6_500 * MS)
    assert [f.reason for f in of(hall.items, LinkFailed)] == ["silent"]
    board = device()
    board.poll(4_999 * MS)
    assert board.link.state is State.UP
    board.datagram(m.Watchdog(timeout_ms=700))
    board.at(5_600 * MS).ack(0)
    board.poll(6_299 * MS)
    assert board.link.state is State.UP
    board.poll(6_300 * MS)
    assert [f.reason for f in of(board.items, LinkFailed)] == ["silent"]


@pytest.mark.spec("L-18")
def test_messages_arrive_once_and_in_order() -> None:
    ends = Ends().connect()
    drop = iter(range(10_000))
    ends.channel["device"] = lambda data: data if next(drop) % 3 else b""
    ends.channel["host"] = lambda data: data * 2 if next(drop) % 4 else b""
    for number in range(60):
        press(ends.device, number, ends.now)
    for token in range(60):
        ends.host.send(m.SnapshotRequest(version=token, page=1), ends.now)
    assert ends.run(60 * SECOND, until=lambda: ends.device.idle and ends.host.idle)
    trays = [x.sticks[0] for x in reliable(ends.items["host"]) if isinstance(x, m.StickTray)]
    asked = [x.version for x in reliable(ends.items["device"]) if isinstance(x, m.SnapshotRequest)]
    assert trays == list(range(60))
    assert asked == list(range(60))


@pytest.mark.spec("L-19")
def test_a_failing_link_tells_which_commands_are_unsent_and_which_unsure() -> None:
    hall = host()
    for cmd_id in (1, 2, 3, 4, 5):
        hall.link.send(roll(cmd_id), 0)
    assert len(ids(hall.flush())) == 3
    hall.ack(1)
    hall.poll(10 * SECOND)
    (failed,) = of(hall.items, LinkFailed)
    assert failed.reason == "silent"
    assert [x.cmd_id for x in failed.unsure if isinstance(x, m.Action)] == [2, 3, 4]
    assert [x.cmd_id for x in failed.unsent if isinstance(x, m.Action)] == [5]
    hall.poll(20 * SECOND)
    assert of(hall.items, LinkFailed) == []


@pytest.mark.spec("L-20")
def test_the_most_urgent_waiting_message_goes_first() -> None:
    hall = host()
    hall.at(1 * SECOND)
    hall.link.send(m.InfoRequest(key=1, page=0), hall.now)
    hall.link.show(m.SetHonba(honba=1))
    hall.link.send(roll(1), hall.now)
    hall.link.send(m.Stop(cmd_id=2), hall.now)
    sent = ids(hall.flush())
    seq = 0
    while len(sent) < 4:
        seq += 1
        sent += ids(hall.ack(seq))
    assert sent == [x.SPEC.id for x in (m.Stop, m.Action, m.SetHonba, m.InfoRequest)]
    board = device()
    board.link.send(m.LogText(level=1, text="bulk"), 0)
    press(board.link, 1)
    assert ids(board.flush()) == [m.StickTray.SPEC.id, m.LogText.SPEC.id]


@pytest.mark.spec("L-21")
def test_the_last_place_of_the_window_is_kept_for_stop() -> None:
    hall = host()
    for number in range(8):
        hall.link.send(m.TestEcho(token=number, data=b""), 0)
        hall.link.send(roll(number + 1), 0)
    for display in range(8):
        hall.link.show(m.SetText(display=display, text="x"))
    assert len(ids(hall.flush())) == 3
    hall.link.send(m.Stop(cmd_id=99), 0)
    assert ids(hall.flush()) == [m.Stop.SPEC.id]
    narrow = host(window=1)
    narrow.link.send(ECHO, 0)
    assert len(ids(narrow.flush())) == 1  # of a window of one nothing is kept free


@pytest.mark.spec("L-22")
def test_bulk_is_dropped_where_it_finds_no_link_or_no_room() -> None:
    board = device()
    room = board.link.send_space(Kind.BULK)
    for number in range(room + 5):
        board.link.send(m.LogText(level=1, text=str(number)), 0)
    assert board.link.stats.bulk_dropped == 5
    board.poll(10 * SECOND)
    board.link.send(m.LogText(level=1, text="down"), board.now)
    assert board.link.stats.bulk_dropped == 6
    board.hello(0x1007)
    assert ids(board.flush()) == []


@pytest.mark.spec("L-22")
def test_an_answer_too_long_for_the_hosts_frames_is_dropped() -> None:
    board = fresh_device()
    board.hello(max_frame=24)
    board.data(0, 0, m.TestEcho(token=1, data=b"x" * 40))
    assert board.link.stats.bulk_dropped == 1
    (frame,) = board.data(1, 0, m.TestEcho(token=2, data=b"x"))
    assert frame.message_id == m.TestEchoReply.SPEC.id
