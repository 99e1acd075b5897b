"""100 simulated tables at people's speed in one process, each on its own pty: how much of a core they take.

The hosts run in a second process (the link alone, every event accepted at once, walls lifted on start), so
that only the tables are measured. Goal: under one core.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import random
import resource
import select
import time
import tty
from functools import partial
from multiprocessing.connection import Connection
from typing import Any

from firmware_protocol import messages as m
from firmware_protocol.deliveries import Delivery
from firmware_protocol.link import Link
from firmware_protocol.vocabulary import ActionKind, Button
from hardware_sim import record
from hardware_sim.runner import RunConfig, RunningTable
from hardware_sim.table import Options, SimTable
from hardware_sim.tags import full_set

TABLES = 100
SECONDS = 45.0
"""Wall time measured, from the first start press on: lift, dice, deal and the first go-arounds."""


def plain_game(seed: int, hands: int = 2) -> dict[str, Any]:
    """A record in which everybody draws and discards what he drew, to the last tile."""
    rounds = []
    for number in range(hands):
        wall = full_set(reds=True)
        random.Random(f"{seed}/{number}").shuffle(wall)
        dealt = [
            "".join(wall[16 * turn + 4 * k + i] for turn in range(3) for i in range(4))
            + wall[48 + k]
            for k in range(4)
        ]
        events: list[dict[str, Any]] = []
        for turn in range(70):
            tile, seat = wall[52 + turn], turn % 4
            events += [
                {"e": "draw", "p": seat, "t": tile},
                {"e": "discard", "p": seat, "t": tile, "tg": True},
            ]
        events.append({"e": "drawn", "reason": "exhaustive", "tenpai": [False] * 4})
        rounds.append(
            {"wind": "E", "num": 1, "honba": number, "dealer": 0, "dora": wall[130], "hands": dealt,
             "wall": "".join(wall), "events": events}
        )  # fmt: skip
    return {"id": f"plain{seed}", "rules": {"players": 4, "red": True}, "rounds": rounds}


def hosts(paths: list[str], stop: Connection) -> None:
    """The other ends, in a process of their own: one loop over all ports."""
    start = time.monotonic_ns()
    ends: dict[int, Link] = {}
    commands = dict.fromkeys(range(len(paths)), 0)
    poller = select.poll()
    for number, path in enumerate(paths):
        fd = os.open(path, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
        tty.setraw(fd)
        ends[fd] = Link.host(0, nonce=partial(random.Random(number).getrandbits, 32))
        ends[fd].connect(0)
        poller.register(fd, select.POLLIN)
    numbers = {fd: n for n, fd in enumerate(ends)}
    while not stop.poll():
        readable = {fd for fd, _ in poller.poll(20)}
        now = (time.monotonic_ns() - start) // 1000
        for fd, link in ends.items():
            items = link.receive(os.read(fd, 4096), now) if fd in readable else []
            for item in [*items, *link.poll(now)]:
                if isinstance(item, Delivery):
                    link.accept(item)
                    event = item.message
                    if isinstance(event, m.ButtonEvent) and event.button == Button.START:
                        commands[numbers[fd]] += 1
                        link.send(m.Action(commands[numbers[fd]], ActionKind.LIFT, 0, 0, 0), now)
            data = link.data_to_send(now)
            if data:
                os.write(fd, data)


async def run_tables(tables: list[RunningTable]) -> tuple[float, int]:
    """CPU seconds and events of the tables over the measured time."""
    tasks = [asyncio.create_task(table.run()) for table in tables]
    async with asyncio.timeout(60):
        while not all(table.table.board.linked() for table in tables):  # noqa: ASYNC110 - state of many tables
            await asyncio.sleep(0.05)
    for table in tables:
        table.begin()
    before = cpu_seconds()
    await asyncio.sleep(SECONDS)
    spent = cpu_seconds() - before
    events = sum(sum(table.table.board.sent.values()) for table in tables)
    for table in tables:
        table.stop()
    await asyncio.gather(*tasks)
    return spent, events


def cpu_seconds() -> float:
    """CPU time of this process so far, in user and kernel mode."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def at_full_speed() -> tuple[int, float]:
    """Events of a game at `--speed max` on the virtual clock, and the seconds they took (both ends)."""
    from tests.sim.host import Host, Pair

    table = SimTable(Options(), record.parse(plain_game(1)))
    host = Host()
    started = time.perf_counter()
    Pair(table, host).run(lambda: table.over, limit=600.0)
    return len(host.events), time.perf_counter() - started


def main() -> int:
    """Print the table; 1 when 100 tables need more than a core."""
    options = Options(level="tiles", speed=1.0, hold=True)
    tables = []
    for number in range(TABLES):
        config = RunConfig(Options(level="tiles", speed=1.0, hold=True, seed=number))
        running = RunningTable(config, record.parse(plain_game(number)))
        tables.append(running)
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(
        target=hosts, args=([table.path for table in tables], theirs), daemon=True
    )
    process.start()
    spent, events = asyncio.run(run_tables(tables))
    ours.send("stop")
    process.join(10)
    share = spent / SECONDS
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    count, seconds = at_full_speed()
    print(
        f"{TABLES} tables, level {options.level}, people's speed, each on its own pty, {SECONDS:.0f} s"
    )
    print(f"  CPU            {share:6.2f} of a core   (goal: under 1)")
    print(f"  events         {events / SECONDS:6.0f} a second in all")
    print(f"  memory         {memory:6.0f} MB, {memory / TABLES:.1f} MB a table")
    print(
        f"  as fast as possible on the virtual clock, both ends: {count / seconds:,.0f} events a second"
    )
    return 0 if share < 1.0 else 1
