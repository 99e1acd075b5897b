"""What the bus reads of one table; the daemon implements it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from tablectl.bus.payloads import (
    BridgeHealth,
    BridgeInfo,
    EventMessage,
    LinkStatus,
    MachineTrouble,
    StateSnapshot,
)


class TableSource(Protocol):
    """One table as the bus sees it: all of it public, all of it already in the journal."""

    @property
    def table_id(self) -> str:
        """Id of the table."""
        ...

    @property
    def epoch(self) -> int:
        """How often the daemon has started with this journal."""
        ...

    @property
    def stream(self) -> str:
        """UUID of the journal."""
        ...

    def last_seq(self) -> int:
        """The last public `seq` there is, from memory."""
        ...

    def published(self) -> int:
        """The `seq` up to which the broker has acknowledged public events."""
        ...

    def recent_events(self, after: int, limit: int) -> Sequence[EventMessage]:
        """Those of `public_events` that memory holds, possibly none; without asking the journal."""
        ...

    async def public_events(self, after: int, limit: int) -> Sequence[EventMessage]:
        """Public events with `seq` > `after`, in order, at most `limit`."""
        ...

    def mark_published(self, seq: int) -> None:
        """The broker has acknowledged everything up to `seq`."""
        ...

    def snapshot(self) -> StateSnapshot:
        """The public state now."""
        ...

    def link(self) -> LinkStatus:
        """The serial line now."""
        ...

    def info(self) -> BridgeInfo:
        """Versions and capabilities."""
        ...

    def troubles(self) -> tuple[MachineTrouble, ...]:
        """What is wrong with the machine now, as `health` tells it."""
        ...

    def health(self) -> BridgeHealth:
        """Figures for the technician."""
        ...
