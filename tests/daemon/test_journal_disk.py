"""Disks that are full, torn, damaged or gone: what was acknowledged stays, the table goes on."""

from __future__ import annotations

import itertools
import random
import sqlite3
import uuid
from pathlib import Path
from unittest.mock import ANY

import pytest

from tablectl.journal import (
    ActionChange,
    JournalTooNewError,
    NewAction,
    NotAJournalError,
    RequestEntry,
    Transaction,
)
from tablectl.journal import schema as s
from tablectl.journal.ballast import Ballast
from tablectl.journal.check import check
from tablectl.journal.store import RETRY_MS, Store
from tests.conftest import scaled
from tests.daemon.journal_kit import ApswConnection, FullDisk, change, event, fact

MIB = 1024 * 1024


class Clock:
    def __init__(self) -> None:
        self.now = 0

    def __call__(self) -> int:
        return self.now


# ------------------------------------------------------------------ full disk


def test_the_ballast_lets_the_hand_end_and_memory_goes_on(tmp_path: Path) -> None:
    folder = tmp_path / "disk"
    folder.mkdir()
    disk = FullDisk(f"full-{uuid.uuid4()}", folder, 40 * MIB)
    clock = Clock()
    path = folder / "journal.db"
    ballast = Ballast(path, free=disk.free)
    store = Store(
        path, clock=clock, ballast=ballast, connect=lambda p: ApswConnection(p, disk.name)
    )  # fmt: skip
    assert ballast.held
    disk.capacity = disk.used() + 200_000
    states: list[tuple[str, bool]] = []
    number = 0
    while store.health.state != "memory":
        number += 1
        result = store.commit(change(number))
        states.append((store.health.state, result.durable))
        assert number < 20_000
    before = [state for state, _ in states].count("ok")
    ballast_lasted = [state for state, _ in states].count("ballast")
    assert before > 0
    assert ballast_lasted > 300, "a hand has some 300 events"
    assert all(durable for state, durable in states if state != "memory")
    assert not states[-1][1]
    assert not ballast.held

    for _ in range(50):
        number += 1
        result = store.commit(change(number))
        assert not result.durable
    assert store.health.in_memory == 3 * 51
    seqs = [e.seqs["public"] for e in store.reads.events_after("t1", "public", 0, 1_000_000)]
    assert seqs == list(range(1, 2 * number + 1)), "memory continues the disk's sequence"

    disk.capacity = 200 * MIB
    clock.now += RETRY_MS
    number += 1
    assert store.commit(change(number)).durable
    assert store.health.state == "ok"
    assert store.health.in_memory == 0
    assert ballast.held
    store.close()
    report = check(path)
    assert report.findings == ()
    assert report.events == 2 * number


def full(store: Store, spare: int = 0) -> None:
    pages = store.db.execute("PRAGMA main.page_count").fetchone()[0]
    store.db.execute(f"PRAGMA main.max_page_count = {pages + spare}")


def freed(store: Store, clock: Clock) -> None:
    store.db.execute("PRAGMA main.max_page_count = 1000000")
    clock.now += RETRY_MS


def fill(store: Store, start: int = 1000) -> int:
    for number in itertools.count(start):
        if not store.commit(change(number)).durable:
            return number
    raise AssertionError


def test_everything_can_be_asked_while_only_memory_holds_it(tmp_path: Path) -> None:
    clock = Clock()
    store = Store(tmp_path / "journal.db", clock=clock)
    (old,) = store.commit(Transaction("t1", 0, 0, actions=(NewAction("LIFT"),))).actions
    full(store)
    last = fill(store)
    request = RequestEntry("tx", "result/draw", "console:a", "{}", '"yes"')
    store.commit(
        Transaction(
            "t1",
            0,
            0,
            game_id="g1",
            entries=(event("late"),),
            request=request,
            actions=(NewAction("ROLL"),),
            action_changes=(ActionChange(old.cmd_id, "sent"),),
            snapshot='{"memory":1}',
        )
    )
    assert store.commit(change(last)).duplicate, "a fact in memory is known"
    store.commit(change(last + 1, events=0))
    silent = store.commit(change(last + 1, events=0))
    assert (silent.duplicate, silent.durable) == (True, False), "though it led to nothing"
    assert store.commit(change(1000)).duplicate, "a fact on disk is known"
    repeated = store.commit(Transaction("t1", 0, 0, request=request))
    assert repeated.duplicate
    assert repeated.answer == '"yes"'
    assert not repeated.durable
    assert store.reads.request_answer("t1", "tx") == ('"yes"', ANY, False)
    pending = [(a.kind, a.state) for a in store.reads.pending_actions("t1")]
    assert pending == [("LIFT", "sent"), ("ROLL", "pending")]
    snapshot = store.reads.snapshot("t1")
    assert snapshot is not None
    assert snapshot.data == {"memory": 1}
    assert store.reads.events_of_game("t1", "g1")[-1].event_id == "late"
    store.commit(Transaction("t1", 0, 0, action_changes=(ActionChange(old.cmd_id, "done"),)))
    assert [a.kind for a in store.reads.pending_actions("t1")] == ["ROLL"]

    freed(store, clock)
    assert store.retry()
    assert [a.kind for a in store.reads.pending_actions("t1")] == ["ROLL"]
    settled = store.reads.action("t1", old.cmd_id)
    assert settled is not None
    assert settled.state == "done"
    store.close()
    assert check(tmp_path / "journal.db").findings == ()


