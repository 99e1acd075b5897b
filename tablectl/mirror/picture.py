"""The physical picture: in which zone each tag lies, as far as the antennas can be believed.

An antenna may miss a tile for a while, see it in the zone next door (weakly), or see a tile that only
passes over it. So a tag keeps every zone that saw it: the strongest one that still does is its place,
and a zone that stopped seeing it counts for a while longer (known fault 48).
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from firmware_protocol.messages import SnapshotTiles, TileEvent
from firmware_protocol.vocabulary import Sight, zone_kind, zone_seat

WEAK = 64
"""Signal below which a reading may come from the zone next door; 0 says nothing about strength."""


class Spot(NamedTuple):
    """A zone: kind and seat (0 for the table's own zones)."""

    kind: int
    seat: int


class Told(NamedTuple):
    """What a reader told of a tile it sees, in a snapshot."""

    slot: int
    flags: int


Where = dict[int, dict[Spot, Told]]
"""Tag → the zones that see it; a tag nobody sees is not in it."""


@dataclass(slots=True)
class Sighting:
    """One antenna's view of one tag."""

    slot: int
    flags: int
    signal: int
    order: int
    """When it came, counted in sightings: tells which of two tiles came first."""
    since: int
    """Mirror time in ms at which it came."""
    gone: int | None = None
    """Mirror time at which the antenna lost it; None while it sees it."""
    gone_order: int = 0
    """When it was lost, on the scale of `order`."""

    @property
    def strength(self) -> int:
        """Comparable strength: an antenna that measures none is believed."""
        return 255 if self.signal == 0 else self.signal


class Place(NamedTuple):
    """Where a tag lies, and since when."""

    spot: Spot
    slot: int
    order: int
    since: int
    sideways: bool
    face_up: bool
    weak: bool = False
    """Seen so faintly that it may be a ghost, or lie next door."""
    fading: bool = False
    """Not seen this moment: a missed read, or a hand that lifts it."""


class Picture:
    """Tag → sightings; a fold of tile events and snapshots."""

    def __init__(self, gone_ms: int, same_tag_ms: int) -> None:
        self.gone_ms = gone_ms
        """A tag not seen for so long is gone: missed reads times the period of a reader."""
        self.same_tag_ms = same_tag_ms
        """A tag back in its zone within this time never left it."""
        self.seen: dict[int, dict[Spot, Sighting]] = {}
        self.order = 0
        self.places: dict[int, Place] = {}
        """Tag → the zone that sees it best now; a tag in the air or unseen is not in it."""
        self.zones: dict[Spot, dict[int, Place]] = {}
        """Zone → the tags that lie there."""
        self._fading: set[int] = set()
        self._remembers = False

    def observe(self, event: TileEvent, now: int) -> set[int]:
        """Take a tile event in; the tags whose place may have changed."""
        spot = Spot(zone_kind(event.zone), zone_seat(event.zone))
        touched = set()
        for sight in event.tiles:
            touched.add(sight.tag)
            if sight.flags & Sight.APPEARED:
                self._appear(sight.tag, spot, sight.slot, sight.flags, sight.signal, now)
            else:
                self._vanish(sight.tag, spot, now)
        self._place(touched, now)
        return touched

    def told(self, pages: list[SnapshotTiles]) -> Where:
        """What a snapshot says; a zone next door that sees a tile faintly is left out."""
        where: Where = {}
        for page in pages:
            spot = Spot(zone_kind(page.zone), zone_seat(page.zone))
            for tile in page.tiles:
                where.setdefault(tile.tag, {})[spot] = Told(tile.slot, tile.flags)
        for tag, spots in where.items():
            known = self.seen.get(tag, {})
            faint = [s for s in spots if s in known and known[s].strength < WEAK]
            if len(faint) < len(spots):
                for spot in faint:
                    del spots[spot]
        return where

    def agrees(self, where: Where) -> bool:
        """Whether a snapshot tells nothing new of where tiles lie."""
        for tag in self.seen.keys() | where.keys():
            now = {spot for spot, s in self.seen.get(tag, {}).items() if s.gone is None}
            told = where.get(tag, {}).keys()
            if now != told and not (told and told <= now):
                return False
        return True

    def replace(self, where: Where, now: int) -> set[int]:
        """The board's whole view takes the place of ours; sightings that agree keep their age.

        What came meanwhile came in an order nobody knows: it shares one number.
        """
        touched = set(self.seen) | set(where)
        self.order += 1
        for tag, spots in self.seen.items():
            for spot, sighting in spots.items():
                if spot not in where.get(tag, {}) and sighting.gone is None:
                    sighting.gone, sighting.gone_order = now, self.order
        for tag, told in where.items():
            spots = self.seen.setdefault(tag, {})
            for spot, (slot, flags) in told.items():
                known = spots.get(spot)
                if known is None or known.gone is not None:
                    spots[spot] = Sighting(slot, flags, 0, self.order, now)
                elif flags & Sight.ORIENTED or not known.flags & Sight.ORIENTED:
                    known.slot, known.flags = slot, flags
        self._place(touched, now)
        return touched

    def _appear(self, tag: int, spot: Spot, slot: int, flags: int, signal: int, now: int) -> None:
        spots = self.seen.setdefault(tag, {})
        known = spots.get(spot)
        if known is not None and (known.gone is None or now - known.gone <= self.same_tag_ms):
            # The same tag again: it never left (a missed read, or a reader that repeats itself).
            known.slot, known.flags, known.gone = slot, flags, None
            known.signal = max(known.signal, signal) if known.signal and signal else signal
            return
        self.order += 1
        spots[spot] = Sighting(slot, flags, signal, self.order, now)

    def _vanish(self, tag: int, spot: Spot, now: int) -> None:
        spots = self.seen.setdefault(tag, {})
        sighting = spots.get(spot)
        if sighting is None:
            # It went from where nobody told us it was: the event of its coming was lost.
            self.order += 1
            sighting = spots[spot] = Sighting(255, 0, 0, self.order, now)
        if sighting.gone is None:
            self.order += 1
            sighting.gone, sighting.gone_order = now, self.order

    def fade(self, now: int) -> None:
        """Let time pass for tags that no antenna sees."""
        if self._fading:
            self._place(set(self._fading), now)

    @contextlib.contextmanager
    def remembered(self, now: int) -> Iterator[None]:
        """While it lasts, tags that nobody sees any more lie where they were seen last.

        The tiles are being swept into the machine, and what they said may not have been read yet.
        """
        self._remembers = True
        self._place(set(self.seen), now)
        try:
            yield
        finally:
            self._remembers = False
            self._place(set(self.seen), now)

    def _place(self, tags: set[int], now: int) -> None:
        for tag in tags:
            old, new = self.places.get(tag), self._best(tag, now)
            if new is not None and new.fading:
                self._fading.add(tag)
            else:
                self._fading.discard(tag)
            if old == new:
                continue
            if old is not None:
                del self.zones[old.spot][tag]
                del self.places[tag]
            if new is not None:
                self.zones.setdefault(new.spot, {})[tag] = new
                self.places[tag] = new

    def _best(self, tag: int, now: int) -> Place | None:
        best: tuple[Spot, Sighting] | None = None
        for spot, sighting in self.seen.get(tag, {}).items():
            gone = sighting.gone
            if gone is not None and now - gone > self.gone_ms and not self._remembers:
                continue
            if best is None or _better(sighting, best[1]):
                best = (spot, sighting)
        if best is None:
            return None
        spot, sighting = best
        return Place(
            spot,
            sighting.slot,
            sighting.order,
            sighting.since,
            bool(sighting.flags & Sight.SIDEWAYS),
            bool(sighting.flags & Sight.FACE_UP),
            sighting.strength < WEAK,
            sighting.gone is not None,
        )

    def also(self, tag: int) -> list[Spot]:
        """Every zone that sees the tag now."""
        return [spot for spot, s in self.seen.get(tag, {}).items() if s.gone is None]

    def unseen_since(self, tag: int) -> int | None:
        """Since when no antenna sees the tag; None while one does, or when none ever did."""
        spots = self.seen.get(tag)
        if not spots or any(s.gone is None for s in spots.values()):
            return None
        return max(s.gone for s in spots.values() if s.gone is not None)

    def zone(self, kind: int, seat: int = 0) -> dict[int, Place]:
        """Tag → place of what lies in a zone."""
        return self.zones.get(Spot(kind, seat), {})

    def lost_order(self, tag: int) -> int:
        """When the last antenna lost the tag, on the scale of `order`; 0 while one sees it."""
        spots = self.seen.get(tag, {}).values()
        if any(s.gone is None for s in spots):
            return 0
        return max((s.gone_order for s in spots), default=0)

    def forget_gone(self, now: int) -> None:
        """Drop what no antenna sees: another hand begins, and a month of ghosts stays small."""
        for tag, spots in list(self.seen.items()):
            for spot, sighting in list(spots.items()):
                if sighting.gone is not None:
                    del spots[spot]
            if not spots:
                del self.seen[tag]
        self._place(self._fading | (self.places.keys() - self.seen.keys()), now)

    def was_in(self, tag: int, spot: Spot) -> bool:
        """Whether a zone has clearly seen a tag since the hand began."""
        sighting = self.seen.get(tag, {}).get(spot)
        return sighting is not None and sighting.strength >= WEAK

    def to_json(self) -> dict[str, Any]:
        """JSON object of everything, integers only."""
        return {
            "order": self.order,
            "seen": [
                [
                    tag,
                    spot.kind,
                    spot.seat,
                    s.slot,
                    s.flags,
                    s.signal,
                    s.order,
                    s.since,
                    s.gone,
                    s.gone_order,
                ]
                for tag, spots in self.seen.items()
                for spot, s in spots.items()
            ],
        }

    def load(self, data: dict[str, Any], now: int) -> None:
        """Take over what `to_json` wrote at mirror time `now`."""
        self.order = data["order"]
        self.seen = {}
        for tag, kind, seat, slot, flags, signal, order, since, gone, gone_order in data["seen"]:
            self.seen.setdefault(tag, {})[Spot(kind, seat)] = Sighting(
                slot, flags, signal, order, since, gone, gone_order
            )
        self.places, self.zones = {}, {}
        self._fading = set()
        self._place(set(self.seen), now)


def _better(one: Sighting, other: Sighting) -> bool:
    """Seen beats just lost, strong beats weak; otherwise the later beats the earlier."""
    if (one.gone is None) != (other.gone is None):
        return one.gone is None
    weak_one, weak_other = one.strength < WEAK, other.strength < WEAK
    if weak_one != weak_other:
        return weak_other
    return one.order > other.order
