"""Random hands against PyPI `mahjong`, `jansou` and `xiangting`; every difference has an article."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from xiangting import PlayerCount, calculate_necessary_tiles, calculate_replacement_number

from tablectl.engine.rules import ids, load
from tablectl.engine.scoring import accepted, key_of_counts, score, shanten
from tablectl.engine.scoring.cases import read_case
from tablectl.engine.tiles import counts_of
from tests.conftest import scaled
from tests.scoring.oracles import (
    SLIPS,
    Slip,
    explained,
    for_mahjong,
    jansou_rules,
    jansou_verdict,
    mahjong_options,
    mahjong_verdict,
    ours,
)
from tests.scoring.random_wins import random_wins
from tests.scoring.shorthand import case_of

HANDS_A_RULESET = scaled(2_400, 150)
"""24,000 over the ten rulesets at full scale."""
DEALS = scaled(50_000, 10_000)


@pytest.mark.soak
@pytest.mark.parametrize("name", ids())
def test_random_hands_agree_with_both_oracles(name: str) -> None:
    rules = load(name)
    options, own = mahjong_options(rules), jansou_rules(rules)
    compared: Counter[str] = Counter()
    for case in random_wins(19, HANDS_A_RULESET, name, reds=rules.aka):
        situation, _ = read_case(case)
        mine = ours(score(situation, rules))
        for oracle, found in (
            ("mahjong", mahjong_verdict(for_mahjong(situation, rules, options))),
            ("jansou", jansou_verdict(situation, rules, own)),
        ):
            compared[oracle] += 1
            if found != mine:
                why = explained(oracle, situation, rules, found)
                assert why, f"{oracle} {case}\n  ours {mine}\n  found {found}"
    assert compared == {"mahjong": HANDS_A_RULESET, "jansou": HANDS_A_RULESET}


@pytest.mark.parametrize("oracle", ["mahjong", "jansou"])
def test_tenhou_hands_agree_without_any_explanation(oracle: str) -> None:
    rules = load("tenhou")
    options, own = mahjong_options(rules), jansou_rules(rules)
    for case in random_wins(23, scaled(2_400, 400), "tenhou"):
        situation, _ = read_case(case)
        found = (
            mahjong_verdict(for_mahjong(situation, rules, options))
            if oracle == "mahjong"
            else jansou_verdict(situation, rules, own)
        )
        assert found == ours(score(situation, rules)), case


_WHERE_IT_SHOWS = {
    "double_wind_pair_fu": case_of(
        "m-league", "999m456p34567s11z", "8s", ron="W", seat="E", riichi=1
    ),
    "rinshan_tsumo_fu": case_of(
        "jpml-a", "46s234m678m33p", "5s", "daiminkan:2222p", flags=["rinshan"]
    ),
    "shousangen_includes_dragons": case_of("mu", "33s55z666777z", "3s", "pon:555s", ron="E"),
    "composite_yakuman": case_of("mu", "1112224446677z", "7z"),
    "ryuuiisou_needs_hatsu": case_of("jpml-a-2022", "2233334466688s", "8s", ron="E"),
    "renhou": case_of("wrc-2025", "234567m345p67s88s", "5s", ron="E", flags=["first_turn"]),
}


@pytest.mark.parametrize("slip", SLIPS, ids=lambda slip: f"{slip.oracle}-{slip.key}")
def test_each_line_of_the_table_of_slips_explains_a_hand(slip: Slip) -> None:
    """A line that explains nothing would hide something one day."""
    situation, rules = read_case(_WHERE_IT_SHOWS[slip.key])
    if slip.oracle == "mahjong":
        found = mahjong_verdict(for_mahjong(situation, rules, mahjong_options(rules)))
    else:
        found = jansou_verdict(situation, rules, jansou_rules(rules))
    assert found != ours(score(situation, rules))
    assert explained(slip.oracle, situation, rules, found) == slip.ref


@pytest.mark.soak
def test_shanten_and_accepted_tiles_agree_with_xiangting() -> None:
    rng = random.Random(31)
    wall = [kind for kind in range(34) for _ in range(4)]
    for round_ in range(DEALS):
        # Two hands of three lean to one suit or to honours, where shapes are hard and kinds come in fours.
        tiles = (wall, wall[:36], wall[96:])[round_ % 3]
        size = rng.choice((13, 13, 14, 10, 11, 7, 8, 4, 5, 1, 2))
        counts = counts_of(rng.sample(tiles, size))
        key = key_of_counts(counts)
        assert shanten(key) == calculate_replacement_number(counts, PlayerCount.FOUR) - 1, counts
        if size % 3 == 1 and round_ % 5 == 0:
            number, needed = calculate_necessary_tiles(counts, PlayerCount.FOUR)
            found = accepted(key)
            assert found.shanten == number - 1
            assert found.kinds == needed, counts
