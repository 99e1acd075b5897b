"""Part 2 of the rules: P1–P50 under every ruleset, what each class costs, the worked penalty cases."""

from __future__ import annotations

import pytest

from tablectl.engine.game import commands as cmd
from tablectl.engine.game import events as ev
from tablectl.engine.game.events import mask_event
from tablectl.engine.game.state import GameState
from tests.game.cases import Case, cases
from tests.game.scripted import SEATS, Table, rules_named
from tests.game.table import all_declare
from tests.rules.test_presets import INFRACTIONS, LETTERS, SECOND

# What a class costs in placement points (1/1000 pt), whether it ends the hand, whether it stops a win.
COST = {
    "saikouisen": {"chombo": 20000, "minor_chombo_ended": 10000, "minor_chombo_stop_win": 10000, "minor_chombo_continues": 10000},
    "saikouisen-classic": {"chombo": 16000, "minor_chombo_ended": 10000, "minor_chombo_stop_win": 10000, "minor_chombo_continues": 10000},
    "mu": {"chombo": 20000},
    "jpml-a": {"chombo": 20000},
    "jpml-a-2023": {"chombo": 20000},
    "m-league": {"chombo": 20000},
    "wrc-2025": {"chombo": 30000},
    "ema-2016": {"chombo": 20000},
}  # fmt: skip
ENDS = {"chombo", "minor_chombo_ended", "restart"}
STOPS = {"minor_chombo_stop_win", "stop_win"}
TENPAI = "234m567p22z67s345s"


def table_in_play(ruleset: str) -> Table:
    """South is in riichi, one deposit lay there before, one honba: a hand that can be voided."""
    table = Table(ruleset, number=2, honba=1, deposits=1, first_dealer=0)
    table.deal(dora="9m", N=TENPAI)
    table.avoid("5s8s")
    table.riichi("N")
    table.until("W")
    return table


CELLS = [
    (ruleset, number, LETTERS[letter])
    for ruleset, row in INFRACTIONS.items()
    for number, letter in enumerate(row.replace(" ", ""), start=1)
    if letter != "-"
]


@pytest.mark.parametrize(
    ("ruleset", "number", "wanted"), CELLS, ids=[f"{r}-P{n}-{c}" for r, n, c in CELLS]
)
def test_infraction(ruleset: str, number: int, wanted: str) -> None:
    early = SECOND.get((ruleset, number), ("", ""))[1] == "after_first_discard"
    if early or (ruleset.startswith("jpml") and number == 43):
        table = Table(ruleset, number=2, honba=1, deposits=1, first_dealer=0).deal(dora="9m")
    else:
        table = table_in_play(ruleset)
    seat = table.seat("S")
    report = cmd.Report(f"P{number}", seat)
    if wanted == "legal":
        assert table.refuses(report).code == "legal_here"
        return
    before = table.state
    (found,) = table.do(report)
    assert isinstance(found, ev.Found)
    assert found.proposed == wanted
    assert mask_event(found, "public") is None
    assert found.article
    table.do(cmd.SettleFinding(found.finding, upheld=True))
    sanction = [event for event in table.events() if isinstance(event, ev.Sanctioned)][-1]
    cost = COST[ruleset].get(wanted, 0)
    assert sanction.placement == -cost
    assert sanction.row == f"P{number}"
    assert table.state.placement[seat] == -cost
    assert table.state.scores == (before.scores if wanted not in ENDS else _returned(before))
    _check_effect(table, seat, wanted)


def _returned(state: GameState) -> tuple[int, ...]:
    """Scores with the riichi sticks of the hand taken back."""
    pairs = zip(state.scores, state.seats, strict=True)
    return tuple(score + (1000 if seat.riichi == 2 else 0) for score, seat in pairs)


