"""Part 2 of ../shared/known-faults.md, F.2–F.4: riichi and kans, payments, flow and end of a game."""

from __future__ import annotations

import json

import pytest

from tablectl.engine.game import commands as cmd
from tablectl.engine.game import events as ev
from tablectl.engine.game.commands import Refusal
from tablectl.engine.game.decide import decide
from tablectl.engine.game.draws import nagashi_seats
from tablectl.engine.game.ending import next_hand, standing
from tablectl.engine.game.hands import furiten
from tablectl.engine.game.legal import legal
from tablectl.engine.rules import Ruleset, ids, load
from tablectl.engine.tiles import KIND, NAMES, parse, parse_one
from tests.game.rule_values import four_kans, four_winds
from tests.game.scripted import SEATS, WIND, Table, rules_named
from tests.game.table import all_declare
from tests.game.test_examples_results import nagashi_table

TENPAI = "234m567p22z67s345s"
WITH_PENALTIES = [name for name in ids() if name != "tenhou"]


def names(won: ev.Won) -> dict[str, int]:
    return {one.name: one.han for one in won.yaku}


def typed(rules: str | Ruleset, **more: object) -> Table:
    table = Table(rules, knowledge="basic", **more)  # type: ignore[arg-type]
    for one in (cmd.PressStart(), cmd.WallsReady(), cmd.RollDice(2, 3), cmd.Deal()):
        table.do(one)
    return table


def kakan_table(ruleset: str, robber: str, tile: str = "8s", *, riichi: bool = False) -> Table:
    """South adds `tile` to its pon while West (`robber`) waits for it."""
    table = Table(ruleset).deal(
        dora="9m", S=f"{tile}{tile}34m678p99m1123z", W=robber, E=tile, keep=tile
    )
    table.avoid("5s8s")
    table.discards("E", tile)
    table.call("pon", "S", tile * 2)
    table.discard("S", "3z")
    if riichi:
        table.riichi("W")
    table.until("S")
    table.draw("S", tile)
    table.kakan("S", tile)
    return table


# ---- F.2 riichi, ippatsu, kan, chankan ------------------------------------------------------------------


def test_row_28_ippatsu_lives_until_the_kan_is_complete() -> None:
    table = kakan_table("tenhou", "234m345m345p99s67s", riichi=True)
    won = table.win("W", "S", ura="1z")
    assert {"riichi", "ippatsu", "chankan"} <= set(names(won))
    passed = kakan_table("tenhou", "234m345m345p99s67s", riichi=True)
    assert passed.state.seats[2].ippatsu
    passed.replacement("S")
    assert not passed.state.seats[2].ippatsu


def test_row_29_chankan_is_offered_on_an_added_kan() -> None:
    table = kakan_table("tenhou", "234m345m345p99s67s")
    assert table.may_ron("W")


@pytest.mark.parametrize("riichi", [False, True])
def test_row_30_a_declined_chankan_leaves_furiten(riichi: bool) -> None:
    table = kakan_table("tenhou", "234m345m345p99s67s", riichi=riichi)
    table.replacement("S")
    assert table.state.seats[2].missed == (2 if riichi else 1)
    assert furiten(table.state.seats[2])


@pytest.mark.parametrize("tsumo", [True, False])
def test_row_31_ippatsu_on_the_last_tile(tsumo: bool) -> None:
    table = Table("saikouisen").deal(dora="9m", S=TENPAI, N="345m345p678p3z3z67s", keep="8s")
    table.avoid("5s8s")
    wind = "N" if tsumo else "S"
    seat = SEATS[wind]
    while table.state.live > 5 or table.state.turn != seat or table.state.step != "draw":
        table.turn(WIND[table.state.turn])
    table.draw(wind)
    table.do(cmd.DeclareRiichi(seat))
    table.discard(wind)
    while table.state.live > 1 or table.state.step != "draw":
        table.turn(WIND[table.state.turn])
    last = WIND[table.state.turn]
    table.draw(last, "8s")
    if last == wind:
        won = table.win(wind, ura="1z")
        assert {"ippatsu", "haitei"} <= set(names(won)) or "haitei" in names(won)
    else:
        table.discard(last)
        won = table.win(wind, last, ura="1z")
        assert "houtei" in names(won)
    assert table.state.live == 0


