"""What the loop over sets leaves aside: seven pairs, kokushi, one-suit yaku, yakuman, renhou as a mangan."""

from __future__ import annotations

from typing import Final

from tablectl.engine.errors import HandError
from tablectl.engine.rules.model import Ruleset
from tablectl.engine.scoring import yaku as y
from tablectl.engine.scoring.circumstances import UNCLEAR
from tablectl.engine.scoring.compiled import Compiled, Listed, may_be_renhou
from tablectl.engine.scoring.points import Price
from tablectl.engine.scoring.result import NoWin, Win
from tablectl.engine.scoring.situation import WinSituation, five_of_a_kind
from tablectl.engine.scoring.suits import FULL, GREEN_RANKS, ODD_OR_FOUR, ONE
from tablectl.engine.scoring.winners import win_deltas
from tablectl.engine.tiles import KIND, NAMES, YAOCHU, counts_of

_GREEN: Final = (19, 20, 21, 23, 25, 32)
NOT_GREEN: Final = FULL ^ GREEN_RANKS
"""A suit key with one of these bits is no part of ryuuiisou."""
_GATES: Final = 3 * (ONE[0] + ONE[8]) + sum(ONE[1:8])
NINE_GATES: Final[dict[int, int]] = {_GATES + one: rank for rank, one in enumerate(ONE)}
"""Suit keys of 1112345678999 and any tile of the suit → the rank of that tile (Y13, J-n68)."""
_TERMINALS: Final = 7 * (ONE[0] + ONE[8])


def look_closer(situation: WinSituation, rules: Ruleset) -> NoWin | None:
    """What only the ruleset can tell of tiles that look doubtful, the indicators in use among them.

    Raises `HandError` no_red_fives (A2, M1), too_many_red_fives, five_of_a_kind. A tsumo tile that was not
    shown apart may make the win void (A45.5).
    """
    shown = (*used_dora(situation.dora, rules), *used_ura(situation.ura, situation, rules))
    tiles = (*situation.concealed, situation.win_tile, *_meld_tiles(situation), *shown)
    reds = [tile for tile in tiles if tile > 33]
    if reds and not rules.aka:
        raise HandError(
            "no_red_fives",
            f"{NAMES[reds[0]]} is there, but {rules.id} plays without red fives",
            field="concealed",
            value=NAMES[reds[0]],
            hint=f"write {NAMES[KIND[reds[0]]]}",
        )
    if len(set(reds)) < len(reds):
        red = max(reds, key=reds.count)
        raise HandError(
            "too_many_red_fives",
            f"{NAMES[red]} is there {reds.count(red)} times",
            field="concealed",
            value=NAMES[red],
            hint="one red five a suit",
        )
    counts = counts_of(tiles)
    if max(counts) > 4:
        raise five_of_a_kind(counts, "with the indicators")
    if situation.circumstances & UNCLEAR and rules.unclear_tsumo == "no_win":
        return NoWin("unclear_tsumo", situation, rules)
    return None


def used_dora(indicators: tuple[int, ...], rules: Ruleset) -> tuple[int, ...]:
    """Those of the indicators that count: one without kan dora (M16)."""
    return indicators if rules.kan_dora else indicators[:1]


def used_ura(
    indicators: tuple[int, ...], situation: WinSituation, rules: Ruleset
) -> tuple[int, ...]:
    """Those of the ura indicators that count: riichi winners only (A24.7)."""
    if not rules.ura_dora or not situation.riichi:
        return ()
    return indicators if rules.kan_ura_dora else indicators[:1]


def _meld_tiles(situation: WinSituation) -> list[int]:
    return [tile for meld in situation.melds for tile in meld.tiles]


def rare_one_suit(situation: WinSituation, rules: Ruleset) -> int:
    """Ryuuiisou and chuuren of a hand with no more than one suit of numbers (A48, M52)."""
    found = 0
    counts = situation.counts
    green = sum([counts[kind] for kind in _GREEN])
    if green > 13 and green == sum(counts) and (counts[32] or not rules.ryuuiisou_needs_hatsu):
        found = y.RYUUIISOU
    extra = NINE_GATES.get(situation.layout.first)
    if extra is not None:
        found |= y.CHUUREN
        if extra == situation.win_kind % 9:
            found |= y.JUNSEI_CHUUREN
    return found


