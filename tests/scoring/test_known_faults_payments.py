"""Faults the field has known: riichi, kan and chankan in scoring (F.2), payments (F.3); one test a row."""

from __future__ import annotations

from typing import Any

import pytest

from tablectl.engine.errors import EngineError
from tablectl.engine.rules import ids, load
from tablectl.engine.scoring import (
    Win,
    fixed_by_call,
    is_tenpai,
    key_of,
    meld,
    settle_ron,
    wait_kinds,
)
from tablectl.engine.scoring.kuikae import forbidden_discards, leaves_a_discard
from tablectl.engine.scoring.riichi_ankan import riichi_ankan_allowed
from tablectl.engine.tiles import NAMES, parse, parse_one
from tests.scoring.shorthand import names, scored, value

# --- riichi, ippatsu, kan, chankan --------------------------------------------------------------------


def test_row_28_riichi_ippatsu_and_chankan_go_together() -> None:
    hand = ("tenhou", "234m345p67s99s345m", "8s")
    win = scored(*hand, ron="E", riichi=1, flags=["ippatsu", "chankan"])
    assert names(win) == {"riichi", "ippatsu", "chankan", "pinfu"}
    assert value(win) == (4, 30, (7700,))


@pytest.mark.parametrize(("ron", "last"), [(None, "haitei"), ("E", "houtei")])
def test_row_31_the_last_tile_may_be_won_with_ippatsu(ron: str | None, last: str) -> None:
    win = scored("tenhou", "234m345p67s99s345m", "8s", ron=ron, riichi=1, flags=["ippatsu", last])
    assert {"riichi", "ippatsu", last} <= names(win)


@pytest.mark.parametrize("rule", ["waits", "strict"])
def test_row_32_an_ankan_may_not_change_the_waits_of_a_riichi(rule: Any) -> None:
    """333566 with a 6 drawn is the classic: it looks like a triplet and holds the wait."""
    key = key_of(parse("333566m123p789s44z"))
    assert not riichi_ankan_allowed(key, parse_one("6m"), rule)
    four_five = key_of(parse("34555m678p234s99s"))
    assert not riichi_ankan_allowed(four_five, parse_one("5m"), rule)
    assert riichi_ankan_allowed(key_of(parse("555z234m567p99s67s")), parse_one("5z"), rule)


@pytest.mark.parametrize("name", ids())
def test_row_33_a_kan_that_only_changes_the_reading_is_allowed_by_rule(name: str) -> None:
    rule = load(name).riichi_ankan
    key = key_of(parse("111222333m45p99s"))
    assert riichi_ankan_allowed(key, parse_one("1m"), rule) is (rule == "waits")


@pytest.mark.parametrize("name", ids())
def test_row_34_a_riichi_player_may_kan_the_drawn_tile_only(name: str) -> None:
    rule = load(name).riichi_ankan
    key = key_of(parse("444m555z567p77s56s"))
    assert not riichi_ankan_allowed(key, parse_one("4m"), rule, kan=parse_one("5z"))
    assert not riichi_ankan_allowed(key, parse_one("1p"), rule)
    assert riichi_ankan_allowed(key, parse_one("4m"), rule, kan=parse_one("4m")) is (rule != "none")


def test_row_33b_a_kan_that_loses_chuuren_is_refused_by_the_strict_rule() -> None:
    """J-n68: chuuren has no kan; the yaku would change although waits and triplet stay."""
    key = key_of(parse("1112345678999m"))
    assert not riichi_ankan_allowed(key, parse_one("9m"), "strict")


def test_row_41_kokushi_on_a_concealed_kan_scores_as_chankan_where_it_may_win() -> None:
    win = scored("ema-2016", "9m19p19s11234567z", "1m", ron="E", flags=["chankan"])
    assert names(win) == {"kokushi"}
    assert load("ema-2016").kokushi_robs_ankan
    assert not load("tenhou").kokushi_robs_ankan


def test_row_45_neither_five_may_be_thrown_after_a_call_of_one() -> None:
    for called in ("5m", "0m"):
        found = forbidden_discards(parse_one(called), parse("34m"), "set")
        assert sorted(NAMES[kind] for kind in found) == ["2m", "5m"]
    assert not leaves_a_discard(parse("3450m"), parse_one("5m"), parse("34m"), "set")


def test_row_46_a_call_that_leaves_no_discard_is_no_call() -> None:
    assert not leaves_a_discard(parse("3425m"), parse_one("5m"), parse("34m"), "set")
    assert leaves_a_discard(parse("3425m"), parse_one("5m"), parse("34m"), "same_tile")
    assert leaves_a_discard(parse("3425m"), parse_one("5m"), parse("34m"), "allowed")
    assert leaves_a_discard(parse("3426m"), parse_one("5m"), parse("34m"), "set")


