"""Where tiles stand: the table of break positions of rules.md 1.15.4, row by row."""

from __future__ import annotations

import pytest

from hardware_sim.wall import (
    INDICATORS,
    RINSHAN,
    URA,
    WallPlace,
    break_ring,
    deal_packets,
    dealt_to,
    place_of,
)

ROWS = """
2 S3 E10u E12u S2u S2l S1u S1l W17u W17l W16u W15u W14u W13u W12l
3 W4 S11u S13u W3u W3l W2u W2l W1u W1l N17u N16u N15u N14u N13l
4 N5 W12u W14u N4u N4l N3u N3l N2u N2l N1u E17u E16u E15u E14l
5 E6 N13u N15u E5u E5l E4u E4l E3u E3l E2u E1u S17u S16u S15l
6 S7 E14u E16u S6u S6l S5u S5l S4u S4l S3u S2u S1u W17u W16l
7 W8 S15u S17u W7u W7l W6u W6l W5u W5l W4u W3u W2u W1u N17l
8 N9 W16u S1u N8u N8l N7u N7l N6u N6l N5u N4u N3u N2u N1l
9 E10 N17u W2u E9u E9l E8u E8l E7u E7l E6u E5u E4u E3u E2l
10 S11 N1u N3u S10u S10l S9u S9l S8u S8l S7u S6u S5u S4u S3l
11 W12 E2u E4u W11u W11l W10u W10l W9u W9l W8u W7u W6u W5u W4l
12 N13 S3u S5u N12u N12l N11u N11l N10u N10l N9u N8u N7u N6u N5l
"""
"""Dice sum, first stack, the dealer's last two tiles, rinshan 1–4, dora and ura, kan dora 1–4, haitei."""


def named(place: WallPlace, dealer: int) -> str:
    return f"{'ESWN'[(place.seat - dealer) % 4]}{place.stack}{'u' if place.upper else 'l'}"


@pytest.mark.parametrize("row", ROWS.strip().splitlines(), ids=lambda row: f"dice {row.split()[0]}")
@pytest.mark.parametrize("dealer", range(4))
def test_break_position(row: str, dealer: int) -> None:
    cells = row.split()
    ring = break_ring(int(cells[0]))
    wanted = [48, 52, *RINSHAN, INDICATORS[0], URA[0], *INDICATORS[1:], 121]
    assert named(place_of(0, ring, dealer), dealer)[:-1] == cells[1]
    assert [named(place_of(t, ring, dealer), dealer) for t in wanted] == cells[2:]


@pytest.mark.parametrize("dice_sum", range(2, 13))
def test_every_tile_has_a_place_of_its_own(dice_sum: int) -> None:
    places = {place_of(t, break_ring(dice_sum), 3) for t in range(136)}
    assert len(places) == 136
    assert {p.slot for p in places if p.seat == 0} == set(range(34))


def test_deal_in_packets_of_four_then_one() -> None:
    packets = deal_packets(2)
    assert [seat for seat, _ in packets[:4]] == [2, 3, 0, 1]
    assert [len(tiles) for _, tiles in packets] == [4] * 12 + [1] * 4
    assert sorted(t for _, tiles in packets for t in tiles) == list(range(52))
    assert dealt_to(2, 2) == (0, 1, 2, 3, 16, 17, 18, 19, 32, 33, 34, 35, 48)
