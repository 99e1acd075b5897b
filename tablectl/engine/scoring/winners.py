"""Who takes what of a win, and of several wins on one tile (`rules.md` 1.3: rows 35, 37)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from tablectl.engine.errors import SituationError
from tablectl.engine.rules.model import Ruleset
from tablectl.engine.scoring.pao import pao_deltas
from tablectl.engine.scoring.points import Price
from tablectl.engine.scoring.result import Win
from tablectl.engine.scoring.settle import (
    DEPOSIT,
    Deltas,
    added,
    honba_rates,
    ron_deltas,
    tsumo_deltas,
)
from tablectl.engine.scoring.situation import WinSituation


class Settlement(NamedTuple):
    """Wins in the order they are paid, each with its own deltas, and all of them together."""

    wins: tuple[Win, ...]
    each: tuple[Deltas, ...]
    deltas: Deltas


def win_deltas(
    situation: WinSituation,
    rules: Ruleset,
    yaku: Sequence[tuple[str, int]],
    price: Price,
    yakuman_count: int,
    *,
    honba: int,
    deposits: int,
) -> Deltas:
    """One win with this much honba and this many deposits, liability included."""
    seat, source, bonus = situation.seat_wind, situation.source, deposits * DEPOSIT
    if yakuman_count and situation.pao:
        found = pao_deltas(
            {name: han // 13 for name, han in yaku},
            yakuman_count,
            situation.pao,
            rules,
            winner=seat,
            source=source,
            honba=honba,
            bonus=bonus,
        )
        if found is not None:
            return found
    rates = honba_rates(rules)
    if source is None:
        return tsumo_deltas(price, seat, honba * rates.tsumo, bonus)
    return ron_deltas(price.points, seat, source, honba * rates.ron, bonus)


def settle_ron(wins: Sequence[Win], ruleset: Ruleset) -> Settlement:
    """Several ron on one tile: who is paid, in order of play from the discarder.

    Head bump pays the nearest only (A45.4, M65, J-VIII.1); otherwise all are paid, deposits go to the nearest,
    honba to the nearest (T22) or to each (X13). Whether three ron abort the hand is decided before. Raises
    `SituationError` not_one_tile when the wins are not ron of different players on one discard.
    """
    sources = {win.situation.source for win in wins}
    tiles = {win.situation.win_kind for win in wins}
    seats = {win.situation.seat_wind for win in wins}
    source = next(iter(sources), None)
    if source is None or len(sources) != 1 or len(tiles) != 1 or len(seats) != len(wins):
        raise SituationError(
            "not_one_tile", "these are not ron of different players on one discard", field="wins"
        )
    order = sorted(wins, key=lambda win: (win.situation.seat_wind - source) % 4)
    if ruleset.multi_ron == "head_bump":
        order = order[:1]
    each = []
    total: Deltas = (0, 0, 0, 0)
    for place, win in enumerate(order):
        nearest = place == 0
        situation = win.situation
        deltas = win_deltas(
            situation,
            ruleset,
            win.yaku,
            win.price,
            win.yakuman_count,
            honba=situation.honba if nearest or ruleset.multi_ron_honba == "each" else 0,
            deposits=situation.deposits if nearest else 0,
        )
        each.append(deltas)
        total = added(total, deltas)
    return Settlement(tuple(order), tuple(each), total)
