"""How far a hand is from winning (shanten), and which tiles bring it nearer.

A suit is judged by its *use*: how many of its tiles a winning hand can keep if k sets, with or without the
pair, come from this suit. Tiles to draw = tiles needed − tiles kept. Over all suit keys a few hundred
different uses exist, so they are numbered, and joining two suits is a look-up as well.

Four copies of each kind exist: a hand that could only wait for a fifth is not tenpai here
(`123456789m1111z` is 1-shanten).
"""

from __future__ import annotations

from operator import add
from typing import Final, NamedTuple

from tablectl.engine.scoring.suits import ONE, Key, copies, grown
from tablectl.engine.tiles import KINDS

_SETS: Final = 5
"""0…4 sets."""
_Use = tuple[int, ...]
"""Tiles kept with 0…4 sets, then with 0…4 sets and the pair."""
_NO_USE: Final[_Use] = (0,) * (2 * _SETS)

_uses: Final[list[_Use]] = [_NO_USE]
_number: Final[dict[_Use, int]] = {_NO_USE: 0}


class _Suit(NamedTuple):
    """One suit, ready to be joined with others."""

    use: int
    """The number of its use."""
    codes: int
    """Counters to add up over the suits: the fields below."""


_TILE: Final = 1
_PAIR: Final = 1 << 4
_KIND: Final = 1 << 8
_YAOCHU: Final = 1 << 12
_YAOCHU_PAIR: Final = 1 << 16
_FIELD: Final = 15

_CODES: Final = tuple(n * _TILE + (n > 0) * _KIND + (n > 1) * _PAIR for n in range(5))
"""Of a kind that is there n times."""
_END_CODES: Final = tuple(
    code + (n > 0) * _YAOCHU + (n > 1) * _YAOCHU_PAIR for n, code in enumerate(_CODES)
)
"""Of a terminal or honour."""

_numbers: Final[dict[int, _Suit]] = {}
_honours: Final[dict[int, _Suit]] = {}
_same: Final[dict[_Suit, _Suit]] = {}
"""One object for suits alike: a few hundred stay in the processor's cache."""
_joined: Final[dict[int, int]] = {}
_kept: Final[dict[int, int]] = {}
_WIDTH: Final = 16
"""Bits of a use's number."""


class Acceptance(NamedTuple):
    """The shanten of a hand and the kinds that lower it, as a bit mask."""

    shanten: int
    kinds: int


def shanten(key: Key) -> int:
    """Tiles to exchange until tenpai: -1 complete, 0 tenpai, …, for 3n+1 or 3n+2 concealed tiles.

    Melds are the sets the tiles leave open. Seven pairs and kokushi count with 13 or 14 tiles.
    """
    man, pin, sou, honours = key
    try:
        (m, m_codes), (p, p_codes) = _numbers[man], _numbers[pin]
        (s, s_codes), (z, z_codes) = _numbers[sou], _honours[honours]
    except KeyError:
        m, m_codes = _numbers.get(man) or _look(man, honours=False)
        p, p_codes = _numbers.get(pin) or _look(pin, honours=False)
        s, s_codes = _numbers.get(sou) or _look(sou, honours=False)
        z, z_codes = _honours.get(honours) or _look(honours, honours=True)
    codes = m_codes + p_codes + s_codes + z_codes
    tiles = codes & _FIELD
    sets = tiles // 3
    one, other = m << _WIDTH | p, s << _WIDTH | z
    try:
        left, right = _joined[one], _joined[other]
    except KeyError:
        left, right = _join(one), _join(other)
    whole = (left << _WIDTH | right) << 3 | sets
    kept = _kept.get(whole)
    if kept is None:
        kept = _keep(whole)
    distance = 3 * sets + 1 - kept
    if tiles > 12:
        pairs, kinds = codes >> 4 & _FIELD, codes >> 8 & _FIELD
        seven = 6 - pairs + (7 - kinds if kinds < 7 else 0)
        if seven < distance:
            distance = seven
        thirteen = 13 - (codes >> 12 & _FIELD) - (codes >> 16 > 0)
        if thirteen < distance:
            distance = thirteen
    return distance


def accepted(key: Key) -> Acceptance:
    """Shanten of 3n+1 concealed tiles, and the kinds that lower it (ukeire); a kind held four times is none."""
    now = shanten(key)
    kinds = 0
    for kind in range(KINDS):
        if copies(key, kind) < 4 and shanten(grown(key, kind)) < now:
            kinds |= 1 << kind
    return Acceptance(now, kinds)


def preload(tiles: int = 7) -> None:
    """Judge all suits of up to so many tiles now (some 11,000 for seven, in about 40 ms) rather than as met."""
    for honours, ranks in ((False, 9), (True, 7)):
        table = _honours if honours else _numbers
        keys = [(0, 0)]
        for rank in range(ranks):
            keys = [
                (size + count, key + count * ONE[rank])
                for size, key in keys
                for count in range(min(4, tiles - size) + 1)
            ]
        for _, key in keys:
            if key not in table:
                _look(key, honours=honours)
    suits = {suit.use for suit in _numbers.values()}
    for one in suits:
        for other in suits | {suit.use for suit in _honours.values()}:
            _join(one << _WIDTH | other)


# --- filling ------------------------------------------------------------------------------------------


