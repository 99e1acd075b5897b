"""The broker goes away in every way it can: what subscribers, displays and the technician saw."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import subprocess
from collections.abc import Coroutine, Sequence
from pathlib import Path
from typing import Any

import aiomqtt
import pytest

from tablectl.bus import client
from tablectl.bus.broker import Broker
from tablectl.bus.client import TableBus
from tablectl.bus.outflow import BATCH
from tablectl.bus.payloads import EventMessage
from tablectl.bus.topics import Topics
from tablectl.bus.watcher import Watcher
from tablectl.daemon.source import RECENT, PublicSource
from tablectl.journal import StoredEvent
from tablectl.mirror.submit import Accepted, Request
from tablectl.web.hub import KEPT
from tests.conftest import need_program
from tests.daemon.halls import Hall, evening, short_is_right
from tests.daemon.technician import look
from tests.first_light.brokers import Mosquitto, mosquitto
from tests.first_light.bus_kit import CuttingProxy
from tests.sim.games import AFTER_SHORT

HOUR = 1_800
"""Public events of an hour at level tiles: simulated people make 1,630 to 1,700 (`test_levels` measures it)."""

KEPT_MOST = RECENT + KEPT + 2
"""Public events a table may hold in memory: for bus, pages and state, however many wait on the disk."""


def go(story: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(story, 90))


class Gate:
    """Holds back each next try of the bus until the test allows it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.open = asyncio.Event()
        self.open.set()
        gate = self

        async def rest(bus: TableBus, _seconds: float) -> None:
            stopping = asyncio.ensure_future(bus._stopping.wait())
            opening = asyncio.ensure_future(gate.open.wait())
            await asyncio.wait({stopping, opening}, return_when=asyncio.FIRST_COMPLETED)
            for waiting in (stopping, opening):
                waiting.cancel()
            await asyncio.sleep(0.02)

        monkeypatch.setattr(TableBus, "_rest", rest)


def in_memory(*kinds: type) -> int:
    """How many objects of these kinds the process holds."""
    gc.collect()
    return sum(isinstance(thing, kinds) for thing in gc.get_objects())


async def until_an_hour_has_passed(hall: Hall) -> None:
    """People have played their hands; the rest of the hour is pauses, each with its public events."""
    writer = hall.unit().writer
    for number in range(HOUR):
        if hall.unit().waiting >= HOUR:
            return
        name = "game/resume" if number % 2 else "game/pause"
        answer = await writer.request(Request("t1", name, {}, "test", f"tea-{number}", "referee"))
        assert isinstance(answer, Accepted), answer


