"""The broker: reach, credentials, rights by a round trip, and what was left behind.

Rights are proved by messages that come back: a broker acknowledges what its access list drops, and
grants subscriptions that never deliver. Nothing published here is retained or looks like an event.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
import uuid
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any, Final

import aiomqtt
from paho.mqtt.packettypes import PacketTypes

from tablectl.bus import broker as brokers
from tablectl.bus.broker import Broker, Protocol
from tablectl.bus.tasks import end
from tablectl.bus.topics import ROOT, Topics
from tablectl.doctor.finding import Finding, fail, ok, warn

ROUND_TRIP_S: Final = 3.0
PROBE: Final = "doctor"
PARTS: Final = ("bridge", "response", "private", "broadcast", "request")


@dataclass(slots=True)
class Heard:
    """What came to the doctor's subscription."""

    probes: dict[str, asyncio.Event] = field(default_factory=dict)
    retained: dict[str, bytes] = field(default_factory=dict)
    answers: dict[str, asyncio.Event] = field(default_factory=dict)
    """By table: its daemon answered a request."""


def broker_of(settings: Any) -> Broker:
    """The broker of a configuration. Raises SecretError, BrokerAddressError."""
    mqtt = settings.mqtt
    return Broker.from_url(
        mqtt.url, username=mqtt.username, password=mqtt.password.reveal() if mqtt.password else None,
        ca_file=mqtt.ca_file, protocol=mqtt.protocol, keepalive_s=mqtt.keepalive,
    )  # fmt: skip


async def examine(
    broker: Broker, venue: str, tables: list[str], daemon: int, *, remove: bool = False
) -> list[Finding]:
    """Everything about the broker; `remove` clears what was left behind."""
    name = str(broker)
    heard = Heard()
    began = time.monotonic()
    try:
        async with _connected(broker, heard) as (client, protocol):
            took = (time.monotonic() - began) * 1000
            who = broker.username or "an anonymous user"
            found = [ok("broker", name, f"takes {who} in {took:.0f} ms, MQTT {protocol}")]
            await client.subscribe(f"{ROOT}/{venue}/#", qos=1)
            # What is retained on the first subscription comes before the second is acknowledged.
            await client.subscribe(f"{ROOT}/{venue}/+/response/{PROBE}", qos=1)
            heard.answers = {table: asyncio.Event() for table in tables}
            for table in tables:
                try:
                    found += await _rights(client, protocol, Topics(venue, table), heard, daemon)
                except aiomqtt.MqttError:
                    return [*found, _hung_up(Topics(venue, table))]
            found += await _leftovers(client, broker, venue, tables, heard, daemon, remove=remove)
            return found
    except (aiomqtt.MqttError, OSError, ValueError) as error:
        return [_unreachable(broker, error)]


@contextlib.asynccontextmanager
async def _connected(
    broker: Broker, heard: Heard
) -> AsyncIterator[tuple[aiomqtt.Client, Protocol]]:
    """A client that listens; an old broker is asked again in its own protocol."""
    protocol = broker.first_protocol()
    async with contextlib.AsyncExitStack() as stack:
        while True:
            client = broker.client(f"tablectl-doctor-{uuid.uuid4().hex[:12]}", protocol)
            try:
                await stack.enter_async_context(client)
                break
            except aiomqtt.MqttError as error:
                following = brokers.next_protocol(broker, protocol, error, None)
                if following == protocol or protocol != "5":
                    raise
                protocol = following
        reader = asyncio.create_task(_read(client, heard))
        try:
            yield client, protocol
        finally:
            await end([reader])


async def _read(client: aiomqtt.Client, heard: Heard) -> None:
    with contextlib.suppress(aiomqtt.MqttError):
        async for message in client.messages:
            topic = str(message.topic)
            payload = message.payload if isinstance(message.payload, bytes) else b""
            if message.retain:
                heard.retained[topic] = payload
            elif topic in heard.probes and payload.startswith(b"?doctor "):
                heard.probes[topic].set()
            elif topic.endswith(f"/response/{PROBE}"):
                table = topic.split("/")[2]
                if table in heard.answers:
                    heard.answers[table].set()


async def _rights(
    client: aiomqtt.Client, protocol: Protocol, topics: Topics, heard: Heard, daemon: int
) -> list[Finding]:
    """Publish under each prefix of a table, and see it come back."""
    wanted = {f"{topics.base}/{part}/{PROBE}": part for part in PARTS}
    heard.probes = {topic: asyncio.Event() for topic in wanted}
    for topic in wanted:
        # No JSON on purpose: a daemon refuses it at its door, before any table or journal is asked.
        properties = brokers.expiry(protocol, 10)
        if properties is not None and topic == topics.request(PROBE):
            properties = brokers.mqtt_properties(
                PacketTypes.PUBLISH, MessageExpiryInterval=10, CorrelationData=b"doctor"
            )
        await client.publish(topic, b"?doctor " + uuid.uuid4().bytes, 1, properties=properties)
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(ROUND_TRIP_S):
            await asyncio.gather(*(event.wait() for event in heard.probes.values()))
    lost = [part for topic, part in wanted.items() if not heard.probes[topic].is_set()]
    table = topics.table
    if lost:
        return [
            fail(
                "rights", table, "rights_missing",
                f"messages under {', '.join(f'{topics.base}/{part}/' for part in lost)} do not come back",
                f"give this user {_grant(topics)}",
            )
        ]  # fmt: skip
    found = [ok("rights", table, f"publishes and hears all of {topics.base}/")]
    if daemon:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(ROUND_TRIP_S):
                await heard.answers[table].wait()
        if heard.answers[table].is_set():
            found.append(ok("daemon", table, "answers requests over the broker"))
        else:
            found.append(
                fail(
                    "daemon", table, "daemon_deaf", "the running daemon answers no request over this broker",
                    "it may be connected elsewhere or superseded: see its log, then restart it",
                )
            )  # fmt: skip
    return found


