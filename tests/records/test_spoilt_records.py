"""Whatever is wrong in a record is found where it stands; nulls are counted; nothing ends the run."""

from __future__ import annotations

import json
import os
import random
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tablectl.cli.main import main
from tablectl.records.reader import Record, RecordError, read_records, ruleset_of
from tablectl.records.replay import GameReplay, Mismatch, Report
from tests.conftest import scaled, shared_path

Raw = dict[str, Any]


@pytest.fixture(scope="module")
def games() -> list[Record]:
    found = read_records(str(shared_path("data/games.jsonl.xz")))
    return [record for record, _ in zip(found, range(120), strict=False)]


def with_event(games: list[Record], kind: str, field: str = "e") -> tuple[Raw, Raw]:
    """A copy of the first game that has such an event, and that event."""
    for record in games:
        for round_ in record.rounds:
            for number, event in enumerate(round_["events"]):
                if event["e"] == kind and event.get(field):
                    raw = json.loads(json.dumps(record.raw))
                    place = record.rounds.index(round_)
                    found: Raw = raw["rounds"][place]["events"][number]
                    return raw, found
    raise AssertionError(kind)


def check(raw: Raw) -> Report:
    return GameReplay(Record(raw["id"], "here:1", raw)).run()


def another(tiles: str) -> str:
    """Tiles with the first one changed."""
    return ("2" if tiles[0] == "1" else "1") + tiles[1:]


@pytest.mark.parametrize(
    ("kind", "field", "change", "reported"),
    [
        ("chi", "from", lambda v: (v + 1) % 4, "from"),
        ("pon", "from", lambda v: (v + 1) % 4, "from"),
        ("daiminkan", "from", lambda v: (v + 1) % 4, "from"),
        ("kakan", "pon", another, "pon"),
        ("win", "melds", lambda v: [{**v[0], "tiles": another(v[0]["tiles"])}, *v[1:]], "melds"),
        ("win", "hand", another, "hand"),
        ("win", "dora", another, "dora"),
        ("win", "ura", another, "ura"),
        ("win", "fu", lambda v: v + 10, "fu"),
        ("win", "han", lambda v: v + 1, "han"),
        ("win", "points", lambda v: v + 100, "points"),
        ("win", "deltas", lambda v: [v[1], v[0], v[3], v[2]], "deltas"),
        ("win", "pao", lambda v: (v + 1) % 4, "pao"),
        ("drawn", "deltas", lambda v: [one + 100 for one in v], "deltas"),
        ("drawn", "tenpai", lambda v: [not one for one in v], "tenpai"),
        ("drawn", "nagashi", lambda v: [(v[0] + 1) % 4], "nagashi"),
        ("drawn", "shown", lambda v: [one and another(one) for one in v], "shown"),
    ],
)
def test_a_wrong_value_is_told_by_event_and_field(
    games: list[Record], kind: str, field: str, change: Callable[[Any], Any], reported: str
) -> None:
    many = (
        read_records(str(shared_path("data/games.jsonl.xz")))
        if field in ("pao", "nagashi")
        else games
    )
    raw, event = with_event(list(many), kind, field)
    event[field] = change(event[field])
    found = [one for one in check(raw).mismatches if one.field == reported]
    assert found
    round_ = next(r for r in raw["rounds"] if any(e is event for e in r["events"]))
    place = next(i for i, e in enumerate(round_["events"]) if e is event)
    assert place in [one.event for one in found]


def test_a_tile_that_is_not_where_the_wall_has_it(games: list[Record]) -> None:
    raw, event = with_event(games, "dora", "t")
    event["t"] = another(event["t"])
    found = check(raw).mismatches[0]
    assert (found.field, found.expected) == ("t", event["t"])
    assert found.got.endswith("in the wall")


def test_a_mismatch_as_json_names_all(games: list[Record]) -> None:
    raw, event = with_event(games, "win", "han")
    event["han"] += 1
    assert set(check(raw).mismatches[0].to_json()) == set(Mismatch.__slots__) == {
        "game", "hand", "event", "field", "expected", "got",
    }  # fmt: skip


def test_a_first_hand_that_does_not_begin_evenly_is_told(games: list[Record]) -> None:
    raw = json.loads(json.dumps(games[0].raw))
    raw["rounds"][0]["start"][1] += 100
    assert "start" in {one.field for one in check(raw).mismatches}


NULLS = (
    ("win", "fu"), ("win", "han"), ("win", "points"), ("win", "limit"), ("win", "yaku"), ("win", "yakuman"),
    ("win", "deltas"), ("win", "hand"), ("win", "melds"), ("win", "dora"), ("win", "ura"), ("win", "t"),
    ("win", "honba"), ("win", "deposits"), ("drawn", "deltas"), ("drawn", "tenpai"), ("drawn", "shown"),
    ("chi", "from"), ("pon", "from"), ("kakan", "pon"), ("discard", "tg"),
)  # fmt: skip


@pytest.mark.parametrize(("kind", "field"), NULLS)
def test_a_null_is_no_difference(games: list[Record], kind: str, field: str) -> None:
    raw, event = with_event(games, kind)
    before = check(raw).uncompared
    event[field] = None
    report = check(raw)
    assert not report.mismatches, report.mismatches[0]
    if field not in ("shown", "t"):
        assert report.uncompared > before