def test_row_31_ippatsu_and_houtei_add_up() -> None:
    """Riichi with four tiles left: the last discard comes before the own next draw."""
    table = Table("tenhou").deal(dora="9m", W="345m345p678p3z3z67s", keep="8s")
    table.avoid("5s8s")
    while table.state.live > 5 or table.state.step != "draw":
        table.turn(WIND[table.state.turn])
    declarer = WIND[table.state.turn]
    again = Table("tenhou").deal(dora="9m", keep="8s", **{declarer: "345m345p678p3z3z67s"})
    again.avoid("5s8s")
    while again.state.live > 5 or again.state.step != "draw":
        again.turn(WIND[again.state.turn])
    again.riichi(declarer)
    while again.state.live > 1 or again.state.step != "draw":
        again.turn(WIND[again.state.turn])
    source = WIND[again.state.turn]
    again.draw(source, "8s")
    if source == declarer:
        assert {"ippatsu", "haitei"} <= set(names(again.win(declarer, ura="1z")))
    else:
        again.discard(source)
        assert {"ippatsu", "houtei"} <= set(names(again.win(declarer, source, ura="1z")))


@pytest.mark.parametrize("ruleset", ["tenhou", "saikouisen", "wrc-2025"])
@pytest.mark.parametrize(
    ("hand", "tile", "waits"),
    [("3335666m123p789s", "6m", "4m5m7m"), ("3335m678p345s999s", "3m", "4m5m6m")],
)
def test_row_32_a_kan_that_changes_the_waits_is_forbidden(
    ruleset: str, hand: str, tile: str, waits: str
) -> None:
    table = Table(ruleset).deal(dora="6z", S=hand, keep=tile)
    table.avoid(waits)
    table.riichi("S")
    table.until("S")
    table.draw("S", tile)
    assert not table.may("S", cmd.Ankan)


@pytest.mark.parametrize(
    ("ruleset", "allowed"),
    [("tenhou", True), ("wrc-2025", True), ("saikouisen", False), ("jpml-a", False)],
)
def test_row_33_a_kan_that_only_changes_the_reading_is_allowed_by_rule(
    ruleset: str, allowed: bool
) -> None:
    table = Table(ruleset).deal(dora="6z", S="111222333m45p99s", keep="1m")
    table.avoid("3p6p")
    table.riichi("S")
    table.until("S")
    table.draw("S", "1m")
    assert table.may("S", cmd.Ankan) is allowed


def test_row_34_in_riichi_only_the_drawn_tile_makes_a_kan() -> None:
    table = Table("tenhou").deal(dora="6z", S="444z567p123s77s56s", keep="4z")
    table.avoid("4s7s")
    table.until("S")
    table.turn("S", "4z", "4z")
    table.riichi("S")
    table.until("S")
    table.draw("S")
    assert not table.may("S", cmd.Ankan)


def test_row_35_there_is_never_a_fifth_kan() -> None:
    table = Table("saikouisen").deal(
        dora="9m", E="111m222m333m444m5p", S="111p222p5z6z7z1s2s3s4s", keep="1m2m3m4m1p"
    )
    for tile in ("1m", "2m", "3m", "4m"):
        table.until("E") if table.state.step == "draw" else None
        if table.state.step == "draw":
            table.draw("E", tile)
        table.ankan("E", tile)
        table.flip()
        table.replacement("E", {"1m": "2m", "2m": "3m", "3m": "4m"}.get(tile))
    table.discard("E")
    table.draw("S", "1p")
    assert not table.may("S", cmd.Ankan)
    assert table.refuses(cmd.Ankan(1, parse("1111p"))).code == "fifth_kan"


