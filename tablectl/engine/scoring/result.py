"""What scoring gives: a `Win` or a `NoWin`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from tablectl.engine.rules.model import Ruleset
from tablectl.engine.scoring.points import Limit, Price
from tablectl.engine.scoring.situation import WinSituation

if TYPE_CHECKING:
    from tablectl.engine.scoring.explain import Step

Deltas = tuple[int, int, int, int]
"""Points moved, by seat wind E S W N."""

Reason = Literal["not_complete", "no_yaku", "unclear_tsumo"]


class Win(NamedTuple):
    """A valid win under one ruleset."""

    yaku: tuple[tuple[str, int], ...]
    """(id, han) in the customary order, dora not among them; with yakuman (id, 13 each)."""
    han: int | None
    """With dora; None with yakuman, 5 with renhou as mangan."""
    dora: int
    ura_dora: int
    red_dora: int
    yakuman_count: int
    """How many yakuman are paid; 0 for a counted one."""
    price: Price
    deltas: Deltas
    """Honba, deposits and liability included."""
    situation: WinSituation
    ruleset: Ruleset
    splits: tuple[int, int, int] | None
    """Masks (`suits`) of the reading's three suits as in `Layout`; None for other shapes and yakuman."""

    @property
    def valid(self) -> Literal[True]:
        """Whether it is a win."""
        return True

    @property
    def fu(self) -> int | None:
        """Rounded fu; None with yakuman and renhou."""
        return self.price.fu

    @property
    def limit(self) -> Limit | None:
        """The limit reached, if any."""
        return self.price.limit

    @property
    def points(self) -> int:
        """The hand's value from all payers, without honba and deposits."""
        return self.price.points

    @property
    def payments(self) -> tuple[int, ...]:
        """As announced, without honba: ron (8000,), child tsumo (2000, 4000), dealer tsumo (4000,)."""
        return self.price.payments

    def __repr__(self) -> str:
        yaku = " ".join(name for name, _ in self.yaku)
        return f"<Win {yaku}: {self.han} han {self.fu} fu, {self.payments}, {self.ruleset.id}>"

    def explain(self) -> list[Step]:
        """Each step of yaku, fu and points with the article it rests on; worked out when asked."""
        from tablectl.engine.scoring.explain import explain

        return explain(self)


class NoWin(NamedTuple):
    """Tiles that are no win under the ruleset."""

    reason: Reason
    situation: WinSituation
    ruleset: Ruleset

    @property
    def valid(self) -> Literal[False]:
        """Whether it is a win."""
        return False

    def __repr__(self) -> str:
        return f"<NoWin {self.reason}, {self.ruleset.id}>"
