"""`tablectl journal`: what a technician types, and what is found when somebody touched the file."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tablectl.cli.main import main
from tablectl.journal import Transaction
from tablectl.journal.check import check
from tablectl.journal.store import Store
from tests.daemon.journal_kit import change, event

DAY = 86_400_000
NOW = time.time_ns() // 1_000_000


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Four games of one table, one of another, and rows that belong to no game."""
    path = tmp_path / "journal.db"
    store = Store(path)
    number = 0
    for game, age in (("g1", 900), ("g2", 500), ("g3", 400), ("g4", 1)):
        store.commit(
            Transaction("t1", NOW - age * DAY, 0, entries=(event(f"open-{game}"),), snapshot="{}")
        )
        for _ in range(100):
            number += 1
            whole = change(number, game=game)
            store.commit(Transaction("t1", NOW - age * DAY, number, True, game, whole.entries))
    store.commit(change(1, table="t2", game="other"))
    store.mark_published("t1", "public", 300)
    store.close()
    return path


def ran(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(["journal", *arguments])
    out, err = capsys.readouterr()
    return code, out, err


def test_verify_says_that_all_seals_hold(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = ran(capsys, "verify", str(file))
    assert code == 0
    assert "2 tables, 5 games, 401 facts, 806 events: all seals hold" in out


SWAP = """UPDATE events SET pos = -pos WHERE pos IN (100, 101);
UPDATE events SET pos = 201 + pos WHERE pos < 0"""

TAMPERINGS: dict[str, tuple[str, str]] = {
    "a body changed": ("UPDATE events SET body = '{}' WHERE pos = 100", "seal_broken"),
    "a fact changed": ("UPDATE facts SET uptime_ms = 1 WHERE event_no = 50", "seal_broken"),
    "an event removed": ("DELETE FROM events WHERE pos = 400", "seal_broken"),
    "the last event removed": (
        "DELETE FROM events WHERE pos = (SELECT max(pos) FROM events WHERE game_id = 'g3')",
        "chain_short",
    ),
    "two events swapped": (
        SWAP,
        "seal_broken",
    ),
    "a game's chain removed": ("DELETE FROM chains WHERE game_id = 'g2'", "chain_missing"),
    "a sequence with a hole": (
        "UPDATE counters SET value = value + 1 WHERE name = 'seq:public' AND table_id = 't2'",
        "seq_end",
    ),
    "an id given twice": (
        "UPDATE events SET event_id = 't1-1-0' WHERE event_id = 't1-2-0'",
        "event_twice",
    ),
}


@pytest.mark.parametrize("name", TAMPERINGS)
def test_verify_finds_what_was_tampered_with(
    file: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    statements, code = TAMPERINGS[name]
    db = sqlite3.connect(file)
    if "event_no = 50" in statements or "pos = 100" in statements or "pos = 400" in statements:
        assert (
            db.execute("SELECT count(*) FROM events WHERE pos IN (100, 101, 400)").fetchone()[0]
            == 3
        )
    db.executescript(statements)
    db.close()
    exit_code, out, _ = ran(capsys, "verify", str(file), "--json")
    report = json.loads(out)
    assert exit_code == 1
    assert code in {finding["code"] for finding in report["findings"]}
    assert all(finding["message"] for finding in report["findings"])


def test_verify_runs_beside_the_daemon(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = Store(file)
    store.commit(change(999))
    code, out, _ = ran(capsys, "verify", str(file))
    assert code == 0
    assert "402 facts" in out
    store.close()


def test_export_prints_a_game_in_its_order(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = ran(capsys, "export", str(file), "--game", "g2")
    lines = [json.loads(line) for line in out.splitlines()]
    assert code == 0
    assert len(lines) == 300
    assert [line["row"] for line in lines[:4]] == ["fact", "event", "event", "fact"]
    assert [line["pos"] for line in lines] == sorted(line["pos"] for line in lines)
    assert lines[1]["data"] == {"tile": "5m"}
    assert lines[1]["id"] == "t1-101-0"
    _, only, _ = ran(capsys, "export", str(file), "--game", "g2", "--events")
    assert len(only.splitlines()) == 200


def test_export_lists_games_and_knows_when_there_is_none(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, out, _ = ran(capsys, "export", str(file), "--list")
    assert [json.loads(line)["game"] for line in out.splitlines()] == [
        "g1",
        "g2",
        "g3",
        "g4",
        "other",
    ]
    _, one, _ = ran(capsys, "export", str(file), "--list", "--table", "t2")
    assert [json.loads(line)["game"] for line in one.splitlines()] == ["other"]
    code, _, err = ran(capsys, "export", str(file), "--game", "g9")
    assert code == 2
    assert "--list" in err


def test_prune_drops_the_oldest_published_games_only(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """g2 is old too, but the broker has not had all of it yet."""
    _, out, _ = ran(capsys, "prune", str(file), "--older-than", "300", "--dry-run", "--json")
    assert json.loads(out)["pruned"][0] == {"table": "t1", "games": ["g1"], "rows": 302}
    assert check(file).facts == 401
    code, out, _ = ran(capsys, "prune", str(file), "--older-than", "300")
    assert code == 0
    assert "table t1: 1 games, 302 rows went" in out
    report = check(file)
    assert report.findings == ()
    assert report.facts == 301
    store = Store(file)
    assert [line.game_id for line in store.reads.games("t1")] == ["g2", "g3", "g4"]
    after = store.reads.events_after("t1", "public", 0, 10)
    assert after[0].seqs["public"] == 203, "what is left begins with g2"
    assert store.reads.events_after("t1", "public", 500, 1)[0].seqs["public"] == 501
    result = store.commit(change(900))
    assert result.events[0].seqs["public"] == 805
    store.close()
    assert check(file).findings == ()


def test_the_latest_game_stays_however_old(file: Path) -> None:
    store = Store(file)
    store.mark_published("t1", "public", 804)
    store.close()
    assert main(["journal", "prune", str(file), "--older-than", "0"]) == 0
    store = Store(file)
    assert [line.game_id for line in store.reads.games()] == ["g4", "other"]
    assert store.reads.tail_since_snapshot("t1").snapshot is not None
    store.close()
    assert check(file).findings == ()


def test_prune_beside_a_daemon_names_its_process(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import os

    store = Store(file)
    code, _, err = ran(capsys, "prune", str(file), "--older-than", "1")
    store.close()
    assert code == 2
    assert str(os.getpid()) in err
    assert "journal_locked" in err


def no_file(path: Path) -> None:
    path.unlink()


def text_file(path: Path) -> None:
    path.write_text("これは違う\n")


@pytest.mark.parametrize("spoil", [no_file, text_file])
@pytest.mark.parametrize("action", ["verify", "export", "prune"])
def test_a_wrong_file_is_told_in_one_line(
    file: Path, capsys: pytest.CaptureFixture[str], action: str, spoil: Callable[[Path], None]
) -> None:
    spoil(file)
    for suffix in (".ballast", "-wal"):
        file.with_name(file.name + suffix).unlink(missing_ok=True)
    more = ["--older-than", "1"] if action == "prune" else []
    code, out, err = ran(capsys, action, str(file), *more)
    assert code == 2
    assert out == ""
    assert str(file) in err
    assert "Traceback" not in err


def test_a_wrong_number_of_days_is_usage(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["journal", "prune", str(file), "--older-than", "soon"])
    assert caught.value.code == 2
    assert "'soon' is not a number of days" in capsys.readouterr().err
