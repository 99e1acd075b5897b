"""Frames on the line: COBS between `00` delimiters, CRC-16/CCITT-FALSE, at most 64 octets (SPEC chapter 2).

    wire = encode(control, seq, ack, message_id, payload)      # one frame, delimiter included
    decoder = Decoder(); items = decoder.feed(octets)          # list of Frame and Noise, in order

What is no frame (boot text, `printf`, garbage) comes out as `Noise`: it belongs to the log, not to the error count. Only a chunk
that is whole COBS and fails its CRC counts as a damaged frame. Memory is bounded: at most 63 octets wait for a delimiter.
"""

from __future__ import annotations

import binascii
from typing import NamedTuple

from cobs import cobs

from firmware_protocol.errors import FrameTooLong

MAX_FRAME = 64
"""Octets of a frame on the line, delimiter included: a fixed worst-case buffer on a microcontroller."""
MAX_CHUNK = MAX_FRAME - 1
HEADER = 4
CRC = 2
MAX_PAYLOAD = MAX_FRAME - 2 - HEADER - CRC
"""56: the frame less delimiter, COBS code octet, header and CRC."""
MIN_CHUNK = HEADER + CRC + 1
DELIMITER = b"\0"

DATA, ACK, DATAGRAM, LINK = 1, 2, 3, 4
"""Frame types, low nibble of the control octet; the high nibble is the session."""

_TEXT = frozenset(b"\t\n\r\x1b") | frozenset(range(0x20, 0x7F))
_crc = binascii.crc_hqx
_new = tuple.__new__  # a named tuple's own constructor takes twice as long


class Frame(NamedTuple):
    """A frame that passed every check."""

    control: int
    seq: int
    ack: int
    message_id: int
    payload: bytes

    @property
    def type(self) -> int:
        """DATA, ACK, DATAGRAM or LINK."""
        return self.control & 0x0F

    @property
    def session(self) -> int:
        """Low 4 bits of the nonce of the handshake it belongs to."""
        return self.control >> 4


class Noise(NamedTuple):
    """Octets that are no frame; `damaged` when they looked like one and the CRC was wrong."""

    data: bytes
    damaged: bool


def crc16(data: bytes) -> int:
    """CRC-16/CCITT-FALSE; check value of `123456789` is 0x29B1 (SPEC F-4)."""
    return _crc(data, 0xFFFF)


def encode(control: int, seq: int, ack: int, message_id: int, payload: bytes = b"") -> bytes:
    """One frame as written to the line, delimiter included. Raises FrameTooLong."""
    if len(payload) > MAX_PAYLOAD:
        raise FrameTooLong(
            f"a payload has at most {MAX_PAYLOAD} octets, this one has {len(payload)}",
            value=len(payload),
        )
    body = bytes((control, seq, ack, message_id)) + payload
    stuffed: bytes = cobs.encode(body + _crc(body, 0xFFFF).to_bytes(2, "little"))
    return stuffed + DELIMITER


def parse(chunk: bytes) -> Frame | None:
    """The frame of what stood between two delimiters; None when a check fails."""
    if not MIN_CHUNK <= len(chunk) <= MAX_CHUNK:
        return None
    try:
        body = cobs.decode(chunk)
    except cobs.DecodeError:
        return None
    if _crc(body[:-2], 0xFFFF) != body[-2] | body[-1] << 8:
        return None
    return _new(Frame, (body[0], body[1], body[2], body[3], body[4:-2]))


def is_text(chunk: bytes) -> bool:
    """True for printable ASCII and line ends: what a boot loader or `printf` writes."""
    return _TEXT.issuperset(chunk)


def looks_like_frame(chunk: bytes) -> bool:
    """True when a chunk has the form of a frame (so a wrong CRC is damage, not noise)."""
    if not MIN_CHUNK <= len(chunk) <= MAX_CHUNK or is_text(chunk):
        return False
    try:
        cobs.decode(chunk)
    except cobs.DecodeError:
        return False
    return True


class Decoder:
    """Octets in, frames and noise out, in order. Bounded memory; resynchronises at the next delimiter."""

    def __init__(self) -> None:
        self._rest = b""
        self._overlong = False
        self.frames = 0
        self.crc_errors = 0
        self.noise = 0

    def feed(self, data: bytes) -> list[Frame | Noise]:
        """Items completed by these octets."""
        out: list[Frame | Noise] = []
        chunks = (self._rest + data).split(DELIMITER)
        rest = chunks.pop()
        for chunk in chunks:
            if self._overlong:
                self._overlong = False
                if chunk:
                    out.append(self._noise(chunk, damaged=False))
            elif chunk:
                frame = parse(chunk)
                if frame is None:
                    out.append(self._noise(chunk, damaged=looks_like_frame(chunk)))
                else:
                    self.frames += 1
                    out.append(frame)
        if len(rest) > MAX_CHUNK or (self._overlong and rest):
            self._overlong = True
            out.append(self._noise(rest, damaged=False))
            rest = b""
        self._rest = rest
        return out

    def reset(self) -> None:
        """Forget what waits for a delimiter: the port was opened anew."""
        self._rest = b""
        self._overlong = False

    @property
    def pending(self) -> int:
        """Octets that wait for a delimiter, at most 63."""
        return len(self._rest)

    def _noise(self, chunk: bytes, *, damaged: bool) -> Noise:
        if damaged:
            self.crc_errors += 1
        else:
            self.noise += len(chunk)
        return Noise(chunk, damaged)
