"""Worked cases of payments and endings: noten, nagashi, pao, several ron, dealer, final points."""

from __future__ import annotations

import pytest

from tablectl.engine.game import commands as cmd
from tablectl.engine.game import events as ev
from tablectl.engine.game.apply import apply_all
from tablectl.engine.game.commands import Refusal
from tablectl.engine.game.decide import decide
from tablectl.engine.game.events import Four
from tablectl.engine.rules import Ruleset
from tablectl.engine.tiles import NAMES
from tests.game.cases import Case, cases
from tests.game.scripted import SEATS, WIND, Table, by_seat, rules_named
from tests.game.table import all_declare


def tenpai_of(winds: list[str]) -> tuple[bool, bool, bool, bool]:
    return tuple(wind in winds for wind in WIND)  # type: ignore[return-value]


def typed(ruleset: str | Ruleset, **more: object) -> Table:
    """A hand at a table that senses no tiles, ready for a typed result."""
    table = Table(ruleset, knowledge="basic", **more)  # type: ignore[arg-type]
    for command in (cmd.PressStart(), cmd.WallsReady(), cmd.RollDice(2, 3), cmd.Deal()):
        table.do(command)
    return table


# ---- noten payment --------------------------------------------------------------------------------------


@cases("noten_payment")
def test_noten_payment(case: Case) -> None:
    wanted = by_seat(case["expected"]["delta"])
    variant = {"noten_payment": "B"} if "71 (B)" in str(case["refs"]) else {}
    rules = rules_named(case["ruleset"], **variant)
    table = typed(rules)
    table.do(cmd.ResultDraw("exhaustive", tenpai_of(case["situation"]["tenpai"])))
    assert table.settle().deltas == wanted
    declared = typed(rules)
    for wind in WIND:
        seat = SEATS[wind]
        said = wind in case["situation"]["tenpai"]
        declared.do(cmd.DeclareTenpai(seat) if said else cmd.DeclareNoten(seat))
    assert declared.settle().deltas == wanted


# ---- nagashi mangan -------------------------------------------------------------------------------------


def nagashi_table(
    ruleset: str,
    seats: list[str],
    *,
    tenpai: list[str],
    called: bool = False,
    stopped: bool = False,
) -> Table:
    """A hand played out: the seats named throw terminals and honours only, the others simples.

    `called`: East takes West's first discard; `stopped`: the first seat named is under a stop-win.
    """
    table = Table(ruleset)
    hands = dict.fromkeys(tenpai, "234m345p678p22s67s")
    if called:
        hands |= {"E": "1z1z", "W": "1z"}
    # Terminals and honours must not lie idle in other hands; this one is far from tenpai.
    far = "2m5m8m2p5p8p2s4m7m4p7p4s7s"
    for wind in WIND:
        if wind not in seats and wind not in tenpai:
            held = hands.get(wind, "")
            hands[wind] = held + far[: 26 - len(held)]
    table.deal(dora="9m", **hands)
    table.avoid("5s8s")
    if stopped:
        table.do(cmd.Sanction(SEATS[seats[0]], "stop_win"))
    yaochu = [*range(27, 34), 0, 8, 9, 17, 18, 26]
    simples = [t for t in range(27) if t % 9 not in (0, 8) and t not in (22, 25)]
    while table.state.live or table.state.step != "draw":
        wind = WIND[table.state.turn]
        if called and wind == "W" and not table.state.seats[2].river:
            table.draw("W")
            table.discard("W", "1z")
            table.call("pon", "E", "11z")
            table.discard("E", NAMES[next(t for t in table.state.seats[0].hand if t != 27)])
            continue
        wants = yaochu if wind in seats else simples
        tile = max(wants, key=lambda t: table.rest[t])
        if not table.rest[tile]:
            tile = next(t for t in range(37) if table.rest[t] and t not in (22, 25))
        table.draw(wind, NAMES[tile])
        hand = table.state.seats[table.state.turn].hand
        if wind in seats and wind not in tenpai:
            table.discard(wind, NAMES[next(t for t in hand if t in yaochu)])
        else:
            table.discard(wind)
    return table


