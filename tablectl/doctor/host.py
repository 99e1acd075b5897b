"""The host itself: clock and disk."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from tablectl.daemon.clock import Clock
from tablectl.doctor.finding import Finding, fail, ok, warn
from tablectl.journal.ballast import BALLAST_BYTES

MIB = 1024 * 1024
LEAST = 4 * BALLAST_BYTES
"""Below this not even ballast, write-ahead log and one evening have room."""
COMFORT = 512 * MIB
PLAUSIBLE_MS = 1_735_689_600_000
"""2025-01-01: a board computer without a battery starts decades before that."""


def clock(clock: Clock) -> Finding:
    """Whether the time on records and broadcasts is true."""
    if clock.wall_ms() < PLAUSIBLE_MS:
        return fail(
            "clock", "", "clock_wrong", "the clock stands before 2025: this computer has lost its time",
            "sudo timedatectl set-ntp true, and give it a network or a real-time clock",
        )  # fmt: skip
    if not clock.synced():
        return warn(
            "clock", "", "clock_not_synced",
            "the clock follows no time server; events say time_synced: false",
            "sudo timedatectl set-ntp true (or install chrony); in a container: on its host",
        )  # fmt: skip
    return ok("clock", "", "follows a time server")


def disk(journal: Path, status: Callable[[Path], os.statvfs_result] = os.statvfs) -> Finding:
    """Room and rights where the journal lives."""
    folder = journal.parent
    if _missing(folder):
        return fail(
            "disk", str(folder), "folder_missing", "the journal's folder is not there",
            f"sudo install -d -o tablectl -g tablectl {folder}, or another [journal] path",
        )  # fmt: skip
    if not os.access(folder, os.W_OK | os.X_OK):
        return fail(
            "disk", str(folder), "folder_denied", "we may not write here",
            f"sudo chown {_me()} {folder}, or run as the user that owns it",
        )  # fmt: skip
    room = status(folder)
    free = room.f_bavail * room.f_frsize
    text = f"{free // MIB:,} MiB free"
    if room.f_flag & os.ST_RDONLY:
        return fail(
            "disk", str(folder), "disk_read_only", "the disk is mounted read-only: events are kept in memory only",
            f"look at its health (sudo dmesg | tail), then sudo mount -o remount,rw {folder}",
        )  # fmt: skip
    if room.f_files and not room.f_favail:
        return fail(
            "disk", str(folder), "disk_no_inodes", "no file can be made any more: no inodes left",
            f"remove files: sudo du --inodes -xd1 {folder} / | sort -n | tail",
        )  # fmt: skip
    if free < LEAST:
        return fail(
            "disk", str(folder), "disk_full", f"{text}: games will not be kept",
            f"make room, or tablectl journal prune {journal} --older-than 90",
        )  # fmt: skip
    if free < COMFORT:
        return warn(
            "disk", str(folder), "disk_low", text,
            f"make room, or set [journal] keep_days (now: tablectl journal prune {journal} --older-than 90)",
        )  # fmt: skip
    return ok("disk", str(folder), text)


def _missing(folder: Path) -> bool:
    """Nothing is there; a way that is closed to us is another fault."""
    try:
        return not folder.is_dir()
    except PermissionError:
        return False


def _me() -> str:
    import pwd

    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        return str(os.geteuid())
