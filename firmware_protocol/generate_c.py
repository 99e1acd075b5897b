"""The C11 header and codec of the declaration: `c/generated/tablectl_messages.h` and `.c`, written by `make generate`.

Straight-line code on fixed-width integers: one struct per message, one `case` per message in `tctl_pack` and `tctl_unpack`. No heap,
no recursion, no floating point, no packed structs, no casts of pointers to integers.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from firmware_protocol import framing, messages, vocabulary
from firmware_protocol.errors import DeclarationError
from firmware_protocol.schema import DEVICE, HOST, FieldSpec, Kind, Message, Record, Schema

FOLDER = Path(__file__).resolve().parent / "c" / "generated"
_C_TYPES = {
    "B": "uint8_t",
    "H": "uint16_t",
    "I": "uint32_t",
    "Q": "uint64_t",
    "b": "int8_t",
    "h": "int16_t",
    "i": "int32_t",
}
_BITS = {"B": 8, "H": 16, "I": 32, "Q": 64, "b": 8, "h": 16, "i": 32}
_WRITTEN = "/* Written by `make generate` from firmware_protocol/messages.py. Do not edit. */"


def outputs(schema: Schema) -> dict[Path, str]:
    """The generated C files and their text."""
    return {
        FOLDER / "tablectl_messages.h": header_text(schema),
        FOLDER / "tablectl_messages.c": source_text(schema),
    }


def snake(name: str) -> str:
    """`DiceSettled` → `dice_settled`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def _comment(text: str) -> str:
    return "/* " + text.replace("*/", "* /") + " */"


# --------------------------------------------------------------------------- header


def header_text(schema: Schema) -> str:
    """`tablectl_messages.h`."""
    return "\n".join(_header(schema)) + "\n"


def _header(schema: Schema) -> Iterator[str]:
    yield _WRITTEN
    yield "#ifndef TABLECTL_MESSAGES_H"
    yield "#define TABLECTL_MESSAGES_H"
    yield ""
    yield "#include <stdbool.h>"
    yield "#include <stdint.h>"
    yield ""
    yield f"#define TCTL_MAJOR {schema.major}U"
    yield f"#define TCTL_MINOR {schema.minor}U"
    yield f"#define TCTL_SCHEMA_HASH UINT32_C(0x{schema.hash:08X})"
    yield f"#define TCTL_MAX_FRAME {framing.MAX_FRAME}U {_comment('octets on the line, delimiter included')}"
    yield f"#define TCTL_MAX_PAYLOAD {framing.MAX_PAYLOAD}U"
    yield f"#define TCTL_EVENT_HEADER {messages.EVENT_HEADER}U {_comment('event_no and uptime_ms in front of an event')}"
    yield f"#define TCTL_SEAT_TABLE {vocabulary.TABLE}U {_comment('as seat: the table itself')}"
    yield f"#define TCTL_SLOT_UNKNOWN {vocabulary.ANYWHERE}U {_comment('as slot: the reader cannot tell')}"
    yield ""
    for values in _enumerations():
        yield from _enumeration(values)
    for name in ("LEVEL_BASIC", "LEVEL_SCORE", "LEVEL_TILES"):
        yield f"#define TCTL_{name} UINT32_C(0x{int(getattr(vocabulary, name)):08X})"
    yield ""
    yield "/* How a message travels (SPEC chapter 5). */"
    yield "enum tctl_kind {"
    yield from (f"    TCTL_KIND_{kind.name} = {i}," for i, kind in enumerate(Kind))
    yield "};"
    yield ""
    yield "enum tctl_id {"
    yield from (f"    {_id(cls)} = 0x{cls.SPEC.id:02X}, {_comment(_route(cls))}" for cls in schema)
    yield "};"
    yield ""
    for record in _records(schema):
        yield from _struct(
            f"tctl_{snake(record.__name__)}", record.__doc__ or "", record.RECORD.fields
        )
    for cls in schema:
        if cls.SPEC.fields:
            yield from _struct(_struct_name(cls), cls.SPEC.doc, cls.SPEC.fields)
    yield "/* Any message: the id tells which member of `as` holds. */"
    yield "struct tctl_message {"
    yield "    uint8_t id;"
    yield "    union {"
    for cls in schema:
        if cls.SPEC.fields:
            yield f"        struct {_struct_name(cls)} {snake(cls.__name__)};"
    yield "    } as;"
    yield "};"
    yield ""
    yield "/* What the declaration says of a message beside its fields. */"
    yield "struct tctl_traits {"
    yield "    uint8_t id;"
    yield "    uint8_t kind;  /* enum tctl_kind */"
    yield "    uint8_t flags; /* TCTL_FROM_HOST, TCTL_FROM_DEVICE, TCTL_KEYED */"
    yield "    uint8_t since; /* minor that it came with */"
    yield "};"
    yield "#define TCTL_FROM_HOST 1U"
    yield "#define TCTL_FROM_DEVICE 2U"
    yield "#define TCTL_KEYED 4U /* each value of the first octet is a display of its own */"
    yield ""
    yield "#define TCTL_BAD 255U"
    yield ""
    yield "/* NULL: this version has no message of that id. */"
    yield "const struct tctl_traits *tctl_traits_of(uint8_t id);"
    yield ""
    yield "/* Writes the fields (of an event: without its header) as a peer of `minor` reads them, at most TCTL_MAX_PAYLOAD octets."
    yield "   Returns their count, or TCTL_BAD when a value is out of range or the id is unknown. */"
    yield "uint8_t tctl_pack(const struct tctl_message *message, uint8_t minor, uint8_t *payload);"
    yield ""
    yield "/* Reads the fields (of an event: without its header); octets behind the last known field are left alone (V-6)."
    yield "   Returns the count of octets read, or TCTL_BAD when they end early, a value is out of range or the id is unknown (M-3). */"
    yield "uint8_t tctl_unpack(uint8_t id, const uint8_t *payload, uint8_t count, struct tctl_message *message);"
    yield ""
    yield "#endif"