@cases("nagashi")
def test_nagashi(case: Case) -> None:
    situation, expected = case["situation"], case["expected"]
    seats = situation.get("players") or [situation["player"]]
    tenpai = situation.get("tenpai", [])
    table = typed(case["ruleset"])
    reported = () if situation.get("called_from") else tuple(SEATS[seat] for seat in seats)
    table.do(cmd.ResultDraw("exhaustive", tenpai_of(tenpai), reported))
    drawn = next(event for event in table.events() if isinstance(event, ev.HandDrawn))
    ended = table.settle()
    assert ended.deltas == by_seat(expected["delta"])
    assert (drawn.kind == "nagashi") is expected.get("nagashi", True)
    if "dealer" in expected:
        assert ended.renchan is (expected["dealer"] != "rotates")
    if expected.get("honba") == "+1":
        assert ended.honba == 1
    _nagashi_by_rivers(case, seats, tenpai)


def _nagashi_by_rivers(case: Case, seats: list[str], tenpai: list[str]) -> None:
    """The same found by the engine from the rivers it saw."""
    expected = case["expected"]
    called = bool(case["situation"].get("called_from"))
    table = nagashi_table(case["ruleset"], seats, tenpai=tenpai, called=called)
    events = table.do(all_declare(table.state))
    drawn = next(event for event in events if isinstance(event, ev.HandDrawn))
    assert (drawn.kind == "nagashi") is expected.get("nagashi", True)
    if not called:  # West's hand has become tenpai by then
        assert drawn.deltas == by_seat(expected["delta"])


# ---- pao ------------------------------------------------------------------------------------------------


def _pao_hand(case: Case) -> tuple[Table, str]:
    """The yakuman laid out before the winner, its last set fed by the liable player; and the waits' tile."""
    situation = case["situation"]
    yakuman = situation["yakuman"]
    winner = situation["winner"]
    feeder = (
        situation.get("responsible")
        or situation.get("fourth_kan_from")
        or situation["third_dragon_from"]
    )
    other = next(wind for wind in WIND if wind not in (winner, feeder))
    table = Table(case["ruleset"], honba=situation.get("honba", 0))
    table.avoid("5m2m9s1z")
    if "suukantsu" in yakuman:
        hand = "444p555p666p777s9s"
        table.deal(dora="3z", keep="4p5p6p9s", **{winner: hand, feeder: "7s2p", other: "2p"})
        for tile in ("4p", "5p", "6p"):
            table.until(winner)
            table.draw(winner, tile)
            table.ankan(winner, tile)
            if table.rules.kan_dora and table.rules.kan_dora_ankan == "before_replacement":
                table.flip()
            table.replacement(winner)
            while table.state.dora_pending:
                table.flip()
            table.discard(winner)
        table.discards(feeder, "7s")
        table.call("daiminkan", winner, "777s")
        if table.rules.kan_dora and table.rules.kan_dora_daiminkan == "before_replacement":
            table.flip()
        table.replacement(winner)
        while table.state.dora_pending and table.state.dora_pending[0] == "before_discard":
            table.flip()
        table.discard(winner)
        while table.state.dora_pending:
            table.flip()
        return table, "9s"
    if "daisuushi" in yakuman:
        hand = "11z22z33z44z2p2p8p8p9s"
        table.deal(dora="5z", keep="9s", **{winner: hand, feeder: "4z", other: "1z2z3z"})
        sets, tile = [("1z", other), ("2z", other), ("3z", other), ("4z", feeder)], "9s"
    elif "tsuuiisou" in yakuman:
        hand = "55z66z77z1z1z2z2z2p8p2s"
        table.deal(dora="9m", keep="1z", **{winner: hand, feeder: "7z", other: "5z6z"})
        sets, tile = [("5z", other), ("6z", other), ("7z", feeder)], "1z"
    else:
        hand = "55z66z77z34m9s9s2p8p2s"
        table.deal(dora="9m", keep="5m", **{winner: hand, feeder: "7z", other: "5z6z"})
        sets, tile = [("5z", other), ("6z", other), ("7z", feeder)], "5m"
    for one, source in sets:
        table.discards(source, one)
        table.call("pon", winner, one * 2)
        seat = table.state.seats[table.seat(winner)]
        junk = next(t for t in seat.hand if NAMES[t] in ("2p", "8p", "2s"))
        table.discard(winner, NAMES[junk])
    return table, tile


@cases("pao")
def test_pao(case: Case) -> None:
    situation = case["situation"]
    winner = situation["winner"]
    table, tile = _pao_hand(case)
    source = winner if situation["win"] == "tsumo" else situation["discarder"]
    table.until(source)
    table.draw(source, tile)
    if source != winner:
        table.discard(source)
    won = table.win(winner, source)
    assert won.deltas == by_seat(case["expected"]["delta"])
    assert table.settle().deltas == by_seat(case["expected"]["delta"])


