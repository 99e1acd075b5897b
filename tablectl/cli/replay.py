"""`tablectl replay FILE… --check`: game records and journals through the engine, everything compared."""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tablectl.records.replay import Report

SHOWN = 20
PROGRESS_EVERY_S = 1.0


def configure(parser: argparse.ArgumentParser) -> None:
    """Arguments of `tablectl replay`."""
    parser.epilog = (
        "FILE is a file of game records, one JSON game a line, plain or compressed (.xz, .gz), or a\n"
        "journal of tablectl; FILE#ID picks one game of it. Every act must be legal, every win's yaku,\n"
        "han, fu, points and payments, every next dealer, honba and deposits, the final scores and\n"
        "points must be those the engine finds. A field that is null in the record is counted, not\n"
        "compared; games played with chips or other extras are left out and counted.\n\n"
        "examples:\n"
        "  tablectl replay games.jsonl.xz --check\n"
        "  tablectl replay games.jsonl.xz#g0002 --check --json\n"
        "  tablectl replay journal.sqlite --check\n\n"
        "exit codes: 0 all agree, 1 something differs, 2 a file that cannot be read"
    )
    parser.add_argument(
        "files", nargs="+", metavar="FILE", help="records or a journal; FILE#ID: one game"
    )
    parser.add_argument(
        "--check",
        action="store_true",
        help="compare with the record (without it: only play, and report)",
    )
    parser.add_argument("--json", action="store_true", help="the summary as one JSON object")
    parser.add_argument("--quiet", action="store_true", help="no progress on standard error")


def run(args: argparse.Namespace) -> int:
    """0 all agree, 1 mismatches, 2 unreadable input."""
    from tablectl.engine.rules import RuleError
    from tablectl.records.reader import RecordError
    from tablectl.records.replay import Report

    report = Report()
    progress = _Progress(report, quiet=args.quiet or not sys.stderr.isatty())
    started = time.perf_counter()
    try:
        skipped = [line for name in args.files for line in _play(name, report, progress)]
    except (RecordError, RuleError) as error:
        progress.clear()
        if args.json:
            print(
                json.dumps(
                    {"error": {"code": error.code, "message": str(error)}}, ensure_ascii=False
                )
            )
        else:
            print(f"tablectl replay: {error}", file=sys.stderr)
        return 2
    progress.clear()
    seconds = time.perf_counter() - started
    if not args.check:
        report.mismatches = [one for one in report.mismatches if one.what == "refused"]
    if args.json:
        print(json.dumps(_summary(report, skipped, seconds), ensure_ascii=False))
    else:
        _print(report, skipped, seconds, checked=args.check)
    return 1 if report.mismatches else 0


def _play(name: str, report: Report, progress: _Progress) -> list[str]:
    """Plays one file into the report; the games left out, each with its reason."""
    from tablectl.records.reader import RecordError, read_records, split_name
    from tablectl.records.replay import GameReplay

    path, wanted = split_name(name)
    if _is_journal(path):
        return _play_journal(path, wanted, report, progress)

    skipped = []
    for record in read_records(name):
        try:
            GameReplay(record, report).run()
        except RecordError as error:
            if error.code not in ("special_rules", "three_player_game"):
                raise
            skipped.append(f"{record.id}: {error.message}")
        progress.tick()
    return skipped


def _is_journal(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(16) == b"SQLite format 3\0"
    except OSError:
        return False


def _play_journal(path: Path, wanted: str | None, report: Report, progress: _Progress) -> list[str]:
    """Every game of a journal, decided again from its own events."""
    from itertools import groupby

    from tablectl.engine.game.codec import VocabularyError
    from tablectl.engine.game.events import event_from_json
    from tablectl.journal.errors import JournalError
    from tablectl.journal.reader import open_reads
    from tablectl.records.reader import RecordError
    from tablectl.records.recheck import recheck

    found = False
    try:
        with open_reads(path) as reads:
            for game in reads.games():
                if wanted not in (None, game.game_id):
                    continue
                found = True
                stored = reads.events_of_game(game.table_id, game.game_id)
                groups = [
                    (command_id, [event_from_json(one.data) for one in group])
                    for command_id, group in groupby(stored, key=lambda one: one.command_id or "")
                ]
                recheck(game.game_id, groups, report)
                progress.tick()
    except (JournalError, VocabularyError) as error:
        raise RecordError("unreadable", str(error), where=str(path)) from None
    if not found:
        raise RecordError(
            "no_such_game", "no game" if wanted is None else f"no game {wanted!r}", where=str(path)
        )
    return []


class _Progress:
    """One line on standard error that says how far it is."""

    def __init__(self, report: Report, *, quiet: bool) -> None:
        self.report = report
        self.quiet = quiet
        self.last = time.monotonic()

    def tick(self) -> None:
        now = time.monotonic()
        if self.quiet or now - self.last < PROGRESS_EVERY_S:
            return
        self.last = now
        report = self.report
        print(
            f"\r{report.games} games, {report.hands} hands, {len(report.mismatches)} differences",
            end="",
            file=sys.stderr,
            flush=True,
        )

    def clear(self) -> None:
        if not self.quiet:
            print("\r" + " " * 60 + "\r", end="", file=sys.stderr, flush=True)


def _summary(report: Report, skipped: list[str], seconds: float) -> dict[str, Any]:
    return {
        "games": report.games,
        "hands": report.hands,
        "wins": report.wins,
        "events": report.events,
        "mismatches": [one.to_json() for one in report.mismatches],
        "uncompared": report.uncompared,
        "skipped": skipped,
        "hands_per_s": round(report.hands / seconds, 1) if seconds else 0,
    }


def _print(report: Report, skipped: list[str], seconds: float, *, checked: bool) -> None:
    for one in report.mismatches[:SHOWN]:
        print(one)
    if len(report.mismatches) > SHOWN:
        print(f"… and {len(report.mismatches) - SHOWN} more (--json has all)")
    for line in skipped:
        print(f"left out: {line}")
    word = "differences" if checked else "refusals"
    print(
        f"{report.games} games, {report.hands} hands, {report.wins} wins: "
        f"{len(report.mismatches)} {word}, {report.uncompared} fields null in the record "
        f"({report.hands / seconds:.0f} hands/s)"
    )
