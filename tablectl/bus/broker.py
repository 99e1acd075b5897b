"""How to reach a broker: address, rights, protocol; makes the aiomqtt client for one connection."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import random
import re
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, Self
from urllib.parse import urlsplit

import aiomqtt
import paho.mqtt.client as paho
from aiomqtt.exceptions import MqttCodeError, MqttConnectError
from paho.mqtt.client import MQTT_CLEAN_START_FIRST_ONLY
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties
from paho.mqtt.reasoncodes import ReasonCode

CONNECT_TIMEOUT_S: Final = 5.0
SESSION_EXPIRY_S: Final = 60
"""A will delay counts only while the session lives, so the session outlives a short reconnect."""
WILL_DELAY_S: Final = 5
"""A cable pulled for a moment is no reason to tell every display that the table is gone."""
BACKOFF_FIRST_S: Final = 0.25
BACKOFF_LAST_S: Final = 30.0

UNSUPPORTED_PROTOCOL: Final = 132
TAKEN_OVER: Final = 142
RIGHTS: Final = frozenset({134, 135, 138})
"""Bad user name or password, not authorised, banned."""
HUNG_UP: Final = "the broker hung up before it answered"

Protocol = Literal["5", "3.1.1"]


class BrokerAddressError(ValueError):
    """An address that names no broker: `code`, the value at fault, a hint."""

    code: Final = "bad_broker_address"

    def __init__(self, url: str) -> None:
        super().__init__(f"{url!r} is no broker address")
        self.value = url
        self.hint = "write mqtt://host:1883, or mqtts://host:8883 for TLS"


@dataclass(frozen=True, slots=True)
class Broker:
    """One broker and what it wants to know of us."""

    host: str
    port: int
    tls: bool = False
    username: str | None = None
    password: str | None = None
    ca_file: Path | None = None
    protocol: Literal["auto", "5", "3.1.1"] = "auto"
    keepalive_s: int = 15

    @classmethod
    def from_url(
        cls,
        url: str,
        *,
        username: str | None = None,
        password: str | None = None,
        ca_file: Path | None = None,
        protocol: Literal["auto", "5", "3.1.1"] = "auto",
        keepalive_s: int = 15,
    ) -> Broker:
        """From `mqtt://host[:port]` or `mqtts://host[:port]`."""
        parts = urlsplit(url)
        try:
            port = parts.port
        except ValueError:
            raise BrokerAddressError(url) from None
        if parts.scheme not in ("mqtt", "mqtts") or not parts.hostname:
            raise BrokerAddressError(url)
        tls = parts.scheme == "mqtts"
        return cls(
            parts.hostname,
            port or (8883 if tls else 1883),
            tls,
            username or parts.username,
            password or parts.password,
            ca_file,
            protocol,
            keepalive_s,
        )

    def __str__(self) -> str:
        return f"{'mqtts' if self.tls else 'mqtt'}://{self.host}:{self.port}"

    def first_protocol(self) -> Protocol:
        """What to try first."""
        return "3.1.1" if self.protocol == "3.1.1" else "5"

    def client(
        self,
        identifier: str,
        protocol: Protocol,
        will: aiomqtt.Will | None = None,
        *,
        lasting: bool = False,
    ) -> Connection:
        """A client for exactly one connection: re-entering one doubles the message in flight.

        `lasting`: the session outlives the connection for a minute (MQTT 5), so that a will delay works.
        """
        five = protocol == "5"
        properties = None
        if five and lasting:
            properties = mqtt_properties(
                PacketTypes.CONNECT, SessionExpiryInterval=SESSION_EXPIRY_S
            )
        client = Connection(
            self.host,
            self.port,
            username=self.username,
            password=self.password,
            logger=_PAHO_LOGGER,
            identifier=identifier,
            protocol=aiomqtt.ProtocolVersion.V5 if five else aiomqtt.ProtocolVersion.V311,
            clean_session=None if five else True,
            clean_start=(not lasting) if five else MQTT_CLEAN_START_FIRST_ONLY,
            properties=properties,
            will=will,
            keepalive=self.keepalive_s,
            timeout=CONNECT_TIMEOUT_S,
            max_queued_incoming_messages=10_000,
            max_inflight_messages=100,
            tls_context=self._tls_context() if self.tls else None,
            # Without it Nagle holds small packets back: p99.9 31 ms instead of 1 ms at 500 events/s.
            socket_options=((socket.IPPROTO_TCP, socket.TCP_NODELAY, 1),),
        )
        client.pending_calls_threshold = 1_000
        return client

    def _tls_context(self) -> ssl.SSLContext:
        return ssl.create_default_context(
            cafile=None if self.ca_file is None else str(self.ca_file)
        )


def mqtt_properties(packet: int, **values: object) -> Properties:
    """MQTT 5 properties of one packet, by the names of the standard."""
    properties = Properties(packet)  # type: ignore[no-untyped-call]  # paho's class has no types
    for name, value in values.items():
        setattr(properties, name, value)
    return properties


def will_properties(protocol: Protocol) -> Properties | None:
    """The will waits, where the broker can (MQTT 5)."""
    if protocol != "5":
        return None
    return mqtt_properties(PacketTypes.WILLMESSAGE, WillDelayInterval=WILL_DELAY_S)


def expiry(protocol: Protocol, seconds: int) -> Properties | None:
    """The message is dropped when nobody took it in time (MQTT 5)."""
    if protocol != "5":
        return None
    return mqtt_properties(PacketTypes.PUBLISH, MessageExpiryInterval=seconds)


def reason(error: BaseException) -> int | None:
    """The MQTT reason code behind an aiomqtt error, or None: its own or that of its cause."""
    seen: BaseException | None = error
    while seen is not None:
        code = getattr(seen, "rc", None)
        if isinstance(code, ReasonCode):
            return int(code.value)
        seen = seen.__cause__
    return None


def plain(error: BaseException) -> str:
    """What went wrong, without the number of the operating system, or of a library that knows no more."""
    if isinstance(error, MqttCodeError) and error.args == (HUNG_UP,):
        return HUNG_UP
    return re.sub(r"\[Errno -?\d+\] ", "", str(error)) or type(error).__name__


def next_protocol(
    broker: Broker, tried: Protocol, error: BaseException, proven: Protocol | None
) -> Protocol:
    """What to try after a failed connection: an old broker refuses MQTT 5, or just hangs up.

    `proven` has worked with this broker before: a broker that is only stuck is no older for that.
    """
    if broker.protocol != "auto":
        return tried
    if proven is not None and reason(error) != UNSUPPORTED_PROTOCOL:
        return proven
    if reason(error) == UNSUPPORTED_PROTOCOL:
        return "3.1.1"
    if isinstance(error, MqttConnectError):
        return tried
    refused_to_listen = isinstance(error, OSError) or "refused" in str(error)
    if tried == "5" and not refused_to_listen:
        return "3.1.1"
    return "5"


def backoff(rng: random.Random) -> Iterator[float]:
    """Seconds to wait before each next try, doubling to half a minute, spread by jitter, for ever."""
    wait = BACKOFF_FIRST_S
    while True:
        yield wait * rng.uniform(0.5, 1.0)
        wait = min(wait * 2, BACKOFF_LAST_S)


class Connection(aiomqtt.Client):
    """aiomqtt, with what it leaves open at the edges of a connection closed (seen in 2.5)."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._own_thread = threading.get_ident()
        self._writer_added = False
        self._awaited: dict[int, Callable[[ReasonCode], None]] = {}

    async def __aenter__(self) -> Self:
        try:
            return await super().__aenter__()
        except BaseException:
            # A failed try keeps its socket and its reader until the keepalive runs out.
            self._client.disconnect()
            raise

    async def lost(self) -> None:
        """Wait for the end of the connection and raise why; publishes alone do not notice it."""
        await asyncio.wait([self._disconnected])
        raise aiomqtt.MqttError("the broker hung up") from self._disconnected.exception()

    def _on_disconnect(
        self,
        client: paho.Client,
        userdata: Any,
        flags: paho.DisconnectFlags,
        reason_code: ReasonCode,
        properties: Properties | None = None,
    ) -> None:
        if self._connected.cancelled():
            return  # the try was given up: nobody waits for its end
        # A peer that hangs up before CONNACK is not noticed until the whole timeout has passed.
        if not self._connected.done():
            self._connected.set_exception(MqttCodeError(reason_code, HUNG_UP))
            self._connected.exception()  # told here, even if nobody waits any more
            return
        super()._on_disconnect(client, userdata, flags, self._last_words or reason_code, properties)

    _last_words: ReasonCode | None = None

    def _on_socket_close(self, client: paho.Client, userdata: Any, sock: Any) -> None:
        # A broker that gives our name to another says so and hangs up. What we write meanwhile fails,
        # and paho closes without having read why: we would come back and fight for the name.
        with contextlib.suppress(OSError, ValueError):
            sock.setblocking(False)
            said = sock.recv(4096)
            if said.endswith((b"\xe0\x01\x8e", b"\xe0\x02\x8e\x00")):
                self._last_words = ReasonCode(PacketTypes.DISCONNECT, identifier=TAKEN_OVER)
        super()._on_socket_close(client, userdata, sock)

    def publish_now(
        self,
        topic: str,
        payload: bytes,
        took: Callable[[ReasonCode], None],
        *,
        retain: bool = False,
    ) -> None:
        """Send with QoS 1 before this returns; `took` is called with the broker's word (PUBACK).

        `publish` of aiomqtt waits for the answer, and does not tell what it was. Raises MqttError.
        """
        info = self._client.publish(topic, payload, 1, retain)
        if info.rc != paho.MQTT_ERR_SUCCESS:
            raise MqttCodeError(info.rc, f"could not publish {topic}")
        self._awaited[info.mid] = took

    async def deliver(self, topic: str, payload: bytes) -> ReasonCode:
        """Send, retained, with QoS 1; returns the broker's word. Raises MqttError."""
        answer: asyncio.Future[ReasonCode] = self._loop.create_future()

        def took(reason: ReasonCode) -> None:
            if not answer.done():
                answer.set_result(reason)

        self.publish_now(topic, payload, took, retain=True)
        try:
            async with asyncio.timeout(CONNECT_TIMEOUT_S):
                return await answer
        except TimeoutError:
            raise aiomqtt.MqttError(f"the broker does not acknowledge {topic}") from None

    def _on_publish(
        self,
        client: paho.Client,
        userdata: Any,
        mid: int,
        reason_code: ReasonCode,
        properties: Properties,
    ) -> None:
        took = self._awaited.pop(mid, None)
        if took is not None:
            took(reason_code)
        else:
            super()._on_publish(client, userdata, mid, reason_code, properties)

    def _on_socket_register_write(self, client: paho.Client, userdata: Any, sock: Any) -> None:
        # What the socket takes at once goes out at once, in place of two turns of the loop.
        def write() -> None:
            try:
                client.loop_write()
            except Exception as error:  # noqa: BLE001  # whatever it was, this connection is over
                if not self._disconnected.done():
                    self._disconnected.set_exception(error)

        def register() -> None:
            # The descriptor is looked up when the callback runs: by then it may be closed, or another's.
            with contextlib.suppress(OSError, ValueError):
                self._loop.add_writer(sock.fileno(), write)
                self._writer_added = True

        if threading.get_ident() == self._own_thread:
            write()
            if client.want_write():
                register()
        else:
            self._loop.call_soon_threadsafe(register)

    def _on_socket_unregister_write(self, client: paho.Client, userdata: Any, sock: Any) -> None:
        if self._writer_added:
            self._writer_added = False
            super()._on_socket_unregister_write(client, userdata, sock)


_PAHO_LOGGER: Final = logging.getLogger("tablectl.bus.paho")
_PAHO_LOGGER.setLevel(logging.CRITICAL)
"""paho tells every lost connection as an error; the bus says it once, in its own words."""
