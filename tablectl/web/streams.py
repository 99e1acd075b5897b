"""Server-sent events: the board's stream of tables, and the feed of one table with `Last-Event-ID`."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any, Final

from aiohttp import web

from tablectl.bus.tasks import first_of
from tablectl.web.hub import Hub

KEEPALIVE_S: Final = 15.0
GAP_S: Final = 0.2
"""A page is told of a table at most five times a second; the last state always comes."""
RETRY_MS: Final = 1_000


class Stream:
    """One open response that events are written to."""

    def __init__(self, response: web.StreamResponse) -> None:
        self.response = response

    @classmethod
    async def open(cls, request: web.Request) -> Stream:
        """Answer with an event stream; proxies are asked not to buffer it."""
        response = web.StreamResponse(
            headers={
                "Content-Type": "text/event-stream; charset=utf-8",
                "Cache-Control": "no-store",
                "X-Accel-Buffering": "no",
            }
        )
        await response.prepare(request)
        await response.write(f"retry: {RETRY_MS}\n\n".encode())
        return cls(response)

    async def send(self, kind: str, data: Any, event_id: str | None = None) -> None:
        """One event; JSON has no line breaks, so one data line holds it."""
        head = f"id: {event_id}\n" if event_id is not None else ""
        body = json.dumps(data, separators=(",", ":"), ensure_ascii=False)
        await self.response.write(f"{head}event: {kind}\ndata: {body}\n\n".encode())

    async def breathe(self) -> None:
        """A comment, so that a dead connection is noticed at both ends."""
        await self.response.write(b": \n\n")


async def stream_tables(stream: Stream, hubs: Mapping[str, Hub]) -> None:
    """Every table once, then each table again when it has changed."""
    await stream.send("tables", list(hubs))
    await first_of(*(_follow_row(stream, hub) for hub in hubs.values()), _breathe(stream))


async def _follow_row(stream: Stream, hub: Hub) -> None:
    said: dict[str, Any] | None = None
    while True:
        bell = hub.bell
        row = hub.row()
        if row != said:
            await stream.send("table", row)
            said = row
            await asyncio.sleep(GAP_S)
        await bell.wait()


async def stream_events(stream: Stream, hub: Hub, last_event_id: str | None) -> None:
    """The state, then the public events after `Last-Event-ID` (or from now), and the state as it changes.

    The id of an event is `<stream>:<seq>`; an id of another journal starts from now.
    """
    last_seq = hub.source.last_seq()
    after = _resume(last_event_id, hub.source.stream)
    cursor = last_seq if after is None else min(after, last_seq)
    await first_of(_follow_events(stream, hub, cursor), _follow_row(stream, hub), _breathe(stream))


async def _follow_events(stream: Stream, hub: Hub, cursor: int) -> None:
    while True:
        bell = hub.bell
        while events := await hub.events(cursor):
            for event in events:
                await stream.send("event", event.to_json(), f"{hub.source.stream}:{event.seq}")
            cursor = events[-1].seq
        await bell.wait()


async def _breathe(stream: Stream) -> None:
    while True:
        await asyncio.sleep(KEEPALIVE_S)
        await stream.breathe()


def _resume(given: str | None, stream: str) -> int | None:
    if given is None:
        return None
    name, _, number = given.rpartition(":")
    if name != stream or not number.isdecimal() or len(number) > 18:
        return None
    return int(number)
