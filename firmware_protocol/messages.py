"""All messages, declared once (SPEC chapter 6). Codec, C header, tables and vectors come from these classes.

Reading guide. Directions are seen from the table: TO_HOST is sent by the device. An EVENT's payload starts with
`event_no` u32 and `uptime_ms` u32, which the link adds and removes (`Delivery.event_no`, `Delivery.uptime_ms`): the classes
hold the body only. Enumerations are in `vocabulary`; unknown numbers pass through. No message names a tile.
"""

from __future__ import annotations

from firmware_protocol import vocabulary as v
from firmware_protocol.schema import (
    Direction,
    Kind,
    Message,
    Record,
    Schema,
    i16,
    i32,
    listing,
    message,
    octets,
    record,
    text,
    u8,
    u16,
    u32,
    u64,
)

TO_HOST, TO_DEVICE, BOTH = Direction.TO_HOST, Direction.TO_DEVICE, Direction.BOTH

EVENT_HEADER = 8
"""Octets of event_no and uptime_ms in front of an event's body."""

# --------------------------------------------------------------------------- handshake (frozen across majors, SPEC V-2)


@message(0x01, Kind.LINK, TO_DEVICE)
class Hello(Message):
    """The host opens a link: both ends start over at sequence number 0."""

    nonce: int = u32("drawn anew for each attempt at a new link; its low 4 bits are the session")
    major: int = u8("protocol major of the host")
    minor: int = u8("protocol minor of the host")
    schema_hash: int = u32("CRC-32 of the host's canonical schema")
    version: int = u32(
        "software version of the host, one octet each of major, minor, patch, 0 from the top"
    )
    max_frame: int = u8(
        "longest frame the host takes, delimiter included", unit="octets", lo=16, hi=64
    )
    window: int = u8("frames the host takes unacknowledged", lo=1, hi=4)
    boot_id: int = u32("boot_id of the device as the host knows it, 0 when it knows none")
    event_no: int = u32("last event of that boot which the host has accepted, 0 when none")


@message(0x02, Kind.LINK, TO_HOST)
class HelloAck(Message):
    """The device answers: who it is, and that it starts over too."""

    nonce: int = u32("the nonce of the Hello it answers")
    major: int = u8("protocol major of the device")
    minor: int = u8("protocol minor of the device")
    schema_hash: int = u32("CRC-32 of the device's canonical schema")
    version: int = u32("firmware version, one octet each of major, minor, patch, 0 from the top")
    boot_id: int = u32("differs for each start of the device; 0 when it cannot tell")
    reset_cause: int = u8("why the device started", values=v.ResetCause)
    capabilities: int = u32("what the table has", values=v.Capability)
    max_frame: int = u8(
        "longest frame the device takes, delimiter included", unit="octets", lo=16, hi=64
    )
    window: int = u8("frames the device takes unacknowledged", lo=1, hi=4)
    uptime_ms: int = u32("time since start, wraps", unit="ms")
    event_no: int = u32("last event_no given, 0 before the first")
    held: int = u8("events the device keeps unacknowledged and will send again")


@message(0x03, Kind.LINK, TO_HOST)
class Announce(Message):
    """The device has no link and asks for a Hello; sent at start and each second until one comes."""

    major: int = u8("protocol major of the device")
    minor: int = u8("protocol minor of the device")
    version: int = u32("firmware version, as in HelloAck")
    boot_id: int = u32("as in HelloAck")
    reset_cause: int = u8("as in HelloAck", values=v.ResetCause)
    uptime_ms: int = u32("time since start, wraps", unit="ms")


# --------------------------------------------------------------------------- datagrams


@message(0x10, Kind.DATAGRAM, TO_HOST)
class Heartbeat(Message):
    """Once a second: the device lives, and digests of what it believes."""

    uptime_ms: int = u32("time since start, wraps", unit="ms")
    boot_id: int = u32("as in HelloAck")
    event_no: int = u32("last event_no included in the digests")
    cmd_id: int = u32("last action included in the digests, 0 before the first")
    state_digest: int = u16("CRC-16 of a SnapshotState behind its first two fields")
    display_digest: int = u16("CRC-16 of all desired states in force")
    status: int = u16("flags", values=v.Status)
    events_held: int = u8("events in the device's buffer")


@message(0x11, Kind.DATAGRAM, TO_DEVICE)
class Watchdog(Message):
    """Once a second: the host lives. Without any valid frame for `timeout_ms` the device stops motions and drops the link."""

    timeout_ms: int = u16("silence after which the host counts as gone", unit="ms", lo=500)


