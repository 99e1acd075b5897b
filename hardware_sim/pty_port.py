"""A pseudo-terminal in the place of the serial port, under a name of the caller's choice.

We keep the host's side open ourselves, so a host that is killed and comes back finds the same port.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import select
import struct
import termios
import tty
from pathlib import Path

from hardware_sim.errors import LinkPathError

STALE_MOST = 1024
"""Octets nobody reads before they are thrown away, as on a line without a listener."""
PENDING_MOST = 65536
CHUNK = 4096


class PtyPort:
    """One pty: `path` for the host, `read`/`write` for the board."""

    def __init__(self, link: Path | None = None, *, held: bool = True) -> None:
        self.link = link
        self.held = held
        """We keep the host's side open; if not, `host_present` tells when a host opens and closes it."""
        self.fd, self._slave = os.openpty()
        tty.setraw(self._slave)
        os.set_blocking(self.fd, False)
        self.device = os.ttyname(self._slave)
        self.pending = bytearray()
        """Octets that the pty has not taken yet."""
        self.dropped = 0
        if not held:
            os.close(self._slave)
            self._slave = -1
        if link is not None:
            try:
                self._make_link(link)
            except BaseException:
                self.close()
                raise

    @property
    def path(self) -> str:
        """What a host opens."""
        return str(self.link) if self.link is not None else self.device

    def host_present(self) -> bool:
        """True while somebody has the host's side open (always, when we hold it ourselves)."""
        if self.held:
            return True
        poll = select.poll()
        poll.register(self.fd, select.POLLIN)
        return not any(event & select.POLLHUP for _, event in poll.poll(0))

    def read(self) -> bytes:
        """Octets that the host wrote; empty when there are none."""
        try:
            return os.read(self.fd, CHUNK)
        except BlockingIOError:
            return b""
        except OSError as error:
            if error.errno == errno.EIO:
                return b""
            raise

    def write(self, data: bytes) -> bool:
        """Pass octets on; True when all are written, False when some wait in `pending`."""
        self.pending += data
        if len(self.pending) > PENDING_MOST:
            self.dropped += len(self.pending)
            self.pending.clear()
        while self.pending:
            try:
                written = os.write(self.fd, self.pending)
            except BlockingIOError:
                return False
            del self.pending[:written]
        return True

    def unmark(self) -> None:
        """Take TIOCEXCL off: a killed host's mark would stay as long as we hold the port open ourselves.

        Hosts lock each other out by `flock` all the same.
        """
        if self.held:
            with contextlib.suppress(OSError):
                fcntl.ioctl(self._slave, termios.TIOCNXCL)

    def drop_unread(self) -> None:
        """Throw away what a host that is not there has not read."""
        if not self.held:
            return
        with contextlib.suppress(OSError):
            waiting = struct.unpack("i", fcntl.ioctl(self._slave, termios.FIONREAD, b"\0" * 4))[0]
            if waiting > STALE_MOST or self.pending:
                self.dropped += waiting + len(self.pending)
                self.pending.clear()
                termios.tcflush(self._slave, termios.TCIFLUSH)

    def close(self) -> None:
        """Pull the plug: the host gets an end of file or EIO, the name is gone."""
        for fd in {self.fd, self._slave} - {-1}:
            with contextlib.suppress(OSError):
                os.close(fd)
        if self.link is not None and self.link.is_symlink():
            with contextlib.suppress(OSError):
                if str(self.link.readlink()) == self.device:
                    self.link.unlink()

    def _make_link(self, link: Path) -> None:
        if link.is_symlink():
            target = str(link.readlink())
            if not target.startswith("/dev/pts/"):
                raise LinkPathError(
                    f"{link} points to {target}, which is no simulated table", value=str(link),
                    hint="choose another path or remove it",
                )  # fmt: skip
        elif link.exists():
            raise LinkPathError(
                f"{link} exists and is no link",
                value=str(link),
                hint="choose another path or remove it",
            )
        fresh = link.with_name(f".{link.name}.{os.getpid()}")
        try:
            fresh.symlink_to(self.device)
            fresh.replace(link)
        except OSError as error:
            raise LinkPathError(
                f"cannot make {link}: {error.strerror}",
                value=str(link),
                hint="the folder must exist and be writable",
            ) from error
