"""The journal without threads: one connection, transactions in batches, disk or memory below."""

from __future__ import annotations

import sqlite3
import time
import uuid
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tablectl.journal import schema as s
from tablectl.journal.ballast import Ballast
from tablectl.journal.errors import (
    JournalClosedError,
    JournalUnusableError,
    TransactionRejectedError,
)
from tablectl.journal.lock import LifeLock
from tablectl.journal.memory import Figures
from tablectl.journal.model import (
    CommitResult,
    Health,
    JournalState,
    Transaction,
)
from tablectl.journal.reads import Reads
from tablectl.journal.rescue import DAMAGE_CODES, set_aside
from tablectl.journal.writes import Writes

RETRY_MS = 2_000
"""A full disk is asked again this often: staff frees space within minutes, not milliseconds."""
DISK_CODES = frozenset(
    {
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_READONLY,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_CORRUPT,
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_PROTOCOL,
        sqlite3.SQLITE_NOTADB,
    }
)
"""Errors of the medium, not of the program: the table goes on in memory."""

_DEFECTS = (
    sqlite3.IntegrityError,
    sqlite3.InterfaceError,
    sqlite3.ProgrammingError,
    ValueError,
    TypeError,
    OverflowError,
)
"""A transaction that cannot be written because of what it holds."""

Outcome = CommitResult | TransactionRejectedError


def random_id() -> str:
    """A new UUID."""
    return str(uuid.uuid4())


def _monotonic_ms() -> int:
    return time.monotonic_ns() // 1_000_000