@pytest.mark.parametrize("name", ids())
def test_row_47_waits_that_lie_in_the_own_hand_are_tenpai_by_rule(name: str) -> None:
    rule = load(name).tenpai_exhausted_rule
    in_hand = key_of(parse("3333m"))
    melds = [meld("chi", "123p"), meld("chi", "456s"), meld("pon", "777z")]
    assert wait_kinds(in_hand) == (2,)
    assert is_tenpai(in_hand, melds, rule) is (rule == "shape")
    in_kan = key_of(parse("35m99p"))
    melds = [meld("ankan", "4444m"), meld("pon", "111z"), meld("chi", "678s")]
    assert is_tenpai(in_kan, melds, rule) is (rule != "own_all")


# --- payments -----------------------------------------------------------------------------------------

DAISANGEN = ("234m1z", "1z", "pon:555z", "pon:666z", "pon:777z")


@pytest.mark.parametrize("name", [name for name in ids() if "daisangen" in load(name).pao])
def test_row_48_honba_of_a_pao_ron_by_rule(name: str) -> None:
    """Tenhou: the liable player (T24); JPML, WRC, EMA: the discarder (J-VI.1)."""
    rules = load(name)
    win = scored(name, *DAISANGEN, ron="N", honba=2, pao={"daisangen": "W"})
    honba = 600 if rules.honba_counted else 0
    west = -16000 - (honba if rules.pao_honba_ron == "liable" else 0)
    north = -16000 - (honba if rules.pao_honba_ron == "discarder" else 0)
    assert win.deltas == (0, 32000 + honba, west, north)
    assert (rules.pao_honba_ron == "liable") is (name == "tenhou")


def test_row_49_liability_stays_when_the_pon_becomes_a_kan() -> None:
    rules = load("tenhou")
    pons = [meld("pon", "555z"), meld("pon", "666z"), meld("pon", "777z")]
    assert fixed_by_call(pons, rules) == "daisangen"
    # The kakan itself is nobody's gift, and takes nothing back.
    assert fixed_by_call([*pons[:2], meld("kakan", "7777z")], rules) is None
    win = scored("tenhou", *DAISANGEN[:4], "kakan:7777z", pao={"daisangen": "W"})
    assert win.deltas == (0, 32000, -32000, 0)


@pytest.mark.parametrize(
    ("name", "ron", "deltas"),
    [
        ("tenhou", None, (0, 64000, -64000, 0)),
        ("tenhou", "N", (0, 64000, -32000, -32000)),
        ("m-league", None, (-16000, 64000, -40000, -8000)),
        ("m-league", "N", (0, 64000, -16000, -48000)),
        ("wrc-2025", "N", (0, 64000, -16000, -48000)),
        ("mu", "N", (0, 32000, -16000, -16000)),
    ],
)
def test_row_50_pao_with_composite_yakuman_by_rule(
    name: str, ron: str | None, deltas: tuple[int, ...]
) -> None:
    hand = ("2223z", "3z", "pon:555z", "pon:666z", "pon:777z")
    win = scored(name, *hand, ron=ron, pao={"daisangen": "W"})
    assert win.deltas == deltas


def test_row_51_pao_ron_is_half_and_half_tsumo_all_his() -> None:
    assert scored("tenhou", *DAISANGEN, ron="N", pao={"daisangen": "W"}).deltas == (
        0, 32000, -16000, -16000,
    )  # fmt: skip
    assert scored("tenhou", *DAISANGEN, ron="W", pao={"daisangen": "W"}).deltas == (
        0, 32000, -32000, 0,
    )  # fmt: skip
    tsumo = scored("tenhou", *DAISANGEN, honba=1, deposits=2, pao={"daisangen": "W"})
    assert tsumo.deltas == (0, 34300, -32300, 0)
    shared = {"options": {"pao_honba_tsumo": "shared"}, "pao": {"daisangen": "W"}}
    assert scored("tenhou", *DAISANGEN, honba=1, **shared).deltas == (-100, 32300, -32100, -100)


def winners(name: str, *seats: str, honba: int = 1, deposits: int = 2) -> list[Win]:
    """Pinfu ron of several players on East's 8s: 1000 each."""
    more: dict[str, Any] = {"ron": "E", "honba": honba, "deposits": deposits}
    return [scored(name, "234m345p67s99s345m", "8s", seat=seat, **more) for seat in seats]


