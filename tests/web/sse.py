"""A reader of server-sent events for tests."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import aiohttp


@dataclass(frozen=True, slots=True)
class Sent:
    """One event of a stream."""

    kind: str
    data: Any
    id: str | None


async def events(response: aiohttp.ClientResponse) -> AsyncIterator[Sent]:
    """Events of an open stream, comments left out."""
    fields: dict[str, str] = {}
    async for raw in response.content:
        line = raw.decode().rstrip("\n")
        if line:
            name, _, value = line.partition(":")
            if name:
                fields[name] = value.removeprefix(" ")
        elif "data" in fields:
            yield Sent(fields.get("event", "message"), json.loads(fields["data"]), fields.get("id"))
            fields = {}


async def next_of(stream: AsyncIterator[Sent], kind: str, within_s: float = 10.0) -> Sent:
    """The next event of a kind."""
    async with asyncio.timeout(within_s):
        async for sent in stream:
            if sent.kind == kind:
                return sent
    raise AssertionError(f"the stream ended without {kind!r}")
