"""A pty that can be unplugged, and a small board on it that speaks the real link."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
import time
import tty
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any

from firmware_protocol import deliveries as d
from firmware_protocol import messages as m
from firmware_protocol.link import Link
from firmware_protocol.paging import info_page, snapshot_page, state_digest
from firmware_protocol.schema import Message, Schema
from firmware_protocol.vocabulary import LEVEL_SCORE, ActionKind, InfoKey, Phase, Result
from tablectl.mirror.submit import Accepted, Fact, Refused, Request
from tablectl.table.drivers import Motion, MotionEnd
from tablectl.table.options import PortOptions, ReconnectOptions, TableOptions
from tablectl.table.session import LinkStatus, TableSession

LIMIT = 20.0
QUICK = ReconnectOptions(first_ms=20, factor=1.2, most_ms=100, missing_ms=50, refused_ms=100)


def play(work: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Run a test in a loop of its own, with a limit, and look for descriptors left open."""
    before = descriptors()
    asyncio.run(asyncio.wait_for(work(), LIMIT))
    after = descriptors()
    assert after == before, f"descriptors left open: {after - before}"


def descriptors() -> set[str]:
    """Numbers and targets of the open descriptors of this process."""
    found = set()
    for link in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(OSError):
            found.add(f"{link.name}:{os.readlink(link)}")  # noqa: PTH115 - the text, not a path
    return {name for name in found if "/proc/" not in name}


class Bell:
    """Rings on every change; `until` waits for a condition without sleeping."""

    def __init__(self) -> None:
        self._event = asyncio.Event()

    def ring(self) -> None:
        self._event.set()

    async def until(self, condition: Callable[[], bool]) -> None:
        while not condition():
            self._event.clear()
            await self._event.wait()


class Pty:
    """A serial port with a name; `unplug` hangs up, `plug` makes a new device of the same name."""

    def __init__(self, link: Path) -> None:
        self.link = link
        self.master = self.slave = -1
        self.plug()

    @property
    def path(self) -> str:
        return str(self.link)

    def plug(self) -> None:
        self.master, self.slave = os.openpty()
        tty.setraw(self.slave)
        os.set_blocking(self.master, False)
        self.link.symlink_to(os.ttyname(self.slave))

    def unplug(self) -> None:
        if self.master >= 0:
            self.link.unlink(missing_ok=True)
            os.close(self.slave)
            os.close(self.master)
            self.master = self.slave = -1


class Board:
    """A device end on a pty: answers what every board has to, does what the test says."""

    def __init__(
        self,
        pty: Pty,
        bell: Bell,
        *,
        boot_id: int = 0x1111,
        capabilities: int = int(LEVEL_SCORE),
        schema: Schema = m.SCHEMA,
        version: int = 0x01020300,
    ) -> None:
        self.pty, self.bell = pty, bell
        self.loop = asyncio.get_running_loop()
        self.capabilities, self.schema, self.version = capabilities, schema, version
        self.executed: list[int] = []
        self.finish_actions = True
        self.shown: list[Message] = []
        self.requests: list[Message] = []
        self.silent: set[type[Message]] = set()
        """Requests that are not answered."""
        self.state = m.SnapshotState(0, 1, Phase.DOWN, (Phase.DOWN,) * 4, 0, 0, (0,) * 20, 0)
        self.tiles: dict[tuple[int, int], list[m.TileAt]] = {}
        self.accepts = True
        self._timer: asyncio.TimerHandle | None = None
        self._pending = bytearray()
        self._attached = False
        self.boot(boot_id)
        self.attach()

    @staticmethod
    def now() -> int:
        return time.monotonic_ns() // 1000

    def boot(self, boot_id: int, cause: int = 1) -> None:
        """Start anew: all memory gone."""
        self.link = Link.device(
            self.now(),
            boot_id=boot_id,
            capabilities=self.capabilities,
            reset_cause=cause,
            version=self.version,
            schema=self.schema,
        )
        self.link.state_digest = state_digest(self.state)
        if self._attached:
            self._turn()

    def attach(self) -> None:
        self._attached = True
        self.loop.add_reader(self.pty.master, self._readable)
        self._turn()

    def detach(self) -> None:
        if self._attached:
            self._attached = False
            self.loop.remove_reader(self.pty.master)
            self.loop.remove_writer(self.pty.master)
            if self._timer is not None:
                self._timer.cancel()

    def unplug(self) -> None:
        self.detach()
        self.pty.unplug()

    def replug(self) -> None:
        self.pty.plug()
        self.attach()

    def event(self, message: Message) -> int:
        number = self.link.send(message, self.now())
        self._turn()
        return number

    def lift(self) -> None:
        """The walls come up, event by event."""
        import dataclasses

        self.state = dataclasses.replace(self.state, walls=(Phase.UP,) * 4)
        self.link.state_digest = state_digest(self.state)
        self.event(m.WallEvent(255, Phase.UP, 0, 0))

    def raw(self, data: bytes) -> None:
        """Octets that are no frame."""
        os.write(self.pty.master, data)

    def _readable(self) -> None:
        try:
            data = os.read(self.pty.master, 65536)
        except OSError:
            return  # nobody has the other end open
        for item in self.link.receive(data, self.now()):
            self._item(item)
        self._turn()

    def _turn(self) -> None:
        for item in self.link.poll(self.now()):
            self._item(item)
        self._pending += self.link.data_to_send(self.now())
        self._flush()
        if self._timer is not None:
            self._timer.cancel()
        due = self.link.next_deadline
        if due is not None and self._attached:
            delay = max((due - self.now()) / 1e6, 0.001)
            self._timer = self.loop.call_later(delay, self._turn)
        self.bell.ring()

    def _flush(self) -> None:
        with contextlib.suppress(OSError):
            while self._pending:
                del self._pending[: os.write(self.pty.master, self._pending)]

    def _item(self, item: d.Item) -> None:
        if not isinstance(item, d.Delivery):
            return
        message, link = item.message, self.link
        if message.SPEC.kind.value == "set":
            self.shown.append(message)
        if item.ticket:
            link.accept(item)
        if type(message) in self.silent:
            self.requests.append(message)
            return
        match message:
            case m.InfoRequest():
                self.requests.append(message)
                texts = {InfoKey.MODEL: "試験卓 MJ-1", InfoKey.SERIAL_NUMBER: "0001"}
                link.send(info_page(message, {int(k): v for k, v in texts.items()}), self.now())
            case m.SnapshotRequest():
                self.requests.append(message)
                page = snapshot_page(message, link.event_no, self.state, self.tiles)
                link.send(page, self.now())
            case m.Action():
                self.executed.append(message.cmd_id)
                if self.finish_actions:
                    link.finish(message.cmd_id, Result.DONE, 7, self.now())


