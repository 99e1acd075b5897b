"""First light: real games through pty, serial frames, mirror, engine, journal and broker to a subscriber."""

from __future__ import annotations

import json
import lzma
import random
from pathlib import Path
from typing import Any

import pytest

from tablectl.records import bundled
from tablectl.records.reader import Record, read_records
from tests.conftest import need_program, scaled, shared_path
from tests.first_light.demos import play

SEED = 20261130
OTHERS = 9


@pytest.fixture(scope="module")
def games() -> dict[str, Record]:
    found = read_records(str(shared_path("data/games.jsonl.xz")))
    return {record.id: record for record in found}


def chosen(games: dict[str, Record], others: int) -> list[str]:
    """g0002 and some others, the same ones on every machine."""
    pool = sorted(set(games) - {"g0002"})
    return ["g0002", *random.Random(SEED).sample(pool, OTHERS)[:others]]


def name_of(game_id: str) -> str:
    return f"{shared_path('data/games.jsonl.xz')}#{game_id}"


def check(end: dict[str, Any], record: Record) -> None:
    """The end as the subscriber saw it equals the end as the record has it."""
    final = record.raw["final"]
    assert end["record"] == record.id
    assert end["scores"] == final["scores"]
    assert end["hands"] == len(record.rounds)
    assert end["events"] == end["last_seq"] > 9 * end["hands"]
    if final["points"] is not None:
        assert end["points"] == final["points"]


@pytest.mark.parametrize("level", ["tiles", "basic", "score"])
def test_the_end_at_the_subscriber_is_the_end_of_the_record(
    games: dict[str, Record], level: str
) -> None:
    need_program("mosquitto")
    others = scaled(OTHERS, {"tiles": 0, "basic": 2, "score": 0}[level])
    for game_id in chosen(games, others):
        played = play(name_of(game_id), level)
        assert played.code == 0, played.err
        assert "mosquitto" in played.err
        check(played.end, games[game_id])


@pytest.mark.parametrize("level", ["tiles", "basic"])
def test_scores_are_ours_and_not_the_records(
    games: dict[str, Record], level: str, tmp_path: Path
) -> None:
    """Every `deltas`, `end` and `final` of the record is a lie: nothing of it reaches the subscriber."""
    truth = games["g0002"]
    lie = json.loads(json.dumps(truth.raw))
    rng = random.Random(SEED)
    for round_ in lie["rounds"]:
        round_["end"] = [rng.randrange(100) * 100 for _ in range(4)]
        round_["deposits_after"] = 7
        for event in round_["events"]:
            if "deltas" in event:
                event["deltas"] = [rng.randrange(-99, 99) * 100 for _ in range(4)]
    lie["final"] = {"scores": [1, 2, 3, 4], "points": [9.0, 9.0, 9.0, 9.0]}
    file = tmp_path / "lie.jsonl.xz"
    with lzma.open(file, "wt", encoding="utf-8") as out:
        out.write(json.dumps(lie) + "\n")
    played = play(str(file), level)
    assert played.code == 0, played.err
    assert played.end["scores"] == truth.raw["final"]["scores"]


@pytest.mark.parametrize("name", bundled.SOURCES)
def test_each_bundled_game_plays_on_a_table(name: str) -> None:
    """With the broker of the wheel: what a machine without mosquitto plays."""
    record = next(read_records(bundled.resolve(name)))
    levels = ("basic", "tiles") if scaled(1, 0) else ("basic",)
    for level in levels:
        played = play(name, level, "--wheel-broker")
        assert played.code == 0, played.err
        assert "iotcore" in played.err
        check(played.end, record)


def test_a_machine_without_the_collection_plays_the_bundled_game_by_tiles() -> None:
    record = next(read_records(bundled.resolve(None)))
    played = play(None, "tiles")
    assert played.code == 0, played.err
    check(played.end, record)
