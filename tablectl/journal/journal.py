"""The journal as the daemon holds it: one writer thread, group commit over all tables."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import queue
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self, TypeVar, cast

from tablectl.journal.errors import JournalClosedError
from tablectl.journal.memory import Newest
from tablectl.journal.model import (
    CommitResult,
    FactEntry,
    Health,
    StoredAction,
    StoredEvent,
    StoredFact,
    Tail,
    Transaction,
)
from tablectl.journal.retention import prune
from tablectl.journal.store import Outcome, Store, random_id

_LOG = logging.getLogger("tablectl.journal")

BATCH = 256
"""Transactions in one commit at most: bounds the time until the first of them is answered."""
CHECKPOINT_AFTER = 200
"""Commits after which an idle moment is used to move the write-ahead log into the file."""
IDLE_S = 0.5
"""A moment counts as idle after this; also how long an outbox cursor may wait for company."""

T = TypeVar("T")


@dataclass(slots=True)
class _Job:
    """What the writer thread is asked: a transaction, or a question to the store."""

    future: asyncio.Future[Any]
    transaction: Transaction | None = None
    then: Callable[[CommitResult], None] | None = None
    question: Callable[[Store], Any] | None = None


class Journal:
    """Append-only store of all tables of one daemon, locked for life. Used from one event loop.

    `threaded=False` runs the same code inside the caller: nothing is left to the scheduler, as the
    virtual clock needs it. `path=None` keeps everything in memory (no lock, no ballast).
    """

    def __init__(
        self,
        store: Store,
        *,
        threaded: bool = True,
        on_health: Callable[[Health], None] | None = None,
    ) -> None:
        self._store = store
        self.stream = store.stream
        """UUID of this journal; a lost journal starts a new one."""
        self.epoch = store.epoch
        """Count of openings, persisted."""
        self._on_health = on_health
        self._health = store.health
        self._newest = Newest()
        """Of what is committed."""
        self._seqs: dict[tuple[str, str], int] = {}
        self._closed = False
        self._loop: asyncio.AbstractEventLoop | None = None
        """Where health is told; known from the first call in it."""
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._flush_at: asyncio.TimerHandle | None = None
        if threaded:
            self._thread = threading.Thread(target=self._write, name="journal", daemon=True)
            self._thread.start()

    @classmethod
    def open(
        cls,
        path: Path | None,
        *,
        threaded: bool = True,
        fsync: bool = True,
        new_id: Callable[[], str] | None = None,
        on_health: Callable[[Health], None] | None = None,
        on_step: Callable[[str], None] | None = None,
    ) -> Self:
        """Open or create.

        `new_id` gives the stream's UUID; `on_health` is called in the loop when the disk fails or
        recovers; `on_step` is the store's. Raises JournalLockedError, JournalTooNewError,
        NotAJournalError, JournalUnusableError.
        """
        store = Store(path, fsync=fsync, new_id=new_id or random_id, on_step=on_step)
        return cls(store, threaded=threaded, on_health=on_health)

    # ------------------------------------------------------------------ writing

    async def append(
        self, transaction: Transaction, then: Callable[[CommitResult], None] | None = None
    ) -> CommitResult:
        """Write one transaction; returns after the commit. Raises TransactionRejectedError.

        Order within a table is the order of the calls. Cancelling the caller does not take the
        transaction back. `then` is called in the loop at once when it is committed, even if nobody
        waits any more.
        """
        if self._closed:
            raise JournalClosedError
        if self._thread is None:
            (outcome,) = self._store.commit_many([transaction])
            self._note(transaction, outcome)
            self._tell_health()
            if then is not None and isinstance(outcome, CommitResult):
                then(outcome)
        else:
            self._loop = asyncio.get_running_loop()
            job = _Job(self._loop.create_future(), transaction, then)
            self._jobs.put(job)
            outcome = await job.future
        if isinstance(outcome, CommitResult):
            return outcome
        raise outcome

    def _note(self, transaction: Transaction, outcome: Outcome) -> None:
        """What the loop may see from memory: only what is committed."""
        if not isinstance(outcome, CommitResult):
            return
        for entry in transaction.entries:
            if isinstance(entry, FactEntry) and entry.boot_id is not None:
                self._newest.note(transaction.table_id, entry.boot_id, entry.event_no or 0)
        if outcome.duplicate:
            return
        for event in outcome.events:
            for feed, seq in event.seqs.items():
                self._seqs[event.table_id, feed] = seq

    # ------------------------------------------------------------------ asking

    def is_new_fact(self, table_id: str, boot_id: int, event_no: int) -> bool:
        """True when this device fact is certainly not journaled yet (from memory, no I/O).

        Facts of one boot come in order; the first one asked of a boot is unknown to memory and
        needs `find_fact`.
        """
        newest = self._newest.of(table_id, boot_id)
        return newest is not None and event_no > newest

    async def find_fact(self, table_id: str, boot_id: int, event_no: int) -> CommitResult | None:
        """What was committed with this device fact, as a duplicate would be answered; or None."""

        def ask(store: Store) -> tuple[CommitResult | None, int | None]:
            found = store.writes.find_fact(table_id, boot_id, event_no)
            return (found[0] if found else None), store.reads.newest_event_no(table_id, boot_id)

        found, newest = await self._ask(ask)
        self._newest.note(table_id, boot_id, -1 if newest is None else newest)
        return found

    async def last_device_fact(self, table_id: str) -> StoredFact | None:
        """The latest fact of the board: what a Hello tells it that we have."""
        return await self._ask(lambda store: store.reads.last_device_fact(table_id))

    async def request_answer(self, table_id: str, transaction: str) -> tuple[str, bool] | None:
        """The first answer (canonical JSON) to this transaction, while it is remembered, and whether it
        is durable."""
        found = await self._ask(lambda store: store.reads.request_answer(table_id, transaction))
        return (found[0], found[2]) if found else None

    async def events_after(
        self, table_id: str, feed: str, seq: int, limit: int = 500
    ) -> tuple[StoredEvent, ...]:
        """Events that `feed` sees after `seq`, in order, at most `limit`."""
        return await self._ask(lambda store: store.reads.events_after(table_id, feed, seq, limit))

    async def events_of_game(self, table_id: str, game_id: str) -> tuple[StoredEvent, ...]:
        """All events of one game in order."""
        return await self._ask(lambda store: store.reads.events_of_game(table_id, game_id))

    async def tail_since_snapshot(self, table_id: str) -> Tail:
        """Latest snapshot, and facts and events since then in their original order."""
        return await self._ask(lambda store: store.reads.tail_since_snapshot(table_id))

    async def pending_actions(self, table_id: str) -> tuple[StoredAction, ...]:
        """Actions not settled yet (`pending` or `sent`), oldest first."""
        return await self._ask(lambda store: store.reads.pending_actions(table_id))

    async def prune(self, table_id: str, before_wall_ms: int) -> int:
        """Drop games whose last row is older than this Unix time, never the latest of a table, nor
        what is not published yet; returns the number of facts and events dropped."""
        return await self._ask(lambda store: prune(store, table_id, before_wall_ms))

    async def _ask(self, question: Callable[[Store], T]) -> T:
        if self._closed:
            raise JournalClosedError
        if self._thread is None:
            return question(self._store)
        job = _Job(asyncio.get_running_loop().create_future(), question=question)
        self._jobs.put(job)
        return cast("T", await job.future)

    # ------------------------------------------------------------------ the outbox

    def last_seq(self, table_id: str, feed: str) -> int:
        """Last committed `seq` of this feed, 0 before the first (from memory)."""
        key = (table_id, feed)
        if key not in self._seqs:
            self._seqs[key] = self._store.opened_seqs.get(key, 0)
        return self._seqs[key]

    def published(self, table_id: str, feed: str) -> int:
        """Last `seq` known to be published (outbox cursor, from memory)."""
        return self._store.cursors.get((table_id, feed), 0)

    def mark_published(self, table_id: str, feed: str, seq: int) -> None:
        """Move the outbox cursor; persisted lazily, so that a crash publishes some twice."""
        self._store.mark_published(table_id, feed, seq)
        if self._thread is not None and self._flush_at is None:
            # The writer sleeps perhaps: it is woken once in a while, not by each acknowledgement.
            loop = asyncio.get_running_loop()
            self._flush_at = loop.call_later(IDLE_S, self._wake_writer)

    def _wake_writer(self) -> None:
        self._flush_at = None
        if not self._closed:
            self._jobs.put(_WAKE)

    # ------------------------------------------------------------------ life

    @property
    def health(self) -> Health:
        """How the journal is now."""
        return self._store.health

    def _tell_health(self) -> None:
        now = self._store.health
        if (now.state, now.reason) != (self._health.state, self._health.reason):
            self._health = now
            if self._on_health is not None:
                self._on_health(now)

    async def close(self) -> None:
        """Commit what is queued, close the file, let the lock go; a second call does nothing."""
        if self._closed:
            return
        self._closed = True
        if self._flush_at is not None:
            self._flush_at.cancel()
        if self._thread is None:
            self._store.close()
            return
        self._jobs.put(None)
        await asyncio.get_running_loop().run_in_executor(None, self._thread.join)

    # ------------------------------------------------------------------ writer thread

    def _write(self) -> None:
        """Commit whatever is queued, answer, again; ends with `None` in the queue."""
        store = self._store
        commits = 0
        running = True
        while running:
            waiting = store.cursors_dirty or store.health.state != "ok"
            jobs, running, idle = self._take(IDLE_S if waiting or commits else None)
            if jobs:
                commits += self._work(jobs)
            elif idle:
                self._rest(commits)
                commits = 0
        try:
            store.close()
        except Exception:  # noqa: BLE001 - nobody waits in this thread; all answers are given
            _LOG.exception("the journal did not close in order")

    def _take(self, timeout: float | None) -> tuple[list[_Job], bool, bool]:
        """(What is queued, whether to go on after it, whether nothing came for `timeout` seconds)."""
        jobs: list[_Job] = []
        try:
            job = self._jobs.get(timeout=timeout)
        except queue.Empty:
            return jobs, True, True
        with contextlib.suppress(queue.Empty):
            while True:
                if job is None:
                    return jobs, False, False
                if job is not _WAKE:
                    jobs.append(job)
                if len(jobs) >= BATCH:
                    break
                job = self._jobs.get_nowait()
        return jobs, True, False

    def _rest(self, commits: int) -> None:
        before = self._store.health
        try:
            self._store.flush()
            if before.state != "ok":
                self._store.retry()
            if commits >= CHECKPOINT_AFTER:
                self._store.idle()
        except Exception as error:  # noqa: BLE001 - the thread must live; the next commit meets it again
            self._store.note(str(error))
        if self._store.health != before and self._loop is not None:
            with contextlib.suppress(RuntimeError):  # the loop is gone: nobody waits any more
                self._loop.call_soon_threadsafe(self._tell_health)

    def _work(self, jobs: Sequence[_Job]) -> int:
        """Answer jobs in order; neighbouring transactions share a commit. Returns the commits."""
        commits = 0
        answers: list[tuple[_Job, Any]] = []
        batch: list[_Job] = []
        for job in [*jobs, None]:
            if job is not None and job.transaction is not None:
                batch.append(job)
                continue
            if batch:
                commits += 1
                answers += zip(batch, self._commit(batch), strict=True)
                batch = []
            if job is not None and job.question is not None:
                try:
                    answers.append((job, job.question(self._store)))
                except Exception as error:  # noqa: BLE001 - goes to the asker
                    answers.append((job, error))
        self._answer(answers)
        return commits

    def _commit(self, batch: Sequence[_Job]) -> list[Outcome | Exception]:
        transactions = [job.transaction for job in batch if job.transaction is not None]
        try:
            return list(self._store.commit_many(transactions))
        except Exception as error:  # noqa: BLE001 - goes to the asker
            if len(batch) == 1:
                return [error]
        # Tables are islands: find the one that breaks the batch.
        return [outcome for job in batch for outcome in self._commit([job])]

    def _answer(self, answers: Sequence[tuple[_Job, Any]]) -> None:
        if not answers:
            return

        def tell() -> None:
            for job, answer in answers:
                if job.transaction is not None and isinstance(answer, CommitResult):
                    self._note(job.transaction, answer)
                    answer = _followed(job, answer)
                if job.future.done():
                    continue
                if isinstance(answer, Exception):
                    job.future.set_exception(answer)
                else:
                    job.future.set_result(answer)
            self._tell_health()

        try:
            answers[0][0].future.get_loop().call_soon_threadsafe(tell)
        except RuntimeError:
            # The loop is gone: nobody waits any more.
            return


def _followed(job: _Job, result: CommitResult) -> CommitResult | Exception:
    """The result, once what follows from it is done; a defect there concerns its asker alone."""
    if job.then is not None:
        try:
            job.then(result)
        except Exception as error:  # noqa: BLE001 - goes to the asker
            return error
    return result


_WAKE = _Job(cast("asyncio.Future[Any]", None))
"""Makes the writer look at the cursors."""
