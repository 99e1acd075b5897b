"""The conformance vectors: what is on the line and what it means, as data for implementations in any language.

`framing.json`   octets on the line and the frames, text and damage a receiver finds in them
`messages.json`  every message with least, greatest and typical values: fields, payload, whole frame
`link.json`      scripts for a device's end: what comes in at which time, which frames go out

COBS and CRC are written out here a second time, octet by octet, so that the vectors do not lean on the codec they test.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from firmware_protocol import messages as m
from firmware_protocol import vocabulary as v
from firmware_protocol.framing import ACK, DATA, DATAGRAM, LINK, Decoder, Frame
from firmware_protocol.link import Link
from firmware_protocol.schema import FieldSpec, Kind, Message
from firmware_protocol.timing import MS

SESSION = 5
NONCE = 0x1234_0005


def vector_files() -> dict[str, str]:
    """File name → text of the current minor's vectors."""
    parts = {
        "framing.json": framing_vectors(),
        "messages.json": message_vectors(),
        "link.json": link_vectors(),
    }
    return {
        name: "{\n" + f' "protocol": "{m.SCHEMA}",\n "vectors": [\n  '
        + ",\n  ".join(json.dumps(entry, ensure_ascii=False) for entry in entries) + "\n ]\n}\n"
        for name, entries in parts.items()
    }  # fmt: skip


# --------------------------------------------------------------------------- an independent frame writer


def plain_crc(data: bytes) -> int:
    """CRC-16/CCITT-FALSE, bit by bit."""
    crc = 0xFFFF
    for octet in data:
        crc ^= octet << 8
        for _ in range(8):
            crc = (crc << 1 ^ 0x1021 if crc & 0x8000 else crc << 1) & 0xFFFF
    return crc


def plain_cobs(data: bytes) -> bytes:
    """COBS of less than 254 octets."""
    out = bytearray()
    for part in data.split(b"\0"):
        out.append(len(part) + 1)
        out += part
    return bytes(out)


def plain_frame(control: int, seq: int, ack: int, message_id: int, payload: bytes = b"") -> bytes:
    """A frame as it stands on the line."""
    body = bytes((control, seq, ack, message_id)) + payload
    return plain_cobs(body + plain_crc(body).to_bytes(2, "little")) + b"\0"


# --------------------------------------------------------------------------- framing


def _frame_item(
    control: int, seq: int, ack: int, message_id: int, payload: bytes = b""
) -> dict[str, Any]:
    return {
        "frame": {
            "control": control,
            "seq": seq,
            "ack": ack,
            "id": message_id,
            "payload": payload.hex(),
        }
    }