def test_row_36_the_stick_of_a_riichi_that_passed_stays_after_four_kans() -> None:
    table = Table("tenhou").deal(
        dora="9m", E="111m222m5p6p7p8p9p1s2s", S="111p333p567s22z34s", keep="1m2m1p3p"
    )
    table.draw("E", "1m")
    table.ankan("E", "1m")
    table.flip()
    table.replacement("E", "2m")
    table.ankan("E", "2m")
    table.flip()
    table.replacement("E")
    table.discard("E")
    table.draw("S", "1p")
    table.ankan("S", "1p")
    table.flip()
    table.replacement("S", "3p")
    table.ankan("S", "3p")
    table.flip()
    table.replacement("S")
    table.do(cmd.DeclareRiichi(1))
    table.discard("S")
    assert table.refuses(cmd.Draw(2, 0)).code == "hand_is_drawn"
    table.do(cmd.ResultDraw("suukaikan"))
    ended = table.settle()
    assert ended.reason == "suukaikan"
    assert (table.state.scores[1], ended.deposits) == (24000, 1)


def test_row_37_an_open_kan_turns_its_indicator_by_rule() -> None:
    tenhou = Table("tenhou").deal(dora="9m", S="777z23456m678p55s", E="7z", keep="7m")
    tenhou.discards("E", "7z")
    tenhou.call("daiminkan", "S", "777z")
    assert tenhou.refuses(cmd.RevealDora(0)).code == "indicator_not_due"
    tenhou.replacement("S", "7m")
    assert len(tenhou.win("S").dora) == 1
    assert four_kans(load("tenhou"))  # with each kan its own indicator


@pytest.mark.parametrize(
    ("ruleset", "refused"), [("tenhou", True), ("saikouisen", False), ("m-league", False)]
)
def test_row_38_riichi_below_a_thousand_points_by_rule(ruleset: str, refused: bool) -> None:
    rules = load(ruleset)
    table = Table(rules, scores=(4 * rules.start_points - 60900, 900, 30000, 30000)).deal(
        dora="9m", S=TENPAI
    )
    table.avoid("5s8s")
    table.until("S")
    table.draw("S")
    assert table.may("S", cmd.DeclareRiichi) is not refused


def test_row_39_noten_riichi_is_refused_punished_or_free_by_rule() -> None:
    for ruleset in ids():
        table = Table(ruleset).deal(dora="9m", S="147m147p147s1234z")
        table.until("S")
        table.draw("S")
        answer = decide(table.state, cmd.DeclareRiichi(1))
        if ruleset == "tenhou":
            assert isinstance(answer, Refusal)
            assert answer.code == "noten_riichi"
            continue
        table.do(cmd.DeclareRiichi(1))
        found = [event for event in table.discard("S") if isinstance(event, ev.Found)]
        assert bool(found) is (ruleset != "saikouisen-classic")
        assert all(one.secret for one in found)


@pytest.mark.parametrize("ruleset", ids())
def test_row_40_no_stick_for_a_ronned_riichi_tile(ruleset: str) -> None:
    table = Table(ruleset).deal(dora="9m", S=TENPAI, W="555z678p33z67s678s", keep="8s")
    table.avoid("5s8s")
    table.until("S")
    table.draw("S", "8s")
    table.do(cmd.DeclareRiichi(1))
    table.discard("S")
    table.win("W", "S")
    ended = table.settle()
    assert not any(isinstance(event, ev.RiichiAccepted) for event in table.events())
    assert ended.deposits == 0
    assert sum(ended.scores) == 4 * table.rules.start_points