def _check_effect(table: Table, seat: int, wanted: str) -> None:
    state = table.state
    if wanted in ENDS:
        # 2.2.4: replayed, honba unchanged, sticks of the hand back, earlier deposits stay.
        honba = 1 if table.rules.honba_counted else 0
        assert (state.phase, state.replay, state.honba, state.deposits) == ("ready", True, honba, 1)
        assert (state.round_wind, state.hand_number) == (0, 2)
        (started,) = (e for e in table.do(cmd.PressStart()) if isinstance(e, ev.HandStarted))
        assert started.replay
        assert not any(one.riichi for one in table.state.seats)
        return
    assert state.phase == "play"
    assert state.seats[seat].stopped is (wanted in STOPS)
    assert state.warnings[seat] == (1 if wanted == "warning" else 0)
    if wanted in STOPS:
        _check_stopped(table, seat)


def _check_stopped(table: Table, seat: int) -> None:
    """2.2.1: draws and discards, but no call, no riichi, no win; noten at the draw."""
    wind = "ESWN"[table.state.wind(seat)]
    table.until(wind)
    table.draw(wind)
    assert not table.may(wind, cmd.DeclareRiichi)
    assert table.refuses(cmd.DeclareRiichi(seat)).row == "P39"
    table.discard(wind)
    table.run_out()
    drawn = next(e for e in table.do(all_declare(table.state)) if isinstance(e, ev.HandDrawn))
    assert drawn.tenpai is not None
    assert drawn.tenpai[seat] is False


@pytest.mark.parametrize(("ruleset", "number"), SECOND, ids=[f"{r}-P{n}" for r, n in SECOND])
def test_second_class_of_an_infraction(ruleset: str, number: int) -> None:
    wanted, when = SECOND[ruleset, number]
    table = table_in_play(ruleset)
    seat = table.seat("S")
    tiles = {
        "two_or_more_tiles": 2,
        "five_or_more_tiles": 5,
        "more_than_five_tiles": 6,
        "by_exposed_tiles": 5,
    }
    if when == "repeated":
        (found,) = table.do(cmd.Report(f"P{number}", seat))
        assert isinstance(found, ev.Found)
        table.do(cmd.SettleFinding(found.finding, upheld=True))
        report = cmd.Report(f"P{number}", seat)
    elif when in tiles:
        report = cmd.Report(f"P{number}", seat, tiles=tiles[when])
    elif when == "after_first_discard":
        report = cmd.Report(f"P{number}", seat)  # the dealer has discarded
    else:
        report = cmd.Report(f"P{number}", seat, circumstances=(when,))
    if wanted == "legal":
        assert table.refuses(report).code == "legal_here"
        return
    (found,) = table.do(report)
    assert isinstance(found, ev.Found)
    assert found.proposed == wanted


# ---- the worked penalty cases -------------------------------------------------------------------------


@cases("penalty")
def test_penalty(case: Case) -> None:
    PENALTY[case["id"]](case)


def _settle(table: Table, row: str, wind: str, **more: object) -> ev.Sanctioned:
    (found,) = (
        e for e in table.do(cmd.Report(row, table.seat(wind), **more)) if isinstance(e, ev.Found)
    )  # type: ignore[arg-type]
    events = table.do(cmd.SettleFinding(found.finding, upheld=True))
    return next(event for event in events if isinstance(event, ev.Sanctioned))


def _pt(sanction: ev.Sanctioned, case: Case) -> None:
    wanted = case["expected"].get("pt", {})
    assert {w: p * 1000 for w, p in wanted.items()} == (
        {} if not sanction.placement else {case["situation"]["offender"]: sanction.placement}
    )


def _replayed(table: Table, before: object, honba: int, deposits: int) -> None:
    state = table.state
    assert (state.phase, state.replay) == ("ready", True)
    assert (state.scores, state.honba, state.deposits) == (before, honba, deposits)


def _play_table(ruleset: str, **more: object) -> tuple[Table, object]:
    table = Table(ruleset, **more)  # type: ignore[arg-type]
    before = table.state.scores
    table.deal(dora="9m", S=TENPAI, N="345m345p678p3z3z67s")
    table.avoid("5s8s")
    return table, before


def _by_row(row: str, riichi: bool = False, **more: object):  # type: ignore[no-untyped-def]
    def check(case: Case) -> None:
        table, _ = _play_table(case["ruleset"])
        if riichi:
            table.riichi("S")
        table.until("W")
        sanction = _settle(table, row, case["situation"]["offender"], **more)
        _pt(sanction, case)
        text = case["expected"]["sanction"]
        ends = "hand ended" in text or text in ("chombo", "treated as noten riichi = chombo")
        assert sanction.ends_hand is ends
        assert sanction.stops_win is ("stop-win" in text or "agari-houki" in text)

    return check


