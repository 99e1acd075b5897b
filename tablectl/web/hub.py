"""What the pages see of one table: recent public events, the state, and a bell that rings on change."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Sequence
from typing import Any, Final

from tablectl.bus.payloads import EventMessage
from tablectl.bus.source import TableSource

KEPT: Final = 64
"""Events kept in memory for streams that lag: half a minute of a fast hand, some 3 KiB each. Older ones are
read from the journal."""
BACK: Final = 500
"""Events read back at the start: the last one worth telling is among them."""
CHUNK: Final = 200
QUIET: Final = frozenset(
    {
        "drawn", "discarded", "draw_returned", "dealt", "kan_established", "rinshan_laid", "riichi_accepted",
        "wall_broken",
    }
)  # fmt: skip
"""Steps of play that are no news on a board of many tables."""

_LOG = logging.getLogger("tablectl.web")


class Hub:
    """Follows the public feed of one table and wakes every stream that waits."""

    def __init__(self, source: TableSource) -> None:
        self.source = source
        self.news: list[dict[str, Any]] = []
        """The last event worth telling, as a JSON object; several where several won."""
        self._recent: deque[EventMessage] = deque(maxlen=KEPT)
        self.bell = asyncio.Event()
        """Rings at the next change; take it first, then look, then wait for it."""
        self._row: dict[str, Any] | None = None
        self._due = asyncio.Event()

    def wake(self) -> None:
        """Something was committed or changed."""
        self._row = None
        self._due.set()

    async def follow(self) -> None:
        """Run for the life of the server."""
        while True:
            await self._due.wait()
            self._due.clear()
            try:
                await self.read()
            except Exception:  # noqa: BLE001  # one table's trouble must not end its page for good
                _LOG.exception("%s: public events could not be read", self.source.table_id)
            self._row = None
            bell, self.bell = self.bell, asyncio.Event()
            bell.set()

    async def events(self, after: int) -> Sequence[EventMessage]:
        """Public events after `seq`, in order, some hundred at most; from memory where possible."""
        if after >= self.source.last_seq():
            return ()
        if self._recent and self._recent[0].seq <= after + 1:
            return [event for event in self._recent if event.seq > after][:CHUNK]
        return await self.source.public_events(after, CHUNK)

    def row(self) -> dict[str, Any]:
        """The table as a board shows it; made once for all streams."""
        if self._row is None:
            info = self.source.info()
            self._row = {
                "table": self.source.table_id,
                "name": info.table_name,
                "level": info.level,
                "link": self.source.link().model_dump(mode="json"),
                "state": self.source.snapshot().model_dump(mode="json"),
                "news": self.news,
            }
        return self._row

    async def read(self) -> None:
        """Take in what is new on the public feed."""
        if self._recent:
            cursor = self._recent[-1].seq
        else:
            cursor = max(0, self.source.last_seq() - BACK)
        while cursor < self.source.last_seq():
            chunk = await self.source.public_events(cursor, CHUNK)
            if not chunk:
                return
            self._recent.extend(chunk)
            cursor = chunk[-1].seq
            for event in chunk:
                self._tell(event)

    def _tell(self, event: EventMessage) -> None:
        kind = event.view.fields["type"]
        last_kind = self.news[-1]["type"] if self.news else ""
        if kind in QUIET or (kind == "hand_ended" and last_kind in ("won", "hand_drawn")):
            return
        if kind == "won" and last_kind == "won":
            self.news = [*self.news, event.to_json()]
        else:
            self.news = [event.to_json()]
