"""Why a hand is worth what it is."""

from __future__ import annotations
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from tablectl.engine.scoring.result import Win


class Step(NamedTuple):
    text: str
    ref: str


def explain(win: Win) -> list[Step]:
    return []
