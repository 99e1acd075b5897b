"""The example table in C as a running program: for the host on a pty, or on a bare Cortex-M3 under QEMU; its panel, and people at it."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import subprocess
import termios
import tty
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Self

import pytest

from hardware_sim import record
from hardware_sim.people import Progress
from tests.conftest import need_program
from tests.wire.c_device import built

FAST = 400
"""Times as fast as real motors."""
LOOK_S = 10.0
STEP_S = 20.0


def host_program(factory: pytest.TempPathFactory) -> Path:
    """The table as a program of this machine, under sanitizers."""
    return built(factory, "host") / "table-host"


def qemu_image(factory: pytest.TempPathFactory) -> Path:
    """The table for a bare Cortex-M3."""
    need_program("arm-none-eabi-gcc", "gcc-arm-none-eabi")
    return built(factory, "qemu") / "table-mps2.elf"


class Firmware:
    """The example table, running. `wire` is the path a host opens; the panel is lines of text both ways."""

    def __init__(self, process: subprocess.Popen[bytes], wire: str, panel_in: int, panel_out: int) -> None:  # fmt: skip
        self.process = process
        self.wire = wire
        self._in, self._out = panel_in, panel_out

    @classmethod
    def on_host(cls, program: Path, errors: Path, *options: str) -> Self:
        """`host_program`, on a pty; what a sanitizer says goes to `errors`."""
        with errors.open("wb") as complaints:
            process = subprocess.Popen(
                [program, *options],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=complaints,
            )
        assert process.stdin is not None
        assert process.stdout is not None
        panel_out, line = process.stdout.fileno(), b""
        while not line.endswith(b"\n"):
            line += os.read(panel_out, 1)
        return cls(process, line.decode().split()[1], process.stdin.fileno(), panel_out)

    @classmethod
    def on_qemu(cls, image: Path, *, noise: int = 0x1234567) -> Self:
        """`qemu_image`, under QEMU. `noise` 0: a board that has no boot_id."""
        qemu = need_program("qemu-system-arm")
        command = [qemu, "-M", "mps2-an385", "-nographic", "-monitor", "none", "-serial", "pty", "-serial", "pty",
                   "-device", f"loader,addr=0x20000000,data={noise},data-len=4", "-kernel", str(image)]  # fmt: skip
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        assert process.stdout is not None
        said = b""
        while len(re.findall(rb"/dev/\S+ ", said)) < 2:
            octets = os.read(process.stdout.fileno(), 200)
            assert octets, f"qemu ended: {said.decode()}"
            said += octets
        wire, panel = (name.decode().strip() for name in re.findall(rb"/dev/\S+ ", said))
        fd = os.open(panel, os.O_RDWR | os.O_NOCTTY)
        tty.setraw(fd, termios.TCSANOW)
        return cls(process, wire, fd, fd)

    def press(self, line: str) -> None:
        """A line for the panel."""
        os.write(self._in, line.encode() + b"\n")

    def read(self) -> str:
        """What the panel says next; waits for it."""
        return os.read(self._out, 4096).decode()

    @property
    def panel_fd(self) -> int:
        """Where the panel's text comes from."""
        return self._out

    def close(self) -> None:
        """End the program."""
        self.process.terminate()
        self.process.wait(timeout=10)
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                stream.close()
        if self._in == self._out:
            with contextlib.suppress(OSError):
                os.close(self._in)


@contextlib.contextmanager
def running(firmware: Firmware) -> Iterator[Firmware]:
    """The table while the block lasts."""
    try:
        yield firmware
    finally:
        firmware.close()