def test_stopped_for_an_hours_count_of_events(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    batches: list[int] = []
    held: list[int] = []
    read = PublicSource.public_events

    async def counted(source: PublicSource, after: int, limit: int) -> Sequence[EventMessage]:
        batch = await read(source, after, limit)
        batches.append(len(batch))
        if len(batches) % 6 == 1:
            held.append(in_memory(EventMessage, StoredEvent))
        return batch

    async def story() -> None:
        gate = Gate(monkeypatch)
        broker = Mosquitto(tmp_path)
        broker.start()
        hall = Hall(tmp_path, broker.port, record=evening(2))
        async with hall.open():
            await hall.up()
            await hall.online()
            await hall.begin()
            gate.open.clear()
            broker.stop()
            await hall.until(lambda: hall.bus_state() == "offline")
            before = hall.unit().source.published()
            await hall.played()
            # Displays and table went on without the broker.
            report = hall.report()
            assert report["displays"]["scores"] == [25_000] * 4
            assert (report["displays"]["round"], report["displays"]["honba"]) == ("E3", 2)
            assert report["executed_twice"] == 0
            await until_an_hour_has_passed(hall)
            # The events wait on the disk: what is kept in memory has not grown with them.
            waiting = hall.unit().waiting
            assert HOUR <= waiting <= HOUR + 2
            assert in_memory(StoredEvent, EventMessage) <= KEPT_MOST
            # The technician is told, once; the daemon is well.
            assert len(hall.lines("play goes on, events are kept")) == 1
            pages = await look(hall)
            assert pages.status == 200, "a broker that is away is no reason to restart the daemon"
            assert (pages.tables["t1"]["bus"], pages.tables["t1"]["outbox"]) == ("offline", waiting)
            assert (pages.value("outbox"), pages.value("bus_online")) == (waiting, 0)
            found = await hall.doctor()
            assert found["broker_unreachable"].status == "fail"
            assert f"{waiting} events wait" in found["bus_offline"].message
            # It comes back: everything, once, in order; a handful at a time.
            last = hall.unit().source.last_seq()
            monkeypatch.setattr(PublicSource, "public_events", counted)
            broker.start()
            async with hall.subscriber():
                gate.open.set()
                seen = await hall.published()
                assert [e.seq for e in seen.events] == list(range(before + 1, last + 1))
                assert seen.last_seq == last >= HOUR
                assert seen.repeats == 0
                assert len([e for e in seen.events if e.type == "hand_ended"]) == 2
                assert seen.retained["bridge/state"]["state"] == "online"
                assert seen.retained["state"]["last_seq"] == last
            assert max(batches) <= BATCH
            assert sum(batches) == waiting
            assert max(held) <= KEPT_MOST + 3 * BATCH
            assert len(hall.lines("is back after")) == 1
            pages = await look(hall)
            assert (pages.value("outbox"), pages.value("bus_online")) == (0, 1)
            assert "bus_offline" not in await hall.doctor()
        broker.stop()

    go(story())


def display(hall: Hall, broker: Broker) -> Watcher:
    """A subscriber that reaches the broker in its own way."""
    watcher = Watcher(broker, Topics("home", "t1"), on_event=lambda _event: hall.bell.set())
    hall.watchers["t1"] = watcher
    return watcher


def test_flapping_doubles_events_at_most_and_loses_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each lost connection is cut in the middle of what is being published."""

    monkeypatch.setattr(
        client, "STABLE_S", 600.0
    )  # however busy the machine is, none of them lasts

    async def story() -> None:
        Gate(monkeypatch)
        with mosquitto(tmp_path) as broker:
            proxy = await CuttingProxy.start(broker.port)
            hall = Hall(tmp_path, proxy.port)
            states: list[str] = []
            reasons: list[str] = []
            async with hall.open(), hall.subscriber(port=broker.port) as subscriber:
                subscriber._on_retained = lambda topic, value: (
                    states.append(value["state"]) if topic.endswith("bridge/state") else None
                )
                await hall.up()
                await hall.online()
                await hall.begin()
                for number in range(8):
                    seq = 5 * number + 3
                    await hall.until(lambda seq=seq: subscriber.seen.last_seq >= seq)  # type: ignore[misc]
                    proxy.cut()
                    await hall.until(lambda: hall.bus_state() == "offline")
                    bus = hall.unit().bus
                    assert bus is not None
                    reasons.append(bus.status.reason)
                    await hall.online()
                await hall.played()
                await hall.published()
                short_is_right(hall)
                # What came twice had not been acknowledged when the line was cut.
                assert subscriber.seen.repeats <= 8 * BATCH
                # The will waits five seconds: none of the cuts was told to displays as an absence.
                assert set(states) == {"online"}
                assert len(states) >= 8, "a birth on every connection"
                pages = await look(hall)
                assert (pages.status, pages.value("outbox"), pages.value("bus_online")) == (
                    200, 0, 1,
                )  # fmt: skip
            # Good connections that do not last look like a name used twice: the technician is asked.
            assert "does another client call itself" not in reasons[0]
            assert "does another client call itself 'tablectl-home-" in reasons[-1]
            text = hall.lines("play goes on, events are kept")
            assert 1 <= len(text) <= 8
            assert len(hall.lines("is back after")) == len(text), "each loss has its return"
            await proxy.stop()

    go(story())


def test_a_frozen_broker_holds_up_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """SIGSTOP: the port accepts, nobody answers. First nothing is noticed, then the signs of life are missed."""

    async def story() -> None:
        gate = Gate(monkeypatch)
        with mosquitto(tmp_path) as broker:
            hall = Hall(tmp_path, broker.port, mqtt="keepalive = 5\n")
            subscriber = display(hall, Broker("127.0.0.1", broker.port, keepalive_s=300))
            async with hall.open(), subscriber.connected():
                await hall.up()
                await hall.online()
                await hall.begin()
                await hall.until(lambda: subscriber.seen.last_seq > 5)
                gate.open.clear()
                broker.freeze()
                await hall.played()
                assert hall.report()["displays"]["scores"] == AFTER_SHORT
                waiting = hall.unit().waiting
                assert waiting > 0
                assert hall.daemon is not None
                assert hall.daemon.watchdog.stuck() == []
                await hall.until(lambda: hall.bus_state() == "offline")
                assert hall.daemon.watchdog.stuck() == []
                # The technician: what is wrong, and that nothing is lost.
                assert len(hall.lines("WARNING", "play goes on, events are kept")) == 1
                pages = await look(hall)
                assert pages.status == 200
                assert (pages.value("bus_online"), pages.value("outbox")) == (0, waiting)
                found = await hall.doctor()
                assert found["broker_unreachable"].status == "fail"
                assert f"{waiting} events wait" in found["bus_offline"].message
                broker.thaw()
                gate.open.set()
                await hall.published()
                short_is_right(hall)

    go(story())


def test_refused_credentials_are_a_sentence_and_events_wait(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def users(*names: str) -> None:
        passwords.unlink(missing_ok=True)
        passwords.touch(mode=0o600)
        for name in names:
            subprocess.run([make, "-b", str(passwords), name, "right"], check=True)

    async def story() -> None:
        gate = Gate(monkeypatch)
        users("display")
        broker = Mosquitto(tmp_path, f"allow_anonymous false\npassword_file {passwords}")
        broker.start()
        hall = Hall(tmp_path, broker.port, mqtt='username = "tablectl"\npassword = "right"\n')
        async with hall.open():
            await hall.up()
            await hall.begin()
            await hall.until(lambda: hall.bus_state() == "offline")
            await hall.played()
            assert hall.report()["displays"]["scores"] == AFTER_SHORT
            assert len(hall.lines("refuses tablectl", "check [mqtt] username, password")) == 1
            assert "right" not in hall.log(), "a password stands in the log"
            found = await hall.doctor()
            assert "user tablectl" in found["credentials_refused"].message
            assert found["bus_offline"].status == "fail"
            waiting = hall.unit().waiting
            assert waiting > 20
            pages = await look(hall)
            assert pages.status == 200
            assert pages.tables["t1"]["bus"] == "offline"
            assert (pages.value("bus_online"), pages.value("outbox")) == (0, waiting)
            gate.open.clear()
            broker.stop()
            users("display", "tablectl")
            broker.start()
            allowed = Broker("127.0.0.1", broker.port, username="display", password="right")
            async with display(hall, allowed).connected():
                gate.open.set()
                await hall.online()
                await hall.published()
                short_is_right(hall)
            assert hall.unit().source.published() == waiting
            assert len(hall.lines("is back after")) == 1
            assert (await look(hall)).value("bus_online") == 1
        broker.stop()

    make = need_program("mosquitto_passwd", "mosquitto")
    passwords = tmp_path / "passwords"
    go(story())


class TellingProxy(CuttingProxy):
    """Says what a newer broker says when it gives a name to another (mosquitto 2.0.11 only hangs up)."""

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError):
            while data := await reader.read(4096):
                writer.write(data)
                await writer.drain()
            writer.write(b"\xe0\x02\x8e\x00")
        writer.close()


def test_who_takes_the_client_id_silences_the_bus_and_nothing_else(tmp_path: Path) -> None:
    async def story() -> None:
        with mosquitto(tmp_path) as broker:
            proxy = await TellingProxy.start(broker.port)
            hall = Hall(tmp_path, proxy.port, mqtt='client_id = "hall"\n')
            async with hall.open(), hall.subscriber(port=broker.port) as subscriber:
                await hall.up()
                await hall.online()
                await hall.begin()
                await hall.until(lambda: subscriber.seen.last_seq > 5)
                async with aiomqtt.Client("127.0.0.1", broker.port, identifier="hall-t1"):
                    await hall.until(lambda: hall.bus_state() == "stopped")
                    before = subscriber.seen.last_seq
                    await hall.played()
                    # The table plays on; nobody hears of it; it does not fight for the name.
                    assert hall.report()["displays"]["scores"] == AFTER_SHORT
                    assert subscriber.seen.last_seq == before
                assert len(hall.lines("client id to another client")) == 1
                pages = await look(hall)
                assert pages.status == 200
                assert pages.tables["t1"]["bus"] == "stopped"
                assert (pages.value("bus_online"), pages.value("outbox")) == (
                    0, hall.unit().waiting,
                )  # fmt: skip
                assert hall.unit().waiting > 0
                found = await hall.doctor()
                assert "stop one of them" in found["bus_stopped"].fix
                assert found["daemon_deaf"].status == "fail"
                assert hall.bus_state() == "stopped"
                # A person has decided: the daemon is started again and says what was kept.
                await hall.stop()
                await hall.start()
                await hall.published()
                short_is_right(hall)

    go(story())
