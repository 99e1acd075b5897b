"""Killed at seeded points over whole games: after each restart as if nothing had been."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import scaled, shared_path
from tests.daemon.living import Listener, Living, content, hall, running, simulated
from tests.first_light.brokers import Mosquitto
from tests.first_light.games import game_of, scores_at_end, start_request, tenhou_games
from tests.first_light.test_kill import undisturbed

KILLS = scaled(500, 8)
GAMES = scaled(10, 1)


@pytest.mark.soak
@pytest.mark.parametrize("number", range(GAMES))
def test_killed_at_seeded_points_of_a_game(number: int, tmp_path: Path) -> None:
    rng = random.Random(f"crash/{number}")
    short = [i for i in tenhou_games() if 4 <= len(game_of(i)["rounds"]) <= 7]
    game_id = rng.choice(short)
    game = game_of(game_id)
    count = KILLS // GAMES
    # A short game passes some 9,000 points: the last of the kills still falls into it.
    kills = [("any", rng.randrange(5, min(600, 14_000 // count))) for _ in range(count)]
    broker = Mosquitto(tmp_path)
    broker.start()
    try:
        report, listener, deaths = asyncio.run(_play(tmp_path, game_id, game, broker.port, kills))
    finally:
        broker.stop()
    assert deaths == len(kills)
    assert report["executed_twice"] == 0
    assert report["displays"]["scores"] == scores_at_end(game)
    assert listener.seen.gaps == []
    assert all(len(set(same)) == 1 for same in listener.payloads.values())
    assert content([same[0] for same in listener.payloads.values()]) == undisturbed(game, tmp_path)


async def _play(
    folder: Path, game_id: str, game: dict[str, Any], port: int, kills: list[tuple[str, int]]
) -> tuple[dict[str, Any], Listener, int]:
    table = simulated(folder, f"{shared_path('data/games.jsonl.xz')}#{game_id}")
    daemon = Living(hall(folder, port, table), kills)
    listener = Listener(port)
    async with asyncio.timeout(60 + 8 * len(kills)), running(table), listener.connected():
        life = asyncio.create_task(daemon.live())
        await listener.linked()
        name, data = start_request(game)
        answer = await listener.request(name, data, wait_s=60)
        assert answer.status == "accepted", answer
        table.begin()
        report = await table.played()
        await listener.ended(20)
        # Whoever still has to die does so at the next sign of life; the game is over for all of them.
        await daemon.stop()
        await life
    return report, listener, daemon.deaths
