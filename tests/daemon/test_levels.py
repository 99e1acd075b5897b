"""Real games through simulated table, link, mirror and engine at each level, on a virtual clock."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from firmware_protocol.vocabulary import Capability
from hardware_sim.people import Progress
from hardware_sim.record import parse
from hardware_sim.table import LEVELS, Options
from tablectl.mirror.submit import Accepted
from tests.conftest import SHARED, scaled
from tests.daemon.operator import results
from tests.daemon.test_outage_broker import HOUR
from tests.daemon.virtual import Bridge, tiles_bridge
from tests.first_light.games import game_of, scores_at_end, start_request, tenhou_games


def sample(name: str, full: int, few: int) -> list[str]:
    if not SHARED.is_dir():
        return ["g0002"]
    ids = tenhou_games()
    return random.Random(name).sample(ids, min(len(ids), scaled(full, few)))


def check(bridge: Bridge, game: dict[str, Any]) -> None:
    """Every hand ended as the record's, and so did the game."""
    ends = [event.data["scores"] for event in bridge.events if event.type == "hand_ended"]
    wanted = [hand["end"] for hand in game["rounds"]]
    assert ends[:-1] == wanted[:-1]
    assert len(ends) == len(wanted)
    assert bridge.state.final is not None
    assert list(bridge.state.scores) == scores_at_end(game)
    assert list(bridge.sim.parts.displays.scores or bridge.state.scores) == scores_at_end(game)
    assert bridge.sim.board.executed_twice == 0
    assert bridge.sim.people.pressed_again == 0
    assert bridge.refused == []


def start(bridge: Bridge, game: dict[str, Any]) -> None:
    _, data = start_request(game)
    bridge.start(options=data["options"])


@pytest.mark.parametrize("game_id", sample("tiles", 400, 4))
def test_results_are_found_at_level_tiles(game_id: str, tmp_path: Path) -> None:
    game = game_of(game_id)
    bridge = tiles_bridge(parse(game), tmp_path, seed=len(game_id))
    start(bridge, game)
    bridge.play()
    check(bridge, game)
    wins = [event.data for event in bridge.events if event.type == "won"]
    record = [e for hand in game["rounds"] for e in hand["events"] if e["e"] == "win"]
    assert [(w["seat"], w["points"]) for w in wins] == [(w["p"], w["points"]) for w in record]
    discards = [e.data for e in bridge.events if e.type == "discarded"]
    played = [e for hand in game["rounds"] for e in hand["events"] if e["e"] == "discard"]
    assert [(d["seat"], d["tile"]) for d in discards] == [(d["p"], d["t"]) for d in played]
    told = [(d["tsumogiri"], p["tg"]) for d, p in zip(discards, played, strict=True)]
    assert all(seen in (None, real) for seen, real in told)
    assert sum(seen is None for seen, _ in told) <= len(game["rounds"])


@pytest.mark.parametrize("game_id", sample("human", 40, 1))
def test_results_are_found_at_human_speed(game_id: str, tmp_path: Path) -> None:
    game = game_of(game_id)
    bridge = tiles_bridge(parse(game), tmp_path, speed=1.0)
    start(bridge, game)
    bridge.play()
    check(bridge, game)
    public = [event for event in bridge.events if "public" in event.seqs]
    hours = (public[-1].t_mono_ms - public[0].t_mono_ms) / 3_600_000
    assert len(public) / hours <= HOUR, "an outage of an hour is tried with fewer events"


def typed_in(game: dict[str, Any], level: str, asked: set[str]) -> Bridge:
    """A bridge whose operator answers what the people ask for."""

    def on_progress(bridge: Bridge, progress: Progress) -> None:
        if not progress.waits:
            return
        hand = game["rounds"][progress.hand]
        requests = [("riichi", {"seat": progress.seat})]
        if progress.kind == "result":
            requests = results(hand)
        for name, data in requests:
            answer = bridge.request(name, data)
            assert isinstance(answer, Accepted), (answer, name, data)
        bridge.sim.operator_done()

    options = Options(level=level, seed=1, hold=True, operator=frozenset(asked))
    return Bridge(parse(game), options, on_progress=on_progress)


@pytest.mark.parametrize("game_id", sample("basic", 400, 8))
def test_results_are_typed_in_at_level_basic(game_id: str) -> None:
    game = game_of(game_id)
    bridge = typed_in(game, "basic", {"result", "riichi"})
    start(bridge, game)
    bridge.play()
    check(bridge, game)


@pytest.mark.parametrize("game_id", sample("score", 400, 8))
def test_riichi_is_seen_and_results_typed_in_at_level_score(game_id: str) -> None:
    game = game_of(game_id)
    bridge = typed_in(game, "score", {"result"})
    start(bridge, game)
    bridge.play()
    check(bridge, game)


@pytest.mark.parametrize(
    "extra", [Capability.AUTO_DEAL, Capability.AUTO_DEAL | Capability.AUTO_DORA]
)
@pytest.mark.parametrize("level", ["basic", "score", "tiles"])
def test_a_machine_that_deals_plays_at_every_level(
    level: str, extra: Capability, tmp_path: Path
) -> None:
    game = game_of("g0002")
    capabilities = LEVELS[level] | extra
    if level == "tiles":
        bridge = tiles_bridge(parse(game), tmp_path, capabilities=capabilities)
    else:
        bridge = typed_in(game, level, {"result", "riichi"} if level == "basic" else {"result"})
        bridge.options = Options(
            level=level,
            seed=1,
            hold=True,
            operator=bridge.options.operator,
            capabilities=capabilities,
        )
        bridge = Bridge(bridge.game, bridge.options, on_progress=bridge.on_progress)
    start(bridge, game)
    bridge.play()
    check(bridge, game)
    dice = [event for event in bridge.events if event.type == "dice_rolled"]
    assert dice == []


def test_a_table_may_be_used_at_less_than_its_level(tmp_path: Path) -> None:
    """`level = "score"` in the file: the tiles of a tiles table are left alone."""
    game = game_of("g0002")
    bridge = typed_in(game, "tiles", {"result"})
    start(bridge, game)
    bridge.play()
    check(bridge, game)
    assert bridge.state.game is not None
    assert bridge.state.game.knowledge == "score"  # no tile file: tags mean nothing
    assert {e.type for e in bridge.events}.isdisjoint({"drawn", "discarded"})
