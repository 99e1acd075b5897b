"""The firmware: answers the host, does actions once, keeps events until they are acknowledged.

Board and machine are two things: the board may restart, freeze or drift while the machine stands.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from firmware_protocol import messages as m
from firmware_protocol.deliveries import Delivery, Item, LinkFailed, LinkUp, LogBytes, State
from firmware_protocol.errors import QueueFull
from firmware_protocol.link import Link
from firmware_protocol.paging import Place, info_page, snapshot_page, state_digest
from firmware_protocol.schema import Kind, Message, Schema
from firmware_protocol.vocabulary import InfoKey, LogLevel, ResetCause, Status
from hardware_sim.clock import Agenda

READING = 5_000_000
"""µs within which a host asks for the state, or its next page, when it wants it at all."""
BURST = 8
"""Sightings of so many events at once are the work of hands; more are a sweep over a whole zone."""
BOOT_TEXT = b"\r\ntable board, cold start\r\nself test ok\r\n"


@dataclass(frozen=True, slots=True)
class Firmware:
    """Which firmware a board runs, and what is odd about it."""

    version: tuple[int, int, int] = (1, 0, 0)
    schema: Schema = m.SCHEMA
    event_capacity: int = 128
    window: int = 4
    has_boot_id: bool = True
    """False: sends boot_id 0, a restart is seen by its uptime going back."""
    answer_delay: float = 0.0
    """Seconds the board thinks before it acts on what came in (a slow board)."""
    chatty: bool = False
    """Prints a boot text on the same line."""
    model: str = "SIM-1 全自動卓"
    serial_number: str = "SIM0001"


class Board:
    """One microcontroller: a link in the device's role, and what it does for the machine."""

    def __init__(
        self,
        agenda: Agenda,
        firmware: Firmware,
        capabilities: int,
        *,
        seed: int,
        state: Callable[[], m.SnapshotState],
        tiles: Callable[[], dict[Place, list[m.TileAt]]],
        act: Callable[[Message], None],
        host_gone: Callable[[], None],
    ) -> None:
        self._agenda = agenda
        self.firmware = firmware
        self.capabilities = capabilities
        self.moving: Callable[[], bool] = lambda: False
        """Whether a motor turns; set by the table."""
        self.test_mode = False
        self.boots = 0
        self.executed: Counter[int] = Counter()
        """cmd_id → how often the machine was really set in motion for it, over all boots."""
        self.results: dict[int, int] = {}
        """cmd_id → how it ended."""
        self.refused: Counter[int] = Counter()
        self.received: Counter[str] = Counter()
        """Messages of the host by name."""
        self.sent: Counter[str] = Counter()
        self.events_lost = 0
        """Events that found no room, over all boots."""
        self.noise = bytearray()
        self.links = 0
        self._rng = random.Random(f"board/{seed}")
        self._state = state
        self._tiles = tiles
        self._act = act
        self._host_gone = host_gone
        self._drift_ppm = 0
        self._drift_from = 0
        self._drift_base = 0
        self._frozen_until: int | None = None
        self._waiting: list[tuple[int, list[Item]]] = []
        self._raw = bytearray()
        self._last_page = 0
        self._reading_until: int | None = None
        self._sweep: list[Message] = []
        self._emit_left = 0
        self._emit_number = 0
        self._emit_gap = 0
        self._emit_at = 0
        self._digested: m.SnapshotState | None = None
        self.link = self._boot(ResetCause.POWER_ON)

    # ------------------------------------------------------------------ life

    def _boot(self, cause: int) -> Link:
        self.boots += 1
        boot_id = self._rng.randrange(1, 1 << 32) if self.firmware.has_boot_id else 0
        major, minor, patch = self.firmware.version
        if self.firmware.chatty:
            self._raw += BOOT_TEXT
        return Link.device(
            self._device_time(self._agenda.now), boot_id=boot_id, capabilities=self.capabilities, reset_cause=cause,
            version=major << 24 | minor << 16 | patch << 8, event_capacity=self.firmware.event_capacity,
            schema=self.firmware.schema, window=self.firmware.window,
        )  # fmt: skip

    def reset(self, cause: int) -> None:
        """Restart: a new boot_id, events and memory of actions are gone."""
        self._raw.clear()
        self.test_mode = False
        self._emit_left = 0
        self._frozen_until = None
        self._digested = None
        self._sweep.clear()
        self._waiting.clear()
        self.link = self._boot(cause)

    def freeze(self, seconds: float) -> None:
        """The program hangs: nothing is read, nothing is written."""
        self._frozen_until = self._agenda.now + round(seconds * 1_000_000)

    @property
    def frozen(self) -> bool:
        """True while the program hangs."""
        return self._frozen_until is not None and self._agenda.now < self._frozen_until

    def drift(self, ppm: int) -> None:
        """From now on the board's crystal is off by so many parts per million."""
        self._drift_base = self._device_time(self._agenda.now)
        self._drift_from = self._agenda.now
        self._drift_ppm = ppm

    def linked(self) -> bool:
        """True while the host is there."""
        return self.link.state is State.UP

    def told(self) -> bool:
        """True when the host has accepted every event so far and is not just reading a snapshot."""
        return (
            self.linked()
            and not self._sweep
            and self.link.send_space(Kind.EVENT) >= self.firmware.event_capacity
        )

    # ------------------------------------------------------------------ octets and time

    def receive(self, data: bytes) -> None:
        """Octets of the host."""
        if not self.frozen:
            self._take(self.link.receive(data, self._device_time(self._agenda.now)))

    def advance(self) -> None:
        """Let time pass."""
        now = self._agenda.now
        if self.frozen:
            return
        self._refresh()
        while self._waiting and self._waiting[0][0] <= now:
            self._handle(self._waiting.pop(0)[1])
        while self._emit_left and self._emit_at <= now and self.link.send_space(Kind.EVENT):
            self._emit_left -= 1
            self._emit_at = max(self._emit_at + self._emit_gap, now if not self._emit_gap else 0)
            self.emit(m.TestEvent(self._emit_number, self._rng.randrange(-(1 << 31), 1 << 31)))
            self._emit_number += 1
        self._pour()
        self._take(self.link.poll(self._device_time(now)))

    def data_to_send(self) -> bytes:
        """Octets for the host."""
        if self.frozen:
            return b""
        raw = bytes(self._raw)
        self._raw.clear()
        return raw + self.link.data_to_send(self._device_time(self._agenda.now))

    @property
    def next_deadline(self) -> int | None:
        """When `advance` wants to be called."""
        if self.frozen:
            return self._frozen_until
        times = [self._waiting[0][0]] if self._waiting else []
        if self._emit_left and self.link.send_space(Kind.EVENT):
            times.append(self._emit_at)
        due = self.link.next_deadline
        if due is not None:
            times.append(self._real_time(due))
        return min(times, default=None)

    def _device_time(self, now: int) -> int:
        since = now - self._drift_from
        return self._drift_base + since + since * self._drift_ppm // 1_000_000

    def _real_time(self, device: int) -> int:
        since = device - self._drift_base
        # One microsecond more: rounding must not wake the board a moment before its deadline for ever.
        slack = 1 if self._drift_ppm else 0
        return self._drift_from + since * 1_000_000 // (1_000_000 + self._drift_ppm) + slack

    # ------------------------------------------------------------------ sending

    def emit(self, event: Message) -> None:
        """An event of the machine: kept until the host has it; lost when there is no room or no program."""
        if self.frozen:
            return
        self.sent[event.SPEC.name] += 1
        if not self.link.send(event, self._device_time(self._agenda.now)):
            self.events_lost += 1
            self._expect_reading()

    def emit_sweep(self, events: Sequence[Message]) -> None:
        """What a sweep over many tags finds: told as fast as there is room, behind one another."""
        if len(events) <= BURST and not self._sweep:
            for event in events:
                self.emit(event)
        elif not self.frozen:
            self._sweep += events
            self._pour()

    def _pour(self) -> None:
        """A quarter of the buffer stays free for what cannot wait."""
        room = self.firmware.event_capacity // 4
        while self._sweep and self.link.send_space(Kind.EVENT) > room:
            self.emit(self._sweep.pop(0))

    def reply(self, message: Message) -> None:
        """An answer or a log line; dropped when the host is not there or the queue is full."""
        if self.linked():
            try:
                self.link.send(message, self._device_time(self._agenda.now))
            except QueueFull:
                return
            self.sent[message.SPEC.name] += 1

    def print_raw(self, data: bytes) -> None:
        """Octets that are no frame, on the same line."""
        self._raw += data

    def log(self, level: LogLevel, text: str) -> None:
        """A line of the board's log."""
        self.reply(m.LogText(level, text))

    def finish(self, cmd_id: int, result: int, detail: int) -> None:
        """An action ended."""
        self.results[cmd_id] = result
        self.sent["ActionResult"] += 1
        before = self.link.event_no
        self.link.finish(cmd_id, result, detail, self._device_time(self._agenda.now))
        self.events_lost += self.link.event_no == before

    def started(self, cmd_id: int) -> None:
        """The machine was set in motion for this action."""
        self.executed[cmd_id] += 1

    @property
    def executed_twice(self) -> int:
        """Actions that were done more than once: must be 0."""
        return sum(1 for count in self.executed.values() if count > 1)

    # ------------------------------------------------------------------ receiving

    def _take(self, items: list[Item]) -> None:
        if not items:
            return
        delay = self.firmware.answer_delay
        if delay:
            self._waiting.append((self._agenda.now + round(delay * 1_000_000), items))
        else:
            self._handle(items)

    def _handle(self, items: list[Item]) -> None:
        for item in items:
            if isinstance(item, Delivery):
                self.received[item.message.SPEC.name] += 1
                self._dispatch(item.message)
                self.link.accept(item)
            elif isinstance(item, LinkUp):
                self._expect_reading()
            elif isinstance(item, LinkFailed):
                if item.reason == "silent":
                    self._host_gone()
            elif isinstance(item, LogBytes):
                self.noise += item.data[: 4096 - len(self.noise)]

    def _dispatch(self, message: Message) -> None:
        match message:
            case m.InfoRequest():
                self._info(message)
            case m.SnapshotRequest():
                self._page(message)
            case m.TestEmit():
                if self.test_mode:
                    self._emit_left, self._emit_number = message.count, 0
                    self._emit_gap = message.interval_ms * 1000
                    self._emit_at = self._agenda.now
                else:
                    self.log(LogLevel.WARNING, "TestEmit outside test mode")
            case m.SetTestMode():
                self.test_mode = bool(message.on)
                if not message.on:
                    self._emit_left = 0
            case _:
                self._act(message)

    def _info(self, request: m.InfoRequest) -> None:
        texts: dict[int, str] = {
            InfoKey.MODEL: self.firmware.model,
            InfoKey.SERIAL_NUMBER: self.firmware.serial_number,
            InfoKey.VENDOR: "tablectl hardware_sim",
            InfoKey.FIRMWARE: ".".join(str(n) for n in self.firmware.version),
            InfoKey.HARDWARE: "simulated",
            InfoKey.TILE_SETS: "blue, yellow",
        }
        self.reply(info_page(request, texts))
        if self._reading_until is not None:
            self._expect_reading()

    def _page(self, request: m.SnapshotRequest) -> None:
        version = self.link.event_no
        page = snapshot_page(request, version, self._state(), self._tiles())
        self.reply(page)
        if isinstance(page, m.SnapshotState):
            self._last_page = page.pages - 1
        here = page.page if isinstance(page, m.SnapshotTiles) else 0
        if here < self._last_page:
            self._expect_reading()
        else:
            self._reading_until = None

    def _expect_reading(self) -> None:
        """The host is about to read the state, or the next page of it."""
        self._reading_until = self._agenda.now + READING
        self._agenda.at(self._reading_until, lambda: None)

    def _refresh(self) -> None:
        """Keep what the heartbeat tells up to date."""
        state = self._state()
        if state != self._digested:
            self._digested = state
            self.link.state_digest = state_digest(state)
        self.link.status = (
            (Status.MOVING if self.moving() else 0) | (Status.LOCKED if state.locked else 0)
            | (Status.FAULT if state.fault else 0) | (Status.TEST_MODE if self.test_mode else 0)
        )  # fmt: skip
