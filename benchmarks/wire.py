"""Codec and link against a floor written by hand, and the latency they add to the time on the wire.

The message is a frame of 36 octets on the line, like the one of the floor (COBS, CRC-16, `struct`, nothing else). Every figure is the p50 of
many short runs of process CPU time; `make bench` prints the goals beside them.
"""

from __future__ import annotations

import binascii
import itertools
import shutil
import statistics
import struct
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from cobs import cobs

from firmware_protocol import framing
from firmware_protocol import messages as m
from firmware_protocol.deliveries import Delivery
from firmware_protocol.framing import Decoder, Frame
from firmware_protocol.link import Link
from firmware_protocol.schema import Kind, Message, Schema, message, u32

BAUD = 115_200
LOOPS, BATCH = 60, 256
GOAL_FLOOR, GOAL_WIRE = 3.0, 0.05

SIGHTS = m.TileEvent(zone=0x21, reader=1, tiles=(m.TileSight(3, 1, 200, 0xE004010203040506),))


def per_item(run: Callable[[], object], items: int) -> float:
    """CPU seconds per item, p50 of the loops."""
    times = []
    for _ in range(LOOPS):
        started = time.process_time_ns()
        run()
        times.append(time.process_time_ns() - started)
    return statistics.median(times) / items / 1e9


def floor_message() -> tuple[bytes, Callable[[], bytes], Callable[[bytes], object]]:
    """A 36-octet frame by hand: how it is written and how it is read."""
    layout = struct.Struct("<BBBBIIIIIII")
    values = (0x51, 1, 2, 0x30, *range(1, 8))

    def write() -> bytes:
        body = layout.pack(*values)
        return (
            bytes(cobs.encode(body + binascii.crc_hqx(body, 0xFFFF).to_bytes(2, "little"))) + b"\0"
        )

    def read(chunk: bytes) -> object:
        body = cobs.decode(chunk)
        if binascii.crc_hqx(body[:-2], 0xFFFF) != int.from_bytes(body[-2:], "little"):
            return None
        return layout.unpack(body[:-2])

    return write(), write, read


def codec_table() -> list[tuple[str, float, float]]:
    """(what, floor, ours) in CPU seconds per frame."""
    line, write, read = floor_message()
    seven = Seven(*range(1, 8))
    ours = framing.encode(0x51, 1, 2, Seven.SPEC.id, seven.pack())
    assert len(line) == len(ours) == 36, (len(line), len(ours))
    chunks = line * BATCH
    stream = ours * BATCH
    by_id = WIDE.by_id

    def floor_encode() -> None:
        for _ in range(BATCH):
            write()

    def floor_decode() -> None:
        for chunk in chunks.split(b"\0")[:-1]:
            read(chunk)

    def our_encode() -> None:
        for _ in range(BATCH):
            framing.encode(0x51, 1, 2, Seven.SPEC.id, seven.pack())

    def our_decode() -> None:
        for item in Decoder().feed(stream):
            if isinstance(item, Frame):
                by_id[item.message_id].SPEC.unpack(item.payload)

    return [
        ("encode", per_item(floor_encode, BATCH), per_item(our_encode, BATCH)),
        ("decode", per_item(floor_decode, BATCH), per_item(our_decode, BATCH)),
    ]


@message(0x80, Kind.BULK, m.TO_HOST)
class Seven(Message):
    """Seven numbers."""

    a: int = u32("one")
    b: int = u32("two")
    c: int = u32("three")
    d: int = u32("four")
    e: int = u32("five")
    f: int = u32("six")
    g: int = u32("seven")


WIDE = Schema(1, 0, [*m.SCHEMA, Seven])


def link_cost(sent: Message, count: int = 4_000) -> tuple[float, int]:
    """CPU seconds per message through both links (send, receive, accept, acknowledge), and its octets on the line."""
    nonces = itertools.count(1)
    host = Link.host(0, nonce=lambda: next(nonces), schema=WIDE)
    device = Link.device(0, boot_id=1, capabilities=0, event_capacity=16, schema=WIDE)
    host.connect(0)
    now = 0
    for _ in range(4):
        now += 1_000
        host.poll(now)
        device.receive(host.data_to_send(now), now)
        device.poll(now)
        host.receive(device.data_to_send(now), now)
    times = []
    length = 0
    for _ in range(count):
        now += 1_000
        started = time.process_time_ns()
        device.send(sent, now)
        data = device.data_to_send(now)
        for item in host.receive(data, now + 500):
            if isinstance(item, Delivery):
                host.accept(item)
        device.receive(host.data_to_send(now + 500), now + 1_000)
        times.append(time.process_time_ns() - started)
        length = length or len(data)
        if now % 500_000 == 0:
            host.poll(now)
            host.receive(device.data_to_send(now), now)
            device.poll(now)
            device.receive(host.data_to_send(now), now)
    assert device.idle
    return statistics.median(times) / 1e9, length


def firmware_sizes() -> list[str]:
    """Flash and RAM of the C reference on a Cortex-M3, where the compiler is there."""
    folder = Path(framing.__file__).parent / "c"
    if shutil.which("arm-none-eabi-gcc") is None or not (folder / "Makefile").exists():
        return ["C reference on Cortex-M3: not measured (needs arm-none-eabi-gcc)"]
    done = subprocess.run(
        ["make", "-s", "-C", str(folder), "size"], capture_output=True, text=True, check=False
    )
    return (done.stdout or done.stderr).splitlines()


def main() -> int:
    """Print the table; 1 when a goal is missed."""
    missed = False
    print(f"{'36-octet frame, CPU p50':<34}{'floor':>12}{'ours':>12}{'ratio':>8}   goal")
    for what, floor, ours in codec_table():
        good = ours <= GOAL_FLOOR * floor
        missed |= not good
        print(f"{what + ' (frames/s)':<34}{1 / floor:>12,.0f}{1 / ours:>12,.0f}{ours / floor:>8.2f}   ≤ {GOAL_FLOOR:.0f}"
              f"{'' if good else '  MISSED'}")  # fmt: skip
    print()
    print(f"{'through both links, with ack':<34}{'CPU µs':>12}{'wire µs':>12}{'share':>8}   goal")
    for name, sent in (("36-octet message", Seven(*range(1, 8))), ("tile seen (event)", SIGHTS),
                          ("dice settled (event)", m.DiceSettled(3, 4, 0, 7))):  # fmt: skip
        cpu, length = link_cost(sent)
        on_wire = length * 10 / BAUD
        good = cpu < GOAL_WIRE * on_wire
        missed |= not good
        label = f"{name}, {length} octets"
        print(f"{label:<34}{cpu * 1e6:>12.1f}{on_wire * 1e6:>12.0f}{cpu / on_wire:>8.1%}   < {GOAL_WIRE:.0%}"
              f"{'' if good else '  MISSED'}")  # fmt: skip
    print()
    for line in firmware_sizes():
        print(line)
    return int(missed)


if __name__ == "__main__":
    raise SystemExit(main())
