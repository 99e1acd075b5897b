"""Hands written by a person: only what matters is named, and what is wrong is said with its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from firmware_protocol import messages as m
from hardware_sim import people, record
from hardware_sim.errors import RecordError
from hardware_sim.table import Options, SimTable
from tests.sim.host import Host, Pair
from tests.sim.shadow import Shadow

ROBBED = """
id = "槍槓"
red = true

[[hand]]
dealer = 1
dice = [4, 4]
dora = "1z"
hands = ["5p5p", "5p9s", "3p4p", "1m1m1m1m"]
story = '''
1 draws                 # anything
1 discards 5p
0 pons 5p with 5p5p
0 discards 9m
1 draws 2z
1 discards
2 draws 6z
2 declares riichi
2 discards
2 lays a stick
3 draws 3z
3 kans 1m1m1m1m
indicator 7z
3 draws from the dead wall
3 discards
0 draws 0p
0 adds 0p
2 wins on 0p of 0
'''

[[hand]]
honba = 1
dealer = 2
story = '''
2 draws
2 discards
0 and 3 show at the end
'''
"""


def scenario(tmp_path: Path, text: str) -> str:
    path = tmp_path / "robbed.toml"
    path.write_text(text, encoding="utf-8")
    return str(path)


@pytest.fixture(autouse=True)
def _no_looking(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(people, "LOOK", 0.0)
    monkeypatch.setattr(people, "GLANCE", 0.0)


def test_a_robbed_kan_is_played(tmp_path: Path) -> None:
    text = ROBBED.replace('"5p5p", "5p9s"', '"5p5p9m", "5p9s"')
    game = record.load(scenario(tmp_path, text), seed=4)
    assert game.id == "槍槓"
    table, host = SimTable(Options(seed=4, sorts=True), game), Host()
    assert Pair(table, host).run(lambda: table.over, limit=60.0)
    shadow = Shadow({tag: tile for s in table.parts.sets for tag, tile in s.tiles.items()})
    for message in host.messages():
        if not isinstance(message, m.TileEvent) or message.zone >> 4 != 2:
            shadow.see(message)  # hands are sorted: their slots are of no interest
    assert [e["t"] for e in shadow.of(0, "dora")] == ["1z", "7z"]
    assert shadow.of(0, "meld")[-1]["t"] == "0p"
    assert {e["p"] for e in shadow.of(0, "laid")} == {2}
    assert {e["p"] for e in shadow.of(1, "laid")} == {0, 3}
    assert shadow.of(0, "ura"), "the winner was in riichi"


def test_what_is_not_named_comes_by_seed(tmp_path: Path) -> None:
    text = ROBBED.replace('"5p5p", "5p9s"', '"5p5p9m", "5p9s"')
    path = scenario(tmp_path, text)
    assert record.load(path, 1) == record.load(path, 1)
    assert record.load(path, 1).hands[0].wall != record.load(path, 2).hands[0].wall


@pytest.mark.parametrize(
    ("old", "new", "tells"),
    [
        ("0 pons 5p with 5p5p", "0 steals 5p", "line 3.*says nothing"),
        ("2 wins on 0p of 0", "", "no end"),
        ('"1m1m1m1m"', '"1m1m1m1m1m"', "no set holds these tiles: 1m"),
        ('"3p4p"', '"3q"', "no set holds these tiles: 3q"),
        ('hands = ["5p5p"', 'hands = ["", "5p5p"', "hands are four"),
        ("[[hand]]", "[[round]]", r"no \[\[hand\]\]"),
        ('id = "槍槓"', "id = ", "no scenario"),
    ],
)
def test_a_mistake_is_said_where_it_is(tmp_path: Path, old: str, new: str, tells: str) -> None:
    with pytest.raises(RecordError, match=tells):
        record.load(scenario(tmp_path, ROBBED.replace(old, new)))
