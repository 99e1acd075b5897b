"""`tablectl replay FILE… --check`: game records and journals through the engine, everything compared."""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tablectl.engine.rules import RuleError
    from tablectl.records.reader import RecordError
    from tablectl.records.replay import Report

SHOWN = 20
PROGRESS_EVERY_S = 1.0


def configure(parser: argparse.ArgumentParser) -> None:
    """Arguments of `tablectl replay`."""
    parser.epilog = (
        "FILE is a file of game records, one JSON game a line, plain or compressed (.xz, .gz), or a\n"
        "journal of tablectl; FILE#ID picks one game of it. Every act must be legal, every win's yaku,\n"
        "han, fu, points and payments, every next dealer, honba and deposits, the final scores and\n"
        "points must be those the engine finds, and every tile where the record's wall has it. A field\n"
        "that is null in the record is counted, not compared. Three-player games and those with chips or\n"
        "other extras are left out and named; one that cannot be read is an error, the others still play.\n\n"
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
    skipped: list[str] = []
    errors: list[RecordError | RuleError] = []
    started = time.perf_counter()
    for name in args.files:
        try:
            _play(name, report, progress, skipped, errors)
        except (RecordError, RuleError) as error:
            errors.append(error)
    progress.clear()
    seconds = time.perf_counter() - started
    if not args.check:
        report.mismatches = [one for one in report.mismatches if one.field == "refused"]
    if args.json:
        print(json.dumps(_summary(report, skipped, errors, seconds), ensure_ascii=False))
    else:
        _print(report, skipped, errors, seconds, checked=args.check)
    if errors:
        return 2
    return 1 if report.mismatches else 0


def _play(
    name: str,
    report: Report,
    progress: _Progress,
    skipped: list[str],
    errors: list[RecordError | RuleError],
) -> None:
    """Plays one file into the report; games left out and games that cannot be read do not end it."""
    from tablectl.engine.rules import RuleError
    from tablectl.records.reader import RecordError, read_records, split_name
    from tablectl.records.replay import GameReplay

    path, wanted = split_name(name)
    if _is_journal(path):
        _play_journal(path, wanted, report, progress)
        return
    for record in read_records(name, errors.append):
        try:
            GameReplay(record, report).run()
        except (RecordError, RuleError) as error:
            if error.code in ("special_rules", "three_player_game"):
                skipped.append(f"{record.id}: {error.message}")
            else:
                errors.append(error)
        progress.tick()


def _is_journal(path: Path) -> bool:
    if not path.is_file():
        return False  # a pipe gives its first octets only once
    try:
        with path.open("rb") as file:
            return file.read(16) == b"SQLite format 3\0"
    except OSError:
        return False


def _play_journal(path: Path, wanted: str | None, report: Report, progress: _Progress) -> None:
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


def _summary(
    report: Report, skipped: list[str], errors: list[RecordError | RuleError], seconds: float
) -> dict[str, Any]:
    return {
        "games": report.games,
        "hands": report.hands,
        "wins": report.wins,
        "events": report.events,
        "mismatches": [one.to_json() for one in report.mismatches],
        "uncompared": report.uncompared,
        "skipped": skipped,
        "errors": [{"code": one.code, "message": str(one)} for one in errors],
        "hands_per_s": round(report.hands / seconds, 1) if seconds else 0,
    }


def _print(
    report: Report,
    skipped: list[str],
    errors: list[RecordError | RuleError],
    seconds: float,
    *,
    checked: bool,
) -> None:
    for error in errors[:SHOWN]:
        print(f"tablectl replay: {error}", file=sys.stderr)
    if len(errors) > SHOWN:
        print(f"… and {len(errors) - SHOWN} more that cannot be read", file=sys.stderr)
    if not report.games and errors:
        return
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
        f"({report.hands / max(seconds, 1e-9):.0f} hands/s)"
    )
