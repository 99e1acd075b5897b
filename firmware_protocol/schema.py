"""The declaration language: a message is a frozen dataclass whose fields say how they look on the wire.

    @message(0x34, Kind.EVENT, Direction.TO_HOST)
    class DiceSettled(Message):
        "The dice lie still."
        a: int = u8("first die", lo=1, hi=6)
        b: int = u8("second die", lo=1, hi=6)

The class is the Python codec (`pack`, `unpack`) and the source from which `python -m firmware_protocol.generate` writes the
C header, the tables of SPEC.md and the vectors. Little-endian, fixed width; texts, byte strings and lists carry a count
octet. A later minor may only append fields (with `since` and `default`) and add messages (SPEC V-6).
"""

from __future__ import annotations

import dataclasses
import enum
import operator
import struct
import zlib
from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar, Self, TypeVar, cast, dataclass_transform

from firmware_protocol.errors import DeclarationError, MalformedMessage, ValueOutOfRange

LATEST = 255
"""As `minor`: every field that this side knows."""

HOST, DEVICE = "host", "device"


class Kind(enum.Enum):
    """How a message travels (SPEC chapter 5)."""

    LINK = "link"  # handshake; outside the sequence
    DATAGRAM = "datagram"  # may be lost; a newer one replaces it
    EVENT = "event"  # reliable, device to host, with event_no and uptime_ms
    SET = "set"  # reliable, a desired state: the latest wins
    ACTION = "action"  # reliable, has a cmd_id, done at most once
    URGENT = "urgent"  # reliable, ahead of all others
    BULK = "bulk"  # reliable, behind all others; lost with a link reset


class Direction(enum.Enum):
    """Who may send a message."""

    TO_HOST = "device → host"
    TO_DEVICE = "host → device"
    BOTH = "both"


@dataclasses.dataclass(frozen=True, slots=True)
class FieldSpec:
    """One field: wire type, range, unit and meaning."""

    code: str  # struct code of the scalar ("B", "I", …), "text", "bytes" or "list"
    doc: str
    unit: str
    lo: int
    hi: int
    count: int  # 0 scalar, n fixed array; most octets or entries of text, bytes, list
    since: int
    enum: type[enum.IntEnum | enum.IntFlag] | None
    record: type[Record] | None
    default: Any
    name: str = ""

    @property
    def variable(self) -> bool:
        """True when the size on the wire depends on the value."""
        return self.code in {"text", "bytes", "list"}

    @property
    def size(self) -> int:
        """Octets on the wire; of a variable field the most it may take."""
        if self.code in {"text", "bytes"}:
            return 1 + self.count
        if self.code == "list":
            assert self.record is not None
            return 1 + self.count * self.record.RECORD.size
        return struct.calcsize("<" + self.code) * max(self.count, 1)

    @property
    def wire_type(self) -> str:
        """Name of the type in SPEC.md and C: `u8`, `i32[4]`, `text≤40`, `TileSight≤4`."""
        if self.code in {"text", "bytes"}:
            return f"{self.code}≤{self.count}"
        if self.code == "list":
            assert self.record is not None
            return f"{self.record.__name__}≤{self.count}"
        name = _TYPE_NAMES[self.code]
        return f"{name}[{self.count}]" if self.count else name

    @property
    def narrowed(self) -> bool:
        """True when the range is narrower than the type."""
        return not self.variable and (self.lo, self.hi) != _limits(self.code)


_TYPE_NAMES = {
    "B": "u8",
    "H": "u16",
    "I": "u32",
    "Q": "u64",
    "b": "i8",
    "h": "i16",
    "i": "i32",
    "q": "i64",
}


def _limits(code: str) -> tuple[int, int]:
    bits = 8 * struct.calcsize("<" + code)
    return (0, (1 << bits) - 1) if code.isupper() else (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)


def _scalar(code: str, doc: str, unit: str, lo: int | None, hi: int | None, count: int, since: int,
            values: type[enum.IntEnum | enum.IntFlag] | None, default: Any) -> Any:  # fmt: skip
    low, high = _limits(code)
    spec = FieldSpec(code, doc, unit, low if lo is None else lo, high if hi is None else hi, count, since, values, None,
                     default)  # fmt: skip
    return _field(spec)


