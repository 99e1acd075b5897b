"""The bus against a real mosquitto: what a subscriber hears through losses, lies and take-overs."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import random
import uuid
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import aiomqtt
import pytest
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties

from tablectl.bus.broker import Broker, backoff
from tablectl.bus.client import BusStatus, TableBus
from tablectl.bus.payloads import (
    BridgeHealth,
    BridgeInfo,
    EventMessage,
    LinkStatus,
    PublicView,
    Response,
    SecretEventError,
    SeenEvent,
    Stamp,
    StateSnapshot,
)
from tablectl.bus.topics import TopicError, Topics
from tablectl.bus.watcher import Watcher
from tablectl.engine.game.codec import tile_of
from tablectl.engine.game.events import Drawn, HandStarted, MissedWin
from tablectl.mirror.submit import Accepted, Fact, Refused, Request
from tests.first_light.brokers import Mosquitto, mosquitto

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


@pytest.fixture
def hall(tmp_path: Path) -> Iterator[Mosquitto]:
    with mosquitto(tmp_path) as broker:
        yield broker


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


# ---- what goes out ----------------------------------------------------------------------------------


def test_events_come_in_order_and_retained_topics_say_who_speaks(hall: Mosquitto) -> None:
    async def story() -> None:
        table = FakeTable(epoch=17)
        for _ in range(250):
            table.add()
        async with watcher(hall.port).connected() as seen_by:
            async with running(Bench(hall.port, table)) as bench:
                await seen_by.until(lambda seen: seen.last_seq == 250, WAIT)
                for _ in range(250):
                    table.add()
                    bench.bus.wake()
                await seen_by.until(
                    lambda seen: (seen.retained.get("state") or {}).get("last_seq") == 500, WAIT
                )
            await seen_by.until(
                lambda seen: seen.retained["bridge/state"]["state"] == "offline", WAIT
            )
        seen = seen_by.seen
        assert numbers(seen.events) == list(range(1, 501))
        assert seen.gaps == []
        assert seen.retained["bridge/info"]["table_name"] == "一番卓"
        assert seen.retained["link"]["state"] == "up"
        assert seen.retained["bridge/health"]["durable"] is True
        assert seen.retained["bridge/state"]["state"] == "offline"
        assert seen.retained["bridge/state"]["epoch"] == 17
        assert table.cursor == 500

    go(story())


def test_an_event_is_never_retained_and_a_late_subscriber_gets_the_snapshot(
    hall: Mosquitto,
) -> None:
    async def story() -> None:
        table = FakeTable()
        for _ in range(5):
            table.add()
        async with running(Bench(hall.port, table)) as bench:
            async with watcher(hall.port).connected() as first:
                await first.until(
                    lambda seen: (seen.retained.get("state") or {}).get("last_seq") == 5, WAIT
                )
            async with watcher(hall.port).connected() as late:
                await late.until(lambda seen: "state" in seen.retained, WAIT)
                table.add()
                bench.bus.wake()
                await late.until(lambda seen: seen.last_seq == 6, WAIT)
            assert numbers(late.seen.events) == [6]

    go(story())


def test_snapshots_are_few_and_the_last_one_always_comes(hall: Mosquitto) -> None:
    async def story() -> None:
        table = FakeTable()
        states: list[int] = []

        def note(topic: str, value: Any) -> None:
            if topic == TOPICS.state:
                states.append(value["last_seq"])

        listener = Watcher(Broker("127.0.0.1", hall.port), TOPICS, on_retained=note)
        async with listener.connected(), running(Bench(hall.port, table)) as bench:
            await bench.until("online")
            began = asyncio.get_running_loop().time()
            for _ in range(2_000):
                table.add()
                bench.bus.wake()
                await asyncio.sleep(0)
            await listener.until(lambda _: bool(states) and states[-1] == 2_000, WAIT)
            took = asyncio.get_running_loop().time() - began
        assert states == sorted(states)
        assert len(states) <= 5 * took + 3

    go(story())


# ---- losses -------------------------------------------------------------------------------------------


def test_row_33_34_37_a_broker_that_comes_late_and_again_hears_everything(tmp_path: Path) -> None:
    """Down at boot, then restarted in the middle of a stream: birth, retained values and all events."""

    async def story() -> None:
        broker = Mosquitto(tmp_path, f"persistence true\npersistence_location {tmp_path}/")
        table = FakeTable()
        for _ in range(50):
            table.add()
        async with running(Bench(broker.port, table)) as bench:
            await bench.until("offline")
            broker.start()
            try:
                listener = Watcher(Broker("127.0.0.1", broker.port), TOPICS, lasting=True)
                async with listener.connected():
                    await bench.until("online")
                    for _ in range(500):
                        table.add()
                    bench.bus.wake()
                    await listener.until(lambda seen: seen.last_seq > 100, WAIT)
                    broker.stop()
                    with pytest.raises(ConnectionError):
                        await listener.until(lambda _: False, WAIT)
                await bench.until("offline")
                for _ in range(500):
                    table.add()
                bench.bus.wake()
                broker.start()
                await bench.until("online")
                async with listener.connected():
                    await listener.until(lambda seen: seen.last_seq == 1_050, WAIT)
                    await listener.until(
                        lambda seen: (seen.retained.get("state") or {}).get("last_seq") == 1_050,
                        WAIT,
                    )
                assert listener.seen.retained["bridge/state"]["state"] == "online"
                assert listener.seen.gaps == []
                tail = numbers(listener.seen.events)
                assert tail == list(range(tail[0], 1_051))
                assert tail[0] <= 101
            finally:
                broker.stop()

    go(story())


def test_row_41_a_frozen_broker_is_left_and_nothing_is_lost(hall: Mosquitto) -> None:
    async def story() -> None:
        table = FakeTable()
        async with running(Bench(hall.port, table, keepalive_s=2)) as bench:
            await bench.until("online")
            hall.freeze()
            for _ in range(20):
                table.add()
            bench.bus.wake()
            await bench.until("offline")
            hall.thaw()
            async with watcher(hall.port).connected() as after:
                await bench.until("online", 40)
                table.add()
                bench.bus.wake()
                await after.until(lambda seen: seen.last_seq == 21, WAIT)
            assert table.cursor == 21
            assert bench.bus.status.protocol == "5"

    go(story())


def test_row_35_36_a_late_will_is_answered_with_a_new_birth(hall: Mosquitto) -> None:
    async def story() -> None:
        table = FakeTable(epoch=4)
        log = StateLog(hall.port)
        async with log.watcher.connected(), running(Bench(hall.port, table)) as bench:
            await log.until((4, "online"))
            late = {"state": "offline", "epoch": 3, "stream": table.stream, "instance": "old"}
            async with aiomqtt.Client("127.0.0.1", hall.port) as liar:
                await liar.publish(TOPICS.bridge_state, json.dumps(late), 1, retain=True)
            await log.until((4, "online"), (3, "offline"), (4, "online"))
            assert bench.bus.status.state == "online"

    go(story())


def test_row_36_a_short_absence_is_not_told_and_a_long_one_is(hall: Mosquitto) -> None:
    """The will waits (MQTT 5): a connection cut and resumed at once never reads `offline`."""

    async def story() -> None:
        proxy = await CuttingProxy.start(hall.port)
        log = StateLog(hall.port)
        async with log.watcher.connected(), running(Bench(proxy.port, FakeTable(epoch=4))) as bench:
            await log.until((4, "online"))
            proxy.cut()
            await log.until((4, "online"), (4, "online"))
            assert [value["state"] for value in log.values] == ["online", "online"]
            await bench.until("online")
            proxy.refuse = True
            proxy.cut()
            await log.until((4, "online"), (4, "offline"))
            proxy.refuse = False
            await log.until((4, "offline"), (4, "online"))
        await proxy.stop()

    go(story())


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


@pytest.mark.parametrize(("stream", "epoch"), [("s", 5), ("another journal", 1)])
def test_row_40_of_two_daemons_with_one_client_id_exactly_one_goes_on(
    hall: Mosquitto, stream: str, epoch: int
) -> None:
    async def story() -> None:
        old = Bench(hall.port, FakeTable(epoch=4, stream="s"), client_id="same")
        new = Bench(hall.port, FakeTable(epoch=epoch, stream=stream), client_id="same")
        async with running(old), running(new):
            stopped = [asyncio.create_task(bench.until("stopped")) for bench in (old, new)]
            done, rest = await asyncio.wait(
                stopped, timeout=WAIT, return_when=asyncio.FIRST_COMPLETED
            )
            assert len(done) == 1
            rest.pop().cancel()
            loser, winner = (old, new) if stopped[0] in done else (new, old)
            assert winner is new or stream != "s"  # a higher epoch of one journal always wins
            async with watcher(hall.port).connected() as seen_by:
                await winner.until("online")
                for bench in (loser, winner):
                    bench.table.add()
                    bench.bus.wake()
                await seen_by.until(lambda seen: seen.last_seq == 1, WAIT)
                assert seen_by.seen.events[0].epoch == winner.table.epoch
                assert seen_by.seen.retained["bridge/state"]["epoch"] == winner.table.epoch
            assert loser.table.cursor == 0
            assert loser.bus.status.state == "stopped"
            assert winner.bus.status.state == "online"

    go(story())


@pytest.mark.parametrize(
    ("claim", "stops"),
    [
        ({"state": "online", "epoch": 9}, True),
        ({"state": "online", "epoch": 3}, False),
        ({"state": "online", "epoch": 1, "stream": "another", "instance": "x"}, True),
        ({"state": "offline", "epoch": 1, "stream": "another", "instance": "x"}, False),
    ],
)
def test_who_else_speaks_for_the_table_decides_whether_we_fall_silent(
    hall: Mosquitto, claim: dict[str, Any], stops: bool
) -> None:
    async def story() -> None:
        log = StateLog(hall.port)
        async with (
            log.watcher.connected(),
            running(Bench(hall.port, FakeTable(epoch=4))) as bench,
        ):
            await log.until((4, "online"))
            async with aiomqtt.Client("127.0.0.1", hall.port) as other:
                await other.publish(TOPICS.bridge_state, json.dumps(claim), 1, retain=True)
            if stops:
                await bench.until("stopped")
            else:
                await log.until((4, "online"), (claim["epoch"], claim["state"]), (4, "online"))
                assert bench.bus.status.state == "online"

    go(story())


def test_a_lost_journal_speaks_again_over_what_the_old_one_left_behind(hall: Mosquitto) -> None:
    async def story() -> None:
        async with running(Bench(hall.port, FakeTable(epoch=17, stream="lost"))) as first:
            await first.until("online")
        table = FakeTable(epoch=1)
        async with (
            watcher(hall.port).connected() as seen_by,
            running(Bench(hall.port, table)) as second,
        ):
            await second.until("online")
            await seen_by.until(
                lambda seen: (seen.retained.get("bridge/state") or {}).get("epoch") == 1, WAIT
            )
            assert second.bus.status.state == "online"

    go(story())


def test_a_spare_computer_that_came_and_went_leaves_nobody_silent(hall: Mosquitto) -> None:
    """Back within the minute the session lives: the broker delivers what the spare one said meanwhile."""

    async def story() -> None:
        ours, spare = FakeTable(epoch=4, stream="ours"), FakeTable(epoch=9, stream="spare")
        async with running(Bench(hall.port, ours, client_id="ours")) as first:
            await first.until("online")
        async with running(Bench(hall.port, spare, client_id="spare")) as other:
            await other.until("online")
        again = Bench(hall.port, FakeTable(epoch=5, stream="ours"), client_id="ours")
        async with running(again), watcher(hall.port).connected() as seen_by:
            await again.until("online")
            again.table.add()
            again.bus.wake()
            await seen_by.until(lambda seen: seen.last_seq == 1, WAIT)
            assert again.bus.status.state == "online"

    go(story())


def test_refused_credentials_are_told_by_their_name_and_tried_again(tmp_path: Path) -> None:
    async def story() -> None:
        passwords = tmp_path / "passwords"
        passwords.write_text("")
        with mosquitto(tmp_path, f"allow_anonymous false\npassword_file {passwords}") as strict:
            async with running(
                Bench(strict.port, FakeTable(), username="tablectl", password="no")
            ) as bench:
                status = await bench.until("offline")
                assert "refuses tablectl" in status.reason
                assert "username" in status.reason
                attempts = status.attempts
                async with asyncio.timeout(WAIT):
                    while bench.bus.status.attempts == attempts:
                        bench.changed.clear()
                        await bench.changed.wait()
                assert bench.bus.status.protocol is None

    go(story())


def test_a_broker_of_the_old_protocol_is_spoken_to_in_3_1_1() -> None:
    """A peer that answers MQTT 5 as old brokers do: CONNACK 'unacceptable protocol version'."""

    async def story() -> None:
        levels: list[int] = []
        spoken = asyncio.Event()

        async def old_broker(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            packet = await reader.read(4096)
            level = packet[packet.index(b"MQTT") + 4]
            levels.append(level)
            writer.write(b"\x20\x02\x00\x01" if level == 5 else b"\x20\x02\x00\x00")
            with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
                await writer.drain()
                if level == 4:
                    spoken.set()
                    await reader.read()
            writer.close()

        server = await asyncio.start_server(old_broker, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        bench = Bench(port, FakeTable())
        async with running(bench):
            async with asyncio.timeout(WAIT):
                await spoken.wait()
        server.close()
        assert levels[0] == 5
        assert levels[-1] == 4

    go(story())


def test_everything_works_in_3_1_1_too(hall: Mosquitto) -> None:
    async def story() -> None:
        table = FakeTable()
        table.add()
        async with running(Bench(hall.port, table, protocol="3.1.1")) as bench:
            await bench.until("online")
            listener = Watcher(Broker("127.0.0.1", hall.port), TOPICS, protocol="3.1.1")
            async with listener.connected():
                answer = await listener.request("riichi", {"seat": 2})
                assert answer.status == "accepted"
            assert bench.bus.status.protocol == "3.1.1"

    go(story())


# ---- requests -------------------------------------------------------------------------------------------


def test_requests_are_answered_once_and_a_repeated_transaction_gets_its_first_answer(
    hall: Mosquitto,
) -> None:
    async def story() -> None:
        async with (
            watcher(hall.port).connected() as asker,
            running(Bench(hall.port, FakeTable())) as bench,
        ):
            await bench.until("online")
            first = await asker.request(
                "result/win", {"winner": 1, "from": 2, "han": 3, "fu": 30}, transaction="a"
            )
            again = await asker.request(
                "result/win", {"winner": 1, "from": 2, "han": 3, "fu": 30}, transaction="a"
            )
            assert first == again
            assert len(bench.desk.asked) == 1
            asked = bench.desk.asked[0]
            assert (asked.name, asked.data) == (
                "result/win",
                {"winner": 1, "from": 2, "han": 3, "fu": 30},
            )
            refused = await asker.request("nonsense", {})
            assert (refused.status, refused.code) == ("refused", "unknown_request")
            assert refused.data == {"article": "A1.1", "hint": "read the list"}
            shaky = await asker.request("riichi", {"seat": 1, "durable": False})
            assert shaky.status == "accepted_not_durable"
            bench.desk.fail = True
            broken = await asker.request("riichi", {"seat": 1})
            assert broken.code == "internal_error"
            assert bench.bus.status.state == "online"

    go(story())


def test_a_connection_lost_while_the_table_decides_breaks_nothing_off(hall: Mosquitto) -> None:
    async def story() -> None:
        proxy = await CuttingProxy.start(hall.port)
        bench = Bench(proxy.port, FakeTable())
        begun, go_on = asyncio.Event(), asyncio.Event()
        decide = bench.desk.request

        async def slow(request: Request) -> Accepted | Refused:
            begun.set()
            await go_on.wait()
            return await decide(request)

        bench.desk.request = slow  # type: ignore[method-assign]
        async with watcher(hall.port).connected() as asker, running(bench):
            await bench.until("online")
            asking = asyncio.create_task(asker.request("riichi", {"seat": 3}, wait_s=WAIT))
            await begun.wait()
            proxy.cut()
            await bench.until("offline")
            go_on.set()
            assert (await asking).status == "accepted"
            assert len(bench.desk.asked) == 1
        await proxy.stop()

    go(story())


@pytest.mark.parametrize(
    ("payload", "code"),
    [
        (b"\xff\xfe", "bad_json"),
        (b"{", "bad_json"),
        (b"[" * 30_000, "bad_json"),
        (b"[1]", "bad_request"),
        (b'{"transaction": 5}', "bad_request"),
        (b'{"transaction": ""}', "bad_request"),
        (b'{"a": "' + b"x" * 70_000 + b'"}', "payload_too_large"),
    ],
)
def test_bad_payloads_are_refused_with_their_own_code(
    hall: Mosquitto, payload: bytes, code: str
) -> None:
    async def story() -> None:
        async with running(Bench(hall.port, FakeTable())) as bench:
            await bench.until("online")
            answer = await _ask(
                hall.port, TOPICS.request("riichi"), payload, TOPICS.response("riichi")
            )
            assert (answer.status, answer.code) == ("refused", code)
            assert bench.desk.asked == []

    go(story())


def test_row_38_39_a_retained_request_is_refused_live_and_at_every_reconnect(
    hall: Mosquitto,
) -> None:
    async def story() -> None:
        topic = TOPICS.request("undo")
        async with running(Bench(hall.port, FakeTable())) as bench:
            await bench.until("online")
            answer = await _ask(hall.port, topic, b"{}", TOPICS.response("undo"), retain=True)
            assert answer.code == "retained_request"
        async with (
            _answers(hall.port, TOPICS.response("undo")) as answers,
            running(Bench(hall.port, FakeTable())) as bench,
        ):
            await bench.until("online")
            assert (await answers()).code == "retained_request"
            assert bench.desk.asked == []

    go(story())


def test_the_answer_goes_where_mqtt5_asks_but_never_into_our_own_tree(hall: Mosquitto) -> None:
    async def story() -> None:
        async with running(Bench(hall.port, FakeTable())) as bench:
            await bench.until("online")
            ask = TOPICS.request("riichi")
            mine = await _ask(
                hall.port, ask, b'{"seat":0}', "my/own/inbox", response_topic="my/own/inbox"
            )
            assert mine.status == "accepted"
            for evil in (
                TOPICS.request("undo"), "tablectl/hall/t2/request/undo", TOPICS.state, TOPICS.bridge_state,
            ):  # fmt: skip
                answer = await _ask(
                    hall.port, ask, b'{"seat":1}', TOPICS.response("riichi"), response_topic=evil
                )
                assert answer.status == "accepted"
            assert {request.name for request in bench.desk.asked} == {"riichi"}

    go(story())


def test_correlation_data_is_the_transaction_where_the_json_names_none(hall: Mosquitto) -> None:
    async def story() -> None:
        async with running(Bench(hall.port, FakeTable())) as bench:
            await bench.until("online")
            for _ in range(2):
                await _ask(
                    hall.port, TOPICS.request("riichi"), b'{"seat":0}', "inbox/a",
                    response_topic="inbox/a", correlation=b"\x01",
                )  # fmt: skip
            await _ask(
                hall.port, TOPICS.request("riichi"), b'{"seat":0}', "inbox/b",
                response_topic="inbox/b", correlation=b"\x01",
            )  # fmt: skip
            assert len(bench.desk.asked) == 2

    go(story())


@contextlib.asynccontextmanager
async def _answers(port: int, topic: str) -> AsyncIterator[Callable[[], Any]]:
    async with aiomqtt.Client("127.0.0.1", port, protocol=aiomqtt.ProtocolVersion.V5) as client:
        await client.subscribe(topic, qos=1)
        messages = client.messages

        async def next_answer() -> Response:
            async with asyncio.timeout(WAIT):
                return Response.model_validate_json((await anext(messages)).payload)

        yield next_answer


async def _ask(
    port: int,
    topic: str,
    payload: bytes,
    answer_topic: str,
    *,
    retain: bool = False,
    response_topic: str | None = None,
    correlation: bytes | None = None,
) -> Response:
    properties = Properties(PacketTypes.PUBLISH)
    if response_topic is not None:
        properties.ResponseTopic = response_topic
    if correlation is not None:
        properties.CorrelationData = correlation
    async with aiomqtt.Client("127.0.0.1", port, protocol=aiomqtt.ProtocolVersion.V5) as client:
        await client.subscribe(answer_topic, qos=1)
        await client.publish(topic, payload, 1, retain, properties)
        async with asyncio.timeout(WAIT):
            message = await anext(client.messages)
        if correlation is not None:
            assert message.properties is not None
            assert message.properties.CorrelationData == correlation
        return Response.model_validate_json(message.payload)


# ---- without a broker -----------------------------------------------------------------------------------


def test_a_public_payload_cannot_be_made_of_a_secret() -> None:
    drawn = PublicView(Drawn(2, tile_of("5m")))
    assert drawn.fields == {"type": "drawn", "seat": 2, "tile": None, "rinshan": False}
    with pytest.raises(SecretEventError):
        PublicView(MissedWin(1, True))


@pytest.mark.parametrize("bad", ["", "T1", "a/b", "a+b", "卓", "a" * 33])
def test_ids_that_cannot_stand_in_a_topic_are_refused(bad: str) -> None:
    with pytest.raises(TopicError) as caught:
        Topics("hall", bad)
    assert caught.value.value == bad


def test_back_off_grows_to_half_a_minute_and_is_spread() -> None:
    waits = list(itertools.islice(backoff(random.Random(5)), 40))
    assert max(waits) <= 30.0
    assert min(waits[-20:]) >= 15.0
    assert waits[0] < 0.5
    assert len(set(waits)) == len(waits)
