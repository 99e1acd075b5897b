"""SPEC chapter 8: displays."""

from __future__ import annotations

import pytest

from firmware_protocol import messages as m
from firmware_protocol.deliveries import Delivery, DisplaysDiffer
from firmware_protocol.framing import encode
from firmware_protocol.outgoing import display_digest
from firmware_protocol.timing import MS, SECOND
from firmware_protocol.vector_cases import plain_crc
from tests.wire.ends import SESSION, Hand, data_frames, device, host, ids, of, reconnect

EMPTY = 0xFFFF


def honba(*values: int) -> list[bytes]:
    """Payloads of SetHonba."""
    return [bytes((value,)) for value in values]


def written(hand: Hand, found: list) -> list[bytes]:  # type: ignore[type-arg]  # frames
    """Payloads of display writes."""
    return [f.payload for f in data_frames(found)]


def settle(hand: Hand) -> None:
    """Acknowledge all writes."""
    seq = getattr(hand, "acked", 0)
    for _ in range(10):
        seq += len(data_frames(hand.wrote))
        hand.ack(seq & 0xFF)
        if not data_frames(hand.wrote):
            break
    hand.acked = seq  # type: ignore[attr-defined]  # noted for the next call


@pytest.mark.spec("D-1")
def test_only_the_latest_wish_is_written() -> None:
    hall = host()
    for value in range(10):
        hall.link.show(m.SetHonba(honba=value))
    assert written(hall, hall.flush()) == honba(9)
    for value in range(20, 30):
        hall.link.show(m.SetHonba(honba=value))
    hall.at(100 * MS)
    assert written(hall, hall.ack(1)) == honba(29)


@pytest.mark.spec("D-2")
def test_one_write_per_display_is_in_flight() -> None:
    hall = host()
    hall.link.show(m.SetHonba(honba=1))
    hall.flush()
    hall.at(200 * MS)
    hall.link.show(m.SetHonba(honba=2))
    assert written(hall, hall.flush()) == []
    hall.link.show(m.SetDeposits(deposits=1))  # another display does not wait
    assert ids(hall.flush()) == [m.SetDeposits.SPEC.id]
    assert written(hall, hall.ack(1)) == honba(2)


@pytest.mark.spec("D-3")
def test_writes_to_a_display_are_50_ms_apart() -> None:
    hall = host()
    times = []
    sent = 0
    for at in range(400):
        hall.at(at * MS)
        hall.link.show(m.SetHonba(honba=at & 0xFF))
        if ids(hall.flush()):
            times.append(at)
            sent += 1
            hall.ack(sent)
    assert times == list(range(0, 400, 50))
    hall.link.show(m.SetHonba(honba=255))
    hall.at(451 * MS)
    hall.flush()
    hall.ack(sent + 1)
    hall.link.show(m.SetHonba(honba=254))
    assert hall.link.next_deadline == 501 * MS


@pytest.mark.spec("D-4")
def test_what_is_shown_is_not_written() -> None:
    hall = host()
    hall.link.show(m.SetHonba(honba=3))
    hall.flush()
    hall.ack(1)
    for at in (100, 200, 300):
        hall.at(at * MS)
        hall.link.show(m.SetHonba(honba=3))
        assert ids(hall.flush()) == []
    hall.link.show(m.SetHonba(honba=4))
    hall.link.show(m.SetHonba(honba=3))
    assert ids(hall.flush()) == []


@pytest.mark.spec("D-5")
def test_first_writes_wait_for_a_heartbeat_that_may_spare_them() -> None:
    wish = m.SetHonba(honba=3)
    digest = plain_crc(b"\x51\x03")
    hall = host(beat=False)
    hall.link.show(wish)
    assert ids(hall.poll(199 * MS)) == []
    assert ids(hall.poll(200 * MS)) == [wish.SPEC.id]
    spared = host(beat=False)
    spared.link.show(wish)
    assert ids(spared.at(50 * MS).heartbeat(digest)) == []
    assert ids(spared.poll(400 * MS)) == []
    eager = host(beat=False)
    eager.link.show(wish)
    assert ids(eager.at(50 * MS).heartbeat(digest ^ 1)) == [wish.SPEC.id]


