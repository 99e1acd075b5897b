"""Old against new: peers one minor apart play with what both know; another major is refused with both versions."""

from __future__ import annotations

import dataclasses

import pytest

from firmware_protocol import messages as m
from firmware_protocol.deliveries import Delivery, Item, LinkRefused, LinkUp, State
from firmware_protocol.errors import NotSpoken
from firmware_protocol.link import Link
from firmware_protocol.messages import SCHEMA, TO_DEVICE, TO_HOST
from firmware_protocol.schema import Kind, Message, Schema, listing, message, text, u8, u16
from firmware_protocol.timing import SECOND
from firmware_protocol.vocabulary import ActionKind, Button, Press, Result
from tests.wire.ends import Ends, nonces, of, reliable


@message(0x3B, Kind.EVENT, TO_HOST, since=1)
class HandWave(Message):
    """An event of the next minor, in the place of one that this schema does not have."""

    seat: int = u8("seat")


@message(0x34, Kind.EVENT, TO_HOST)
class DiceSettled(Message):
    """DiceSettled with two appended fields."""

    a: int = u8("first die", lo=1, hi=6)
    b: int = u8("second die", lo=1, hi=6)
    manual: int = u8("by hand", hi=1)
    cmd_id: int = dataclasses.field(
        default=0, metadata=dataclasses.fields(m.DiceSettled)[3].metadata
    )
    spins: int = u16("turns before they lay still", since=1, default=0)
    maker: str = text("who made the dice", most=8, since=1, default="?")


@message(0x37, Kind.EVENT, TO_HOST)
class TileEvent(Message):
    """TileEvent with an appended field behind a list."""

    zone: int = u8("kind << 4 | seat")
    reader: int = u8("number of the reader")
    tiles: tuple[m.TileSight, ...] = listing(m.TileSight, "sightings", most=4)
    antenna: int = u8("antenna", since=1, default=99)


@message(0x58, Kind.SET, TO_DEVICE, since=1)
class SetMood(Message):
    """A display of the next minor."""

    mood: int = u8("mood")


@message(0x7E, Kind.BULK, TO_DEVICE, since=1)
class SetMoodNow(Message):
    """A command of the next minor."""

    mood: int = u8("mood")


def newer() -> Schema:
    """This version one minor on, made from the declaration."""
    replaced = {cls.SPEC.id: cls for cls in (DiceSettled, TileEvent, HandWave, SetMood, SetMoodNow)}
    kept = [cls for cls in SCHEMA if cls.SPEC.id not in replaced]
    return Schema(m.MAJOR, m.MINOR + 1, [*kept, *replaced.values()])


def play(host: Schema, device: Schema) -> tuple[Ends, list[Message], list[Message]]:
    """A hand's worth of traffic: what the host got and what the device got."""
    ends = Ends(
        Link.host(0, nonce=nonces(), schema=host),
        Link.device(0, boot_id=5, capabilities=0, schema=device),
    )

    def obey(link: Link, item: Item, now: int) -> None:
        if not isinstance(item, Delivery):
            return
        link.accept(item)
        if isinstance(item.message, m.Action):
            dice = device.by_id[0x34]
            link.send(dice(3, 4, 0, item.message.cmd_id), now)  # type: ignore[call-arg]  # of either schema
            link.finish(item.message.cmd_id, Result.DONE, 0, now)

    ends.on_item = obey
    ends.connect()
    ends.device.send(m.ButtonEvent(button=Button.START, seat=255, press=Press.PRESSED), ends.now)
    sight = m.TileSight(slot=1, flags=1, signal=9, tag=77)
    ends.device.send(device.by_id[0x37](0x21, 1, (sight,)), ends.now)  # type: ignore[call-arg]  # of either schema
    if device.minor > m.MINOR:
        ends.device.send(HandWave(seat=2), ends.now)
    ends.device.send(m.RiichiSlot(seat=1, present=1), ends.now)
    ends.host.send(m.Action(1, ActionKind.ROLL, 0, 0, 0), ends.now)
    ends.host.show(m.SetHonba(honba=2))
    if host.minor > m.MINOR:
        ends.host.show(SetMood(mood=1))
    assert ends.run(
        20 * SECOND, until=lambda: ends.host.idle and ends.device.idle and ends.now > SECOND
    )
    return ends, reliable(ends.items["host"]), reliable(ends.items["device"])


def names(messages: list[Message]) -> list[str]:
    """Names of messages."""
    return [x.SPEC.name for x in messages]


PLAYED = ["ButtonEvent", "TileEvent", "RiichiSlot", "DiceSettled", "ActionResult"]


def test_an_older_device_plays_with_a_newer_host() -> None:
    ends, host_got, device_got = play(newer(), SCHEMA)
    assert ends.host.minor == ends.device.minor == m.MINOR
    assert names(host_got) == PLAYED
    assert host_got[1] == TileEvent(0x21, 1, (m.TileSight(1, 1, 9, 77),), antenna=99)
    assert host_got[3] == DiceSettled(3, 4, 0, 1, spins=0, maker="?")
    assert names(device_got) == ["Action", "SetHonba"]
    with pytest.raises(NotSpoken):
        ends.host.send(SetMoodNow(mood=1), ends.now)
    (up,) = of(ends.items["host"], LinkUp)
    assert not up.schema_differs  # minors differ: nothing odd about the hash


def test_a_newer_device_plays_with_an_older_host() -> None:
    ends, host_got, device_got = play(SCHEMA, newer())
    assert names(host_got) == PLAYED
    assert host_got[3] == m.DiceSettled(3, 4, 0, 1)
    assert names(device_got) == ["Action", "SetHonba"]
    assert ends.device.stats.not_spoken == 1
    assert ends.host.stats.unknown == ends.host.stats.malformed == 0


def test_two_newer_ends_use_all_of_it() -> None:
    _, host_got, device_got = play(newer(), newer())
    assert names(host_got) == [*PLAYED[:2], "HandWave", *PLAYED[2:]]
    assert sorted(names(device_got)) == ["Action", "SetHonba", "SetMood"]


def test_another_major_is_refused_naming_both_versions() -> None:
    future = Schema(m.MAJOR + 1, 4, list(SCHEMA))
    ends = Ends(
        Link.host(0, nonce=nonces()),
        Link.device(0, boot_id=5, capabilities=0, schema=future, version=0x03010000),
    )
    ends.host.connect(0)
    ends.run(3 * SECOND)
    assert ends.host.state is State.REFUSED
    assert ends.device.state is State.REFUSED
    (at_host,) = of(ends.items["host"], LinkRefused)
    assert (at_host.ours, at_host.theirs, at_host.firmware) == (str(SCHEMA), str(future), "3.1.0")
    assert of(ends.items["device"], LinkRefused)[0].theirs == str(SCHEMA)
    assert not of(ends.items["host"], LinkUp)
    flashed = Link.device(ends.now, boot_id=6, capabilities=0)
    ends.device = flashed
    ends.connect()  # after flashing it works, without anything to restart


def test_an_older_schema_is_the_part_that_was_there() -> None:
    assert {c.SPEC.name for c in newer()} - {c.SPEC.name for c in newer().only(m.MINOR)} == {
        "HandWave",
        "SetMood",
        "SetMoodNow",
    }
    assert newer().hash != SCHEMA.hash
