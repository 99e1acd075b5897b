"""Events, actions, displays, texts and snapshots: chapters 6 to 11."""

from __future__ import annotations

from firmware_protocol import messages as m
from firmware_protocol.framing import DATA, Frame
from firmware_protocol.outgoing import display_digest, display_key
from firmware_protocol.paging import InfoReader, SnapshotReader, state_digest
from firmware_protocol.schema import Kind, Message
from firmware_protocol.vocabulary import (
    ActionKind,
    ActionState,
    Capability,
    InfoKey,
    Require,
    Result,
)
from tablectl.table.conformance.checks import trial
from tablectl.table.conformance.probe import SHORT, NotTried, Probe, demand

NO_SUCH_ACTION = 250
"""An action that no table has: it ends UNSUPPORTED, and nothing moves."""

ROLL_MOST = 15.0
"""Seconds for dice to settle."""

_next_cmd = [0]


def cmd_id(p: Probe) -> int:
    """An id this device has not had."""
    if not _next_cmd[0]:
        _next_cmd[0] = p.new_nonce() & 0x3FFFFFFF | 0x40000000
    _next_cmd[0] += 1
    return _next_cmd[0]


def _is_event(frame: Frame) -> bool:
    cls = m.SCHEMA.by_id.get(frame.message_id)
    return frame.type == DATA and cls is not None and cls.SPEC.kind is Kind.EVENT


def _result(p: Probe, number: int) -> m.ActionResult:
    return p.expect(m.ActionResult, fits=lambda r: r.cmd_id == number)


def _action(number: int, deadline: int = 0) -> m.Action:
    return m.Action(number, NO_SUCH_ACTION, 0, deadline, 0)


@trial("A-5", "B-2", "M-5", "E-1")
def action_ends(p: Probe) -> None:
    """An action that the table does not have ends once, with UNSUPPORTED."""
    p.open()
    number = cmd_id(p)
    p.send(_action(number))
    result = _result(p, number)
    demand(result.result == Result.UNSUPPORTED, f"it ended with {result.result}")
    demand(result.repeated == 0, "the first result says `repeated`")
    more = [f for f in p.all(SHORT) if f.message_id == m.ActionResult.SPEC.id]
    demand(not more, "it ended twice")


@trial("A-2")
def action_again(p: Probe) -> None:
    """An action that comes again is answered with its result and not done; the last eight are remembered."""
    p.open()
    numbers = [cmd_id(p) for _ in range(8)]
    for number in numbers:
        p.send(_action(number))
        _result(p, number)
    for number in (numbers[0], numbers[-1]):
        p.send(_action(number))
        result = _result(p, number)
        demand(result.repeated == 1, "it was done again: `repeated` is 0")
    p.open()
    p.send(_action(numbers[3]))
    demand(_result(p, numbers[3]).repeated == 1, "a new session made the device forget its actions")


@trial("A-4")
def action_late(p: Probe) -> None:
    """An action whose deadline has passed ends with EXPIRED."""
    p.open()
    p.send(m.TimeRequest(1, 0))
    uptime = p.expect(m.TimeReply).uptime_ms
    number = cmd_id(p)
    p.send(_action(number, (uptime - 20) & 0xFFFFFFFF or 1))
    result = _result(p, number)
    demand(result.result == Result.EXPIRED, f"it ended with {result.result}")


@trial("A-6", "H-10")
def action_fate(p: Probe) -> None:
    """ActionQuery is answered: UNKNOWN before, FINISHED with the result after, also in a new session."""
    p.open()
    number = cmd_id(p)
    for state in (ActionState.UNKNOWN, ActionState.FINISHED, ActionState.FINISHED):
        p.send(m.ActionQuery(number))
        status = p.expect(m.ActionStatus, fits=lambda s: s.cmd_id == number)
        demand(status.state == state, f"it says {status.state}, not {int(state)}")
        if state is ActionState.UNKNOWN:
            p.send(_action(number))
            _result(p, number)
            p.open()
        else:
            demand(status.result == Result.UNSUPPORTED, f"the result is {status.result}")


