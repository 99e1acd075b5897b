"""`tablectl conformance`: green on a good board; on a board with one fault, exactly what it breaks is told."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from firmware_protocol import framing
from firmware_protocol import messages as m
from firmware_protocol.framing import DATA, DATAGRAM, LINK, Frame
from hardware_sim.table import Options, SimTable
from tablectl.cli.main import main
from tablectl.table.conformance.checks import TRIALS
from tablectl.table.conformance.probe import Probe
from tablectl.table.conformance.runner import UNSEEN, Report, run_all, sentences
from tablectl.table.conformance.vectors import link_vectors
from tests.daemon.port_kit import Bell, Board, Pty

Twist = Callable[[Frame], "Frame | None"]


class VirtualLine:
    """A simulated table at the other end of a line, on a clock that runs only while somebody waits."""

    def __init__(
        self, *, out: Twist | None = None, into: Twist | None = None, **options: Any
    ) -> None:
        self.table = SimTable(Options(speed=1.0, level="tiles", **options))
        self.micros = 1_000_000
        self._out, self._into = out, into
        self._decoders = {"out": framing.Decoder(), "into": framing.Decoder()}

    def now(self) -> float:
        return self.micros / 1e6

    def read(self, seconds: float) -> bytes:
        until = self.micros + max(1, round(seconds * 1e6))
        while True:
            self.table.advance(self.micros)
            data = self._twist("out", self.table.data_to_send(self.micros))
            if data:
                return data
            if self.micros >= until:
                return b""
            due = self.table.next_deadline
            self.micros = until if due is None else min(max(due, self.micros + 100), until)

    def write(self, data: bytes) -> None:
        self.micros += 100
        self.table.receive(self._twist("into", data), self.micros)

    def close(self) -> None:
        pass

    def _twist(self, way: str, data: bytes) -> bytes:
        twist = self._out if way == "out" else self._into
        if twist is None or not data:
            return data
        out = b""
        for item in self._decoders[way].feed(data):
            if isinstance(item, Frame):
                changed = twist(item)
                out += framing.encode(*changed) if changed is not None else b""
            elif way == "into":
                out += item.data + b"\0"
        return out


def tried(**more: Any) -> Report:
    only = more.pop("only", ())
    return run_all(VirtualLine(**more), only=only, seed=5, moving=True)


def test_the_simulated_table_keeps_every_sentence() -> None:
    report = tried()
    assert [(o.name, o.text) for o in report.failed] == []
    by = report.by_sentence()
    assert {key for key, verdict in by.items() if verdict == "not covered"} == set()
    assert sum(verdict == "pass" for verdict in by.values()) >= 75
    untried = [o.name for o in report.outcomes if o.verdict == "not tried"]
    assert len(untried) <= 4, untried


@pytest.mark.parametrize("level", ["basic", "score"])
def test_lower_levels_are_tried_too(level: str) -> None:
    line = VirtualLine()
    line.table = SimTable(Options(speed=1.0, level=level))
    report = run_all(line, seed=1)
    assert [(o.name, o.text) for o in report.failed] == []


def test_every_sentence_is_tried_or_said_to_be_out_of_sight() -> None:
    texts = set(sentences())
    tried_ids = {s for trial in TRIALS for s in trial.sentences}
    tried_ids |= {s for vector in link_vectors() for s in vector["spec"].split()}
    assert texts - tried_ids - UNSEEN == set()
    assert (tried_ids | UNSEEN) - texts == set(), "an id that SPEC.md does not have"


# ------------------------------------------------------------------ boards with one fault


def field(cls: type, **changes: Any) -> Twist:
    """Change fields of one message of the device."""
    import dataclasses

    def twist(frame: Frame) -> Frame | None:
        if frame.message_id != cls.SPEC.id or frame.type not in (DATA, DATAGRAM, LINK):  # type: ignore[attr-defined]
            return frame
        skip = 8 if cls.SPEC.kind.value == "event" else 0  # type: ignore[attr-defined]
        message = cls.unpack(frame.payload[skip:])  # type: ignore[attr-defined]
        values = {k: v(message) if callable(v) else v for k, v in changes.items()}
        return frame._replace(
            payload=frame.payload[:skip] + dataclasses.replace(message, **values).pack()
        )

    return twist


def drop(cls: type) -> Twist:
    return lambda frame: None if frame.message_id == cls.SPEC.id else frame  # type: ignore[attr-defined]


def shifted_numbers(frame: Frame) -> Frame:
    return frame._replace(seq=frame.seq + 1 & 0xFF) if frame.type == DATA else frame


def no_ack_frames(frame: Frame) -> Frame | None:
    return None if frame.type == framing.ACK else frame


def renumbered_events() -> Twist:
    count = [0]

    def twist(frame: Frame) -> Frame:
        if frame.message_id != m.ActionResult.SPEC.id:
            return frame
        count[0] += 1
        return frame._replace(payload=count[0].to_bytes(4, "little") + frame.payload[4:])

    return twist


def all_sessions() -> Twist:
    """A device that does not look at the session octet."""
    session = [0]

    def twist(frame: Frame) -> Frame:
        if frame.type == LINK:
            session[0] = frame.session
            return frame
        return frame._replace(control=session[0] << 4 | frame.type)

    return twist


FAULTS: dict[str, tuple[dict[str, Any], set[str]]] = {
    "echo changes an octet": (
        {"out": field(m.TestEchoReply, data=lambda e: b"\x01" + e.data[1:])},
        {"M-7"},
    ),
    "no echo": ({"out": drop(m.TestEchoReply)}, {"M-7", "F-6"}),
    "numbers begin at 1": ({"out": shifted_numbers}, {"L-1"}),
    "no ACK frames": ({"out": no_ack_frames}, {"L-5", "L-7", "V-5"}),
    "no heartbeat": ({"out": drop(m.Heartbeat)}, {"T-1", "D-6"}),
    "no announce": ({"out": drop(m.Announce)}, {"H-1", "L-17"}),
    "no clock": ({"out": drop(m.TimeReply)}, {"T-3"}),
    "clock stands": ({"out": field(m.TimeReply, uptime_ms=5000)}, {"T-3"}),
    "another boot_id in the heartbeat": ({"out": field(m.Heartbeat, boot_id=1)}, {"R-1"}),
    "wrong display digest": ({"out": field(m.Heartbeat, display_digest=7)}, {"D-6"}),
    "wrong state digest": ({"out": field(m.Heartbeat, state_digest=7)}, {"S-5"}),
    "never says repeated": ({"out": field(m.ActionResult, repeated=0)}, {"A-2"}),
    "always says repeated": ({"out": field(m.ActionResult, repeated=1)}, {"A-5"}),
    "ends everything as done": ({"out": field(m.ActionResult, result=0)}, {"A-4", "B-1", "B-2"}),
    "does not know what it did": ({"out": field(m.ActionStatus, state=0)}, {"A-6"}),
    "events get new numbers when repeated": ({"out": renumbered_events()}, {"E-3"}),
    "texts never end": ({"out": field(m.InfoPage, pages=200)}, {"S-1"}),
    "a tile in two places": (
        {"out": field(m.SnapshotState, pages=2)},
        {"S-2", "S-3", "S-4"},
    ),
    "looks at no session": ({"into": all_sessions()}, {"L-16"}),
    "no fault at all": ({"out": lambda frame: frame, "into": lambda frame: frame}, set()),
}


@pytest.mark.parametrize("name", FAULTS)
def test_one_fault_is_found_by_the_sentences_it_breaks(name: str) -> None:
    twists, broken = FAULTS[name]
    report = tried(**twists)
    by = report.by_sentence()
    failed = {key for key, verdict in by.items() if verdict == "fail"}
    assert broken <= failed, f"not found: {broken - failed}"
    if not broken:
        assert not failed
    assert all(outcome.text for outcome in report.failed)


def test_a_device_that_never_answers_is_told(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    report = tried(out=lambda _frame: None, only=["M-7"])
    assert report.device is None
    assert report.failed


# ------------------------------------------------------------------ the command, on a real pty


def test_the_command_on_a_real_pty(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A board in another process would do; here it lives in a thread, the command has the main one."""
    import asyncio
    import threading

    ready, stop = threading.Event(), threading.Event()
    path: list[str] = []

    def live() -> None:
        async def run() -> None:
            pty = Pty(tmp_path / "board")
            board = Board(pty, Bell())
            path.append(pty.path)
            ready.set()
            await asyncio.to_thread(stop.wait, 60)
            board.unplug()

        asyncio.run(run())

    thread = threading.Thread(target=live)
    thread.start()
    try:
        assert ready.wait(10)
        code = main(["conformance", path[0], "--only", "M-7,V-5", "--json"])
        report = json.loads(capsys.readouterr().out)
        assert code == 0
        assert report["sentences"] == {"M-7": "pass", "V-5": "pass"}
        assert report["device"]["protocol"] == "1.0"
        assert main(["conformance", path[0], "--only", "M-7"]) == 0
        out = capsys.readouterr().out
        assert "1 sentences kept, 0 not" in out
    finally:
        stop.set()
        thread.join()


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ([], "which PORT"),
        (["/dev/nothing-here"], "port_missing"),
        (["/dev/null", "--only", "Q-1"], "no sentence Q-1"),
    ],
)
def test_usage_is_told_in_a_line(
    capsys: pytest.CaptureFixture[str], arguments: list[str], word: str
) -> None:
    assert main(["conformance", *arguments]) == 2
    captured = capsys.readouterr()
    assert word in captured.err
    assert "Traceback" not in captured.err


def test_the_list_is_the_spec(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["conformance", "--list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(sentences())
    assert any(line.startswith("L-12") and "five tries" in line for line in lines)


def test_nonces_never_share_their_session_with_the_one_before() -> None:
    probe = Probe(VirtualLine(), random.Random(1))
    for _ in range(200):
        nonce = probe.new_nonce()
        assert nonce & 15 != probe.nonce & 15
        probe.nonce = nonce