def _field(spec: FieldSpec) -> Any:
    if spec.default is dataclasses.MISSING:
        return dataclasses.field(metadata={"wire": spec})
    return dataclasses.field(default=spec.default, metadata={"wire": spec})


_NONE: Any = dataclasses.MISSING
_Values = type[enum.IntEnum | enum.IntFlag] | None


def u8(doc: str, *, unit: str = "", lo: int | None = None, hi: int | None = None, count: int = 0, since: int = 0,
       values: _Values = None, default: Any = _NONE) -> Any:  # fmt: skip
    """Unsigned 8 bit (an array of `count` when given)."""
    return _scalar("B", doc, unit, lo, hi, count, since, values, default)


def u16(doc: str, *, unit: str = "", lo: int | None = None, hi: int | None = None, count: int = 0, since: int = 0,
        values: _Values = None, default: Any = _NONE) -> Any:  # fmt: skip
    """Unsigned 16 bit, little-endian."""
    return _scalar("H", doc, unit, lo, hi, count, since, values, default)


def u32(doc: str, *, unit: str = "", lo: int | None = None, hi: int | None = None, count: int = 0, since: int = 0,
        values: _Values = None, default: Any = _NONE) -> Any:  # fmt: skip
    """Unsigned 32 bit, little-endian."""
    return _scalar("I", doc, unit, lo, hi, count, since, values, default)


def i16(doc: str, *, unit: str = "", lo: int | None = None, hi: int | None = None, count: int = 0, since: int = 0,
        values: _Values = None, default: Any = _NONE) -> Any:  # fmt: skip
    """Signed 16 bit, two's complement, little-endian."""
    return _scalar("h", doc, unit, lo, hi, count, since, values, default)


def i32(doc: str, *, unit: str = "", lo: int | None = None, hi: int | None = None, count: int = 0, since: int = 0,
        values: _Values = None, default: Any = _NONE) -> Any:  # fmt: skip
    """Signed 32 bit, two's complement, little-endian."""
    return _scalar("i", doc, unit, lo, hi, count, since, values, default)


def u64(doc: str, *, unit: str = "", since: int = 0, default: Any = _NONE) -> Any:
    """Unsigned 64 bit, little-endian."""
    return _scalar("Q", doc, unit, None, None, 0, since, None, default)


def text(doc: str, *, most: int, since: int = 0, default: Any = _NONE) -> Any:
    """UTF-8 text of at most `most` octets behind one length octet."""
    return _field(FieldSpec("text", doc, "", 0, 0, most, since, None, None, default))


def octets(doc: str, *, most: int, since: int = 0, default: Any = _NONE) -> Any:
    """At most `most` raw octets behind one length octet."""
    return _field(FieldSpec("bytes", doc, "", 0, 0, most, since, None, None, default))


def listing(
    record: type[Record], doc: str, *, most: int, since: int = 0, default: Any = _NONE
) -> Any:
    """At most `most` records behind one count octet."""
    return _field(FieldSpec("list", doc, "", 0, 0, most, since, None, record, default))


_T = TypeVar("_T")


def _fields_of(cls: type) -> tuple[FieldSpec, ...]:
    return tuple(
        dataclasses.replace(f.metadata["wire"], name=f.name)
        for f in dataclasses.fields(cast("Any", cls))
    )


def _maker(cls: type) -> Callable[..., Any]:
    """A constructor that fills the slots directly: half the time of a frozen dataclass's own, which decoding feels."""
    names = [f.name for f in dataclasses.fields(cast("Any", cls))]
    space: dict[str, Any] = {f"set_{n}": cast("Any", cls).__dict__[n].__set__ for n in names}
    space |= {"new": object.__new__, "cls": cls}
    lines = [f"def make({', '.join(names)}):", "    made = new(cls)"]
    lines += [f"    set_{n}(made, {n})" for n in names]
    exec("\n".join([*lines, "    return made"]), space)  # noqa: S102 - names come from our own declarations, as in dataclasses
    return cast("Callable[..., Any]", space["make"])


