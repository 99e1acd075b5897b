"""The few figures of the journal that are kept in memory, with an undo for a commit that fails."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from tablectl.journal.chain import ANCHOR

KEPT_CHAINS = 2048
"""Chains in memory: those of the games being played; the others are read when they are needed again."""


class Chain(NamedTuple):
    """Hash chain of one game: `anchor` before its first row, `head` after its last."""

    anchor: bytes
    head: bytes
    length: int
    first: int
    last: int


class Newest:
    """The newest event of each table's board in its last boot: facts of one boot come in order."""

    def __init__(self) -> None:
        self._newest: dict[str, tuple[int, int]] = {}

    def __len__(self) -> int:
        """Tables remembered: one entry each, however often their boards start."""
        return len(self._newest)

    def of(self, table_id: str, boot_id: int) -> int | None:
        """The newest `event_no` noted of this boot; None: it is not the boot heard last, ask the file."""
        boot, newest = self._newest.get(table_id, (None, 0))
        return newest if boot == boot_id else None

    def note(self, table_id: str, boot_id: int, event_no: int) -> None:
        """An event of this boot was heard."""
        known = self.of(table_id, boot_id)
        newest = event_no if known is None else max(known, event_no)
        self._newest[table_id] = (boot_id, newest)


class Figures:
    """Next position, counters per table, chains per game.

    `find` reads the committed chain of (table, game or "") that is not in memory, None where there is none.
    """

    def __init__(
        self, find: Callable[[str, str], Chain | None] = lambda _table, _game: None
    ) -> None:
        self.find = find
        self.counters: dict[tuple[str, str], int] = {}
        self.chains: dict[tuple[str, str], Chain] = {}
        """By (table, game or ""), as many as were touched lately."""
        self.dirty_counters: set[tuple[str, str]] = set()
        self.dirty_chains: set[tuple[str, str]] = set()
        self._undo: list[tuple[dict[Any, Any], Any, Any]] = []

    def load(self, counters: Iterable[tuple[str, str, int]]) -> None:
        """Start from what the file says."""
        self.counters = {(table, name): value for table, name, value in counters}
        self.chains = {}
        self.settle()

    @property
    def mark(self) -> int:
        """Where `back_to` returns to."""
        return len(self._undo)

    def back_to(self, mark: int) -> None:
        """Undo all since `mark`."""
        while len(self._undo) > mark:
            mapping, key, old = self._undo.pop()
            if old is None:
                mapping.pop(key, None)
            else:
                mapping[key] = old

    def settle(self) -> None:
        """All is committed: nothing to undo, nothing dirty."""
        self._undo.clear()
        self.dirty_counters.clear()
        self.dirty_chains.clear()
        if len(self.chains) > KEPT_CHAINS:
            newest = sorted(self.chains.items(), key=lambda item: item[1].last)
            self.chains = dict(newest[-KEPT_CHAINS // 2 :])

    def set(self, table_id: str, name: str, value: int) -> None:
        """Set a counter."""
        key = (table_id, name)
        self._undo.append((self.counters, key, self.counters.get(key)))
        self.counters[key] = value
        self.dirty_counters.add(key)

    def next(self, table_id: str, name: str, step: int = 1) -> int:
        """Advance a counter and return it; the first is `step`."""
        value = self.counters.get((table_id, name), 0) + step
        self.set(table_id, name, value)
        return value

    def head(self, table_id: str, game_id: str | None) -> bytes:
        """Seal of the last row of a chain."""
        found = self._chain((table_id, game_id or ""))
        return found.head if found else ANCHOR

    def _chain(self, key: tuple[str, str]) -> Chain | None:
        found = self.chains.get(key)
        if found is None and (found := self.find(*key)) is not None:
            self.chains[key] = found
        return found

    def link(self, table_id: str, game_id: str | None, head: bytes, pos: int) -> None:
        """One more row in a chain."""
        key = (table_id, game_id or "")
        old = self._chain(key)
        self._undo.append((self.chains, key, old))
        if old is None:
            self.chains[key] = Chain(ANCHOR, head, 1, pos, pos)
        else:
            self.chains[key] = Chain(old.anchor, head, old.length + 1, old.first, pos)
        self.dirty_chains.add(key)
