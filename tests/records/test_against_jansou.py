"""The sets of legal acts against another public engine's, in positions of real games."""

from __future__ import annotations

import random

import pytest

from tablectl.records.reader import Record, read_records
from tests.conftest import scaled, shared_path
from tests.records.jansou_peer import own_menus, peer_menus

POSITIONS = 500
FULL = 50_000


@pytest.fixture(scope="module")
def games() -> list[Record]:
    """Plain Tenhou games whose every move was logged."""
    return [
        record
        for record in read_records(str(shared_path("data/games.jsonl.xz")))
        if record.site == "tenhou" and record.raw["format"] == "mjlog"
    ]


@pytest.mark.soak
def test_legal_acts_are_those_of_jansou(games: list[Record]) -> None:
    """Every position of a seeded sample of games; both menus must be equal, none missing on either side."""
    wanted = scaled(FULL, POSITIONS)
    seen = 0
    rng = random.Random(11)
    kinds: set[str] = set()
    for record in rng.sample(games, len(games)):
        theirs, ours = peer_menus(record), own_menus(record)
        for place in sorted(theirs.keys() | ours.keys()):
            assert ours.get(place) == theirs.get(place), (record.id, place)
            kinds |= {name.split()[0] for name in ours[place]}
        seen += len(ours)
        if seen >= wanted:
            break
    assert seen >= wanted
    assert {"discard", "riichi", "chi", "pon", "win"} <= kinds
