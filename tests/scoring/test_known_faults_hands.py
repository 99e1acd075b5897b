"""Faults the field has known: fu and yaku (rows 1-27 of the study) and the fixed vectors; one test a row."""

from __future__ import annotations

from typing import Any

import pytest

from tablectl.engine.errors import EngineError
from tablectl.engine.rules import ids, load
from tablectl.engine.scoring import NoWin, accepted, key_of, score, shanten
from tablectl.engine.scoring.cases import read_case
from tablectl.engine.scoring.explain import fu_steps, raw_fu
from tablectl.engine.scoring.reading import reading_of
from tablectl.engine.tiles import parse
from tests.scoring.random_wins import random_wins
from tests.scoring.shorthand import names, result_of, scored, value


def groups(*args: Any, **more: Any) -> set[tuple[str, int]]:
    """(form, fu) of the sets in the reading."""
    reading = reading_of(scored(*args, **more))
    assert reading is not None
    return {(group.form, group.fu) for group in reading.groups}


def test_row_01_a_concealed_triplet_of_terminals_is_eight_fu() -> None:
    win = scored("tenhou", "234m1112356777s", "4s")
    assert value(win) == (1, 30, (300, 500))
    assert ("anko", 8) in groups("tenhou", "234m1112356777s", "4s")


def test_row_02_the_reading_with_the_better_wait_counts() -> None:
    win = scored("tenhou", "1234444m555p", "1m", "chi:123m", ron="W", flags=["houtei"])
    assert win.fu == 30


@pytest.mark.parametrize(
    ("tile", "before_another", "another"),
    [
        ("1m", "1111234567899m", "9m"),
        ("5m", "1112345567899m", "9m"),
        ("9m", "1123456789999m", "1m"),
    ],
)
def test_row_03_the_nine_sided_wait_of_chuuren_is_known_on_every_tile(
    tile: str, before_another: str, another: str
) -> None:
    assert names(scored("tenhou", "1112345678999m", tile, ron="W")) == {"chuuren"}
    house: dict[str, Any] = {"options": {"double_yakuman": ["junsei_chuuren"]}, "ron": "W"}
    assert scored("tenhou", "1112345678999m", tile, **house).points == 64000
    # The same fourteen tiles, won on another one.
    assert scored("tenhou", before_another, another, **house).points == 32000


def test_row_04_any_number_of_dora_is_one_counted_yakuman() -> None:
    kans = ("ankan:2222m", "ankan:8888m", "ankan:5550p")
    win = scored("tenhou", "67s99s", "8s", *kans, ron="E", riichi=1,
                 dora="1m1m1m1m7m", ura="7m7m7m4p4p")  # fmt: skip
    assert names(win) == {"riichi", "sankantsu", "sanankou"}
    assert (win.han, win.dora, win.ura_dora, win.red_dora) == (46, 20, 20, 1)
    assert (win.limit, win.yakuman_count, win.points) == ("kazoe_yakuman", 0, 32000)


def test_row_05_a_wait_for_a_fifth_tile_is_not_tenpai() -> None:
    assert shanten(key_of(parse("123456789m1111z"))) == 1
    assert accepted(key_of(parse("123456789m1111z"))).shanten == 1


def test_row_06_kokushi_has_no_fu() -> None:
    win = scored("tenhou", "19m19p19s1234567z", "1m", ron="E")
    assert (win.fu, win.han, win.points) == (None, None, 32000)
    assert fu_steps(win) == []


def test_row_07_dora_alone_win_nothing() -> None:
    result = result_of("tenhou", "567m345p67s88s", "5s", "chi:123m", ron="W", dora="4s7s")
    assert isinstance(result, NoWin)
    assert result.reason == "no_yaku"


