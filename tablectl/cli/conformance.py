"""`tablectl conformance PORT`: does this board keep to SPEC.md? A report by sentence."""

from __future__ import annotations

import argparse
import json
import sys
import time

from tablectl.table.conformance.probe import PortLine
from tablectl.table.conformance.runner import Outcome, Report, run_all, sentences
from tablectl.table.errors import PortError
from tablectl.table.options import PortOptions

EXIT_OK = 0
EXIT_FINDINGS = 1
EXIT_USAGE = 2

EPILOG = """\
Plays a host that says anything at any moment: damaged frames, copies, silence, other versions,
late and repeated actions. Displays are written; nothing moves unless --moving allows the dice. Takes
about a minute.
The daemon must not have the port.

  tablectl conformance /dev/serial/by-id/usb-Example_MJ100_0001-if00
  tablectl conformance socket://192.168.1.20:4001 --only L-9,L-12
  tablectl conformance sim://?level=tiles --json
  tablectl conformance --list

Exit: 0 all that was tried is right, 1 findings, 2 usage, or the port cannot be used.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Arguments of `tablectl conformance`."""
    parser.epilog = EPILOG
    parser.add_argument("port", nargs="?", metavar="PORT", help="path or URL of the board")
    parser.add_argument("--baud", type=int, default=115_200, help="bits per second (115200)")
    parser.add_argument(
        "--only", default="", metavar="IDS", help="only what concerns these sentences"
    )
    parser.add_argument("--seed", type=int, help="repeat the nonces of another run")
    parser.add_argument("--moving", action="store_true", help="the dice may roll")
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    parser.add_argument(
        "--list", action="store_true", help="print the sentences of SPEC.md and end"
    )
    parser.add_argument(
        "-v", "--verbose", action="store_true", help="tell each sentence's text too"
    )


def run(args: argparse.Namespace) -> int:
    """Run it and print the report."""
    texts = sentences()
    if args.list:
        for key, text in texts.items():
            print(f"{key:5} {text}")
        return EXIT_OK
    if args.port is None:
        return _usage("which PORT? A path such as /dev/serial/by-id/… or a URL")
    only = [word for word in args.only.replace(",", " ").split() if word]
    unknown = [word for word in only if word not in texts]
    if unknown:
        return _usage(
            f"SPEC.md has no sentence {', '.join(unknown)}; 'tablectl conformance --list' prints them"
        )
    begun = time.monotonic()
    try:
        report = run_all(
            PortLine(PortOptions(args.port, args.baud)),
            only=only,
            seed=args.seed,
            moving=args.moving,
            progress=(lambda _outcome: None) if args.json else _tell,
        )
    except PortError as error:
        return _usage(f"{error.message} [{error.code}]", error.hint)
    except OSError as error:
        return _usage(f"{args.port}: lost in the middle of the test: {error}")
    seconds = time.monotonic() - begun
    if args.json:
        print(json.dumps(_as_json(args.port, report, seconds), ensure_ascii=False))
    else:
        _print(args.port, report, seconds, texts, verbose=args.verbose)
    if report.device is None or report.failed:
        return EXIT_FINDINGS
    return EXIT_OK


def _usage(text: str, hint: str = "") -> int:
    sys.stderr.write(f"tablectl conformance: {text}\n")
    if hint:
        sys.stderr.write(f"  → {hint}\n")
    return EXIT_USAGE


def _tell(outcome: Outcome) -> None:
    marks = {"pass": "ok  ", "fail": "FAIL", "not tried": "–   "}
    text = f": {outcome.text}" if outcome.text else ""
    print(
        f"{marks[outcome.verdict]} {outcome.name} ({' '.join(outcome.sentences)}){text}", flush=True
    )


def _print(
    port: str, report: Report, seconds: float, texts: dict[str, str], *, verbose: bool
) -> None:
    by = report.by_sentence()
    print()
    for verdict, title in (
        ("fail", "not kept"),
        ("not tried", "not tried on this board"),
        ("unseen", "about the host, or not to be seen from outside"),
        ("not covered", "not covered"),
    ):
        ids = [key for key, found in by.items() if found == verdict]
        if not ids:
            continue
        print(f"{title}: {' '.join(ids)}")
        if verdict == "fail" or verbose:
            for key in ids:
                print(f"  {key:5} {texts[key]}")
    kept = sum(found == "pass" for found in by.values())
    if report.device is None:
        print(f"{port}: no answer to Hello: is it a board of this protocol, at this speed?")
        return
    device = report.device
    version = ".".join(str(device.version >> shift & 0xFF) for shift in (24, 16, 8))
    print(
        f"{port}: firmware {version}, protocol {device.major}.{device.minor}: {kept} sentences kept, "
        f"{sum(v == 'fail' for v in by.values())} not; {len(report.outcomes)} checks in {seconds:.0f} s"
    )


def _as_json(port: str, report: Report, seconds: float) -> dict[str, object]:
    device = report.device
    return {
        "port": port,
        "device": None
        if device is None
        else {
            "protocol": f"{device.major}.{device.minor}",
            "version": device.version,
            "schema_hash": device.schema_hash,
            "boot_id": device.boot_id,
            "capabilities": device.capabilities,
        },
        "sentences": report.by_sentence(),
        "checks": [
            {"name": o.name, "sentences": list(o.sentences), "verdict": o.verdict, "text": o.text}
            for o in report.outcomes
        ],
        "seconds": round(seconds, 1),
    }
