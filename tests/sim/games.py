"""Game records for these tests: a small one of our own making, and the real ones where they lie."""

from __future__ import annotations

import json
import lzma
import random
from collections.abc import Iterator
from functools import cache
from typing import Any

from hardware_sim import record
from tests.conftest import scaled, shared_path

SEED = 20261130
ALL_GAMES = 510


def tiny() -> dict[str, Any]:
    """Two hands: a riichi won by ron with a chi, a pon and an ankan before it; then a draw with one tenpai."""
    first = {
        "wind": "E", "num": 1, "honba": 0, "deposits": 0, "dealer": 0, "dice": [3, 2], "dora": "1z",
        "start": [25000] * 4,
        "hands": ["1m2m3m4m5m6m7m8m9m1p1p2z2z", "1s1s1s2s3s4s5s6s7s8s9s9s3z",
                  "2p3p4p5p6p7p8p9p4z4z4z5z6z", "1m1m2m2m3m3m7p8p9p6z6z7z7z"],
        "events": [
            {"e": "draw", "p": 0, "t": "7z"},
            {"e": "discard", "p": 0, "t": "7z", "tg": True},
            {"e": "pon", "p": 3, "from": 0, "t": "7z", "with": "7z7z"},
            {"e": "discard", "p": 3, "t": "7p", "tg": False},
            {"e": "draw", "p": 0, "t": "3z"},
            {"e": "riichi", "p": 0},
            {"e": "discard", "p": 0, "t": "3z", "tg": True},
            {"e": "riichi_ok", "p": 0},
            {"e": "draw", "p": 1, "t": "9s"},
            {"e": "discard", "p": 1, "t": "3z", "tg": False},
            {"e": "draw", "p": 2, "t": "4z"},
            {"e": "ankan", "p": 2, "tiles": "4z4z4z4z"},
            {"e": "dora", "t": "2z"},
            {"e": "draw", "p": 2, "t": "9m", "rinshan": True},
            {"e": "discard", "p": 2, "t": "9p", "tg": False},
            {"e": "draw", "p": 3, "t": "4p"},
            {"e": "discard", "p": 3, "t": "1m", "tg": False},
            {"e": "draw", "p": 0, "t": "5z"},
            {"e": "discard", "p": 0, "t": "5z", "tg": True},
            {"e": "draw", "p": 1, "t": "1p"},
            {"e": "discard", "p": 1, "t": "1p", "tg": True},
            {"e": "win", "p": 0, "from": 1, "hand": "1m2m3m4m5m6m7m8m9m1p1p2z2z", "melds": [], "t": "1p",
             "ura": "3m4m", "deltas": [1, -1, 0, 0]},
        ],
        "end": [26000, 24000, 25000, 25000],
    }  # fmt: skip
    second = {
        "wind": "E", "num": 1, "honba": 1, "deposits": 0, "dealer": 0, "dora": "1z",
        "hands": first["hands"],
        "events": [
            {"e": "draw", "p": 0, "t": "7z"},
            {"e": "discard", "p": 0, "t": "7z", "tg": True},
            {"e": "drawn", "reason": "exhaustive", "tenpai": [True, False, False, False], "deltas": [3, -1, -1, -1]},
        ],
    }  # fmt: skip
    return {
        "id": "tiny",
        "rules": {"players": 4, "red": True},
        "players": list("abcd"),
        "rounds": [first, second],
    }


def short() -> dict[str, Any]:
    """Three hands by Tenhou's rules: the riichi of `tiny`, nine terminals, a tsumo; scores in `AFTER_SHORT`."""
    riichi = tiny()["rounds"][0]
    nine = {
        "wind": "E", "num": 1, "honba": 1, "deposits": 0, "dealer": 0, "dice": [1, 2], "dora": "7m",
        "hands": ["1m9m5m1p9p6p1s9s7s8s1z2z3z", "2m3m4m5m6m7m8m2p3p4p5p7p8p",
                  "2s3s4s5s6s2s3s4s6s6p7p8p6m", "5z5z6z6z7z7z2m3m4m3p4p5p8m"],
        "events": [
            {"e": "draw", "p": 0, "t": "4z"},
            {"e": "drawn", "reason": "kyuushu", "p": 0},
        ],
    }  # fmt: skip
    tsumo = {
        "wind": "E", "num": 1, "honba": 2, "deposits": 0, "dealer": 0, "dice": [6, 5], "dora": "9s",
        "hands": ["1m1m9m9m1z1z2z2z3z3z4z4z5z", "2m3m4m5m6m7m2p3p4p6p7p8p5s",
                  "1s1s1s2s2s3s3s4s4s6s6s7s7s", "8s8s8s9s9s1p1p9m8m8m8m1m9p"],
        "events": [
            {"e": "draw", "p": 0, "t": "6z"},
            {"e": "discard", "p": 0, "t": "6z", "tg": True},
            {"e": "draw", "p": 1, "t": "9p"},
            {"e": "discard", "p": 1, "t": "9p", "tg": True},
            {"e": "draw", "p": 2, "t": "7z"},
            {"e": "discard", "p": 2, "t": "7z", "tg": True},
            {"e": "draw", "p": 3, "t": "1s"},
            {"e": "discard", "p": 3, "t": "1s", "tg": True},
            {"e": "draw", "p": 0, "t": "9s"},
            {"e": "discard", "p": 0, "t": "9s", "tg": True},
            {"e": "draw", "p": 1, "t": "5s"},
            {"e": "win", "p": 1, "from": 1, "t": "5s", "ura": ""},
        ],
    }  # fmt: skip
    return tiny() | {"id": "short", "rounds": [riichi, nine, tsumo]}


AFTER_SHORT = [41_800, 9_600, 24_300, 24_300]
"""Dealer's riichi, ittsu, two dora and two ura: 18000; then menzen tsumo, tanyao, 30 fu with two honba: 700/1200."""


@cache
def tiny_game(seed: int = 0) -> record.Game:
    return record.parse(tiny(), seed)


def real_games(ci_count: int) -> Iterator[dict[str, Any]]:
    """A seeded sample of the 510 games, all of them at a large scale."""
    count = min(ALL_GAMES, scaled(ALL_GAMES, ci_count))
    chosen = set(random.Random(SEED).sample(range(ALL_GAMES), count))
    with lzma.open(shared_path("data/games.jsonl.xz"), "rt", encoding="utf-8") as stream:
        for number, line in enumerate(stream):
            if number in chosen:
                yield json.loads(line)
