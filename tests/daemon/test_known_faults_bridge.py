"""Faults the field has known with bridges (rows 1–49 of known-faults): one named test a row that can happen here.

Many rows are proved by a scenario elsewhere; `PROVED` names the test of each such row, and this file checks that
the test is really there. `NOT_HERE` has the rows that cannot happen, with the reason.
"""

from __future__ import annotations

import ast
import asyncio
import logging
import random
import tomllib
from functools import cache
from pathlib import Path

import pytest

from tablectl.bus import broker as brokers
from tablectl.bus.broker import Broker
from tablectl.config import ConfigError, loads
from tablectl.daemon import logs
from tablectl.daemon.clock import ManualClock
from tablectl.journal.store import Store
from tablectl.table import port as ports
from tablectl.table.locate import advice
from tablectl.table.options import PortOptions, ReconnectOptions
from tablectl.table.reconnect import Backoff, FoldedLog
from tests.conftest import ROOT

PROVED: dict[int, tuple[str, str]] = {
    2: ("daemon/test_outage_port.py", "test_unplugged_and_back_under_another_name"),
    5: ("daemon/test_port.py", "test_nobody_else_may_open_it_and_closing_does_not_reset_the_board"),
    6: ("daemon/test_port.py", "test_lost_comes_exactly_once_and_after_the_descriptor_is_closed"),
    7: ("daemon/test_device_session.py", "test_stop_writes_the_fact_in_hand_and_takes_at_most_two_seconds"),
    8: ("daemon/test_device_session.py", "test_lost_comes_once_and_the_same_name_is_found_again"),
    9: ("daemon/test_port.py", "test_lost_comes_exactly_once_and_after_the_descriptor_is_closed"),
    10: ("daemon/test_port.py", "test_lost_comes_exactly_once_and_after_the_descriptor_is_closed"),
    11: ("daemon/test_device_session.py", "test_after_a_reconnection_the_fate_of_a_motion_is_asked"),
    12: ("daemon/test_device_session.py", "test_a_silent_board_is_noticed_and_found_again"),
    13: ("daemon/test_device_session.py", "test_one_log_line_per_change_however_often_it_is_tried"),
    14: ("daemon/test_port.py", "test_a_busy_port_names_who_holds_it"),
    15: ("daemon/test_port.py", "test_nobody_else_may_open_it_and_closing_does_not_reset_the_board"),
    18: ("daemon/test_port.py", "test_denied_names_owner_group_ours_and_the_command"),
    20: ("daemon/test_device_session.py", "test_boot_text_and_garbage_are_no_obstacle"),
    21: ("daemon/test_port.py", "test_a_slow_reader_gets_everything_in_order"),
    25: ("daemon/test_device_session.py", "test_a_reset_of_the_board_is_told_with_its_cause_and_everything_is_read_anew"),
    26: ("daemon/test_device_session.py", "test_another_major_is_refused_with_both_versions_and_the_command"),
    27: ("daemon/test_outage_port.py", "test_a_board_that_restarts_in_any_phase"),
    28: ("daemon/test_outage_port.py", "test_a_board_that_restarts_in_any_phase"),
    29: ("daemon/test_device_session.py", "test_a_motion_that_may_have_been_written_is_never_written_again"),
    34: ("first_light/test_bus_losses.py", "test_row_33_34_37_a_broker_that_comes_late_and_again_hears_everything"),
    35: ("first_light/test_bus_losses.py", "test_row_35_36_a_late_will_is_answered_with_a_new_birth"),
    36: ("first_light/test_bus_losses.py", "test_row_36_a_short_absence_is_not_told_and_a_long_one_is"),
    38: ("first_light/test_bus.py", "test_an_event_is_never_retained_and_a_late_subscriber_gets_the_snapshot"),
    39: ("first_light/test_bus.py", "test_row_38_39_a_retained_request_is_refused_live_and_at_every_reconnect"),
    40: ("daemon/test_outage_broker.py", "test_who_takes_the_client_id_silences_the_bus_and_nothing_else"),
    41: ("first_light/test_bus_losses.py", "test_row_41_a_frozen_broker_is_left_and_nothing_is_lost"),
    42: ("daemon/test_doctor.py", "test_retained_leftovers_are_named_and_removed_on_request"),
    44: ("daemon/test_outage_clock.py", "test_the_wall_clock_stepped_both_ways_moves_nothing_but_its_own_stamp"),
    45: ("daemon/test_systemd.py", "test_the_watchdog_starves_when_one_part_is_stuck"),
    46: ("daemon/test_journal_disk.py", "test_a_file_of_length_zero_is_set_aside"),
    48: ("daemon/test_mirror.py", "test_three_missed_reads_flicker_without_effect"),
    49: ("daemon/test_mirror.py", "test_a_contradiction_stops_scoring_and_never_the_table"),
}  # fmt: skip

