"""A minimal host for tests: takes in every event at once, lifts on start, shows what it is told.

`Pair` runs host and table in one process on one virtual clock, and keeps the transcript.
"""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable
from dataclasses import dataclass, field

from firmware_protocol import messages as m
from firmware_protocol.deliveries import Delivery, Item, LinkFailed, LinkUp
from firmware_protocol.errors import LinkDown
from firmware_protocol.link import Link
from firmware_protocol.paging import SnapshotReader
from firmware_protocol.schema import Kind, Message
from firmware_protocol.vocabulary import ActionKind, Button, Require
from hardware_sim.table import SimTable

SECOND = 1_000_000
LATENCY = 200
"""µs that octets take from end to end."""


@dataclass
class Event:
    """A device event as the host saw it."""

    event_no: int
    message: Message
    boot: int


@dataclass
class Host:
    """The least a daemon does: accept, lift on start, write displays."""

    seed: int = 1
    lifts: bool = True
    accepts: bool = True
    on_event: Callable[[Host, Message], None] | None = None
    events: list[Event] = field(default_factory=list)
    others: list[Message] = field(default_factory=list)
    items: list[Item] = field(default_factory=list)
    held: list[Delivery] = field(default_factory=list)
    now: int = 0

    def __post_init__(self) -> None:
        rng = random.Random(self.seed)
        self.link = Link.host(0, nonce=lambda: rng.randrange(1, 1 << 32))
        self.link.connect(0)
        self.next_cmd = 1
        self.reader: SnapshotReader | None = None

    def receive(self, data: bytes, now: int) -> None:
        self.now = now
        self._take(self.link.receive(data, now))

    def advance(self, now: int) -> None:
        self.now = now
        self._take(self.link.poll(now))

    def _take(self, items: list[Item]) -> None:
        for item in items:
            self.items.append(item)
            if isinstance(item, LinkFailed):
                self.link.connect(self.now)
            elif isinstance(item, LinkUp):
                self._read_state()
            elif isinstance(item, Delivery):
                self._deliver(item)

    def _read_state(self) -> None:
        """Ask for a snapshot from its first page, as a daemon does after a link came up."""
        self.reader = SnapshotReader()
        self.link.send(self.reader.request, self.now)

    def _answer(self, page: m.SnapshotState | m.SnapshotTiles) -> None:
        if self.reader is not None and not self.reader.feed(page):
            self.link.send(self.reader.request, self.now)

    def _deliver(self, item: Delivery) -> None:
        message = item.message
        if item.event_no is not None:
            self.events.append(Event(item.event_no, message, item.boot))
        else:
            self.others.append(message)
        if not self.accepts:
            self.held.append(item)
            return
        self.link.accept(item)
        if isinstance(message, m.SnapshotState | m.SnapshotTiles):
            self._answer(message)
        elif isinstance(message, m.EventsLost):
            self._read_state()
        if self.on_event is not None and message.SPEC.kind is Kind.EVENT:
            self.on_event(self, message)
        if self.lifts and isinstance(message, m.ButtonEvent) and message.button == Button.START:
            self.act(ActionKind.LIFT, require=Require.IDLE | Require.LID_DOWN)

    def act(self, action: int, arg: int = 0, require: int = 0, deadline_ms: int = 0) -> int:
        cmd_id = self.next_cmd
        self.next_cmd += 1
        # A host without a link commands nothing: somebody will press start again.
        with contextlib.suppress(LinkDown):
            self.link.send(m.Action(cmd_id, action, arg, deadline_ms, require), self.now)
        return cmd_id

    def messages(self, *kinds: type[Message]) -> list[Message]:
        return [e.message for e in self.events if not kinds or isinstance(e.message, kinds)]


@dataclass
class Pair:
    """Both ends on one virtual clock; `run` ends when `until()` or at `limit` seconds."""

    table: SimTable
    host: Host
    now: int = 0
    transcript: list[tuple[int, str, bytes]] = field(default_factory=list)
    line: Callable[[str, bytes], bytes] = lambda _way, data: data
    _flying: list[tuple[int, str, bytes]] = field(default_factory=list)

    def run(self, until: Callable[[], bool], limit: float = 3600.0) -> bool:
        end = self.now + round(limit * SECOND)
        self._settle()
        while not until():
            due = [
                t for t in (self.table.next_deadline, self.host.link.next_deadline) if t is not None
            ]
            due += [t for t, _, _ in self._flying]
            step = min(due, default=end)
            if step > end:
                self.now = end
                return until()
            self.now = max(self.now, step)
            self._settle()
        return True

    def _settle(self) -> None:
        while self._flying and self._flying[0][0] <= self.now:
            _, way, data = self._flying.pop(0)
            if way == "host":
                self.host.receive(data, self.now)
            else:
                self.table.receive(data, self.now)
        self.host.advance(self.now)
        self.table.advance(self.now)
        self._write("table", self.host.link.data_to_send(self.now))
        self._write("host", self.table.data_to_send(self.now))

    def _write(self, way: str, data: bytes) -> None:
        if data:
            self.transcript.append((self.now, way, data))
            arrived = self.line(way, data)
            if arrived:
                self._flying.append((self.now + LATENCY, way, arrived))