def _enumerations() -> list[type[enum.IntEnum | enum.IntFlag]]:
    return [
        value
        for value in vars(vocabulary).values()
        if isinstance(value, type) and issubclass(value, (enum.IntEnum, enum.IntFlag))
        and value.__module__ == vocabulary.__name__
    ]  # fmt: skip


def _enumeration(values: type[enum.IntEnum | enum.IntFlag]) -> Iterator[str]:
    name = snake(values.__name__)
    yield _comment((values.__doc__ or "").strip().split("\n")[0])
    if issubclass(values, enum.IntFlag):
        for member in values:
            bit = int(member.value).bit_length() - 1
            yield f"#define TCTL_{name.upper()}_{member.name} (UINT32_C(1) << {bit})"
    else:
        yield f"enum tctl_{name} {{"
        yield from (f"    TCTL_{name.upper()}_{m.name} = {m.value}," for m in values)
        yield "};"
    yield ""


def _id(cls: type[Message]) -> str:
    return f"TCTL_{snake(cls.__name__).upper()}"


def _struct_name(cls: type[Message]) -> str:
    return f"tctl_{snake(cls.__name__)}"


def _route(cls: type[Message]) -> str:
    spec = cls.SPEC
    ways = [end for end in (HOST, DEVICE) if spec.sent_by(end)]
    return f"{spec.kind.value}, from {' and '.join(ways)}"


def _records(schema: Schema) -> list[type[Record]]:
    found: dict[str, type[Record]] = {}
    for cls in schema:
        for f in cls.SPEC.fields:
            if f.record is not None:
                found.setdefault(f.record.__name__, f.record)
    return list(found.values())


def _struct(name: str, doc: str, fields: tuple[FieldSpec, ...]) -> Iterator[str]:
    yield _comment(" ".join(doc.split()))
    yield f"struct {name} {{"
    for f in fields:
        unit = f", {f.unit}" if f.unit else ""
        span = f", {f.lo}–{f.hi}" if f.narrowed else ""
        note = _comment(f"{f.doc}{span}{unit}")
        if f.variable:
            yield f"    uint8_t {f.name}_count;"
        if f.record is not None:
            yield f"    struct tctl_{snake(f.record.__name__)} {f.name}[{f.count}]; {note}"
        elif f.variable:
            yield f"    uint8_t {f.name}[{f.count}]; {note}"
        else:
            size = f"[{f.count}]" if f.count else ""
            yield f"    {_C_TYPES[f.code]} {f.name}{size}; {note}"
    yield "};"
    yield ""


# --------------------------------------------------------------------------- source


def source_text(schema: Schema) -> str:
    """`tablectl_messages.c`."""
    return "\n".join(_source(schema)) + "\n"


