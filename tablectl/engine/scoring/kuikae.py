"""Swap-calling: what must not be discarded right after a chi or pon (`rules.md` 1.4, A40.6, J-I.11-12, T4)."""

from __future__ import annotations

from collections.abc import Sequence

from tablectl.engine.rules.model import Kuikae
from tablectl.engine.tiles import KIND


def forbidden_discards(called: int, shown: Sequence[int], rule: Kuikae) -> frozenset[int]:
    """Kinds that may not follow a call of tile `called` with the two tiles `shown` from the hand.

    `same_tile`: the called kind. `set`: also the other end of an open-ended pair (34 calls 2: 2 and 5; a
    closed wait has no other end). A red five and a plain five are one kind. `allowed`: none.
    """
    if rule == "allowed":
        return frozenset()
    kind = KIND[called]
    low, high = sorted(KIND[tile] for tile in shown)
    forbidden = {kind}
    if rule == "set" and high == low + 1:
        other = high + 1 if kind == low - 1 else low - 1
        if other // 9 == kind // 9 and other >= 0:
            forbidden.add(other)
    return frozenset(forbidden)


def leaves_a_discard(hand: Sequence[int], called: int, shown: Sequence[int], rule: Kuikae) -> bool:
    """Whether the hand, `shown` still in it, has something to discard after the call.

    A call that leaves nothing is not allowed.
    """
    rest = list(hand)
    for tile in shown:
        rest.remove(tile)
    forbidden = forbidden_discards(called, shown, rule)
    return any(KIND[tile] not in forbidden for tile in rest)
