"""`tablectl decode FILE`: a capture of a serial line as a transcript that people can read."""

from __future__ import annotations

import argparse
import io
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from firmware_protocol.capture import NotACapture, read_capture
from firmware_protocol.transcript import Line, Transcript
from tablectl.cli.main import EXIT_FINDINGS, EXIT_OK, EXIT_USAGE

EPILOG = """\
A capture is what 'tablectl run' writes when a table's 'capture' is set: every frame that passed between host and table.

  tablectl decode table1.capture                 all of it
  tablectl decode table1.capture --no-beat       without heartbeats, acknowledgements and clock readings
  tablectl decode table1.capture --only DiceSettled,Action
  tail -f table1.capture | tablectl decode -     as it happens
  tablectl decode table1.capture --json | jq .   one JSON object a line

'>' is host to table, '<' is table to host, '!' is a remark. Tags of tiles are shown only with --unmask, and only when the
capture was written unmasked. Exit code 1 when the capture holds damaged or unreadable frames, 2 when it is no capture.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Arguments of `tablectl decode`."""
    parser.epilog = EPILOG
    parser.add_argument("file", metavar="FILE", help="capture to read; - for standard input")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    parser.add_argument(
        "--no-beat", action="store_true", help="leave out datagrams and acknowledgements"
    )
    parser.add_argument(
        "--only", metavar="NAMES", default="", help="only these messages, by name, with commas"
    )
    parser.add_argument("--unmask", action="store_true", help="show tags of tiles")


def run(args: argparse.Namespace) -> int:
    """Read the capture and write the transcript."""
    only = frozenset(name for name in args.only.split(",") if name)
    transcript = Transcript(unmask=args.unmask)
    unknown = sorted(only - transcript.names())
    if unknown:
        sys.stderr.write(f"tablectl decode: no message is named {', '.join(unknown)}\n"
                         f"  names: {', '.join(sorted(transcript.names()))}\n")  # fmt: skip
        return EXIT_USAGE
    try:
        for line in _lines(args.file, transcript):
            if (args.no_beat and line.beat) or (only and line.name not in only):
                continue
            sys.stdout.write(
                (json.dumps(_as_json(line), ensure_ascii=False) if args.json else str(line)) + "\n"
            )
            if args.file == "-":
                sys.stdout.flush()
    except (NotACapture, UnicodeDecodeError) as error:
        hint = error.hint if isinstance(error, NotACapture) else NotACapture.hint
        shown = error if isinstance(error, NotACapture) else "it is not text"
        sys.stderr.write(f"tablectl decode: {args.file}: {shown}\n  {hint}\n")
        return EXIT_USAGE
    except OSError as error:
        sys.stderr.write(
            f"tablectl decode: {args.file}: {error.strerror}\n  give the path of a capture, or - for standard input\n"
        )
        return EXIT_USAGE
    if not args.json:
        sys.stdout.write(transcript.summary() + "\n")
    return EXIT_FINDINGS if transcript.findings else EXIT_OK


def _lines(name: str, transcript: Transcript) -> Iterator[Line]:
    if name == "-":
        if isinstance(sys.stdin, io.TextIOWrapper):
            sys.stdin.reconfigure(encoding="utf-8-sig")
        for piece in read_capture(sys.stdin):
            yield from transcript.feed(piece)
    else:
        with Path(name).open(encoding="utf-8-sig") as stream:
            for piece in read_capture(stream):
                yield from transcript.feed(piece)
    yield from transcript.end()


def _as_json(line: Line) -> dict[str, Any]:
    return {"t": line.time / 1e6, "dir": line.direction, "what": line.name, **line.fields}
