"""The power fails while the journal is written: what lies on the disk opens, with all that was acknowledged.

A VFS records every write of one hand. Each prefix of them is what a power cut may leave, with the last one
torn at any sector, or with writes that no sync had fixed yet missing. The hand is a real one, from the
making of the file over the game's start to its result, with a checkpoint in it.
"""

from __future__ import annotations

import random
import shutil
import uuid
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from hardware_sim.record import parse
from tablectl.daemon.clock import ManualClock
from tablectl.daemon.core import TableCore
from tablectl.daemon.ids import random_ids
from tablectl.daemon.rebuild import rebuild
from tablectl.journal import ActionChange, Journal, JournalTooNewError, Transaction
from tablectl.journal import schema as s
from tablectl.journal.ballast import Ballast
from tablectl.journal.check import check
from tablectl.journal.store import Store
from tablectl.mirror.mirror import Mirror
from tablectl.mirror.tags import TagMap
from tests.conftest import scaled
from tests.daemon.journal_kit import ApswConnection, Recorder
from tests.daemon.shadow import Shadow, memory_of
from tests.daemon.test_restart import at_once
from tests.daemon.undisturbed import request_of
from tests.daemon.virtual import WALL_0, tiles_bridge
from tests.sim.games import short

SECTOR = 512
TORN = 50
"""The last writes of the hand that are torn at each sector."""

Files = dict[str, bytearray]


class Hand(NamedTuple):
    """What one hand gave the journal to write."""

    transactions: list[Transaction]
    tags: TagMap


# ------------------------------------------------------------------ the hand


@pytest.fixture(scope="module")
def hand(tmp_path_factory: pytest.TempPathFactory) -> Hand:
    """All transactions of the first hand of the short record, its motion's fate among them."""
    game = short()
    transactions: list[Transaction] = []
    bridge = tiles_bridge(parse(game), tmp_path_factory.mktemp("hand"), seed=3)
    bridge.on_change = lambda change, _state: transactions.append(change.transaction)
    _, data = request_of(game)
    bridge.start(**data)
    bridge.run(until=lambda: bridge.state.hands_ended == 1)
    return Hand(transactions, bridge.tags)


def written(store: Store, hand: Hand, on_commit: Callable[[], None] = lambda: None) -> None:
    """Write the hand; a motion is marked sent and done as the daemon does it."""
    for number, transaction in enumerate(hand.transactions):
        result = store.commit(transaction)
        on_commit()
        for action in result.actions:
            for state in ("sent", "done"):
                change = ActionChange(action.cmd_id, state)  # type: ignore[arg-type]
                store.commit(Transaction("t1", transaction.t_wall_ms, 0, action_changes=(change,)))
                on_commit()
        if number == len(hand.transactions) // 2:
            store.idle()


def read_back(store: Store, tags: TagMap) -> dict[str, Any]:
    """State, perception and commands as a daemon would read them from this journal."""
    core = TableCore("t1", mirror=Mirror(tags), clock=ManualClock(0, WALL_0), ids=random_ids)
    at_once(rebuild(core, Journal(store, threaded=False)))
    return memory_of(core)


def held(store: Store) -> list[tuple[Any, ...]]:
    """Every row of every table, but for the making and the openings of the file."""
    return [
        (table, *row)
        for table in s.COPIED
        for row in store.db.execute(f"SELECT * FROM main.{table} ORDER BY 1, 2, 3")
    ]


def opened(path: Path, **more: Any) -> Store:
    """As a daemon opens it after the reboot, without laying eight MiB beside it each time."""
    return Store(path, ballast=Ballast(path, free=lambda _folder: 0), **more)


# ------------------------------------------------------------------ what the disk was told


