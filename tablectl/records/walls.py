"""A record's wall beside what was drawn from it: each hand, draw, indicator and ura where the wall has it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from tablectl.engine.game.wall import DEAL, DEALERS_FOURTEENTH, INDICATORS, REPLACEMENTS
from tablectl.engine.tiles import BY_NAME, KIND

Difference = tuple[int | None, str, str, str]
"""Event (None: before the first), field, what the record says, what its wall says."""
TILES_IN_SET = 136
COPIES = 4


def wall_differences(round_: Mapping[str, Any]) -> Iterator[Difference]:
    """The first tile of a round that is not where the round's `wall` has it; nothing without a wall."""
    text = round_.get("wall")
    if text is None:
        return
    wall = [text[i : i + 2] for i in range(0, len(text), 2)]
    copies = Counter(KIND[BY_NAME[tile]] for tile in wall)
    if len(wall) != TILES_IN_SET or set(copies.values()) != {COPIES}:
        yield None, "wall", f"{len(wall)} tiles of {len(copies)} kinds", "136 tiles, four of a kind"
        return
    yield from _dealt(round_, wall)
    live, kans, indicators = DEALERS_FOURTEENTH, 0, 1
    for number, event in enumerate(round_["events"]):
        kind = event["e"]
        if kind == "draw":
            if event.get("rinshan"):
                there = wall[REPLACEMENTS[kans]]
                kans += 1
            else:
                there = wall[live]
                live += 1
            if event["t"] != there:
                yield number, "t", event["t"], there
                return
        elif kind == "dora":
            if event["t"] != wall[INDICATORS[indicators]]:
                yield number, "t", event["t"], wall[INDICATORS[indicators]]
                return
            indicators += 1
        elif kind == "win" and event.get("ura"):
            there = ura_in(wall, len(event["ura"]) // 2)
            if event["ura"] != there:
                yield number, "ura", event["ura"], there


def _dealt(round_: Mapping[str, Any], wall: list[str]) -> Iterator[Difference]:
    for seat, hand in enumerate(round_["hands"]):
        there = sorted(wall[t] for t in DEAL[(seat - round_["dealer"]) % 4])
        if sorted(hand[i : i + 2] for i in range(0, len(hand), 2)) != there:
            yield None, "hands", f"seat {seat} {hand}", "".join(there)
    if round_["dora"] != wall[INDICATORS[0]]:
        yield None, "dora", round_["dora"], wall[INDICATORS[0]]


def ura_in(wall: list[str], count: int) -> str:
    """The first `count` ura indicators of a wall as text."""
    return "".join(wall[place + 1] for place in INDICATORS[:count])
