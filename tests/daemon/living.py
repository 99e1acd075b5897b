"""A daemon as a process of its own, a simulated table on a pty, and a listener that forgets nothing."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
from collections import defaultdict
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

from hardware_sim.runner import RunConfig, RunningTable
from hardware_sim.table import Options
from tablectl.bus.broker import Broker
from tablectl.bus.topics import Topics
from tablectl.bus.watcher import Watcher
from tests.conftest import ROOT


class Living:
    """`tablectl run`, begun again whenever it was killed at one of the given points."""

    def __init__(self, config: Path, kills: Sequence[tuple[str, int]] = ()) -> None:
        self._config = config
        self._kills = list(kills)
        self.deaths = 0
        self.process: asyncio.subprocess.Process | None = None
        self.output = b""
        self._stopping = False

    async def live(self) -> None:
        """Until `stop`; fails when it ends in another way than it was told to."""
        while not self._stopping:
            env = {k: v for k, v in os.environ.items() if k != "TABLECTL_KILL_AT"}
            if self._kills:
                point, number = self._kills[0]
                env["TABLECTL_KILL_AT"] = f"{point}:{number}"
            self.process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                "tablectl",
                "run",
                "--config",
                str(self._config),
                cwd=ROOT,
                env=env,
                stderr=asyncio.subprocess.PIPE,
            )
            _, errors = await self.process.communicate()
            self.output += errors
            code = self.process.returncode
            if self._stopping:
                assert code == 0, self.output.decode()
                return
            assert code == -signal.SIGKILL, self.output.decode()
            self.deaths += 1
            self._kills.pop(0)

    async def stop(self) -> None:
        """A graceful end."""
        self._stopping = True
        if self.process is not None and self.process.returncode is None:
            self.process.terminate()


class Listener(Watcher):
    """A watcher that keeps every payload of the public feed, repeated ones too."""

    def __init__(self, port: int, table: str = "t1") -> None:
        super().__init__(Broker("127.0.0.1", port), Topics("home", table))
        self.payloads: dict[str, list[bytes]] = defaultdict(list)

    def _take_event(self, payload: bytes) -> None:
        self.payloads[json.loads(payload)["id"]].append(payload)
        super()._take_event(payload)

    async def ended(self, within_s: float) -> None:
        """Wait for the end of the game."""
        await self.until(lambda seen: any(e.type == "game_ended" for e in seen.events), within_s)

    async def linked(self, within_s: float = 20) -> None:
        """Wait until the daemon has the board."""
        await self.until(
            lambda seen: (seen.retained.get("link") or {}).get("state") == "up", within_s
        )


ENVELOPE = frozenset({"epoch", "seq", "id", "stream", "t_wall", "t_mono", "time_synced", "game_id"})


def content(payloads: Sequence[bytes]) -> list[dict[str, Any]]:
    """Events without what differs from run to run."""
    return [
        {key: value for key, value in json.loads(p).items() if key not in ENVELOPE}
        for p in payloads
    ]


def simulated(folder: Path, record: str, **options: Any) -> RunningTable:
    """A table on a pty that waits to be begun."""
    opts = Options(**{"level": "tiles", "seed": 3, "hold": True, **options})
    return RunningTable(
        RunConfig(
            opts,
            record=record,
            link=folder / "tty",
            tiles_toml=folder / "tiles.toml",
            exit_at_end=False,
        )
    )


def hall(folder: Path, port: int, table: RunningTable, more: str = "") -> Path:
    """The configuration of one table."""
    path = folder / "hall.toml"
    path.write_text(
        f'[mqtt]\nurl = "mqtt://127.0.0.1:{port}"\n[web]\nenabled = false\n'
        f'[journal]\npath = "journal.db"\n'
        f'[[tables]]\nid = "t1"\nport = "{table.path}"\ntiles = "tiles.toml"\n{more}',
        encoding="utf-8",
    )
    return path


@contextlib.asynccontextmanager
async def running(table: RunningTable) -> AsyncIterator[None]:
    """The table lives while the block runs."""
    task = asyncio.create_task(table.run())
    try:
        yield
    finally:
        table.stop()
        await task
