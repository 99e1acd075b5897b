"""A board that restarts or loses events at any moment of a hand: the record's result comes out, or none does."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from firmware_protocol.vocabulary import Capability
from hardware_sim.record import parse
from hardware_sim.sensors import PERFECT, Quality
from hardware_sim.table import LEVELS
from tablectl.daemon.core import Change
from tablectl.engine.game.state import GameState
from tests.conftest import scaled
from tests.daemon.gaps import GapBridge, gap_bridge
from tests.daemon.test_restart import assert_same, restored
from tests.first_light.games import game_of, start_request, tenhou_games

CALLS = ("chi", "pon", "daiminkan", "ankan", "kakan")
LONGEST = 110
"""Events of a record's hand: longer ones are like them, and slow."""


# ---------------------------------------------------------------- what goes wrong


def restart(bridge: GapBridge) -> None:
    """The watchdog fires: what was not acknowledged is gone."""
    bridge.sim.reset_board()


def hang(bridge: GapBridge) -> None:
    """The program hangs for seconds, in which people play on; then the watchdog fires."""
    seconds = random.Random(bridge.at_event).uniform(1, 12)
    bridge.sim.board.freeze(seconds)
    bridge.after(seconds, bridge.sim.reset_board)


def unplug(bridge: GapBridge) -> None:
    """The cable is out for longer than the buffer lasts."""
    bridge.unplug()
    bridge.after(random.Random(bridge.at_event).uniform(4, 25), bridge.plug)


@dataclass(frozen=True)
class Kind:
    """A kind of fault, and the table it meets."""

    fault: Callable[[GapBridge], None]
    capacity: int = 128
    """Events the board can keep."""
    speed: float | None = 1.0
    """None: people who take no time play on while the host reads the board's state."""
    quality: Quality = PERFECT
    without: int = 0
    """Capabilities that the machine lacks."""


KINDS = {
    "restart": Kind(restart),
    "hang": Kind(hang),
    "events-lost": Kind(unplug, capacity=8),
    "restart-at-max": Kind(restart, speed=None),
    "hang-with-noise": Kind(hang, quality=Quality(overlaps=0.05, ghosts=0.02, repeats=0.05)),
    "hang-without-walls": Kind(hang, without=int(Capability.TILES_WALL | Capability.ORIENTATION)),
}


# ---------------------------------------------------------------- hands to play


@cache
def hands() -> dict[str, dict[str, Any]]:
    """One hand of each game, by id, in a seeded order: of an East round, with nothing on the table before it."""
    rng = random.Random("resets")
    found = {}
    for game_id in rng.sample(tenhou_games(), len(tenhou_games())):
        game = game_of(game_id)
        fit = [
            round_
            for round_ in game["rounds"]
            if (round_["wind"], round_["honba"], round_["deposits"]) == ("E", 0, 0)
            and len(round_["events"]) <= LONGEST
        ]
        if fit:
            found[game_id] = game | {"rounds": [rng.choice(fit)]}
    return found


def wanted(game: dict[str, Any]) -> list[int]:
    """The scores after the hand, had everybody begun it with 25,000."""
    (hand,) = game["rounds"]
    return [25_000 + end - start for start, end in zip(hand["start"], hand["end"], strict=True)]


def with_event(name: str) -> str:
    """The first game in whose hand the record has this event."""
    return next(
        game_id
        for game_id, game in hands().items()
        if any(event["e"] == name for event in game["rounds"][0]["events"])
    )


def play(game: dict[str, Any], folder: Path, kind: Kind, at_event: int) -> GapBridge:
    bridge = gap_bridge(
        parse(game), folder, at_event=at_event, fault=kind.fault, capacity=kind.capacity,
        speed=kind.speed, quality=kind.quality,
        capabilities=LEVELS["tiles"] & ~kind.without,
    )  # fmt: skip
    bridge.start(options=start_request(game)[1]["options"])
    bridge.play()
    return bridge


@cache
def reported(game_id: str, folder: Path) -> tuple[str, ...]:
    """What the board reports in a hand that nothing disturbs; it comes out as recorded."""
    game = hands()[game_id]
    bridge = play(game, folder, Kind(lambda _bridge: None), 0)
    assert scores(bridge) == wanted(game), game_id
    return tuple(bridge.sent)


