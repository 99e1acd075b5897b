"""The table top: which tile lies where, and every movement of one, seen by whoever watches."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from firmware_protocol.vocabulary import ZoneKind

MELD_SLOTS = 4
"""Slots that one meld takes in the meld area."""


class Place(NamedTuple):
    """A slot of a zone. `seat` is 0 for the table's own zones."""

    kind: ZoneKind
    seat: int
    slot: int


class Lying(NamedTuple):
    """Where a tile lies and how."""

    place: Place
    sideways: bool = False
    face_up: bool = False


class Move(NamedTuple):
    """A tile left a place and came to another; None is the air, the machine or the floor."""

    tag: int
    old: Lying | None
    new: Lying | None


@dataclass
class Tabletop:
    """Every tile's place. Watchers are told of each movement after it happened."""

    watchers: list[Callable[[list[Move]], None]] = field(default_factory=list)
    _lying: dict[int, Lying] = field(default_factory=dict)
    _slots: dict[tuple[ZoneKind, int], dict[int, int]] = field(default_factory=dict)

    def move(self, *moves: tuple[int, Lying | None]) -> None:
        """Hands take these tiles, in this order, to where they go: one act."""
        done = [self._move(tag, new) for tag, new in moves]
        for watcher in self.watchers:
            watcher(done)

    def _move(self, tag: int, new: Lying | None) -> Move:
        old = self._lying.pop(tag, None)
        if old is not None:
            del self._slots[old.place[:2]][old.place.slot]
        if new is not None:
            zone = self._slots.setdefault(new.place[:2], {})
            if new.place.slot in zone:
                raise AssertionError(f"two tiles in {new.place}")
            zone[new.place.slot] = tag
            self._lying[tag] = new
        return Move(tag, old, new)

    def where(self, tag: int) -> Lying | None:
        """Where a tile lies, None when it is not on the table top."""
        return self._lying.get(tag)

    def at(self, place: Place) -> int | None:
        """Tag of the tile at a place."""
        return self._slots.get(place[:2], {}).get(place.slot)

    def zone(self, kind: ZoneKind, seat: int = 0) -> dict[int, int]:
        """Slot → tag of what lies in a zone, by slot."""
        return dict(sorted(self._slots.get((kind, seat), {}).items()))

    def free_slot(self, kind: ZoneKind, seat: int) -> int:
        """Lowest slot of a zone in which no tile lies."""
        taken = self._slots.get((kind, seat), {})
        return next(slot for slot in range(256) if slot not in taken)

    def next_slot(self, kind: ZoneKind, seat: int = 0) -> int:
        """The slot behind the last tile of a zone."""
        return max(self._slots.get((kind, seat), {}), default=-1) + 1

    @property
    def occupied(self) -> bool:
        """True while any tile lies on the table."""
        return bool(self._lying)

    def all_tiles(self) -> Iterable[tuple[int, Lying]]:
        """Every tile on the table, zone by zone, slot by slot."""
        for _, slots in sorted(self._slots.items()):
            for _, tag in sorted(slots.items()):
                yield tag, self._lying[tag]
