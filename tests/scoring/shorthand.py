"""One line for a hand: `scored("tenhou", "234m55p345678s68p", "7p", ron="E")`."""

from __future__ import annotations

from typing import Any

from tablectl.engine.scoring import NoWin, Win, score
from tablectl.engine.scoring.cases import read_case
from tablectl.engine.tiles import NAMES, parse
from tests.scoring.random_wins import Case


def case_of(
    ruleset: str,
    concealed: str,
    win_tile: str,
    *melds: str,
    ron: str | None = None,
    seat: str = "S",
    dora: str = "",
    ura: str = "",
    **more: Any,
) -> Case:
    """A case of the contract; melds are `pon:555z`, no `ron` is a tsumo, the round is East."""
    return {
        "ruleset": ruleset,
        "concealed": concealed,
        "win_tile": win_tile,
        "melds": [
            {"type": kind, "tiles": tiles} for kind, _, tiles in (m.partition(":") for m in melds)
        ],
        "win": "tsumo" if ron is None else "ron",
        "from": ron,
        "seat_wind": seat,
        "round_wind": "E",
        "dora_indicators": [NAMES[tile] for tile in parse(dora)],
        "ura_indicators": [NAMES[tile] for tile in parse(ura)],
        **more,
    }


def result_of(*args: Any, **more: Any) -> Win | NoWin:
    """What the scorer says to `case_of`."""
    return score(*read_case(case_of(*args, **more)))


def scored(*args: Any, **more: Any) -> Win:
    """The win; the test fails where it is none."""
    result = result_of(*args, **more)
    assert isinstance(result, Win), result
    return result


def names(win: Win) -> set[str]:
    """Ids of its yaku."""
    return {name for name, _ in win.yaku}


def value(win: Win) -> tuple[int | None, int | None, tuple[int, ...]]:
    """(han, fu, payments)."""
    return win.han, win.fu, win.payments
