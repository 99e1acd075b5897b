"""The C codec and the C link against the conformance vectors of every minor so far."""

from __future__ import annotations

import dataclasses
import json
import random
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from firmware_protocol import generate_c
from firmware_protocol import messages as m
from firmware_protocol.errors import MalformedMessage
from firmware_protocol.framing import ACK, LINK, Decoder, Frame, encode
from firmware_protocol.schema import Kind, Message, Schema, record
from firmware_protocol.schema import message as declare
from firmware_protocol.timing import MS
from tests.conftest import ROOT
from tests.wire import c_fields
from tests.wire.c_device import SOURCES, CDevice, Stepper, built
from tests.wire.ends import frames

VECTORS = sorted((ROOT / "firmware_protocol" / "vectors").iterdir())
MINORS = [folder.name for folder in VECTORS]
SANITIZED = ["gcc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-Wconversion", "-Wsign-conversion",
             "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-DTCTL_BOTH_ROLES"]  # fmt: skip


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory, "step") / "step"


@pytest.fixture
def stepper(program: Path) -> Iterator[Stepper]:
    with Stepper(program) as stepper:
        yield stepper


def compile_and_run(text: str, folder: Path, sources: Path = SOURCES) -> str:
    """Output of a C program linked with the codec under sanitizers; it must succeed."""
    (folder / "check.c").write_text(text, encoding="utf-8")
    # The vectors' octets are long strings with any sign: the checks on our own code stay strict, this file's need not.
    command = [*SANITIZED, "-Wno-conversion", "-Wno-sign-conversion", "-Wno-sign-compare", f"-I{sources}", str(folder / "check.c"),
               str(sources / "generated" / "tablectl_messages.c"), str(sources / "tctl_octets.c"), "-o", str(folder / "check")]  # fmt: skip
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    ran = subprocess.run([folder / "check"], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


# --------------------------------------------------------------------------- codec


@pytest.mark.parametrize("minor", MINORS)
def test_every_field_of_every_message_is_packed_and_read(minor: str, tmp_path: Path) -> None:
    vectors = c_fields.load(VECTORS[MINORS.index(minor)] / "messages.json")
    assert {vector["id"] for vector in vectors} <= set(m.SCHEMA.by_id)
    assert len(vectors) > 100
    out = compile_and_run(c_fields.program(vectors), tmp_path)
    assert out == f"{len(vectors)} cases, 0 faults\n"


def test_a_wrong_vector_is_noticed(tmp_path: Path) -> None:
    vectors = c_fields.load(VECTORS[-1] / "messages.json")
    wrong = json.loads(json.dumps(next(v for v in vectors if v["message"] == "DiceSettled")))
    wrong["fields"]["b"] = wrong["fields"]["b"] % 6 + 1
    with pytest.raises(AssertionError, match=r"dice_settled\.b"):
        compile_and_run(c_fields.program([wrong]), tmp_path)


def test_c_and_python_read_the_same_from_any_payload(stepper: Stepper) -> None:
    rng = random.Random(6)
    accepted = 0
    for _ in range(6_000):
        cls = rng.choice(list(m.SCHEMA.by_id.values()))
        size = rng.randrange(max(1, cls.SPEC.size + 3))
        small = rng.random() < 0.7  # small numbers are mostly in range
        payload = bytes(rng.randrange(8) if small else rng.randrange(256) for _ in range(min(size, 56)))  # fmt: skip
        records = stepper.call("C", 0, bytes((cls.SPEC.id,)) + payload)
        try:
            message = cls.unpack(payload)
        except MalformedMessage:
            assert not records, f"C reads {cls.__name__} from {payload.hex()}, Python does not"
            continue
        assert records, f"Python reads {cls.__name__} from {payload.hex()}, C does not"
        got = cls.unpack(records[0][2])
        if "text" not in {f.code for f in cls.SPEC.fields}:
            assert got == message
        accepted += 1
    assert accepted > 1_500


@pytest.mark.parametrize(
    ("octets", "shown"),
    [
        ("東1局".encode(), "東1局"),
        ("é€𠮷".encode(), "é€𠮷"),
        (b"a\xffb", "a?b"),
        (b"\xc0\x80", "??"),
        (b"\xed\xa0\x80", "???"),
        (b"\xf4\x90\x80\x80", "????"),
        (b"\xe3\x81", "??"),
        (b"\xe3\x81A", "??A"),
        (b"\xf0\x8f\x80\x80", "????"),
        (b"\x80", "?"),
        (b"\xf5\x80\x80\x80", "????"),
        (
            "\U0010ffff\ud7ff\ue000\u0800".encode("utf-8", "surrogatepass"),
            "\U0010ffff\ud7ff\ue000\u0800",
        ),
    ],
)
def test_a_text_that_is_no_utf8_is_shown_all_the_same(
    octets: bytes, shown: str, stepper: Stepper
) -> None:
    payload = bytes((0, len(octets))) + octets
    (found,) = stepper.call("C", 0, bytes((m.SetText.SPEC.id,)) + payload)
    assert m.SetText.unpack(found[2]).text == shown


# --------------------------------------------------------------------------- an older and a newer peer


@record
class _Spot(m.Record):
    """A place."""

    row: int = m.u8("row")
    column: int = m.u16("column")


@declare(0x36, Kind.EVENT, m.TO_HOST)
class RiichiSlot(Message):
    """The message of today, longer in a later minor."""

    seat: int = m.u8("seat", hi=3)
    present: int = m.u8("1 a stick lies there", hi=1)
    weight: int = m.u16("weight", since=1, default=500)
    shift: int = m.i16("shift", since=1, default=-3)
    marks: tuple[int, ...] = m.u8("marks", count=2, since=2, default=(7, 9))
    note: str = m.text("note", most=6, since=2, default="")
    spots: tuple[_Spot, ...] = m.listing(_Spot, "spots", most=2, since=2, default=())


@declare(0x4F, Kind.EVENT, m.TO_HOST, since=2)
class Newest(Message):
    """A message that came with minor 2."""

    tag: int = m.u64("tag")
    small: int = m.u16("small", lo=500, hi=600)


LATER = Schema(
    m.MAJOR,
    2,
    [cls for cls in m.SCHEMA if cls.SPEC.id != RiichiSlot.SPEC.id] + [RiichiSlot, Newest],
)


def _later_vectors() -> list[dict[str, Any]]:
    full = RiichiSlot(2, 1, 0x1234, -2, (3, 4), "abc", (_Spot(5, 600),))
    texts = {"row": 5, "column": 600}
    fields = dataclasses.asdict(full) | {"marks": [3, 4], "spots": [texts]}
    old = {"weight": 500, "shift": -3, "marks": [7, 9], "note": "", "spots": []}
    vectors = [
        {"case": f"minor {minor}", "payload": full.pack(minor).hex(), "minor": minor, "packs": minor == 2}
        | {"fields": fields | {k: v for k, v in old.items() if minor == 0 or (minor == 1 and k not in ("weight", "shift"))}}
        for minor in (0, 1, 2)
    ]  # fmt: skip
    newest = Newest(0xE004_0000_1234_5678, 599)
    fields = {"tag": f"0x{newest.tag:016x}", "small": 599}
    vectors.append({"case": "typical", "payload": newest.pack().hex(), "fields": fields})
    for vector, cls in zip(vectors, [RiichiSlot] * 3 + [Newest], strict=True):
        vector |= {"message": cls.__name__, "id": cls.SPEC.id}
    return vectors


@pytest.fixture(scope="module")
def later(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The C sources of a protocol two minors later, generated from its declaration."""
    folder = tmp_path_factory.mktemp("later") / "c"
    (folder / "generated").mkdir(parents=True)
    (folder / "test").mkdir()
    for path in [*SOURCES.glob("*.[ch]"), *SOURCES.glob("test/*.c"), SOURCES / "Makefile"]:
        (folder / path.relative_to(SOURCES)).write_bytes(path.read_bytes())
    for path, text in generate_c.outputs(LATER).items():
        (folder / "generated" / path.name).write_text(text, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def later_program(later: Path) -> Path:
    done = subprocess.run(["make", "-s", "-C", later, "step"], capture_output=True, text=True, check=False)  # fmt: skip
    assert done.returncode == 0, done.stderr
    return later / "build" / "step"


def test_fields_of_later_minors_take_their_default(later: Path, tmp_path: Path) -> None:
    vectors = _later_vectors()
    assert [len(v["payload"]) // 2 for v in vectors] == [2, 6, 2 + 4 + 2 + 4 + 4, 10]
    compile_and_run(c_fields.program(vectors, LATER), tmp_path, later)


@pytest.mark.parametrize("minor", [0, 1, 2, 3])
def test_a_newer_device_speaks_with_an_older_host(later_program: Path, minor: int) -> None:
    device = CDevice(later_program)
    full = RiichiSlot(2, 1, 0x1234, -2, (3, 4), "abc", (_Spot(5, 600),))
    numbers = [device.send(x, 0) for x in (Newest(1, 500), full, Newest(2, 501), m.SeatRoulette(3))]
    assert numbers == [1, 2, 3, 4]
    hello = m.Hello(5, m.MAJOR, minor, 0, 0, 64, 4, 0, 0)
    device.data_to_send(0)
    device.receive(_link(hello), 1000)
    found = [f for f in frames(device.data_to_send(1000)) if f.type == 1]
    known = {cls.SPEC.id for cls in LATER if cls.SPEC.since <= minor}
    expected = [x for x in (Newest(1, 500), full, Newest(2, 501), m.SeatRoulette(3)) if x.SPEC.id in known]  # fmt: skip
    assert [f.payload[8:] for f in found] == [x.pack(min(minor, 2)) for x in expected]
    assert [f.payload[0] for f in found] == [1, 2, 3, 4] if minor >= 2 else [2, 4]
    assert [f.seq for f in found] == list(range(len(found)))
    device.receive(_ack(5, len(found)), 2000)
    assert device.send(m.SeatRoulette(1), 3000) == 5, "a dropped event keeps its number"
    assert not device.idle
    device.receive(_ack(5, len(found) + 1), 4000)
    device.data_to_send(4000)
    device.poll(4000)
    assert device.idle
    device.close()


def _link(hello: m.Hello) -> bytes:
    return encode((hello.nonce & 15) << 4 | LINK, 0, 0, m.Hello.SPEC.id, hello.pack())


def _ack(session: int, ack: int) -> bytes:
    return encode(session << 4 | ACK, ack, ack, 0)


# --------------------------------------------------------------------------- framing


def c_finds(stepper: Stepper, line: bytes) -> list[tuple[str, bytes]]:
    """Frames, damage and noise that the C decoder finds; noise that lies together is one."""
    out: list[tuple[str, bytes]] = []
    for what, _, data in stepper.call("D", 0, line):
        body = data[1:-2] if what == "F" else data
        if what == "N" and out and out[-1][0] == "N":
            out[-1] = ("N", out[-1][1] + body)
        else:
            out.append((what, body))
    return out


def _finds(entry: dict[str, Any]) -> tuple[str, bytes]:
    if "frame" in entry:
        f = entry["frame"]
        head = bytes((f["control"], f["seq"], f["ack"], f["id"]))
        return "F", head + bytes.fromhex(f["payload"])
    if "damaged" in entry:
        return "D", bytes.fromhex(entry["damaged"])
    return "N", bytes.fromhex(entry["log"])


@pytest.mark.parametrize("minor", MINORS)
def test_framing_vectors(minor: str, stepper: Stepper) -> None:
    vectors = c_fields.load(VECTORS[MINORS.index(minor)] / "framing.json")
    assert vectors
    for vector in vectors:
        expected = [_finds(entry) for entry in vector["finds"]]
        assert c_finds(stepper, bytes.fromhex(vector["line"])) == expected, vector["name"]


# --------------------------------------------------------------------------- link


@pytest.mark.parametrize("minor", MINORS)
def test_link_vectors(minor: str, program: Path) -> None:
    vectors = c_fields.load(VECTORS[MINORS.index(minor)] / "link.json")
    assert len(vectors) > 15
    for vector in vectors:
        _replay(program, vector)


def _replay(program: Path, vector: dict[str, Any]) -> None:
    device = CDevice(program, **vector["device"])
    for step in vector["steps"]:
        now = step["at_ms"] * MS
        if "in" in step:
            device.receive(bytes.fromhex(step["in"]), now)
        else:
            device.poll(now)
        found = [x for x in Decoder().feed(device.data_to_send(now)) if isinstance(x, Frame)]
        got = [_plain(frame) for frame in found]
        wanted = [_order(frame) for frame in step["out"]]
        assert sorted(got, key=_key) == sorted(wanted, key=_key), (vector["name"], step["at_ms"])
    device.close()


def _plain(frame: Frame) -> tuple[int, int, int, int, str]:
    return frame.control, frame.seq, frame.ack, frame.message_id, frame.payload.hex()


def _order(frame: dict[str, Any]) -> tuple[int, int, int, int, str]:
    return frame["control"], frame["seq"], frame["ack"], frame["id"], frame["payload"]


def _key(frame: tuple[int, int, int, int, str]) -> int:
    """Frames of different types may come in any order; those of one type may not."""
    return frame[0] & 0x0F
