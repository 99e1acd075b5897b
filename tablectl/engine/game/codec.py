"""Typed records ↔ JSON, and who may see which field.

A record is a frozen slotted dataclass whose fields are annotated with a visibility
(`Public[int]`, `Owner[Tile | None]`, …). JSON holds integers, strings, booleans, lists and null only; a
tile is a two-character string (`5m`, `0p`, `7z`). Decoding is strict: an unknown field, a missing one or a
wrong type is a `VocabularyError` that names the field.
"""

from __future__ import annotations

import dataclasses
import enum
import json
import types
import typing
from collections.abc import Callable, Mapping
from typing import Annotated, Any, ClassVar, Final, Literal, Self, TypeVar, cast

from tablectl.engine.tiles import BY_NAME, NAMES


class Visibility(enum.Enum):
    """Who may see a field's value."""

    PUBLIC = "public"
    OWNER = "seat"
    """Only the seat named by the record's own field `seat`, and the referee."""
    EACH = "each"
    """A list of four: entry *i* for seat *i* and the referee."""
    REFEREE = "referee"


T = TypeVar("T")
Public = Annotated[T, Visibility.PUBLIC]
Owner = Annotated[T, Visibility.OWNER]
Each = Annotated[T, Visibility.EACH]
Referee = Annotated[T, Visibility.REFEREE]

_TILE: Final = "tile"
Tile = Annotated[int, _TILE]
"""0–33 = 1m…9m 1p…9p 1s…9s 1z…7z; 34, 35, 36 = the red fives 0m, 0p, 0s."""
Json = Annotated[dict[str, Any], "json"]
"""A JSON object carried as it is (the resolved ruleset)."""

Viewer = Literal["public", "referee"] | int
"""A feed: `"public"`, a seat 0–3, or `"referee"`."""


class VocabularyError(ValueError):
    """JSON that is no record of the vocabulary: `code`, the value at fault and a hint."""

    def __init__(self, code: str, value: object, hint: str) -> None:
        super().__init__(f"{code}: {value!r}: {hint}")
        self.code = code
        self.value = value
        self.hint = hint


def tile_text(tile: int) -> str:
    """Two characters of a tile: 4 → `5m`, 34 → `0m`, 33 → `7z`."""
    return NAMES[tile]


def tile_of(text: str) -> int:
    """The tile two characters name; `VocabularyError` for anything else."""
    try:
        return BY_NAME[text]
    except (KeyError, TypeError):
        raise VocabularyError(
            "unknown_tile", text, "write 1m-9m 1p-9p 1s-9s 1z-7z 0m 0p 0s"
        ) from None


Encoder = Callable[[Any], Any]
Decoder = Callable[[Any, str], Any]


class Record:
    """Base of every event, command and reference: knows its JSON form from its annotations."""

    __slots__ = ()
    type: ClassVar[str] = ""

    def to_json(self) -> dict[str, Any]:
        """The whole record, `type` first, nothing masked."""
        return encode(self)

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Self:
        """The record `value` describes; `VocabularyError` where it describes none."""
        return cast("Self", decode(cls, value, cls.type or cls.__name__))


@dataclasses.dataclass(frozen=True, slots=True)
class _Field:
    name: str
    visibility: Visibility
    encode: Encoder
    decode: Decoder
    required: bool


_PLANS: dict[type, tuple[_Field, ...]] = {}


def plan(cls: type) -> tuple[_Field, ...]:
    """The fields of a record class with their codecs, worked out once per class."""
    known = _PLANS.get(cls)
    if known is None:
        hints = typing.get_type_hints(cls, include_extras=True)
        fields = []
        for field in dataclasses.fields(cls):
            visibility, inner = _split_visibility(hints[field.name])
            enc, dec = _codec(inner)
            required = (
                field.default is dataclasses.MISSING
                and field.default_factory is dataclasses.MISSING
            )
            fields.append(_Field(field.name, visibility, enc, dec, required))
        known = _PLANS[cls] = tuple(fields)
    return known


def encode(record: Any) -> dict[str, Any]:
    """JSON object of a record."""
    out: dict[str, Any] = {}
    if record.type:
        out["type"] = record.type
    for field in plan(type(record)):
        out[field.name] = field.encode(getattr(record, field.name))
    return out


def decode(cls: type, value: Any, where: str) -> Any:
    """A record of `cls` from a JSON object; unknown fields are refused."""
    if not isinstance(value, Mapping):
        raise VocabularyError("not_an_object", value, f"{where} is written as a JSON object")
    given = {key: item for key, item in value.items() if key != "type"}
    arguments = {}
    for field in plan(cls):
        if field.name in given:
            arguments[field.name] = field.decode(given.pop(field.name), f"{where}.{field.name}")
        elif field.required:
            raise VocabularyError(
                "missing_field", field.name, f"{where} needs the field {field.name!r}"
            )
    if given:
        known = ", ".join(field.name for field in plan(cls)) or "none"
        raise VocabularyError("unknown_field", min(given), f"{where} has the fields: {known}")
    return cls(**arguments)