def test_row_08_four_of_a_kind_in_hand_are_no_kan() -> None:
    win = scored("tenhou", "1111m23m456p789s5z", "5z", riichi=1)
    assert {form for form, _ in groups("tenhou", "1111m23m456p789s5z", "5z", riichi=1)} == {
        "anko",
        "run",
    }
    assert "sankantsu" not in names(win)
    assert raw_fu(win) == 20 + 8 + 2 + 2 + 2


def test_row_09_kokushi_and_seven_pairs_do_not_count_with_melds() -> None:
    """Ten concealed tiles: one meld lies open."""
    assert shanten(key_of(parse("19m19p19s1234z"))) == 6
    assert shanten(key_of(parse("1133m5577p99s"))) > 1


def test_row_10_pinfu_tsumo_is_twenty_fu() -> None:
    """With 8s. On 7s, as the report has it, the wait is a kanchan and there is no pinfu (A49.1.4)."""
    assert value(scored("tenhou", "234m55p34567s678p", "8s")) == (3, 20, (700, 1300))
    assert value(scored("tenhou", "234m55p34568s678p", "7s")) == (2, 30, (500, 1000))


def test_row_11_triplet_fu_go_by_terminals_and_honours_not_by_yakuhai() -> None:
    """North is no yakuhai for South in the East round, and eight fu all the same."""
    assert ("anko", 8) in groups("tenhou", "444z345m67p33s678s", "8p", riichi=1, ron="W")
    assert ("minko", 4) in groups("tenhou", "345m67p33s678s", "8p", "pon:444z", flags=["haitei"])


@pytest.mark.parametrize("name", ids())
def test_row_12_a_pair_of_the_double_wind_is_two_or_four_by_rule(name: str) -> None:
    win = scored(name, "999m456p345s67s11z", "8s", ron="W", seat="E", riichi=1)
    four = name in ("tenhou", "jpml-a-2022")
    assert raw_fu(win) == 20 + 10 + 8 + (4 if four else 2)
    assert win.fu == (50 if four else 40)


@pytest.mark.parametrize("name", ["tenhou", "saikouisen"])
def test_row_13_the_kanchan_reading_lifts_the_fu(name: str) -> None:
    win = scored(name, "223344m67s11222z", "8s", seat="E")
    assert value(win) == (2, 40, (1300,))


def test_row_14_a_triplet_of_the_double_wind_is_two_han() -> None:
    win = scored("saikouisen", "234m67p99s", "8p", "pon:111z", "chi:678s", seat="E", ron="W")
    assert win.yaku == (("seat_wind", 1), ("round_wind", 1))
    single = scored(
        "saikouisen", "234m67p99s", "8p", "pon:111z", "chi:678s", seat="E", ron="W",
        options={"double_wind_han": 1},
    )  # fmt: skip
    assert single.han == 1


@pytest.mark.parametrize(
    ("pair", "pinfu"), [("1z", False), ("2z", False), ("5z", False), ("3z", True), ("4z", True)]
)
def test_row_15_pinfu_takes_a_guest_wind_but_no_value_pair(pair: str, pinfu: bool) -> None:
    win = scored("tenhou", f"234m567m345p67s{pair[0] * 2}z", "8s")
    assert ("pinfu" in names(win)) is pinfu


def test_row_16_suuankou_only_by_tsumo_or_on_the_pair() -> None:
    shanpon = "111m444p777s22z55z"
    assert names(scored("tenhou", shanpon, "5z")) == {"suuankou"}
    assert "suuankou" not in names(scored("tenhou", shanpon, "5z", ron="W"))
    assert names(scored("tenhou", "111m444p777s222z5z", "5z", ron="W")) == {"suuankou"}
    assert names(scored("tenhou", shanpon, "5z", flags=["first_turn"], seat="E")) == {
        "tenhou",
        "suuankou",
    }


def test_row_17_a_shanpon_completed_by_ron_is_an_open_triplet() -> None:
    win = scored("tenhou", "111m222p333s44p55z", "4p", ron="E", riichi=1)
    assert {"sanankou", "toitoi", "riichi"} == names(win)
    assert value(win) == (5, 50, (8000,))


