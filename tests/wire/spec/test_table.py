"""SPEC chapter 7, what the table does: shown on the simulated table."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from firmware_protocol import messages as m
from firmware_protocol.deliveries import Delivery, Item, State
from firmware_protocol.link import Link
from firmware_protocol.schema import Message
from firmware_protocol.timing import MS, SECOND
from firmware_protocol.vocabulary import ActionKind, Phase, Require, Result
from hardware_sim.table import Options, SimTable
from tests.wire.ends import nonces


class Played:
    """A host's link and a simulated table without a game, on one clock."""

    def __init__(self, level: str = "tiles") -> None:
        self.now = 0
        self.host = Link.host(0, nonce=nonces())
        self.table = SimTable(Options(level=level, speed=1.0, hold=True))
        self.lift = self.table.parts.lift
        self.got: list[Message] = []
        self.deaf = False
        self.host.connect(0)
        self.run(500 * MS, lambda: self.host.state is State.UP)

    def run(self, duration: int, until: Callable[[], bool] = lambda: False) -> None:
        """Let time pass in steps of a millisecond."""
        end = self.now + duration
        while self.now < end and not until():
            self._take(self.host.poll(self.now))
            self.table.advance(self.now)
            if not self.deaf:
                self.table.receive(self.host.data_to_send(self.now), self.now)
                self._take(self.host.receive(self.table.data_to_send(self.now), self.now))
            self.now += 1 * MS

    def _take(self, items: list[Item]) -> None:
        for item in items:
            if isinstance(item, Delivery) and item.ticket:
                self.got.append(item.message)
                self.host.accept(item)

    def ask(self, cmd_id: int, action: int, require: int = 0) -> None:
        """Ask for an action."""
        self.host.send(m.Action(cmd_id, action, 0, 0, require), self.now)

    def result(self, cmd_id: int) -> int | None:
        """How an action ended, None while it runs."""
        return next(
            (x.result for x in self.got if isinstance(x, m.ActionResult) and x.cmd_id == cmd_id),
            None,
        )

    def ended(self, cmd_id: int) -> int | None:
        """Wait for the end of an action."""
        self.run(30 * SECOND, lambda: self.result(cmd_id) is not None)
        return self.result(cmd_id)


def moved(played: Played) -> list[Message]:
    """Events of motion."""
    return [x for x in played.got if isinstance(x, m.WallEvent | m.LidEvent | m.DiceRolling)]


@pytest.mark.spec("B-1")
def test_an_action_without_its_preconditions_moves_nothing() -> None:
    played = Played()
    played.ask(1, ActionKind.LIFT, Require.LID_UP)
    played.ask(2, ActionKind.ROLL, Require.IDLE | Require.WALLS_UP)
    assert played.ended(1) == Result.REFUSED_PRECONDITION
    assert played.ended(2) == Result.REFUSED_PRECONDITION
    assert moved(played) == []
    played.ask(3, ActionKind.ROLL, Require.IDLE | Require.LID_DOWN)
    assert played.ended(3) == Result.DONE


@pytest.mark.spec("B-2")
def test_what_the_table_cannot_do_is_unsupported() -> None:
    played = Played("basic")
    played.ask(1, ActionKind.SEAT_DRAW)
    played.ask(2, 200)
    assert played.ended(1) == Result.UNSUPPORTED
    assert played.ended(2) == Result.UNSUPPORTED
    assert moved(played) == []


@pytest.mark.spec("B-3")
def test_an_interlock_refuses_a_lift() -> None:
    played = Played()
    played.lift.walls = [Phase.READY] * 4
    played.lift.lid = Phase.UP
    played.ask(1, ActionKind.LIFT)
    assert played.ended(1) == Result.REFUSED_INTERLOCK
    assert moved(played) == []
    played.lift.lid = Phase.DOWN
    played.ask(2, ActionKind.LIFT)
    assert played.ended(2) == Result.DONE


@pytest.mark.spec("B-4")
def test_stop_ends_all_motion() -> None:
    played = Played()
    played.lift.walls = [Phase.READY] * 4
    played.ask(1, ActionKind.LIFT)
    played.run(10 * SECOND, lambda: played.lift.moving)
    assert played.lift.moving
    played.host.send(m.Stop(cmd_id=2), played.now)
    assert played.ended(2) == Result.DONE
    assert played.ended(1) == Result.STOPPED
    assert not played.lift.moving


@pytest.mark.spec("B-5")
def test_silence_ends_motion() -> None:
    played = Played()
    played.host.send(m.Watchdog(timeout_ms=500), played.now)
    played.lift.walls = [Phase.READY] * 4
    played.ask(1, ActionKind.LIFT)
    played.run(10 * SECOND, lambda: played.lift.moving)
    assert played.lift.moving
    played.deaf = True
    played.run(600 * MS)
    assert not played.lift.moving
    played.deaf = False
    played.host.connect(played.now)
    assert played.ended(1) == Result.STOPPED


@pytest.mark.spec("B-6")
def test_a_roll_is_told_from_beginning_to_end() -> None:
    played = Played()
    played.ask(7, ActionKind.ROLL)
    assert played.ended(7) == Result.DONE
    told = [x for x in played.got if isinstance(x, m.DiceRolling | m.DiceSettled | m.ActionResult)]
    assert [type(x) for x in told] == [m.DiceRolling, m.DiceSettled, m.ActionResult]
    assert {x.cmd_id for x in told} == {7}


@pytest.mark.spec("B-7")
def test_emitting_needs_test_mode() -> None:
    played = Played()
    played.host.send(m.TestEmit(count=5, interval_ms=0), played.now)
    played.run(500 * MS)
    assert not [x for x in played.got if isinstance(x, m.TestEvent)]
    played.host.show(m.SetTestMode(on=1))
    played.run(500 * MS)
    played.host.send(m.TestEmit(count=5, interval_ms=10), played.now)
    played.run(500 * MS)
    assert [x.number for x in played.got if isinstance(x, m.TestEvent)] == [0, 1, 2, 3, 4]
