"""Scoring, shanten and waits against PyPI `mahjong`: same process, same hands, one core, taken in turns.

    python -m benchmarks scoring

The hands are drawn in another process, so that none of them was ever seen by the one that is timed. Objects of
both sides are prepared outside the timer; the second table starts from strings. Before any number is printed
both sides must have agreed on every hand.
"""

from __future__ import annotations

import cProfile
import gc
import multiprocessing
import platform
import pstats
import random
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from time import process_time
from typing import Any

from mahjong.hand_calculating.hand import HandCalculator
from mahjong.hand_calculating.hand_config import HandConfig, OptionalRules
from mahjong.meld import Meld as MahjongMeld
from mahjong.shanten import Shanten
from mahjong.tile import TilesConverter

from tablectl.engine.rules import Ruleset, load
from tablectl.engine.scoring import Key, Win, WinSituation, key_of, preload, scorer, shanten
from tablectl.engine.scoring.cases import read_case
from tablectl.engine.scoring.suits import tables
from tablectl.engine.scoring.waits import waits
from tests.scoring.oracles import MahjongCase, for_mahjong, mahjong_options, mahjong_payments
from tests.scoring.random_wins import Case, random_wins

HANDS = 6000
BLOCK = 1000
"""Hands timed at a stretch before the other side has its turn: noise of the machine meets both."""
RULESET = "tenhou"
SEED = 20261130
GOALS = {"scoring": 10.0, "from strings": 3.0, "shanten": 10.0}


def main() -> int:
    """Print the tables; returns 1 when the two sides disagree anywhere."""
    print(f"CPython {platform.python_version()}, {platform.machine()}, {HANDS} hands, seed {SEED}")
    import_ms, table_ms, table_mb = _footprint()
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        cases = pool.apply(draw_wins, (SEED, HANDS))
    rules = load(RULESET)
    agreed = _scoring(cases, rules)
    agreed = _shanten() and agreed
    _waits()
    print(f"import of the public face      {import_ms:8.0f} ms   goal < 150")
    print(f"all tables, on first use       {table_ms:8.0f} ms")
    print(f"memory of code and tables      {table_mb:8.1f} MB   goal < 60")
    _profile(cases, rules)
    return 0 if agreed else 1


def draw_wins(seed: int, number: int) -> list[Case]:
    """Winning hands with a yaku, drawn where nobody times anything."""
    rules = load(RULESET)
    score = scorer(rules)
    found = []
    for case in random_wins(seed, 2 * number, RULESET):
        if score(read_case(case)[0]).valid:
            found.append(case)
            if len(found) == number:
                return found
    raise AssertionError("too few of the shapes are wins")


# --- scoring ------------------------------------------------------------------------------------------


def _scoring(cases: list[Case], rules: Ruleset) -> bool:
    options = mahjong_options(rules)
    situations = [read_case(case)[0] for case in cases]
    theirs = [for_mahjong(situation, rules, options) for situation in situations]
    score = scorer(rules)
    # Both sides have run once, on hands that are not among the timed: code and tables are there.
    for case in random_wins(SEED + 1, 300, RULESET):
        situation = read_case(case)[0]
        score(situation)
        for_mahjong(situation, rules, options).run()
    fast, slow = _in_turns(score, situations, MahjongCase.run, theirs)
    agreed = _agree(map(score, situations), map(MahjongCase.run, theirs))
    _row("scoring", fast, slow)
    floor = _seconds(_floor, situations)
    print(
        f"{'':14} of it {1e6 * floor / HANDS:.2f} µs are the floor: unpack the facts, look up four suits, build the result"
    )

    def from_strings(case: Case) -> Any:
        return score(read_case(case)[0])

    def their_from_strings(case: Case) -> Any:
        return _from_strings(case, options)

    fast, slow = _in_turns(from_strings, cases, their_from_strings, cases)
    agreed = _agree(map(from_strings, cases), map(their_from_strings, cases)) and agreed
    _row("from strings", fast, slow)
    return agreed