def test_row_18_menzen_tsumo_and_rinshan_after_a_concealed_kan() -> None:
    win = scored("tenhou", "234m345p99s67s", "8s", "ankan:2222p", riichi=1, flags=["rinshan"])
    assert names(win) == {"riichi", "menzen_tsumo", "rinshan"}
    with pytest.raises(EngineError) as caught:
        scored("tenhou", "234m345p99s67s", "8s", "ankan:2222p", riichi=1,
               flags=["rinshan", "ippatsu"])  # fmt: skip
    assert caught.value.code == "ippatsu_with_rinshan"


def test_row_19_a_kan_of_haku_holds_no_red_five() -> None:
    assert scored("tenhou", "234m345p55s67s", "8s", "ankan:5555z").red_dora == 0


def test_row_20_a_red_five_in_a_kan_counts_once() -> None:
    assert scored("tenhou", "234m345s55s67s", "8s", "ankan:0555p", riichi=1).red_dora == 1


def test_row_21_a_robbed_red_five_is_red() -> None:
    win = scored("tenhou", "46m234p678p234s55z", "0m", ron="W", flags=["chankan"])
    assert win.red_dora == 1
    assert names(win) == {"chankan"}


@pytest.mark.parametrize(
    ("concealed", "win_tile", "melds", "more", "expected"),
    [
        ("223344m556677p8s", "8s", [], {"ron": "W", "riichi": 1}, (5, 40, (8000,))),
        ("234m345p67s55s", "8s", ["ankan:4444z"], {"ron": "W", "riichi": 1}, (1, 70, (2300,))),
        ("1122233344s222z", "1s", [], {"ron": "W", "riichi": 1}, (9, 50, (16000,))),
        ("66777889s88m444z", "8s", [], {}, (2, 40, (700, 1300))),
    ],
)
def test_row_22_hands_that_calculators_got_wrong(
    concealed: str, win_tile: str, melds: list[str], more: dict[str, Any], expected: tuple[Any, ...]
) -> None:
    """Ryanpeikou beside seven pairs, seventy fu, the dearer reading, iipeikou with triplets."""
    assert value(scored("tenhou", concealed, win_tile, *melds, **more)) == expected


