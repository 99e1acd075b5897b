"""The desk where requests are taken in order and answered: JSON in, `Submit`, one answer for each."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import uuid
from dataclasses import dataclass
from typing import Any, Final

import aiomqtt
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties

from tablectl.bus.broker import Protocol, mqtt_properties
from tablectl.bus.payloads import Response
from tablectl.bus.topics import Topics
from tablectl.mirror.submit import Accepted, Refused, Request, Submit

MAX_PAYLOAD: Final = 64 * 1024
MAX_WAITING: Final = 256
"""Requests that may wait; a person types a few a minute, only a mad program sends more."""
MAX_TRANSACTION: Final = 200
ANSWER_EXPIRY_S: Final = 60

_LOG = logging.getLogger("tablectl.bus")


@dataclass(frozen=True, slots=True)
class _Asked:
    """One request as it came in."""

    name: str
    payload: bytes
    retained: bool
    response_topic: str | None
    correlation: bytes | None


class Desk:
    """Takes the requests of one table, in order, and answers each one once."""

    def __init__(
        self, topics: Topics, table_id: str, submit: Submit, *, role: str = "operator"
    ) -> None:
        self._topics = topics
        self._table_id = table_id
        self._submit = submit
        self._role = role
        self._waiting: asyncio.Queue[_Asked] = asyncio.Queue(MAX_WAITING)
        self._deciding: tuple[_Asked, asyncio.Future[Response]] | None = None

    def take(self, name: str, message: aiomqtt.Message) -> None:
        """Put a message in the line. A full line drops it: the asker gets no answer and asks again."""
        payload = message.payload if isinstance(message.payload, bytes) else b""
        if message.retain and not payload:
            return  # a retained request was cleared away
        properties = message.properties
        asked = _Asked(
            name,
            payload,
            bool(message.retain),
            getattr(properties, "ResponseTopic", None),
            getattr(properties, "CorrelationData", None),
        )
        try:
            self._waiting.put_nowait(asked)
        except asyncio.QueueFull:
            _LOG.warning("%s: too many requests at once, %r dropped", self._topics.base, name)

    async def answer(self, client: aiomqtt.Client, protocol: Protocol) -> None:
        """Answer for as long as the connection lasts; what waits is kept for the next one."""
        while True:
            if self._deciding is None:
                asked = await self._waiting.get()
                self._deciding = asked, asyncio.ensure_future(self.decide(asked))
            # A lost connection must not break off what the table is deciding: the next one answers.
            asked, decision = self._deciding
            response = await asyncio.shield(decision)
            topic = self._topics.response(asked.name)
            if asked.response_topic is not None and self._topics.may_answer_on(
                asked.response_topic
            ):
                topic = asked.response_topic
            # An answer the broker will not carry (a forbidden or odd topic) must not end the table.
            with contextlib.suppress(ValueError):
                await client.publish(
                    topic, response.encode(), 1, properties=_answer_properties(protocol, asked)
                )
            self._deciding = None

    async def decide(self, asked: _Asked) -> Response:
        """What the table says to one request."""
        data, problem = _read(asked)
        transaction = _transaction(asked, data)
        if problem is not None:
            return _refused(problem, transaction)
        data.pop("transaction", None)
        if asked.retained:
            _LOG.warning(
                "%s: a retained request was refused; clear it with an empty retained message",
                self._topics.request(asked.name),
            )
            return _refused(
                Refused(
                    "retained_request",
                    "a retained request would be asked again at each reconnect",
                    hint="publish without the retain flag, and clear the topic with an empty retained message",
                ),
                transaction,
            )
        request = Request(self._table_id, asked.name, data, "mqtt", transaction, self._role)
        try:
            outcome = await self._submit.request(request)
        except Exception:  # noqa: BLE001  # a table answers even when deciding broke; the log has it
            _LOG.exception("%s: request failed", self._topics.request(asked.name))
            outcome = Refused(
                "internal_error", "the table could not decide this", hint="see the daemon's log"
            )
        if isinstance(outcome, Accepted):
            return Response(
                status="accepted" if outcome.durable else "accepted_not_durable",
                transaction=transaction,
                data={"event_ids": list(outcome.event_ids), **outcome.data},
            )
        return _refused(outcome, transaction)


def _read(asked: _Asked) -> tuple[dict[str, Any], Refused | None]:
    if len(asked.payload) > MAX_PAYLOAD:
        text = f"{len(asked.payload)} bytes are more than the {MAX_PAYLOAD} a request may have"
        return {}, Refused("payload_too_large", text)
    try:
        data = json.loads(asked.payload or b"{}")
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        return {}, Refused("bad_json", f"the payload is no JSON: {error}", hint="UTF-8 JSON object")
    if not isinstance(data, dict):
        return {}, Refused(
            "bad_request", "the payload is no JSON object", hint='{"field": value, …}'
        )
    transaction = data.get("transaction")
    if transaction is not None and not (
        isinstance(transaction, str) and 0 < len(transaction) <= MAX_TRANSACTION
    ):
        return {}, Refused(
            "bad_request",
            f"transaction is a text of 1 to {MAX_TRANSACTION} characters",
            field="transaction",
            hint="use a fresh UUID for each request, and the same one when asking again",
        )
    return data, None


def _transaction(asked: _Asked, data: dict[str, Any]) -> str:
    """From the JSON, else from MQTT 5's correlation data (unique only with its topic), else new."""
    given = data.get("transaction")
    if isinstance(given, str):
        return given
    if asked.correlation:
        return f"{asked.response_topic or ''}#{asked.correlation.hex()}"[:MAX_TRANSACTION]
    return str(uuid.uuid4())


def _refused(refusal: Refused, transaction: str) -> Response:
    more = {"article": refusal.article, "field": refusal.field, "hint": refusal.hint}
    return Response(
        status="refused",
        code=refusal.code,
        error=refusal.message,
        transaction=transaction,
        data={key: value for key, value in more.items() if value},
    )


def _answer_properties(protocol: Protocol, asked: _Asked) -> Properties | None:
    if protocol != "5":
        return None
    values: dict[str, object] = {"MessageExpiryInterval": ANSWER_EXPIRY_S}
    if asked.correlation is not None:
        values["CorrelationData"] = asked.correlation
    return mqtt_properties(PacketTypes.PUBLISH, **values)
