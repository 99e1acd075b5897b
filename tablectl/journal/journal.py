"""The journal as the daemon holds it: one writer thread, group commit over all tables."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tablectl.journal.model import (
    CommitResult,
    Health,
    StoredAction,
    StoredEvent,
    Tail,
    Transaction,
)


class Journal:
    """Append-only store of all tables of one daemon, locked for life.

    `threaded=False` runs the same code inside the caller: nothing is left to the scheduler, as the
    virtual clock needs it. `path=None` keeps everything in memory (no lock, no ballast).
    """

    stream: str
    """UUID of this journal; a lost journal starts a new one."""
    epoch: int
    """Count of openings, persisted."""

    @classmethod
    def open(
        cls,
        path: Path | None,
        *,
        threaded: bool = True,
        fsync: bool = True,
        new_id: Callable[[], str] | None = None,
        on_health: Callable[[Health], None] | None = None,
    ) -> Journal:
        """Open or create. Raises JournalLockedError, JournalTooNewError, NotAJournalError, JournalUnusableError."""
        raise NotImplementedError

    async def append(self, transaction: Transaction) -> CommitResult:
        """Write one transaction; returns after the commit. Raises TransactionRejectedError."""
        raise NotImplementedError

    def is_new_fact(self, table_id: str, boot_id: int, event_no: int) -> bool:
        """True when this device fact is certainly not journaled yet (from memory, no I/O)."""
        raise NotImplementedError

    async def find_fact(self, table_id: str, boot_id: int, event_no: int) -> CommitResult | None:
        """What was committed with this device fact, as a duplicate would be answered; or None."""
        raise NotImplementedError

    async def request_answer(self, table_id: str, transaction: str) -> str | None:
        """The first answer (canonical JSON) to this transaction, while it is remembered."""
        raise NotImplementedError

    async def events_after(
        self, table_id: str, feed: str, seq: int, limit: int = 500
    ) -> tuple[StoredEvent, ...]:
        """Events that `feed` sees after `seq`, in order, at most `limit`."""
        raise NotImplementedError

    async def events_of_game(self, table_id: str, game_id: str) -> tuple[StoredEvent, ...]:
        """All events of one game in order."""
        raise NotImplementedError

    async def tail_since_snapshot(self, table_id: str) -> Tail:
        """Latest snapshot, and facts and events since then in their original order."""
        raise NotImplementedError

    async def pending_actions(self, table_id: str) -> tuple[StoredAction, ...]:
        """Actions not settled yet (`pending` or `sent`), oldest first."""
        raise NotImplementedError

    async def prune(self, table_id: str, before_wall_ms: int) -> int:
        """Drop finished games older than this Unix time, never the latest; returns rows dropped."""
        raise NotImplementedError

    def last_seq(self, table_id: str, feed: str) -> int:
        """Last `seq` given on this feed, 0 before the first (from memory)."""
        raise NotImplementedError

    def published(self, table_id: str, feed: str) -> int:
        """Last `seq` known to be published (outbox cursor, from memory)."""
        raise NotImplementedError

    def mark_published(self, table_id: str, feed: str, seq: int) -> None:
        """Move the outbox cursor; persisted lazily, so that a crash publishes some twice."""
        raise NotImplementedError

    @property
    def health(self) -> Health:
        """How the journal is now."""
        raise NotImplementedError

    async def close(self) -> None:
        """Commit what is queued, close the file, let the lock go."""
        raise NotImplementedError
