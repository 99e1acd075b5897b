"""How sure the mirror is of what it sees, in words a referee can use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

Certainty = Literal["accepted", "tentative", "contradiction"]
SEAT_NAMES = ("seat 0", "seat 1", "seat 2", "seat 3")


@dataclass(frozen=True, slots=True)
class Verdict:
    """The state of perception. A contradiction stops automatic scoring, never the table.

    `text` may name a concealed tile: it goes to the referee only.
    """

    certainty: Certainty
    code: str = ""
    """Stable: `missed_discard`, `missed_draw`, `out_of_turn`, `taken_back`, `strange_tag`, `other_set`,
    `five_copies`, `wrong_count`, `illegal`, `duplicate_tag`, `late_stick`, `gap`."""
    text: str = ""
    seat: int | None = None
    tags: tuple[int, ...] = ()
    row: str = ""
    """The infraction it would be (rules 2.3), for the referee to look at; empty: none."""

    def to_json(self) -> dict[str, Any]:
        """JSON object for the console; tags stay out of it."""
        return {
            "certainty": self.certainty,
            "code": self.code,
            "text": self.text,
            "seat": self.seat,
            "row": self.row,
        }


ACCEPTED = Verdict("accepted")
