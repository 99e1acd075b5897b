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
Host duties:     after LinkFailed call `connect(now)` (with back-off of your own). The host sends Watchdog and TimeRequest itself;
                 `clock` maps device times, `clock.uptime_at(now + …)` makes deadlines.
"""

from __future__ import annotations

import dataclasses
from collections import deque
from collections.abc import Callable, Iterable

from firmware_protocol import framing
from firmware_protocol import messages as m
from firmware_protocol.deliveries import (
    BadMessage,
    Delivery,
    DisplaysDiffer,
    Item,
    LinkFailed,
    LinkRefused,
    LinkUp,
    LogBytes,
    Peer,
    PeerReset,
    State,
    UnknownMessage,
)
from firmware_protocol.errors import FrameTooLong, LinkDown, MalformedMessage, NotSpoken
from firmware_protocol.framing import ACK, DATA, DATAGRAM, LINK, Frame
from firmware_protocol.memory import ActionMemory, DisplayMemory, EventBuffer, EventLedger
from firmware_protocol.outgoing import (
    MAY_FILL_WINDOW,
    URGENT_FIRST,
    DesiredStates,
    Outbox,
    display_digest,
    display_key,
)
from firmware_protocol.schema import DEVICE, HOST, Kind, Message, Schema
from firmware_protocol.stats import LinkStats
from firmware_protocol.timing import (
    ANNOUNCE,
    ANNOUNCE_MIN,
    CLOCK_SYNC,
    HEARTBEAT,
    HELLO_FIRST,
    HELLO_MAX,
    MS,
    SILENCE,
    TRIES,
    UPTIME_SLACK,
    WATCHDOG,
    WATCHDOG_TIMEOUT,
    DeviceClock,
    RetransmissionTimer,
    signed32,
)
from firmware_protocol.vocabulary import ActionState, ResetCause, Result

WINDOW = 4
_U32 = 0xFFFFFFFF


@dataclasses.dataclass(slots=True)
class _InFlight:
    """A reliable frame between writing and acknowledgement."""

    seq: int
    message: Message
    payload: bytes
    sent: int
    again: bool = False


@dataclasses.dataclass(slots=True)
class _Pending:
    """A reliable frame between receiving and accepting."""

    ticket: int
    event_no: int | None = None
    applied: Message | None = None
    accepted: bool = False


class Link:
    """One end of the wire. Build it with `Link.host` or `Link.device`."""

    def __init__(self, role: str, now: int, *, nonce: Callable[[], int], schema: Schema, version: int,
                 window: int, max_frame: int, event_capacity: int) -> None:  # fmt: skip
        self.role = role
        self.schema = schema
        self.state = State.DOWN
        self.peer: Peer | None = None
        self.stats = LinkStats()
        self.clock = DeviceClock()
        self.minor = 0
        """Protocol minor in use: the smaller of both ends'."""
        self._nonce_source = nonce
        self._version = version
        self._window = window
        self._max_frame = max_frame
        self._decoder = framing.Decoder()
        self._items: list[Item] = []
        self._raw: list[bytes] = []
        self._recent: deque[tuple[int, str, bytes]] = deque(maxlen=32)
        self._last_ticket = 0
        self._last_heard = now
        # This session
        self._nonce = 0
        self._session = 0
        self._rx_next = 0
        self._pending: deque[_Pending] = deque()
        self._ack_due = False
        self._in_flight: deque[_InFlight] = deque()
        self._tx_next = 0
        self._tx_window = window
        self._timer: int | None = None
        self._rtt = RetransmissionTimer()
        self._tries = 0
        self._resend = False
        self._outbox = Outbox()
        self._datagrams: deque[Message] = deque(maxlen=8)
        # Host
        self._displays = DesiredStates()
        self._ledger = EventLedger(0, 0)
        self._hello_at: int | None = None
        self._hello_gap = HELLO_FIRST
        self._hello_sent = now
        self._watchdog_at = now
        self._sync_at = now
        self._sync_sent: tuple[int, int] | None = None
        self._wall_clock: Callable[[], int] = lambda: 0
        self._last_uptime: tuple[int, int] | None = None
        # Device
        self._boot_us = now
        self._boot_id = 0
        self._reset_cause = 0
        self._capabilities = 0
        self._events = EventBuffer(event_capacity)
        self._actions = ActionMemory()
        self._shown = DisplayMemory()
        self._announce_at = now
        self._announced: int | None = None
        self._heartbeat_at = now
        self._host_timeout = WATCHDOG_TIMEOUT
        self.state_digest = 0
        self.status = 0

    @classmethod
    def host(cls, now: int, *, nonce: Callable[[], int], version: int = 0, known_boot: int = 0, known_event: int = 0,
             wall_clock: Callable[[], int] | None = None, schema: Schema = m.SCHEMA, window: int = WINDOW,
             max_frame: int = framing.MAX_FRAME) -> Link:  # fmt: skip
        """The host's end. `known_boot`, `known_event`: Peer.boot and last event_no in the journal; `wall_clock`: unix seconds."""
        link = cls(HOST, now, nonce=nonce, schema=schema, version=version, window=window, max_frame=max_frame,
                   event_capacity=0)  # fmt: skip
        link._ledger = EventLedger(known_boot, known_event)
        if wall_clock is not None:
            link._wall_clock = wall_clock
        return link

    @classmethod
    def device(cls, now: int, *, boot_id: int, capabilities: int, reset_cause: int = ResetCause.POWER_ON, version: int = 0,
               event_capacity: int = 64, schema: Schema = m.SCHEMA, window: int = WINDOW,
               max_frame: int = framing.MAX_FRAME) -> Link:  # fmt: skip
        """The device's end, booting now. `boot_id` 0: the board cannot tell one start from another."""
        link = cls(DEVICE, now, nonce=lambda: 0, schema=schema, version=version, window=window, max_frame=max_frame,
                   event_capacity=event_capacity)  # fmt: skip
        link._boot_id = boot_id
        link._capabilities = capabilities
        link._reset_cause = reset_cause
        link.state = State.CONNECTING
        return link

    # ------------------------------------------------------------------ for the owner: life

    def connect(self, now: int) -> None:
        """Host: start a handshake, from any state. An open link is given up (its LinkFailed comes with the next poll)."""
        if self.role != HOST:
            raise NotSpoken("only the host opens a link", value=self.role)
        if self.state is State.UP:
            self._down("reset")
        self.state = State.CONNECTING
        self._last_heard = now
        self._hello_at = now
        self._hello_gap = HELLO_FIRST

    def port_opened(self) -> None:
        """The port was opened anew: half a frame from before means nothing."""
        self._decoder.reset()

    @property
    def next_deadline(self) -> int | None:
        """When `poll` wants to be called (µs); None: not before something comes in."""
        times: list[int | None] = [self._timer]
        if self._items or self.wants_to_send:
            times.append(self._last_heard)
        if self.state is State.UP:
            times.append(self._silence_at())
            if self.role == HOST:
                times += [self._watchdog_at, self._sync_at]
                if self._room(Kind.SET):
                    times.append(self._displays.next_due())
            else:
                times.append(self._heartbeat_at)
        elif self.role == HOST:
            times.append(self._hello_at if self.state is State.CONNECTING else None)
        else:
            times.append(self._announce_at)
        return min((t for t in times if t is not None), default=None)

    @property
    def wants_to_send(self) -> bool:
        """True when `data_to_send` has something at once (displays may follow later)."""
        if self._raw or self._datagrams or self._ack_due or self._resend:
            return True
        return self.state is State.UP and any(
            self._room(kind) and self._waiting(kind)
            for kind in URGENT_FIRST
            if kind is not Kind.SET
        )

    @property
    def idle(self) -> bool:
        """True when all that was sent is acknowledged and nothing waits."""
        return not (
            self._in_flight
            or self._pending
            or self.wants_to_send
            or (self.role == DEVICE and len(self._events))
            or self._displays.next_due() is not None
        )

    def recent(self) -> tuple[tuple[int, str, bytes], ...]:
        """The last 32 frames (time, "rx" or "tx", octets after COBS): for the report beside an error."""
        return tuple(self._recent)

    # ------------------------------------------------------------------ for the owner: sending

    def speaks(self, message: type[Message]) -> bool:
        """True when both ends have this message and this role may send it."""
        spec = message.SPEC
        return self.state is State.UP and spec.since <= self.minor and spec.sent_by(self.role)

    def send_space(self, kind: Kind) -> int:
        """How many messages of a kind may be sent before QueueFull."""
        if kind is Kind.EVENT:
            return self._events.space
        return self._outbox.space(kind) if kind in MAY_QUEUE else 1

    def send(self, message: Message, now: int) -> int:
        """Send a message by its kind; of an event the event_no (0: lost for want of room).

        Raises LinkDown, QueueFull, NotSpoken, FrameTooLong, ValueOutOfRange; then nothing was queued.
        """
        spec = message.SPEC
        if not spec.sent_by(self.role):
            raise NotSpoken(f"the {self.role} does not send {spec.name}", value=spec.name)
        if spec.kind is Kind.EVENT:
            message.pack()  # a value out of range is the caller's error, here and now
            return self._events.event_no if self._events.add(message, self.uptime_ms(now)) else 0
        if spec.kind is Kind.SET:
            self.show(message)
            return 0
        if self.state is not State.UP:
            if self.role == DEVICE and spec.kind is Kind.BULK:
                self.stats.bulk_dropped += 1
                return 0
            raise LinkDown(
                f"{spec.name} was not sent: the link is {self.state.value}", value=message
            )
        if spec.since > self.minor:
            raise NotSpoken(
                f"{spec.name} came with minor {spec.since}, the peer speaks {self.minor}",
                value=spec.name,
            )
        self._check_length(message)
        if spec.kind is Kind.DATAGRAM:
            self._datagrams.append(message)
        elif self.role == DEVICE and not self._outbox.space(spec.kind):
            self.stats.bulk_dropped += 1
        else:
            self._outbox.put(message)
        return 0

    def show(self, message: Message) -> None:
        """Host: what a display should show from now on; written when the link is up and it differs."""
        message.pack()
        self._displays.want(message)

    def shown(self) -> tuple[Message, ...]:
        """Host: what the displays should show."""
        return self._displays.desired()

    def accept(self, delivery: Delivery) -> None:
        """The delivery is dealt with: release its acknowledgement. Also valid for events of an earlier session."""
        if delivery.event_no is not None:
            self._ledger.accept(delivery.boot, delivery.event_no)
        for pending in self._pending:
            if pending.ticket == delivery.ticket or (
                pending.event_no is not None and self._ledger.is_accepted(pending.event_no)
            ):
                pending.accepted = True
        self._release()

    # ------------------------------------------------------------------ for the owner: device

    def uptime_ms(self, now: int) -> int:
        """Device: milliseconds since boot, u32."""
        return (now - self._boot_us) // MS & _U32

    @property
    def event_no(self) -> int:
        """Device: last event_no given. Host: last event accepted without a gap."""
        return self._events.event_no if self.role == DEVICE else self._ledger.accepted

    @property
    def running(self) -> tuple[int, ...]:
        """Device: cmd_ids of actions that were delivered and not finished."""
        return self._actions.running()

    @property
    def actions(self) -> int:
        """Device: actions delivered since boot."""
        return self._actions.count

    def finish(self, cmd_id: int, result: int, detail: int, now: int) -> None:
        """Device: an action ended; remembers it and reports an ActionResult event."""
        self._actions.finish(cmd_id, result, detail)
        self.send(m.ActionResult(cmd_id=cmd_id, result=result, detail=detail, repeated=0), now)

    # ------------------------------------------------------------------ receiving

    def receive(self, data: bytes, now: int) -> list[Item]:
        """Octets from the line; returns what they brought, in order."""
        self.stats.octets_received += len(data)
        for item in self._decoder.feed(data):
            if isinstance(item, Frame):
                self._on_frame(item, now)
            else:
                self.stats.crc_errors += item.damaged
                self.stats.noise += 0 if item.damaged else len(item.data)
                self._items.append(LogBytes(item.data, item.damaged))
        return self._drain()

    def _drain(self) -> list[Item]:
        items, self._items = self._items, []
        return items

    def _on_frame(self, frame: Frame, now: int) -> None:
        self.stats.frames_received += 1
        self._recent.append((now, "rx", bytes(frame[:4]) + frame[4]))
        self._last_heard = now
        kind = frame.control & 0x0F
        if kind == LINK:
            self._on_link_frame(frame, now)
        elif self.state is not State.UP or frame.control >> 4 != self._session:
            self.stats.stale += 1
            if self.role == DEVICE and self.state is not State.UP:
                self._announce_at = min(
                    self._announce_at, max(now, (self._announced or 0) + ANNOUNCE_MIN)
                )
        elif kind == DATA:
            self._on_ack(frame, now)
            self._on_data(frame, now)
        elif kind == ACK:
            self._on_ack(frame, now)
        elif kind == DATAGRAM:
            self._on_ack(frame, now)
            self._on_datagram(frame, now)
        else:
            self.stats.unknown += 1

    def _on_ack(self, frame: Frame, now: int) -> None:
        flying = self._in_flight
        if not flying:
            self.stats.bad_acks += frame.ack != self._tx_next
            return
        acked = frame.ack - flying[0].seq & 0xFF
        if acked > len(flying):
            self.stats.bad_acks += 1
            return
        if acked:
            sample = None
            for _ in range(acked):
                entry = flying.popleft()
                if not entry.again:
                    sample = now - entry.sent
                self._acknowledged(entry.message)
            if sample is not None:
                self._rtt.sample(sample)
                self.stats.round_trips.append(sample)
            self._tries = 0
            self._timer = now + self._rtt.rto if flying else None
            self._resend = self._resend and bool(flying)
        if (
            flying
            and frame.control & 0x0F == ACK
            and 0 < (frame.seq - flying[0].seq & 0xFF) <= len(flying)
        ):
            # The peer has it and cannot accept it yet (a slow disk): patience, not failure (SPEC L-13).
            self._tries = 0

    def _acknowledged(self, message: Message) -> None:
        kind = message.SPEC.kind
        if kind is Kind.EVENT:
            self._events.acknowledged()
        elif kind is Kind.SET:
            self._displays.acknowledged(message)

    def _on_data(self, frame: Frame, now: int) -> None:
        offset = frame.seq - self._rx_next & 0xFF
        if offset:
            self._ack_due = True
            if offset >= 256 - self._window:
                self.stats.duplicates += 1
            else:
                self.stats.out_of_order += 1
            return
        if len(self._pending) >= self._window:
            self.stats.overruns += 1
            return
        self._rx_next = self._rx_next + 1 & 0xFF
        self._last_ticket += 1
        pending = _Pending(self._last_ticket)
        self._pending.append(pending)
        self._dispatch(frame, pending, now)
        self._release()

    def _release(self) -> None:
        while self._pending and self._pending[0].accepted:
            applied = self._pending.popleft().applied
            if applied is not None:
                self._shown.apply((applied,))
            self._ack_due = True

    def _dispatch(self, frame: Frame, pending: _Pending, now: int) -> None:
        """One reliable message in order; what the owner need not see is accepted at once."""
        cls = self.schema.by_id.get(frame.message_id)
        pending.accepted = True
        if cls is None:
            self.stats.unknown += 1
            self._items.append(UnknownMessage(frame.message_id, frame.payload))
            return
        spec = cls.SPEC
        is_event = spec.kind is Kind.EVENT
        try:
            if spec.sent_by(self.role) and spec.direction is not m.BOTH:
                raise MalformedMessage(f"{spec.name} came from the wrong end", value=spec.name)
            if spec.kind in {Kind.LINK, Kind.DATAGRAM}:
                raise MalformedMessage(
                    f"{spec.name} does not travel in a DATA frame", value=spec.name
                )
            if is_event and len(frame.payload) < m.EVENT_HEADER:
                raise MalformedMessage(
                    f"{spec.name} ends before its event header", value=frame.payload.hex()
                )
            message = cls.unpack(frame.payload[m.EVENT_HEADER :] if is_event else frame.payload)
        except MalformedMessage as error:
            self.stats.malformed += 1
            self._items.append(BadMessage(frame.message_id, frame.payload, error))
            return
        if is_event:
            self._deliver_event(message, frame.payload, pending)
        elif self.role == DEVICE and self._answer(message, now):
            return
        else:
            pending.accepted = False
            pending.applied = message if spec.kind is Kind.SET else None
            self._items.append(Delivery(message, pending.ticket))

    def _deliver_event(self, message: Message, payload: bytes, pending: _Pending) -> None:
        event_no = int.from_bytes(payload[:4], "little")
        pending.event_no = event_no
        if self._ledger.seen(event_no):
            self.stats.events_repeated += 1
            pending.accepted = self._ledger.is_accepted(event_no)
            return
        pending.accepted = False
        uptime = int.from_bytes(payload[4:8], "little")
        self._items.append(Delivery(message, pending.ticket, event_no, uptime, self._ledger.boot))

    def _answer(self, message: Message, now: int) -> bool:
        """Device: messages that the link answers itself; True when the owner need not see it."""
        if isinstance(message, m.Action | m.Stop):
            return self._admit(message, now)
        if isinstance(message, m.ActionQuery):
            state, result, detail = self._actions.look_up(message.cmd_id)
            self.send(
                m.ActionStatus(cmd_id=message.cmd_id, state=state, result=result, detail=detail),
                now,
            )
        elif isinstance(message, m.TestEcho):
            self.send(m.TestEchoReply(token=message.token, data=message.data), now)
        elif isinstance(message, m.StatsRequest):
            self.send(self._stats_message(), now)
        else:
            return False
        return True

    def _admit(self, message: m.Action | m.Stop, now: int) -> bool:
        """Device: at most once. True when the action is not to be done (again)."""
        cmd_id = message.cmd_id
        state, result, detail = self._actions.look_up(cmd_id)
        if state is ActionState.RUNNING:
            self.stats.actions_repeated += 1
            return True
        if state is ActionState.FINISHED:
            self.stats.actions_repeated += 1
            self.send(m.ActionResult(cmd_id=cmd_id, result=result, detail=detail, repeated=1), now)
            return True
        if not self._actions.begin(cmd_id):
            self.send(
                m.ActionResult(cmd_id=cmd_id, result=Result.REFUSED_BUSY, detail=0, repeated=0), now
            )
            return True
        if (
            isinstance(message, m.Action)
            and message.deadline_ms
            and signed32(message.deadline_ms - self.uptime_ms(now)) < 0
        ):
            self._actions.count -= 1
            self.finish(cmd_id, Result.EXPIRED, 0, now)
            return True
        return False

    def _stats_message(self) -> m.Stats:
        s = self.stats
        return m.Stats(
            frames_received=s.frames_received & _U32,
            frames_sent=s.frames_sent & _U32,
            retransmits=s.retransmits & _U32,
            crc_errors=s.crc_errors & _U32,
            noise=s.noise & _U32,
            links=s.handshakes & 0xFFFF,
            events_lost=min(self._events.lost_total, 0xFFFF),
            buffer_high=min(self._events.high, 0xFF),
            actions=self._actions.count & _U32,
            free_memory=0xFFFF,
        )

    def _on_datagram(self, frame: Frame, now: int) -> None:
        cls = self.schema.by_id.get(frame.message_id)
        if cls is None or cls.SPEC.kind is not Kind.DATAGRAM or cls.SPEC.sent_by(self.role):
            self.stats.unknown += 1
            return
        try:
            message = cls.unpack(frame.payload)
        except MalformedMessage as error:
            self.stats.malformed += 1
            self._items.append(BadMessage(frame.message_id, frame.payload, error))
            return
        if isinstance(message, m.TimeRequest):
            self._datagrams.append(m.TimeReply(token=message.token, uptime_ms=self.uptime_ms(now)))
        elif isinstance(message, m.Watchdog):
            self._host_timeout = message.timeout_ms * MS
        elif isinstance(message, m.TimeReply):
            if self._sync_sent is not None and message.token == self._sync_sent[0]:
                self.clock.sample(self._sync_sent[1], now, message.uptime_ms)
                self._sync_sent = None
        elif isinstance(message, m.Heartbeat):
            self._on_heartbeat(message, now)
        self._items.append(Delivery(message))

    def _on_heartbeat(self, beat: m.Heartbeat, now: int) -> None:
        self._last_uptime = (beat.uptime_ms, now)
        ours = display_digest(
            {display_key(d): d.pack(self.minor) for d in self._displays.desired()}
        )
        if self._displays.compare(beat.display_digest, ours, now):
            self._items.append(DisplaysDiffer(beat.display_digest, ours))

    # ------------------------------------------------------------------ handshake

    def _on_link_frame(self, frame: Frame, now: int) -> None:
        cls = {HOST: (m.HelloAck, m.Announce), DEVICE: (m.Hello,)}[self.role]
        kind = next((c for c in cls if c.SPEC.id == frame.message_id), None)
        if kind is None:
            self.stats.unknown += 1
            return
        try:
            message = kind.unpack(frame.payload)
        except MalformedMessage as error:
            self.stats.malformed += 1
            self._items.append(BadMessage(frame.message_id, frame.payload, error))
            return
        if isinstance(message, m.Hello):
            self._on_hello(message, now)
        elif isinstance(message, m.HelloAck):
            self._on_hello_ack(message, now)
        elif isinstance(message, m.Announce):
            self._on_announce(message, now)

    def _on_hello(self, hello: m.Hello, now: int) -> None:
        if hello.major != self.schema.major:
            if self.state is State.UP:
                self._down("peer_hello")
            self._refuse(hello.major, hello.minor, hello.version)
            self._write_hello_ack(hello.nonce, now)
            return
        if hello.nonce == self._nonce and self.state in {State.UP, State.FAILED}:
            # A copy of the Hello that opened this session: answering it anew must not begin anew (SPEC H-5).
            if self.state is State.UP:
                self._write_hello_ack(hello.nonce, now)
            return
        if self.state is State.UP:
            self._down("peer_hello")
        peer = Peer(
            hello.major,
            hello.minor,
            hello.schema_hash,
            hello.version,
            hello.window,
            hello.max_frame,
        )
        same_boot = hello.boot_id == self._boot_id and hello.event_no != 0
        self._events.link_up(hello.event_no if same_boot else None)
        self._open_session(hello.nonce, peer)
        self._heartbeat_at = now
        self._host_timeout = WATCHDOG_TIMEOUT
        self._write_hello_ack(hello.nonce, now)
        self._items.append(
            LinkUp(peer, new_boot=False, schema_differs=peer.schema_hash != self.schema.hash)
        )

    def _on_hello_ack(self, ack: m.HelloAck, now: int) -> None:
        if self.state is not State.CONNECTING or ack.nonce != self._nonce:
            self.stats.stale += 1
            return
        if ack.major != self.schema.major:
            self._refuse(ack.major, ack.minor, ack.version)
            return
        new_boot = self._is_new_boot(ack.boot_id, ack.uptime_ms, now)
        if new_boot:
            had_boot = self._ledger.boot != 0
            self._ledger.new_boot(ack.boot_id or 1 << 32 | ack.nonce)
            self.clock.reset()
            if had_boot:
                cause = (
                    ResetCause(ack.reset_cause).name
                    if ack.reset_cause in set(ResetCause)
                    else str(ack.reset_cause)
                )
                self.stats.resets[cause.lower()] += 1
                self._items.append(PeerReset(self._ledger.boot, ack.reset_cause, ack.uptime_ms))
        peer = Peer(ack.major, ack.minor, ack.schema_hash, ack.version, ack.window, ack.max_frame, ack.boot_id,
                    self._ledger.boot, ack.reset_cause, ack.capabilities, ack.uptime_ms, ack.held)  # fmt: skip
        self._last_uptime = (ack.uptime_ms, now)
        self.clock.sample(self._hello_sent, now, ack.uptime_ms)
        self._open_session(ack.nonce, peer)
        self._hello_at = None
        self._watchdog_at = self._sync_at = now
        self._displays.link_up(now, new_boot=new_boot)
        self._items.append(
            LinkUp(peer, new_boot, schema_differs=peer.schema_hash != self.schema.hash)
        )

    def _is_new_boot(self, boot_id: int, uptime_ms: int, now: int) -> bool:
        known = self._ledger.boot
        if known == 0 or (boot_id != known if boot_id else known <= _U32):
            return True
        if self._last_uptime is None:
            return boot_id == 0
        uptime, then = self._last_uptime
        elapsed = now - then
        behind = signed32(uptime + elapsed // MS - uptime_ms) * MS
        return behind > UPTIME_SLACK + elapsed // 64

    def _on_announce(self, announce: m.Announce, now: int) -> None:
        if self.state is State.CONNECTING:
            if now >= self._hello_sent + ANNOUNCE_MIN:
                self._hello_at = now
        elif self.state is State.UP:
            reset = self._is_new_boot(announce.boot_id, announce.uptime_ms, now)
            self._down("peer_reset" if reset else "peer_lost")
            self.connect(now)

    def _refuse(self, major: int, minor: int, version: int) -> None:
        self.state = State.REFUSED
        firmware = Peer(major, minor, 0, version, 0, 0).version_text
        self._items.append(LinkRefused(str(self.schema), f"{major}.{minor}", firmware))

    def _open_session(self, nonce: int, peer: Peer) -> None:
        self.state = State.UP
        self.peer = peer
        self.minor = min(self.schema.minor, peer.minor)
        self.stats.handshakes += 1
        self._nonce = nonce
        self._session = nonce & 0x0F
        self._rx_next = self._tx_next = 0
        self._tx_window = min(peer.window, self._window)
        self._ack_due = self._resend = False
        self._rtt = RetransmissionTimer()
        self._tries = 0
        self._timer = None

    def _down(self, reason: str) -> None:
        """Leave UP: forget the session, keep events and desired states, tell what becomes of the rest."""
        unsure = tuple(e.message for e in self._in_flight if e.message.SPEC.kind in MAY_QUEUE)
        unsent = self._outbox.clear()
        self._in_flight.clear()
        self._pending.clear()
        self._datagrams.clear()
        self._displays.link_down()
        self._timer = None
        self._ack_due = self._resend = False
        self._sync_sent = None
        self.state = State.FAILED
        self.stats.failures[reason] += 1
        self._items.append(LinkFailed(reason, unsent, unsure))

    def _write_hello(self, now: int) -> None:
        nonce = self._nonce_source() & _U32
        if nonce & 0x0F == self._nonce & 0x0F:
            nonce = nonce & ~0x0F & _U32 | nonce + 1 & 0x0F
        self._nonce = nonce
        boot = self._ledger.boot
        hello = m.Hello(nonce, self.schema.major, self.schema.minor, self.schema.hash, self._version, self._max_frame,
                        self._window, boot if boot <= _U32 else 0, self._ledger.accepted)  # fmt: skip
        self._hello_sent = now
        self._hello_at = now + self._hello_gap
        self._hello_gap = min(2 * self._hello_gap, HELLO_MAX)
        self._write_link(hello, nonce)

    def _write_hello_ack(self, nonce: int, now: int) -> None:
        ack = m.HelloAck(nonce, self.schema.major, self.schema.minor, self.schema.hash, self._version, self._boot_id,
                         self._reset_cause, self._capabilities, self._max_frame, self._window, self.uptime_ms(now),
                         self._events.event_no, min(len(self._events), 0xFF))  # fmt: skip
        self._write_link(ack, nonce)

    def _write_announce(self, now: int) -> None:
        self._announced = now
        self._announce_at = now + ANNOUNCE
        self._write_link(m.Announce(self.schema.major, self.schema.minor, self._version, self._boot_id, self._reset_cause,
                                    self.uptime_ms(now)), 0)  # fmt: skip

    def _write_link(self, message: Message, nonce: int) -> None:
        control = (nonce & 0x0F) << 4 | LINK
        # The delimiter in front ends whatever stood on the line before (SPEC F-8).
        self._raw.append(
            framing.DELIMITER + framing.encode(control, 0, 0, message.SPEC.id, message.pack())
        )

    # ------------------------------------------------------------------ time

    def _silence_at(self) -> int:
        return self._last_heard + (SILENCE if self.role == HOST else self._host_timeout)

    def poll(self, now: int) -> list[Item]:
        """Let time pass; returns what it brought. Call when `next_deadline` has come."""
        if self.state is State.UP:
            if now >= self._silence_at():
                self._down("silent")
            elif self._timer is not None and now >= self._timer:
                self._on_timeout(now)
        if self.state is State.UP:
            self._poll_up(now)
        elif self.role == HOST:
            if (
                self.state is State.CONNECTING
                and self._hello_at is not None
                and now >= self._hello_at
            ):
                self._write_hello(now)
        elif now >= self._announce_at:
            self._write_announce(now)
        return self._drain()

    def _poll_up(self, now: int) -> None:
        if self.role == HOST:
            if now >= self._watchdog_at:
                self._watchdog_at = now + WATCHDOG
                self._datagrams.append(m.Watchdog(timeout_ms=WATCHDOG_TIMEOUT // MS))
            if now >= self._sync_at:
                self._sync_at = now + CLOCK_SYNC
                token = (self._sync_sent[0] if self._sync_sent else self._nonce) + 1 & _U32
                self._sync_sent = (token, now)
                self._datagrams.append(m.TimeRequest(token=token, unix_s=self._wall_clock() & _U32))
        else:
            self._events.tell_lost(self.uptime_ms(now))
            if now >= self._heartbeat_at:
                self._heartbeat_at = now + HEARTBEAT
                self._datagrams.append(self._heartbeat(now))

    def _heartbeat(self, now: int) -> m.Heartbeat:
        return m.Heartbeat(
            uptime_ms=self.uptime_ms(now),
            boot_id=self._boot_id,
            event_no=self._events.event_no,
            cmd_id=self._actions.last_finished,
            state_digest=self.state_digest,
            display_digest=self._shown.digest,
            status=self.status,
            events_held=min(len(self._events), 0xFF),
        )

    def _on_timeout(self, now: int) -> None:
        self._tries += 1
        self.stats.timeouts += 1
        if self._tries >= TRIES:
            self._down("tries")
            return
        self._rtt.back_off()
        self._timer = now + self._rtt.rto
        self._resend = True

    # ------------------------------------------------------------------ writing

    def data_to_send(self, now: int) -> bytes:
        """Octets for the line, most urgent first; never more than a window of frames and a few datagrams."""
        out = self._raw
        self._raw = []
        if self.state is State.UP:
            if self._resend:
                self._write_again(out, now)
            self._write_new(out, now)
            for message in self._datagrams:
                out.append(self._frame(DATAGRAM, 0, message.SPEC.id, message.pack(self.minor), now))
            self._datagrams.clear()
            if self._ack_due:
                out.append(self._frame(ACK, self._rx_next, 0, b"", now))
        data = b"".join(out)
        self.stats.octets_sent += len(data)
        return data

    def _frame(self, kind: int, seq: int, message_id: int, payload: bytes, now: int) -> bytes:
        self._ack_due = False
        self.stats.frames_sent += 1
        ack = self._rx_next - len(self._pending) & 0xFF
        control = self._session << 4 | kind
        self._recent.append((now, "tx", bytes((control, seq, ack, message_id)) + payload))
        return framing.encode(control, seq, ack, message_id, payload)

    def _write_again(self, out: list[bytes], now: int) -> None:
        """Go back: all frames in flight once more, in order, behind a delimiter of their own."""
        self._resend = False
        out.append(framing.DELIMITER)
        for entry in self._in_flight:
            entry.again = True
            self.stats.retransmits += 1
            out.append(self._frame(DATA, entry.seq, entry.message.SPEC.id, entry.payload, now))

    def _room(self, kind: Kind) -> bool:
        reserve = 0 if kind in MAY_FILL_WINDOW or self._tx_window == 1 else 1
        return len(self._in_flight) < self._tx_window - reserve

    def _waiting(self, kind: Kind) -> bool:
        if kind is Kind.EVENT:
            return self._events.next_unsent() is not None
        return kind in MAY_QUEUE and self._outbox.waiting(kind)

    def _write_new(self, out: list[bytes], now: int) -> None:
        for kind in URGENT_FIRST:
            while self._room(kind):
                taken = self._take(kind, now)
                if taken is None:
                    break
                message, payload = taken
                seq = self._tx_next
                self._tx_next = seq + 1 & 0xFF
                self._in_flight.append(_InFlight(seq, message, payload, now))
                if self._timer is None:
                    self._timer = now + self._rtt.rto
                out.append(self._frame(DATA, seq, message.SPEC.id, payload, now))

    def _take(self, kind: Kind, now: int) -> tuple[Message, bytes] | None:
        if kind is Kind.EVENT:
            return self._take_event()
        if kind is Kind.SET:
            message = self._displays.take(now, self.minor) if self.role == HOST else None
            return None if message is None else (message, message.pack(self.minor))
        if not self._outbox.waiting(kind):
            return None
        message = self._outbox.take(kind)
        return message, message.pack(self.minor)

    def _take_event(self) -> tuple[Message, bytes] | None:
        while (held := self._events.next_unsent()) is not None:
            message = held.message
            payload = held.event_no.to_bytes(4, "little") + held.uptime_ms.to_bytes(4, "little")
            payload += message.pack(self.minor)
            if message.SPEC.since <= self.minor and self._fits(payload):
                self._events.mark_sent()
                return message, payload
            self.stats.not_spoken += 1
            self._events.drop_unsent()
        return None

    def _fits(self, payload: bytes) -> bool:
        longest = self.peer.max_frame if self.peer is not None else framing.MAX_FRAME
        return len(payload) <= framing.MAX_PAYLOAD - (framing.MAX_FRAME - longest)

    def _check_length(self, message: Message) -> None:
        payload = message.pack(self.minor)
        if not self._fits(payload):
            assert self.peer is not None
            raise FrameTooLong(
                f"{message.SPEC.name} has {len(payload)} octets, the peer's frames are at most {self.peer.max_frame}",
                value=message,
            )


MAY_QUEUE = frozenset({Kind.URGENT, Kind.ACTION, Kind.BULK})
"""Kinds that wait in a queue and are forgotten with the session."""


def show_all(link: Link, messages: Iterable[Message]) -> None:
    """Tell a host's link what several displays should show."""
    for message in messages:
        link.show(message)
