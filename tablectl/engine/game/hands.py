"""What a hand is worth knowing: waits, tenpai, furiten, kuikae, the kan after riichi.

Everything here answers from known tiles; where a hand has unknown tiles the answer is None or the
lenient one, and the caller says so.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from tablectl.engine.game.events import Hand
from tablectl.engine.game.state import PACKED, Meld, Seat
from tablectl.engine.rules.model import Ruleset, TenpaiExhausted
from tablectl.engine.scoring.kuikae import forbidden_discards
from tablectl.engine.scoring.melds import Meld as ScoringMeld
from tablectl.engine.scoring.melds import meld
from tablectl.engine.scoring.riichi_ankan import riichi_ankan_allowed
from tablectl.engine.scoring.suits import Key
from tablectl.engine.scoring.waits import live_waits
from tablectl.engine.scoring.waits import waits as shape_waits
from tablectl.engine.tiles import KIND, YAOCHU

ALL_YAOCHU = frozenset(YAOCHU)
_CACHED_HANDS = 1 << 15


_SUIT = (1 << 27) - 1
_known_waits: dict[int, int] = {}


def _suits(key: int) -> Key:
    return key & _SUIT, key >> 27 & _SUIT, key >> 54 & _SUIT, key >> 81


def _waits_of(key: int) -> int:
    """Waits of a hand by its packed key; a drawn tile thrown away again needs no second look."""
    found = _known_waits.get(key)
    if found is None:
        if len(_known_waits) >= _CACHED_HANDS:
            _known_waits.clear()
        found = _known_waits[key] = shape_waits(_suits(key))
    return found


def packed(hand: Iterable[int]) -> int:
    """The key of known tiles, as `Seat.key` holds it."""
    return sum([PACKED[tile] for tile in hand])


@lru_cache(maxsize=1 << 12)
def scoring_melds(melds: tuple[Meld, ...]) -> tuple[ScoringMeld, ...]:
    """The melds as scoring takes them."""
    return tuple(meld(one.kind, one.tiles) for one in melds)


def waits(seat: Seat) -> int | None:
    """Kinds that complete the concealed tiles, as a bit mask; None while a tile is unknown or 14 are held."""
    if seat.unknown or len(seat.hand) % 3 != 1:
        return None
    found = seat.waits_cache
    if found is None:
        found = seat.waits_cache = _waits_of(seat.key)
    return found


def completes(seat: Seat, tile: int, *, tsumo: bool) -> bool:
    """Whether `tile` (held already, for a tsumo) completes the known hand to a winning shape."""
    mask = _waits_of(seat.key - PACKED[tile]) if tsumo else waits(seat) or 0
    return bool(mask >> KIND[tile] & 1)


def tenpai(rules: Ruleset, seat: Seat) -> bool | None:
    """Whether the hand counts as tenpai (1.13); None while a tile is unknown. A drawn tile counts as absent."""
    if seat.unknown:
        return None
    hand = seat.hand
    if len(hand) % 3 != 1:
        return None
    if not waits(seat):
        return False
    return is_tenpai(rules, hand, seat.melds)


def is_tenpai(rules: Ruleset, hand: Hand, melds: tuple[Meld, ...]) -> bool:
    """Whether 3n+1 known tiles with these melds are tenpai under the ruleset."""
    key = packed(hand)
    if not _waits_of(key):
        return False
    return bool(live_waits(_suits(key), scoring_melds(melds), rules.tenpai_exhausted_rule))


def tenpai_discards(rules: Ruleset, seat: Seat) -> frozenset[int]:
    """Kinds whose discard leaves a hand of 3n+2 known tiles tenpai."""
    return _tenpai_discards(rules.tenpai_exhausted_rule, seat.key, seat.melds)


@lru_cache(maxsize=1 << 12)
def _tenpai_discards(rule: TenpaiExhausted, key: int, melds: tuple[Meld, ...]) -> frozenset[int]:
    found = set()
    for kind in range(34):
        one = PACKED[kind]
        if key // one & 7:
            rest = key - one
            if _waits_of(rest) and live_waits(_suits(rest), scoring_melds(melds), rule):
                found.add(kind)
    return frozenset(found)


# ---- furiten ----------------------------------------------------------------------------------------


def river_mask(seat: Seat) -> int:
    """Kinds in the own river, called-away tiles included (row 102); a kakan tile is no discard."""
    mask = 0
    for tile in seat.river:
        if tile.tile is not None:
            mask |= 1 << KIND[tile.tile]
    return mask


def furiten(seat: Seat) -> bool:
    """No ron: a wait lies in the own river, or a completing tile was let pass (rows 102–109)."""
    if seat.missed:
        return True
    mask = waits(seat)
    return bool(mask and mask & river_mask(seat))


def furiten_after(seat: Seat, kind: int) -> bool:
    """Whether riichi with a discard of `kind` would be in furiten."""
    mask = _waits_of(seat.key - PACKED[kind])
    return bool(mask & (river_mask(seat) | 1 << kind))


def robs_ankan(seat: Seat, kind: int) -> bool:
    """Whether `kind` completes kokushi: the one hand that robs an ankan, where the ruleset lets it."""
    if seat.melds or kind not in ALL_YAOCHU or seat.unknown:
        return False
    kinds = {KIND[tile] for tile in seat.hand}
    return kinds <= ALL_YAOCHU and kinds | {kind} == ALL_YAOCHU


def nine_kinds(hand: Iterable[int]) -> int:
    """How many kinds of terminals and honours a hand holds (kyuushu kyuuhai)."""
    return len({KIND[tile] for tile in hand} & ALL_YAOCHU)


# ---- after a call, after riichi -----------------------------------------------------------------------


def kuikae(rules: Ruleset, tile: int, hand_tiles: Hand) -> tuple[int, ...]:
    """Kinds that must not be discarded right after a chi or pon (row 48)."""
    return tuple(sorted(forbidden_discards(tile, hand_tiles, rules.kuikae)))


def ankan_keeps(rules: Ruleset, seat: Seat, drawn: int) -> bool:
    """Whether an ankan of the drawn tile keeps what the ruleset wants kept after riichi (row 83)."""
    return riichi_ankan_allowed(_suits(seat.key - PACKED[drawn]), drawn, rules.riichi_ankan)
