"""A file of 8 MiB that is given up when the disk is full, so that the hand in play ends durably."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

BALLAST_BYTES = 8 * 1024 * 1024
"""Some 30 hands of 20 tables at level tiles (measured: about 12 kB a hand and table)."""


def free_bytes(folder: Path) -> int:
    """What the disk still takes from us."""
    status = os.statvfs(folder)
    return status.f_bavail * status.f_frsize


class Ballast:
    """Beside the journal, `<name>.ballast`."""

    def __init__(
        self,
        database: Path,
        size: int = BALLAST_BYTES,
        free: Callable[[Path], int] = free_bytes,
    ) -> None:
        self.path = database.with_name(database.name + ".ballast")
        self._size = size
        self._free = free

    @property
    def held(self) -> bool:
        """True while there is something to give up."""
        try:
            return self.path.stat().st_size >= self._size
        except OSError:
            return False

    def take(self) -> bool:
        """Lay the ballast in, if the disk keeps as much again free afterwards; True when held."""
        if self.held:
            return True
        try:
            if self._free(self.path.parent) < 2 * self._size:
                return False
            fd = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                os.posix_fallocate(fd, 0, self._size)
            finally:
                os.close(fd)
        except OSError:
            self.give_up()
            return False
        return True

    def give_up(self) -> bool:
        """Free the space; True when there was some."""
        held = self.held
        try:
            self.path.unlink(missing_ok=True)
        except OSError:
            return False
        return held
