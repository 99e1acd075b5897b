"""Captures of a serial line: who said what when. Written by a table connection, read by `tablectl decode`.

A capture is UTF-8 text, one line per piece of traffic, so that a cut-off or hand-edited file still reads:

    # tablectl capture 1 2026-11-30T09:24:00+09:00 /dev/serial/by-id/usb-…
    0.000000 > 00060104…      host to device, seconds since the first line, octets in hexadecimal
    0.004210 < 0a0321…        device to host
    0.950000 ! link failed: tries          a remark

With the table's tile map a tag is a concealed tile. So a capture is masked when it is written, unless asked otherwise: whole frames
are kept with every tag put to 0, long hexadecimal numbers in texts are crossed out, and of octets that were no frame and no
text only their number is told. `unmask=True` keeps every octet as it passed.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Iterator
from typing import IO, NamedTuple

from firmware_protocol import framing
from firmware_protocol.errors import MalformedMessage, ValueOutOfRange, WireError
from firmware_protocol.messages import EVENT_HEADER, SCHEMA, LogText, SnapshotTiles, TileEvent
from firmware_protocol.schema import Kind, Message

MAGIC = "# tablectl capture 1"
TO_DEVICE, TO_HOST, REMARK = ">", "<", "!"


class NotACapture(WireError):  # noqa: N818 - named after what it tells
    """A file is no capture, or one of its lines is not."""

    code = "wire.capture"
    hint = "captures begin with '# tablectl capture 1'; 'tablectl run' writes them where a table's 'capture' is set"


class Piece(NamedTuple):
    """A line of a capture: time in µs since its start, direction, octets (of a remark: UTF-8)."""

    time: int
    direction: str
    data: bytes


class CaptureWriter:
    """Writes what passes a line. `now` as for the link: µs of a monotonic clock."""

    def __init__(
        self, stream: IO[str], now: int, *, started: str, port: str, unmask: bool = False
    ) -> None:
        self._stream = stream
        self._start = now
        self._unmask = unmask
        self._decoders = {way: framing.Decoder() for way in (TO_DEVICE, TO_HOST)}
        stream.write(f"{MAGIC} {started} {' '.join(port.split())}\n")

    def received(self, data: bytes, now: int) -> None:
        """The device sent these octets."""
        self._pass(TO_HOST, data, now)

    def sent(self, data: bytes, now: int) -> None:
        """The host sent these octets."""
        self._pass(TO_DEVICE, data, now)

    def remark(self, text: str, now: int) -> None:
        """Something worth knowing happened."""
        self._line(now, REMARK, " ".join(text.split()))

    def _pass(self, way: str, data: bytes, now: int) -> None:
        if self._unmask:
            self._line(now, way, data.hex())
            return
        for item in self._decoders[way].feed(data):
            if isinstance(item, framing.Frame):
                self._line(now, way, framing.encode(*mask_frame(item)).hex())
            elif framing.is_text(item.data):
                self._line(now, way, (mask_text(item.data.decode("ascii")).encode() + b"\0").hex())
            else:
                what = "a damaged frame" if item.damaged else "no frame"
                self._line(now, REMARK, f"{way} {len(item.data)} octets, {what}")

    def _line(self, now: int, direction: str, rest: str) -> None:
        if rest:
            seconds, micros = divmod(max(now - self._start, 0), 1_000_000)
            self._stream.write(f"{seconds}.{micros:06d} {direction} {rest}\n")


_HEXADECIMAL = re.compile(r"[0-9A-Fa-f]{8,}")


def mask_text(text: str) -> str:
    """A text with every number that may be a tag crossed out."""
    return _HEXADECIMAL.sub(lambda found: "x" * len(found[0]), text)


def mask_message(message: Message) -> Message:
    """A message with every tag put to 0 and its text masked."""
    if isinstance(message, TileEvent):
        return dataclasses.replace(
            message, tiles=tuple(dataclasses.replace(t, tag=0) for t in message.tiles)
        )
    if isinstance(message, SnapshotTiles):
        return dataclasses.replace(
            message, tiles=tuple(dataclasses.replace(t, tag=0) for t in message.tiles)
        )
    if isinstance(message, LogText):
        return dataclasses.replace(message, text=mask_text(message.text))
    return message


def mask_frame(frame: framing.Frame) -> framing.Frame:
    """A frame with a masked message; of one that cannot be read only the header is kept."""
    cls = SCHEMA.by_id.get(frame.message_id)
    if frame.control & 0x0F == framing.ACK:
        return frame
    if cls is None:
        return frame._replace(payload=b"")
    skip = EVENT_HEADER if cls.SPEC.kind is Kind.EVENT else 0
    try:
        masked = mask_message(cls.unpack(frame.payload[skip:])).pack()
    except (MalformedMessage, ValueOutOfRange):  # the latter: a text that was no UTF-8 has grown
        return frame._replace(payload=b"")
    return frame._replace(payload=frame.payload[:skip] + masked)


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