class Ledger:
    """The daemon's side: facts, action rows and link states, as they come."""

    def __init__(self, bell: Bell) -> None:
        self.bell = bell
        self.facts: list[Fact] = []
        self.trace: list[tuple[str, Any]] = []
        self.rows: dict[int, Motion] = {}
        self.settlements: dict[int, tuple[MotionEnd, dict[str, int | str]]] = {}
        self.statuses: list[LinkStatus] = []
        self.displays: list[Message] = []
        self.gate = asyncio.Event()
        self.gate.set()
        self.after = asyncio.Event()
        self.after.set()
        """Cleared: a fact is written, but its writer does not hear of it any more."""
        self.waiting = 0
        self.fail: Exception | None = None

    async def fact(self, fact: Fact) -> Accepted | Refused:
        self.waiting += 1
        self.bell.ring()
        await self.gate.wait()
        if self.fail is not None:
            raise self.fail
        self.facts.append(fact)
        self.trace.append(("fact", fact.event_no))
        self.bell.ring()
        await self.after.wait()
        return Accepted(())

    async def request(self, request: Request) -> Accepted | Refused:
        raise AssertionError(request)

    async def sent(self, cmd_id: int) -> None:
        self.trace.append(("sent", cmd_id))
        self.rows[cmd_id] = Motion(
            cmd_id, self.rows[cmd_id].message, self.rows[cmd_id].deadline_ms, True
        )
        self.bell.ring()

    async def settled(self, cmd_id: int, state: MotionEnd, result: dict[str, int | str]) -> None:
        self.trace.append(("settled", cmd_id))
        self.rows.pop(cmd_id, None)
        self.settlements.setdefault(cmd_id, (state, result))
        self.bell.ring()

    async def unsettled(self) -> Sequence[Motion]:
        return list(self.rows.values())

    def told(self, status: LinkStatus) -> None:
        self.statuses.append(status)
        self.bell.ring()

    @property
    def status(self) -> LinkStatus:
        return self.statuses[-1]

    def up(self) -> bool:
        return bool(self.statuses) and self.status.state == "up"

    def motion(self, cmd_id: int, *, in_ms: int | None = 15_000, sent: bool = False) -> Motion:
        deadline = None if in_ms is None else time.monotonic_ns() // 1_000_000 + in_ms
        self.rows[cmd_id] = Motion(
            cmd_id, m.Action(cmd_id, ActionKind.LIFT, 0, 0, 0), deadline, sent
        )
        return self.rows[cmd_id]

    def events(self) -> list[int]:
        return [fact.event_no for fact in self.facts if fact.event_no is not None]


_seeds = itertools.count(1)
"""Each host draws other nonces, as in life: with the same one a board takes it for the same host."""


def session(ledger: Ledger, port: str, *, driver: str = "framed", **more: Any) -> TableSession:
    options = TableOptions(
        "t1",
        PortOptions(port),
        driver=driver,
        flash_hint="make flash",
        **{k: more.pop(k) for k in ("capture", "unmask", "motion_patience_ms") if k in more},
    )
    return TableSession(
        options,
        ledger,
        desired=lambda: ledger.displays,
        actions=ledger,
        on_link_state=ledger.told,
        reconnect=QUICK,
        seed=next(_seeds),
        **more,
    )