@message(0x12, Kind.DATAGRAM, TO_DEVICE)
class TimeRequest(Message):
    """Asks for the device's clock and tells the host's."""

    token: int = u32("comes back in the reply")
    unix_s: int = u32(
        "wall clock of the host in seconds since 1970, 0 when it is not synchronised", unit="s"
    )


@message(0x13, Kind.DATAGRAM, TO_HOST)
class TimeReply(Message):
    """The device's clock, read when the request was read."""

    token: int = u32("token of the request")
    uptime_ms: int = u32("time since start, wraps", unit="ms")


# --------------------------------------------------------------------------- information, state, log, figures


@message(0x20, Kind.BULK, TO_DEVICE)
class InfoRequest(Message):
    """Asks for one page of a text about the device."""

    key: int = u8("which text", values=v.InfoKey)
    page: int = u8("page, from 0")


@message(0x21, Kind.BULK, TO_HOST)
class InfoPage(Message):
    """One page of a text; pages joined are UTF-8. A text that the device lacks has 0 pages."""

    key: int = u8("which text", values=v.InfoKey)
    page: int = u8("this page, from 0")
    pages: int = u8("how many pages the text has")
    data: bytes = octets("octets of the text; a character may be split over pages", most=40)


@message(0x22, Kind.BULK, TO_DEVICE)
class SnapshotRequest(Message):
    """Asks for one page of the device's state. Page 0 of version 0 starts a snapshot."""

    version: int = u32("version of the pages read so far, 0 with page 0")
    page: int = u8("page, from 0")


@message(0x23, Kind.BULK, TO_HOST)
class SnapshotState(Message):
    """Page 0: all that is not tiles. What follows `pages` is what the state digest covers."""

    version: int = u32("event_no of the last event included")
    pages: int = u8("pages of this snapshot, this one included", lo=1)
    lid: int = u8("the lid", values=v.Phase)
    walls: tuple[int, int, int, int] = u8("the four sides", values=v.Phase, count=4)
    locked: int = u8("1 when the table is locked", hi=1)
    riichi: int = u8("riichi slots, bit n = a stick in the slot of seat n", hi=15)
    trays: tuple[int, ...] = u8(
        "sticks per seat and denomination 10000, 5000, 1000, 500, 100", count=20
    )
    fault: int = u8("1 when a motor or a jam keeps the table from moving", hi=1)


@record
class TileAt(Record):
    """A tile that lies somewhere now."""

    slot: int = u8("position in the zone, 255 unknown")
    flags: int = u8("as in TileSight", values=v.Sight)
    tag: int = u64("tag of the tile")


@message(0x24, Kind.BULK, TO_HOST)
class SnapshotTiles(Message):
    """A page of tiles in one zone. A request with an outdated version is answered with page 0 of a new one."""

    version: int = u32("event_no of the last event included")
    page: int = u8("this page, from 1", lo=1)
    zone: int = u8("kind << 4 | seat", values=v.ZoneKind)
    reader: int = u8("reader that sees them")
    tiles: tuple[TileAt, ...] = listing(TileAt, "tiles", most=4)


@message(0x25, Kind.BULK, TO_HOST)
class LogText(Message):
    """A line of the device's log."""

    level: int = u8("severity", values=v.LogLevel)
    text: str = text("the line", most=48)


@message(0x26, Kind.BULK, TO_DEVICE)
class StatsRequest(Message):
    """Asks for the device's figures."""


@message(0x27, Kind.BULK, TO_HOST)
class Stats(Message):
    """Figures of the device since its start."""

    frames_received: int = u32("valid frames")
    frames_sent: int = u32("frames written")
    retransmits: int = u32("frames written again")
    crc_errors: int = u32("frames with a wrong CRC")
    noise: int = u32("octets that were no frame", unit="octets")
    links: int = u16("handshakes done")
    events_lost: int = u16("events that found no room")
    buffer_high: int = u8("most events held at once")
    actions: int = u32("actions executed")
    free_memory: int = u16(
        "smallest free stack or heap seen, 65535 when not measured", unit="octets"
    )


@message(0x28, Kind.BULK, TO_DEVICE)
class TestEcho(Message):
    """Asks for the same octets back: the conformance test's probe. Every device answers it."""

    token: int = u32("comes back")
    data: bytes = octets("any octets", most=48)


@message(0x29, Kind.BULK, TO_HOST)
class TestEchoReply(Message):
    """The octets of a TestEcho."""

    token: int = u32("token of the request")
    data: bytes = octets("octets of the request", most=48)


