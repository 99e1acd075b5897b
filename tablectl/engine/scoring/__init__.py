"""Riichi scoring in pure Python: from tiles and what happened to yaku, fu, points and payments.

    rules = load("tenhou")
    win = score(WinSituation(parse("234567m345p67s88s"), parse_one("5s"), seat_wind=1, round_wind=0), rules)
    win.yaku, win.han, win.fu, win.payments, win.deltas

Winds are 0-3 (E S W N), tiles are the integers of `tablectl.engine.tiles`, a hand for waits and shanten is a
`Key` from `key_of`. Bad input raises `EngineError`, nothing else.
"""

from tablectl.engine.scoring.circumstances import FLAGS
from tablectl.engine.scoring.melds import Meld, meld
from tablectl.engine.scoring.pao import fixed_by_call
from tablectl.engine.scoring.result import NoWin, Win
from tablectl.engine.scoring.scorer import score, scorer
from tablectl.engine.scoring.settle import noten_payments
from tablectl.engine.scoring.situation import WinSituation
from tablectl.engine.scoring.suits import Key, key_of, key_of_counts, tables
from tablectl.engine.scoring.ukeire import Acceptance, accepted, shanten
from tablectl.engine.scoring.ukeire import preload as _judge_small_suits
from tablectl.engine.scoring.waits import is_tenpai, live_waits, wait_kinds
from tablectl.engine.scoring.winners import Settlement, settle_ron

__all__ = [
    "FLAGS",
    "Acceptance",
    "Key",
    "Meld",
    "NoWin",
    "Settlement",
    "Win",
    "WinSituation",
    "accepted",
    "fixed_by_call",
    "is_tenpai",
    "key_of",
    "key_of_counts",
    "live_waits",
    "meld",
    "noten_payments",
    "preload",
    "score",
    "scorer",
    "settle_ron",
    "shanten",
    "wait_kinds",
]


def preload() -> None:
    """Fill the tables now (some 50 ms) instead of with the first hands, where a loop must not stall."""
    tables()
    _judge_small_suits()
