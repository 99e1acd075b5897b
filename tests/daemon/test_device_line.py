"""The ASCII line driver, without I/O on a clock of our own: what a twenty-line sketch gets."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from firmware_protocol import messages as m
from firmware_protocol.vocabulary import ActionKind, Capability
from tablectl.table.drivers import (
    AskUnsettled,
    DriverContext,
    KnownBoot,
    MarkSent,
    Motion,
    Output,
    ReportFact,
    Say,
    SettleMotion,
    Standing,
    make_driver,
)
from tablectl.table.errors import DriverError
from tablectl.table.line import BOUNCE, HELLO_EVERY, LineDevice
from tablectl.table.options import PortOptions, TableOptions

SECOND = 1_000_000
DOC = Path(__file__).resolve().parent.parent.parent / "docs" / "table.md"


class Desk:
    """A line device with somebody who does what it asks."""

    def __init__(self, *unsettled: Motion) -> None:
        options = TableOptions("t1", PortOptions("/dev/null"), driver="line")
        driver = make_driver(DriverContext(options, KnownBoot(), lambda: 1, lambda: 0))
        assert isinstance(driver, LineDevice)
        self.driver = driver
        self.now = 0
        self.unsettled = unsettled
        self.outputs: list[Output] = []
        self.driver.opened(self.now)
        self.turn()

    def turn(self) -> None:
        while outputs := self.driver.take():
            for output in outputs:
                self.outputs.append(output)
                answer = self.unsettled if isinstance(output, AskUnsettled) else ()
                self.driver.done(output, self.now, answer)

    def hear(self, text: str) -> None:
        self.driver.receive(text.encode("latin-1"), self.now)
        self.turn()

    def wait(self, micros: int) -> None:
        self.now += micros
        self.driver.poll(self.now)
        self.turn()

    def written(self) -> list[str]:
        self.driver.poll(self.now)
        self.turn()
        return self.driver.data_to_send(self.now).decode("ascii").splitlines()

    def facts(self) -> list[object]:
        return [o.fact.message for o in self.outputs if isinstance(o, ReportFact)]

    def stands(self) -> list[str]:
        return [o.stand for o in self.outputs if isinstance(o, Standing)]

    def settled(self) -> dict[int, str]:
        return {o.cmd_id: o.state for o in self.outputs if isinstance(o, SettleMotion)}


def lift(cmd_id: int, deadline_ms: int | None = 15_000) -> Motion:
    return Motion(cmd_id, m.Action(cmd_id, ActionKind.LIFT, 0, 0, 0), deadline_ms)


def test_hello_is_asked_until_any_line_comes() -> None:
    desk = Desk()
    assert desk.written() == ["HELLO tablectl"]
    assert desk.written() == []
    desk.wait(HELLO_EVERY)
    assert desk.written() == ["HELLO tablectl"]
    assert desk.stands() == ["handshake"]
    desk.hear("START\r\n")
    assert desk.stands() == ["handshake", "resync", "up"]
    desk.wait(HELLO_EVERY)
    assert "HELLO tablectl" not in desk.written()


def test_hello_tells_what_the_board_has() -> None:
    desk = Desk()
    desk.hear("HELLO My-Table lift honba scores\n")
    up = next(o for o in desk.outputs if isinstance(o, Standing) and o.stand == "up")
    assert up.device is not None
    assert up.device.model == "My-Table"
    assert up.device.level == "basic"
    assert not up.device.reliable
    assert any("nothing is acknowledged" in warning for warning in up.warnings)
    has = Capability(up.device.capabilities)
    assert has & Capability.LIFT
    assert has & Capability.SCORE_DISPLAYS
    assert not has & Capability.ROUND_DISPLAY


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("START", m.ButtonEvent(1, 255, 1)),
        ("start 2", m.ButtonEvent(1, 2, 1)),
        ("DICE 3 4", m.DiceSettled(3, 4, 0, 0)),
        ("  Dice   6 1 ", m.DiceSettled(6, 1, 0, 0)),
        ("WALLS UP", m.WallEvent(255, 3, 0, 0)),
        ("WALLS DOWN", m.WallEvent(255, 1, 0, 0)),
        ("LID OPEN", m.LidEvent(3, 0, 0)),
        ("LID CLOSED", m.LidEvent(1, 0, 0)),
    ],
)
def test_a_line_is_a_fact(line: str, message: object) -> None:
    desk = Desk()
    desk.hear(line + "\n")
    assert desk.facts() == [message]
    fact = next(o for o in desk.outputs if isinstance(o, ReportFact)).fact
    assert (fact.boot_id, fact.event_no, fact.uptime_ms) == (None, None, None)


@pytest.mark.parametrize(
    "line",
    [
        "DICE 0 7",
        "DICE 3",
        "DICE x y",
        "START 4",
        "START x",
        "WALLS",
        "LID AJAR",
        "OK",
        "OK x",
        "ets Jun  8 2016",
    ]
    + ["\xff\xfe", "DICE 3 4" + "4" * 100, "HONBA 2"],
)
def test_a_line_that_says_nothing_is_noted_and_no_more(line: str) -> None:
    desk = Desk()
    desk.hear(line + "\n")
    assert desk.facts() == []
    assert desk.stands() == ["handshake"]
    if len(line) < 80:
        assert any(isinstance(o, Say) and "not understood" in o.text for o in desk.outputs)
        assert desk.driver.figures["lines_unknown"] == 1
    desk.hear("DICE 1 2\n")
    assert desk.facts() == [m.DiceSettled(1, 2, 0, 0)]


def test_lines_may_come_in_any_pieces() -> None:
    desk = Desk()
    for character in "DICE 2 5\r\nSTART\rDICE 1 1\n":
        desk.hear(character)
    assert len(desk.facts()) == 3


def test_a_bouncing_button_is_one_press() -> None:
    desk = Desk()
    desk.hear("START\nSTART\n")
    desk.wait(BOUNCE - 1)
    desk.hear("START\n")
    assert len(desk.facts()) == 1
    desk.wait(BOUNCE)
    desk.hear("START\n")
    assert len(desk.facts()) == 2


def test_displays_are_written_when_they_change_and_again_every_ten_seconds() -> None:
    desk = Desk()
    desk.driver.desire([m.SetHonba(2), m.SetRound(0, 3, 1), m.SetDeposits(1)], desk.now)
    desk.written()
    desk.hear("HELLO board honba round\n")
    assert desk.written() == ["HONBA 2", "ROUND E 3"]
    desk.driver.desire([m.SetHonba(3), m.SetRound(0, 3, 1)], desk.now)
    assert desk.written() == ["HONBA 3"]
    desk.driver.desire([m.SetHonba(3)], desk.now)
    assert desk.written() == []
    desk.wait(10 * SECOND)
    assert desk.written() == ["HONBA 3", "ROUND E 3"]
    assert desk.driver.next_deadline == desk.now + 10 * SECOND


def test_a_board_that_says_hello_again_has_started_anew() -> None:
    desk = Desk()
    desk.hear("HELLO board honba lift\n")
    desk.driver.desire([m.SetHonba(5)], desk.now)
    desk.driver.command(lift(7), desk.now)
    desk.turn()
    assert desk.written() == ["HONBA 5", "LIFT 7"]
    desk.hear("HELLO board honba lift\n")
    assert desk.written() == ["HONBA 5"]
    assert desk.settled() == {7: "unknown"}
    assert [o.reset for o in desk.outputs if isinstance(o, Standing) and o.stand == "resync"] == [
        False,
        True,
    ]


def test_a_motion_is_marked_then_written_once_then_settled_by_its_answer() -> None:
    desk = Desk()
    desk.hear("HELLO board lift\n")
    for cmd_id in (1, 2, 3):
        desk.driver.command(lift(cmd_id), desk.now)
        desk.turn()
    assert [o.cmd_id for o in desk.outputs if isinstance(o, MarkSent)] == [1, 2, 3]
    assert desk.written() == ["LIFT 1", "LIFT 2", "LIFT 3"]
    desk.hear("OK 1\nNO 2\nOK 99\n")
    assert desk.settled() == {1: "done", 2: "refused"}
    desk.wait(20 * SECOND)
    assert desk.settled() == {1: "done", 2: "refused", 3: "unknown"}
    assert desk.written() == []


def test_a_motion_the_board_cannot_do_or_comes_too_late_is_refused() -> None:
    desk = Desk()
    desk.hear("HELLO board honba\n")
    desk.driver.command(lift(1), desk.now)
    desk.turn()
    assert desk.settled() == {1: "refused"}
    desk.hear("HELLO board lift\n")
    desk.driver.command(lift(2, deadline_ms=-1), desk.now)
    desk.turn()
    assert desk.settled() == {1: "refused", 2: "refused"}
    assert not [line for line in desk.written() if line.startswith("LIFT")]


def test_motions_from_before_are_unknown_and_not_sent_again() -> None:
    desk = Desk(lift(5), lift(6))
    desk.hear("HELLO board lift\n")
    assert desk.settled() == {5: "unknown", 6: "unknown"}
    assert not [line for line in desk.written() if line.startswith("LIFT")]


def test_what_was_under_way_when_the_port_went_is_unknown() -> None:
    desk = Desk()
    desk.hear("HELLO board lift\n")
    desk.driver.command(lift(5), desk.now)
    desk.turn()
    desk.driver.closed(desk.now)
    desk.turn()
    assert desk.settled() == {5: "unknown"}
    assert desk.driver.next_deadline is None
    desk.driver.opened(desk.now)
    assert desk.written() == ["HELLO tablectl"]


def test_a_driver_that_is_not_installed_is_named_with_those_that_are() -> None:
    options = TableOptions("t1", PortOptions("/dev/null"), driver="acme")
    with pytest.raises(DriverError, match="framed, line") as caught:
        make_driver(DriverContext(options, KnownBoot(), lambda: 1, lambda: 0))
    assert caught.value.code == "driver"
    assert caught.value.name == "acme"


def test_the_sketch_in_the_documents_says_what_we_understand() -> None:
    """Its strings are fed to the driver; what we write is found in its parser."""
    found = re.search(r"```cpp\n(.*?)```", DOC.read_text("utf-8"), re.DOTALL)
    assert found is not None
    sketch = found[1]
    code = [
        line for line in sketch.splitlines() if line.strip() and not line.strip().startswith("//")
    ]
    assert len(code) <= 20
    said = re.findall(r'Serial\.print(?:ln)?\("([^"]+)"\)', sketch)
    assert any(text.startswith("HELLO ") for text in said)
    desk = Desk()
    for text in said:
        if text.startswith("DICE"):
            text = "DICE 3 4"
        desk.hear(text + "\n")
        desk.wait(BOUNCE)
    assert desk.driver.figures["lines_unknown"] == 0
    assert desk.stands()[-1] == "up"
    assert m.DiceSettled(3, 4, 0, 0) in desk.facts()
    assert any(isinstance(fact, m.ButtonEvent) for fact in desk.facts())
    assert 'startsWith("HONBA ")' in sketch
