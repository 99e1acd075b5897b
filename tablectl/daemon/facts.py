"""Facts as journal rows and back: readable JSON, rebuilt by the declaration of the wire."""

from __future__ import annotations

from typing import Any

from firmware_protocol.messages import SCHEMA
from firmware_protocol.schema import Message
from tablectl.journal import FactEntry, canonical
from tablectl.mirror.submit import Fact

TIMER = "timer"
"""Time alone led to commands; body `{"now": ms}`."""
DEVICE = "device"
"""Who is at the other end; body `{"capabilities": n, …}`."""
LINK = "link"
"""The board came into reach or went out of it; body `{"up": bool}`, with `"reset": true` when it has started anew."""
COMMAND = "command"
"""A command that no device fact led to; body `{"id": …, "command": {…}}`."""

_BY_NAME: dict[str, type[Message]] = {cls.SPEC.name: cls for cls in SCHEMA.by_id.values()}


def entry_of(fact: Fact) -> FactEntry:
    """The journal row of a device fact."""
    return FactEntry(
        fact.message.SPEC.name,
        canonical(message_json(fact.message)),
        fact.boot_id,
        fact.event_no,
        fact.uptime_ms,
    )


def message_json(message: Message) -> dict[str, Any]:
    """Fields of a wire message by name; octets as hex."""
    return {field.name: _plain(getattr(message, field.name)) for field in message.SPEC.fields}


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, (int, str)):
        return int(value) if isinstance(value, int) else value
    return {field.name: getattr(value, field.name) for field in type(value).RECORD.fields}


def message_of(kind: str, body: dict[str, Any]) -> Message | None:
    """The wire message of a row; None for a kind this version does not know."""
    cls = _BY_NAME.get(kind)
    if cls is None:
        return None
    values: dict[str, Any] = {}
    for field in cls.SPEC.fields:
        if field.name not in body:
            continue
        value = body[field.name]
        if field.code == "list":
            assert field.record is not None
            value = tuple(field.record(**item) for item in value)
        elif field.code == "bytes":
            value = bytes.fromhex(value)
        elif field.count and field.code != "text":
            value = tuple(value)
        values[field.name] = value
    return cls(**values)
