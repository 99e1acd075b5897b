"""The life of a game: starting, adopting, pausing, time, players, scores; results typed in; undo."""

from __future__ import annotations

import pytest

from tablectl.engine.game import commands as cmd
from tablectl.engine.game import events as ev
from tablectl.engine.game.commands import Refusal
from tablectl.engine.game.decide import decide
from tablectl.engine.game.state import EMPTY
from tablectl.engine.game.timeline import Timeline, fold
from tablectl.engine.game.windows import Moments, Utterance, call_step_error, in_time, resolve
from tablectl.engine.rules import ids, load
from tablectl.engine.tiles import parse, parse_one
from tests.game.scripted import Table
from tests.game.table import PLAYERS, Player, all_declare

# ---- starting and adopting ------------------------------------------------------------------------------


@pytest.mark.parametrize("ruleset", ids())
def test_a_game_starts_with_the_rulesets_points_and_carries_the_rules(ruleset: str) -> None:
    rules = load(ruleset)
    game = Player(rules)
    game.start()
    (started,) = game.events()
    assert isinstance(started, ev.GameStarted)
    assert started.scores == (rules.start_points,) * 4
    assert started.ruleset == rules.to_dict()
    assert started.ruleset_hash == rules.hash
    assert game.state.rules == rules


def start(**changes: object) -> cmd.StartGame:
    return cmd.StartGame("g", load("tenhou").to_dict(), PLAYERS, **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("command", "code"),
    [
        (cmd.PressStart(), "no_game"),
        (cmd.Settle(), "no_game"),
        (cmd.StartGame("g", load("tenhou").to_dict(), ("a", "b", "c", "")), "four_players_only"),
        (cmd.StartGame("g", load("tenhou").to_dict(), ("a", "b", "c", "a")), "same_player_twice"),
        (start(first_dealer=7), "bad_seat"),
        (start(seat_draw=True), "dealer_before_draw"),
        (cmd.StartGame("g", {"id": "tenhou"}, PLAYERS), None),
        (cmd.AdoptGame("g", load("tenhou").to_dict(), PLAYERS, (25000, 25000, 25000, 24900), 0, 0, 1), "scores_do_not_add_up"),
        (cmd.AdoptGame("g", load("tenhou").to_dict(), PLAYERS, (25000,) * 4, 4, 0, 1), "bad_value"),
        (cmd.AdoptGame("g", load("tenhou").to_dict(), PLAYERS, (25000,) * 4, 0, 0, 5), "bad_value"),
    ],
)  # fmt: skip
def test_what_cannot_start_is_refused(command: cmd.Command, code: str | None) -> None:
    answer = decide(EMPTY, command)
    assert isinstance(answer, Refusal)
    assert code is None or answer.code == code
    assert answer.message


def test_a_game_in_progress_is_adopted() -> None:
    table = Table("saikouisen", wind="S", number=3, honba=2, deposits=1)
    assert (
        table.state.round_wind,
        table.state.hand_number,
        table.state.honba,
        table.state.deposits,
    ) == (1, 3, 2, 1)
    assert table.state.dealer == (table.state.first_dealer + 2) % 4
    (started,) = (e for e in table.do(cmd.PressStart()) if isinstance(e, ev.HandStarted))
    assert (started.honba, started.deposits, started.dealer) == (2, 1, table.state.dealer)


def test_pause_and_resume_on_another_day() -> None:
    table = Table("mu").deal(dora="9m")
    table.draw("E")
    table.do(cmd.PauseGame("supper"))
    assert table.refuses(cmd.Discard(0, table.state.seats[0].hand[0])).code == "paused"
    assert table.refuses(cmd.PauseGame()).code == "already_paused"
    table.do(cmd.ReplacePlayer(2, "erika", "Erika"))
    table.do(cmd.ResumeGame())
    assert table.refuses(cmd.ResumeGame()).code == "not_paused"
    table.discard("E")
    assert table.state.players[2] == "erika"


def test_a_hand_is_aborted_and_played_anew() -> None:
    table = Table("saikouisen", honba=1, deposits=1)
    before = table.state.scores
    table.deal(dora="9m", S="234m567p22z67s345s")
    table.avoid("5s8s")
    table.riichi("S")
    table.until("N")
    table.do(cmd.AbortHand("lights out"))
    assert (table.state.scores, table.state.deposits, table.state.honba) == (before, 1, 1)
    assert table.state.replay
    assert table.refuses(cmd.AbortHand("again")).code == "no_hand"