NOT_HERE: dict[int, str] = {
    22: "splicing of replies inside firmware: the C reference is tested for it (tests/wire/test_c_link.py)",
    30: "the wire has no resend requests by number: acks are cumulative and checked against the window "
        "(tests/wire/spec)",
    31: "no version is read but in HELLO (tests/wire/spec)",
}  # fmt: skip

HERE = {1, 3, 4, 16, 17, 19, 23, 24, 32, 33, 37, 43, 47}
"""Rows with a test of their own in this file."""


def test_every_row_has_its_place() -> None:
    assert sorted([*PROVED, *NOT_HERE, *HERE]) == list(range(1, 50))
    own = {int(name.split("_")[2]) for name in functions(Path(__file__)) if name.startswith("test_row_")}  # fmt: skip
    assert own == HERE
    assert all(NOT_HERE.values())


def own_test(row: int) -> str:
    """The test of a row of `HERE`."""
    return next(n for n in functions(Path(__file__)) if n.startswith(f"test_row_{row:02}_"))


@cache
def functions(path: Path) -> frozenset[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return frozenset(node.name for node in tree.body if isinstance(node, ast.FunctionDef))


@pytest.mark.parametrize("row", PROVED)
def test_the_proof_of_a_row_is_there(row: int) -> None:
    file, name = PROVED[row]
    assert name in functions(ROOT / "tests" / file)


# ---------------------------------------------------------------- port


def waits(code: str, count: int) -> list[int]:
    backoff = Backoff(ReconnectOptions(), random.Random(1))
    return [backoff.wait_ms(code) for _ in range(count)]


def test_row_01_a_lost_port_is_tried_for_ever_with_growing_waits() -> None:
    tried = waits("port_lost", 500)
    assert tried[0] < 400
    assert all(wait <= 15_000 * 1.25 for wait in tried)
    assert min(tried[-400:]) > 10_000, "a lost port is hammered"


def test_row_03_a_network_adapter_that_restarts_is_missed() -> None:
    """TCP keepalive within seconds; the heartbeat of the link finds what TCP does not."""
    import socket

    wanted = {(level, name): value for level, name, value in ports._KEEPALIVE}
    assert wanted[socket.SOL_SOCKET, socket.SO_KEEPALIVE] == 1
    idle = wanted[socket.IPPROTO_TCP, socket.TCP_KEEPIDLE]
    gap = wanted[socket.IPPROTO_TCP, socket.TCP_KEEPINTVL]
    count = wanted[socket.IPPROTO_TCP, socket.TCP_KEEPCNT]
    assert idle + gap * count <= 15


def test_row_04_never_worked_is_told_from_was_lost(tmp_path: Path) -> None:
    from tablectl.table.options import TableOptions
    from tablectl.table.session import LinkStatus, TableSession
    from tests.daemon.port_kit import Bell, Ledger

    told: list[LinkStatus] = []

    async def story() -> None:
        ledger = Ledger(Bell())
        came = asyncio.Event()

        def tell(status: LinkStatus) -> None:
            told.append(status)
            came.set()

        session = TableSession(
            TableOptions("t1", PortOptions(str(tmp_path / "none"))), ledger, desired=lambda: (),
            actions=ledger, on_link_state=tell,
        )  # fmt: skip
        life = asyncio.create_task(session.run())
        async with asyncio.timeout(10):
            while not any(status.code == "port_missing" for status in told):
                came.clear()
                await came.wait()
        await session.stop()
        await life

    asyncio.run(story())
    missing = next(status for status in told if status.code == "port_missing")
    assert not missing.ever_up
    assert "has not worked since the start" in missing.reason


def test_row_16_a_plain_tty_name_is_warned_about_and_stable_names_are_not() -> None:
    assert "/dev/serial/by-id/" in advice("/dev/ttyUSB0")
    assert "/dev/serial/by-id/" in advice("/dev/ttyACM1")
    assert advice("/dev/serial/by-id/usb-1a86-if00") == ""
    assert advice("usb:1a86:7523") == ""


def test_row_17_the_container_notes_have_mount_and_cgroup_rule() -> None:
    text = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
    assert "-v /dev:/dev" in text
    assert "--device-cgroup-rule='c 188:* rmw'" in text


def test_row_19_lines_stay_as_they_are_unless_the_file_says_otherwise() -> None:
    assert PortOptions("/dev/x").hupcl is False
    assert PortOptions("/dev/x").dtr is None
    text = '[[tables]]\nid = "t"\nport = "x"\n'
    plain = loads(text).tables[0]
    assert (plain.dtr, plain.rts, plain.hupcl) == (None, None, False)
    table = loads(f"{text}dtr = false\nrts = false\nhupcl = true\n").tables[0]
    assert (table.dtr, table.rts, table.hupcl) == (False, False, True)


# ---------------------------------------------------------------- framing and link


def test_row_23_frames_from_before_a_reset_are_not_taken() -> None:
    from firmware_protocol import messages as m
    from firmware_protocol.deliveries import Delivery
    from firmware_protocol.link import Link
    from firmware_protocol.vocabulary import LEVEL_SCORE

    device = Link.device(
        0, boot_id=1, capabilities=int(LEVEL_SCORE), reset_cause=1, version=1 << 24
    )
    host = Link.host(0, nonce=lambda: 7)
    host.connect(0)

    def pump(now: int) -> list[object]:
        got: list[object] = []
        for _ in range(20):
            device.receive(host.data_to_send(now), now)
            got += host.receive(device.data_to_send(now), now)
            device.poll(now)
            host.poll(now)
        return got

    pump(1000)
    device.send(m.ButtonEvent(0, 0, 1), 2000)
    stale = device.data_to_send(2000)  # written, still in the cable
    assert stale
    device = Link.device(
        3000, boot_id=2, capabilities=int(LEVEL_SCORE), reset_cause=1, version=1 << 24
    )
    host.connect(3000)
    got = host.receive(stale, 3000)
    assert not [item for item in got if isinstance(item, Delivery) and item.event_no is not None]


def test_row_24_the_disk_is_not_in_the_loop_and_lag_is_measured(tmp_path: Path) -> None:
    """Twenty seconds of silence were I/O in the application's loop: ours waits in a thread of its own."""
    import threading
    import time

    from tablectl.journal import Journal
    from tests.daemon.journal_kit import change

    async def story() -> float:
        gate = threading.Event()
        store = Store(
            tmp_path / "j.db", on_step=lambda step: gate.wait(5) if step == "written" else None
        )  # type: ignore[arg-type,func-returns-value]
        journal = Journal(store)
        slow = asyncio.create_task(journal.append(change(1)))
        await asyncio.sleep(0)
        began = time.monotonic()
        for _ in range(50):
            await asyncio.sleep(0)
        took = time.monotonic() - began
        assert not slow.done()
        gate.set()
        await slow
        await journal.close()
        return took

    assert asyncio.run(story()) < 1.0


def test_row_32_any_valid_frame_feeds_the_liveness_of_a_link() -> None:
    from firmware_protocol import timing
    from firmware_protocol.deliveries import LinkFailed
    from firmware_protocol.link import Link
    from firmware_protocol.messages import LogText
    from firmware_protocol.vocabulary import LEVEL_SCORE, LogLevel

    assert timing
    device = Link.device(
        0, boot_id=1, capabilities=int(LEVEL_SCORE), reset_cause=1, version=1 << 24
    )
    host = Link.host(0, nonce=lambda: 7)
    host.connect(0)
    for now in range(0, 60_000_000, 100_000):
        device.receive(host.data_to_send(now), now)
        device.poll(now)
        if now % 500_000 == 0 and now > 1_000_000:
            device.send(LogText(LogLevel.INFO, "still here"), now)
        failed = [
            x for x in host.receive(device.data_to_send(now), now) if isinstance(x, LinkFailed)
        ]
        failed += [x for x in host.poll(now) if isinstance(x, LinkFailed)]
        assert not failed, now


# ---------------------------------------------------------------- broker and operations


def test_row_33_everything_retained_is_said_again_after_a_restart_of_the_broker(
    tmp_path: Path,
) -> None:
    """A broker that forgot all hears birth, link, state, info and health anew, though nothing has changed."""
    from tests.first_light.brokers import Mosquitto
    from tests.first_light.bus_kit import Bench, FakeTable, running, watcher

    kept = {"bridge/state", "bridge/info", "bridge/health", "link", "state"}

    async def story() -> None:
        broker = Mosquitto(tmp_path)
        broker.start()
        try:
            async with running(Bench(broker.port, FakeTable())) as bench:
                await bench.until("online")
                broker.stop()
                await bench.until("offline")
                broker.start()
                await bench.until("online")
                async with watcher(broker.port).connected() as late:
                    await late.until(lambda seen: kept <= set(seen.retained), 10)
                assert late.seen.retained["bridge/state"]["state"] == "online"
        finally:
            broker.stop()

    asyncio.run(asyncio.wait_for(story(), 40))


def test_row_37_a_broker_that_is_down_at_boot_is_tried_for_ever_with_jitter() -> None:
    tries = brokers.backoff(random.Random(1))
    waits = [next(tries) for _ in range(1000)]
    assert max(waits) <= brokers.BACKOFF_LAST_S
    assert len({round(wait, 3) for wait in waits[-500:]}) > 400, "all daemons knock at once"
    assert brokers.next_protocol(Broker("h", 1), "5", ConnectionRefusedError(), None) == "5"


def test_row_43_a_retry_for_a_day_is_told_in_few_lines() -> None:
    folded = FoldedLog(ReconnectOptions().fold_ms)
    day = range(0, 86_400_000, 2_000)
    lines = [text for now in day if (text := folded.line("port_missing", now)) is not None]
    assert lines[0] == "port_missing"
    assert len(lines) <= 24 * 12 + 1
    assert "times more" in lines[-1]
    clock = 0.0
    general = logs.Folding(lambda: clock)
    passed = 0
    for second in range(86_400):
        clock = float(second)
        record = logging.LogRecord("t", logging.WARNING, "", 0, "again", (), None)
        passed += general.filter(record)
    assert passed <= 24 * 12 + logs.FIRST


def test_row_47_a_misspelt_key_is_an_error_with_its_place_and_the_right_name() -> None:
    with pytest.raises(ConfigError) as caught:
        loads('[mqtt]\nuser = "x"\npasswd = "y"\n')
    first, second = caught.value.problems
    assert (first.line, first.column, first.code) == (2, 1, "unknown_key")
    assert (second.line, second.key) == (3, "mqtt.passwd")
    assert "did you mean 'password'?" in second.hint
    assert tomllib.loads("[mqtt]\npasswd = 'y'\n"), "it is good TOML: only the model can tell"
    assert ManualClock(0, 0).synced()
