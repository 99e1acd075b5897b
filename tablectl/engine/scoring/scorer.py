"""Scoring a hand: every split of its suits, every place of the winning tile, the best of them.

The loop below is all of it. Suits are looked up, their sums added and their masks joined, and four table
look-ups turn that into yaku, han and price. Which place the winning tile takes needs no search: where
pinfu can be had it is never worth less than two fu of a wait, a wait of two fu never less than none, and a
triplet completed by ron never more than the same triplet completed by nothing (A47.3, M60: the highest
value is mandatory).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from tablectl.engine.rules.model import Ruleset
from tablectl.engine.scoring.compiled import Compiled, Listed
from tablectl.engine.scoring.points import Price
from tablectl.engine.scoring.result import NoWin, Win
from tablectl.engine.scoring.settle import DEPOSIT, honba_rates, ron_deltas, tsumo_deltas
from tablectl.engine.scoring.situation import WinSituation
from tablectl.engine.scoring.special import (
    NINE_GATES,
    NOT_GREEN,
    look_closer,
    other_shape,
    rare_one_suit,
    with_renhou,
    yakuman_win,
)
from tablectl.engine.scoring.suits import (
    ANKO,
    FOUR_RUNS,
    ITTSU_BIT,
    PAIR_BIT,
    PAIR_MASK,
    PAIRS,
    RUNS_FIELD,
    RUNS_MASK,
    SETS_MASK,
    SHAPE_BITS,
    SHAPE_MASK,
    STRAIGHT,
    TWO_FU,
    tables,
)
from tablectl.engine.scoring.yaku import (
    CHINITSU,
    HONITSU,
    IPPATSU,
    ITTSU,
    PINFU,
    SANSHOKU_DOUJUN,
    SANSHOKU_DOUKOU,
    SUUANKOU,
    SUUANKOU_TANKI,
    TSUUIISOU,
)
from tablectl.engine.tiles import KINDS

Scorer = Callable[[WinSituation], Win | NoWin]

_scorers: dict[int, tuple[Ruleset, Scorer]] = {}
_KEPT: Final = 64
"""House rules may be read again and again; no more scorers than this are kept."""
_NEVER: Final = 1 << 30
_NOTHING: Final[Listed] = ((), 0)

# By kind of the winning tile: groups a win on it completes at two fu (kanchan, penchan, tanki: A49.1.4),
# groups it completes as a two-sided wait, and what a triplet loses that a ron completes (M56, Y7).
_SUIT_RANK: Final = [divmod(kind, 9) for kind in range(KINDS)]
TWO_FU_WAIT: Final[tuple[int, ...]] = tuple(
    1 << PAIR_BIT + rank
    | (1 << rank - 1 if suit < 3 and 1 <= rank <= 7 else 0)
    | (1 if suit < 3 and rank == 2 else 0)
    | (1 << 6 if suit < 3 and rank == 6 else 0)
    for suit, rank in _SUIT_RANK
)
TWO_SIDED: Final[tuple[int, ...]] = tuple(
    (1 << rank if suit < 3 and rank <= 5 else 0) | (1 << rank - 2 if suit < 3 and rank >= 3 else 0)
    for suit, rank in _SUIT_RANK
)
OPENED: Final[tuple[int, ...]] = tuple(
    ANKO + (TWO_FU if suit < 3 and 1 <= rank <= 7 else 2 * TWO_FU) for suit, rank in _SUIT_RANK
)


def score(situation: WinSituation, ruleset: Ruleset) -> Win | NoWin:
    """The win under a ruleset, or why it is none; raises `HandError` for tiles the rules do not have."""
    return scorer(ruleset)(situation)


def scorer(ruleset: Ruleset) -> Scorer:
    """The ruleset as a function from a win's facts to its score; made once a ruleset."""
    kept = _scorers.get(id(ruleset))
    if kept is not None and kept[0] is ruleset:
        return kept[1]
    made = _make(ruleset)
    if len(_scorers) >= _KEPT:
        _scorers.clear()
    _scorers[id(ruleset)] = ruleset, made
    return made


def _make(rules: Ruleset) -> Scorer:
    compiled = Compiled(rules)
    plain = _plain_scorer(compiled)
    if rules.renhou != "mangan":
        return plain
    return lambda situation: with_renhou(situation, plain(situation), compiled)


