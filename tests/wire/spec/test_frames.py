"""SPEC chapter 2: frames."""

from __future__ import annotations

import random
import struct

import pytest
from cobs import cobs

from firmware_protocol import framing
from firmware_protocol import messages as m
from firmware_protocol.errors import FrameTooLong
from firmware_protocol.framing import DATA, Decoder, Frame, Noise, encode
from firmware_protocol.vector_cases import plain_cobs, plain_crc
from tests.wire.ends import device, fresh_device, host

FRAME = (0x51, 1, 2, 0x34, bytes.fromhex("0304000700000000"))


def wire(body: bytes) -> bytes:
    """A body on the line, with any CRC."""
    return bytes(cobs.encode(body)) + b"\0"


@pytest.mark.spec("F-1")
def test_frame_is_the_cobs_of_its_body_and_a_delimiter() -> None:
    line = encode(*FRAME)
    body = bytes(FRAME[:4]) + FRAME[4]
    body += plain_crc(body).to_bytes(2, "little")
    assert line == plain_cobs(body) + b"\0"
    assert line.count(0) == 1


@pytest.mark.spec("F-2")
def test_longest_frame_has_64_octets() -> None:
    assert len(encode(0xFF, 1, 2, 3, bytes(range(1, 57)))) == 64
    with pytest.raises(FrameTooLong) as caught:
        encode(0xFF, 1, 2, 3, bytes(57))
    assert caught.value.code == "wire.too_long"
    assert caught.value.value == 57


@pytest.mark.spec("F-3")
def test_body_has_four_octets_payload_and_crc_low_octet_first() -> None:
    body = cobs.decode(encode(0x51, 0x0A, 0x0B, 0x34, b"xyz")[:-1])
    assert body[:4] == bytes((0x51, 0x0A, 0x0B, 0x34))
    assert body[4:7] == b"xyz"
    assert struct.unpack("<H", body[7:]) == (plain_crc(body[:7]),)


@pytest.mark.spec("F-4")
def test_crc_is_ccitt_false() -> None:
    assert framing.crc16(b"123456789") == 0x29B1
    rng = random.Random(4)
    for _ in range(200):
        data = rng.randbytes(rng.randrange(60))
        assert framing.crc16(data) == plain_crc(data)


@pytest.mark.spec("F-5")
def test_what_fails_a_check_has_no_effect() -> None:
    good = encode(*FRAME)
    body = bytes(cobs.decode(good[:-1]))
    wrong_crc = wire(body[:-1] + bytes((body[-1] ^ 1,)))
    short = wire(body[:3] + plain_crc(body[:3]).to_bytes(2, "little"))
    long_body = bytes(range(1, 62))
    too_long = wire(long_body + plain_crc(long_body).to_bytes(2, "little"))
    cut = b"\x30" + good[1:]
    for bad in (wrong_crc, short, too_long, cut):
        assert [type(item) for item in Decoder().feed(bad)] == [Noise], bad.hex()
    assert [type(item) for item in Decoder().feed(good)] == [Frame]


@pytest.mark.spec("F-6")
def test_next_frame_behind_a_delimiter_is_received_whatever_stood_before() -> None:
    rng = random.Random(6)
    for _ in range(300):
        decoder = Decoder()
        decoder.feed(rng.randbytes(rng.randrange(200)))
        items = decoder.feed(b"\0" + encode(*FRAME))
        assert items[-1] == Frame(*FRAME)


@pytest.mark.spec("F-7")
def test_at_most_63_octets_wait_for_a_delimiter() -> None:
    decoder = Decoder()
    for _ in range(1000):
        decoder.feed(b"\x99" * 37)
        assert decoder.pending <= 63
    assert decoder.feed(b"\0" + encode(*FRAME))[-1] == Frame(*FRAME)


@pytest.mark.spec("F-8")
def test_empty_frames_are_ignored() -> None:
    assert Decoder().feed(b"\0\0\0" + encode(*FRAME) + b"\0\0") == [Frame(*FRAME)]


@pytest.mark.spec("F-9")
def test_handshake_frames_and_repetitions_begin_with_a_delimiter() -> None:
    board = fresh_device()
    board.link.poll(0)
    assert board.link.data_to_send(0)[0] == 0  # Announce
    board.hello()
    board.link.send(m.RiichiSlot(seat=1, present=1), 0)
    first = board.link.data_to_send(0)
    assert first[0] != 0
    board.link.poll(250_000)
    again = board.link.data_to_send(250_000)
    assert again[0] == 0
    assert again[1:] == first
    hall = host()
    hall.link.connect(0)
    hall.link.poll(0)
    assert hall.link.data_to_send(0)[0] == 0  # Hello


@pytest.mark.spec("F-10")
def test_text_and_garbage_go_to_the_log_and_not_to_the_error_count() -> None:
    hand = host()
    good = encode(*FRAME)
    broken = good[:3] + bytes((good[3] ^ 0x10,)) + good[4:]
    text = b"\x09 hello!!"  # whole COBS by chance, but text
    hand.feed(b"rst:0x1 (POWERON)\r\n\0" + text + b"\0" + b"\x80\x81\x82" * 40 + b"\0")
    assert hand.link.stats.crc_errors == 0
    assert hand.link.stats.noise == 19 + len(text) + 120
    hand.feed(broken)
    assert hand.link.stats.crc_errors == 1
    assert hand.link.stats.noise == 19 + len(text) + 120


@pytest.mark.spec("F-11")
def test_each_write_holds_whole_frames() -> None:
    board = device(event_capacity=64)
    for seat in range(4):
        board.link.send(m.RiichiSlot(seat=seat, present=1), 0)
    data = board.link.data_to_send(0)
    assert data.endswith(b"\0")
    assert [type(item) for item in Decoder().feed(data)] == [Frame] * 4


@pytest.mark.spec("F-12")
def test_control_tells_type_and_session_and_other_types_are_ignored() -> None:
    board = fresh_device()
    board.hello(0x3009)
    board.link.send(m.RiichiSlot(seat=1, present=1), 0)
    (frame,) = board.flush()
    assert frame.control == 9 << 4 | DATA
    echo = m.TestEcho(token=1, data=b"")
    for other in (0, 5, 6, 15):
        assert board.feed(encode(9 << 4 | other, 0, 0, echo.SPEC.id, echo.pack())) == []
        assert board.items == []
    assert board.data(0, 0, echo) != []
