"""`tablectl`: finds the command named on the line and runs it; imports nothing it does not need."""

from __future__ import annotations

import argparse
import difflib
import importlib
import io
import os
import re
import sys
from contextlib import suppress
from typing import NamedTuple, NoReturn

from tablectl import __version__

EXIT_OK = 0
EXIT_FINDINGS = 1
EXIT_USAGE = 2
EXIT_INTERRUPTED = 130


class Command(NamedTuple):
    """Where a command lives and what it is for."""

    module: str
    help: str


COMMANDS: dict[str, Command] = {
    "conformance": Command(
        "tablectl.cli.conformance", "test a board against SPEC.md, sentence by sentence"
    ),
    "demo": Command(
        "tablectl.cli.demo", "play one game through the whole bridge, with a live board"
    ),
    "selfplay": Command("tablectl.cli.selfplay", "make complete game records under any ruleset"),
    "run": Command("tablectl.cli.run", "run the daemon: all tables of a hall from one file"),
    "journal": Command("tablectl.cli.journal", "verify, export or prune the journal file"),
    "config": Command("tablectl.cli.config", "check, write or explain the configuration file"),
    "decode": Command("tablectl.cli.decode", "read a capture of a table's serial line"),
    "doctor": Command(
        "tablectl.cli.doctor", "what is wrong with this hall, with a fix in each line"
    ),
    "replay": Command(
        "tablectl.cli.replay", "play game records through the engine and compare every result"
    ),
    "rules": Command(
        "tablectl.cli.rules", "list, show or compare rulesets, each value with its article"
    ),
    "score": Command(
        "tablectl.cli.score", "han, fu and payments of a hand, each step with its article"
    ),
    "sim": Command("tablectl.cli.sim", "a simulated table on a pty: people, faults, a console"),
}
"""Name on the command line → module (imported only when called) and one line of help."""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        unknown = re.match(r"argument COMMAND: invalid choice: ('.*?') \(", message)
        if unknown:
            near = difflib.get_close_matches(unknown[1].strip("'"), COMMANDS, n=1)
            hint = (
                f"did you mean '{near[0]}'?" if near else f"commands: {', '.join(sorted(COMMANDS))}"
            )
            message = f"there is no command {unknown[1]}; {hint}"
        self.print_usage(sys.stderr)
        self.exit(EXIT_USAGE, f"{self.prog}: {message}\nTry '{self.prog} --help'.\n")


def main(argv: list[str] | None = None) -> int:
    """Run one command; returns 0 ok, 1 findings, 2 usage or configuration, 130 interrupted."""
    arguments = sys.argv[1:] if argv is None else argv
    name = next((a for a in arguments if not a.startswith("-")), None)
    parser = _Parser(
        prog="tablectl",
        description="The bridge between an automatic riichi-mahjong table and the rest of the world.",
        epilog="Start with 'tablectl demo'. 'tablectl COMMAND --help' teaches each command.",
    )
    parser.add_argument("--version", action="version", version=f"tablectl {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    subs: dict[str | None, _Parser] = {}
    for key, command in COMMANDS.items():
        sub = commands.add_parser(
            key,
            help=command.help,
            description=command.help,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        subs[key] = sub
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and stream.errors == "strict":
            # A terminal that lacks Japanese, or a file name that is no text, is no reason to fail.
            stream.reconfigure(errors="backslashreplace")
    try:
        if name in subs:
            assert name is not None
            module = importlib.import_module(COMMANDS[name].module)
            module.configure(subs[name])
            subs[name].set_defaults(run=module.run)
        args, strange = parser.parse_known_args(arguments)
        if strange:
            _strange(subs.get(name, parser), strange)
        code = int(args.run(args))
        sys.stdout.flush()
    except KeyboardInterrupt:
        return _interrupted()
    except RuntimeError as error:
        if not isinstance(error.__cause__, KeyboardInterrupt):
            raise
        return _interrupted()  # Python wraps what happens while a class is made
    except BrokenPipeError:
        _forget_stdout()
        return EXIT_OK
    except OSError as error:
        what = f"{error.filename}: {error.strerror}" if error.filename else error.strerror or error
        sys.stderr.write(f"tablectl {name}: {what}\n")
        _forget_stdout()
        return EXIT_USAGE
    return code


def _options(parser: argparse.ArgumentParser) -> list[str]:
    """Options of a command and of the commands in it (argparse has no public list)."""
    found = list(parser._option_string_actions)  # noqa: SLF001
    for action in parser._actions:  # noqa: SLF001
        if isinstance(action.choices, dict):
            found += [option for part in action.choices.values() for option in _options(part)]
    return found


def _strange(parser: _Parser, words: list[str]) -> NoReturn:
    """Words that the command does not know, and the option that was meant."""
    first = words[0].partition("=")[0]
    near = difflib.get_close_matches(first, _options(parser), n=1)
    hint = f"; did you mean {near[0]}?" if near else ""
    parser.error(f"unrecognized arguments: {' '.join(words)}{hint}")


def _interrupted() -> int:
    sys.stderr.write("interrupted\n")
    return EXIT_INTERRUPTED


def _forget_stdout() -> None:
    """What is still buffered goes nowhere: its reader has left, or its disk is full."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    sys.exit(main())