def other_shape(situation: WinSituation, compiled: Compiled) -> Win | NoWin:
    """Seven different pairs (A48, M4(2)), kokushi, or no win at all."""
    if not situation.melds:
        man, pin, sou, honours = situation.key
        if not (man | pin | sou | honours) & ODD_OR_FOUR:
            return _seven_pairs(situation, compiled)
        if all(situation.counts[kind] for kind in YAOCHU):
            return _kokushi(situation, compiled)
    return NoWin("not_complete", situation, compiled.rules)


def _seven_pairs(situation: WinSituation, compiled: Compiled) -> Win | NoWin:
    rules, layout = compiled.rules, situation.layout
    luck = compiled.luck(layout.circumstances)
    yaku = luck.yaku | y.CHIITOITSU
    numbers = layout.numbers | layout.others
    if not layout.honours and not numbers & _TERMINALS:
        yaku |= y.TANYAO
    elif not numbers & ~_TERMINALS:
        yaku |= y.HONROUTOU
    if not layout.others:
        if not layout.honours:
            yaku |= y.CHINITSU
        elif numbers:
            yaku |= y.HONITSU
        elif rules.tsuuiisou_seven_pairs:
            yaku |= y.TSUUIISOU
    listed = luck.names.get(yaku) or compiled.name(yaku, luck.names)
    if listed[1] < 0:
        price = compiled.yakuman_price(-listed[1], layout.circumstances)
        return yakuman_win(situation, compiled, listed, price)
    dora = sum([layout.counts[kind] for kind in used_dora(layout.dora, rules)])
    ura = sum([layout.counts[kind] for kind in used_ura(layout.ura, situation, rules)])
    han = listed[1] + dora + ura + layout.reds
    return _win(situation, rules, listed[0], (han, dora, ura, layout.reds), luck.pairs_prices[han])


def _kokushi(situation: WinSituation, compiled: Compiled) -> Win:
    luck = compiled.luck(situation.circumstances)
    yaku = luck.yaku | y.KOKUSHI
    if situation.counts[situation.win_kind] == 2:
        yaku |= y.KOKUSHI_13
    listed = compiled.name(yaku, luck.names)
    price = compiled.yakuman_price(-listed[1], situation.circumstances)
    return yakuman_win(situation, compiled, listed, price)


def yakuman_win(situation: WinSituation, compiled: Compiled, listed: Listed, price: Price) -> Win:
    """A win by yakuman: ordinary yaku and dora are ignored (A47.2, M53), liability is not."""
    rules = compiled.rules
    return _win(situation, rules, listed[0], (None, 0, 0, 0), price, -listed[1])


def _win(
    situation: WinSituation,
    rules: Ruleset,
    yaku: tuple[tuple[str, int], ...],
    han: tuple[int | None, int, int, int],
    price: Price,
    yakuman_count: int = 0,
) -> Win:
    deltas = win_deltas(
        situation,
        rules,
        yaku,
        price,
        yakuman_count,
        honba=situation.honba,
        deposits=situation.deposits,
    )
    return Win(yaku, *han, yakuman_count, price, deltas, situation, rules, None)


def with_renhou(situation: WinSituation, result: Win | NoWin, compiled: Compiled) -> Win | NoWin:
    """Renhou as a mangan of its own: added to nothing, the higher of the two (`rules.md` 1.9)."""
    if not may_be_renhou(situation.circumstances):
        return result
    renhou = compiled.renhou_price()
    if isinstance(result, NoWin):
        if result.reason != "no_yaku":
            return result
    elif result.han is None or result.price.rank + (result.han << 8) >= renhou.rank + (5 << 8):
        return result
    rules = compiled.rules
    return _win(situation, rules, (("renhou", 5),), (5, 0, 0, 0), renhou)
