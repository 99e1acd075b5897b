"""Values to and from plain data: checking one value, whole rulesets, canonical JSON and its hash."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from functools import cache
from typing import Any, Literal, get_args, get_origin, get_type_hints

from tablectl.engine.rules.errors import RuleError, nearest
from tablectl.engine.rules.model import INFRACTIONS, Ruleset, Ruling, Sanction, When

NOT_VALUES = frozenset({"id", "options", "refs"})

PAO_YAKUMAN = ("daisangen", "daisuushii", "suukantsu")
DOUBLE_YAKUMAN = ("suuankou_tanki", "junsei_chuuren", "kokushi_13", "daisuushii")

_CHOICES: dict[str, tuple[int, ...]] = {
    "double_wind_han": (1, 2),
    "double_wind_pair_fu": (2, 4),
    "rinshan_tsumo_fu": (0, 2),
    "open_pinfu_fu": (20, 30),
    "counted_yakuman": (0, *range(11, 27)),
    "riichi_min_live_tiles": tuple(range(1, 70)),
    "warning_step": tuple(range(1, 10)),
}
_MEMBERS: dict[str, tuple[str, ...]] = {"pao": PAO_YAKUMAN, "double_yakuman": DOUBLE_YAKUMAN}
_SIGNED = frozenset({"uma", "uma_floating"})
_HUNDREDS = frozenset(
    {
        *("start_points", "return_points", "target_points", "above_water_points"),
        *("oka", "uma", "uma_floating", "noten_pool", "honba_ron", "honba_tsumo"),
        *("riichi_min_points", "chombo_amount", "minor_ended_amount", "minor_stop_win_amount"),
        *("minor_continues_amount", "warning_amount"),
    }
)
"""Amounts of points: multiples of 100, so that nobody writes uma in pt by mistake."""

_LARGEST = 1_000_000


@cache
def value_names() -> tuple[str, ...]:
    """Names of all values, in the order of the model; `infractions` is one of them."""
    return tuple(f.name for f in fields(Ruleset) if f.name not in NOT_VALUES)


@cache
def known_keys() -> tuple[str, ...]:
    """What may be written in a rule file or an option: every value, and P1 … P50."""
    return (*(n for n in value_names() if n != "infractions"), *infraction_keys())


def infraction_keys() -> tuple[str, ...]:
    """P1 … P50."""
    return tuple(f"P{n}" for n in range(1, INFRACTIONS + 1))


@cache
def _types() -> dict[str, Any]:
    return get_type_hints(Ruleset)


def unknown_value(name: str) -> RuleError:
    """The error for a key that is no rule value."""
    near = nearest(name, known_keys())
    hint = "" if near else "'tablectl rules show base' lists every value."
    return RuleError(
        "unknown_value", f"there is no rule value {name!r}", key=name, nearest=near, hint=hint
    )


def check(name: str, raw: Any) -> Any:
    """The typed value of plain data; raises `RuleError` with codes unknown_value, wrong_type, impossible_value."""
    if name[:1] == "P" and name in infraction_keys():
        return _ruling(name, raw)
    kind = _types().get(name) if name not in NOT_VALUES and name != "infractions" else None
    if kind is None:
        raise unknown_value(name)
    if get_origin(kind) is Literal:
        return _choice(name, raw, get_args(kind))
    return _CHECKS[_shape(kind)](name, raw)


def _shape(kind: Any) -> str:
    if kind in (bool, int):
        return str(kind.__name__)
    first, second = get_args(kind)[:2]
    if second is not Ellipsis:
        return "four"
    return "names" if first is str else "rows"


def _wrong(name: str, raw: Any, wanted: str) -> RuleError:
    return RuleError(
        "wrong_type", f"{name} is {wanted}, not {_show(raw)}", key=name, value=raw, hint=""
    )


def _impossible(name: str, raw: Any, why: str) -> RuleError:
    return RuleError("impossible_value", f"{name} = {_show(raw)}: {why}", key=name, value=raw)


def _show(raw: Any) -> str:
    if isinstance(raw, bool):
        return "true" if raw else "false"
    return repr(raw)


def _bool(name: str, raw: Any) -> bool:
    if not isinstance(raw, bool):
        raise _wrong(name, raw, "true or false")
    return raw


def _int(name: str, raw: Any) -> int:
    if isinstance(raw, bool) or not isinstance(raw, int):
        raise _wrong(name, raw, "a whole number")
    choices = _CHOICES.get(name)
    if choices is not None and raw not in choices:
        if len(choices) <= 4:
            raise _impossible(name, raw, "possible are " + ", ".join(map(str, choices)))
        low = choices[1] if choices[0] == 0 else choices[0]
        none = "0 (never) or " if choices[0] == 0 else ""
        raise _impossible(name, raw, f"possible are {none}{low} to {choices[-1]}")
    if name == "noten_pool" and raw % 600:
        raise _impossible(
            name, raw, "1, 2 and 3 players must be able to share it: 600, 1200 … 3000"
        )
    return _amount(name, raw, raw)


def _amount(name: str, number: int, raw: Any) -> int:
    if number < 0 and name not in _SIGNED:
        raise _impossible(name, raw, "it cannot be negative")
    if abs(number) > _LARGEST:
        raise _impossible(name, raw, f"it is beyond {_LARGEST}")
    if name in _HUNDREDS and number % 100:
        raise _impossible(name, raw, "points are multiples of 100 (1 pt = 1000 points)")
    return number


def _choice(name: str, raw: Any, choices: tuple[str, ...]) -> str:
    if not isinstance(raw, str):
        raise _wrong(name, raw, "one of " + ", ".join(choices))
    if raw not in choices:
        error = _impossible(name, raw, "possible are " + ", ".join(choices))
        error.nearest = nearest(raw, choices)
        error.args = (str(error),)
        raise error
    return raw


def _four(name: str, raw: Any) -> tuple[int, ...]:
    if not isinstance(raw, list | tuple) or any(
        isinstance(n, bool) or not isinstance(n, int) for n in raw
    ):
        raise _wrong(name, raw, "a list of four whole numbers, for ranks 1 to 4")
    row = tuple(_amount(name, n, raw) for n in raw)
    if len(row) != 4:
        raise _impossible(name, raw, f"it has {len(row)} numbers, ranks are 4")
    if sum(row) != 0:
        raise _impossible(name, raw, f"uma must add up to 0, this gives {sum(row)}")
    if list(row) != sorted(row, reverse=True):
        raise _impossible(name, raw, "a lower rank cannot get more than a higher one")
    return row


def _rows(name: str, raw: Any) -> tuple[tuple[int, ...], ...]:
    if not isinstance(raw, list | tuple):
        raise _wrong(name, raw, "a list of rows of four numbers")
    rows = tuple(_four(name, row) for row in raw)
    if len(rows) not in (0, 5):
        raise _impossible(name, raw, "five rows are needed, for 0, 1, 2, 3, 4 players above water")
    return rows


def _names(name: str, raw: Any) -> tuple[str, ...]:
    known = _MEMBERS[name]
    if not isinstance(raw, list | tuple) or any(not isinstance(n, str) for n in raw):
        raise _wrong(name, raw, "a list of names")
    for word in raw:
        _choice(name, word, known)
    if len(set(raw)) != len(raw):
        raise _impossible(name, raw, "a name stands twice")
    return tuple(sorted(raw))


_CHECKS: dict[str, Callable[[str, Any], Any]] = {
    "bool": _bool,
    "int": _int,
    "four": _four,
    "rows": _rows,
    "names": _names,
}


def _ruling(name: str, raw: Any) -> Ruling:
    if isinstance(raw, str):
        raw = {"sanction": raw}
    if not isinstance(raw, Mapping):
        raise _wrong(name, raw, "a sanction, or {sanction, other, when}")
    for key in raw:
        if key not in ("sanction", "other", "when"):
            near = nearest(str(key), ("sanction", "other", "when"))
            raise RuleError(
                "unknown_value", f"{name} has no {key!r}", key=name, value=raw, nearest=near
            )
    if "sanction" not in raw:
        raise RuleError("missing_value", f"{name} names no sanction", key=name, value=raw)
    sanctions = get_args(Sanction)
    other, when = raw.get("other"), raw.get("when")
    if (other is None) != (when in (None, "always")):
        raise _impossible(name, dict(raw), "'other' and 'when' go together")
    return Ruling(
        sanction=_choice(name, raw["sanction"], sanctions),  # type: ignore[arg-type]  # checked
        other=None if other is None else _choice(name, other, sanctions),  # type: ignore[arg-type]
        when=_choice(name, when or "always", get_args(When)),  # type: ignore[arg-type]
    )


def build(
    ruleset_id: str,
    options: tuple[tuple[str, str], ...],
    values: Mapping[str, Any],
    refs: Mapping[str, str],
) -> Ruleset:
    """A ruleset from checked values (P1 … P50 each by its key); raises `RuleError` where they contradict."""
    plain = {n: values[n] for n in value_names() if n != "infractions"}
    _agree(plain)
    table = tuple(values[key] for key in infraction_keys())
    return Ruleset(id=ruleset_id, options=options, refs=refs, infractions=table, **plain)


def _agree(values: Mapping[str, Any]) -> None:
    """Values that cannot stand together."""

    def need(condition: bool, name: str, why: str) -> None:
        if not condition:
            raise _impossible(name, values[name], why)

    need(
        (values["uma_kind"] == "floating") == bool(values["uma_floating"]),
        "uma_floating",
        "it is given exactly when uma_kind is 'floating'",
    )
    need(
        values["honba_counted"] or not (values["honba_ron"] or values["honba_tsumo"]),
        "honba_counted",
        "honba_ron and honba_tsumo must be 0 where no honba are counted",
    )
    need(
        not values["kan_ura_dora"] or (values["kan_dora"] and values["ura_dora"]),
        "kan_ura_dora",
        "it needs kan_dora and ura_dora",
    )
    need(
        not values["two_han_from_honba"] or values["honba_counted"],
        "two_han_from_honba",
        "it needs honba_counted",
    )


HANGS_ON: dict[str, tuple[str, ...]] = {
    "uma_floating": ("uma_kind",),
    "honba_counted": ("honba_ron", "honba_tsumo"),
    "kan_ura_dora": ("kan_dora", "ura_dora"),
    "two_han_from_honba": ("honba_counted",),
}
"""Where else to look for the cause when a value contradicts others."""


def plain(value: Any) -> Any:
    """A typed value as JSON-able data."""
    if isinstance(value, Ruling):
        if value.other is None:
            return value.sanction
        return {"sanction": value.sanction, "other": value.other, "when": value.when}
    if isinstance(value, tuple):
        return [plain(v) for v in value]
    return value


def to_dict(rules: Ruleset) -> dict[str, Any]:
    """See `Ruleset.to_dict`."""
    values = {n: plain(getattr(rules, n)) for n in value_names() if n != "infractions"}
    values |= dict(zip(infraction_keys(), map(plain, rules.infractions), strict=True))
    return {"id": rules.id, "options": dict(rules.options), "values": values}


def from_dict(data: Mapping[str, Any]) -> Ruleset:
    """See `Ruleset.from_dict`. A value the data does not have yet is the one of `base`."""
    from tablectl.engine.rules import shelf

    for key in data:
        if key not in ("id", "options", "values"):
            raise RuleError(
                "unknown_value",
                f"a ruleset has no {key!r}",
                key=str(key),
                nearest=nearest(str(key), ("id", "options", "values")),
            )
    for key in ("id", "values"):
        if key not in data:
            raise RuleError("missing_value", f"the ruleset lacks {key!r}", key=key)
    try:
        given = {str(k): check(str(k), v) for k, v in data["values"].items()}
    except RuleError as error:
        if error.code == "unknown_value":
            error.hint = "It was written by a newer tablectl: update this one."
            error.args = (str(error),)
        raise
    options = tuple(sorted((str(k), str(v)) for k, v in data.get("options", {}).items()))
    return build(str(data["id"]), options, {**shelf.base_values(), **given}, _refs(data, given))


def _refs(data: Mapping[str, Any], given: Mapping[str, Any]) -> Mapping[str, str]:
    """Citations come from the shipped ruleset of that id, for the values that still agree with it."""
    from types import MappingProxyType

    from tablectl.engine.rules import shelf

    known = shelf.shipped(str(data["id"]))
    if known is None:
        return MappingProxyType({})
    values, refs = known
    return MappingProxyType({k: r for k, r in refs.items() if given.get(k) == values.get(k)})


def canonical(values: Any) -> str:
    """JSON with sorted keys and no spaces: equal data, equal bytes."""
    import json

    return json.dumps(values, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def values_hash(values: Mapping[str, Any]) -> str:
    """SHA-256 (hex) of the canonical JSON of the `values` of a `to_dict`."""
    import hashlib

    return hashlib.sha256(canonical(values).encode()).hexdigest()
