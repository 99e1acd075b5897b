"""Random and mutated octets into the decoder and into both ends: no exception, bounded memory, the next frame is read."""

from __future__ import annotations

import random

import pytest

from firmware_protocol import messages as m
from firmware_protocol.deliveries import BadMessage, Delivery
from firmware_protocol.framing import MAX_CHUNK, Decoder, Frame, encode, parse
from firmware_protocol.vector_cases import message_vectors
from tests.conftest import scaled
from tests.wire.ends import device, host, of

OCTETS = scaled(10_000_000, 300_000)
GOOD = Frame(0x51, 200, 0, 0x28, b"\x07\x00\x00\x00\x00")


def noise(rng: random.Random, frames: list[bytes]) -> bytes:
    """A piece of random octets, of frames with random damage, or of both."""
    kind = rng.random()
    if kind < 0.3:
        return rng.randbytes(rng.randrange(1, 300))
    out = bytearray(b"".join(rng.choice(frames) for _ in range(rng.randrange(1, 5))))
    for _ in range(rng.randrange(4)):
        at = rng.randrange(len(out))
        how = rng.random()
        if how < 0.5:
            out[at] ^= 1 << rng.randrange(8)
        elif how < 0.7:
            del out[at : at + rng.randrange(1, 20)]
        else:
            out[at:at] = rng.randbytes(rng.randrange(1, 20))
        if not out:
            return b"\0"
    return bytes(out)


@pytest.mark.soak
def test_decoder_survives_and_reads_the_next_frame() -> None:
    rng = random.Random(7)
    frames = [bytes.fromhex(v["frame"]) for v in message_vectors()]
    decoder = Decoder()
    fed = 0
    while fed < OCTETS:
        piece = noise(rng, frames)
        fed += len(piece)
        items = decoder.feed(piece)
        assert decoder.pending <= MAX_CHUNK
        assert sum(len(x.data) for x in items if not isinstance(x, Frame)) <= len(piece) + MAX_CHUNK
        if rng.random() < 0.2:  # garbage ends: the frame behind the next delimiter is read
            found = decoder.feed(b"\0" + encode(*GOOD))
            assert found[-1] == GOOD
    assert decoder.frames > 0
    assert decoder.crc_errors > 0
    assert decoder.noise > 0


@pytest.mark.soak
@pytest.mark.parametrize("role", ["host", "device"])
def test_a_session_survives_anything_with_a_right_crc(role: str) -> None:
    """Well-formed frames with random contents: each is read, refused or ignored, never an exception."""
    rng = random.Random(11)
    hand = host() if role == "host" else device()
    ids = [cls.SPEC.id for cls in m.SCHEMA]
    rounds = scaled(200_000, 6_000)
    for number in range(rounds):
        control = rng.choice(
            (hand.session << 4 | rng.choice((1, 1, 1, 2, 3, 4)), rng.randrange(256))
        )
        seq = rng.choice((hand.link._session.receiving.next, rng.randrange(256)))
        message_id = rng.choice((rng.choice(ids), rng.randrange(256)))
        hand.now += rng.randrange(2_000)
        hand.feed(
            encode(control, seq, rng.randrange(256), message_id, rng.randbytes(rng.randrange(57)))
        )
        for delivery in of(hand.items, Delivery):
            assert delivery.message.SPEC.sent_by("device" if role == "host" else "host")
            hand.link.accept(delivery)
        for bad in of(hand.items, BadMessage):
            assert bad.error.hint
        if number % 10 == 0:
            hand.poll()
        if hand.link.state.value != "up":
            if role == "host":
                hand.link.connect(hand.now)
                hello = next(f for f in hand.poll() if f.message_id == 1)
                hand.hello_ack(int.from_bytes(hello.payload[:4], "little"))
            else:
                hand.hello(rng.getrandbits(28) << 4 | 5)
    assert hand.link.stats.malformed > rounds // 100
    assert hand.link.stats.unknown > 0
    assert len(hand.link._session.items) < 10


def test_any_chunk_that_parses_encodes_to_itself() -> None:
    rng = random.Random(3)
    for _ in range(3_000):
        line = encode(*rng.randbytes(4), rng.randbytes(rng.randrange(57)))
        frame = parse(line[:-1])
        assert frame is not None
        assert encode(*frame) == line
