"""The configuration table of the rule specification (1.19), written out by hand, against the shipped files."""

from __future__ import annotations

from typing import Any

import pytest

from tablectl.engine.rules import Ruleset, ids, load

ORDER = (
    "saikouisen",
    "saikouisen-classic",
    "mu",
    "jpml-a",
    "jpml-a-2023",
    "tenhou",
    "m-league",
    "wrc-2025",
    "ema-2016",
)

NONE: tuple[str, ...] = ()
D, S, K = "daisangen", "daisuushii", "suukantsu"

# One row per value: nine columns in the order of the specification.
TABLE: dict[str, tuple[Any, ...]] = {
    "start_points": (30000, 30000, 30000, 30000, 30000, 25000, 25000, 30000, 30000),
    "return_points": (30000,) * 9,
    "uma_kind": ("fixed", "fixed", "fixed", "floating", "floating", *("fixed",) * 4),
    "oka": (0, 0, 0, 0, 0, 20000, 20000, 0, 0),
    "ties": (*("split",) * 5, "seat_order", "split", "split", "split"),
    "leftover_deposits": (*("lost",) * 5, "first", "first", "lost", "first"),
    "tobi": (*("none",) * 5, "below_zero", "none", "none", "none"),
    "extension": (*("none",) * 5, "one_round", "none", "none", "none"),
    "agari_yame": (*("none",) * 5, "automatic", "none", "none", "none"),
    "tenpai_yame": (*("none",) * 5, "automatic", "none", "none", "none"),
    "target_points": (30000,) * 9,
    "renchan": ("tenpai", "win", *("tenpai",) * 7),
    "honba_ron": (300, 300, 0, 300, 300, 300, 300, 300, 300),
    "honba_tsumo": (100, 100, 0, 100, 100, 100, 100, 100, 100),
    "honba_counted": (True, True, False, True, True, True, True, True, True),
    "honba_on_rotating_draw": (True, True, False, True, True, True, True, True, True),
    "noten_pool": (3000, 0, 3000, 3000, 3000, 3000, 3000, 3000, 3000),
    "kyuushu_kyuuhai": (*(False,) * 5, True, False, False, False),
    "suufon_renda": (*(False,) * 5, True, False, False, False),
    "suucha_riichi": (*(False,) * 5, True, False, False, False),
    "suukaikan": (*(False,) * 5, True, False, False, False),
    "sanchahou": (*(False,) * 5, True, False, False, False),
    "nagashi_mangan": (*(False,) * 5, True, False, False, False),
    "multi_ron": (*("head_bump",) * 5, "all", "head_bump", "head_bump", "all"),
    "kuitan": (True,) * 9,
    "aka": (False, False, False, False, False, True, True, False, False),
    "kuikae": ("set", "allowed", "allowed", "same_tile", "same_tile", *("set",) * 4),
    "ippatsu": (True, False, False, False, False, True, True, True, True),
    "ura_dora": (True, False, False, False, False, True, True, True, True),
    "kan_dora": (True, False, False, False, False, True, True, True, True),
    "kan_ura_dora": (True, False, False, False, False, True, True, True, True),
    "riichi_min_points": (0, 0, 0, 0, 0, 1000, 0, 0, 0),
    "riichi_min_live_tiles": (1, 1, 1, 1, 1, 4, 1, 1, 4),
    "riichi_ankan": (
        "strict",
        "none",
        "none",
        "strict",
        "strict",
        "waits",
        "strict",
        "waits",
        "strict",
    ),
    # "own draw/discard" of JPML ends, like all but EMA, with the own discard
    "temporary_furiten_ends": (*("own_discard",) * 8, "own_draw_or_call"),
    "kokushi_robs_ankan": (*(False,) * 8, True),
    "double_wind_pair_fu": (2, 2, 2, 2, 2, 4, 2, 2, 2),
    "rinshan_tsumo_fu": (2, 2, 2, 0, 2, 2, 2, 2, 2),
    "kiriage": (True, False, False, False, False, False, True, True, False),
    "counted_yakuman": (0, 0, 0, 0, 0, 13, 0, 13, 0),
    "composite_yakuman": (True, True, False, True, True, True, True, True, False),
    "shousangen_includes_dragons": (False, False, True, *(False,) * 6),
    "renhou": (*("none",) * 7, "mangan", "mangan"),
    "pao": (NONE, NONE, (D, S), (D, S, K), (D, S, K), (D, S), (D, S, K), (D, S, K), (D, S)),
    "tenpai_exhausted_rule": (*("own_all",) * 5, "concealed", "own_all", "own_all", "own_all"),
    "chombo_amount": (20000, 16000, 20000, 20000, 20000, 20000, 20000, 30000, 20000),
}

