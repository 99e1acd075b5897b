"""Worked cases of the rules study, each through the engine: scoring, tenpai, pao, kuikae, ankan after riichi …"""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import pytest

from tablectl.engine.rules import Ruleset, load
from tablectl.engine.scoring import (
    NoWin,
    Win,
    WinSituation,
    fixed_by_call,
    is_tenpai,
    key_of,
    meld,
    noten_payments,
    score,
    wait_kinds,
)
from tablectl.engine.scoring.declaration import announce, draw_declaration
from tablectl.engine.scoring.explain import fu_steps, raw_fu
from tablectl.engine.scoring.kuikae import forbidden_discards
from tablectl.engine.scoring.reading import Reading, reading_of
from tablectl.engine.scoring.riichi_ankan import riichi_ankan_allowed
from tablectl.engine.tiles import NAMES, WINDS, parse, parse_one, wind_of
from tests.conftest import SHARED, shared_path
from tests.scoring.shorthand import scored, value

Case = dict[str, Any]
COUNTS = {
    "scoring": 254, "tenpai": 19, "pao": 17, "noten_payment": 18, "riichi_ankan": 43,
    "kuikae": 22, "declaration": 3, "unclear_tsumo": 1,
}  # fmt: skip


@cache
def _all() -> list[Case]:
    path = SHARED / "rule-examples.json"
    return json.loads(path.read_text(encoding="utf-8"))["cases"] if path.exists() else []


def cases(category: str) -> Any:
    """One test a case; a single loud skip where ../shared is not there."""
    found = [case for case in _all() if case["category"] == category]
    marks = [pytest.param(case, id=case["id"]) for case in found]
    return pytest.mark.parametrize("case", marks or [pytest.param(None, id="shared-absent")])


@pytest.fixture(autouse=True)
def _needs_shared() -> None:
    shared_path("rule-examples.json")


def rules_of(case: Case) -> Ruleset:
    name = case["ruleset"]
    if name == "tenhou (kuitan off, aka off)":
        return load("tenhou", {"kuitan": False, "aka": False})
    return load("tenhou" if name == "all" else name)


def test_no_case_is_left_out() -> None:
    found = {name: sum(case["category"] == name for case in _all()) for name in COUNTS}
    assert found == COUNTS


# --- scoring ------------------------------------------------------------------------------------------

_NAMES = {
    "menzen tsumo": "menzen_tsumo", "yakuhai haku": "haku", "yakuhai hatsu": "hatsu", "yakuhai chun": "chun",
    "yakuhai seat wind": "seat_wind", "yakuhai round wind": "round_wind", "double riichi": "double_riichi",
    "rinshan kaihou": "rinshan", "haitei raoyue": "haitei", "houtei raoyui": "houtei", "ittsuu": "ittsu",
    "sanshoku doujun": "sanshoku_doujun", "shousangen (incl. 2 dragons)": "shousangen",
    "kokushi musou": "kokushi", "chuuren poutou": "chuuren", "daisuushi": "daisuushii",
}  # fmt: skip


def situation_of(case: Case) -> WinSituation:
    facts = case["situation"]
    flags = [
        name for name in ("ippatsu", "rinshan", "chankan", "haitei", "houtei") if facts.get(name)
    ]
    if facts.get("first"):
        flags.append("first_turn")
    kinds = {"minkan": "daiminkan"}
    return WinSituation(
        parse(facts["concealed"]),
        parse_one(facts["win"]),
        seat_wind=wind_of(facts["seat"]),
        round_wind=wind_of(facts["round"]),
        source=wind_of(facts["from"]) if facts["win_type"] == "ron" else None,
        melds=[meld(kinds.get(m["type"], m["type"]), m["tiles"]) for m in facts.get("melds", [])],
        riichi=facts.get("riichi", 0),
        flags=flags,
        dora_indicators=[parse_one(t) for t in (*facts.get("dora", []), *facts.get("kandora", []))],
        ura_indicators=[parse_one(t) for t in (*facts.get("ura", []), *facts.get("kanura", []))],
        honba=facts["honba"],
        deposits=facts["deposits"],
    )