def test_a_game_is_aborted() -> None:
    table = Table("saikouisen").deal(dora="9m")
    table.do(cmd.AbortGame("fire alarm"))
    assert table.state.phase == "ended"
    end = table.ended()
    assert end is not None
    assert end.reason == "aborted"
    assert table.refuses(cmd.PressStart()).code == "game_over"
    answer = decide(table.state, start())
    assert isinstance(answer, list)


def test_time_in_a_hand_makes_it_the_last() -> None:
    table = Table("mu").deal(dora="9m")
    table.draw("E")
    (called,) = table.do(cmd.CallTime())
    assert isinstance(called, ev.TimeCalled)
    assert called.hands_to_play == 1
    assert table.refuses(cmd.CallTime()).code == "time_called_already"
    table.do(cmd.AbortHand("replayed: still the last"))
    assert table.state.hands_to_play == 1
    table.deal(dora="9m")
    table.run_out()
    table.do(all_declare(table.state))
    table.settle()
    end = table.ended()
    assert end is not None
    assert end.reason == "time"


def test_time_between_hands_ends_the_game() -> None:
    table = Table("mu").deal(dora="9m")
    table.run_out()
    table.do(all_declare(table.state))
    table.settle()
    events = table.do(cmd.CallTime())
    assert [event.type for event in events] == ["time_called", "game_ended"]


def test_a_player_is_replaced_and_the_score_stays() -> None:
    table = Table("saikouisen")
    assert table.refuses(cmd.ReplacePlayer(1, PLAYERS[0])).code == "same_player_twice"
    assert table.refuses(cmd.ReplacePlayer(1, "")).code == "no_player"
    table.do(cmd.ReplacePlayer(1, "erika", "Erika", "ill"))
    assert table.state.names[1] == "Erika"
    assert table.state.scores[1] == 30000


def test_scores_are_adjusted_with_a_reason() -> None:
    table = Table("saikouisen")
    assert table.refuses(cmd.AdjustScore((100, -100, 0, 0), " ")).code == "no_reason"
    assert table.refuses(cmd.AdjustScore((10, -10, 0, 0), "x")).code == "bad_amount"
    assert table.refuses(cmd.AdjustScore((0, 0, 0, 0), "x", deposits=-1)).code == "bad_amount"
    table.do(cmd.AdjustScore((1000, -2000, 0, 0), "miscounted", deposits=1))
    assert table.state.scores == (31000, 28000, 30000, 30000)
    assert table.state.deposits == 1


# ---- the start of a hand --------------------------------------------------------------------------------


def test_a_start_press_settles_the_result_that_stands() -> None:
    table = typed("saikouisen")
    table.do(cmd.Win(0, 1, han=1, fu=30))
    events = table.do(cmd.PressStart())
    assert [event.type for event in events] == ["hand_ended", "hand_started"]
    assert table.state.honba == 1


def test_a_start_press_in_a_hand_is_refused() -> None:
    table = Table("saikouisen").deal(dora="9m")
    assert table.refuses(cmd.PressStart()).code == "hand_in_progress"


def test_the_steps_come_in_order() -> None:
    table = Table("saikouisen")
    assert table.refuses(cmd.WallsReady()).code == "no_walls_due"
    assert table.refuses(cmd.RollDice(1, 2)).code == "no_dice_due"
    table.do(cmd.PressStart())
    assert table.refuses(cmd.Deal()).code == "no_deal_due"
    events = table.do(cmd.RollDice(1, 2))  # the throw proves that the walls stand
    assert [event.type for event in events] == ["walls_built", "dice_rolled", "wall_broken"]
    assert table.refuses(cmd.RollDice(1, 2)).code == "no_dice_due"
    table.do(cmd.LayRinshan())
    assert table.refuses(cmd.LayRinshan()).code == "rinshan_laid_already"
    table.do(cmd.Deal())
    table.do(cmd.Draw(0))
    assert table.refuses(cmd.Discard(0, 5)).code == "indicator_due"


