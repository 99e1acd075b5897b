"""The table on a real pty: names, hosts that come and go, plugs that are pulled, many tables at once."""

from __future__ import annotations

import asyncio
import json
import os
import termios
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from firmware_protocol import messages as m
from firmware_protocol.deliveries import LinkUp, PeerReset
from firmware_protocol.schema import Kind
from firmware_protocol.vocabulary import Button, ResetCause
from hardware_sim import people
from hardware_sim.errors import LinkPathError, OptionError, SimError
from hardware_sim.pty_port import PtyPort
from hardware_sim.quirks import QUIRKS, with_capabilities, with_quirks
from hardware_sim.runner import RunConfig, RunningTable
from hardware_sim.table import LEVELS, Options
from hardware_sim.transport import close_sim, open_sim, parse_speed
from tests.sim.games import tiny
from tests.sim.host import Host
from tests.sim.pty_host import PtyHost, until

LIMIT = 30.0


@pytest.fixture(autouse=True)
def _no_looking(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(people, "LOOK", 0.0)
    monkeypatch.setattr(people, "GLANCE", 0.0)


@pytest.fixture
def record(tmp_path: Path) -> str:
    path = tmp_path / "tiny.jsonl"
    path.write_text(json.dumps(tiny()) + "\n", encoding="utf-8")
    return str(path)


def live(act: Callable[[], Awaitable[None]]) -> None:
    async def limited() -> None:
        async with asyncio.timeout(LIMIT):
            await act()

    asyncio.run(limited())


async def play(
    config: RunConfig, host: Host | None = None
) -> tuple[dict[str, Any], Host, RunningTable]:
    running = RunningTable(config)
    task = asyncio.create_task(running.run())
    port = PtyHost(running.path, host)
    try:
        report = await running.played()
        running.stop()
        assert (await task)["over"]
    finally:
        port.close()
        running.close()
    return report, port.host, running


def test_a_game_over_a_pty(record: str, tmp_path: Path) -> None:
    link = tmp_path / "table"

    async def act() -> None:
        config = RunConfig(
            record=record, link=link, tiles_toml=tmp_path / "tiles.toml", exit_at_end=False
        )
        report, host, running = await play(config)
        assert report["hands_played"] == 2
        assert report["executed_twice"] == 0
        assert not link.is_symlink(), "the name is gone with the table"
        tags = {tag for s in running.table.parts.sets for tag in s.tiles}
        seen = {
            s.tag for e in host.messages(m.TileEvent) if isinstance(e, m.TileEvent) for s in e.tiles
        }
        assert seen == tags

    live(act)


def test_two_runs_over_a_pty_say_the_same(record: str) -> None:
    said: list[tuple[list[str], list[str]]] = []
    kinds = {cls.SPEC.name: cls.SPEC.kind for cls in m.SCHEMA}

    async def act() -> None:
        for _ in range(2):
            _report, host, running = await play(RunConfig(record=record, exit_at_end=False))
            answers = [f"{name} {count}" for name, count in running.table.board.received.items()
                       if kinds[name] is not Kind.DATAGRAM]  # fmt: skip
            said.append(([repr(e.message) for e in host.events], sorted(answers)))

    live(act)
    assert said[0] == said[1]


def test_a_host_that_is_killed_comes_back_to_the_same_port(record: str) -> None:
    async def act() -> None:
        running = RunningTable(RunConfig(record=record, exit_at_end=False))
        task = asyncio.create_task(running.run())
        first = PtyHost(running.path)
        await until(lambda: len(first.host.events) > 60)
        first.close()
        link = first.host.link
        last = first.host.events[-1].event_no
        again = Host(seed=2)
        again.next_cmd = first.host.next_cmd
        again.link = type(link).host(
            0, nonce=lambda: 77, known_boot=first.host.events[-1].boot, known_event=link.event_no
        )
        again.link.connect(0)
        second = PtyHost(running.path, again)
        await running.played()
        running.stop()
        report = await task
        second.close()
        numbers = [e.event_no for e in again.events]
        assert numbers == list(range(numbers[0], numbers[-1] + 1))
        assert numbers[0] <= last + 1, "no event is missing between the two hosts"
        assert report["boots"] == 1
        assert report["executed_twice"] == 0
        assert report["over"]

    live(act)


def test_the_plug_is_pulled_and_the_port_comes_back(record: str, tmp_path: Path) -> None:
    link = tmp_path / "table"
    script = tmp_path / "plug.txt"
    script.write_text(
        "When hand 1 is dealt, unplug the cable.\nAfter 1 second, plug the cable in again.\n"
    )

    async def act() -> None:
        running = RunningTable(
            RunConfig(record=record, link=link, faults=str(script), exit_at_end=False)
        )
        task = asyncio.create_task(running.run())
        host = Host()
        first = PtyHost(running.path, host)
        await first.lost.wait()
        assert not link.is_symlink()
        await until(link.is_symlink)
        second = PtyHost(str(link), host)
        await running.played()
        running.stop()
        assert (await task)["faults"] == [line.strip() for line in script.read_text().splitlines()]
        second.close()
        numbers = [e.event_no for e in host.events]
        assert numbers == list(range(1, len(numbers) + 1))

    live(act)


def test_opening_the_port_resets_such_a_board(tmp_path: Path) -> None:
    async def act() -> None:
        options = with_quirks(Options(), ["dtr-reset"])
        running = RunningTable(RunConfig(options, link=tmp_path / "table"))
        task = asyncio.create_task(running.run())
        host = Host()
        for boots in (2, 3):
            port = PtyHost(running.path, host)
            await until(lambda boots=boots: running.table.board.boots == boots)  # type: ignore[misc]
            await until(lambda n=boots - 1: sum(isinstance(i, LinkUp) for i in host.items) == n)  # type: ignore[misc]
            port.close()
            await until(lambda: not running.host_there)
        causes = [i.cause for i in host.items if isinstance(i, PeerReset)]
        assert causes == [ResetCause.PIN]
        running.stop()
        await task

    live(act)


def test_octets_nobody_reads_do_not_stop_the_table(record: str) -> None:
    port = PtyPort()
    try:
        total = 0
        while port.write(b"x" * 1000):
            total += 1000
        assert port.pending
        port.drop_unread()
        assert not port.pending
        assert port.dropped
        assert port.write(b"fresh")
        host = os.open(port.path, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
        assert os.read(host, 100_000).endswith(b"fresh")
        attributes = termios.tcgetattr(host)
        assert not attributes[3] & termios.ECHO, "a board does not echo"
        os.close(host)
    finally:
        port.close()


def test_a_host_that_never_reads_is_survived() -> None:
    port = PtyPort()
    for _ in range(200):
        port.write(b"y" * 1000)
    assert len(port.pending) <= 65536 + 1000
    port.close()


def test_the_link_is_not_made_over_somebody_elses_file(tmp_path: Path) -> None:
    plain = tmp_path / "precious"
    plain.write_text("x")
    with pytest.raises(LinkPathError, match="exists"):
        PtyPort(plain)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.symlink_to(plain)
    with pytest.raises(LinkPathError, match="points to"):
        PtyPort(elsewhere)
    with pytest.raises(LinkPathError, match="cannot make"):
        PtyPort(tmp_path / "no" / "such" / "folder")
    assert plain.read_text() == "x"


def test_a_stale_link_of_a_killed_table_is_taken_over(tmp_path: Path) -> None:
    link = tmp_path / "table"
    link.symlink_to("/dev/pts/987654")
    first = PtyPort(link)
    assert str(link.readlink()) == first.device
    second = PtyPort(link)
    first.close()
    assert str(link.readlink()) == second.device, "a newer table's name is left alone"
    second.close()
    assert not link.is_symlink()


def test_tables_share_a_loop(record: str) -> None:
    async def act() -> None:
        results = await asyncio.gather(
            *(play(RunConfig(Options(seed=n), record=record, exit_at_end=False)) for n in range(8))
        )
        assert [report["hands_played"] for report, _, _ in results] == [2] * 8

    live(act)


def test_a_table_behind_a_url(record: str, tmp_path: Path) -> None:
    url = f"sim://?record={record}&level=basic&speed=max&seed=3&tiles={tmp_path / 'tiles.toml'}"

    async def act() -> None:
        path = open_sim(url)
        assert open_sim(url) == path, "the same URL is the same table"
        port = PtyHost(path)
        settled = lambda: sum(  # noqa: E731 - asked twice below
            isinstance(e, m.ButtonEvent) and e.button == Button.UP_DOWN
            for e in port.host.messages()
        )
        await until(lambda: settled() == 4)
        port.close()
        close_sim(url)

    live(act)
    assert (tmp_path / "tiles.toml").read_text().startswith("#")


@pytest.mark.parametrize(
    "url",
    ["sim://?speed=fast", "sim://?colour=red", "sim://?seed=x", "sim://?level=high", "serial://"],
)
def test_a_bad_url_says_what_is_wrong(url: str) -> None:
    with pytest.raises(OptionError):
        open_sim(url)


def test_speeds() -> None:
    assert parse_speed("max") is None
    assert parse_speed("2.5") == 2.5
    for bad in ("0", "-1", "nan", "inf", ""):
        with pytest.raises(OptionError):
            parse_speed(bad)


@pytest.mark.parametrize("name", sorted(set(QUIRKS) - {"older-minor", "dtr-reset"}))
def test_odd_firmware_plays_all_the_same(name: str, record: str) -> None:
    async def act() -> None:
        options = with_quirks(Options(level="tiles"), [name])
        report, host, _ = await play(RunConfig(options, record=record, exit_at_end=False))
        assert report["hands_played"] == 2
        assert report["executed_twice"] == 0
        assert not host.messages(m.EventsLost)

    live(act)


def test_capabilities_by_name() -> None:
    options = with_capabilities(Options(level="basic"), ["auto-deal"], ["honba-display"])
    assert options.has & ~LEVELS["basic"]
    with pytest.raises(SimError, match="no capability"):
        with_capabilities(Options(), ["telepathy"], [])
    with pytest.raises(SimError, match="no quirk"):
        with_quirks(Options(), ["moody"])
