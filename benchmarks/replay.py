"""`replay --check` on one core: games and hands a second, beside jansou replaying the same games.

jansou offers each decision's menu and checks each event; it compares no scores while it does so, so its wins are
checked by `check_paifu` on top: the same work as `tablectl replay --check`.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

from tablectl.records.reader import Record, read_records
from tablectl.records.replay import Report, replay
from tests.conftest import SHARED

GOAL_FACTOR = 5
GOAL_SECONDS = 60
PEER_GAMES = 40
"""jansou is slower; a sample is enough for its rate."""


def main() -> int:
    """Print the table; 1 where a goal is missed, 2 where there are no records."""
    path = SHARED / "data" / "games.jsonl.xz"
    if not path.exists():
        print("   ../shared/data/games.jsonl.xz is not here: nothing to replay", file=sys.stderr)
        return 2
    games = list(read_records(str(path)))
    plain = [game for game in games if game.site == "tenhou" and game.raw["format"] == "mjlog"]
    sample = plain[:: max(1, len(plain) // PEER_GAMES)][:PEER_GAMES]
    replay(sample[:2])  # tables filled

    report = Report()
    whole = _timed(lambda: replay(games, report))
    ours = _timed(lambda: replay(sample))
    theirs = _timed(lambda: _jansou(sample))
    hands = sum(len(game.rounds) for game in sample)
    print(f"   {'':34}{'games/s':>10}{'hands/s':>10}")
    _line(f"tablectl, {len(games)} games", len(games), report.hands, whole)
    _line(f"tablectl, {len(sample)} plain Tenhou games", len(sample), hands, ours)
    _line(f"jansou,   the same {len(sample)} games", len(sample), hands, theirs)
    factor = theirs / ours
    print(
        f"   {factor:.1f} times jansou (goal {GOAL_FACTOR}); {len(games)} games in {whole:.1f} s of one core (goal {GOAL_SECONDS})"
    )
    print(f"   {len(report.mismatches)} mismatches, {report.uncompared} fields null in the records")
    return int(bool(report.mismatches) or factor < GOAL_FACTOR or whole > GOAL_SECONDS)


def _timed(work: Callable[[], object]) -> float:
    started = time.process_time()
    work()
    return time.process_time() - started


def _line(name: str, games: int, hands: int, seconds: float) -> None:
    print(f"   {name:34}{games / seconds:10.1f}{hands / seconds:10.0f}")


def _jansou(games: list[Record]) -> None:
    from jansou.io.replay import replay_paifu
    from jansou.validation.check import check_paifu

    from tests.records.jansou_peer import paifu_of

    for game in games:
        paifu = paifu_of(game)
        for _ in replay_paifu(paifu):
            pass
        check_paifu(paifu)