def test_a_wall_whose_dice_nobody_read_is_broken_by_its_stacks() -> None:
    thrown, seen = Table("saikouisen"), Table("saikouisen")
    for table in (thrown, seen):
        table.do(cmd.PressStart())
    thrown.do(cmd.RollDice(3, 4))
    events = seen.do(cmd.BreakWall(7))
    assert [event.type for event in events] == ["walls_built", "wall_broken"]
    assert (seen.state.wall, seen.state.dice) == (thrown.state.wall, None)
    assert seen.refuses(cmd.BreakWall(7)).code == "no_dice_due"
    assert Table("saikouisen").refuses(cmd.BreakWall(13)).code == "bad_dice"


def test_a_table_that_deals_by_itself_has_no_dice() -> None:
    game = Player(load("m-league"))
    game.start(auto_deal=True)
    game.do(cmd.PressStart())
    assert game.refuses(cmd.RollDice(1, 2)).code == "no_dice_due"
    assert game.refuses(cmd.BreakWall(3)).code == "no_dice_due"
    game.do(cmd.WallsReady())
    game.do(cmd.Deal())
    game.do(cmd.RevealDora(3))
    game.do(cmd.Draw(0))


def test_a_wrong_deal_is_refused() -> None:
    table = Table("saikouisen")
    for one in (cmd.PressStart(), cmd.WallsReady(), cmd.RollDice(3, 4)):
        table.do(one)
    thirteen = tuple(range(13))
    assert table.refuses(cmd.Deal((thirteen[:12], None, None, None))).code == "wrong_tile_count"
    assert (
        table.refuses(cmd.Deal(((0,) * 5 + tuple(range(1, 9)), None, None, None))).code
        == "five_of_a_kind"
    )
    assert (
        table.refuses(cmd.Deal(((34, *range(12)), None, None, None))).code == "too_many_red_fives"
    )


@pytest.mark.parametrize(
    ("ruleset", "late"),
    [("mu", "indicator_stands"), ("jpml-a", "indicator_stands"), ("saikouisen", None)],
)
def test_a_wrong_indicator_is_put_right_as_the_ruleset_allows(
    ruleset: str, late: str | None
) -> None:
    table = Table(ruleset).deal(dora="9m")
    table.do(cmd.CorrectDora(parse_one("1p")))
    assert table.state.dora == (parse_one("1p"),)
    table.turn("E")
    answer = decide(table.state, cmd.CorrectDora(parse_one("2p")))
    assert (answer.code if isinstance(answer, Refusal) else None) == late


# ---- results typed in -----------------------------------------------------------------------------------


def typed(ruleset: str, **more: object) -> Table:
    table = Table(ruleset, knowledge="basic", **more)  # type: ignore[arg-type]
    for one in (cmd.PressStart(), cmd.WallsReady(), cmd.RollDice(2, 3), cmd.Deal()):
        table.do(one)
    return table


@pytest.mark.parametrize(
    ("win", "code"),
    [
        (cmd.Win(1, 0, han=2, fu=20), "impossible_fu"),
        (cmd.Win(1, 1, han=1, fu=20), "impossible_han"),
        (cmd.Win(1, 0, han=1, fu=25), "impossible_han"),
        (cmd.Win(1, 1, han=2, fu=25), "impossible_han"),
        (cmd.Win(1, 0, han=1, fu=33), "impossible_fu"),
        (cmd.Win(1, 0, han=0, fu=30), "impossible_han"),
        (cmd.Win(1, 0, han=3), "result_needed"),
        (cmd.Win(1, 0), "result_needed"),
        (cmd.Win(1, 0, han=3, fu=30, limit="mangan"), "limit_differs"),
        (cmd.Win(1, 0, han=2, limit="mangan"), "impossible_han"),
        (cmd.Win(1, 0, limit="yakuman", yakuman=9), "impossible_yakuman"),
        (cmd.Win(1, 0, limit="mangan", pao_seat=2), "no_pao"),
        (cmd.Win(4, 0, han=1, fu=30), "bad_seat"),
        (cmd.Win(1, 0, hand=parse("123m"), tile=0, dora=()), "wrong_tile_count"),
        (cmd.Win(1, 0, hand=parse("147m147p147s1234z"), tile=0, dora=()), "not_complete"),
        (cmd.Win(1, 0, hand=parse("23m456p678s11z234p"), tile=0, dora=()), "no_yaku"),
        (cmd.Win(1, 0, hand=parse("23m456p678s11z234p"), tile=0), "dora_unknown"),
        (cmd.Win(1, 0, hand=parse("1111m456p678s11z2p"), tile=0, dora=()), "five_of_a_kind"),
    ],
)  # fmt: skip
def test_an_impossible_result_is_refused(win: cmd.Win, code: str) -> None:
    refusal = typed("tenhou").refuses(win)
    assert refusal.code == code
    assert refusal.message


