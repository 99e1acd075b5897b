"""Time as the daemon sees it: durations from the monotonic clock, wall time with a word on its truth."""

from __future__ import annotations

import contextlib
import ctypes
import time
from collections.abc import Callable
from typing import Any, Protocol

_TIME_ERROR = 5
_TIMEX_SIZE = 512
"""More than `struct timex` needs on any Linux: we read the return value only."""


class Clock(Protocol):
    """Injected everywhere; nothing in the daemon reads the time by itself."""

    def mono_ms(self) -> int:
        """Monotonic ms; never goes back within one boot of the host."""
        ...

    def mono_us(self) -> int:
        """The same clock in µs."""
        ...

    def wall_ms(self) -> int:
        """Unix time in ms; may jump."""
        ...

    def synced(self) -> bool:
        """Whether the kernel's clock is disciplined by a time server."""
        ...


class SystemClock:
    """The host's clocks."""

    def __init__(self) -> None:
        self._adjtimex: Callable[[Any], Any] | None = None
        with contextlib.suppress(AttributeError, OSError):  # no such call here: nobody can tell
            self._adjtimex = ctypes.CDLL(None, use_errno=True).adjtimex
        self._checked_ms = -60_000
        self._synced = False

    def mono_ms(self) -> int:
        """CLOCK_MONOTONIC in ms."""
        return time.monotonic_ns() // 1_000_000

    def mono_us(self) -> int:
        """CLOCK_MONOTONIC in µs."""
        return time.monotonic_ns() // 1000

    def wall_ms(self) -> int:
        """CLOCK_REALTIME in ms."""
        return time.time_ns() // 1_000_000

    def synced(self) -> bool:
        """What `adjtimex` says, asked at most every ten seconds."""
        now = self.mono_ms()
        if now - self._checked_ms >= 10_000:
            self._checked_ms = now
            self._synced = self._ask()
        return self._synced

    def _ask(self) -> bool:
        if self._adjtimex is None:
            return False
        buffer = ctypes.create_string_buffer(_TIMEX_SIZE)  # modes = 0: read only
        state = int(self._adjtimex(buffer))
        return 0 <= state < _TIME_ERROR


class ManualClock:
    """A clock that stands still until it is set: virtual time for tests and comparisons."""

    def __init__(self, mono_ms: int = 0, wall_ms: int = 0, *, synced: bool = True) -> None:
        self.now = mono_ms
        self.wall = wall_ms
        self.is_synced = synced

    def mono_ms(self) -> int:
        """The time it was set to."""
        return self.now

    def mono_us(self) -> int:
        """The same in µs."""
        return self.now * 1000

    def wall_ms(self) -> int:
        """Wall time, moved along by `advance`."""
        return self.wall

    def synced(self) -> bool:
        """As it was made."""
        return self.is_synced

    def advance(self, ms: int) -> None:
        """Let both clocks run."""
        self.now += ms
        self.wall += ms
