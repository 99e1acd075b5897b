"""What nobody was shown leaves no trace: the public feed is the same, byte for byte and ms for ms."""

from __future__ import annotations

import copy
import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from hardware_sim.record import load
from tests.conftest import scaled
from tests.daemon.virtual import tiles_bridge
from tests.first_light.games import game_of, scores_at_end, start_request, tenhou_games

GAMES = random.Random("same feed").sample(range(400), scaled(40, 2))


def split(tiles: str) -> list[str]:
    return [tiles[i : i + 2] for i in range(0, len(tiles), 2)]


def never_shown(hand: dict[str, Any], seat: int) -> list[str]:
    """Tiles of a seat's first thirteen that it kept to the end and showed to nobody."""
    events = hand["events"]
    if any(e["e"] == "win" and e["p"] == seat for e in events):
        return []
    if any(e["e"] == "riichi" and e["p"] == seat for e in events):
        return []  # a riichi promises tenpai: other tiles would be another game
    gone: Counter[str] = Counter()
    for event in events:
        if event.get("p") != seat:
            continue
        for name in ("t", "with", "tiles"):
            gone.update(split(event.get(name, "")))
    return sorted(tile for tile in set(split(hand["hands"][seat])) if not gone[tile])


def with_swapped_secrets(game: dict[str, Any], rng: random.Random) -> tuple[dict[str, Any], int]:
    """The same game, but in every hand that was won two seats hold each other's unseen tiles."""
    other = copy.deepcopy(game)
    swaps = 0
    for hand in other["rounds"]:
        hand.pop("wall", None)
        if hand["events"][-1]["e"] != "win":
            continue
        losers = [seat for seat in range(4) if never_shown(hand, seat)]
        pairs = [
            (a, b, x, y)
            for a in losers
            for b in losers
            if a < b
            for x in never_shown(hand, a)
            for y in never_shown(hand, b)
            if x != y
        ]
        if not pairs:
            continue
        for a, b, x, y in rng.sample(pairs, min(2, len(pairs))):
            one, two = split(hand["hands"][a]), split(hand["hands"][b])
            if x not in one or y not in two:
                continue
            one[one.index(x)], two[two.index(y)] = y, x
            hand["hands"][a], hand["hands"][b] = "".join(sorted(one)), "".join(sorted(two))
            swaps += 1
    return other, swaps


def without_wall(game: dict[str, Any]) -> dict[str, Any]:
    """The record as `with_swapped_secrets` leaves it, nothing swapped."""
    plain = copy.deepcopy(game)
    for hand in plain["rounds"]:
        hand.pop("wall", None)
    return plain


def public_feed(game: dict[str, Any], folder: Path, speed: float | None) -> tuple[list[bytes], Any]:
    folder.mkdir()
    path = folder / "game.jsonl"
    path.write_text(json.dumps(game) + "\n", encoding="utf-8")
    bridge = tiles_bridge(load(str(path)), folder, speed=speed)
    _, data = start_request(game)
    bridge.start(**{k: v for k, v in data.items() if k not in ("first_dealer", "players")})
    bridge.play()
    return bridge.public, bridge


@pytest.mark.parametrize(
    ("number", "speed"), [*((number, None) for number in GAMES), (GAMES[0], 1.0)]
)
def test_concealed_tiles_never_shown_do_not_change_the_public_feed(
    number: int, speed: float | None, tmp_path: Path
) -> None:
    ids = tenhou_games()
    game = game_of(ids[number % len(ids)])
    other, swaps = with_swapped_secrets(game, random.Random(number))
    assert swaps >= 2
    assert other["rounds"] != game["rounds"]
    feed, bridge = public_feed(without_wall(game), tmp_path / "one", speed)
    swapped, other_bridge = public_feed(other, tmp_path / "two", speed)
    assert list(bridge.state.scores) == scores_at_end(game)
    hands = [e.body for e in bridge.events if e.type == "dealt"]
    assert hands != [e.body for e in other_bridge.events if e.type == "dealt"]
    assert feed == swapped
