"""Captures of a serial line: who said what when. Written by a table connection, read by `tablectl decode`.

A capture is UTF-8 text, one line per piece of traffic, so that a cut-off or hand-edited file still reads:

    # tablectl capture 1 2026-11-30T09:24:00+09:00 /dev/serial/by-id/usb-…
    0.000000 > 00060104…      host to device, seconds since the first line, octets in hexadecimal
    0.004210 < 0a0321…        device to host
    0.950000 ! link failed: tries          a remark

Captures hold tags, and with the table's tile map tags are concealed tiles: `tablectl decode` masks them unless asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import IO, NamedTuple

from firmware_protocol.errors import WireError

MAGIC = "# tablectl capture 1"
TO_DEVICE, TO_HOST, REMARK = ">", "<", "!"


class NotACapture(WireError):  # noqa: N818 - named after what it tells
    """A file is no capture, or one of its lines is not."""

    code = "wire.capture"
    hint = "captures begin with '# tablectl capture 1'; they are written by 'tablectl run' with [table.capture]"


class Piece(NamedTuple):
    """A line of a capture: time in µs since its start, direction, octets (of a remark: UTF-8)."""

    time: int
    direction: str
    data: bytes


class CaptureWriter:
    """Writes what passes a line. `now` as for the link: µs of a monotonic clock."""

    def __init__(self, stream: IO[str], now: int, *, started: str, port: str) -> None:
        self._stream = stream
        self._start = now
        stream.write(f"{MAGIC} {started} {' '.join(port.split())}\n")

    def received(self, data: bytes, now: int) -> None:
        """The device sent these octets."""
        self._line(now, TO_HOST, data.hex())

    def sent(self, data: bytes, now: int) -> None:
        """The host sent these octets."""
        self._line(now, TO_DEVICE, data.hex())

    def remark(self, text: str, now: int) -> None:
        """Something worth knowing happened."""
        self._line(now, REMARK, " ".join(text.split()))

    def _line(self, now: int, direction: str, rest: str) -> None:
        if rest:
            seconds, micros = divmod(max(now - self._start, 0), 1_000_000)
            self._stream.write(f"{seconds}.{micros:06d} {direction} {rest}\n")


def read_capture(lines: Iterable[str]) -> Iterator[Piece]:
    """Pieces of a capture. Raises NotACapture naming the line; a last line cut in the middle is read as far as it goes."""
    number = 0
    for number, raw in enumerate(lines, 1):
        line = raw.rstrip("\r\n")
        if number == 1:
            if not line.startswith(MAGIC):
                raise NotACapture("this is no capture: its first line is another", value=line[:80])
            continue
        if not line or line.startswith("#"):
            continue
        whole = raw.endswith("\n")
        parts = line.split(" ", 2)
        try:
            time = _micros(parts[0])
            direction, rest = parts[1], parts[2]
            if direction == REMARK:
                yield Piece(time, REMARK, rest.encode("utf-8"))
                continue
            if direction not in (TO_DEVICE, TO_HOST):
                raise ValueError(direction)
            yield Piece(
                time, direction, bytes.fromhex(rest if whole else rest[: len(rest) // 2 * 2])
            )
        except (ValueError, IndexError):
            if not whole:
                return
            raise NotACapture(
                f"line {number} of the capture cannot be read", value=line[:80]
            ) from None
    if number == 0:
        raise NotACapture("this is no capture: it is empty", value="")


def _micros(text: str) -> int:
    seconds, dot, fraction = text.partition(".")
    if not dot or len(fraction) != 6 or not (seconds + fraction).isdecimal():
        raise ValueError(text)
    return int(seconds) * 1_000_000 + int(fraction)