@pytest.mark.parametrize("name", ids())
def test_row_52_honba_and_deposits_of_several_ron_go_where_the_rule_says(name: str) -> None:
    rules = load(name)
    found = settle_ron(winners(name, "N", "W"), rules)
    honba = 300 if rules.honba_counted else 0
    assert found.wins[0].situation.seat_wind == 2, "West is nearest to East's discard"
    if rules.multi_ron == "head_bump":
        assert found.each == ((-1000 - honba, 0, 3000 + honba, 0),)
    elif rules.multi_ron_honba == "each":
        assert found.each[1] == (-1000 - honba, 0, 0, 1000 + honba)
    else:
        assert found.each == ((-1300, 0, 3300, 0), (-1000, 0, 0, 1000))
    assert sum(found.deltas) == 2000


@pytest.mark.parametrize("name", ids())
def test_row_53_every_winner_of_a_double_ron_has_his_own_settlement(name: str) -> None:
    """Statistics need each win for itself; together they are what the seats see."""
    rules = load(name)
    found = settle_ron(winners(name, "S", "N"), rules)
    assert len(found.each) == len(found.wins) == (1 if rules.multi_ron == "head_bump" else 2)
    assert found.deltas == tuple(map(sum, zip(*found.each, strict=True)))


def test_row_54_four_players_pay_three_hundred_a_counter() -> None:
    """The 200 of three-player games belong to a game that is refused, not scored."""
    plain, counted = (scored("tenhou", "234567m345p67s99s", "8s", honba=n) for n in (0, 3))
    assert [b - a for a, b in zip(plain.deltas, counted.deltas, strict=True)] == [
        -300,
        900,
        -300,
        -300,
    ]
    with pytest.raises(EngineError) as caught:
        scored("tenhou", "234567m345p67s99s", "8s", players=3)
    assert caught.value.code == "unknown_field"


def test_row_57_points_are_the_total_without_honba() -> None:
    win = scored("tenhou", "234567m345p67s99s", "8s", honba=4, deposits=3)
    assert win.points == 400 + 400 + 700
    assert win.payments == (400, 700)
    assert win.deltas[1] == win.points + 4 * 300 + 3000


def test_row_58_the_dealers_tsumo_takes_a_hundred_more_from_each() -> None:
    win = scored("tenhou", "234567m345p67s99s", "8s", seat="E", honba=2)
    assert win.deltas == (2700, -900, -900, -900)


@pytest.mark.parametrize("name", ids())
def test_row_59_three_ron_under_head_bump_pay_the_nearest_alone(name: str) -> None:
    rules = load(name)
    found = settle_ron(winners(name, "W", "N", "S", deposits=1), rules)
    assert [win.situation.seat_wind for win in found.wins] == (
        [1] if rules.multi_ron == "head_bump" else [1, 2, 3]
    )
    assert sum(found.deltas) == 1000
    assert found.deltas[1] == 2000 + (300 if rules.honba_counted else 0)


def test_several_ron_must_be_on_one_discard() -> None:
    one, other = winners("tenhou", "S", "W")
    tsumo = scored("tenhou", "234m345p67s99s345m", "8s")
    elsewhere = scored("tenhou", "234m345p67s99s345m", "8s", ron="N", seat="W")
    for wins in ([], [tsumo], [one, elsewhere], [one, one]):
        with pytest.raises(EngineError) as caught:
            settle_ron(wins, load("tenhou"))
        assert caught.value.code == "not_one_tile"
    assert len(settle_ron([other, one], load("tenhou")).wins) == 2


@pytest.mark.parametrize(
    ("melds", "live", "name", "expected"),
    [
        (["ankan:1111m", "kakan:2222m", "daiminkan:3333m", "daiminkan:4444m"], True, "jpml-a", "suukantsu"),
        (["ankan:1111m", "kakan:2222m", "daiminkan:3333m", "daiminkan:4444m"], False, "jpml-a", None),
        (["ankan:1111m", "kakan:2222m", "daiminkan:3333m", "daiminkan:4444m"], True, "tenhou", None),
        (["daiminkan:1111m", "kakan:2222m", "daiminkan:3333m", "ankan:4444m"], True, "jpml-a", None),
        (["ankan:5555z", "pon:666z", "daiminkan:7777z"], True, "tenhou", "daisangen"),
        (["pon:555z", "pon:666z", "ankan:7777z"], True, "tenhou", None),
        (["pon:111z", "pon:222z", "pon:333z", "pon:444z"], True, "mu", "daisuushii"),
        (["pon:111z", "pon:222z", "pon:333z", "chi:123m"], True, "mu", None),
        (["pon:555z", "pon:666z", "pon:777z"], True, "saikouisen", None),
    ],
)  # fmt: skip
def test_the_call_that_fixes_the_yakuman(
    melds: list[str], live: bool, name: str, expected: str | None
) -> None:
    called = [meld(*one.split(":")) for one in melds]
    assert fixed_by_call(called, load(name), live_tile=live) == expected
