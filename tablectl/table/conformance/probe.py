"""A host made of bare frames: it can say anything at any moment, also what no host would."""

from __future__ import annotations

import os
import random
import select
import time
from collections import deque
from collections.abc import Callable
from typing import Any, Protocol, Self, TypeVar

from firmware_protocol import framing
from firmware_protocol import messages as m
from firmware_protocol.framing import ACK, DATA, DATAGRAM, LINK, Frame
from firmware_protocol.schema import Kind, Message
from tablectl.table.options import PortOptions
from tablectl.table.port import close_blocking, open_blocking

T = TypeVar("T", bound=Message)

ANSWER = 0.8
"""Seconds for an answer: far above the line's 25 ms and a slow board's loop, below the second beat."""
SHORT = 0.25
"""Seconds to be sure that nothing comes."""
WATCHDOG_MS = 500
SESSION_GONE = 0.7
"""Seconds after a Watchdog of 500 ms until the device has given its session up."""


class Failed(Exception):  # noqa: N818 - a check's verdict, not an error of ours
    """The device does not do what the sentence says; the text says what it did instead."""


class NotTried(Exception):  # noqa: N818 - a check's verdict
    """This device, or this line, does not let the sentence be tried; the text says why."""


def demand(ok: object, text: str) -> None:
    """Raise Failed with this text unless it is so."""
    if not ok:
        raise Failed(text)


class Line(Protocol):
    """Octets of a device, and the clock they are timed by."""

    def read(self, seconds: float) -> bytes:
        """What comes within that time; returns at the first octets. Raises OSError when lost."""
        ...

    def write(self, data: bytes) -> None:
        """Write all of it."""
        ...

    def now(self) -> float:
        """Seconds of a monotonic clock."""
        ...

    def close(self) -> None:
        """Close it."""
        ...


class PortLine:
    """Blocking access to an opened port. Raises PortError at opening."""

    def __init__(self, options: PortOptions) -> None:
        self._opened = open_blocking(options)

    def read(self, seconds: float) -> bytes:
        """What comes within that time; returns at the first octets. Raises OSError when lost."""
        fd = self._opened.fd
        if fd is None:
            self._opened.serial.timeout = seconds
            data = bytes(self._opened.serial.read(1))
            return (
                data + bytes(self._opened.serial.read(self._opened.serial.in_waiting))
                if data
                else b""
            )
        ready, _, _ = select.select([fd], [], [], max(seconds, 0))
        if not ready:
            return b""
        data = os.read(fd, 4096)
        if not data:
            raise OSError("the other end hung up")
        return data

    def write(self, data: bytes) -> None:
        """Write all of it."""
        fd = self._opened.fd
        if fd is None:
            self._opened.serial.write(data)
            return
        while data:
            _, ready, _ = select.select([], [fd], [], 5)
            if not ready:
                raise OSError("the device takes no octets")
            data = data[os.write(fd, data) :]

    @staticmethod
    def now() -> float:
        """The host's monotonic clock."""
        return time.monotonic()

    def close(self) -> None:
        """Close the port."""
        close_blocking(self._opened)