class RecordSpec:
    """Layout of a record: scalars only, so every entry of a list has the same size."""

    def __init__(self, cls: type[Record]) -> None:
        self.fields = _fields_of(cls)
        if any(f.variable or f.count for f in self.fields):
            raise DeclarationError("a record holds scalars only", value=cls.__name__)
        self.struct = struct.Struct("<" + "".join(f.code for f in self.fields))
        self.size = self.struct.size
        self.getter = operator.attrgetter(*(f.name for f in self.fields))
        self.checks = [(i, f) for i, f in enumerate(self.fields) if f.narrowed]
        self.make = _maker(cls)


class Record:
    """Base of records: entries of a list field."""

    __slots__ = ()
    RECORD: ClassVar[RecordSpec]


class Message:
    """Base of all messages: immutable, compared by value, `pack()`/`unpack()` by declaration."""

    __slots__ = ()
    SPEC: ClassVar[MessageSpec]

    def pack(self, minor: int = LATEST) -> bytes:
        """The payload as a peer of this protocol minor reads it. Raises ValueOutOfRange."""
        return self.SPEC.pack(self, minor)

    @classmethod
    def unpack(cls, payload: bytes) -> Self:
        """The message of a payload; fields a older peer lacks take their default. Raises MalformedMessage."""
        return cast("Self", cls.SPEC.unpack(payload))