class Store:
    """Open file of a journal. Used by one thread at a time; `Journal` adds the writer thread.

    `path=None`: in memory only. `on_step` is told `begin`, `written`, `committed` of each batch, for
    tests that die in between. Raises JournalLockedError, JournalTooNewError, NotAJournalError,
    JournalUnusableError at opening.
    """

    def __init__(
        self,
        path: Path | None,
        *,
        fsync: bool = True,
        new_id: Callable[[], str] = random_id,
        clock: Callable[[], int] = _monotonic_ms,
        connect: Callable[[str], s.Connection] = s.connect,
        migrations: Sequence[s.Migration] = s.MIGRATIONS,
        ballast: Ballast | None = None,
        on_step: Callable[[str], None] | None = None,
    ) -> None:
        self.path = path
        self._clock = clock
        self._step = on_step or (lambda _name: None)
        self._figures = Figures()
        self._cursors_dirty: set[tuple[str, str]] = set()
        self.cursors: dict[tuple[str, str], int] = {}
        self._state: JournalState = "ok"
        self._reason = ""
        self._rescued: str | None = None
        self._in_memory = 0
        self._commits = 0
        self._transactions = 0
        self._retry_at = 0
        self._lock: LifeLock | None = None
        self._ballast: Ballast | None = None
        self._open = False
        try:
            if path is not None:
                if not path.parent.is_dir():
                    raise JournalUnusableError(
                        path, "its folder does not exist", hint=f"mkdir -p {path.parent}"
                    )
                self._lock = LifeLock(path)
                self._ballast = ballast or Ballast(path)
                self._rescued = set_aside(path, migrations)
            try:
                self._set_up(connect, fsync=fsync, migrations=migrations)
            except sqlite3.DatabaseError as error:
                # Closed in order, damaged since: only reading it shows.
                if path is None or _code(error) not in DAMAGE_CODES:
                    raise
                self._db.close()
                self._rescued = set_aside(path, migrations, force=True)
                self._set_up(connect, fsync=fsync, migrations=migrations)
            self.cursors = {
                (table, name.removeprefix("out:")): value
                for (table, name), value in self._figures.counters.items()
                if name.startswith("out:")
            }
            self._begin_epoch(new_id)
            self.writes = Writes(self._db, self.reads, self._figures, self.stream, self.epoch)
        except BaseException:
            self._let_go()
            raise
        self._open = True
        self.opened_seqs = {
            (table, name.removeprefix("seq:")): value
            for (table, name), value in self._figures.counters.items()
            if name.startswith("seq:")
        }
        """Last `seq` of each feed at opening."""
        if self._ballast is not None and self._state == "ok":
            self._ballast.take()

    # ------------------------------------------------------------------ opening

    def _connect(
        self,
        connect: Callable[[str], s.Connection],
        *,
        fsync: bool,
        migrations: Sequence[s.Migration],
    ) -> s.Connection:
        where = self.path or Path(":memory:")
        try:
            db = connect(str(where))
        except sqlite3.Error as error:
            raise JournalUnusableError(where, str(error)) from error
        try:
            version = s.identify(db, where, migrations)
            db.execute("PRAGMA main.journal_mode = WAL")
            db.execute(f"PRAGMA main.synchronous = {'FULL' if fsync else 'NORMAL'}")
            # Checkpoints run when nobody waits (`idle`); this is the bound when nobody ever rests.
            db.execute("PRAGMA wal_autocheckpoint = 4000")
            db.execute("PRAGMA main.journal_size_limit = 8388608")
            db.execute("PRAGMA trusted_schema = OFF")
            s.migrate(db, version, migrations)
        except sqlite3.Error as error:
            db.close()
            raise JournalUnusableError(where, str(error)) from error
        except BaseException:
            db.close()
            raise
        return db

    def _set_up(
        self,
        connect: Callable[[str], s.Connection],
        *,
        fsync: bool,
        migrations: Sequence[s.Migration],
    ) -> None:
        self._db = self._connect(connect, fsync=fsync, migrations=migrations)
        self.reads = Reads(self._db)
        s.create_spill(self._db, migrations)
        self._load()

    def _load(self) -> None:
        counters: list[Any] = []
        for schema in self.reads.schemas:
            counters += self._db.execute(
                f"SELECT table_id, name, value FROM {schema}.counters"  # noqa: S608 - own name
            ).fetchall()
        self._figures.find = self.reads.chain
        self._figures.load(counters)

    def _begin_epoch(self, new_id: Callable[[], str]) -> None:
        meta = dict(self._db.execute("SELECT key, value FROM main.meta").fetchall())
        self.stream = meta.get("stream") or new_id()
        self.epoch = int(meta.get("epoch", "0")) + 1

        def write() -> None:
            self._db.execute("BEGIN IMMEDIATE")
            self._db.executemany(
                "INSERT OR REPLACE INTO main.meta VALUES (?, ?)",
                [("stream", self.stream), ("epoch", str(self.epoch)), ("clean", "0")],
            )
            self._db.execute("COMMIT")

        try:
            write()
        except sqlite3.Error as error:
            self._recover(error)
            try:
                write()
            except sqlite3.Error as again:
                self._recover(again)

    # ------------------------------------------------------------------ writing

    def commit(self, transaction: Transaction) -> CommitResult:
        """Write one transaction. Raises TransactionRejectedError."""
        (outcome,) = self.commit_many([transaction])
        if isinstance(outcome, TransactionRejectedError):
            raise outcome
        return outcome

    def commit_many(self, transactions: Sequence[Transaction]) -> list[Outcome]:
        """Write transactions in one commit; one that is rejected does not touch the others."""
        if not self._open:
            raise JournalClosedError
        if self._state != "ok":
            self.retry()
        while True:
            schema = "spill" if self._state == "memory" else "main"
            try:
                return self._commit_into(schema, transactions)
            except sqlite3.Error as error:
                self._undo_batch()
                if schema == "spill" or not _of_the_medium(error):
                    raise
                self._recover(error)
            except BaseException:
                self._undo_batch()
                raise

    def _commit_into(self, schema: str, transactions: Sequence[Transaction]) -> list[Outcome]:
        db = self._db
        self._step("begin")
        db.execute("BEGIN IMMEDIATE" if schema == "main" else "BEGIN")
        outcomes: list[Outcome] = []
        entries = 0
        alone = len(transactions) == 1
        for transaction in transactions:
            mark = self._figures.mark
            if not alone:
                db.execute("SAVEPOINT one")
            try:
                outcomes.append(self.writes.write(schema, transaction))
                entries += len(transaction.entries)
            except _DEFECTS as error:
                outcomes.append(TransactionRejectedError(transaction.table_id, str(error)))
                if alone:
                    self._undo_batch()
                    return outcomes
                db.execute("ROLLBACK TO one")
                self._figures.back_to(mark)
            if not alone:
                db.execute("RELEASE one")
        self._write_figures(schema)
        self._step("written")
        db.execute("COMMIT")
        self._figures.settle()
        self._step("committed")
        for key in list(self._cursors_dirty):
            if self._figures.counters.get((key[0], "out:" + key[1])) == self.cursors[key]:
                self._cursors_dirty.discard(key)
        self._commits += 1
        self._transactions += len(transactions)
        if schema == "spill":
            self._in_memory += entries
        return outcomes

    def _write_figures(self, schema: str) -> None:
        figures = self._figures
        for key in list(self._cursors_dirty):
            if (value := self.cursors[key]) != figures.counters.get((key[0], "out:" + key[1])):
                figures.set(key[0], "out:" + key[1], value)
        self._db.executemany(
            f"INSERT OR REPLACE INTO {schema}.counters VALUES (?,?,?)",  # noqa: S608 - own name
            [
                (*key, figures.counters[key])
                for key in figures.dirty_counters
                if key in figures.counters
            ],
        )
        self._db.executemany(
            f"INSERT OR REPLACE INTO {schema}.chains VALUES (?,?,?,?,?,?,?)",  # noqa: S608 - own name
            [(*key, *figures.chains[key]) for key in figures.dirty_chains if key in figures.chains],
        )

    # ------------------------------------------------------------------ the disk

    def _undo_batch(self) -> None:
        if self._db.in_transaction:
            self._db.execute("ROLLBACK")
        self._figures.back_to(0)
        self._figures.settle()

    def _recover(self, error: sqlite3.Error) -> None:
        """The disk said no: give up the ballast and try again, or go on in memory."""
        if self._db.in_transaction:
            self._db.execute("ROLLBACK")
        self._reason = str(error)
        self._retry_at = self._clock() + RETRY_MS
        full = _code(error) == sqlite3.SQLITE_FULL or _code(error) == sqlite3.SQLITE_IOERR
        if full and self._state == "ok" and self._ballast is not None and self._ballast.give_up():
            self._state = "ballast"
            return
        self._state = "memory"
        self.reads.schemas = ("main", "spill")

    def retry(self) -> bool:
        """Ask the disk again, at most every two seconds; True when all is well."""
        if self._state == "ok":
            return True
        if self._clock() < self._retry_at:
            return False
        self._retry_at = self._clock() + RETRY_MS
        if self._state == "memory" and not self._catch_up():
            return False
        if self._ballast is not None and not self._ballast.take():
            self._state = "ballast"
            return False
        self._state, self._reason = "ok", ""
        return True

    def _catch_up(self) -> bool:
        db = self._db
        try:
            db.execute("BEGIN IMMEDIATE")
            for table in s.COPIED:
                db.execute(f"INSERT OR REPLACE INTO main.{table} SELECT * FROM spill.{table}")  # noqa: S608 - own name
                db.execute(f"DELETE FROM spill.{table}")  # noqa: S608 - own name
            db.executemany(
                "INSERT OR REPLACE INTO main.meta VALUES (?, ?)",
                [("stream", self.stream), ("epoch", str(self.epoch)), ("clean", "0")],
            )
            db.execute("COMMIT")
        except sqlite3.Error as error:
            if not _of_the_medium(error):
                raise
            self._reason = str(error)
            if db.in_transaction:
                db.execute("ROLLBACK")
            return False
        self._in_memory = 0
        self.reads.schemas = ("main",)
        return True

    # ------------------------------------------------------------------ the rest

    def mark_published(self, table_id: str, feed: str, seq: int) -> None:
        """Move an outbox cursor; written with the next commit, `flush` or `close`."""
        key = (table_id, feed)
        if seq > self.cursors.get(key, 0):
            self.cursors[key] = seq
            self._cursors_dirty.add(key)

    def last_seq(self, table_id: str, feed: str) -> int:
        """Last `seq` given on a feed."""
        return self._figures.counters.get((table_id, "seq:" + feed), 0)

    @property
    def cursors_dirty(self) -> bool:
        """True while `flush` has something to do."""
        return bool(self._cursors_dirty)

    def flush(self) -> None:
        """Write the outbox cursors."""
        if self._cursors_dirty and self._open:
            self.commit_many(())

    def idle(self) -> None:
        """Nobody waits: move the write-ahead log into the file."""
        if self._state != "memory" and self._open and self.path is not None:
            try:
                self._db.execute("PRAGMA main.wal_checkpoint(PASSIVE)").fetchall()
            except sqlite3.Error as error:
                if not _of_the_medium(error):
                    raise

    def note(self, reason: str) -> None:
        """Keep a reason for `health`."""
        self._reason = reason

    @property
    def health(self) -> Health:
        """How the journal is now."""
        return Health(
            self._state,
            self._reason,
            self._in_memory,
            self._commits,
            self._transactions,
            self._rescued,
        )

    @property
    def db(self) -> s.Connection:
        """The open connection, for `retention` and tests."""
        return self._db

    def drop_figures(self) -> None:
        """Read the figures again after rows were removed."""
        self._load()

    def close(self) -> None:
        """Write what is left, close the file, let the lock go; a second call does nothing."""
        if not self._open:
            return
        try:
            self.flush()
            if self._state == "memory":
                self._retry_at = 0
                self.retry()
            if self._state != "memory":
                self._db.execute("INSERT OR REPLACE INTO main.meta VALUES ('clean', '1')")
        except sqlite3.Error as error:
            if not _of_the_medium(error):
                raise
        finally:
            self._open = False
            self._let_go()

    def _let_go(self) -> None:
        db: s.Connection | None = getattr(self, "_db", None)
        if db is not None:
            db.close()
        if self._lock is not None:
            self._lock.release()


def _code(error: sqlite3.Error) -> int:
    return int(getattr(error, "sqlite_errorcode", 0) or 0) & 0xFF


def _of_the_medium(error: sqlite3.Error) -> bool:
    return _code(error) in DISK_CODES