@message(0x2A, Kind.BULK, TO_DEVICE)
class TestEmit(Message):
    """Asks for a series of TestEvent; obeyed in test mode only."""

    count: int = u16("how many")
    interval_ms: int = u16("time between them, 0 as fast as the window allows", unit="ms")


# --------------------------------------------------------------------------- events


@message(0x30, Kind.EVENT, TO_HOST)
class ButtonEvent(Message):
    """A button was pressed or released."""

    button: int = u8("which", values=v.Button)
    seat: int = u8("seat 0–3, 255 the table")
    press: int = u8("what happened", values=v.Press)


@message(0x31, Kind.EVENT, TO_HOST)
class LidEvent(Message):
    """The lid (centre plate) changed its phase."""

    phase: int = u8("new phase", values=v.Phase)
    jam: int = u8("why it stopped, 0 when it did not", values=v.Jam)
    cmd_id: int = u32("action that caused it, 0 none")


@message(0x32, Kind.EVENT, TO_HOST)
class WallEvent(Message):
    """A wall, or all four, changed phase."""

    side: int = u8("side 0–3, 255 all four")
    phase: int = u8("new phase", values=v.Phase)
    jam: int = u8("why it stopped, 0 when it did not", values=v.Jam)
    cmd_id: int = u32("action that caused it, 0 none")


@message(0x33, Kind.EVENT, TO_HOST)
class DiceRolling(Message):
    """The machine rolls its dice."""

    cmd_id: int = u32("action that caused it, 0 a button")


@message(0x34, Kind.EVENT, TO_HOST)
class DiceSettled(Message):
    """The dice lie still."""

    a: int = u8("first die", lo=1, hi=6)
    b: int = u8("second die", lo=1, hi=6)
    manual: int = u8(
        "1 when people rolled by hand and the machine read or was told the values", hi=1
    )
    cmd_id: int = u32("action that caused it, 0 a button or a hand")


@message(0x35, Kind.EVENT, TO_HOST)
class StickTray(Message):
    """What lies in a seat's point-stick tray."""

    seat: int = u8("seat", hi=3)
    sticks: tuple[int, int, int, int, int] = u8("sticks of 10000, 5000, 1000, 500, 100", count=5)
    fault: int = u8("why the counts may be wrong", values=v.StickFault)


@message(0x36, Kind.EVENT, TO_HOST)
class RiichiSlot(Message):
    """A stick came into, or left, a seat's riichi slot."""

    seat: int = u8("seat", hi=3)
    present: int = u8("1 a stick lies there", hi=1)


@record
class TileSight(Record):
    """A tile appeared in a zone or vanished from it."""

    slot: int = u8("position in the zone, 255 unknown")
    flags: int = u8("appeared or vanished; orientation when known", values=v.Sight)
    signal: int = u8("strength of the reading, 0 unknown, 255 best")
    tag: int = u64("tag of the tile: ISO 15693 UID, or any number unique among the table's sets")


@message(0x37, Kind.EVENT, TO_HOST)
class TileEvent(Message):
    """Tiles appeared or vanished in one zone, in the order seen."""

    zone: int = u8("kind << 4 | seat", values=v.ZoneKind)
    reader: int = u8("number of the reader")
    tiles: tuple[TileSight, ...] = listing(TileSight, "sightings", most=4)


@message(0x38, Kind.EVENT, TO_HOST)
class TileCountFault(Message):
    """A set does not have the number of tiles it should have; counted = expected clears the fault."""

    tile_set: int = u8("set 0 or 1", hi=1)
    expected: int = u8("tiles it should have")
    counted: int = u8("tiles counted")


@message(0x39, Kind.EVENT, TO_HOST)
class Temperature(Message):
    """A temperature crossed a limit or moved by 5 °C."""

    sensor: int = u8("number of the sensor")
    decidegrees: int = i16("temperature", unit="0.1 °C")
    limit: int = u8("0 fine, 1 warm, 2 too hot", hi=2)


@message(0x3A, Kind.EVENT, TO_HOST)
class MotorFaultEvent(Message):
    """A motor failed or recovered."""

    motor: int = u8("which", values=v.Motor)
    fault: int = u8("what is wrong, 0 recovered", values=v.MotorFault)
    decidegrees: int = i16("its temperature, -32768 when not measured", unit="0.1 °C")


@message(0x3B, Kind.EVENT, TO_HOST)
class SeatRoulette(Message):
    """The machine's seat draw pointed at a seat."""

    seat: int = u8("seat drawn", hi=3)


@message(0x3C, Kind.EVENT, TO_HOST)
class LockEvent(Message):
    """The table was locked or unlocked."""

    locked: int = u8("1 locked", hi=1)
    cmd_id: int = u32("action that caused it, 0 the table itself")


