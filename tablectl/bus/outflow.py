"""The events of one table on one connection: in order, each until it is acknowledged."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from typing import Final

import aiomqtt
from aiomqtt.exceptions import MqttCodeError
from paho.mqtt.reasoncodes import ReasonCode

from tablectl.bus.broker import CONNECT_TIMEOUT_S, Connection
from tablectl.bus.payloads import EventMessage
from tablectl.bus.source import TableSource

BATCH: Final = 100
"""Public events in flight at once: one broker round trip each would halve the throughput."""


class NotTakenError(MqttCodeError):
    """The broker refuses a publication: `topic`, and its reason code."""

    def __init__(self, topic: str, reason: ReasonCode) -> None:
        super().__init__(reason, f"the broker does not take {topic}")
        self.topic = topic


class Outflow:
    """Sends what follows the last event sent; the cursor moves when the broker has acknowledged.

    `push` sends at once what was just committed, `advance` whatever the journal holds. MQTT keeps the
    order of one connection, so events are acknowledged in the order of their `seq`.
    """

    def __init__(
        self,
        connection: Connection,
        topic: str,
        source: TableSource,
        on_taken: Callable[[], None],
    ) -> None:
        self._connection = connection
        self._topic = topic
        self._source = source
        self._on_taken = on_taken
        """Called for each event that the broker has taken."""
        self._sent = source.published()
        self._in_flight: deque[int] = deque()
        self._acknowledged = asyncio.Event()
        self._refusal: ReasonCode | None = None

    def push(self) -> None:
        """Send what memory holds, if nothing before it is missing. Raises MqttError."""
        room = BATCH - len(self._in_flight)
        if room > 0 and self._sent < self._source.last_seq():
            self._send(self._source.recent_events(self._sent, room))

    async def advance(self) -> bool:
        """One step: send what there is room for, wait for acknowledgements. False when all is done.

        Raises MqttError.
        """
        room = BATCH - len(self._in_flight)
        if room > BATCH // 2 and self._sent < self._source.last_seq():
            self._send(await self._source.public_events(self._sent, room))
        if not self._in_flight:
            return False
        await self._an_acknowledgement()
        return True

    def _send(self, events: Sequence[EventMessage]) -> None:
        for event in events:
            # While the journal was asked, `push` may have sent the first of them.
            if event.seq > self._sent:
                self._connection.publish_now(self._topic, event.encode(), self._taken)
                self._sent = event.seq
                self._in_flight.append(event.seq)

    async def _an_acknowledgement(self) -> None:
        self._acknowledged.clear()
        try:
            async with asyncio.timeout(CONNECT_TIMEOUT_S):
                # A refusal may have come while nobody waited here.
                if self._refusal is None:
                    await self._acknowledged.wait()
        except TimeoutError:
            raise aiomqtt.MqttError("the broker does not acknowledge") from None
        if self._refusal is not None:
            raise NotTakenError(self._topic, self._refusal)

    def _taken(self, reason: ReasonCode) -> None:
        self._acknowledged.set()
        if reason.is_failure or self._refusal is not None:
            # Nothing after a refused event counts as published: it is sent again on the next connection.
            self._refusal = self._refusal or reason
            return
        self._source.mark_published(self._in_flight.popleft())
        self._on_taken()
