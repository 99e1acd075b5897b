"""A reader of its own: rebuilds a hand from what the wire reported, to hold it against the record."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from firmware_protocol import messages as m
from firmware_protocol.schema import Message
from firmware_protocol.vocabulary import Phase, Sight, ZoneKind, zone_kind, zone_seat


@dataclass
class Shadow:
    """What was seen of each hand, in words of the record."""

    tiles: dict[int, str]
    """Tag → tile."""
    hands: list[list[dict[str, Any]]] = field(default_factory=list)
    dealt: list[list[str]] = field(default_factory=list)
    """Thirteen tiles per seat when the first draw comes, hand by hand, seat by seat."""
    wall_tiles: int = 0
    lies: dict[int, set[int]] = field(default_factory=dict)
    """Tag → zone octets in which it was last seen."""
    _zones: dict[int, dict[int, int]] = field(default_factory=dict)
    _drawn: list[int | None] = field(default_factory=lambda: [None] * 4)

    def see(self, message: Message) -> None:
        if isinstance(message, m.WallEvent) and message.phase == Phase.UP:
            self.hands.append([])
            self._zones.clear()
            self.wall_tiles = 0
        elif isinstance(message, m.RiichiSlot) and message.present:
            self._tell(e="riichi_ok", p=message.seat)
        elif isinstance(message, m.LidEvent) and message.phase == Phase.UP:
            self._tell(e="tiles in")
        elif isinstance(message, m.TileEvent):
            for sight in message.tiles:
                self._tile(zone_kind(message.zone), zone_seat(message.zone), message.zone, sight)

    def _tell(self, **what: Any) -> None:
        self.hands[-1].append(what)

    def _tile(self, kind: int, seat: int, octet: int, sight: m.TileSight) -> None:
        at = self._zones.setdefault(octet, {})
        if not sight.flags & Sight.APPEARED:
            assert at.pop(sight.slot) == sight.tag, "a tile vanished from where it was not"
            return
        assert sight.slot not in at, "two tiles in one slot"
        at[sight.slot] = sight.tag
        tile = self.tiles[sight.tag]
        if kind == ZoneKind.WALL:
            self.wall_tiles += 1
        elif kind == ZoneKind.DRAWN:
            if not any(e["e"] == "draw" for e in self.hands[-1]):
                self.dealt.append([self._text(ZoneKind.HAND, s) for s in range(4)])
            self._drawn[seat] = sight.tag
            self._tell(e="draw", p=seat, t=tile)
        elif kind == ZoneKind.RIVER:
            self._tell(e="discard", p=seat, t=tile, tg=self._drawn[seat] == sight.tag, slot=sight.slot,
                       sideways=bool(sight.flags & Sight.SIDEWAYS))  # fmt: skip
            self._drawn[seat] = None
        elif kind in {ZoneKind.MELD, ZoneKind.LAID}:
            self._tell(e="meld" if kind == ZoneKind.MELD else "laid", p=seat, t=tile)
        elif kind in {ZoneKind.INDICATOR, ZoneKind.URA}:
            self._tell(e="dora" if kind == ZoneKind.INDICATOR else "ura", t=tile)

    def _text(self, kind: int, seat: int) -> str:
        return "".join(
            sorted(self.tiles[tag] for tag in self._zones.get(kind << 4 | seat, {}).values())
        )

    def of(self, hand: int, *kinds: str) -> list[dict[str, Any]]:
        return [e for e in self.hands[hand] if e["e"] in kinds]