@message(0x3D, Kind.EVENT, TO_HOST)
class TestEvent(Message):
    """One of a series asked by TestEmit, or the outcome of a TEST action."""

    __test__ = False  # not a test class, whatever a test collector thinks of its name

    number: int = u32("0, 1, 2, … within the series; number of the test for a TEST action")
    value: int = i32("test value")


@message(0x3E, Kind.EVENT, TO_HOST)
class ActionResult(Message):
    """An action ended. Sent again with `repeated` when its cmd_id comes a second time."""

    cmd_id: int = u32("which action")
    result: int = u8("how it ended", values=v.Result)
    detail: int = u16("jam code, motor, or value of the action")
    repeated: int = u8("1 when the action had ended earlier and was not done again", hi=1)


@message(0x3F, Kind.EVENT, TO_HOST)
class EventsLost(Message):
    """The event buffer was full: this many events have no number and are gone; read a snapshot."""

    count: int = u16("how many, 65535 at least that many", lo=1)


# --------------------------------------------------------------------------- displays: desired states


@message(0x50, Kind.SET, TO_DEVICE)
class SetRound(Message):
    """Round display: prevailing wind, number of the hand, dealer."""

    wind: int = u8("prevailing wind", values=v.Wind, hi=3)
    number: int = u8("1–4", lo=1, hi=4)
    dealer: int = u8("seat of the dealer", hi=3)


@message(0x51, Kind.SET, TO_DEVICE)
class SetHonba(Message):
    """Honba display."""

    honba: int = u8("counters")


@message(0x52, Kind.SET, TO_DEVICE)
class SetDeposits(Message):
    """Deposits display."""

    deposits: int = u8("riichi sticks on the table")


@message(0x53, Kind.SET, TO_DEVICE)
class SetScores(Message):
    """The four score displays."""

    scores: tuple[int, int, int, int] = i32("what the display of seats 0–3 shows", count=4)


@message(0x54, Kind.SET, TO_DEVICE, keyed=True)
class SetDifferences(Message):
    """The difference display of one seat; each seat is a display of its own."""

    seat: int = u8("whose display", hi=3)
    differences: tuple[int, int, int, int] = i32("what it shows for seats 0–3", count=4)


@message(0x55, Kind.SET, TO_DEVICE)
class SetLamps(Message):
    """All lamps at once."""

    on: int = u32("lamps that shine", values=v.Lamp)
    blink: int = u32("those of them that blink", values=v.Lamp)


@message(0x56, Kind.SET, TO_DEVICE, keyed=True)
class SetText(Message):
    """A text display; each display number is a display of its own."""

    display: int = u8("number of the display")
    text: str = text("what it shows", most=40)


@message(0x57, Kind.SET, TO_DEVICE)
class SetTestMode(Message):
    """Test mode on or off; off at start. In test mode no motion is started by a button."""

    on: int = u8("1 on", hi=1)


# --------------------------------------------------------------------------- actions


@message(0x70, Kind.ACTION, TO_DEVICE)
class Action(Message):
    """Do something once. The outcome is an ActionResult with the same cmd_id."""

    cmd_id: int = u32("never used before for this table, not 0", lo=1)
    action: int = u8("what to do", values=v.ActionKind)
    arg: int = u16("BEEP: duration in ms; TEST: number of the test; else 0")
    deadline_ms: int = u32("device uptime after which it is not started, 0 none", unit="ms")
    require: int = u8("preconditions", values=v.Require)


@message(0x71, Kind.URGENT, TO_DEVICE)
class Stop(Message):
    """Stop all motion at once; running actions end with STOPPED. May be repeated."""

    cmd_id: int = u32("never used before for this table, not 0", lo=1)


@message(0x72, Kind.BULK, TO_DEVICE)
class ActionQuery(Message):
    """Asks the fate of an action."""

    cmd_id: int = u32("which", lo=1)


@message(0x73, Kind.BULK, TO_HOST)
class ActionStatus(Message):
    """The fate of an action as far as the device remembers (its last 8)."""

    cmd_id: int = u32("which")
    state: int = u8("what the device knows", values=v.ActionState)
    result: int = u8("how it ended, when FINISHED", values=v.Result)
    detail: int = u16("as in ActionResult")


MAJOR, MINOR = 1, 0

SCHEMA = Schema(
    MAJOR,
    MINOR,
    [value for value in list(globals().values())
     if isinstance(value, type) and issubclass(value, Message) and value is not Message],
)  # fmt: skip
"""The protocol as this package speaks it."""
