"""One table's connection and its life: discover → open → handshake → resync → up → lost → again."""

from __future__ import annotations

import asyncio
import functools
import logging
import random
import secrets
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, Protocol, TypeVar

from firmware_protocol.schema import Message
from tablectl.mirror.submit import Submit
from tablectl.table.capturing import Capture
from tablectl.table.drivers import (
    AskUnsettled,
    DeviceInfo,
    DriverContext,
    KnownBoot,
    MarkSent,
    Motion,
    MotionEnd,
    Output,
    Reopen,
    ReportFact,
    Say,
    SettleMotion,
    Standing,
    make_driver,
)
from tablectl.table.errors import PortError, PortLostError
from tablectl.table.locate import advice
from tablectl.table.machine import Machine
from tablectl.table.options import ReconnectOptions, TableOptions
from tablectl.table.port import CLOSE_MOST, OPEN_MOST, Port
from tablectl.table.reconnect import Backoff, FoldedLog

__all__ = [
    "ActionLedger",
    "DeviceInfo",
    "KnownBoot",
    "LinkState",
    "LinkStatus",
    "Motion",
    "Phase",
    "TableSession",
]

_LOG = logging.getLogger("tablectl.link")

LinkState = Literal["down", "resync", "up"]
"""What the bus publishes on `link`."""

Phase = Literal[
    "idle", "discover", "open", "handshake", "resync", "up", "lost", "refused", "closed"
]

STOP_MOST = 1.0
"""Seconds for the fact in hand to be written when the session is stopped."""
FACT_FIRST = 0.005
"""Seconds that the line may wait for a fact to be written: its acknowledgement goes out with the rest."""
LATE_MS = 50
"""A timer that comes so late says nothing of the board yet."""
INSIST_FIRST = 0.5
INSIST_MOST = 30.0
"""Seconds between attempts when the writer of facts fails: the board keeps its events meanwhile."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class LinkStatus:
    """Told to `on_link_state` once per change."""

    table_id: str
    state: LinkState
    phase: Phase
    since_mono_ms: int
    reason: str = ""
    """Why it is not up, for a person: what, where, and what to do next."""
    code: str = ""
    """Stable: `port_missing`, `port_busy`, `port_denied`, `version_refused`, `link_failed`, …"""
    device: DeviceInfo | None = None
    """Known from `resync` on; its capabilities are what the board has."""
    reset: bool = False
    """With `resync`: the board has started anew, motions in flight are unknown."""
    ever_up: bool = False
    """False: it has never worked since the daemon started. Look at cable and configuration."""
    warnings: tuple[str, ...] = field(default=())


class ActionLedger(Protocol):
    """The daemon's action rows as the session needs them. Each call may come twice."""

    async def sent(self, cmd_id: int) -> None:
        """The first frame of this motion is about to be written."""
        ...

    async def settled(self, cmd_id: int, state: MotionEnd, result: dict[str, int | str]) -> None:
        """The motion's fate is known, or known to be unknowable (see `drivers.SettleMotion`)."""
        ...

    async def unsettled(self) -> Sequence[Motion]:
        """Motions journaled and not settled, oldest first: asked for after each (re)connection."""
        ...


def _micros() -> int:
    return time.monotonic_ns() // 1000


