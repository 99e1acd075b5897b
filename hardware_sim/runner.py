"""Runs simulated tables in real time, each on its own pty, in an asyncio loop.

running = RunningTable(RunConfig(record="games.jsonl#g0002", link=Path("/tmp/table")))
running.path                     # what the host opens, from the start
report = await running.run()     # ends when the record is played (or is cancelled)
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from firmware_protocol.vocabulary import ResetCause
from hardware_sim import record
from hardware_sim.faults.play import Faults
from hardware_sim.people import Progress
from hardware_sim.pty_port import PtyPort
from hardware_sim.table import Options, SimTable

QUIET = 0.5
"""Seconds without a display write after which the displays show the end of the game."""
QUIET_MOST = 5.0
"""Seconds after the end of the record when we look at the displays at the latest."""
HOUSEKEEPING = 1.0
WATCH = 0.02
"""Seconds between two looks whether a host has opened the port, where that resets the board."""


@dataclass
class RunConfig:
    """One table on one pty."""

    options: Options = field(default_factory=Options)
    record: str | None = None
    """`FILE` or `FILE#ID`; None: nobody sits at the table."""
    link: Path | None = None
    """Symbolic link to the pty; None: the pty's own name."""
    tiles_toml: Path | None = None
    """Where to write the map from tag to tile."""
    faults: str | None = None
    """A fault script: a file, or the name of one that comes with the simulator."""
    on_event: Callable[[Progress], None] | None = None
    exit_at_end: bool = True
    """Return when the record is played and the displays have come to rest."""


def _micros() -> int:
    return time.monotonic_ns() // 1000