def _floor(situation: WinSituation) -> tuple[object, ...]:
    """What no scorer of this shape can leave out: one look-up a suit, one object for the answer."""
    layout = situation.layout
    bits, first, second, third, honours, *_ = layout
    numbers, honours_table = tables()
    splits = (
        numbers.get(first, ()),
        numbers.get(second, ()),
        numbers.get(third, ()),
        honours_table.get(honours, (0, 0)),
    )
    return tuple.__new__(Win, (bits, *splits, situation, layout, None, None, None, None))


def _in_turns(
    ours: Callable[[Any], Any],
    our_hands: Sequence[Any],
    peer: Callable[[Any], Any],
    their_hands: Sequence[Any],
) -> tuple[float, float]:
    """Seconds of each side over all hands, each hand once."""
    fast = slow = 0.0
    gc.collect()
    gc.freeze()  # what was prepared is no garbage of the timed part
    for start in range(0, len(our_hands), BLOCK):
        fast += _seconds(ours, our_hands[start : start + BLOCK])
        slow += _seconds(peer, their_hands[start : start + BLOCK])
    return fast, slow


def _agree(wins: Iterable[Any], responses: Iterable[Any]) -> bool:
    """Whether han, fu and payments are the same; worked out again, not timed."""
    wrong = 0
    for win, response in zip(wins, responses, strict=True):
        assert isinstance(win, Win)
        same = (
            response.error is None
            and mahjong_payments(response, tsumo=win.situation.is_tsumo) == win.payments
        )
        if same and not win.yakuman_count:
            same = (response.han, response.fu) == (win.han, win.fu)
        wrong += not same
    if wrong:
        print(f"the two sides DISAGREE on {wrong} of {HANDS} hands")
    return not wrong


def _row(name: str, fast: float, slow: float) -> None:
    rate, other = HANDS / fast, HANDS / slow
    print(
        f"{name:14} tablectl {rate:9.0f} hands/s ({1e6 / rate:6.2f} µs)   "
        f"mahjong {other:8.0f} hands/s ({1e6 / other:6.2f} µs)   "
        f"ratio {rate / other:5.1f}   goal ≥ {GOALS[name]:.0f}"
    )


_MELDS = {
    "chi": MahjongMeld.CHI, "pon": MahjongMeld.PON, "ankan": MahjongMeld.KAN,
    "daiminkan": MahjongMeld.KAN, "kakan": MahjongMeld.SHOUMINKAN,
}  # fmt: skip
_WIND = {wind: 27 + place for place, wind in enumerate("ESWN")}


def _from_strings(case: Case, options: OptionalRules) -> Any:
    """The same case for the library, as a program that has strings would call it."""
    parse = TilesConverter.one_line_string_to_136_array
    melds = [
        MahjongMeld(_MELDS[one["type"]], parse(one["tiles"], True), opened=one["type"] != "ankan")
        for one in case["melds"]
    ]
    flags = case["flags"]
    tsumo = case["win"] == "tsumo"
    dealer = case["seat_wind"] == "E"
    first = tsumo and "first_turn" in flags
    config = HandConfig(
        is_tsumo=tsumo,
        is_riichi=case["riichi"] == 1,
        is_daburu_riichi=case["riichi"] == 2,
        is_ippatsu="ippatsu" in flags,
        is_rinshan="rinshan" in flags,
        is_chankan="chankan" in flags,
        is_haitei="haitei" in flags,
        is_houtei="houtei" in flags,
        is_tenhou=first and dealer,
        is_chiihou=first and not dealer,
        player_wind=_WIND[case["seat_wind"]],
        round_wind=_WIND[case["round_wind"]],
        kyoutaku_number=case["deposits"],
        tsumi_number=case["honba"],
        options=options,
    )
    tiles = case["concealed"] + case["win_tile"] + "".join(one["tiles"] for one in case["melds"])
    return HandCalculator.estimate_hand_value(
        parse(tiles, True),
        parse(case["win_tile"], True)[0],
        melds,
        [parse(one, True)[0] for one in case["dora_indicators"]],
        config,
        ura_dora_indicators=[parse(one, True)[0] for one in case["ura_indicators"]],
    )


