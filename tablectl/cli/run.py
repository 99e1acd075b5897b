"""`tablectl run --config FILE`: the daemon, from the shell or under systemd."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tablectl.config import Problem, Settings

LEAVE_S = 0.2
"""Idle threads end at once; one that does not hangs."""


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
    _end_at_once_when_asked()
    settings = _settings(args, _told_at_start())
    if settings is None:
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

    logs.configure(settings.log.level, settings.log.format)
    log = logging.getLogger("tablectl")

    def again() -> Settings | None:
        read = _settings(
            args, lambda problem: log.log(_level(problem), "configuration: %s", problem)
        )
        if read is None:
            log.error("configuration: not reloaded, everything stays as it was")
        return read

    async def live() -> None:
        daemon = Daemon(settings)
        daemon.obey_signals(again)
        daemon.on_ready = _tell
        await daemon.run()
        await _leave()

    try:
        asyncio.run(live())
    except (JournalError, TileFileError, DriverError, RuleError) as error:
        log.error("%s", error)
        return 2
    except WebAddressError as error:
        log.error("%s (%s)", error, error.hint)
        return 2
    return 0


def _end_at_once_when_asked() -> None:
    """Until the daemon's loop takes the signals nothing is open: a stop ends the process where it is."""
    import signal

    def end(number: int, _frame: object) -> None:
        if number == signal.SIGINT:
            os.write(2, b"stopped before it had begun\n")
        os._exit(0)

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, end)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)


def _told_at_start() -> Callable[[Problem], None]:
    """Faults are printed for a person, and get their priority where journald reads."""
    if "JOURNAL_STREAM" not in os.environ:
        return lambda problem: print(problem, file=sys.stderr)
    import logging

    from tablectl.daemon import logs

    logs.configure()
    log = logging.getLogger("tablectl")
    return lambda problem: log.log(_level(problem), "configuration: %s", problem)


def _level(problem: Problem) -> int:
    import logging

    return logging.WARNING if problem.severity == "warning" else logging.ERROR


def _settings(args: argparse.Namespace, tell: Callable[[Problem], None]) -> Settings | None:
    """The file as it is now; None, and every fault told, when it cannot be used."""
    from tablectl.config import ConfigError, load
    from tablectl.daemon import hallfile

    try:
        settings = load(args.config)
    except ConfigError as error:
        for problem in error.problems:
            tell(problem)
        return None
    problems = hallfile.problems(settings, args.config, serving=True)
    for problem in problems:
        tell(problem)
    if hallfile.errors(problems):
        return None
    if args.log:
        settings = settings.model_copy(
            update={"log": settings.log.model_copy(update={"level": args.log})}
        )
    return settings


async def _leave() -> None:
    """Everything is written and closed. A thread that hangs in a system call (a name that is looked up,

    an address that swallows packets) is not waited for: a stop takes two seconds at most.
    """
    import asyncio
    import logging
    import threading

    loop = asyncio.get_running_loop()
    workers = asyncio.create_task(loop.shutdown_default_executor())
    await asyncio.wait({workers}, timeout=LEAVE_S)
    hanging = [
        thread for thread in threading.enumerate()
        if not thread.daemon and thread is not threading.main_thread()
    ]  # fmt: skip
    left = asyncio.all_tasks() - {workers, asyncio.current_task()}
    if hanging or left:
        logging.shutdown()
        sys.stdout.flush()
        os._exit(0)


def _tell(daemon: object) -> None:
    import logging

    from tablectl.daemon.app import Daemon

    assert isinstance(daemon, Daemon)
    pages = f", pages at {daemon.web.address}/board" if daemon.web is not None else ""
    log = logging.getLogger("tablectl")
    count = len(daemon.units)
    log.info("running: %d table%s%s", count, "" if count == 1 else "s", pages)
