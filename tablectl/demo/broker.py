"""A broker for the demo: mosquitto where it is installed, else the one that comes in a wheel."""

from __future__ import annotations

import getpass
import importlib.util
import shutil
import sys
from pathlib import Path

from tablectl.demo.process import DemoError, Program, free_port, until_port_answers

PLACES = ("/usr/sbin", "/usr/local/sbin", "/opt/homebrew/sbin")
"""Where mosquitto is when the search path of a normal user leaves it out."""
MAX_PAYLOAD = 1 << 20

_WHEEL_BROKER = (
    "import sys; from iotcore.iotcore import IotCoreBroker as B; "
    f"B(None, '127.0.0.1', int(sys.argv[1]), max_payload_size={MAX_PAYLOAD}).run_forever()"
)


class DemoBroker:
    """A broker on the loopback, on a free port, for as long as the demo runs."""

    def __init__(self, folder: Path, *, wheel: bool = False) -> None:
        self.port = free_port()
        mosquitto = None if wheel else find_mosquitto()
        self.name = "mosquitto" if mosquitto else "iotcore"
        command = _mosquitto(mosquitto, folder, self.port) if mosquitto else _iotcore(self.port)
        self.program = Program(f"the broker ({self.name})", command, folder / "broker.log")

    async def start(self) -> None:
        """Start it and wait until it answers."""
        await self.program.start()
        await until_port_answers(self.port, self.program)

    async def stop(self) -> None:
        """End it."""
        await self.program.stop()


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


def _iotcore(port: int) -> list[str]:
    if importlib.util.find_spec("iotcore") is None:
        raise DemoError(
            "no_broker",
            "the demo needs a broker, and neither mosquitto nor the package iotcore is installed",
            "pip install 'tablectl[demo]', or install mosquitto",
        )
    return [sys.executable, "-c", _WHEEL_BROKER, str(port)]