class Disk:
    """Plays a recorded log of writes up to any point."""

    def __init__(
        self, log: Sequence[tuple[str, str, int, bytes]], start: Files | None = None
    ) -> None:
        self.log = log
        self._start = start or {}

    def changes(self) -> list[int]:
        """Places in the log behind a write, truncation or deletion."""
        return [i + 1 for i, entry in enumerate(self.log) if entry[0] in _CHANGES]

    def marks(self, point: int) -> int:
        """Commits acknowledged before a point."""
        return sum(1 for entry in self.log[:point] if entry[0] == "mark")

    def at(self, points: Sequence[int]) -> Iterator[tuple[int, Files]]:
        """The files at each of these points, which rise. Do not change what is yielded."""
        files = {name: bytearray(data) for name, data in self._start.items()}
        done = 0
        for point in points:
            for entry in self.log[done:point]:
                _apply(files, entry)
            done = point
            yield point, files

    def torn(self, point: int, size: int) -> Files:
        """As at `point`, but of the write before it only `size` octets arrived."""
        kind, name, offset, data = self.log[point - 1]
        (_, files), = self.at([point - 1])  # fmt: skip
        _apply(files, (kind, name, offset, data[:size]))
        return files

    def unordered(self, point: int, rng: random.Random) -> Files:
        """As at `point`, but of the writes that no sync of their file has fixed some never arrived."""
        fixed: dict[str, int] = {}
        for index, (kind, name, *_rest) in enumerate(self.log[:point]):
            if kind == "sync":
                fixed[name] = index
        files = {name: bytearray(data) for name, data in self._start.items()}
        for index, entry in enumerate(self.log[:point]):
            if entry[0] == "write" and index > fixed.get(entry[1], -1) and rng.random() < 0.5:
                continue
            _apply(files, entry)
        return files


_CHANGES = frozenset({"write", "truncate", "delete"})


def _apply(files: Files, entry: tuple[str, str, int, bytes]) -> None:
    kind, name, offset, data = entry
    if kind not in _CHANGES:
        return
    if kind == "delete":
        files.pop(name, None)
        return
    content = files.setdefault(name, bytearray())
    if kind == "truncate":
        del content[offset:]
        return
    if len(content) < offset + len(data):
        content.extend(bytes(offset + len(data) - len(content)))
    content[offset : offset + len(data)] = data


