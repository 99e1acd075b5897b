"""Ends of the wire for tests: a link with a hand-made peer, or two links on one virtual clock."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from firmware_protocol import messages as m
from firmware_protocol.deliveries import Delivery, Item, State
from firmware_protocol.framing import ACK, DATA, DATAGRAM, LINK, Decoder, Frame, encode
from firmware_protocol.link import Link
from firmware_protocol.schema import Message
from firmware_protocol.timing import MS
from firmware_protocol.vocabulary import LEVEL_TILES

SESSION = 5
NONCE = 0x1005
BOOT = 0xB007
T = TypeVar("T")


def frames(data: bytes) -> list[Frame]:
    """Frames among octets."""
    return [item for item in Decoder().feed(data) if isinstance(item, Frame)]


def of(items: Iterable[Item], kind: type[T]) -> list[T]:
    """Items of one kind."""
    return [item for item in items if isinstance(item, kind)]


def reliable(items: Iterable[Item]) -> list[Message]:
    """Messages of deliveries that want to be accepted."""
    return [item.message for item in items if isinstance(item, Delivery) and item.ticket]


def nonces(start: int = NONCE) -> Callable[[], int]:
    """Nonces that count up."""
    counter = itertools.count(start)
    return lambda: next(counter)


class Hand:
    """A peer made by hand: writes single frames to a link and reads what the link writes."""

    def __init__(self, link: Link, now: int = 0) -> None:
        self.link = link
        self.now = now
        self.session = SESSION
        self.items: list[Item] = []
        self.wrote: list[Frame] = []

    def at(self, now: int) -> Hand:
        """Let time pass to `now` (µs) without a poll."""
        assert now >= self.now
        self.now = now
        return self

    def feed(self, data: bytes) -> list[Frame]:
        """Octets to the link; frames it writes in answer."""
        self.items = self.link.receive(data, self.now)
        return self.flush()

    def flush(self) -> list[Frame]:
        """Frames that the link writes now."""
        self.wrote = frames(self.link.data_to_send(self.now))
        return self.wrote

    def poll(self, now: int | None = None) -> list[Frame]:
        """Poll at `now`; frames written."""
        if now is not None:
            self.at(now)
        self.items = self.link.poll(self.now)
        return self.flush()

    def data(
        self,
        seq: int,
        ack: int,
        message: Message,
        *,
        session: int | None = None,
        header: bytes = b"",
    ) -> list[Frame]:
        """A DATA frame with a message to the link."""
        control = (self.session if session is None else session) << 4 | DATA
        return self.feed(encode(control, seq, ack, message.SPEC.id, header + message.pack()))

    def event(
        self, seq: int, event_no: int, message: Message, *, ack: int = 0, uptime: int = 0
    ) -> list[Frame]:
        """A DATA frame with an event to a host."""
        header = event_no.to_bytes(4, "little") + uptime.to_bytes(4, "little")
        return self.data(seq, ack, message, header=header)

    def datagram(self, message: Message, *, ack: int = 0) -> list[Frame]:
        """A DATAGRAM frame to the link."""
        return self.feed(
            encode(self.session << 4 | DATAGRAM, 0, ack, message.SPEC.id, message.pack())
        )

    def ack(self, ack: int, *, received: int | None = None) -> list[Frame]:
        """An ACK frame to the link."""
        return self.feed(
            encode(self.session << 4 | ACK, ack if received is None else received, ack, 0)
        )

    def hello(self, nonce: int = NONCE, **changes: Any) -> list[Frame]:
        """A Hello to a device."""
        fields: dict[str, Any] = {"major": m.MAJOR, "minor": m.MINOR, "schema_hash": m.SCHEMA.hash, "version": 0, "max_frame": 64,
                                  "window": 4, "boot_id": 0, "event_no": 0} | changes  # fmt: skip
        self.session = nonce & 0x0F
        return self.feed(
            encode(self.session << 4 | LINK, 0, 0, 0x01, m.Hello(nonce=nonce, **fields).pack())
        )

    def hello_ack(self, nonce: int, **changes: Any) -> list[Frame]:
        """A HelloAck to a host."""
        fields: dict[str, Any] = {"major": m.MAJOR, "minor": m.MINOR, "schema_hash": m.SCHEMA.hash, "version": 0x01020300,
                                  "boot_id": BOOT, "reset_cause": 1, "capabilities": 0, "max_frame": 64, "window": 4,
                                  "uptime_ms": self.now // MS, "event_no": 0, "held": 0} | changes  # fmt: skip
        self.session = nonce & 0x0F
        return self.feed(
            encode(self.session << 4 | LINK, 0, 0, 0x02, m.HelloAck(nonce=nonce, **fields).pack())
        )

    def announce(self, **changes: Any) -> list[Frame]:
        """An Announce to a host."""
        fields: dict[str, Any] = {"major": m.MAJOR, "minor": m.MINOR, "version": 0, "boot_id": BOOT, "reset_cause": 1,
                                  "uptime_ms": self.now // MS} | changes  # fmt: skip
        return self.feed(encode(LINK, 0, 0, 0x03, m.Announce(**fields).pack()))

    def heartbeat(self, digest: int, **changes: Any) -> list[Frame]:
        """A Heartbeat to a host."""
        fields: dict[str, Any] = {"uptime_ms": self.now // MS, "boot_id": BOOT, "event_no": 0, "cmd_id": 0, "state_digest": 0,
                                  "status": 0, "events_held": 0} | changes  # fmt: skip
        return self.datagram(m.Heartbeat(display_digest=digest, **fields))


def device(**options: Any) -> Hand:
    """A device whose session with a hand-made host is up."""
    hand = fresh_device(**options)
    hand.hello()
    assert hand.link.state is State.UP
    return hand


def fresh_device(**options: Any) -> Hand:
    """A device that has just started."""
    return Hand(Link.device(0, **({"boot_id": BOOT, "capabilities": int(LEVEL_TILES)} | options)))


def host(*, ack: dict[str, Any] | None = None, beat: bool = True, **options: Any) -> Hand:
    """A host whose session with a hand-made device is up, its first heartbeat (no displays) included."""
    hand = Hand(Link.host(0, **({"nonce": nonces()} | options)))
    reconnect(hand, **(ack or {}))
    if beat:
        hand.heartbeat(0xFFFF)
    return hand


def reconnect(hand: Hand, **ack: Any) -> list[Item]:
    """Connect a host and answer its Hello; items of the handshake."""
    hand.link.connect(hand.now)
    hello = hand.poll()[0]
    assert hello.message_id == m.Hello.SPEC.id
    hand.hello_ack(m.Hello.unpack(hello.payload).nonce, **ack)
    return hand.items


def data_frames(found: Iterable[Frame]) -> list[Frame]:
    """DATA frames."""
    return [f for f in found if f.type == DATA]


def ids(found: Iterable[Frame]) -> list[int]:
    """Message ids of DATA frames."""
    return [f.message_id for f in data_frames(found)]


class Ends:
    """Host and device on one virtual clock. `channel[role](data)` may change, drop or multiply what that role writes."""

    def __init__(
        self, host: Link | None = None, device: Link | None = None, *, delay: int = 500
    ) -> None:
        self.now = 0
        self.delay = delay
        self.host = host or Link.host(0, nonce=nonces())
        self.device = device or Link.device(0, boot_id=BOOT, capabilities=int(LEVEL_TILES))
        self.channel: dict[str, Callable[[bytes], bytes]] = {"host": bytes, "device": bytes}
        self.on_item: Callable[[Link, Item, int], None] = self._accept
        self.items: dict[str, list[Item]] = {"host": [], "device": []}
        self.wrote: dict[str, list[bytes]] = {"host": [], "device": []}
        self._line: list[tuple[int, int, str, bytes]] = []
        self._order = itertools.count()

    def _accept(self, link: Link, item: Item, now: int) -> None:
        if isinstance(item, Delivery):
            link.accept(item)

    def connect(self) -> Ends:
        """Handshake."""
        self.host.connect(self.now)
        self.run(50 * MS)
        assert self.host.state is State.UP
        assert self.device.state is State.UP
        return self

    def link(self, role: str) -> Link:
        """The end of a role."""
        return self.host if role == "host" else self.device

    def restart_device(self, **options: Any) -> None:
        """The device starts anew at this moment."""
        self.device = Link.device(
            self.now, **({"boot_id": BOOT + 1, "capabilities": int(LEVEL_TILES)} | options)
        )

    def _take(self, role: str, items: list[Item]) -> None:
        for item in items:
            self.items[role].append(item)
            self.on_item(self.link(role), item, self.now)

    def _write(self, role: str) -> None:
        data = self.link(role).data_to_send(self.now)
        if not data:
            return
        self.wrote[role].append(data)
        through = self.channel[role](data)
        if through:
            other = "device" if role == "host" else "host"
            heapq.heappush(self._line, (self.now + self.delay, next(self._order), other, through))

    def flush(self) -> None:
        """Write what both ends have."""
        self._write("host")
        self._write("device")

    def run(self, duration: int, *, until: Callable[[], bool] | None = None) -> bool:
        """Let time pass (µs); True as soon as `until` holds, else False (or True without `until`)."""
        end = self.now + duration
        self.flush()
        while True:
            if until is not None and until():
                return True
            times = [
                t for t in (self.host.next_deadline, self.device.next_deadline) if t is not None
            ]
            if self._line:
                times.append(self._line[0][0])
            at = max(self.now, min(times, default=end))
            if at > end:
                self.now = end
                return until is None
            if at == self.now and not self._line and times:
                at = self.now + 1
            self.now = at
            while self._line and self._line[0][0] <= self.now:
                _, _, role, data = heapq.heappop(self._line)
                self._take(role, self.link(role).receive(data, self.now))
            for role in ("host", "device"):
                deadline = self.link(role).next_deadline
                if deadline is not None and deadline <= self.now:
                    self._take(role, self.link(role).poll(self.now))
            self.flush()
