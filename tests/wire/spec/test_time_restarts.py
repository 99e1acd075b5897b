"""SPEC chapters 9 to 11: time, restarts, texts and snapshots."""

from __future__ import annotations

import dataclasses
from itertools import pairwise

import pytest

from firmware_protocol import messages as m
from firmware_protocol.deliveries import Delivery, LinkUp, PeerReset
from firmware_protocol.paging import (
    InfoReader,
    SnapshotReader,
    info_page,
    snapshot_page,
    state_digest,
)
from firmware_protocol.timing import MS, SECOND
from firmware_protocol.vector_cases import plain_crc
from firmware_protocol.vocabulary import ResetCause
from tests.wire.ends import BOOT, device, host, of, reconnect

SLOT = m.RiichiSlot(seat=1, present=1)
STATE = m.SnapshotState(
    version=0,
    pages=1,
    lid=1,
    walls=(1, 2, 3, 4),
    locked=0,
    riichi=5,
    trays=tuple(range(20)),
    fault=0,
)


# --------------------------------------------------------------------------- time


@pytest.mark.spec("T-1")
def test_a_heartbeat_every_second_with_the_values_of_its_moment() -> None:
    board = device()
    board.link.state_digest = 0x1234
    board.link.status = 2
    beats = []
    for at in range(0, 4_000, 10):
        if at == 1_500:
            board.link.send(SLOT, at * MS)
        found = board.poll(at * MS)
        beats += [(at, m.Heartbeat.unpack(f.payload)) for f in found if f.message_id == 0x10]
        if at % 500 == 0:
            board.datagram(m.Watchdog(timeout_ms=5000), ack=min(at // 1_600, 1))
    assert [at for at, _ in beats] == [1000, 2000, 3000]  # the first one stands behind HelloAck
    assert [b.event_no for _, b in beats] == [0, 1, 1]
    assert [b.uptime_ms for _, b in beats] == [1000, 2000, 3000]
    assert {(b.state_digest, b.status, b.boot_id) for _, b in beats} == {(0x1234, 2, BOOT)}


@pytest.mark.spec("T-2")
def test_a_watchdog_every_second() -> None:
    hall = host()
    times = []
    for at in range(1, 4_000):
        if any(f.message_id == m.Watchdog.SPEC.id for f in hall.poll(at * MS)):
            times.append(at)
        if at % 500 == 0:
            hall.heartbeat(0xFFFF)
    assert times == [1000, 2000, 3000]
    board = device()
    board.datagram(m.Watchdog(timeout_ms=900))
    assert board.link.next_deadline == 900 * MS
    board.datagram(m.Watchdog(timeout_ms=1500))
    board.poll(1_499 * MS)
    assert board.link.state.value == "up"


@pytest.mark.spec("T-3")
def test_a_time_request_is_answered_with_the_uptime() -> None:
    board = device()
    (reply,) = board.at(1_234_567).datagram(m.TimeRequest(token=77, unix_s=0))
    assert m.TimeReply.unpack(reply.payload) == m.TimeReply(token=77, uptime_ms=1234)


@pytest.mark.spec("T-4")
def test_device_time_comes_from_the_shortest_round_trip_of_eight() -> None:
    hall = host()
    asked = []
    for _ in range(100):
        found = hall.poll(hall.now + 1 * SECOND)
        asked += [hall.now for f in found if f.message_id == m.TimeRequest.SPEC.id]
        hall.heartbeat(0xFFFF)
    assert [b - a for a, b in pairwise(asked)] == [10 * SECOND] * (len(asked) - 1)
    assert len(asked) >= 9
    clock = hall.link.clock
    clock.reset()
    for number in range(20):  # the 5th is the best; after eight more it is forgotten
        sent = 1_000 * SECOND + number * 10 * SECOND
        round_trip = 2 * MS if number == 4 else (30 + 2 * number) * MS
        skew = 0 if number == 4 else 10
        clock.sample(sent, sent + round_trip, (sent + round_trip // 2) // MS + skew)
        expected = 0 if 4 <= number <= 11 else -10 * MS
        assert clock.to_host(2_000_000) - 2_000 * SECOND == expected, number


# --------------------------------------------------------------------------- restarts


@pytest.mark.spec("R-1")
def test_another_boot_id_is_a_restart_told_before_the_session() -> None:
    hall = host()
    hall.at(5 * SECOND)
    items = reconnect(hall, boot_id=0x9999, reset_cause=int(ResetCause.WATCHDOG), uptime_ms=400)
    assert [type(x) for x in items] == [PeerReset, LinkUp]
    assert items[0] == PeerReset(boot=0x9999, cause=ResetCause.WATCHDOG, uptime_ms=400)
    assert of(items, LinkUp)[0].new_boot
    assert hall.link.stats.resets == {"watchdog": 1}
    known = host(known_boot=BOOT, known_event=3, beat=False)
    assert not known.link.stats.resets
    assert of(reconnect(known), LinkUp)[0].new_boot is False


@pytest.mark.spec("R-2")
@pytest.mark.parametrize("boot_id", [BOOT, 0])
@pytest.mark.parametrize(("after", "uptime", "restarted"), [(60, 159_000, False), (60, 158_000, False), (60, 157_000, True),
                                                            (60, 1_000, True), (1, 1_500, True), (1, 101_500, False)])  # fmt: skip
def test_uptime_that_went_back_is_a_restart(
    boot_id: int, after: int, uptime: int, restarted: bool
) -> None:
    hall = host(ack={"boot_id": boot_id, "uptime_ms": 100_000}, beat=False)
    boot = hall.link.peer.boot if hall.link.peer else 0
    assert boot != 0
    hall.at(after * SECOND)
    items = reconnect(hall, boot_id=boot_id, uptime_ms=uptime)
    assert bool(of(items, PeerReset)) is restarted
    assert of(items, LinkUp)[0].new_boot is restarted
    if boot_id == 0:
        assert (
            of(items, LinkUp)[0].peer.boot != boot
        ) is restarted  # the journal's key changes with the start


@pytest.mark.spec("R-3")
def test_after_a_restart_events_count_from_the_first() -> None:
    hall = host()
    for number in (1, 2, 3):
        hall.event(number - 1, number, SLOT)
        hall.link.accept(of(hall.items, Delivery)[0])
    assert hall.link.event_no == 3
    hall.at(1 * SECOND)
    reconnect(hall, boot_id=0x9999, uptime_ms=10)
    assert hall.link.event_no == 0
    hall.event(0, 1, SLOT)
    (delivery,) = of(hall.items, Delivery)
    assert (delivery.boot, delivery.event_no) == (0x9999, 1)


# --------------------------------------------------------------------------- texts and snapshots


@pytest.mark.spec("S-1")
def test_a_text_comes_in_pages_of_40_octets() -> None:
    texts = {1: "全自動麻雀卓 " * 6, 2: "A-17"}
    octets = texts[1].encode()
    for page in range(5):
        answer = info_page(m.InfoRequest(key=1, page=page), texts)
        assert answer.pages == -(-len(octets) // 40)
        assert answer.data == octets[page * 40 : page * 40 + 40]
    assert info_page(m.InfoRequest(key=9, page=0), texts) == m.InfoPage(
        key=9, page=0, pages=0, data=b""
    )
    for key, expected in {1: texts[1], 2: "A-17", 9: ""}.items():
        reader = InfoReader(key)
        while not reader.feed(info_page(reader.request, texts)):
            assert reader.text is None
        assert reader.text == expected


TILES = {(0x20, 1): [m.TileAt(slot=i, flags=1, tag=100 + i) for i in range(9)],
         (0x41, 2): [m.TileAt(slot=0, flags=1, tag=7)]}  # fmt: skip


@pytest.mark.spec("S-2")
def test_page_0_is_the_state_with_version_and_number_of_pages() -> None:
    answer = snapshot_page(m.SnapshotRequest(version=0, page=0), 42, STATE, TILES)
    assert answer == dataclasses.replace(STATE, version=42, pages=1 + 3 + 1)
    assert snapshot_page(
        m.SnapshotRequest(version=42, page=0), 43, STATE, {}
    ) == dataclasses.replace(STATE, version=43, pages=1)


@pytest.mark.spec("S-3")
def test_an_outdated_or_missing_page_is_answered_with_the_state() -> None:
    page = snapshot_page(m.SnapshotRequest(version=42, page=4), 42, STATE, TILES)
    assert page == m.SnapshotTiles(
        version=42, page=4, zone=0x41, reader=2, tiles=(TILES[0x41, 2][0],)
    )
    for version, number in ((41, 2), (42, 5), (42, 200)):
        assert isinstance(
            snapshot_page(m.SnapshotRequest(version=version, page=number), 42, STATE, TILES),
            m.SnapshotState,
        )
    reader = SnapshotReader()
    reader.feed(snapshot_page(reader.request, 42, STATE, TILES))
    reader.feed(snapshot_page(reader.request, 42, STATE, TILES))
    changed = {(0x20, 1): TILES[0x20, 1][:2]}
    while not reader.feed(snapshot_page(reader.request, 43, STATE, changed)):
        pass
    assert reader.restarts == 1
    assert reader.tiles == changed
    assert reader.state is not None
    assert reader.state.version == 43


@pytest.mark.spec("S-4")
def test_the_pages_hold_each_tile_once() -> None:
    many = {
        (zone, zone % 3): [m.TileAt(slot=i, flags=1, tag=zone * 100 + i) for i in range(zone % 37)]
        for zone in range(0x10, 0x60)
    }
    reader = SnapshotReader()
    asked = 0
    while not reader.feed(snapshot_page(reader.request, 9, STATE, many)):
        asked += 1
    assert reader.tiles == {place: found for place, found in many.items() if found}
    assert sorted(t.tag for found in reader.tiles.values() for t in found) == sorted(
        t.tag for f in many.values() for t in f
    )
    assert reader.state is not None
    assert asked == reader.state.pages - 1
    assert reader.restarts == 0


@pytest.mark.spec("S-5")
def test_state_digest_leaves_out_version_and_pages() -> None:
    octets = bytes((1, 1, 2, 3, 4, 0, 5, *range(20), 0))
    assert state_digest(STATE) == plain_crc(octets)
    assert state_digest(dataclasses.replace(STATE, version=99, pages=7)) == plain_crc(octets)
    assert state_digest(dataclasses.replace(STATE, riichi=4)) != plain_crc(octets)
