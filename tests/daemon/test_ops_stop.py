"""A stop takes two seconds at most, whatever hangs, and says nothing that frightens a person."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
import tty
from collections.abc import Iterator
from pathlib import Path

import pytest

from tablectl.config import load
from tablectl.daemon.app import Daemon
from tablectl.daemon.unit import TableUnit
from tablectl.mirror.submit import Refused, Request
from tablectl.table.session import TableSession
from tests.conftest import ROOT
from tests.first_light.brokers import mosquitto

LIMIT_S = 2.0


@contextlib.contextmanager
def swallowing() -> Iterator[int]:
    """A TCP port that answers no SYN: its queue is full, as a host behind a firewall behaves."""
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(socket.socket())
        server.bind(("127.0.0.1", 0))
        server.listen(0)
        for _ in range(3):
            waiting = stack.enter_context(socket.socket())
            waiting.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                waiting.connect(server.getsockname())
        yield server.getsockname()[1]


@contextlib.contextmanager
def mute() -> Iterator[int]:
    """A TCP port that takes connections and never says a word."""
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen(50)
        yield server.getsockname()[1]


@contextlib.contextmanager
def silent_board() -> Iterator[str]:
    """A serial port that takes octets and answers nothing: the handshake never ends."""
    master, slave = os.openpty()
    tty.setraw(slave)
    yield os.ttyname(slave)
    os.close(slave)
    os.close(master)


class Process:
    """`tablectl run` and what it says."""

    def __init__(self, folder: Path, broker: str, *ports: str) -> None:
        file = folder / "hall.toml"
        file.write_text(
            f'[mqtt]\nurl = "{broker}"\n[web]\nport = 0\n[journal]\npath = "journal.db"\n'
            + "".join(
                f'[[tables]]\nid = "t{n}"\nport = "{port}"\n' for n, port in enumerate(ports)
            ),
            encoding="utf-8",
        )
        self.said = ""
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tablectl", "run", "--config", str(file)],
            cwd=ROOT, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True,
        )  # fmt: skip

    def until(self, words: str) -> None:
        """Read the log until a line holds these words."""
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.said += line
            if words in line:
                return
        raise AssertionError(f"{words!r} was not said:\n{self.said}")

    def stop(self, how: signal.Signals) -> float:
        """Ask for the end; seconds it took."""
        began = time.monotonic()
        self.process.send_signal(how)
        _, rest = self.process.communicate(timeout=30)
        took = time.monotonic() - began
        self.said += rest
        return took


@contextlib.contextmanager
def running(folder: Path, broker: str, *ports: str) -> Iterator[Process]:
    process = Process(folder, broker, *ports)
    try:
        yield process
    finally:
        process.process.kill()
        process.process.communicate()


def ends_well(process: Process, how: signal.Signals = signal.SIGTERM) -> None:
    took = process.stop(how)
    assert process.process.returncode == 0, process.said
    assert "Traceback" not in process.said, process.said
    assert took < LIMIT_S, (took, process.said)


def connecting(process: Process, port: int) -> None:
    """Wait until a socket of the process is on its way to (or at) that port."""
    wanted = f":{port:04X}"
    folder = Path(f"/proc/{process.process.pid}/net/tcp")
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        for line in folder.read_text(encoding="ascii").splitlines()[1:]:
            fields = line.split()
            if fields[2].endswith(wanted) and _owns(process.process.pid, fields[9]):
                return
        time.sleep(0.01)
    raise AssertionError(f"it never came to port {port}:\n{process.said}")


def _owns(pid: int, inode: str) -> bool:
    for link in Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(OSError):
            if os.readlink(link) == f"socket:[{inode}]":  # noqa: PTH115 - the text, not a path
                return True
    return False


@pytest.mark.parametrize("scheme", ["mqtt", "mqtts"])
def test_a_broker_that_says_nothing_keeps_nobody_waiting(tmp_path: Path, scheme: str) -> None:
    with mute() as port, running(tmp_path, f"{scheme}://127.0.0.1:{port}", "/nowhere") as process:
        process.until("running:")
        connecting(process, port)
        ends_well(process)


def test_addresses_that_swallow_packets_keep_nobody_waiting(tmp_path: Path) -> None:
    """Sixteen adapters that are switched off: neither a live port nor the broker waits for them."""
    with (
        mosquitto(tmp_path) as broker,
        contextlib.ExitStack() as holes,
        mute() as port,
    ):
        kinds = ("socket", "rfc2217") * 8
        ports = [f"{kind}://127.0.0.1:{holes.enter_context(swallowing())}" for kind in kinds]
        ports.append(f"socket://127.0.0.1:{port}")
        with running(tmp_path, f"mqtt://127.0.0.1:{broker.port}", *ports, "/nowhere") as process:
            process.until("running:")
            connecting(process, broker.port)
            connecting(process, port)
            process.until("t17: link down")
            ends_well(process)


def test_in_the_middle_of_a_handshake(tmp_path: Path) -> None:
    with (
        mosquitto(tmp_path) as broker,
        silent_board() as port,
        running(tmp_path, f"mqtt://127.0.0.1:{broker.port}", port) as process,
    ):
        process.until("running:")
        ends_well(process, signal.SIGINT)


def test_a_frozen_broker_keeps_nobody_waiting(tmp_path: Path) -> None:
    with mosquitto(tmp_path) as broker:
        with running(tmp_path, f"mqtt://127.0.0.1:{broker.port}", "/nowhere") as process:
            process.until("link down")
            broker.freeze()
            ends_well(process)
        broker.thaw()


@pytest.mark.parametrize(
    ("how", "module"),
    [
        (signal.SIGTERM, "tablectl.config"),
        (signal.SIGINT, "tablectl.daemon.app"),
        (signal.SIGTERM, "tablectl.web.server"),
    ],
)
def test_during_the_start_it_ends_at_once(tmp_path: Path, how: signal.Signals, module: str) -> None:
    """The signal comes while this module is loaded: long before the loop could take it."""
    file = tmp_path / "hall.toml"
    file.write_text('[[tables]]\nid = "t1"\nport = "/nowhere"\n', encoding="utf-8")
    code = (
        "import importlib.abc, os, signal, sys\n"
        "class Late(importlib.abc.MetaPathFinder):\n"
        "    def find_spec(self, name, path, target=None):\n"
        f"        if name == {module!r}:\n"
        f"            os.kill(os.getpid(), {int(how)})\n"
        "sys.meta_path.insert(0, Late())\n"
        "from tablectl.cli.main import main\n"
        f"sys.exit(main(['run', '--config', {str(file)!r}]))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT, capture_output=True, text=True, check=False, timeout=30,
    )  # fmt: skip
    assert (done.returncode, "Traceback" in done.stderr) == (0, False), done.stderr
    assert not (tmp_path / "tablectl.db").exists(), "it went on"


def test_a_stop_asked_for_while_tables_are_read_back_is_heard(tmp_path: Path) -> None:
    """Reading back may take long: the daemon leaves it and was never ready."""
    file = tmp_path / "hall.toml"
    file.write_text(
        'mqtt = false\n[web]\nenabled = false\n[[tables]]\nid = "t1"\nport = "/nowhere"\n',
        encoding="utf-8",
    )

    async def story() -> None:
        daemon = Daemon(load(file))
        reading = asyncio.Event()

        async def for_ever(_unit: TableUnit) -> None:
            reading.set()
            await asyncio.Event().wait()

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(TableUnit, "prepare", for_ever)
            life = asyncio.create_task(daemon.run())
            await reading.wait()
            daemon.stop()
            await asyncio.wait_for(life, 10)
        assert not daemon.ready.is_set()

    asyncio.run(story())


def test_behind_a_port_that_does_not_close_nothing_is_taken_in(tmp_path: Path) -> None:
    """The stop goes on without the port; what comes from there meets no closed journal."""
    file = tmp_path / "hall.toml"
    file.write_text(
        'mqtt = false\n[web]\nenabled = false\n[[tables]]\nid = "t1"\nport = "/nowhere"\n',
        encoding="utf-8",
    )

    async def story() -> None:
        daemon = Daemon(load(file))

        async def for_ever(_session: TableSession) -> None:
            await asyncio.Event().wait()

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(TableSession, "stop", for_ever)
            life = asyncio.create_task(daemon.run())
            await daemon.ready.wait()
            daemon.stop()
            await asyncio.wait_for(life, 10)
        request = Request("t1", "game/abort", {}, "test", "1", "referee")
        answer = await daemon.units["t1"].writer.request(request)
        assert isinstance(answer, Refused)
        assert answer.code == "stopping"

    asyncio.run(story())


def test_an_interrupted_command_says_one_word() -> None:
    """Python wraps an interrupt that comes while a class is made."""
    code = (
        "import sys\n"
        "from tablectl.cli import main as cli, rules\n"
        "def wrapped(_args):\n"
        "    class Field:\n"
        "        def __set_name__(self, owner, name): raise KeyboardInterrupt\n"
        "    class Message:\n"
        "        key = Field()\n"
        "rules.run = wrapped\n"
        "sys.exit(cli.main(['rules', 'list']))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (130, "interrupted\n")