def _look(key: int, *, honours: bool) -> _Suit:
    codes = 0
    if honours:
        for place in range(0, 21, 3):
            codes += _END_CODES[key >> place & 7]
        suit = _Suit(_use_of(key, _honour_uses, honours=True), codes)
        return _honours.setdefault(key, _same.setdefault(suit, suit))
    for place in range(3, 24, 3):
        codes += _CODES[key >> place & 7]
    codes += _END_CODES[key & 7] + _END_CODES[key >> 24]
    suit = _Suit(_use_of(key, _number_uses, honours=False), codes)
    return _numbers.setdefault(key, _same.setdefault(suit, suit))


_number_uses: Final[dict[int, int]] = {0: 0}
_honour_uses: Final[dict[int, int]] = {0: 0}
_better: Final[dict[tuple[int, int], int]] = {}
_grown: Final[dict[tuple[int, int, int, int], int]] = {}


def _use_of(key: int, known: dict[int, int], *, honours: bool) -> int:
    """Number of the best use of a suit: what its lowest tile may become, and the rest likewise."""
    found = known.get(key)
    if found is not None:
        return found
    rank = 0
    while not key >> 3 * rank & 7:
        rank += 1
    count = key >> 3 * rank & 7
    one = ONE[rank]
    # Leave one aside.
    best = _use_of(key - one, known, honours=honours)
    plans: list[tuple[int, int, int, int]] = []  # (rest, sets, pair, tiles kept)
    pair = min(count, 2)
    if honours:
        # Of four copies one is of no use: a triplet and a pair of one kind would be five.
        if count < 4:
            plans = [(key - count * one, 1, 0, count), (key - pair * one, 0, 1, pair)]
    else:
        run, kept = _take_run(key, rank)
        plans = [(run, 1, 0, kept)]
        if count < 4:
            plans += [(key - count * one, 1, 0, count), (key - pair * one, 0, 1, pair)]
        else:
            # A triplet and a pair of one kind would be five: the others of the four are in runs.
            rest, kept = _take_run(key - 3 * one, rank)
            plans.append((rest, 2, 0, 3 + kept))
            rest, kept = _take_run(key - 2 * one, rank)
            rest, more = _take_run(rest, rank)
            plans.append((rest, 2, 1, 2 + kept + more))
    for rest, sets, with_pair, kept in plans:
        use = _grow(_use_of(rest, known, honours=honours), sets, with_pair, kept)
        best = _better_of(best, use)
    known[key] = best
    return best


def _take_run(key: int, rank: int) -> tuple[int, int]:
    """The key less the tiles it can give to a run around the lowest rank, and how many they are."""
    kept = 0
    first = min(rank, 6)
    for place in range(first, first + 3):
        if key >> 3 * place & 7:
            key -= ONE[place]
            kept += 1
    return key, kept


def _grow(use: int, sets: int, pair: int, kept: int) -> int:
    """A use with some sets and perhaps the pair more, which keep so many tiles."""
    wanted = (use, sets, pair, kept)
    found = _grown.get(wanted)
    if found is None:
        old = _uses[use]
        found = _grown[wanted] = _number_of(
            tuple(
                old[(paired - pair) * _SETS + total - sets] + kept
                if total >= sets and paired >= pair
                else 0
                for paired in (0, 1)
                for total in range(_SETS)
            )
        )
    return found


def _better_of(one: int, other: int) -> int:
    if one == other:
        return one
    found = _better.get((one, other))
    if found is None:
        found = _number_of(tuple(map(max, _uses[one], _uses[other])))
        _better[one, other] = found
    return found


def _number_of(use: _Use) -> int:
    found = _number.get(use)
    if found is None:
        found = _number[use] = len(_uses)
        _uses.append(use)
    return found


def _join(two_uses: int) -> int:
    """The use of two suits together: sets and pair shared out in the best way."""
    a, b, c, d, e, a2, b2, c2, d2, e2 = _uses[two_uses >> _WIDTH]
    v, w, x, y, z, v2, w2, x2, y2, z2 = _uses[two_uses & (1 << _WIDTH) - 1]
    found = _joined[two_uses] = _number_of(
        (
            a + v,
            max(a + w, b + v),
            max(a + x, b + w, c + v),
            max(a + y, b + x, c + w, d + v),
            max(a + z, b + y, c + x, d + w, e + v),
            max(a + v2, a2 + v),
            max(a + w2, b + v2, a2 + w, b2 + v),
            max(a + x2, b + w2, c + v2, a2 + x, b2 + w, c2 + v),
            max(a + y2, b + x2, c + w2, d + v2, a2 + y, b2 + x, c2 + w, d2 + v),
            max(a + z2, b + y2, c + x2, d + w2, e + v2, a2 + z, b2 + y, c2 + x, d2 + w, e2 + v),
        )
    )
    return found


def _keep(whole: int) -> int:
    """Tiles kept by two halves of a hand with so many sets and the pair."""
    uses, sets = whole >> 3, whole & 7
    one, other = _uses[uses >> _WIDTH], _uses[uses & (1 << _WIDTH) - 1]
    end = _SETS + sets + 1
    found: int = max(
        *map(add, one[: sets + 1], other[_SETS:end][::-1]),
        *map(add, one[_SETS:end], other[: sets + 1][::-1]),
    )
    _kept[whole] = found
    return found
