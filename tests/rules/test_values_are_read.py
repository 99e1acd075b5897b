"""Each rule value is read, and changing it changes a result.

A value that nothing reads is a promise nobody keeps. Each row plays one small situation under a ruleset and
under the same ruleset with that one value changed: the answers must differ.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from tablectl.engine.errors import EngineError
from tablectl.engine.rules import Ruleset, load
from tablectl.engine.rules.codec import value_names
from tablectl.engine.scoring import (
    Win,
    WinSituation,
    fixed_by_call,
    meld,
    score,
    settle_ron,
)
from tablectl.engine.scoring.cases import read_case, to_json
from tablectl.engine.tiles import parse, parse_one
from tests.game import rule_values

Look = Callable[[Ruleset], Any]


@dataclass(frozen=True)
class Row:
    """One situation: `value` instead of what `ruleset` has, both with the options of `under`."""

    value: Any
    look: Look
    ruleset: str = "tenhou"
    under: dict[str, Any] = field(default_factory=dict)


def scored(concealed: str, win_tile: str, win: str, **more: Any) -> Look:
    """What the scoring contract answers to a case; South wins in the East round unless told otherwise."""
    case = {
        "concealed": concealed,
        "win_tile": win_tile,
        "win": win,
        "seat_wind": "S",
        "round_wind": "E",
        "from": "W" if win == "ron" else None,
        "dora_indicators": ["9m"],
        **more,
    }

    def look(rules: Ruleset) -> Any:
        try:
            situation, _ = read_case(case, "tenhou")
            found = to_json(score(situation, rules))
        except EngineError as error:
            return error.code
        return {name: value for name, value in found.items() if name != "explain"}

    return look


def melds(*pairs: tuple[str, str]) -> list[dict[str, str]]:
    return [{"type": type_, "tiles": tiles} for type_, tiles in pairs]


PINFU = "234567m345p67s88s"  # and tanyao
BARE_PINFU = "123567m345p67s88s"
DRAGONS = melds(("pon", "555z"), ("pon", "666z"), ("pon", "777z"))
LIABLE = {"melds": DRAGONS, "pao": {"daisangen": "N"}}


def two_ron(rules: Ruleset) -> Any:
    """North discards; East and West win on it, one honba on the table."""
    wins = []
    for seat in (0, 2):
        situation = WinSituation(
            parse(PINFU), parse_one("5s"), seat_wind=seat, round_wind=0, source=3, honba=1
        )
        won = score(situation, rules)
        assert isinstance(won, Win)
        wins.append(won)
    return settle_ron(wins, rules).deltas


def fourth_kan_of_a_tile_seen_before(rules: Ruleset) -> Any:
    sets = [meld(t, k) for t, k in (("ankan", "1111m"), ("ankan", "2222p"), ("kakan", "3333s"))]
    return fixed_by_call([*sets, meld("daiminkan", "4444z")], rules, live_tile=False)


READ: dict[str, Row] = {
    "multi_ron": Row("head_bump", two_ron),
    "multi_ron_honba": Row("each", two_ron),
    "unclear_tsumo": Row(
        "no_wait_no_tsumo_fu",
        scored("123456m345p67s99p", "8s", "tsumo", riichi=1, flags=["unclear_tsumo"]),  # UT-01
        "jpml-a",
    ),
    "two_han_from_honba": Row(5, scored(BARE_PINFU, "5s", "ron", honba=5)),
    "kuitan": Row(False, scored("345p678s5567m", "8m", "ron", melds=melds(("chi", "234m")))),
    "ippatsu": Row(False, scored(PINFU, "5s", "ron", riichi=1, flags=["ippatsu"])),
    "aka": Row(False, scored("234067m345p67s88s", "5s", "ron")),
    "ura_dora": Row(
        False,
        scored(PINFU, "5s", "ron", riichi=1, ura_indicators=["7s"]),
        under={"kan_ura_dora": False},
    ),
    "kan_dora": Row(
        False,
        scored(PINFU, "5s", "ron", dora_indicators=["9m", "7s"]),
        under={"kan_ura_dora": False},
    ),
    "kan_ura_dora": Row(False, scored(PINFU, "5s", "ron", riichi=1, ura_indicators=["9m", "7s"])),
    "double_wind_han": Row(
        1, scored("234m345p67s88s", "5s", "ron", seat_wind="E", melds=melds(("pon", "111z")))
    ),
    "shousangen_includes_dragons": Row(True, scored("234m23p77z", "4p", "ron", melds=DRAGONS[:2])),
    "renhou": Row("mangan", scored(BARE_PINFU, "5s", "ron", flags=["first_turn"])),
    "ryuuiisou_needs_hatsu": Row(True, scored("2223334446668s", "8s", "ron")),
    "tsuuiisou_seven_pairs": Row(False, scored("1122334455667z", "7z", "ron")),
    "composite_yakuman": Row(False, scored("1144z", "1z", "ron", melds=DRAGONS)),
    "double_yakuman": Row(["kokushi_13"], scored("19m19p19s1234567z", "1m", "ron")),
    "counted_yakuman": Row(
        0, scored("2233445566778m", "8m", "ron", riichi=1, dora_indicators=["1m"])
    ),
    "double_wind_pair_fu": Row(
        2, scored("222m345p67s11z", "5s", "ron", seat_wind="E", melds=melds(("pon", "777z")))
    ),
    "rinshan_tsumo_fu": Row(
        0,
        scored(
            *("234678m33p46s", "5s", "tsumo"),
            flags=["rinshan"],
            melds=melds(("daiminkan", "2222p")),
        ),
    ),
    "open_pinfu_fu": Row(20, scored("234m55p34567s", "8s", "ron", melds=melds(("chi", "678p")))),
    "kiriage": Row(True, scored(PINFU, "5s", "ron", riichi=1, dora_indicators=["1m"])),
    "honba_ron": Row(1500, scored(PINFU, "5s", "ron", honba=1)),
    "honba_tsumo": Row(500, scored(PINFU, "5s", "tsumo", honba=1)),
    "pao": Row([], scored("23m11p", "4m", "tsumo", **LIABLE)),
    "pao_suukantsu_live_tile": Row(True, fourth_kan_of_a_tile_seen_before, "wrc-2025"),
    "pao_composite": Row("covered", scored("1144z", "1z", "tsumo", **LIABLE)),
    "pao_honba_tsumo": Row("shared", scored("23m11p", "4m", "tsumo", honba=1, **LIABLE)),
    "pao_honba_ron": Row("discarder", scored("23m11p", "4m", "ron", honba=1, **LIABLE)),
}


for _name, (_value, _look, _ruleset, _under) in rule_values.ROWS.items():
    READ[_name] = Row(_value, _look, _ruleset, _under)


@pytest.mark.parametrize("name", READ)
def test_changing_the_value_changes_a_result(name: str) -> None:
    row = READ[name]
    along = rule_values.ALONG.get(name, {})
    before = load(row.ruleset, row.under)
    after = load(row.ruleset, {**row.under, **along, name: row.value})
    assert getattr(before, name) != getattr(after, name)
    assert row.look(before) != row.look(after)


def test_every_value_is_read() -> None:
    """The infractions are 50 values of one kind: `tests/game/test_referee.py` acts each of them out."""
    assert sorted([*READ, "infractions"]) == sorted(value_names())
