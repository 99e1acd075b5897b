"""`tablectl demo`: one game through the whole bridge, with a live board."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

LEVELS = ("basic", "score", "tiles")


def configure(parser: argparse.ArgumentParser) -> None:
    """Arguments of `tablectl demo`."""
    parser.description = (
        "Play one game through the whole bridge: a simulated table on a real pty, the daemon, an MQTT\n"
        "broker, a subscriber and a live board. Nothing else is needed; nothing is left behind."
    )
    parser.epilog = (
        "levels:\n"
        "  basic   buttons, lift, dice: riichi and results come from an operator over MQTT\n"
        "  score   + sticks: the riichi slot is sensed, results come from the operator\n"
        "  tiles   + antennas: every tile is seen; nobody types anything\n\n"
        "examples:\n"
        "  tablectl demo                                        a bundled game, ten times human speed\n"
        "  tablectl demo --speed 1 --record saikouisen          another one, as slow as people are\n"
        "  tablectl demo --record games.jsonl.xz#g0002 --table-level basic --speed max\n"
        "  tablectl demo --speed max --headless --exit-at-end --json | tail -n 1\n\n"
        "exit codes: 0 played, 1 a subscriber missed something or the table did something twice,\n"
        "2 usage or a bad record, 130 interrupted before the end"
    )
    parser.add_argument(
        "--record",
        metavar="FILE[#ID]",
        help="game record (.jsonl, .xz, .gz), or a bundled one by its ruleset: tenhou (default), saikouisen, …",
    )
    parser.add_argument(
        "--table-level",
        choices=LEVELS,
        default="tiles",
        help="what the machine senses (default tiles)",
    )
    parser.add_argument(
        "--speed",
        type=_speed,
        default=10.0,
        metavar="N|max",
        help="times faster than people (default 10)",
    )
    parser.add_argument(
        "--seed",
        type=int,
        default=0,
        metavar="N",
        help="decides dice, walls and tags the record leaves open",
    )
    parser.add_argument(
        "--headless", action="store_true", help="open no browser and draw no live line"
    )
    parser.add_argument(
        "--exit-at-end",
        action="store_true",
        help="end with the game instead of keeping the page up",
    )
    parser.add_argument(
        "--json",
        action="store_true",
        help="last line of standard output: the end as a subscriber saw it",
    )
    parser.add_argument(
        "--wheel-broker",
        action="store_true",
        help="use the broker that comes as a package even where mosquitto is installed",
    )


def run(args: argparse.Namespace) -> int:
    """0 played, 1 findings, 2 usage, 130 interrupted."""
    from hardware_sim.errors import SimError
    from tablectl.cli.demo.process import DemoError
    from tablectl.cli.demo.show import Show, perform
    from tablectl.cli.demo.stage import Plan
    from tablectl.records.bundled import resolve
    from tablectl.records.reader import RecordError, read_records, ruleset_of

    name = resolve(args.record)
    try:
        record = next(iter(read_records(name)))
        ruleset_of(record)  # rules nobody can play by are told before anything is put up
        exact = name if "#" in name and not Path(name).exists() else f"{name}#{record.id}"
        plan = Plan(
            record,
            exact,
            level=args.table_level,
            speed=args.speed,
            seed=args.seed,
            wheel_broker=args.wheel_broker,
            known_port=not args.headless,
        )
        return perform(
            Show(plan, headless=args.headless, exit_at_end=args.exit_at_end, as_json=args.json)
        )
    except (RecordError, SimError) as error:
        print(f"tablectl demo: {error}", file=sys.stderr)
        return 2
    except DemoError as error:
        print(f"tablectl demo: {error}", file=sys.stderr)
        return 1


def _speed(text: str) -> float | None:
    if text == "max":
        return None
    try:
        speed = float(text)
    except ValueError:
        speed = 0.0
    if not 0.01 <= speed <= 1000:
        raise argparse.ArgumentTypeError(
            f"{text!r} is no speed: write a number from 0.01 to 1000, or max"
        )
    return speed
