"""From han and fu to points: the base, the limits, and what each payer gives (`rules.md` 1.11)."""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

from tablectl.engine.rules.model import Ruleset

Limit = Literal["mangan", "haneman", "baiman", "sanbaiman", "kazoe_yakuman", "yakuman"]

MANGAN: Final = 2000
"""Base of a mangan; every limit is a multiple of it."""
YAKUMAN: Final = 4 * MANGAN

_LADDER: Final[tuple[tuple[int, int, Limit], ...]] = (
    (11, 3 * MANGAN, "sanbaiman"),
    (8, 2 * MANGAN, "baiman"),
    (6, MANGAN + MANGAN // 2, "haneman"),
    (5, MANGAN, "mangan"),
)
"""From so many han: base and name (M59, J-XI less the two base han, `rules.md` 1.11.1)."""


class Price(NamedTuple):
    """What a hand of some han and fu costs."""

    rank: int
    """Orders prices by payment, then fu; leaves eight bits for the han between."""
    fu: int | None
    limit: Limit | None
    points: int
    """From all payers together, without honba and deposits."""
    payments: tuple[int, ...]
    """As announced: ron one amount, child's tsumo child and dealer, dealer's tsumo one from each."""
    child: int
    """What each child pays on tsumo."""
    dealer: int
    """What the dealer pays on a child's tsumo."""


def base_of(han: int, fu: int, rules: Ruleset) -> tuple[int, Limit | None]:
    """Base points and the limit reached, for `han` with dora and rounded `fu` (M57-M59, J-XI, Y14)."""
    if rules.counted_yakuman and han >= rules.counted_yakuman:
        return YAKUMAN, "kazoe_yakuman"
    for least, base, limit in _LADDER:
        if han >= least:
            return base, limit
    base = fu << han + 2
    if base > MANGAN or (rules.kiriage and base == 1920):
        # 1920 = 4 han 30 fu or 3 han 60 fu, raised by kiriage mangan (`rules.md` 147).
        return MANGAN, "mangan"
    return base, None


def hundreds(points: int) -> int:
    """Rounded up to the next hundred (M58, `rules.md` 144-145)."""
    return -(-points // 100) * 100


def price(base: int, fu: int | None, limit: Limit | None, *, dealer: bool, tsumo: bool) -> Price:
    """The payments for a base: ron 4 (dealer 6) times; tsumo 1 from a child, 2 from or to the dealer."""
    # A real yakuman stands above a counted one of the same price.
    rank = base << 16 | (0xFFFF if limit == "yakuman" else fu or 0)
    if not tsumo:
        total = hundreds(base * (6 if dealer else 4))
        return Price(rank, fu, limit, total, (total,), 0, 0)
    if dealer:
        each = hundreds(2 * base)
        return Price(rank, fu, limit, 3 * each, (each,), each, 0)
    child, from_dealer = hundreds(base), hundreds(2 * base)
    total = 2 * child + from_dealer
    return Price(rank, fu, limit, total, (child, from_dealer), child, from_dealer)