def mask(record: Any, viewer: Viewer) -> dict[str, Any] | None:
    """What `viewer` may see, hidden values as null; None where nothing of it is visible."""
    if viewer == "referee":
        return encode(record)
    out: dict[str, Any] = {"type": record.type}
    fields = plan(type(record))
    visible = not fields
    for field in fields:
        value = getattr(record, field.name)
        if field.visibility is Visibility.PUBLIC or (
            field.visibility is Visibility.OWNER and record.seat == viewer
        ):
            out[field.name] = field.encode(value)
            visible = True
        elif field.visibility is Visibility.EACH:
            shown = field.encode(value)
            out[field.name] = (
                None
                if shown is None
                else [item if seat == viewer else None for seat, item in enumerate(shown)]
            )
            visible = visible or viewer != "public"
        else:
            out[field.name] = None
    return out if visible else None


def canonical(value: Any) -> bytes:
    """Canonical JSON: sorted keys, no blanks, UTF-8; the bytes that replays are compared by."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def _split_visibility(hint: Any) -> tuple[Visibility, Any]:
    visibility = Visibility.PUBLIC
    if typing.get_origin(hint) is Annotated:
        base, *marks = typing.get_args(hint)
        rest = [mark for mark in marks if not isinstance(mark, Visibility)]
        for mark in marks:
            if isinstance(mark, Visibility):
                visibility = mark
        hint = Annotated[base, *rest] if rest else base
    return visibility, hint


def _codec(hint: Any) -> tuple[Encoder, Decoder]:
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin is Annotated:
        return (tile_text, _decode_tile) if _TILE in args[1:] else (_encode_object, _decode_object)
    if origin in (typing.Union, types.UnionType):
        return _optional(args)
    if origin is Literal:
        return _same, _one_of(args)
    if origin is tuple:
        return _sequence(args)
    if hint in (int, str, bool):
        return _same, _scalar(hint)
    if isinstance(hint, type) and issubclass(hint, Record):
        return encode, lambda value, where: decode(hint, value, where)
    raise TypeError(f"no JSON form for {hint!r}")


def _same(value: Any) -> Any:
    return value


def _optional(args: tuple[Any, ...]) -> tuple[Encoder, Decoder]:
    inner = [arg for arg in args if arg is not type(None)]
    if len(inner) != 1 or len(inner) == len(args):
        raise TypeError(f"only 'X | None' has a JSON form, not {args!r}")
    enc, dec = _codec(inner[0])
    return (
        lambda value: None if value is None else enc(value),
        lambda value, where: None if value is None else dec(value, where),
    )


def _sequence(args: tuple[Any, ...]) -> tuple[Encoder, Decoder]:
    if args[-1] is Ellipsis:
        length, (enc, dec) = None, _codec(args[0])
    else:
        length, (enc, dec) = len(args), _codec(args[0])
        if any(arg != args[0] for arg in args):
            raise TypeError(f"mixed tuples have no JSON form: {args!r}")

    def read(value: Any, where: str) -> Any:
        if not isinstance(value, list | tuple):
            raise VocabularyError("not_a_list", value, f"{where} is a list")
        if length is not None and len(value) != length:
            raise VocabularyError("wrong_length", value, f"{where} has {length} entries")
        return tuple(dec(item, f"{where}[{index}]") for index, item in enumerate(value))

    return (lambda value: [enc(item) for item in value]), read


def _scalar(kind: type) -> Decoder:
    def read(value: Any, where: str) -> Any:
        if type(value) is not kind:
            raise VocabularyError("wrong_type", value, f"{where} is of type {kind.__name__}")
        return value

    return read


def _one_of(values: tuple[Any, ...]) -> Decoder:
    def read(value: Any, where: str) -> Any:
        if value not in values or type(value) is not type(values[0]):
            raise VocabularyError(
                "unknown_value", value, f"{where} is one of {', '.join(map(str, values))}"
            )
        return value

    return read


def _decode_tile(value: Any, where: str) -> int:
    try:
        return BY_NAME[value]
    except (KeyError, TypeError):
        raise VocabularyError(
            "unknown_tile", value, f"{where}: write 1m-9m 1p-9p 1s-9s 1z-7z 0m 0p 0s"
        ) from None


def _encode_object(value: dict[str, Any]) -> Any:
    """With sorted keys at every depth: an event has the same bytes before and after the journal."""
    return json.loads(json.dumps(value, sort_keys=True))


def _decode_object(value: Any, where: str) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise VocabularyError("not_an_object", value, f"{where} is a JSON object")
    return dict(value)
