"""SPEC chapter 4: handshake and versions."""

from __future__ import annotations

from itertools import pairwise

import pytest

from firmware_protocol import messages as m
from firmware_protocol.deliveries import (
    BadMessage,
    Delivery,
    LinkFailed,
    LinkRefused,
    LinkUp,
    State,
    UnknownMessage,
)
from firmware_protocol.errors import NotSpoken
from firmware_protocol.framing import DATA, LINK, Frame, encode
from firmware_protocol.link import Link
from firmware_protocol.messages import SCHEMA, TO_DEVICE, TO_HOST
from firmware_protocol.schema import Kind, Message, Schema, message, u8, u16
from firmware_protocol.timing import MS, SECOND
from firmware_protocol.vocabulary import ActionKind, Result
from tests.wire.ends import (
    BOOT,
    NONCE,
    SESSION,
    Hand,
    device,
    fresh_device,
    host,
    ids,
    nonces,
    of,
    reconnect,
    reliable,
)

ECHO = m.TestEcho(token=7, data=b"ping")
SLOT = m.RiichiSlot(seat=1, present=1)


def nonce_of(frame: Frame) -> int:
    """The nonce of a Hello or HelloAck."""
    return int.from_bytes(frame.payload[:4], "little")


def seeking(now: int = 0) -> Hand:
    """A host that has written its first Hello."""
    hand = Hand(Link.host(now, nonce=nonces()), now)
    hand.link.connect(now)
    return hand


# --------------------------------------------------------------------------- handshake


@pytest.mark.spec("H-1")
def test_a_device_without_a_session_announces_itself_every_second() -> None:
    board = fresh_device()
    times = [at for at in range(3_500) if board.poll(at * MS)]
    assert times == [0, 1000, 2000, 3000]
    board.hello()
    assert [
        f.message_id
        for at in range(3_600, 6_000, 10)
        for f in board.poll(at * MS)
        if f.type == LINK
    ] == []


@pytest.mark.spec("H-2")
def test_each_hello_has_a_new_nonce_and_another_session() -> None:
    hall = Hand(Link.host(0, nonce=lambda: 0x77))  # a bad source of chance
    hall.link.connect(0)
    seen = [nonce_of(hall.poll(at * SECOND)[0]) for at in range(0, 40, 2)]
    assert all(a & 0x0F != b & 0x0F for a, b in pairwise(seen))
    good = seeking()
    seen = [nonce_of(good.poll(at * SECOND)[0]) for at in range(0, 40, 2)]
    assert len(set(seen)) == 20


@pytest.mark.spec("H-3")
def test_hello_is_repeated_until_the_ack_of_the_latest_one() -> None:
    hall = seeking()
    found = [(at, f[0]) for at in range(8_000) if (f := hall.poll(at * MS))]
    assert [at for at, _ in found] == [0, 250, 750, 1750, 3750, 5750, 7750]
    hall.hello_ack(nonce_of(found[-2][1]))
    assert hall.link.state is State.CONNECTING
    hall.hello_ack(nonce_of(found[-1][1]))
    assert hall.link.state is State.UP
    assert [
        f.message_id
        for at in range(8_000, 11_000, 50)
        for f in hall.poll(at * MS)
        if f.type == LINK
    ] == []


@pytest.mark.spec("H-4")
def test_a_new_hello_begins_a_new_session_and_brings_a_heartbeat() -> None:
    board = device()
    board.data(0, 0, ECHO)
    board.data(1, 1, ECHO)
    answer = board.hello(NONCE + 1)
    assert [(f.message_id, f.session) for f in answer] == [
        (m.HelloAck.SPEC.id, 6),
        (m.Heartbeat.SPEC.id, 6),
    ]
    assert nonce_of(answer[0]) == NONCE + 1
    assert [f.reason for f in of(board.items, LinkFailed)] == ["peer_hello"]
    (reply,) = board.data(0, 0, ECHO)
    assert (reply.seq, reply.ack) == (0, 1)


