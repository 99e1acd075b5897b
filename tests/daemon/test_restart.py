"""Folding the journal gives the table back: state, log and perception, at any moment of a game."""

from __future__ import annotations

import random
from collections.abc import Coroutine
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

import pytest

from hardware_sim.record import parse
from hardware_sim.sensors import Quality
from tablectl.daemon.core import Change, TableCore
from tablectl.daemon.rebuild import rebuild
from tablectl.engine.game.events import event_from_json
from tablectl.engine.game.state import GameState
from tablectl.engine.game.timeline import fold
from tablectl.journal import Journal
from tablectl.mirror.submit import Accepted, Refused
from tests.conftest import scaled
from tests.daemon.test_levels import check, start, typed_in
from tests.daemon.virtual import Bridge, tiles_bridge
from tests.first_light.games import game_of, tenhou_games

T = TypeVar("T")


def at_once(work: Coroutine[Any, Any, T]) -> T:
    """Result of a coroutine that never really waits (a journal without its thread)."""
    try:
        work.send(None)
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]
    raise AssertionError("it waits for something")


def restored(bridge: Bridge) -> TableCore:
    core = bridge.make_core()
    at_once(rebuild(core, Journal(bridge.store, threaded=False)))
    return core


def assert_same(one: TableCore, other: TableCore) -> None:
    assert other.state.canonical() == one.state.canonical()
    assert other.mirror.to_json() == one.mirror.to_json()
    assert other.mirror.verdict == one.mirror.verdict
    assert other.memory() == one.memory()
    assert other.capabilities == one.capabilities


def dying(bridge: Bridge, every: int, seed: str) -> None:
    """Let the core die after about every n-th transaction; the next one comes from the journal."""
    rng = random.Random(seed)
    left = [rng.randrange(every)]

    def on_change(change: Change, _state: GameState) -> None:
        left[0] -= 1
        if left[0] > 0:
            return
        left[0] = rng.randrange(1, 2 * every)
        core = restored(bridge)
        if change.transaction.entries:
            assert_same(bridge.core, core)
        core._ids = bridge.core._ids
        core._lift_open = bridge.core._lift_open
        bridge.core = core

    bridge.on_change = on_change


def few_hands(seed: str, count: int) -> list[str]:
    """Games of six hands at most: every kind of moment comes in each hand."""
    ids = tenhou_games()
    drawn = random.Random(seed).sample(ids, len(ids))
    return list(islice((name for name in drawn if len(game_of(name)["rounds"]) <= 6), count))


@pytest.mark.parametrize(
    ("speed", "quality"),
    [(None, Quality()), (1.0, Quality()), (None, Quality(0.0005, 0.02, 0.01, 0.02))],
    ids=["max", "human", "noisy"],
)
def test_a_core_from_the_journal_goes_on_where_the_last_one_died(
    speed: float | None, quality: Quality, tmp_path: Path
) -> None:
    for game_id in few_hands("restart", scaled(20, 1)):
        game = game_of(game_id)
        bridge = tiles_bridge(parse(game), tmp_path, speed=speed, quality=quality)
        dying(bridge, 150, game_id)
        start(bridge, game)
        bridge.play()
        check(bridge, game)


def test_at_level_basic_too() -> None:
    game = game_of("g0002")
    bridge = typed_in(game, "basic", {"result", "riichi"})
    dying(bridge, 4, "basic")
    start(bridge, game)
    bridge.play()
    check(bridge, game)


def test_folding_the_events_alone_gives_the_state(tmp_path: Path) -> None:
    game = game_of("g0002")
    bridge = tiles_bridge(parse(game), tmp_path)
    start(bridge, game)
    bridge.play()
    log = [(e.command_id or "", event_from_json(e.data)) for e in bridge.events]
    assert fold(log).canonical() == bridge.state.canonical()


# ---- undo ---------------------------------------------------------------------------------------------


def at_first_result(level: str, ruleset: str = "tenhou") -> Bridge:
    """A basic table whose first result has been typed in and not settled yet."""
    game = game_of("g0002")
    bridge = Bridge(parse(game), typed_in(game, level, {"result"}).options)
    bridge.start(ruleset)
    bridge.run(until=lambda: "result" in bridge.waiting())
    return bridge


def typed(bridge: Bridge, **data: Any) -> Accepted:
    answer = bridge.request("result/win", data)
    assert isinstance(answer, Accepted), answer
    return answer


def test_undo_takes_the_last_request_back_and_says_so_on_every_feed() -> None:
    bridge = at_first_result("basic")
    before = bridge.state.canonical()
    win = typed(bridge, winner=0, **{"from": 1}, han=3, fu=40)
    assert bridge.state.phase == "result"
    answer = bridge.request("undo", {"reason": "typed the wrong seat"})
    assert isinstance(answer, Accepted), answer
    assert bridge.state.canonical() == before
    undone = bridge.events[-1]
    assert undone.type == "undone"
    gone = [e for e in bridge.events if e.event_id in win.event_ids]
    assert undone.data["retracted"] == sorted({e.command_id for e in gone})
    assert set(undone.seqs) == set(gone[0].seqs)


def test_undo_and_what_followed_survive_a_restart() -> None:
    bridge = at_first_result("basic")
    typed(bridge, winner=0, **{"from": 1}, han=3, fu=40)
    bridge.request("undo", {})
    typed(bridge, winner=2, **{"from": 1}, han=2, fu=30)
    assert_same(bridge.core, restored(bridge))


def test_a_result_is_corrected_after_it_was_settled() -> None:
    """It was paid already; under SK the window is open until the next first discard (A45.14)."""
    bridge = at_first_result("basic", "saikouisen")
    before = bridge.state.scores
    wrong = typed(bridge, winner=0, **{"from": 1}, han=3, fu=40)
    bridge.request("settle", {})
    command_id = next(e.command_id for e in bridge.events if e.event_id == wrong.event_ids[0])
    answer = bridge.request("undo", {"command_id": command_id, "reason": "wrong seat"})
    assert isinstance(answer, Accepted), answer
    assert bridge.state.scores == before
    typed(bridge, winner=2, **{"from": 1}, han=2, fu=30)
    bridge.request("settle", {})
    assert bridge.state.scores == (before[0], before[1] - 2000, before[2] + 2000, before[3])
    assert_same(bridge.core, restored(bridge))


def test_a_settled_result_stands_where_the_rules_know_no_correction() -> None:
    bridge = at_first_result("basic")
    wrong = typed(bridge, winner=0, **{"from": 1}, han=3, fu=40)
    bridge.request("settle", {})
    command_id = next(e.command_id for e in bridge.events if e.event_id == wrong.event_ids[0])
    answer = bridge.request("undo", {"command_id": command_id})
    assert isinstance(answer, Refused)
    assert answer.code == "undo_closed"


def test_facts_of_the_machine_are_never_undone() -> None:
    bridge = at_first_result("basic")
    fact = next(e.command_id for e in bridge.events if e.type == "dice_rolled")
    answer = bridge.request("undo", {"command_id": fact})
    assert isinstance(answer, Refused)
    assert answer.code == "physical_fact"
