"""What the RFID antennas make of the movements of tiles: sightings, zone by zone, with their errors.

An antenna sees its zone only. A perfect one reports each tile once when it comes and once when it
goes; the errors of real ones (misses, range overlap, ghosts, repeated readings) are seeded chance.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import groupby

from firmware_protocol import messages as m
from firmware_protocol.vocabulary import Capability, Sight, ZoneKind, zone
from hardware_sim.zones import Lying, Move, Place, Tabletop

PAGE = 4
"""Sightings that fit into one TileEvent."""

NEEDS: dict[ZoneKind, Capability] = {
    ZoneKind.WALL: Capability.TILES_WALL,
    ZoneKind.HAND: Capability.TILES_HAND,
    ZoneKind.DRAWN: Capability.TILES_DRAWN,
    ZoneKind.RIVER: Capability.TILES_RIVER,
    ZoneKind.MELD: Capability.TILES_MELD,
    ZoneKind.LAID: Capability.TILES_LAID,
    ZoneKind.INDICATOR: Capability.TILES_INDICATORS,
    ZoneKind.URA: Capability.TILES_INDICATORS,
}
"""The capability that puts an antenna under a zone."""

NEIGHBOUR: dict[ZoneKind, ZoneKind] = {
    ZoneKind.DRAWN: ZoneKind.HAND,
    ZoneKind.HAND: ZoneKind.LAID,
    ZoneKind.LAID: ZoneKind.HAND,
    ZoneKind.RIVER: ZoneKind.MELD,
    ZoneKind.MELD: ZoneKind.RIVER,
}
"""The zone of the same seat whose antenna reaches a little too far."""


@dataclass(frozen=True, slots=True)
class Quality:
    """How good the antennas are; all chances are per sighting, 0–1."""

    misses: float = 0.0
    """A tile that comes is never seen where it lies."""
    overlaps: float = 0.0
    """A tile is seen in the neighbouring zone too."""
    ghosts: float = 0.0
    """A tag from nowhere flickers in the zone."""
    repeats: float = 0.0
    """The same sighting is reported twice."""


PERFECT = Quality()


@dataclass(frozen=True, slots=True)
class Seen:
    """What a reader believes of one tile: the host's snapshot comes from here."""

    slot: int
    flags: int