def framing_vectors() -> list[dict[str, Any]]:
    """Octets on the line and what a receiver finds."""
    plain = (0x51, 1, 2, 0x34, bytes.fromhex("0304000700000000"))
    empty = (0x52, 4, 4, 0)
    full = (0xF1, 255, 254, 0xFE, bytes(range(1, 57)))
    zeros = (0x01, 0, 0, 0x29, bytes(56))
    ones = (0x51, 9, 9, 0x28, b"\xff" * 56)
    wire = plain_frame(*plain)
    flipped = bytes((wire[0], wire[1] ^ 0x04)) + wire[2:]
    text = b"boot v1.2 ok\r\n"
    cases: list[tuple[str, str, bytes, list[dict[str, Any]]]] = [
        ("one frame", "F-1", wire, [_frame_item(*plain)]),
        ("no payload", "F-3", plain_frame(*empty), [_frame_item(*empty)]),
        ("longest payload", "F-2", plain_frame(*full), [_frame_item(*full)]),
        ("zeros only", "F-1", plain_frame(*zeros), [_frame_item(*zeros)]),
        ("0xFF only", "F-1", plain_frame(*ones), [_frame_item(*ones)]),
        ("two frames", "F-1", wire + plain_frame(*empty), [_frame_item(*plain), _frame_item(*empty)]),
        ("delimiters in front and behind", "F-8", b"\0\0" + wire + b"\0\0\0", [_frame_item(*plain)]),
        ("one bit flipped", "F-5", flipped, [{"damaged": flipped[:-1].hex()}]),
        ("damaged, then whole", "F-6", flipped + wire, [{"damaged": flipped[:-1].hex()}, _frame_item(*plain)]),
        ("boot text", "F-10", text + b"\0" + wire, [{"log": text.hex()}, _frame_item(*plain)]),
        ("text runs into a frame", "F-10", text + wire + wire, [{"log": (text + wire[:-1]).hex()}, _frame_item(*plain)]),
        ("text with the form of a frame", "F-10", b"\x09 hello!!\0" + wire,
         [{"log": b"\x09 hello!!".hex()}, _frame_item(*plain)]),
        ("too short", "F-5", b"\x05\x01\x02\x03\x04\0" + wire, [{"log": "0501020304"}, _frame_item(*plain)]),
        ("code octet points past the end", "F-5", b"\x20\x81\x82\x83\x84\x85\x86\x87\0" + wire,
         [{"log": "2081828384858687"}, _frame_item(*plain)]),
        ("64 octets without a delimiter", "F-7", b"\x41" + b"\x99" * 64 + b"\0" + wire, [{"log": "41" + "99" * 64}, _frame_item(*plain)]),
        ("cut off", "F-5", wire[:6] + b"\0" + wire, [{"log": wire[:6].hex()}, _frame_item(*plain)]),
        ("another type", "F-12", plain_frame(0x57, 0, 0, 1), [_frame_item(0x57, 0, 0, 1)]),
    ]  # fmt: skip
    return [
        {"name": name, "spec": spec, "line": line.hex(), "finds": finds}
        for name, spec, line, finds in cases
    ]


# --------------------------------------------------------------------------- messages

_TEXT = "東1局 ホンバ 2: honba"


def _sample(f: FieldSpec, case: str, salt: int) -> Any:
    if f.code in {"text", "bytes"}:
        full = (_TEXT * 4).encode("utf-8")[: f.count]
        octets = {"least": b"", "greatest": full, "typical": full[:9]}[case]
        return octets.decode("utf-8", "ignore") if f.code == "text" else octets
    if f.code == "list":
        assert f.record is not None
        number = {"least": 0, "greatest": f.count, "typical": 1}[case]
        return tuple(
            f.record(
                *(_sample(g, case, salt + 7 * i + j) for j, g in enumerate(f.record.RECORD.fields))
            )
            for i in range(number)
        )
    values = tuple(_number(f, case, salt + 3 * i) for i in range(max(f.count, 1)))
    return values if f.count else values[0]


def _number(f: FieldSpec, case: str, salt: int) -> int:
    if case == "least":
        return f.lo
    if case == "greatest":
        return f.hi
    return f.lo + (0x1B873593 * (salt + 1)) % (f.hi - f.lo + 1)


def plain_fields(message: Message) -> dict[str, Any]:
    """Fields as JSON: octet strings and u64 in hexadecimal, lists as lists."""
    return {f.name: _plain(f, getattr(message, f.name)) for f in message.SPEC.fields}


def _plain(f: FieldSpec, value: Any) -> Any:
    if f.record is not None:
        return [
            {g.name: _plain(g, getattr(entry, g.name)) for g in f.record.RECORD.fields}
            for entry in value
        ]
    if isinstance(value, bytes):
        return value.hex()
    if f.code == "Q":
        return f"0x{value:016x}"
    return list(value) if f.count and not f.variable else value