@trial("E-2", "E-3", "E-4", "E-7", "H-10")
def events_over_sessions(p: Probe) -> None:
    """Events are numbered one by one and kept over handshakes until acknowledged or told as known."""
    ack = p.open()
    p.acknowledging = False
    numbers = [cmd_id(p) for _ in range(3)]
    for number in numbers:
        p.send(_action(number))
    first = [f for f in p.all(0.4) if _is_event(f)]
    demand(first, "no event at all")
    held = list({p.event_no(f): f for f in first}.values())
    known = [p.event_no(f) for f in held]
    demand(known == list(range(known[0], known[0] + len(known))), f"event numbers {known}")
    p.open()
    p.acknowledging = False
    again = {p.event_no(f): f for f in p.all(0.4) if _is_event(f)}
    for frame in held:
        number = p.event_no(frame)
        demand(number in again, f"event {number} was not sent again in the new session")
        demand(again[number].payload == frame.payload, f"event {number} came back changed")
    if ack.boot_id == 0:
        p.open()
        p.all(0.5)
        return
    p.open(boot_id=ack.boot_id, event_no=known[0])
    after = [p.event_no(f) for f in p.all(0.5) if _is_event(f)]
    demand(known[0] not in after, "an event the host has already was sent again")
    demand(len(after) == len(set(after)), "an acknowledged event came again")
    demand(set(known[1:]) <= set(after), "events that the host does not have were dropped")


@trial("A-7", "L-20", "L-21")
def stop(p: Probe) -> None:
    """Stop ends with a result, and may be repeated."""
    p.open()
    number = cmd_id(p)
    p.send(m.Stop(number))
    result = _result(p, number)
    demand(result.result in {Result.DONE, Result.STOPPED}, f"it ended with {result.result}")


DISPLAYS: tuple[tuple[Capability, Message], ...] = (
    (Capability.HONBA_DISPLAY, m.SetHonba(3)),
    (Capability.ROUND_DISPLAY, m.SetRound(1, 2, 3)),
    (Capability.DEPOSITS_DISPLAY, m.SetDeposits(2)),
    (Capability.SCORE_DISPLAYS, m.SetScores((25000, 24000, 26000, 25000))),
    (Capability.DIFFERENCE_DISPLAYS, m.SetDifferences(1, (0, 100, -200, 300))),
    (Capability.LAMPS, m.SetLamps(1, 0)),
    (Capability.TEXT_DISPLAY, m.SetText(0, "東一局")),
)


@trial("D-6", "D-9")
def display_digests(p: Probe) -> None:
    """After every display was written, the Heartbeat's display_digest is that of the states in force."""
    ack = p.open()
    known: dict[tuple[int, int], bytes] = {}
    shown = [message for capability, message in DISPLAYS if ack.capabilities & capability]
    if not shown:
        raise NotTried("it has no display")
    for message in shown:
        known[display_key(message)] = message.pack()
        seq = p.send(message)
        _acknowledged(p, seq, message.SPEC.name)
    wanted = display_digest(known)
    p.expect(m.Heartbeat, 2.5)
    beat = p.expect(m.Heartbeat, 2.5)
    demand(
        beat.display_digest == wanted,
        f"display_digest is {beat.display_digest:04x}, {wanted:04x} is that of the states written "
        "(displays written before this test and not by it count too: restart the device and try again)",
    )


def _acknowledged(p: Probe, seq: int, what: str) -> None:
    p.wait(lambda f: f.ack == seq + 1, f"acknowledgement of {what}")


def _info(p: Probe, key: int) -> m.InfoPage:
    return p.expect(m.InfoPage, fits=lambda page: page.key == key)


@trial("S-1")
def texts(p: Probe) -> None:
    """Texts about the device come page by page; a page behind the end is empty."""
    p.open()
    for key in InfoKey:
        reader = InfoReader(key)
        for _ in range(20):
            p.send(reader.request)
            page = _info(p, key)
            demand(page.page < max(page.pages, 1), f"page {page.page} of {page.pages}")
            last = page.page == page.pages - 1
            demand(
                last or not page.pages or len(page.data) == 40, "a page before the last is not full"
            )
            if reader.feed(page):
                break
        demand(reader.text is not None, f"{key.name} does not end")
    p.send(m.InfoRequest(200, 0))
    nothing = _info(p, 200)
    demand(nothing.pages == 0, "a text that no device has, has pages")