@dataclass
class Sensors:
    """All antennas of a table; told of movements, tells of sightings."""

    tabletop: Tabletop
    capabilities: int
    emit: Callable[[list[m.TileEvent]], None]
    rng: random.Random
    quality: Quality = PERFECT
    blind: set[int] = field(default_factory=set)
    """Zone octets whose antenna is stuck: no change is reported."""
    skip_next: dict[int, int] = field(default_factory=dict)
    """Zone octet → tiles that will come unseen (a fault script's missed reads)."""
    tags: tuple[int, ...] = ()
    """Tags a ghost may carry."""
    twins: dict[int, int] = field(default_factory=dict)
    """Tag → the tag it answers with (two tiles with the same tag)."""
    seen: dict[int, dict[int, Seen]] = field(default_factory=dict)
    """Zone octet → tag → what is believed."""

    def __post_init__(self) -> None:
        self.tabletop.watchers.append(self._watch)

    def covers(self, kind: ZoneKind) -> bool:
        """True when an antenna lies under zones of this kind."""
        need = NEEDS.get(kind)
        return need is not None and bool(self.capabilities & need)

    def _watch(self, moves: list[Move]) -> None:
        # One act: what the hand takes up is gone from everywhere before it turns up anywhere.
        gone = [s for move in moves if move.old for s in self._went(move.tag, move.old)]
        came = [s for move in moves if move.new for s in self._came(move.tag, move.new)]
        self.report(gone + came)

    def report(self, sightings: list[tuple[int, m.TileSight]]) -> None:
        """Send sightings in their order, neighbours in the same zone in one event."""
        events = []
        for octet, group in groupby(sightings, key=lambda s: s[0]):
            batch = [sight for _, sight in group]
            events += [
                m.TileEvent(octet, reader_of(octet), tuple(batch[at : at + PAGE]))
                for at in range(0, len(batch), PAGE)
            ]
        self.emit(events)

    def _came(self, tag: int, lying: Lying) -> list[tuple[int, m.TileSight]]:
        kind, seat, slot = lying.place
        octet = zone(kind, seat)
        if not self.covers(kind) or octet in self.blind:
            return []
        if self.skip_next.get(octet, 0) > 0:
            self.skip_next[octet] -= 1
            return []
        if self.quality.misses and self.rng.random() < self.quality.misses:
            return []
        tag = self.twins.get(tag, tag)
        flags = self._flags(lying)
        found = [self._appear(octet, tag, slot, flags)]
        if self.quality.repeats and self.rng.random() < self.quality.repeats:
            found.append(found[0])
        neighbour = NEIGHBOUR.get(kind)
        if neighbour and self.covers(neighbour) and self.rng.random() < self.quality.overlaps:
            found.append(self._appear(zone(neighbour, seat), tag, 255, 0, weak=True))
        if self.quality.ghosts and self.tags and self.rng.random() < self.quality.ghosts:
            found += self.ghost(octet, self.rng.choice(self.tags))
        return found

    def _went(self, tag: int, lying: Lying) -> list[tuple[int, m.TileSight]]:
        octet = zone(lying.place.kind, lying.place.seat)
        tag = self.twins.get(tag, tag)
        found = []
        for where in [octet, *(z for z, tags in self.seen.items() if tag in tags and z != octet)]:
            believed = self.seen.get(where, {})
            if tag in believed and where not in self.blind:
                found.append((where, m.TileSight(believed.pop(tag).slot, 0, 0, tag)))
        return found

    def _flags(self, lying: Lying) -> int:
        flags = int(Sight.APPEARED)
        if self.capabilities & Capability.ORIENTATION:
            flags |= Sight.ORIENTED
            flags |= Sight.SIDEWAYS if lying.sideways else 0
            flags |= Sight.FACE_UP if lying.face_up else 0
        return flags

    def _appear(
        self, octet: int, tag: int, slot: int, flags: int, *, weak: bool = False
    ) -> tuple[int, m.TileSight]:
        flags |= Sight.APPEARED
        self.seen.setdefault(octet, {})[tag] = Seen(slot, flags)
        signal = self.rng.randrange(20, 60) if weak else self.rng.randrange(150, 256)
        return octet, m.TileSight(slot, flags, signal, tag)

    # ------------------------------------------------------------------ what faults do

    def ghost(self, octet: int, tag: int) -> list[tuple[int, m.TileSight]]:
        """A tag that is not there flickers once in a zone."""
        if tag in self.seen.get(octet, {}):
            return []
        return [
            (octet, m.TileSight(255, int(Sight.APPEARED), self.rng.randrange(1, 30), tag)),
            (octet, m.TileSight(255, 0, 0, tag)),
        ]

    def flicker(self, octet: int) -> None:
        """Every tile of a zone is lost and found again."""
        believed = self.seen.get(octet, {})
        self.report([(octet, m.TileSight(s.slot, 0, 0, tag)) for tag, s in believed.items()])
        self.report(
            [(octet, m.TileSight(s.slot, s.flags, 200, tag)) for tag, s in believed.items()]
        )

    def also_in(self, octet: int, tag: int) -> None:
        """A tile is seen in a zone where it does not lie, until it moves."""
        self.report([self._appear(octet, tag, 255, 0, weak=True)])

    def forget(self, octet: int, tags: list[int]) -> None:
        """Tags that were only seen by mistake are seen no more."""
        believed = self.seen.get(octet, {})
        gone = [tag for tag in tags if tag in believed]
        self.report([(octet, m.TileSight(believed.pop(tag).slot, 0, 0, tag)) for tag in gone])

    def recover(self, octet: int) -> None:
        """A stuck antenna works again: what it missed is reported now."""
        self.blind.discard(octet)
        kind, seat = ZoneKind(octet >> 4), octet & 15
        now = {tag: slot for slot, tag in self.tabletop.zone(kind, seat).items()}
        believed = self.seen.get(octet, {})
        gone = [
            (octet, m.TileSight(s.slot, 0, 0, tag)) for tag, s in believed.items() if tag not in now
        ]
        for _, sight in gone:
            del believed[sight.tag]
        fresh = [
            self._appear(octet, tag, slot, self._flags(self.tabletop.where(tag) or Lying(Place(kind, seat, slot))))
            for tag, slot in now.items() if tag not in believed
        ]  # fmt: skip
        self.report(gone + fresh)

    def snapshot(self) -> dict[tuple[int, int], list[m.TileAt]]:
        """What every reader sees now: (zone, reader) → tiles by slot."""
        return {
            (octet, reader_of(octet)): [
                m.TileAt(s.slot, s.flags, tag)
                for tag, s in sorted(tags.items(), key=lambda item: (item[1].slot, item[0]))
            ]
            for octet, tags in self.seen.items()
        }


def reader_of(octet: int) -> int:
    """Number of the reader under a zone: 4 per kind, one seat each."""
    return ((octet >> 4) - 1) * 4 + (octet & 15)