def _plain_payload(fields: tuple[FieldSpec, ...], value: Message | Any) -> bytes:
    """Payload octets without the codec."""
    out = bytearray()
    for f in fields:
        x = getattr(value, f.name)
        if f.code in {"text", "bytes"}:
            octets = x.encode("utf-8") if f.code == "text" else x
            out += bytes((len(octets),)) + octets
        elif f.record is not None:
            out.append(len(x))
            for entry in x:
                out += _plain_payload(f.record.RECORD.fields, entry)
        else:
            width = f.size // max(f.count, 1)
            for number in x if f.count else (x,):
                out += int(number).to_bytes(width, "little", signed=f.code.islower())
    return bytes(out)


TYPE_OF = {Kind.LINK: LINK, Kind.DATAGRAM: DATAGRAM}


def message_vectors() -> list[dict[str, Any]]:
    """Every message with least, greatest and typical values."""
    out = []
    for cls in m.SCHEMA:
        spec = cls.SPEC
        for case in ("least", "typical", "greatest") if spec.fields else ("only",):
            message = cls(*(_sample(f, case, spec.id + i) for i, f in enumerate(spec.fields)))
            entry: dict[str, Any] = {
                "message": spec.name,
                "id": spec.id,
                "case": case,
                "fields": plain_fields(message),
            }
            payload = _plain_payload(spec.fields, message)
            if spec.kind is Kind.EVENT:
                event_no, uptime = {"least": (1, 0), "typical": (70_000, 123_456)}.get(
                    case, (0xFFFFFFFF, 0xFFFFFFFF)
                )
                entry |= {"event_no": event_no, "uptime_ms": uptime}
                payload = event_no.to_bytes(4, "little") + uptime.to_bytes(4, "little") + payload
            kind = TYPE_OF.get(spec.kind, DATA)
            seq, ack = (7, 9) if kind == DATA else (0, 0 if kind == LINK else 9)
            frame = plain_frame(SESSION << 4 | kind, seq, ack, spec.id, payload)
            out.append(entry | {"payload": payload.hex(), "frame": frame.hex()})
    return out


# --------------------------------------------------------------------------- link scripts


def _hello(nonce: int = NONCE, major: int = m.MAJOR, event_no: int = 0, boot_id: int = 0) -> bytes:
    hello = m.Hello(nonce, major, 0, m.SCHEMA.hash, 0x01000000, 64, 4, boot_id, event_no)
    return plain_frame((nonce & 0x0F) << 4 | LINK, 0, 0, m.Hello.SPEC.id, hello.pack())


def _data(seq: int, ack: int, message: Message, session: int = SESSION) -> bytes:
    return plain_frame(session << 4 | DATA, seq, ack, message.SPEC.id, message.pack())


def _datagram(message: Message, ack: int = 0) -> bytes:
    return plain_frame(SESSION << 4 | DATAGRAM, 0, ack, message.SPEC.id, message.pack())


def _ack(ack: int) -> bytes:
    return plain_frame(SESSION << 4 | ACK, ack, ack, 0)


def _received(following: int) -> bytes:
    return plain_frame(SESSION << 4 | ACK, following, 0, 0)


_ECHO = m.TestEcho(token=7, data=b"ping")
_STATUS = m.ActionQuery(cmd_id=99)


