"""The tables against plain search: splits of a suit, waits of a hand, notation of tiles."""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import cache

import pytest
from mahjong.agari import Agari

from tablectl.engine import tiles as t
from tablectl.engine.errors import TileError
from tablectl.engine.scoring import is_tenpai, key_of_counts, live_waits, preload, wait_kinds
from tablectl.engine.scoring.melds import meld, set_fu
from tablectl.engine.scoring.suits import (
    ANKO,
    ITTSU_BIT,
    ONE,
    PAIRS,
    RUN,
    SIMPLE,
    TWINS,
    TWO_FU,
    copies,
    grown,
    key_of,
    remove,
    size_of,
    tables,
)
from tests.conftest import scaled

# --- suits --------------------------------------------------------------------------------------------


def all_counts(ranks: int, most: int) -> Iterator[tuple[int, ...]]:
    """Every way to hold up to `most` tiles, no kind more than four times."""
    if ranks == 0:
        yield ()
        return
    for first in range(min(4, most) + 1):
        for rest in all_counts(ranks - 1, most - first):
            yield (first, *rest)


@cache
def splits(counts: tuple[int, ...], rank: int = 0) -> tuple[tuple[str, ...], ...]:
    """Every way to split a suit into runs, triplets and any number of pairs, by plain search."""
    while rank < 9 and not counts[rank]:
        rank += 1
    if rank == 9:
        return ((),)
    found = []
    for name, size in (("pair", 2), ("triplet", 3)):
        if counts[rank] >= size:
            rest = (*counts[:rank], counts[rank] - size, *counts[rank + 1 :])
            found += [(f"{name}{rank}", *more) for more in splits(rest, rank)]
    if rank < 7 and counts[rank + 1] and counts[rank + 2]:
        rest = tuple(count - (rank <= place <= rank + 2) for place, count in enumerate(counts))
        found += [(f"run{rank}", *more) for more in splits(rest, rank)]
    return tuple(found)


