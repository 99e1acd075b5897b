"""`tablectl config check | init | explain`: the configuration file, before anything runs."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from tablectl.cli.parts import add_part

if TYPE_CHECKING:
    from tablectl.config import Problem, Settings

DEFAULT = Path("tablectl.toml")
_FILE = "the hall's file (tablectl.toml in this folder)"


def configure(parser: argparse.ArgumentParser) -> None:
    """Arguments of `tablectl config`."""
    parser.epilog = (
        "examples:\n"
        "  tablectl config init                    write tablectl.toml for the ports found here\n"
        "  tablectl config check tablectl.toml     name every fault with line and column\n"
        "  tablectl config explain mqtt.password   what one key means\n\n"
        "exit codes: 0 ok, 1 findings, 2 usage or configuration"
    )
    parts = parser.add_subparsers(dest="part", required=True, metavar="check|init|explain")
    check = add_part(
        parts, "check", "read a file and name every fault",
        "  tablectl config check                             tablectl.toml in this folder\n"
        "  sudo tablectl config check /etc/tablectl/tablectl.toml\n"
        "  tablectl config check hall.toml --json | jq '.problems[].message'\n\n"
        "Ports, boards and the broker are looked at by 'tablectl doctor'.",
        "0 good (warnings may be there), 1 faults, 2 the file cannot be read",
        description="Read a hall's file and all it names (secrets, certificates, tiles, house rules), open nothing.",
    )  # fmt: skip
    check.add_argument("file", nargs="?", type=Path, default=DEFAULT, metavar="FILE", help=_FILE)
    check.add_argument("--json", action="store_true", help="faults as one JSON object")
    init = add_part(
        parts, "init", "write a commented file to begin with",
        "  tablectl config init                              tablectl.toml in this folder\n"
        "  sudo tablectl config init /etc/tablectl/tablectl.toml\n"
        "  tablectl config init --stdout | less",
        "0 written, 2 the file is there already or cannot be written",
        description="Write a file with every key as a remark, and one [[tables]] block for each serial port found.",
    )  # fmt: skip
    init.add_argument("file", nargs="?", type=Path, default=DEFAULT, metavar="FILE", help=_FILE)
    init.add_argument("--force", action="store_true", help="overwrite an existing file")
    init.add_argument("--stdout", action="store_true", help="print instead of writing")
    explain = add_part(
        parts, "explain", "what the keys mean",
        "  tablectl config explain | less                    all keys\n"
        "  tablectl config explain tables                    one section\n"
        "  tablectl config explain delay                     one key, wherever it stands",
        "0 ok, 2 there is no such key",
        description="What each key means: kind, default, example, variable of the environment, when a change counts.",
    )  # fmt: skip
    explain.add_argument("key", nargs="?", metavar="KEY", help="such as 'mqtt' or 'tables.port'")


def run(args: argparse.Namespace) -> int:
    """0 ok, 1 faults found by check, 2 the file cannot be read or written."""
    if args.part == "check":
        return _check(args.file, as_json=args.json)
    if args.part == "init":
        return _init(args.file, force=args.force, to_stdout=args.stdout)
    return _explain(args.key)


def _check(path: Path, *, as_json: bool) -> int:
    from tablectl.config import ConfigError, load
    from tablectl.daemon import hallfile

    settings: Settings | None = None
    problems: list[Problem] = []
    try:
        settings = load(path)
    except ConfigError as error:
        problems = error.problems
    else:
        problems = hallfile.problems(settings, path)
    faults = hallfile.errors(problems)
    if as_json:
        report = {"ok": not faults, "problems": [asdict(problem) for problem in problems]}
        print(json.dumps(report, ensure_ascii=False))
    else:
        for problem in problems:
            print(problem, file=sys.stderr)
        if settings is not None and not faults:
            print(f"{path}: good, {_summary(settings)}")
    if any(problem.code == "config_unreadable" for problem in problems):
        return 2
    return 1 if faults else 0


def _summary(settings: Settings) -> str:
    broker = settings.mqtt.url if settings.mqtt else "no broker"
    count = len(settings.tables)
    return f"venue {settings.venue.id}, {count} table{'' if count == 1 else 's'}, {broker}"


def _init(path: Path, *, force: bool, to_stdout: bool) -> int:
    from tablectl.config.explain import template

    text = template(_ports())
    if to_stdout:
        print(text, end="")
        return 0
    try:
        with path.open("w" if force else "x", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        print(f"{path}: {_unwritable(path, error)}", file=sys.stderr)
        return 2
    print(f"{path}: written; edit it, then: tablectl config check {path}")
    return 0


def _unwritable(path: Path, error: OSError) -> str:
    from tablectl.textfile import is_folder

    if is_folder(path):
        return f"is a folder; name the file in it, such as {path / DEFAULT}"
    if isinstance(error, FileExistsError):
        return "is there already; --force overwrites it"
    if isinstance(error, FileNotFoundError):
        return f"its folder is not there; mkdir -p {path.parent}"
    if isinstance(error, PermissionError):
        return f"this user may not write it; sudo tablectl config init {path}"
    return f"cannot be written: {error.strerror}"


def _ports() -> list[str]:
    by_id = Path("/dev/serial/by-id")
    return [str(port) for port in sorted(by_id.iterdir())] if by_id.is_dir() else []


def _explain(key: str | None) -> int:
    from tablectl.config.explain import nearest, reference

    text = reference(key)
    if not text:
        near = nearest(str(key))
        hint = f"did you mean '{near}'?" if near else "'tablectl config explain' lists all"
        print(f"no key '{key}': {hint}", file=sys.stderr)
        return 2
    print(text)
    return 0
