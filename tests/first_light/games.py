"""Records of ../shared as the tests of the whole way need them: what to ask for, what must come out."""

from __future__ import annotations

import json
import lzma
from functools import cache
from typing import Any

from tests.conftest import shared_path


@cache
def _all() -> dict[str, dict[str, Any]]:
    with lzma.open(shared_path("data/games.jsonl.xz"), "rt", encoding="utf-8") as lines:
        return {game["id"]: game for game in map(json.loads, lines)}


def game_of(game_id: str) -> dict[str, Any]:
    """One game of the file."""
    return _all()[game_id]


def tenhou_games() -> list[str]:
    """Ids of the games played on Tenhou, in order."""
    return sorted(i for i, game in _all().items() if game["rules"]["site"] == "tenhou")


def start_request(game: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """`game/start` as the record's game was set up."""
    rules = game["rules"]
    return "game/start", {
        "ruleset": "tenhou",
        "options": {
            "length": "tonpuusen" if rules["length"] == "east" else "hanchan",
            "kuitan": rules["kuitan"],
            "aka": rules["red"],
        },
        "players": ["P0", "P1", "P2", "P3"],
        "first_dealer": game["rounds"][0]["dealer"],
    }


def scores_at_end(game: dict[str, Any]) -> list[int]:
    """Scores when the game is over, leftover deposits given to the first."""
    final = game["final"]
    scores: list[int] = final["scores"] if final else game["rounds"][-1]["end"]
    return scores
