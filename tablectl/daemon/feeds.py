"""Which feeds an event exists on: it follows from the visibility of its fields alone."""

from __future__ import annotations

from typing import Final

from tablectl.engine.game.codec import Visibility, plan
from tablectl.engine.game.events import Event

PUBLIC: Final = "public"
BROADCAST: Final = "broadcast"
REFEREE: Final = "referee"
SEATS: Final = ("seat0", "seat1", "seat2", "seat3")
ALL: Final = (PUBLIC, *SEATS, BROADCAST, REFEREE)
_KNOWN: dict[str, tuple[bool, bool, bool]] = {}


def _kinds(event: Event) -> tuple[bool, bool, bool]:
    """(something public, something of each seat, something of one seat); worked out once per type."""
    known = _KNOWN.get(event.type)
    if known is None:
        fields = plan(type(event))
        seen = {field.visibility for field in fields}
        known = _KNOWN[event.type] = (
            not fields or Visibility.PUBLIC in seen,
            Visibility.EACH in seen,
            Visibility.OWNER in seen,
        )
    return known


def feeds_of(event: Event) -> tuple[str, ...]:
    """The feeds that see something of an event; an event with nothing public is not on `public`."""
    public, each, owner = _kinds(event)
    if public:
        return ALL
    if each:
        return (*SEATS, BROADCAST, REFEREE)
    if owner:
        seat: int = event.seat  # type: ignore[attr-defined]  # OWNER means: of the field `seat`
        return (SEATS[seat], BROADCAST, REFEREE)
    return (REFEREE,)
