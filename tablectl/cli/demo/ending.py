"""The end of a game as a subscriber saw it: what `--json` prints."""

from __future__ import annotations

from typing import Any

from tablectl.bus.payloads import SeenEvent
from tablectl.bus.watcher import Seen


def summary(record: str, seen: Seen) -> dict[str, Any]:
    """`{record, scores, points, hands, events, last_seq}`; points null when the game did not end."""
    ended = _last(seen, "game_ended")
    settled = ended or _last(seen, "hand_ended")
    return {
        "record": record,
        "scores": settled.field("scores") if settled else None,
        "points": None if ended is None else _points(ended),
        "hands": sum(event.type == "hand_ended" for event in seen.events),
        "events": len(seen.ids),
        "last_seq": seen.last_seq,
    }


def _last(seen: Seen, kind: str) -> SeenEvent | None:
    return next((event for event in reversed(seen.events) if event.type == kind), None)


def _points(ended: SeenEvent) -> list[int | float]:
    scale = ended.field("points_scale") or 1
    return [
        value // scale if value % scale == 0 else value / scale for value in ended.field("points")
    ]
