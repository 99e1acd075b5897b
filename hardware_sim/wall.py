"""Where the tile drawn as number t stands: four walls of 17 stacks, the break, the dead wall.

Geometry only (rules.md 1.15): which stack lies where, in which order hands reach for it.
"""

from __future__ import annotations

from typing import NamedTuple

STACKS = 17
"""Stacks of two tiles in one wall."""
TILES = 136
LIVE_START = 52
"""First draw index after the deal: the dealer's fourteenth tile."""
LAST_LIVE = 121
"""The last tile drawn when nobody declares a kan."""
RINSHAN = (134, 135, 132, 133)
"""Draw index of the first to fourth replacement tile (1.15.3)."""
INDICATORS = (130, 128, 126, 124, 122)
URA = (131, 129, 127, 125, 123)
"""Draw index of what lies under each indicator."""


class WallPlace(NamedTuple):
    """One tile's place: the side whose wall it is, stack 1–17 from that side's right, level."""

    seat: int
    stack: int
    upper: bool

    @property
    def slot(self) -> int:
        """0–33 within the wall: `2 * (stack - 1)` for the upper tile, one more for the lower."""
        return 2 * (self.stack - 1) + (0 if self.upper else 1)


def break_ring(dice_sum: int) -> int:
    """Ring number of the first stack taken, for the sum of the dealer's dice (1.15.2)."""
    owner = (dice_sum - 1) % 4
    return STACKS * ((4 - owner) % 4) + dice_sum


def place_of(t: int, ring_start: int, dealer: int) -> WallPlace:
    """Place of draw index t when the ring is broken at `ring_start`; seats are table sides."""
    ring = (ring_start + t // 2) % (4 * STACKS)
    return WallPlace((dealer - ring // STACKS) % 4, ring % STACKS + 1, t % 2 == 0)


def deal_packets(dealer: int) -> list[tuple[int, tuple[int, ...]]]:
    """Who takes which draw indexes in the deal, in order: thirteen tiles each (1.15.3).

    The dealer's two tiles of the last round are one move (48 and 52); 52 is his fourteenth and is
    reported apart by `people`, so only 48 stands here.
    """
    packets = [
        ((dealer + k) % 4, tuple(range(16 * turn + 4 * k, 16 * turn + 4 * k + 4)))
        for turn in range(3)
        for k in range(4)
    ]
    return packets + [((dealer + k) % 4, (48 + k,)) for k in range(4)]


def dealt_to(seat: int, dealer: int) -> tuple[int, ...]:
    """The thirteen draw indexes a seat holds after the deal."""
    return tuple(t for who, packet in deal_packets(dealer) if who == seat for t in packet)
