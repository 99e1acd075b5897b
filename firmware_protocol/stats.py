"""Figures of a link: counters since its start, and percentiles of the round trip."""

from __future__ import annotations

import dataclasses
from collections import Counter, deque
from typing import Any


@dataclasses.dataclass(slots=True)
class LinkStats:
    """Counters of one end. Nothing here decides anything."""

    frames_sent: int = 0
    frames_received: int = 0
    octets_sent: int = 0
    octets_received: int = 0
    retransmits: int = 0
    timeouts: int = 0
    crc_errors: int = 0
    noise: int = 0
    duplicates: int = 0
    out_of_order: int = 0
    stale: int = 0
    bad_acks: int = 0
    overruns: int = 0
    unknown: int = 0
    malformed: int = 0
    bulk_dropped: int = 0
    not_spoken: int = 0
    events_repeated: int = 0
    actions_repeated: int = 0
    handshakes: int = 0
    failures: Counter[str] = dataclasses.field(default_factory=Counter)
    resets: Counter[str] = dataclasses.field(default_factory=Counter)
    """Restarts of the device by cause."""
    round_trips: deque[int] = dataclasses.field(default_factory=lambda: deque(maxlen=1024))

    def round_trip(self, share: float) -> int | None:
        """Percentile (0–1) of the last 1,024 measured round trips in µs; None before the first."""
        if not self.round_trips:
            return None
        ordered = sorted(self.round_trips)
        return ordered[min(int(len(ordered) * share), len(ordered) - 1)]

    def as_dict(self) -> dict[str, Any]:
        """All figures, ready for JSON."""
        out: dict[str, Any] = {
            f.name: getattr(self, f.name)
            for f in dataclasses.fields(self)
            if f.name not in {"failures", "resets", "round_trips"}
        }
        out["failures"] = dict(self.failures)
        out["resets"] = dict(self.resets)
        out["rtt_p50_us"] = self.round_trip(0.5)
        out["rtt_p99_us"] = self.round_trip(0.99)
        return out