def _pn01(case: Case) -> None:
    table = Table(case["ruleset"], number=2, honba=1, deposits=1, first_dealer=3)
    before = table.state.scores
    table.deal(dora="9m", S=TENPAI)
    table.avoid("5s8s")
    table.riichi("S")
    table.until("N")
    assert table.state.deposits == 2
    refusal = table.refuses(cmd.Win(table.seat("W"), table.seat("S")))
    assert refusal.row == "P1"
    sanction = _settle(table, "P1", "W")
    assert sanction.placement == -20000
    _replayed(table, before, 1, 1)
    (ended,) = (e for e in table.events() if isinstance(e, ev.HandEnded))
    assert ended.deltas[table.seat("S")] == 1000


def _noten_riichi_at_the_draw(ruleset: str) -> Table:
    table = Table(ruleset).deal(dora="9m", S="147m147p147s1234z")
    table.until("S")
    table.draw("S")
    table.do(cmd.DeclareRiichi(1))
    table.discard("S")
    table.run_out()
    return table


def _pn03(case: Case) -> None:
    table = _noten_riichi_at_the_draw(case["ruleset"])
    secret = [event for event in table.events() if isinstance(event, ev.Found)]
    assert [(one.row, one.secret) for one in secret] == [("P6", True)]
    # It comes to light when the hand is shown, before anything is paid.
    for seat in (0, 1, 2, 3):
        table.do(cmd.DeclareTenpai(seat) if seat == 1 else cmd.DeclareNoten(seat))
    found = [event for event in table.events() if isinstance(event, ev.Found) and not event.secret]
    assert [one.row for one in found] == ["P6"]
    assert table.refuses(cmd.Settle()).code == "finding_open"
    events = table.do(cmd.SettleFinding(found[0].finding, upheld=True))
    sanction = next(event for event in events if isinstance(event, ev.Sanctioned))
    _pt(sanction, case)
    assert sanction.ends_hand
    assert table.state.replay
    assert table.state.scores == (30000,) * 4
    assert table.state.deposits == 0


def _pn04(case: Case) -> None:
    table = _noten_riichi_at_the_draw(case["ruleset"])
    for seat in range(4):
        table.do(cmd.DeclareNoten(seat))
    assert not any(isinstance(event, ev.Found) for event in table.events())
    ended = table.settle()
    assert ended.reason == "exhaustive"
    assert ended.deposits == 1


def _pn05(case: Case) -> None:
    table = Table(case["ruleset"]).deal(dora="9m", N="234s567m567p112z3z", W="1s")
    table.discards("W", "1s")
    table.call("chi", "N", "23s")
    events = table.discard("N", "4s")
    (found,) = (event for event in events if isinstance(event, ev.Found))
    assert (found.row, found.certainty, found.secret) == ("P14", "certain", False)
    (settled, sanction) = table.do(cmd.SettleFinding(found.finding, upheld=True))
    assert isinstance(settled, ev.FindingSettled)
    assert isinstance(sanction, ev.Sanctioned)
    _pt(sanction, case)
    assert sanction.stops_win
    assert not sanction.ends_hand


def _pn06(case: Case) -> None:
    table, _ = _play_table(case["ruleset"])
    table.until("W")
    _settle(table, "P14", "N")
    table.until("W")
    table.turn("W", discards=None)
    assert not [one for one in (cmd.Chi, cmd.Pon) if table.may("N", one)]
    sanction = _settle(table, "P39", "N")
    _pt(sanction, case)
    assert sanction.stops_win
    assert table.state.placement[3] == -20000
    assert table.state.phase == "play"


def _pn07(case: Case) -> None:
    table = Table(case["ruleset"]).deal(dora="9m", E=TENPAI)
    table.avoid("5s8s")
    table.riichi("E")
    table.until("E")
    sanction = _settle(table, "P22", "E")
    _pt(sanction, case)
    assert sanction.sanction == "chombo"
    assert table.state.scores == (30000,) * 4