class RunningTable:
    """A table on a pty. The pty exists from construction on; `run` brings it to life."""

    def __init__(self, config: RunConfig, game: record.Game | None = None) -> None:
        """`game` takes the place of `config.record`. Raises SimError for what cannot be simulated."""
        self.config = config
        if game is None and config.record:
            game = record.load(config.record, config.options.seed)
        self._origin = _micros()
        faults = Faults.load(config.faults) if config.faults else None
        self.table = SimTable(config.options, game, config.on_event, faults)
        if config.tiles_toml is not None:
            self.table.write_tiles_toml(config.tiles_toml)
        self.ended = False
        self.port: PtyPort | None = self._new_port()
        self._timer: asyncio.TimerHandle | None = None
        self._chores: asyncio.TimerHandle | None = None
        self._done: asyncio.Future[None] | None = None
        self._over_since: int | None = None
        self._writing = False
        self._played = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self.host_there = True
        """Somebody has the port open (known only where opening it resets the board)."""

    @property
    def path(self) -> str:
        """What a host opens."""
        if self.port is not None:
            return self.port.path
        return str(self.config.link or "")

    def begin(self) -> None:
        """The host knows the game: the first dealer may press start."""
        self.table.begin()
        self._soon()

    def operator_done(self) -> None:
        """The host has accepted what the operator entered."""
        self.table.operator_done()
        self._soon()

    def poke(self, act: Callable[[SimTable], None]) -> None:
        """Do something to the table now: a console's or a test's hand."""
        self.table.advance(self._now())
        act(self.table)
        self._soon()

    async def run(self) -> dict[str, Any]:
        """Live until the record is played, `stop()` or cancellation; returns the report."""
        loop = asyncio.get_running_loop()
        self._loop = loop
        self._done = loop.create_future()
        self._open(loop)
        self._step()
        self._chore()
        try:
            await self._done
        finally:
            self.ended = True
            self.close()
        return self.table.report()

    async def played(self) -> dict[str, Any]:
        """Wait until the record is played and the displays have come to rest; the table lives on."""
        await self._played.wait()
        return self.table.report()

    def stop(self) -> None:
        """End `run`."""
        if self._done is not None and not self._done.done():
            self._done.set_result(None)

    def stop_threadsafe(self) -> None:
        """End `run` from another thread."""
        if self._loop is not None and not self.ended:
            self._loop.call_soon_threadsafe(self.stop)

    def close(self) -> None:
        """Close the pty and remove its name; harmless when done twice."""
        for handle in (self._timer, self._chores):
            if handle is not None:
                handle.cancel()
        self._unplug()

    # ------------------------------------------------------------------ inside

    def _now(self) -> int:
        return _micros() - self._origin

    def _open(self, loop: asyncio.AbstractEventLoop) -> None:
        if self.port is None:
            self.port = self._new_port()
        if self.port.held:
            loop.add_reader(self.port.fd, self._readable)
        else:
            self._watch_host(present=False)

    def _new_port(self) -> PtyPort:
        return PtyPort(self.config.link, held=not self.config.options.dtr_resets)

    def _watch_host(self, *, present: bool) -> None:
        """Where opening the port resets the board: look for a host that comes and goes."""
        port = self.port
        if port is None or self.ended:
            return
        loop = asyncio.get_running_loop()
        now_there = self.host_there = port.host_present()
        if now_there and not present:
            self.table.advance(self._now())
            self.table.reset_board(ResetCause.PIN)
            loop.add_reader(port.fd, self._readable)
            self._step()
        elif present and not now_there:
            loop.remove_reader(port.fd)
        loop.call_later(WATCH, lambda: self._watch_host(present=now_there))

    def _unplug(self) -> None:
        port, self.port = self.port, None
        if port is None:
            return
        with contextlib.suppress(RuntimeError):
            loop = asyncio.get_running_loop()
            loop.remove_reader(port.fd)
            loop.remove_writer(port.fd)
        self._writing = False
        port.close()

    def _readable(self) -> None:
        if self.port is None:
            return
        data = self.port.read()
        if not data and not self.port.host_present():
            asyncio.get_running_loop().remove_reader(self.port.fd)
        if data:
            self.table.receive(data, self._now())
            self._step()

    def _step(self) -> None:
        """Let the table do what is due, write what it has to say, and come back in time."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        loop = asyncio.get_running_loop()
        try:
            self.table.advance(self._now())
            self._write(loop)
        except Exception as error:  # noqa: BLE001 - whatever it is, `run` must tell it and close the pty
            self._fail(error)
            return
        due = self.table.next_deadline
        if due is not None:
            self._timer = loop.call_later(max(0, due - self._now()) / 1e6, self._step)

    def _write(self, loop: asyncio.AbstractEventLoop) -> None:
        data = self.table.data_to_send(self._now())
        if self.table.line.plugged != (self.port is not None):
            if self.port is None:
                self._open(loop)
            else:
                self._unplug()
        if self.port is None or not (data or self.port.pending):
            return
        if not self.port.host_present():
            return
        all_written = self.port.write(data)
        if all_written == self._writing:
            self._writing = not all_written
            if self._writing:
                loop.add_writer(self.port.fd, self._step)
            else:
                loop.remove_writer(self.port.fd)

    def _soon(self) -> None:
        if self._done is not None and not self._done.done():
            asyncio.get_running_loop().call_soon(self._step)

    def _fail(self, error: Exception) -> None:
        if self._done is not None and not self._done.done():
            self._done.set_exception(error)

    def _chore(self) -> None:
        """Once a second, more often at the end: throw away what nobody reads, see whether all is over."""
        if self.port is not None:
            self.port.unmark()
            if not self.table.board.linked():
                self.port.drop_unread()
        gap = HOUSEKEEPING
        if self.table.over and not self._played.is_set():
            gap = QUIET / 5
            if self._at_rest():
                self._played.set()
                if self.config.exit_at_end:
                    self.stop()
        self._chores = asyncio.get_running_loop().call_later(gap, self._chore)

    def _at_rest(self) -> bool:
        now = self._now()
        if self._over_since is None:
            self._over_since = now
        shown = max(self._over_since, self.table.parts.displays.last_write)
        quiet = self.table.board.told() and now - shown > QUIET * 1e6
        return quiet or now - self._over_since > QUIET_MOST * 1e6


async def run_table(config: RunConfig) -> dict[str, Any]:
    """Run one table to the end of its record; returns its report."""
    return await RunningTable(config).run()