def laid_out(folder: Path, files: Files) -> Path:
    """The files in a folder of their own, as after the reboot: no shared memory, no lock."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for name, content in files.items():
        if not name.endswith("-shm"):
            (folder / name).write_bytes(content)
    return folder / "journal.db"


def spread(points: Sequence[Any], few: int) -> list[Any]:
    """All of them at full size, else some, evenly, the first and the last among them."""
    count = scaled(len(points), min(few, len(points)))
    return [points[i * (len(points) - 1) // max(1, count - 1)] for i in range(count)]


# ------------------------------------------------------------------ a hand


class Recorded(NamedTuple):
    """A hand as the disk was told of it."""

    disk: Disk
    held: list[list[tuple[Any, ...]]]
    """All rows after each commit; the first: before any."""
    tags: TagMap

    def stands(self, files: Files, folder: Path, acknowledged: int, *, read: bool) -> None:
        """The journal opens by itself with what was acknowledged, at most one commit more, and verifies."""
        path = laid_out(folder, files)
        store = opened(path, fsync=False)
        try:
            assert store.health.rescued is None
            rows = held(store)
            number = acknowledged + (rows != self.held[acknowledged])
            assert number < len(self.held)
            assert rows == self.held[number], f"neither {acknowledged} commits nor one more"
            if read:
                shadow = Shadow(self.tags)
                shadow.follow(store.reads.entries_after("t1", 0))
                assert read_back(store, self.tags) == shadow.memory()
        finally:
            store.close()
        assert check(path).findings == ()


@pytest.fixture(scope="module")
def recorded(hand: Hand, tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    """The log of one hand from the making of the file on, and what is held after each commit."""
    recorder = Recorder(f"recorder-{uuid.uuid4()}")
    path = tmp_path_factory.mktemp("live") / "journal.db"
    store = opened(path, connect=lambda p: ApswConnection(p, recorder.name))
    after = [held(store)]

    def on_commit() -> None:
        recorder.log.append(("mark", "", 0, b""))
        after.append(held(store))

    written(store, hand, on_commit)
    log = list(recorder.log)
    store.close()
    return Recorded(Disk(log), after, hand.tags)


@pytest.mark.soak
def test_power_cut_at_every_write_of_a_hand(recorded: Recorded, tmp_path: Path) -> None:
    disk = recorded.disk
    points = spread(disk.changes(), 40)
    for number, (point, files) in enumerate(disk.at(points)):
        recorded.stands(files, tmp_path / "cut", disk.marks(point), read=number % 20 == 0)
    print(
        f"\n{len(points)} of {len(disk.changes())} write boundaries, {len(recorded.held) - 1} commits"
    )


@pytest.mark.soak
def test_the_last_writes_of_a_hand_torn_at_each_sector(recorded: Recorded, tmp_path: Path) -> None:
    disk = recorded.disk
    writes = [i for i in disk.changes() if disk.log[i - 1][0] == "write"][-TORN:]
    tears = [(i, size) for i in writes for size in range(SECTOR, len(disk.log[i - 1][3]), SECTOR)]
    assert len(writes) == TORN
    assert len(tears) > 2 * TORN
    some = spread(tears, 20)
    for number, (point, size) in enumerate(some):
        files = disk.torn(point, size)
        recorded.stands(files, tmp_path / "cut", disk.marks(point - 1), read=number % 20 == 0)
    print(f"\n{len(some)} of {len(tears)} tears in {len(writes)} writes")


@pytest.mark.soak
def test_a_disk_that_writes_in_any_order_between_two_syncs(
    recorded: Recorded, tmp_path: Path
) -> None:
    disk = recorded.disk
    points = spread(disk.changes(), 20)
    for number, point in enumerate(points):
        files = disk.unordered(point, random.Random(point))
        recorded.stands(files, tmp_path / "cut", disk.marks(point), read=number % 20 == 0)
    print(f"\n{len(points)} of {len(disk.changes())} points")


# ------------------------------------------------------------------ while a schema migration runs

TO_COME = (
    *s.MIGRATIONS,
    s.Migration(
        2,
        "every row is touched",
        (
            "ALTER TABLE {schema}.events ADD COLUMN note TEXT",
            "UPDATE {schema}.events SET note = type",
            "CREATE INDEX {schema}.by_note ON events (note)",
            "CREATE TABLE {schema}.notes (pos INTEGER PRIMARY KEY, text TEXT) WITHOUT ROWID",
        ),
    ),
)


@pytest.mark.soak
def test_power_cut_at_every_write_of_a_migration(hand: Hand, tmp_path: Path) -> None:
    """The file is of the old version or of the new one, and whole: never something between."""
    live = tmp_path / "live"
    live.mkdir()
    path = live / "journal.db"
    store = opened(path)
    written(store, hand)
    whole = held(store)
    store.close()
    before: Files = {path.name: bytearray(path.read_bytes())}
    recorder = Recorder(f"recorder-{uuid.uuid4()}")
    opened(path, connect=lambda p: ApswConnection(p, recorder.name), migrations=TO_COME).close()
    disk = Disk(list(recorder.log), before)
    points = spread(disk.changes(), 12)
    versions = set()
    for _, files in disk.at(points):
        cut = laid_out(tmp_path / "cut", files)
        try:
            old = opened(cut, fsync=False)
            versions.add(1)
            assert held(old) == whole
            old.close()
        except JournalTooNewError:
            versions.add(2)
        new = opened(cut, migrations=TO_COME, fsync=False)
        assert new.health.rescued is None
        assert new.db.execute("PRAGMA main.integrity_check").fetchall() == [("ok",)]
        noted = [row[:16] for row in held(new)]
        assert noted == [row[:16] for row in whole]
        assert all(row[16] == row[7] for row in held(new) if row[0] == "events")
        new.close()
    assert versions == {1, 2}
    print(f"\n{len(points)} of {len(disk.changes())} write boundaries")