@pytest.mark.spec("D-6")
def test_digest_covers_all_states_in_force_in_order() -> None:
    board = device()
    states = [
        m.SetText(display=9, text="b"),
        m.SetHonba(honba=1),
        m.SetText(display=2, text="a"),
        m.SetHonba(honba=2),
    ]
    for seq, state in enumerate(states):
        board.data(seq, 0, state)
        board.link.accept(of(board.items, Delivery)[0])
    beat = next(f for f in board.poll(1 * SECOND) if f.message_id == m.Heartbeat.SPEC.id)
    expected = plain_crc(b"\x51\x02" + b"\x56\x02\x01a" + b"\x56\x09\x01b")
    assert m.Heartbeat.unpack(beat.payload).display_digest == expected
    assert display_digest({}) == EMPTY
    odd = b"\x03\x02\xff\xfe"  # a text that is no UTF-8 counts as it came
    board.feed(encode(SESSION << 4 | 1, 4, 0, m.SetText.SPEC.id, odd))
    board.link.accept(of(board.items, Delivery)[0])
    beat = next(f for f in board.poll(2 * SECOND) if f.message_id == m.Heartbeat.SPEC.id)
    expected = plain_crc(b"\x51\x02" + b"\x56\x02\x01a" + b"\x56" + odd + b"\x56\x09\x01b")
    assert m.Heartbeat.unpack(beat.payload).display_digest == expected


@pytest.mark.spec("D-7")
def test_two_differing_heartbeats_in_a_row_rewrite_all_displays() -> None:
    hall = host()
    hall.link.show(m.SetHonba(honba=3))
    hall.link.show(m.SetDeposits(deposits=1))
    good = plain_crc(b"\x51\x03\x52\x01")
    hall.flush()
    settle(hall)

    def beat(at: float, digest: int) -> list[int]:
        hall.at(int(at * SECOND)).heartbeat(digest, uptime_ms=int(at * 1000))
        found = ids(hall.wrote)
        differs = len(of(hall.items, DisplaysDiffer))
        assert differs == (1 if found else 0)
        settle(hall)
        return found

    both = [m.SetHonba.SPEC.id, m.SetDeposits.SPEC.id]
    assert beat(1, 7) == []
    assert beat(2, good) == []
    assert beat(3, 7) == []
    assert beat(4, 7) == both
    again = [at for at in range(5, 100) if beat(at, 7) == both]
    assert again == [14, 34, 74]  # 10, 20, 40 s after the one before
    waiting = host()
    waiting.link.show(m.SetHonba(honba=1))
    waiting.flush()  # in flight: nothing to compare
    for at in (1, 2, 3):
        waiting.at(at * SECOND).heartbeat(7)
        assert of(waiting.items, DisplaysDiffer) == []


@pytest.mark.spec("D-8")
def test_after_a_restart_all_displays_are_written_again() -> None:
    hall = host()
    hall.link.show(m.SetHonba(honba=3))
    hall.link.show(m.SetDeposits(deposits=1))
    hall.flush()
    settle(hall)
    hall.at(1 * SECOND)
    reconnect(hall)  # the same start: nothing to write
    assert ids(hall.heartbeat(plain_crc(b"\x51\x03\x52\x01"))) == []
    assert ids(hall.poll(1_500 * MS)) == []
    reconnect(hall, boot_id=0xABCD, uptime_ms=5)
    assert ids(hall.heartbeat(EMPTY)) == [m.SetHonba.SPEC.id, m.SetDeposits.SPEC.id]


@pytest.mark.spec("D-9")
def test_keyed_messages_are_several_displays() -> None:
    hall = host()
    hall.link.show(m.SetText(display=1, text="a"))
    hall.link.show(m.SetText(display=2, text="b"))
    hall.link.show(m.SetHonba(honba=1))
    hall.link.show(m.SetHonba(honba=2))
    assert written(hall, hall.flush()) == [b"\x02", b"\x01\x01a", b"\x02\x01b"]
    assert {c.SPEC.name for c in m.SCHEMA if c.SPEC.keyed} == {"SetDifferences", "SetText"}
