"""The conformance vectors: this version reads them, and they are the ones that were published."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

import firmware_protocol
from firmware_protocol import messages as m
from firmware_protocol.framing import Decoder, Frame, Noise, encode
from firmware_protocol.link import Link
from firmware_protocol.messages import EVENT_HEADER, SCHEMA
from firmware_protocol.schema import Kind
from firmware_protocol.timing import MS
from firmware_protocol.vector_cases import plain_fields

FOLDER = Path(firmware_protocol.__file__).parent / "vectors"
PINNED = {
    "1.0/framing.json": "1f8aec362d94e73202c0fca1e57d9ca20eef7f194e98f82e71cfa0f927004080",
    "1.0/link.json": "20469dafcfe7f73f5e07a85e43d39c121f346e01d85830139870148f227e1036",
    "1.0/messages.json": "9887741cdc604075e503a4ee2085c1c9502731b3bc065dc475f94645e7e04d68",
}
"""SHA-256 of published vectors. They never change: a firmware out there was built by them."""


def vectors(name: str) -> list[dict[str, Any]]:
    """Entries of a vector file of every minor."""
    out: list[dict[str, Any]] = []
    for path in sorted(FOLDER.glob(f"*/{name}")):
        out += json.loads(path.read_text(encoding="utf-8"))["vectors"]
    return out


def test_published_vectors_are_unchanged() -> None:
    found = {
        str(p.relative_to(FOLDER)): hashlib.sha256(p.read_bytes()).hexdigest()
        for p in sorted(FOLDER.glob("*/*.json"))
    }
    assert {name: found.get(name) for name in PINNED} == PINNED
    unpinned = [name for name in found if name not in PINNED]
    assert unpinned == [], "pin the vectors of a new minor here when it is released"


@pytest.mark.parametrize("vector", vectors("framing.json"), ids=lambda v: v["name"])
def test_framing_vector(vector: dict[str, Any]) -> None:
    line = bytes.fromhex(vector["line"])
    for step in (len(line), 1, 7):  # whole, octet by octet, in pieces
        decoder = Decoder()
        items = [x for i in range(0, len(line), step) for x in decoder.feed(line[i : i + step])]
        expected = vector["finds"]
        frames = [x for x in items if isinstance(x, Frame)]
        wanted = [x["frame"] for x in expected if "frame" in x]
        assert [_plain(f) for f in frames] == wanted
        for word, damaged in (("log", False), ("damaged", True)):
            octets = b"".join(
                x.data for x in items if isinstance(x, Noise) and x.damaged is damaged
            )
            assert octets == b"".join(bytes.fromhex(x[word]) for x in expected if word in x)


def _plain(frame: Frame) -> dict[str, Any]:
    return {
        "control": frame.control,
        "seq": frame.seq,
        "ack": frame.ack,
        "id": frame.message_id,
        "payload": frame.payload.hex(),
    }


@pytest.mark.parametrize(
    "vector", vectors("messages.json"), ids=lambda v: f"{v['message']}-{v['case']}"
)
def test_message_vector(vector: dict[str, Any]) -> None:
    cls = SCHEMA.by_id[vector["id"]]
    assert cls.SPEC.name == vector["message"]
    payload = bytes.fromhex(vector["payload"])
    skip = EVENT_HEADER if cls.SPEC.kind is Kind.EVENT else 0
    message = cls.unpack(payload[skip:])
    fields = plain_fields(message)
    assert {name: fields[name] for name in vector["fields"]} == vector["fields"]
    if skip:
        assert (int.from_bytes(payload[:4], "little"), int.from_bytes(payload[4:8], "little")) == (
            vector["event_no"],
            vector["uptime_ms"],
        )
    assert (payload[:skip] + message.pack()).startswith(payload)
    line = bytes.fromhex(vector["frame"])
    (frame,) = Decoder().feed(line)
    assert isinstance(frame, Frame)
    assert frame.payload == payload
    assert encode(*frame) == line


@pytest.mark.parametrize("vector", vectors("link.json"), ids=lambda v: v["name"])
def test_link_vector(vector: dict[str, Any]) -> None:
    """A device of the version that wrote the script answers it frame by frame."""
    identity = vector["device"]
    schema = SCHEMA.only(0)
    link = Link.device(0, boot_id=identity["boot_id"], capabilities=identity["capabilities"], version=identity["version"],
                       reset_cause=identity["reset_cause"], schema=schema)  # fmt: skip
    for step in vector["steps"]:
        now = step["at_ms"] * MS
        if "in" in step:
            link.receive(bytes.fromhex(step["in"]), now)
        link.poll(now)
        frames = [_plain(x) for x in Decoder().feed(link.data_to_send(now)) if isinstance(x, Frame)]
        key = json.dumps
        assert sorted(frames, key=key) == sorted(step["out"], key=key), step


def test_there_is_a_vector_for_every_message() -> None:
    assert {v["id"] for v in vectors("messages.json")} == {cls.SPEC.id for cls in SCHEMA}
    assert m.MINOR == 0 or len(list(FOLDER.iterdir())) > 1
