"""The minimal host of these tests on a real pty, in an asyncio loop."""

from __future__ import annotations

import asyncio
import contextlib
import os
import time
import tty
from collections.abc import Callable

from tests.sim.host import Host


class PtyHost:
    """Opens a port and keeps a `Host` talking until it is closed."""

    def __init__(self, path: str, host: Host | None = None) -> None:
        self.host = host or Host()
        self.lost = asyncio.Event()
        self._start = time.monotonic_ns()
        self._fd = os.open(path, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
        tty.setraw(self._fd)
        self._timer: asyncio.TimerHandle | None = None
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(self._fd, self._readable)
        self.host.link.port_opened()
        self.step()

    def _now(self) -> int:
        return (time.monotonic_ns() - self._start) // 1000

    def _readable(self) -> None:
        try:
            data = os.read(self._fd, 4096)
        except OSError:
            data = b""
        if not data:
            self.close()
            self.lost.set()
            return
        self.host.receive(data, self._now())
        self.step()

    def step(self) -> None:
        """Let time pass and write what is to be written."""
        if self._timer is not None:
            self._timer.cancel()
        now = self._now()
        self.host.advance(now)
        data = self.host.link.data_to_send(now)
        if data:
            with contextlib.suppress(OSError):
                os.write(self._fd, data)
        due = self.host.link.next_deadline
        if due is not None:
            self._timer = self._loop.call_later(max(0, due - self._now()) / 1e6, self.step)

    def close(self) -> None:
        if self._fd >= 0:
            self._loop.remove_reader(self._fd)
            os.close(self._fd)
            self._fd = -1
        if self._timer is not None:
            self._timer.cancel()


async def until(ready: Callable[[], bool], limit: float = 20.0) -> None:
    """Wait for a condition that other tasks of the loop bring about."""
    async with asyncio.timeout(limit):
        while not ready():  # noqa: ASYNC110 - the condition is on state of another task, not an event
            await asyncio.sleep(0.005)
