"""The link: both ends of a reliable serial connection, without I/O and without a clock of its own (SPEC chapters 3–5).

How to drive one (host or device alike); `now` is an int, microseconds of a monotonic clock:

    link = Link.host(now, nonce=lambda: secrets.randbits(32))        # or Link.device(now, boot_id=…, capabilities=…)
    link.connect(now)                                                # host only: start a handshake
    for item in link.receive(octets, now): …                         # what came in (deliveries.Item)
    for item in link.poll(now): …                                    # when `next_deadline` has come
    port.write(link.data_to_send(now))                               # after each of these calls and after `accept`

Every `Delivery` with a ticket is acknowledged to the peer when the owner calls `link.accept(delivery)`: the host after its
journal has committed, the device after it has acted. Accept each one, also after a LinkFailed: an event that was delivered once is
not delivered again. At most `window` deliveries are open at a time, so an owner that does not accept stops the peer.

Sending, host:   `send(message)`: Action, Stop, requests (LinkDown unless UP) · `show(message)`: displays, in any state; the link
                 writes what differs, at most every 50 ms per display, and again after a restart of the device
Sending, device: `send(message)`: events are numbered and kept until acknowledged, in any state; replies and log only while UP
                 (dropped otherwise: they are asked again) · `finish(cmd_id, result, detail)` ends a delivered Action or Stop
Device duties:   keep `state_digest` and `status` (heartbeat) up to date. The link itself answers repeated cmd_ids, expired
                 deadlines, ActionQuery, TimeRequest, TestEcho and StatsRequest, and sends heartbeats and Announce.
Host duties:     after LinkFailed call `connect(now)` (with back-off of your own; not after the reasons peer_reset and peer_lost,
                 where the device asked for a handshake and it has begun). The host sends Watchdog and TimeRequest itself;
                 `clock` maps device times, `clock.uptime_at(now + …)` makes deadlines.
"""

from __future__ import annotations

from collections.abc import Callable

from firmware_protocol import framing
from firmware_protocol import messages as m
from firmware_protocol.deliveries import Delivery, Item, Peer, State
from firmware_protocol.device_end import DeviceEnd, Identity
from firmware_protocol.errors import NotSpoken
from firmware_protocol.host_end import HostEnd
from firmware_protocol.memory import EventLedger
from firmware_protocol.outgoing import QUEUED
from firmware_protocol.schema import Kind, Message, Schema
from firmware_protocol.session import Session
from firmware_protocol.stats import LinkStats
from firmware_protocol.timing import DeviceClock
from firmware_protocol.vocabulary import ResetCause

WINDOW = 4
"""Reliable frames in flight: 256 octets of buffer on the device, and a full line at 115,200 baud up to 22 ms of round trip."""


