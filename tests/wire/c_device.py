"""The C link as a device of the soak: a program built with sanitizers, stepped through on a virtual clock."""

from __future__ import annotations

import fcntl
import os
import struct
import subprocess
import tempfile
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

import pytest

from firmware_protocol import messages as m
from firmware_protocol.deliveries import Delivery, Item
from firmware_protocol.schema import Kind, Message
from firmware_protocol.vocabulary import LEVEL_BASIC, ResetCause
from tests.conftest import ROOT, need_program

SOURCES = ROOT / "firmware_protocol" / "c"
_HEAD = struct.Struct("<IIHBB")
_U32 = 0xFFFFFFFF
MOST_EVENT = 57
"""Octets of the longest event in the C event buffer: a frame full, and its record."""
RESULT_EVENT = 18
STATES = ("connecting", "up", "failed", "refused")
REASONS = ("", "tries", "silent", "peer_hello")
LOGS = ("noise", "damaged", "malformed", "unknown")


def build(target: str, folder: Path, **variables: str) -> Path:
    """Make a target of the C sources into a folder of its own; the folder."""
    need_program("make")
    need_program("gcc")
    command = ["make", "-s", "-C", str(SOURCES), f"BUILD={folder}", target]
    command += [f"{name}={value}" for name, value in variables.items()]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout}{done.stderr}"
    assert not done.stderr.strip(), f"warnings: {done.stderr}"
    return folder


def built(factory: pytest.TempPathFactory, target: str, **variables: str) -> Path:
    """The same, made once for all workers of a test run."""
    root = factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        root = root.parent
    name = "-".join(["c", target, *variables.values()])
    folder = root / "".join(c if c.isalnum() or c in "-_." else "_" for c in name)
    folder.mkdir(exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return build(target, folder, **variables)


class LinkChange(NamedTuple):
    """The firmware was told that its link changed."""

    state: str
    reason: str


class Log(NamedTuple):
    """Octets for the firmware's log."""

    what: str
    data: bytes


class Stepper:
    """The program itself: one request, one reply."""

    def __init__(self, program: Path) -> None:
        # Not a pipe: nobody reads it while the program runs.
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the program
        environment = os.environ | {
            "ASAN_OPTIONS": "detect_leaks=0:abort_on_error=0",
            "UBSAN_OPTIONS": "print_stacktrace=1",
        }
        self._process = subprocess.Popen(
            [program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors,
            env=environment,
        )  # fmt: skip
        self.wait_us = 0
        self.room = 0
        self.state = ""
        self.idle = False
        self.result = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def call(self, op: str, now: int, arguments: bytes = b"") -> list[tuple[str, int, bytes]]:
        """Records of a step: what, first number, octets."""
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        body = op.encode() + (now & _U32).to_bytes(4, "little") + arguments
        try:
            stdin.write(len(body).to_bytes(4, "little") + body)
            stdin.flush()
        except BrokenPipeError:
            self._died()
        size = stdout.read(4)
        if len(size) < 4:
            self._died()
        reply = stdout.read(int.from_bytes(size, "little"))
        self.wait_us, self.result, self.room, state, self.idle = _HEAD.unpack_from(reply)
        self.state = STATES[state]
        records, at = [], _HEAD.size
        while at < len(reply):
            count = reply[at + 2] | reply[at + 3] << 8
            records.append((chr(reply[at]), reply[at + 1], reply[at + 4 : at + 4 + count]))
            at += 4 + count
        return records

    def close(self) -> None:
        """End the program; it must have nothing to complain about."""
        stdin = self._process.stdin
        if stdin is not None and not stdin.closed:
            stdin.close()
            code = self._process.wait(timeout=30)
            assert self._process.stdout is not None
            self._process.stdout.close()
            text = self._complaint()
            self._errors.close()
            assert code == 0, f"exit code {code}\n{text}"
            assert not text, text

    def _complaint(self) -> str:
        self._errors.seek(0)
        return self._errors.read().decode("utf-8", "replace")

    def _died(self) -> None:
        code = self._process.wait(timeout=30)
        raise AssertionError(f"the C program ended with {code}\n{self._complaint()}")


class CDevice:
    """A device's end in C that behaves like `link.Link` as far as tests need it; times in µs."""

    polls = True
    """Poll after each step, as a main loop does; else only when asked."""

    def __init__(
        self,
        program: Path,
        now: int = 0,
        *,
        boot_id: int = 7,
        capabilities: int = int(LEVEL_BASIC),
        version: int = 0x01020300,
        reset_cause: int = ResetCause.POWER_ON,
    ) -> None:
        self.stepper = Stepper(program)
        self._out = b""
        self._now = now
        self.log: list[Log] = []
        self.changes: list[LinkChange] = []
        self.boot(now, boot_id=boot_id, capabilities=capabilities, version=version,
                  reset_cause=reset_cause)  # fmt: skip

    def boot(
        self, now: int, *, boot_id: int, capabilities: int, version: int, reset_cause: int
    ) -> None:
        """Start anew."""
        self._out = b""
        identity = struct.pack("<IIIB", boot_id, capabilities, version, reset_cause)
        self.step("B", now, identity)

    def step(self, op: str, now: int, arguments: bytes = b"") -> list[Item]:
        """One step of the program; the messages it hands to its firmware."""
        self._now = now
        items: list[Item] = []
        op = op if self.polls or op == "P" else op.lower()
        for what, first, data in self.stepper.call(op, now, arguments):
            if what == "w":
                self._out += data
            elif what in "md":
                items.append(Delivery(m.SCHEMA.by_id[first].unpack(data), ticket=1))
            elif what == "x":
                raise AssertionError(f"the C codec cannot read message 0x{first:02x}")
            elif what == "l":
                self.changes.append(LinkChange(STATES[first], REASONS[data[0]]))
            elif what == "g":
                self.log.append(Log(LOGS[first], data))
        return items

    def receive(self, data: bytes, now: int) -> list[Item]:
        """Octets in."""
        return self.step("R", now, data)

    def poll(self, now: int) -> list[Item]:
        """Time passes."""
        return self.step("P", now)

    def data_to_send(self, now: int) -> bytes:
        """Octets out."""
        out, self._out = self._out, b""
        return out

    def accept(self, delivery: Delivery) -> None:
        """Nothing: in C the return of the callback is the acceptance."""

    def send(self, message: Message, now: int) -> int:
        """Send: an event's number, 0 when there was no room."""
        self.step("S", now, bytes((message.SPEC.id,)) + message.pack())
        return self.stepper.result

    def send_space(self, kind: Kind) -> int:
        """Room for events: 9 and more when the longest fits and leaves room for the results of two actions."""
        room = self.stepper.room
        if room >= MOST_EVENT + 2 * RESULT_EVENT:
            return 9 + room // MOST_EVENT
        return min(room // RESULT_EVENT, 8)

    def finish(self, cmd_id: int, result: int, detail: int, now: int) -> int:
        """An action ended."""
        self.step("F", now, struct.pack("<IBH", cmd_id, result, detail))
        return self.stepper.result

    @property
    def next_deadline(self) -> int | None:
        """When to poll."""
        return self._now + self.stepper.wait_us

    @property
    def idle(self) -> bool:
        """Nothing waits."""
        return self.stepper.idle

    def close(self) -> None:
        """End the program; raises when a sanitizer had something to say."""
        self.stepper.close()