def test_a_riichi_hand_is_worth_what_riichi_makes_it() -> None:
    table = typed("tenhou")
    table.do(cmd.DeclareRiichi(1))
    assert table.refuses(cmd.Win(1, 0, han=1, fu=30)).code == "impossible_han"
    assert table.refuses(cmd.Win(1, 1, han=2, fu=20)).code == "impossible_han"
    (won,) = table.do(cmd.Win(1, 0, han=2, fu=30))
    assert isinstance(won, ev.Won)
    assert won.deltas == (-2000, 3000, 0, 0)


def test_a_typed_hand_is_scored() -> None:
    table = typed("tenhou")
    (won,) = table.do(
        cmd.Win(1, 0, tile=parse_one("5s"), hand=parse("234m67s99s"), melds=(parse("555z"), parse("234p")), dora=(parse_one("1z"),))
    )  # fmt: skip
    assert isinstance(won, ev.Won)
    assert [(one.name, one.han) for one in won.yaku] == [("haku", 1)]
    assert (won.han, won.fu, won.points) == (1, 30, 1000)


def test_unknown_hands_at_a_table_of_tiles() -> None:
    """The deal was not read: the hand comes with the win and must fit what was seen."""
    table = Table("tenhou")
    for one in (
        cmd.PressStart(),
        cmd.WallsReady(),
        cmd.RollDice(2, 3),
        cmd.Deal(),
        cmd.RevealDora(8),
    ):
        table.do(one)
    table.do(cmd.Draw(0))
    assert table.refuses(cmd.Win(0, 0)).code == "result_needed"
    table.do(cmd.Discard(0, parse_one("5s")))
    hand = parse("234m555z67s99s234p")
    assert table.refuses(cmd.Win(1, 0, hand=hand[:-1], ura=())).code in (
        "hand_differs",
        "wrong_tile_count",
    )
    (won,) = table.do(cmd.Win(1, 0, hand=hand))
    assert isinstance(won, ev.Won)
    assert won.tile == parse_one("5s")


# ---- undo -----------------------------------------------------------------------------------------------


def line_of(ruleset: str, *commands: cmd.Command, physical: tuple[int, ...] = ()) -> Timeline:
    line = Timeline()
    game = cmd.StartGame("t", load(ruleset).to_dict(), PLAYERS, knowledge="basic")
    for number, one in enumerate((game, *commands)):
        answer = line.submit(f"c{number}", one, physical=number in physical)
        assert not isinstance(answer, Refusal), answer
    return line


HAND = (cmd.PressStart(), cmd.WallsReady(), cmd.RollDice(1, 2), cmd.Deal())


def test_the_last_command_is_taken_back() -> None:
    line = line_of("saikouisen", *HAND, cmd.Win(1, 0, han=1, fu=30))
    before = line.entries[-1].before
    answer = line.submit("u", cmd.Undo("c5", "wrong button"))
    assert not isinstance(answer, Refusal)
    ((_, (undone,)),) = answer
    assert isinstance(undone, ev.Undone)
    assert undone.retracted == ("c5",)
    assert line.state.canonical() == before.canonical()
    assert line.last_command_id == "c4"


def test_a_wrong_payment_is_corrected_while_the_next_walls_rise() -> None:
    line = line_of("saikouisen", *HAND, cmd.Win(1, 0, han=1, fu=30), *HAND, physical=(6, 7, 8, 9))
    undo = cmd.Undo("c5", "it was 2 han", cmd.Win(1, 0, han=2, fu=30).to_json())
    answer = line.submit("u", undo)
    assert not isinstance(answer, Refusal)
    assert line.state.phase == "play"
    assert line.state.scores == (28000, 32000, 30000, 30000)
    log = [(i, e) for i, es in answer for e in es]
    assert isinstance(log[0][1], ev.Undone)
    assert log[0][1].retracted == ("c5", "c6", "c7", "c8", "c9")
    assert [entry.physical for entry in line.entries[-5:]] == [False, True, True, True, True]


def test_physical_facts_are_not_taken_back() -> None:
    line = line_of("saikouisen", *HAND, physical=(1, 2, 3, 4))
    answer = line.submit("u", cmd.Undo("c3"))
    assert isinstance(answer, Refusal)
    assert answer.code == "physical_fact"