# ---- several ron ----------------------------------------------------------------------------------------

PLAIN = {
    "S": "234m567p22z67s345s",
    "W": "345m234p33z67s678s",
    "N": "456m678p44z67s567p",
    "E": "234p567m11z67s234m",
}
"""Four hands that wait for 5s and 8s."""


def _all_wait(ruleset: str, claims: list[str], source: str) -> Table:
    table = Table(ruleset)
    table.deal(dora="9m", keep="8s", **{wind: PLAIN[wind] for wind in claims})
    table.avoid("5s8s")
    for wind in claims:
        # A riichi gives every hand a yaku.
        table.riichi(wind)
    table.until(source)
    table.draw(source, "8s")
    table.discard(source)
    return table


@cases("multi_ron")
def test_multi_ron(case: Case) -> None:
    situation, expected = case["situation"], case["expected"]
    if "claims" in situation and "winner" in expected:
        table = _all_wait(case["ruleset"], situation["claims"], situation["discarder"])
        for wind in situation["claims"]:
            command = cmd.Win(
                SEATS[wind], SEATS[situation["discarder"]], ura=_ura(table), together=True
            )
            answer = decide(table.state, command)
            if isinstance(answer, Refusal):
                assert answer.code == "head_bump"
            else:
                table.do(command)
        outcome = table.state.outcome
        assert outcome is not None
        assert [WIND[won.seat] for won in outcome.wins] == [expected["winner"]]
        table.settle()
        return
    MULTI_RON[case["id"]](case)


def _ura(table: Table) -> tuple[int, ...]:
    return (0,) if table.rules.ura_dora else ()


def _mr_after_laid_down(case: Case) -> None:
    table = _all_wait(case["ruleset"], ["S", "N"], "E")
    table.do(cmd.Win(SEATS["N"], 0, ura=_ura(table)))
    refusal = table.refuses(cmd.Win(SEATS["S"], 0, ura=_ura(table)))
    assert refusal.code == "head_bump"
    assert table.state.outcome is not None
    assert WIND[table.state.outcome.wins[0].seat] == case["expected"]["winner"]


def _typed_double(case: Case, wins: dict[str, tuple[int, int]], honba: int, deposits: int) -> Table:
    """Riichi of W (its stick is one of the deposits), two typed ron on E's discard."""
    before = deposits - (1 if case["ruleset"] == "tenhou" else 0)
    table = typed(case["ruleset"], honba=honba, deposits=before)
    if case["ruleset"] == "tenhou":
        table.do(cmd.DeclareRiichi(SEATS["W"]))
    for wind, (han, fu) in wins.items():
        table.do(cmd.Win(SEATS[wind], 0, han=han, fu=fu))
    return table


def _mr_double(case: Case) -> None:
    # The nearer seat comes second: what the first was to get moves to it.
    table = _typed_double(case, {"W": (4, 40), "S": (3, 30)}, 2, 2)
    ended = table.settle()
    assert ended.deltas == by_seat(case["expected"]["delta"])
    assert not ended.renchan
    assert ended.honba == case["expected"]["next"]["honba"]
    assert ended.deposits == 0


def _mr_triple(case: Case) -> None:
    table = _all_wait(case["ruleset"], ["S", "W", "N"], "E")
    for wind in ("S", "W", "N"):
        table.do(cmd.Win(SEATS[wind], 0, ura=_ura(table)))
    ended = table.settle()
    assert (ended.reason, ended.renchan, ended.honba, ended.deposits) == ("sanchahou", True, 1, 3)
    # Reported as a whole it is the same.
    again = _all_wait(case["ruleset"], ["S", "W", "N"], "E")
    again.do(cmd.ResultDraw("sanchahou"))
    assert again.settle() == ended


def _mr_dealer(case: Case) -> None:
    table = typed(case["ruleset"])
    table.do(cmd.Win(SEATS["N"], SEATS["W"], han=1, fu=30))
    table.do(cmd.Win(SEATS["E"], SEATS["W"], han=1, fu=30))
    ended = table.settle()
    assert ended.renchan
    assert ended.honba == 1


