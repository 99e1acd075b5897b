"""What can be asked of a journal: rows to records, disk before memory."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from tablectl.journal.memory import Chain
from tablectl.journal.model import (
    CommitResult,
    Snapshot,
    StoredAction,
    StoredEvent,
    StoredFact,
    Tail,
)
from tablectl.journal.schema import Connection

FACT_COLUMNS = (
    "pos, tx, tx_end, table_id, game_id, kind, body, boot_id, event_no, uptime_ms, "
    "t_wall_ms, t_mono_ms, epoch, time_synced"
)
EVENT_COLUMNS = (
    "pos, tx, tx_end, table_id, game_id, event_id, type, body, seqs, command_id, "
    "t_wall_ms, t_mono_ms, epoch, time_synced"
)
ACTION_COLUMNS = (
    "table_id, cmd_id, kind, body, state, result, game_id, deadline_wall_ms, t_wall_ms, epoch"
)


class GameLine(NamedTuple):
    """A game as the journal holds it; `length` counts facts and events."""

    table_id: str
    game_id: str
    length: int
    first: int
    last: int
    head: bytes


def fact_of(row: Sequence[Any]) -> StoredFact:
    """A record from FACT_COLUMNS."""
    pos, _tx, _end, table, game, kind, body, boot, number, uptime, wall, mono, epoch, synced = row
    return StoredFact(
        pos, table, game, kind, body, boot, number, uptime, wall, mono, epoch, bool(synced)
    )


def event_of(row: Sequence[Any], *, durable: bool = True) -> StoredEvent:
    """A record from EVENT_COLUMNS."""
    pos, _tx, _end, table, game, event_id, kind, body, seqs, command, wall, mono, epoch, synced = (
        row
    )
    return StoredEvent(
        pos,
        table,
        game,
        event_id,
        kind,
        body,
        json.loads(seqs),
        command,
        wall,
        mono,
        epoch,
        bool(synced),
        durable,
    )


class Reads:
    """Questions to an open file. `schemas` is `main`, and `spill` behind it while that holds rows."""

    def __init__(self, db: Connection) -> None:
        self.db = db
        self.schemas: tuple[str, ...] = ("main",)

    def _all(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[str, Any]]:
        return list(self._each(sql, parameters))

    def _each(self, sql: str, parameters: Sequence[Any] = ()) -> Iterator[tuple[str, Any]]:
        for schema in self.schemas:
            try:
                for row in self.db.execute(sql.format(schema=schema), parameters):
                    yield schema, row
            except sqlite3.DatabaseError:
                # While memory stands in for a broken disk, what memory has must still be found.
                if schema != "main" or "spill" not in self.schemas:
                    raise

    def counter(self, table_id: str, name: str) -> int:
        """A persisted figure, 0 when never set."""
        rows = self._all(
            "SELECT value FROM {schema}.counters WHERE table_id = ? AND name = ?", (table_id, name)
        )
        return int(rows[-1][1][0]) if rows else 0

    def events_after(
        self, table_id: str, feed: str, seq: int, limit: int = 500
    ) -> tuple[StoredEvent, ...]:
        """Events that `feed` sees after `seq`, in order, at most `limit`."""
        if seq >= self.counter(table_id, "seq:" + feed) or limit <= 0:
            return ()
        start = self.counter(table_id, "pruned")
        for _, row in self._each(
            "SELECT max(seq), pos FROM {schema}.feed_index "
            "WHERE table_id = ? AND feed = ? AND seq <= ?",
            (table_id, feed, seq + 1),
        ):
            start = max(start, row[1] or 0)
        found: list[StoredEvent] = []
        for schema, row in self._each(
            f"SELECT {EVENT_COLUMNS} FROM {{schema}}.events "  # noqa: S608 - column names are constants
            "WHERE pos BETWEEN ? AND ? AND table_id = ? ORDER BY pos",
            (start, self.counter(table_id, "last"), table_id),
        ):
            event = event_of(row, durable=schema == "main")
            if event.seqs.get(feed, 0) > seq:
                found.append(event)
                if len(found) == limit:
                    break
        return tuple(found)

    def events_of_game(self, table_id: str, game_id: str) -> tuple[StoredEvent, ...]:
        """All events of one game in order."""
        return tuple(e for e in self.game(table_id, game_id) if isinstance(e, StoredEvent))

    def game(self, table_id: str, game_id: str) -> tuple[StoredFact | StoredEvent, ...]:
        """Facts and events of one game in order."""
        rows = self._all(
            "SELECT first, last FROM {schema}.chains WHERE table_id = ? AND game_id = ?",
            (table_id, game_id),
        )
        if not rows:
            return ()
        first, last = rows[0][1][0], rows[-1][1][1]
        return tuple(e for e in self._range(table_id, first, last) if e.game_id == game_id)

    def chain(self, table_id: str, game_id: str) -> Chain | None:
        """The chain of a game as it was committed; "" is the chain of what belongs to none."""
        rows = self._all(
            "SELECT anchor, head, length, first, last FROM {schema}.chains "
            "WHERE table_id = ? AND game_id = ?",
            (table_id, game_id),
        )
        return Chain(*rows[-1][1]) if rows else None

    def games(self, table_id: str | None = None) -> tuple[GameLine, ...]:
        """The games held, oldest first."""
        found: dict[tuple[str, str], GameLine] = {}
        for _, row in self._each(
            "SELECT table_id, game_id, length, first, last, head FROM {schema}.chains "
            "WHERE game_id <> '' AND (?1 IS NULL OR table_id = ?1)",
            (table_id,),
        ):
            found[row[0], row[1]] = GameLine(*row)
        return tuple(sorted(found.values(), key=lambda line: line.first))

    def snapshot(self, table_id: str) -> Snapshot | None:
        """The latest snapshot of a table."""
        found: Snapshot | None = None
        for _, row in self._each(
            "SELECT pos, table_id, game_id, body FROM {schema}.snapshots "
            "WHERE table_id = ? ORDER BY pos DESC LIMIT 1",
            (table_id,),
        ):
            found = Snapshot(*row)
        return found

    def tail_since_snapshot(self, table_id: str) -> Tail:
        """Latest snapshot, and facts and events since then in their original order."""
        snapshot = self.snapshot(table_id)
        since = snapshot.pos if snapshot else 0
        return Tail(snapshot, self._range(table_id, since + 1, self.counter(table_id, "last")))

    def entries_after(self, table_id: str, pos: int) -> tuple[StoredFact | StoredEvent, ...]:
        """Facts and events of a table behind a position, in their original order."""
        return self._range(table_id, pos + 1, self.counter(table_id, "last"))

    def _range(self, table_id: str, first: int, last: int) -> tuple[StoredFact | StoredEvent, ...]:
        if first > last:
            return ()
        where = "WHERE pos BETWEEN ? AND ? AND table_id = ? ORDER BY pos"
        facts = self._each(
            f"SELECT {FACT_COLUMNS} FROM {{schema}}.facts {where}",  # noqa: S608 - constants
            (first, last, table_id),
        )
        events = self._each(
            f"SELECT {EVENT_COLUMNS} FROM {{schema}}.events {where}",  # noqa: S608 - constants
            (first, last, table_id),
        )
        entries: list[StoredFact | StoredEvent] = [fact_of(row) for _, row in facts]
        entries += [event_of(row, durable=schema == "main") for schema, row in events]
        entries.sort(key=lambda entry: entry.pos)
        return tuple(entries)

    def find_fact(
        self, table_id: str, boot_id: int, event_no: int
    ) -> tuple[StoredFact, int] | None:
        """A device fact and the first position of its transaction."""
        rows = self._all(
            f"SELECT {FACT_COLUMNS} FROM {{schema}}.facts "  # noqa: S608 - constants
            "WHERE table_id = ? AND boot_id = ? AND event_no = ?",
            (table_id, boot_id, event_no),
        )
        return (fact_of(rows[-1][1]), int(rows[-1][1][1])) if rows else None

    def newest_event_no(self, table_id: str, boot_id: int) -> int | None:
        """Highest event number of one boot, None when it has none."""
        rows = self._all(
            "SELECT max(event_no) FROM {schema}.facts WHERE table_id = ? AND boot_id = ?",
            (table_id, boot_id),
        )
        return max((row[0] for _, row in rows if row[0] is not None), default=None)

    def last_device_fact(self, table_id: str) -> StoredFact | None:
        """The latest fact with a `boot_id`."""
        rows = self._all(
            f"SELECT {FACT_COLUMNS} FROM {{schema}}.facts WHERE pos = ?",  # noqa: S608 - constants
            (self.counter(table_id, "fact"),),
        )
        return fact_of(rows[-1][1]) if rows else None

    def outcome(self, table_id: str, tx: int) -> CommitResult:
        """What was committed under this transaction position, as a duplicate is answered."""
        events = [
            event_of(row, durable=schema == "main")
            for schema, row in self._each(
                f"SELECT {EVENT_COLUMNS} FROM {{schema}}.events "  # noqa: S608 - constants
                "WHERE pos BETWEEN ?1 AND (SELECT max(tx_end) FROM (SELECT tx_end FROM "
                "{schema}.events WHERE pos >= ?1 ORDER BY pos LIMIT 1)) AND tx = ?1 ORDER BY pos",
                (tx,),
            )
        ]
        answer = self._all(
            "SELECT answer FROM {schema}.requests WHERE table_id = ? AND tx = ?", (table_id, tx)
        )
        return CommitResult(
            tuple(events),
            tuple(self._actions("tx = ?2", table_id, tx)),
            answer[-1][1][0] if answer else None,
            duplicate=True,
            durable=not self._in_memory(tx),
        )

    def _in_memory(self, tx: int) -> bool:
        """Whether only memory holds what was committed under this position."""
        return "spill" in self.schemas and any(
            self.db.execute(f"SELECT 1 FROM spill.{table} WHERE tx = ? LIMIT 1", (tx,)).fetchall()  # noqa: S608 - own names
            for table in ("facts", "events", "requests")
        )

    def request_answer(self, table_id: str, transaction: str) -> tuple[str, int, bool] | None:
        """The first answer to a transaction, the position it was committed under, and whether the disk
        has it."""
        rows = self._all(
            "SELECT answer, tx FROM {schema}.requests WHERE table_id = ? AND id = ?",
            (table_id, transaction),
        )
        return (*rows[-1][1], rows[-1][0] == "main") if rows else None

    def pending_actions(self, table_id: str) -> tuple[StoredAction, ...]:
        """Actions not settled yet, oldest first."""
        return tuple(
            action
            for action in self._actions("state IN ('pending', 'sent')", table_id)
            if action.state in {"pending", "sent"}
        )

    def action(self, table_id: str, cmd_id: int) -> StoredAction | None:
        """One action."""
        found = self._actions("cmd_id = ?2", table_id, cmd_id)
        return found[0] if found else None

    def _actions(self, where: str, table_id: str, *parameters: Any) -> list[StoredAction]:
        by_id: dict[int, StoredAction] = {}
        for _, row in self._each(
            f"SELECT {ACTION_COLUMNS} FROM {{schema}}.actions "  # noqa: S608 - constants
            f"WHERE table_id = ?1 AND {where} ORDER BY cmd_id",
            (table_id, *parameters),
        ):
            by_id[row[1]] = StoredAction(*row)
        if "spill" in self.schemas and by_id:
            # An action changed in memory hides its row on disk.
            for row in self.db.execute(
                f"SELECT {ACTION_COLUMNS} FROM spill.actions WHERE table_id = ?",  # noqa: S608 - constants
                (table_id,),
            ):
                if row[1] in by_id:
                    by_id[row[1]] = StoredAction(*row)
        return [by_id[key] for key in sorted(by_id)]