def test_what_only_memory_held_is_saved_at_closing_if_there_is_room(tmp_path: Path) -> None:
    store = Store(tmp_path / "journal.db")
    full(store)
    last = fill(store)
    store.db.execute("PRAGMA main.max_page_count = 1000000")
    store.close()
    store = Store(tmp_path / "journal.db")
    assert store.commit(change(last)).duplicate
    store.close()


def test_a_motion_that_only_memory_knew_leaves_its_id_used_for_ever(tmp_path: Path) -> None:
    """The board has done it: a later motion with its number would be answered "done already"."""
    path = tmp_path / "journal.db"
    lift = Transaction("t1", 0, 0, actions=(NewAction("LIFT"),))
    used: list[int] = []
    for _ in range(3):
        store = Store(path)
        used.append(store.commit(lift).actions[0].cmd_id)
        full(store)
        fill(store, 1000 * (1 + store.epoch))
        used += [store.commit(lift).actions[0].cmd_id for _ in range(3)]
        assert used[-4:] == sorted(used[-4:]), "oldest first"
        store.db.close()  # killed
        assert store._lock is not None
        store._lock.release()
    assert len(set(used)) == len(used) == 12
    assert max(used) < 1 << 32


def test_a_full_disk_is_not_asked_at_each_commit(tmp_path: Path) -> None:
    clock = Clock()
    store = Store(tmp_path / "journal.db", clock=clock)
    full(store)
    last = fill(store)
    store.db.execute("PRAGMA main.max_page_count = 1000000")
    assert not store.commit(change(last + 1)).durable
    clock.now += RETRY_MS
    assert store.commit(change(last + 2)).durable
    store.close()


def test_a_full_disk_at_opening_is_no_reason_not_to_play(tmp_path: Path) -> None:
    folder = tmp_path / "disk"
    folder.mkdir()
    path = folder / "journal.db"
    disk = FullDisk(f"full-{uuid.uuid4()}", folder, 100 * MIB)

    def opened() -> Store:
        return Store(
            path,
            ballast=Ballast(path, size=64 * 1024, free=disk.free),
            connect=lambda p: ApswConnection(p, disk.name),
        )

    store = opened()
    store.commit(change(1))
    store.close()
    disk.capacity = 0
    store = opened()
    assert store.health.state == "memory"
    assert store.epoch == 2
    assert not store.commit(change(2)).durable
    assert store.last_seq("t1", "public") == 4
    store.close()


def test_a_ballast_is_only_taken_where_there_is_room(tmp_path: Path) -> None:
    small = Ballast(tmp_path / "a.db", size=1000, free=lambda _folder: 1999)
    assert not small.take()
    assert not small.held
    roomy = Ballast(tmp_path / "a.db", size=1000, free=lambda _folder: 2000)
    assert roomy.take()
    assert roomy.path.stat().st_size == 1000
    assert roomy.give_up()
    assert not roomy.give_up()


# ------------------------------------------------------------------ damaged


def made(path: Path, count: int = 400) -> int:
    """A journal of two tables that was not closed in order; returns its number of entries."""
    store = Store(path)
    for number in range(1, count + 1):
        store.commit(change(number, table=f"t{number % 2}"))
    store.idle()
    store.db.execute("PRAGMA main.wal_checkpoint(TRUNCATE)").fetchall()
    store.db.close()
    assert store._lock is not None
    store._lock.release()
    return 3 * count