def test_row_23_the_lines_of_the_breakdown_add_up() -> None:
    """Over random wins of all rulesets: the lines come to the raw fu, the raw fu round to what is paid."""
    seen = 0
    for name in ids():
        for case in random_wins(5, 60, name, reds=load(name).aka):
            result = score(*read_case(case))
            if isinstance(result, NoWin) or not fu_steps(result):
                continue
            seen += 1
            raw = raw_fu(result)
            assert raw is not None
            if raw == 25:
                assert result.fu == 25
            elif raw == 20 and result.situation.is_open:
                assert result.fu == result.ruleset.open_pinfu_fu
            else:
                assert result.fu == -(-raw // 10) * 10, (case, fu_steps(result))
    assert seen > 300


def test_row_24_yakuman_stand_alone_and_add_up() -> None:
    win = scored("tenhou", "19m19p19s1234567z", "1m", seat="E", flags=["first_turn"])
    assert win.yaku == (("tenhou", 13), ("kokushi", 13))
    assert (win.yakuman_count, win.points, win.payments) == (2, 96000, (32000,))
    pairs = scored("tenhou", "1122334455667z", "7z", ron="W", riichi=1)
    assert names(pairs) == {"tsuuiisou"}
    assert (pairs.dora, pairs.points) == (0, 32000)


@pytest.mark.parametrize(
    ("yakuman", "concealed", "win_tile", "melds", "single"),
    [
        ("suuankou_tanki", "111m444p777s222z5z", "5z", [], ("111m444p777s22z55z", "5z")),
        ("junsei_chuuren", "1112345678999m", "5m", [], ("1112345567899m", "9m")),
        ("kokushi_13", "19m19p19s1234567z", "1m", [], ("9m19p19s11234567z", "1m")),
        ("daisuushii", "5m", "5m", ["pon:111z", "pon:222z", "pon:333z", "pon:444z"], None),
    ],
)
@pytest.mark.parametrize("ron", [None, "W"])
def test_rarer_waits_count_twice_in_a_house_that_wants_it(
    yakuman: str,
    concealed: str,
    win_tile: str,
    melds: list[str],
    single: tuple[str, str] | None,
    ron: str | None,
) -> None:
    """Single everywhere (Y8, X9); `double_yakuman` is for house rules."""
    house: dict[str, Any] = {"options": {"double_yakuman": [yakuman]}, "ron": ron}
    win = scored("tenhou", concealed, win_tile, *melds, **house)
    assert (win.yaku, win.yakuman_count, win.points) == (((yakuman, 26),), 2, 64000)
    assert scored("tenhou", concealed, win_tile, *melds, ron=ron).yakuman_count == 1
    if single is not None and not (ron and yakuman == "suuankou_tanki"):
        assert scored("tenhou", *single, **house).yakuman_count == 1


@pytest.mark.parametrize("name", ids())
def test_row_25_thirteen_han_are_a_counted_yakuman_or_not_by_rule(name: str) -> None:
    win = scored(name, "2233445566778p", "8p", riichi=1)
    assert win.han == 13
    counted = name in ("tenhou", "wrc-2025")
    assert win.limit == ("kazoe_yakuman" if counted else "sanbaiman")
    assert win.payments == ((8000, 16000) if counted else (6000, 12000))


def test_row_26_wrc_renhou_is_a_mangan_yakuman_stack_and_the_double_wind_is_two_fu() -> None:
    renhou = scored("wrc-2025", "234567m345p67s88s", "5s", ron="E", flags=["first_turn"])
    assert (renhou.yaku, renhou.fu, renhou.limit) == ((("renhou", 5),), None, "mangan")
    better = scored("wrc-2025", "2233445566778p", "8p", ron="E", flags=["first_turn"])
    assert "renhou" not in names(better)
    assert better.points == 24000
    stacked = scored("wrc-2025", "1112224446677z", "7z")
    assert stacked.yakuman_count == 2
    assert load("wrc-2025").double_wind_pair_fu == 2


@pytest.mark.parametrize(
    ("seat", "ron", "expected"),
    [("E", None, "tenhou"), ("S", None, "chiihou"), ("S", "E", "pinfu"), ("E", "S", "pinfu")],
)
def test_row_27_the_seat_decides_between_tenhou_and_chiihou(
    seat: str, ron: str | None, expected: str
) -> None:
    win = scored("tenhou", "234567m345p67s99s", "5s", seat=seat, ron=ron, flags=["first_turn"])
    assert expected in names(win)
    assert len(win.yaku) == 1


# --- fixed vectors (F.5) ------------------------------------------------------------------------------

VECTORS: list[tuple[str, str, list[str], dict[str, Any], tuple[Any, ...]]] = [
    ("1133m5577p99s114z", "4z", [], {"ron": "W"}, (2, 25, (1600,))),
    ("1133m5577p99s114z", "4z", [], {}, (3, 25, (800, 1600))),
    ("234m55p345s67s", "8s", ["chi:678p"], {"ron": "W"}, (1, 30, (1000,))),
    ("234m55p345s67s", "8s", ["chi:678p"], {}, (1, 30, (300, 500))),
    ("123m456p789s46s11z", "5s", [], {"ron": "W", "seat": "E", "riichi": 1}, (1, 40, (2000,))),
    ("222m333p444s55z77z", "7z", [], {"ron": "W", "riichi": 1}, (6, 50, (12000,))),
    ("222333m444p55s67s", "8s", [], {"ron": "W", "riichi": 1}, (4, 50, (8000,))),
    ("111m222p333s444z5z", "5z", [], {"ron": "W"}, (None, None, (32000,))),
    ("1122334455667z", "7z", [], {"ron": "W"}, (None, None, (32000,))),
    # Won on 9s: on any other tile three concealed triplets are worth more (6400).
    ("78978978s123m44m", "9s", [], {"ron": "W", "riichi": 1}, (3, 30, (3900,))),
    ("46s234m678m33p", "5s", ["daiminkan:2222p"], {"flags": ["rinshan"]}, (2, 40, (700, 1300))),
    ("46s234m678m55z", "5s", ["ankan:2222p"], {"flags": ["rinshan"]}, (2, 50, (800, 1600))),
    ("234m345p67s55s", "8s", ["ankan:2222p"], {"flags": ["rinshan"]}, (3, 40, (1300, 2600))),
]


@pytest.mark.parametrize(("concealed", "win_tile", "melds", "more", "expected"), VECTORS)
def test_fixed_vectors(
    concealed: str, win_tile: str, melds: list[str], more: dict[str, Any], expected: tuple[Any, ...]
) -> None:
    assert value(scored("tenhou", concealed, win_tile, *melds, **more)) == expected


@pytest.mark.parametrize(("name", "raw"), [("tenhou", 36), ("saikouisen", 34)])
def test_fixed_vector_of_the_double_wind_pair(name: str, raw: int) -> None:
    win = scored(name, "123m456p789s46s11z", "5s", ron="W", seat="E", riichi=1)
    assert raw_fu(win) == raw
    assert value(win) == (1, 40, (2000,))


@pytest.mark.parametrize(
    ("concealed", "melds", "raw", "expected"),
    [
        ("46s234m678m33p", ["daiminkan:2222p"], 30, (2, 30, (500, 1000))),
        ("46s234m678m55z", ["ankan:2222p"], 40, (2, 40, (700, 1300))),
    ],
)
def test_fixed_vectors_without_tsumo_fu_on_a_replacement_tile(
    concealed: str, melds: list[str], raw: int, expected: tuple[Any, ...]
) -> None:
    win = scored("jpml-a", concealed, "5s", *melds, flags=["rinshan"])
    assert raw_fu(win) == raw
    assert value(win) == expected


@pytest.mark.parametrize("kiriage", [False, True])
@pytest.mark.parametrize("seat", ["S", "E"])
def test_fixed_vectors_of_kiriage_mangan(seat: str, kiriage: bool) -> None:
    """Four han thirty fu and three han sixty fu are 7700 (11600), or mangan by rule."""
    points = {("S", False): 7700, ("E", False): 11600, ("S", True): 8000, ("E", True): 12000}
    more: dict[str, Any] = {"ron": "N", "seat": seat, "options": {"kiriage": kiriage}}
    thirty = scored("tenhou", "234567m345p67s88s", "5s", riichi=1, dora="3p", **more)
    sixty = scored("tenhou", "77p22333s", "7p", "daiminkan:5555z", "daiminkan:1111m", **more)
    assert (thirty.han, thirty.fu, thirty.points) == (4, 30, points[seat, kiriage])
    assert (sixty.han, sixty.fu, sixty.points) == (3, 60, points[seat, kiriage])


@pytest.mark.parametrize("more", [{"flags": ["first_turn"]}, {"ron": "E"}, {"riichi": 1}])
def test_a_pair_in_each_suit_is_no_winning_shape(more: dict[str, Any]) -> None:
    """Every suit for itself is sets and a pair; together they are two sets and four pairs."""
    result = result_of("tenhou", "11345m2245p33s44z", "6p", **more)
    assert isinstance(result, NoWin)
    assert result.reason == "not_complete"
    assert names(scored("tenhou", "11223344m55p66s7z", "7z", ron="E")) == {"chiitoitsu"}
