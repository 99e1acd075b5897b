"""`tablectl score`: one hand for people, or cases as JSON lines for programs."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, BinaryIO
from unicodedata import east_asian_width

if TYPE_CHECKING:
    from tablectl.engine.scoring.explain import Step
    from tablectl.engine.scoring.result import Win

_EPILOG = """\
HAND is the concealed part without the winning tile: 123m0p11z or 1m2m3m0p1z1z. Red fives are 0m 0p 0s,
1z-7z are E S W N haku hatsu chun. A meld is its type and tiles: chi:567m pon:555z daiminkan:2222p
ankan:9999s kakan:1111z. R is an id of 'tablectl rules list' or the path of a rule file; options follow
after commas: tenhou,kuitan=false

examples:
  tablectl score 234567m345p67s88s 5s --tsumo --seat S --riichi --flag ippatsu --dora 3p --ura 6m
  tablectl score 234m345p678s55s 8s --ron W --meld ankan:4444z --ruleset saikouisen
  tablectl score 1112345678999m 9m --ron S --seat E --ruleset mu --json
  tablectl score --jsonl < cases.jsonl > results.jsonl

With --jsonl a line of standard input is a case, a line of standard output its result, written at once, so
that another program can keep 'tablectl score' running and ask it. The fields are described in
docs/scoring.md. A line that is no case is answered by an "error" in its place.

exit codes: 0 scored, 1 no win (with --jsonl: at least one error), 2 something in the hand cannot be"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Arguments of `tablectl score`."""
    parser.epilog = _EPILOG
    parser.usage = (
        "tablectl score HAND WIN (--tsumo | --ron WIND) [options]\n"
        "       tablectl score --jsonl [--ruleset R]"
    )
    parser.add_argument("hand", nargs="?", metavar="HAND", help="concealed tiles without the last")
    parser.add_argument("win_tile", nargs="?", metavar="WIN", help="the winning tile")
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--tsumo", action="store_true", help="won by self-draw")
    how.add_argument("--ron", metavar="WIND", help="won from the player at this seat: E S W N")
    where = parser.add_argument_group("where and when")
    where.add_argument("--seat", default="S", metavar="WIND", help="the winner's seat (S); E deals")
    where.add_argument("--round", default="E", metavar="WIND", help="the round (E)")
    where.add_argument("--honba", type=int, default=0, metavar="N", help="honba counters")
    where.add_argument("--deposits", type=int, default=0, metavar="N", help="riichi sticks lying")
    what = parser.add_argument_group("what happened")
    what.add_argument(
        "--meld", action="append", default=[], metavar="TYPE:TILES", help="may be repeated"
    )
    what.add_argument("--riichi", action="store_const", const=1, default=0, help="riichi")
    what.add_argument(
        "--double-riichi", action="store_const", const=2, dest="riichi", help="double riichi"
    )
    what.add_argument(
        "--flag",
        action="append",
        default=[],
        metavar="NAME",
        help="ippatsu rinshan chankan haitei houtei first_turn unclear_tsumo; may be repeated",
    )
    what.add_argument("--dora", default="", metavar="TILES", help="dora indicators")
    what.add_argument("--ura", default="", metavar="TILES", help="ura dora indicators")
    what.add_argument(
        "--pao",
        action="append",
        default=[],
        metavar="YAKUMAN=WIND",
        help="who is liable: daisangen daisuushii suukantsu",
    )
    parser.add_argument("--ruleset", metavar="R", help="rules to score by (tenhou)")
    parser.add_argument("--json", action="store_true", help="the result as one JSON object")
    parser.add_argument(
        "--jsonl", action="store_true", help="cases from standard input, a line each"
    )


def run(args: argparse.Namespace) -> int:
    """0 scored, 1 no win or an error among the lines, 2 a hand that cannot be."""
    from tablectl.engine.errors import EngineError
    from tablectl.engine.rules import RuleError

    try:
        if args.jsonl:
            if args.hand is not None:
                raise _usage("--jsonl reads cases from standard input; give no HAND with it")
            return score_lines(sys.stdin.buffer, sys.stdout.buffer, *_split(args.ruleset))
        return _one(args)
    except (EngineError, RuleError) as error:
        if args.json:
            from tablectl.engine.scoring.cases import failure

            print(_dump(failure(error)))
        sys.stderr.write(f"tablectl score: {error}\n")
        return 2


def score_lines(
    lines: BinaryIO,
    out: BinaryIO,
    ruleset: str | None = None,
    options: dict[str, Any] | None = None,
) -> int:
    """Answer each line as it comes; returns 1 when one of them was no case."""
    from tablectl.engine.errors import EngineError
    from tablectl.engine.rules import RuleError
    from tablectl.engine.scoring.cases import answer, failure, named_ruleset, read_line

    if ruleset is not None:
        named_ruleset(ruleset, options or {}, files=True)
    failed = False
    for line in lines:
        try:
            case = read_line(line)
            if ruleset is not None and "ruleset" not in case and options:
                case = {**case, "options": {**options, **(case.get("options") or {})}}
            result = answer(case, ruleset)
        except (EngineError, RuleError) as error:
            result = failure(error)
        failed = failed or "error" in result
        out.write(_utf8(result) + b"\n")
        out.flush()
    return int(failed)