def _pn08(case: Case) -> None:
    wanted = {2: "warning", 4: "minor_chombo_continues", 5: "chombo"}
    rows = {2: "P27", 4: "P28", 5: "P29"}
    for tiles in case["situation"]["acts"]:
        table, _ = _play_table(case["ruleset"])
        table.until("S")
        assert _settle(table, rows[tiles], "W", tiles=tiles).sanction == wanted[tiles]
        again, _ = _play_table(case["ruleset"])
        again.until("S")
        assert _settle(again, "P31", "W", tiles=tiles).sanction == wanted[tiles]


def _pn09(case: Case) -> None:
    table, _ = _play_table(case["ruleset"])
    table.until("W")
    costs = [_settle(table, "P33", "S").placement for _ in range(case["situation"]["warnings"])]
    assert costs == [0, -5000, -5000]
    assert table.state.placement[1] == case["expected"]["pt"]["S"] * 1000
    assert table.state.warnings[1] == 3


def _pn10(case: Case) -> None:
    table = Table(case["ruleset"])
    for command in (cmd.PressStart(), cmd.WallsReady(), cmd.RollDice(3, 4)):
        table.do(command)
    hands = (tuple(range(12)), tuple(range(13, 26)), None, None)
    assert table.refuses(cmd.Deal(hands)).row == "P25"
    sanction = _settle(table, "P25", "E")
    _pt(sanction, case)
    assert sanction.ends_hand
    assert table.state.replay


def _pn12(case: Case) -> None:
    table = Table(case["ruleset"]).deal(dora="9m", N="147m147p147s1234z", S=TENPAI)
    table.avoid("5s8s")
    table.run_out()
    table.do(cmd.DeclareNoten(0))
    table.do(cmd.DeclareTenpai(1))
    table.do(cmd.DeclareNoten(2))
    events = table.do(cmd.DeclareTenpai(3))
    (found,) = (event for event in events if isinstance(event, ev.Found))
    assert (found.row, found.proposed) == ("P12", "minor_chombo_continues")
    (_, sanction) = table.do(cmd.SettleFinding(found.finding, upheld=True))
    assert isinstance(sanction, ev.Sanctioned)
    _pt(sanction, case)
    assert table.settle().deltas == (-1000, 3000, -1000, -1000)


def _mu_chombo(variant: str):  # type: ignore[no-untyped-def]
    def check(case: Case) -> None:
        table = Table(rules_named(case["ruleset"], chombo=variant)).deal(dora="9m")
        table.until("S")
        sanction = _settle(table, "P1", "W")
        _pt(sanction, case)
        assert sanction.score == case["expected"].get("points", {}).get("W", 0)
        assert sanction.ends_hand
        assert sum(table.state.scores) == 120000 + sanction.score
        assert table.state.off_table == -sanction.score

    return check


def _pn15(case: Case) -> None:
    table, _ = _play_table(case["ruleset"])
    table.until("S")
    # M70(6): it takes effect when the others do not object; no referee is needed.
    (sanction,) = table.do(cmd.Sanction(2, row="P2", by="players"))
    assert isinstance(sanction, ev.Sanctioned)
    assert (sanction.sanction, sanction.placement, sanction.stops_win) == ("stop_win", 0, True)
    sk, _ = _play_table("saikouisen")
    assert sk.refuses(cmd.Sanction(2, "stop_win", by="players")).code == "referee_needed"


def _pn16(case: Case) -> None:
    table, _ = _play_table(case["ruleset"])
    table.do(cmd.Sanction(2, "stop_win"))
    table.until("S")
    sanction = _settle(table, "P39", "W")
    _pt(sanction, case)
    assert sanction.ends_hand


def _win_and_false_win(case: Case, offender: str) -> None:
    table = Table(case["ruleset"]).deal(dora="9m", S="234m555z67s234p99p", keep="8s")
    table.avoid("5s8s")
    table.until("E")
    table.draw("E", "8s")
    table.discard("E")
    table.win("S", "E")
    assert table.refuses(cmd.Sanction(SEATS[offender], row="P1")).code == "win_stands"
    (found,) = table.do(cmd.Report("P1", SEATS[offender]))
    assert isinstance(found, ev.Found)
    (settled,) = table.do(cmd.SettleFinding(found.finding, upheld=True))
    assert isinstance(settled, ev.FindingSettled)
    assert not settled.upheld
    assert table.settle().reason == "win"
    assert table.state.placement == (0, 0, 0, 0)


