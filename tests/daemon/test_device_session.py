"""One table's connection over a real pty: up, facts, motions, displays, resets, unplugging."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from firmware_protocol import deliveries as d
from firmware_protocol import messages as m
from firmware_protocol.capture import read_capture
from firmware_protocol.schema import Schema
from firmware_protocol.vocabulary import ActionKind, Phase, ResetCause
from tablectl.table import device as device_module
from tablectl.table.drivers import KnownBoot
from tablectl.table.session import TableSession
from tests.daemon.port_kit import Bell, Board, Ledger, Pty, play, session


class Bench:
    """Board, pty, ledger and session, wired."""

    def __init__(
        self, pty: Pty, board: Board, ledger: Ledger, host: TableSession, bell: Bell
    ) -> None:
        self.pty, self.board, self.ledger, self.host, self.bell = pty, board, ledger, host, bell
        self.until = bell.until
        self.running = asyncio.ensure_future(host.run())


@asynccontextmanager
async def bench(
    tmp_path: Path, *, board: dict[str, Any] | None = None, **more: Any
) -> AsyncIterator[Bench]:
    bell = Bell()
    pty = Pty(tmp_path / "table")
    device = more.pop("kind", Board)(pty, bell, **(board or {}))
    ledger = Ledger(bell)
    prepare = more.pop("prepare", None)
    if prepare is not None:
        prepare(device, ledger)
    host = session(ledger, pty.path, **more)
    bench = Bench(pty, device, ledger, host, bell)
    try:
        yield bench
    finally:
        await host.stop()
        await bench.running
        device.unplug()


def button(seat: int = 0) -> m.ButtonEvent:
    return m.ButtonEvent(1, seat, 1)


def test_up_knows_who_is_there_and_what_state_it_is_in(tmp_path: Path) -> None:
    async def work() -> None:
        async with bench(tmp_path) as b:
            b.board.tiles = {(0x20, 0): [m.TileAt(n, 1, 0xE004 + n) for n in range(6)]}
            await b.until(b.ledger.up)
            device = b.ledger.status.device
            assert device is not None
            assert (device.model, device.serial_number, device.firmware) == (
                "試験卓 MJ-1",
                "0001",
                "1.2.3",
            )
            assert (device.level, device.reset_cause, device.boot_id) == (
                "score",
                "power_on",
                0x1111,
            )
            assert [type(f.message).__name__ for f in b.ledger.facts] == [
                "SnapshotState",
                "SnapshotTiles",
                "SnapshotTiles",
            ]
            assert all(f.event_no is None and f.boot_id is None for f in b.ledger.facts)
        phases = [(s.state, s.phase) for s in b.ledger.statuses]
        assert phases == [
            ("down", "open"),
            ("down", "handshake"),
            ("resync", "resync"),
            ("up", "up"),
            ("down", "closed"),
        ]
        assert b.ledger.statuses[2].device is not None
        assert b.ledger.statuses[2].device.capabilities == b.board.capabilities
        assert b.ledger.statuses[3].ever_up

    play(work)


def test_events_come_once_in_order_and_are_acknowledged_after_submit(tmp_path: Path) -> None:
    async def work() -> None:
        async with bench(tmp_path) as b:
            await b.until(b.ledger.up)
            b.ledger.gate.clear()
            before = b.ledger.waiting
            for number in range(40):
                b.board.event(button(number % 4))
            await b.until(lambda: b.ledger.waiting > before)
            held = b.board.link.send_space(m.ButtonEvent.SPEC.kind)
            await asyncio.sleep(0)
            assert b.board.link.send_space(m.ButtonEvent.SPEC.kind) == held == 64 - 40
            assert b.ledger.events() == []
            b.ledger.gate.set()
            await b.until(lambda: len(b.ledger.events()) == 40)
            assert b.ledger.events() == list(range(1, 41))
            await b.until(lambda: b.board.link.send_space(m.ButtonEvent.SPEC.kind) == 64)
            uptimes = [f.uptime_ms for f in b.ledger.facts if f.uptime_ms is not None]
            assert uptimes == sorted(uptimes)

    play(work)


def test_what_the_journal_has_is_not_sent_again_after_a_restart_of_the_host(tmp_path: Path) -> None:
    """Killed between commit and acknowledgement: the board still holds the event, we tell it."""

    async def work() -> None:
        async with bench(tmp_path) as b:
            await b.until(b.ledger.up)
            for _ in range(5):
                b.board.event(button())
            await b.until(lambda: len(b.ledger.events()) == 5)
            b.ledger.after.clear()
            b.board.event(button())
            await b.until(lambda: b.ledger.events()[-1] == 6)
            last = b.ledger.facts[-1]
            await b.host.stop()
            assert b.board.link.send_space(m.ButtonEvent.SPEC.kind) == 63, "6 is not acknowledged"
            ledger = Ledger(b.bell)
            known = KnownBoot(last.boot_id or 0, 6, last.uptime_ms or 0)
            again = session(ledger, b.pty.path, known=known)
            running = asyncio.ensure_future(again.run())
            await b.until(ledger.up)
            assert b.board.link.send_space(m.ButtonEvent.SPEC.kind) == 64
            b.board.event(button())
            await b.until(lambda: bool(ledger.events()))
            assert ledger.events() == [7]
            assert not any(status.reset for status in ledger.statuses)
            await again.stop()
            await running

    play(work)


def test_lost_comes_once_and_the_same_name_is_found_again(tmp_path: Path) -> None:
    """Known faults 1, 2, 8, 16: unplugged and back, in the same process."""

    async def work() -> None:
        async with bench(tmp_path) as b:
            for round_number in range(1, 4):
                await b.until(b.ledger.up)
                b.board.unplug()
                await b.until(lambda: b.ledger.status.code == "port_missing")
                lost = [s for s in b.ledger.statuses if s.code == "port_lost" and s.phase == "lost"]
                assert len(lost) == round_number
                assert b.ledger.status.ever_up
                b.board.event(button())
                b.board.replug()
            await b.until(lambda: len(b.ledger.events()) == 3 and b.ledger.up())
            assert b.ledger.events() == [1, 2, 3]
            assert not any(s.reset for s in b.ledger.statuses[3:])

    play(work)


def test_a_reset_of_the_board_is_told_with_its_cause_and_everything_is_read_anew(
    tmp_path: Path,
) -> None:
    """Known faults 25, 27, 29: detected by boot id; what was under way is void."""

    async def work() -> None:
        async with bench(tmp_path, motion_patience_ms=60_000) as b:
            b.ledger.displays = [m.SetHonba(3)]
            b.host.refresh()
            await b.until(b.ledger.up)
            await b.until(lambda: m.SetHonba(3) in b.board.shown)
            b.board.finish_actions = False
            b.host.command(b.ledger.motion(77))
            await b.until(lambda: b.board.executed == [77])
            facts = len(b.ledger.facts)
            b.board.shown.clear()
            b.board.boot(0x2222, ResetCause.BROWN_OUT)
            await b.until(lambda: 77 in b.ledger.settlements)
            await b.until(b.ledger.up)
            assert b.ledger.settlements[77] == ("unknown", {"reason": "reset"})
            assert b.board.executed == [77], "a motion is never sent again"
            resync = [s for s in b.ledger.statuses if s.reset]
            assert len(resync) == 2  # the first boot of an unknown board, and this one
            assert resync[-1].device is not None
            assert resync[-1].device.reset_cause == "brown_out"
            assert isinstance(b.ledger.facts[facts].message, m.SnapshotState)
            await b.until(lambda: m.SetHonba(3) in b.board.shown)
            b.board.event(button())
            await b.until(lambda: b.ledger.events() == [1])
            assert b.ledger.facts[-1].boot_id == 0x2222

    play(work)


def test_a_motion_is_marked_before_its_frame_and_settled_before_its_event_is_acknowledged(
    tmp_path: Path,
) -> None:
    async def work() -> None:
        async with bench(tmp_path) as b:
            await b.until(b.ledger.up)
            b.host.command(b.ledger.motion(5))
            await b.until(lambda: b.ledger.events() == [1])
            assert b.ledger.trace[-3:] == [("sent", 5), ("settled", 5), ("fact", 1)]
            assert b.ledger.settlements[5] == ("done", {"result": 0, "name": "done", "detail": 7})
            assert b.board.executed == [5]

    play(work)


def test_a_motion_too_late_is_refused_and_not_sent(tmp_path: Path) -> None:
    async def work() -> None:
        async with bench(tmp_path) as b:
            await b.until(b.ledger.up)
            b.host.command(b.ledger.motion(5, in_ms=-1))
            await b.until(lambda: 5 in b.ledger.settlements)
            assert b.ledger.settlements[5][0] == "refused"
            assert b.board.executed == []

    play(work)


@pytest.mark.parametrize(
    ("executed", "finished", "outcome"),
    [(False, False, "done"), (True, True, "done"), (True, False, None)],
    ids=["never arrived", "done meanwhile", "still running"],
)
def test_after_a_reconnection_the_fate_of_a_motion_is_asked(
    tmp_path: Path, executed: bool, finished: bool, outcome: str | None
) -> None:
    """Same boot: done once, whether the board got it before the cable came off or not."""

    async def work() -> None:
        async with bench(tmp_path, motion_patience_ms=60_000) as b:
            await b.until(b.ledger.up)
            if executed:
                b.board.finish_actions = False
                b.host.command(b.ledger.motion(9))
                await b.until(lambda: b.board.executed == [9])
            b.board.unplug()
            await b.until(lambda: not b.ledger.up())
            if not executed:
                b.host.command(b.ledger.motion(9))
            if finished:
                b.board.link.finish(9, 0, 0, b.board.now())
            b.board.finish_actions = not executed
            b.board.replug()
            await b.until(b.ledger.up)
            if outcome is None:
                assert 9 not in b.ledger.settlements
                b.board.link.finish(9, 6, 2, b.board.now())
                b.board._turn()
            await b.until(lambda: 9 in b.ledger.settlements)
            assert b.ledger.settlements[9][0] == "done"
            assert b.board.executed == [9]

    play(work)


def test_a_motion_that_may_have_been_written_is_never_written_again(tmp_path: Path) -> None:
    """SPEC A-1: marked before the daemon died, unknown to the board: nobody can know."""

    async def work() -> None:
        def prepare(_board: Board, ledger: Ledger) -> None:
            ledger.motion(3, sent=True)

        known = KnownBoot(0x1111, 0, 0)
        async with bench(tmp_path, prepare=prepare, known=known) as b:
            await b.until(b.ledger.up)
            assert b.ledger.settlements[3] == ("unknown", {"reason": "not_remembered"})
            assert b.board.executed == []

    play(work)


def test_a_motion_that_takes_too_long_is_asked_for(tmp_path: Path) -> None:
    async def work() -> None:
        async with bench(tmp_path, motion_patience_ms=50) as b:
            await b.until(b.ledger.up)
            b.board.finish_actions = False
            b.host.command(b.ledger.motion(9))
            await b.until(lambda: b.board.executed == [9])
            await b.until(lambda: b.board.link.stats.frames_received > 0 and _asked(b))
            b.board.link.finish(9, 0, 0, b.board.now())
            b.board._turn()
            await b.until(lambda: b.ledger.settlements.get(9, ("",))[0] == "done")

    def _asked(b: Bench) -> bool:
        return any(
            octets[3] == m.ActionQuery.SPEC.id
            for _, way, octets in b.board.link.recent()
            if way == "rx"
        )

    play(work)


def test_displays_are_written_when_they_differ_and_the_latest_wins(tmp_path: Path) -> None:
    async def work() -> None:
        async with bench(tmp_path) as b:
            await b.until(b.ledger.up)
            for honba in range(10):
                b.ledger.displays = [m.SetHonba(honba), m.SetDeposits(honba % 2)]
                b.host.refresh()
            await b.until(
                lambda: m.SetHonba(9) in b.board.shown and m.SetDeposits(1) in b.board.shown
            )
            assert len(b.board.shown) <= 4
            assert b.board.shown[-2:] != [m.SetHonba(8), m.SetHonba(8)]

    play(work)


def test_a_display_value_out_of_range_is_told_and_stops_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def work() -> None:
        async with bench(tmp_path) as b:
            await b.until(b.ledger.up)
            b.ledger.displays = [m.SetHonba(999), m.SetDeposits(2)]
            b.host.refresh()
            await b.until(lambda: m.SetDeposits(2) in b.board.shown)

    with caplog.at_level(logging.ERROR, "tablectl.link"):
        play(work)
    assert "display" in caplog.text


def test_lost_events_lead_to_a_snapshot_at_its_place_among_the_facts(tmp_path: Path) -> None:
    async def work() -> None:
        async with bench(tmp_path) as b:
            await b.until(b.ledger.up)
            b.board.detach()
            for _ in range(70):
                b.board.link.send(button(), b.board.now())
            b.board.attach()
            await b.until(lambda: any(isinstance(f.message, m.EventsLost) for f in b.ledger.facts))
            await b.until(lambda: isinstance(b.ledger.facts[-1].message, m.SnapshotState))
            lost = next(f for f in b.ledger.facts if isinstance(f.message, m.EventsLost))
            assert isinstance(lost.message, m.EventsLost)
            assert lost.message.count + lost.event_no - 1 == 70  # type: ignore[operator]
            snapshot = b.ledger.facts[-1].message
            assert isinstance(snapshot, m.SnapshotState)
            assert snapshot.version == b.ledger.events()[-1]

    play(work)


def test_a_state_that_differs_twice_in_a_row_is_read_anew(tmp_path: Path) -> None:
    async def work() -> None:
        async with bench(tmp_path) as b:
            await b.until(b.ledger.up)
            b.board.lift()
            await b.until(lambda: b.ledger.events() == [1])
            facts = len(b.ledger.facts)
            import dataclasses

            from firmware_protocol.paging import state_digest

            b.board.state = dataclasses.replace(b.board.state, lid=Phase.UP)
            b.board.link.state_digest = state_digest(b.board.state)
            await b.until(lambda: len(b.ledger.facts) > facts)
            told = b.ledger.facts[facts].message
            assert isinstance(told, m.SnapshotState)
            assert told.lid == Phase.UP
            assert told.walls == (Phase.UP,) * 4
            assert b.ledger.up()

    play(work)


def test_a_board_that_tells_nothing_comes_up_with_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(device_module, "RESYNC_MOST", 300_000)

    async def work() -> None:
        def prepare(board: Board, _ledger: Ledger) -> None:
            board.silent = {m.InfoRequest, m.SnapshotRequest}

        async with bench(tmp_path, prepare=prepare) as b:
            await b.until(b.ledger.up)
            assert any("did not answer" in w for w in b.ledger.status.warnings)
            b.board.event(button())
            await b.until(lambda: b.ledger.events() == [1])

    play(work)


class BusyBoard(Board):
    """Something happens behind every second page of a snapshot: no version lasts."""

    def _item(self, item: d.Item) -> None:
        super()._item(item)
        asked = isinstance(item, d.Delivery) and isinstance(item.message, m.SnapshotRequest)
        if asked and len(self.requests) % 2:
            number = len(self.requests)
            zone, tag = 0x30 + number % 7 % 4, 0xE0040000 + number
            self.tiles.setdefault((zone, 2), []).append(m.TileAt(3, 1, tag))
            self.link.send(m.TileEvent(zone, 2, (m.TileSight(3, 1, 200, tag),)), self.now())


def test_a_state_is_read_while_the_game_goes_on(tmp_path: Path) -> None:
    """Known weakness of reading one version: under steady traffic it began anew until time was up."""

    async def work() -> None:
        def prepare(board: Board, _ledger: Ledger) -> None:
            board.tiles = {
                (zone, 1): [m.TileAt(n, 1, zone << 8 | n) for n in range(13)]
                for zone in range(0x20, 0x24)
            }

        async with bench(tmp_path, kind=BusyBoard, prepare=prepare) as b:
            await b.until(b.ledger.up)
            assert b.ledger.status.warnings == ()
            facts = [fact.message for fact in b.ledger.facts]
            at = next(n for n, x in enumerate(facts) if isinstance(x, m.SnapshotState))
            state = facts[at]
            assert isinstance(state, m.SnapshotState)
            assert state.version == sum(isinstance(x, m.TileEvent) for x in facts[:at]) > 5
            pages = facts[at + 1 : at + state.pages]
            tags = {tile.tag for x in pages if isinstance(x, m.SnapshotTiles) for tile in x.tiles}
            told = {x.tiles[0].tag for x in facts[:at] if isinstance(x, m.TileEvent)}
            assert tags == {zone << 8 | n for zone in range(0x20, 0x24) for n in range(13)} | told

    play(work)


def test_a_state_that_was_not_told_in_time_is_read_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(device_module, "ANSWER", 100_000)
    monkeypatch.setattr(device_module, "SNAPSHOT_GAP", 200_000)

    async def work() -> None:
        def prepare(board: Board, _ledger: Ledger) -> None:
            board.silent = {m.SnapshotRequest}

        async with bench(tmp_path, prepare=prepare) as b:
            await b.until(b.ledger.up)
            assert any("does not tell its state" in w for w in b.ledger.status.warnings)
            assert not b.ledger.facts
            b.board.silent = set()
            await b.until(lambda: bool(b.ledger.facts))
            assert isinstance(b.ledger.facts[0].message, m.SnapshotState)

    with caplog.at_level(logging.INFO, "tablectl.link"):
        play(work)
    assert "told its state after all" in caplog.text


def other(major: int, minor: int) -> Schema:
    return Schema(major, minor, list(m.SCHEMA.by_id.values()))


def test_another_major_is_refused_with_both_versions_and_the_command(tmp_path: Path) -> None:
    """Known fault 26; the port is free meanwhile, so that the command can run."""

    async def work() -> None:
        async with bench(tmp_path, board={"schema": other(2, 0)}) as b:
            await b.until(lambda: bool(b.ledger.statuses) and b.ledger.status.phase == "refused")
            status = b.ledger.status
            assert status.code == "version_refused"
            for word in ("2.0", str(m.SCHEMA), "1.2.3", "make flash"):
                assert word in status.reason
            b.board.schema = m.SCHEMA
            b.board.boot(0x3333)
            await b.until(b.ledger.up)

    play(work)


def test_another_minor_runs_with_a_warning(tmp_path: Path) -> None:
    async def work() -> None:
        async with bench(tmp_path, board={"schema": other(1, 1)}) as b:
            await b.until(b.ledger.up)
            assert any(
                "1.1" in w and "running with what both know" in w for w in b.ledger.status.warnings
            )
            b.board.event(button())
            await b.until(lambda: b.ledger.events() == [1])

    play(work)


def test_another_hash_of_the_same_version_is_a_warning(tmp_path: Path) -> None:
    async def work() -> None:
        fewer = Schema(1, 0, [c for c in m.SCHEMA.by_id.values() if c is not m.SeatRoulette])
        async with bench(tmp_path, board={"schema": fewer}) as b:
            await b.until(b.ledger.up)
            assert any("other messages" in w for w in b.ledger.status.warnings)

    play(work)


def test_boot_text_and_garbage_are_no_obstacle(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Known fault 20."""

    async def work() -> None:
        def prepare(board: Board, _ledger: Ledger) -> None:
            board.detach()

        async with bench(tmp_path, prepare=prepare) as b:
            await b.until(lambda: bool(b.ledger.statuses) and b.ledger.status.phase == "handshake")
            b.board.raw(b"rst:0x1 (POWERON_RESET),boot:0x13\r\ntag E004015012345678\r\n\0")
            b.board.raw(bytes(range(1, 256)))
            b.board.attach()
            await b.until(b.ledger.up)
            b.board.raw(b"printf in between\r\n")
            b.board.event(button())
            await b.until(lambda: b.ledger.events() == [1])

    with caplog.at_level(logging.DEBUG, "tablectl.link"):
        play(work)
    assert "POWERON_RESET" in caplog.text
    assert "E004015012345678" not in caplog.text, "tags are masked"


