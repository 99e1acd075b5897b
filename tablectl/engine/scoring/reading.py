"""The reading of a scored hand: its sets, its pair and the wait it was won on, each with its fu."""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

from tablectl.engine.scoring.melds import set_fu
from tablectl.engine.scoring.result import Win
from tablectl.engine.scoring.scorer import TWO_FU_WAIT, TWO_SIDED
from tablectl.engine.scoring.situation import WinSituation
from tablectl.engine.scoring.suits import ONE, PAIR_BIT, TRIPLET_BIT

Wait = Literal["ryanmen", "shanpon", "kanchan", "penchan", "tanki"]
Form = Literal["run", "minko", "anko", "minkan", "ankan"]


class Group(NamedTuple):
    """A set: its lowest kind, its form, whether it is a meld, and its fu."""

    kind: int
    form: Form
    melded: bool
    fu: int


class Reading(NamedTuple):
    """Four sets, the pair's kind and the wait."""

    groups: tuple[Group, ...]
    pair: int
    wait: Wait


def reading_of(win: Win) -> Reading | None:
    """The reading the score rests on; None for seven pairs, kokushi, yakuman and renhou."""
    if win.splits is None:
        return None
    situation = win.situation
    parts = _suits(situation, win.splits)
    won = next(masks for suit, masks in parts if suit == situation.win_kind // 9)
    wait = _wait(situation.win_kind, won, pinfu="pinfu" in dict(win.yaku))
    groups: list[Group] = []
    pair = 0
    for suit, masks in parts:
        runs, triplets, pairs = _take_apart(situation.key[suit], masks)
        groups += [Group(9 * suit + rank, "run", False, 0) for rank in runs]
        for rank in triplets:
            kind = 9 * suit + rank
            opened = wait == "shanpon" and kind == situation.win_kind and not situation.is_tsumo
            fu = set_fu(kind, concealed=not opened, kan=False)
            groups.append(Group(kind, "minko" if opened else "anko", False, fu))
        for rank in pairs:
            pair = 9 * suit + rank
    for meld in situation.melds:
        if meld.type == "chi":
            groups.append(Group(meld.kind, "run", True, 0))
        else:
            form: Form = "minko" if meld.type == "pon" else "minkan" if meld.is_open else "ankan"
            fu = set_fu(meld.kind, concealed=not meld.is_open, kan=meld.is_kan)
            groups.append(Group(meld.kind, form, True, fu))
    return Reading(tuple(groups), pair, wait)


_ORDERS: Final = ((0, 1, 2), (1, 0, 2), (2, 0, 1))


def _suits(situation: WinSituation, splits: tuple[int, int, int]) -> list[tuple[int, int]]:
    """(suit, masks) in the order man, pin, sou, honours."""
    suits = situation.suit_order
    honours = 0
    key = situation.key[3]
    for rank in range(7):
        count = key >> 3 * rank & 7
        if count:
            honours |= 1 << (PAIR_BIT if count == 2 else TRIPLET_BIT) + rank
    return sorted([*zip(suits, splits, strict=True), (3, honours)])


def _take_apart(key: int, masks: int) -> tuple[list[int], list[int], list[int]]:
    """Ranks of runs (each as often as it is there), triplets and pair."""
    triplets = [rank for rank in range(9) if masks >> TRIPLET_BIT + rank & 1]
    pairs = [rank for rank in range(9) if masks >> PAIR_BIT + rank & 1]
    for rank in triplets:
        key -= 3 * ONE[rank]
    for rank in pairs:
        key -= 2 * ONE[rank]
    runs: list[int] = []
    for rank in range(7):
        for _ in range(key >> 3 * rank & 7):
            runs.append(rank)
            key -= ONE[rank] + ONE[rank + 1] + ONE[rank + 2]
    return runs, triplets, pairs


def _wait(kind: int, masks: int, *, pinfu: bool) -> Wait:
    """The place of the winning tile, chosen as the scorer chooses it."""
    suit, rank = divmod(kind, 9)
    if not pinfu and masks & TWO_FU_WAIT[kind]:
        if masks >> PAIR_BIT + rank & 1:
            return "tanki"
        if suit < 3 and 1 <= rank <= 7 and masks >> rank - 1 & 1:
            return "kanchan"
        return "penchan"
    return "ryanmen" if masks & TWO_SIDED[kind] else "shanpon"
