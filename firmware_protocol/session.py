"""What both roles share: frames to and from the windows, queues, the state of the link. Driven by `link.Link`."""

from __future__ import annotations

import struct
from collections import deque
from typing import Protocol

from firmware_protocol import framing
from firmware_protocol import messages as m
from firmware_protocol.deliveries import (
    BadMessage,
    Delivery,
    Item,
    LinkFailed,
    LinkRefused,
    LogBytes,
    Peer,
    State,
    UnknownMessage,
)
from firmware_protocol.errors import FrameTooLong, LinkDown, MalformedMessage, NotSpoken
from firmware_protocol.framing import ACK, DATA, DATAGRAM, LINK, Frame
from firmware_protocol.outgoing import (
    MAY_FILL_WINDOW,
    QUEUED,
    URGENT_FIRST,
    Key,
    Outbox,
)
from firmware_protocol.schema import Direction, Kind, Message, Schema
from firmware_protocol.stats import LinkStats
from firmware_protocol.window import Pending, ReceiveWindow, SendWindow

RECENT = 32


class End(Protocol):
    """What a role adds to a session: `host_end.HostEnd` and `device_end.DeviceEnd`."""

    role: str

    def on_link_message(self, message: Message, now: int) -> None:
        """A handshake message of the other end."""

    def on_message(self, message: Message, payload: bytes, pending: Pending, now: int) -> None:
        """A reliable message in order; `pending.accepted` is True until the role says otherwise."""

    def on_datagram(self, message: Message, now: int) -> None:
        """A datagram of the other end."""

    def on_stale_frame(self, now: int) -> None:
        """A valid frame that belongs to no session of ours."""

    def on_acknowledged(self, message: Message) -> None:
        """The peer accepted this."""

    def on_applied(self, states: list[tuple[Key, bytes]]) -> None:
        """These desired states are in force."""

    def on_down(self) -> None:
        """The session ended."""

    def waiting(self, kind: Kind) -> bool:
        """True when `take` has something that no queue of the session holds."""

    def take(self, kind: Kind, now: int) -> tuple[Message, bytes] | None:
        """The next message and its payload of a kind that the role keeps itself (EVENT, SET)."""

    def poll(self, now: int) -> None:
        """Let time pass."""

    def deadlines(self) -> list[int | None]:
        """When `poll` has something to do."""


