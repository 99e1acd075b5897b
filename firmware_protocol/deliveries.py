"""What a link hands to its owner: received messages, and what became of the link itself."""

from __future__ import annotations

import dataclasses
import enum

from firmware_protocol.errors import MalformedMessage
from firmware_protocol.schema import Message


class State(enum.Enum):
    """Life of a link (SPEC chapter 4)."""

    DOWN = "down"  # nothing tried yet
    CONNECTING = "connecting"  # host: Hello goes out; device: Announce goes out
    UP = "up"
    FAILED = "failed"  # sends are refused until a new handshake
    REFUSED = "refused"  # the peer speaks another major


@dataclasses.dataclass(frozen=True, slots=True)
class Peer:
    """What the handshake told about the other end. Fields that a role does not tell are 0."""

    major: int
    minor: int
    schema_hash: int
    version: int
    window: int
    max_frame: int
    boot_id: int = 0
    boot: int = 0
    """Key of this start of the device for the journal: boot_id, or above 2**32 for a board that has none."""
    reset_cause: int = 0
    capabilities: int = 0
    uptime_ms: int = 0
    held: int = 0

    @property
    def version_text(self) -> str:
        """Software version as people write it."""
        return ".".join(str(self.version >> shift & 0xFF) for shift in (24, 16, 8))


@dataclasses.dataclass(frozen=True, slots=True)
class Delivery:
    """A message from the peer. Reliable ones are acknowledged when the owner calls `link.accept(delivery)`."""

    message: Message
    ticket: int = 0
    """0: a datagram, nothing to accept."""
    event_no: int | None = None
    uptime_ms: int | None = None
    """Device clock when the event happened; `link.clock.to_host()` turns it into host time."""
    boot: int = 0
    """Peer.boot of the device that sent the event: unique together with event_no."""


@dataclasses.dataclass(frozen=True, slots=True)
class UnknownMessage:
    """A message id that this version does not have: acknowledged, counted, ignored (SPEC V-5)."""

    message_id: int
    payload: bytes


@dataclasses.dataclass(frozen=True, slots=True)
class BadMessage:
    """A frame in order whose payload does not fit its declaration: acknowledged, counted, for the log."""

    message_id: int
    payload: bytes
    error: MalformedMessage


@dataclasses.dataclass(frozen=True, slots=True)
class LogBytes:
    """Octets that were no frame: boot text, printf, garbage; `damaged` when it had been a frame."""

    data: bytes
    damaged: bool


@dataclasses.dataclass(frozen=True, slots=True)
class LinkUp:
    """The handshake is done. `new_boot`: read the whole state, nothing earlier holds."""

    peer: Peer
    new_boot: bool
    schema_differs: bool
    """Same versions, other declaration: a warning, not an obstacle (SPEC V-4)."""


@dataclasses.dataclass(frozen=True, slots=True)
class LinkFailed:
    """The link went down. `unsent` was never written; `unsure` was written and not acknowledged: its fate is unknown."""

    reason: str  # tries | silent | peer_reset | peer_lost | peer_hello | reset
    unsent: tuple[Message, ...] = ()
    unsure: tuple[Message, ...] = ()


@dataclasses.dataclass(frozen=True, slots=True)
class PeerReset:
    """The device started anew: outcomes in flight are unknown. Comes before the LinkUp."""

    boot: int
    cause: int
    uptime_ms: int


@dataclasses.dataclass(frozen=True, slots=True)
class LinkRefused:
    """The majors differ: nothing but a new firmware or a new host helps."""

    ours: str
    theirs: str
    firmware: str


@dataclasses.dataclass(frozen=True, slots=True)
class DisplaysDiffer:
    """Two heartbeats in a row showed other displays than were written; they are being written again."""

    device: int
    host: int


Item = (
    Delivery
    | UnknownMessage
    | BadMessage
    | LogBytes
    | LinkUp
    | LinkFailed
    | PeerReset
    | LinkRefused
    | DisplaysDiffer
)