def scores(bridge: GapBridge) -> list[int] | None:
    """The scores after the hand, a result that nobody has settled yet included; None without a result."""
    ended = [event.data["scores"] for event in bridge.events if event.type == "hand_ended"]
    if ended:
        found: list[int] = ended[-1]
        return found
    outcome = bridge.state.outcome
    if outcome is None:
        return None
    return [score + delta for score, delta in zip(bridge.state.scores, outcome.deltas, strict=True)]


def told(bridge: GapBridge, game: dict[str, Any]) -> str:
    """`complete` or `contradiction`; anything else is a wrong word to somebody."""
    where = (game["id"], bridge.at_event, bridge.fault_at, bridge.core.mirror.verdict)
    result = scores(bridge)
    if result is not None:
        assert result == wanted(game), where
        return "complete"
    assert bridge.core.mirror.verdict.certainty == "contradiction", where
    return "contradiction"


# ---------------------------------------------------------------- the sweeps


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("resets")


@pytest.mark.parametrize("call", CALLS)
def test_a_restart_in_the_very_moment_of_a_call(call: str, folder: Path) -> None:
    """Its tiles lie there, half of them or all: it is found, and so is everything around it."""
    game_id = with_event(call)
    game = hands()[game_id]
    sent = reported(game_id, folder)
    laid = [at for at, name in enumerate(sent, 1) if name == "meld" and at < len(sent) - 40]
    for at in laid[-scaled(len(laid), 1) :]:
        assert told(play(game, folder, KINDS["restart"], at), game) == "complete"


@pytest.mark.parametrize(
    "act", ["drawn", "river", "RiichiSlot", "indicator", "laid", "DiceSettled"]
)
def test_a_restart_in_the_very_moment_of_any_other_act(act: str, folder: Path) -> None:
    game_id = with_event("riichi_ok")
    game = hands()[game_id]
    at = [number for number, name in enumerate(reported(game_id, folder), 1) if name == act]
    picked = at[:: max(1, len(at) // scaled(len(at), 1))]
    for number in picked:
        assert told(play(game, folder, KINDS["restart"], number), game) == "complete", number


@pytest.mark.parametrize("name", KINDS)
def test_no_gap_ever_makes_a_wrong_result(name: str, folder: Path) -> None:
    """Seeded moments of seeded hands, from the start button to the tiles in the machine."""
    kind, rng = KINDS[name], random.Random(f"gaps/{name}")
    seen: Counter[str] = Counter()
    ids = list(hands())
    for number in range(scaled(800, 3)):
        game_id = ids[number % len(ids)]
        game = hands()[game_id]
        at = rng.randrange(40, 140 + 2 * len(game["rounds"][0]["events"]))
        seen[told(play(game, folder, kind, at), game)] += 1
    print(f"{name}: {seen['complete']} hands complete, {seen['contradiction']} left to a person")
    if kind.speed is not None:
        assert seen["complete"] >= 0.75 * seen.total()


@pytest.mark.parametrize("name", ["hang", "events-lost"])
def test_a_daemon_that_dies_within_a_gap_goes_on_where_it_was(name: str, folder: Path) -> None:
    """After the fault the core comes from the journal again and again, what waits included."""
    game = hands()[with_event("pon")]
    kind, deaths = KINDS[name], 0
    at = max(n for n, zone in enumerate(reported(game["id"], folder), 1) if zone == "meld") - 60
    bridge = gap_bridge(
        parse(game), folder, at_event=at, fault=kind.fault, capacity=kind.capacity, speed=kind.speed
    )

    def on_change(change: Change, _state: GameState) -> None:
        nonlocal deaths
        waiting = bridge.core.mirror.to_json()["gap"] is not None
        if not (waiting and change.transaction.entries and bridge.fault_at):
            return
        deaths += 1
        if deaths % 5 == 0:
            core = restored(bridge)
            assert_same(bridge.core, core)
            core._ids, core._lift_open = bridge.core._ids, bridge.core._lift_open
            bridge.core = core

    bridge.on_change = on_change
    bridge.start(options=start_request(game)[1]["options"])
    bridge.play()
    assert told(bridge, game) == "complete"
    assert deaths > 7
