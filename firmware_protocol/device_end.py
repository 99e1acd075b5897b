"""The device's role: it announces itself, numbers and keeps events, does each action once, tells how it is."""

from __future__ import annotations

import dataclasses

from firmware_protocol import messages as m
from firmware_protocol.deliveries import Delivery, LinkUp, Peer, State
from firmware_protocol.errors import FrameTooLong
from firmware_protocol.memory import ActionMemory, DisplayMemory, EventBuffer
from firmware_protocol.outgoing import Key, display_key
from firmware_protocol.schema import DEVICE, Kind, Message
from firmware_protocol.session import Session
from firmware_protocol.timing import (
    ANNOUNCE,
    ANNOUNCE_MIN,
    HEARTBEAT,
    MS,
    WATCHDOG_TIMEOUT,
    signed32,
)
from firmware_protocol.vocabulary import ActionState, Result
from firmware_protocol.window import Pending

_U32 = 0xFFFFFFFF


@dataclasses.dataclass(frozen=True, slots=True)
class Identity:
    """What a device tells about this start."""

    boot_id: int
    reset_cause: int
    capabilities: int


class DeviceEnd:
    """Device side of a session."""

    role = DEVICE

    def __init__(self, session: Session, identity: Identity, capacity: int, now: int) -> None:
        self._session = session
        self._identity = identity
        self._boot_us = now
        self.events = EventBuffer(capacity)
        self.actions = ActionMemory()
        self._shown = DisplayMemory()
        self._announce_at = now
        self._announced: int | None = None
        self._heartbeat_at = now
        self.silence = WATCHDOG_TIMEOUT
        self.state_digest = 0
        self.status = 0
        session.state = State.CONNECTING

    def uptime_ms(self, now: int) -> int:
        """Milliseconds since boot, u32."""
        return (now - self._boot_us) // MS & _U32

    # ------------------------------------------------------------------ handshake

    def on_link_message(self, message: Message, now: int) -> None:
        """Hello."""
        if not isinstance(message, m.Hello):
            return
        session = self._session
        if message.major != session.schema.major:
            session.refuse(message.major, message.minor, message.version)
            self._write_hello_ack(message.nonce, now)
            return
        if message.nonce == session.nonce and session.state in (State.UP, State.FAILED):
            # A copy of the Hello that opened this session: it must not begin anew (SPEC H-6).
            if session.state is State.UP:
                self._write_hello_ack(message.nonce, now)
            return
        if session.state is State.UP:
            session.down("peer_hello")
        peer = Peer(
            major=message.major,
            minor=message.minor,
            schema_hash=message.schema_hash,
            version=message.version,
            window=message.window,
            max_frame=message.max_frame,
        )
        # A board without boot_id may have started anew unseen: its numbers mean nothing to the host (SPEC E-4).
        same_boot = message.boot_id == self._identity.boot_id != 0 and message.event_no != 0
        self.events.link_up(message.event_no if same_boot else None)
        session.open(message.nonce, peer)
        self._heartbeat_at = now
        self.silence = WATCHDOG_TIMEOUT
        self._write_hello_ack(message.nonce, now)
        differs = peer.schema_hash != session.schema.hash and peer.minor == session.schema.minor
        session.items.append(LinkUp(peer, new_boot=False, schema_differs=differs))
        self.poll(now)

    def _write_hello_ack(self, nonce: int, now: int) -> None:
        session = self._session
        ack = m.HelloAck(
            nonce=nonce,
            major=session.schema.major,
            minor=session.schema.minor,
            schema_hash=session.schema.hash,
            version=session.version,
            boot_id=self._identity.boot_id,
            reset_cause=self._identity.reset_cause,
            capabilities=self._identity.capabilities,
            max_frame=session.max_frame,
            window=session.window,
            uptime_ms=self.uptime_ms(now),
            event_no=self.events.event_no,
            held=min(len(self.events), 0xFF),
        )
        session.write_link(ack, nonce)

    def _write_announce(self, now: int) -> None:
        session = self._session
        self._announced = now
        self._announce_at = now + ANNOUNCE
        announce = m.Announce(
            major=session.schema.major,
            minor=session.schema.minor,
            version=session.version,
            boot_id=self._identity.boot_id,
            reset_cause=self._identity.reset_cause,
            uptime_ms=self.uptime_ms(now),
        )
        session.write_link(announce, 0)

    def on_stale_frame(self, now: int) -> None:
        """The host believes in a link that is not: tell it soon."""
        if self._session.state is not State.UP:
            soon = now if self._announced is None else max(now, self._announced + ANNOUNCE_MIN)
            self._announce_at = min(self._announce_at, soon)

    # ------------------------------------------------------------------ messages

    def on_message(self, message: Message, payload: bytes, pending: Pending, now: int) -> None:
        """A command or a request; some the link answers itself."""
        if self._answer(message, now):
            return
        pending.accepted = False
        if message.SPEC.kind is Kind.SET:
            pending.applied = (display_key(message), payload)
        self._session.items.append(Delivery(message, pending.ticket))

    def _answer(self, message: Message, now: int) -> bool:
        if isinstance(message, m.Action | m.Stop):
            return self._repeated(message, now)
        if isinstance(message, m.ActionQuery):
            state, result, detail = self.actions.look_up(message.cmd_id)
            self.reply(
                m.ActionStatus(cmd_id=message.cmd_id, state=state, result=result, detail=detail)
            )
        elif isinstance(message, m.TestEcho):
            self.reply(m.TestEchoReply(token=message.token, data=message.data))
        elif isinstance(message, m.StatsRequest):
            self.reply(self._stats())
        else:
            return False
        return True

    def _repeated(self, message: m.Action | m.Stop, now: int) -> bool:
        """At most once: True when the action is not to be done (again)."""
        cmd_id = message.cmd_id
        state, result, detail = self.actions.look_up(cmd_id)
        if state is ActionState.RUNNING:
            self._session.stats.actions_repeated += 1
            return True
        if state is ActionState.FINISHED:
            self._session.stats.actions_repeated += 1
            self.add_event(
                m.ActionResult(cmd_id=cmd_id, result=result, detail=detail, repeated=1), now
            )
            return True
        if isinstance(message, m.Action) and self._expired(message.deadline_ms, now):
            self.actions.remember(cmd_id)
            self.finish(cmd_id, Result.EXPIRED, 0, now)
            return True
        if not self.actions.remember(cmd_id) and isinstance(message, m.Action):
            self.finish(cmd_id, Result.REFUSED_BUSY, 0, now)
            return True
        self.actions.count += 1
        return False

    def _expired(self, deadline_ms: int, now: int) -> bool:
        return deadline_ms != 0 and signed32(deadline_ms - self.uptime_ms(now)) < 0

    def finish(self, cmd_id: int, result: int, detail: int, now: int) -> int:
        """An action ended: remember and report it."""
        self.actions.finish(cmd_id, result, detail)
        return self.add_event(
            m.ActionResult(cmd_id=cmd_id, result=result, detail=detail, repeated=0), now
        )

    def add_event(self, message: Message, now: int) -> int:
        """Number and keep an event; its number, 0 when there was no room."""
        message.pack()  # a value out of range is the caller's error, here and now
        return self.events.event_no if self.events.add(message, self.uptime_ms(now)) else 0

    def reply(self, message: Message) -> None:
        """Bulk of the device: dropped where it finds no link, no room or too short a frame; it will be asked again (SPEC L-22)."""
        session = self._session
        if session.state is not State.UP or not session.outbox.space(Kind.BULK):
            session.stats.bulk_dropped += 1
            return
        try:
            session.queue(message)
        except FrameTooLong:
            session.stats.bulk_dropped += 1

    def _stats(self) -> m.Stats:
        s = self._session.stats
        return m.Stats(
            frames_received=s.frames_received & _U32,
            frames_sent=s.frames_sent & _U32,
            retransmits=s.retransmits & _U32,
            crc_errors=s.crc_errors & _U32,
            noise=s.noise & _U32,
            links=s.handshakes & 0xFFFF,
            events_lost=min(self.events.lost_total, 0xFFFF),
            buffer_high=min(self.events.high, 0xFF),
            actions=self.actions.count & _U32,
            free_memory=0xFFFF,
        )

    def on_datagram(self, message: Message, now: int) -> None:
        """TimeRequest or Watchdog."""
        if isinstance(message, m.TimeRequest):
            self._session.datagrams.append(
                m.TimeReply(token=message.token, uptime_ms=self.uptime_ms(now))
            )
        elif isinstance(message, m.Watchdog):
            self.silence = message.timeout_ms * MS

    def on_acknowledged(self, message: Message) -> None:
        """The host has an event for good."""
        if message.SPEC.kind is Kind.EVENT:
            self.events.acknowledged()

    def on_applied(self, states: list[tuple[Key, bytes]]) -> None:
        """Displays show something new."""
        self._shown.apply(states)

    def on_down(self) -> None:
        """Announce soon."""
        self._announce_at = self._session.last_heard

    def waiting(self, kind: Kind) -> bool:
        """True when an event waits."""
        return kind is Kind.EVENT and self.events.next_unsent() is not None

    def take(self, kind: Kind, now: int) -> tuple[Message, bytes] | None:
        """The next event that this peer can read."""
        session = self._session
        while kind is Kind.EVENT and (held := self.events.next_unsent()) is not None:
            message = held.message
            header = held.event_no.to_bytes(4, "little") + held.uptime_ms.to_bytes(4, "little")
            payload = header + message.pack(session.minor)
            if message.SPEC.since <= session.minor and session.fits(payload):
                self.events.mark_sent()
                return message, payload
            session.stats.not_spoken += 1
            self.events.drop_unsent()
        return None

    # ------------------------------------------------------------------ time

    def poll(self, now: int) -> None:
        """Announce, Heartbeat, EventsLost."""
        session = self._session
        self.events.tell_lost(self.uptime_ms(now))
        if session.state is not State.UP:
            if now >= self._announce_at:
                self._write_announce(now)
        elif now >= self._heartbeat_at:
            self._heartbeat_at = now + HEARTBEAT
            session.datagrams.append(
                m.Heartbeat(
                    uptime_ms=self.uptime_ms(now),
                    boot_id=self._identity.boot_id,
                    event_no=self.events.event_no,
                    cmd_id=self.actions.last_finished,
                    state_digest=self.state_digest,
                    display_digest=self._shown.digest,
                    status=self.status,
                    events_held=min(len(self.events), 0xFF),
                )
            )

    def deadlines(self) -> list[int | None]:
        """When `poll` has something to do."""
        if self._session.state is State.UP:
            return [self._heartbeat_at, self._session.last_heard + self.silence]
        return [self._announce_at]