def _hung_up(topics: Topics) -> Finding:
    return fail(
        "rights", topics.table, "rights_missing", f"the broker hangs up when something is published under {topics.base}/",
        f"give this user {_grant(topics)}",
    )  # fmt: skip


def _grant(topics: Topics) -> str:
    return f"'topic readwrite {ROOT}/{topics.venue}/#' in the broker's access list"


async def _leftovers(
    client: aiomqtt.Client,
    broker: Broker,
    venue: str,
    tables: list[str],
    heard: Heard,
    daemon: int,
    *,
    remove: bool,
) -> list[Finding]:
    """Retained messages nobody keeps up to date: ghosts on displays, requests that fire again."""
    found: list[Finding] = []
    for topic, payload in sorted(heard.retained.items()):
        if not payload:
            continue
        parts = topic.split("/")
        table, rest = parts[2] if len(parts) > 2 else "", "/".join(parts[3:])
        why = code = ""
        if rest.startswith("request/"):
            code, why = "retained_request", "a retained request is refused at every connection"
        elif rest == "event":
            code, why = "retained_event", "a retained event is heard again by every subscriber"
        elif table not in tables:
            code, why = (
                "retained_ghost",
                f"retained for table {table!r}, which this file does not have",
            )
        elif rest.startswith("bridge/doctor"):
            code, why = "retained_probe", "somebody retained a probe of this command"
        if not code:
            continue
        if remove:
            await client.publish(topic, b"", 1, retain=True)
            found.append(ok("retained", topic, "removed", code="removed"))
        else:
            fix = f"tablectl doctor --remove-leftovers, or {_clear(broker, topic)}"
            found.append(warn("retained", topic, code, why, fix))
    found += [] if daemon else _speakers(venue, tables, heard)
    return found or [ok("retained", f"{ROOT}/{venue}/", "no leftovers")]


def _speakers(venue: str, tables: list[str], heard: Heard) -> list[Finding]:
    """`online` although no daemon runs here: another host's, or one that the broker has not missed."""
    found = []
    for table in tables:
        topic = Topics(venue, table).bridge_state
        with contextlib.suppress(ValueError, AttributeError):
            state = json.loads(heard.retained.get(topic, b"{}"))
            if state.get("state") == "online":
                found.append(
                    warn(
                        "retained", topic, "spoken_for",
                        f"says online (epoch {state.get('epoch')}), but no daemon runs with this journal",
                        "look for a second computer that serves this venue; else the next start corrects it",
                    )
                )  # fmt: skip
    return found


def _clear(broker: Broker, topic: str) -> str:
    user = f" -u {broker.username} -P …" if broker.username else ""
    return f"mosquitto_pub -h {broker.host} -p {broker.port}{user} -r -n -t '{topic}'"


def _unreachable(broker: Broker, error: Exception) -> Finding:
    name = str(broker)
    code = brokers.reason(error)
    if code in brokers.RIGHTS:
        who = f"user {broker.username}" if broker.username else "an anonymous user"
        return fail(
            "broker", name, "credentials_refused", f"refuses {who} (MQTT reason {code})",
            "check [mqtt] username and password; at mosquitto: sudo mosquitto_passwd /etc/mosquitto/passwd USER, then reload",
        )  # fmt: skip
    text = brokers.plain(error)
    if "certificate" in text.lower() or "ssl" in text.lower():
        return fail(
            "broker", name, "tls_refused", f"the secure connection fails: {text}",
            "set [mqtt] ca_file to the authority of the broker's certificate; check this host's clock",
        )  # fmt: skip
    hung_up = any(word in text.lower() for word in ("reset", "eof", "hung up"))
    if hung_up:
        wants, scheme = ("is plain", "mqtt") if broker.tls else ("wants TLS", "mqtts")
        return fail(
            "broker", name, "broker_hangs_up", f"answers and hangs up: {text}",
            f'if its listener {wants}: url = "{scheme}://{broker.host}:{broker.port}"; else its log says why',
        )  # fmt: skip
    return fail(
        "broker", name, "broker_unreachable", f"no connection: {text}",
        f"is it running (systemctl status mosquitto), and is the address right? try: nc -vz {broker.host} {broker.port}",
    )  # fmt: skip
