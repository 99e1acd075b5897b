"""What waits to be sent: queues by priority, and desired states of displays of which only the latest counts."""

from __future__ import annotations

from collections import deque

from firmware_protocol import framing
from firmware_protocol.errors import QueueFull
from firmware_protocol.schema import LATEST, Kind, Message
from firmware_protocol.timing import (
    DISPLAY_GAP,
    DISPLAY_HOLD,
    REWRITE_FIRST,
    REWRITE_MAX,
)

Key = tuple[int, int]
"""Message id and, for keyed messages, the first octet: one display."""

QUEUE_MOST = 64
URGENT_FIRST = (Kind.URGENT, Kind.ACTION, Kind.EVENT, Kind.SET, Kind.BULK)
"""Priorities, highest first (SPEC L-20)."""
MAY_FILL_WINDOW = frozenset({Kind.URGENT, Kind.EVENT})
"""All others leave the last place of the window free, so that a Stop never waits for bulk (SPEC L-21)."""


QUEUED = frozenset({Kind.URGENT, Kind.ACTION, Kind.BULK})
"""Kinds that wait in a queue and are forgotten with the session."""


class Outbox:
    """Actions, urgent commands and bulk in order within their kind."""

    def __init__(self) -> None:
        self._queues: dict[Kind, deque[Message]] = {
            kind: deque() for kind in (Kind.URGENT, Kind.ACTION, Kind.BULK)
        }

    def put(self, message: Message) -> None:
        """Append a message to the queue of its kind. Raises QueueFull."""
        queue = self._queues[message.SPEC.kind]
        if len(queue) >= QUEUE_MOST:
            raise QueueFull(
                f"{message.SPEC.name}: {QUEUE_MOST} messages of this kind wait already",
                value=message,
            )
        queue.append(message)

    def space(self, kind: Kind) -> int:
        """How many more messages of a kind find room."""
        return QUEUE_MOST - len(self._queues[kind])

    def waiting(self, kind: Kind) -> bool:
        """True when a message of this kind waits."""
        return bool(self._queues[kind])

    def take(self, kind: Kind) -> Message:
        """The oldest message of a kind."""
        return self._queues[kind].popleft()

    def clear(self) -> tuple[Message, ...]:
        """Forget all; returns what waited, most urgent first."""
        left = tuple(m for kind in URGENT_FIRST for m in self._queues.get(kind, ()))
        for queue in self._queues.values():
            queue.clear()
        return left


def display_key(message: Message) -> Key:
    """Which display a SET message is for."""
    spec = message.SPEC
    return spec.id, (int(getattr(message, spec.fields[0].name)) if spec.keyed else 0)


def display_digest(payloads: dict[Key, bytes]) -> int:
    """CRC-16 of all desired states: message id and payload of each, in order of their keys (SPEC D-6)."""
    return framing.crc16(b"".join(bytes((key[0],)) + payloads[key] for key in sorted(payloads)))


class DesiredStates:
    """The host's side of displays: what they should show, what was acknowledged, one write in flight each."""

    def __init__(self) -> None:
        self._desired: dict[Key, Message] = {}
        self._written: dict[Key, Message] = {}
        self._flying: dict[Key, Message] = {}
        self._last: dict[Key, int] = {}
        self._hold_until: int | None = None
        self._mismatches = 0
        self._rewrite_gap = REWRITE_FIRST
        self._rewritten_at: int | None = None

    def want(self, message: Message) -> None:
        """From now on a display should show this."""
        self._desired[display_key(message)] = message

    def desired(self, minor: int = LATEST) -> tuple[Message, ...]:
        """What the displays should show, as far as a peer of this minor has them."""
        return tuple(d for d in self._desired.values() if d.SPEC.since <= minor)

    def link_up(self, now: int, *, new_boot: bool) -> None:
        """A new link: after a restart of the device everything is to be written again, else what was under way."""
        self._flying.clear()
        self._last.clear()
        self._mismatches = 0
        if new_boot:
            self._written.clear()
            self._rewrite_gap = REWRITE_FIRST
            self._rewritten_at = None
        self._hold_until = now + DISPLAY_HOLD

    def link_down(self) -> None:
        """Writes in flight may or may not have happened: they are to be written again."""
        for key in self._flying:
            self._written.pop(key, None)
        self._flying.clear()

    def _dirty(self, key: Key) -> bool:
        return key not in self._flying and self._desired[key] != self._written.get(key)

    def _due(self, key: Key) -> int:
        at = self._last[key] + DISPLAY_GAP if key in self._last else 0
        return at if self._hold_until is None else max(at, self._hold_until)

    def next_due(self, minor: int) -> int | None:
        """When the next write may go out; None when all is written."""
        return min(
            (
                self._due(key)
                for key, message in self._desired.items()
                if self._dirty(key) and message.SPEC.since <= minor
            ),
            default=None,
        )

    def take(self, now: int, minor: int) -> Message | None:
        """A write that may go out now to a peer of this minor, the one that waits longest first."""
        ready = [
            key
            for key, message in self._desired.items()
            if self._dirty(key) and self._due(key) <= now and message.SPEC.since <= minor
        ]
        if not ready:
            return None
        key = min(ready, key=lambda k: (self._last.get(k, -1), k))
        message = self._desired[key]
        self._flying[key] = message
        self._last[key] = now
        return message

    def acknowledged(self, message: Message) -> None:
        """The device has this state."""
        key = display_key(message)
        if self._flying.get(key) is message:
            del self._flying[key]
            self._written[key] = message

    def compare(self, digest: int, ours: int, now: int) -> bool:
        """A heartbeat's digest against ours; True when the displays differ for the second time and are rewritten.

        Compared only while nothing is under way. The first heartbeat of a link may also end the hold.
        """
        if digest == ours:
            self._mismatches = 0
            if self._hold_until is not None and not self._flying:
                self._written = dict(self._desired)
            self._hold_until = None
            return False
        first_of_link = self._hold_until is not None
        self._hold_until = None
        if self._flying or first_of_link or any(self._dirty(key) for key in self._desired):
            self._mismatches = 0
            return False
        self._mismatches += 1
        if self._mismatches < 2:
            return False
        if self._rewritten_at is not None and now < self._rewritten_at + self._rewrite_gap:
            return False
        if self._rewritten_at is not None:
            self._rewrite_gap = min(2 * self._rewrite_gap, REWRITE_MAX)
        self._rewritten_at = now
        self._mismatches = 0
        self._written.clear()
        return True
