"""What people get wrong: early presses and draws, dropped tiles, discards taken back, wrong melds, miscounts."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from firmware_protocol.vocabulary import Button, Press, ZoneKind
from hardware_sim.clock import Activity, Pause
from hardware_sim.faults.language import deed
from hardware_sim.zones import Lying, Place, Tabletop

if TYPE_CHECKING:
    from hardware_sim.table import SimTable

AREA = "people"
Moves = list[tuple[int, Lying | None]]
WRONG_BY = 6
"""Tiles by which somebody reaches too far."""
HOLD = 1.0
"""Seconds until somebody notices what he has done, where the sentence does not say."""


@deed("seat {seat:S} presses start", AREA)
def press_start(table: SimTable, seat: int) -> None:
    """Too early, or once more."""
    table.parts.press(Button.START, seat)


@deed("seat {seat:S} presses the dice button", AREA)
def press_dice(table: SimTable, seat: int) -> None:
    """The machine rolls whoever presses."""
    table.parts.press(Button.DICE, seat)


@deed("seat {seat:S} presses the riichi button", AREA)
def press_riichi(table: SimTable, seat: int) -> None:
    """A button tables with riichi buttons have."""
    table.parts.press(Button.RIICHI, seat)


@deed("seat {seat:S} holds the reset button", AREA)
def press_reset(table: SimTable, seat: int) -> None:
    """A long press: clear the scores."""
    table.parts.press(Button.RESET, seat, Press.LONG)


@deed("seat {seat:S} calls staff", AREA)
def call_staff(table: SimTable, seat: int) -> None:
    """The button for the floor."""
    table.parts.press(Button.CALL_STAFF, seat)


@deed("seat {seat:S} drops a tile and puts it back[ after {seconds:N} second[s]]", AREA)
def drops(table: SimTable, seat: int, seconds: float = HOLD) -> None:
    """A tile of the hand is gone and comes back to its slot."""
    _away_and_back(table, seconds, lambda top: [(tag, None) for tag in _hand(top, seat)[-1:]])


@deed("seat {seat:S} takes the discard back[ for {seconds:N} second[s]]", AREA)
def takes_back(table: SimTable, seat: int, seconds: float = HOLD) -> None:
    """The last discard goes into the hand, then to the river again."""

    def act(top: Tabletop) -> Moves:
        river = list(top.zone(ZoneKind.RIVER, seat).values())
        slot = top.free_slot(ZoneKind.HAND, seat)
        return [(tag, Lying(Place(ZoneKind.HAND, seat, slot))) for tag in river[-1:]]

    _away_and_back(table, seconds, act)


@deed("seat {seat:S} draws early[ and puts it back after {seconds:N} second[s]]", AREA)
def draws_early(table: SimTable, seat: int, seconds: float = HOLD) -> None:
    """Somebody reaches to the wall out of turn."""
    _away_and_back(table, seconds, lambda top: _draw(table, top, seat, 0))


@deed("seat {seat:S} takes a tile from the wrong place and puts it back", AREA)
def wrong_wall(table: SimTable, seat: int) -> None:
    """Not the next tile of the wall, but one further on."""
    _away_and_back(table, HOLD, lambda top: _draw(table, top, seat, WRONG_BY))


@deed("seat {seat:S} has one tile too many for {seconds:N} second[s]", AREA)
def too_many(table: SimTable, seat: int, seconds: float) -> None:
    """A tile more than the hand may have (多牌), noticed and put back."""

    def act(top: Tabletop) -> Moves:
        tag = table.people.next_live()
        slot = top.free_slot(ZoneKind.HAND, seat)
        return [] if tag is None else [(tag, Lying(Place(ZoneKind.HAND, seat, slot)))]

    _away_and_back(table, seconds, act)


@deed("seat {seat:S} opens a wrong meld and takes it back", AREA)
def wrong_meld(table: SimTable, seat: int) -> None:
    """Two tiles are shown that make no meld, and go back."""

    def act(top: Tabletop) -> Moves:
        first = top.next_slot(ZoneKind.MELD, seat)
        return [
            (tag, Lying(Place(ZoneKind.MELD, seat, first + k), face_up=True))
            for k, tag in enumerate(_hand(top, seat)[:2])
        ]

    _away_and_back(table, HOLD, act)


@deed("seat {seat:S} takes {points:N} points too many from the next seat", AREA)
def miscount(table: SimTable, seat: int, points: int) -> None:
    """At the next payment the sticks are miscounted."""
    table.parts.sticks.miscounts.append((seat, int(points)))


@deed("seat {seat:S} sorts the hand", AREA)
def sorts(table: SimTable, seat: int) -> None:
    """Tiles change their slots."""
    table.people.sort_hand(seat)


def _hand(top: Tabletop, seat: int) -> list[int]:
    return list(top.zone(ZoneKind.HAND, seat).values())


def _draw(table: SimTable, top: Tabletop, seat: int, ahead: int) -> Moves:
    """The tile that is drawn next, or one further on, into a drawn slot that is free."""
    tag = table.people.next_live(ahead)
    place = Place(ZoneKind.DRAWN, seat, 0)
    return [] if tag is None or top.at(place) is not None else [(tag, Lying(place))]


def _away_and_back(table: SimTable, seconds: float, wrong: Callable[[Tabletop], Moves]) -> None:
    """Before the next move tiles go where they should not, and back to where they lay."""
    top = table.parts.tabletop

    def act() -> Activity:
        moves = wrong(top)
        before = [(tag, top.where(tag)) for tag, _ in moves]
        top.move(*moves)
        yield Pause(seconds)
        top.move(*before)
        yield Pause(seconds)

    table.people.interrupt(act())