@pytest.mark.parametrize(
    ("field", "value"), [("end", None), ("deposits_after", None), ("start", None), ("dice", None)]
)
def test_a_null_of_a_round_is_no_difference(games: list[Record], field: str, value: Any) -> None:
    raw = json.loads(json.dumps(games[0].raw))
    raw["rounds"][1][field] = value
    assert not check(raw).mismatches


def test_a_null_among_numbers_leaves_the_others_compared(games: list[Record]) -> None:
    raw, event = with_event(games, "win", "deltas")
    event["deltas"][0] = None
    assert not check(raw).mismatches
    event["deltas"][1] += 100
    assert [one.field for one in check(raw).mismatches] == ["deltas"]


@pytest.mark.parametrize("field", ["kuitan", "red", "players"])
def test_a_rule_that_is_null_is_the_usual_one(games: list[Record], field: str) -> None:
    raw = json.loads(json.dumps(games[0].raw))
    raw["rules"][field] = None
    assert not check(raw).mismatches


# ---- nothing breaks it

JUNK: tuple[Any, ...] = (
    None, "x", "", -1, 10**30, [], {}, [None], {"a": 1}, True, 1.5, float("inf"), "1m1m", "0z", "????",
)  # fmt: skip


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if path:
        yield path
    if isinstance(value, dict | list):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for key, inner in items:
            yield from places(inner, (*path, key))


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(scaled(3000, 40)))
def test_junk_anywhere_is_a_difference_or_an_error(games: list[Record], seed: int) -> None:
    rng = random.Random(seed)
    raw = json.loads(json.dumps(rng.choice(games).raw))
    raw["rounds"] = raw["rounds"][:2]
    kinds: dict[tuple[Any, ...], list[tuple[Any, ...]]] = {}
    for path in places(raw):
        kinds.setdefault(tuple("#" if isinstance(k, int) else k for k in path), []).append(path)
    path = rng.choice(rng.choice(list(kinds.values())))
    inner = raw
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = rng.choice(JUNK)
    told = "here:1"
    try:
        GameReplay(Record("g", "here:1", raw)).run()
    except RecordError as error:
        told = str(error)
    assert "here:1" in told


# ---- a run over files


def lines(*raws: object) -> str:
    return "".join((one if isinstance(one, str) else json.dumps(one)) + "\n" for one in raws)


def test_one_bad_game_does_not_hide_the_others(
    tmp_path: Path, games: list[Record], capsys: pytest.CaptureFixture[str]
) -> None:
    good = games[0].raw
    sanma = {**good, "id": "three", "rules": {**good["rules"], "players": 3}}
    formless = {**good, "id": "formless", "rounds": [{"wind": "E"}]}
    file = tmp_path / "games.jsonl"
    file.write_text("\ufeff" + lines(sanma, "{", formless, "[" * 100_000, good), encoding="utf-8")
    assert main(["replay", str(tmp_path / "none.jsonl"), str(file), "--check", "--json"]) == 2
    summary = json.loads(capsys.readouterr().out)
    assert summary["hands"] == len(good["rounds"])
    assert summary["mismatches"] == []
    assert [one["code"] for one in summary["errors"]] == [
        "no_such_file", "bad_json", "bad_record", "bad_json",
    ]  # fmt: skip
    assert summary["skipped"] == ["three: three is a game of 3 players; only four play here"]
    assert main(["replay", f"{file}#{games[0].id}", "--check"]) == 0


def test_a_pipe_is_read_whole(
    tmp_path: Path, games: list[Record], capsys: pytest.CaptureFixture[str]
) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=(lines(games[0].raw),))
    writer.start()
    assert main(["replay", str(pipe), "--check", "--json"]) == 0
    writer.join()
    assert json.loads(capsys.readouterr().out)["games"] == 1


# ---- days


def played_on(reason: str, dealer_score: int) -> Record:
    """Last hands of a game in which the dealer stays after a draw."""
    scores = [dealer_score, *[(100_000 - dealer_score) // 3] * 3]
    first: Raw = {
        "wind": "S", "num": 4, "honba": 0, "deposits": 0, "dealer": 0, "start": [25000] * 4,
        "events": [{"e": "drawn", "reason": reason}],
    }  # fmt: skip
    second = {**first, "honba": 1, "start": scores}
    raw = {"id": "d", "rules": {"site": "tenhou", "length": "south"}, "rounds": [first, second]}
    return Record("d", "here:1", raw)


@pytest.mark.parametrize(
    ("reason", "dealer_score", "era"),
    [
        ("exhaustive", 31000, "2009-2010"),
        ("nagashi", 40000, "2009-2010"),
        ("exhaustive", 28000, "since-2022"),  # 30000 not reached: it goes on in every era
        ("suufon", 31000, "since-2022"),  # an abortive draw plays on in every era (Tsup)
    ],
)
def test_who_plays_on_after_a_tenpai_draw_played_before_2010(
    reason: str, dealer_score: int, era: str
) -> None:
    assert dict(ruleset_of(played_on(reason, dealer_score)).options)["era"] == era