class Session:
    """State and queues of one end; `end` is set right after construction."""

    end: End

    def __init__(self, schema: Schema, version: int, window: int, max_frame: int, now: int) -> None:
        self.schema = schema
        self.version = version
        self.window = window
        self.max_frame = max_frame
        self.state = State.DOWN
        self.peer: Peer | None = None
        self.minor = 0
        self.nonce = 0
        self.stats = LinkStats()
        self.last_heard = now
        self.decoder = framing.Decoder()
        self.outbox = Outbox()
        self.sending = SendWindow(self.stats)
        self.receiving = ReceiveWindow(window, self.stats)
        self.datagrams: deque[Message] = deque(maxlen=8)
        self.items: list[Item] = []
        self._raw: list[bytes] = []
        self._recent: deque[tuple[int, str, Frame]] = deque(maxlen=RECENT)

    # ------------------------------------------------------------------ state

    def open(self, nonce: int, peer: Peer) -> None:
        """The handshake is done: both directions begin at 0 with empty windows."""
        self.state = State.UP
        self.peer = peer
        self.minor = min(self.schema.minor, peer.minor)
        self.nonce = nonce
        self.stats.handshakes += 1
        self.receiving.open()
        self.sending.open(min(peer.window, self.window))

    def down(self, reason: str) -> None:
        """Leave UP: tell what becomes of commands; events and desired states stay with their role."""
        unsure = tuple(e.message for e in self.sending.frames if e.message.SPEC.kind in QUEUED)
        unsent = self.outbox.clear()
        self.sending.close()
        self.receiving.open()
        self.datagrams.clear()
        self.state = State.FAILED
        self.stats.failures[reason] += 1
        self.end.on_down()
        self.items.append(LinkFailed(reason, unsent, unsure))

    def refuse(self, major: int, minor: int, version: int) -> None:
        """The peer speaks another major."""
        if self.state is State.UP:
            self.down("peer_hello")
        self.state = State.REFUSED
        firmware = Peer(major, minor, 0, version, 0, 0).version_text
        self.items.append(LinkRefused(str(self.schema), f"{major}.{minor}", firmware))

    def recent(self) -> list[tuple[int, str, bytes]]:
        """The last frames, without COBS and CRC."""
        return [(t, way, bytes(f[:4]) + f.payload) for t, way, f in self._recent]

    # ------------------------------------------------------------------ queueing

    def queue(self, message: Message) -> None:
        """Queue a command, request, reply or datagram for a link that is UP."""
        spec = message.SPEC
        if self.state is not State.UP:
            raise LinkDown(
                f"{spec.name} was not sent: the link is {self.state.value}", value=message
            )
        if spec.since > self.minor:
            raise NotSpoken(
                f"{spec.name} came with minor {spec.since}, the peer speaks {self.minor}",
                value=spec.name,
            )
        payload = message.pack(self.minor)
        if not self.fits(payload):
            raise FrameTooLong(
                f"{spec.name} has {len(payload)} octets, too long for the peer's frames",
                value=message,
            )
        if spec.kind is Kind.DATAGRAM:
            self.datagrams.append(message)
        else:
            self.outbox.put(message)

    def write_link(self, message: Message, nonce: int) -> None:
        """Write a handshake frame; the delimiter in front ends whatever stood on the line before (SPEC F-9)."""
        frame = framing.encode((nonce & 0x0F) << 4 | LINK, 0, 0, message.SPEC.id, message.pack())
        self._raw.append(framing.DELIMITER + frame)
        self.stats.frames_sent += 1

    def fits(self, payload: bytes) -> bool:
        """True when the peer takes frames with this payload."""
        longest = self.peer.max_frame if self.peer is not None else framing.MAX_FRAME
        return len(payload) <= framing.MAX_PAYLOAD - (framing.MAX_FRAME - longest)

    # ------------------------------------------------------------------ receiving

    def feed(self, data: bytes, now: int) -> None:
        """Octets from the line."""
        stats = self.stats
        stats.octets_received += len(data)
        for item in self.decoder.feed(data):
            if isinstance(item, Frame):
                stats.frames_received += 1
                self._recent.append((now, "rx", item))
                self.last_heard = now
                self._on_frame(item, now)
            else:
                if item.damaged:
                    stats.crc_errors += 1
                else:
                    stats.noise += len(item.data)
                self.items.append(LogBytes(item.data, item.damaged))

    def _on_frame(self, frame: Frame, now: int) -> None:
        kind = frame.control & 0x0F
        if kind == LINK:
            self._on_link_frame(frame, now)
        elif self.state is not State.UP or frame.control >> 4 != self.nonce & 0x0F:
            self.stats.stale += 1
            self.end.on_stale_frame(now)
        elif kind in (DATA, DATAGRAM, ACK):
            for message in self.sending.on_ack(frame.ack, now):
                self.end.on_acknowledged(message)
            if kind == DATA:
                pending = self.receiving.take(frame.seq)
                if pending is not None:
                    self._on_data(frame, pending, now)
                    self.release()
            elif kind == DATAGRAM:
                self._on_datagram(frame, now)
            else:
                self.sending.on_received(frame.seq)
        else:
            self.stats.unknown += 1

    def _on_link_frame(self, frame: Frame, now: int) -> None:
        cls = self._incoming(frame.message_id)
        if cls is None or cls.SPEC.kind is not Kind.LINK:
            self.stats.unknown += 1
            return
        message = self._foreign(cls, frame.payload) or self._unpack(cls, frame, frame.payload)
        if message is not None:
            self.end.on_link_message(message, now)

    def _foreign(self, cls: type[Message], payload: bytes) -> Message | None:
        """A handshake message of another major, read by its head alone: the rest may mean anything (SPEC V-2)."""
        head = struct.Struct("<IBB" if cls.SPEC.fields[0].name == "nonce" else "<BB")
        if len(payload) < head.size:
            return None
        values = head.unpack_from(payload)
        if values[-2] == self.schema.major:
            return None
        try:
            return cls.SPEC.unpack(payload)
        except MalformedMessage:
            return cls(*values, *(0 for _ in cls.SPEC.fields[len(values) :]))

    def _on_data(self, frame: Frame, pending: Pending, now: int) -> None:
        cls = self._incoming(frame.message_id)
        if cls is None or cls.SPEC.kind in (Kind.LINK, Kind.DATAGRAM):
            self.stats.unknown += 1
            self.items.append(UnknownMessage(frame.message_id, frame.payload))
            return
        skip = m.EVENT_HEADER if cls.SPEC.kind is Kind.EVENT else 0
        message = self._unpack(cls, frame, frame.payload[skip:] if skip else frame.payload, skip)
        if message is not None:
            self.end.on_message(message, frame.payload, pending, now)

    def _on_datagram(self, frame: Frame, now: int) -> None:
        cls = self._incoming(frame.message_id)
        if cls is None or cls.SPEC.kind is not Kind.DATAGRAM:
            self.stats.unknown += 1
            return
        message = self._unpack(cls, frame, frame.payload)
        if message is not None:
            self.end.on_datagram(message, now)
            self.items.append(Delivery(message))

    def _incoming(self, message_id: int) -> type[Message] | None:
        """The message of an id that the other end may send."""
        cls = self.schema.by_id.get(message_id)
        if cls is None or (
            cls.SPEC.direction is not Direction.BOTH and cls.SPEC.sent_by(self.end.role)
        ):
            return None
        return cls

    def _unpack(
        self, cls: type[Message], frame: Frame, body: bytes, at_least: int = 0
    ) -> Message | None:
        try:
            if len(frame.payload) < at_least:
                raise MalformedMessage(
                    f"{cls.SPEC.name} ends before its event header", value=frame.payload.hex()
                )
            return cls.SPEC.unpack(body)
        except MalformedMessage as error:
            self.stats.malformed += 1
            self.items.append(BadMessage(frame.message_id, frame.payload, error))
            return None

    def release(self) -> None:
        """Acknowledge what is accepted."""
        applied = self.receiving.release()
        if applied:
            self.end.on_applied(applied)

    # ------------------------------------------------------------------ writing

    def wants_to_send(self) -> bool:
        """True when `data_to_send` has something at once."""
        if self._raw:
            return True
        return self.state is State.UP and (
            bool(self.datagrams)
            or self.receiving.ack_due
            or self.sending.resend
            or any(
                self._room(kind)
                and ((kind in QUEUED and self.outbox.waiting(kind)) or self.end.waiting(kind))
                for kind in URGENT_FIRST
            )
        )

    def room_for_display(self) -> bool:
        """True when the window lets a display write out."""
        return self._room(Kind.SET)

    def _room(self, kind: Kind) -> bool:
        return self.sending.room(0 if kind in MAY_FILL_WINDOW else 1)

    def data_to_send(self, now: int) -> bytes:
        """Octets for the line, most urgent first."""
        out, self._raw = self._raw, []
        if self.state is State.UP:
            if self.sending.resend:
                out.append(framing.DELIMITER)
                for entry in self.sending.repeat():
                    out.append(
                        self._frame(DATA, entry.seq, entry.message.SPEC.id, entry.payload, now)
                    )
            self._write_new(out, now)
            while self.datagrams:
                message = self.datagrams.popleft()
                out.append(self._frame(DATAGRAM, 0, message.SPEC.id, message.pack(self.minor), now))
            if self.receiving.ack_due:
                out.append(self._frame(ACK, self.receiving.next, 0, b"", now))
        data = out[0] if len(out) == 1 else b"".join(out)
        self.stats.octets_sent += len(data)
        return data

    def _write_new(self, out: list[bytes], now: int) -> None:
        for kind in URGENT_FIRST:
            while self._room(kind):
                taken = self._take(kind, now)
                if taken is None:
                    break
                message, payload = taken
                seq = self.sending.add(message, payload, now)
                out.append(self._frame(DATA, seq, message.SPEC.id, payload, now))

    def _take(self, kind: Kind, now: int) -> tuple[Message, bytes] | None:
        if kind not in QUEUED:
            return self.end.take(kind, now)
        if not self.outbox.waiting(kind):
            return None
        message = self.outbox.take(kind)
        return message, message.pack(self.minor)

    def _frame(self, kind: int, seq: int, message_id: int, payload: bytes, now: int) -> bytes:
        self.receiving.ack_due = False
        self.stats.frames_sent += 1
        control = (self.nonce & 0x0F) << 4 | kind
        frame = Frame(control, seq, self.receiving.ack, message_id, payload)
        self._recent.append((now, "tx", frame))
        return framing.encode(*frame)
