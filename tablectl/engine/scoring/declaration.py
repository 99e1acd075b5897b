"""What is said: the announcement of a score, and the declarations at a draw (`rules.md` 24-25, 42)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from tablectl.engine.rules.model import Ruleset
from tablectl.engine.scoring.settle import honba_rates

_ROUNDS: Final = (
    "", "ippon-ba", "nihon-ba", "sanbon-ba", "yonhon-ba", "gohon-ba",
    "roppon-ba", "nanahon-ba", "happon-ba", "kyuuhon-ba", "juppon-ba",
)  # fmt: skip


class Announcement(NamedTuple):
    """The amounts of a win as they are spoken, none of them abbreviated (A45.9)."""

    base: tuple[int, ...]
    """Without honba: ron the total, child's tsumo child then dealer (A45.7), dealer's tsumo one amount."""
    totals: tuple[int, ...]
    """With honba."""
    text: str


def announce(payments: Sequence[int], honba: int, ruleset: Ruleset, *, tsumo: bool) -> Announcement:
    """What the winner says for payments without honba (`Win.payments`).

    `base_then_totals`: first without, then with honba (J-IX.3); `totals`: the amounts with honba (A45.9).
    """
    rates = honba_rates(ruleset)
    extra = honba * (rates.tsumo if tsumo else rates.ron)
    base = tuple(payments)
    totals = tuple(amount + extra for amount in base)
    text = _spoken(totals, tsumo=tsumo)
    if extra and ruleset.score_announcement == "base_then_totals":
        counted = _ROUNDS[honba] if honba < len(_ROUNDS) else f"{honba}-honba"
        text = f"{_spoken(base, tsumo=tsumo)} no {counted} wa {text}"
    return Announcement(base, totals, text)


def _spoken(amounts: Sequence[int], *, tsumo: bool) -> str:
    text = ", ".join(map(str, amounts))
    return f"{text} all" if tsumo and len(amounts) == 1 else text


class DrawDeclaration(NamedTuple):
    """Who speaks when at an exhaustive draw."""

    order: tuple[int, ...] | None
    """Seat winds in the order they declare; None where the order is free or nobody is asked."""
    last_says_hai: bool
    """All four are tenpai: the last says "hai", then all hands are checked (A52.7.1)."""


def draw_declaration(ruleset: Ruleset, tenpai: int) -> DrawDeclaration:
    """How `tenpai` players declare at a draw (A52.2, M71)."""
    order = (0, 1, 2, 3) if ruleset.declaration_order == "wind_order" else None
    return DrawDeclaration(order, tenpai == 4 and ruleset.all_tenpai_hai)