def _pn18(case: Case) -> None:
    table, _ = _play_table(case["ruleset"])
    table.until("S")
    table.do(cmd.Sanction(0, row="P1"))
    table.do(cmd.Sanction(0, row="P32"))
    assert table.state.placement[0] == case["expected"]["pt"]["E"] * 1000
    # Elsewhere the first act ended the hand; the second counts only if it came before the stop.
    sk, _ = _play_table("saikouisen")
    sk.until("S")
    sk.do(cmd.Sanction(0, row="P1"))
    assert sk.refuses(cmd.Sanction(0, row="P32")).code == "hand_ended_already"
    sk.do(cmd.Sanction(0, row="P32", circumstances=("before_stop",)))
    assert sk.state.placement[0] == -40000


def _pn19(case: Case) -> None:
    table = Table(case["ruleset"]).deal(dora="9m", S=TENPAI)
    table.avoid("5s8s")
    table.riichi("S")
    table.until("W")
    table.do(cmd.Sanction(1, "stop_win"))
    table.run_out()
    for seat in range(4):
        events = table.do(cmd.DeclareNoten(seat))
        if seat == 1:
            (found,) = (event for event in events if isinstance(event, ev.Found))
    assert (found.row, found.proposed) == ("P11", "chombo")
    events = table.do(cmd.SettleFinding(found.finding, upheld=True))
    sanction = next(event for event in events if isinstance(event, ev.Sanctioned))
    _pt(sanction, case)
    assert sanction.ends_hand


def _pn21(case: Case) -> None:
    table = Table(case["ruleset"]).deal(dora="9m", N="345m567p345s1123z", W="3m")
    table.discards("W", "3m")
    table.call("chi", "N", "45m")
    (found,) = (e for e in table.discard("N", "3m") if isinstance(e, ev.Found))
    assert (found.row, found.proposed) == ("P14", "chombo")


def _pn22(case: Case) -> None:
    table = Table(case["ruleset"]).deal(dora="9m", N="456m567p345s1123z", W="3m")
    table.discards("W", "3m")
    table.call("chi", "N", "45m")
    assert not any(isinstance(event, ev.Found) for event in table.discard("N", "6m"))
    assert case["expected"]["sanction"] == "none"


def _pn24(case: Case) -> None:
    for circumstances, wanted in ((), "stop_win"), (("after_discard",), "chombo"):
        table, _ = _play_table(case["ruleset"])
        table.until("S")
        assert table.refuses(cmd.Draw(2, 0)).row == "P23"
        assert _settle(table, "P23", "W", circumstances=circumstances).sanction == wanted


def _pn25(case: Case) -> None:
    table = Table(case["ruleset"])
    for command in (cmd.PressStart(), cmd.WallsReady(), cmd.RollDice(3, 4)):
        table.do(command)
    (found,) = table.do(cmd.Report("P43", 0))
    assert isinstance(found, ev.Found)
    assert found.proposed == "restart"
    table.do(cmd.SettleFinding(found.finding, upheld=True))
    assert table.state.replay
    assert table.state.placement == (0, 0, 0, 0)
    late, _ = _play_table(case["ruleset"])
    late.until("S")
    assert late.refuses(cmd.Report("P43", 0)).code == "legal_here"


def _pn26(case: Case) -> None:
    table = Table(case["ruleset"], honba=2)
    table.deal(dora="9m", S=TENPAI, N="345m345p678p3z3z45s")
    table.avoid("5s8s3s6s")
    table.riichi("S")
    table.riichi("N")
    table.until("S")
    assert table.state.deposits == 2
    sanction = _settle(table, "P1", "W")
    _pt(sanction, case)
    _replayed(table, (30000,) * 4, 2, 0)


def _pn28(case: Case) -> None:
    table, _ = _play_table(case["ruleset"])
    table.until("S")
    costs = [_settle(table, "P34", "W").placement for _ in range(2)]
    assert costs == [0, -20000]
    assert table.state.placement[2] == case["expected"]["pt"]["W"] * 1000


