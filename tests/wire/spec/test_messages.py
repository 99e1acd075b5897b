"""SPEC chapter 5: messages."""

from __future__ import annotations

import re

import pytest

from firmware_protocol import messages as m
from firmware_protocol import vocabulary
from firmware_protocol.deliveries import BadMessage, Delivery
from firmware_protocol.errors import ValueOutOfRange
from firmware_protocol.framing import DATA, DATAGRAM, encode
from firmware_protocol.schema import Message
from firmware_protocol.timing import SECOND
from tests.wire.ends import SESSION, device, host, ids, of, reliable


@pytest.mark.spec("M-1")
@pytest.mark.parametrize(
    ("message", "payload"),
    [
        (m.DiceSettled(a=3, b=4, manual=0, cmd_id=0x01020304), "03040004030201"),
        (m.SetScores(scores=(1, -1, -2_147_483_648, 25_000)), "01000000ffffffff00000080a8610000"),
        (m.Temperature(sensor=2, decidegrees=-15, limit=1), "02f1ff01"),
        (m.TimeReply(token=0xAABBCCDD, uptime_ms=1), "ddccbbaa01000000"),
    ],
)  # fmt: skip
def test_numbers_are_little_endian_without_padding(message: Message, payload: str) -> None:
    assert message.pack().hex() == payload
    assert type(message).unpack(bytes.fromhex(payload)) == message


@pytest.mark.spec("M-2")
def test_texts_octets_and_lists_begin_with_their_count() -> None:
    assert m.SetText(display=1, text="東1").pack() == b"\x01\x04" + "東1".encode()
    assert m.TestEcho(token=1, data=b"\0\1").pack() == b"\1\0\0\0\2\0\1"
    sight = m.TileSight(slot=3, flags=1, signal=200, tag=0xE0040102030405AA)
    packed = m.TileEvent(zone=0x21, reader=9, tiles=(sight, sight)).pack()
    assert packed[:3] == b"\x21\x09\x02"
    assert packed[3:14] == bytes((3, 1, 200)) + bytes.fromhex("aa050403020104e0")
    assert len(packed) == 3 + 2 * 11
    with pytest.raises(ValueOutOfRange):
        m.SetText(display=1, text="東" * 14).pack()


@pytest.mark.spec("M-3")
@pytest.mark.parametrize(
    ("cls", "payload"),
    [
        (m.SetRound, b"\x00\x05\x00"),  # number 5
        (m.SetRound, b"\x00\x01"),  # ends early
        (m.SetText, b"\x01\x05ab"),  # text ends early
        (m.SetText, b"\x01\xff" + b"a" * 40),  # longer than allowed
        (m.Action, bytes(12)),  # cmd_id 0
    ],
)
def test_what_does_not_fit_is_acknowledged_counted_and_not_delivered(
    cls: type[Message], payload: bytes
) -> None:
    board = device()
    (answer,) = board.feed(encode(SESSION << 4 | DATA, 0, 0, cls.SPEC.id, payload))
    assert answer.ack == 1
    assert reliable(board.items) == []
    (bad,) = of(board.items, BadMessage)
    assert bad.error.code == "wire.malformed"
    assert cls.SPEC.name in str(bad.error)
    assert board.link.stats.malformed == 1


@pytest.mark.spec("M-4")
def test_a_text_that_is_no_utf8_is_delivered_all_the_same() -> None:
    hall = host()
    hall.feed(encode(SESSION << 4 | DATA, 0, 0, m.LogText.SPEC.id, b"\x01\x04a\xff\xfeb"))
    assert reliable(hall.items) == [m.LogText(level=1, text="a\ufffd\ufffdb")]


@pytest.mark.spec("M-5")
def test_unknown_members_of_an_enumeration_pass() -> None:
    hall = host()
    hall.event(0, 1, m.ButtonEvent(button=200, seat=1, press=77))
    assert reliable(hall.items) == [m.ButtonEvent(button=200, seat=1, press=77)]


@pytest.mark.spec("M-6")
def test_datagrams_are_neither_numbered_nor_repeated() -> None:
    board = device()
    beat = [f for f in board.poll(1 * SECOND) if f.message_id == m.Heartbeat.SPEC.id]
    assert [(f.type, f.seq) for f in beat] == [(DATAGRAM, 0)]
    assert ids(board.poll(1_300_000)) == []
    assert board.link.idle
    answer = board.datagram(m.Watchdog(timeout_ms=4000))
    assert answer == []  # no acknowledgement
    (item,) = of(board.items, Delivery)
    assert item.ticket == 0


@pytest.mark.spec("M-7")
def test_a_device_returns_the_octets_of_an_echo() -> None:
    board = device()
    for seq, data in enumerate((b"", b"\0\0\0", bytes(range(48)))):
        (reply,) = board.data(seq, seq, m.TestEcho(token=seq + 7, data=data))
        assert m.TestEchoReply.unpack(reply.payload) == m.TestEchoReply(token=seq + 7, data=data)


@pytest.mark.spec("M-8")
def test_no_message_speaks_of_tiles_by_name_or_of_hands() -> None:
    forbidden = re.compile(
        r"\b(yaku|yakuman|han|fu|points?|deltas?|tsumo|ron|man|pin|sou|haku|hatsu|chun|tile_name|kind_of_tile)\b"
    )
    words = []
    for cls in m.SCHEMA:
        spec = cls.SPEC
        fields = [
            g for f in spec.fields for g in (f, *(f.record.RECORD.fields if f.record else ()))
        ]
        words += [re.sub(r"(?<=[a-z])(?=[A-Z])", " ", spec.name).lower()]
        words += [f.name.replace("_", " ") for f in fields]
        for f in fields:
            if f.enum is not None and f.enum is not vocabulary.ResetCause:  # its PIN is a reset pin
                words += [x.name.lower().replace("_", " ") for x in f.enum if x.name]
    assert len(words) > 200
    assert [w for w in words if forbidden.search(w)] == []
    assert forbidden.search("han fu") is not None
    assert not hasattr(vocabulary, "Tile")
