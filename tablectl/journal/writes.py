"""How one transaction becomes rows: positions, sequences, seals, ids; inside a savepoint."""

from __future__ import annotations

import random
import uuid
from typing import Any

from tablectl.journal.chain import seal
from tablectl.journal.memory import Figures, Newest
from tablectl.journal.model import (
    SETTLED,
    CommitResult,
    EventEntry,
    FactEntry,
    StoredAction,
    StoredEvent,
    Transaction,
    canonical,
)
from tablectl.journal.reads import Reads
from tablectl.journal.schema import Connection

REQUESTS_KEPT = 1024
"""Answers remembered per table. A repeated request comes within minutes; a busy table takes some
300 requests an evening, so this is days."""
SNAPSHOTS_KEPT = 2
"""The latest, and one before it for a person who looks into a damage."""
LEAP = 256
"""How far `cmd_id`s leap, at least, while only memory holds them: dying takes their count along, and the
board, which has done them, must not meet one again. The most leaves room for 49,000 of them."""
FEED_STRIDE = 64
"""Every so many `seq` of a feed stand in `feed_index`."""


class Writes:
    """Writes transactions into `main`, or into `spill` while the disk takes nothing."""

    def __init__(
        self, db: Connection, reads: Reads, figures: Figures, stream: str, epoch: int
    ) -> None:
        self._db = db
        self._reads = reads
        self._figures = figures
        self._epoch = epoch
        self._newest = Newest()
        """Of what was written, also where it was rolled back: what is later is certainly new."""
        # A new stream must not meet the ids a board still remembers.
        self.first_cmd_id = (uuid.uuid5(uuid.NAMESPACE_OID, stream).int & 0x3FFF_FFFF) + 1

    def write(self, schema: str, transaction: Transaction) -> CommitResult:
        """One transaction. Raises ValueError or sqlite3.IntegrityError when it contradicts the journal."""
        known = self._known(transaction)
        if known is not None:
            return known
        figures, table = self._figures, transaction.table_id
        durable = schema == "main"
        size = max(len(transaction.entries), 1)
        tx = figures.counters.get(("", "pos"), 0) + 1
        tx_end = tx + size - 1
        figures.set("", "pos", tx_end + (transaction.snapshot is not None))
        stamp = (
            transaction.t_wall_ms,
            transaction.t_mono_ms,
            self._epoch,
            int(transaction.time_synced),
        )
        events: list[StoredEvent] = []
        for pos, entry in enumerate(transaction.entries, tx):
            place = (pos, tx, tx_end, table, transaction.game_id)
            if isinstance(entry, FactEntry):
                self._write_fact(schema, place, entry, stamp)
            else:
                events.append(self._write_event(schema, place, entry, stamp, durable=durable))
        if transaction.entries:
            figures.set(table, "last", tx_end)
        if transaction.request is not None:
            self._write_request(schema, tx, transaction)
        actions = self._write_actions(schema, tx, transaction)
        if transaction.snapshot is not None:
            self._write_snapshot(schema, tx_end + 1, transaction)
        answer = transaction.request.answer if transaction.request else None
        return CommitResult(tuple(events), actions, answer, durable=durable)

    def _known(self, transaction: Transaction) -> CommitResult | None:
        device = [
            entry
            for entry in transaction.entries
            if isinstance(entry, FactEntry) and entry.boot_id is not None
        ]
        if len(device) > 1:
            raise ValueError("a transaction holds at most one device fact")
        if device:
            fact = device[0]
            if fact.event_no is None:
                raise ValueError("a device fact has a boot_id and an event_no")
            found = self._known_fact(transaction.table_id, fact.boot_id or 0, fact.event_no)
            if found is not None:
                result, kind, body = found
                conflict = (kind, body) != (fact.kind, fact.body)
                return _with_conflict(result) if conflict else result
        if transaction.request is not None:
            answered = self._reads.request_answer(
                transaction.table_id, transaction.request.transaction
            )
            if answered is not None:
                return self._reads.outcome(transaction.table_id, answered[1])
        return None

    def _known_fact(
        self, table_id: str, boot_id: int, event_no: int
    ) -> tuple[CommitResult, str, str] | None:
        newest = self._newest.of(table_id, boot_id)
        if newest is None:
            newest = self._reads.newest_event_no(table_id, boot_id)
            self._newest.note(table_id, boot_id, -1 if newest is None else newest)
        self._newest.note(table_id, boot_id, event_no)
        if newest is None or event_no > newest:
            return None
        return self.find_fact(table_id, boot_id, event_no)

    def find_fact(
        self, table_id: str, boot_id: int, event_no: int
    ) -> tuple[CommitResult, str, str] | None:
        """What was committed with a device fact, and the fact's kind and body; or None."""
        found = self._reads.find_fact(table_id, boot_id, event_no)
        if found is None:
            return None
        fact, tx = found
        return self._reads.outcome(table_id, tx), fact.kind, fact.body

    def _write_fact(
        self, schema: str, place: tuple[Any, ...], fact: FactEntry, stamp: tuple[int, ...]
    ) -> None:
        row = (
            *place,
            fact.kind,
            fact.body,
            fact.boot_id,
            fact.event_no,
            fact.uptime_ms,
            *stamp,
        )
        pos, _, _, table, game = place
        head = seal(self._figures.head(table, game), "fact", row)
        self._db.execute(
            f"INSERT INTO {schema}.facts VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",  # noqa: S608 - own name
            (*row, head),
        )
        self._figures.link(table, game, head, pos)
        if fact.boot_id is not None:
            self._figures.set(table, "fact", pos)

    def _write_event(
        self,
        schema: str,
        place: tuple[Any, ...],
        event: EventEntry,
        stamp: tuple[int, ...],
        *,
        durable: bool,
    ) -> StoredEvent:
        pos, _, _, table, game = place
        seqs: dict[str, int] = {}
        for feed in event.feeds:
            if feed in seqs:
                raise ValueError(f"feed {feed} is named twice")
            seqs[feed] = self._figures.next(table, "seq:" + feed)
            if seqs[feed] % FEED_STRIDE == 1:
                self._db.execute(
                    f"INSERT INTO {schema}.feed_index VALUES (?,?,?,?)",  # noqa: S608 - own name
                    (table, feed, seqs[feed], pos),
                )
        row = (
            *place,
            event.event_id,
            event.type,
            event.body,
            canonical(seqs),
            event.command_id,
            *stamp,
        )
        head = seal(self._figures.head(table, game), "event", row)
        self._db.execute(
            f"INSERT INTO {schema}.events VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",  # noqa: S608 - own name
            (*row, head),
        )
        self._figures.link(table, game, head, pos)
        wall, mono, epoch, synced = stamp
        return StoredEvent(
            pos,
            table,
            game,
            event.event_id,
            event.type,
            event.body,
            seqs,
            event.command_id,
            wall,
            mono,
            epoch,
            bool(synced),
            durable,
        )

    def _write_request(self, schema: str, tx: int, transaction: Transaction) -> None:
        request = transaction.request
        assert request is not None
        self._db.execute(
            f"INSERT INTO {schema}.requests VALUES (?,?,?,?,?,?,?,?,?)",  # noqa: S608 - own name
            (
                transaction.table_id,
                request.transaction,
                tx,
                request.name,
                request.source,
                request.data,
                request.answer,
                transaction.t_wall_ms,
                self._epoch,
            ),
        )
        count = self._figures.next(transaction.table_id, "requests")
        if count % 128 == 0:
            self._db.execute(
                f"DELETE FROM {schema}.requests WHERE table_id = ?1 AND tx < "  # noqa: S608 - own name
                f"(SELECT min(tx) FROM (SELECT tx FROM {schema}.requests WHERE table_id = ?1 "
                "ORDER BY tx DESC LIMIT ?2))",
                (transaction.table_id, REQUESTS_KEPT),
            )

    def _write_actions(
        self, schema: str, tx: int, transaction: Transaction
    ) -> tuple[StoredAction, ...]:
        table, made = transaction.table_id, []
        for new in transaction.actions:
            last = self._figures.counters.get((table, "cmd"), self.first_cmd_id - 1)
            if schema == "spill":
                last += random.randrange(LEAP, LEAP * LEAP)
            self._figures.set(table, "cmd", last + 1)
            made.append(
                StoredAction(
                    table,
                    last + 1,
                    new.kind,
                    new.body,
                    "pending",
                    None,
                    transaction.game_id,
                    new.deadline_wall_ms,
                    transaction.t_wall_ms,
                    self._epoch,
                )
            )
            self._db.execute(
                f"INSERT INTO {schema}.actions VALUES (?,?,?,?,?,?,?,?,?,?,?)",  # noqa: S608 - own name
                (
                    table,
                    last + 1,
                    tx,
                    new.kind,
                    new.body,
                    "pending",
                    None,
                    transaction.game_id,
                    new.deadline_wall_ms,
                    transaction.t_wall_ms,
                    self._epoch,
                ),
            )
        for change in transaction.action_changes:
            before = self._reads.action(table, change.cmd_id)
            if before is None:
                raise ValueError(f"no action {change.cmd_id}")
            if before.state in SETTLED:
                continue
            if schema == "spill":
                self._db.execute(
                    "INSERT OR IGNORE INTO spill.actions SELECT * FROM main.actions "
                    "WHERE table_id = ? AND cmd_id = ?",
                    (table, change.cmd_id),
                )
            self._db.execute(
                f"UPDATE {schema}.actions SET state = ?, result = coalesce(?, result) "  # noqa: S608 - own name
                "WHERE table_id = ? AND cmd_id = ?",
                (change.state, change.result, table, change.cmd_id),
            )
        return tuple(made)

    def _write_snapshot(self, schema: str, pos: int, transaction: Transaction) -> None:
        self._db.execute(
            f"INSERT INTO {schema}.snapshots VALUES (?,?,?,?)",  # noqa: S608 - own name
            (pos, transaction.table_id, transaction.game_id, transaction.snapshot),
        )
        self._db.execute(
            f"DELETE FROM {schema}.snapshots WHERE table_id = ?1 AND pos < (SELECT min(pos) FROM "  # noqa: S608 - own name
            f"(SELECT pos FROM {schema}.snapshots WHERE table_id = ?1 ORDER BY pos DESC LIMIT ?2))",
            (transaction.table_id, SNAPSHOTS_KEPT),
        )


def _with_conflict(result: CommitResult) -> CommitResult:
    return CommitResult(
        result.events,
        result.actions,
        result.answer,
        duplicate=True,
        conflict=True,
        durable=result.durable,
    )
