"""Live reckoning: worth of waits, the end now, and conditions, checked by playing them out."""

from __future__ import annotations

import random

import pytest

from tablectl.engine.game import commands as cmd
from tablectl.engine.game import events as ev
from tablectl.engine.game.commands import Refusal
from tablectl.engine.game.decide import decide
from tablectl.engine.game.ending import standing
from tablectl.engine.game.reckoning import conditions, ending_now, is_last_hand, wins_now
from tablectl.engine.game.state import EMPTY
from tablectl.engine.rules import ids
from tablectl.engine.tiles import parse_one
from tests.conftest import scaled
from tests.game.scripted import Table
from tests.game.test_life import typed


def test_waits_and_what_is_left_of_them() -> None:
    table = Table("tenhou").deal(dora="5s", S="234m567p22z67s345p", W="8s8s", keep="8s")
    table.avoid("5s8s")
    table.until("W")
    table.turn("W", discards="8s")
    worth = {one.tile: one for one in wins_now(table.state, 1)}
    assert set(worth) == {parse_one("5s"), parse_one("8s")}
    assert worth[parse_one("5s")].left == 3  # one is the indicator
    assert worth[parse_one("8s")].left == 3  # one in a river
    assert worth[parse_one("8s")].ron is None, "no yaku without riichi"
    assert worth[parse_one("8s")].tsumo is not None
    assert wins_now(table.state, 0) == ()


def test_what_a_seat_wins_is_what_it_then_wins() -> None:
    table = Table("tenhou").deal(dora="1m", S="345m567p22p67s345m", keep="8s")
    table.avoid("5s8s")
    table.until("N")
    (_, eight) = wins_now(table.state, 1)
    table.draw("N", "8s")
    table.discard("N")
    assert table.win("S", "N").points == eight.ron


def test_in_furiten_there_is_no_ron() -> None:
    table = Table("tenhou").deal(dora="1m", S="345m567p22p67s345m", keep="8s")
    table.avoid("5s8s")
    table.until("S")
    table.turn("S", "8s")
    assert [one.ron for one in wins_now(table.state, 1)] == [None, None]
    assert all(one.tsumo for one in wins_now(table.state, 1))


def test_the_end_now_follows_the_ruleset() -> None:
    table = typed("m-league", scores=(41000, 30000, 20000, 8000), deposits=1)
    result = ending_now(table.state)
    assert result is not None
    assert result.points == (62000, 10000, -20000, -52000)
    assert ending_now(EMPTY) is None


def test_the_last_hand_is_known() -> None:
    assert not is_last_hand(typed("saikouisen").state)
    assert is_last_hand(typed("saikouisen", wind="S", number=4).state)
    table = typed("mu")
    table.do(cmd.CallTime())
    assert is_last_hand(table.state)


def test_conditions_by_hand() -> None:
    """South is 4,000 behind East, North deals; level with East counts as first (the place is shared)."""
    table = typed(
        "saikouisen", wind="S", number=4, first_dealer=0, scores=(34000, 30000, 29000, 27000)
    )
    first = {c.source: c for c in conditions(table.state) if c.seat == 1 and c.rank == 1}
    assert first[0].points == 2000  # 32,000 each
    assert first[2].points == 4500  # 3,900 would leave 100
    assert first[3].points == 4500
    assert first[None].points == 3200  # 800-1600: 33,200 each


@pytest.mark.parametrize("ruleset", ids())
def test_conditions_hold_when_they_are_played_out(ruleset: str) -> None:
    rng = random.Random(ruleset)
    for _ in range(scaled(60, 6)):
        table = _random_last_hand(ruleset, rng)
        now = ending_now(table.state)
        assert now is not None
        found = conditions(table.state)
        assert len({(c.seat, c.source, c.rank) for c in found}) == len(found)
        for one in found:
            assert one.rank < now.ranks[one.seat]
            command = cmd.Win(
                one.seat,
                one.seat if one.source is None else one.source,
                han=one.han,
                fu=one.fu,
                limit=None if one.limit == "none" else one.limit,  # type: ignore[arg-type]
            )
            answer = decide(table.state, command)
            assert not isinstance(answer, Refusal), answer
            (won,) = answer
            assert isinstance(won, ev.Won)
            assert won.points == one.points
            after = tuple(s + d for s, d in zip(table.state.scores, won.deltas, strict=True))
            assert standing(table.rules, after, 0, 0).ranks[one.seat] == one.rank  # type: ignore[arg-type]


def _random_last_hand(ruleset: str, rng: random.Random) -> Table:
    start = Table(ruleset).rules.start_points
    deposits = rng.randrange(3)
    scores = [start + 100 * rng.randrange(-120, 121) for _ in range(3)]
    scores.append(4 * start - 1000 * deposits - sum(scores))
    return typed(
        ruleset, wind="S", number=4, first_dealer=0, honba=rng.randrange(4), deposits=deposits,
        scores=tuple(scores),
    )  # fmt: skip
