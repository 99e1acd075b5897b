"""One process holds a journal for its life: `flock` on a file beside it, with the pid inside."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from tablectl.journal.errors import JournalLockedError, JournalUnusableError


def command_of(pid: int) -> str:
    """Command line of a process, empty when it is gone or not ours to see."""
    try:
        raw = Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return ""
    return raw.replace(b"\0", b" ").decode(errors="replace").strip()


class LifeLock:
    """Held from construction until `release`. The kernel drops it with the process, however it ends.

    The file stays: removing it would let two processes lock two files of one name.
    """

    def __init__(self, database: Path) -> None:
        self.path = database.with_name(database.name + ".lock")
        try:
            self._fd = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise JournalUnusableError(self.path, error.strerror or str(error)) from error
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            pid = self._holder()
            os.close(self._fd)
            raise JournalLockedError(database, pid, command_of(pid) if pid else "") from error
        try:
            os.ftruncate(self._fd, 0)
            os.pwrite(self._fd, f"{os.getpid()}\n".encode(), 0)
        except OSError:
            # A full disk cannot take the pid; the lock itself holds all the same.
            pass

    def _holder(self) -> int:
        text = os.pread(self._fd, 32, 0).strip()
        return int(text) if text.isdigit() else 0

    def release(self) -> None:
        """Let go; a second call does nothing."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1