class PanelPeople:
    """Four people who play a record at the panel of a firmware; takes the simulator's place on the stage of a demo."""

    def __init__(
        self, firmware: Firmware, record_name: str, *, duties: frozenset[str], restart_after: int = -1
    ) -> None:  # fmt: skip
        self.path = firmware.wire
        self.on_event: Callable[[Progress], None] = lambda _progress: None
        self.table = self  # where a stage looks for `people.unmet` and `report`
        self.people = self
        self.unmet: list[str] = []
        self.presses = 0
        self.restarts = 0
        self.beeps = 0
        self.shown: dict[str, str] = {}
        """Last thing the panel said of each part."""
        self._firmware = firmware
        self._game = record.load(record_name)
        self._duties = duties
        self._restart_after = restart_after
        self._begun = asyncio.Event()
        self._played = asyncio.Event()
        self._answers = 0
        self._asked = 0
        self._changed = asyncio.Event()
        self._rest = ""

    # ------------------------------------------------------------------ what a stage does with it

    async def run(self) -> dict[str, Any]:
        """Play until cancelled."""
        loop = asyncio.get_running_loop()
        loop.add_reader(self._firmware.panel_fd, self._hear)
        try:
            self._press(f"speed {FAST}")
            await self._begun.wait()
            for hand in self._game.hands:
                await self._play(hand)
            self._tell("over", self._game.hands[-1].number)
            self._played.set()
            await asyncio.Event().wait()
        finally:
            loop.remove_reader(self._firmware.panel_fd)
        return self.report()

    def begin(self) -> None:
        """The host knows the game."""
        self._begun.set()

    def operator_done(self) -> None:
        """The host has what the operator entered."""
        self._answers += 1
        self._changed.set()

    async def played(self) -> dict[str, Any]:
        """Wait until the record is played."""
        await self._played.wait()
        return self.report()

    def close(self) -> None:
        """Nothing to close: the firmware is somebody else's."""

    def report(self) -> dict[str, Any]:
        """What the panel knows."""
        return {"executed_twice": 0, "presses": self.presses, "shown": dict(self.shown)}

    # ------------------------------------------------------------------ a hand

    async def _play(self, hand: record.Hand) -> None:
        if hand.number:
            await self._see_round(hand)
        if hand.number == self._restart_after:
            await self._restart(hand)
        self._tell("hand", hand.number)
        self._press(f"start {hand.dealer}")
        await self._until("walls", "up")
        await self._told()
        self._tell("lifted", hand.number)
        if hand.dice is not None:
            self._press("load {} {}".format(*hand.dice))
        self.shown.pop("dice", None)
        self._press(f"dice {hand.dealer}")
        await self._until("dice")
        await self._told()
        self._tell("dice", hand.number)
        for step in hand.steps:
            if step.kind == "stick":
                await self._ask("riichi", hand, step.index, step.seat)
        await self._ask("result", hand, len(hand.steps), -1)
        self._press(f"updown {hand.dealer}")
        await self._until("lid", "up")
        self._press(f"updown {hand.dealer}")
        await self._until("lid", "down")
        await self._until("walls", "ready")
        await self._told()
        self._tell("settled", hand.number)

    async def _see_round(self, hand: record.Hand) -> None:
        place = f"{'ESWN'[hand.round_wind]}{hand.round_number} dealer {hand.dealer}"
        await self._until("round", place)
        await self._until("honba", str(hand.honba))

    async def _restart(self, hand: record.Hand) -> None:
        """The board restarts: its displays are dark until the host has written them again."""
        self.shown.clear()
        self._press("reset")
        self.restarts += 1
        await self._until("link", "up")
        self._press(f"speed {FAST}")
        await self._see_round(hand)

    async def _ask(self, kind: str, hand: record.Hand, index: int, seat: int) -> None:
        waits = kind in self._duties
        self._asked += waits
        self.on_event(Progress(kind, hand.number, index, seat, waits))
        async with asyncio.timeout(STEP_S):
            while self._answers < self._asked:
                self._changed.clear()
                await self._changed.wait()

    # ------------------------------------------------------------------ the panel

    def _press(self, line: str) -> None:
        self.presses += 1
        self._firmware.press(line)

    def _tell(self, kind: str, hand: int) -> None:
        self.on_event(Progress(kind, hand))

    def _hear(self) -> None:
        *lines, self._rest = (self._rest + self._firmware.read()).split("\n")
        for line in lines:
            if line.startswith("lid ") and ", held " in line:
                self.shown["held"] = re.findall(r"held (\d+)", line)[0]
                continue
            part, _, value = line.partition(" ")
            self.shown[part] = value
            self.beeps += line == "beep"
        self._changed.set()

    async def _until(self, part: str, value: str | None = None) -> None:
        try:
            async with asyncio.timeout(LOOK_S):
                while (part not in self.shown) if value is None else (self.shown.get(part) != value):  # fmt: skip
                    self._changed.clear()
                    await self._changed.wait()
        except TimeoutError:
            raise AssertionError(f"{part} is not {value}; the panel says {self.shown}") from None

    async def _told(self) -> None:
        """Until the host has every event."""
        async with asyncio.timeout(STEP_S):
            while True:
                self.shown.pop("held", None)
                self._firmware.press("show")
                await self._until("held")
                if self.shown["held"] == "0":
                    return
