"""One small situation for each rule value that the flow of a game reads: what comes of it under a ruleset.

`tests/rules/test_values_are_read.py` plays each under a ruleset and under the same with that value changed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tablectl.engine.game import commands as cmd
from tablectl.engine.game import events as ev
from tablectl.engine.game.commands import Refusal
from tablectl.engine.game.decide import decide
from tablectl.engine.game.ending import next_hand, standing
from tablectl.engine.game.legal import legal
from tablectl.engine.game.prompts import announcement, prompt
from tablectl.engine.game.timeline import Timeline
from tablectl.engine.game.windows import (
    Moments,
    Utterance,
    call_step_error,
    in_time,
    resolve,
    shown_tiles_changed,
)
from tablectl.engine.rules import Ruleset
from tests.game.scripted import Table
from tests.game.table import Player, all_declare

Look = Callable[[Ruleset], Any]
TENPAI = "234m567p22z67s345s"


def answer(table: Player, command: cmd.Command) -> Any:
    """What a command leads to: the types of its events, or the code of the refusal."""
    got = decide(table.state, command)
    return got.code if isinstance(got, Refusal) else [event.type for event in got]


def final(
    scores: tuple[int, int, int, int] = (41300, 25200, 24000, 8500), deposits: int = 1
) -> Look:
    return lambda rules: standing(rules, scores, deposits, 0)


def after(**facts: Any) -> Look:
    """Who deals next, or the end."""
    given = {
        "ending": "win", "dealer_stays": True, "round_wind": 1, "hand_number": 4, "honba": 1, "dealer": 3,
        "first_dealer": 0, "scores": (20000, 20000, 20000, 40000), **facts,
    }  # fmt: skip
    return lambda rules: next_hand(rules, **given)


def reported(command: cmd.Command, **table: Any) -> Look:
    """A typed result at a table without sensors, settled."""

    def look(rules: Ruleset) -> Any:
        hand = Table(rules, knowledge="basic", **table)
        for one in (cmd.PressStart(), cmd.WallsReady(), cmd.RollDice(2, 3), cmd.Deal()):
            hand.do(one)
        got = decide(hand.state, command)
        if isinstance(got, Refusal):
            return got.code
        hand.do(command)
        return hand.settle()

    return look


def starts(rules: Ruleset) -> Any:
    game = Player(rules)
    game.start()
    return game.state.scores


def exhausted(rules: Ruleset) -> Any:
    """East waits for the tile of which it holds all four."""
    table = Table(rules).deal(dora="9m", E="3333m444p555p666p")
    table.run_out()
    table.do(all_declare(table.state))
    assert table.state.outcome is not None
    return table.state.outcome.tenpai


def noten_after_riichi(rules: Ruleset) -> Any:
    table = Table(rules).deal(dora="9m", S=TENPAI)
    table.avoid("5s8s")
    table.riichi("S")
    table.run_out()
    table.do(cmd.DeclareNoten(0))
    return [event.type for event in table.do(cmd.DeclareNoten(1))]


def out_of_order(rules: Ruleset) -> Any:
    table = Table(rules).deal(dora="9m")
    table.run_out()
    return [event.type for event in table.do(cmd.DeclareNoten(2))]


def last_of_four(rules: Ruleset) -> Any:
    table = Table(rules, knowledge="basic")
    for one in (cmd.PressStart(), cmd.WallsReady(), cmd.RollDice(2, 3), cmd.Deal()):
        table.do(one)
    for seat in range(3):
        table.do(cmd.DeclareTenpai(seat))
    return prompt(table.state)


def said(rules: Ruleset) -> Any:
    table = Table(rules, honba=1, knowledge="basic")
    for one in (cmd.PressStart(), cmd.WallsReady(), cmd.RollDice(2, 3), cmd.Deal()):
        table.do(one)
    (won,) = table.do(cmd.Win(1, 1, han=3, fu=40))
    assert isinstance(won, ev.Won)
    return announcement(table.state, won).text


def four_winds(rules: Ruleset) -> Any:
    table = Table(rules).deal(dora="9m", E="1z", S="1z", W="1z", N="1z")
    for wind in "ESWN":
        table.draw(wind)
        table.discard(wind, "1z")
    return answer(table, cmd.ResultDraw("suufon"))


WAITS = {
    "E": "234m67s345s234p11z", "S": "345m67s567m678p22z", "W": "789m67s789p123m33z",
    "N": "678m13s123p999p44z",
}  # fmt: skip


def four_riichi(rules: Ruleset) -> Any:
    table = Table(rules).deal(dora="9m", **WAITS)
    table.avoid("5s8s2s")
    for wind in "ESWN":
        table.riichi(wind)
    return answer(table, cmd.ResultDraw("suucha_riichi"))


def four_kans(rules: Ruleset) -> Any:
    table = Table(rules).deal(
        dora="9m", E="111m222m5p6p7p8p9p1s2s", S="111p333p5s6s7s8s9s1z2z", keep="1m2m1p3p"
    )
    for wind, tiles in (("E", ("1m", "2m")), ("S", ("1p", "3p"))):
        table.until(wind)
        table.draw(wind, tiles[0])
        table.ankan(wind, tiles[0])
        for tile in (tiles[1], None):
            while (
                table.state.dora_pending or answer(table, cmd.RevealDora(0)) != "no_indicator_due"
            ):
                if answer(table, cmd.RevealDora(0)) in ("no_indicator_due", "indicator_not_due"):
                    break
                table.flip()
            table.replacement(wind, tile)
            if tile is not None:
                table.ankan(wind, tile)
        table.discard(wind)
    return answer(table, cmd.ResultDraw("suukaikan"))


def three_rons(rules: Ruleset) -> Any:
    table = Table(rules, knowledge="basic")
    for one in (cmd.PressStart(), cmd.WallsReady(), cmd.RollDice(2, 3), cmd.Deal()):
        table.do(one)
    for seat in (1, 2, 3):
        table.do(cmd.Win(seat, 0, han=1, fu=30))
    return table.state.outcome


def nine_kinds(rules: Ruleset) -> Any:
    table = Table(rules).deal(dora="5m", E="19m19p19s123z2345m", keep="4z")
    table.draw("E", "4z")
    return [type(one).__name__ for one in legal(table.state, 0)]


def called(tile: str, shown: str) -> Look:
    def look(rules: Ruleset) -> Any:
        table = Table(rules).deal(dora="9m", S=f"{shown}789m111p222p33z", E=tile)
        table.discards("E", tile)
        table.call("chi", "S", shown)
        return table.state.seats[1].forbidden

    return look


def last_discard(rules: Ruleset) -> Any:
    table = Table(rules).deal(dora="9m", E="5z5z", S="5z")
    while table.state.live or table.state.step != "draw":
        wind = "ESWN"[table.state.turn]
        table.draw(wind)
        table.discard(wind, "5z" if table.state.live == 0 and wind == "S" else None)
    return [type(one).__name__ for one in legal(table.state, 0)]


def kokushi_on_ankan(rules: Ruleset) -> Any:
    table = Table(rules).deal(dora="5m", S="9m19p19s12345677z", E="111m23456p678s22s", keep="1m")
    table.draw("E", "1m")
    table.ankan("E", "1m")
    return [type(one).__name__ for one in legal(table.state, 1)]


def riichi_poor(rules: Ruleset) -> Any:
    table = Table(rules, scores=(4 * rules.start_points - 60900, 900, 30000, 30000)).deal(
        dora="9m", S=TENPAI
    )
    table.until("S")
    table.draw("S")
    return answer(table, cmd.DeclareRiichi(1))


def riichi_late(rules: Ruleset) -> Any:
    table = Table(rules).deal(dora="9m", W=TENPAI)
    table.avoid("5s8s")
    while table.state.live > 4 or table.state.step != "draw":
        table.turn("ESWN"[table.state.turn])
    table.draw("W")
    assert table.state.live == 3
    return answer(table, cmd.DeclareRiichi(2))


def riichi_kan(rules: Ruleset) -> Any:
    table = Table(rules).deal(dora="6z", S="111222333m45p99s", keep="1m")
    table.avoid("3p6p")
    table.riichi("S")
    table.until("S")
    table.draw("S", "1m")
    return [type(one).__name__ for one in legal(table.state, 1)]


def furiten_riichi(rules: Ruleset) -> Any:
    table = Table(rules).deal(dora="9m", S=TENPAI, keep="5s")
    table.avoid("5s8s")
    table.until("S")
    table.turn("S", "5s")
    table.until("S")
    table.draw("S")
    return answer(table, cmd.DeclareRiichi(1))


def noten_riichi(rules: Ruleset) -> Any:
    table = Table(rules).deal(dora="9m", S="147m147p147s1234z")
    table.until("S")
    table.draw("S")
    return answer(table, cmd.DeclareRiichi(1))


def kan_timing(kind: str) -> Look:
    def look(rules: Ruleset) -> Any:
        if kind == "ankan":
            table = Table(rules).deal(dora="9m", S="111z23456m678p55s", keep="1z")
            table.until("S")
            table.draw("S", "1z")
            table.ankan("S", "1z")
        elif kind == "daiminkan":
            table = Table(rules).deal(dora="9m", S="777z23456m678p55s", E="7z")
            table.discards("E", "7z")
            table.call("daiminkan", "S", "777z")
        else:
            table = Table(rules).deal(dora="9m", S="77z123456m678p55s", E="7z", keep="7z")
            table.discards("E", "7z")
            table.call("pon", "S", "77z")
            table.discard("S", "1m")
            table.until("S")
            table.draw("S", "7z")
            table.kakan("S", "7z")
        return answer(table, cmd.RevealDora(table.junk()))

    return look


def passed_wait(rules: Ruleset) -> Any:
    table = Table(rules).deal(dora="9m", S="345m567s22s56p678m", keep="4p")
    table.avoid("4p7p")
    table.until("W")
    table.turn("W", "4p")
    table.until("S")
    table.draw("S")
    return table.state.seats[1].missed


def first_prompt(**changes: Any) -> Look:
    def look(rules: Ruleset) -> Any:
        game = Player(rules)
        game.start(**changes)
        return game.state.seat_draw, prompt(game.state)

    return look


def one_throw(rules: Ruleset) -> Any:
    game = Player(rules)
    game.start(first_dealer=None, seat_draw=True)
    if game.state.seat_draw is None or game.state.seat_draw.step == "row":
        return game.state.seat_draw
    game.do(cmd.SeatThrow(3, 4))
    return game.state.seat_draw


def first_dealer(rules: Ruleset) -> Any:
    game = Player(rules)
    game.start(first_dealer=None)
    game.do(cmd.SeatThrow(3, 4))
    return game.state.phase, game.state.seat_draw


def wrong_break(rules: Ruleset) -> Any:
    table = Table(rules)
    for one in (cmd.PressStart(), cmd.WallsReady(), cmd.RollDice(3, 4)):
        table.do(one)
    got = decide(table.state, cmd.Report("P43", 0))
    assert isinstance(got, list)
    return got


def wrong_indicator(rules: Ruleset) -> Any:
    table = Table(rules).deal(dora="9m")
    table.turn("E")
    return answer(table, cmd.CorrectDora(0))


def turns_indicator(rules: Ruleset) -> Any:
    table = Table(rules)
    for one in (cmd.PressStart(), cmd.WallsReady(), cmd.RollDice(1, 1), cmd.Deal()):
        table.do(one)
    return prompt(table.state)


def time_before_the_first_discard(rules: Ruleset) -> Any:
    table = Table(rules)
    table.deal(dora="9m")
    table.do(cmd.AbortHand("so that a hand has ended"))
    table.deal(dora="9m")
    return table.do(cmd.CallTime())


def correction(rules: Ruleset) -> Any:
    """A win is taken back when the next hand's walls stand."""
    line = Timeline()
    for number, one in enumerate(
        (
            cmd.StartGame("t", rules.to_dict(), ("a", "b", "c", "d"), knowledge="basic"),
            cmd.PressStart(), cmd.WallsReady(), cmd.RollDice(1, 2), cmd.Deal(), cmd.Win(1, 0, han=1, fu=30),
            cmd.PressStart(),
        )
    ):  # fmt: skip
        assert not isinstance(line.submit(str(number), one), Refusal)
    got = line.submit("undo", cmd.Undo("5"))
    return got.code if isinstance(got, Refusal) else "taken back"


