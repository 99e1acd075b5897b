"""The two halves of a reliable direction: what was written and waits, what was read and waits (SPEC chapter 3).

Go-back-N with 8-bit sequence numbers and cumulative acknowledgements: the receiver keeps nothing out of order, which is what a
microcontroller can afford; the sender repeats all that is in flight when its timer runs out.
"""

from __future__ import annotations

import dataclasses
from collections import deque

from firmware_protocol.outgoing import Key
from firmware_protocol.schema import Message
from firmware_protocol.stats import LinkStats
from firmware_protocol.timing import TRIES, RetransmissionTimer


@dataclasses.dataclass(slots=True)
class InFlight:
    """A reliable frame between writing and acknowledgement."""

    seq: int
    message: Message
    payload: bytes
    sent: int
    again: bool = False
    """Written more than once: tells nothing about the round trip (Karn)."""


class SendWindow:
    """Frames written and not yet acknowledged, and the one timer that guards them."""

    def __init__(self, stats: LinkStats) -> None:
        self._stats = stats
        self.frames: deque[InFlight] = deque()
        self.open(1)

    def open(self, size: int) -> None:
        """A new session: sequence number 0, the peer takes `size` frames."""
        self.size = size
        self.frames.clear()
        self._next = 0
        self._rtt = RetransmissionTimer()
        self._tries = 0
        self.timer: int | None = None
        self.resend = False

    def close(self) -> None:
        """No session: nothing is in flight."""
        self.frames.clear()
        self.timer = None
        self.resend = False

    def room(self, reserve: int) -> bool:
        """True when a frame may be written and `reserve` places stay free (none of a window of one)."""
        return len(self.frames) < (self.size - reserve if self.size > 1 else 1)

    def add(self, message: Message, payload: bytes, now: int) -> int:
        """A frame is written for the first time; returns its sequence number."""
        seq = self._next
        self._next = seq + 1 & 0xFF
        self.frames.append(InFlight(seq, message, payload, now))
        if self.timer is None:
            self.timer = now + self._rtt.rto
        return seq

    def on_ack(self, ack: int, now: int) -> list[Message]:
        """Messages that a cumulative acknowledgement covers; one outside the window is counted and ignored (SPEC L-8)."""
        frames = self.frames
        if not frames:
            self._stats.bad_acks += ack != self._next
            return []
        count = ack - frames[0].seq & 0xFF
        if count > len(frames):
            self._stats.bad_acks += 1
            return []
        if not count:
            return []
        acked = [frames.popleft() for _ in range(count)]
        fresh = next((entry.sent for entry in reversed(acked) if not entry.again), None)
        if fresh is not None:
            self._rtt.sample(now - fresh)
            self._stats.round_trips.append(now - fresh)
        self._tries = 0
        self.timer = now + self._rtt.rto if frames else None
        self.resend = self.resend and bool(frames)
        return [entry.message for entry in acked]

    def on_received(self, following: int) -> None:
        """The peer has frames before this number and cannot accept them yet: patience, not failure (SPEC L-14)."""
        if self.frames and 0 < (following - self.frames[0].seq & 0xFF) <= len(self.frames):
            self._tries = 0

    def on_timeout(self, now: int) -> bool:
        """The timer ran out: repeat all; False after five tries."""
        self._tries += 1
        self._stats.timeouts += 1
        if self._tries >= TRIES:
            return False
        self._rtt.back_off()
        self.timer = now + self._rtt.rto
        self.resend = True
        return True

    def repeat(self) -> list[InFlight]:
        """All frames in flight, in order, to be written again."""
        self.resend = False
        for entry in self.frames:
            entry.again = True
        self._stats.retransmits += len(self.frames)
        return list(self.frames)


@dataclasses.dataclass(slots=True)
class Pending:
    """A reliable frame between receiving and accepting."""

    ticket: int
    event_no: int | None = None
    applied: tuple[Key, bytes] | None = None
    """A desired state that is in force once accepted: its display and its payload as it came."""
    accepted: bool = True


class ReceiveWindow:
    """Frames read in order and not yet accepted; the acknowledgement follows acceptance."""

    def __init__(self, size: int, stats: LinkStats) -> None:
        self._size = size
        self._stats = stats
        self._ticket = 0
        self.pending: deque[Pending] = deque()
        self.open()

    def open(self) -> None:
        """A new session: sequence number 0."""
        self.next = 0
        """Sequence number of the next frame in order."""
        self.pending.clear()
        self.ack_due = False

    @property
    def ack(self) -> int:
        """Cumulative acknowledgement: the first number that is not accepted."""
        return self.next - len(self.pending) & 0xFF

    def take(self, seq: int) -> Pending | None:
        """A frame came; None when it is not the next one, or when the peer overruns the window."""
        offset = seq - self.next & 0xFF
        if offset:
            self.ack_due = True
            if offset >= 256 - self._size:
                self._stats.duplicates += 1
            else:
                self._stats.out_of_order += 1
            return None
        if len(self.pending) >= self._size:
            self._stats.overruns += 1
            return None
        self.next = seq + 1 & 0xFF
        self._ticket += 1
        pending = Pending(self._ticket)
        self.pending.append(pending)
        return pending

    def release(self) -> list[tuple[Key, bytes]]:
        """Drop accepted frames from the front; returns the desired states that came into force."""
        applied = []
        while self.pending and self.pending[0].accepted:
            state = self.pending.popleft().applied
            if state is not None:
                applied.append(state)
            self.ack_due = True
        return applied