class TableSession:
    """Runs one table's connection until it is stopped.

    `submit.fact` is awaited for each device event, in order, and the event is acknowledged only
    after it returned. `desired()` gives the SET messages of every display as they should be now;
    the session writes what differs and rewrites all after a reset. `on_link_state` is called in the
    loop, once per change. `known` is the latest device fact in the journal. `micros()` is the
    monotonic clock in µs, the same that `Motion.deadline_ms` and `since_mono_ms` are made of.
    Raises DriverError for a driver that is not there.
    """

    def __init__(
        self,
        options: TableOptions,
        submit: Submit,
        *,
        desired: Callable[[], Sequence[Message]],
        actions: ActionLedger,
        on_link_state: Callable[[LinkStatus], None],
        known: KnownBoot | None = None,
        micros: Callable[[], int] = _micros,
        wall_clock: Callable[[], int] = lambda: 0,
        reconnect: ReconnectOptions | None = None,
        seed: int | None = None,
    ) -> None:
        self.options = options
        self._submit = submit
        self._desired = desired
        self._actions = actions
        self._on_link_state = on_link_state
        self._micros = micros
        # Chance spreads attempts and names links; a seed makes both repeatable.
        rng = random.Random(secrets.randbits(64) if seed is None else seed)
        self._driver = make_driver(
            DriverContext(options, known or KnownBoot(), lambda: rng.getrandbits(32), wall_clock)
        )
        settings = reconnect or ReconnectOptions()
        self._backoff = Backoff(settings, rng)
        self._folded = FoldedLog(settings.fold_ms)
        self._status = LinkStatus(options.table_id, "down", "idle", micros() // 1000)
        self._port: Port | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._queue: asyncio.Queue[Output] = asyncio.Queue()
        self._in_hand: Output | None = None
        """What the worker deals with; a worker that comes after a cancelled one begins with it."""
        self._stop = asyncio.Event()
        self._ended = asyncio.Event()
        self._end: tuple[str, str] = ("", "")
        """(code, reason) of the end of this opening."""
        self._running = False
        self._done = asyncio.Event()
        self._capture = (
            Capture(options.capture, options.port.port, unmask=options.unmask)
            if options.capture is not None
            else None
        )
        self.reconnects = 0
        self.machine = Machine()
        """What the board has said about its own parts."""
        self._due_ms: int | None = None
        """When something must have happened at the latest; None: nothing is due."""

    # ------------------------------------------------------------------ what the daemon uses

    @property
    def status(self) -> LinkStatus:
        """The latest status."""
        return self._status

    @property
    def figures(self) -> dict[str, int]:
        """Counters for health and metrics."""
        port = self._port
        return {
            **self._driver.figures,
            "reconnects": self.reconnects,
            "queued": self._queue.qsize(),
            "octets_waiting": port.waiting if port is not None else 0,
        }

    @property
    def overdue_ms(self) -> int:
        """For how long it has not done what was due: a session that is not stuck stays near 0."""
        return 0 if self._due_ms is None else max(0, self._now_ms - self._due_ms)

    async def run(self) -> None:
        """Live until `stop` or cancellation; returns only after the port is really closed."""
        if self._running:
            raise RuntimeError("this session runs already")
        self._running = True
        self._done.clear()
        worker = asyncio.ensure_future(self._work())
        try:
            word = advice(self.options.port.port)
            if word:
                _LOG.warning("%s: %s", self.options.table_id, word)
            while not self._stop.is_set():
                code, reason = await self._once()
                if self._stop.is_set():
                    break
                await self._pause(code, reason)
        finally:
            await self._finish(worker)

    async def stop(self) -> None:
        """End within two seconds: write the fact in hand, close the port, return when `run` has ended."""
        self._stop.set()
        self._ended.set()
        if self._running:
            await self._done.wait()

    def refresh(self) -> None:
        """`desired()` has changed: write what differs (latest wins, 50 ms apart per display)."""
        self._driver.desire(self._desired(), self._micros())
        self._pump()

    def command(self, motion: Motion) -> None:
        """Send a motion now, or after the next resync with the same boot; `actions` hears its fate."""
        self._driver.command(motion, self._micros())
        self._pump()

    # ------------------------------------------------------------------ one opening

    async def _once(self) -> tuple[str, str]:
        """Open, live, close; returns (code, reason) of the end."""
        self._expect(OPEN_MOST)
        lost = asyncio.Event()
        why: list[PortLostError | None] = []

        def on_lost(error: PortLostError | None) -> None:
            why.append(error)
            lost.set()
            self._ended.set()

        self._ended.clear()
        if self._stop.is_set():
            return "", ""
        self._tell("down", "open", self._status.reason, self._status.code)
        opening = asyncio.ensure_future(Port.open(self.options.port, self._data, on_lost))
        stopping = asyncio.ensure_future(self._stop.wait())
        try:
            await asyncio.wait({opening, stopping}, return_when=asyncio.FIRST_COMPLETED)
            if not opening.done():
                return "", ""
            port = opening.result()
        except PortError as error:
            return error.code, str(error)
        finally:
            stopping.cancel()
            if not opening.done():
                opening.cancel()
        self._port = port
        self._end = ("", "")
        self._note(f"opened {port.path}")
        try:
            self._driver.opened(self._micros())
            self._driver.desire(self._desired(), self._micros())
            self._pump()
            await self._ended.wait()
        finally:
            self._port = None
            self._cancel_timer()
            self._expect(CLOSE_MOST)
            self._driver.closed(self._micros())
            self._dispatch()
            await asyncio.shield(asyncio.ensure_future(self._closing(port, lost)))
        code, reason = self._end
        if why[0] is not None:
            code, reason = why[0].code, str(why[0])
        self._note(f"closed: {reason or 'on request'}")
        return code, reason

    @staticmethod
    async def _closing(port: Port, lost: asyncio.Event) -> None:
        await port.close()
        await lost.wait()

    async def _pause(self, code: str, reason: str) -> None:
        """Tell why it ended, and wait before the next attempt."""
        was_up = self._status.state != "down" or self._status.phase in {"handshake", "up"}
        phase: Phase = "lost" if was_up else "discover"
        if code == "version_refused":
            phase = "refused"
        if not self._status.ever_up and code not in {"version_refused", ""}:
            reason += " (it has not worked since the start)"
        self._tell("down", phase, reason, code)
        self.reconnects += 1
        wait = self._backoff.wait_ms(code) / 1000
        self._expect(wait)
        try:
            await asyncio.wait_for(self._stop.wait(), wait)
        except TimeoutError:
            return

    async def _finish(self, worker: asyncio.Future[None]) -> None:
        """Ordered end: the fact in hand first, with a time limit (known fault 7)."""
        try:
            await asyncio.wait_for(self._queue.join(), STOP_MOST)
        except (TimeoutError, asyncio.CancelledError):
            _LOG.debug(
                "%s: stopped with facts not written; the board keeps them", self.options.table_id
            )
        worker.cancel()
        await asyncio.wait({worker})
        self._tell("down", "closed", "stopped", "stopped")
        if self._capture is not None:
            self._capture.close()
        self._running = False
        self._due_ms = None
        self._done.set()

    # ------------------------------------------------------------------ octets and time

    def _data(self, data: bytes) -> None:
        now = self._micros()
        if self._capture is not None:
            self._capture.received(data, now)
        self._guarded(lambda: self._driver.receive(data, now), later=True)

    def _on_timer(self) -> None:
        self._timer = None
        if self._port is not None and self.overdue_ms > LATE_MS:
            # The loop was busy elsewhere: what the board said meanwhile is heard before it is called silent.
            self._port.look()
        self._guarded(lambda: self._driver.poll(self._micros()))

    def _guarded(self, step: Callable[[], None], *, later: bool = False) -> None:
        """A driver's defect costs this opening of this table, nothing else."""
        try:
            step()
            if later and self._dispatch():
                # A fact goes first: what the line needs is written when it is, or in a moment.
                self._wake_in(FACT_FIRST)
            else:
                self._pump()
        except Exception as error:  # noqa: BLE001 - see above
            _LOG.exception("%s: driver %s", self.options.table_id, self.options.driver)
            self._end_opening("driver_failed", f"driver {self.options.driver}: {error!r}")

    def _pump(self) -> None:
        """Outputs to the worker, octets to the port, the timer to the next deadline."""
        self._dispatch()
        port = self._port
        if port is None:
            return
        now = self._micros()
        data = self._driver.data_to_send(now)
        if data:
            if self._capture is not None:
                self._capture.sent(data, now)
            port.write(data)
        due = self._driver.next_deadline
        if due is not None:
            # Never at once: a driver that always wants something must not stop the loop.
            self._wake_in(max((due - now) / 1e6, 0.001))
        else:
            self._cancel_timer()
            self._due_ms = None

    def _wake_in(self, seconds: float) -> None:
        self._cancel_timer()
        self._timer = asyncio.get_running_loop().call_later(seconds, self._on_timer)
        self._expect(seconds)

    def _expect(self, seconds: float) -> None:
        self._due_ms = self._now_ms + round(seconds * 1000)

    def _cancel_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _dispatch(self) -> bool:
        """Hand on what the driver wants; True when the worker has something to do."""
        queued = False
        for output in self._driver.take():
            if isinstance(output, Say):
                _LOG.log(output.level, "%s: %s", self.options.table_id, output.text)
            elif isinstance(output, Reopen):
                self._end_opening(output.code, output.reason)
            else:
                self._queue.put_nowait(output)
                queued = True
        return queued

    def _end_opening(self, code: str, reason: str) -> None:
        if not self._ended.is_set():
            self._end = (code, reason)
            self._ended.set()

    # ------------------------------------------------------------------ outputs, one after the other

    async def _work(self) -> None:
        while True:
            if self._in_hand is None:
                self._in_hand = await self._queue.get()
            output = self._in_hand
            answer = await self._deal(output)
            self._in_hand = None
            self._queue.task_done()
            self._guarded(functools.partial(self._driver.done, output, self._micros(), answer))

    async def _deal(self, output: Output) -> Sequence[Motion]:
        match output:
            case ReportFact():
                fact = output.fact
                await self._insist("writing a fact", lambda: self._submit.fact(fact))
                self._guarded(lambda: self._observed(fact.message))
            case MarkSent():
                cmd_id = output.cmd_id
                await self._insist("marking a motion", lambda: self._actions.sent(cmd_id))
            case SettleMotion():
                settled = output
                await self._insist(
                    "settling a motion",
                    lambda: self._actions.settled(settled.cmd_id, settled.state, settled.result),
                )
            case AskUnsettled():
                return await self._insist("asking for motions", self._actions.unsettled)
            case Standing():
                self._standing(output)
        return ()

    def _observed(self, message: Message) -> None:
        for level, text in self.machine.observe(message):
            _LOG.log(level, "%s: %s", self.options.table_id, text)

    async def _insist(self, what: str, work: Callable[[], Awaitable[T]]) -> T:
        """Until it succeeds: an event that is not written is not acknowledged, and nothing is skipped."""
        wait = INSIST_FIRST
        while True:
            try:
                return await work()
            except Exception as error:  # noqa: BLE001 - whatever the writer's defect, the fact is kept
                told = self._folded.line(
                    f"{what} failed: {type(error).__name__}: {error}", self._now_ms
                )
                if told is not None:
                    _LOG.exception("%s: %s", self.options.table_id, told)
            await asyncio.sleep(wait)
            wait = min(2 * wait, INSIST_MOST)

    # ------------------------------------------------------------------ status

    def _standing(self, standing: Standing) -> None:
        if self._port is None and standing.stand != "refused":
            return  # told by an opening that has ended since
        match standing.stand:
            case "up":
                self._backoff.reset()
                self._tell_standing("up", "up", standing)
            case "resync":
                if standing.reset:
                    self.machine.forget()
                self._tell_standing("resync", "resync", standing)
            case "handshake":
                self._tell_standing("down", "handshake", standing)
            case "refused":
                self._tell_standing("down", "refused", standing)
                self._end_opening(standing.code, standing.reason)

    def _tell_standing(self, state: LinkState, phase: Phase, standing: Standing) -> None:
        self._tell(
            state,
            phase,
            standing.reason,
            standing.code,
            device=standing.device,
            reset=standing.reset,
            warnings=standing.warnings,
        )

    def _tell(
        self,
        state: LinkState,
        phase: Phase,
        reason: str,
        code: str,
        *,
        device: DeviceInfo | None = None,
        reset: bool = False,
        warnings: tuple[str, ...] = (),
    ) -> None:
        before = self._status
        status = LinkStatus(
            self.options.table_id,
            state,
            phase,
            before.since_mono_ms,
            reason,
            code,
            device,
            reset,
            before.ever_up or state == "up",
            warnings,
        )
        if status == before:
            return
        if status.state != before.state:
            status = replace(status, since_mono_ms=self._now_ms)
        self._status = status
        self._log(status, before)
        try:
            self._on_link_state(status)
        except Exception:  # noqa: BLE001 - the listener's defect must not end the connection
            _LOG.exception("%s: the new link state could not be told", self.options.table_id)

    def _log(self, status: LinkStatus, before: LinkStatus) -> None:
        """One line per change of state; the reason of a failure again only folded."""
        if status.phase in {"open", "handshake"} and not status.code:
            return
        text = f"link {status.state}" + (f": {status.reason}" if status.reason else "")
        if status.state == "up" and status.device is not None:
            who = " ".join(p for p in (status.device.model, status.device.serial_number) if p)
            text += f": {who or 'board'}, firmware {status.device.firmware}, level {status.device.level}"
        self._note(text)
        if status.state == "up":
            self._folded.line("", self._now_ms)
            _LOG.info("%s: %s", self.options.table_id, text)
            for warning in status.warnings:
                _LOG.warning("%s: %s", self.options.table_id, warning)
            return
        if status.phase in {"open", "closed"} or status.state == "resync":
            _LOG.debug("%s: %s", self.options.table_id, text)
            return
        told = self._folded.line(text, self._now_ms)
        if told is not None:
            level = (
                logging.ERROR
                if before.state == "up" or status.phase == "refused"
                else logging.WARNING
            )
            _LOG.log(level, "%s: %s", self.options.table_id, told)

    def _note(self, text: str) -> None:
        if self._capture is not None:
            self._capture.remark(text, self._micros())

    @property
    def _now_ms(self) -> int:
        return self._micros() // 1000
