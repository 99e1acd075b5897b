"""Seeded random legal play under every ruleset: nothing is lost, nothing is refused, replays are equal."""

from __future__ import annotations

import random

import pytest

from tablectl.engine.game import events as ev
from tablectl.engine.game.apply import apply, apply_all
from tablectl.engine.game.events import event_from_json
from tablectl.engine.game.state import EMPTY
from tablectl.engine.rules import ids, load
from tests.conftest import scaled
from tests.game.table import RandomGame, at_basic_level, without_tiles

FULL = 200
"""Games under each ruleset."""


@pytest.mark.soak
@pytest.mark.parametrize("ruleset", ids())
def test_whole_games_of_legal_acts(ruleset: str) -> None:
    rules = load(ruleset)
    for seed in range(scaled(FULL, 6)):
        game = RandomGame(rules, seed)
        final = game.play()  # conservation of points is checked at each command
        events = list(game.events())
        assert final.final is not None
        assert not any(isinstance(event, ev.Found) for event in events), (
            "a legal act was found fault with"
        )
        again = apply_all(EMPTY, [event_from_json(event.to_json()) for event in events])
        assert again.canonical() == final.canonical()
        without_tiles(rules, game.log)
        at_basic_level(rules, game, random.Random(seed))


def test_one_event_at_a_time_folds_to_the_same_state() -> None:
    game = RandomGame(load("tenhou"), 7)
    game.play()
    state = EMPTY
    for event in game.events():
        before = state.canonical()
        following = apply(state, event)
        assert state.canonical() == before, "apply changed the state it was given"
        state = following
    assert state.canonical() == game.state.canonical()


def test_the_random_games_see_what_they_should() -> None:
    """The sample is worth something only if riichi, calls, kans and several endings occur in it."""
    seen: set[str] = set()
    for ruleset in ("tenhou", "saikouisen", "ema-2016"):
        for seed in range(6):
            game = RandomGame(load(ruleset), seed)
            game.play()
            for event in game.events():
                seen.add(event.type)
                if isinstance(event, ev.Called):
                    seen.add(event.kind)
                if isinstance(event, ev.HandEnded):
                    seen.add(event.reason)
    assert {
        "chi", "pon", "daiminkan", "kakan_declared", "ankan_declared", "riichi_accepted", "missed_win",
        "won", "win", "exhaustive", "tenpai_declared", "dora_revealed", "rinshan_laid", "game_ended",
    } <= seen  # fmt: skip
