"""From the octet on the pty to the MQTT subscriber, against a bridge that does nothing; tables per core.

Four processes in every row: this one writes to the pty as the board, the bridge, mosquitto, a subscriber. The
time begins before `write` of the frame and ends in the subscriber's callback (CLOCK_MONOTONIC of one host). The
floor is a bridge of forty lines: pty → COBS, CRC → aiomqtt, QoS 1; no link, rules, journal or pages. Floor and
daemon run alternately, so that a busy machine is busy for both. Goals: p50 within 1.5 times the floor plus one
fsync, p99 within twice the floor; 300 tables a core at level score, 100 at level tiles, at people's speed.
"""

from __future__ import annotations

import asyncio
import binascii
import contextlib
import json
import multiprocessing
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import time
import tty
import uuid
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from cobs import cobs

HANDS = 60
"""One start press and three riichi each."""
PAUSE_S = 0.004
TABLES = {"score": 40, "tiles": 20}
WINDOW_S = 15.0
GOALS = {"score": 300, "tiles": 100}

# ---------------------------------------------------------------- the other processes


def floor(port: int, device: str) -> None:
    """The bridge that does nothing."""
    import aiomqtt

    async def bridge() -> None:
        fd = os.open(device, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
        tty.setraw(fd)
        queue: asyncio.Queue[bytes] = asyncio.Queue()
        buffer = bytearray()

        def ready() -> None:
            buffer.extend(os.read(fd, 4096))
            *frames, rest = bytes(buffer).split(b"\0")
            buffer[:] = rest
            for frame in frames:
                body = cobs.decode(frame)
                if binascii.crc_hqx(body, 0xFFFF) == 0:
                    queue.put_nowait(body[:-2])

        asyncio.get_running_loop().add_reader(fd, ready)
        nodelay = ((socket.IPPROTO_TCP, socket.TCP_NODELAY, 1),)
        async with aiomqtt.Client(
            "127.0.0.1", port, protocol=aiomqtt.ProtocolVersion.V5, socket_options=nodelay
        ) as client:
            print("ready", flush=True)
            number = 0
            while True:
                body = await queue.get()
                number += 1
                event = {
                    "seq": number,
                    "type": body[:1].hex(),
                    "body": body.hex(),
                    "pad": "x" * 200,
                }
                await client.publish("tablectl/home/t1/event", json.dumps(event), 1)

    asyncio.run(bridge())


def subscriber(port: int) -> None:
    """Prints `type nanoseconds` for each event at its end."""
    import paho.mqtt.client as paho

    heard: list[tuple[int, bytes]] = []
    client = paho.Client(paho.CallbackAPIVersion.VERSION2, protocol=paho.MQTTv5)
    client.on_connect = lambda *_: client.subscribe("tablectl/+/+/event", 1)
    client.on_subscribe = lambda *_: print("ready", flush=True)
    client.on_message = lambda _c, _u, msg: heard.append((time.monotonic_ns(), msg.payload))

    def end(*_: object) -> None:
        for stamp, payload in heard:
            print(json.loads(payload)["type"], stamp)
        sys.stdout.flush()
        os._exit(0)

    signal.signal(signal.SIGTERM, end)
    client.connect("127.0.0.1", port)
    client.loop_forever()


def sitting(folder: str, level: str, count: int, ready: Any) -> None:
    """Tables with people at their own pace, until the parent ends the process."""
    from hardware_sim.runner import RunConfig, RunningTable
    from hardware_sim.table import Options

    async def play() -> None:
        tables = [
            RunningTable(
                RunConfig(
                    Options(level=level, seed=n, speed=1.0, hold=True), record=f"{folder}/record.jsonl",
                    link=Path(folder) / f"tty-{n}", tiles_toml=Path(folder) / f"{n}.toml", exit_at_end=False,
                )
            )
            for n in range(count)
        ]  # fmt: skip
        lives = [asyncio.create_task(table.run()) for table in tables]
        ready.send("there")
        await asyncio.to_thread(ready.recv)
        for table in tables:
            table.begin()
        await asyncio.gather(*lives)

    asyncio.run(play())


@contextlib.contextmanager
def role(*arguments: str) -> Iterator[subprocess.Popen[str]]:
    """Another process of this file, ready when it says so."""
    process = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.bridge", *arguments], stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        yield process
    finally:
        process.terminate()
        process.wait(10)


@contextlib.contextmanager
def mosquitto(folder: Path) -> Iterator[int]:
    """A broker of our own."""
    from tests.first_light.brokers import mosquitto as running

    with running(folder) as broker:
        yield broker.port


# ---------------------------------------------------------------- latency


def stamps_of(process: subprocess.Popen[str]) -> list[tuple[str, int]]:
    """What the subscriber heard."""
    process.terminate()
    assert process.stdout is not None
    rows = [line.split() for line in process.stdout]
    return [(kind, int(stamp)) for kind, stamp in rows]


def floor_row(count: int) -> list[float]:
    """Latencies of the floor, µs."""
    with tempfile.TemporaryDirectory() as name, mosquitto(Path(name)) as port:
        master, slave = os.openpty()
        tty.setraw(slave)
        sent = []
        rng = random.Random(1)
        with role("subscriber", str(port)) as heard, role("floor", str(port), os.ttyname(slave)):
            for number in range(count):
                body = bytes([number & 255]) + rng.randbytes(11)
                body += binascii.crc_hqx(body, 0xFFFF).to_bytes(2, "big")
                frame = cobs.encode(body) + b"\0"
                sent.append(time.monotonic_ns())
                os.write(master, frame)
                time.sleep(PAUSE_S * rng.uniform(0.5, 2))
            time.sleep(0.3)
            got = stamps_of(heard)
        os.close(master)
        os.close(slave)
    assert len(got) == count, f"{len(got)} of {count} came"
    return [(at - began) / 1000 for began, (_, at) in zip(sent, got, strict=True)]


def daemon_row(hands: int, *, fsync: bool) -> list[float]:
    """Latencies of start press and riichi through the daemon, µs."""
    with tempfile.TemporaryDirectory() as name, mosquitto(Path(name)) as port:
        folder = Path(name)
        (folder / "hall.toml").write_text(
            f'[mqtt]\nurl = "mqtt://127.0.0.1:{port}"\n[web]\nenabled = false\n'
            f'[journal]\npath = "journal.db"\nfsync = {str(fsync).lower()}\n'
            f'[log]\nlevel = "error"\n[[tables]]\nid = "t1"\nport = "{folder}/tty"\n'
        )
        with role("subscriber", str(port)) as heard:
            sent = asyncio.run(_hands(folder, port, hands))
            time.sleep(0.3)
            got = stamps_of(heard)
    first = {"hand_started": "start", "riichi_declared": "riichi"}
    heard_at = [(first[kind], at) for kind, at in got if kind in first]
    assert [kind for kind, _ in heard_at] == [kind for kind, _ in sent], "an event is missing"
    return [(at - began) / 1000 for (_, began), (_, at) in zip(sent, heard_at, strict=True)]


@contextlib.asynccontextmanager
async def daemon(config: Path) -> AsyncIterator[int]:
    """`tablectl run` as a process; its pid."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tablectl", "run", "--config", str(config)
    )
    try:
        yield process.pid
    finally:
        process.terminate()
        await process.wait()


async def _hands(folder: Path, port: int, hands: int) -> list[tuple[str, int]]:
    """Press start, let the dice lie, lay three sticks; again. Returns what was written when.

    Like the writer of the floor this one hears no events: it goes on when the daemon has acknowledged
    its frame, and asks at the broker only between hands.
    """
    from firmware_protocol import messages as m
    from firmware_protocol.paging import state_digest
    from firmware_protocol.vocabulary import Button, Press
    from tests.daemon.port_kit import Bell, Board, Pty

    class Stamped(Board):
        wrote = 0

        def _flush(self) -> None:
            if self._pending:
                self.wrote = time.monotonic_ns()
            super()._flush()

    rng = random.Random(2)
    pty = Pty(folder / "tty")
    board = Stamped(pty, Bell())
    sent: list[tuple[str, int]] = []

    async def written(event: Any, kind: str = "") -> None:
        """Write an event, wait for its acknowledgement, and a little more, as the floor's writer does."""
        board.event(event)
        if kind:
            sent.append((kind, board.wrote))
        await board.bell.until(lambda: board.link.idle)
        await asyncio.sleep(PAUSE_S * rng.uniform(0.5, 2))

    async def stick(seat: int, present: int, kind: str = "") -> None:
        riichi = board.state.riichi & ~(1 << seat) | present << seat
        board.state = replace(board.state, riichi=riichi)
        board.link.state_digest = state_digest(board.state)
        await written(m.RiichiSlot(seat, present), kind)

    async with daemon(folder / "hall.toml"), asking(port) as ask:
        for _ in range(hands):
            await ask("game/start", {"ruleset": "tenhou", "players": list("abcd")})
            await written(m.ButtonEvent(Button.START, 0, Press.PRESSED), "start")
            board.lift()
            await written(m.DiceSettled(3, 4, 0, 0))
            for seat in range(3):
                await stick(seat, 1, "riichi")
            await ask("game/abort", {"reason": "benchmark"})
            for seat in range(3):
                await stick(seat, 0)
    board.unplug()
    return sent


@contextlib.asynccontextmanager
async def asking(port: int) -> AsyncIterator[Any]:
    """Requests to table t1 once its link is up, by a client that hears answers only."""
    from tablectl.bus.broker import Broker
    from tablectl.bus.topics import Topics

    topics = Topics("home", "t1")
    async with Broker("127.0.0.1", port).client("asking", "5") as client:

        async def heard(wanted: dict[str, str]) -> None:
            async for message in client.messages:
                body = json.loads(message.payload)
                if wanted.items() <= body.items():
                    return

        async def ask(name: str, data: dict[str, Any]) -> None:
            body = {**data, "transaction": str(uuid.uuid4())}
            await client.publish(topics.request(name), json.dumps(body), 1)
            await heard({"transaction": body["transaction"], "status": "accepted"})

        await client.subscribe(topics.response_filter, qos=1)
        await client.subscribe(topics.link, qos=1)
        async with asyncio.timeout(60):
            await heard({"state": "up"})
        await client.unsubscribe(topics.link)
        yield ask


def fsync_us(folder: str) -> float:
    """What one fdatasync of a small append costs here: median of 200, µs."""
    fd = os.open(f"{folder}/probe", os.O_RDWR | os.O_CREAT, 0o600)
    times = []
    for _ in range(200):
        os.write(fd, b"x" * 4096)
        began = time.perf_counter_ns()
        os.fdatasync(fd)
        times.append((time.perf_counter_ns() - began) / 1000)
    os.close(fd)
    return quantile(times, 0.5)


def quantile(values: list[float], part: float) -> float:
    """Value at this part of the sorted list."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * part))]


# ---------------------------------------------------------------- tables per core


def ticks(pid: int) -> float:
    """Processor seconds of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def per_core(level: str, count: int) -> tuple[float, int]:
    """(Tables one core carries at people's speed, events published meanwhile)."""
    from tests.daemon.halls import evening

    with tempfile.TemporaryDirectory() as name, mosquitto(Path(name)) as port:
        folder = Path(name)
        (folder / "record.jsonl").write_text(json.dumps(evening(1)) + "\n")
        ours, theirs = multiprocessing.Pipe()
        people = multiprocessing.get_context("spawn").Process(
            target=sitting, args=(name, level, count, theirs)
        )
        people.start()
        try:
            ours.recv()
            (folder / "hall.toml").write_text(
                f'[mqtt]\nurl = "mqtt://127.0.0.1:{port}"\n[web]\nenabled = false\n'
                '[journal]\npath = "journal.db"\n[log]\nlevel = "error"\n'
                + "".join(
                    f'[[tables]]\nid = "t{n}"\nport = "{folder}/tty-{n}"\n'
                    + (f'tiles = "{n}.toml"\n' if level == "tiles" else "")
                    for n in range(count)
                )
            )
            return asyncio.run(_measured(folder, port, count, ours))
        finally:
            people.kill()
            people.join()


async def _measured(folder: Path, port: int, count: int, people: Any) -> tuple[float, int]:
    from tablectl.bus.broker import Broker
    from tablectl.bus.topics import Topics
    from tablectl.bus.watcher import Watcher

    events = 0
    watchers = [Watcher(Broker("127.0.0.1", port), Topics("home", f"t{n}")) for n in range(count)]
    async with daemon(folder / "hall.toml") as pid, contextlib.AsyncExitStack() as stack:
        for watcher in watchers:
            await stack.enter_async_context(watcher.connected())
        for watcher in watchers:
            await watcher.until(lambda s: (s.retained.get("link") or {}).get("state") == "up", 60)
            answer = await watcher.request(
                "game/start", {"ruleset": "tenhou", "players": list("abcd"), "first_dealer": 0}
            )
            assert answer.status == "accepted", answer
        people.send("begin")
        for watcher in watchers:
            await watcher.until(lambda s: any(e.type == "hand_started" for e in s.events), 60)
        began, cpu = time.monotonic(), ticks(pid)
        before = sum(watcher.seen.last_seq for watcher in watchers)
        await asyncio.sleep(WINDOW_S)
        used = (ticks(pid) - cpu) / (time.monotonic() - began)
        events = sum(watcher.seen.last_seq for watcher in watchers) - before
        assert not any(watcher.seen.gaps for watcher in watchers), "an event was lost"
    return count / used, events


# ---------------------------------------------------------------- the tables


def main() -> int:
    """Print both tables; 0 (goals are told, a busy machine is no fault)."""
    floors: list[float] = []
    rows: dict[bool, list[float]] = {True: [], False: []}
    for _ in range(2):
        floors += floor_row(2 * HANDS)
        for fsync in (True, False):
            rows[fsync] += daemon_row(HANDS // 2, fsync=fsync)
    with tempfile.TemporaryDirectory() as folder:
        sync = fsync_us(folder)
    base50, base99 = quantile(floors, 0.5), quantile(floors, 0.99)
    print("octet on the pty → MQTT subscriber, QoS 1, start press and riichi")
    print(f"{'':<24}{'n':>6}{'p50 µs':>9}{'p99 µs':>9}   goal p50 / p99")
    print(f"{'floor':<24}{len(floors):>6}{base50:>9.0f}{base99:>9.0f}")
    for fsync, values in rows.items():
        name = "tablectl" if fsync else "tablectl, no fsync"
        goal50, goal99 = 1.5 * base50 + (sync if fsync else 0), 2 * base99
        p50, p99 = quantile(values, 0.5), quantile(values, 0.99)
        kept = ["missed", "kept"]
        print(
            f"{name:<24}{len(values):>6}{p50:>9.0f}{p99:>9.0f}"
            f"   {goal50:.0f} {kept[p50 <= goal50]} / {goal99:.0f} {kept[p99 <= goal99]}"
        )
    print(f"one fdatasync here: {sync:.0f} µs")
    print("\ntables a core carries at people's speed (lift, dice, deal, first discards)")
    for level, count in TABLES.items():
        carried, events = per_core(level, count)
        print(
            f"level {level:<6} {count} tables measured, {events:,} events in {WINDOW_S:.0f} s:"
            f" {carried:,.0f} a core (goal {GOALS[level]})"
        )
    return 0


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["floor", port_, device_]:
            floor(int(port_), device_)
        case ["subscriber", port_]:
            subscriber(int(port_))
        case _:
            sys.exit(main())
