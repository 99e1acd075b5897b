"""A damaged file is set aside untouched, and everything before the damage goes into a new one."""

from __future__ import annotations

import heapq
import itertools
import json
import os
import shutil
import sqlite3
import tempfile
import time
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tablectl.journal import schema as s
from tablectl.journal.chain import ANCHOR, seal
from tablectl.journal.errors import JournalUnusableError, NotAJournalError
from tablectl.journal.reads import EVENT_COLUMNS, FACT_COLUMNS
from tablectl.journal.writes import FEED_STRIDE

MAGIC = b"SQLite format 3\0"
PAGE = 4096
RESCUED = ".rescued-"
"""Beside the journal: a rescue that is complete and waits for the damaged file to be moved."""
DAMAGE_CODES = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_IOERR})


def beside(path: Path, suffix: str) -> Path:
    """`journal.db` → `journal.db-wal` and the like."""
    return path.with_name(path.name + suffix)


def set_aside(
    path: Path, migrations: Sequence[s.Migration] = s.MIGRATIONS, *, force: bool = False
) -> str | None:
    """Look at the file before it is opened; returns where the damaged one lies now, or None.

    A file that was closed in order is only looked at by its header; after a crash or power cut
    SQLite's quick check reads it whole. A rescue that was killed itself is finished, or begun anew.
    Raises NotAJournalError, JournalTooNewError.
    """
    folder = beside(path, ".rescue")
    shutil.rmtree(folder, ignore_errors=True)
    finished = _exchange(path)
    if finished is not None:
        return finished
    if not path.exists():
        return None
    if not force and _damage(path, migrations) is None:
        return None
    folder.mkdir()
    copy, fresh = folder / "copy", folder / "fresh"
    shutil.copyfile(path, copy)
    if beside(path, "-wal").exists():
        shutil.copyfile(beside(path, "-wal"), beside(copy, "-wal"))
    salvage(copy, fresh, migrations)
    stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    names = (stamp + (f"-{n}" if n else "") for n in itertools.count())
    name = next(n for n in names if not beside(path, f".damaged-{n}").exists())
    fresh.rename(beside(path, f"{RESCUED}{name}"))
    _fix_names(path.parent)
    shutil.rmtree(folder)
    return _exchange(path)


def _exchange(path: Path) -> str | None:
    """Put a rescued file that is complete in the place of the damaged one; None where there is none.

    Killed between any two of its steps, the next call does the rest.
    """
    for rescued in path.parent.iterdir():
        if not rescued.name.startswith(path.name + RESCUED):
            continue
        aside = beside(path, ".damaged-" + rescued.name.removeprefix(path.name + RESCUED))
        for suffix in ("", "-wal"):
            if beside(path, suffix).exists():
                beside(path, suffix).rename(beside(aside, suffix))
        beside(path, "-shm").unlink(missing_ok=True)
        rescued.rename(path)
        _fix_names(path.parent)
        return str(aside)
    return None


def _fix_names(folder: Path) -> None:
    """Names survive a power cut only once their folder is synced."""
    fd = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def _damage(path: Path, migrations: Sequence[s.Migration]) -> str | None:
    ours = beside(path, ".ballast").exists() or beside(path, "-wal").exists()
    try:
        with path.open("rb") as file:
            magic = file.read(16)
    except OSError as error:
        raise JournalUnusableError(path, error.strerror or str(error)) from error
    if not magic:
        return "it is empty" if ours else None
    if magic != MAGIC:
        if ours:
            return "its header is destroyed"
        raise NotAJournalError(path)
    try:
        db = s.connect(str(path))
        try:
            version = s.identify(db, path, migrations)
            if version == 0:
                return None
            clean = db.execute("SELECT value FROM meta WHERE key = 'clean'").fetchone()
            if clean is not None and clean[0] == "1":
                return None
            (found,) = db.execute("PRAGMA main.quick_check(1)").fetchone()
            return None if found == "ok" else str(found)
        finally:
            db.close()
    except sqlite3.Error as error:
        if (getattr(error, "sqlite_errorcode", 0) & 0xFF) in DAMAGE_CODES:
            return str(error)
        raise JournalUnusableError(path, str(error)) from error


# ---------------------------------------------------------------- reading what can be read