def _mr_ema(case: Case) -> None:
    table = typed(case["ruleset"], honba=1, deposits=1)
    table.do(cmd.Win(SEATS["N"], 0, han=3, fu=30))
    table.do(cmd.Win(SEATS["S"], 0, han=2, fu=30))
    assert table.settle().deltas == by_seat(case["expected"]["delta"])


def _mr_riichi_tile(case: Case) -> None:
    table = Table(case["ruleset"])
    # W holds the dragon pair and waits for the tile S declares with.
    table.deal(dora="9m", S="234m567p22z67s345s", W="555z678p33z67s678s", keep="8s")
    table.avoid("5s8s")
    table.until("S")
    table.draw("S", "8s")
    table.do(cmd.DeclareRiichi(1))
    table.discard("S")
    table.win("W", "S")
    ended = table.settle()
    assert ended.deposits == 0
    assert not any(isinstance(event, ev.RiichiAccepted) for event in table.events())
    assert sum(ended.deltas) == 0


def _mr_riichi_called(case: Case) -> None:
    table = Table(case["ruleset"]).deal(dora="9m", S="234m567p22z67s345s", W="4z4z", keep="4z")
    table.avoid("5s8s")
    table.until("S")
    table.draw("S", "4z")
    table.do(cmd.DeclareRiichi(1))
    table.discard("S")
    events = table.call("pon", "W", "44z")
    assert [type(event) for event in events] == [ev.RiichiAccepted, ev.Called]
    assert table.state.seats[1].riichi == 2
    assert not table.state.seats[1].ippatsu
    table.discard("W", NAMES[table.state.seats[2].hand[0]])
    table.until("S")
    table.draw("S")
    (discarded,) = (e for e in table.discard("S") if isinstance(e, ev.Discarded))
    assert discarded.sideways


def _mr_riichi_limits(case: Case) -> None:
    poor = Table(case["ruleset"], scores=(25000, 900, 37000, 37100))
    poor.deal(dora="9m", S="234m567p22z67s345s")
    poor.avoid("5s8s")
    poor.until("S")
    poor.draw("S")
    assert poor.refuses(cmd.DeclareRiichi(1)).code == "riichi_points"
    assert not poor.may("S", cmd.DeclareRiichi)
    _riichi_with(case["ruleset"], 3, allowed=False)
    _riichi_with(case["ruleset"], 4, allowed=True)


def _riichi_with(ruleset: str, live: int, *, allowed: bool) -> None:
    """Some seat draws and `live` tiles are left: may it declare riichi?"""
    table = Table(ruleset)
    # East's fourteenth tile leaves 69, then the draws go round.
    wind = WIND[(69 - live) % 4]
    table.deal(dora="9m", **{wind: PLAIN[wind]})
    table.avoid("5s8s")
    while table.state.live > live + 1 or table.state.step != "draw":
        table.turn(WIND[table.state.turn])
    assert WIND[table.state.turn] == wind
    table.draw(wind)
    assert table.state.live == live
    assert table.may(wind, cmd.DeclareRiichi) is allowed
    answer = decide(table.state, cmd.DeclareRiichi(table.state.turn))
    assert isinstance(answer, Refusal) is not allowed
    if isinstance(answer, Refusal):
        assert answer.code == "riichi_live_tiles"


MULTI_RON = {
    "MR-02": _mr_after_laid_down,
    "MR-05": _mr_double,
    "MR-06": _mr_triple,
    "MR-07": _mr_dealer,
    "MR-08": _mr_ema,
    "MR-09": _mr_riichi_tile,
    "MR-10": _mr_riichi_tile,
    "MR-11": _mr_riichi_called,
    "MR-12": _mr_riichi_limits,
    "MR-13": lambda case: _riichi_with(
        case["ruleset"], case["situation"]["live_after_draw"], allowed=True
    ),
    "MR-14": lambda case: _riichi_with(
        case["ruleset"], case["situation"]["live_after_draw"], allowed=False
    ),
}


# ---- who deals next -------------------------------------------------------------------------------------


