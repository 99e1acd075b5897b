"""`tablectl journal verify | export | prune`: look after the file that remembers everything."""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

from tablectl.cli.parts import add_part
from tablectl.journal.check import check
from tablectl.journal.errors import JournalError
from tablectl.journal.model import StoredEvent, StoredFact
from tablectl.journal.reader import open_reads

EXIT_OK = 0
EXIT_FINDINGS = 1
EXIT_USAGE = 2

EPILOG = """\
examples:
  tablectl journal verify /var/lib/tablectl/journal.db
  tablectl journal export journal.db --list
  tablectl journal export journal.db --game 0193… > game.jsonl
  tablectl journal prune journal.db --older-than 365 --dry-run

'verify' and 'export' may run beside the daemon; 'prune' needs it stopped (or set
journal.keep_days, and the daemon prunes by itself). Exit: 0 all well, 1 findings,
2 usage, or a file that cannot be used.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    parser.epilog = EPILOG
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True, dest="action")

    verify = add_part(
        actions, "verify", "check seals, sequences and the file itself",
        "  tablectl journal verify /var/lib/tablectl/journal.db\n"
        "  tablectl journal verify journal.db --json | jq .ok",
        "0 every seal holds, 1 findings, 2 no journal, or of a newer version",
    )  # fmt: skip
    verify.add_argument("file", type=Path, help="the journal (SQLite file)")
    verify.add_argument("--json", action="store_true", help="print the report as JSON")

    export = add_part(
        actions, "export", "print facts and events as JSON lines, in the order in which they happened",
        "  tablectl journal export journal.db --list\n"
        "  tablectl journal export journal.db --game 0193… > game.jsonl\n"
        "  tablectl journal export journal.db --table t1 --events | jq -c .type",
        "0 ok, 2 no journal, no such game, or of a newer version",
    )  # fmt: skip
    export.add_argument("file", type=Path, help="the journal (SQLite file)")
    export.add_argument("--list", action="store_true", help="print the games held instead")
    export.add_argument("--table", help="only this table")
    export.add_argument("--game", help="only this game")
    export.add_argument("--events", action="store_true", help="leave the machine's facts out")

    prune = add_part(
        actions, "prune", "drop old games, oldest first, never the latest of a table",
        "  tablectl journal prune journal.db --older-than 365 --dry-run\n"
        "  sudo systemctl stop tablectl && sudo tablectl journal prune /var/lib/tablectl/journal.db --older-than 365",
        "0 done, 2 no journal, or the daemon holds it",
    )  # fmt: skip
    prune.add_argument("file", type=Path, help="the journal (SQLite file)")
    prune.add_argument(
        "--older-than", type=_days, required=True, metavar="DAYS", help="games whose end is older"
    )
    prune.add_argument("--table", help="only this table")
    prune.add_argument("--dry-run", action="store_true", help="say what would go, change nothing")
    prune.add_argument("--json", action="store_true", help="print the outcome as JSON")


def _days(text: str) -> float:
    try:
        days = float(text)
    except ValueError:
        days = -1.0
    if days < 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of days, such as 365")
    return days


def run(args: argparse.Namespace) -> int:
    """Run the action; errors of the file are told in one line."""
    try:
        if args.action == "verify":
            return _verify(args)
        if args.action == "export":
            return _export(args)
        return _prune(args)
    except JournalError as error:
        sys.stderr.write(f"tablectl journal: {error.message} [{error.code}]\n")
        if error.hint:
            sys.stderr.write(f"  → {error.hint}\n")
        return EXIT_USAGE


def _verify(args: argparse.Namespace) -> int:
    show = sys.stderr.isatty() and not args.json

    def progress(count: int) -> None:
        if show:
            sys.stderr.write(f"\r{count} rows checked")
            sys.stderr.flush()

    report = check(args.file, progress)
    if show:
        sys.stderr.write("\r\x1b[K")
    if args.json:
        print(
            json.dumps(
                {
                    "file": str(args.file),
                    "tables": report.tables,
                    "games": report.games,
                    "facts": report.facts,
                    "events": report.events,
                    "findings": [
                        {
                            "code": f.code,
                            "message": f.message,
                            "table": f.table_id,
                            "game": f.game_id,
                            "pos": f.pos,
                        }
                        for f in report.findings
                    ],
                },
                ensure_ascii=False,
            )
        )
    else:
        for f in report.findings:
            where = f"table {f.table_id}" + (f", game {f.game_id}" if f.game_id else "")
            print(f"{f.code}: {where + ': ' if f.table_id else ''}{f.message}")
        verdict = f"{len(report.findings)} findings" if report.findings else "all seals hold"
        print(
            f"{args.file}: {report.tables} tables, {report.games} games, {report.facts} facts, "
            f"{report.events} events: {verdict}"
        )
        if report.findings:
            print(
                "  → keep a copy of the file; the daemon sets a damaged file aside when it starts"
            )
    return EXIT_FINDINGS if report.findings else EXIT_OK


def _line(entry: StoredFact | StoredEvent) -> dict[str, Any]:
    common = {
        "pos": entry.pos,
        "table": entry.table_id,
        "game": entry.game_id,
        "t_wall_ms": entry.t_wall_ms,
        "t_mono_ms": entry.t_mono_ms,
        "epoch": entry.epoch,
        "time_synced": entry.time_synced,
    }
    if isinstance(entry, StoredFact):
        return {
            "row": "fact",
            **common,
            "kind": entry.kind,
            "boot_id": entry.boot_id,
            "event_no": entry.event_no,
            "uptime_ms": entry.uptime_ms,
            "data": entry.data,
        }
    return {
        "row": "event",
        **common,
        "id": entry.event_id,
        "type": entry.type,
        "command_id": entry.command_id,
        "seqs": dict(entry.seqs),
        "data": entry.data,
    }


def _export(args: argparse.Namespace) -> int:
    with open_reads(args.file) as reads:
        games = [
            line for line in reads.games(args.table) if args.game in {None, line.game_id}
        ]  # fmt: skip
        if args.game is not None and not games:
            sys.stderr.write(
                f"tablectl journal: no game {args.game!r} in {args.file}\n"
                f"  → tablectl journal export {args.file} --list\n"
            )
            return EXIT_USAGE
        for game in games:
            if args.list:
                print(
                    json.dumps(
                        {
                            "table": game.table_id,
                            "game": game.game_id,
                            "rows": game.length,
                            "seal": game.head.hex(),
                        },
                        ensure_ascii=False,
                    )
                )
                continue
            for entry in reads.game(game.table_id, game.game_id):
                if args.events and isinstance(entry, StoredFact):
                    continue
                print(json.dumps(_line(entry), ensure_ascii=False, sort_keys=True))
    return EXIT_OK


def _prune(args: argparse.Namespace) -> int:
    from tablectl.journal import retention
    from tablectl.journal.store import Store

    before = time.time_ns() // 1_000_000 - int(args.older_than * 86_400_000)
    if not args.file.is_file():
        sys.stderr.write(f"tablectl journal: {args.file}: no such file\n")
        return EXIT_USAGE
    store = Store(args.file)
    outcome: list[dict[str, Any]] = []
    try:
        tables = [args.table] if args.table else sorted({g.table_id for g in store.reads.games()})
        for table in tables:
            cut = retention.plan(store, table, before)
            if not args.dry_run:
                retention.prune(store, table, before)
            outcome.append({"table": table, "games": list(cut.games), "rows": cut.rows})
        if not args.dry_run and any(item["rows"] for item in outcome):
            store.db.execute("VACUUM")
    finally:
        store.close()
    if args.json:
        print(json.dumps({"dry_run": args.dry_run, "pruned": outcome}, ensure_ascii=False))
    else:
        word = "would go" if args.dry_run else "went"
        for item in outcome:
            print(f"table {item['table']}: {len(item['games'])} games, {item['rows']} rows {word}")
    return EXIT_OK