@cases("scoring")
def test_scoring(case: Case) -> None:
    expected = case["expected"]
    result = score(situation_of(case), rules_of(case))
    if not expected["win_possible"]:
        assert isinstance(result, NoWin)
        assert result.reason == "no_yaku"
        return
    assert isinstance(result, Win)
    ids = {_NAMES.get(yaku["name"], yaku["name"]) for yaku in expected["yaku"]}
    assert {name for name, _ in result.yaku} == ids
    if not result.yakuman_count:
        for yaku in expected["yaku"]:
            assert (_NAMES.get(yaku["name"], yaku["name"]), yaku["han"]) in result.yaku
        dora = (result.dora, result.ura_dora, result.red_dora)
        assert dora == (expected["dora"], expected["ura_dora"], expected["red_dora"])
        assert result.han == expected["han"]
    assert result.fu == expected["fu"]
    assert dict(zip(WINDS, result.deltas, strict=True)) == expected["delta_by_seat"]
    assert _limit(result) == expected["limit"]
    said = announce(
        result.payments, case["situation"]["honba"], result.ruleset, tsumo=result.situation.is_tsumo
    )
    assert _declared(said.totals, tsumo=result.situation.is_tsumo) == str(expected["declared"])
    if "n_with_two_base_han" in expected and result.han is not None:
        assert expected["n_with_two_base_han"] == result.han + 2
    if not case["id"].startswith(_TWO_READINGS):
        _check_fu(result, expected)
    elif result.fu is not None:
        assert -(-(raw_fu(result) or 0) // 10) * 10 == result.fu


_TWO_READINGS = ("SC-23", "SC-24", "SC-X23-2-Er")
"""22334455667788p has two pairs to choose from, 5677889p a penchan beside the ryanmen: same price, the study
writes down the other."""


def _limit(win: Win) -> str | None:
    if win.yakuman_count > 1:
        return f"{win.yakuman_count}x yakuman"
    if win.limit == "mangan" and win.han is not None and win.fu is not None and win.han < 5:
        return "mangan (kiriage)" if win.fu << win.han + 2 < 2000 else "mangan"
    return win.limit.replace("_", " ") if win.limit else None


def _declared(totals: tuple[int, ...], *, tsumo: bool) -> str:
    text = "-".join(map(str, totals))
    return f"{text} all" if tsumo and len(totals) == 1 else text


def _check_fu(win: Win, expected: Case) -> None:
    """The breakdown, line by line, and the reading it belongs to."""
    detail = expected.get("fu_detail")
    if detail is None:
        return
    lines = [int(line.split()[-1]) for line in detail]
    if "fixed" in detail[-1]:
        lines = lines[:-1] or [lines[-1]]
    elif detail[0].startswith("pinfu"):
        lines = [20, 10] if lines == [30] else lines
    own = [step.amount for step in fu_steps(win)[:-1] if step.amount]
    assert sorted(own, key=int) == sorted(lines)
    assert raw_fu(win) == sum(lines)
    reading = reading_of(win)
    if expected["interpretation"] == "chiitoi":
        assert reading is None
    else:
        assert reading is not None
        written, wanted = _as_written(reading), expected["interpretation"]
        assert {**written, "sets": sorted(written["sets"])} == {
            **wanted,
            "sets": sorted(wanted["sets"]),
        }


def _as_written(reading: Reading) -> dict[str, Any]:
    words = {
        "run": "seq {}", "minko": "trip {} open", "anko": "trip {}", "minkan": "trip {} open kan",
        "ankan": "trip {} kan",
    }  # fmt: skip
    sets = []
    for group in reading.groups:
        text = words[group.form].format(NAMES[group.kind])
        sets.append(f"{text} open" if group.form == "run" and group.melded else text)
    return {"sets": sets, "pair": NAMES[reading.pair], "wait": reading.wait}


# --- tenpai, draws ------------------------------------------------------------------------------------


@cases("tenpai")
def test_tenpai(case: Case) -> None:
    facts, expected = case["situation"], case["expected"]
    key = key_of(parse(facts["concealed"]))
    melds = [meld(one["type"], one["tiles"]) for one in facts["melds"]]
    assert [NAMES[kind] for kind in wait_kinds(key)] == expected["shape_waits"]
    rule = rules_of(case).tenpai_exhausted_rule
    assert is_tenpai(key, melds, rule) is expected["tenpai"]


@cases("noten_payment")
def test_noten_payment(case: Case) -> None:
    rules = rules_of(case)
    if "(B)" in case["refs"][0]:
        # M71: the organiser chooses (A) 3000 or (B) nothing.
        rules = load("mu", {"noten_pool": 0})
    tenpai = {wind_of(wind) for wind in case["situation"]["tenpai"]}
    deltas = noten_payments(tenpai, rules.noten_pool)
    assert dict(zip(WINDS, deltas, strict=True)) == case["expected"]["delta"]


# --- pao ----------------------------------------------------------------------------------------------

_HANDS = {
    ("daisangen",): ("234m1z", "1z", ("pon:555z", "pon:666z", "pon:777z")),
    ("daisangen", "tsuuiisou"): ("2223z", "3z", ("pon:555z", "pon:666z", "pon:777z")),
    ("daisuushii",): ("5m", "5m", ("pon:111z", "pon:222z", "pon:333z", "pon:444z")),
    ("suukantsu",): ("5m", "5m", ("daiminkan:1111m", "kakan:2222p", "kakan:3333s", "daiminkan:4444s")),
}  # fmt: skip


@cases("pao")
def test_pao(case: Case) -> None:
    facts, rules = case["situation"], rules_of(case)
    yakuman = tuple({"daisuushi": "daisuushii"}.get(name, name) for name in facts["yakuman"])
    concealed, win_tile, melds = _HANDS[yakuman]
    liable = facts.get("responsible") or facts.get("fourth_kan_from") or facts["third_dragon_from"]
    win = scored(
        rules.id,
        concealed,
        win_tile,
        *melds,
        seat=facts["winner"],
        ron=facts.get("discarder"),
        honba=facts.get("honba", 0),
        pao={yakuman[0]: liable},
    )
    assert tuple(name for name, _ in win.yaku) == yakuman
    assert dict(zip(WINDS, win.deltas, strict=True)) == case["expected"]["delta"]
    # The call that brings it: the last of the melds, wherever the rules know liability for it.
    triggered = fixed_by_call([meld(*one.split(":")) for one in melds], rules)
    assert triggered == (yakuman[0] if yakuman[0] in rules.pao else None)


# --- ankan after riichi, kuikae -----------------------------------------------------------------------


@cases("riichi_ankan")
def test_riichi_ankan(case: Case) -> None:
    facts, rules = case["situation"], rules_of(case)
    if "hand_part" in facts:
        # RK-07: 345 + 555, draws a 2: the fives may not be used for a kan (okuri-kan).
        key = key_of(parse("34555m345p678p99s"))
        assert not riichi_ankan_allowed(key, parse_one("2m"), rules.riichi_ankan, parse_one("5m"))
        assert case["expected"]["ankan_allowed"] is False
        return
    key = key_of(parse(facts["hand_at_riichi"]))
    assert [NAMES[kind] for kind in wait_kinds(key)] == facts["waits"]
    allowed = riichi_ankan_allowed(key, parse_one(facts["drawn"]), rules.riichi_ankan)
    assert allowed is case["expected"]["ankan_allowed"]


@cases("kuikae")
def test_kuikae(case: Case) -> None:
    facts, rules = case["situation"], rules_of(case)
    found = forbidden_discards(parse_one(facts["called"]), parse(facts["exposed"]), rules.kuikae)
    assert [NAMES[kind] for kind in sorted(found)] == case["expected"]["forbidden_discards"]


# --- what is said -------------------------------------------------------------------------------------


@cases("declaration")
def test_declaration(case: Case) -> None:
    facts, expected, rules = case["situation"], case["expected"], rules_of(case)
    if "tenpai" in facts:
        said = draw_declaration(rules, facts["tenpai"])
        assert said.order is not None
        assert ",".join(WINDS[wind] for wind in said.order) == expected["order"]
        assert said.last_says_hai
        assert not draw_declaration(rules, 3).last_says_hai
        return
    base = tuple(int(part) for part in facts["base"].split("-"))
    announced = announce(base, facts["honba"], rules, tsumo=True)
    assert announced.base == base
    if "say" in expected:
        assert announced.text == expected["say"]
    else:
        assert "-".join(map(str, announced.totals)) == expected["totals"]
        assert announced.text == "1400, 2700"
        assert announced.totals[0] < announced.totals[1], "child amount first"


@cases("unclear_tsumo")
def test_unclear_tsumo_both_ways(case: Case) -> None:
    """UT-01 is a rule value; both readings of J-VIII.2 are tested, and the win that is none (A45.5)."""
    facts = case["situation"]
    for value_, option in (("no_wait", "option_A"), ("no_wait_no_tsumo_fu", "option_B")):
        win = scored(
            "jpml-a",
            facts["concealed"],
            facts["win"],
            riichi=1,
            flags=["unclear_tsumo"],
            options={"unclear_tsumo": value_},
        )
        assert _declared(win.payments, tsumo=True) == case["expected"][option]["declared"]
        assert win.han == 2
        assert "pinfu" not in dict(win.yaku)
    assert load("jpml-a").unclear_tsumo == "no_wait"
    clear = scored("jpml-a", facts["concealed"], facts["win"], riichi=1)
    assert value(clear) == (3, 20, (700, 1300))
