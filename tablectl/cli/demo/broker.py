"""A broker for the demo: mosquitto where it is installed, else the one that comes in a wheel."""

from __future__ import annotations

import getpass
import importlib.util
import shutil
import sys
from pathlib import Path

from tablectl.cli.demo.process import DemoError, Program, free_port, until_port_answers

PLACES = ("/usr/sbin", "/usr/local/sbin", "/opt/homebrew/sbin")
"""Where mosquitto is when the search path of a normal user leaves it out."""
TRIES = 3

_WHEEL_BROKER = (
    "import logging, sys; logging.getLogger('rumqttd').setLevel(logging.CRITICAL); "
    "from iotcore.iotcore import IotCoreBroker as B; B(sys.argv[1]).run_forever()"
)
"""Its router tells every packet as an error; that is of no use to anybody here."""
_WHEEL_CONFIG = """\
id = 0

[router]
id = 0
max_connections = 100
max_outgoing_packet_count = 200
max_segment_size = 104857600
max_segment_count = 10

[v5.1]
name = "demo"
listen = "127.0.0.1:{port}"
next_connection_delay_ms = 1

[v5.1.connections]
connection_timeout_ms = 60000
max_payload_size = 1048576
max_inflight_count = 100
dynamic_filters = true
"""


class DemoBroker:
    """A broker on the loopback, on a free port, for as long as the demo runs."""

    def __init__(self, folder: Path, *, wheel: bool = False) -> None:
        self.port = 0
        self.name = "iotcore" if wheel or find_mosquitto() is None else "mosquitto"
        self._folder = folder
        self.program = self._program()

    async def start(self) -> None:
        """Start it and wait until it answers; a port that somebody else was quicker to take is left."""
        for tries_left in reversed(range(TRIES)):
            self.program = self._program()
            await self.program.start()
            try:
                await until_port_answers(self.port, self.program)
            except DemoError:
                await self.program.stop()
                if not tries_left:
                    raise
            else:
                return

    async def stop(self) -> None:
        """End it."""
        await self.program.stop()

    def _program(self) -> Program:
        self.port = free_port()
        mosquitto = find_mosquitto() if self.name == "mosquitto" else None
        command = (
            _mosquitto(mosquitto, self._folder, self.port)
            if mosquitto
            else _iotcore(self._folder, self.port)
        )
        return Program(f"the broker ({self.name})", command, self._folder / "broker.log")


def find_mosquitto() -> str | None:
    """Path of an installed mosquitto."""
    return shutil.which("mosquitto") or next(
        (found for place in PLACES if (found := shutil.which("mosquitto", path=place))), None
    )


def _mosquitto(program: str, folder: Path, port: int) -> list[str]:
    config = folder / "mosquitto.conf"
    config.write_text(
        f"listener {port} 127.0.0.1\nallow_anonymous true\nset_tcp_nodelay true\n"
        f"max_queued_messages 0\nlog_dest stderr\nlog_type error\nuser {getpass.getuser()}\n",
        encoding="utf-8",
    )
    return [program, "-c", str(config)]


def _iotcore(folder: Path, port: int) -> list[str]:
    if importlib.util.find_spec("iotcore") is None:
        raise DemoError(
            "no_broker",
            "the demo needs a broker, and neither mosquitto nor the package iotcore is installed",
            "pip install 'tablectl[demo]', or install mosquitto",
        )
    config = folder / "broker.toml"
    config.write_text(_WHEEL_CONFIG.format(port=port), encoding="utf-8")
    return [sys.executable, "-c", _WHEEL_BROKER, str(config)]
