"""The C link where memory, flow control and handshakes meet their limits: sentence by sentence, with a host made by hand."""

from __future__ import annotations

import random
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from firmware_protocol import messages as m
from firmware_protocol import paging
from firmware_protocol.deliveries import Delivery, Item
from firmware_protocol.framing import ACK, DATA, LINK, Frame, encode
from firmware_protocol.outgoing import display_digest, display_key
from firmware_protocol.schema import Kind, Message
from firmware_protocol.timing import MS, SECOND
from firmware_protocol.vocabulary import ActionKind, ActionState, Phase, Result
from tests.wire.c_device import CDevice, LinkChange, Log, built
from tests.wire.ends import NONCE, SESSION, Hand, data_frames, frames, ids

BOOT = 0xB007
SLOT = m.RiichiSlot(seat=1, present=1)
LONGEST = m.TileEvent(0x21, 1, (m.TileSight(1, 1, 1, 0x1122334455667788),) * 4)
EVENT_BYTES, BULK_BYTES = 352, 176


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory, "step") / "step"


@pytest.fixture
def make(program: Path) -> Iterator[Callable[..., Hand]]:
    """Devices that have just started; each must have nothing to complain about at the end."""
    devices: list[CDevice] = []

    def make(**options: Any) -> Hand:
        devices.append(CDevice(program, **({"boot_id": BOOT} | options)))
        return Hand(devices[-1])  # type: ignore[arg-type]  # as much of a Link as a Hand needs

    yield make
    for device in devices:
        device.close()


@pytest.fixture
def fresh(make: Callable[..., Hand]) -> Hand:
    return make()


@pytest.fixture
def board(fresh: Hand) -> Hand:
    """A device whose session is up."""
    assert m.HelloAck.SPEC.id in [f.message_id for f in fresh.hello()]
    return fresh


def c(hand: Hand) -> CDevice:
    """The device of a hand."""
    assert isinstance(hand.link, CDevice)
    return hand.link


def delivered(items: list[Item]) -> list[Message]:
    return [x.message for x in items if isinstance(x, Delivery)]


def events(found: list[Frame]) -> list[tuple[int, Message]]:
    """event_no and message of the events among frames."""
    return [
        (int.from_bytes(f.payload[:4], "little"), m.SCHEMA.by_id[f.message_id].unpack(f.payload[8:]))
        for f in data_frames(found)
        if m.SCHEMA.by_id[f.message_id].SPEC.kind is Kind.EVENT
    ]  # fmt: skip


def one(found: list[Frame], kind: type[Message]) -> Any:
    """The only message of a kind among frames."""
    (frame,) = [f for f in found if f.message_id == kind.SPEC.id]
    return kind.unpack(frame.payload)


def action(cmd_id: int, **fields: int) -> m.Action:
    return m.Action(
        cmd_id,
        fields.get("action", ActionKind.BEEP),
        fields.get("arg", 0),
        fields.get("deadline_ms", 0),
        0,
    )


# --------------------------------------------------------------------------- events and their memory


def test_events_fill_the_memory_and_no_more(fresh: Hand) -> None:
    device = c(fresh)
    sizes = [2 + 8 + len(x.pack()) for x in (SLOT, LONGEST)]
    assert sizes == [12, 57]
    left = EVENT_BYTES
    while left >= 57:
        assert device.send(LONGEST, 0)
        left -= 57
        assert device.stepper.room == left
    assert device.send(LONGEST, 0) == 0, "an event without room has no number"
    assert device.send(SLOT, 0) == 0, (
        "what comes behind a lost event is lost too, until the gap is told"
    )