def moment(one: Utterance, moments: Moments, *others: Utterance) -> Look:
    return lambda rules: in_time(rules, one, moments, (one, *others)).stands


NOTHING_YET = Moments()


def together(*utterances: Utterance, moments: Moments = NOTHING_YET) -> Look:
    return lambda rules: [one.stands for one in resolve(rules, 0, utterances, moments)]


def sanctioned(*commands: cmd.Sanction, riichi: bool = False) -> Look:
    def look(rules: Ruleset) -> Any:
        table = Table(rules).deal(dora="9m", S=TENPAI)
        table.avoid("5s8s")
        if riichi:
            table.riichi("S")
        table.until("N")
        got: Any = None
        for one in commands:
            got = decide(table.state, one)
            if isinstance(got, Refusal):
                return got.code
            table.do(one)
        return got, table.state.placement, table.state.scores

    return look


def chombo_and_win(rules: Ruleset) -> Any:
    table = Table(rules, knowledge="basic")
    for one in (cmd.PressStart(), cmd.WallsReady(), cmd.RollDice(2, 3), cmd.Deal()):
        table.do(one)
    table.do(cmd.Win(1, 0, han=1, fu=30))
    return answer(table, cmd.Sanction(2, row="P32"))


def nagashi(rules: Ruleset) -> Any:
    look = reported(
        cmd.ResultDraw("exhaustive", (False, False, False, False), (2,)), honba=1, deposits=1
    )
    return look(rules)


