"""Ports and boards: opened as the daemon would open them, greeted, and left as they were."""

from __future__ import annotations

import asyncio
import contextlib
import grp
import os
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tablectl.config import TableSettings
from tablectl.doctor.files import may, service_user
from tablectl.doctor.finding import Finding, fail, ok, warn
from tablectl.mirror.submit import Accepted, Fact, Refused, Request
from tablectl.table.drivers import Motion, MotionEnd
from tablectl.table.errors import DriverError, PortError
from tablectl.table.locate import advice, holders_of, resolve
from tablectl.table.options import PortOptions, ReconnectOptions, TableOptions
from tablectl.table.session import LinkStatus, TableSession

WAIT_S = 6.0
"""Some boards start anew when they are opened, and their boot loader takes two seconds."""
_NEVER_AGAIN = ReconnectOptions(first_ms=3_600_000, most_ms=3_600_000, missing_ms=3_600_000)


class _Listener:
    """Takes no event: what is not accepted here stays on the board for the daemon."""

    async def fact(self, fact: Fact) -> Accepted | Refused:
        if fact.event_no is not None:
            await asyncio.Event().wait()
        return Accepted(())

    async def request(self, request: Request) -> Accepted | Refused:
        raise AssertionError(request)

    async def sent(self, cmd_id: int) -> None:
        raise AssertionError(cmd_id)

    async def settled(self, cmd_id: int, state: MotionEnd, result: dict[str, Any]) -> None:
        raise AssertionError(cmd_id, state, result)

    async def unsettled(self) -> Sequence[Motion]:
        return ()


async def examine(table: TableSettings, daemon: int, wait_s: float = WAIT_S) -> list[Finding]:
    """One table: its name, its rights, its holder, its board. `daemon`: pid of a running daemon."""
    try:
        path = Path(await asyncio.to_thread(resolve, table.port))
    except PortError as error:
        return [fail("port", table.id, error.code, error.message, error.hint)]
    found = _name(table, path)
    if daemon and daemon in await asyncio.to_thread(holders_of, path):
        return [*found, ok("port", table.id, f"{table.port} is open in the running daemon")]
    if daemon and await asyncio.to_thread(path.exists):
        found.append(
            warn(
                "port", table.id, "port_not_taken",
                f"{table.port} is there, but the running daemon does not have it open",
                "see its log, or restart it after a change of the configuration",
            )
        )  # fmt: skip
    found += await _greet(table, wait_s)
    return [*found, *_service_rights(table, path)]


def _name(table: TableSettings, path: Path) -> list[Finding]:
    word = advice(table.port)
    if word:
        fix = word.partition("; ")[2]
        return [warn("port", table.id, "port_unstable_name", word.partition("; ")[0], fix)]
    if table.port.startswith("/dev/serial/by-id/") and path.is_symlink():
        return [ok("port", table.id, f"stable name, now {path.resolve()}")]
    return []


async def _greet(table: TableSettings, wait_s: float) -> list[Finding]:
    """Open, say Hello, and hear who is there."""
    told: asyncio.Queue[LinkStatus] = asyncio.Queue()
    listener = _Listener()
    try:
        session = TableSession(
            TableOptions(
                table.id,
                PortOptions(table.port, table.baud, table.dtr, table.rts, table.hupcl),
                driver=table.driver,
                flash_hint=table.flash_hint,
            ),
            listener,
            desired=lambda: (),
            actions=listener,
            on_link_state=told.put_nowait,
            reconnect=_NEVER_AGAIN,
        )
    except DriverError as error:
        return [fail("board", table.id, error.code, error.message, error.hint)]
    life = asyncio.create_task(session.run())
    status: LinkStatus | None = None
    try:
        async with asyncio.timeout(wait_s):
            while status is None or not _settled(status):
                status = await told.get()
    except TimeoutError:
        pass  # what was heard so far has to do
    finally:
        await session.stop()
        with contextlib.suppress(Exception):
            await life
    return _verdict(table, status, wait_s)


def _settled(status: LinkStatus) -> bool:
    return status.state == "up" or bool(status.code)


def _verdict(table: TableSettings, status: LinkStatus | None, wait_s: float) -> list[Finding]:
    name = table.port
    if status is None or (status.phase not in {"handshake", "resync", "up"} and not status.code):
        return [
            fail(
                "port", table.id, "port_slow", f"{name} did not open within {wait_s:.0f} s",
                "a network adapter or USB hub hangs: check its power, or tablectl doctor --wait 30",
            )
        ]  # fmt: skip
    if status.device is None and not status.code:
        return [
            ok("port", table.id, f"{name} opens"),
            fail(
                "board", table.id, "no_answer", f"the board is silent for {wait_s:.0f} s at {table.baud} baud",
                f"check power, baud rate and driver ({table.driver}); then tablectl conformance {name}",
            ),
        ]  # fmt: skip
    if status.code == "version_refused":
        return [ok("port", table.id, f"{name} opens"), fail("board", table.id, *_parts(status))]
    if status.device is None:
        return [fail("port", table.id, *_parts(status))]
    device = status.device
    who = " ".join(part for part in (device.model, device.serial_number) if part) or "a board"
    text = f"{who}, firmware {device.firmware}, level {device.level}"
    found = [ok("port", table.id, f"{name} opens"), ok("board", table.id, text)]
    fix = table.flash_hint or "bring firmware and host to the same release"
    found += [
        warn("board", table.id, "firmware_differs", warning, fix) for warning in status.warnings
    ]
    wanted, has = table.level, device.level
    levels = ("basic", "score", "tiles")
    if wanted is not None and has in levels and levels.index(wanted) > levels.index(has):
        found.append(
            fail(
                "board", table.id, "level_too_low", f'the file wants level "{wanted}", the board has "{has}"',
                f'set level = "{has}" or leave it out',
            )
        )  # fmt: skip
    if has == "tiles" and table.tiles is None and wanted in {None, "tiles"}:
        found.append(
            warn(
                "board", table.id, "no_tile_file", "the board reads tags, but no file says which tile each is",
                'set tiles = "…" to the file the table maker supplies',
            )
        )  # fmt: skip
    return found


def _parts(status: LinkStatus) -> tuple[str, str, str]:
    """Code, message and fix of a reason that the session has written as one sentence."""
    reason = status.reason.removesuffix(" (it has not worked since the start)")
    message, _, hint = reason.rpartition(": ")
    return status.code, message or reason, hint if message else "see docs/table.md, section Ports"


def _service_rights(table: TableSettings, path: Path) -> list[Finding]:
    """Run by root everything opens: would it for the service's user?"""
    user = service_user()
    if (
        os.geteuid() != 0
        or user is None
        or not path.is_char_device()
        or str(path.resolve()).startswith("/dev/pts/")
    ):
        return []
    try:
        info = path.stat()
    except OSError:
        return []
    if may(info, user.uid, user.groups, 0o6):
        return []
    try:
        group = grp.getgrgid(info.st_gid).gr_name
    except KeyError:
        group = str(info.st_gid)
    return [
        fail(
            "port", table.id, "port_denied",
            f"the service's user {user.name} may not open {path} ({group}, {stat.filemode(info.st_mode)})",
            f"sudo usermod -aG {group} {user.name} && sudo systemctl restart tablectl",
        )
    ]  # fmt: skip
