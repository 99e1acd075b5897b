"""What systemd hears: READY, STATUS, WATCHDOG, STOPPING (sd_notify's datagrams, no library needed)."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable, Mapping


class Notifier:
    """Speaks to NOTIFY_SOCKET; says nothing where there is none."""

    def __init__(self, environment: Mapping[str, str] | None = None) -> None:
        env = os.environ if environment is None else environment
        path = env.get("NOTIFY_SOCKET", "")
        self._address = "\0" + path[1:] if path.startswith("@") else path
        usec = env.get("WATCHDOG_USEC", "")
        mine = env.get("WATCHDOG_PID", "") in ("", str(os.getpid()))
        self.watchdog_s: float | None = None
        """Half the time after which systemd kills us; None: no watchdog."""
        if usec.isdigit() and int(usec) > 0 and mine:
            self.watchdog_s = int(usec) / 2_000_000

    @property
    def active(self) -> bool:
        """Whether anybody listens."""
        return bool(self._address)

    def send(self, *lines: str) -> None:
        """One datagram; a socket that is gone is no reason to stop."""
        if not self._address:
            return
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as out:
                out.sendto("\n".join(lines).encode(), self._address)
        except OSError:
            return

    def ready(self, status: str) -> None:
        """The daemon is usable."""
        self.send("READY=1", f"STATUS={status}")

    def reloading(self) -> None:
        """The configuration is read again; `ready` ends it."""
        self.send("RELOADING=1", f"MONOTONIC_USEC={time.monotonic_ns() // 1000}")

    def status(self, text: str) -> None:
        """One line for `systemctl status`."""
        self.send(f"STATUS={text}")

    def stopping(self) -> None:
        """The daemon is on its way down."""
        self.send("STOPPING=1", "STATUS=stopping")

    def alive(self) -> None:
        """The watchdog is fed."""
        self.send("WATCHDOG=1")


class Watchdog:
    """Feeds systemd only while every part makes progress (known fault 45).

    A part is a name and a question: has it got stuck? A stuck part starves the watchdog, and systemd
    starts the daemon anew.
    """

    def __init__(self, notifier: Notifier) -> None:
        self._notifier = notifier
        self._parts: dict[str, Callable[[], bool]] = {}

    def watch(self, name: str, stuck: Callable[[], bool]) -> None:
        """Add a part."""
        self._parts[name] = stuck

    @property
    def parts(self) -> list[str]:
        """Names of all parts that are watched."""
        return list(self._parts)

    def stuck(self) -> list[str]:
        """Parts without progress now."""
        return [name for name, question in self._parts.items() if question()]

    def beat(self) -> list[str]:
        """Feed unless something is stuck; the parts that are."""
        stuck = self.stuck()
        if stuck:
            self._notifier.status(f"stuck: {', '.join(stuck)}")
        else:
            self._notifier.alive()
        return stuck