@trial("S-2", "S-3", "S-4", "S-5")
def snapshot(p: Probe) -> None:
    """A snapshot comes page by page, each tile once, and its digest is the Heartbeat's."""
    p.open()
    reader = SnapshotReader()
    for _ in range(200):
        if reader.done:
            break
        p.send(reader.request)
        reader.feed(_page(p))
    demand(reader.done, "the snapshot does not end")
    assert reader.state is not None
    tags = [tile.tag for found in reader.tiles.values() for tile in found]
    demand(len(tags) == len(set(tags)), "a tile lies in two places")
    p.send(m.SnapshotRequest(reader.state.version ^ 0x55, 1))
    other = _page(p)
    demand(
        isinstance(other, m.SnapshotState),
        "a request for another version was not answered with page 0",
    )
    p.send(m.SnapshotRequest(reader.state.version, 250))
    other = _page(p)
    demand(
        isinstance(other, m.SnapshotState), "a page that is not there was not answered with page 0"
    )
    beat = p.expect(m.Heartbeat, 2.5)
    if beat.event_no != reader.state.version:
        raise NotTried(
            "the table was in use while its state was read: leave it alone and try again"
        )
    demand(
        beat.state_digest == state_digest(reader.state),
        f"state_digest is {beat.state_digest:04x}, that of its snapshot {state_digest(reader.state):04x}",
    )


def _page(p: Probe) -> m.SnapshotState | m.SnapshotTiles:
    found: list[m.SnapshotState | m.SnapshotTiles] = []

    def fits(frame: Frame) -> bool:
        message = p.message(frame)
        if isinstance(message, (m.SnapshotState, m.SnapshotTiles)):
            found.append(message)
        return bool(found)

    p.wait(fits, "page of the snapshot")
    return found[0]


@trial("B-1")
def precondition(p: Probe) -> None:
    """An action with preconditions that cannot hold together ends with REFUSED_PRECONDITION."""
    ack = p.open()
    if not ack.capabilities & Capability.BEEP:
        raise NotTried("it has no beeper, and anything else might move")
    number = cmd_id(p)
    p.send(m.Action(number, ActionKind.BEEP, 50, 0, Require.LID_DOWN | Require.LID_UP))
    result = _result(p, number)
    demand(result.result == Result.REFUSED_PRECONDITION, f"it ended with {result.result}")


def _roll(p: Probe) -> int:
    ack = p.open()
    if not p.moving:
        raise NotTried("it rolls the dice: allow it with --moving")
    if not ack.capabilities & Capability.DICE:
        raise NotTried("it has no dice")
    number = cmd_id(p)
    p.send(m.Action(number, ActionKind.ROLL, 0, 0, 0))
    p.expect(m.DiceRolling, fits=lambda roll: roll.cmd_id == number)
    return number


@trial("B-6")
def roll(p: Probe) -> None:
    """A roll is told by DiceRolling, DiceSettled and its ActionResult, in this order."""
    number = _roll(p)
    p.expect(m.DiceSettled, ROLL_MOST, fits=lambda dice: dice.cmd_id == number)
    result = _result(p, number)
    demand(result.result == Result.DONE, f"it ended with {result.result}")


@trial("B-4")
def stop_roll(p: Probe) -> None:
    """Stop ends a roll at once, with STOPPED."""
    number = _roll(p)
    p.send(m.Stop(cmd_id(p)))
    result = _result(p, number)
    demand(result.result == Result.STOPPED, f"it ended with {result.result}")


@trial("B-5")
def silent_roll(p: Probe) -> None:
    """When the host falls silent a roll ends, with STOPPED."""
    number = _roll(p)
    p.end()
    p.open()
    result = _result(p, number)
    if result.result == Result.DONE:
        raise NotTried("its roll takes less than half a second")
    demand(result.result == Result.STOPPED, f"it ended with {result.result}")


@trial("E-2", "L-18", "B-7")
def many_events(p: Probe) -> None:
    """TestEmit is obeyed in test mode only; a series of forty TestEvent comes whole and in order."""
    ack = p.open()
    if not ack.capabilities & Capability.TEST:
        raise NotTried("it has no test mode")
    p.send(m.SetTestMode(0))
    p.send(m.TestEmit(1, 0))
    early = [f for f in p.all(SHORT) if f.message_id == m.TestEvent.SPEC.id]
    demand(not early, "it obeyed TestEmit outside test mode")
    p.send(m.SetTestMode(1))
    p.send(m.TestEmit(40, 0))
    seen: dict[int, int] = {}
    while len(seen) < 40:
        frame = p.wait(lambda f: f.message_id == m.TestEvent.SPEC.id, m.TestEvent.SPEC.name, 2.0)
        message = p.message(frame)
        if isinstance(message, m.TestEvent):
            # A frame comes again when our acknowledgement was late (L-9): the same event, not another one.
            seen.setdefault(p.event_no(frame), message.number)
    numbers = list(seen.values())
    p.send(m.SetTestMode(0))
    p.all(0.1)
    demand(numbers == list(range(40)), f"they came as {numbers}")