def _pn30(case: Case) -> None:
    table, before = _play_table(case["ruleset"])
    table.until("S")
    _pt(_settle(table, "P1", "N"), case)
    _replayed(table, before, 0, 0)


PENALTY = {
    "PN-01": _pn01,
    "PN-02": _by_row("P1"),
    "PN-03": _pn03,
    "PN-04": _pn04,
    "PN-05": _pn05,
    "PN-06": _pn06,
    "PN-07": _pn07,
    "PN-08": _pn08,
    "PN-09": _pn09,
    "PN-10": _pn10,
    "PN-11": _by_row("P26"),
    "PN-12": _pn12,
    "PN-13": _mu_chombo("A"),
    "PN-14": _mu_chombo("B"),
    "PN-15": _pn15,
    "PN-16": _pn16,
    "PN-17": lambda case: _win_and_false_win(case, case["situation"]["false"]),
    "PN-18": _pn18,
    "PN-19": _pn19,
    "PN-20": _by_row("P9"),
    "PN-21": _pn21,
    "PN-22": _pn22,
    "PN-23": _by_row("P17"),
    "PN-24": _pn24,
    "PN-25": _pn25,
    "PN-26": _pn26,
    "PN-27": _by_row("P30"),
    "PN-28": _pn28,
    "PN-29": lambda case: _win_and_false_win(case, case["situation"]["offender"]),
    "PN-30": _pn30,
}


# ---- what else the referee can do -----------------------------------------------------------------------


def test_a_finding_is_dismissed() -> None:
    table, _ = _play_table("saikouisen")
    table.until("S")
    (found,) = table.do(cmd.Report("P47", 2))
    assert isinstance(found, ev.Found)
    (settled,) = table.do(cmd.SettleFinding(found.finding, upheld=False))
    assert isinstance(settled, ev.FindingSettled)
    assert table.refuses(cmd.SettleFinding(found.finding, upheld=True)).code == "settled_already"
    assert table.refuses(cmd.SettleFinding(99, upheld=True)).code == "unknown_finding"
    assert table.state.placement == (0, 0, 0, 0)


def test_the_class_can_be_changed() -> None:
    table, _ = _play_table("saikouisen")
    table.until("S")
    (found,) = table.do(cmd.Report("P42", 2))
    assert isinstance(found, ev.Found)
    (_, sanction) = table.do(cmd.SettleFinding(found.finding, upheld=True, sanction="caution"))
    assert isinstance(sanction, ev.Sanctioned)
    assert (sanction.sanction, sanction.placement) == ("caution", 0)


def test_sanctions_join_the_final_points() -> None:
    table = Table("saikouisen", wind="S", number=4, first_dealer=0, knowledge="basic")
    for command in (cmd.PressStart(), cmd.WallsReady(), cmd.RollDice(2, 3), cmd.Deal()):
        table.do(command)
    table.do(cmd.Sanction(1, "minor_chombo_continues"))
    table.do(cmd.ResultDraw("exhaustive", (False, True, False, False)))
    table.do(cmd.Settle())
    end = table.ended()
    assert end is not None
    assert end.points[1] == 3000 + 30000 - 10000
    assert end.ranks[1] == 1, "a sanction never changes the rank"


def test_a_secret_finding_is_told_to_the_referee_only_when_the_hand_is_over() -> None:
    table = _noten_riichi_at_the_draw("saikouisen")
    for event in table.events():
        if isinstance(event, ev.Found | ev.FindingDisclosed):
            assert all(mask_event(event, viewer) is None for viewer in ("public", 0, 1, 2, 3))
    table.do(cmd.ResultDraw("exhaustive", (False, True, False, False)))
    assert [event.secret for event in table.events() if isinstance(event, ev.Found)] == [
        True,
        False,
    ]


def test_disqualification_is_recorded() -> None:
    table, _ = _play_table("saikouisen")
    table.until("S")
    (sanction,) = table.do(cmd.Sanction(2, row="P49"))
    assert isinstance(sanction, ev.Sanctioned)
    assert sanction.sanction == "disqualification"