# --- shanten and waits --------------------------------------------------------------------------------


def _shanten() -> bool:
    preload()
    rng = random.Random(SEED)
    deals = [rng.sample(range(136), 13) for _ in range(HANDS)]
    keys = [key_of(tile // 4 for tile in deal) for deal in deals]
    counts = [TilesConverter.to_34_array(deal) for deal in deals]
    fast, slow = _in_turns(shanten, keys, Shanten.calculate_shanten, counts)
    _row("shanten", fast, slow)
    agreed = list(map(shanten, keys)) == list(map(Shanten.calculate_shanten, counts))
    if not agreed:
        print("the two sides DISAGREE on shanten")
    return agreed


def _waits() -> None:
    """Tenpai hands met for the first time, then once more."""
    hands: list[Key] = []
    for case in random_wins(SEED + 2, HANDS, RULESET):
        situation, _ = read_case(case)
        if not situation.melds:
            hands.append(key_of(situation.concealed))
    first, again = _seconds(waits, hands), _seconds(waits, hands)
    print(
        f"waits of a 13-tile tenpai hand {1e6 * again / len(hands):8.2f} µs warm, "
        f"{1e6 * first / len(hands):.2f} µs when first met   goal < 20 warm"
    )


def _seconds(call: Callable[[Any], Any], hands: Sequence[Any]) -> float:
    begun = process_time()
    for hand in hands:
        call(hand)
    return process_time() - begun


# --- footprint and profile ----------------------------------------------------------------------------

_IMPORT = """
import time
t = time.process_time()
import tablectl.engine.scoring
print(1000 * (time.process_time() - t))
t = time.process_time()
tablectl.engine.scoring.preload()
print(1000 * (time.process_time() - t))
"""
_MEMORY = """
import gc, tracemalloc
from tablectl.engine.rules import load
from tests.scoring.random_wins import random_wins
cases = list(random_wins(1, 3000))
import tablectl.engine.errors, tablectl.engine.tiles
tracemalloc.start()
from tablectl.engine.scoring import key_of, preload, score, shanten
from tablectl.engine.scoring.cases import read_case
from tablectl.engine.scoring.suits import tables
from tablectl.engine.scoring.waits import waits
preload()
for case in cases:
    situation, rules = read_case(case)
    score(situation, rules)
    waits(situation.key)
    shanten(situation.key)
del situation, case
gc.collect()
print(tracemalloc.get_traced_memory()[0] / 2**20)
"""


def _footprint() -> tuple[float, float, float]:
    """Milliseconds to import and to fill the tables (best of three), MB of code and tables after 3,000 hands."""
    runs = [_fresh(_IMPORT) for _ in range(3)]
    return min(run[0] for run in runs), min(run[1] for run in runs), _fresh(_MEMORY)[0]


def _fresh(code: str) -> list[float]:
    """The numbers a new interpreter prints."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return [float(word) for word in done.stdout.split()]


def _profile(cases: list[Case], rules: Ruleset) -> None:
    situations = [read_case(case)[0] for case in cases]
    score = scorer(rules)
    profile = cProfile.Profile()
    profile.enable()
    for situation in situations:
        score(situation)
    profile.disable()
    stats = pstats.Stats(profile).stats  # type: ignore[attr-defined] # typeshed lacks it
    total = sum(row[2] for row in stats.values())
    print("\nwhere the time of scoring goes (cProfile, own time)")
    for (file, _, name), row in sorted(stats.items(), key=lambda item: -item[1][2])[:8]:
        where = file.rpartition("/")[2]
        print(
            f"  {100 * row[2] / total:5.1f} %  {row[0]:7d} calls  {name} {where if where != '~' else ''}"
        )


if __name__ == "__main__":
    sys.exit(main())