def _source(schema: Schema) -> Iterator[str]:
    for cls in schema:
        _verify(cls)
    yield _WRITTEN
    yield '#include "tablectl_messages.h"'
    yield ""
    yield "#include <stddef.h>"
    yield ""
    yield '#include "../tctl_octets.h"'
    yield ""
    yield "static const struct tctl_traits TRAITS[] = {"
    for cls in schema:
        yield f"    {{(uint8_t){_id(cls)}, (uint8_t)TCTL_KIND_{cls.SPEC.kind.name}, {_flags(cls)}, {cls.SPEC.since}U}},"
    yield "};"
    yield ""
    yield "const struct tctl_traits *tctl_traits_of(uint8_t id)"
    yield "{"
    yield "    const struct tctl_traits *found = NULL;"
    yield "    size_t i;"
    yield ""
    yield "    for (i = 0U; i < (sizeof TRAITS / sizeof TRAITS[0]); i++) {"
    yield "        if (TRAITS[i].id == id) {"
    yield "            found = &TRAITS[i];"
    yield "        }"
    yield "    }"
    yield "    return found;"
    yield "}"
    yield ""
    yield "uint8_t tctl_pack(const struct tctl_message *message, uint8_t minor, uint8_t *payload)"
    yield "{"
    yield "    struct tctl_writer w = {payload, 0U, false};"
    yield "    uint8_t i;"
    yield ""
    yield "    (void)minor;"
    yield "    switch (message->id) {"
    for cls in schema:
        yield f"    case TCTL_{snake(cls.__name__).upper()}:"
        for f in cls.SPEC.fields:
            yield from _since(
                f, cls, "minor >= {since}U", _put(f, f"message->as.{snake(cls.__name__)}.{f.name}")
            )
        yield "        break;"
    yield "    default:"
    yield "        w.bad = true;"
    yield "        break;"
    yield "    }"
    yield "    return w.bad ? (uint8_t)TCTL_BAD : w.at;"
    yield "}"
    yield ""
    yield "uint8_t tctl_unpack(uint8_t id, const uint8_t *payload, uint8_t count, struct tctl_message *message)"
    yield "{"
    yield "    struct tctl_reader r = {payload, 0U, count, false};"
    yield "    uint8_t i;"
    yield ""
    yield "    message->id = id;"
    yield "    switch (id) {"
    yield from _cases(schema, HOST, _unpack_case)
    yield "    default:"
    yield "        r.bad = true;"
    yield "        break;"
    yield "    }"
    yield "    return r.bad ? (uint8_t)TCTL_BAD : r.at;"
    yield "}"


def _cases(
    schema: Schema, sender: str, case: Callable[[type[Message]], Iterator[str]]
) -> Iterator[str]:
    """Cases of the messages that `sender` sends, and the others behind TCTL_BOTH_ROLES."""
    for needed in (True, False):
        if not needed:
            yield "#ifdef TCTL_BOTH_ROLES"
        for cls in schema:
            if cls.SPEC.sent_by(sender) is needed:
                yield f"    case {_id(cls)}:"
                yield from case(cls)
                yield "        break;"
        if not needed:
            yield "#endif"


def _pack_case(cls: type[Message]) -> Iterator[str]:
    for f in cls.SPEC.fields:
        source = f"message->as.{snake(cls.__name__)}.{f.name}"
        yield from _since(f, cls, "minor >= {since}U", _put(f, source))


def _unpack_case(cls: type[Message]) -> Iterator[str]:
    for f in cls.SPEC.fields:
        target = f"message->as.{snake(cls.__name__)}.{f.name}"
        missing = _default(f, target) if f.since > cls.SPEC.since else []
        yield from _since(f, cls, "r.at < r.end", _get(f, target), missing)


def _verify(cls: type[Message]) -> None:
    spec = cls.SPEC
    room = framing.MAX_PAYLOAD - (messages.EVENT_HEADER if spec.kind is Kind.EVENT else 0)
    if spec.size > room:
        raise DeclarationError(f"{spec.name} does not fit into a frame", value=spec.size)


def _flags(cls: type[Message]) -> str:
    spec = cls.SPEC
    flags = [
        name
        for name, is_so in (
            ("TCTL_FROM_HOST", spec.sent_by(HOST)),
            ("TCTL_FROM_DEVICE", spec.sent_by(DEVICE)),
            ("TCTL_KEYED", spec.keyed),
        )
        if is_so
    ]
    return " | ".join(flags)


