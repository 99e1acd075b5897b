"""A stretch of time in which the board saw more than it told: it restarted, or its buffer ran over.

Until the board has told what lies where, nothing is decided; what it reports meanwhile waits. The snapshot shows
the table after those reports, so they are taken off again: what remains is the table at the end of the gap.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from firmware_protocol.messages import RiichiSlot, TileEvent, TileSight
from firmware_protocol.vocabulary import Sight, zone_kind, zone_seat
from tablectl.mirror.picture import WEAK, Spot, Told, Where
from tablectl.mirror.verdict import Verdict

TOLD_MS = 15_000
"""A board that has not told its state by then does not do so any more."""
MOST_ABSORBED = 24
"""Reports that may count as part of the gap: a tile was in the air when it ended."""
WORDS = {
    "reset": "the board has started anew",
    "lost": "the board lost events",
    "snapshot": "the board sees other tiles than it told of",
}


Report = TileEvent | RiichiSlot | None
"""What is kept until the gap is explained; None: the people ended the hand (start pressed, or the lid opens)."""


@dataclass(slots=True)
class Gap:
    """What is known of a gap that nobody has explained yet."""

    why: str
    """`reset`, `lost` or `snapshot`, see `WORDS`."""
    since: int
    """Mirror time at which it was noticed."""
    reports: list[tuple[int, Report]] = field(default_factory=list)
    """What came after it, each with its mirror time."""
    where: Where | None = None
    """What lay where when it ended; None until the board has told."""
    sticks: set[int] = field(default_factory=set)
    """Seats with a stick in the riichi slot when it ended."""
    told_at: int = 0
    """Mirror time at which the board told."""
    absorbed: int = 0
    """Reports that were added to the gap, because without them it was no whole picture."""
    hopeless: bool = False
    """Nobody finds out any more; the hand is for a person."""
    text: str = ""
    """Why it is not explained."""

    @property
    def ended(self) -> int:
        """Mirror time up to which the picture of the gap holds."""
        if self.absorbed < len(self.reports):
            return self.reports[self.absorbed][0]
        return self.told_at

    @property
    def closed(self) -> bool:
        """The people ended the hand: nothing more comes that could explain it."""
        return self.absorbed < len(self.reports) and self.reports[self.absorbed][1] is None

    @property
    def stick_from(self) -> int:
        """Mirror time from which a stick is waited for."""
        return self.reports[0][0] if self.reports else self.told_at

    def told(self, where: Where, sticks: set[int], now: int) -> None:
        """The board told what it sees now: take off what it has reported since the gap."""
        for _, event in reversed(self.reports):
            if isinstance(event, RiichiSlot):
                (sticks.discard if event.present else sticks.add)(event.seat)
            if not isinstance(event, TileEvent):
                continue
            spot = Spot(zone_kind(event.zone), zone_seat(event.zone))
            for sight in reversed(event.tiles):
                if sight.flags & Sight.APPEARED:
                    where.get(sight.tag, {}).pop(spot, None)
                else:
                    where.setdefault(sight.tag, {})[spot] = Told(sight.slot, 0)
        self.where, self.sticks, self.told_at, self.absorbed = where, sticks, now, 0

    def absorb(self) -> bool:
        """Let the next report be part of the gap; False when there is none, or too many were."""
        if self.where is None or self.absorbed >= min(len(self.reports), MOST_ABSORBED):
            return False
        _, event = self.reports[self.absorbed]
        if event is None:
            return False
        self.absorbed += 1
        if isinstance(event, RiichiSlot):
            (self.sticks.add if event.present else self.sticks.discard)(event.seat)
            return True
        spot = Spot(zone_kind(event.zone), zone_seat(event.zone))
        for sight in event.tiles:
            spots = self.where.setdefault(sight.tag, {})
            if not sight.flags & Sight.APPEARED:
                spots.pop(spot, None)
            elif not (spots and 0 < sight.signal < WEAK):
                spots[spot] = Told(sight.slot, sight.flags)
        return True

    def verdict(self, now: int, patience_ms: int) -> Verdict:
        """How it stands with it."""
        text = f"{WORDS[self.why]}: "
        if self.where is None and not self.hopeless:
            return Verdict("tentative", "gap", text + "its state is being read")
        text += self.text or "its state could not be read"
        waits = not self.hopeless and now < self.told_at + patience_ms
        return Verdict("tentative" if waits else "contradiction", "gap", text)

    def to_json(self) -> dict[str, Any]:
        """JSON object of everything."""
        return {
            "why": self.why,
            "since": self.since,
            "reports": [[at, _report_json(event)] for at, event in self.reports],
            "where": None
            if self.where is None
            else [
                [tag, spot.kind, spot.seat, told.slot, told.flags]
                for tag, spots in self.where.items()
                for spot, told in spots.items()
            ],
            "sticks": sorted(self.sticks),
            "told_at": self.told_at,
            "absorbed": self.absorbed,
            "hopeless": self.hopeless,
            "text": self.text,
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Gap:
        """The gap that `to_json` wrote."""
        gap = cls(data["why"], data["since"])
        gap.reports = [(at, _report(report)) for at, report in data["reports"]]
        if data["where"] is not None:
            gap.where = {}
            for tag, kind, seat, slot, flags in data["where"]:
                gap.where.setdefault(tag, {})[Spot(kind, seat)] = Told(slot, flags)
        gap.sticks = set(data["sticks"])
        gap.told_at, gap.absorbed = data["told_at"], data["absorbed"]
        gap.hopeless, gap.text = data["hopeless"], data["text"]
        return gap


def _report_json(event: Report) -> list[Any] | None:
    if event is None:
        return None
    if isinstance(event, RiichiSlot):
        return [event.seat, event.present]
    return [event.zone, event.reader, [[s.slot, s.flags, s.signal, s.tag] for s in event.tiles]]


def _report(data: list[Any] | None) -> Report:
    if data is None:
        return None
    if len(data) == len(RiichiSlot.SPEC.fields):
        return RiichiSlot(*data)
    octet, reader, sights = data
    return TileEvent(octet, reader, tuple(TileSight(*sight) for sight in sights))
