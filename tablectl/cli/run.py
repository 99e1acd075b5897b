"""`tablectl run --config FILE`: the daemon, from the shell or under systemd."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tablectl.config import Settings


def configure(parser: argparse.ArgumentParser) -> None:
    """Arguments of `tablectl run`."""
    parser.epilog = (
        "examples:\n"
        "  tablectl config init && tablectl run         the tables found here, tablectl.toml\n"
        "  tablectl run --config /etc/tablectl/hall.toml\n\n"
        "SIGTERM and Ctrl-C end it within two seconds; every accepted event is in the journal.\n"
        "SIGHUP reads the file again and takes over what can change while it runs.\n"
        "Under systemd: Type=notify (deploy/tablectl.service, docs/operations.md).\n\n"
        "exit codes: 0 stopped on request, 2 configuration, lock or address"
    )
    parser.add_argument(
        "--config", type=Path, default=Path("tablectl.toml"), metavar="FILE", help="the hall's file"
    )
    parser.add_argument(
        "--log", choices=("debug", "info", "warning", "error"), help="instead of [log] level"
    )


def run(args: argparse.Namespace) -> int:
    """0 stopped on request, 2 it could not start."""
    from tablectl.config import ConfigError, load
    from tablectl.config.check import beyond_syntax
    from tablectl.engine import rules

    try:
        settings = load(args.config)
    except ConfigError as error:
        print(error, file=sys.stderr)
        return 2
    problems = beyond_syntax(settings, args.config, rules.ids())
    if problems:
        for problem in problems:
            print(problem, file=sys.stderr)
        return 2

    import asyncio
    import logging

    from tablectl.daemon import logs
    from tablectl.daemon.app import Daemon
    from tablectl.engine.rules import RuleError
    from tablectl.journal import JournalError
    from tablectl.mirror.tags import TileFileError
    from tablectl.table.errors import DriverError
    from tablectl.web.server import WebAddressError

    logs.configure(args.log or settings.log.level, settings.log.format)

    async def live() -> None:
        daemon = Daemon(settings)
        daemon.obey_signals(lambda: _read_again(args.config))
        daemon.on_ready = _tell
        await daemon.run()

    try:
        asyncio.run(live())
    except (JournalError, TileFileError, DriverError, RuleError) as error:
        logging.getLogger("tablectl").error("%s", error)
        return 2
    except WebAddressError as error:
        logging.getLogger("tablectl").error("%s (%s)", error, error.hint)
        return 2
    return 0


def _read_again(path: Path) -> Settings | None:
    """The file as it is now; None, and the faults in the log, when it cannot be used."""
    import logging

    from tablectl.config import ConfigError, load
    from tablectl.config.check import beyond_syntax
    from tablectl.engine import rules

    log = logging.getLogger("tablectl")
    try:
        settings = load(path)
    except ConfigError as error:
        log.error("not reloaded, everything stays as it was:\n%s", error)
        return None
    problems = beyond_syntax(settings, path, rules.ids())
    for problem in problems:
        log.error("not reloaded, everything stays as it was: %s", problem)
    return None if problems else settings


def _tell(daemon: object) -> None:
    import logging

    from tablectl.daemon.app import Daemon

    assert isinstance(daemon, Daemon)
    pages = f", pages at {daemon.web.address}/board" if daemon.web is not None else ""
    log = logging.getLogger("tablectl")
    log.info("running: %d tables%s", len(daemon.units), pages)
