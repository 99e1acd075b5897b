"""Melds: what was called or shown as a kan, checked once, with its share of the hand's sums."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Final, Literal, NamedTuple

from tablectl.engine.errors import MeldError
from tablectl.engine.scoring.suits import ANKO, ONE, RUN, SIMPLE, TRIPLET_BIT, TWO_FU
from tablectl.engine.tiles import KIND, NAMES, is_run, parse, text_of

MeldType = Literal["chi", "pon", "daiminkan", "ankan", "kakan"]

MELD_TYPES: Final[tuple[MeldType, ...]] = ("chi", "pon", "daiminkan", "ankan", "kakan")
KANS: Final = frozenset({"daiminkan", "ankan", "kakan"})


class Worth(NamedTuple):
    """What a meld adds to a hand: the suit it lies in, `masks` and `sums` of `suits`, its suit key."""

    suit: int
    masks: int
    sums: int
    key: int


class Meld(NamedTuple):
    """A meld that is one: its type, its tiles in the order given, its lowest kind, its worth."""

    type: MeldType
    tiles: tuple[int, ...]
    kind: int
    worth: Worth

    @property
    def is_kan(self) -> bool:
        """Whether it has four tiles."""
        return len(self.tiles) == 4

    @property
    def is_open(self) -> bool:
        """Everything but an ankan opens the hand (A22, A40.2)."""
        return self.type != "ankan"

    def __str__(self) -> str:
        return f"{self.type} {text_of(self.tiles)}"


def meld(type_: str, tiles: str | Iterable[int], field: str = "melds") -> Meld:
    """A meld from its type and tiles; raises `MeldError` bad_meld_type, bad_meld."""
    if type_ not in MELD_TYPES:
        raise MeldError(
            "bad_meld_type",
            f"{type_!r} is no kind of meld",
            field=f"{field}.type",
            value=type_,
            hint=", ".join(MELD_TYPES),
        )
    codes = parse(tiles, f"{field}.tiles") if isinstance(tiles, str) else tuple(tiles)
    kinds = [KIND[tile] for tile in codes]
    if not _fits(type_, kinds):
        raise MeldError(
            "bad_meld",
            f"{text_of(codes) or 'nothing'} is no {type_}",
            field=f"{field}.tiles",
            value=text_of(codes),
            hint="a chi is three consecutive tiles of a suit, a pon three alike, a kan four alike",
        )
    kind = min(kinds)
    return Meld(type_, codes, kind, _worth(type_, kind))


def _fits(type_: str, kinds: Sequence[int]) -> bool:
    if type_ == "chi":
        return is_run(kinds)
    return len(kinds) == (3 if type_ == "pon" else 4) and len(set(kinds)) == 1


def set_fu(kind: int, *, concealed: bool, kan: bool) -> int:
    """Fu of a triplet or kan: 2 open, doubled by a terminal or honour, concealed, four times by a kan.

    A49.1.5, M56(2)3-6 (`rules.md` 137-140).
    """
    yaochu = kind >= 27 or kind % 9 in (0, 8)
    return 2 << yaochu << concealed << (2 * kan)


@cache
def _worth(type_: str, kind: int) -> Worth:
    suit, rank = divmod(kind, 9)
    if type_ == "chi":
        simple = 0 if rank in (0, 6) else SIMPLE
        return Worth(suit, 1 << rank, RUN + simple, ONE[rank] + ONE[rank + 1] + ONE[rank + 2])
    ankan = type_ == "ankan"
    fu = set_fu(kind, concealed=ankan, kan=type_ != "pon")
    simple = 0 if suit == 3 or rank in (0, 8) else SIMPLE
    sums = (ANKO if ankan else 0) + simple + fu // 2 * TWO_FU
    return Worth(suit, 1 << TRIPLET_BIT + rank, sums, ONE[rank] * (3 if type_ == "pon" else 4))


def describe(meld_: Meld) -> str:
    """For people: `pon of 5z`, `chi 6m7m8m`."""
    if meld_.type == "chi":
        return f"chi {text_of(meld_.tiles)}"
    return f"{meld_.type} of {NAMES[meld_.kind]}"