@dataclass(slots=True)
class _Kept:
    """What the new file must know of one table's rows, gathered while they are copied."""

    last: int = 0
    fact: int = 0
    seqs: dict[str, int] = field(default_factory=dict)
    cut: bool = False
    """Damage was met: nothing after it is taken."""


def salvage(damaged: Path, fresh: Path, migrations: Sequence[s.Migration] = s.MIGRATIONS) -> int:
    """Copy everything before the damage into a new file; returns the number of facts and events.

    Transactions are kept whole or not at all. Tables are islands: where one table's chain breaks,
    the others go on. The new file starts a new stream, because what was lost may have been
    published.
    """
    new = s.connect(str(fresh))
    try:
        s.migrate(new, 0, migrations)
        source = _open_damaged(damaged)
        try:
            new.execute("BEGIN")
            count = _copy(source, new) if source is not None else 0
            new.execute("COMMIT")
        finally:
            if source is not None:
                source.close()
    finally:
        new.close()
    return count


def _open_damaged(path: Path) -> s.Connection | None:
    for mend in (False, True):
        if mend:
            _mend_first_page(path)
        db: s.Connection | None = None
        try:
            db = s.connect(str(path))
            # Index pages may contradict their tables: read by position only, trust the seals.
            db.execute("SELECT pos FROM facts ORDER BY pos LIMIT 1").fetchall()
        except sqlite3.Error:
            if db is not None:
                db.close()
            continue
        return db
    return None


def _mend_first_page(path: Path) -> None:
    """Replace a destroyed first page: our schema is always made in one order, so a new file has it."""
    if path.stat().st_size < PAGE:
        return
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        model = Path(folder) / "model"
        db = s.connect(str(model))
        s.migrate(db, 0)
        db.close()
        page = bytearray(model.read_bytes()[:PAGE])
    pages = path.stat().st_size // PAGE
    page[28:32] = pages.to_bytes(4, "big")
    page[32:40] = bytes(8)  # free list: not needed for reading
    with path.open("r+b") as file:
        file.write(page)


def _rows(db: s.Connection, table: str, columns: str) -> Iterator[tuple[str, tuple[Any, ...]]]:
    """Rows by position up to the first that cannot be read or cannot have been written."""
    last = 0
    try:
        for row in db.execute(f"SELECT {columns}, hash FROM {table} ORDER BY pos"):  # noqa: S608 - own names
            pos, tx, tx_end, table_id = row[:4]
            whole = all(isinstance(value, int) for value in (pos, tx, tx_end))
            if not whole or not last < pos or not tx <= pos <= tx_end:
                return
            if not isinstance(table_id, str):
                return
            last = pos
            yield table, tuple(row)
    except sqlite3.Error:
        return


def _readable(db: s.Connection, sql: str, *types: type) -> Iterator[tuple[Any, ...]]:
    """Rows up to the first that cannot be read; `types` are those of the first columns."""
    try:
        for row in db.execute(sql):
            if all(isinstance(value, kind) for value, kind in zip(row, types, strict=False)):
                yield tuple(row)
    except sqlite3.Error:
        return


def _copy(old: s.Connection, new: s.Connection) -> int:
    anchors = {
        (table, game): anchor
        for table, game, anchor in _readable(
            old, "SELECT table_id, game_id, anchor FROM chains", str, str, bytes
        )
    }
    chains: dict[tuple[str, str], list[Any]] = {}
    kept: dict[str, _Kept] = {}
    count = top = epoch = 0
    merged = heapq.merge(
        _rows(old, "facts", FACT_COLUMNS),
        _rows(old, "events", EVENT_COLUMNS),
        key=lambda entry: entry[1][0],
    )
    for _, group in itertools.groupby(merged, key=lambda entry: entry[1][1]):
        rows = list(group)
        table_id = rows[0][1][3]
        state = kept.setdefault(table_id, _Kept())
        sealed = None if state.cut else _check(rows, chains, anchors)
        if sealed is None:
            state.cut = True
            continue
        chains.update(sealed)
        for kind, row in rows:
            _take(new, kind, row, state)
            epoch = max(epoch, row[-3])
        count += len(rows)
        top = max(top, rows[-1][1][0])
    _copy_rest(old, new, kept)
    _write_figures(old, new, kept, chains, top, epoch)
    return count