@pytest.mark.parametrize(
    ("ruleset", "then", "taken_back"),
    [
        ("saikouisen", HAND, True),
        ("jpml-a", HAND[:1], False),
        ("wrc-2025", (cmd.Settle(),), True),
        ("wrc-2025", HAND[:1], False),
        ("tenhou", HAND[:1], False),
        ("saikouisen", (*HAND, cmd.Win(1, 0, han=1, fu=30), cmd.Settle()), False),
    ],
)  # fmt: skip
def test_the_window_of_a_correction(
    ruleset: str, then: tuple[cmd.Command, ...], taken_back: bool
) -> None:
    line = line_of(ruleset, *HAND, cmd.Win(1, 0, han=1, fu=30), *then)
    answer = line.submit("u", cmd.Undo("c5"))
    assert (not isinstance(answer, Refusal)) is taken_back
    if isinstance(answer, Refusal):
        assert answer.code == "undo_closed"


def test_an_unknown_command_cannot_be_taken_back() -> None:
    answer = line_of("saikouisen").submit("u", cmd.Undo("c99"))
    assert isinstance(answer, Refusal)
    assert answer.code == "unknown_command"
    bad = line_of("saikouisen", cmd.PressStart()).submit(
        "u", cmd.Undo("c1", "", {"type": "nonsense"})
    )
    assert isinstance(bad, Refusal)
    assert bad.code == "unknown_command"


def test_the_state_is_the_fold_of_the_log_without_what_was_undone() -> None:
    line = Timeline()
    log: list[tuple[str, ev.Event]] = []
    game = cmd.StartGame("t", load("saikouisen").to_dict(), PLAYERS, knowledge="basic")
    for number, one in enumerate(
        (game, *HAND, cmd.Win(1, 0, han=1, fu=30), cmd.PressStart(), cmd.Undo("c5"), cmd.Win(2, 0, han=3, fu=40), cmd.Settle())
    ):  # fmt: skip
        answer = line.submit(f"c{number}", one)
        assert not isinstance(answer, Refusal), answer
        log += [(ident, event) for ident, events in answer for event in events]
    assert fold(log).canonical() == line.state.canonical()
    again = Timeline()
    by_command: dict[str, list[ev.Event]] = {}
    for ident, event in log:
        by_command.setdefault(ident, []).append(event)
    for ident, events in by_command.items():
        again.restore(ident, None, events)
    assert again.state.canonical() == line.state.canonical()


# ---- claim windows --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ruleset", "one", "moments", "code"),
    [
        ("saikouisen", Utterance(2, "ron", 400), Moments(draw_starts=300, wall_touched=500), ""),
        ("saikouisen", Utterance(2, "pon", 400), Moments(draw_starts=300, wall_touched=500), "pon_too_late"),
        ("saikouisen", Utterance(2, "ron", 600), Moments(draw_starts=300, wall_touched=500), "ron_too_late"),
        ("saikouisen", Utterance(2, "ron", 600), Moments(caller_shows=500), "ron_too_late"),
        ("saikouisen", Utterance(1, "chi", 100), Moments(withdrawn=300), "chi_too_early"),
        ("saikouisen", Utterance(1, "chi", 400), Moments(withdrawn=300), ""),
        ("saikouisen", Utterance(1, "chi", 400), Moments(withdrawn=300, draw_starts=350), "chi_too_late"),
        ("saikouisen", Utterance(1, "ron", 400), Moments(indicator_turned=300, is_kan=True), "ron_too_late"),
        ("saikouisen-classic", Utterance(1, "ron", 400), Moments(replacement_drawn=500, is_kan=True), ""),
        ("ema-2016", Utterance(2, "pon", 2900), Moments(draw_starts=500, draw_ends=1000), ""),
        ("ema-2016", Utterance(2, "pon", 3100), Moments(draw_starts=500, draw_ends=1000), "pon_too_late"),
        ("ema-2016", Utterance(2, "ron", 9000), Moments(draw_ends=1000, next_discard=9500), ""),
        ("ema-2016", Utterance(2, "ron", 9600), Moments(draw_ends=1000, next_discard=9500), "ron_too_late"),
        ("tenhou", Utterance(2, "ron", 9600), Moments(draw_starts=500), ""),
    ],
)  # fmt: skip
def test_claim_window(ruleset: str, one: Utterance, moments: Moments, code: str) -> None:
    judged = in_time(load(ruleset), one, moments)
    assert (judged.code, judged.stands) == (code, not code)
    assert bool(judged.row) is bool(code)


