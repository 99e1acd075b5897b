"""A game that nobody disturbed: what a subscriber, the displays and the motors must agree on with it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hardware_sim.record import parse
from tablectl.bus.snapshot import game_view
from tests.daemon.living import content
from tests.daemon.virtual import tiles_bridge
from tests.first_light.games import start_request

GAME_ID = "the-game"


def request_of(game: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """`game/start` for a record, under a game id that is the same in each run."""
    if "length" in game["rules"]:
        name, data = start_request(game)
    else:
        name, data = "game/start", {"ruleset": "tenhou", "players": list("abcd"), "first_dealer": 0}
    return name, data | {"game_id": GAME_ID}


class Undisturbed:
    """The reference run of a record at level tiles, in one process on a virtual clock."""

    def __init__(self, game: dict[str, Any], folder: Path, *, seed: int = 3) -> None:
        bridge = tiles_bridge(parse(game), folder, seed=seed)
        _, data = request_of(game)
        bridge.start(**data)
        bridge.play()
        view = game_view(bridge.state)
        assert view is not None
        report = bridge.sim.report()
        self.tags = bridge.tags
        self.public = content(bridge.public)
        """Public events without what differs from run to run."""
        self.view = json.loads(view.model_dump_json())
        """The game as the topic `state` shows it at the end."""
        self.displays = report["displays"]
        self.motions = sum(action["executed"] for action in report["actions"].values())
        self.transactions = bridge.transactions
