"""Tiles as small integers, and the two notations people write them in.

A *kind* is 0–33: 1m…9m, 1p…9p, 1s…9s, then E S W N haku hatsu chun (`1z`…`7z`). A *tile* is a kind or one
of the red fives 34, 35, 36 (`0m 0p 0s`). Text is `123m0p11z` or `1m2m3m0p1z1z`; both may be mixed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from tablectl.engine.errors import TileError

KINDS: Final = 34
TILES: Final = 37
"""Kinds and the three red fives."""

EAST, SOUTH, WEST, NORTH, HAKU, HATSU, CHUN = range(27, 34)

WINDS: Final = "ESWN"
"""Winds by number: 0 East … 3 North; the kind of wind w is 27 + w."""

NAMES: Final[tuple[str, ...]] = (
    *(f"{rank}{suit}" for suit in "mps" for rank in range(1, 10)),
    *(f"{rank}z" for rank in range(1, 8)),
    "0m",
    "0p",
    "0s",
)
"""Tile → two characters."""

BY_NAME: Final[dict[str, int]] = {name: tile for tile, name in enumerate(NAMES)}

KIND: Final[tuple[int, ...]] = (*range(34), 4, 13, 22)
"""Tile → kind: a red five is a five."""

RED: Final[dict[int, int]] = {4: 34, 13: 35, 22: 36}
"""Kind of a five → its red tile."""

YAOCHU: Final[tuple[int, ...]] = (0, 8, 9, 17, 18, 26, *range(27, 34))
"""Kinds of terminals and honours."""


def _next(kind: int) -> int:
    """The kind that follows in its ring of nine numbers, four winds or three dragons."""
    first, size = (kind - kind % 9, 9) if kind < EAST else (EAST, 4) if kind < HAKU else (HAKU, 3)
    return first + (kind - first + 1) % size


DORA: Final[tuple[int, ...]] = tuple(_next(kind) for kind in KIND)
"""Indicator tile → kind of the dora: 1→…→9→1, E→S→W→N→E, haku→hatsu→chun→haku (A24.3, M16)."""

_ORDER: Final[tuple[int, ...]] = tuple(
    # A red five sorts right before the plain fives of its suit.
    2 * kind - (1 if tile > 33 else 0)
    for tile, kind in enumerate(KIND)
)
_SUIT_LETTERS: Final = "mpsz"


def parse(text: str, field: str = "") -> tuple[int, ...]:
    """Tiles in the order written; raises `TileError` bad_tiles with the place at fault."""
    if not isinstance(text, str):
        raise TileError(
            "bad_tiles", f"tiles are text, not {type(text).__name__}", field=field, value=text
        )
    tiles: list[int] = []
    digits = ""
    for place, char in enumerate(text):
        if char in "0123456789":
            digits += char
        elif char in _SUIT_LETTERS and digits:
            for digit in digits:
                tile = BY_NAME.get(digit + char)
                if tile is None:
                    raise _no_tile(digit + char, text, field)
                tiles.append(tile)
            digits = ""
        else:
            raise TileError(
                "bad_tiles",
                f"{text!r} cannot be read at character {place + 1} ({char!r})",
                field=field,
                value=text,
                hint="write tiles as 123m0p11z or 1m2m3m0p1z1z",
            )
    if digits:
        raise TileError(
            "bad_tiles",
            f"{text!r} ends without a suit letter",
            field=field,
            value=text,
            hint="end each run of digits with m, p, s or z",
        )
    return tuple(tiles)


def parse_one(text: str, field: str = "") -> int:
    """The one tile named, such as `0p`; raises `TileError` bad_tile."""
    tile = BY_NAME.get(text) if isinstance(text, str) else None
    if tile is None:
        raise _no_tile(text, text, field)
    return tile


def _no_tile(name: object, text: object, field: str) -> TileError:
    inside = "" if name == text else f" in {text!r}"
    return TileError(
        "bad_tile",
        f"{name!r}{inside} is no tile",
        field=field,
        value=name,
        hint="tiles are 1m-9m 1p-9p 1s-9s 1z-7z and the red fives 0m 0p 0s",
    )


def text_of(tiles: Iterable[int]) -> str:
    """Two characters a tile, in the order given: `1m2m0p7z`."""
    return "".join([NAMES[tile] for tile in tiles])


def compact(tiles: Iterable[int]) -> str:
    """The short notation, sorted: `12m0p7z`."""
    groups = ["", "", "", ""]
    for tile in ordered(tiles):
        name = NAMES[tile]
        groups[_SUIT_LETTERS.index(name[1])] += name[0]
    return "".join(
        digits + letter for digits, letter in zip(groups, _SUIT_LETTERS, strict=True) if digits
    )


def ordered(tiles: Iterable[int]) -> list[int]:
    """Sorted by kind, red fives before plain ones."""
    return sorted(tiles, key=_ORDER.__getitem__)


def counts_of(tiles: Iterable[int]) -> list[int]:
    """Copies of each of the 34 kinds."""
    counts = [0] * KINDS
    for tile in tiles:
        counts[KIND[tile]] += 1
    return counts


def kinds_in(mask: int) -> tuple[int, ...]:
    """Kinds of a bit mask (bit k = kind k), ascending."""
    found: list[int] = []
    while mask:
        low = mask & -mask
        found.append(low.bit_length() - 1)
        mask ^= low
    return tuple(found)


def mask_of(kinds: Iterable[int]) -> int:
    """Bit mask of kinds (bit k = kind k)."""
    mask = 0
    for kind in kinds:
        mask |= 1 << kind
    return mask


def wind_of(text: str, field: str = "") -> int:
    """0–3 of `E S W N`; raises `TileError` bad_wind."""
    if isinstance(text, str) and len(text) == 1 and text in WINDS:
        return WINDS.index(text)
    raise TileError(
        "bad_wind", f"{text!r} is no wind", field=field, value=text, hint="E, S, W or N"
    )


def is_run(kinds: Sequence[int]) -> bool:
    """Whether three kinds, in any order, are consecutive tiles of one suit."""
    if len(kinds) != 3:
        return False
    low, mid, high = sorted(kinds)
    return high < 27 and mid == low + 1 and high == low + 2 and low // 9 == high // 9
