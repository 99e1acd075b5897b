"""A program that the demo starts and is sure to end: daemon and broker."""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import os
import signal
import socket
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

TERM_S: Final = 5.0
"""A daemon may take two seconds to stop; after this it is killed."""
TAIL_LINES: Final = 12
_PR_SET_PDEATHSIG: Final = 1


class DemoError(Exception):
    """The demo cannot go on: stable `code`, what happened, what to do."""

    def __init__(self, code: str, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}\n  {self.hint}" if self.hint else self.message


class Program:
    """One child process; what it says goes to a file."""

    def __init__(self, name: str, command: Sequence[str], log: Path) -> None:
        self.name = name
        self.log = log
        self._command = command
        self._process: asyncio.subprocess.Process | None = None

    async def start(self, more_environment: dict[str, str] | None = None) -> None:
        """Start it, apart from the terminal: Ctrl-C is ours to handle, in order."""
        environment = {
            key: value
            for key, value in os.environ.items()
            # Keys such as TABLECTL_MQTT__URL would override the demo's own configuration.
            if not (key.startswith("TABLECTL_") and "__" in key)
        }
        environment |= {"PYTHONUTF8": "1", **(more_environment or {})}
        with self.log.open("ab") as sink:
            try:
                self._process = await asyncio.create_subprocess_exec(
                    *self._command,
                    stdin=asyncio.subprocess.DEVNULL,
                    stdout=sink,
                    stderr=sink,
                    env=environment,
                    start_new_session=True,
                    preexec_fn=_die_with_parent(),
                )
            except OSError as error:
                raise DemoError(
                    "program_missing", f"{self.name} cannot be started: {error}", self._command[0]
                ) from None

    @property
    def running(self) -> bool:
        """Whether the process lives."""
        return self._process is not None and self._process.returncode is None

    @property
    def pid(self) -> int | None:
        """Process id, None before the start."""
        return None if self._process is None else self._process.pid

    async def ended(self) -> int:
        """Wait for its end; returns the exit code (negative: a signal)."""
        assert self._process is not None
        return await self._process.wait()

    def kill(self) -> None:
        """SIGKILL, for tests that want it."""
        if self._process is not None and self.running:
            self._process.kill()

    async def stop(self) -> None:
        """SIGTERM, then SIGKILL when that is not heard."""
        process = self._process
        if process is None or process.returncode is not None:
            return
        with contextlib.suppress(ProcessLookupError):
            process.terminate()
        try:
            async with asyncio.timeout(TERM_S):
                await process.wait()
        except TimeoutError:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()

    def tail(self) -> str:
        """The last lines it said, indented."""
        try:
            text = self.log.read_text(encoding="utf-8", errors="replace")
        except OSError:
            return ""
        return "\n".join(f"    {line}" for line in text.splitlines()[-TAIL_LINES:])


async def until_port_answers(port: int, program: Program, wait_s: float = 10.0) -> None:
    """Wait until something listens on a loopback port; `DemoError` when the program ends before."""
    ending = asyncio.ensure_future(program.ended())
    try:
        async with asyncio.timeout(wait_s):
            while not ending.done():
                with contextlib.suppress(OSError):
                    _, writer = await asyncio.open_connection("127.0.0.1", port)
                    writer.close()
                    return
                await asyncio.wait([ending], timeout=0.02)
    except TimeoutError:
        pass
    finally:
        ending.cancel()
    raise DemoError("no_start", f"{program.name} did not start:\n{program.tail()}")


def free_port() -> int:
    """A TCP port of the loopback that nobody uses now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _die_with_parent() -> Callable[[], None] | None:
    """On Linux the kernel ends the child when the demo is killed: nothing is left behind."""
    if not sys.platform.startswith("linux"):
        return None
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    return lambda: prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
