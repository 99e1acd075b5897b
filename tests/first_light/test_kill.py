"""SIGKILL between receive and acknowledge: the table plays on, and nobody can tell from what came out."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from hardware_sim.record import parse
from tablectl.daemon.faultpoints import POINTS
from tests.conftest import shared_path
from tests.daemon.living import Listener, Living, content, hall, running, simulated
from tests.daemon.virtual import tiles_bridge
from tests.first_light.brokers import Mosquitto
from tests.first_light.games import game_of, scores_at_end, start_request

GAME = "g0002"
KILLS = [
    ("received", 61),
    ("decided", 150),
    ("committed", 212),
    ("effected", 97),
    ("answered", 133),
]
"""One after the other in one game: each daemon goes on where the last one died."""


def test_killed_at_five_points_of_a_game_nothing_is_lost_or_done_twice(tmp_path: Path) -> None:
    assert [point for point, _ in KILLS] == list(POINTS)
    game = game_of(GAME)
    broker = Mosquitto(tmp_path)
    broker.start()
    try:
        report, listener, deaths = asyncio.run(_play(tmp_path, game, broker.port))
    finally:
        broker.stop()
    seen = listener.seen
    assert deaths == len(KILLS)
    assert report["executed_twice"] == 0
    assert report["events_lost"] == 0
    assert report["displays"]["scores"] == scores_at_end(game)
    assert seen.gaps == []
    assert seen.last_seq == len(seen.events)
    assert len({event.epoch for event in seen.events}) == len(KILLS) + 1
    assert all(len(set(same)) == 1 for same in listener.payloads.values())
    assert content([same[0] for same in listener.payloads.values()]) == undisturbed(game, tmp_path)


def undisturbed(game: dict[str, Any], folder: Path) -> list[dict[str, Any]]:
    """The public feed of the same game when nobody is killed."""
    bridge = tiles_bridge(parse(game), folder, seed=3)
    _, data = start_request(game)
    bridge.start(options=data["options"], players=data["players"])
    bridge.play()
    assert list(bridge.state.scores) == scores_at_end(game)
    return content(bridge.public)


async def _play(
    folder: Path, game: dict[str, Any], port: int
) -> tuple[dict[str, Any], Listener, int]:
    table = simulated(folder, f"{shared_path('data/games.jsonl.xz')}#{GAME}")
    daemon = Living(hall(folder, port, table), KILLS)
    listener = Listener(port)
    async with asyncio.timeout(100), running(table), listener.connected():
        life = asyncio.create_task(daemon.live())
        await listener.linked()
        name, data = start_request(game)
        answer = await listener.request(name, data)
        assert answer.status == "accepted", answer
        table.begin()
        report = await table.played()
        await listener.ended(20)
        await daemon.stop()
        await life
    return report, listener, daemon.deaths
