"""The one door through which a table changes: `submit(fact or request) → accepted | refused`.

Declared here, implemented by the daemon, handed down to web, bus and table, so that none of them
needs to know who decides or where it is written.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

from firmware_protocol.schema import Message


@dataclass(frozen=True, slots=True)
class Fact:
    """What the machine reported; unique by (table, boot_id, event_no), journaled before its ack.

    `event_no` and `boot_id` are None for facts that are not device events (a line driver without
    numbers, a timer of the mirror that ran out). `uptime_ms` is the device's own clock, unwrapped.
    """

    table_id: str
    message: Message
    boot_id: int | None
    event_no: int | None
    uptime_ms: int | None


@dataclass(frozen=True, slots=True)
class Request:
    """What a person or program asked, by MQTT, HTTP or console; idempotent by `transaction`."""

    table_id: str
    name: str
    """Topic name after `request/`, such as `result/win`."""
    data: dict[str, Any]
    source: str
    """Who asked, for the journal: `mqtt:<client>`, `console:<user>`, `operator`."""
    transaction: str
    role: str = "operator"
    """`operator` or `referee`; corrections and sanctions need the referee."""


@dataclass(frozen=True, slots=True)
class Accepted:
    """The change is in the journal (or in memory only, when `durable` is false)."""

    event_ids: tuple[str, ...]
    durable: bool = True
    data: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Refused:
    """Nothing changed. `code` is stable, `article` cites the rule, `hint` says what to do."""

    code: str
    message: str
    article: str | None = None
    hint: str | None = None
    field: str | None = None


class Submit(Protocol):
    """The single writer of each table. Returns only after the journal committed."""

    async def fact(self, fact: Fact) -> Accepted | Refused:
        """A device event; a repeated one is accepted again without a second effect."""
        ...

    async def request(self, request: Request) -> Accepted | Refused:
        """A command from outside; a repeated transaction gets its first answer again."""
        ...
