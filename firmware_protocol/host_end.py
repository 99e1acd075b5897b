"""The host's role: it opens links, recognises restarts of the device, keeps displays as desired, and watches the clock."""

from __future__ import annotations

from collections.abc import Callable

from firmware_protocol import messages as m
from firmware_protocol.deliveries import Delivery, DisplaysDiffer, LinkUp, Peer, PeerReset, State
from firmware_protocol.memory import EventLedger
from firmware_protocol.outgoing import DesiredStates, Key, display_digest, display_key
from firmware_protocol.schema import HOST, Kind, Message
from firmware_protocol.session import Session
from firmware_protocol.timing import (
    ANNOUNCE_MIN,
    CLOCK_SYNC,
    HELLO_FIRST,
    HELLO_MAX,
    MS,
    SILENCE,
    UPTIME_SLACK,
    WATCHDOG,
    WATCHDOG_TIMEOUT,
    DeviceClock,
    signed32,
)
from firmware_protocol.vocabulary import ResetCause
from firmware_protocol.window import Pending

_U32 = 0xFFFFFFFF
NO_BOOT_ID = 1 << 32
"""Added to the nonce as the journal's key of a start that has no boot_id."""


class HostEnd:
    """Host side of a session."""

    role = HOST

    def __init__(
        self,
        session: Session,
        nonce: Callable[[], int],
        wall_clock: Callable[[], int],
        ledger: EventLedger,
        now: int,
    ) -> None:
        self._session = session
        self._draw_nonce = nonce
        self._wall_clock = wall_clock
        self.ledger = ledger
        self.displays = DesiredStates()
        self.clock = DeviceClock()
        self._hello_nonce = 0
        self._hello_at: int | None = None
        self._hello_gap = HELLO_FIRST
        self._hello_sent = now
        self._watchdog_at = now
        self._sync_at = now
        self._sync_token = 0
        self._sync_sent: int | None = None
        self._last_uptime: tuple[int, int] | None = None

    # ------------------------------------------------------------------ handshake

    def connect(self, now: int) -> None:
        """Send Hello until a HelloAck comes."""
        session = self._session
        if session.state is State.UP:
            session.down("reset")
        session.state = State.CONNECTING
        self._hello_at = now
        self._hello_gap = HELLO_FIRST

    def _write_hello(self, now: int) -> None:
        session = self._session
        nonce = self._draw_nonce() & _U32
        if nonce & 0x0F == self._hello_nonce & 0x0F:
            nonce = nonce & ~0x0F & _U32 | nonce + 1 & 0x0F
        self._hello_nonce = nonce
        self._hello_sent = now
        self._hello_at = now + self._hello_gap
        self._hello_gap = min(2 * self._hello_gap, HELLO_MAX)
        boot = self.ledger.boot
        hello = m.Hello(
            nonce=nonce,
            major=session.schema.major,
            minor=session.schema.minor,
            schema_hash=session.schema.hash,
            version=session.version,
            max_frame=session.max_frame,
            window=session.window,
            boot_id=boot if boot <= _U32 else 0,
            event_no=self.ledger.accepted if boot <= _U32 else 0,
        )
        session.write_link(hello, nonce)

    def on_link_message(self, message: Message, now: int) -> None:
        """HelloAck or Announce."""
        if isinstance(message, m.HelloAck):
            self._on_hello_ack(message, now)
        elif isinstance(message, m.Announce):
            self._on_announce(message, now)

    def _on_hello_ack(self, ack: m.HelloAck, now: int) -> None:
        session = self._session
        if session.state is not State.CONNECTING or ack.nonce != self._hello_nonce:
            session.stats.stale += 1
            return
        if ack.major != session.schema.major:
            session.refuse(ack.major, ack.minor, ack.version)
            return
        new_boot = self._is_new_boot(ack.boot_id, ack.uptime_ms, now)
        if new_boot:
            self._begin_boot(ack)
        peer = Peer(
            major=ack.major,
            minor=ack.minor,
            schema_hash=ack.schema_hash,
            version=ack.version,
            window=ack.window,
            max_frame=ack.max_frame,
            boot_id=ack.boot_id,
            boot=self.ledger.boot,
            reset_cause=ack.reset_cause,
            capabilities=ack.capabilities,
            uptime_ms=ack.uptime_ms,
            held=ack.held,
        )
        self._last_uptime = (ack.uptime_ms, now)
        self.clock.sample(self._hello_sent, now, ack.uptime_ms)
        session.open(ack.nonce, peer)
        self._hello_at = None
        self._watchdog_at = self._sync_at = now
        self._sync_sent = None
        self.displays.link_up(now, new_boot=new_boot)
        differs = peer.schema_hash != session.schema.hash and peer.minor == session.schema.minor
        session.items.append(LinkUp(peer, new_boot, schema_differs=differs))
        self.poll(now)

    def _begin_boot(self, ack: m.HelloAck) -> None:
        known = self.ledger.boot != 0
        self.ledger.new_boot(ack.boot_id or NO_BOOT_ID | ack.nonce)
        self.clock.reset()
        if known:
            causes = {cause.value: cause.name.lower() for cause in ResetCause}
            self._session.stats.resets[causes.get(ack.reset_cause, str(ack.reset_cause))] += 1
            self._session.items.append(PeerReset(self.ledger.boot, ack.reset_cause, ack.uptime_ms))

    def _is_new_boot(self, boot_id: int, uptime_ms: int, now: int) -> bool:
        known = self.ledger.boot
        if known == 0 or (boot_id != known if boot_id else known <= _U32):
            return True
        if self._last_uptime is None:
            return boot_id == 0
        uptime, then = self._last_uptime
        elapsed = now - then
        behind = signed32(uptime + elapsed // MS - uptime_ms) * MS
        return behind > UPTIME_SLACK + elapsed // 64

    def _on_announce(self, announce: m.Announce, now: int) -> None:
        session = self._session
        if session.state is State.CONNECTING:
            if now >= self._hello_sent + ANNOUNCE_MIN:
                self._hello_at = now
        elif session.state is State.UP:
            reset = self._is_new_boot(announce.boot_id, announce.uptime_ms, now)
            session.down("peer_reset" if reset else "peer_lost")
            self.connect(now)

    # ------------------------------------------------------------------ messages

    def on_message(self, message: Message, payload: bytes, pending: Pending, now: int) -> None:
        """An event or a reply."""
        if message.SPEC.kind is not Kind.EVENT:
            pending.accepted = False
            self._session.items.append(Delivery(message, pending.ticket))
            return
        event_no = int.from_bytes(payload[:4], "little")
        pending.event_no = event_no
        if self.ledger.seen(event_no):
            self._session.stats.events_repeated += 1
            pending.accepted = self.ledger.is_accepted(event_no)
            return
        pending.accepted = False
        uptime = int.from_bytes(payload[4:8], "little")
        self._session.items.append(
            Delivery(message, pending.ticket, event_no, uptime, self.ledger.boot)
        )

    def accept(self, delivery: Delivery) -> None:
        """An event is journaled: also the copy that may have come in a later session."""
        if delivery.event_no is None:
            return
        self.ledger.accept(delivery.boot, delivery.event_no)
        for pending in self._session.receiving.pending:
            if pending.event_no is not None and self.ledger.is_accepted(pending.event_no):
                pending.accepted = True

    def on_datagram(self, message: Message, now: int) -> None:
        """Heartbeat or TimeReply."""
        if isinstance(message, m.TimeReply):
            if self._sync_sent is not None and message.token == self._sync_token:
                self.clock.sample(self._sync_sent, now, message.uptime_ms)
                self._sync_sent = None
        elif isinstance(message, m.Heartbeat):
            self._last_uptime = (message.uptime_ms, now)
            minor = self._session.minor
            ours = display_digest(
                {display_key(d): d.pack(minor) for d in self.displays.desired(minor)}
            )
            if self.displays.compare(message.display_digest, ours, now):
                self._session.items.append(DisplaysDiffer(message.display_digest, ours))

    def on_stale_frame(self, now: int) -> None:
        """Nothing: the device finds out by itself."""

    def on_acknowledged(self, message: Message) -> None:
        """A display shows what was written."""
        if message.SPEC.kind is Kind.SET:
            self.displays.acknowledged(message)

    def on_applied(self, states: list[tuple[Key, bytes]]) -> None:
        """Nothing: the host has no displays."""

    def on_down(self) -> None:
        """Display writes in flight are to be repeated."""
        self.displays.link_down()
        self._hello_at = None

    def waiting(self, kind: Kind) -> bool:
        """Displays wait for their time, not for the line."""
        return False

    def take(self, kind: Kind, now: int) -> tuple[Message, bytes] | None:
        """The next display write."""
        if kind is not Kind.SET:
            return None
        minor = self._session.minor
        message = self.displays.take(now, minor)
        return None if message is None else (message, message.pack(minor))

    # ------------------------------------------------------------------ time

    def poll(self, now: int) -> None:
        """Hello, Watchdog, TimeRequest."""
        session = self._session
        if session.state is State.CONNECTING and self._hello_at is not None:
            if now >= self._hello_at:
                self._write_hello(now)
        elif session.state is State.UP:
            if now >= self._watchdog_at:
                self._watchdog_at = now + WATCHDOG
                session.datagrams.append(m.Watchdog(timeout_ms=WATCHDOG_TIMEOUT // MS))
            if now >= self._sync_at:
                self._sync_at = now + CLOCK_SYNC
                self._sync_token = self._sync_token + 1 & _U32
                self._sync_sent = now
                session.datagrams.append(
                    m.TimeRequest(token=self._sync_token, unix_s=self._wall_clock() & _U32)
                )

    def deadlines(self) -> list[int | None]:
        """When `poll` or a display write is due."""
        session = self._session
        if session.state is State.CONNECTING:
            return [self._hello_at]
        if session.state is not State.UP:
            return []
        display = self.displays.next_due(session.minor) if session.room_for_display() else None
        return [self._watchdog_at, self._sync_at, display, session.last_heard + SILENCE]

    @property
    def silence(self) -> int:
        """How long the device may be silent (µs)."""
        return SILENCE