@pytest.mark.parametrize("ruleset", ids())
def test_row_41_kokushi_robs_a_concealed_kan_by_rule(ruleset: str) -> None:
    table = Table(ruleset).deal(dora="5m", S="9m19p19s12345677z", E="111m23456p678s22s", keep="1m")
    table.draw("E", "1m")
    table.ankan("E", "1m")
    robs = ruleset in ("ema-2016", "jpml-a-2022")
    assert table.may_ron("S") is robs
    if robs:
        assert [one.name for one in table.win("S", "E").yakuman] == ["kokushi"]
    else:
        assert table.refuses(cmd.Win(1, 0, ura=())).code == "ankan_not_robbed"


def test_row_42_temporary_furiten_lasts_to_the_own_discard() -> None:
    table = Table("tenhou").deal(dora="9m", S="345m567s22s56p678m", keep="4p")
    table.avoid("4p7p")
    table.until("W")
    table.turn("W", "4p")
    table.until("S")
    assert table.state.seats[1].missed == 1
    table.draw("S")
    assert table.state.seats[1].missed == 1
    table.discard("S")
    assert table.state.seats[1].missed == 0


def test_row_43_any_wait_in_the_own_discards_is_furiten_called_away_or_not() -> None:
    table = Table("tenhou").deal(dora="9p", S="45m3m678p234s456s2s", W="33m", keep="2s6m6m")
    table.avoid("3m6m")
    table.until("S")
    table.draw("S", "2s")
    table.discard("S", "3m")
    table.call("pon", "W", "33m")
    table.discard("W", NAMES[table.state.seats[2].hand[0]])
    table.until("N")
    table.turn("N", "6m")
    assert table.refuses(cmd.Win(1, 3, ura=())).code == "furiten"
    table.until("S")
    table.draw("S", "6m")
    assert table.may("S", cmd.Win), "tsumo is still allowed"


def test_row_44_no_call_on_the_tile_of_a_kan() -> None:
    table = kakan_table("tenhou", "345m567p22m79s77p1s")
    assert not [
        one for one in legal(table.state, 2) if isinstance(one, cmd.Chi | cmd.Pon | cmd.Daiminkan)
    ]
    assert table.refuses(cmd.Chi(2, parse_one("8s"), parse("79s"))).code == "nothing_to_call"


def test_row_45_kuikae_knows_no_colour() -> None:
    table = Table("tenhou").deal(dora="9p", S="340m678p234s1122z", E="5m")
    table.discards("E", "5m")
    table.call("chi", "S", "34m")
    seat = table.state.seats[1]
    assert parse_one("0m") in seat.hand
    assert not [
        one
        for one in legal(table.state, 1)
        if isinstance(one, cmd.Discard) and one.tile is not None and KIND[one.tile] == 4
    ]
    assert table.refuses(cmd.Discard(1, parse_one("0m"))).code == "kuikae"


@pytest.mark.parametrize("ruleset", ["tenhou", "saikouisen"])
def test_row_46_a_call_that_leaves_no_discard_is_forbidden(ruleset: str) -> None:
    table = Table(ruleset).deal(dora="9p", S="1234m11p77s99s567z", E="1m1p9s7s")
    for tile, shown, junk in (("1p", "11p", "5z"), ("9s", "99s", "6z"), ("7s", "77s", "7z")):
        table.discards("E", tile)
        table.call("pon", "S", shown)
        table.discard("S", junk)
    # 1m 2m 3m 4m are left; calling 1m with 23m would leave 1m and 4m: both forbidden.
    table.discards("E", "1m")
    assert not [one for one in legal(table.state, 1) if isinstance(one, cmd.Chi)]
    assert table.refuses(cmd.Chi(1, parse_one("1m"), parse("23m"))).code == "no_discard_left"


