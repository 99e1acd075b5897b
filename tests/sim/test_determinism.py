"""Same seed, same bytes, with both ends in one process on one virtual clock."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest

from hardware_sim.faults.play import Faults, bundled_names
from hardware_sim.sensors import Quality
from hardware_sim.table import Options, SimTable
from tests.sim.games import tiny_game
from tests.sim.host import Host, Pair

ROUGH = Quality(misses=0.02, overlaps=0.05, ghosts=0.05, repeats=0.05)


def transcript(seed: int, script: str | None = None, **options: Any) -> str:
    """Digest of every octet in both directions with its time."""
    faults = Faults.load(script) if script else None
    table = SimTable(Options(seed=seed, **options), tiny_game(seed), faults=faults)
    pair = Pair(table, Host(seed))
    pair.run(lambda: table.over, limit=60.0 if options.get("speed") is None else 3600.0)
    digest = hashlib.sha256()
    for at, way, data in pair.transcript:
        digest.update(f"{at} {way} {data.hex()}\n".encode())
    assert len(pair.transcript) > 20
    return digest.hexdigest()


@pytest.mark.parametrize("level", ["basic", "score", "tiles"])
@pytest.mark.parametrize("speed", [None, 1.0])
def test_same_seed_same_bytes(level: str, speed: float | None) -> None:
    first = transcript(7, level=level, speed=speed)
    assert transcript(7, level=level, speed=speed) == first
    assert transcript(8, level=level, speed=speed) != first


def test_same_seed_same_bytes_with_rough_antennas() -> None:
    assert transcript(7, quality=ROUGH) == transcript(7, quality=ROUGH)


@pytest.mark.parametrize("script", bundled_names())
def test_same_seed_same_bytes_under_every_fault_script(script: str) -> None:
    assert transcript(7, script) == transcript(7, script)
