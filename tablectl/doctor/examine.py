"""One round through the hall: everything that can be known without touching a game."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tablectl.bus.broker import BrokerAddressError
from tablectl.config import SecretError, Settings
from tablectl.daemon import hallfile
from tablectl.daemon.clock import Clock, SystemClock
from tablectl.doctor import files, host, memory, pages, ports, rights
from tablectl.doctor.finding import Finding, fail, ok, warn


@dataclass(frozen=True, slots=True)
class Plan:
    """How thorough."""

    wait_s: float = ports.WAIT_S
    """Seconds a board may take to answer."""
    verify: bool = True
    """Recompute every seal of the journal."""
    remove_leftovers: bool = False


async def examine(
    settings: Settings,
    file: Path,
    plan: Plan,
    *,
    clock: Clock | None = None,
    say: Callable[[Finding], None] = lambda _finding: None,
    progress: Callable[[int], None] = lambda _rows: None,
) -> list[Finding]:
    """Every finding, each told to `say` as soon as it is known."""
    found: list[Finding] = []

    def tell(*findings: Finding) -> None:
        for finding in findings:
            found.append(finding)
            say(finding)

    tell(*_config(settings, file))
    tell(*files.examine(settings, file))
    tell(host.clock(clock or SystemClock()), host.disk(settings.journal.path))
    path = settings.journal.path
    daemon = memory.holder(path)
    tell(
        *await asyncio.to_thread(
            memory.journal, path, daemon, verify=plan.verify, progress=progress
        )
    )
    tell(*await asyncio.to_thread(pages.examine, settings.web, daemon))
    looks = [ports.examine(table, daemon, plan.wait_s) for table in settings.tables]
    for lines in await asyncio.gather(*looks):
        tell(*lines)
    tell(*await _broker(settings, daemon, plan))
    return found


async def _broker(settings: Settings, daemon: int, plan: Plan) -> list[Finding]:
    if settings.mqtt is None:
        return [ok("broker", "", "none is configured")]
    try:
        broker = rights.broker_of(settings)
    except SecretError as error:
        say = warn if error.code == "secret_elsewhere" else fail
        message = f"not looked at, the password is missing: {error.message}"
        return [say("broker", settings.mqtt.url, error.code, message, error.hint)]
    except BrokerAddressError as error:
        return [fail("broker", settings.mqtt.url, error.code, str(error), error.hint)]
    tables = [table.id for table in settings.tables]
    return await rights.examine(
        broker, settings.venue.id, tables, daemon, remove=plan.remove_leftovers
    )


def _config(settings: Settings, file: Path) -> list[Finding]:
    problems = hallfile.problems(settings, file)
    found = [
        (warn if problem.severity == "warning" else fail)(
            "config", f"{problem.file}:{problem.line}" if problem.line else problem.file,
            problem.code, problem.message, problem.hint or problem.example or "tablectl config explain",
        )
        for problem in problems
    ]  # fmt: skip
    if hallfile.errors(problems):
        return found
    count = len(settings.tables)
    return [ok("config", str(file), f"good, {count} table{'' if count == 1 else 's'}"), *found]