class Probe:
    """One end of the wire, driven by hand."""

    def __init__(self, line: Line, rng: random.Random, *, moving: bool = False) -> None:
        self._line = line
        self.moving = moving
        """Checks may roll the dice."""
        self._rng = rng
        self._decoder = framing.Decoder()
        self._waiting: deque[Frame] = deque()
        self.damaged = 0
        self.session = 0
        self.nonce = 0
        self.hello: m.HelloAck | None = None
        self.seq = 0
        """Number of our next DATA frame."""
        self.expected = 0
        """Number of the device's next DATA frame."""
        self.acknowledging = True
        """Answer each DATA frame at once."""
        self._watchdog_at = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self._line.close()

    def now(self) -> float:
        """The line's clock."""
        return self._line.now()

    # ------------------------------------------------------------------ out

    def raw(self, data: bytes) -> None:
        """Octets as they are."""
        self._line.write(data)

    def frame(self, kind: int, seq: int, ack: int, message_id: int, payload: bytes = b"", *,
              session: int | None = None) -> bytes:  # fmt: skip
        """A frame of the session."""
        nibble = self.session if session is None else session
        return framing.encode(nibble << 4 | kind, seq & 0xFF, ack & 0xFF, message_id, payload)

    def send(self, message: Message, **more: Any) -> int:
        """A message as its kind wants it; returns the seq of a DATA frame."""
        if message.SPEC.kind is Kind.DATAGRAM:
            self.raw(
                self.frame(DATAGRAM, 0, self.expected, message.SPEC.id, message.pack(), **more)
            )
            return -1
        return self.data(message.SPEC.id, message.pack(), **more)

    def data(self, message_id: int, payload: bytes, **more: Any) -> int:
        """The next DATA frame; returns its seq."""
        seq = self.seq
        self.seq = seq + 1 & 0xFF
        self.raw(self.frame(DATA, seq, self.expected, message_id, payload, **more))
        return seq

    def acknowledge(self) -> None:
        """An ACK frame as it holds now."""
        self.raw(self.frame(ACK, self.expected, self.expected, 0))

    # ------------------------------------------------------------------ in

    def next(self, seconds: float) -> Frame | None:
        """The next frame within that time."""
        until = self.now() + seconds
        while not self._waiting:
            left = until - self.now()
            if left <= 0:
                return None
            self._keep_watch()
            for item in self._decoder.feed(self._line.read(min(left, 0.2))):
                if isinstance(item, Frame):
                    self._waiting.append(item)
                elif item.damaged:
                    self.damaged += 1
        frame = self._waiting.popleft()
        due = frame.type == DATA and frame.session == self.session and frame.seq == self.expected
        if due and self.acknowledging:
            self.expected = self.expected + 1 & 0xFF
            self.acknowledge()
        return frame

    def _keep_watch(self) -> None:
        now = self.now()
        if self._watchdog_at and now >= self._watchdog_at:
            self._watchdog_at = now + 1.0
            self.send(m.Watchdog(timeout_ms=5000))

    def all(self, seconds: float) -> list[Frame]:
        """Every frame within that time."""
        until = self.now() + seconds
        found = []
        while (left := until - self.now()) > 0:
            frame = self.next(left)
            if frame is not None:
                found.append(frame)
        return found

    def wait(self, fits: Callable[[Frame], bool], what: str, seconds: float = ANSWER) -> Frame:
        """The next frame that fits; others are passed over. Raises Failed."""
        until = self.now() + seconds
        while (left := until - self.now()) > 0:
            frame = self.next(left)
            if frame is not None and fits(frame):
                return frame
        raise Failed(f"no {what} within {seconds:g} s")

    def expect(self, cls: type[T], seconds: float = ANSWER, *,
               fits: Callable[[T], bool] = lambda _m: True) -> T:  # fmt: skip
        """The next message of a class (that fits). Raises Failed."""
        found: list[T] = []

        def is_it(frame: Frame) -> bool:
            message = self.message(frame)
            if isinstance(message, cls) and fits(message):
                found.append(message)
                return True
            return False

        self.wait(is_it, cls.SPEC.name, seconds)
        return found[0]

    def message(self, frame: Frame) -> Message | None:
        """The message of a frame, None when it has none or it does not fit its declaration."""
        cls = m.SCHEMA.by_id.get(frame.message_id)
        if cls is None or frame.type == ACK:
            return None
        skip = m.EVENT_HEADER if cls.SPEC.kind is Kind.EVENT else 0
        try:
            return cls.unpack(frame.payload[skip:])
        except Exception:  # noqa: BLE001 - a payload that does not fit is no message
            return None

    @staticmethod
    def event_no(frame: Frame) -> int:
        """event_no of an event's frame."""
        return int.from_bytes(frame.payload[:4], "little")

    # ------------------------------------------------------------------ sessions

    def new_nonce(self) -> int:
        """A nonce whose low 4 bits differ from the last one's (H-2)."""
        while True:
            nonce = self._rng.getrandbits(32)
            if nonce & 0x0F != self.nonce & 0x0F:
                return nonce

    def say_hello(self, nonce: int, *, major: int = m.MAJOR, boot_id: int = 0, event_no: int = 0,
                  window: int = 4) -> None:  # fmt: skip
        """A Hello, nothing else."""
        hello = m.Hello(
            nonce,
            major,
            m.MINOR,
            m.SCHEMA.hash,
            0x01000000,
            framing.MAX_FRAME,
            window,
            boot_id,
            event_no,
        )
        octets = framing.encode((nonce & 0x0F) << 4 | LINK, 0, 0, m.Hello.SPEC.id, hello.pack())
        self.raw(framing.DELIMITER + octets)

    def open(self, *, boot_id: int = 0, event_no: int = 0, window: int = 4) -> m.HelloAck:
        """A new session; repeated until the device answers (it may be starting)."""
        self._watchdog_at = 0.0
        self.acknowledging = True
        for _ in range(6):
            ack = self._knock(boot_id, event_no, window)
            if ack is not None:
                self.hello = ack
                self._watchdog_at = self.now()
                return ack
        raise Failed("no HelloAck to six Hello")

    def _knock(self, boot_id: int, event_no: int, window: int) -> m.HelloAck | None:
        nonce = self.new_nonce()
        self.nonce, self.session = nonce, nonce & 0x0F
        self.seq = self.expected = 0
        self._waiting.clear()
        self.say_hello(nonce, boot_id=boot_id, event_no=event_no, window=window)
        try:
            return self.expect(m.HelloAck, 1.0, fits=lambda a: a.nonce == nonce)
        except Failed:
            return None

    def end(self) -> None:
        """Leave the device without a session: promise to be silent, and be."""
        self.send(m.Watchdog(timeout_ms=WATCHDOG_MS))
        self._watchdog_at = 0.0
        self.all(SESSION_GONE)

    def echo(self, token: int, data: bytes = b"ping") -> None:
        """A TestEcho and its answer."""
        self.send(m.TestEcho(token, data))
        reply = self.expect(m.TestEchoReply, fits=lambda r: r.token == token)
        demand(reply.data == data, f"TestEcho of {data.hex()} came back as {reply.data.hex()}")