def _check(
    rows: Sequence[tuple[str, tuple[Any, ...]]],
    chains: dict[tuple[str, str], list[Any]],
    anchors: dict[tuple[str, str], bytes],
) -> dict[tuple[str, str], list[Any]] | None:
    """The chains after this transaction, or None when it is not whole or not sealed rightly."""
    first, last = rows[0][1][1], rows[0][1][2]
    if len(rows) != last - first + 1:
        return None
    if any(row[0] != first + n or row[1:3] != (first, last) for n, (_, row) in enumerate(rows)):
        return None
    sealed: dict[tuple[str, str], list[Any]] = {}
    for kind, row in rows:
        key = (row[3], row[4] or "")
        chain = sealed.get(key) or chains.get(key)
        if chain is None:
            anchor = anchors.get(key, ANCHOR)
            chain = [anchor, anchor, 0, row[0], row[0]]
        head = seal(chain[1], "fact" if kind == "facts" else "event", row[:-1])
        if head != row[-1]:
            return None
        sealed[key] = [chain[0], head, chain[2] + 1, chain[3], row[0]]
    return sealed


def _take(new: s.Connection, kind: str, row: tuple[Any, ...], state: _Kept) -> None:
    marks = ",".join("?" * len(row))
    new.execute(f"INSERT INTO {kind} VALUES ({marks})", row)  # noqa: S608 - own names
    state.last = row[0]
    if kind == "facts":
        if row[7] is not None:
            state.fact = row[0]
        return
    for feed, seq in json.loads(row[8]).items():
        state.seqs[feed] = seq
        if seq % FEED_STRIDE == 1:
            new.execute("INSERT INTO feed_index VALUES (?,?,?,?)", (row[3], feed, seq, row[0]))


def _copy_rest(old: s.Connection, new: s.Connection, kept: dict[str, _Kept]) -> None:
    for name, table_at, pos_at, types in (
        ("requests", 0, 2, (str, str, int)),
        ("actions", 0, 2, (str, int, int)),
        ("snapshots", 1, 0, (int, str)),
    ):
        for row in _readable(old, f"SELECT * FROM {name} ORDER BY 1, 2", *types):  # noqa: S608 - own names
            state = kept.get(row[table_at])
            if state is not None and state.cut and row[pos_at] > state.last + 1:
                continue
            marks = ",".join("?" * len(row))
            new.execute(f"INSERT OR IGNORE INTO {name} VALUES ({marks})", row)  # noqa: S608 - own names


def _write_figures(
    old: s.Connection,
    new: s.Connection,
    kept: dict[str, _Kept],
    chains: dict[tuple[str, str], list[Any]],
    top: int,
    epoch: int,
) -> None:
    figures: dict[tuple[str, str], int] = {}
    for table, name, value in _readable(
        old, "SELECT table_id, name, value FROM counters", str, str, int
    ):
        figures[table, name] = value
    counters: dict[tuple[str, str], int] = {("", "pos"): max(top, figures.get(("", "pos"), 0)) + 1}
    for table, state in kept.items():
        counters[table, "last"] = state.last
        if state.fact:
            counters[table, "fact"] = state.fact
        for feed, seq in state.seqs.items():
            counters[table, "seq:" + feed] = seq
            counters[table, "out:" + feed] = min(figures.get((table, "out:" + feed), seq), seq)
    # `cmd` is left out: the new stream starts its ids elsewhere, so none that a board remembers
    # can come twice.
    new.executemany(
        "INSERT INTO counters VALUES (?,?,?)", [(*key, value) for key, value in counters.items()]
    )
    new.executemany(
        "INSERT INTO chains VALUES (?,?,?,?,?,?,?)",
        [(*key, *chain) for key, chain in chains.items()],
    )
    meta = dict(_readable(old, "SELECT key, value FROM meta", str, str))
    old_epoch = int(meta["epoch"]) if str(meta.get("epoch", "")).isdigit() else 0
    new.executemany(
        "INSERT OR REPLACE INTO meta VALUES (?, ?)",
        [
            ("stream", str(uuid.uuid4())),
            ("epoch", str(max(epoch, old_epoch))),
            ("rescued_from", str(meta.get("stream", ""))),
        ],
    )
