"""Times of the link: its constants, the retransmission timer (RFC 6298), and the device's clock seen from the host.

All times are integers in microseconds of a monotonic clock that the caller injects; `uptime_ms` is the device's own u32 in
milliseconds, which wraps after 49.7 days.
"""

from __future__ import annotations

from collections import deque

MS = 1_000
SECOND = 1_000_000

RTO_INITIAL = 250 * MS
RTO_MIN = 25 * MS
"""Above the 22 ms that a full window takes at 115,200 baud: no retransmission of what is still being written."""
RTO_MAX = 2 * SECOND
CLOCK_GRANULARITY = 1 * MS
TRIES = 5
HELLO_FIRST = 250 * MS
HELLO_MAX = 2 * SECOND
ANNOUNCE = 1 * SECOND
ANNOUNCE_MIN = 100 * MS
HEARTBEAT = 1 * SECOND
WATCHDOG = 1 * SECOND
WATCHDOG_TIMEOUT = 5 * SECOND
"""What the host promises to the device: silence longer than this means that the host is gone."""
SILENCE = 3_500 * MS
"""Three heartbeats and a half."""
DISPLAY_GAP = 50 * MS
DISPLAY_HOLD = 200 * MS
"""How long the first display writes of a link wait for the heartbeat that may make them needless."""
REWRITE_FIRST = 10 * SECOND
REWRITE_MAX = 60 * SECOND
CLOCK_SYNC = 10 * SECOND
UPTIME_SLACK = 2 * SECOND
"""By how much the device's uptime may lag behind the host's reckoning before it counts as a restart."""

_U32 = 1 << 32


def signed32(difference: int) -> int:
    """A difference of two u32 clock readings as the nearest signed number (wraps at 49.7 days)."""
    difference &= _U32 - 1
    return difference - _U32 if difference >= _U32 >> 1 else difference


class RetransmissionTimer:
    """RFC 6298 with Karn's rule: samples only from frames sent once, back-off kept until the next sample."""

    def __init__(self) -> None:
        self.srtt: int | None = None
        self._rttvar = 0
        self._base = RTO_INITIAL
        self._backoff = 0

    @property
    def rto(self) -> int:
        """Time to wait for an acknowledgement, 25 ms to 2 s."""
        return min(self._base << self._backoff, RTO_MAX)

    def sample(self, rtt: int) -> None:
        """A measured round trip; ends a back-off."""
        if self.srtt is None:
            self.srtt = rtt
            self._rttvar = rtt // 2
        else:
            self._rttvar = (3 * self._rttvar + abs(self.srtt - rtt)) // 4
            self.srtt = (7 * self.srtt + rtt) // 8
        self._base = min(
            max(self.srtt + max(CLOCK_GRANULARITY, 4 * self._rttvar), RTO_MIN), RTO_MAX
        )
        self._backoff = 0

    def back_off(self) -> None:
        """The timer ran out: wait twice as long."""
        if self.rto < RTO_MAX:
            self._backoff += 1


class DeviceClock:
    """The device's uptime in host time: the offset of the fastest round trip among the last ones."""

    def __init__(self) -> None:
        self._samples: deque[tuple[int, int, int]] = deque(
            maxlen=8
        )  # round trip, host µs, uptime ms
        self._best: tuple[int, int, int] | None = None

    def reset(self) -> None:
        """Another start of the device: its clock began anew."""
        self._samples.clear()
        self._best = None

    def sample(self, sent: int, received: int, uptime_ms: int) -> None:
        """A reading of the device's clock between two host times (µs)."""
        self._samples.append((received - sent, (sent + received) // 2, uptime_ms))
        self._best = min(self._samples)

    @property
    def known(self) -> bool:
        """True once a reading was taken."""
        return self._best is not None

    def to_host(self, uptime_ms: int) -> int:
        """Host time (µs) of a device time within 24 days of now. 0 while nothing is known."""
        if self._best is None:
            return 0
        _, host, uptime = self._best
        return host + signed32(uptime_ms - uptime) * MS

    def uptime_at(self, now: int) -> int:
        """Device uptime (ms, u32) at a host time: what a deadline is made of. 0 while nothing is known."""
        if self._best is None:
            return 0
        _, host, uptime = self._best
        return (uptime + (now - host) // MS) % _U32
