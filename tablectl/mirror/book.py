"""The game's account of every tag: in whose hand, river or meld it must lie by the events so far.

The picture says what antennas see; the book says what the engine has been told. Perception is the
search for the commands that lead from one to the other.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

HomeKind = Literal["hand", "river", "meld", "dora", "ura"]


class Home(NamedTuple):
    """Where the game keeps a tag; a tag without a home is in the wall, or not of this hand."""

    kind: HomeKind
    seat: int


@dataclass(slots=True)
class Book:
    """Homes of all tags of the hand in play."""

    home: dict[int, Home] = field(default_factory=dict)
    hands: list[list[int]] = field(default_factory=lambda: [[], [], [], []])
    """Concealed tags by seat, in the order they came."""
    rivers: list[list[int]] = field(default_factory=lambda: [[], [], [], []])
    melds: list[list[tuple[int, ...]]] = field(default_factory=lambda: [[], [], [], []])
    dora: list[int] = field(default_factory=list)
    drawn: int | None = None
    """Tag drawn last and still in the hand of the seat in turn."""

    def copy(self) -> Book:
        """An equal book that may be written to."""
        return Book(
            dict(self.home),
            [list(tags) for tags in self.hands],
            [list(tags) for tags in self.rivers],
            [list(groups) for groups in self.melds],
            list(self.dora),
            self.drawn,
        )

    def melded(self, seat: int) -> set[int]:
        """All tags in a seat's melds."""
        return {tag for group in self.melds[seat] for tag in group}

    def take(self, seat: int, tag: int) -> None:
        """A tag comes into a hand."""
        self._leave(tag)
        self.home[tag] = Home("hand", seat)
        self.hands[seat].append(tag)

    def draw(self, seat: int, tag: int | None) -> None:
        """A tag is drawn; None when nobody saw which."""
        self.drawn = tag
        if tag is not None:
            self.take(seat, tag)

    def discard(self, seat: int, tag: int | None) -> None:
        """A tag goes into the river."""
        self.drawn = None
        if tag is not None:
            self._leave(tag)
            self.home[tag] = Home("river", seat)
            self.rivers[seat].append(tag)

    def meld(self, seat: int, tags: tuple[int, ...]) -> None:
        """Tags are laid down as a new meld."""
        self.drawn = None
        for tag in tags:
            self._leave(tag)
            self.home[tag] = Home("meld", seat)
        self.melds[seat].append(tags)

    def add_to_meld(self, seat: int, index: int, tag: int) -> None:
        """A tag joins a pon."""
        self.drawn = None
        self._leave(tag)
        self.home[tag] = Home("meld", seat)
        self.melds[seat][index] += (tag,)

    def turn_dora(self, tag: int | None) -> None:
        """An indicator is turned."""
        if tag is not None:
            self._leave(tag)
            self.home[tag] = Home("dora", 0)
            self.dora.append(tag)

    def _leave(self, tag: int) -> None:
        home = self.home.pop(tag, None)
        if home is None:
            return
        if home.kind == "hand":
            self.hands[home.seat].remove(tag)
        elif home.kind == "river":
            self.rivers[home.seat].remove(tag)
        elif home.kind == "dora":
            self.dora.remove(tag)
        elif home.kind == "meld":
            self.melds[home.seat] = [
                tuple(t for t in group if t != tag) for group in self.melds[home.seat]
            ]

    def to_json(self) -> dict[str, Any]:
        """JSON object of the book."""
        return {
            "hands": [list(tags) for tags in self.hands],
            "rivers": [list(tags) for tags in self.rivers],
            "melds": [[list(group) for group in groups] for groups in self.melds],
            "dora": list(self.dora),
            "drawn": self.drawn,
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Book:
        """The book that `to_json` wrote."""
        book = cls()
        for seat in range(4):
            for tag in data["hands"][seat]:
                book.take(seat, tag)
            for tag in data["rivers"][seat]:
                book.discard(seat, tag)
            for group in data["melds"][seat]:
                book.meld(seat, tuple(group))
        for tag in data["dora"]:
            book.turn_dora(tag)
        book.drawn = data["drawn"]
        return book
