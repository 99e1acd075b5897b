"""The tables of the journal, their versions, and the way from one version to the next."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from tablectl import __version__
from tablectl.journal.errors import JournalTooNewError, NotAJournalError

APPLICATION_ID = 0x54424C31
"""`TBL1` in the SQLite header: tells our file from any other database."""


class Cursor(Protocol):
    """The part of a DB-API cursor that is used."""

    def fetchone(self) -> Any:
        """Next row or None."""
        ...

    def fetchall(self) -> list[Any]:
        """All rows left."""
        ...

    def __iter__(self) -> Iterator[Any]: ...


class Connection(Protocol):
    """The part of a DB-API connection that is used: a test may bring another SQLite binding."""

    @property
    def in_transaction(self) -> bool:
        """True between BEGIN and COMMIT."""
        ...

    def execute(self, sql: str, parameters: Sequence[Any] = (), /) -> Cursor:
        """Run one statement."""
        ...

    def executemany(self, sql: str, parameters: Any, /) -> Cursor:
        """Run one statement for each row."""
        ...

    def close(self) -> None:
        """Close the file."""
        ...


def connect(path: str) -> Connection:
    """A plain connection: autocommit, transactions are begun by hand, any one thread at a time."""
    return sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=5.0)


@dataclass(frozen=True, slots=True)
class Migration:
    """From `version - 1` to `version`; statements run in one transaction."""

    version: int
    name: str
    statements: tuple[str, ...]


# `{schema}` is `main`, or `spill` for the same tables in memory (see `store`). Positions are
# given by the store, never by SQLite: `pos` orders facts and events of all tables as they happened,
# `tx`…`tx_end` are the positions of one transaction.
TABLES: tuple[str, ...] = (
    """CREATE TABLE {schema}.meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID""",
    """CREATE TABLE {schema}.facts (
        pos INTEGER PRIMARY KEY, tx INTEGER NOT NULL, tx_end INTEGER NOT NULL,
        table_id TEXT NOT NULL, game_id TEXT, kind TEXT NOT NULL, body TEXT NOT NULL,
        boot_id INTEGER, event_no INTEGER, uptime_ms INTEGER,
        t_wall_ms INTEGER NOT NULL, t_mono_ms INTEGER NOT NULL,
        epoch INTEGER NOT NULL, time_synced INTEGER NOT NULL, hash BLOB NOT NULL)""",
    """CREATE UNIQUE INDEX {schema}.fact_once ON facts (table_id, boot_id, event_no)
        WHERE boot_id IS NOT NULL""",
    """CREATE TABLE {schema}.events (
        pos INTEGER PRIMARY KEY, tx INTEGER NOT NULL, tx_end INTEGER NOT NULL,
        table_id TEXT NOT NULL, game_id TEXT, event_id TEXT NOT NULL, type TEXT NOT NULL,
        body TEXT NOT NULL, seqs TEXT NOT NULL, command_id TEXT,
        t_wall_ms INTEGER NOT NULL, t_mono_ms INTEGER NOT NULL,
        epoch INTEGER NOT NULL, time_synced INTEGER NOT NULL, hash BLOB NOT NULL)""",
    """CREATE TABLE {schema}.feed_index (
        table_id TEXT NOT NULL, feed TEXT NOT NULL, seq INTEGER NOT NULL, pos INTEGER NOT NULL,
        PRIMARY KEY (table_id, feed, seq)) WITHOUT ROWID""",
    """CREATE TABLE {schema}.requests (
        table_id TEXT NOT NULL, id TEXT NOT NULL, tx INTEGER NOT NULL, name TEXT NOT NULL,
        source TEXT NOT NULL, data TEXT NOT NULL, answer TEXT NOT NULL,
        t_wall_ms INTEGER NOT NULL, epoch INTEGER NOT NULL,
        PRIMARY KEY (table_id, id)) WITHOUT ROWID""",
    """CREATE INDEX {schema}.request_order ON requests (table_id, tx)""",
    """CREATE TABLE {schema}.actions (
        table_id TEXT NOT NULL, cmd_id INTEGER NOT NULL, tx INTEGER NOT NULL, kind TEXT NOT NULL,
        body TEXT NOT NULL, state TEXT NOT NULL, result TEXT, game_id TEXT,
        deadline_wall_ms INTEGER, t_wall_ms INTEGER NOT NULL, epoch INTEGER NOT NULL,
        PRIMARY KEY (table_id, cmd_id)) WITHOUT ROWID""",
    """CREATE INDEX {schema}.action_open ON actions (table_id, cmd_id)
        WHERE state IN ('pending', 'sent')""",
    """CREATE TABLE {schema}.snapshots (
        pos INTEGER PRIMARY KEY, table_id TEXT NOT NULL, game_id TEXT, body TEXT NOT NULL)""",
    """CREATE INDEX {schema}.snapshot_order ON snapshots (table_id, pos)""",
    """CREATE TABLE {schema}.counters (
        table_id TEXT NOT NULL, name TEXT NOT NULL, value INTEGER NOT NULL,
        PRIMARY KEY (table_id, name)) WITHOUT ROWID""",
    """CREATE TABLE {schema}.chains (
        table_id TEXT NOT NULL, game_id TEXT NOT NULL, anchor BLOB NOT NULL, head BLOB NOT NULL,
        length INTEGER NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL,
        PRIMARY KEY (table_id, game_id)) WITHOUT ROWID""",
    """CREATE TABLE {schema}.migrations (
        version INTEGER PRIMARY KEY, name TEXT NOT NULL, program TEXT NOT NULL,
        t_wall_ms INTEGER NOT NULL)""",
)
# Each commit writes every page it touched: on an SD card the number of trees decides. So there is
# no index by table, game or event id: `chains` knows the first and last position of a game,
# `counters` the last of a table, and `feed_index` holds every 64th `seq` only; the rest is a short
# scan along `pos`. One event with its fact and seven feeds touches five pages (with full indexes 18).

MIGRATIONS: tuple[Migration, ...] = (Migration(1, "first", TABLES),)

COPIED = ("facts", "events", "feed_index", "requests", "actions", "snapshots", "counters", "chains")
"""Tables that grow in memory while the disk is full, and are copied over when it is not."""


def version_of(migrations: Sequence[Migration] = MIGRATIONS) -> int:
    """The schema version that this program writes."""
    return migrations[-1].version


def identify(db: Connection, path: Path, migrations: Sequence[Migration] = MIGRATIONS) -> int:
    """Schema version of an open file, 0 when empty. Raises NotAJournalError, JournalTooNewError."""
    version = int(db.execute("PRAGMA main.user_version").fetchone()[0])
    application = int(db.execute("PRAGMA main.application_id").fetchone()[0])
    tables = int(db.execute("SELECT count(*) FROM main.sqlite_master").fetchone()[0])
    if application != APPLICATION_ID and (tables or version or application):
        raise NotAJournalError(path)
    known = version_of(migrations)
    if version > known:
        raise JournalTooNewError(path, version, known)
    return version


def migrate(
    db: Connection, version: int, migrations: Sequence[Migration] = MIGRATIONS, *, wall_ms: int = 0
) -> None:
    """Bring the file from `version` to the latest; each step is one transaction."""
    for step in migrations:
        if step.version <= version:
            continue
        db.execute("BEGIN IMMEDIATE")
        try:
            for statement in step.statements:
                db.execute(statement.format(schema="main"))
            db.execute(
                "INSERT INTO main.migrations VALUES (?, ?, ?, ?)",
                (step.version, step.name, __version__, wall_ms or time.time_ns() // 1_000_000),
            )
            db.execute(f"PRAGMA main.application_id = {APPLICATION_ID}")
            db.execute(f"PRAGMA main.user_version = {step.version}")
            db.execute("COMMIT")
        except BaseException:
            if db.in_transaction:
                db.execute("ROLLBACK")
            raise


def create_spill(db: Connection, migrations: Sequence[Migration] = MIGRATIONS) -> None:
    """The same tables in memory, for the time in which the disk takes nothing."""
    db.execute("ATTACH ':memory:' AS spill")
    for step in migrations:
        for statement in step.statements:
            if "{schema}" in statement:
                db.execute(statement.format(schema="spill"))