@pytest.mark.parametrize(
    ("ruleset", "utterances", "standing"),
    [
        ("saikouisen", [Utterance(1, "chi", 700), Utterance(3, "pon", 800)], [3]),
        ("saikouisen", [Utterance(1, "chi", 700), Utterance(3, "pon", 800, correct=False)], [1]),
        ("jpml-a", [Utterance(1, "chi", 0), Utterance(3, "pon", 200)], [3]),
        ("jpml-a", [Utterance(1, "chi", 0), Utterance(3, "pon", 900)], [1]),
        ("wrc-2025", [Utterance(1, "chi", 0), Utterance(3, "pon", 100)], [1]),
        ("ema-2016", [Utterance(1, "chi", 0), Utterance(3, "pon", 900)], [3]),
        ("saikouisen", [Utterance(3, "ron", 700), Utterance(1, "ron", 900), Utterance(2, "pon", 0)], [1]),
        ("jpml-a", [Utterance(3, "ron", 0), Utterance(1, "ron", 900)], [3]),
        ("ema-2016", [Utterance(3, "ron", 0), Utterance(1, "ron", 900)], [3, 1]),
        ("jpml-a", [Utterance(3, "pon", 0), Utterance(1, "ron", 900)], [3]),
    ],
)  # fmt: skip
def test_whose_claim_stands(ruleset: str, utterances: list[Utterance], standing: list[int]) -> None:
    judged = resolve(load(ruleset), 0, utterances, Moments(withdrawn=600))
    assert [one.utterance.seat for one in judged if one.stands] == standing


@pytest.mark.parametrize(
    ("ruleset", "steps", "row"),
    [
        ("saikouisen", ("say", "show", "take", "discard"), ""),
        ("saikouisen", ("say", "discard", "show", "take"), "P18"),
        ("saikouisen", ("say",), "P17"),
        ("saikouisen", ("say", "take", "show", "discard"), "P18"),
        ("ema-2016", ("say", "show", "discard", "take"), ""),
    ],
)
def test_the_steps_of_a_call(ruleset: str, steps: tuple[str, ...], row: str) -> None:
    assert call_step_error(load(ruleset), steps) == row


# ---- claims that overtake a draw ------------------------------------------------------------------------


def _late(ruleset: str) -> Table:
    """East throws 8s with riichi; South draws at once; West waits for it, North holds a pair."""
    table = Table(ruleset).deal(
        dora="9m", E="234m567p2z2z67p3s4s5s", W="555z678p3z3z67s123m", N="8s8s", keep="8s1z"
    )
    table.avoid("5s8s5p8p")
    table.draw("E", "8s")
    table.do(cmd.DeclareRiichi(0))
    table.discard("E")
    table.draw("S", "1z")
    assert table.state.deposits == 1
    return table


def test_ema_hears_a_ron_until_the_next_discard() -> None:
    table = _late("ema-2016")
    assert table.may_ron("W")
    assert not table.may_ron("N")
    events = table.do(cmd.Win(2, 0))
    assert [event.type for event in events] == ["draw_returned", "won"]
    assert table.state.live == 69
    ended = table.settle()
    assert (ended.deposits, sum(ended.scores)) == (0, 120000), (
        "the riichi of the ronned tile was not paid"
    )
    closed = _late("ema-2016")
    closed.discard("S")
    assert closed.refuses(cmd.Win(2, 0)).code == "ron_closed"
    assert _late("saikouisen").refuses(cmd.Win(2, 0)).code == "ron_closed"


def test_ema_hears_a_pon_for_three_seconds() -> None:
    table = _late("ema-2016")
    pair = parse("88s")
    assert table.refuses(cmd.Pon(3, pair[0], pair, said_ms=3100)).code == "nothing_to_call"
    events = table.do(cmd.Pon(3, pair[0], pair, said_ms=2900))
    assert [event.type for event in events] == [
        "draw_returned",
        "missed_win",
        "riichi_accepted",
        "called",
    ]
    assert table.state.seats[1].concealed == 13
    assert (table.state.deposits, table.state.turn) == (1, 3)
    assert (
        _late("saikouisen").refuses(cmd.Pon(3, pair[0], pair, said_ms=100)).code
        == "nothing_to_call"
    )
