"""Is every part of the daemon getting on? What the watchdog of systemd lives on (known fault 45).

A part that waits for somebody else is not stuck: a board that is unplugged, a broker that is away or
frozen (the connection notices it by its keepalive). Stuck is what only a new start can help.
"""

from __future__ import annotations

from collections.abc import Mapping

from tablectl.daemon.clock import Clock
from tablectl.daemon.unit import TableUnit

PATIENCE_S = 30.0
BUS_PATIENCE_S = 60.0
"""Health goes out every 30 s and is acknowledged: a live connection shows it within this."""


class Progress:
    """Answers for engine, serial and bus over all tables."""

    def __init__(
        self,
        units: Mapping[str, TableUnit],
        clock: Clock,
        *,
        keepalive_s: int = 0,
        patience_s: float = PATIENCE_S,
        bus_patience_s: float = BUS_PATIENCE_S,
    ) -> None:
        self._units = units
        self._clock = clock
        self._patience_ms = patience_s * 1000
        # A frozen broker is noticed after twice the keepalive: that is the broker's fault, not ours.
        self._bus_patience_ms = max(bus_patience_s, 4.0 * keepalive_s) * 1000
        self._bus_marks: dict[str, tuple[tuple[str, int], int]] = {}

    def engine_stuck(self) -> bool:
        """A table's writer works on one input for long: deciding or committing does not end."""
        return any(unit.writer.busy_s * 1000 > self._patience_ms for unit in self._units.values())

    def serial_stuck(self) -> bool:
        """A connection has ended by itself, or does not do what is due."""
        return any(
            unit.session_ended
            or (unit.session is not None and unit.session.overdue_ms > self._patience_ms)
            for unit in self._units.values()
        )

    def bus_stuck(self) -> bool:
        """A connection neither publishes, nor is acknowledged, nor tries again."""
        now = self._clock.mono_ms()
        stuck = False
        for unit in self._units.values():
            bus = unit.bus
            if bus is None or bus.status.state == "stopped":
                continue
            mark = ("idle", bus.progress)
            if bus.status.state == "online" and unit.waiting:
                mark = ("events", unit.source.published())
            known, since = self._bus_marks.get(unit.table_id, (None, now))
            if mark != known:
                self._bus_marks[unit.table_id] = (mark, now)
            elif now - since > self._bus_patience_ms:
                stuck = True
        return stuck
