"""Walls, break and dead wall (rules 1.15): pure arithmetic of stacks.

A place is named by the wind whose wall it stands in, the stack counted 1–17 from that player's right hand,
and upper or lower. `t` is the draw index 0–135 from the break; ring stacks 0–67 run in drawing direction
from the right end of the dealer's wall.
"""

from __future__ import annotations

from dataclasses import dataclass

STACKS_IN_WALL = 17
RING = 4 * STACKS_IN_WALL
DEAD_WALL = tuple(range(122, 136))
REPLACEMENTS = (134, 135, 132, 133)
"""Draw indexes of the rinshan tiles in the order they are taken."""
INDICATORS = (130, 128, 126, 124, 122)
"""Draw indexes of the dora indicator and the kan indicators; the ura lies one further."""
FIRST_LIVE_DRAW = 53
"""South's first draw; before it the dealer's fourteenth tile is t = 52."""
LAST_LIVE = 121
"""Last live tile (haitei) while no kan was made; each kan moves it one back."""
DEAL: tuple[tuple[int, ...], ...] = tuple(
    tuple(4 * wind + 16 * turn + i for turn in range(3) for i in range(4)) + (48 + wind,)
    for wind in range(4)
)
"""Draw indexes of the thirteen dealt tiles by wind; the dealer's fourteenth is t = 52."""
DEALERS_FOURTEENTH = 52
_WALLS = (0, 3, 2, 1)
"""Winds in drawing direction: East's wall, then North's, West's, South's."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a tile lies in the walls."""

    wind: int
    """0 E … 3 N: whose wall."""
    stack: int
    """1–17 from the owner's right hand."""
    upper: bool
    ring: int


@dataclass(frozen=True, slots=True)
class Break:
    """An opened wall; `stacks` stay at the right of the wall of `wind`, `first` is the ring stack taken first."""

    wind: int
    stacks: int
    first: int

    def place(self, t: int) -> Place:
        """Where draw index `t` lies."""
        ring = (self.first + t // 2) % RING
        return Place(_WALLS[ring // STACKS_IN_WALL], ring % STACKS_IN_WALL + 1, t % 2 == 0, ring)

    def index(self, ring: int, upper: bool) -> int:
        """The draw index of a place."""
        return 2 * ((ring - self.first) % RING) + (0 if upper else 1)

    @property
    def dead_wall_stacks(self) -> tuple[int, ...]:
        """The seven ring stacks of the dead wall, from the break backwards."""
        return tuple((self.first - 1 - i) % RING for i in range(7))


def break_wall(dice_sum: int) -> Break:
    """The break for a throw of 2–12 (1.15.2)."""
    if not 2 <= dice_sum <= 12:
        raise ValueError(f"two dice never show {dice_sum}")
    wind = (dice_sum - 1) % 4
    return Break(wind, dice_sum, STACKS_IN_WALL * ((4 - wind) % 4) + dice_sum)


def haitei(kans: int) -> int:
    """Draw index of the last live tile after `kans` kans."""
    return LAST_LIVE - kans
