"""Worked cases of the wall's break and of the seat draw, through the commands of a table."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tablectl.engine.game import commands as cmd
from tablectl.engine.game import events as ev
from tablectl.engine.game import wall as w
from tablectl.engine.rules import ids
from tests.game.cases import Case, cases
from tests.game.scripted import SEATS, Table, rules_named
from tests.game.table import PLAYERS, Player

WIND = "ESWN"
PLACES = "ABCD"


def throw(total: int) -> tuple[int, int]:
    """Two dice that show so much together."""
    first = max(1, total - 6)
    return first, total - first


# ---- wall break -----------------------------------------------------------------------------------------


def _broken(ruleset: str, total: int, dealer: int) -> tuple[ev.WallBroken, int]:
    table = Table(ruleset, first_dealer=dealer)
    table.do(cmd.PressStart())
    table.do(cmd.WallsReady())
    events = table.do(cmd.RollDice(*throw(total)))
    return next(event for event in events if isinstance(event, ev.WallBroken)), table.state.dealer


def _check_place(opened: w.Break, wanted: dict[str, Any]) -> None:
    place = opened.place(wanted["draw_index"])
    assert place.ring == wanted["ring_stack"]
    text = f"{WIND[place.wind]}-wall stack {place.stack} from the owner's right "
    assert wanted["place"] == text + ("upper" if place.upper else "lower")
    assert opened.index(place.ring, place.upper) == wanted["draw_index"]


@cases("wall_break")
@pytest.mark.parametrize("dealer", [0, 2])
def test_wall_break(case: Case, dealer: int) -> None:
    situation, expected = case["situation"], case["expected"]
    total = situation.get("dice_sum", 7)
    opened = w.break_wall(total)
    for ruleset in ids():
        event, dealing = _broken(ruleset, total, dealer)
        assert dealing == dealer
        assert (event.wall_seat - dealer) % 4 == opened.wind
        assert (event.stacks, event.first_stack) == (opened.stacks, opened.first)
    for name, value in expected.items():
        _check_break(opened, name, value, situation.get("kans", 0))


def _check_break(opened: w.Break, name: str, value: Any, kans: int) -> None:
    if name == "break_wall_owner":
        assert WIND[opened.wind] == value
    elif name == "stacks_left_at_right":
        assert opened.stacks == value
    elif name == "first_stack_taken":
        found = re.match(r"(.)-wall stack (\d+)", value)
        assert found is not None
        place = opened.place(0)
        assert (WIND[place.wind], place.stack) == (found[1], int(found[2]))
    elif name in (
        "first_tile",
        "first_tile_of_south_draw",
        "dora_indicator",
        "ura_indicator",
        "haitei_initial",
    ):
        index = {
            "first_tile": 0,
            "first_tile_of_south_draw": w.FIRST_LIVE_DRAW,
            "dora_indicator": w.INDICATORS[0],
            "ura_indicator": w.INDICATORS[0] + 1,
            "haitei_initial": w.haitei(0),
        }[name]
        assert value["draw_index"] == index
        _check_place(opened, value)
    elif name in ("dealer_chonchon", "kan_dora_indicators", "kan_ura_indicators", "rinshan_order"):
        wanted = {
            "dealer_chonchon": [w.DEAL[0][-1], w.DEALERS_FOURTEENTH],
            "kan_dora_indicators": list(w.INDICATORS[1:]),
            "kan_ura_indicators": [t + 1 for t in w.INDICATORS[1:]],
            "rinshan_order": list(w.REPLACEMENTS),
        }[name]
        assert [one["draw_index"] for one in value] == wanted[: len(value)]
        for one in value:
            _check_place(opened, one)
    elif name == "dead_wall_ring_stacks":
        assert list(opened.dead_wall_stacks) == value
    elif name == "dead_wall_extends_into":
        winds = {opened.place(t).wind for t in w.DEAD_WALL} - {opened.wind}
        assert [WIND[one] for one in winds] == ([value] if value else [])
    elif name == "deal_by_draw_index":
        for wind, indexes in value.items():
            more = [w.DEALERS_FOURTEENTH] if wind == "E" else []
            assert [*w.DEAL[SEATS[wind]], *more] == indexes
    elif name == "live_draws_after_deal":
        assert value == w.LAST_LIVE - w.FIRST_LIVE_DRAW + 1
    elif name == "dead_wall_size":
        assert len(w.DEAD_WALL) == value
    elif name == "last_live_draw_index":
        assert w.haitei(kans) == value
    elif name == "live_draws_total":
        assert (
            w.haitei(kans) - w.FIRST_LIVE_DRAW + 1 + kans == value
            or w.haitei(kans) - w.FIRST_LIVE_DRAW + 1 == value
        )
    else:
        raise AssertionError(f"{name} is not compared")


# ---- seat draw ------------------------------------------------------------------------------------------


@cases("seat_draw")
def test_seat_draw(case: Case) -> None:
    situation = case["situation"]
    if "shuffler_at" in situation:
        _draw_seats(case)
    else:
        _draw_dealer(case)


def _draw_seats(case: Case) -> None:
    situation, expected = case["situation"], case["expected"]
    game = Player(rules_named(case["ruleset"]))
    game.start(first_dealer=None, seat_draw=True, shuffler=PLACES.index(situation["shuffler_at"]))
    draw = game.state.seat_draw
    assert draw is not None
    thrower = expected.get("thrower_of_roll1", expected.get("thrower"))
    assert draw.thrower is not None
    assert PLACES[draw.thrower] == thrower
    for name in ("roll1", "roll2", "roll"):
        if name in situation:
            game.do(cmd.SeatThrow(*throw(situation[name])))
    draw = game.state.seat_draw
    assert draw is not None
    assert draw.step == "row"
    assert PLACES[draw.east] == expected["provisional_east_seat"]
    if "start_from" in expected:
        assert draw.odd is (expected["start_from"] == "odd-number end")
        return
    assert draw.odd is (expected["direction"] == "from the 1p end")
    row = tuple(SEATS[wind] for wind in situation["row_from_1p_end_to_2p_end"])
    events = game.do(cmd.SeatRow((row[0], row[1], row[2], row[3])))
    drawn = next(event for event in events if isinstance(event, ev.SeatsDrawn))
    assert {PLACES[i]: WIND[wind] for i, wind in enumerate(drawn.winds)} == expected["tiles_taken"]
    for place, player in zip(PLACES, PLAYERS, strict=True):
        assert PLACES[game.state.players.index(player)] == expected["new_physical_seat"][place]


def _draw_dealer(case: Case) -> None:
    situation, expected = case["situation"], case["expected"]
    game = Player(rules_named(case["ruleset"]))
    game.start(first_dealer=None, provisional_east=PLACES.index(situation["provisional_east"]))
    for name in ("roll1", "roll2", "roll"):
        if name in situation:
            assert game.state.phase == "seating"
            game.do(cmd.SeatThrow(*throw(situation[name])))
    thrown = [event for event in game.events() if isinstance(event, ev.SeatThrown)]
    if "provisional_dealer" in expected:
        assert PLACES[thrown[0].points_to] == expected["provisional_dealer"]
    assert game.state.phase == "ready"
    assert PLACES[game.state.dealer] == expected["first_dealer"]


def test_wind_tiles_and_assigned_seats() -> None:
    """WRC and EMA draw wind tiles; where a server assigns seats there is nothing to draw."""
    game = Player(rules_named("wrc-2025"))
    game.start(first_dealer=None, seat_draw=True)
    game.do(cmd.SeatRow((2, 0, 3, 1)))
    assert game.state.phase == "ready"
    assert game.state.players[game.state.dealer] == PLAYERS[1]
    assert game.state.players[(game.state.dealer + 1) % 4] == PLAYERS[3]
    assert game.refuses(cmd.SeatRow((0, 1, 2, 3))).code == "no_row_due"


def test_the_draw_refuses_what_cannot_be() -> None:
    game = Player(rules_named("saikouisen"))
    game.start(first_dealer=None, seat_draw=True)
    assert game.refuses(cmd.SeatThrow(0, 7)).code == "bad_dice"
    assert game.refuses(cmd.PressStart()).code == "seats_not_drawn"
    assert game.refuses(cmd.SeatRow((0, 1, 2, 3))).code == "no_row_due"
    game.do(cmd.SeatThrow(3, 4))
    game.do(cmd.SeatThrow(5, 4))
    assert game.refuses(cmd.SeatThrow(1, 1)).code == "row_due"
    assert game.refuses(cmd.SeatRow((0, 1, 2, 2))).code == "bad_winds"
