"""How late the loop is: a late loop looks like a bad cable, so it is measured and told."""

from __future__ import annotations

import asyncio
import time
from collections import deque

PERIOD_S = 0.1
KEPT = 600
"""Samples of the last minute."""


class LoopLag:
    """Wakes ten times a second and notes how much too late it came."""

    def __init__(self) -> None:
        self._samples: deque[float] = deque(maxlen=KEPT)
        self.beats = 0
        """Wakings so far: proof that the loop runs."""

    async def run(self) -> None:
        """Measure until cancelled."""
        due = time.monotonic() + PERIOD_S
        while True:
            await asyncio.sleep(max(0.0, due - time.monotonic()))
            now = time.monotonic()
            self._samples.append(max(0.0, now - due) * 1000)
            self.beats += 1
            due = now + PERIOD_S

    def worst_ms(self) -> float:
        """Worst lag of the last minute, ms."""
        return max(self._samples, default=0.0)

    def p99_ms(self) -> float:
        """99th percentile of the last minute, ms."""
        ordered = sorted(self._samples)
        return ordered[min(len(ordered) - 1, int(len(ordered) * 0.99))] if ordered else 0.0
