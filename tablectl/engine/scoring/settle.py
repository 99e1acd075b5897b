"""Who pays whom: one win, wins of several players on one tile, the draw (`rules.md` 1.2, 1.3, 1.11, 1.12)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final, NamedTuple

from tablectl.engine.rules.model import Ruleset
from tablectl.engine.scoring.points import Price

Deltas = tuple[int, int, int, int]
"""Points moved, by seat wind E S W N (or by seat, where a function says so)."""

DEPOSIT: Final = 1000
"""A riichi stick (A39.13, M42, J-II.1)."""


class HonbaRates(NamedTuple):
    """What one honba is worth."""

    ron: int
    """From the discarder (A50.2: 300)."""
    tsumo: int
    """From each payer (A50.2: 100)."""


def honba_rates(rules: Ruleset) -> HonbaRates:
    """Zero where the rules count no honba (MU, `rules.md` 16-17)."""
    if not rules.honba_counted:
        return HonbaRates(0, 0)
    return HonbaRates(rules.honba_ron, rules.honba_tsumo)


def ron_deltas(points: int, winner: int, source: int, honba: int, bonus: int) -> Deltas:
    """The discarder pays points and honba (in points); the winner also takes `bonus` off the table."""
    deltas = [0, 0, 0, 0]
    deltas[source] = -points - honba
    deltas[winner] = points + honba + bonus
    return deltas[0], deltas[1], deltas[2], deltas[3]


def tsumo_deltas(price: Price, winner: int, honba: int, bonus: int) -> Deltas:
    """Everybody pays his share and `honba` points; the winner also takes `bonus` off the table."""
    child = price.child + honba
    if winner == 0:
        return 3 * child + bonus, -child, -child, -child
    dealer = price.dealer + honba
    deltas = [-dealer, -child, -child, -child]
    deltas[winner] = dealer + 2 * child + bonus
    return deltas[0], deltas[1], deltas[2], deltas[3]


def added(one: Sequence[int], other: Sequence[int]) -> Deltas:
    """Two settlements together."""
    return one[0] + other[0], one[1] + other[1], one[2] + other[2], one[3] + other[3]


def noten_payments(tenpai: Collection[int], pool: int) -> Deltas:
    """The draw: `pool` points (`noten_pool`) go from the noten to the tenpai players (A52.8, M71, J-IV.3).

    `tenpai` are seats or winds 0-3; nothing moves when nobody or everybody is tenpai.
    """
    ready = len(tenpai)
    if ready in (0, 4):
        return 0, 0, 0, 0
    gain, loss = pool // ready, pool // (4 - ready)
    deltas = [gain if player in tenpai else -loss for player in range(4)]
    return deltas[0], deltas[1], deltas[2], deltas[3]