def _scripts() -> Iterator[tuple[str, str, list[tuple[int, bytes]]]]:
    """Name, sentences, steps: time in ms and octets that come in (none: time passes)."""
    yield "announces itself", "H-1", [(0, b""), (1000, b""), (2000, b"")]
    yield "handshake", "H-4 T-1", [(0, b""), (10, _hello()), (1010, b"")]
    yield (
        "echo",
        "M-7 L-1 L-3",
        [(10, _hello()), (20, _data(0, 0, _ECHO)), (30, _ack(1)), (40, _data(1, 1, _ECHO))],
    )
    yield "a copy is acknowledged, not answered", "L-5", [
        (10, _hello()), (20, _data(0, 0, _ECHO)), (30, _ack(1)), (40, _data(0, 1, _ECHO))]  # fmt: skip
    yield "out of order", "L-5", [(10, _hello()), (20, _data(2, 0, _ECHO))]
    yield "another session", "L-16", [(10, _hello()), (20, _data(0, 0, _ECHO, session=6))]
    yield "wrong CRC", "F-5", [(10, _hello()), (20, _data(0, 0, _ECHO)[:-2] + b"\x01\0")]
    yield (
        "unknown message",
        "V-5",
        [(10, _hello()), (20, plain_frame(SESSION << 4 | DATA, 0, 0, 0xFD, b"\x01"))],
    )
    yield (
        "message of the wrong end",
        "V-5",
        [(10, _hello()), (20, _data(0, 0, m.TestEchoReply(1, b"")))],
    )
    yield "value out of range", "M-3", [
        (10, _hello()), (20, plain_frame(SESSION << 4 | DATA, 0, 0, m.SetRound.SPEC.id, b"\x00\x09\x00"))]  # fmt: skip
    yield "clock", "T-3", [(10, _hello()), (25, _datagram(m.TimeRequest(token=3, unix_s=0)))]
    yield "fate of an unknown action", "A-6", [(10, _hello()), (20, _data(0, 0, _STATUS))]
    yield "expired action", "A-4 A-5", [
        (10, _hello()), (100, _data(0, 0, m.Action(5, v.ActionKind.ROLL, 0, 50, 0)))]  # fmt: skip
    yield "repetition and failure", "L-9 L-10 L-11 L-12 H-1", [
        (10, _hello()), (20, _data(0, 0, _ECHO)), (269, b""), (270, b""), (770, b""), (1770, b""),
        (3000, _datagram(m.Watchdog(timeout_ms=5000))), (3770, b""), (5769, b""), (5770, b""), (6770, b"")]  # fmt: skip
    yield "patience", "L-14 L-12", [
        (10, _hello()), (20, _data(0, 0, _ECHO)), (270, b""), (770, b""), (1770, b""), (3770, b""), (3780, _received(1)),
        (5770, b""), (6000, _ack(1)), (8000, b"")]  # fmt: skip
    yield "silence", "L-17", [
        (10, _hello()), (20, _datagram(m.Watchdog(timeout_ms=1500))), (1519, b""), (1520, b""), (1521, _data(0, 0, _ECHO))]  # fmt: skip
    yield "the same Hello again", "H-6", [(10, _hello()), (20, _hello())]
    yield "another Hello", "H-4 L-1", [
        (10, _hello()), (20, _data(0, 0, _ECHO)), (30, _hello(NONCE + 1)), (40, _data(0, 0, _ECHO, session=6))]  # fmt: skip
    yield "another major", "V-1", [(10, _hello(major=m.MAJOR + 1)), (20, _data(0, 0, _ECHO))]
    yield "stray frame before a handshake", "H-8", [(0, b""), (500, _data(0, 0, _ECHO)), (501, b""), (550, _data(0, 0, _ECHO)), (551, b"")]  # fmt: skip


def _run(steps: list[tuple[int, bytes]]) -> list[dict[str, Any]]:
    device = Link.device(0, boot_id=0xB007, capabilities=int(v.LEVEL_BASIC), version=0x01020300)
    out = []
    for at, octets in steps:
        now = at * MS
        if octets:
            device.receive(octets, now)
        device.poll(now)
        frames = [
            item for item in Decoder().feed(device.data_to_send(now)) if isinstance(item, Frame)
        ]
        step = {"at_ms": at, "in": octets.hex()} if octets else {"at_ms": at}
        out.append(step | {"out": [_frame_item(*frame)["frame"] for frame in frames]})
    return out


def link_vectors() -> list[dict[str, Any]]:
    """Scripts for a device's end. Within a step the order of frames of different types is free."""
    identity = {
        "boot_id": 0xB007,
        "capabilities": int(v.LEVEL_BASIC),
        "version": 0x01020300,
        "reset_cause": 1,
    }
    return [
        {"name": name, "spec": spec, "device": identity, "steps": _run(steps)}
        for name, spec, steps in _scripts()
    ]
