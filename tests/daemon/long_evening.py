"""An evening of many games for a hall that runs for long: hands of every kind, games that end by themselves."""

from __future__ import annotations

from typing import Any

from tests.daemon.halls import evening
from tests.sim.games import short

Round = dict[str, Any]
HANEMAN = 2
"""What the win of `short` is worth, as records count limits."""


def long_evening(hands: int) -> dict[str, Any]:
    """A record of at least `hands` hands in games of three and four; each game ends by somebody's bust.

    Riichi with calls and an ankan before it, kyuushu kyuuhai, a hand played to its exhaustive draw.
    """
    riichi, nine, _ = short()["rounds"]
    (draw,) = evening(1)["rounds"]
    rounds: list[Round] = []
    while len(rounds) < hands:
        rounds += [_as(riichi, 0, 0), _as(nine, 0, 1), _as(riichi, 0, 2)]
        rounds += [_as(draw, 0, 0), _as(riichi, 1, 1), _as(nine, 1, 2), _as(riichi, 1, 3)]
    return short() | {"id": f"evening of {len(rounds)} hands", "rounds": rounds}


def begins(round_: Round) -> bool:
    """Whether a hand is the first of its game."""
    return (round_["num"], round_["honba"]) == (1, 0)


def _as(round_: Round, dealer: int, honba: int) -> Round:
    """A hand dealt by somebody else: everybody sits `dealer` seats further on."""

    def seat(old: int) -> int:
        return (old + dealer) % 4

    events = []
    for event in round_["events"]:
        moved = dict(event)
        for key in ("p", "from"):
            if key in moved:
                moved[key] = seat(moved[key])
        if moved["e"] == "win":
            moved |= {"han": None, "fu": None, "limit": HANEMAN, "yakuman": []}
        events.append(moved)
    hands = [""] * 4
    for old, hand in enumerate(round_["hands"]):
        hands[seat(old)] = hand
    return round_ | {
        "wind": "E", "num": dealer + 1, "honba": honba, "dealer": dealer, "hands": hands,
        "events": events,
    }  # fmt: skip
