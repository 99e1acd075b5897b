"""Scoring cases as JSON: the contract of `tablectl score --jsonl`, one object in, one object out."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final

from tablectl.engine.errors import CaseError, EngineError
from tablectl.engine.rules import RuleError, Ruleset, load, load_file
from tablectl.engine.scoring.melds import meld
from tablectl.engine.scoring.result import NoWin, Win
from tablectl.engine.scoring.scorer import score
from tablectl.engine.scoring.situation import WinSituation
from tablectl.engine.tiles import WINDS, parse, parse_one, wind_of

FIELDS: Final = (
    "id", "ruleset", "options", "concealed", "melds", "win_tile", "win", "seat_wind", "round_wind",
    "from", "riichi", "flags", "dora_indicators", "ura_indicators", "honba", "deposits", "pao",
)  # fmt: skip
"""The fields of a case; `id`, `ruleset`, `concealed`, `win_tile`, `win` and the winds must be there."""

_REQUIRED: Final = ("concealed", "win_tile", "win", "seat_wind", "round_wind")
_MISSING: Final = object()
_WORDS: Final = {str: "text", int: "a whole number", list: "a list", dict: "an object"}

_rulesets: dict[str, Ruleset] = {}
_KEPT: Final = 64


def read_line(line: str | bytes) -> dict[str, Any]:
    """One JSON object from a line; raises `CaseError` bad_json, not_an_object."""
    try:
        case = json.loads(line, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise CaseError("bad_json", f"this line is no JSON: {error}") from None
    if not isinstance(case, dict):
        raise CaseError(
            "not_an_object", "a case is a JSON object", value=case, hint="one object a line"
        )
    return case


def _no_number(word: str) -> None:
    raise ValueError(f"{word} is no number")


def read_case(case: Mapping[str, Any], ruleset: str | None = None) -> tuple[WinSituation, Ruleset]:
    """The facts of a case and its ruleset; `ruleset`, an id or a rule file, where the case names none.

    Raises `EngineError` for what cannot be, `RuleError` for a ruleset or option that is none.
    """
    for name in case:
        if name not in FIELDS:
            near = get_close_matches(str(name), FIELDS, n=1)
            raise CaseError(
                "unknown_field",
                f"a case has no field {name!r}",
                field=str(name),
                value=name,
                hint=f"did you mean {near[0]!r}?" if near else "",
            )
    for name in _REQUIRED:
        if name not in case:
            raise CaseError("missing_field", f"{name} is missing", field=name)
    rules = _ruleset(case, ruleset)
    seat = wind_of(case["seat_wind"], "seat_wind")
    melds = [
        meld(_get(one, "type", str, "melds"), _get(one, "tiles", str, "melds"), "melds")
        for one in _objects(case, "melds")
    ]
    pao = {
        str(name): wind_of(wind, f"pao.{name}")
        for name, wind in (_get(case, "pao", dict, default=None) or {}).items()
    }
    situation = WinSituation(
        parse(_get(case, "concealed", str), "concealed"),
        parse_one(case["win_tile"], "win_tile"),
        seat_wind=seat,
        round_wind=wind_of(case["round_wind"], "round_wind"),
        source=_source(case),
        melds=melds,
        riichi=_get(case, "riichi", int, default=0),
        flags=_texts(case, "flags"),
        dora_indicators=[
            parse_one(tile, "dora_indicators") for tile in _texts(case, "dora_indicators")
        ],
        ura_indicators=[
            parse_one(tile, "ura_indicators") for tile in _texts(case, "ura_indicators")
        ],
        honba=_get(case, "honba", int, default=0),
        deposits=_get(case, "deposits", int, default=0),
        pao=pao,
    )
    return situation, rules


def answer(case: Mapping[str, Any], ruleset: str | None = None) -> dict[str, Any]:
    """The result of a case as a JSON object, an `error` in it where the case cannot be."""
    case_id = case.get("id")
    if case_id is not None and not isinstance(case_id, str | int | float):
        return failure(CaseError("wrong_type", "id is text", field="id"))
    try:
        situation, rules = read_case(case, ruleset)
        result = score(situation, rules)
    except (EngineError, RuleError) as error:
        return failure(error, case_id)
    return to_json(result, case_id)


def failure(error: EngineError | RuleError, case_id: Any = None) -> dict[str, Any]:
    """`{"id", "error": {"code", "message", "field"}}`."""
    if isinstance(error, RuleError):
        field, message = error.key, str(error)
    else:
        field = error.field
        message = f"{error.message} ({error.hint})" if error.hint else error.message
    return {"id": case_id, "error": {"code": error.code, "message": message, "field": field}}


def to_json(result: Win | NoWin, case_id: Any = None) -> dict[str, Any]:
    """The result as the contract has it."""
    if isinstance(result, NoWin):
        return {"id": case_id, "valid": False, "reason": result.reason}
    return {
        "id": case_id,
        "valid": True,
        "yaku": [{"id": name, "han": han} for name, han in result.yaku],
        "han": result.han,
        "dora": result.dora,
        "ura_dora": result.ura_dora,
        "red_dora": result.red_dora,
        "fu": result.fu,
        "limit": result.limit,
        "yakuman_count": result.yakuman_count,
        "points": result.points,
        "payments": list(result.payments),
        "deltas": dict(zip(WINDS, result.deltas, strict=True)),
        "explain": [{"text": step.text, "ref": step.ref} for step in result.explain()],
    }


# --- reading fields -----------------------------------------------------------------------------------


def _get(
    case: Mapping[str, Any], name: str, kind: type, within: str = "", default: Any = _MISSING
) -> Any:
    field = f"{within}.{name}" if within else name
    value = case.get(name, default)
    if value is _MISSING:
        raise CaseError("missing_field", f"{field} is missing", field=field)
    if value is default:
        return value
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise CaseError(
            "wrong_type", f"{field} is {_WORDS[kind]}, not {value!r}", field=field, value=value
        )
    return value


def _texts(case: Mapping[str, Any], name: str) -> list[str]:
    values: list[Any] = _get(case, name, list, default=())
    for value in values:
        if not isinstance(value, str):
            raise CaseError(
                "wrong_type", f"{name} is a list of text, not of {value!r}", field=name, value=value
            )
    return values


def _objects(case: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    values: list[Any] = _get(case, name, list, default=())
    for value in values:
        if not isinstance(value, dict):
            raise CaseError(
                "wrong_type",
                f"{name} is a list of objects, not of {value!r}",
                field=name,
                value=value,
            )
    return values


def _source(case: Mapping[str, Any]) -> int | None:
    how, source = case["win"], case.get("from")
    if how == "tsumo":
        if source is not None:
            raise CaseError(
                "from_with_tsumo",
                "a tsumo has no discarder",
                field="from",
                value=source,
                hint="from is null",
            )
        return None
    if how != "ron":
        raise CaseError("bad_win", f"win is ron or tsumo, not {how!r}", field="win", value=how)
    if source is None:
        raise CaseError(
            "from_missing", "a ron needs the discarder's seat wind", field="from", value=None
        )
    return wind_of(source, "from")


def _ruleset(case: Mapping[str, Any], default: str | None) -> Ruleset:
    name = _get(case, "ruleset", str) if default is None or "ruleset" in case else default
    options = _get(case, "options", dict, default=None) or {}
    return named_ruleset(name, options, files=name == default)


def named_ruleset(name: str, options: Mapping[str, Any], *, files: bool = False) -> Ruleset:
    """A ruleset by id or, if `files` may be read, by the path of a rule file; kept for the next case."""
    key = name if not options else f"{name} {json.dumps(options, sort_keys=True)}"
    from_file = files and name.endswith(".toml")
    if from_file:
        with suppress(OSError):
            key = f"{key} {Path(name).stat().st_mtime_ns}"
    rules = _rulesets.get(key)
    if rules is None:
        rules = load_file(name, options) if from_file else load(name, options)
        if len(_rulesets) >= _KEPT:
            _rulesets.clear()
        _rulesets[key] = rules
    return rules
