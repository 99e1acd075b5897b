"""What the antennas get wrong: missed tiles, ghosts, range overlap, repeats, tags that should not be there."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from firmware_protocol.vocabulary import StickFault, ZoneKind, zone
from hardware_sim.faults.language import deed
from hardware_sim.zones import Place

if TYPE_CHECKING:
    from hardware_sim.table import SimTable

AREA = "sensors"
ZONES = {
    "hand": ZoneKind.HAND, "drawn slot": ZoneKind.DRAWN, "river": ZoneKind.RIVER,
    "meld area": ZoneKind.MELD, "wall": ZoneKind.WALL,
}  # fmt: skip
"""Zones as people call them."""
FOREIGN_TAG = 0xE004_0150_FFFF_0001
"""A tag of no set: a card in somebody's pocket."""


@deed("the {zone_name:Z} of seat {seat:S} misses the next tile", AREA)
def misses(table: SimTable, zone_name: str, seat: int) -> None:
    """One tile comes unseen and is not seen as long as it lies there."""
    octet = _octet(zone_name, seat)
    table.parts.sensors.skip_next[octet] = table.parts.sensors.skip_next.get(octet, 0) + 1


@deed("the antennas miss {percent:N}% of the tiles", AREA)
def miss_share(table: SimTable, percent: float) -> None:
    """A bad day: so many tiles are never seen where they lie."""
    _quality(table, misses=percent / 100)


@deed("{percent:N}% of the sightings come twice", AREA)
def repeats(table: SimTable, percent: float) -> None:
    """The same sighting is reported again."""
    _quality(table, repeats=percent / 100)


@deed("{percent:N}% of the tiles are seen in the next zone too", AREA)
def overlaps(table: SimTable, percent: float) -> None:
    """Antennas that reach too far."""
    _quality(table, overlaps=percent / 100)


@deed("ghosts flicker at {percent:N}% of the tiles", AREA)
def ghosts(table: SimTable, percent: float) -> None:
    """Tags of tiles that lie elsewhere flash up."""
    _quality(table, ghosts=percent / 100)


@deed("the antennas are fine again", AREA)
def fine(table: SimTable) -> None:
    """Perfect readings from now on."""
    table.parts.sensors.quality = type(table.parts.sensors.quality)()


def _quality(table: SimTable, **changes: float) -> None:
    sensors = table.parts.sensors
    sensors.quality = dataclasses.replace(sensors.quality, **changes)


@deed("a ghost flickers in the {zone_name:Z} of seat {seat:S}", AREA)
def ghost(table: SimTable, zone_name: str, seat: int) -> None:
    """A tag from nowhere is seen once and gone."""
    sensors = table.parts.sensors
    sensors.report(sensors.ghost(_octet(zone_name, seat), FOREIGN_TAG))


@deed("the {zone_name:Z} of seat {seat:S} flickers", AREA)
def flickers(table: SimTable, zone_name: str, seat: int) -> None:
    """All its tiles are lost and found again."""
    table.parts.sensors.flicker(_octet(zone_name, seat))


@deed("the {zone_name:Z} of seat {seat:S} goes blind", AREA)
def blind(table: SimTable, zone_name: str, seat: int) -> None:
    """A stuck reader: no change is reported."""
    table.parts.sensors.blind.add(_octet(zone_name, seat))


@deed("the {zone_name:Z} of seat {seat:S} sees again", AREA)
def sees(table: SimTable, zone_name: str, seat: int) -> None:
    """The reader works: what it missed is reported."""
    table.parts.sensors.recover(_octet(zone_name, seat))


@deed("the drawn tile of seat {seat:S} is seen in the {zone_name:Z} too", AREA)
def in_two_zones(table: SimTable, seat: int, zone_name: str) -> None:
    """One tile, two zones, until it moves."""
    tag = table.parts.tabletop.at(Place(ZoneKind.DRAWN, seat, 0))
    if tag is not None:
        table.parts.sensors.also_in(_octet(zone_name, seat), tag)


@deed("seat {seat:S} holds the hand over the river for {seconds:N} second[s]", AREA)
def over_the_river(table: SimTable, seat: int, seconds: float) -> None:
    """The river's antenna sees what the hand holds, weakly, until it is drawn back."""
    sensors, top = table.parts.sensors, table.parts.tabletop
    octet = zone(ZoneKind.RIVER, seat)
    tags = list(top.zone(ZoneKind.HAND, seat).values())[:3]
    for tag in tags:
        sensors.also_in(octet, tag)
    table.agenda.after(seconds, lambda: sensors.forget(octet, tags))


@deed("a tile of the other set got into the wall", AREA)
def other_set(table: SimTable) -> None:
    """At the next lift one tile carries a tag of the set that should be in the machine."""
    table.parts.foreign_next = True


@deed("two tiles of the wall carry the same tag", AREA)
def same_tag(table: SimTable) -> None:
    """At the next lift one tile answers with the tag of another."""
    table.parts.twin_next = True


@deed("a stick lies in the wrong slot of the tray of seat {seat:S}", AREA)
def wrong_slot(table: SimTable, seat: int) -> None:
    """The tray says that its counts may be wrong."""
    table.parts.sticks.misplace(seat, StickFault.WRONG_SLOT)


@deed("the tray of seat {seat:S} reads well again", AREA)
def tray_fine(table: SimTable, seat: int) -> None:
    """The stick was put right."""
    table.parts.sticks.misplace(seat, StickFault.NONE)


def _octet(zone_name: str, seat: int) -> int:
    return zone(ZONES[zone_name.lower()], seat)
