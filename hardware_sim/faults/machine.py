"""What goes wrong in the machine: jams, hot motors, dice on edge, a set short of a tile, dead displays."""

from __future__ import annotations

from typing import TYPE_CHECKING

from firmware_protocol import messages as m
from firmware_protocol.vocabulary import Button, Jam, Motor, Press
from hardware_sim.faults.language import deed

if TYPE_CHECKING:
    from hardware_sim.table import SimTable

AREA = "machine"
ROOM_DECIDEGREES = 240
SET_SIZE = 136


@deed("the lift jams[ at its next motion]", AREA)
def lift_jams(table: SimTable) -> None:
    """A tile sticks between lift and plate; the people free it and press start again."""
    table.parts.lift.jam_next["lift"] = Jam.TILE_STUCK


@deed("the lift jams until it is freed", AREA)
def lift_jams_hard(table: SimTable) -> None:
    """As above, but the people at the table cannot free it."""
    table.parts.lift.jam_next["lift"] = Jam.LIFT_BLOCKED
    table.parts.lift.jam_held = True


@deed("the lid jams", AREA)
def lid_jams(table: SimTable) -> None:
    """The centre plate stops half-way."""
    table.parts.lift.jam_next["lid"] = Jam.LID_BLOCKED


@deed("staff frees the (lift|lid)", AREA)
def free(table: SimTable) -> None:
    """Somebody with a key takes the tile out."""
    table.parts.lift.jam_held = False
    table.parts.lift.clear_jam()


@deed("the {motor:M} motor gets too hot", AREA)
def hot(table: SimTable, motor: Motor) -> None:
    """It refuses to start until it has cooled."""
    table.parts.lift.overheat(motor, 780)


@deed("the {motor:M} motor has cooled down", AREA)
def cool(table: SimTable, motor: Motor) -> None:
    """It starts again."""
    table.parts.lift.cool(motor)


@deed("it gets {degrees:N} degrees in the machine", AREA)
def temperature(table: SimTable, degrees: float) -> None:
    """The temperature sensor tells it."""
    limit = 2 if degrees >= 70 else 1 if degrees >= 55 else 0
    table.board.emit(m.Temperature(0, round(degrees * 10), limit))


@deed("the dice lie tilted[ {times:N} times]", AREA)
def tilted(table: SimTable, times: int = 1) -> None:
    """The next rolls settle no value; the dealer rolls again."""
    table.parts.dice.tilted += int(times)


@deed("a wall is short of a tile", AREA)
def short(table: SimTable) -> None:
    """The next set is built with 135 tiles."""
    table.parts.missing[table.parts.next_set] = 1


@deed("the missing tile is found", AREA)
def found(table: SimTable) -> None:
    """Both sets are whole again; a table that counts says so."""
    for index, short_of in enumerate(table.parts.missing):
        if short_of:
            table.parts.missing[index] = 0
            table.board.emit(m.TileCountFault(index, SET_SIZE, SET_SIZE))


@deed("the displays lose their power", AREA)
def dark(table: SimTable) -> None:
    """They show nothing, though the board thinks so."""
    table.parts.displays.dead = True


@deed("the displays have power again", AREA)
def bright(table: SimTable) -> None:
    """They show what was last written."""
    table.parts.displays.dead = False


@deed("somebody locks the table", AREA)
def lock(table: SimTable) -> None:
    """The key is turned: no motor starts."""
    table.parts.lift.lock(True)


@deed("somebody unlocks the table", AREA)
def unlock(table: SimTable) -> None:
    """The key is turned back."""
    table.parts.lift.lock(False)


@deed("the seat draw points at seat {seat:S}", AREA)
def roulette(table: SimTable, seat: int) -> None:
    """The machine's roulette lamp stops."""
    table.parts.press(Button.SEAT_DRAW)
    table.board.emit(m.SeatRoulette(seat))


@deed("the staff button of seat {seat:S} bounces {times:N} times", AREA)
def bounces(table: SimTable, seat: int, times: int) -> None:
    """A worn contact: pressed and released, pressed and released."""
    for number in range(int(times)):
        press = Press.RELEASED if number % 2 else Press.PRESSED
        table.parts.press(Button.CALL_STAFF, seat, press)