@pytest.mark.parametrize(
    ("rule", "tenpai"), [("concealed", True), ("own_all", False), ("shape", True)]
)
def test_row_47_all_four_waits_in_hand_or_melds(rule: str, tenpai: bool) -> None:
    table = Table(rules_named("tenhou", tenpai_exhausted_rule=rule)).deal(
        dora="9p", S="35m99p444m678s11z1s", E="1z", keep="4m"
    )
    table.discards("E", "1z")
    table.call("pon", "S", "11z")
    table.discard("S", "1s")
    table.until("S")
    table.draw("S", "4m")
    table.ankan("S", "4m")
    table.flip()
    table.replacement("S")
    table.discard("S")
    table.run_out()
    drawn = next(e for e in table.do(all_declare(table.state)) if isinstance(e, ev.HandDrawn))
    assert drawn.tenpai is not None
    assert drawn.tenpai[1] is tenpai


# ---- F.3 payments ---------------------------------------------------------------------------------------


def pao_table(ruleset: str, *, honba: int = 0, hand: str = "55z66z77z34m99s2p8p2s") -> Table:
    table = Table(ruleset, honba=honba).deal(
        dora="9m", S=hand, W="7z", N="5z6z", keep="5m" if "34m" in hand else "1z"
    )
    table.avoid("2m5m9s1z")
    for tile, source in (("5z", "N"), ("6z", "N"), ("7z", "W")):
        table.discards(source, tile)
        table.call("pon", "S", tile * 2)
        seat = table.state.seats[1]
        table.discard("S", NAMES[next(t for t in seat.hand if NAMES[t] in ("2p", "8p", "2s"))])
    return table


@pytest.mark.parametrize(
    ("ruleset", "wanted"),
    [
        ("tenhou", (0, 32600, -16600, -16000)),
        ("jpml-a", (0, 32600, -16000, -16600)),
        ("ema-2016", (0, 32600, -16000, -16600)),
    ],
)
def test_row_48_who_pays_the_honba_of_a_pao_ron(ruleset: str, wanted: tuple[int, ...]) -> None:
    table = pao_table(ruleset, honba=2)
    table.until("N")
    table.turn("N", "5m")
    assert table.win("S", "N").deltas == wanted


def test_row_49_pao_stays_when_the_pon_becomes_a_kan() -> None:
    table = Table("tenhou").deal(
        dora="9m", S="55z66z77z34m99s2p8p2s", W="7z", N="5z6z", keep="5m7z"
    )
    table.avoid("2m5m7z")
    for tile, source in (("5z", "N"), ("6z", "N"), ("7z", "W")):
        table.discards(source, tile)
        table.call("pon", "S", tile * 2)
        table.discard("S", {"5z": "2p", "6z": "8p", "7z": "2s"}[tile])
    table.until("S")
    table.draw("S", "7z")
    table.kakan("S", "7z")
    table.replacement("S", "5m")
    assert table.win("S").deltas == (0, 32000, -32000, 0)


@pytest.mark.parametrize(
    ("ruleset", "wanted"),
    [("tenhou", (0, 64000, -64000, 0)), ("m-league", (-16000, 64000, -40000, -8000))],
)
def test_row_50_pao_of_a_composite_yakuman_by_rule(ruleset: str, wanted: tuple[int, ...]) -> None:
    table = pao_table(ruleset, hand="55z66z77z1122z2p8p2s")
    table.until("S")
    table.draw("S", "1z")
    assert table.win("S").deltas == wanted


def test_row_51_pao_ron_is_half_each_pao_tsumo_all() -> None:
    ron = pao_table("tenhou")
    ron.until("N")
    ron.turn("N", "5m")
    assert ron.win("S", "N").deltas == (0, 32000, -16000, -16000)
    tsumo = pao_table("tenhou", honba=1)
    tsumo.until("S")
    tsumo.draw("S", "5m")
    assert tsumo.win("S").deltas == (0, 32300, -32300, 0)


def test_row_52_honba_is_paid_once_in_a_double_ron() -> None:
    table = typed("tenhou", honba=3)
    table.do(cmd.Win(3, 0, han=1, fu=30))
    table.do(cmd.Win(1, 0, han=1, fu=30))
    assert table.settle().deltas == (-2900, 1900, 0, 1000)


