"""The bus against a real mosquitto: what is said, in which protocol, and how requests are answered."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import random
from collections.abc import AsyncIterator, Callable
from typing import Any

import aiomqtt
import pytest
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties

from tablectl.bus.broker import Broker, backoff
from tablectl.bus.payloads import (
    PublicView,
    Response,
    SecretEventError,
)
from tablectl.bus.topics import TopicError, Topics
from tablectl.bus.watcher import Watcher
from tablectl.engine.game.codec import tile_of
from tablectl.engine.game.events import Drawn, MissedWin
from tablectl.mirror.submit import Accepted, Refused, Request
from tests.first_light.brokers import Mosquitto
from tests.first_light.bus_kit import (
    TOPICS,
    WAIT,
    Bench,
    CuttingProxy,
    FakeTable,
    go,
    numbers,
    running,
    watcher,
)

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


# ---- which protocol ---------------------------------------------------------------------------------


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
