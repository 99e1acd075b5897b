"""A person takes over a hand that the machine has lost sight of: its result is typed in, the game goes on."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from hardware_sim.people import Progress
from hardware_sim.record import parse
from tablectl.mirror.submit import Accepted, Refused
from tablectl.mirror.verdict import ACCEPTED, Verdict
from tests.conftest import scaled
from tests.daemon.operator import results
from tests.daemon.test_levels import check, sample, start
from tests.daemon.virtual import Bridge, tiles_bridge
from tests.first_light.games import game_of

GAMES = sample("take over", 20, 1)


def asked(game: dict[str, Any], answers: list[str]) -> Any:
    """An operator who types in the results of hands taken over, and of no other."""

    def on_progress(bridge: Bridge, progress: Progress) -> None:
        if not progress.waits:
            return
        if bridge.state.taken_over:
            for name, data in results(game["rounds"][progress.hand]):
                answer = bridge.request(name, data)
                assert isinstance(answer, Accepted), (answer, name, data)
                answers.append(name)
        bridge.sim.operator_done()

    return on_progress


@pytest.mark.parametrize("game_id", GAMES)
@pytest.mark.parametrize("number", range(scaled(10, 1)))
def test_hands_taken_over_at_any_moment_end_as_they_were_played(
    game_id: str, number: int, tmp_path: Path
) -> None:
    """In every second hand, after so many of its events; the hands between are found as ever."""
    game = game_of(game_id)
    rng = random.Random(f"{game_id}/{number}")
    answers: list[str] = []
    bridge = tiles_bridge(parse(game), tmp_path, operator=frozenset({"result"}))
    bridge.on_progress = asked(game, answers)
    start(bridge, game)
    for hand in range(0, len(game["rounds"]), 2):
        moment = rng.randrange(1, 60)

        def reached(hand: int = hand, moment: int = moment) -> bool:
            state = bridge.state
            played = sum(len(seat.river) for seat in state.seats)
            return state.hands_ended > hand or (
                state.hands_ended == hand and state.phase == "play" and played >= moment
            )

        bridge.run(until=reached)
        if bridge.state.hands_ended == hand:
            rivers = [len(seat.river) for seat in bridge.state.seats]
            answer = bridge.request("hand/take_over", {"reason": "the antennas lost a tile"})
            assert isinstance(answer, Accepted)
            assert not bridge.state.tiles_known
            assert [len(seat.river) for seat in bridge.state.seats] == rivers
            assert all(seat.hand == () for seat in bridge.state.seats)
    bridge.play()
    check(bridge, game)
    taken = [event for event in bridge.events if event.type == "hand_taken_over"]
    assert len(taken) >= len(answers) > 0
    assert all("public" in event.seqs for event in taken)


def test_taking_over_settles_a_contradiction_and_can_be_taken_back(tmp_path: Path) -> None:
    game = game_of("g0002")
    bridge = tiles_bridge(parse(game), tmp_path)
    start(bridge, game)
    refused = bridge.request("hand/take_over", {"reason": "too early"})
    assert isinstance(refused, Refused)
    assert refused.code == "no_hand"
    bridge.run(until=lambda: sum(len(seat.river) for seat in bridge.state.seats) >= 8)
    before = bridge.state.canonical()
    lost = Verdict("contradiction", "a discard by South was missed")
    bridge.core.mirror.verdict = lost
    answer = bridge.request("hand/take_over", {"reason": "a tile fell down"})
    assert isinstance(answer, Accepted)
    assert bridge.core.mirror.verdict == ACCEPTED
    again = bridge.request("hand/take_over", {"reason": "twice"})
    assert isinstance(again, Refused)
    assert again.code == "nothing_seen"
    undone = bridge.request("undo", {"reason": "it was found"})
    assert isinstance(undone, Accepted)
    assert bridge.state.canonical() == before
    assert bridge.state.tiles_known
    bridge.play()
    check(bridge, game)


@pytest.mark.parametrize("second", ["game/resume", "undo"])
def test_a_request_in_any_moment_of_a_hand_leaves_the_mirror_right(
    second: str, tmp_path: Path
) -> None:
    """Also where a tile lies in the river already, and the move does not count yet."""
    game = game_of("g0002")
    bridge = tiles_bridge(parse(game), tmp_path)
    rng = random.Random(second)
    start(bridge, game)
    paused = 0
    while not bridge.sim.over:
        then = bridge.transactions + rng.randrange(1, 40)
        bridge.run(until=lambda then=then: bridge.sim.over or bridge.transactions >= then)  # type: ignore[misc]
        if isinstance(bridge.request("game/pause", {"reason": "a word"}), Accepted):
            paused += bridge.state.phase == "play"
            answer = bridge.request(second, {"reason": "on"} if second == "undo" else {})
            assert isinstance(answer, Accepted), answer
    bridge.rest(1.0)
    check(bridge, game)
    assert paused > 20