@pytest.mark.spec("H-5")
def test_with_the_ack_the_host_is_up_and_writes_watchdog_and_time_request() -> None:
    hall = seeking()
    (hello,) = hall.poll(0)
    wrote = hall.hello_ack(nonce_of(hello))
    assert hall.link.state is State.UP
    assert [f.message_id for f in wrote] == [m.Watchdog.SPEC.id, m.TimeRequest.SPEC.id]
    assert all(f.session == nonce_of(hello) & 0x0F for f in wrote)


@pytest.mark.spec("H-6")
def test_a_copy_of_the_hello_does_not_begin_anew() -> None:
    board = device()
    board.data(0, 0, ECHO)
    assert [f.message_id for f in board.hello()] == [m.HelloAck.SPEC.id]
    assert of(board.items, LinkUp) == []
    assert ids(board.data(1, 1, ECHO)) == [m.TestEchoReply.SPEC.id]
    board.poll(6 * SECOND)
    assert board.link.state is State.FAILED
    assert board.hello() == []
    assert board.link.state is State.FAILED


@pytest.mark.spec("H-7")
def test_announce_calls_for_a_handshake() -> None:
    hall = seeking()
    hall.poll(0)
    hall.at(99 * MS).announce()
    assert hall.poll() == []
    hall.at(100 * MS).announce()
    assert [f.message_id for f in hall.poll()] == [m.Hello.SPEC.id]
    up = host()
    up.at(1 * SECOND).announce()
    assert [f.reason for f in of(up.items, LinkFailed)] == ["peer_lost"]
    assert [f.message_id for f in up.poll()] == [m.Hello.SPEC.id]


@pytest.mark.spec("H-8")
def test_a_stray_frame_makes_a_device_announce_soon() -> None:
    board = fresh_device()
    board.poll(0)
    board.session = 3
    board.at(50 * MS).data(0, 0, ECHO)
    assert board.poll(99 * MS) == []
    assert [f.message_id for f in board.poll(100 * MS)] == [m.Announce.SPEC.id]
    board.at(400 * MS).data(0, 0, ECHO)
    assert [f.message_id for f in board.poll()] == [m.Announce.SPEC.id]


@pytest.mark.spec("H-9")
def test_handshake_frames_travel_outside_the_sequence() -> None:
    board = fresh_device()
    announce = board.poll(0)[0]
    assert (announce.control, announce.seq, announce.ack) == (LINK, 0, 0)
    ack = board.hello(0x1009)[0]
    assert (ack.control, ack.seq, ack.ack) == (9 << 4 | LINK, 0, 0)
    board.data(0, 0, ECHO)
    board.hello(0x100A)  # of another session, and taken
    assert board.link.state is State.UP
    hall = seeking()
    hello = hall.poll(0)[0]
    assert (hello.control, hello.seq, hello.ack) == (SESSION << 4 | LINK, 0, 0)
    odd = m.HelloAck.unpack(board.hello(nonce_of(hello))[0].payload)
    hall.feed(encode(0xF0 | LINK, 0, 0, odd.SPEC.id, odd.pack()))
    assert hall.link.state is State.UP


@pytest.mark.spec("H-10")
def test_a_handshake_takes_nothing_from_the_device() -> None:
    board = device()
    board.link.send(SLOT, 0)
    board.data(0, 0, m.SetHonba(honba=3))
    board.link.accept(of(board.items, Delivery)[0])
    board.data(1, 0, m.Action(cmd_id=9, action=ActionKind.BEEP, arg=1, deadline_ms=0, require=0))
    board.link.accept(of(board.items, Delivery)[0])
    board.link.finish(9, Result.DONE, 0, 0)
    found = board.hello(NONCE + 1)
    beat = next(m.Heartbeat.unpack(f.payload) for f in found if f.message_id == m.Heartbeat.SPEC.id)
    assert beat.display_digest != 0xFFFF
    assert (beat.event_no, beat.cmd_id) == (2, 9)
    assert ids(found) == [m.RiichiSlot.SPEC.id, m.ActionResult.SPEC.id]
    query = board.data(0, 2, m.ActionQuery(cmd_id=9))
    assert m.ActionStatus.unpack(query[0].payload).state == 2


