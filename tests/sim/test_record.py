"""Records become movements, whatever they leave open, and never by reading what a table cannot know."""

from __future__ import annotations

import gzip
import json
import lzma
from pathlib import Path
from typing import Any

import pytest

from hardware_sim import record
from hardware_sim.errors import RecordError
from hardware_sim.tags import full_set
from tests.sim.games import real_games, tiny


def test_every_real_game_becomes_movements_that_its_walls_allow() -> None:
    hands = 0
    for raw in real_games(60):
        game = record.parse(raw)
        for hand in game.hands:
            hands += 1
            assert sorted(hand.wall) == sorted(full_set(game.reds))
            draws = [s for s in hand.steps if s.kind == "draw" and not s.rinshan]
            assert [s.tile for s in draws] == list(hand.wall[52 : 52 + len(draws)])
    assert hands > 100


def test_results_are_not_read() -> None:
    raw, blind = tiny(), tiny()
    for hand in blind["rounds"]:
        hand["end"] = hand["start"] = None
        for event in hand["events"]:
            event.pop("deltas", None)
            for name in ("fu", "han", "points", "yaku", "limit"):
                event[name] = "nonsense"
    blind["final"] = {"scores": "nonsense"}
    assert record.parse(raw) == record.parse(blind)


def test_a_missing_wall_is_built_by_seed() -> None:
    one, same, other = record.parse(tiny(), 1), record.parse(tiny(), 1), record.parse(tiny(), 2)
    assert one == same
    assert one.hands[0].wall != other.hands[0].wall
    assert one.hands[0].steps == other.hands[0].steps
    assert one.hands[0].wall[131] == "3m", "the ura that the record tells"


@pytest.mark.parametrize("suffix", ["jsonl", "jsonl.xz", "jsonl.gz", "json"])
def test_files_of_every_kind(tmp_path: Path, suffix: str) -> None:
    other = tiny() | {"id": "other"}
    path = tmp_path / f"games.{suffix}"
    lines = json.dumps(tiny()) + "\n"
    if suffix != "json":
        lines += "\n" + json.dumps(other) + "\n"
    pack = {"jsonl.xz": lzma.compress, "jsonl.gz": gzip.compress}.get(suffix, bytes)
    path.write_bytes(pack(lines.encode()))
    assert record.load(str(path)).id == "tiny"
    if suffix != "json":
        assert record.load(f"{path}#other").id == "other"


def _drop(name: str) -> Any:
    def spoil(raw: dict[str, Any]) -> None:
        del raw["rounds"][0][name]

    return spoil


def _set(path: str, value: Any) -> Any:
    def spoil(raw: dict[str, Any]) -> None:
        *steps, last = path.split(".")
        node: Any = raw
        for step in steps:
            node = node[int(step) if step.isdigit() else step]
        node[int(last) if last.isdigit() else last] = value

    return spoil


@pytest.mark.parametrize(
    ("spoil", "tells"),
    [
        (_set("rules.players", 3), "four players"),
        (_set("rounds", []), "no rounds"),
        (_drop("hands"), "hand 0"),
        (_drop("events"), "hand 0"),
        (_set("rounds.0.events.0.e", "kita"), "kita"),
        (_set("rounds.0.events.0.t", "9z"), "no tile"),
        (_set("rounds.0.hands.0", "1m2m"), "not 13"),
        (_set("rounds.0.hands.0", "1z1z1z1z1z6m7m8m9m1p1p2z2z"), "more 1z"),
        (_set("rounds.0.wall", "1m1m"), "136 tiles"),
    ],
)
def test_a_bad_record_says_where(spoil: Any, tells: str) -> None:
    raw = tiny()
    spoil(raw)
    with pytest.raises(RecordError, match=tells) as caught:
        record.parse(raw)
    assert caught.value.code == "bad_record"


def test_a_wall_that_contradicts_the_events_is_refused() -> None:
    raw = tiny()
    wall = list(record.parse(raw).hands[0].wall)
    raw["rounds"][0]["wall"] = "".join(wall)
    assert record.parse(raw).hands[0].wall == tuple(wall)
    wall[53], wall[60] = wall[60], wall[53]
    raw["rounds"][0]["wall"] = "".join(wall)
    with pytest.raises(RecordError, match="draw 53"):
        record.parse(raw)


@pytest.mark.parametrize(
    ("name", "content", "tells"),
    [("none.jsonl", None, "no game record"), ("a.jsonl", b"", "empty"), ("a.jsonl", b"{oops\n", "no game record"),
     ("a.jsonl.xz", b"not xz", "no game record"), ("a.jsonl", b"\xff\xfe\n", "no game record")],
)  # fmt: skip
def test_a_file_that_is_none(tmp_path: Path, name: str, content: bytes | None, tells: str) -> None:
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(RecordError, match=tells):
        record.load(str(path))


def test_an_id_that_is_not_there(tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    path.write_text(json.dumps(tiny()) + "\n")
    with pytest.raises(RecordError, match="no game g9999"):
        record.load(f"{path}#g9999")
