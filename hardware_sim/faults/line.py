"""What goes wrong on the line: loss, flips, garbage, stalls, a pulled plug, one dead direction."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hardware_sim.faults.language import deed

if TYPE_CHECKING:
    from hardware_sim.table import SimTable

AREA = "line"
BAUD_CONFUSION = bytes(range(0x80, 0x100))


@deed("lose {percent:N}% of the frames[ for {seconds:N} second[s]]", AREA)
def lose(table: SimTable, percent: float, seconds: float = 0) -> None:
    """Frames vanish, both ways."""
    _both(table, "lose", percent, seconds)


@deed("flip a bit in {percent:N}% of the octets[ for {seconds:N} second[s]]", AREA)
def flip(table: SimTable, percent: float, seconds: float = 0) -> None:
    """Bits flip, both ways."""
    _both(table, "flip", percent, seconds)


def _both(table: SimTable, name: str, percent: float, seconds: float) -> None:
    for way in (table.line.to_host, table.line.to_table):
        setattr(way, name, percent / 100)
    if seconds:
        table.agenda.after(seconds, table.line.repair)


@deed("{octets:N} octets of garbage come down the line", AREA)
def garbage(table: SimTable, octets: int) -> None:
    """Octets at another baud rate, no frame among them."""
    rng = table.line.rng
    table.line.garbage += bytes(rng.choice(BAUD_CONFUSION) for _ in range(int(octets))) + b"\0"


@deed("stall the line for {seconds:N} second[s]", AREA)
def stall(table: SimTable, seconds: float) -> None:
    """Nothing arrives for a while, then all of it."""
    until = table.agenda.now + round(seconds * 1_000_000)
    table.line.to_host.held_until = table.line.to_table.held_until = until


@deed("unplug the cable", AREA)
def unplug(table: SimTable) -> None:
    """The port is gone from the host."""
    table.line.plugged = False


@deed("plug the cable in[ again]", AREA)
def plug(table: SimTable) -> None:
    """The port is there again."""
    table.line.plugged = True


@deed("nothing the board says arrives any more", AREA)
def mute(table: SimTable) -> None:
    """Half-open: the host still reaches the table."""
    table.line.to_host.dead = True


@deed("nothing the host says arrives any more", AREA)
def deaf(table: SimTable) -> None:
    """Half-open: the table still reaches the host."""
    table.line.to_table.dead = True


@deed("repair the line", AREA)
def repair(table: SimTable) -> None:
    """A good cable again."""
    table.line.repair()