def _one(args: argparse.Namespace) -> int:
    from tablectl.engine.scoring import score
    from tablectl.engine.scoring.cases import read_case, to_json

    if args.hand is None or args.win_tile is None:
        raise _usage("a hand and the winning tile are needed, or --jsonl")
    if not args.tsumo and args.ron is None:
        raise _usage("say how it was won: --tsumo, or --ron with the discarder's seat")
    ruleset, options = _split(args.ruleset or "tenhou")
    case = _case(args, options)
    result = score(*read_case(case, ruleset))
    if args.json:
        print(_dump(to_json(result)))
    elif result.valid:
        print("\n".join(_report(args, result)))
    else:
        words = {
            "not_complete": "the tiles are no winning shape",
            "no_yaku": "no yaku (dora are none)",
            "unclear_tsumo": "the drawn tile was not shown apart",
        }
        print(f"no win under {result.ruleset.id}: {words[result.reason]}")
    return 0 if result.valid else 1


def _case(args: argparse.Namespace, options: dict[str, Any]) -> dict[str, Any]:
    """The arguments as a case of the JSON contract, so that both faces read alike."""
    from tablectl.engine.tiles import NAMES, parse

    melds = []
    for word in args.meld:
        kind, colon, tiles = word.partition(":")
        if not colon:
            raise _usage(f"--meld {word}: a meld is written TYPE:TILES, such as pon:555z")
        melds.append({"type": kind, "tiles": tiles})
    pao = {}
    for word in args.pao:
        yakuman, equals, wind = word.partition("=")
        if not equals:
            raise _usage(f"--pao {word}: liability is written YAKUMAN=WIND, such as daisangen=W")
        pao[yakuman] = wind
    return {
        "options": options,
        "concealed": args.hand,
        "melds": melds,
        "win_tile": args.win_tile,
        "win": "tsumo" if args.tsumo else "ron",
        "seat_wind": args.seat,
        "round_wind": args.round,
        "from": args.ron,
        "riichi": args.riichi,
        "flags": args.flag,
        "dora_indicators": [NAMES[tile] for tile in parse(args.dora, "dora_indicators")],
        "ura_indicators": [NAMES[tile] for tile in parse(args.ura, "ura_indicators")],
        "honba": args.honba,
        "deposits": args.deposits,
        "pao": pao,
    }


def _split(word: str | None) -> tuple[str | None, dict[str, Any]]:
    """Name and options of a ruleset; none where none is named."""
    if word is None:
        return None, {}
    from tablectl.engine.rules.word import split

    return split(word)


def _usage(message: str) -> Exception:
    from tablectl.engine.errors import CaseError

    return CaseError("usage", message, hint="'tablectl score --help' has examples")


def _dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _utf8(value: Any) -> bytes:
    """JSON in UTF-8 whatever the terminal's encoding; an id may hold what UTF-8 cannot."""
    try:
        return _dump(value).encode()
    except UnicodeEncodeError:
        return json.dumps(value).encode()


# --- for people ---------------------------------------------------------------------------------------

_TOPICS = {"yaku": "Yaku", "dora": "Dora", "fu": "Fu", "points": "Points", "payment": "Payment"}


def _report(args: argparse.Namespace, win: Win) -> Iterator[str]:
    how = "tsumo" if args.tsumo else f"ron from {args.ron}"
    melds = "".join(f" + {word}" for word in args.meld)
    yield f"{args.hand}{melds} + {args.win_tile}, {how}; seat {args.seat}, round {args.round}; {win.ruleset.id}"
    steps = win.explain()
    width = max(_width(step.text) for step in steps)
    topic = ""
    for step in steps:
        if step.topic != topic:
            topic = step.topic
            yield ""
            yield _TOPICS[topic]
        yield _line(step, width)
    yield ""
    yield _summary(win)


def _line(step: Step, width: int) -> str:
    return f"  {step.text}{' ' * (width - _width(step.text))}   {step.ref}".rstrip()


def _summary(win: Win) -> str:
    amounts = "-".join(map(str, win.payments))
    if win.situation.is_tsumo and len(win.payments) == 1:
        amounts += " all"
    parts = []
    if win.han is not None:
        parts.append(f"{win.han} han")
    if win.fu is not None:
        parts.append(f"{win.fu} fu")
    if win.yakuman_count > 1:
        parts.append(f"{win.yakuman_count} yakuman")
    elif win.limit is not None:
        parts.append(win.limit.replace("_", " "))
    return f"{' '.join(parts)}: {amounts}"


def _width(text: str) -> int:
    """Columns on a terminal: Japanese takes two."""
    return sum(2 if east_asian_width(char) in "WF" else 1 for char in text)