def tenpai_dealer(rules: Ruleset) -> Any:
    return reported(cmd.ResultDraw("exhaustive", (True, False, False, False)))(rules)


def honba(rules: Ruleset) -> Any:
    return reported(cmd.Win(0, 1, han=1, fu=30))(rules)


DRAWN = {"ending": "draw", "dealer_stays": True}
ROWS: dict[str, tuple[Any, Look, str, dict[str, Any]]] = {
    "start_points": (27000, starts, "tenhou", {}),
    "return_points": (25000, final(), "tenhou", {}),
    "target_points": (45000, after(), "tenhou", {}),
    "uma_kind": ("fixed", final(), "jpml-a", {}),
    "uma": ([30000, 10000, -10000, -30000], final(), "tenhou", {}),
    "uma_floating": ([[8000, 4000, -4000, -8000]] * 5, final((41000, 28000, 27000, 24000), 0), "jpml-a", {}),
    "above_water_points": (28000, final((41000, 28000, 27000, 24000), 0), "jpml-a", {}),
    "oka": (0, final(), "tenhou", {}),
    "ties": ("split", final((30000, 30000, 25000, 15000), 0), "tenhou", {}),
    "point_rounding": ("whole_points", final(), "tenhou", {}),
    "leftover_deposits": ("lost", final(), "tenhou", {}),
    "tobi": ("none", after(round_wind=0, scores=(-100, 30000, 30000, 40100)), "tenhou", {}),
    "length": ("tonpuusen", after(round_wind=0, dealer_stays=False), "tenhou", {}),
    "time_limit": ("one_more_hand", time_before_the_first_discard, "mu", {}),
    "extension": ("none", after(dealer_stays=False, scores=(25000,) * 4), "tenhou", {}),
    "overtime_end": ("at_once", after(round_wind=2, hand_number=1, scores=(20000, 20000, 40000, 20000)), "tenhou", {}),
    "agari_yame": ("none", after(), "tenhou", {}),
    "tenpai_yame": ("none", after(**DRAWN), "tenhou", {}),
    "renchan": ("win", tenpai_dealer, "tenhou", {}),
    "honba_counted": (False, honba, "tenhou", {"honba_ron": 0, "honba_tsumo": 0}),
    "honba_on_rotating_draw": (False, after(ending="draw", dealer_stays=False, round_wind=0), "jpml-a", {}),
    "noten_pool": (0, tenpai_dealer, "tenhou", {}),
    "tenpai_exhausted_rule": ("shape", exhausted, "saikouisen", {}),
    "noten_choice": ("free", noten_after_riichi, "saikouisen", {}),
    "declaration_order": ("any_order", out_of_order, "saikouisen", {}),
    "all_tenpai_hai": (False, last_of_four, "saikouisen", {}),
    "kyuushu_kyuuhai": (False, nine_kinds, "tenhou", {}),
    "suufon_renda": (False, four_winds, "tenhou", {}),
    "suucha_riichi": (False, four_riichi, "tenhou", {}),
    "suukaikan": (False, four_kans, "tenhou", {}),
    "sanchahou": (False, three_rons, "tenhou", {}),
    "nagashi_mangan": (False, nagashi, "tenhou", {}),
    "nagashi_honba": (True, nagashi, "tenhou", {}),
    "nagashi_deposits": (True, nagashi, "tenhou", {}),
    "score_announcement": ("totals", said, "jpml-a", {}),
    "kuikae": ("same_tile", called("2m", "3m4m"), "tenhou", {}),
    "call_priority": ("first_spoken", together(Utterance(1, "chi", 0), Utterance(2, "pon", 200)), "jpml-a", {}),
    "call_order": ("free", lambda rules: call_step_error(rules, ("say", "take", "show", "discard")), "mu", {}),
    "shown_tiles_change": ("free", shown_tiles_changed, "saikouisen", {}),
    "call_last_discard": (True, last_discard, "tenhou", {}),
    "kokushi_robs_ankan": (False, kokushi_on_ankan, "ema-2016", {}),
    "riichi_min_points": (0, riichi_poor, "tenhou", {}),
    "riichi_min_live_tiles": (1, riichi_late, "tenhou", {}),
    "riichi_ankan": ("strict", riichi_kan, "tenhou", {}),
    "furiten_riichi": (False, furiten_riichi, "tenhou", {}),
    "noten_riichi": ("punished", noten_riichi, "tenhou", {}),
    "kan_dora_ankan": ("with_discard", kan_timing("ankan"), "saikouisen", {}),
    "kan_dora_kakan": ("with_discard", kan_timing("kakan"), "saikouisen", {}),
    "kan_dora_daiminkan": ("with_discard", kan_timing("daiminkan"), "saikouisen", {}),
    "temporary_furiten_ends": ("own_draw_or_call", passed_wait, "tenhou", {}),
    "seat_draw": ("row_one_throw", one_throw, "saikouisen", {}),
    "first_dealer": ("one_throw", first_dealer, "saikouisen", {}),
    "dealer_marker": (False, first_prompt(), "mu", {}),
    "wrong_break": ("restart_before_discard", wrong_break, "saikouisen", {}),
    "indicator_cutoff": ("first_discard", wrong_indicator, "saikouisen", {}),
    "indicator_turner": ("at_dead_wall", turns_indicator, "saikouisen", {}),
    "hand_begins": ("first_discard", time_before_the_first_discard, "mu", {}),
    "ron_closes": ("next_discard", moment(Utterance(1, "ron", 900), Moments(wall_touched=500)), "saikouisen", {}),
    "head_bump_closes": (
        "simultaneous",
        together(Utterance(3, "ron", 0), Utterance(1, "ron", 900), moments=Moments(hand_shown=1500)),
        "saikouisen", {},
    ),
    "chankan_closes": (
        "replacement_drawn",
        moment(Utterance(1, "ron", 900), Moments(indicator_turned=500, is_kan=True)),
        "saikouisen", {},
    ),
    "pon_closes": (
        "next_draw_ends", moment(Utterance(2, "pon", 900), Moments(draw_starts=500, draw_ends=1200)), "saikouisen", {}
    ),
    "fast_draw_grace_ms": (
        0, moment(Utterance(2, "pon", 900), Moments(draw_starts=500, draw_ends=600)), "ema-2016", {}
    ),
    "chi_opens": ("discard", moment(Utterance(1, "chi", 100), Moments(withdrawn=400)), "saikouisen", {}),
    "correction_closes": ("payment", correction, "saikouisen", {}),
    "chombo_amount": (8000, sanctioned(cmd.Sanction(2, "chombo")), "saikouisen", {}),
    "chombo_paid": ("table", sanctioned(cmd.Sanction(2, "chombo")), "saikouisen", {}),
    "minor_ended_amount": (8000, sanctioned(cmd.Sanction(2, "minor_chombo_ended")), "saikouisen", {}),
    "minor_stop_win_amount": (8000, sanctioned(cmd.Sanction(2, "minor_chombo_stop_win")), "saikouisen", {}),
    "minor_continues_amount": (8000, sanctioned(cmd.Sanction(2, "minor_chombo_continues")), "saikouisen", {}),
    "warnings_free": (0, sanctioned(cmd.Sanction(2, "warning")), "saikouisen", {}),
    "warning_step": (2, sanctioned(*[cmd.Sanction(2, "warning")] * 3), "saikouisen", {}),
    "warning_amount": (1000, sanctioned(*[cmd.Sanction(2, "warning")] * 2), "saikouisen", {}),
    "stop_win_ruled_by": ("players", sanctioned(cmd.Sanction(2, "stop_win", by="players")), "saikouisen", {}),
    "stopped_riichi": ("stays_and_shows", sanctioned(cmd.Sanction(1, row="P22"), riichi=True), "saikouisen", {}),
    "win_and_chombo": ("win", chombo_and_win, "saikouisen", {}),
    "several_infractions": (
        "cumulative", sanctioned(cmd.Sanction(2, "chombo"), cmd.Sanction(2, "chombo")), "saikouisen", {}
    ),
}  # fmt: skip
"""Value → (another value, what to look at, ruleset, options of both)."""


ALONG: dict[str, dict[str, Any]] = {"uma_kind": {"uma_floating": []}}
"""Values that must change together with another to make a ruleset at all."""