def spoil(path: Path, start: int, stop: int) -> None:
    data = bytearray(path.read_bytes())
    data[start:stop] = random.Random(start).randbytes(stop - start)
    path.write_bytes(data)


def test_a_damaged_page_costs_only_what_stood_behind_it(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    made(path)
    db = sqlite3.connect(path)
    rows = db.execute("SELECT pageno FROM dbstat WHERE name = 'events' AND pagetype = 'leaf'") if (
        _has_dbstat(db)
    ) else None  # fmt: skip
    if rows is None:
        pages = _leaf_pages(path, "events")
    else:
        pages = [row[0] for row in rows]
    db.close()
    target = pages[len(pages) // 2]
    spoil(path, (target - 1) * 4096, target * 4096)
    spoiled = path.read_bytes()
    store = Store(path)
    assert store.health.rescued is not None
    aside = Path(store.health.rescued)
    assert aside.read_bytes() == spoiled, "the damaged file is kept as it is"
    kept = [len(store.reads.entries_after(f"t{n}", 0)) for n in (0, 1)]
    assert min(kept) > 200, "what stood before the damage is kept"
    assert max(kept) < 600
    for n in (0, 1):
        seqs = [e.seqs["public"] for e in store.reads.events_after(f"t{n}", "public", 0, 10_000)]
        assert seqs == list(range(1, len(seqs) + 1))
    assert store.commit(change(999)).durable
    store.close()
    assert check(path).findings == ()
    fresh_stream = Store(path)
    assert fresh_stream.health.rescued is None
    fresh_stream.close()


def _has_dbstat(db: sqlite3.Connection) -> bool:
    try:
        db.execute("SELECT 1 FROM dbstat LIMIT 1").fetchall()
    except sqlite3.Error:
        return False
    return True


def _leaf_pages(path: Path, table: str) -> list[int]:
    """Leaf pages of a table, read from the file: interior page 0x05 points to its children."""
    db = sqlite3.connect(path)
    (root,) = db.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (table,)).fetchone()
    db.close()
    data = path.read_bytes()

    def children(page: int) -> list[int]:
        base = (page - 1) * 4096
        if data[base] != 0x05:
            return [page]
        count = int.from_bytes(data[base + 3 : base + 5], "big")
        cells = [
            int.from_bytes(data[base + 12 + 2 * i : base + 14 + 2 * i], "big") for i in range(count)
        ]
        left = [int.from_bytes(data[base + cell : base + cell + 4], "big") for cell in cells]
        right = int.from_bytes(data[base + 8 : base + 12], "big")
        return [leaf for child in [*left, right] for leaf in children(child)]

    return children(root)


def test_a_destroyed_header_costs_nothing(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    entries = made(path)
    spoil(path, 0, 4096)
    store = Store(path)
    assert store.health.rescued is not None
    held = sum(len(store.reads.entries_after(f"t{n}", 0)) for n in (0, 1))
    assert held == entries
    store.close()


def test_a_file_cut_short_keeps_its_beginning(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    entries = made(path)
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2 // 512 * 512])
    store = Store(path)
    assert store.health.rescued is not None
    held = sum(len(store.reads.entries_after(f"t{n}", 0)) for n in (0, 1))
    assert entries // 10 < held < entries
    assert store.epoch >= 2
    store.close()
    assert check(path).findings == ()


def test_a_file_of_length_zero_is_set_aside(tmp_path: Path) -> None:
    """Known fault 46: a power cut left the state file with nothing in it."""
    path = tmp_path / "journal.db"
    made(path)
    path.write_bytes(b"")
    store = Store(path)
    assert store.health.rescued is not None
    assert Path(store.health.rescued).exists()
    assert store.commit(change(1)).durable
    store.close()


def test_a_rescued_journal_is_a_new_stream_with_new_cmd_ids(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    store = Store(path)
    stream, epoch = store.stream, store.epoch
    (action,) = store.commit(
        Transaction("t1", 0, 0, entries=(fact(1),), actions=(NewAction("LIFT"),))
    ).actions
    store.close()
    spoil(path, 0, 4096)
    store = Store(path)
    assert store.stream != stream
    assert store.epoch == epoch + 1
    (new,) = store.commit(Transaction("t1", 0, 0, actions=(NewAction("LIFT"),))).actions
    assert new.cmd_id != action.cmd_id
    assert store.reads.pending_actions("t1")[0].kind == "LIFT"
    store.close()


def test_random_damage_never_stops_the_daemon(tmp_path: Path) -> None:
    model = tmp_path / "model.db"
    made(model, 120)
    whole = model.read_bytes()
    for seed in range(scaled(500, 25)):
        rng = random.Random(seed)
        path = tmp_path / f"{seed}.db"
        data = bytearray(whole)
        for _ in range(rng.randint(1, 4)):
            start = rng.randrange(0, len(data), 512)
            data[start : start + 512] = rng.randbytes(512)
        if rng.random() < 0.3:
            del data[rng.randrange(len(data)) :]
        path.write_bytes(data)
        path.with_name(path.name + ".ballast").write_bytes(b"")
        store = Store(path)
        for table in ("t0", "t1"):
            seqs = [e.seqs["public"] for e in store.reads.events_after(table, "public", 0, 10_000)]
            assert seqs == list(range(1, len(seqs) + 1)), seed
        assert store.commit(change(9999)), seed
        store.close()
        path.unlink()


def test_damage_met_while_running_goes_on_in_memory(tmp_path: Path) -> None:
    clock = Clock()
    store = Store(tmp_path / "journal.db", clock=clock)
    store.commit(change(1))

    class Broken:
        in_transaction = False

        def __init__(self, db: s.Connection) -> None:
            self.db = db

        def execute(self, sql: str, parameters: object = (), /) -> s.Cursor:
            if "main." in sql or sql == "BEGIN IMMEDIATE":
                error = sqlite3.DatabaseError("database disk image is malformed")
                error.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
                raise error
            return self.db.execute(sql, parameters)  # type: ignore[arg-type]

        def __getattr__(self, name: str) -> object:
            return getattr(self.db, name)

    store._db = store.reads.db = Broken(store.db)  # type: ignore[assignment]
    for number in range(2, 6):
        assert not store.commit(change(number)).durable
    assert store.health.state == "memory"
    assert "malformed" in store.health.reason
    assert store.commit(change(3)).duplicate
    store.close()


# ------------------------------------------------------------------ versions


NEXT = (
    *s.MIGRATIONS,
    s.Migration(2, "notes", ("CREATE TABLE {schema}.notes (pos INTEGER PRIMARY KEY)",)),
)


def test_a_journal_of_the_previous_release_opens_in_the_new_one(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    store = Store(path)
    store.commit(change(1))
    store.close()
    store = Store(path, migrations=NEXT)
    assert store.reads.events_of_game("t1", "g1")
    steps = store.db.execute("SELECT version, name FROM main.migrations").fetchall()
    assert steps == [(1, "first"), (2, "notes")]
    assert store.commit(change(2)).durable
    store.close()


def test_a_journal_of_a_later_release_is_refused_and_not_touched(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    Store(path, migrations=NEXT).close()
    before = path.read_bytes()
    with pytest.raises(
        JournalTooNewError, match="version 2, this tablectl knows versions up to 1"
    ) as caught:
        Store(path)
    assert caught.value.code == "journal_too_new"
    assert (caught.value.found, caught.value.known) == (2, 1)
    assert path.read_bytes() == before


def test_a_migration_that_fails_leaves_the_old_version(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    store = Store(path)
    store.commit(change(1))
    store.close()
    broken = (*s.MIGRATIONS, s.Migration(2, "bad", ("CREATE TABLE {schema}.x (a)", "NO SQL")))
    with pytest.raises(Exception, match="syntax error"):
        Store(path, migrations=broken)
    store = Store(path)
    assert store.reads.events_of_game("t1", "g1")
    store.close()


@pytest.mark.parametrize("content", ["venue = 'x'\n", "sqlite"])
def test_a_file_that_is_no_journal_is_refused_and_not_touched(tmp_path: Path, content: str) -> None:
    path = tmp_path / "other"
    if content == "sqlite":
        db = sqlite3.connect(path)
        db.execute("CREATE TABLE mine (a)")
        db.commit()
        db.close()
    else:
        path.write_text(content)
    before = path.read_bytes()
    with pytest.raises(NotAJournalError) as caught:
        Store(path)
    assert caught.value.code == "not_a_journal"
    assert path.read_bytes() == before