def test_row_53_a_double_ron_is_split_by_rule() -> None:
    both = typed("ema-2016", honba=1, deposits=1)
    both.do(cmd.Win(3, 0, han=1, fu=30))
    both.do(cmd.Win(1, 0, han=1, fu=30))
    assert both.settle().deltas == (-2600, 2300, 0, 1300)
    one = typed("saikouisen", honba=1, deposits=1)
    one.do(cmd.Win(3, 0, han=1, fu=30))
    one.do(cmd.Win(1, 0, han=1, fu=30, together=True))
    assert one.settle().deltas == (-1300, 2300, 0, 0)


def test_row_54_three_player_games_are_refused_by_their_own_code() -> None:
    table = Table("tenhou")
    table.do(cmd.AbortGame("test"))
    rules = load("tenhou").to_dict()
    refusal = table.refuses(cmd.StartGame("g", rules, ("a", "b", "c", "")))
    assert refusal.code == "four_players_only"
    with pytest.raises(ValueError, match="three-player"):
        cmd.command_from_json(
            {"type": "start_game", "game_id": "g", "ruleset": {}, "players": ["a", "b", "c"]}
        )


@pytest.mark.parametrize("dealer_tenpai", [True, False])
def test_row_55_nagashi_replaces_the_noten_payment(dealer_tenpai: bool) -> None:
    table = typed("tenhou", deposits=1)
    table.do(cmd.ResultDraw("exhaustive", (dealer_tenpai, True, False, False), (2,)))
    ended = table.settle()
    assert ended.deltas == (-4000, -2000, 8000, -2000)
    assert ended.renchan is dealer_tenpai
    assert (ended.honba, ended.deposits) == (1, 1)


def test_row_56_no_nagashi_with_a_dead_hand_or_a_called_discard() -> None:
    for more, wanted in (({}, (2,)), ({"stopped": True}, ()), ({"called": True}, ())):
        table = nagashi_table("tenhou", ["W"], tenpai=[], **more)
        assert nagashi_seats(table.state) == wanted, more


def test_row_57_points_are_the_total_without_honba() -> None:
    table = typed("tenhou", honba=2, deposits=1)
    (won,) = table.do(cmd.Win(1, 1, han=3, fu=40))
    assert isinstance(won, ev.Won)
    assert won.points == 5200
    assert won.deltas == (-2800, 5200 + 600 + 1000, -1500, -1500)


def test_row_58_the_dealer_gets_a_hundred_a_honba_from_each() -> None:
    table = typed("tenhou", honba=2)
    (won,) = table.do(cmd.Win(0, 0, han=1, fu=30))
    assert isinstance(won, ev.Won)
    assert won.deltas == (2100, -700, -700, -700)


def test_row_59_a_triple_ron_by_rule() -> None:
    tenhou = typed("tenhou")
    tenhou.do(cmd.DeclareRiichi(1))
    for seat in (3, 1, 2):
        tenhou.do(cmd.Win(seat, 0, han=2, fu=30))
    ended = tenhou.settle()
    assert (ended.reason, ended.deposits, ended.deltas) == ("sanchahou", 1, (0, 0, 0, 0))
    ema = typed("ema-2016", deposits=1)
    for seat in (3, 1, 2):
        ema.do(cmd.Win(seat, 0, han=1, fu=30))
    assert ema.settle().deltas == (-3000, 2000, 1000, 1000)
    bump = typed("saikouisen")
    bump.do(cmd.Win(3, 0, han=1, fu=30))
    bump.do(cmd.Win(1, 0, han=1, fu=30, together=True))
    assert bump.refuses(cmd.Win(2, 0, han=1, fu=30, together=True)).code == "head_bump"


