"""A plain, sensible player for self-play: goes for speed, knows its yaku, folds before a riichi.

Sees its own hand and what lies open, nothing else. Every choice is one of the legal commands.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence

from tablectl.engine.game import commands as cmd
from tablectl.engine.game.commands import Command
from tablectl.engine.game.state import GameState
from tablectl.engine.scoring import accepted, key_of, shanten
from tablectl.engine.tiles import DORA, HAKU, KIND, YAOCHU

RIICHI_SHARE = 0.9
"""Of the chances to riichi taken; the rest stays silent (dama)."""
KYUUSHU_SHARE = 0.7
FOLD_FROM = 2
"""Shanten from which a hand is given up against a riichi."""
_SIMPLES = frozenset(range(34)) - frozenset(YAOCHU)


class Player:
    """One seat's choices."""

    def __init__(self, seat: int, rng: random.Random) -> None:
        self._seat = seat
        self._rng = rng

    def own_turn(self, state: GameState, options: Sequence[Command]) -> Command:
        """With a tile in hand: win, abort, riichi, kan or discard."""
        for option in options:
            if isinstance(option, cmd.Win):
                return option
            if isinstance(option, cmd.KyuushuKyuuhai) and self._rng.random() < KYUUSHU_SHARE:
                return option
        for option in options:
            if isinstance(option, cmd.Ankan | cmd.Kakan) and self._kan_is_good(state, option):
                return option
            if isinstance(option, cmd.DeclareRiichi) and self._riichi_is_good(state):
                return option
        return self.discard(state, [o for o in options if isinstance(o, cmd.Discard)])

    def discard(self, state: GameState, options: Sequence[cmd.Discard]) -> cmd.Discard:
        """The discard that keeps the hand fastest, or the safest one when folding."""
        hand = state.seats[self._seat].hand
        threats = [seat for seat in range(4) if seat != self._seat and state.seats[seat].riichi]
        left = _unseen(state, self._seat)
        if threats and shanten(key_of(hand)) >= FOLD_FROM:
            return max(options, key=lambda option: self._safety(state, option, threats, left))
        return max(options, key=lambda option: self._speed(state, option, left))

    def claim(self, state: GameState, options: Sequence[Command]) -> Command | None:
        """On another's discard or kan: ron, or a call that brings an open hand nearer, or nothing."""
        for option in options:
            if isinstance(option, cmd.Win):
                return option
        if any(state.seats[seat].riichi for seat in range(4) if seat != self._seat):
            return None
        hand = state.seats[self._seat].hand
        before = shanten(key_of(hand))
        best: tuple[int, Command] | None = None
        for option in options:
            if not isinstance(option, cmd.Chi | cmd.Pon | cmd.Daiminkan):
                continue
            rest = _without(hand, option.hand_tiles)
            gain = before - _after_discard(rest, size=len(option.hand_tiles))
            if (
                gain > 0
                and self._has_a_yaku(state, option, rest)
                and (best is None or gain > best[0])
            ):
                best = (gain, option)
        return best[1] if best else None

    # ---- judgement ----------------------------------------------------------------------------------

    def _speed(
        self, state: GameState, option: cmd.Discard, left: Counter[int]
    ) -> tuple[float, ...]:
        assert option.tile is not None
        rest = _without(state.seats[self._seat].hand, (option.tile,))
        distance, kinds = accepted(key_of(rest))
        wide = sum(left[kind] for kind in range(34) if kinds >> kind & 1)
        kind = KIND[option.tile]
        worth = (option.tile > 33) + sum(
            DORA[tile] == kind for tile in state.dora if tile is not None
        )
        lonely = kind in YAOCHU and not self._is_value(state, kind)
        return (-distance, wide, -worth, lonely, self._rng.random())

    def _safety(
        self, state: GameState, option: cmd.Discard, threats: list[int], left: Counter[int]
    ) -> tuple[float, ...]:
        assert option.tile is not None
        kind = KIND[option.tile]
        safe = sum(
            any(one.tile is not None and KIND[one.tile] == kind for one in state.seats[seat].river)
            for seat in threats
        )
        honour = kind >= 27
        return (safe, honour * (3 - left[kind]), kind in YAOCHU, *self._speed(state, option, left))

    def _riichi_is_good(self, state: GameState) -> bool:
        """Tenpai after some discard (some rules let a noten hand declare), and something to wait for."""
        hand = state.seats[self._seat].hand
        left = _unseen(state, self._seat)
        for tile in set(hand):
            distance, kinds = accepted(key_of(_without(hand, (tile,))))
            if distance == 0 and any(left[kind] for kind in range(34) if kinds >> kind & 1):
                return self._rng.random() < RIICHI_SHARE
        return False

    def _kan_is_good(self, state: GameState, option: cmd.Ankan | cmd.Kakan) -> bool:
        hand = state.seats[self._seat].hand
        if any(state.seats[seat].riichi for seat in range(4) if seat != self._seat):
            return False
        used = option.tiles if isinstance(option, cmd.Ankan) else (option.tile,)
        rest = _without(hand, used)
        best = min(shanten(key_of(_without(hand, (tile,)))) for tile in set(hand))
        return shanten(key_of(rest)) <= best

    def _has_a_yaku(
        self, state: GameState, option: cmd.Chi | cmd.Pon | cmd.Daiminkan, rest: tuple[int, ...]
    ) -> bool:
        """Whether the hand will be worth something when open: a value triplet, or tanyao."""
        seat = state.seats[self._seat]
        groups = [tuple(KIND[tile] for tile in meld.tiles) for meld in seat.melds]
        groups.append((KIND[option.tile], *(KIND[tile] for tile in option.hand_tiles)))
        kept = Counter(KIND[tile] for tile in rest)
        if any(len(set(group)) == 1 and self._is_value(state, group[0]) for group in groups):
            return True
        if any(count >= 3 and self._is_value(state, kind) for kind, count in kept.items()):
            return True
        if not state.rules.kuitan:
            return False
        outside = sum(count for kind, count in kept.items() if kind not in _SIMPLES)
        return outside <= 1 and all(kind in _SIMPLES for group in groups for kind in group)

    def _is_value(self, state: GameState, kind: int) -> bool:
        return kind >= HAKU or kind in (27 + state.wind(self._seat), 27 + state.round_wind)


def _without(hand: Sequence[int], used: Sequence[int]) -> tuple[int, ...]:
    rest = list(hand)
    for tile in used:
        rest.remove(tile)
    return tuple(rest)


def _after_discard(rest: tuple[int, ...], *, size: int) -> int:
    """Shanten after a call: a daiminkan draws before it discards, chi and pon discard at once."""
    if size == 3:
        return shanten(key_of(rest))
    return min(shanten(key_of(_without(rest, (tile,)))) for tile in set(rest))


def _unseen(state: GameState, seat: int) -> Counter[int]:
    """How many of each kind are neither in the own hand nor open on the table."""
    left = Counter(dict.fromkeys(range(34), 4))
    left.subtract(KIND[tile] for tile in state.seats[seat].hand)
    for other in state.seats:
        left.subtract(KIND[t] for meld in other.melds for t in meld.tiles)
        left.subtract(
            KIND[one.tile] for one in other.river if one.tile is not None and one.called_by is None
        )
    left.subtract(KIND[tile] for tile in state.dora if tile is not None)
    return left
