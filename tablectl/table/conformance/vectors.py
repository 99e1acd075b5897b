"""The checked-in link vectors, played to a real device in real time."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib import resources
from typing import Any

from firmware_protocol import framing
from firmware_protocol import messages as m
from firmware_protocol.framing import LINK, Frame
from tablectl.table.conformance.probe import Failed, NotTried, Probe

OWN = frozenset(
    cls.SPEC.id for cls in (m.HelloAck, m.Heartbeat, m.Announce, m.TimeReply, m.ActionResult)
)
"""Messages whose fields are the device's own: only their coming is compared."""
BESIDES = frozenset({m.Heartbeat.SPEC.id, m.Announce.SPEC.id})
"""Messages whose moment depends on when the device began."""
SLACK = 0.2
"""Seconds a real device and a real line may be late."""
LONG_MS = 4000
"""Scripts with longer waits are left to the checks, which measure the gaps."""


def link_vectors() -> list[dict[str, Any]]:
    """The scripts of the protocol version in use."""
    folder = resources.files("firmware_protocol") / "vectors" / f"{m.MAJOR}.{m.MINOR}"
    return list(json.loads((folder / "link.json").read_text("utf-8"))["vectors"])


def play(p: Probe, vector: dict[str, Any]) -> None:
    """Play one script. Raises Failed with the first step that differs, NotTried."""
    steps = vector["steps"]
    if not any("in" in step for step in steps):
        raise NotTried("needs a device that has just started")
    if steps[-1]["at_ms"] > LONG_MS:
        raise NotTried(
            "its waits depend on round trips measured before: see the checks L-9 to L-14"
        )
    p.open()
    p.end()
    p.acknowledging = False
    session = _Session(p)
    begun = p.now() - steps[0]["at_ms"] / 1000
    for index, step in enumerate(steps):
        at = begun + step["at_ms"] / 1000
        _pass(p, at)
        if "in" in step:
            p.raw(session.translate(bytes.fromhex(step["in"])))
        last = index + 1 == len(steps)
        until = p.now() + SLACK if last else begun + steps[index + 1]["at_ms"] / 1000 - 0.002
        wanted = [
            _shape(session.expected(frame)) for frame in step["out"] if frame["id"] not in BESIDES
        ]
        until = max(until, p.now() + (SLACK if wanted else 0.02))
        seen = _collect(p, wanted, until)
        # Between two steps of a script a real line may take longer: shift the rest of it.
        begun += max(0.0, p.now() - at - _planned(steps, index))
        if seen != sorted(wanted):
            raise Failed(
                f"step {index + 1} ({step['at_ms']} ms): got {_text(seen)}, not {_text(wanted)}"
            )


def _planned(steps: list[dict[str, Any]], index: int) -> float:
    if index + 1 == len(steps):
        return 0.0
    return float(steps[index + 1]["at_ms"] - steps[index]["at_ms"]) / 1000


def _pass(p: Probe, until: float) -> None:
    while (left := until - p.now()) > 0:
        p.next(left)


def _collect(p: Probe, wanted: list[tuple[Any, ...]], until: float) -> list[tuple[Any, ...]]:
    seen: list[tuple[Any, ...]] = []
    while (left := until - p.now()) > 0:
        frame = p.next(left)
        if frame is not None and frame.message_id not in BESIDES:
            seen.append(_shape(frame))
            if len(seen) == len(wanted):
                until = min(until, p.now() + 0.05)
    return sorted(seen)


def _shape(frame: Frame) -> tuple[Any, ...]:
    payload = b"" if frame.message_id in OWN else frame.payload
    session = 0 if frame.type == LINK else frame.session
    return (session, frame.type, frame.seq, frame.ack, frame.message_id, payload)


def _text(shapes: list[tuple[Any, ...]]) -> str:
    names = {1: "DATA", 2: "ACK", 3: "DATAGRAM", 4: "LINK"}
    told = []
    for _, kind, seq, ack, message_id, _ in shapes:
        cls = m.SCHEMA.by_id.get(message_id)
        name = cls.SPEC.name if cls is not None else f"0x{message_id:02x}"
        told.append(f"{names.get(kind, kind)} {name if kind != 2 else ''} seq {seq} ack {ack}")
    return ", ".join(told) or "nothing"


class _Session:
    """The scripts have nonces of their own: put ours in their place, for a device remembers them."""

    def __init__(self, p: Probe) -> None:
        self._p = p
        self._nonces: dict[int, int] = {}
        self._nibbles: dict[int, int] = {}

    def translate(self, octets: bytes) -> bytes:
        """The octets of a step with our session in them; what is no frame stays as it is."""
        frames = list(self._frames(octets))
        if not frames:
            return octets
        return b"".join(framing.encode(*self._ours(frame)) for frame in frames)

    def expected(self, frame: dict[str, Any]) -> Frame:
        """A frame the device should write, in our session."""
        control = frame["control"]
        nibble = self._nibbles.get(control >> 4, control >> 4)
        payload = bytes.fromhex(frame["payload"])
        return Frame(nibble << 4 | control & 0x0F, frame["seq"], frame["ack"], frame["id"], payload)

    @staticmethod
    def _frames(octets: bytes) -> Iterator[Frame]:
        for item in framing.Decoder().feed(octets):
            if isinstance(item, Frame):
                yield item

    def _ours(self, frame: Frame) -> Frame:
        if frame.type == LINK and frame.message_id == m.Hello.SPEC.id:
            theirs = int.from_bytes(frame.payload[:4], "little")
            if theirs not in self._nonces:
                nonce = self._p.new_nonce()
                self._p.nonce, self._p.session = nonce, nonce & 0x0F
                self._nonces[theirs] = nonce
                self._nibbles[theirs & 0x0F] = nonce & 0x0F
            nonce = self._nonces[theirs]
            payload = nonce.to_bytes(4, "little") + frame.payload[4:]
            return frame._replace(control=(nonce & 0x0F) << 4 | LINK, payload=payload)
        nibble = self._nibbles.get(frame.session)
        if nibble is None:
            # A session the script never opened: any other than ours.
            nibble = (self._p.session + 7) & 0x0F
        return frame._replace(control=nibble << 4 | frame.type)