class Link:
    """One end of the wire. Build it with `Link.host` or `Link.device`."""

    def __init__(self, session: Session, end: HostEnd | DeviceEnd) -> None:
        self._session = session
        self._end = end
        session.end = end

    @classmethod
    def host(
        cls,
        now: int,
        *,
        nonce: Callable[[], int],
        version: int = 0,
        known_boot: int = 0,
        known_event: int = 0,
        wall_clock: Callable[[], int] = lambda: 0,
        schema: Schema = m.SCHEMA,
        window: int = WINDOW,
        max_frame: int = framing.MAX_FRAME,
    ) -> Link:
        """The host's end.

        `known_boot`, `known_event`: Peer.boot and last event_no in the journal; `wall_clock`: unix seconds, 0 while the
        clock of the machine cannot be trusted; `nonce`: random 32 bits.
        """
        session = Session(schema, version, window, max_frame, now)
        ledger = EventLedger(known_boot, known_event)
        return cls(session, HostEnd(session, nonce, wall_clock, ledger, now))

    @classmethod
    def device(
        cls,
        now: int,
        *,
        boot_id: int,
        capabilities: int,
        reset_cause: int = ResetCause.POWER_ON,
        version: int = 0,
        event_capacity: int = 64,
        schema: Schema = m.SCHEMA,
        window: int = WINDOW,
        max_frame: int = framing.MAX_FRAME,
    ) -> Link:
        """The device's end, booting now. `boot_id` 0: the board cannot tell one start from another."""
        session = Session(schema, version, window, max_frame, now)
        identity = Identity(boot_id, reset_cause, capabilities)
        return cls(session, DeviceEnd(session, identity, event_capacity, now))

    # ------------------------------------------------------------------ life

    def connect(self, now: int) -> None:
        """Host: start a handshake, from any state. A link that is UP is given up; its LinkFailed comes with the next poll."""
        self._host.connect(now)

    def port_opened(self) -> None:
        """The port was opened anew: half a frame from before means nothing."""
        self._session.decoder.reset()

    def receive(self, data: bytes, now: int) -> list[Item]:
        """Octets from the line; returns what they brought, in order."""
        self._session.feed(data, now)
        return self._drain()

    def poll(self, now: int) -> list[Item]:
        """Let time pass; returns what it brought."""
        session = self._session
        if session.state is State.UP:
            timer = session.sending.timer
            if now >= session.last_heard + self._end.silence:
                session.down("silent")
            elif timer is not None and now >= timer and not session.sending.on_timeout(now):
                session.down("tries")
        self._end.poll(now)
        return self._drain()

    def data_to_send(self, now: int) -> bytes:
        """Octets for the line, most urgent first; never more than a window of frames and a few datagrams."""
        return self._session.data_to_send(now)

    def accept(self, delivery: Delivery) -> None:
        """The delivery is dealt with: release its acknowledgement. Also valid for an event of an earlier session."""
        if isinstance(self._end, HostEnd):
            self._end.accept(delivery)
        for pending in self._session.receiving.pending:
            if pending.ticket == delivery.ticket:
                pending.accepted = True
        self._session.release()

    @property
    def next_deadline(self) -> int | None:
        """When `poll` and `data_to_send` want to be called (µs); a time gone by: now; None: when something comes in."""
        session = self._session
        times = [session.sending.timer, *self._end.deadlines()]
        if session.items or session.wants_to_send():
            times.append(session.last_heard)
        return min((t for t in times if t is not None), default=None)

    def _drain(self) -> list[Item]:
        items, self._session.items = self._session.items, []
        return items

    # ------------------------------------------------------------------ sending

    def send(self, message: Message, now: int) -> int:
        """Send a message by its kind; of an event returns the event_no (0: lost for want of room).

        Raises LinkDown, QueueFull, NotSpoken, FrameTooLong, ValueOutOfRange; then nothing was queued.
        """
        spec = message.SPEC
        if not spec.sent_by(self.role):
            raise NotSpoken(f"the {self.role} does not send {spec.name}", value=spec.name)
        if spec.kind is Kind.LINK:
            raise NotSpoken(f"{spec.name} is the link's own affair", value=spec.name)
        if spec.kind is Kind.EVENT:
            return self._device.add_event(message, now)
        if spec.kind is Kind.SET:
            self.show(message)
        elif isinstance(self._end, DeviceEnd) and spec.kind is Kind.BULK:
            self._end.reply(message)
        else:
            self._session.queue(message)
        return 0

    def show(self, message: Message) -> None:
        """Host: what a display should show from now on; written when the link is up and it differs."""
        message.pack()  # a value out of range is the caller's error, here and now
        self._host.displays.want(message)

    def shown(self) -> tuple[Message, ...]:
        """Host: what the displays should show."""
        return self._host.displays.desired()

    def speaks(self, message: type[Message]) -> bool:
        """True when the link is up, both ends have this message, and this role may send it."""
        spec = message.SPEC
        return self.state is State.UP and spec.since <= self.minor and spec.sent_by(self.role)

    def send_space(self, kind: Kind) -> int:
        """How many messages of a kind may be sent before there is no room. Displays always have room."""
        if kind is Kind.EVENT:
            return self._device.events.space
        return self._session.outbox.space(kind) if kind in QUEUED else 1

    # ------------------------------------------------------------------ device

    def finish(self, cmd_id: int, result: int, detail: int, now: int) -> int:
        """Device: an action ended; remembers it and reports an ActionResult, whose event_no it returns."""
        return self._device.finish(cmd_id, result, detail, now)

    def uptime_ms(self, now: int) -> int:
        """Device: milliseconds since boot, u32."""
        return self._device.uptime_ms(now)

    @property
    def running(self) -> tuple[int, ...]:
        """Device: cmd_ids of actions that were delivered and not finished."""
        return self._device.actions.running()

    @property
    def actions(self) -> int:
        """Device: actions delivered since boot."""
        return self._device.actions.count

    @property
    def state_digest(self) -> int:
        """Device: digest for the heartbeat (`paging.state_digest`)."""
        return self._device.state_digest

    @state_digest.setter
    def state_digest(self, value: int) -> None:
        self._device.state_digest = value

    @property
    def status(self) -> int:
        """Device: vocabulary.Status flags for the heartbeat."""
        return self._device.status

    @status.setter
    def status(self, value: int) -> None:
        self._device.status = value

    # ------------------------------------------------------------------ looking

    @property
    def role(self) -> str:
        """`host` or `device`."""
        return self._end.role

    @property
    def state(self) -> State:
        """Where the link is in its life."""
        return self._session.state

    @property
    def peer(self) -> Peer | None:
        """The other end as the last handshake told it."""
        return self._session.peer

    @property
    def minor(self) -> int:
        """Protocol minor in use: the smaller of both ends'."""
        return self._session.minor

    @property
    def schema(self) -> Schema:
        """The protocol as this end speaks it."""
        return self._session.schema

    @property
    def stats(self) -> LinkStats:
        """Figures since construction."""
        return self._session.stats

    @property
    def clock(self) -> DeviceClock:
        """Host: the device's clock."""
        return self._host.clock

    @property
    def event_no(self) -> int:
        """Device: last event_no given. Host: last event accepted without a gap."""
        if isinstance(self._end, DeviceEnd):
            return self._end.events.event_no
        return self._end.ledger.accepted

    @property
    def idle(self) -> bool:
        """True when all that was sent is acknowledged, all that came is accepted, and nothing waits."""
        session = self._session
        if session.sending.frames or session.receiving.pending or session.wants_to_send():
            return False
        if isinstance(self._end, DeviceEnd):
            return not len(self._end.events)
        return self._end.displays.next_due(session.minor) is None

    def recent(self) -> list[tuple[int, str, bytes]]:
        """The last 32 frames (time, "rx" or "tx", octets without COBS and CRC): for the report beside an error."""
        return self._session.recent()

    @property
    def _host(self) -> HostEnd:
        if not isinstance(self._end, HostEnd):
            raise NotSpoken("that is for the host's end only", value=self.role)
        return self._end

    @property
    def _device(self) -> DeviceEnd:
        if not isinstance(self._end, DeviceEnd):
            raise NotSpoken("that is for the device's end only", value=self.role)
        return self._end