UMA = {
    "saikouisen": (30000, 10000, -10000, -30000),
    "saikouisen-classic": (12000, 4000, -4000, -12000),
    "mu": (12000, 4000, -4000, -12000),
    "tenhou": (20000, 10000, -10000, -20000),
    "m-league": (30000, 10000, -10000, -30000),
    "wrc-2025": (15000, 5000, -5000, -15000),
    "ema-2016": (15000, 5000, -5000, -15000),
}

# columns that the table fills only for rulesets that have the thing at all
KAN_DORA_TIMING = {  # ankan, kakan, daiminkan
    "saikouisen": ("before_replacement",) * 3,
    "tenhou": ("before_replacement", "with_discard", "with_discard"),
    "m-league": ("before_replacement",) * 3,
    "wrc-2025": ("before_replacement", "before_discard", "before_discard"),
    "ema-2016": ("before_replacement",) * 3,
}
PAO_COMPOSITE = {
    "jpml-a": "whole",
    "jpml-a-2023": "whole",
    "tenhou": "whole",
    "m-league": "covered",
    "wrc-2025": "covered",
}
PAO_HONBA = {  # tsumo, ron
    "jpml-a": ("liable", "discarder"),
    "jpml-a-2023": ("liable", "discarder"),
    "tenhou": ("liable", "liable"),
    "wrc-2025": ("liable", "discarder"),
    "ema-2016": ("liable", "discarder"),
}

FLOATING = (
    (8000, 4000, -4000, -8000),
    (12000, -1000, -3000, -8000),
    (8000, 4000, -4000, -8000),
    (8000, 3000, 1000, -12000),
)


@pytest.mark.parametrize("name", TABLE)
@pytest.mark.parametrize("column", range(len(ORDER)), ids=ORDER)
def test_value_is_as_the_specification_says(name: str, column: int) -> None:
    assert getattr(load(ORDER[column]), name) == TABLE[name][column]


@pytest.mark.parametrize("ruleset", UMA)
def test_uma(ruleset: str) -> None:
    assert load(ruleset).uma == UMA[ruleset]


@pytest.mark.parametrize("ruleset", ["jpml-a", "jpml-a-2022", "jpml-a-2023"])
def test_floating_uma(ruleset: str) -> None:
    rules = load(ruleset)
    assert rules.uma_floating[:4] == FLOATING
    assert len(rules.uma_floating) == 5  # four above water: all tied, so any row shares to 0


@pytest.mark.parametrize("ruleset", KAN_DORA_TIMING)
def test_kan_dora_timing(ruleset: str) -> None:
    rules = load(ruleset)
    timing = (rules.kan_dora_ankan, rules.kan_dora_kakan, rules.kan_dora_daiminkan)
    assert timing == KAN_DORA_TIMING[ruleset]


@pytest.mark.parametrize("ruleset", PAO_COMPOSITE)
def test_pao_with_composite_yakuman(ruleset: str) -> None:
    assert load(ruleset).pao_composite == PAO_COMPOSITE[ruleset]


@pytest.mark.parametrize("ruleset", PAO_HONBA)
def test_pao_honba(ruleset: str) -> None:
    rules = load(ruleset)
    assert (rules.pao_honba_tsumo, rules.pao_honba_ron) == PAO_HONBA[ruleset]


def test_jpml_2022_is_jpml_with_its_older_values() -> None:
    old, now = load("jpml-a-2022").to_dict()["values"], load("jpml-a").to_dict()["values"]
    assert {name: (now[name], old[name]) for name in old if old[name] != now[name]} == {
        "double_wind_pair_fu": (2, 4),
        "ryuuiisou_needs_hatsu": (False, True),
        "kokushi_robs_ankan": (False, True),
    }


def test_mu_leaves_noten_payment_and_chombo_to_the_organiser() -> None:
    def mu(**options: str) -> Ruleset:
        return load("mu", options)

    assert mu() == mu(noten_payment="A") == mu(chombo="A")
    assert mu(noten_payment="B").noten_pool == 0
    assert mu(chombo="B").chombo_paid == "table"
    assert mu(chombo="B").chombo_amount == 20000


def test_ids_are_those_of_the_contract() -> None:
    assert set(ids()) == {*ORDER, "jpml-a-2022"}


