"""Many tables for long: no growth of memory or descriptors, no lost event; the figures are printed."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from pathlib import Path

import pytest

from tests.conftest import ROOT, scaled
from tests.daemon.halls import Hall, evening, whole
from tests.first_light.brokers import mosquitto

GROWTH = 0.04
"""Part of its size that the daemon may grow from the middle to the end of the run."""


def resident(pid: int) -> int:
    """Octets of memory that a process holds."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def descriptors(pid: int) -> int:
    return len(list(Path(f"/proc/{pid}/fd").iterdir()))


def cpu(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@pytest.mark.soak
@pytest.mark.parametrize(
    ("level", "speed", "tables", "seconds"),
    [
        ("tiles", 5.0, scaled(20, 5), scaled(1800, 12)),
        ("score", 1.0, scaled(100, 20), scaled(1800, 8)),
    ],
    ids=["tiles at five times people's speed", "score at people's speed"],
)
def test_many_tables_for_long(
    level: str, speed: float, tables: int, seconds: int, tmp_path: Path
) -> None:
    async def story() -> None:
        names = tuple(f"t{n}" for n in range(tables))
        hands = max(2, int(seconds * speed / 400))
        with mosquitto(tmp_path) as broker:
            hall = Hall(
                tmp_path, broker.port, names, level=level, speed=speed, record=evening(hands)
            )
            async with hall.open(daemon=False), hall.subscribers():
                process = await asyncio.create_subprocess_exec(
                    sys.executable, "-m", "tablectl", "run", "--log", "warning",
                    "--config", str(hall.file), cwd=ROOT, stderr=asyncio.subprocess.PIPE,
                )  # fmt: skip
                typing = asyncio.create_task(operator(hall)) if level == "score" else None
                try:
                    await play(hall, process.pid, seconds)
                finally:
                    if typing is not None:
                        typing.cancel()
                    process.terminate()
                    assert process.stderr is not None
                    said = (await process.stderr.read()).decode()
                    assert await process.wait() == 0, said
                for name in names:
                    whole(hall.watchers[name].seen)
                    assert hall.report(name)["events_lost"] == 0
                    assert hall.report(name)["executed_twice"] == 0
                assert "Traceback" not in said

    asyncio.run(story())


async def operator(hall: Hall) -> None:
    """What a table without antennas cannot see is typed in: every hand ends in a draw."""
    while True:
        name = await hall.asked.get()
        data = {"kind": "exhaustive", "tenpai": [False] * 4}
        answer = await hall.watchers[name].request("result/draw", data)
        assert answer.status == "accepted", answer
        hall.tables[name].operator_done()


async def play(hall: Hall, pid: int, seconds: int) -> None:
    for name, watcher in hall.watchers.items():
        links = hall.links[name]
        await hall.until(lambda links=links: bool(links) and links[-1]["state"] == "up")  # type: ignore[misc]
        data = {"ruleset": "tenhou", "players": list("abcd"), "first_dealer": 0}
        answer = await watcher.request("game/start", data)
        assert answer.status == "accepted", answer
        hall.tables[name].begin()
    for watcher in hall.watchers.values():
        await hall.until(
            lambda seen=watcher.seen: any(event.type == "walls_built" for event in seen.events)  # type: ignore[misc]
        )
    began, used = time.monotonic(), cpu(pid)
    files = descriptors(pid)
    memory = [resident(pid)]
    events = sum(watcher.seen.last_seq for watcher in hall.watchers.values())
    while time.monotonic() < began + seconds:
        # The measure is taken at times, not on events: people play meanwhile.
        await asyncio.sleep(seconds / 40)
        memory.append(resident(pid))
        assert descriptors(pid) <= files, "descriptors grow"
    took = time.monotonic() - began
    events = sum(watcher.seen.last_seq for watcher in hall.watchers.values()) - events
    middle, last = max(memory[len(memory) // 2 - 4 : len(memory) // 2 + 4]), max(memory[-4:])
    share = (cpu(pid) - used) / took
    print(
        f"\n{len(hall.tables)} tables for {took:.0f} s: {events:,} events, {share:.0%} of a core, "
        f"memory {memory[0] / 2**20:.1f} → {middle / 2**20:.1f} → {last / 2**20:.1f} MiB, {files} descriptors"
    )
    assert events > 0
    assert last <= middle * (1 + GROWTH), "memory grows"
    for name in hall.tables:
        await hall.until(lambda name=name: _rests(hall, name), 20)  # type: ignore[misc]


def _rests(hall: Hall, name: str) -> bool:
    seen = hall.watchers[name].seen
    return (seen.retained.get("state") or {}).get("last_seq") == seen.last_seq
