"""A subscriber that can be asked what it saw: for the demo, `doctor`, recorders and tests.

It hears the public topics of one table, counts distinct events, notices gaps, and can ask requests and
wait for their answers. One connection; what it does after a loss is its owner's decision.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import uuid
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any

import aiomqtt
from pydantic import ValidationError

from tablectl.bus.broker import Broker, Protocol
from tablectl.bus.payloads import Response, SeenEvent
from tablectl.bus.tasks import end
from tablectl.bus.topics import Topics, everything

ANSWER_TIMEOUT_S = 10.0


@dataclass(slots=True)
class Seen:
    """What a subscriber has received so far."""

    ids: set[str] = field(default_factory=set)
    last_seq: int = 0
    gaps: list[tuple[int, int]] = field(default_factory=list)
    """(expected, received) of every jump forward in `seq`."""
    repeats: int = 0
    """Events that came again: allowed, at least once means sometimes twice."""
    streams: set[str] = field(default_factory=set)
    events: list[SeenEvent] = field(default_factory=list)
    """Distinct events in the order of their first arrival."""
    retained: dict[str, Any] = field(default_factory=dict)
    """Last value of every other topic."""

    def note(self, event: SeenEvent) -> bool:
        """Count an event; False when it had been here before."""
        if event.id in self.ids:
            self.repeats += 1
            return False
        self.ids.add(event.id)
        self.streams.add(event.stream)
        if event.seq > self.last_seq:
            if self.last_seq and event.seq != self.last_seq + 1:
                self.gaps.append((self.last_seq + 1, event.seq))
            self.last_seq = event.seq
        self.events.append(event)
        return True


class Watcher:
    """Hears one table; `async with watcher.connected():` and read `seen`.

    `lasting`: the broker keeps events for a minute while this subscriber is away (MQTT 5).
    """

    def __init__(
        self,
        broker: Broker,
        topics: Topics,
        *,
        client_id: str | None = None,
        protocol: Protocol = "5",
        lasting: bool = False,
        on_event: Callable[[SeenEvent], None] | None = None,
        on_retained: Callable[[str, Any], None] | None = None,
    ) -> None:
        self.seen = Seen()
        self._broker = broker
        self._topics = topics
        self._client_id = client_id or f"tablectl-watcher-{uuid.uuid4().hex[:12]}"
        self._protocol = protocol
        self._lasting = lasting
        self._on_event = on_event
        self._on_retained = on_retained
        self._changed = asyncio.Condition()
        self._answers: dict[str, asyncio.Future[Response]] = {}
        self._client: aiomqtt.Client | None = None
        self._lost: str | None = None

    @contextlib.asynccontextmanager
    async def connected(self) -> AsyncIterator[Watcher]:
        """Connected and subscribed while the block runs."""
        async with self._broker.client(
            self._client_id, self._protocol, lasting=self._lasting
        ) as client:
            self._client, self._lost = client, None
            reader = asyncio.create_task(self._read(client))
            try:
                for pattern in everything(self._topics.venue, self._topics.table):
                    await client.subscribe(pattern, qos=1)
                await client.subscribe(self._topics.response_filter, qos=1)
                yield self
            finally:
                self._client = None
                await end([reader])

    async def request(
        self,
        name: str,
        data: dict[str, Any],
        *,
        transaction: str | None = None,
        wait_s: float = ANSWER_TIMEOUT_S,
    ) -> Response:
        """Ask and wait for the answer. `TimeoutError` when none comes: ask again, same transaction."""
        assert self._client is not None, "request() works inside connected()"
        key = transaction or str(uuid.uuid4())
        answer = self._answers.setdefault(key, asyncio.get_running_loop().create_future())
        body = json.dumps({**data, "transaction": key}, ensure_ascii=False).encode()
        try:
            async with asyncio.timeout(wait_s):
                await self._client.publish(self._topics.request(name), body, 1)
                return await asyncio.shield(answer)
        finally:
            self._answers.pop(key, None)

    async def until(self, condition: Callable[[Seen], bool], wait_s: float) -> None:
        """Wait until what was seen fulfils `condition`; `TimeoutError` after `wait_s` seconds."""
        async with asyncio.timeout(wait_s), self._changed:
            await self._changed.wait_for(lambda: self._lost is not None or condition(self.seen))
        if self._lost is not None and not condition(self.seen):
            raise ConnectionError(self._lost)

    async def _read(self, client: aiomqtt.Client) -> None:
        try:
            async for message in client.messages:
                self._take(str(message.topic), message.payload)
                async with self._changed:
                    self._changed.notify_all()
        except aiomqtt.MqttError as error:
            self._lost = f"lost the broker {self._broker}: {error}"
            for answer in self._answers.values():
                if not answer.done():
                    answer.set_exception(ConnectionError(self._lost))
            async with self._changed:
                self._changed.notify_all()

    def _take(self, topic: str, body: object) -> None:
        payload = body if isinstance(body, bytes) else b""
        if topic.startswith(f"{self._topics.base}/response/"):
            self._take_answer(payload)
        elif topic == self._topics.event:
            self._take_event(payload)
        else:
            try:
                value = json.loads(payload) if payload else None
            except ValueError:
                return  # somebody else's garbage on a topic of ours
            self.seen.retained[topic.removeprefix(f"{self._topics.base}/")] = value
            if self._on_retained is not None:
                self._on_retained(topic, value)

    def _take_event(self, payload: bytes) -> None:
        with contextlib.suppress(ValidationError):
            event = SeenEvent.model_validate_json(payload)
            if self.seen.note(event) and self._on_event is not None:
                self._on_event(event)

    def _take_answer(self, payload: bytes) -> None:
        with contextlib.suppress(ValidationError):
            response = Response.model_validate_json(payload)
            answer = self._answers.get(response.transaction)
            if answer is not None and not answer.done():
                answer.set_result(response)
