"""The bus against a real mosquitto through losses, lies and take-overs: what a subscriber hears, who falls silent."""

from __future__ import annotations

import asyncio
import json
import signal
from pathlib import Path
from typing import Any

import aiomqtt
import pytest

from tablectl.bus.broker import Broker
from tablectl.bus.watcher import Watcher
from tests.first_light.brokers import Mosquitto, mosquitto
from tests.first_light.bus_kit import (
    TOPICS,
    WAIT,
    Bench,
    CuttingProxy,
    FakeTable,
    StateLog,
    go,
    numbers,
    running,
    watcher,
)


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


@pytest.mark.parametrize("refused", ["event", "bridge/info"])
def test_what_an_access_list_forbids_is_told_and_no_event_counts_as_published(
    refused: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """MQTT 5 says so in the PUBACK: the cursor stays, and when the list is mended everything comes."""
    base = TOPICS.base
    rights = tmp_path / "rights"
    names = ("bridge/state", "bridge/info", "bridge/health", "state", "link", "event")
    rights.write_text(
        "topic read #\n"
        + "".join(f"topic write {base}/{name}\n" for name in names if name != refused)
    )
    table = FakeTable()

    async def story() -> None:
        with mosquitto(tmp_path, f"acl_file {rights}\nmax_queued_messages 1000") as broker:
            listener = watcher(broker.port)
            async with running(Bench(broker.port, table)) as bench, listener.connected():
                await bench.until("online")
                for _ in range(3):
                    table.add()
                bench.bus.wake()
                if refused == "event":
                    status = await bench.until("offline")
                    assert f"does not take {base}/event from an anonymous user" in status.reason
                    assert "MQTT reason 135" in status.reason
                    assert table.cursor == 0
                    rights.write_text("topic readwrite #\n")
                    assert broker.process is not None
                    broker.process.send_signal(signal.SIGHUP)
                await listener.until(lambda seen: seen.last_seq == 3, WAIT)
                assert listener.seen.gaps == []

    go(story())
    assert table.cursor == 3
    lines = [line for line in caplog.messages if f"does not take {base}/{refused}" in line]
    assert len(lines) == 1
    assert "access list" in lines[0]
