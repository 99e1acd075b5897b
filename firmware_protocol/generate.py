"""`python -m firmware_protocol.generate`: write what follows from the declaration; `--check` only compares.

Outputs: the tables of SPEC.md between their markers, the conformance vectors of the current minor, and the C header and codec.
Running it twice changes nothing.
"""

from __future__ import annotations

import argparse
import enum
import importlib.util
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from firmware_protocol import messages, vocabulary
from firmware_protocol.errors import WireError
from firmware_protocol.schema import FieldSpec, Kind, Message, Schema
from firmware_protocol.vector_cases import vector_files

HERE = Path(__file__).resolve().parent
BEGIN, END = "<!-- begin messages -->", "<!-- end messages -->"

BLOCKS = (
    (0x01, 0x0F, "Handshake"),
    (0x10, 0x1F, "Datagrams"),
    (0x20, 0x2F, "Information"),
    (0x30, 0x4F, "Events"),
    (0x50, 0x6F, "Displays"),
    (0x70, 0x7F, "Actions"),
)


def outputs() -> dict[Path, str]:
    """Every generated file and its text."""
    spec = HERE / "SPEC.md"
    out = {spec: spec_text(spec.read_text(encoding="utf-8"), messages.SCHEMA)}
    folder = HERE / "vectors" / str(messages.SCHEMA)
    out |= {folder / name: text for name, text in vector_files().items()}
    if importlib.util.find_spec("firmware_protocol.generate_c") is not None:
        module = importlib.import_module("firmware_protocol.generate_c")
        make: Callable[[Schema], dict[Path, str]] = module.outputs
        out |= make(messages.SCHEMA)
    return out


def spec_text(text: str, schema: Schema) -> str:
    """SPEC.md with the tables of this schema between the markers."""
    head, begin, rest = text.partition(BEGIN)
    _, end, tail = rest.partition(END)
    if not begin or not end:
        raise WireError("SPEC.md lost its markers", value=BEGIN, hint=f"put back {BEGIN} and {END}")
    return head + BEGIN + "\n\n" + "\n".join(_tables(schema)) + "\n" + END + tail


def _tables(schema: Schema) -> Iterator[str]:
    yield "*This part is written by `make generate`.*"
    yield ""
    for first, last, title in BLOCKS:
        yield f"### {title}"
        yield ""
        for cls in schema:
            if first <= cls.SPEC.id <= last:
                yield from _message(cls)
    yield "### Numbers"
    yield ""
    yield "Zones are `kind << 4 | seat`. A wall's slot is `2 × stack + level`: stacks 0–16 from the right as the seat behind the wall sees"
    yield "it, level 0 upper, 1 lower. A hand's slot counts from the left; a river's is the order of discards from 0; a meld's is"
    yield "`4 × meld + place` from the left, an added tile (kakan) place 3; indicators and ura count from 0. 255 is *unknown*."
    yield ""
    for values in _enumerations(schema):
        yield f"**{values.__name__}**: {(values.__doc__ or '').strip().split(chr(10))[0]}"
        yield ""
        yield " · ".join(_member(values, member) for member in values)
        yield ""


def _member(values: type[enum.Enum], member: enum.Enum) -> str:
    if issubclass(values, enum.IntFlag):
        return f"bit {int(member.value).bit_length() - 1} {member.name}"
    return f"{member.value} {member.name}"


def _enumerations(schema: Schema) -> list[type[enum.IntEnum | enum.IntFlag]]:
    found: dict[str, type[enum.IntEnum | enum.IntFlag]] = {}
    for cls in schema:
        for f in _all_fields(cls):
            if f.enum is not None:
                found.setdefault(f.enum.__name__, f.enum)
    order = [name for name in vars(vocabulary) if name in found]
    return [found[name] for name in order]


def _all_fields(cls: type[Message]) -> Iterator[FieldSpec]:
    for f in cls.SPEC.fields:
        yield f
        if f.record is not None:
            yield from f.record.RECORD.fields


def _message(cls: type[Message]) -> Iterator[str]:
    spec = cls.SPEC
    since = f", since minor {spec.since}" if spec.since else ""
    keyed = ", keyed" if spec.keyed else ""
    yield f"#### 0x{spec.id:02X} {spec.name}: {spec.kind.value}, {spec.direction.value}{keyed}{since}"
    yield ""
    yield spec.doc
    yield ""
    if not spec.fields:
        yield "No fields."
        yield ""
        return
    yield from _field_table(spec.fields, spec.kind)
    for f in spec.fields:
        if f.record is not None:
            yield f"An entry of `{f.name}` ({f.record.__name__}, {f.record.RECORD.size} octets):"
            yield ""
            yield from _field_table(f.record.RECORD.fields, spec.kind)


def _field_table(fields: tuple[FieldSpec, ...], kind: Kind) -> Iterator[str]:
    yield "| field | type | range | unit | meaning |"
    yield "|---|---|---|---|---|"
    for f in fields:
        span = f"{f.lo}–{f.hi}" if f.narrowed else ""
        names = f" ({f.enum.__name__})" if f.enum is not None else ""
        since = f" *Since minor {f.since}; when missing: {f.default!r}.*" if f.since else ""
        yield f"| {f.name} | {f.wire_type} | {span} | {f.unit} | {f.doc}{names}{since} |"
    yield ""


def main(argv: list[str] | None = None) -> int:
    """Write or compare; 0 fine, 1 something differs (with --check)."""
    parser = argparse.ArgumentParser(
        prog="python -m firmware_protocol.generate",
        description="Write SPEC tables, vectors and C sources from the declaration in messages.py.",
    )
    parser.add_argument(
        "--check", action="store_true", help="write nothing; exit 1 when a file would change"
    )
    args = parser.parse_args(argv)
    stale = []
    for path, text in outputs().items():
        old = path.read_text(encoding="utf-8") if path.exists() else None
        if old == text:
            continue
        stale.append(path)
        if not args.check:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    for path in stale:
        verb = "differs from the declaration" if args.check else "written"
        sys.stdout.write(f"{path.relative_to(HERE.parent)}: {verb}\n")
    if stale and args.check:
        sys.stdout.write("run 'make generate' and commit what it writes\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
