"""`tablectl doctor`: what is wrong with this hall, with a fix in each line."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tablectl.doctor.finding import Finding


def configure(parser: argparse.ArgumentParser) -> None:
    """Arguments of `tablectl doctor`."""
    parser.description = (
        "Look at everything a hall's tables need: configuration, clock, disk, journal, ports and their\n"
        "rights, boards and their firmware, broker, credentials, rights, leftovers. One line each:\n"
        "ok, warn or fail, and after the arrow what to do. It may run beside the daemon."
    )
    parser.epilog = (
        "examples:\n"
        "  tablectl doctor --config /etc/tablectl/tablectl.toml\n"
        "  tablectl doctor --json | python3 -m json.tool\n"
        "  tablectl doctor --remove-leftovers          clear retained messages nobody keeps up to date\n\n"
        "Without a running daemon each port is opened and the board greeted; no motion is commanded,\n"
        "and events that wait on the board stay there. Some boards start anew when they are opened.\n\n"
        "exit codes: 0 nothing fails (warnings may be there), 1 something fails, 2 configuration"
    )
    parser.add_argument(
        "--config", type=Path, default=Path("tablectl.toml"), metavar="FILE", help="the hall's file"
    )
    parser.add_argument("--json", action="store_true", help="all lines as one JSON object")
    parser.add_argument(
        "--wait", type=_seconds, default=6.0, metavar="S", help="seconds a board may take to answer"
    )
    parser.add_argument(
        "--no-verify", action="store_true", help="leave the journal's seals alone (a large file)"
    )
    parser.add_argument(
        "--remove-leftovers",
        action="store_true",
        help="clear retained requests, events and tables that the file does not have",
    )


def run(args: argparse.Namespace) -> int:
    """0 nothing fails, 1 something fails, 2 the configuration cannot be used."""
    from tablectl.config import ConfigError, load

    try:
        settings = load(args.config)
    except ConfigError as error:
        return _bad_config(error, as_json=args.json)

    import asyncio
    import logging

    from tablectl.doctor.examine import Plan, examine

    plan = Plan(args.wait, verify=not args.no_verify, remove_leftovers=args.remove_leftovers)
    say = (lambda _finding: None) if args.json else _print
    log = logging.getLogger("tablectl")
    level = log.level
    # What the parts log while they are looked at is said by the lines.
    log.setLevel(logging.CRITICAL + 1)
    try:
        found = asyncio.run(examine(settings, args.config, plan, say=say, progress=_progress))
    finally:
        log.setLevel(level)
    fails = sum(finding.status == "fail" for finding in found)
    warnings = sum(finding.status == "warn" for finding in found)
    if args.json:
        _print_json(found, fails, warnings)
    else:
        print(
            f"{len(found)} looked at: {_count(fails, 'fails', 'fail')}, {_count(warnings, 'warning', 'warnings')}"
        )
    return 1 if fails else 0


def _bad_config(error: object, *, as_json: bool) -> int:
    from tablectl.config import ConfigError
    from tablectl.doctor.finding import fail

    assert isinstance(error, ConfigError)
    lines = [
        fail(
            "config", f"{p.file}:{p.line}:{p.column}" if p.line else p.file, p.code, p.message,
            "; ".join(part for part in (p.hint, f"example: {p.example}" if p.example else "") if part),
        )
        for p in error.problems
    ]  # fmt: skip
    if as_json:
        _print_json(lines, len(lines), 0)
    else:
        for line in lines:
            print(line, file=sys.stderr)
    return 2


def _print(finding: Finding) -> None:
    if sys.stderr.isatty():
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)
    print(finding, flush=True)


def _print_json(found: list[Finding], fails: int, warnings: int) -> None:
    report = {
        "ok": not fails,
        "fails": fails,
        "warnings": warnings,
        "lines": [finding.as_json() for finding in found],
    }
    print(json.dumps(report, ensure_ascii=False))


def _progress(rows: int) -> None:
    if sys.stderr.isatty():
        print(f"\rjournal: {rows:,} rows …", end="", file=sys.stderr, flush=True)


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0.1 <= value <= 120:
        raise argparse.ArgumentTypeError(f"{text!r} is no time: write seconds from 0.1 to 120")
    return value
