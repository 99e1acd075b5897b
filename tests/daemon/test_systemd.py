"""What systemd hears of the daemon on a real notify socket, and what it says of the unit file."""

from __future__ import annotations

import asyncio
import configparser
import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from hardware_sim.runner import RunConfig, RunningTable
from hardware_sim.table import Options
from tablectl.bus.outflow import Outflow
from tablectl.cli.main import main
from tablectl.config import loads
from tablectl.daemon.app import Daemon
from tablectl.daemon.notify import Notifier
from tablectl.daemon.progress import PATIENCE_S, Progress
from tablectl.mirror.submit import Request
from tests.conftest import ROOT, need_program
from tests.first_light.brokers import Mosquitto, mosquitto

UNIT = ROOT / "deploy" / "tablectl.service"
WATCHDOG_S = 0.4
START = Request(
    "t1", "game/start", {"ruleset": "tenhou", "players": list("abcd")}, "test", "x1", "referee"
)


class NotifySocket:
    """The end that systemd holds: datagrams in the order they came."""

    def __init__(self, path: Path) -> None:
        self.path = str(path)
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(self.path)
        self.socket.settimeout(15)
        self.heard: list[dict[str, str]] = []

    @property
    def environment(self) -> dict[str, str]:
        return {"NOTIFY_SOCKET": self.path, "WATCHDOG_USEC": str(int(WATCHDOG_S * 1e6))}

    def next(self) -> dict[str, str]:
        """The next datagram; TimeoutError when none comes."""
        lines = self.socket.recv(4096).decode().splitlines()
        message = dict(line.split("=", 1) for line in lines)
        self.heard.append(message)
        return message

    def until(self, wanted: Callable[[dict[str, str]], bool], limit_s: float = 20) -> float:
        """Read until one is as wanted; seconds it took."""
        began = time.monotonic()
        while time.monotonic() - began < limit_s:
            if wanted(self.next()):
                return time.monotonic() - began
        raise AssertionError(f"not heard; the last were {self.heard[-5:]}")


@pytest.fixture
def notify(tmp_path: Path) -> Iterator[NotifySocket]:
    listening = NotifySocket(tmp_path / "notify")
    yield listening
    listening.socket.close()


def hall(folder: Path, port: int, table: str) -> str:
    return (
        f'[mqtt]\nurl = "mqtt://127.0.0.1:{port}"\nkeepalive = 5\n[web]\nenabled = false\n'
        f'[journal]\npath = "{folder}/journal.db"\n[[tables]]\nid = "t1"\nport = "{table}"\n'
    )


