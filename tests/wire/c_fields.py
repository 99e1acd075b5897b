"""Writes a C program that fills every message field by field and compares what the codec makes of it with the vectors."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from firmware_protocol import messages as m
from firmware_protocol.generate_c import snake
from firmware_protocol.schema import FieldSpec, Schema

_HEAD = """\
#include <stdio.h>
#include <string.h>
#include "generated/tablectl_messages.h"

static int faults;

static void expect(int holds, const char *what)
{
    if (!holds) {
        faults++;
        printf("%s\\n", what);
    }
}

static void check_pack(const struct tctl_message *message, unsigned minor, const char *octets, unsigned count, const char *what)
{
    uint8_t payload[TCTL_MAX_PAYLOAD];
    uint8_t packed = tctl_pack(message, (uint8_t)minor, payload);

    expect((packed == count) && (memcmp(payload, octets, count) == 0), what);
}
"""


def program(vectors: list[dict[str, Any]], schema: Schema = m.SCHEMA) -> str:
    """Text of the program: exit code 0 when every vector holds, else it prints the names of those that do not."""
    parts = [_HEAD]
    for i, vector in enumerate(vectors):
        parts.append("\n".join(_case(i, vector, schema)))
    parts.append("int main(void)\n{")
    parts += [f"    case_{i}();" for i in range(len(vectors))]
    parts.append(
        f'    printf("{len(vectors)} cases, %d faults\\n", faults);\n    return faults != 0;\n}}\n'
    )
    return "\n".join(parts)


def _case(number: int, vector: dict[str, Any], schema: Schema) -> Iterator[str]:
    cls = schema.by_id[vector["id"]]
    name = f"{vector['message']} {vector['case']}"
    payload = bytes.fromhex(vector["payload"])
    if "event_no" in vector:
        payload = payload[m.EVENT_HEADER :]
    minor = vector.get("minor", schema.minor)
    text = "".join(f"\\x{octet:02x}" for octet in payload)
    filled = list(_fields(cls.SPEC.fields, vector["fields"], f"as.{snake(cls.__name__)}"))
    yield f"static void case_{number}(void)\n{{"
    yield "    struct tctl_message out, in;"
    yield f'    static const char octets[] = "{text}";'
    yield ""
    yield "    memset(&out, 0xA5, sizeof out);"
    yield "    memset(&in, 0x5A, sizeof in);"
    yield f"    out.id = 0x{vector['id']:02X};"
    if vector.get("packs", True):
        yield from (f"    out.{target} = {value};" for target, value in filled)
        yield f"    check_pack(&out, {minor}, octets, {len(payload)}, {json.dumps(name + ': pack')});"
    yield f"    expect(tctl_unpack(0x{vector['id']:02X}, (const uint8_t *)octets, {len(payload)}, &in) == {len(payload)}, {json.dumps(name + ': unpack')});"
    yield "    (void)out;"
    for target, value in filled:
        yield f"    expect(in.{target} == {value}, {json.dumps(f'{name}: {target}')});"
    if payload and vector.get("packs", True):
        yield f"    expect(tctl_unpack(0x{vector['id']:02X}, (const uint8_t *)octets, {len(payload) - 1}, &in) == TCTL_BAD, {json.dumps(name + ': too short')});"
    yield "}\n"


def _fields(fields: tuple[FieldSpec, ...], values: dict[str, Any], where: str) -> Iterator[tuple[str, str]]:  # fmt: skip
    """Left and right side of an assignment for each scalar."""
    for f in fields:
        value = values[f.name]
        if f.record is not None:
            yield f"{where}.{f.name}_count", str(len(value))
            for i, entry in enumerate(value):
                yield from _fields(f.record.RECORD.fields, entry, f"{where}.{f.name}[{i}]")
        elif f.variable:
            octets = value.encode("utf-8") if f.code == "text" else bytes.fromhex(value)
            yield f"{where}.{f.name}_count", str(len(octets))
            for i, octet in enumerate(octets):
                yield f"{where}.{f.name}[{i}]", str(octet)
        elif f.count:
            for i, number in enumerate(value):
                yield f"{where}.{f.name}[{i}]", _literal(f, number)
        else:
            yield f"{where}.{f.name}", _literal(f, value)


def _literal(f: FieldSpec, value: int | str) -> str:
    if f.code == "Q":
        return f"UINT64_C({value})"
    number = int(value)
    if number == -(1 << 31):
        return "(-2147483647 - 1)"
    return f"{number}U" if f.code.isupper() else str(number)


def load(path: Path) -> list[dict[str, Any]]:
    """Entries of a vector file."""
    entries: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["vectors"]
    return entries