def test_row_59_the_riichi_tile_of_a_triple_ron_pays_no_stick() -> None:
    hands = {"S": "234m567p2z2z67s345s", "W": "345m234p3z3z67s678p", "N": "456m678p4z4z67s567m"}
    table = Table("tenhou").deal(dora="9m", keep="8s", E="234p567m11z789m79s", **hands)
    table.avoid("5s8s")
    for wind in ("S", "W", "N"):
        table.riichi(wind)
    table.until("E")
    table.draw("E", "8s")
    table.discard("E")
    for wind in ("S", "W", "N"):
        table.do(cmd.Win(SEATS[wind], 0, ura=(0,)))
    ended = table.settle()
    assert ended.deposits == 3
    assert ended.scores == (25000, 24000, 24000, 24000)


# ---- F.4 flow and end of game ---------------------------------------------------------------------------


def test_row_60_nine_terminals_on_the_first_uninterrupted_draw_only() -> None:
    table = Table("tenhou").deal(dora="5m", S="19m19p19s123z2345m", W="6z6z", E="6z", keep="4z")
    table.draw("E")
    table.discard("E", "6z")
    table.draw("S", "4z")
    assert table.may("S", cmd.KyuushuKyuuhai)
    called = Table("tenhou").deal(dora="5m", S="19m19p19s123z2345m", W="6z6z", E="6z", keep="4z")
    called.draw("E")
    called.discard("E", "6z")
    called.call("pon", "W", "66z")
    called.discard("W", NAMES[called.state.seats[2].hand[0]])
    called.until("S")
    called.draw("S", "4z")
    assert not called.may("S", cmd.KyuushuKyuuhai)
    assert called.refuses(cmd.KyuushuKyuuhai(1)).code == "first_turn_over"


def test_row_61_four_winds_need_four_in_a_row_without_a_call() -> None:
    assert four_winds(load("tenhou")) == ["riichi_accepted", "hand_drawn"] or four_winds(
        load("tenhou")
    ) == ["hand_drawn"]
    table = Table("tenhou").deal(dora="9m", E="1z7z", S="1z7z7z", W="1z", N="1z")
    table.draw("E")
    table.discard("E", "7z")
    table.call("pon", "S", "77z")
    table.discard("S", "1z")
    for wind in ("W", "N"):
        table.draw(wind)
        table.discard(wind, "1z")
    table.draw("E")
    table.discard("E", "1z")
    assert table.refuses(cmd.ResultDraw("suufon")).code == "no_abort"


def test_row_62_nine_terminals_by_the_leader_in_south_four_play_on() -> None:
    table = typed("tenhou", wind="S", number=4, first_dealer=0, scores=(20000, 20000, 20000, 40000))
    table.do(cmd.ResultDraw("kyuushu", seat=3))
    ended = table.settle()
    assert table.ended() is None
    assert (ended.renchan, ended.honba) == (True, 1)


@pytest.mark.parametrize(
    ("scores", "over"),
    [
        ((20000, 20000, 20000, 40000), True),
        ((41000, 20000, 0, 39000), False),
        ((28000, 22000, 21000, 29000), False),
    ],
)
def test_row_63_the_dealer_stops_when_first_with_the_target(
    scores: tuple[int, ...], over: bool
) -> None:
    def following(rules: Ruleset, *, stop: bool = False) -> str | None:
        return next_hand(
            rules, ending="win", dealer_stays=True, round_wind=1, hand_number=4, honba=0, dealer=3, first_dealer=0,
            scores=scores, stop=stop,  # type: ignore[arg-type]
        ).over  # fmt: skip

    assert (following(load("tenhou")) == "agari_yame") is over
    optional = load("tenhou", {"agari_yame": "optional"})
    assert following(optional) is None
    assert (following(optional, stop=True) == "agari_yame") is over
    assert following(load("saikouisen")) is None


def test_row_64_west_four_is_the_limit_once_the_deal_passes() -> None:
    def west_four(stays: bool, scores: tuple[int, ...]) -> str | None:
        return next_hand(
            load("tenhou"), ending="draw", dealer_stays=stays, round_wind=2, hand_number=4, honba=0, dealer=3,
            first_dealer=0, scores=scores,  # type: ignore[arg-type]
        ).over  # fmt: skip

    low = (25000, 25000, 25000, 25000)
    assert west_four(True, low) is None, "the dealer's repeat comes first"
    assert west_four(False, low) == "extension"
    assert west_four(True, (20000, 20000, 20000, 40000)) == "agari_yame"


