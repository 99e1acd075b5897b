"""`tablectl sim`: a table without a table, on a pseudo-terminal, with people, faults and a console."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hardware_sim.people import Progress
    from hardware_sim.runner import RunConfig, RunningTable

CLEAR = "\x1b[H\x1b[2J"
REDRAW = 0.25
"""Seconds between two pictures of the live view."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Arguments of `tablectl sim`."""
    parser.epilog = (
        "examples:\n"
        "  tablectl sim --link /tmp/table --console         press the buttons yourself\n"
        "  tablectl sim --link /tmp/table --record games.jsonl#g0002 --level tiles --speed max\n"
        "  tablectl sim --record games.jsonl --faults tripped-cable --view --speed 10\n"
        "  tablectl sim --help-faults                       all sentences of the fault scripts\n\n"
        'Point the daemon at the --link path: port = "/tmp/table" in its configuration.\n'
        "exit codes: 0 ok, 1 an action was done twice, 2 usage, a bad record or script"
    )
    parser.add_argument(
        "--link",
        type=Path,
        metavar="PATH",
        help="symbolic link to the pty (else its own name is printed)",
    )
    parser.add_argument(
        "--record",
        metavar="FILE[#ID]",
        help="game record (.jsonl, .json, .xz, .gz) or scenario (.toml) to play",
    )
    parser.add_argument(
        "--faults", metavar="FILE|NAME", help="fault script: a file, or one that comes along"
    )
    parser.add_argument(
        "--level", default="tiles", metavar="LEVEL", help="basic, score or tiles (default)"
    )
    parser.add_argument(
        "--with",
        dest="add",
        action="append",
        default=[],
        metavar="CAPABILITY",
        help="what the table has beside its level, such as auto-deal",
    )
    parser.add_argument(
        "--without",
        dest="drop",
        action="append",
        default=[],
        metavar="CAPABILITY",
        help="what it lacks, such as tiles-drawn",
    )
    parser.add_argument(
        "--quirk",
        action="append",
        default=[],
        metavar="NAME",
        help="odd firmware: no-boot-id, slow, chatty, small-buffer, window-1, newer-minor, dtr-reset; sorting people",
    )
    parser.add_argument(
        "--seed",
        type=int,
        default=0,
        metavar="N",
        help="decides walls, dice, tags, jitter and errors (default 0)",
    )
    parser.add_argument(
        "--speed", default="1", metavar="N|max", help="times faster than people (default 1)"
    )
    parser.add_argument(
        "--tiles",
        type=Path,
        metavar="PATH",
        help="write tiles.toml, the map from tag to tile, here",
    )
    parser.add_argument(
        "--console", action="store_true", help="read commands from the keyboard ('help' lists them)"
    )
    parser.add_argument("--view", action="store_true", help="show the table, live")
    parser.add_argument("--exit-at-end", action="store_true", help="end when the record is played")
    parser.add_argument("--json", action="store_true", help="print the report as JSON at the end")
    parser.add_argument(
        "--help-faults", action="store_true", help="print the language of the fault scripts and end"
    )


def run(args: argparse.Namespace) -> int:
    """0 ok, 1 an action was executed twice, 2 what was asked cannot be simulated."""
    from hardware_sim.errors import SimError

    if args.help_faults:
        return _help_faults()
    try:
        return asyncio.run(_run(args, _config(args)))
    except SimError as error:
        sys.stderr.write(f"tablectl sim: {error}\n")
        return 2


def _help_faults() -> int:
    from hardware_sim.faults.language import bundled_names, manual
    from hardware_sim.faults.play import AREAS

    assert AREAS
    print("A script is a text file, one sentence a line: WHEN, WHAT.  '#' begins a comment.\n")
    print(manual())
    print("\nScripts that come along: " + ", ".join(bundled_names()))
    return 0


def _config(args: argparse.Namespace) -> RunConfig:
    from hardware_sim.quirks import with_capabilities, with_quirks
    from hardware_sim.runner import RunConfig
    from hardware_sim.table import Options
    from hardware_sim.transport import parse_speed

    options = Options(level=args.level, seed=args.seed, speed=parse_speed(args.speed))
    options = with_quirks(with_capabilities(options, args.add, args.drop), args.quirk)
    return RunConfig(
        options, record=args.record, link=args.link, tiles_toml=args.tiles, faults=args.faults,
        on_event=None if args.view or args.json else _say, exit_at_end=args.exit_at_end,
    )  # fmt: skip


def _say(progress: Progress) -> None:
    """One line per step of a hand that a person would follow."""
    words = {
        "hand": "start pressed", "lifted": "walls up", "dice": "dice lie still", "dealt": "dealt",
        "riichi": "riichi", "result": "hands open", "settled": "tiles in the machine", "over": "game over",
    }.get(progress.kind)  # fmt: skip
    if words:
        who = f" (seat {progress.seat})" if progress.seat >= 0 else ""
        print(f"hand {progress.hand + 1:2}  {words}{who}", flush=True)


async def _run(args: argparse.Namespace, config: RunConfig) -> int:
    from hardware_sim.runner import RunningTable

    running = RunningTable(config)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, running.stop)
    where = sys.stderr if args.json else sys.stdout
    print(f"table at {running.path}  (Ctrl-C ends)", file=where, flush=True)
    if args.console:
        _listen(loop, running)
    viewer = loop.create_task(_show(running)) if args.view else None
    try:
        report = await running.run()
    finally:
        if viewer is not None:
            viewer.cancel()
        if args.console:
            loop.remove_reader(sys.stdin.fileno())
    if args.json:
        print(json.dumps(report, ensure_ascii=False))
    elif config.record:
        shown = report["displays"]
        print(
            f"{report['hands_played']} hands; displays: round {shown['round']}, honba {shown['honba']}, "
            f"scores {shown['scores']}; actions done twice: {report['executed_twice']}"
        )
    return 1 if report["executed_twice"] else 0


def _listen(loop: asyncio.AbstractEventLoop, running: RunningTable) -> None:
    """Commands from the keyboard, a line at a time; end of input ends the table only at a terminal."""
    from hardware_sim.console import HELP, obey

    print(HELP, flush=True)

    keyboard = sys.stdin.fileno()
    typed = bytearray()

    def act(line: str) -> None:
        answer = obey(running.table, line)
        if answer is None:
            running.stop()
        elif answer:
            print(answer, flush=True)

    def readable() -> None:
        data = os.read(keyboard, 4096)
        if not data:
            loop.remove_reader(keyboard)
            if sys.stdin.isatty():
                running.stop()
            return
        typed.extend(data)
        while b"\n" in typed:
            line, _, rest = typed.partition(b"\n")
            typed[:] = rest
            running.poke(lambda _table, words=line: act(words.decode("utf-8", "replace")))  # type: ignore[misc] # mypy cannot infer defaults

    loop.add_reader(keyboard, readable)


async def _show(running: RunningTable) -> None:
    """The table, drawn anew when something has changed."""
    from hardware_sim.view import draw

    last = ""
    while True:
        picture = draw(running.table)
        if picture != last:
            last = picture
            prefix = CLEAR if sys.stdout.isatty() else ""
            print(f"{prefix}{picture}\n", flush=True)
        await asyncio.sleep(REDRAW)
