"""A bus under test: a table in memory, a writer that remembers its answers, a line that can be cut."""

from __future__ import annotations

import asyncio
import contextlib
import random
import uuid
from collections.abc import AsyncIterator, Sequence
from typing import Any

from tablectl.bus.broker import Broker
from tablectl.bus.client import BusStatus, TableBus
from tablectl.bus.payloads import (
    BridgeHealth,
    BridgeInfo,
    EventMessage,
    LinkStatus,
    MachineTrouble,
    PublicView,
    SeenEvent,
    Stamp,
    StateSnapshot,
)
from tablectl.bus.topics import Topics
from tablectl.bus.watcher import Watcher
from tablectl.engine.game.events import HandStarted
from tablectl.mirror.submit import Accepted, Fact, Refused, Request

TOPICS = Topics("hall", "t1")
WAIT = 20.0


class FakeTable:
    """A journal in memory: everything the bus reads of a table."""

    table_id = "t1"

    def __init__(self, epoch: int = 1, stream: str | None = None) -> None:
        self.epoch = epoch
        self.stream = stream or str(uuid.uuid4())
        self.events: list[EventMessage] = []
        self.cursor = 0
        self.link_status = LinkStatus(state="up", boot_id=7, since=1)

    def add(self, event: Any = None) -> None:
        seq = len(self.events) + 1
        event = event or HandStarted(0, 1, seq, 0, 0, (25000, 25000, 25000, 25000))
        stamp = Stamp(seq, str(uuid.uuid4()), self.epoch, 1_700_000_000_000 + seq, seq, True)
        self.events.append(EventMessage(self.stream, stamp, PublicView(event)))

    def last_seq(self) -> int:
        return len(self.events)

    def published(self) -> int:
        return self.cursor

    def recent_events(self, after: int, limit: int) -> Sequence[EventMessage]:
        return self.events[after : after + limit]

    async def public_events(self, after: int, limit: int) -> Sequence[EventMessage]:
        return self.events[after : after + limit]

    def mark_published(self, seq: int) -> None:
        self.cursor = seq

    def snapshot(self) -> StateSnapshot:
        return StateSnapshot(
            epoch=self.epoch, stream=self.stream, last_seq=len(self.events), last_event=None,
            t_wall=0, time_synced=True, durable=True, game=None,
        )  # fmt: skip

    def link(self) -> LinkStatus:
        return self.link_status

    def info(self) -> BridgeInfo:
        return BridgeInfo(
            software="tablectl 0", protocol="1.0", table_name="一番卓", venue_name="", level="tiles",
            model=None, serial_number=None, firmware=None, wire="1.0", wire_schema=None, capabilities=(),
        )  # fmt: skip

    def troubles(self) -> tuple[MachineTrouble, ...]:
        return ()

    def health(self) -> BridgeHealth:
        return BridgeHealth(t_wall=0, uptime_s=0, loop_lag_ms=0.1, outbox=0, durable=True, link={})


class FakeDesk:
    """A writer that accepts everything once and remembers its answers, like the journal does."""

    def __init__(self) -> None:
        self.asked: list[Request] = []
        self.answers: dict[str, Accepted | Refused] = {}
        self.fail = False

    async def fact(self, fact: Fact) -> Accepted | Refused:
        raise AssertionError("the bus reports no facts")

    async def request(self, request: Request) -> Accepted | Refused:
        if self.fail:
            raise RuntimeError("boom")
        if request.transaction not in self.answers:
            self.asked.append(request)
            ok = request.name != "nonsense"
            self.answers[request.transaction] = (
                Accepted((str(uuid.uuid4()),), durable=request.data.get("durable", True))
                if ok
                else Refused(
                    "unknown_request", "no such request", article="A1.1", hint="read the list"
                )
            )
        return self.answers[request.transaction]


class Bench:
    """A bus under test with what it said about itself."""

    def __init__(
        self, port: int, table: FakeTable, *, client_id: str = "", url: str = "", **more: Any
    ) -> None:
        self.table = table
        self.desk = FakeDesk()
        self.statuses: list[BusStatus] = []
        self._moved = asyncio.Condition()
        broker = Broker.from_url(
            url or f"mqtt://127.0.0.1:{port}", keepalive_s=more.pop("keepalive_s", 15), **more
        )
        self.bus = TableBus(
            broker, client_id or f"bus-{uuid.uuid4().hex[:8]}", TOPICS, table, self.desk,
            instance=str(uuid.uuid4()), on_status=self._note, rng=random.Random(1),
        )  # fmt: skip
        self.changed = asyncio.Event()

    def _note(self, status: BusStatus) -> None:
        self.statuses.append(status)
        self.changed.set()

    async def until(self, state: str, wait_s: float = WAIT) -> BusStatus:
        async with asyncio.timeout(wait_s):
            while self.bus.status.state != state:
                self.changed.clear()
                await self.changed.wait()
        return self.bus.status


@contextlib.asynccontextmanager
async def running(bench: Bench) -> AsyncIterator[Bench]:
    task = asyncio.create_task(bench.bus.run())
    try:
        yield bench
    finally:
        bench.bus.stop()
        async with asyncio.timeout(5):
            await task


def watcher(port: int) -> Watcher:
    return Watcher(Broker("127.0.0.1", port), TOPICS)


class StateLog:
    """Every value of `bridge/state` in the order a subscriber saw it."""

    def __init__(self, port: int) -> None:
        self.values: list[dict[str, Any]] = []
        self.watcher = Watcher(Broker("127.0.0.1", port), TOPICS, on_retained=self._note)

    def _note(self, topic: str, value: Any) -> None:
        if topic == TOPICS.bridge_state:
            self.values.append(value)

    async def until(self, *epochs_and_states: tuple[int, str]) -> None:
        """Wait until these values have come, in this order, others between them or not."""

        def came(_: object) -> bool:
            rest = iter((value["epoch"], value["state"]) for value in self.values)
            return all(wanted in rest for wanted in epochs_and_states)

        await self.watcher.until(came, WAIT)


def go(coroutine: Any) -> None:
    asyncio.run(coroutine)


def numbers(events: Sequence[SeenEvent]) -> list[int]:
    return [event.seq for event in events]


class CuttingProxy:
    """TCP in between that can be cut without a word, as a pulled cable does."""

    port: int
    server: asyncio.Server

    def __init__(self, target: int) -> None:
        self.target = target
        self.refuse = False
        self.writers: set[asyncio.StreamWriter] = set()
        self.tasks: set[asyncio.Task[None]] = set()

    @classmethod
    async def start(cls, target: int) -> CuttingProxy:
        proxy = cls(target)
        proxy.server = await asyncio.start_server(proxy._serve, "127.0.0.1", 0)
        proxy.port = proxy.server.sockets[0].getsockname()[1]
        return proxy

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self.refuse:
            writer.transport.abort()
            return
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self.target)
        self.writers |= {writer, far_writer}
        for pair in ((reader, far_writer), (far_reader, writer)):
            task = asyncio.create_task(self._pump(*pair))
            self.tasks.add(task)

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError):
            while data := await reader.read(4096):
                writer.write(data)
                await writer.drain()
        writer.transport.abort()

    def cut(self) -> None:
        for writer in self.writers:
            writer.transport.abort()
        self.writers.clear()

    async def stop(self) -> None:
        self.cut()
        self.server.close()
        await asyncio.gather(*self.tasks, return_exceptions=True)
