"""Real games through the engine: legal acts, wins, payments, next hands, final points."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from tablectl.cli.main import main
from tablectl.engine.game.apply import apply_all
from tablectl.engine.game.state import EMPTY
from tablectl.records.reader import Record, RecordError, read_records, ruleset_of
from tablectl.records.replay import GameReplay, Report, replay
from tests.conftest import scaled, shared_path

GAMES = 510
HANDS = 5179
SAMPLE = 60


@pytest.fixture(scope="module")
def games() -> list[Record]:
    return list(read_records(str(shared_path("data/games.jsonl.xz"))))


def show(report: Report) -> str:
    return "\n".join(map(str, report.mismatches[:10]))


@pytest.mark.soak
def test_the_records_agree(games: list[Record]) -> None:
    wanted = scaled(GAMES, SAMPLE)
    rare = [
        game for game in games if game.site != "tenhou" or "yakuman" in str(game.raw.get("tags"))
    ]
    rest = [game for game in games if game not in rare]
    chosen = rare[:wanted] + random.Random(1).sample(rest, max(0, wanted - len(rare)))
    report = replay(chosen)
    assert not report.mismatches, show(report)
    assert report.games == len(chosen)
    if wanted == GAMES:
        assert report.hands == HANDS


def test_the_partial_games_agree_where_plain_rules_apply() -> None:
    report, left_out = Report(), []
    for record in read_records(str(shared_path("data/extra.jsonl.xz"))):
        try:
            GameReplay(record, report).run()
        except RecordError as error:
            left_out.append((record.id, error.code))
    assert not report.mismatches, show(report)
    assert report.games == 13
    assert left_out == [(name, "special_rules") for name in ("x0001", "x0002", "x0005")]


def test_a_replay_folds_from_its_events(games: list[Record]) -> None:
    run = GameReplay(games[0], keep_log=True)
    run.run()
    assert run.log is not None
    events = [event for _, answer in run.log for event in answer]
    assert apply_all(EMPTY, events).canonical() == run.state.canonical()


# ---- a check that cannot fail is none: break the record, and it must say so


def _broken(record: Record, change: Any) -> Report:
    raw = json.loads(json.dumps(record.raw))
    change(raw)
    return replay([Record(record.id, record.where, raw)])


def _first(raw: dict[str, Any], kind: str) -> dict[str, Any]:
    for round_ in raw["rounds"]:
        for event in round_["events"]:
            if event["e"] == kind:
                found: dict[str, Any] = event
                return found
    raise AssertionError(kind)


@pytest.mark.parametrize("field", ["fu", "han", "points", "deltas", "yaku", "honba", "deposits"])
def test_a_changed_win_is_found(games: list[Record], field: str) -> None:
    def change(raw: dict[str, Any]) -> None:
        win = _first(raw, "win")
        value = win[field]
        if field == "yaku":
            value[0][1] += 1
        elif field == "deltas":
            value[0] += 100
        else:
            win[field] = value + 10

    assert field in {one.field for one in _broken(games[0], change).mismatches}


def test_changed_scores_and_points_are_found(games: list[Record]) -> None:
    def change(raw: dict[str, Any]) -> None:
        raw["rounds"][0]["end"][0] += 100
        raw["final"]["points"][1] += 1
        raw["final"]["scores"][2] += 100

    found = {one.field for one in _broken(games[0], change).mismatches}
    assert {"end", "final.points", "final.scores"} <= found


def test_an_illegal_act_is_found(games: list[Record]) -> None:
    def change(raw: dict[str, Any]) -> None:
        raw["rounds"][0]["events"][1]["t"] = (
            "9s" if raw["rounds"][0]["events"][1]["t"] != "9s" else "8s"
        )

    found = {one.field for one in _broken(games[0], change).mismatches}
    assert "refused" in found
    assert "legal" in found


def test_a_missing_riichi_ok_is_found(games: list[Record]) -> None:
    record = next(game for game in games if "riichi_ok" in json.dumps(game.raw))

    def change(raw: dict[str, Any]) -> None:
        for round_ in raw["rounds"]:
            round_["events"] = [e for e in round_["events"] if e["e"] != "riichi_ok"]

    assert "riichi_ok" in {one.field for one in _broken(record, change).mismatches}


def test_a_null_field_is_counted(games: list[Record]) -> None:
    before = replay([games[0]]).uncompared

    def change(raw: dict[str, Any]) -> None:
        _first(raw, "win")["fu"] = None

    report = _broken(games[0], change)
    assert not report.mismatches
    assert report.uncompared == before + 1


# ---- rulesets of records


def test_the_day_of_a_record_shows_in_its_points(games: list[Record]) -> None:
    eras = {dict(ruleset_of(game).options).get("era") for game in games if game.site == "tenhou"}
    assert eras == {"since-2022", "2010-2022", "until-2009"}
    small = {game.id for game in games if dict(ruleset_of(game).options).get("era") == "until-2009"}
    assert small == {"g0376", "g0539", "g1002"}


def test_a_record_that_is_none_is_told(games: list[Record]) -> None:
    def change(raw: dict[str, Any]) -> None:
        _first(raw, "win")["yaku"] = [3]

    with pytest.raises(RecordError) as caught:
        _broken(games[0], change)
    assert caught.value.code == "bad_record"
    assert "event" in str(caught.value) or "E1" in str(caught.value)


def test_an_unknown_site_is_named() -> None:
    record = Record("q", "here:1", {"id": "q", "rules": {"site": "nowhere"}, "rounds": []})
    with pytest.raises(RecordError) as caught:
        ruleset_of(record)
    assert caught.value.code == "unknown_site"
    assert "nowhere" in str(caught.value)


# ---- files and the command line


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "no_records"),
        ("{", "bad_json"),
        ("[]", "bad_record"),
        ('{"id": "a"}', "bad_record"),
    ],
)
def test_a_bad_file_is_told(tmp_path: Path, text: str, code: str) -> None:
    file = tmp_path / "games.jsonl"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(RecordError) as caught:
        list(read_records(str(file)))
    assert caught.value.code == code


def test_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    name = f"{shared_path('data/games.jsonl.xz')}#g0002"
    assert main(["replay", name, "--check", "--json"]) == 0
    summary = json.loads(capsys.readouterr().out)
    assert (summary["games"], summary["hands"], summary["wins"], summary["mismatches"]) == (
        1,
        5,
        5,
        [],
    )
    assert summary["hands_per_s"] > 0


def test_the_command_line_finds_differences(
    tmp_path: Path, games: list[Record], capsys: pytest.CaptureFixture[str]
) -> None:
    raw = json.loads(json.dumps(games[0].raw))
    raw["rounds"][0]["end"][0] += 100
    file = tmp_path / "spoilt.jsonl"
    file.write_text(json.dumps(raw) + "\n", encoding="utf-8")
    assert main(["replay", str(file), "--check"]) == 1
    assert "E1.0: end: record" in capsys.readouterr().out
    assert main(["replay", str(tmp_path / "nothing.jsonl")]) == 2
    assert "no such file" in capsys.readouterr().err
