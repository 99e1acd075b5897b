"""A capture as people read it: one line per frame, fields by name, numbers by their names."""

from __future__ import annotations

import dataclasses
import enum
from collections import Counter, deque
from collections.abc import Iterator
from typing import Any

from firmware_protocol import framing
from firmware_protocol.capture import REMARK, Piece, mask_message
from firmware_protocol.errors import MalformedMessage
from firmware_protocol.messages import EVENT_HEADER, SCHEMA
from firmware_protocol.schema import FieldSpec, Kind, Message, Schema
from firmware_protocol.vocabulary import ZoneKind, zone_kind, zone_seat

TYPES = {
    framing.DATA: "DATA",
    framing.ACK: "ACK",
    framing.DATAGRAM: "DATAGRAM",
    framing.LINK: "LINK",
}


@dataclasses.dataclass(frozen=True, slots=True)
class Line:
    """One line of a transcript."""

    time: int
    direction: str
    name: str
    """Name of the message, or `ack`, `text`, `noise`, `damaged`, `unknown`, `malformed`, `remark`."""
    fields: dict[str, Any]
    beat: bool = False
    """Traffic that every second brings: datagrams and bare acknowledgements."""

    def __str__(self) -> str:
        shown = " ".join(f"{key}={_plain(value)}" for key, value in self.fields.items())
        return f"{self.time / 1e6:12.6f} {self.direction} {self.name:<16} {shown}".rstrip()


def _plain(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + " ".join(f"{k}={_plain(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_plain(v) for v in value) + "]"
    return str(value)


class Transcript:
    """Pieces of a capture in, lines out; counts what was wrong."""

    def __init__(self, *, unmask: bool = False, schema: Schema = SCHEMA) -> None:
        self._unmask = unmask
        self._schema = schema
        self._decoders: dict[str, framing.Decoder] = {}
        self._last = 0
        self._counts: Counter[str] = Counter()
        self._seen: dict[str, deque[tuple[int, int, bytes]]] = {}

    def names(self) -> frozenset[str]:
        """Names that lines can have."""
        messages = {cls.SPEC.name for cls in self._schema}
        return frozenset(
            messages | {"ack", "text", "noise", "damaged", "unknown", "malformed", "remark"}
        )

    @property
    def findings(self) -> int:
        """Damaged, malformed and unknown frames so far."""
        return self._counts["damaged"] + self._counts["malformed"] + self._counts["unknown"]

    def feed(self, piece: Piece) -> Iterator[Line]:
        """Lines that a piece of the capture completes."""
        self._last = piece.time
        if piece.direction == REMARK:
            yield self._line(
                piece.time, REMARK, "remark", {"text": piece.data.decode("utf-8", "replace")}
            )
            return
        decoder = self._decoders.setdefault(piece.direction, framing.Decoder())
        for item in decoder.feed(piece.data):
            if isinstance(item, framing.Frame):
                yield self._frame(piece, item)
            elif item.damaged:
                yield self._line(piece.time, piece.direction, "damaged", self._octets(item.data))
            elif framing.is_text(item.data):
                yield self._line(
                    piece.time, piece.direction, "text", {"text": repr(item.data.decode("ascii"))}
                )
            else:
                yield self._line(piece.time, piece.direction, "noise", self._octets(item.data))

    def end(self) -> Iterator[Line]:
        """What stands unfinished at the end."""
        for direction, decoder in self._decoders.items():
            if decoder.pending:
                yield self._line(
                    self._last,
                    direction,
                    "noise",
                    {"octets": decoder.pending, "note": "no delimiter"},
                )

    def summary(self) -> str:
        """One line about the whole capture."""
        bad = ", ".join(
            f"{self._counts[k]} {k}" for k in ("damaged", "malformed", "unknown") if self._counts[k]
        )
        frames = sum(
            n for name, n in self._counts.items() if name not in {"text", "noise", "remark"}
        )
        again = f", {self._counts['again']} of them repeated" if self._counts["again"] else ""
        return f"# {frames - self._counts['again']} frames{again} in {self._last / 1e6:.3f} s; {bad or 'nothing damaged'}"

    def _line(
        self, time: int, direction: str, name: str, fields: dict[str, Any], *, beat: bool = False
    ) -> Line:
        self._counts[name] += 1
        return Line(time, direction, name, fields, beat)

    def _octets(self, data: bytes) -> dict[str, Any]:
        return {"octets": len(data), **({"hex": data.hex()} if self._unmask else {})}

    def _frame(self, piece: Piece, frame: framing.Frame) -> Line:
        way, kind = piece.direction, frame.type
        fields: dict[str, Any] = {"session": frame.session}
        if kind == framing.ACK:
            return self._line(
                piece.time,
                way,
                "ack",
                fields | {"ack": frame.ack, "received": frame.seq},
                beat=True,
            )
        if kind == framing.DATA:
            fields |= {"seq": frame.seq, "ack": frame.ack}
            seen = self._seen.setdefault(way, deque(maxlen=8))
            if (frame.session, frame.seq, frame.payload) in seen:
                fields["again"] = 1
                self._counts["again"] += 1
            seen.append((frame.session, frame.seq, frame.payload))
        cls = self._schema.by_id.get(frame.message_id)
        if cls is None or kind not in TYPES:
            fields |= {
                "type": TYPES.get(kind, kind),
                "id": f"0x{frame.message_id:02x}",
                **self._octets(frame.payload),
            }
            return self._line(piece.time, way, "unknown", fields)
        spec = cls.SPEC
        body = frame.payload
        if spec.kind is Kind.EVENT:
            fields["event_no"] = int.from_bytes(body[:4], "little")
            fields["uptime_ms"] = int.from_bytes(body[4:8], "little")
            body = body[EVENT_HEADER:]
        try:
            message = cls.unpack(body)
        except MalformedMessage as error:
            return self._line(
                piece.time, way, "malformed", fields | {"message": spec.name, "why": str(error)}
            )
        shown = message if self._unmask else mask_message(message)
        return self._line(
            piece.time, way, spec.name, fields | describe(shown), beat=kind == framing.DATAGRAM
        )


def describe(message: Message) -> dict[str, Any]:
    """Fields of a message by name; enumerations by their words, tags in hexadecimal."""
    return {f.name: _value(f, getattr(message, f.name)) for f in message.SPEC.fields}


def _value(f: FieldSpec, value: Any) -> Any:
    if f.record is not None:
        return [
            {g.name: _value(g, getattr(entry, g.name)) for g in f.record.RECORD.fields}
            for entry in value
        ]
    if f.count and not f.variable:
        return [_value(dataclasses.replace(f, count=0), entry) for entry in value]
    if isinstance(value, bytes):
        return value.hex()
    if f.name == "tag":
        return f"{value:016x}" if value else "masked"
    if f.enum is ZoneKind:
        return _zone(value)
    if f.enum is not None:
        return _word(f.enum, value)
    return value


def _zone(value: int) -> str:
    kind = zone_kind(value)
    name = ZoneKind(kind).name.lower() if kind in set(ZoneKind) else str(kind)
    return f"{name}.{zone_seat(value)}"


def _word(values: type[enum.IntEnum | enum.IntFlag], value: int) -> str | int:
    if issubclass(values, enum.IntFlag):
        names = [member.name.lower() for member in values if member.value & value and member.name]
        rest = value & ~sum(member.value for member in values)
        return "|".join(names + ([f"0x{rest:x}"] if rest else [])) or "0"
    return next((member.name.lower() for member in values if member.value == value), value)
