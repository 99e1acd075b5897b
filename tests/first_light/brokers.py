"""A real mosquitto for a test: its own folder, its own free port, stopped at the end."""

from __future__ import annotations

import contextlib
import getpass
import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

from tests.conftest import need_program


def free_port() -> int:
    """A TCP port of the loopback that nobody uses now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Mosquitto:
    """One broker process that can be killed, stopped, frozen and started again on the same port."""

    def __init__(self, folder: Path, extra: str = "") -> None:
        self.port = free_port()
        self._program = need_program("mosquitto")
        self._config = folder / f"mosquitto-{self.port}.conf"
        self._config.write_text(
            f"listener {self.port} 127.0.0.1\n"
            f"{'' if 'allow_anonymous' in extra else 'allow_anonymous true'}\n"
            "set_tcp_nodelay true\nmax_queued_messages 0\nmax_inflight_messages 1000\n"
            f"log_type none\nuser {getpass.getuser()}\n{extra}\n",
            encoding="utf-8",
        )
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start and wait until the port answers."""
        self.process = subprocess.Popen(
            [self._program, "-c", str(self._config)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline:
            with (
                contextlib.suppress(OSError),
                socket.create_connection(("127.0.0.1", self.port), 0.2),
            ):
                return
            time.sleep(0.01)
        raise AssertionError("mosquitto did not start")

    def stop(self, how: signal.Signals = signal.SIGTERM) -> None:
        """End the process and wait for it."""
        if self.process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.process.pid, signal.SIGCONT)
                self.process.send_signal(how)
            self.process.wait(10)
            self.process = None

    def freeze(self) -> None:
        """SIGSTOP: the port still accepts, nobody answers."""
        assert self.process is not None
        self.process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """SIGCONT."""
        assert self.process is not None
        self.process.send_signal(signal.SIGCONT)


@contextlib.contextmanager
def mosquitto(folder: Path, extra: str = "") -> Iterator[Mosquitto]:
    """A running broker for the block."""
    broker = Mosquitto(folder, extra)
    broker.start()
    try:
        yield broker
    finally:
        broker.stop()
