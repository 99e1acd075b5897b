"""What people get wrong: early presses and draws, dropped tiles, discards taken back, wrong melds, miscounts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from firmware_protocol.vocabulary import Button, Press, ZoneKind
from hardware_sim.clock import Activity, Pause
from hardware_sim.faults.language import deed
from hardware_sim.zones import Lying, Place

if TYPE_CHECKING:
    from hardware_sim.table import SimTable

AREA = "people"
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
    hand = table.parts.tabletop.zone(ZoneKind.HAND, seat)
    if hand:
        _away_and_back(table, list(hand.values())[-1:], [None], seconds)


@deed("seat {seat:S} takes the discard back[ for {seconds:N} second[s]]", AREA)
def takes_back(table: SimTable, seat: int, seconds: float = HOLD) -> None:
    """The last discard goes into the hand, then to the river again."""
    river = table.parts.tabletop.zone(ZoneKind.RIVER, seat)
    if river:
        free = table.parts.tabletop.free_slot(ZoneKind.HAND, seat)
        _away_and_back(
            table, [river[max(river)]], [Lying(Place(ZoneKind.HAND, seat, free))], seconds
        )


@deed("seat {seat:S} draws early[ and puts it back after {seconds:N} second[s]]", AREA)
def draws_early(table: SimTable, seat: int, seconds: float = HOLD) -> None:
    """Somebody reaches to the wall out of turn."""
    tag = table.people.next_live()
    if tag is not None and table.parts.tabletop.at(Place(ZoneKind.DRAWN, seat, 0)) is None:
        _away_and_back(table, [tag], [Lying(Place(ZoneKind.DRAWN, seat, 0))], seconds)


@deed("seat {seat:S} takes a tile from the wrong place and puts it back", AREA)
def wrong_wall(table: SimTable, seat: int) -> None:
    """Not the next tile of the wall, but one further on."""
    tag = table.people.next_live(ahead=6)
    if tag is not None and table.parts.tabletop.at(Place(ZoneKind.DRAWN, seat, 0)) is None:
        _away_and_back(table, [tag], [Lying(Place(ZoneKind.DRAWN, seat, 0))], HOLD)


@deed("seat {seat:S} has one tile too many for {seconds:N} second[s]", AREA)
def too_many(table: SimTable, seat: int, seconds: float) -> None:
    """A fifteenth tile in the hand (多牌), noticed and put back."""
    tag = table.people.next_live()
    if tag is not None:
        slot = table.parts.tabletop.free_slot(ZoneKind.HAND, seat)
        _away_and_back(table, [tag], [Lying(Place(ZoneKind.HAND, seat, slot))], seconds)


@deed("seat {seat:S} opens a wrong meld and takes it back", AREA)
def wrong_meld(table: SimTable, seat: int) -> None:
    """Two tiles are shown that make no meld, and go back."""
    top = table.parts.tabletop
    hand = list(top.zone(ZoneKind.HAND, seat).values())[:2]
    first = top.next_slot(ZoneKind.MELD, seat)
    places: list[Lying | None] = [
        Lying(Place(ZoneKind.MELD, seat, first + k), face_up=True) for k in range(len(hand))
    ]
    _away_and_back(table, hand, places, HOLD)


@deed("seat {seat:S} takes {points:N} points too many from the next seat", AREA)
def miscount(table: SimTable, seat: int, points: int) -> None:
    """At the next payment the sticks are miscounted."""
    table.parts.sticks.miscounts.append((seat, int(points)))


@deed("seat {seat:S} sorts the hand", AREA)
def sorts(table: SimTable, seat: int) -> None:
    """Tiles change their slots."""
    top = table.parts.tabletop
    hand = top.zone(ZoneKind.HAND, seat)
    tiles = table.parts.pack.tiles if table.parts.pack else {}
    ordered = sorted(hand.values(), key=lambda tag: tiles.get(tag, "")[::-1])
    top.move(*((tag, None) for tag in ordered))
    top.move(
        *(
            (tag, Lying(Place(ZoneKind.HAND, seat, slot)))
            for slot, tag in zip(hand, ordered, strict=True)
        )
    )


def _away_and_back(
    table: SimTable, tags: list[int], to: list[Lying | None], seconds: float
) -> None:
    """Tiles go where they should not, and back to where they lay; the others wait for it."""
    top = table.parts.tabletop

    def act() -> Activity:
        before = [top.where(tag) for tag in tags]
        top.move(*zip(tags, to, strict=True))
        yield Pause(seconds)
        top.move(*zip(tags, before, strict=True))
        yield Pause(seconds)

    table.people.interrupt(act())
