"""One table at the broker: connects for ever, says hello, publishes what the journal holds, takes requests.

Each table has its own connection, because MQTT allows one will a connection and the will of a table
stands on its own `bridge/state`. Everything published is derived from the journal and may be repeated;
events go in order and at least once, snapshots may be skipped but the last one never is.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final, Literal

import aiomqtt
from paho.mqtt.subscribeoptions import SubscribeOptions
from pydantic import ValidationError

from tablectl.bus import broker as brokers
from tablectl.bus.answers import Desk
from tablectl.bus.broker import Broker, Connection, Protocol
from tablectl.bus.outflow import NotTakenError, Outflow
from tablectl.bus.payloads import BridgeState, MachineTrouble, SeenBridgeState, StateSnapshot
from tablectl.bus.source import TableSource
from tablectl.bus.tasks import end, first_of
from tablectl.bus.topics import SEATS, Topics
from tablectl.mirror.submit import Submit

SNAPSHOT_GAP_S: Final = 0.2
"""Retained topics change at most five times a second."""
HEALTH_EVERY_S: Final = 30.0
HEALTH_EXPIRY_S: Final = 90
STABLE_S: Final = 5.0
"""A connection that lived so long was a good one: the back-off starts anew after it."""
HUNG_UP_OFTEN: Final = 4
"""Good connections in a row that lasted less: mosquitto 2.0.11 gives a name away without a word."""
FAREWELL_S: Final = 1.0
REPEAT_LOG_S: Final = 300.0

_LOG = logging.getLogger("tablectl.bus")


@dataclass(frozen=True, slots=True)
class BusStatus:
    """Where the connection stands, for health, metrics and the technician."""

    state: Literal["starting", "online", "offline", "stopped"]
    reason: str = ""
    protocol: Protocol | None = None
    attempts: int = 0
    """Failed tries since the last good connection."""


class SupersededError(Exception):
    """Another daemon speaks for this table: this one falls silent and does not come back."""


class _FarewellError(Exception):
    """The daemon is stopping."""


class TableBus:
    """The bus of one table. `run()` lasts as long as the daemon; `wake()` after every commit."""

    def __init__(
        self,
        broker: Broker,
        client_id: str,
        topics: Topics,
        source: TableSource,
        submit: Submit,
        *,
        instance: str,
        on_status: Callable[[BusStatus], None] | None = None,
        rng: random.Random | None = None,
    ) -> None:
        self.topics = topics
        self.status = BusStatus("starting")
        self._broker = broker
        self._client_id = client_id
        self._source = source
        self._desk = Desk(topics, source.table_id, submit)
        self._instance = instance
        self._on_status = on_status
        self._rng = rng or random.Random()
        self._protocol: Protocol = broker.first_protocol()
        self._proven: Protocol | None = None
        self._events_due = asyncio.Event()
        self._snapshot_due = asyncio.Event()
        self._health_due = asyncio.Event()
        self._troubles: tuple[MachineTrouble, ...] = ()
        """Of the machine, as last told."""
        self._stopping = asyncio.Event()
        self._sent: dict[str, Any] = {}
        """What the broker retains for us, as far as this connection knows."""
        self._refused: set[str] = set()
        """Retained topics that a broker did not take, told once each."""
        self._outflow: Outflow | None = None
        """Of the connection that is online now."""
        self._spoke = False
        """Whether this process has said its birth on any connection yet."""
        self._logged_at = 0.0
        self.progress = 0
        """Grows with each acknowledgement and each change of state: a connection that is not stuck."""

    def wake(self) -> None:
        """Something was committed or changed: publish it, events at once where the connection is live."""
        self._events_due.set()
        if self._outflow is not None:
            try:
                self._outflow.push()
            except aiomqtt.MqttError as error:
                _LOG.debug("%s: %s; the connection ends", self.topics.base, error)

    def stop(self) -> None:
        """Publish what is left, say goodbye, and let `run()` return (within a second or so)."""
        self._stopping.set()

    @property
    def pending(self) -> bool:
        """Whether something still waits to be published."""
        return self._events_due.is_set() or self._snapshot_due.is_set()

    async def run(self) -> None:
        """Connect, and connect again, until stopped or superseded."""
        waits = brokers.backoff(self._rng)
        attempts = 0
        while not self._stopping.is_set():
            began = time.monotonic()
            was_online = False
            try:
                await self._connection()
            except _FarewellError:
                break
            except SupersededError as error:
                self._set(BusStatus("stopped", str(error), self._protocol))
                _LOG.error(
                    "%s: %s; nothing is published from here any more: stop one of them, then restart this one",
                    self.topics.base,
                    error,
                )
                await self._stopping.wait()
                return
            except (aiomqtt.MqttError, OSError, ValueError) as error:
                if brokers.reason(error) == brokers.TAKEN_OVER:
                    text = "the broker gave our client id to another client"
                    self._set(BusStatus("stopped", text, self._protocol))
                    _LOG.error(
                        "%s: %s; nothing is published from here any more: give [mqtt] client_id a name of"
                        " its own, then restart this one",
                        self.topics.base,
                        text,
                    )
                    await self._stopping.wait()
                    return
                was_online = self.status.state == "online"
                if was_online and time.monotonic() - began >= STABLE_S:
                    waits, attempts = brokers.backoff(self._rng), 0
                attempts += 1
                text = self._explain(error)
                told_why = isinstance(error, NotTakenError)
                if was_online and attempts >= HUNG_UP_OFTEN and not told_why:
                    text += f"; does another client call itself {self._client_id!r}?"
                self._log_loss(text, attempts)
                self._set(BusStatus("offline", text, None, attempts))
                if not was_online:
                    self._protocol = brokers.next_protocol(
                        self._broker, self._protocol, error, self._proven
                    )
            await self._rest(next(waits))
        self._set(BusStatus("stopped", "the daemon stopped"))

    # ---- one connection ---------------------------------------------------------------------------

    async def _connection(self) -> None:
        protocol = self._protocol
        farewell = BridgeState(
            state="offline",
            epoch=self._source.epoch,
            stream=self._source.stream,
            instance=self._instance,
        )
        will = aiomqtt.Will(
            self.topics.bridge_state, farewell.encode(), 1, True, brokers.will_properties(protocol)
        )
        client = self._broker.client(self._client_id, protocol, will, lasting=True)
        async with contextlib.AsyncExitStack() as stack:
            await self._unless_stopping(stack.enter_async_context(client))
            self._sent = {}
            await first_of(self._look(client, protocol), client.lost(), self._until_stopping())
            outflow = Outflow(client, self.topics.event, self._source, self._taken)
            # The reader ends when the connection does, and that cancels every publish in flight: alone
            # they would wait their whole timeout for an acknowledgement that cannot come.
            try:
                await first_of(
                    self._read(client),
                    self._work(client, protocol, outflow),
                    self._desk.answer(client, protocol),
                    self._until_stopping(),
                )
            except _FarewellError:
                with contextlib.suppress(TimeoutError, aiomqtt.MqttError):
                    async with asyncio.timeout(FAREWELL_S):
                        while await outflow.advance():
                            pass
                        await self._flush_retained(client)
                        await client.publish(
                            self.topics.bridge_state, farewell.encode(), 1, retain=True
                        )
                raise

    def _taken(self) -> None:
        self.progress += 1

    async def _work(self, client: Connection, protocol: Protocol, outflow: Outflow) -> None:
        await self._birth(client)
        self._spoke = True
        await self._flush_retained(client)
        self._proven = protocol
        if self.status.attempts:
            _LOG.warning(
                "%s: broker %s is back after %d tries",
                self.topics.base,
                self._broker,
                self.status.attempts,
            )
        self._set(BusStatus("online", "", protocol))
        self._logged_at = 0.0
        self._events_due.set()
        self._outflow = outflow
        try:
            await first_of(
                self._pump_events(outflow),
                self._pump_snapshots(client),
                self._pump_health(client, protocol),
            )
        finally:
            self._outflow = None

    async def _look(self, client: aiomqtt.Client, protocol: Protocol) -> None:
        """Subscribe, and see who spoke last for this table before saying anything ourselves.

        What is retained on the first subscription is delivered before the second is acknowledged.
        """
        await client.subscribe(self.topics.bridge_state, qos=1)
        if protocol == "5":
            # Retain-as-published: a retained request is told from a live one even when it is new.
            options = SubscribeOptions(qos=1, retainAsPublished=True)
            await client.subscribe(self.topics.request_filter, options=options)
        else:
            await client.subscribe(self.topics.request_filter, qos=1)
        messages = client.messages
        while len(messages):
            message = await anext(messages)
            # A session of the last minute is given what others said while we were away: they may have
            # gone since. Only what is retained is so now.
            if message.retain or str(message.topic) != self.topics.bridge_state:
                self._take(message)

    async def _birth(self, client: aiomqtt.Client) -> None:
        birth = BridgeState(
            state="online",
            epoch=self._source.epoch,
            stream=self._source.stream,
            instance=self._instance,
        )
        await client.publish(self.topics.bridge_state, birth.encode(), 1, retain=True)

    async def _pump_events(self, outflow: Outflow) -> None:
        """Events in order and at least once, and after them what is retained."""
        while True:
            await self._events_due.wait()
            self._events_due.clear()
            while await outflow.advance():
                self._snapshot_due.set()
            self._snapshot_due.set()

    async def _pump_snapshots(self, client: Connection) -> None:
        while True:
            await self._snapshot_due.wait()
            self._snapshot_due.clear()
            await self._flush_retained(client)
            if self._source.troubles() != self._troubles:
                self._health_due.set()
            await asyncio.sleep(SNAPSHOT_GAP_S)

    async def _pump_health(self, client: aiomqtt.Client, protocol: Protocol) -> None:
        while True:
            self._health_due.clear()
            health = self._source.health()
            self._troubles = health.machine
            await client.publish(
                self.topics.bridge_health,
                health.encode(),
                1,
                retain=True,
                properties=brokers.expiry(protocol, HEALTH_EXPIRY_S),
            )
            self.progress += 1
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._health_due.wait(), HEALTH_EVERY_S)

    async def _flush_retained(self, client: Connection) -> None:
        snapshot = self._source.snapshot()
        wanted: dict[str, Any] = {
            self.topics.link: self._source.link().encode(),
            self.topics.state: snapshot.encode(),
            self.topics.bridge_info: self._source.info().encode(),
        }
        wanted |= seat_scalars(self.topics, snapshot)
        for topic, value in wanted.items():
            if topic in self._sent and self._sent[topic] == value:
                continue
            body = (
                value
                if isinstance(value, bytes)
                else json.dumps(value, ensure_ascii=False).encode()
            )
            # One after the other: an event that comes meanwhile waits for one of them at most.
            reason = await client.deliver(topic, body)
            self._sent[topic] = value
            if reason.is_failure and topic not in self._refused:
                self._refused.add(topic)
                _LOG.warning("%s", self._not_taken(topic, reason.value))

    async def _read(self, client: aiomqtt.Client) -> None:
        async for message in client.messages:
            if self._take(message):
                await self._birth(client)

    def _take(self, message: aiomqtt.Message) -> bool:
        """One message; True when the birth must be said again. May raise `SupersededError`."""
        topic = str(message.topic)
        if topic == self.topics.bridge_state:
            return self._was_contradicted(message)
        name = self.topics.request_name(topic)
        if name is not None:
            self._desk.take(name, message)
        return False

    def _was_contradicted(self, message: aiomqtt.Message) -> bool:
        """True when `bridge/state` no longer says that we are here: a stale will, somebody's slip.

        Another living daemon wins: the higher epoch of the same journal, else whoever came later. A
        retained `online` of a stranger is only a leftover, unless we had spoken before it.
        """
        try:
            seen = SeenBridgeState.model_validate_json(message.payload or b"")
        except ValidationError:
            return not message.retain
        if seen.instance == self._instance:
            return seen.state == "offline" and not message.retain
        same_journal = seen.stream in (None, self._source.stream)
        if same_journal and seen.epoch > self._source.epoch:
            raise SupersededError(
                f"a daemon with a higher epoch ({seen.epoch} > {self._source.epoch}) speaks for this table"
            )
        came_later = seen.state == "online" and (self._spoke or not message.retain)
        if came_later and not (same_journal and seen.epoch < self._source.epoch):
            raise SupersededError("another daemon with a journal of its own speaks for this table")
        return not message.retain

    # ---- the edges ----------------------------------------------------------------------------------

    async def _until_stopping(self) -> None:
        await self._stopping.wait()
        raise _FarewellError

    async def _unless_stopping(self, coming: Awaitable[Any]) -> None:
        """Wait for the connection, but not once the daemon stops."""
        entering = asyncio.ensure_future(coming)
        stopping = asyncio.ensure_future(self._stopping.wait())
        try:
            await asyncio.wait({entering, stopping}, return_when=asyncio.FIRST_COMPLETED)
            if not entering.done():
                raise _FarewellError
            entering.result()
        finally:
            await end([entering, stopping])

    async def _rest(self, seconds: float) -> None:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._stopping.wait(), seconds)

    def _set(self, status: BusStatus) -> None:
        self.status = status
        self.progress += 1
        if self._on_status is not None:
            self._on_status(status)

    def _explain(self, error: BaseException) -> str:
        code = brokers.reason(error)
        if isinstance(error, NotTakenError):
            return self._not_taken(error.topic, code)
        if code in brokers.RIGHTS:
            who = self._broker.username or "an anonymous user"
            return f"broker {self._broker} refuses {who} (MQTT reason {code}): check [mqtt] username, password"
        return f"no connection to broker {self._broker}: {brokers.plain(error)}"

    def _not_taken(self, topic: str, code: int | None) -> str:
        who = self._broker.username or "an anonymous user"
        return (
            f"broker {self._broker} does not take {topic} from {who} (MQTT reason {code}): "
            "check its access list (docs/bus.md, Rights)"
        )

    def _log_loss(self, text: str, attempts: int) -> None:
        """The first loss at once, then one line in five minutes with the count."""
        now = time.monotonic()
        if attempts == 1 or now - self._logged_at >= REPEAT_LOG_S:
            self._logged_at = now
            _LOG.warning(
                "%s: %s (try %d); play goes on, events are kept", self.topics.base, text, attempts
            )


def seat_scalars(topics: Topics, snapshot: StateSnapshot) -> dict[str, str | int | bool | None]:
    """The display-friendly values of the four seats (`payloads.SCALARS`); empty without a game."""
    game = snapshot.game
    if game is None:
        return {}
    out: dict[str, str | int | bool | None] = {}
    for number in SEATS:
        seat = game.seats[number]
        out[topics.seat(number, "name")] = seat.name or seat.player
        out[topics.seat(number, "score")] = seat.score
        out[topics.seat(number, "wind")] = seat.wind
        out[topics.seat(number, "riichi")] = seat.riichi != "no"
    return out
