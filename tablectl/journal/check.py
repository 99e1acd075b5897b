"""Is the journal what it was when it was written? Seals, sequences and the file itself."""

from __future__ import annotations

import heapq
import json
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tablectl.journal.chain import seal
from tablectl.journal.memory import Chain
from tablectl.journal.reader import open_reads
from tablectl.journal.reads import EVENT_COLUMNS, FACT_COLUMNS, Reads


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong; `code` is stable."""

    code: str
    message: str
    table_id: str = ""
    game_id: str = ""
    pos: int = 0


@dataclass(frozen=True, slots=True)
class Report:
    """What a check has seen."""

    tables: int
    games: int
    facts: int
    events: int
    findings: tuple[Finding, ...]


class _Check:
    def __init__(self, reads: Reads) -> None:
        self.reads = reads
        self.findings: list[Finding] = []
        self.chains: dict[tuple[str, str], tuple[bytes, int]] = {}
        self.broken: set[tuple[str, str]] = set()
        self.seqs: dict[tuple[str, str], int] = {}
        self.ids: set[str] = set()
        self.tables: set[str] = set()
        self.counts = {"facts": 0, "events": 0}
        self.stored: dict[tuple[str, str], Chain] = {}
        self.pruned: dict[str, int] = {}

    def find(self, code: str, message: str, table: str = "", game: str = "", pos: int = 0) -> None:
        """Note a finding."""
        self.findings.append(Finding(code, message, table, game, pos))

    def run(self, progress: Callable[[int], None]) -> Report:
        """All checks, in one pass over the rows."""
        try:
            for (text,) in self.reads.db.execute("PRAGMA integrity_check(20)"):
                if text != "ok":
                    self.find("file_damaged", str(text))
            self._load()
            for count, (kind, row) in enumerate(self._rows(), 1):
                self._row(kind, row)
                if count % 1000 == 0:
                    progress(count)
            self._ends()
        except sqlite3.DatabaseError as error:
            self.find("file_damaged", f"the file cannot be read further: {error}")
        games = sum(1 for _, game in self.stored if game)
        return Report(
            len(self.tables),
            games,
            self.counts["facts"],
            self.counts["events"],
            tuple(self.findings),
        )

    def _load(self) -> None:
        db = self.reads.db
        for row in db.execute(
            "SELECT table_id, game_id, anchor, head, length, first, last FROM main.chains"
        ):
            self.stored[row[0], row[1]] = Chain(*row[2:])
        for table, pos in db.execute(
            "SELECT table_id, value FROM main.counters WHERE name = 'pruned'"
        ):
            self.pruned[table] = pos

    def _rows(self) -> Iterator[tuple[str, tuple[Any, ...]]]:
        def each(name: str, columns: str) -> Iterator[tuple[str, tuple[Any, ...]]]:
            for row in self.reads.db.execute(
                f"SELECT {columns}, hash FROM main.{name} ORDER BY pos"  # noqa: S608 - own names
            ):
                yield name, tuple(row)

        return heapq.merge(
            each("facts", FACT_COLUMNS), each("events", EVENT_COLUMNS), key=lambda item: item[1][0]
        )

    def _row(self, kind: str, row: tuple[Any, ...]) -> None:
        pos, table, game = row[0], row[3], row[4] or ""
        self.tables.add(table)
        self.counts[kind] += 1
        key = (table, game)
        if key not in self.stored:
            if key not in self.broken:
                self.broken.add(key)
                self.find("chain_missing", f"game {game!r} has rows but no chain", table, game, pos)
        else:
            head, length = self.chains.get(key, (self.stored[key].anchor, 0))
            sealed = seal(head, kind.removesuffix("s"), row[:-1])
            if sealed != row[-1] and key not in self.broken:
                self.broken.add(key)
                self.find(
                    "seal_broken",
                    f"{kind.removesuffix('s')} {pos} is not what was written, or one before it is missing",
                    table,
                    game,
                    pos,
                )
            self.chains[key] = (row[-1], length + 1)
        if kind == "events":
            self._event(row)

    def _event(self, row: tuple[Any, ...]) -> None:
        pos, table, game, event_id = row[0], row[3], row[4] or "", row[5]
        if event_id in self.ids:
            self.find("event_twice", f"event id {event_id} was given twice", table, game, pos)
        self.ids.add(event_id)
        try:
            seqs: dict[str, int] = json.loads(row[8])
        except ValueError:
            self.find("row_unreadable", f"event {pos}: its sequences are no JSON", table, game, pos)
            return
        for feed, seq in seqs.items():
            before = self.seqs.get((table, feed))
            first_held = before is None
            if first_held and seq != 1 and table not in self.pruned:
                self.find("seq_gap", f"feed {feed} begins with {seq}", table, game, pos)
            if before is not None and seq != before + 1:
                self.find("seq_gap", f"feed {feed} goes from {before} to {seq}", table, game, pos)
            self.seqs[table, feed] = seq

    def _ends(self) -> None:
        for (table, game), chain in self.stored.items():
            head, length = self.chains.get((table, game), (chain.anchor, 0))
            if (table, game) in self.broken:
                continue
            if length != chain.length or head != chain.head:
                self.find(
                    "chain_short",
                    f"{length} of {chain.length} facts and events are there",
                    table,
                    game,
                    chain.last,
                )
        for (table, feed), seq in self.seqs.items():
            said = self.reads.counter(table, "seq:" + feed)
            if said != seq:
                self.find("seq_end", f"feed {feed} ends at {seq}, {said} were given", table)


def check(path: Path, progress: Callable[[int], None] = lambda _count: None) -> Report:
    """Check a journal, also while a daemon holds it. Raises JournalUnusableError and its kin."""
    with open_reads(path) as reads:
        return _Check(reads).run(progress)