def _result(case: Case, dealer_seat: int) -> cmd.Win | cmd.ResultDraw | list[cmd.Win]:
    """The typed result of a dealer-continuation case; winds of the case are the hand's seat winds."""
    situation = case["situation"]
    result = situation["result"]

    def at(wind: int) -> int:
        return (dealer_seat + wind) % 4

    if result == "dealer win":
        return cmd.Win(at(0), at(1), han=1, fu=30)
    if result == "child win":
        return cmd.Win(at(1), at(2), han=1, fu=30)
    if result == "double ron":
        return [cmd.Win(at(0), at(2), han=1, fu=30), cmd.Win(at(1), at(2), han=1, fu=30)]
    if result == "kyuushu kyuuhai":
        return cmd.ResultDraw("kyuushu", seat=at(1))
    tenpai = situation.get("tenpai", [])
    if situation.get("dealer_declares") == "tenpai":
        tenpai = ["E"]
    by_wind = {at(SEATS[wind]) for wind in tenpai}
    return cmd.ResultDraw("exhaustive", tuple(seat in by_wind for seat in range(4)))  # type: ignore[arg-type]


@cases("dealer_continuation")
def test_dealer_continuation(case: Case) -> None:
    situation, expected = case["situation"], case["expected"]
    options = {"length": "tonpuusen"} if situation.get("game") == "tonpuu" else {}
    rules = rules_named(case["ruleset"], **options)
    wind, number = situation["hand"][0], int(situation["hand"][1])
    honba = situation.get("honba", 0)
    deposits = situation.get("deposits", 0)
    wanted = _scores_after(case, rules, number - 1)
    # The scores before are those after, less what the result moves.
    command = _result(case, number - 1)
    moved = _moved(rules, wind, number, honba, command)
    scores = tuple(wanted[i] - moved[i] for i in range(4))
    if isinstance(command, cmd.Win | list):
        # The winner takes the sticks.
        deposits = 0
    scores = (scores[0] + 4 * rules.start_points - sum(scores) - 1000 * deposits, *scores[1:])
    table = Table(
        rules, wind=wind, number=number, honba=honba, deposits=deposits, first_dealer=0,
        knowledge="basic", scores=scores,  # type: ignore[arg-type]
    )  # fmt: skip
    for one in (cmd.PressStart(), cmd.WallsReady(), cmd.RollDice(2, 3), cmd.Deal()):
        table.do(one)
    if situation.get("time_expired_during_hand"):
        table.do(cmd.CallTime())
    if "stop-win" in str(situation.get("dealer_hand", "")):
        table.do(cmd.Sanction(number - 1, "stop_win"))
        for seat in range(4):
            table.do(cmd.DeclareTenpai(seat) if seat == number - 1 else cmd.DeclareNoten(seat))
    else:
        for one in command if isinstance(command, list) else [command]:
            table.do(one)
    ended = table.settle()
    over = table.ended() is not None
    assert over is expected.get("game_over", False)
    if not over:
        _check_next(case, ended)
    if "payments" in expected:
        paid = ended.deltas != (0, 0, 0, 0)
        assert paid is (expected["payments"] != "none")
    if expected.get("reason") == "tobi":
        end = table.ended()
        assert end is not None
        assert end.reason == "tobi"
    if "agari-yame" in str(expected.get("reason", "")):
        end = table.ended()
        assert end is not None
        assert end.reason == "agari_yame"


def _check_next(case: Case, ended: ev.HandEnded) -> None:
    expected = case["expected"]
    if "next" in expected:
        assert f"{WIND[ended.round_wind]}{ended.hand_number}" == expected["next"]
    if "dealer" in expected:
        assert ended.renchan is (expected["dealer"] == "same")
    if isinstance(expected.get("honba"), int):
        assert ended.honba == expected["honba"]


def _scores_after(case: Case, rules: Ruleset, dealer: int) -> Four:
    """Scores that a case speaks of after the hand; seat 0 was the first dealer."""
    situation = case["situation"]
    total = 4 * rules.start_points
    if "points_after" in situation:
        points = situation["points_after"]
        return tuple(points[WIND[(seat - dealer) % 4]] for seat in range(4))  # type: ignore[return-value]
    top = situation.get("top")
    if top == "child 32000":
        values = [0, 0, 0, 0]
        values[(dealer + 1) % 4] = 32000
        values[dealer] = 28000
        rest = (total - 60000) // 2
        return tuple(value or rest for value in values)  # type: ignore[return-value]
    if isinstance(top, int):
        # The top is a child that did nothing; nobody else comes near.
        values = [0, 0, 0, 0]
        values[(dealer + 3) % 4] = top
        rest = total - top - 1000 * situation.get("deposits", 0)
        part = rest // 3 // 100 * 100
        for seat in range(4):
            values[seat] = values[seat] or part
        values[dealer] += rest - 3 * part
        return (values[0], values[1], values[2], values[3])
    low = situation.get("min_points")
    if low is not None:
        values = [0, 0, 0, 0]
        values[(dealer + 2) % 4] = low
        others = (total - low) // 3 // 100 * 100
        for seat in range(4):
            if seat != (dealer + 2) % 4:
                values[seat] = others
        values[dealer] += total - low - 3 * others
        return (values[0], values[1], values[2], values[3])
    if situation.get("dealer_rank") == 2:
        values = [0, 0, 0, 0]
        values[(dealer + 1) % 4] = 34000
        values[dealer] = 31000
        rest = (total - 65000) // 2
        return tuple(value or rest for value in values)  # type: ignore[return-value]
    return (rules.start_points,) * 4