def test_lost_events_are_told_where_the_gap_is(fresh: Hand) -> None:
    device = c(fresh)
    numbers = [device.send(SLOT, 0) for _ in range(EVENT_BYTES // 12 + 3)]
    kept = EVENT_BYTES // 12
    assert numbers == [*range(1, kept + 1), 0, 0, 0]
    assert events(fresh.hello()) == [(n, SLOT) for n in (1, 2, 3, 4)]
    found = events(fresh.ack(4)) + events(fresh.ack(8))
    assert [n for n, _ in found] == list(range(5, 13))
    last = device.send(m.SeatRoulette(2), 0)
    assert last == kept + 2, "EventsLost took the number before it"
    sent = 12
    while sent < last:
        found += events(fresh.ack(sent))
        sent = found[-1][0]
    assert found[-2:] == [(kept + 1, m.EventsLost(3)), (kept + 2, m.SeatRoulette(2))]
    fresh.ack(sent)
    assert device.idle
    assert device.stepper.room == EVENT_BYTES


@pytest.mark.parametrize("count", [65534, 65535, 65536])
def test_the_count_of_lost_events_stops_at_its_greatest_value(fresh: Hand, count: int) -> None:
    device = c(fresh)
    while device.send(LONGEST, 0):
        pass
    device.step("L", 0, struct.pack("<I", count - 1))  # as if so many had come
    assert device.send(LONGEST, 0) == 0
    fresh.hello()
    found = events(fresh.ack(1)) + events(fresh.ack(4)) + events(fresh.ack(6))
    assert found[-1][1] == m.EventsLost(min(count, 65535))


def test_events_wrap_around_in_memory_and_come_out_whole(board: Hand) -> None:
    rng = random.Random(3)
    sent: list[Message] = []
    got: list[Message] = []
    acked = 0
    for _ in range(600):
        tiles = tuple(m.TileSight(i, 1, 2, rng.getrandbits(64)) for i in range(rng.randrange(5)))
        event = rng.choice((SLOT, m.TileEvent(0x21, 1, tiles), m.TestEvent(len(sent), -1)))
        if c(board).send(event, board.now):
            sent.append(event)
        found = board.flush()
        while events(found):
            got += [message for _, message in events(found)]
            acked += len(data_frames(found))
            found = board.ack(acked & 0xFF) if rng.random() < 0.7 else []
        if rng.random() < 0.3:
            got += [message for _, message in events(board.ack(acked & 0xFF))]
            acked = len(got)
    for _ in range(100):
        got += [message for _, message in events(board.ack(acked & 0xFF))]
        acked = len(got)
    lost = [x for x in got if isinstance(x, m.EventsLost)]
    assert [x for x in got if not isinstance(x, m.EventsLost)] == sent
    assert len(sent) + sum(x.count for x in lost) == 600


def test_numbers_skip_0(fresh: Hand) -> None:
    device = c(fresh)
    device.step("E", 0, (0xFFFFFFFE).to_bytes(4, "little"))
    assert [device.send(SLOT, 0) for _ in range(3)] == [0xFFFFFFFF, 1, 2]
    found = fresh.hello(boot_id=BOOT, event_no=0xFFFFFFFF)
    assert [n for n, _ in events(found)] == [1, 2], "numbers compare modulo 2^32"


@pytest.mark.parametrize(
    ("boot", "hello", "expected"),
    [
        (BOOT, {"boot_id": BOOT, "event_no": 2}, [3]),
        (BOOT, {"boot_id": BOOT, "event_no": 0}, [1, 2, 3]),
        (BOOT, {"boot_id": BOOT + 1, "event_no": 2}, [1, 2, 3]),
        (0, {"boot_id": 0, "event_no": 2}, [1, 2, 3]),
        (BOOT, {"boot_id": BOOT, "event_no": 3}, []),
    ],
)
def test_hello_releases_events_that_the_host_has(
    make: Callable[..., Hand], boot: int, hello: dict[str, int], expected: list[int]
) -> None:
    board = make(boot_id=boot)
    for _ in range(3):
        c(board).send(SLOT, 0)
    found = board.hello(**hello)
    assert [n for n, _ in events(found)] == expected
    assert one(found, m.HelloAck).held == len(expected)


def test_unacknowledged_events_come_again_in_the_next_session(fresh: Hand) -> None:
    for at in (10, 20, 30, 40, 50, 60):
        c(fresh).send(SLOT, at * MS)
    assert [n for n, _ in events(fresh.at(100 * MS).hello())] == [1, 2, 3, 4]
    assert [n for n, _ in events(fresh.ack(2))] == [5, 6]
    second = fresh.at(5 * SECOND).hello(NONCE + 1)
    assert [n for n, _ in events(second)] == [3, 4, 5, 6]
    times = [int.from_bytes(f.payload[4:8], "little") for f in data_frames(second)]
    assert times == [30, 40, 50, 60]
    assert [f.seq for f in data_frames(second)] == [0, 1, 2, 3]


@pytest.mark.parametrize("longest", [40, 24])
def test_an_event_too_long_for_the_host_keeps_its_number(fresh: Hand, longest: int) -> None:
    for event in (LONGEST, SLOT, LONGEST, LONGEST, m.SeatRoulette(3)):
        assert c(fresh).send(event, 0)
    found = fresh.hello(max_frame=longest)
    assert events(found) == [(2, SLOT), (5, m.SeatRoulette(3))]
    fresh.ack(2)
    assert c(fresh).idle
    assert c(fresh).stepper.room == EVENT_BYTES


def test_the_clock_wraps(fresh: Hand) -> None:
    """The board's microseconds wrap after 71 minutes; uptime and timers do not notice."""
    fresh.hello()
    now, pace = 0, 30 * 60 * SECOND
    for _ in range(4):
        now += pace
        fresh.poll(now)
    assert c(fresh).changes[-1] == LinkChange("failed", "silent")
    fresh.at(now).hello(NONCE + 1)
    c(fresh).send(SLOT, now)
    (frame,) = [f for f in fresh.flush() if f.type == DATA]
    assert int.from_bytes(frame.payload[4:8], "little") == now // MS
    assert data_frames(fresh.poll(now + 249 * MS)) == []
    assert len(data_frames(fresh.poll(now + 250 * MS))) == 1


# --------------------------------------------------------------------------- windows and flow control


def echo(token: int, size: int = 48) -> m.TestEcho:
    return m.TestEcho(token, bytes((token,)) * size)


def test_bulk_leaves_the_last_place_for_events(board: Hand) -> None:
    for token in range(3):
        board.data(token, 0, echo(token, 1))
    board.data(3, 0, echo(3, 1))
    assert ids(board.wrote) == [], "the fourth reply waits"
    c(board).send(SLOT, 0)
    assert ids(board.flush()) == [m.RiichiSlot.SPEC.id]
    c(board).send(SLOT, 0)
    assert ids(board.flush()) == []
    assert ids(board.ack(3)) == [m.RiichiSlot.SPEC.id, m.TestEchoReply.SPEC.id]


def test_an_answer_without_room_is_dropped_and_holds_nothing_up(board: Hand) -> None:
    for token in range(3):
        assert ids(board.data(token, 0, echo(token))) == [m.TestEchoReply.SPEC.id]
    dropped = board.data(3, 0, echo(3))
    assert [(f.type, f.seq, f.ack) for f in dropped] == [(ACK, 4, 4)], (
        "accepted; asked again (L-22)"
    )
    board.data(4, 0, m.Stop(9))
    assert delivered(board.items) == [m.Stop(9)], "a Stop never waits for bulk"
    again = data_frames(board.data(5, 1, echo(3)))
    assert [(m.TestEchoReply.unpack(f.payload).token, f.ack) for f in again] == [(3, 6)]


def test_a_uart_that_is_full_gets_the_same_octets_later(fresh: Hand) -> None:
    device = c(fresh)
    for n in range(3):
        device.send(m.TestEvent(n, -n), 0)
    fresh.flush()
    device.step("W", 0, (10).to_bytes(4, "little"))
    assert fresh.hello() == []
    assert device.next_deadline == fresh.now + 1000, "not asked again at once"
    device.step("W", 0, (80).to_bytes(4, "little"))
    found = fresh.poll()
    assert [f.message_id for f in found] == [2, m.TestEvent.SPEC.id]
    device.step("W", 0, b"\xff\xff\xff\xff")
    rest = fresh.poll()
    assert [n for n, _ in events(found + rest)] == [1, 2, 3]
    assert [f.message_id for f in rest][-1] == m.Heartbeat.SPEC.id


def test_repetitions_wait_for_the_uart_too(board: Hand) -> None:
    device = c(board)
    for n in range(4):
        device.send(m.TestEvent(n, 0), 0)
    assert len(data_frames(board.flush())) == 4
    device.step("W", 0, (30).to_bytes(4, "little"))
    assert [f.seq for f in data_frames(board.poll(250 * MS))] == [0]
    device.step("W", board.now, (60).to_bytes(4, "little"))
    assert [f.seq for f in data_frames(board.poll())] == [1, 2]
    device.step("W", board.now, b"\xff\xff\xff\xff")
    assert [f.seq for f in data_frames(board.poll())] == [3]
    assert data_frames(board.poll()) == []


# --------------------------------------------------------------------------- handshake


def test_another_majors_hello_need_only_have_its_head(board: Hand) -> None:
    head = struct.pack("<IBB", 0x77, m.MAJOR + 1, 9)
    found = board.feed(encode(7 << 4 | LINK, 0, 0, m.Hello.SPEC.id, head + b"\x99"))
    ack = one(found, m.HelloAck)
    assert (ack.nonce, ack.major, ack.minor) == (0x77, m.MAJOR, m.MINOR)
    assert [f.control >> 4 for f in found if f.message_id == 2] == [7]
    assert c(board).changes[-2:] == [LinkChange("failed", "peer_hello"), LinkChange("refused", "")]
    assert data_frames(board.data(0, 0, echo(1))) == []
    board.hello(NONCE + 2)
    assert c(board).stepper.state == "up"


def test_a_hello_that_ends_early_is_counted_and_ignored(fresh: Hand) -> None:
    whole = m.Hello(NONCE, m.MAJOR, m.MINOR, 0, 0, 64, 4, 0, 0).pack()
    for short in (whole[:-1], whole[:5], whole[:14] + b"\x05" + whole[15:]):
        found = fresh.feed(encode(LINK, 0, 0, m.Hello.SPEC.id, short))
        assert [f for f in found if f.message_id == m.HelloAck.SPEC.id] == []
    assert [log.what for log in c(fresh).log] == ["malformed"] * 3
    assert c(fresh).stepper.state == "connecting"


def test_no_announce_in_a_session(fresh: Hand) -> None:
    """An Announce that the UART would not take must not go out behind the HelloAck: the host would give up (H-7)."""
    c(fresh).polls = False
    c(fresh).step("w", 0, (5).to_bytes(4, "little"))
    assert fresh.poll(0) == []
    c(fresh).step("w", 0, b"\xff\xff\xff\xff")
    fresh.hello()
    assert [f.message_id for f in fresh.poll()] == [m.HelloAck.SPEC.id, m.Heartbeat.SPEC.id]


def test_a_window_of_one(fresh: Hand) -> None:
    fresh.hello(window=1)
    fresh.data(0, 0, echo(1))
    c(fresh).send(SLOT, 0)
    assert len(data_frames(fresh.wrote)) == 1
    assert ids(fresh.flush()) == []
    assert ids(fresh.ack(1)) == [m.RiichiSlot.SPEC.id]


def test_nonce_0_opens_a_session(fresh: Hand) -> None:
    assert one(fresh.hello(0), m.HelloAck).nonce == 0
    assert c(fresh).stepper.state == "up"


# --------------------------------------------------------------------------- actions


def test_an_action_is_done_once_and_its_end_told_again(board: Hand) -> None:
    board.data(0, 0, action(7))
    assert delivered(board.items) == [action(7)]
    board.data(1, 0, action(7))
    assert delivered(board.items) == [], "still running: ignored"
    c(board).finish(7, Result.FAILED_JAM, 3, 0)
    assert events(board.flush()) == [(1, m.ActionResult(7, Result.FAILED_JAM, 3, 0))]
    found = board.data(2, 1, action(7))
    assert delivered(board.items) == []
    assert events(found) == [(2, m.ActionResult(7, Result.FAILED_JAM, 3, 1))]
    board.hello(NONCE + 1)
    board.ack(0)
    found = board.data(0, 1, m.Stop(7))
    assert delivered(board.items) == []
    assert [x for _, x in events(found)] == [m.ActionResult(7, Result.FAILED_JAM, 3, 1)]


def test_eight_actions_are_remembered_and_running_ones_never_forgotten(board: Hand) -> None:
    seq = 0

    def do(message: Message) -> list[Frame]:
        nonlocal seq
        found = board.data(seq & 0xFF, acked & 0xFF, message)
        seq += 1
        return found

    acked = 0
    for cmd_id in range(1, 9):
        do(action(cmd_id))
        assert delivered(board.items) == [action(cmd_id)]
    (result,) = events(do(action(9)))
    acked += 1
    assert delivered(board.items) == []
    assert result[1] == m.ActionResult(9, Result.REFUSED_BUSY, 0, 0)
    do(m.Stop(10))
    assert delivered(board.items) == [m.Stop(10)], "Stop is delivered though eight are running"
    c(board).finish(3, Result.DONE, 0, 0)
    acked += len(data_frames(board.flush()))
    do(action(11))
    assert delivered(board.items) == [action(11)]
    states = []
    for cmd_id in (1, 2, 3, 8, 9, 11):
        found = do(m.ActionQuery(cmd_id))
        acked += 1
        states.append(one(found, m.ActionStatus).state)
    running, unknown = ActionState.RUNNING, ActionState.UNKNOWN
    assert states == [running, running, unknown, running, unknown, running]


@pytest.mark.parametrize(("deadline", "done"), [(0, True), (99, False), (100, True), (101, True), (0xFFFFFFFF, False)])  # fmt: skip
def test_deadlines(board: Hand, deadline: int, done: bool) -> None:
    found = board.at(100 * MS).data(0, 0, action(5, deadline_ms=deadline))
    assert delivered(board.items) == ([action(5, deadline_ms=deadline)] if done else [])
    if not done:
        assert events(found) == [(1, m.ActionResult(5, Result.EXPIRED, 0, 0))]
        status = one(board.data(1, 1, m.ActionQuery(5)), m.ActionStatus)
        assert (status.state, status.result) == (ActionState.FINISHED, Result.EXPIRED)


# --------------------------------------------------------------------------- displays


def test_the_display_digest_is_that_of_the_states_in_force(board: Hand) -> None:
    rng = random.Random(8)
    shown: dict[tuple[int, int], bytes] = {}
    makers: list[Callable[[], Message]] = [
        lambda: m.SetRound(rng.randrange(4), rng.randrange(1, 5), rng.randrange(4)),
        lambda: m.SetHonba(rng.randrange(256)),
        lambda: m.SetDeposits(rng.randrange(256)),
        lambda: m.SetScores(tuple(rng.randrange(-99999, 99999) for _ in range(4))),
        lambda: m.SetDifferences(rng.randrange(4), tuple(rng.randrange(-99, 99) for _ in range(4))),
        lambda: m.SetLamps(rng.getrandbits(32), rng.getrandbits(32)),
        lambda: m.SetText(rng.choice((0, 1, 2, 9, 200, 255)), "東" * rng.randrange(14)),
        lambda: m.SetTestMode(rng.randrange(2)),
    ]
    for i in range(300):
        message = rng.choice(makers)()
        shown[display_key(message)] = message.pack()
        board.at(board.now + 10 * MS).data(i & 0xFF, 0, message)
        if i % 20 == 19:
            (beat,) = [
                f for f in board.poll(board.now + SECOND) if f.message_id == m.Heartbeat.SPEC.id
            ]
            assert m.Heartbeat.unpack(beat.payload).display_digest == display_digest(shown)
    assert len(shown) == 16, "as many displays as there is memory for"


def test_more_displays_than_memory_do_no_harm(board: Hand) -> None:
    for i in range(40):
        board.data(i, 0, m.SetText(39 - i, "x"))
        assert delivered(board.items) == [m.SetText(39 - i, "x")]
    board.poll(SECOND)
    assert c(board).stepper.state == "up"


def test_the_digest_is_over_the_payload_as_it_came(board: Hand) -> None:
    later = m.SetHonba(3).pack() + b"\x07"
    board.feed(encode(SESSION << 4 | DATA, 0, 0, m.SetHonba.SPEC.id, later))
    (beat,) = [f for f in board.poll(SECOND) if f.message_id == m.Heartbeat.SPEC.id]
    digest = display_digest({(m.SetHonba.SPEC.id, 0): later})
    assert m.Heartbeat.unpack(beat.payload).display_digest == digest


# --------------------------------------------------------------------------- what a device says


def test_a_heartbeat_tells_what_it_was_told(board: Hand) -> None:
    c(board).step("T", 0, struct.pack("<HH", 0xBEEF, 0x0102))
    c(board).send(SLOT, 0)
    board.data(0, 0, action(77))
    c(board).finish(77, 0, 0, 0)
    board.flush()
    beat = one(board.poll(SECOND), m.Heartbeat)
    assert beat == m.Heartbeat(1000, BOOT, 2, 77, 0xBEEF, 0xFFFF, 0x0102, 2)


def test_figures(fresh: Hand) -> None:
    fresh.feed(b"boot text 0123\0")
    damaged = bytearray(encode(LINK, 0, 0, 1, b"\x91\x92"))
    damaged[-2] ^= 0x40
    fresh.feed(bytes(damaged))
    fresh.hello()
    c(fresh).send(SLOT, 0)
    fresh.flush()
    fresh.poll(250 * MS)
    fresh.data(0, 0, action(3))
    stats = one(fresh.data(1, 0, m.StatsRequest()), m.Stats)
    sent = stats.frames_sent
    assert stats == m.Stats(3, sent, 1, 1, 14, 1, 0, 1, 1, 0xFFFF)
    assert [log for log in c(fresh).log if log.what == "noise"] == [Log("noise", b"boot text 0123")]
    assert [log.data for log in c(fresh).log if log.what == "damaged"] == [bytes(damaged[:-1])]


def test_each_time_request_has_its_reply(board: Hand) -> None:
    requests = b"".join(
        encode(SESSION << 4 | 3, 0, 0, m.TimeRequest.SPEC.id, m.TimeRequest(token, 0).pack())
        for token in (4, 5, 6)
    )
    found = board.at(1234 * MS).feed(requests)
    replies = [m.TimeReply.unpack(f.payload) for f in found if f.message_id == m.TimeReply.SPEC.id]
    assert replies == [m.TimeReply(token, 1234) for token in (4, 5, 6)]


# --------------------------------------------------------------------------- pages


@pytest.mark.parametrize("text", [None, "", "a", "卓" * 13, "x" * 40, "x" * 41, "東南西北" * 60])
def test_info_pages_are_those_of_the_reference(board: Hand, text: str | None) -> None:
    device = c(board)
    octets = b"" if text is None else text.encode() + b"\0"
    device.step("U", 0, octets)
    texts = {} if text is None else {1: text}
    acked = 0
    for page in (0, 1, 2, 17, 255):
        request = m.InfoRequest(1, page)
        device.step("A", 0, bytes((m.InfoRequest.SPEC.id,)) + request.pack())
        found = board.flush()
        assert one(found, m.InfoPage) == paging.info_page(request, texts)
        acked += len(data_frames(found))
        board.ack(acked)


def test_snapshot_pages_are_those_of_the_reference(board: Hand) -> None:
    device = c(board)
    device.send(SLOT, 0)
    board.ack(1)
    state = m.SnapshotState(0, 1, Phase.DOWN, (0,) * 4, 1, 0, (0,) * 19 + (7,), 0)  # type: ignore[arg-type]
    tiles = {(0x20 | n, n): [m.TileAt(n, 1, 0xE004_0000_0000_0000 + n)] for n in (1, 2, 3)}
    reader, acked = paging.SnapshotReader(), 1
    requests = [m.SnapshotRequest(0, 0), m.SnapshotRequest(1, 4), m.SnapshotRequest(9, 1)]
    requests += [m.SnapshotRequest(1, n) for n in (1, 2, 3)]
    for request in requests:
        device.step("A", 0, bytes((m.SnapshotRequest.SPEC.id,)) + request.pack())
        assert device.stepper.result == paging.state_digest(state)
        found = data_frames(board.flush())
        page = m.SCHEMA.by_id[found[0].message_id].unpack(found[0].payload)
        assert page == paging.snapshot_page(request, 1, state, tiles)
        assert isinstance(page, m.SnapshotState | m.SnapshotTiles)
        reader.feed(page)
        acked += len(found)
        board.ack(acked)
    assert reader.done
    assert reader.tiles == tiles


def test_frames_are_never_mixed_and_handshakes_begin_with_a_delimiter(fresh: Hand) -> None:
    c(fresh).send(LONGEST, 0)
    fresh.feed(b"")
    c(fresh).poll(0)
    octets = c(fresh).data_to_send(0)
    fresh.hello()
    hello = encode(5 << 4 | LINK, 0, 0, 1, m.Hello(0x15, 1, 0, 0, 0, 64, 4, 0, 0).pack())
    c(fresh).receive(hello, 0)
    octets = c(fresh).data_to_send(0)
    assert octets[0] == 0
    assert all(len(chunk) <= 63 for chunk in octets.split(b"\0"))
    assert len(frames(octets)) == len([chunk for chunk in octets.split(b"\0") if chunk])
