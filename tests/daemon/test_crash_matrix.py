"""Killed at seeded points over whole games: after each restart as if nothing had been."""

from __future__ import annotations

import asyncio
import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from hardware_sim import people
from tablectl.daemon.faultpoints import BESIDE, POINTS, STEPS
from tests.conftest import scaled
from tests.daemon.living import Death, Listener, Living, hall, running, simulated
from tests.daemon.undisturbed import Undisturbed, request_of
from tests.daemon.witness import Witness
from tests.first_light.brokers import mosquitto
from tests.first_light.games import game_of, tenhou_games
from tests.sim.games import short

KILLS = scaled(500, 0)
GAMES = scaled(10, 0)

Kills = list[tuple[str, int]]


@pytest.mark.soak
@pytest.mark.parametrize("name", ["short", *(f"game{n}" for n in range(GAMES))])
def test_killed_at_seeded_points_of_a_game(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of ten games with fifty deaths; the three hands of the short record with one at each step."""
    rng = random.Random(f"crash/{name}")
    game = short() if name == "short" else chosen(int(name.removeprefix("game")))
    reference = Undisturbed(game, tmp_path)
    if name == "short":
        monkeypatch.setattr(people, "PRESS_AGAIN", 1.5)  # who waits for a lost motion waits so long
        kills = plan(rng, len(POINTS), reference.transactions, clock=1)
    else:
        kills = plan(rng, KILLS // GAMES, reference.transactions, clock=5)
    deaths = asyncio.run(play(tmp_path, game, kills, reference))
    told(f"{name} ({game['id']})", deaths)
    assert len(deaths) == len(kills)
    assert set(POINTS) <= {death.point for death in deaths}, "each numbered step, by its name"
    assert "play" in {death.phase for death in deaths}


def chosen(number: int) -> dict[str, Any]:
    """One of ten short games, all different."""
    few = [i for i in tenhou_games() if 4 <= len(game_of(i)["rounds"]) <= 7]
    return game_of(random.Random("crash").sample(few, 10)[number])


def plan(rng: random.Random, count: int, transactions: int, clock: int) -> Kills:
    """`count` kills at points, spread evenly over a game of so many transactions, and `clock` by the clock."""
    seldom: Kills = [(point, 1) for point in BESIDE if point != "published"]
    common = [*STEPS, "published"]
    points = [common[i % len(common)] for i in range(count - len(seldom))]
    rng.shuffle(points)
    # What is left over is for the kills by the clock, which on a quick machine take along a good deal.
    mean = max(1, transactions * 11 // 20 // len(points))
    kills: Kills = []
    for point in points:
        number = rng.randrange(1, 2 * mean)
        # Acknowledgements come in handfuls: between two of them lie some ten inputs.
        kills.append((point, number // 10 + 1 if point == "published" else number))
    # Those of a motion one after the other: they wait for the same lift.
    place = rng.randrange(len(kills) // 2)
    kills[place:place] = seldom
    for _ in range(clock):
        kills.insert(rng.randrange(len(kills)), ("clock", rng.randrange(20, 1500)))
    return kills


def told(name: str, deaths: list[Death]) -> None:
    """Histogram by point and by phase."""
    points = Counter(death.point for death in deaths)
    phases = Counter(death.phase for death in deaths)
    print(f"\n{name}: {len(deaths)} kills")
    print("  by point: " + ", ".join(f"{p} {points[p]}" for p in [*POINTS, "clock"]))
    print("  by phase: " + ", ".join(f"{p} {n}" for p, n in phases.most_common()))


async def play(
    folder: Path,
    game: dict[str, Any],
    kills: Kills,
    reference: Undisturbed,
    *,
    command: bool = False,
) -> list[Death]:
    """Play the record while daemon after daemon dies; everything is compared with `reference`."""
    record = folder / "record.jsonl"
    record.write_text(json.dumps(game) + "\n", encoding="utf-8")
    table = simulated(folder, str(record))
    with mosquitto(folder) as broker:
        listener = Listener(broker.port)
        witness = Witness(folder / "journal.db", listener, table.table, reference.tags)

        def on_death(death: Death) -> None:
            death.phase = witness.looks()

        async def evening() -> None:
            await listener.linked()
            await listener.asked(*request_of(game))
            table.begin()
            await table.played()
            await listener.until(lambda seen: seen.last_seq == len(reference.public), 60)
            await listener.settled(witness.epoch)

        file = hall(folder, broker.port, table)
        daemon = Living(file, kills, on_death=on_death, command=command)
        limit = 60 + 8 * len(kills)
        async with asyncio.timeout(limit), running(table), listener.connected():
            await daemon.during(evening())
        witness.saw(reference)
    assert daemon.left == 0, "each kill fell into the game"
    return daemon.deaths