# --------------------------------------------------------------------------- versions


@pytest.mark.spec("V-1")
def test_another_major_is_refused_by_both_ends_naming_both_versions() -> None:
    board = fresh_device(version=0x02000100)
    (ack,) = board.hello(major=m.MAJOR + 1, minor=3, version=0x05060700)
    assert m.HelloAck.unpack(ack.payload).major == m.MAJOR
    (refused,) = of(board.items, LinkRefused)
    assert (refused.ours, refused.theirs) == (f"{m.MAJOR}.{m.MINOR}", f"{m.MAJOR + 1}.3")
    assert board.data(0, 0, ECHO) == []
    hall = seeking()
    (hello,) = hall.poll(0)
    hall.hello_ack(nonce_of(hello), major=m.MAJOR + 1, minor=7, version=0x01020300)
    (refused,) = of(hall.items, LinkRefused)
    assert (refused.ours, refused.theirs, refused.firmware) == (
        f"{m.MAJOR}.{m.MINOR}",
        f"{m.MAJOR + 1}.7",
        "1.2.3",
    )
    assert hall.link.state is State.REFUSED
    assert hall.poll(60 * SECOND) == []


@pytest.mark.spec("V-2")
def test_nonce_and_version_stand_at_the_head_for_ever() -> None:
    def head(cls: type[Message], count: int) -> list[tuple[str, str]]:
        return [(f.name, f.wire_type) for f in cls.SPEC.fields[:count]]

    version = [("major", "u8"), ("minor", "u8")]
    assert head(m.Hello, 3) == [("nonce", "u32"), *version]
    assert head(m.HelloAck, 3) == [("nonce", "u32"), *version]
    assert head(m.Announce, 2) == version
    assert [cls.SPEC.id for cls in (m.Hello, m.HelloAck, m.Announce)] == [1, 2, 3]


@pytest.mark.spec("V-2")
@pytest.mark.parametrize("rest", [b"", b"\xff" * 30], ids=["nothing", "anything"])
def test_of_another_major_only_the_head_is_read(rest: bytes) -> None:
    def head(nonce: int) -> bytes:
        return nonce.to_bytes(4, "little") + bytes((m.MAJOR + 1, 3)) + rest

    theirs = f"{m.MAJOR + 1}.3"
    board = fresh_device()
    (ack,) = board.feed(encode(LINK, 0, 0, m.Hello.SPEC.id, head(7)))
    assert m.HelloAck.unpack(ack.payload).nonce == 7
    assert [item.theirs for item in of(board.items, LinkRefused)] == [theirs]
    hall = seeking()
    (hello,) = hall.poll(0)
    hall.feed(encode(LINK, 0, 0, m.HelloAck.SPEC.id, head(nonce_of(hello))))
    assert [item.theirs for item in of(hall.items, LinkRefused)] == [theirs]


@message(0x4E, Kind.EVENT, TO_HOST, since=1)
class LaterEvent(Message):
    """An event that minor 1 brings."""

    value: int = u8("a value")


@message(0x7E, Kind.BULK, TO_DEVICE, since=1)
class LaterRequest(Message):
    """A request that minor 1 brings."""

    value: int = u8("a value")


@message(0x51, Kind.SET, TO_DEVICE)
class LaterHonba(Message):
    """SetHonba with a field that minor 1 appends."""

    honba: int = u8("counters")
    colour: int = u16("a colour", since=1, default=7)


LATER = Schema(
    m.MAJOR, 1, [c for c in SCHEMA if c is not m.SetHonba] + [LaterEvent, LaterRequest, LaterHonba]
)