class MessageSpec:
    """Everything the declaration says about one message, with its codec."""

    def __init__(
        self,
        cls: type[Message],
        number: int,
        kind: Kind,
        direction: Direction,
        since: int,
        keyed: bool,
    ) -> None:
        self.cls = cls
        self.keyed = keyed
        self.id = number
        self.kind = kind
        self.direction = direction
        self.since = since
        self.name = cls.__name__
        self.doc = " ".join((cls.__doc__ or "").split())
        self.fields = _fields_of(cls)
        self.size = sum(f.size for f in self.fields)
        """Octets of the body at most."""
        self._verify()
        self._plain = not any(f.variable or f.count for f in self.fields)
        self._struct = (
            struct.Struct("<" + "".join(f.code for f in self.fields))
            if self._plain
            else struct.Struct("<")
        )
        names = [f.name for f in self.fields]
        self._getter: Callable[[Message], tuple[int, ...]]
        if len(names) == 1:
            single = operator.attrgetter(names[0])
            self._getter = lambda message: (single(message),)
        elif names:
            self._getter = cast("Callable[[Message], tuple[int, ...]]", operator.attrgetter(*names))
        else:
            self._getter = lambda _message: ()
        self._checks = [(i, f, f.lo, f.hi) for i, f in enumerate(self.fields) if f.narrowed]
        self._make = _maker(cls)
        self._newest = max((f.since for f in self.fields), default=0)

    def _verify(self) -> None:
        last = self.since
        for f in self.fields:
            if f.since and f.since < last:
                raise DeclarationError(
                    f"{self.name}.{f.name} is older than the field before it", value=f.since
                )
            if f.since > self.since and f.default is dataclasses.MISSING:
                raise DeclarationError(
                    f"{self.name}.{f.name} was appended and needs a default", value=f.since
                )
            last = max(last, f.since)
        if not 0 < self.id < 256:
            raise DeclarationError(f"{self.name}: message ids are 1–255", value=self.id)

    # ------------------------------------------------------------------ encode

    def pack(self, message: Message, minor: int = LATEST) -> bytes:
        """Payload octets of a message. Raises ValueOutOfRange naming the field."""
        if not self._plain or minor < self._newest:
            return b"".join(
                self._pack_field(f, getattr(message, f.name))
                for f in self.fields
                if f.since <= minor
            )
        values = self._getter(message)
        for i, f, lo, hi in self._checks:
            if not lo <= values[i] <= hi:
                raise self._out_of_range(f, values[i])
        try:
            return self._struct.pack(*values)
        except struct.error:
            for f, value in zip(self.fields, values, strict=True):
                if not isinstance(value, int) or not f.lo <= value <= f.hi:
                    raise self._out_of_range(f, value) from None
            raise

    def _pack_field(self, f: FieldSpec, value: Any) -> bytes:
        if f.code == "text":
            data = str(value).encode("utf-8")
            if len(data) > f.count:
                raise self._out_of_range(f, value)
            return bytes((len(data),)) + data
        if f.code == "bytes":
            if len(value) > f.count:
                raise self._out_of_range(f, value)
            return bytes((len(value),)) + bytes(value)
        if f.code == "list":
            return self._pack_list(f, value)
        values = tuple(value) if f.count else (value,)
        if len(values) != max(f.count, 1) or not all(
            isinstance(v, int) and f.lo <= v <= f.hi for v in values
        ):
            raise self._out_of_range(f, value)
        return struct.pack(f"<{len(values)}{f.code}", *values)

    def _pack_list(self, f: FieldSpec, entries: Sequence[Record]) -> bytes:
        if len(entries) > f.count:
            raise self._out_of_range(f, f"{len(entries)} entries")
        assert f.record is not None
        layout = f.record.RECORD
        out = [bytes((len(entries),))]
        for entry in entries:
            values = layout.getter(entry)
            for i, g in layout.checks:
                if not g.lo <= values[i] <= g.hi:
                    raise self._out_of_range(g, values[i])
            try:
                out.append(layout.struct.pack(*values))
            except struct.error as error:
                raise ValueOutOfRange(f"{self.name}.{f.name}: {error}", value=entry) from None
        return b"".join(out)

    def _out_of_range(self, f: FieldSpec, value: object) -> ValueOutOfRange:
        span = (
            f"at most {f.count}"
            if f.variable
            else f"{f.lo}–{f.hi}" + (f" × {f.count}" if f.count else "")
        )
        return ValueOutOfRange(
            f"{self.name}.{f.name} is {value!r}, allowed: {f.wire_type} {span}", value=value
        )

    # ------------------------------------------------------------------ decode

    def unpack(self, payload: bytes) -> Message:
        """Message of payload octets; octets behind the known fields are ignored (SPEC V-6). Raises MalformedMessage."""
        if self._plain and len(payload) >= self._struct.size:
            values = self._struct.unpack_from(payload)
            for i, f, lo, hi in self._checks:
                if not lo <= values[i] <= hi:
                    raise self._malformed(f, values[i])
            return cast("Message", self._make(*values))
        return self._unpack_slowly(payload)

    def _unpack_slowly(self, payload: bytes) -> Message:
        at = 0
        values: list[Any] = []
        for f in self.fields:
            if at == len(payload) and f.default is not dataclasses.MISSING and f.since > self.since:
                values.append(f.default)
                continue
            value, at = self._unpack_field(f, payload, at)
            values.append(value)
        return self.cls(*values)

    def _unpack_field(self, f: FieldSpec, payload: bytes, at: int) -> tuple[Any, int]:
        if not f.variable:
            if at + f.size > len(payload):
                raise self._short(f, payload)
            values = struct.unpack_from(f"<{max(f.count, 1)}{f.code}", payload, at)
            for value in values:
                if not f.lo <= value <= f.hi:
                    raise self._malformed(f, value)
            return (values if f.count else values[0]), at + f.size
        if at >= len(payload):
            raise self._short(f, payload)
        number = payload[at]
        at += 1
        if number > f.count:
            raise self._malformed(f, number)
        if f.code == "list":
            return self._unpack_list(f, number, payload, at)
        raw = payload[at : at + number]
        if len(raw) < number:
            raise self._short(f, payload)
        # A text that is no UTF-8 is worth showing all the same: it is for people (SPEC M-4).
        return (raw.decode("utf-8", "replace") if f.code == "text" else raw), at + number

    def _unpack_list(
        self, f: FieldSpec, number: int, payload: bytes, at: int
    ) -> tuple[tuple[Record, ...], int]:
        assert f.record is not None
        layout = f.record.RECORD
        if at + number * layout.size > len(payload):
            raise self._short(f, payload)
        entries: list[Record] = []
        for _ in range(number):
            values = layout.struct.unpack_from(payload, at)
            for i, g in layout.checks:
                if not g.lo <= values[i] <= g.hi:
                    raise self._malformed(g, values[i])
            entries.append(layout.make(*values))
            at += layout.size
        return tuple(entries), at

    def _malformed(self, f: FieldSpec, value: object) -> MalformedMessage:
        return MalformedMessage(
            f"{self.name}.{f.name} is {value!r}, allowed: {f.wire_type} {f.lo}–{f.hi}", value=value
        )

    def _short(self, f: FieldSpec, payload: bytes) -> MalformedMessage:
        return MalformedMessage(
            f"{self.name} ends before {f.name} ({len(payload)} octets)", value=payload.hex()
        )

    def sent_by(self, role: str) -> bool:
        """True when `role` ("host" or "device") may send this message."""
        return self.direction is Direction.BOTH or (self.direction is Direction.TO_DEVICE) == (
            role == HOST
        )