# Part 2.3, one string per ruleset: infractions 1 to 50 in the letters of the specification.
# C chombo, E/S/M minor chombo ended, stop-win, continues; s stop-win without points; W warning;
# K caution; D disqualification; R referee; r restart; c corrected; v void; l legal; - silent
LETTERS = {
    "C": "chombo",
    "E": "minor_chombo_ended",
    "S": "minor_chombo_stop_win",
    "M": "minor_chombo_continues",
    "s": "stop_win",
    "W": "warning",
    "K": "caution",
    "D": "disqualification",
    "R": "referee",
    "r": "restart",
    "c": "corrected",
    "v": "void",
    "l": "legal",
    "-": "silent",
}
INFRACTIONS = {  # P1–P10, P11–P20, …
    "saikouisen": "CMCvKCCSSC CMMSSWMSSS SSCEESWMCD WCWMWKWWSC SSRWcKKKDR",
    "saikouisen-classic": "CMCvKlCSSC lMMlSWMSSS SSCEESWMCD WCWMWKWWSC SSRWcKKKDR",
    "mu": "CsC--CsRsC CR-ls-ssss sssrss--R- sC------CC sR-c------",
    "jpml-a": "CsCl-CCRsC CR-CCRs-v- sssrss--RC CC--RR--CC CRrcc-R---",
    "jpml-a-2023": "CsCl-CCRsC CR-CCRs-v- sssrss--RC CC--RR--CC CRrcc-R---",
    "tenhou": "---------- ---------- ---------- ---------- ----------",
    "m-league": "CsC--CCR-R CRKss-s-v- Wssrrs-WRR RCKWWW--CC sR--K-W-R-",
    "wrc-2025": "CsCl-CCC-C CCKssl--v- vvRrcCWRRR CCcWWW--CC sR-cc-W-D-",
    "ema-2016": "CsC--CCC-C CCKssls-v- vvRrcsWRRR CCcWWW--CC sR-cc-W-D-",
}

# cells that name a second class, and when
SECOND = {
    ("saikouisen", 5): ("warning", "by_referee"),
    ("saikouisen", 31): ("chombo", "by_exposed_tiles"),
    ("saikouisen", 35): ("caution", "by_referee"),
    ("saikouisen", 36): ("warning", "by_referee"),
    ("saikouisen", 42): ("minor_chombo_continues", "by_referee"),
    ("saikouisen", 45): ("caution", "by_referee"),
    ("saikouisen", 46): ("warning", "by_referee"),
    ("saikouisen", 48): ("warning", "by_referee"),
    ("mu", 7): ("chombo", "repeated"),
    ("mu", 23): ("chombo", "unplayable"),
    ("mu", 29): ("chombo", "unplayable"),
    ("jpml-a", 9): ("referee", "by_referee"),
    ("jpml-a", 21): ("chombo", "after_discard"),
    ("jpml-a", 22): ("chombo", "after_discard"),
    ("jpml-a", 23): ("chombo", "after_discard"),
    ("jpml-a", 29): ("chombo", "unplayable"),
    ("jpml-a", 33): ("stop_win", "caused_ambiguity"),
    ("jpml-a", 43): ("legal", "after_first_discard"),
    ("m-league", 7): ("stop_win", "by_referee"),
    ("m-league", 25): ("stop_win", "after_first_discard"),
    ("m-league", 27): ("warning", "two_or_more_tiles"),
    ("wrc-2025", 4): ("chombo", "tile_merged"),
    ("wrc-2025", 5): ("chombo", "with_win"),
    ("wrc-2025", 21): ("stop_win", "not_undone"),
    ("wrc-2025", 22): ("stop_win", "not_undone"),
    ("wrc-2025", 23): ("chombo", "unplayable"),
    ("wrc-2025", 25): ("chombo", "after_first_discard"),
    ("wrc-2025", 28): ("chombo", "five_or_more_tiles"),
    ("wrc-2025", 31): ("referee", "by_referee"),
    ("ema-2016", 17): ("legal", "corrected_at_once"),
    ("ema-2016", 21): ("stop_win", "not_undone"),
    ("ema-2016", 22): ("stop_win", "not_undone"),
    ("ema-2016", 23): ("chombo", "unplayable"),
    ("ema-2016", 25): ("stop_win", "after_first_discard"),
    ("ema-2016", 28): ("chombo", "more_than_five_tiles"),
    ("ema-2016", 31): ("referee", "by_referee"),
}


@pytest.mark.parametrize("ruleset", INFRACTIONS)
def test_infractions_bring_what_the_specification_says(ruleset: str) -> None:
    rules = load(ruleset)
    letters = INFRACTIONS[ruleset].replace(" ", "")
    found = {n: rules.ruling(n).sanction for n in range(1, 51)}
    assert found == {n: LETTERS[letter] for n, letter in enumerate(letters, start=1)}