def test_row_65_a_double_ron_with_the_dealer_and_aborts_repeat_the_deal() -> None:
    table = typed("tenhou", wind="S", number=4, first_dealer=0, scores=(40000, 20000, 20000, 20000))
    table.do(cmd.Win(3, 1, han=1, fu=30))
    table.do(cmd.Win(2, 1, han=1, fu=30))
    ended = table.settle()
    assert table.ended() is None
    assert (ended.renchan, ended.honba, ended.hand_number) == (True, 1, 4)
    abort = typed("tenhou")
    abort.do(cmd.ResultDraw("kyuushu", seat=2))
    ended = abort.settle()
    assert (ended.renchan, ended.honba) == (True, 1)


def test_row_66_ties_go_by_seat_or_are_shared_by_rule() -> None:
    tied = (30000, 30000, 25000, 15000)
    assert standing(load("tenhou"), tied, 0, 1).ranks == (2, 1, 3, 4)
    shared = standing(load("m-league"), tied, 0, 1)
    assert shared.ranks == (1, 1, 3, 4)
    assert shared.points[0] == shared.points[1]


@pytest.mark.parametrize("ruleset", ids())
def test_row_67_points_sum_to_zero_where_nothing_is_lost(ruleset: str) -> None:
    rules = load(ruleset)
    part = rules.start_points
    for scores in (
        (part + 9000, part - 2000, part - 3000, part - 4000),
        (part + 5000, part + 5000, part - 5000, part - 5000),
        (part, part, part, part),
        (part + 300, part - 100, part - 100, part - 100),
    ):
        result = standing(rules, scores, 0, 0)
        assert sum(result.points) == 0, scores


def test_row_68_uma_is_in_points_and_a_game_has_its_length() -> None:
    result = standing(load("m-league"), (40000, 30000, 20000, 10000), 0, 0)
    assert result.points == (60000, 10000, -20000, -50000)
    last = {
        "ending": "draw",
        "dealer_stays": False,
        "honba": 0,
        "dealer": 3,
        "first_dealer": 0,
        "scores": (40000, 20000, 20000, 20000),
    }
    hanchan, tonpuusen = load("tenhou"), load("tenhou", {"length": "tonpuusen"})
    assert next_hand(hanchan, round_wind=0, hand_number=4, **last).over is None  # type: ignore[arg-type]
    assert next_hand(tonpuusen, round_wind=0, hand_number=4, **last).over == "last_hand"  # type: ignore[arg-type]
    assert next_hand(hanchan, round_wind=1, hand_number=4, **last).over == "last_hand"  # type: ignore[arg-type]


def test_row_69_a_kakan_replaces_the_pon() -> None:
    table = kakan_table("tenhou", "345m567p22m79s77p1s")
    melds = table.state.seats[1].melds
    assert [meld.kind for meld in melds] == ["kakan"]
    assert len(melds[0].tiles) == 4
    assert table.state.seats[1].concealed == 10


def test_row_70_the_window_on_a_kan_is_open_until_the_next_act() -> None:
    table = kakan_table("saikouisen", "234m345m345p99s67s")
    assert table.may_ron("W")
    table.flip()  # A43.4: turning the indicator completes the kan
    assert not table.may_ron("W")
    assert table.refuses(cmd.Win(2, 1, ura=())).code == "ron_closed"


def test_events_are_json() -> None:
    """What was played above can be written down and read again."""
    table = kakan_table("tenhou", "234m345m345p99s67s", riichi=True)
    text = json.dumps([event.to_json() for event in table.events()])
    again = [ev.event_from_json(one) for one in json.loads(text)]
    assert again == list(table.events())
