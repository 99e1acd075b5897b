"""SIGKILL between receive and acknowledge: the table plays on, and nobody can tell from what came out."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from hardware_sim.runner import RunConfig, RunningTable
from hardware_sim.table import Options
from tablectl.bus.broker import Broker
from tablectl.bus.topics import Topics
from tablectl.bus.watcher import Watcher
from tablectl.daemon.faultpoints import POINTS
from tests.conftest import ROOT, shared_path
from tests.first_light.brokers import Mosquitto
from tests.first_light.games import game_of, scores_at_end, start_request

GAME = "g0002"
KILLS = [
    ("received", 61),
    ("decided", 150),
    ("committed", 212),
    ("effected", 97),
    ("answered", 133),
]
"""One after the other in one game: each daemon goes on where the last one died."""


class Killed:
    """The daemon as a process of its own, begun again whenever it has been killed."""

    def __init__(self, config: Path, kills: list[tuple[str, int]]) -> None:
        self._config = config
        self._kills = list(kills)
        self.deaths: list[int] = []
        self._process: asyncio.subprocess.Process | None = None
        self._stopping = False
        self.output = b""

    async def live(self) -> None:
        while not self._stopping:
            env = dict(os.environ)
            env.pop("TABLECTL_KILL_AT", None)
            if self._kills:
                point, number = self._kills[0]
                env["TABLECTL_KILL_AT"] = f"{point}:{number}"
            self._process = await asyncio.create_subprocess_exec(
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
            _, errors = await self._process.communicate()
            self.output += errors
            code = self._process.returncode
            assert code is not None
            if self._stopping:
                assert code == 0, self.output.decode()
                return
            assert code == -signal.SIGKILL, self.output.decode()
            self.deaths.append(code)
            self._kills.pop(0)

    async def stop(self) -> None:
        self._stopping = True
        if self._process is not None and self._process.returncode is None:
            self._process.terminate()


@contextlib.asynccontextmanager
async def running(table: RunningTable) -> AsyncIterator[None]:
    task = asyncio.create_task(table.run())
    try:
        yield
    finally:
        table.stop()
        await task


def test_killed_at_five_points_of_a_game_nothing_is_lost_or_done_twice(tmp_path: Path) -> None:
    assert [point for point, _ in KILLS] == list(POINTS)
    record = f"{shared_path('data/games.jsonl.xz')}#{GAME}"
    game = game_of(GAME)
    broker = Mosquitto(tmp_path)
    broker.start()
    try:
        report, seen, deaths = asyncio.run(_play(tmp_path, record, game, broker.port))
    finally:
        broker.stop()
    assert deaths == len(KILLS)
    assert report["executed_twice"] == 0
    assert report["events_lost"] == 0
    ended = [event for event in seen.events if event.type == "game_ended"]
    assert [event.field("scores") for event in ended] == [scores_at_end(game)]
    assert report["displays"]["scores"] == scores_at_end(game)
    assert seen.gaps == []
    assert seen.last_seq == len(seen.events)
    assert len({event.epoch for event in seen.events}) == len(KILLS) + 1
    hands = [event.field("scores") for event in seen.events if event.type == "hand_ended"]
    assert hands[:-1] == [hand["end"] for hand in game["rounds"]][:-1]


async def _play(
    folder: Path, record: str, game: dict[str, Any], port: int
) -> tuple[dict[str, Any], Any, int]:
    table = RunningTable(
        RunConfig(
            Options(level="tiles", seed=3, hold=True),
            record=record,
            link=folder / "tty",
            tiles_toml=folder / "tiles.toml",
            exit_at_end=False,
        )
    )
    config = folder / "hall.toml"
    config.write_text(
        f'[mqtt]\nurl = "mqtt://127.0.0.1:{port}"\n[web]\nenabled = false\n'
        f'[journal]\npath = "journal.db"\n'
        f'[[tables]]\nid = "t1"\nport = "{table.path}"\ntiles = "tiles.toml"\n',
        encoding="utf-8",
    )
    daemon = Killed(config, KILLS)
    watcher = Watcher(Broker("127.0.0.1", port), Topics("home", "t1"))
    async with asyncio.timeout(100), running(table), watcher.connected():
        life = asyncio.create_task(daemon.live())
        await watcher.until(lambda seen: seen.retained.get("link", {}).get("state") == "up", 20)
        name, data = start_request(game)
        answer = await watcher.request(name, data)
        assert answer.status == "accepted", answer
        table.begin()
        report = await table.played()
        await watcher.until(
            lambda seen: any(event.type == "game_ended" for event in seen.events), 20
        )
        await daemon.stop()
        await life
    return report, watcher.seen, len(daemon.deaths)
