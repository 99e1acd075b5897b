"""Random and mutated octets into the C decoder and the C link under sanitizers: no crash, and the next frame but one is read."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from firmware_protocol import messages as m
from firmware_protocol.framing import ACK, DATA, DATAGRAM, LINK, Decoder, Frame, encode
from firmware_protocol.timing import MS
from tests.conftest import scaled
from tests.wire.c_device import CDevice, Stepper, built
from tests.wire.ends import frames

OCTETS = scaled(10_000_000, 1_000_000)
BLOCK = 20_000


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory, "step") / "step"


def _sound(rng: random.Random) -> bytes:
    """A frame as some device or host writes it."""
    cls = rng.choice(list(m.SCHEMA.by_id.values()))
    payload = rng.randbytes(rng.choice((0, 1, cls.SPEC.size, 56)) % 57)
    control = rng.choice((DATA, DATA, ACK, DATAGRAM, LINK)) | rng.randrange(16) << 4
    return encode(control, rng.randrange(256), rng.randrange(256), cls.SPEC.id, payload[:56])


def _mutated(rng: random.Random) -> bytes:
    octets = bytearray(_sound(rng))
    for _ in range(rng.randrange(1, 4)):
        at = rng.randrange(len(octets) + 1)
        what = rng.randrange(4)
        if what == 0 and at < len(octets):
            octets[at] ^= 1 << rng.randrange(8)
        elif what == 1:
            octets[at:at] = rng.randbytes(rng.randrange(1, 6))
        elif what == 2:
            del octets[at : at + rng.randrange(1, 6)]
        else:
            octets[at:at] = b"\0"
    return bytes(octets)


def _garbage(rng: random.Random, size: int) -> Iterator[bytes]:
    done = 0
    while done < size:
        kind = rng.randrange(6)
        if kind == 0:
            part = rng.randbytes(rng.randrange(1, 200))
        elif kind == 1:
            part = bytes(rng.randrange(1, 256) for _ in range(rng.randrange(1, 140)))
        elif kind == 2:
            part = b'printf("tile %d\\n");\r\n'[: rng.randrange(1, 22)]
        elif kind == 3:
            part = _sound(rng)
        else:
            part = _mutated(rng)
        done += len(part)
        yield part


def _joined(found: list[tuple[str, bytes]]) -> list[tuple[str, bytes]]:
    """Noise that lies together as one: where it is cut is each receiver's affair."""
    out: list[tuple[str, bytes]] = []
    for what, data in found:
        if what == "N" and out and out[-1][0] == "N":
            out[-1] = ("N", out[-1][1] + data)
        else:
            out.append((what, data))
    return out


def test_the_c_decoder_finds_what_the_python_decoder_finds(program: Path) -> None:
    rng = random.Random(1010)
    decoder = Decoder()
    done = found_frames = damaged = 0
    with Stepper(program) as stepper:
        while done < OCTETS:
            line = b"".join(_garbage(rng, BLOCK)) + b"\0"
            done += len(line)
            got = [
                (what, data[1:-2] if what == "F" else data)
                for what, _, data in stepper.call("D", 0, line)
            ]
            wanted = [
                ("F", bytes(x[:4]) + x.payload) if isinstance(x, Frame) else ("D" if x.damaged else "N", x.data)
                for x in decoder.feed(line)
            ]  # fmt: skip
            assert _joined(got) == _joined(wanted)
            found_frames += sum(what == "F" for what, _ in got)
            damaged += sum(what == "D" for what, _ in got)
            assert stepper.result == 0, "nothing waits behind a delimiter"
    assert found_frames > OCTETS // 1_000
    assert damaged > OCTETS // 4_000


def test_after_garbage_at_most_one_frame_is_lost(program: Path) -> None:
    rng = random.Random(77)
    with Stepper(program) as stepper:
        for _ in range(3_000):
            garbage = b"".join(_garbage(rng, rng.randrange(1, 150)))
            first, second = _sound(rng), _sound(rng)
            records = stepper.call("D", 0, garbage + first + second)
            (wanted,) = frames(second)
            assert records[-1][0] == "F"
            assert records[-1][2][1:-2] == bytes(wanted[:4]) + wanted.payload
            waiting = stepper.call("D", 0, rng.randbytes(200).replace(b"\0", b"x"))
            assert stepper.result <= 63, "more than 63 octets wait (F-7)"
            assert all(what == "N" for what, _, _ in waiting)
            stepper.call("D", 0, b"\0")


def test_the_link_lives_through_anything(program: Path) -> None:
    """Any octets at any time; then a handshake and an echo as on the first day."""
    rng = random.Random(9)
    device = CDevice(program)
    now, nonce, sessions = 0, 100, 0
    for _ in range(OCTETS // 2_000):
        nonce += 1
        session = nonce & 15
        now += rng.choice((1, 1_000, 50 * MS, 1_200 * MS))
        device.receive(encode(session << 4 | LINK, 0, 0, 1, m.Hello(nonce, 1, 0, 0, 0, 64, 4, 7, rng.randrange(9)).pack()), now)  # fmt: skip
        for _ in range(rng.randrange(1, 40)):
            now += rng.choice((0, 100, 5 * MS, 300 * MS))
            if rng.random() < 0.2:
                device.send(m.TestEvent(rng.getrandbits(32), 0), now)
            part = _mutated(rng) if rng.random() < 0.3 else rng.randbytes(rng.randrange(60))
            if rng.random() < 0.6:  # a sound frame of this very session, with any content
                cls = rng.choice(list(m.SCHEMA.by_id.values()))
                payload = rng.randbytes(rng.choice((cls.SPEC.size, rng.randrange(57))) % 57)
                part = encode(session << 4 | rng.choice((DATA, DATA, ACK, DATAGRAM)), rng.randrange(5),
                              rng.randrange(6), cls.SPEC.id, payload)  # fmt: skip
            device.receive(part, now)
            assert all(len(f.payload) <= 56 for f in frames(device.data_to_send(now)))
        device.receive(b"\0", now)
        nonce += 1
        device.receive(encode((nonce & 15) << 4 | LINK, 0, 0, 1, m.Hello(nonce, 1, 0, 0, 0, 64, 4, 7, (1 << 32) - 1).pack()), now)  # fmt: skip
        assert device.stepper.state == "up"
        held = [f for f in frames(device.data_to_send(now)) if f.type == DATA]
        echo = encode((nonce & 15) << 4 | DATA, 0, len(held), 0x28, m.TestEcho(nonce, b"!").pack())
        device.receive(echo, now)
        for _ in range(200):
            found = [f for f in frames(device.data_to_send(now)) if f.type == DATA]
            if any(f.message_id == m.TestEchoReply.SPEC.id for f in found):
                break
            ack = (found[-1].seq + 1 if found else 0) & 0xFF
            device.receive(encode((nonce & 15) << 4 | ACK, ack, ack, 0), now)
        else:
            pytest.fail("no answer to the echo")
        assert m.TestEchoReply.unpack(found[-1].payload) == m.TestEchoReply(nonce, b"!")
        sessions += 1
    device.close()
    assert sessions == OCTETS // 2_000
