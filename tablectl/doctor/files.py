"""The files that the configuration names: may the service's user read them, and write the journal's?

Run by root everything opens, and a journal that root began once is closed to the service for good.
"""

from __future__ import annotations

import grp
import os
import pwd
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tablectl.config import Settings
from tablectl.daemon.hallfile import rule_files
from tablectl.doctor.finding import Finding, fail, ok
from tablectl.textfile import is_file

SERVICE_USER = "tablectl"


class User(NamedTuple):
    """Who the daemon runs as."""

    name: str
    uid: int
    gid: int
    groups: frozenset[int]


def service_user() -> User | None:
    """The service's user where root asks for it, else whoever asks; None: root, and no such user here."""
    if os.geteuid() != 0:
        groups = frozenset({*os.getgroups(), os.getegid()})
        return User(_name(os.geteuid()), os.geteuid(), os.getegid(), groups)
    try:
        user = pwd.getpwnam(SERVICE_USER)
    except KeyError:
        return None
    more = {group.gr_gid for group in grp.getgrall() if SERVICE_USER in group.gr_mem}
    return User(SERVICE_USER, user.pw_uid, user.pw_gid, frozenset({user.pw_gid, *more}))


def examine(settings: Settings, file: Path, user: User | None = None) -> list[Finding]:
    """Rights of every file that is there; what is missing is told by the check of the configuration."""
    who = user or service_user()
    if who is None:
        return []
    found = [_unreadable(path, who) for path in _read(settings, file) if not _may_read(path, who)]
    journal = [p for p in _written(settings.journal.path) if not _may(p, who, 0o6)]
    found += [_unwritable(journal[0], who)] if journal else []
    return found or [ok("files", "", f"readable by {who.name}, and the journal is its own")]


def _read(settings: Settings, file: Path) -> Iterator[Path]:
    named: list[Path | None] = [file]
    if settings.mqtt is not None:
        named += [
            settings.mqtt.password.file if settings.mqtt.password else None,
            settings.mqtt.ca_file,
        ]
    named += [table.tiles for table in settings.tables]
    named += rule_files(settings)
    for path in dict.fromkeys(path for path in named if path is not None):
        if is_file(path):
            yield path


def _written(journal: Path) -> Iterator[Path]:
    for end in ("", "-wal", "-shm", ".lock", ".ballast"):
        path = journal.with_name(journal.name + end)
        if is_file(path):
            yield path


def _may_read(path: Path, who: User) -> bool:
    """The file may be read, and every folder above it be passed through."""
    real = path.resolve()
    return _may(real, who, 0o4) and all(_may(folder, who, 0o1) for folder in real.parents)


def _may(path: Path, who: User, bits: int) -> bool:
    return may(path.stat(), who.uid, who.groups, bits)


def may(info: os.stat_result, uid: int, groups: frozenset[int] | set[int], bits: int) -> bool:
    """Whether file rights give a user all of `bits` (4 read, 2 write, 1 pass), as the kernel sees it."""
    if uid == 0:
        return True
    if uid == info.st_uid:
        return (info.st_mode >> 6) & bits == bits
    if info.st_gid in groups:
        return (info.st_mode >> 3) & bits == bits
    return info.st_mode & bits == bits


def _unreadable(path: Path, who: User) -> Finding:
    mode = stat.filemode(path.stat().st_mode)
    return fail(
        "files", str(path), "file_denied", f"{who.name} may not read it ({mode}, or a folder above it)",
        f"sudo chgrp {_group(who.gid)} {path} && sudo chmod g+r {path}, the folders above: chmod g+x",
    )  # fmt: skip


def _unwritable(path: Path, who: User) -> Finding:
    return fail(
        "files", str(path), "journal_denied",
        f"it belongs to {_name(path.stat().st_uid)}, and {who.name} may not write it",
        f"sudo chown {who.name}: {path.parent}/* (a run as root made it)",
    )  # fmt: skip


def _group(gid: int) -> str:
    try:
        return grp.getgrgid(gid).gr_name
    except KeyError:
        return str(gid)


def _name(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)
