"""`tablectl selfplay`: complete game records played by the engine against itself."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable


def configure(parser: argparse.ArgumentParser) -> None:
    """Arguments of `tablectl selfplay`."""
    parser.epilog = (
        "Every game has hands, walls, dice, calls and results, each win computed by the ruleset.\n"
        "The same ruleset, options and seed give the same bytes.\n\n"
        "examples:\n"
        "  tablectl selfplay --ruleset mu --seed 7 > game.jsonl\n"
        "  tablectl selfplay --ruleset tenhou --option length=tonpuusen --games 20 --out games.jsonl.xz\n"
        "  tablectl selfplay --ruleset saikouisen --need all       until a game has all there is to show\n"
        "  tablectl demo --record game.jsonl --speed 20            and play it on a table\n\n"
        "features for --need: riichi_win open_win kan exhaustive dealer_repeat, or all\n\n"
        "exit codes: 0 ok, 2 usage, an unknown ruleset or option"
    )
    parser.add_argument("--ruleset", default="tenhou", metavar="R", help="default tenhou")
    parser.add_argument(
        "--option",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="option of the ruleset, such as length=tonpuusen or kuitan=false",
    )
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="first seed (default 0)")
    parser.add_argument("--games", type=int, default=1, metavar="N", help="how many (default 1)")
    parser.add_argument(
        "--need", default="", metavar="F,F", help="pass over games that lack one of these"
    )
    parser.add_argument(
        "--out",
        type=Path,
        metavar="FILE",
        help="write here (.jsonl, .xz, .gz) instead of to the terminal",
    )


def run(args: argparse.Namespace) -> int:
    """0 ok, 2 what was asked makes no sense."""
    from itertools import islice

    from tablectl.engine import rules
    from tablectl.engine.rules import RuleError
    from tablectl.records.selfplay import FEATURES, games

    wanted = frozenset(filter(None, args.need.split(",")))
    need = frozenset(FEATURES) if wanted == {"all"} else wanted
    unknown = need - set(FEATURES)
    if unknown:
        return _fail(
            f"no such feature: {', '.join(sorted(unknown))}", f"known: {', '.join(FEATURES)}, all"
        )
    if args.games < 1:
        return _fail(f"--games {args.games}: nothing to play", "give 1 or more")
    try:
        ruleset = rules.load(args.ruleset, dict(_option(text) for text in args.option))
    except (RuleError, ValueError) as error:
        return _fail(
            str(error), "'tablectl rules list' and 'tablectl rules show R' tell what there is"
        )
    shown = sys.stderr.isatty()

    def tried(seed: int) -> None:
        if shown:
            print(f"\r\x1b[2Kseed {seed}", end="", file=sys.stderr, flush=True)

    try:
        _write(args.out, islice(games(ruleset, args.seed, need=need, tried=tried), args.games))
    except OSError as error:
        return _fail(f"{args.out}: {error.strerror or error}", "choose another file with --out")
    finally:
        if shown:
            print("\r\x1b[2K", end="", file=sys.stderr, flush=True)
    return 0


def _write(out: Path | None, records: Iterable[dict[str, Any]]) -> None:
    import gzip
    import lzma

    from tablectl.records.selfplay import as_line

    if out is None:
        for record in records:
            print(as_line(record), flush=True)
        return
    openers: dict[str, Any] = {".xz": lzma.open, ".gz": gzip.open}
    opener = openers.get(out.suffix, open)
    with opener(out, "wt", encoding="utf-8") as file:
        for record in records:
            file.write(as_line(record) + "\n")


def _option(text: str) -> tuple[str, Any]:
    name, sign, value = text.partition("=")
    if not sign or not name:
        raise ValueError(f"--option {text!r}: write NAME=VALUE")
    plain: dict[str, Any] = {"true": True, "false": False}
    if value in plain:
        return name, plain[value]
    return name, int(value) if value.lstrip("-").isdecimal() else value


def _fail(what: str, hint: str) -> int:
    print(f"tablectl selfplay: {what}\n  {hint}", file=sys.stderr)
    return 2
