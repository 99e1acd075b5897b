"""A daemon as a process of its own, a simulated table on a pty, and a listener that forgets nothing."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
import uuid
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hardware_sim.runner import RunConfig, RunningTable
from hardware_sim.table import Options
from tablectl.bus.broker import Broker
from tablectl.bus.payloads import Response
from tablectl.bus.topics import Topics
from tablectl.bus.watcher import Seen, Watcher
from tests.conftest import ROOT


@dataclass
class Death:
    """One end by SIGKILL: at which point (`clock`: whatever it was doing), and in which phase of the game."""

    point: str
    phase: str = ""


class Living:
    """`tablectl run`, begun again whenever it was killed at one of the given points.

    `kills`: (word of `TABLECTL_KILL_AT` without its number, number), or (`clock`, ms after birth).
    `on_death` is called while no daemon lives. `command`: start the real command each time, imports and
    all, instead of a fork of a process that has them.
    """

    def __init__(
        self,
        config: Path,
        kills: Sequence[tuple[str, int]] = (),
        *,
        on_death: Callable[[Death], None] = lambda _death: None,
        command: bool = False,
    ) -> None:
        self._config = config
        self._kills = list(kills)
        self._on_death = on_death
        self._command = command
        self._log = config.with_name("daemon.log")
        self._nursery: asyncio.subprocess.Process | None = None
        self._stopping = False
        self.deaths: list[Death] = []
        self.pid: int | None = None
        """Of the daemon that lives now."""
        self.alive = asyncio.Event()

    @property
    def output(self) -> str:
        """What all of them said."""
        return self._log.read_text(encoding="utf-8", errors="replace")

    @property
    def left(self) -> int:
        """Kills that are still to come."""
        return len(self._kills)

    async def live(self) -> None:
        """Until `stop`; fails when it ends in another way than it was told to."""
        try:
            while not self._stopping:
                point, number = self._kills[0] if self._kills else ("", 0)
                word = f"{point}:{number}" if point not in ("", "clock") else ""
                code = await self._one(word, number if point == "clock" else None)
                if self._stopping and code == 0:
                    return
                assert code == -signal.SIGKILL, self.output[-4000:]
                if self._kills:
                    self._kills.pop(0)
                if word:
                    point = self.output.splitlines()[-1].removeprefix("killed at ")
                death = Death(point or "clock")
                self.deaths.append(death)
                self._on_death(death)
        finally:
            await self._end()

    async def during(self, story: Coroutine[Any, Any, None]) -> None:
        """Live while the story goes on, and stop in order at its end; whatever fails first is raised."""
        life = asyncio.create_task(self.live())
        playing = asyncio.create_task(story)
        try:
            done, _ = await asyncio.wait({life, playing}, return_when=asyncio.FIRST_COMPLETED)
            await (life if life in done else playing)
            assert playing in done, "the daemon ended before the story"
            self.stop()
            await life
        finally:
            for task in (playing, life):
                task.cancel()
            await asyncio.gather(playing, life, return_exceptions=True)

    async def _one(self, word: str, after_ms: int | None) -> int:
        """One life: exit code."""
        born = self._by_command(word) if self._command else self._by_fork(word)
        self.pid, ending = await born
        self.alive.set()
        reaper = None
        if after_ms is not None:
            reaper = asyncio.get_running_loop().call_later(after_ms / 1000, self.kill)
        if self._stopping:
            self.stop()
        try:
            return await ending
        except asyncio.CancelledError:
            self.kill()  # nobody outlives the test
            raise
        finally:
            self.pid = None
            self.alive.clear()
            if reaper is not None:
                reaper.cancel()

    async def _by_command(self, word: str) -> tuple[int, Coroutine[Any, Any, int]]:
        with self._log.open("ab") as log:
            process = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "tablectl", "run", "--config", str(self._config),
                cwd=ROOT, env=os.environ | {"TABLECTL_KILL_AT": word}, stderr=log,
            )  # fmt: skip
        return process.pid, process.wait()

    async def _by_fork(self, word: str) -> tuple[int, Coroutine[Any, Any, int]]:
        if self._nursery is None:
            self._nursery = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "tests.daemon.nursery",
                cwd=ROOT, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
                start_new_session=True,
            )  # fmt: skip
        nursery = self._nursery
        assert nursery.stdin is not None
        assert nursery.stdout is not None
        nursery.stdin.write(f"{self._config}\t{word}\t{self._log}\n".encode())
        lines = nursery.stdout

        async def number() -> int:
            return int(await lines.readline())

        return await number(), number()

    def kill(self) -> None:
        """SIGKILL now, if it lives."""
        if self.pid is not None:
            os.kill(self.pid, signal.SIGKILL)

    def stop(self) -> None:
        """A graceful end."""
        self._stopping = True
        if self.pid is not None:
            os.kill(self.pid, signal.SIGTERM)

    async def _end(self) -> None:
        """The nursery ends with whatever it may have born meanwhile."""
        nursery, self._nursery = self._nursery, None
        if nursery is not None:
            os.killpg(nursery.pid, signal.SIGKILL)
            await nursery.wait()


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

    async def asked(
        self, name: str, data: dict[str, Any], *, transaction: str = "", within_s: float = 60
    ) -> Response:
        """Ask until there is an answer, each time with the same transaction, as every asker should."""
        transaction = transaction or str(uuid.uuid4())
        async with asyncio.timeout(within_s):
            while True:
                with contextlib.suppress(TimeoutError):
                    answer = await self.request(name, data, transaction=transaction, wait_s=1)
                    assert answer.status == "accepted", answer
                    return answer

    async def linked_again(self, epoch: int, within_s: float = 20) -> None:
        """Wait until the daemon of this epoch has the board and has shown the state."""

        def there(seen: Seen) -> bool:
            link, state = (seen.retained.get(topic) or {} for topic in ("link", "state"))
            return link.get("state") == "up" and state.get("epoch") == epoch

        await self.until(there, within_s)

    async def settled(self, epoch: Callable[[], int], within_s: float = 20) -> None:
        """Wait until the daemon that lives now (it has the journal's epoch) has told everything."""

        def told(seen: Seen) -> bool:
            birth, state = (seen.retained.get(topic) or {} for topic in ("bridge/state", "state"))
            online = birth.get("state") == "online" and birth.get("epoch") == epoch()
            return online and state.get("last_seq") == seen.last_seq

        await self.until(told, within_s)

    async def linked(self, within_s: float = 60) -> None:
        """Wait until the daemon has the board; on a busy machine its imports alone take long."""
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