def test_ready_watchdog_and_stopping_are_told_by_tablectl_run(
    tmp_path: Path, notify: NotifySocket
) -> None:
    config = tmp_path / "hall.toml"
    config.write_text(hall(tmp_path, 1, str(tmp_path / "no-port")), encoding="utf-8")
    process = subprocess.Popen(
        [sys.executable, "-m", "tablectl", "run", "--config", str(config)],
        cwd=ROOT, env=os.environ | notify.environment, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        first = notify.next()
        assert first["READY"] == "1"
        assert first["STATUS"] == "0 of 1 tables up, 0 online at the broker"
        for _ in range(3):
            took = notify.until(lambda said: said.get("WATCHDOG") == "1")
            assert took < WATCHDOG_S, "a ping comes later than systemd would wait"
        began = time.monotonic()
        process.send_signal(signal.SIGTERM)
        notify.until(lambda said: said.get("STOPPING") == "1")
        _, said = process.communicate(timeout=10)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 0, said
    assert time.monotonic() - began < 2.0
    assert not any("WATCHDOG" in message for message in notify.heard[-1:])


@contextlib.asynccontextmanager
async def playing(
    folder: Path, broker: Mosquitto, notify: NotifySocket
) -> AsyncIterator[tuple[Daemon, RunningTable]]:
    """A daemon in this loop with one table up and its broker online, short of patience."""
    table = RunningTable(
        RunConfig(Options(level="score", seed=1), link=folder / "tty", exit_at_end=False)
    )
    daemon = Daemon(
        loads(hall(folder, broker.port, table.path)), notifier=Notifier(notify.environment)
    )
    daemon.progress = Progress(daemon.units, daemon.clock, patience_s=0.5, bus_patience_s=30)
    board = asyncio.create_task(table.run())
    life = asyncio.create_task(daemon.run())
    try:
        async with asyncio.timeout(20):
            await daemon.ready.wait()
            unit = daemon.units["t1"]
            up = asyncio.Event()
            unit.on_link = lambda status: up.set() if status.state == "up" else None
            unit.wake_pages = up.set
            while unit.status is None or unit.status.state != "up" or not online(daemon):
                up.clear()
                await up.wait()
        yield daemon, table
    finally:
        daemon.stop()
        await life
        table.stop()
        await board


def online(daemon: Daemon) -> bool:
    bus = daemon.units["t1"].bus
    return bus is not None and bus.status.state == "online"


async def never(*_: Any, **__: Any) -> Any:
    await asyncio.Event().wait()


def wedge_serial(daemon: Daemon, monkeypatch: pytest.MonkeyPatch) -> None:
    """The connection does nothing of what is due any more, though its task lives."""
    session = daemon.units["t1"].session
    assert session is not None
    monkeypatch.setattr(session, "_guarded", lambda _step, **_later: None)


def wedge_engine(daemon: Daemon, monkeypatch: pytest.MonkeyPatch) -> None:
    """The journal never answers the table's writer."""
    assert daemon.journal is not None
    monkeypatch.setattr(daemon.journal, "append", never)
    monkeypatch.setattr(daemon.journal, "find_fact", never)


def wedge_bus(daemon: Daemon, monkeypatch: pytest.MonkeyPatch) -> None:
    """Events are never handed to the broker, though the connection lives."""
    monkeypatch.setattr(Outflow, "push", lambda _outflow: None)
    monkeypatch.setattr(Outflow, "advance", never)
    monkeypatch.setattr(daemon.progress, "_bus_patience_ms", 500.0)


@pytest.mark.parametrize(
    ("part", "wedge"),
    [("serial", wedge_serial), ("engine", wedge_engine), ("bus", wedge_bus)],
    ids=["serial", "engine", "bus"],
)
def test_the_watchdog_starves_when_one_part_is_stuck(
    part: str,
    wedge: Callable[[Daemon, pytest.MonkeyPatch], None],
    tmp_path: Path,
    notify: NotifySocket,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def story() -> None:
        with mosquitto(tmp_path) as broker:
            async with playing(tmp_path, broker, notify) as (daemon, table):
                await asyncio.to_thread(notify.until, lambda said: said.get("WATCHDOG") == "1")
                wedge(daemon, monkeypatch)
                starting = asyncio.create_task(daemon.units["t1"].writer.request(START))
                table.poke(lambda sim: sim.reset_board())
                await asyncio.to_thread(
                    notify.until, lambda said: said.get("STATUS", "") == f"stuck: {part}"
                )
                heard = len(notify.heard)
                for _ in range(3):
                    await asyncio.to_thread(notify.next)
                since = notify.heard[heard:]
                assert not any("WATCHDOG" in said for said in since), since
                healthy, facts = daemon.health()
                assert (healthy, facts["stuck"]) == (False, [part])
                monkeypatch.undo()
                starting.cancel()

    asyncio.run(story())


def test_systemd_has_nothing_to_say_about_the_unit(tmp_path: Path) -> None:
    analyze = need_program("systemd-analyze", "systemd")
    program = tmp_path / "tablectl"
    program.symlink_to("/bin/true")
    unit = tmp_path / UNIT.name
    unit.write_text(
        UNIT.read_text(encoding="utf-8").replace("/opt/tablectl/bin/tablectl", str(program)),
        encoding="utf-8",
    )
    assert str(program) in unit.read_text(encoding="utf-8")
    done = subprocess.run(
        [analyze, "verify", str(unit)], capture_output=True, text=True, check=False, timeout=60
    )
    # It answers 0 to unknown keys: what it says counts.
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    unit.write_text(unit.read_text(encoding="utf-8") + "\n[Service]\nWatchdogSecs=1\n")
    done = subprocess.run(
        [analyze, "verify", str(unit)], capture_output=True, text=True, check=False, timeout=60
    )
    assert "WatchdogSecs" in done.stderr, "this check could not fail"


def test_the_unit_says_what_the_daemon_needs() -> None:
    unit = configparser.ConfigParser(strict=False, interpolation=None)
    unit.optionxform = str  # type: ignore[method-assign,assignment]  # keys as written
    unit.read_string(UNIT.read_text(encoding="utf-8"))
    service = unit["Service"]
    assert service["Type"] == "notify"
    # Health is acknowledged every 30 s and the bus may take 60: systemd must not be quicker than a part.
    assert float(service["WatchdogSec"]) >= PATIENCE_S
    assert "dialout" in service["SupplementaryGroups"]
    assert "ProtectClock" not in service, "it would close the serial ports (DeviceAllow)"
    assert "PrivateDevices" not in service
    assert service["RestartPreventExitStatus"] == "2"
    reload = re.findall(r"^ExecReload=(.*)$", UNIT.read_text(encoding="utf-8"), re.MULTILINE)
    file = "/etc/tablectl/tablectl.toml"
    assert reload == [f"/opt/tablectl/bin/tablectl config check {file}", "/bin/kill -HUP $MAINPID"]
    assert main(reload[0].split()[1:3] + ["/nowhere.toml"]) != 0
    command = service["ExecStart"].split()
    assert command[1:] == ["run", "--config", "/etc/tablectl/tablectl.toml"]
    assert main([*command[1:3], "/nowhere.toml"]) == 2
