"""The broker goes away in every way it can: what subscribers, displays and the technician saw."""

from __future__ import annotations

import asyncio
import contextlib
import subprocess
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import aiomqtt
import pytest

from tablectl.bus.client import TableBus
from tests.conftest import need_program
from tests.daemon.halls import Hall, evening, short_is_right, whole
from tests.first_light.brokers import Mosquitto, mosquitto
from tests.first_light.test_bus import CuttingProxy

HOUR = 1_000
"""Public events of an hour at human speed and level tiles, at least."""


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


def test_stopped_for_an_hours_count_of_events(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def story() -> None:
        gate = Gate(monkeypatch)
        broker = Mosquitto(tmp_path)
        broker.start()
        hall = Hall(tmp_path, broker.port, record=evening(7))
        async with hall.open():
            await hall.up()
            await hall.online()
            await hall.begin()
            gate.open.clear()
            broker.stop()
            await hall.until(lambda: hall.bus_state() == "offline")
            await hall.played()
            # Displays and table went on; the events wait; the technician is told, once.
            unit = hall.unit()
            assert hall.report()["displays"]["scores"] == [25_000] * 4
            assert unit.waiting >= HOUR
            assert hall.report()["executed_twice"] == 0
            assert hall.daemon is not None
            healthy, facts = hall.daemon.health()
            assert healthy, "a broker that is away is no reason to restart the daemon"
            assert facts["tables"]["t1"]["outbox"] == unit.waiting
            assert len(hall.lines("play goes on, events are kept")) == 1
            found = await hall.doctor()
            assert found["broker_unreachable"].status == "fail"
            assert f"{unit.waiting} events wait" in found["bus_offline"].message
            broker.start()
            async with hall.subscriber():
                gate.open.set()
                seen = await hall.published()
                whole(seen)
                assert seen.last_seq >= HOUR
                assert seen.repeats == 0
                assert len([e for e in seen.events if e.type == "hand_ended"]) == 7
                assert seen.retained["bridge/state"]["state"] == "online"
            assert len(hall.lines("is back after")) == 1
            assert "bus_offline" not in await hall.doctor()
        broker.stop()

    go(story())


def test_flapping_doubles_events_at_most_and_loses_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each lost connection is cut in the middle of what is being published."""

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
                # The will waits five seconds: none of the cuts was told to displays as an absence.
                assert set(states) == {"online"}
                assert len(states) >= 8, "a birth on every connection"
            # Good connections that do not last look like a name used twice: the technician is asked.
            assert "does another client call itself" not in reasons[0]
            assert "does another client call itself 'tablectl-home-" in reasons[-1]
            text = hall.lines("play goes on, events are kept")
            assert 1 <= len(text) <= 8
            await proxy.stop()

    go(story())


def test_a_frozen_broker_holds_up_nobody(tmp_path: Path) -> None:
    async def story() -> None:
        with mosquitto(tmp_path) as broker:
            hall = Hall(tmp_path, broker.port)
            async with hall.open(), hall.subscriber() as subscriber:
                await hall.up()
                await hall.online()
                await hall.begin()
                await hall.until(lambda: subscriber.seen.last_seq > 5)
                broker.freeze()
                await hall.played()
                assert hall.report()["displays"]["honba"] == 0
                assert hall.unit().waiting > 0
                assert hall.daemon is not None
                assert hall.daemon.watchdog.stuck() == []
                broker.thaw()
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
        Gate(monkeypatch)
        users("display")
        broker = Mosquitto(tmp_path, f"allow_anonymous false\npassword_file {passwords}")
        broker.start()
        hall = Hall(tmp_path, broker.port, mqtt='username = "tablectl"\npassword = "right"\n')
        async with hall.open():
            await hall.up()
            await hall.begin()
            await hall.until(lambda: hall.bus_state() == "offline")
            await hall.played()
            assert hall.report()["displays"]["honba"] == 0
            assert len(hall.lines("refuses tablectl", "check [mqtt] username, password")) == 1
            assert "right" not in hall.log(), "a password stands in the log"
            found = await hall.doctor()
            assert "user tablectl" in found["credentials_refused"].message
            assert found["bus_offline"].status == "fail"
            waiting = hall.unit().waiting
            assert waiting > 20
            broker.stop()
            users("display", "tablectl")
            broker.start()
            await hall.until(lambda: hall.bus_state() == "online" and not hall.unit().waiting)
            assert hall.unit().source.published() == waiting
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
                    assert hall.report()["displays"]["honba"] == 0
                    assert subscriber.seen.last_seq == before
                assert len(hall.lines("client id to another client")) == 1
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
