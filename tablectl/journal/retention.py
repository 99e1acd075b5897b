"""Old games leave the journal, oldest first, so that what is left has gaps only at its beginning."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

from tablectl.journal.store import Store


@dataclass(frozen=True, slots=True)
class Cut:
    """What would go: everything of a table up to `pos`."""

    pos: int
    games: tuple[str, ...]
    rows: int


def plan(store: Store, table_id: str, before_wall_ms: int) -> Cut:
    """The games of a table that may go.

    A game goes when its last row is older than `before_wall_ms`, it is not the latest game of its
    table, all that any outbox still has to publish came later, and so did the latest snapshot.
    """
    db = store.db
    games = store.reads.games(table_id)
    snapshot = store.reads.snapshot(table_id)
    limit = snapshot.pos if snapshot else 0
    for feed, seq in _cursors(store, table_id):
        if seq < store.last_seq(table_id, feed):
            waiting = store.reads.events_after(table_id, feed, seq, 1)
            if waiting:
                limit = min(limit, waiting[0].pos)
    going: list[str] = []
    pos = 0
    for line, following in itertools.pairwise(games):
        wall = db.execute(
            "SELECT max(t_wall_ms) FROM main.events WHERE pos = ?1 "
            "UNION ALL SELECT max(t_wall_ms) FROM main.facts WHERE pos = ?1",
            (line.last,),
        ).fetchall()
        last_wall = max((row[0] for row in wall if row[0] is not None), default=0)
        if last_wall >= before_wall_ms or line.last >= limit or line.last >= following.first:
            break
        going.append(line.game_id)
        pos = following.first - 1
    rows = sum(
        int(
            db.execute(
                f"SELECT count(*) FROM main.{name} WHERE table_id = ? AND pos <= ?",  # noqa: S608 - own names
                (table_id, pos),
            ).fetchone()[0]
        )
        for name in ("facts", "events")
    )
    return Cut(pos, tuple(going), rows if going else 0)


def prune(store: Store, table_id: str, before_wall_ms: int) -> int:
    """Drop what `plan` names; returns the number of facts and events dropped."""
    if store.health.state != "ok":
        return 0
    cut = plan(store, table_id, before_wall_ms)
    if not cut.games:
        return 0
    db = store.db
    store.flush()
    db.execute("BEGIN IMMEDIATE")
    try:
        # The chain of what belongs to no game loses its beginning: its anchor moves on.
        loose = db.execute(
            "SELECT pos, hash FROM main.facts WHERE table_id = ?1 AND game_id IS NULL AND pos <= ?2 "
            "UNION ALL "
            "SELECT pos, hash FROM main.events WHERE table_id = ?1 AND game_id IS NULL AND pos <= ?2 "
            "ORDER BY pos DESC",
            (table_id, cut.pos),
        ).fetchall()
        if loose:
            db.execute(
                "UPDATE main.chains SET anchor = ?, length = length - ?, first = ? "
                "WHERE table_id = ? AND game_id = ''",
                (loose[0][1], len(loose), cut.pos + 1, table_id),
            )
        db.executemany(
            "DELETE FROM main.chains WHERE table_id = ? AND game_id = ?",
            [(table_id, game) for game in cut.games],
        )
        for name, column in (
            ("facts", "pos"),
            ("events", "pos"),
            ("feed_index", "pos"),
            ("requests", "tx"),
        ):
            db.execute(
                f"DELETE FROM main.{name} WHERE table_id = ? AND {column} <= ?",  # noqa: S608 - own names
                (table_id, cut.pos),
            )
        db.execute(
            "DELETE FROM main.actions WHERE table_id = ? AND tx <= ? "
            "AND state NOT IN ('pending', 'sent')",
            (table_id, cut.pos),
        )
        db.execute(
            "INSERT OR REPLACE INTO main.counters VALUES (?, 'pruned', ?)", (table_id, cut.pos)
        )
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise
    store.drop_figures()
    return cut.rows


def _cursors(store: Store, table_id: str) -> list[tuple[str, int]]:
    return [(feed, seq) for (table, feed), seq in store.cursors.items() if table == table_id]
