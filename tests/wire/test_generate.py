"""What is derived from the declaration is up to date, and deriving it again changes nothing."""

from __future__ import annotations

import re

import pytest

from firmware_protocol import generate
from firmware_protocol import messages as m
from firmware_protocol.errors import DeclarationError, WireError
from firmware_protocol.schema import (
    Direction,
    Kind,
    Message,
    Record,
    Schema,
    message,
    record,
    text,
    u8,
)


def test_generated_files_are_up_to_date(capsys: pytest.CaptureFixture[str]) -> None:
    assert generate.main(["--check"]) == 0, capsys.readouterr().out


def test_a_difference_is_found_and_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    outputs = generate.outputs()
    spec = generate.HERE / "SPEC.md"
    monkeypatch.setattr(generate, "outputs", lambda: outputs | {spec: outputs[spec] + "\n"})
    before = spec.read_text(encoding="utf-8")
    assert generate.main(["--check"]) == 1
    assert "SPEC.md: differs" in capsys.readouterr().out
    assert spec.read_text(encoding="utf-8") == before


def test_spec_tables_are_a_fixed_point_and_name_every_field() -> None:
    once = generate.spec_text((generate.HERE / "SPEC.md").read_text(encoding="utf-8"), m.SCHEMA)
    assert generate.spec_text(once, m.SCHEMA) == once
    for cls in m.SCHEMA:
        assert f"#### 0x{cls.SPEC.id:02X} {cls.SPEC.name}:" in once
        for f in cls.SPEC.fields:
            assert re.search(rf"^\| {f.name} \| {re.escape(f.wire_type)} \|", once, re.MULTILINE)


def test_spec_without_markers_is_an_error() -> None:
    with pytest.raises(WireError, match="markers"):
        generate.spec_text("no markers", m.SCHEMA)


def test_every_message_fits_into_a_frame_and_has_words() -> None:
    for cls in m.SCHEMA:
        spec = cls.SPEC
        header = m.EVENT_HEADER if spec.kind is Kind.EVENT else 0
        assert spec.size + header <= 56, spec.name
        assert len(spec.doc) > 10
        assert all(f.doc for f in spec.fields)
        blocks = [(a, b) for a, b, _ in generate.BLOCKS]
        assert any(a <= spec.id <= b for a, b in blocks)


def test_contradictions_in_a_declaration_are_refused() -> None:
    with pytest.raises(DeclarationError, match="needs a default"):

        @message(0x80, Kind.BULK, Direction.TO_HOST)
        class NoDefault(Message):
            """A field that came later and says nothing about earlier devices."""

            a: int = u8("first")
            b: int = u8("second", since=1)

    with pytest.raises(DeclarationError, match="older than the field before"):

        @message(0x80, Kind.BULK, Direction.TO_HOST)
        class OutOfOrder(Message):
            """A field inserted, not appended."""

            a: int = u8("first", since=2, default=0)
            b: int = u8("second", since=1, default=0)

    with pytest.raises(DeclarationError, match="scalars only"):

        @record
        class WithText(Record):
            """A record of changing size."""

            a: str = text("words", most=3)

    with pytest.raises(DeclarationError, match="two messages"):
        Schema(1, 0, [m.SetHonba, m.SetHonba])

    @message(0x80, Kind.BULK, Direction.TO_HOST, since=1)
    class TooNew(Message):
        """A message of the next minor in a schema of this one."""

    with pytest.raises(DeclarationError, match="newer than"):
        Schema(1, 0, [TooNew])