@pytest.mark.parametrize(
    "ruleset", ["saikouisen", "mu", "jpml-a", "m-league", "wrc-2025", "ema-2016"]
)
def test_second_class_of_an_infraction(ruleset: str) -> None:
    rules = load(ruleset)
    found = {
        (ruleset, n): (r.other, r.when)
        for n, r in enumerate(rules.infractions, start=1)
        if r.other is not None
    }
    assert found == {key: value for key, value in SECOND.items() if key[0] == ruleset}


def test_there_is_no_infraction_outside_the_list() -> None:
    with pytest.raises(IndexError, match="P51"):
        load("mu").ruling(51)


# Part 2.1: what the classes cost (pt = 1000 points)
AMOUNTS = {  # chombo, minor ended, minor stop-win, minor continues
    "saikouisen": (20000, 10000, 10000, 10000),
    "saikouisen-classic": (16000, 10000, 10000, 10000),
    "mu": (20000, 0, 0, 0),
    "jpml-a": (20000, 0, 0, 0),
    "m-league": (20000, 0, 0, 0),
    "wrc-2025": (30000, 0, 0, 0),
    "ema-2016": (20000, 0, 0, 0),
}


@pytest.mark.parametrize("ruleset", AMOUNTS)
def test_sanction_amounts(ruleset: str) -> None:
    r = load(ruleset)
    amounts = (
        r.chombo_amount,
        r.minor_ended_amount,
        r.minor_stop_win_amount,
        r.minor_continues_amount,
    )
    assert amounts == AMOUNTS[ruleset]


def test_warnings_cost_from_the_second_and_cards_in_pairs() -> None:
    saikouisen, league = load("saikouisen"), load("m-league")
    assert (saikouisen.warnings_free, saikouisen.warning_step, saikouisen.warning_amount) == (
        1,
        1,
        5000,
    )
    assert (league.warnings_free, league.warning_step, league.warning_amount) == (1, 2, 20000)


# 1.14 to 1.17 and the correction window
FLOW: dict[str, dict[str, Any]] = {
    "saikouisen": {
        "seat_draw": "row_two_throws",
        "first_dealer": "two_throws",
        "dealer_marker": False,
        "wrong_break": "referee",
        "indicator_cutoff": "referee",
        "indicator_turner": "faces_indicator",
        "hand_begins": "start_key",
        "ron_closes": "next_draw",
        "head_bump_closes": "hand_shown",
        "chankan_closes": "indicator_turned",
        "pon_closes": "next_draw_starts",
        "chi_opens": "own_draw",
        "correction_closes": "next_first_discard",
        "call_priority": "pon_unless_misspoken",
        "noten_choice": "not_after_riichi",
        "unclear_tsumo": "no_win",
    },
    "saikouisen-classic": {"noten_choice": "free", "noten_riichi": "free"},
    "mu": {
        "seat_draw": "row_two_throws",
        "first_dealer": "two_throws",
        "dealer_marker": True,
        "indicator_cutoff": "first_discard_or_ankan",
        "chi_opens": "after_check",
        "stop_win_ruled_by": "players",
        "several_infractions": "cumulative",
        "win_and_chombo": "win",
        "time_limit": "hand_in_progress",
    },
    "jpml-a": {
        "seat_draw": "row_one_throw",
        "first_dealer": "one_throw",
        "wrong_break": "restart_before_discard",
        "indicator_cutoff": "first_discard",
        "hand_begins": "first_discard",
        "ron_closes": "later_utterance",
        "head_bump_closes": "simultaneous",
        "correction_closes": "payment",
        "call_priority": "pon_unless_later",
        "score_announcement": "base_then_totals",
        "unclear_tsumo": "no_wait",
        "pao_suukantsu_live_tile": True,
    },
    "tenhou": {
        "seat_draw": "assigned",
        "first_dealer": "assigned",
        "noten_choice": "automatic",
        "noten_riichi": "refused",
        "ron_closes": "timer",
    },
    "wrc-2025": {
        "seat_draw": "wind_tiles",
        "first_dealer": "east",
        "declaration_order": "any_order",
        "call_priority": "first_spoken",
        "call_order": "free",
        "correction_closes": "hand_broken",
        "unclear_tsumo": "no_wait_no_tsumo_fu",
    },
    "ema-2016": {
        "seat_draw": "wind_tiles",
        "first_dealer": "east",
        "ron_closes": "next_discard",
        "pon_closes": "next_draw_ends",
        "fast_draw_grace_ms": 3000,
        "multi_ron_honba": "each",
    },
}


@pytest.mark.parametrize("ruleset", FLOW)
def test_values_of_the_game_flow(ruleset: str) -> None:
    rules = load(ruleset)
    assert {name: getattr(rules, name) for name in FLOW[ruleset]} == FLOW[ruleset]