@dataclass_transform(
    frozen_default=True, field_specifiers=(u8, u16, u32, i16, i32, u64, text, octets, listing)
)
def message(
    number: int, kind: Kind, direction: Direction, *, since: int = 0, keyed: bool = False
) -> Callable[[type[_T]], type[_T]]:
    """Declare a message: its id, how it travels, who sends it, the protocol minor it came with.

    `keyed`: a SET message whose first field tells one display of several.
    """

    def declare(cls: type[_T]) -> type[_T]:
        made = cast("Any", dataclasses.dataclass(frozen=True, slots=True)(cls))
        made.SPEC = MessageSpec(made, number, kind, direction, since, keyed)
        return cast("type[_T]", made)

    return declare


@dataclass_transform(
    frozen_default=True, field_specifiers=(u8, u16, u32, i16, i32, u64, text, octets, listing)
)
def record(cls: type[_T]) -> type[_T]:
    """Declare a record: the entry of a list field."""
    made = cast("Any", dataclasses.dataclass(frozen=True, slots=True)(cls))
    made.RECORD = RecordSpec(made)
    return cast("type[_T]", made)


class Schema:
    """A protocol version: major.minor and its messages by id."""

    def __init__(self, major: int, minor: int, messages: Iterable[type[Message]]) -> None:
        self.major = major
        self.minor = minor
        self.by_id: dict[int, type[Message]] = {}
        for cls in sorted(messages, key=lambda c: c.SPEC.id):
            if cls.SPEC.id in self.by_id:
                raise DeclarationError(
                    f"two messages have the id 0x{cls.SPEC.id:02x}", value=cls.__name__
                )
            if cls.SPEC.since > minor:
                raise DeclarationError(
                    f"{cls.__name__} is newer than {major}.{minor}", value=cls.SPEC.since
                )
            self.by_id[cls.SPEC.id] = cls
        self.hash = zlib.crc32(self.canonical().encode("utf-8"))
        """Schema hash of HELLO: CRC-32 of the canonical text."""

    def __iter__(self) -> Any:
        return iter(self.by_id.values())

    def canonical(self) -> str:
        """Text that two equal schemas share: ids, names, kinds, directions and field types; no documentation."""
        lines = [f"{self.major}.{self.minor}"]
        for cls in self.by_id.values():
            spec = cls.SPEC
            fields = " ".join(f"{f.name}:{f.wire_type}@{f.since}" for f in spec.fields)
            lines.append(
                f"{spec.id:02x} {spec.name} {spec.kind.value} {spec.direction.name} {spec.since} {fields}".rstrip()
            )
        return "\n".join(lines) + "\n"

    def only(self, minor: int) -> Schema:
        """The schema of the same major at an older minor."""
        return Schema(self.major, minor, [c for c in self.by_id.values() if c.SPEC.since <= minor])

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}"
