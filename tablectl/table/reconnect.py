"""How long to wait between attempts, and how seldom to speak of it."""

from __future__ import annotations

import random
from dataclasses import dataclass

from tablectl.table.options import ReconnectOptions


class Backoff:
    """Growing waits with jitter; `reset` after a success."""

    def __init__(self, options: ReconnectOptions, rng: random.Random) -> None:
        self._options = options
        self._rng = rng
        self._next = float(options.first_ms)
        self.attempts = 0

    def reset(self) -> None:
        """It worked: the next failure is a first one."""
        self._next = float(self._options.first_ms)
        self.attempts = 0

    def wait_ms(self, code: str) -> int:
        """The wait after one more failure of this kind (`LinkStatus.code`)."""
        self.attempts += 1
        if code in {"version_refused", "port_address", "driver"}:
            return self._spread(self._options.refused_ms)
        most = self._options.missing_ms if code == "port_missing" else self._options.most_ms
        wait = min(self._next, float(most))
        self._next = min(self._next * self._options.factor, float(self._options.most_ms))
        return self._spread(wait)

    def _spread(self, wait: float) -> int:
        return round(wait * (1 + self._options.jitter * (2 * self._rng.random() - 1)))


@dataclass(slots=True)
class _Repeated:
    since: int
    told: int
    count: int = 0


class FoldedLog:
    """One line per change; the same again only now and then, with its count (known faults 13, 43)."""

    def __init__(self, fold_ms: int) -> None:
        self._fold = fold_ms
        self._last = ""
        self._repeated = _Repeated(0, 0)

    def line(self, text: str, now_ms: int) -> str | None:
        """What to log for this text now; None: nothing."""
        if text != self._last:
            self._last = text
            self._repeated = _Repeated(now_ms, now_ms)
            return text
        self._repeated.count += 1
        if now_ms - self._repeated.told < self._fold:
            return None
        self._repeated.told = now_ms
        minutes = (now_ms - self._repeated.since) // 60_000
        return f"{text} (for {minutes} min, {self._repeated.count} times more)"