def _moved(
    rules: Ruleset,
    wind: str,
    number: int,
    honba: int,
    command: cmd.Win | cmd.ResultDraw | list[cmd.Win],
) -> Four:
    trial = Table(rules, wind=wind, number=number, honba=honba, first_dealer=0, knowledge="basic")
    for one in (cmd.PressStart(), cmd.WallsReady(), cmd.RollDice(2, 3), cmd.Deal()):
        trial.do(one)
    for one in command if isinstance(command, list) else [command]:
        trial.do(one)
    outcome = trial.state.outcome
    assert outcome is not None
    return outcome.deltas


# ---- final points ---------------------------------------------------------------------------------------


@cases("end_of_game")
def test_end_of_game(case: Case) -> None:
    situation, expected = case["situation"], case["expected"]
    rules = rules_named(case["ruleset"])
    scores = by_seat(situation["final_points_by_initial_seat"])
    # All noten in South 4: nothing moves, the deal would pass, the game is over.
    table = Table(
        rules, wind="S", number=4, deposits=situation["leftover_deposits"], scores=scores, first_dealer=0,
        knowledge="basic",
    )  # fmt: skip
    for command in (cmd.PressStart(), cmd.WallsReady(), cmd.RollDice(2, 3), cmd.Deal()):
        table.do(command)
    table.do(cmd.ResultDraw("exhaustive", (False,) * 4))
    table.do(cmd.Settle())
    end = table.ended()
    assert end is not None
    assert end.scores == by_seat(expected["points_after_deposit_rule"])
    for wind, points in expected["pt"].items():
        assert end.points[SEATS[wind]] == round(points * end.points_scale)
    assert sum(end.points) == round(expected["pt_sum"] * end.points_scale)
    order = sorted(range(4), key=lambda seat: (end.ranks[seat], seat))
    assert [WIND[seat] for seat in order] == expected["ranking_high_to_low"]
    if "players_at_or_above_30000" in expected:
        above = sum(1 for score in end.scores if score >= rules.above_water_points)
        assert above == expected["players_at_or_above_30000"]


def test_three_share_exactly_in_thirds() -> None:
    """Three tied under the floating uma: 8/3 of a point each, kept exactly (1.1.1)."""
    table = Table("jpml-a", wind="S", number=4, deposits=2, first_dealer=0, knowledge="basic",
                  scores=(29500, 29500, 29500, 29500))  # fmt: skip
    for command in (cmd.PressStart(), cmd.WallsReady(), cmd.RollDice(2, 3), cmd.Deal()):
        table.do(command)
    table.do(cmd.AdjustScore((0, 0, 0, -300), "test"))
    table.do(cmd.ResultDraw("exhaustive", (False,) * 4))
    table.do(cmd.Settle())
    end = table.ended()
    assert end is not None
    assert end.points_scale == 3000
    assert end.points[:3] == (-1500 + 8000,) * 3
    assert end.ranks == (1, 1, 1, 4)


def test_folded_again_it_is_the_same() -> None:
    table = typed("tenhou")
    table.do(cmd.ResultDraw("exhaustive", (True, False, False, False)))
    table.settle()
    assert apply_all(type(table.state)(), table.events()).canonical() == table.state.canonical()


@pytest.mark.parametrize("ruleset", ["tenhou", "ema-2016"])
def test_honba_of_a_second_ron_follows_the_ruleset(ruleset: str) -> None:
    table = typed(ruleset, honba=2)
    table.do(cmd.Win(2, 0, han=1, fu=30))
    table.do(cmd.Win(1, 0, han=1, fu=30))
    outcome = table.state.outcome
    assert outcome is not None
    assert [won.honba for won in outcome.wins] == ([2, 0] if ruleset == "tenhou" else [2, 2])