def test_a_writer_that_fails_keeps_the_event_on_the_board(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def work() -> None:
        async with bench(tmp_path) as b:
            await b.until(b.ledger.up)
            b.ledger.fail = RuntimeError("disk on fire")
            before = b.ledger.waiting
            b.board.event(button())
            await b.until(lambda: b.ledger.waiting > before)
            assert b.ledger.events() == []
            b.ledger.fail = None
            await b.until(lambda: b.ledger.events() == [1])

    play(work)
    assert "disk on fire" in caplog.text


def test_a_silent_board_is_noticed_and_found_again(tmp_path: Path) -> None:
    """Known faults 12, 17: the port is open, nothing comes; the heartbeat decides, not write()."""

    async def work() -> None:
        async with bench(tmp_path) as b:
            await b.until(b.ledger.up)
            b.board.detach()
            await b.until(lambda: not b.ledger.up())
            assert b.ledger.status.code == "link_failed"
            assert "silent" in b.ledger.status.reason or "acknowledge" in b.ledger.status.reason
            b.board.attach()
            await b.until(b.ledger.up)

    play(work)


def test_a_late_loop_does_not_look_like_a_silent_board(tmp_path: Path) -> None:
    """Four seconds lost elsewhere while the board spoke: its octets wait behind the timer."""
    late = 0

    async def work() -> None:
        nonlocal late
        async with bench(tmp_path, micros=lambda: time.monotonic_ns() // 1000 + late) as b:
            await b.until(b.ledger.up)
            b.board.event(button())
            late = 4_000_000
            assert b.host.overdue_ms > 0
            b.host._on_timer()
            await b.until(lambda: b.ledger.events() == [1])
            assert b.ledger.up()
            assert b.host.figures["failures"] == 0
            b.board.detach()
            late = 8_000_000
            b.host._on_timer()
            assert b.host.figures["failures"] == 1, "one that said nothing is silent"

    play(work)


def test_stop_writes_the_fact_in_hand_and_takes_at_most_two_seconds(tmp_path: Path) -> None:
    async def work() -> None:
        async with bench(tmp_path) as b:
            await b.until(b.ledger.up)
            b.ledger.gate.clear()
            before = b.ledger.waiting
            b.board.event(button())
            await b.until(lambda: b.ledger.waiting > before)
            stopping = asyncio.ensure_future(b.host.stop())
            await asyncio.sleep(0)
            b.ledger.gate.set()
            await asyncio.wait_for(stopping, 2)
            assert b.ledger.events() == [1]
            assert b.ledger.status.phase == "closed"

    play(work)


def test_cancelling_closes_the_port(tmp_path: Path) -> None:
    async def work() -> None:
        async with bench(tmp_path) as b:
            await b.until(b.ledger.up)
            ledger = Ledger(b.bell)
            await b.host.stop()
            again = session(ledger, b.pty.path)
            running = asyncio.ensure_future(again.run())
            await b.until(ledger.up)
            running.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await running
            assert ledger.status.phase == "closed"

    play(work)


def test_a_capture_holds_what_passed_without_tags(tmp_path: Path) -> None:
    path = tmp_path / "captures" / "t1.cap"
    tag = 0xE0_04_01_50_12_34_56_78

    async def work() -> None:
        async with bench(tmp_path, capture=path) as b:
            await b.until(b.ledger.up)
            b.board.event(m.TileEvent(0x20, 1, (m.TileSight(1, 1, 200, tag),)))
            await b.until(lambda: b.ledger.events() == [1])
            assert isinstance(b.ledger.facts[-1].message, m.TileEvent)
            assert b.ledger.facts[-1].message.tiles[0].tag == tag

    play(work)
    pieces = list(read_capture(path.read_text("utf-8").splitlines(keepends=True)))
    assert {piece.direction for piece in pieces} == {"<", ">", "!"}
    assert tag.to_bytes(8, "little") not in b"".join(piece.data for piece in pieces)
    assert [piece.time for piece in pieces] == sorted(piece.time for piece in pieces)
    play(work)
    assert path.with_name("t1.cap.1").exists()


def test_one_log_line_per_change_however_often_it_is_tried(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Known faults 13, 43."""

    async def work() -> None:
        bell = Bell()
        ledger = Ledger(bell)
        host = session(ledger, str(tmp_path / "nothing"))
        running = asyncio.ensure_future(host.run())
        await bell.until(lambda: host.reconnects >= 8)
        await host.stop()
        await running
        assert "has not worked since the start" in ledger.statuses[-2].reason
        assert not ledger.status.ever_up

    with caplog.at_level(logging.INFO, "tablectl"):
        play(work)
    assert len([r for r in caplog.records if "nothing is not there" in r.getMessage()]) == 1


def test_figures_tell_how_the_line_is(tmp_path: Path) -> None:
    async def work() -> None:
        async with bench(tmp_path) as b:
            await b.until(b.ledger.up)
            figures = b.host.figures
            assert figures["handshakes"] == 1
            assert figures["frames_received"] > 3
            assert figures["rtt_p50_us"] > 0
            assert figures["reconnects"] == 0
            assert "clock_offset_us" in figures

    play(work)


def test_unknown_motions_of_the_wire_are_left_alone(tmp_path: Path) -> None:
    """A board may roll on its own button: its result is a fact, whoever asked."""

    async def work() -> None:
        async with bench(tmp_path) as b:
            await b.until(b.ledger.up)
            b.board.event(m.DiceSettled(3, 4, 0, 0))
            b.board.event(m.ActionResult(4242, 0, 0, 0))
            await b.until(lambda: b.ledger.events() == [1, 2])
            assert int(ActionKind.LIFT) == 2

    play(work)
