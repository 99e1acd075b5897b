"""Which tiles complete a hand, and when that counts as tenpai.

What a suit can do is kept by suit key and filled as suits are met; the four suits of a hand are then put
together by one addition. A fifth copy of a tile is a wait of the *shape*; whether a hand that waits only for
such tiles is tenpai is the ruleset's business (`rules.md` 1.13).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from tablectl.engine.rules.model import TenpaiExhausted
from tablectl.engine.scoring.melds import Meld
from tablectl.engine.scoring.suits import PAIRS, Key, copies, tables
from tablectl.engine.tiles import KIND, YAOCHU, kinds_in, mask_of


class _Suit(NamedTuple):
    """What one suit contributes."""

    codes: int
    """Counters to add up over the suits: see the constants below."""
    to_pair: int
    """Ranks that complete it to sets and a pair."""
    to_sets: int
    """Ranks that complete it to sets, where it is not complete now."""
    swap: int
    """Ranks that complete it to sets, where it is sets and a pair now."""
    singles: int
    """Ranks that are there once."""
    present: int
    """Ranks that are there."""


# Counters: the shape in the low bits, seven pairs above, kokushi on top.
_SETS: Final = 1
_PAIRED: Final = 1 << 3
_NEITHER: Final = 1 << 6
_SHAPE: Final = (1 << 9) - 1
_PAIR: Final = 1 << 9
_SINGLE: Final = 1 << 13
_NO_SEVEN: Final = 1 << 18
_SEVEN: Final = (1 << 21) - (1 << 9)
_KIND: Final = 1 << 21
_DOUBLE: Final = 1 << 25
_NO_KOKUSHI: Final = 1 << 28
_KOKUSHI: Final = (1 << 31) - (1 << 21)

_ONE_WAITS: Final = 3 * _SETS + _NEITHER
_BESIDE_A_PAIR: Final = 2 * _SETS + _PAIRED + _NEITHER
_TWO_PAIRS: Final = 2 * _SETS + 2 * _PAIRED
_SIX_PAIRS: Final = 6 * _PAIR + _SINGLE
_THIRTEEN: Final = 13 * _KIND
_TWELVE: Final = 12 * _KIND + _DOUBLE
_ALL_YAOCHU: Final = mask_of(YAOCHU)

_KEPT: Final = 1 << 16
"""Suits remembered; five hundred games know some fifteen thousand."""
_numbers: dict[int, _Suit] = {}
_honours: dict[int, _Suit] = {}


def waits(key: Key) -> int:
    """Kinds that complete 3n+1 concealed tiles to a winning shape, as a bit mask; 0 = none.

    Four sets and a pair, seven different pairs, kokushi (A46, M4). A fifth copy is allowed here.
    """
    man, pin, sou, honours = key
    m = _numbers.get(man) or _look(man, honours=False)
    p = _numbers.get(pin) or _look(pin, honours=False)
    s = _numbers.get(sou) or _look(sou, honours=False)
    z = _honours.get(honours) or _look(honours, honours=True)
    codes = m[0] + p[0] + s[0] + z[0]
    shape = codes & _SHAPE
    if shape == _ONE_WAITS:
        found = m[1] | p[1] << 9 | s[1] << 18 | z[1] << 27
    elif shape == _BESIDE_A_PAIR:
        found = m[2] | p[2] << 9 | s[2] << 18 | z[2] << 27
    elif shape == _TWO_PAIRS:
        found = m[3] | p[3] << 9 | s[3] << 18 | z[3] << 27
    else:
        found = 0
    if codes & _SEVEN == _SIX_PAIRS:
        found |= m[4] | p[4] << 9 | s[4] << 18 | z[4] << 27
    kokushi = codes & _KOKUSHI
    if kokushi == _THIRTEEN:
        found |= _ALL_YAOCHU
    elif kokushi == _TWELVE:
        found |= _ALL_YAOCHU & ~(m[5] | p[5] << 9 | s[5] << 18 | z[5] << 27)
    return found


def wait_kinds(key: Key) -> tuple[int, ...]:
    """The same as kinds, ascending."""
    return kinds_in(waits(key))


def is_tenpai(key: Key, melds: Iterable[Meld], rule: TenpaiExhausted) -> bool:
    """Whether 3n+1 concealed tiles with these melds are tenpai under `tenpai_exhausted_rule`.

    A wait counts unless its four copies lie in the concealed tiles (`concealed`, T26), or in them and the
    own melds (`own_all`, X10 3-11); `shape` asks for no copy at all (M44, J-n21). Tiles elsewhere on the
    table never matter (`rules.md` 160).
    """
    return bool(live_waits(key, melds, rule))


def live_waits(key: Key, melds: Iterable[Meld], rule: TenpaiExhausted) -> int:
    """Of the waits those that make the hand tenpai under the rule, as a bit mask."""
    found = waits(key)
    if not found or rule == "shape":
        return found
    held = [KIND[tile] for meld in melds for tile in meld.tiles] if rule == "own_all" else []
    for kind in kinds_in(found):
        if copies(key, kind) + held.count(kind) > 3:
            found ^= 1 << kind
    return found


# --- filling ------------------------------------------------------------------------------------------


def _look(key: int, *, honours: bool) -> _Suit:
    counts = [key >> 3 * rank & 7 for rank in range(7 if honours else 9)]
    to_pair = to_sets = 0
    for rank, count in enumerate(counts):
        if count > 4:
            continue
        grown = [*counts]
        grown[rank] += 1
        if _is_sets(grown, honours=honours, pair=True):
            to_pair |= 1 << rank
        if _is_sets(grown, honours=honours, pair=False):
            to_sets |= 1 << rank
    is_sets = _is_sets(counts, honours=honours, pair=False)
    is_paired = _is_sets(counts, honours=honours, pair=True)
    ends = range(7) if honours else (0, 8)
    codes = _SETS if is_sets else _PAIRED if is_paired else _NEITHER
    codes += counts.count(2) * _PAIR + min(counts.count(1), 14) * _SINGLE
    codes += _NO_SEVEN if max(counts) > 2 else 0
    codes += sum(counts[rank] > 0 for rank in ends) * _KIND
    codes += min(sum(counts[rank] > 1 for rank in ends), 1) * _DOUBLE
    plain = all(rank in ends for rank, count in enumerate(counts) if count)
    codes += 0 if plain and max(counts) < 3 else _NO_KOKUSHI
    found = _Suit(
        codes,
        to_pair,
        0 if is_paired else to_sets,
        to_sets if is_paired else 0,
        mask_of(rank for rank, count in enumerate(counts) if count == 1),
        mask_of(rank for rank, count in enumerate(counts) if count),
    )
    known = _honours if honours else _numbers
    if len(known) >= _KEPT:
        known.clear()
    known[key] = found
    return found


def _is_sets(counts: list[int], *, honours: bool, pair: bool) -> bool:
    """Whether counts (one of them may be five) are sets, with one pair among them if asked."""
    if sum(counts) % 3 != (2 if pair else 0):
        return False
    if max(counts) < 5:
        key = sum(count << 3 * rank for rank, count in enumerate(counts))
        if honours:
            return key in tables().honours and pair == bool(tables().honours[key][1] >= PAIRS)
        return key in tables().numbers
    if honours:
        # Five of an honour: a triplet and the pair.
        return pair and all(count in (0, 3, 5) for count in counts)
    return _takes_apart(counts, 0, pair=pair)


def _takes_apart(counts: list[int], rank: int, *, pair: bool) -> bool:
    while rank < 9 and not counts[rank]:
        rank += 1
    if rank == 9:
        return not pair
    count = counts[rank]
    for size, ends_pair in ((2, True), (3, False)):
        if count >= size and (pair or not ends_pair):
            rest = [*counts]
            rest[rank] -= size
            if _takes_apart(rest, rank, pair=pair and not ends_pair):
                return True
    if rank < 7 and counts[rank + 1] and counts[rank + 2]:
        rest = [*counts]
        for place in (rank, rank + 1, rank + 2):
            rest[place] -= 1
        return _takes_apart(rest, rank, pair=pair)
    return False