def described(groups: tuple[str, ...]) -> tuple[int, int]:
    """(groups by kind of mask, sums) as the tables must have them."""
    sums = ittsu = 0
    runs = [group for group in groups if group.startswith("run")]
    for group in groups:
        rank = int(group[-1])
        simple = rank not in (0, 6) if group.startswith("run") else rank not in (0, 8)
        sums += SIMPLE if simple else 0
        if group.startswith("pair"):
            sums += PAIRS
        elif group.startswith("run"):
            sums += RUN
        else:
            sums += ANKO + set_fu(rank, concealed=True, kan=False) // 2 * TWO_FU
    sums += sum(runs.count(run) // 2 for run in set(runs)) * TWINS
    if {"run0", "run3", "run6"} <= set(runs):
        ittsu = ITTSU_BIT
    return ittsu, sums


def test_the_table_of_a_suit_is_what_plain_search_finds() -> None:
    """Every suit of up to eight tiles; larger ones by sample."""
    table = tables().numbers
    hands = list(all_counts(9, 8))
    rng = random.Random(3)
    large = [key for key in table if size_of((key, 0, 0, 0)) > 8]
    hands += [tuple(key >> 3 * rank & 7 for rank in range(9)) for key in rng.sample(large, 1500)]
    for counts in hands:
        key = sum(count << 3 * rank for rank, count in enumerate(counts))
        wanted = sorted(
            described(groups)
            for groups in {tuple(sorted(found)) for found in splits(counts)}
            if sum(group.startswith("pair") for group in groups)
            == (1 if sum(counts) % 3 == 2 else 0)
        )
        found = sorted((masks & ITTSU_BIT, sums) for masks, sums in table.get(key, ()))
        assert found == wanted, counts


def test_honours_split_in_one_way() -> None:
    for counts in all_counts(7, 6):
        key = sum(count << 3 * rank for rank, count in enumerate(counts))
        fits = set(counts) <= {0, 2, 3} and counts.count(2) <= 1
        assert (key in tables().honours) is fits


@pytest.mark.parametrize(
    ("kind", "concealed", "kan", "fu"),
    [(1, False, False, 2), (0, False, False, 4), (30, True, False, 8), (4, True, False, 4),
     (4, False, True, 8), (33, False, True, 16), (4, True, True, 16), (8, True, True, 32)],
)  # fmt: skip
def test_fu_of_sets(kind: int, concealed: bool, kan: bool, fu: int) -> None:
    assert set_fu(kind, concealed=concealed, kan=kan) == fu


# --- waits --------------------------------------------------------------------------------------------


def test_waits_are_the_kinds_that_complete_the_hand() -> None:
    """Against a plain test of each of the 34 kinds, on hands that are one tile from complete or near it."""
    preload()
    rng = random.Random(17)
    tenpai = 0
    for _ in range(scaled(20_000, 1_500)):
        counts = near_complete(rng)
        wanted = []
        for kind in range(34):
            if counts[kind] < 4:
                counts[kind] += 1
                if Agari.is_agari(counts):
                    wanted.append(kind)
                counts[kind] -= 1
        key = key_of_counts(counts)
        found = [kind for kind in wait_kinds(key) if counts[kind] < 4]
        assert found == wanted, counts
        assert is_tenpai(key, (), "concealed") is bool(wanted)
        tenpai += bool(wanted)
    assert tenpai > 500


def near_complete(rng: random.Random) -> list[int]:
    """A complete hand less one tile, every other time with one more tile exchanged."""
    while True:
        counts = [0] * 34
        shape = rng.random()
        if shape < 0.1:
            for kind in rng.sample(range(34), 7):
                counts[kind] = 2
        elif shape < 0.15:
            for kind in t.YAOCHU:
                counts[kind] = 1
            counts[rng.choice(t.YAOCHU)] += 1
        else:
            first, beyond = rng.choice(((0, 34), (0, 9), (18, 34)))
            for _ in range(rng.choice((4, 4, 3, 2, 1))):
                low = rng.randrange(first, beyond)
                run = low < 27 and low % 9 < 7 and rng.random() < 0.7
                for step in range(3):
                    counts[low + step * run] += 1
            counts[rng.randrange(first, beyond)] += 2
        if max(counts) > 4:
            continue
        held = [kind for kind in range(34) for _ in range(counts[kind])]
        counts[rng.choice(held)] -= 1
        if rng.random() < 0.5:
            held = [kind for kind in range(34) if counts[kind]]
            if held:
                counts[rng.choice(held)] -= 1
                counts[rng.randrange(34)] += 1
        if max(counts) <= 4:
            return counts


def test_a_fifth_copy_is_a_wait_of_the_shape_only() -> None:
    for text, kind in (("3333m", "3m"), ("5555z", "5z")):
        key = key_of(t.parse(text))
        assert [t.NAMES[found] for found in wait_kinds(key)] == [kind]
        assert is_tenpai(key, (), "shape")
        assert not is_tenpai(key, (), "concealed")
    both = key_of(t.parse("3334m"))
    assert [t.NAMES[found] for found in wait_kinds(both)] == ["2m", "4m", "5m"]


def test_waits_that_lie_in_melds_are_left_out_by_rule() -> None:
    key = key_of(t.parse("56m99s678p345p"))
    pon = [meld("pon", "444m")]
    assert live_waits(key, pon, "own_all") == t.mask_of((3, 6))
    kan = [meld("ankan", "4444m")]
    assert live_waits(key, kan, "own_all") == t.mask_of((6,))
    assert live_waits(key, kan, "concealed") == t.mask_of((3, 6))


def test_keys_grow_and_shrink_by_one_addition() -> None:
    key = key_of(t.parse("1m5p0p9s77z"))
    assert key == (ONE[0], 2 * ONE[4], ONE[8], 2 * ONE[6])
    assert copies(key, 13) == 2
    assert size_of(key) == 6
    assert remove(grown(key, 33), 33, 3) == key_of(t.parse("1m5p0p9s"))
    assert key_of_counts(t.counts_of(t.parse("1m5p0p9s77z"))) == key


# --- tiles --------------------------------------------------------------------------------------------


def test_both_notations_are_read_and_written() -> None:
    tiles = t.parse("123m0p11z")
    assert tiles == t.parse("1m2m3m0p1z1z") == (0, 1, 2, 35, 27, 27)
    assert t.text_of(tiles) == "1m2m3m0p1z1z"
    assert t.compact(t.parse("7z5p0p3m1m")) == "13m05p7z"
    assert t.parse("") == ()
    assert t.kinds_in(t.mask_of(t.YAOCHU)) == t.YAOCHU
    for name, tile in t.BY_NAME.items():
        assert t.parse_one(name) == tile
        assert t.NAMES[tile] == name


@pytest.mark.parametrize(
    ("indicator", "dora"),
    [("1m", "2m"), ("9p", "1p"), ("4s", "5s"), ("0s", "6s"), ("1z", "2z"), ("4z", "1z"), ("5z", "6z"),
     ("7z", "5z")],
)  # fmt: skip
def test_the_dora_follows_the_indicator(indicator: str, dora: str) -> None:
    assert t.NAMES[t.DORA[t.parse_one(indicator)]] == dora


@pytest.mark.parametrize("text", ["5", "m5", "5x", "8z", "0z", "5m ", "５m"])
def test_text_that_is_no_tile(text: str) -> None:
    with pytest.raises(TileError):
        t.parse(text)