@pytest.mark.spec("V-3")
def test_the_smaller_minor_is_spoken() -> None:
    hall = host(schema=LATER, beat=False)
    assert hall.link.minor == 0
    with pytest.raises(NotSpoken) as caught:
        hall.link.send(LaterRequest(value=1), 0)
    assert caught.value.code == "wire.not_spoken"
    assert not hall.link.speaks(LaterRequest)
    hall.link.show(LaterHonba(honba=2, colour=9))
    (write,) = hall.heartbeat(0)
    assert write.payload == b"\x02"
    board = device(schema=LATER)
    board.link.send(SLOT, 0)
    board.link.send(LaterEvent(value=1), 0)
    board.link.send(SLOT, 0)
    wrote = [f for f in board.flush() if f.type == DATA]
    assert [(f.message_id, f.payload[0]) for f in wrote] == [
        (m.RiichiSlot.SPEC.id, 1),
        (m.RiichiSlot.SPEC.id, 3),
    ]
    both = device(schema=LATER)
    both.hello(NONCE + 1, minor=2)
    both.link.send(LaterEvent(value=1), 0)
    assert both.link.minor == 1
    assert ids(both.flush()) == [LaterEvent.SPEC.id]


@pytest.mark.spec("V-4")
def test_another_hash_alone_is_a_warning() -> None:
    hall = host()
    (up,) = of(reconnect(hall, schema_hash=1), LinkUp)
    assert up.schema_differs
    assert hall.link.state is State.UP
    (up,) = of(reconnect(hall), LinkUp)
    assert not up.schema_differs
    board = fresh_device()
    board.hello(schema_hash=1)
    assert of(board.items, LinkUp)[0].schema_differs


@pytest.mark.spec("V-5")
def test_unknown_and_misdirected_messages_are_acknowledged_and_ignored() -> None:
    board = device()
    (answer,) = board.feed(encode(SESSION << 4 | DATA, 0, 0, 0xFD, b"\x01\x02"))
    assert answer.ack == 1
    assert of(board.items, UnknownMessage) == [UnknownMessage(0xFD, b"\x01\x02")]
    (answer,) = board.data(1, 0, m.TestEchoReply(token=1, data=b""))
    assert answer.ack == 2
    assert reliable(board.items) == []
    hall = host()
    (answer,) = hall.data(0, 0, m.SetHonba(honba=1))
    assert answer.ack == 1
    assert reliable(hall.items) == []
    assert hall.link.stats.unknown == 1


@pytest.mark.spec("V-6")
def test_more_octets_are_ignored_and_missing_fields_have_their_default() -> None:
    assert m.SetHonba.unpack(b"\x05\xff\xee") == m.SetHonba(honba=5)
    assert m.SetText.unpack(b"\x01\x02ab\x99") == m.SetText(display=1, text="ab")
    assert LaterHonba.unpack(b"\x05") == LaterHonba(honba=5, colour=7)
    assert LaterHonba.unpack(b"\x05\x08\x00") == LaterHonba(honba=5, colour=8)
    board = device(schema=LATER)
    board.data(0, 0, m.SetHonba(honba=4))
    assert reliable(board.items) == [LaterHonba(honba=4, colour=7)]


@pytest.mark.spec("V-7")
def test_versions_are_compared_in_the_handshake_only() -> None:
    hall = host()
    hall.hello_ack(0xDEAD5, major=9)
    hall.announce(major=9)
    assert of(hall.items, LinkRefused) == []
    assert (
        hall.link.state is State.CONNECTING
    )  # the Announce asked for a handshake, whatever else it says
    (hello,) = hall.poll()
    hall.hello_ack(nonce_of(hello))
    assert hall.link.state is State.UP
    assert of(hall.items, BadMessage) == []
    assert hall.link.peer is not None
    assert hall.link.peer.boot_id == BOOT