def _since(
    f: FieldSpec, cls: type[Message], condition: str, lines: list[str], otherwise: list[str] | None = None
) -> Iterator[str]:  # fmt: skip
    """Lines of a field; one that a later minor appended depends on a condition."""
    if f.since <= cls.SPEC.since:
        yield from ("        " + line for line in lines)
        return
    yield f"        if ({condition.format(since=f.since)}) {{"
    yield from ("            " + line for line in lines)
    if otherwise:
        yield "        } else {"
        yield from ("            " + line for line in otherwise)
    yield "        }"


def _literal(code: str, value: int) -> str:
    if code.islower():
        return f"({value})"
    return f"UINT64_C({value})" if code == "Q" else f"{value}U"


def _put(f: FieldSpec, source: str) -> list[str]:
    if f.record is not None:
        inner = [line for g in f.record.RECORD.fields for line in _put(g, f"{source}[i].{g.name}")]
        return [
            f"tctl_put8_within(&w, {source}_count, 0U, {f.count}U);",
            f"for (i = 0U; (i < {source}_count) && !w.bad; i++) {{",
            *("    " + line for line in inner),
            "}",
        ]
    if f.variable:
        return [f"tctl_put_octets(&w, {source}, {source}_count, {f.count}U);"]
    if f.count:
        return [
            f"for (i = 0U; i < {f.count}U; i++) {{",
            "    " + _put_scalar(f, source + "[i]"),
            "}",
        ]
    return [_put_scalar(f, source)]


def _put_scalar(f: FieldSpec, source: str) -> str:
    bits = _BITS[f.code]
    if f.code.islower():
        if f.narrowed:
            raise DeclarationError("a narrowed signed field is not written in C yet", value=f.name)
        return f"tctl_put{bits}(&w, (uint{bits}_t){source});"
    if not f.narrowed:
        return f"tctl_put{bits}(&w, {source});"
    if bits == 8:
        return f"tctl_put8_within(&w, {source}, {f.lo}U, {f.hi}U);"
    if bits == 64:
        raise DeclarationError("a narrowed u64 field is not written in C yet", value=f.name)
    return f"tctl_put{bits}(&w, tctl_within(&w.bad, {source}, {f.lo}U, {_most(f)}));"


def _most(f: FieldSpec) -> str:
    return f"UINT32_C({f.hi})"


def _get(f: FieldSpec, target: str) -> list[str]:
    if f.record is not None:
        inner = [line for g in f.record.RECORD.fields for line in _get(g, f"{target}[i].{g.name}")]
        return [
            f"{target}_count = tctl_get_count(&r, {f.count}U);",
            f"for (i = 0U; i < {target}_count; i++) {{",
            *("    " + line for line in inner),
            "}",
        ]
    if f.variable:
        reader = "tctl_get_text" if f.code == "text" else "tctl_get_octets"
        return [f"{target}_count = {reader}(&r, {target}, {f.count}U);"]
    if f.count:
        return [
            f"for (i = 0U; i < {f.count}U; i++) {{",
            f"    {target}[i] = {_get_scalar(f)};",
            "}",
        ]
    return [f"{target} = {_get_scalar(f)};"]


def _get_scalar(f: FieldSpec) -> str:
    bits = _BITS[f.code]
    if f.code.islower():
        return f"tctl_signed{bits}(tctl_get{bits}(&r))"
    if not f.narrowed:
        return f"tctl_get{bits}(&r)"
    if bits == 8:
        return f"tctl_get8_within(&r, {f.lo}U, {f.hi}U)"
    return f"(uint{bits}_t)tctl_within(&r.bad, tctl_get{bits}(&r), {f.lo}U, {_most(f)})"


def _default(f: FieldSpec, target: str) -> list[str]:
    """Lines that put the declared default where an older peer has no such field (V-6)."""
    value: Any = f.default
    if f.variable:
        if value:
            raise DeclarationError("an appended text or list begins empty", value=f.name)
        return [f"{target}_count = 0U;"]
    if f.count:
        return [f"{target}[{i}] = {_literal(f.code, int(x))};" for i, x in enumerate(value)]
    return [f"{target} = {_literal(f.code, int(value))};"]
