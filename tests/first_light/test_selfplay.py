"""Self-play: complete records of our own making, the same for the same seed, every win checked by strangers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from mahjong.constants import EAST as ORACLE_EAST
from mahjong.hand_calculating.hand import HandCalculator
from mahjong.hand_calculating.hand_config import HandConfig, OptionalRules
from mahjong.meld import Meld
from mahjong.tile import TilesConverter

from tablectl.cli.main import main
from tablectl.engine import rules
from tablectl.engine.rules import Ruleset
from tablectl.records import bundled
from tablectl.records.reader import Record, read_records, ruleset_of
from tablectl.records.replay import replay
from tablectl.records.selfplay import FEATURES, SelfPlay, as_line, features, games
from tests.conftest import scaled

RULESETS = rules.ids()


@pytest.mark.parametrize("name", RULESETS)
def test_games_under_every_ruleset_pass_our_own_replay_and_another_library(name: str) -> None:
    records = []
    for seed in range(100, 100 + scaled(200, 2)):
        raw = SelfPlay(rules.load(name), seed).record(f"{name}-{seed}")
        records.append(Record(raw["id"], name, json.loads(as_line(raw))))
    report = replay(records)
    assert report.mismatches == []
    assert report.wins > len(records)
    judged, wins = _judged(records)
    assert wins == report.wins
    assert judged > 0.8 * wins


def test_the_same_seed_gives_the_same_bytes_and_another_seed_does_not() -> None:
    def play(seed: int) -> str:
        return as_line(SelfPlay(rules.load("tenhou", {"length": "tonpuusen"}), seed).record("g"))

    assert play(5) == play(5)
    assert play(5) != play(6)


@pytest.mark.parametrize("name", bundled.SOURCES)
def test_each_bundled_game_holds_all_a_demo_shows_and_is_what_selfplay_makes(name: str) -> None:
    (record,) = read_records(bundled.resolve(name))
    assert features(record.rounds) == set(FEATURES)
    assert replay([record]).mismatches == []
    own = record.raw["x_tablectl"]
    # When rules or player have changed: python -m tablectl.records.bundled
    again = SelfPlay(rules.load(own["ruleset_id"]), own["seed"]).record(record.id)
    assert json.loads(as_line(again)) == record.raw


@pytest.mark.parametrize("name", bundled.SOURCES)
def test_every_bundled_win_is_computed_again_by_another_library(name: str) -> None:
    """How many wins it could judge is part of the claim."""
    (record,) = read_records(bundled.resolve(name))
    judged, wins = _judged([record])
    assert judged >= wins - 1
    assert judged >= 5


def _judged(records: list[Record]) -> tuple[int, int]:
    """Wins that PyPI `mahjong` scored as we did, and all wins; fails where they differ."""
    judged = wins = 0
    for record in records:
        own = ruleset_of(record)
        for round_ in record.rounds:
            for win in (e for e in round_["events"] if e["e"] == "win"):
                wins += 1
                if _within_reach(own, round_, win):
                    ours = win["han"], win["fu"], win["points"]
                    assert ours == _oracle(record, round_, win), (record.id, win)
                    judged += 1
    return judged, wins


def _within_reach(own: Ruleset, round_: dict[str, Any], win: dict[str, Any]) -> bool:
    """Its options know no rule of ours for these: yakuman that add up or not, a pair of double wind
    (rules row 136), rinshan without the two fu (131), a counted yakuman that is none (125)."""
    if win["yakuman"] or (win["han"] >= 13 and own.counted_yakuman != 13):
        return False
    seat = (win["p"] - round_["dealer"]) % 4
    tiles = win["hand"] + win["t"]
    pairs = [tiles[i : i + 2] for i in range(0, len(tiles), 2)]
    double_wind = f"{seat + 1}z" if seat == "ESWN".index(round_["wind"]) else ""
    if own.double_wind_pair_fu != 4 and pairs.count(double_wind) == 2:
        return False
    return own.rinshan_tsumo_fu != 0 or ("rinshan", 1) not in map(tuple, win["yaku"])


def _oracle(record: Record, round_: dict[str, Any], win: dict[str, Any]) -> tuple[int, int, int]:
    own = ruleset_of(record)
    tsumo = win["p"] == win["from"]
    melds = [_oracle_meld(meld) for meld in win["melds"]]
    tiles = win["hand"] + win["t"] + "".join(meld["tiles"] for meld in win["melds"])
    named = {yaku for yaku, _ in win["yaku"]}
    config = HandConfig(
        is_tsumo=tsumo,
        is_riichi=bool(named & {"riichi", "double_riichi"}),
        is_daburu_riichi="double_riichi" in named,
        is_ippatsu="ippatsu" in named,
        is_rinshan="rinshan" in named,
        is_chankan="chankan" in named,
        is_haitei="haitei" in named,
        is_houtei="houtei" in named,
        player_wind=ORACLE_EAST + (win["p"] - round_["dealer"]) % 4,
        round_wind=ORACLE_EAST + "ESWN".index(round_["wind"]),
        options=OptionalRules(
            has_open_tanyao=own.kuitan,
            has_aka_dora=own.aka,
            kiriage=own.kiriage,
            fu_for_pinfu_tsumo=False,
            fu_for_open_pinfu=True,
        ),
    )
    # Each kan tile of one kind has its own number; the winning tile is taken from the closed part.
    numbers = _numbers(tiles)
    place = len(win["hand"]) // 2
    result = HandCalculator().estimate_hand_value(
        sorted(numbers),
        numbers[place],
        melds=_numbered(melds, numbers[place + 1 :]),
        dora_indicators=_numbers(win["dora"] + win["ura"]),
        config=config,
    )
    assert result.error is None, (result.error, win)
    cost = result.cost
    points = cost["main"]
    if tsumo:
        dealer = win["p"] == round_["dealer"]
        points = 3 * cost["main"] if dealer else cost["main"] + 2 * cost["additional"]
    return result.han, result.fu, points


def _numbers(text: str) -> list[int]:
    """136-numbers of tiles; a red five is the first copy of its kind, plain fives the others."""
    order = {"m": 0, "p": 9, "s": 18, "z": 27}
    used: dict[int, int] = {}
    out = []
    for i in range(0, len(text), 2):
        number, suit = int(text[i]), text[i + 1]
        if number == 0:
            out.append(4 * (order[suit] + 4))
            continue
        kind = order[suit] + number - 1
        first = 1 if number == 5 and suit != "z" else 0
        copy = used.get(kind, first)
        used[kind] = copy + 1
        out.append(4 * kind + copy % 4)
    return out


def _oracle_meld(meld: dict[str, Any]) -> tuple[str, bool, int]:
    kind = {"chi": Meld.CHI, "pon": Meld.PON}.get(meld["k"], Meld.KAN)
    return kind, meld["k"] != "ankan", len(meld["tiles"]) // 2


def _numbered(melds: list[tuple[str, bool, int]], numbers: list[int]) -> list[Meld]:
    out = []
    for kind, opened, size in melds:
        tiles, numbers = numbers[:size], numbers[size:]
        out.append(Meld(meld_type=kind, tiles=sorted(tiles), opened=opened))
    return out


def test_the_oracle_reads_tiles_as_we_write_them() -> None:
    assert TilesConverter.to_one_line_string(sorted(_numbers("1m0p5p7z"))) == "1m55p7z"


# ---- the command ----------------------------------------------------------------------------------------


def test_selfplay_writes_files_that_replay_accepts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "games.jsonl.xz"
    options = ["--ruleset", "tenhou", "--option", "length=tonpuusen", "--games", "2", "--seed", "3"]
    assert main(["selfplay", *options, "--out", str(file)]) == 0
    assert [record.id for record in read_records(str(file))] == ["tenhou-3", "tenhou-4"]
    assert main(["replay", str(file), "--check"]) == 0
    capsys.readouterr()
    assert main(["selfplay", *options]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 2


def test_need_passes_over_games_that_lack_something() -> None:
    ruleset = rules.load("tenhou", {"length": "tonpuusen"})
    plain = next(games(ruleset, 0))
    rare = next(games(ruleset, 0, need=frozenset({"kan", "exhaustive"})))
    assert {"kan", "exhaustive"} <= set(rare["tags"])
    assert rare["x_tablectl"]["seed"] >= plain["x_tablectl"]["seed"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--ruleset", "tenho"], "tenhou"),
        (["--option", "length"], "NAME=VALUE"),
        (["--option", "lenght=hanchan"], "lenght"),
        (["--need", "luck"], "no such feature"),
        (["--games", "0"], "nothing to play"),
        (["--out", "/nowhere/at/all.jsonl"], "/nowhere/at/all.jsonl"),
    ],
)
def test_what_makes_no_sense_is_told(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["selfplay", *arguments]) == 2
    assert words in capsys.readouterr().err