def _plain_scorer(compiled: Compiled) -> Scorer:  # noqa: C901 - see the loop
    rules = compiled.rules
    numbers_table, honours_table = tables()
    lucks, luck_of = compiled.lucks, compiled.luck
    honours_seen, honours_at, name = compiled.honours, compiled.honours_at, compiled.name
    two_fu_wait, two_sided_wait, opened = TWO_FU_WAIT, TWO_SIDED, OPENED
    all_dora, all_ura = rules.kan_dora, rules.kan_ura_dora
    no_reds = not rules.aka
    two_han = rules.two_han_from_honba or _NEVER
    honba_ron, honba_tsumo = honba_rates(rules)
    new = tuple.__new__

    def score_one(situation: WinSituation) -> Win | NoWin:  # noqa: C901 - hot, so in one piece
        (
            bits, first, second, third, honours, kind, numbers, others, meld_sums, meld_masks, yaku, winds,
            counts, dora_kinds, ura_kinds, reds, doubtful, has_red, seat, source, honba, deposits,
        ) = situation.layout  # fmt: skip
        if doubtful or (no_reds and has_red):
            refused = look_closer(situation, rules)
            if refused is not None:
                return refused
        try:
            first_splits, second_splits = numbers_table[first], numbers_table[second]
            third_splits, (honour_masks, honour_sums) = numbers_table[third], honours_table[honours]
        except KeyError:
            return other_shape(situation, compiled)
        try:
            luck = lucks[bits]
        except KeyError:
            luck = luck_of(bits)
        lucky, sums, pinfu, wait, ron, counts_ura, prices, shapes, names, _ = luck
        yaku |= lucky
        sums += honour_sums + meld_sums
        honour_won = honour_masks if kind > 26 else 0
        if meld_masks:
            meld_first, meld_second, meld_third, meld_honours = meld_masks
            honour_masks |= meld_honours
        if honour_masks:
            try:
                honour_yaku, pair_fu = honours_seen[winds][honour_masks]
            except KeyError:
                honour_yaku, pair_fu = honours_at(winds, honour_masks)
            yaku |= honour_yaku
            if pair_fu:
                sums += pair_fu
                pinfu = None
            shape_yaku = shapes[1]
            if not others:
                yaku |= HONITSU if numbers else TSUUIISOU
        else:
            shape_yaku = shapes[0]
            if not others:
                yaku |= CHINITSU
        if not others and (not numbers & NOT_GREEN or first in NINE_GATES):
            yaku |= rare_one_suit(situation, rules)
        dora = ura = 0
        for one in dora_kinds if all_dora else dora_kinds[:1]:
            dora += counts[one]
        if counts_ura:
            for one in ura_kinds if all_ura else ura_kinds[:1]:
                ura += counts[one]
        extra = dora + ura + reds
        least = 1 if honba < two_han else 3 if yaku & IPPATSU else 2
        two_fu, two_sided = two_fu_wait[kind], two_sided_wait[kind]
        best: Price | None = None
        best_yaku = _NOTHING
        best_han = best_total = 0
        splits = (0, 0, 0)
        for first_masks, first_sums in first_splits:
            won = honour_won or first_masks
            for second_masks, second_sums in second_splits:
                for third_masks, third_sums in third_splits:
                    found = yaku
                    total = sums + first_sums + second_sums + third_sums
                    if total >= PAIRS:  # a pair in each of the four suits
                        return other_shape(situation, compiled)
                    if pinfu is not None and won & two_sided and total & RUNS_FIELD == FOUR_RUNS:
                        found |= PINFU
                        total += pinfu
                    elif won & two_fu:
                        total += wait
                    elif ron and not won & two_sided:
                        total -= opened[kind]
                    found |= shape_yaku[total & SHAPE_MASK]
                    if meld_masks:
                        in_first = first_masks | meld_first
                        in_second = second_masks | meld_second
                        in_third = third_masks | meld_third
                        alike = in_first & in_second & in_third & SETS_MASK
                        if (
                            in_first & STRAIGHT == STRAIGHT
                            or in_second & STRAIGHT == STRAIGHT
                            or in_third & STRAIGHT == STRAIGHT
                        ):
                            found |= ITTSU
                    else:
                        alike = first_masks & second_masks & third_masks & SETS_MASK
                        if (first_masks | second_masks | third_masks) & ITTSU_BIT:
                            found |= ITTSU
                    if alike:
                        found |= SANSHOKU_DOUJUN if alike & RUNS_MASK else SANSHOKU_DOUKOU
                    try:
                        listed = names[found]
                    except KeyError:
                        listed = name(found, names)
                    han = listed[1]
                    if han < least:
                        if han >= 0:
                            continue
                        if found & SUUANKOU and won & two_fu & PAIR_MASK:
                            listed = name(found | SUUANKOU_TANKI, names)
                        cost = compiled.yakuman_price(-listed[1], bits)
                        han = listed[1]
                    else:
                        cost = prices[han + extra][total >> SHAPE_BITS]
                    if best is None or (cost.rank + (han << 8), total) > (
                        best.rank + (best_han << 8),
                        best_total,
                    ):
                        best, best_yaku, best_han, best_total = cost, listed, han, total
                        splits = first_masks, second_masks, third_masks
        if best is None:
            return NoWin("no_yaku", situation, rules)
        if best_han < 0:
            return yakuman_win(situation, compiled, best_yaku, best)
        if source is None:
            deltas = tsumo_deltas(best, seat, honba * honba_tsumo, DEPOSIT * deposits)
        else:
            deltas = ron_deltas(best[3], seat, source, honba * honba_ron, DEPOSIT * deposits)
        return new(
            Win,
            (
                best_yaku[0],
                best_han + extra,
                dora,
                ura,
                reds,
                0,
                best,
                deltas,
                situation,
                rules,
                splits,
            ),
        )

    return score_one
