"""Per-suit tables: every way the concealed tiles of one suit split into sets, with what each is worth.

The tiles of a suit are one integer, the *suit key*: three bits a rank, so that adding a tile is one
addition (`ONE[rank]`). A hand is four keys, man, pin, sou and honours (`Key`). A way to split a suit is
two small integers made to be combined over suits without looking at tiles again:

* `masks`, joined with `|` and `&`: which runs, triplets and pair there are, by rank;
* `sums`, joined with `+`: how many runs, concealed triplets, groups without terminal or honour, doubled
  runs and pairs, and their fu.

No table knows a whole hand. They are filled on first use, in about a tenth of a second, for all suits.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Final, NamedTuple

from tablectl.engine.tiles import KIND

Key = tuple[int, int, int, int]
"""Suit keys of man, pin, sou and honours."""

Split = tuple[int, int]
"""(masks, sums) of one way to split a suit."""

ONE: Final[tuple[int, ...]] = tuple(1 << 3 * rank for rank in range(9))
"""Suit key of one tile, by rank 0–8."""

FULL: Final = 0o777777777
THREES: Final = 0o444444444
"""Top bit of each rank's count: set from four copies on."""
ODD_OR_FOUR: Final = 0o555555555
"""A key without these bits holds each kind twice or not at all."""
TERMINALS: Final = 0o700000007
GREEN_RANKS: Final = sum(7 << 3 * rank for rank in (1, 2, 3, 5, 7))
"""Ranks 2 3 4 6 8 of a suit."""

# --- masks: 7 bits of runs by lowest rank, 9 of triplets, 9 of the pair, 1 of a straight through -------
RUNS_MASK: Final = 0x7F
TRIPLET_BIT: Final = 7
PAIR_BIT: Final = 16
PAIR_MASK: Final = 0x1FF << PAIR_BIT
SETS_MASK: Final = 0xFFFF
STRAIGHT: Final = 0b1001001
"""Runs 123, 456 and 789."""
ITTSU_BIT: Final = 1 << 25

# --- sums: fields of one integer ----------------------------------------------------------------------
TWINS: Final = 1
"""Doubled concealed runs (iipeikou 1, ryanpeikou 2): 2 bits."""
ANKO: Final = 1 << 2
"""Concealed triplets and kans: 3 bits."""
RUN: Final = 1 << 5
"""Runs: 3 bits."""
SIMPLE: Final = 1 << 8
"""Sets and pair without terminal or honour: 3 bits."""
SHAPE_BITS: Final = 11
"""The fields above decide the yaku of the shape together."""
TWO_FU: Final = 1 << 11
"""Fu, counted in twos: 7 bits."""
PAIRS: Final = 1 << 18
"""Pairs; a hand of four sets has exactly one."""

SHAPE_MASK: Final = (1 << SHAPE_BITS) - 1
RUNS_FIELD: Final = 7 * RUN
FOUR_RUNS: Final = 4 * RUN


def key_of(tiles: Iterable[int]) -> Key:
    """The four suit keys of tiles (red fives count as fives)."""
    keys = [0, 0, 0, 0]
    for tile in tiles:
        kind = KIND[tile]
        keys[kind // 9] += ONE[kind % 9]
    return keys[0], keys[1], keys[2], keys[3]


def key_of_counts(counts: Iterable[int]) -> Key:
    """The four suit keys of 34 counts."""
    keys = [0, 0, 0, 0]
    for kind, count in enumerate(counts):
        keys[kind // 9] += count << 3 * (kind % 9)
    return keys[0], keys[1], keys[2], keys[3]


def grown(key: Key, kind: int) -> Key:
    """The hand with one more tile."""
    keys = list(key)
    keys[kind // 9] += ONE[kind % 9]
    return keys[0], keys[1], keys[2], keys[3]


def remove(key: Key, kind: int, copies: int = 1) -> Key:
    """The hand with tiles taken away; the caller knows that they are there."""
    keys = list(key)
    keys[kind // 9] -= copies * ONE[kind % 9]
    return keys[0], keys[1], keys[2], keys[3]


def copies(key: Key, kind: int) -> int:
    """How many copies of a kind the hand holds."""
    return key[kind // 9] >> 3 * (kind % 9) & 7


def size_of(key: Key) -> int:
    """How many tiles the hand holds."""
    total = 0
    for suit in key:
        while suit:
            total += suit & 7
            suit >>= 3
    return total


class Tables(NamedTuple):
    """Splits by suit key: `numbers` for a suit of 1–9, `honours` for the winds and dragons."""

    numbers: dict[int, tuple[Split, ...]]
    honours: dict[int, Split]


@cache
def tables() -> Tables:
    """Both tables, built on the first call."""
    return Tables(_build_numbers(), _build_honours())


def _pieces() -> list[tuple[int, int, int]]:
    """(key, masks, sums) of each of the 16 concealed sets of a suit."""
    runs = [
        (ONE[r] + ONE[r + 1] + ONE[r + 2], 1 << r, RUN + (0 if r in (0, 6) else SIMPLE))
        for r in range(7)
    ]
    triplets = [
        (
            3 * ONE[r],
            1 << TRIPLET_BIT + r,
            ANKO + (4 * TWO_FU if r in (0, 8) else 2 * TWO_FU + SIMPLE),
        )
        for r in range(9)
    ]
    return runs + triplets


def _build_numbers() -> dict[int, tuple[Split, ...]]:
    pieces = _pieces()
    sets: list[tuple[int, int, int]] = [(0, 0, 0)]
    # Add the sixteen pieces one after the other, a run up to four times, a triplet once.
    for index, (piece, mask, worth) in enumerate(pieces):
        grown = list(sets)
        layer = sets
        for times in range(1, 5 if index < 7 else 2):
            twin = TWINS if times in (2, 4) else 0
            layer = [
                (key + piece, masks | mask, sums + worth + twin)
                for key, masks, sums in layer
                if (sums >> 2 & 7) + (sums >> 5 & 7) < 4 and not _crowded(key + piece)
            ]
            grown += layer
        sets = grown
    found: dict[int, list[Split]] = {}
    for key, masks, sums in sets:
        if masks & STRAIGHT == STRAIGHT:
            masks |= ITTSU_BIT
        found.setdefault(key, []).append((masks, sums))
    for rank in range(9):
        two = 2 * ONE[rank]
        bit = 1 << PAIR_BIT + rank
        worth = PAIRS + (0 if rank in (0, 8) else SIMPLE)
        for key, masks, sums in sets:
            if key >> 3 * rank & 7 > 2:
                continue
            ittsu = ITTSU_BIT if masks & STRAIGHT == STRAIGHT else 0
            found.setdefault(key + two, []).append((masks | bit | ittsu, sums + worth))
    return {key: tuple(splits) for key, splits in found.items()}


def _crowded(key: int) -> bool:
    """Whether some rank has five copies or more."""
    return bool(key >> 2 & (key >> 1 | key) & 0o111111111)


def _build_honours() -> dict[int, Split]:
    found: list[tuple[int, int, int]] = [(0, 0, 0)]
    for rank in range(7):
        found += [
            (key + 3 * ONE[rank], masks | 1 << TRIPLET_BIT + rank, sums + ANKO + 4 * TWO_FU)
            for key, masks, sums in found
            if sums >> 2 & 7 < 4
        ]
    found += [
        (key + 2 * ONE[rank], masks | 1 << PAIR_BIT + rank, sums + PAIRS)
        for key, masks, sums in found
        for rank in range(7)
        if not key >> 3 * rank & 7
    ]
    return {key: (masks, sums) for key, masks, sums in found}
