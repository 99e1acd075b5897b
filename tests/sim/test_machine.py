"""Lift, lid, dice, sticks, displays and antennas, each by itself."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware_protocol import messages as m
from firmware_protocol.schema import Message
from firmware_protocol.vocabulary import (
    LEVEL_SCORE,
    Capability,
    Jam,
    Motor,
    Phase,
    Require,
    Result,
    Sight,
    ZoneKind,
    zone,
)
from hardware_sim.clock import SECOND, Activity, Agenda, Pause, Until
from hardware_sim.dice import Dice
from hardware_sim.displays import Displays
from hardware_sim.lift import BUILD_TIME, LIFT_TRAVEL, Lift
from hardware_sim.sensors import Quality, Sensors
from hardware_sim.sticks import VALUES, Sticks, share_out, start_set, worth
from hardware_sim.table import LEVELS
from hardware_sim.zones import Lying, Place, Tabletop


@dataclass
class Bench:
    """A lift on a bench: what it told, how motions ended."""

    agenda: Agenda = field(default_factory=Agenda)
    told: list[Message] = field(default_factory=list)
    ended: list[tuple[Result, int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.lift = Lift(self.agenda, self.told.append, 1.0, random.Random(1))

    def done(self, result: Result, detail: int) -> None:
        self.ended.append((result, detail))

    def wait(self, seconds: float) -> None:
        self.agenda.run(self.agenda.now + round(seconds * SECOND))


def test_walls_rise_in_their_time() -> None:
    bench = Bench()
    bench.lift.raise_walls(7, bench.done)
    bench.wait(LIFT_TRAVEL - 0.01)
    assert bench.told == [m.WallEvent(255, Phase.RISING, 0, 7)]
    assert bench.lift.moving
    bench.wait(0.02)
    assert bench.told[1:] == [m.WallEvent(255, Phase.UP, 0, 7)]
    assert bench.ended == [(Result.DONE, 0)]
    assert bench.lift.walls_up


def test_interlocks() -> None:
    bench = Bench()
    bench.lift.open_lid()
    bench.lift.raise_walls(1, bench.done)
    assert bench.ended.pop() == (Result.REFUSED_BUSY, 0)
    bench.wait(5)
    bench.lift.raise_walls(2, bench.done)
    assert bench.ended.pop() == (Result.REFUSED_INTERLOCK, 0), "the lid is open"
    bench.lift.close_lid()
    bench.wait(5)
    bench.lift.lock(True)
    bench.lift.raise_walls(3, bench.done)
    assert bench.ended.pop() == (Result.REFUSED_INTERLOCK, 0), "locked"
    bench.lift.lock(False)
    bench.lift.overheat(Motor.LIFT, 800)
    bench.lift.raise_walls(4, bench.done)
    assert bench.ended.pop() == (Result.FAILED_MOTOR, Motor.LIFT)
    bench.lift.cool(Motor.LIFT)
    bench.lift.raise_walls(5, bench.done)
    bench.wait(5)
    assert bench.ended.pop() == (Result.DONE, 0)
    bench.lift.raise_walls(6, bench.done)
    assert bench.ended.pop() == (Result.REFUSED_INTERLOCK, 0), "they stand already"


@pytest.mark.parametrize(
    ("require", "holds"),
    [(0, True), (Require.IDLE, True), (Require.LID_DOWN | Require.WALLS_DOWN, True), (Require.LID_UP, False),
     (Require.WALLS_UP, False), (Require.UNLOCKED | Require.NO_FAULT, True), (Require.IDLE | Require.WALLS_UP, False)],
)  # fmt: skip
def test_preconditions_of_a_table_at_rest(require: int, holds: bool) -> None:
    assert Bench().lift.holds(require) is holds


def test_a_jam_stops_the_lift_until_it_is_freed() -> None:
    bench = Bench()
    bench.lift.jam_next["lift"] = Jam.TILE_STUCK
    bench.lift.raise_walls(3, bench.done)
    bench.wait(LIFT_TRAVEL)
    assert bench.ended == [(Result.FAILED_JAM, Jam.TILE_STUCK)]
    assert bench.told[-1] == m.WallEvent(255, Phase.JAMMED, Jam.TILE_STUCK, 3)
    assert bench.lift.faulty
    bench.lift.clear_jam()
    assert bench.told[-1] == m.WallEvent(255, Phase.READY, 0, 0)
    bench.lift.raise_walls(4, bench.done)
    bench.wait(LIFT_TRAVEL)
    assert bench.ended[-1] == (Result.DONE, 0)


def test_stop_stops() -> None:
    bench = Bench()
    bench.lift.raise_walls(3, bench.done)
    bench.wait(1)
    bench.lift.stop()
    assert bench.ended == [(Result.STOPPED, 0)]
    bench.wait(60)
    assert not bench.lift.walls_up
    assert bench.told[-1] == m.WallEvent(255, Phase.JAMMED, Jam.POSITION_LOST, 3)


def test_stopped_dice_show_nothing() -> None:
    agenda, told, ended = Agenda(), list[Message](), list[Result]()
    dice = Dice(agenda, told.append, 1.0, random.Random(4), [(2, 5)])
    dice.roll(8, lambda result, _detail: ended.append(result))
    agenda.run(SECOND)
    dice.stop()
    agenda.run(9 * SECOND)
    assert ended == [Result.STOPPED]
    assert dice.value is None
    assert told == [m.DiceRolling(8)]
    dice.stop()
    assert ended == [Result.STOPPED], "nothing was rolling any more"


def test_a_cycle_of_the_other_set_takes_a_minute() -> None:
    assert 60 <= BUILD_TIME <= 80


def test_dice_fall_as_the_record_says_and_then_by_chance() -> None:
    agenda, told = Agenda(), []
    dice = Dice(agenda, told.append, 1.0, random.Random(4), [(6, 1)])
    dice.roll(9)
    dice.roll()
    agenda.run(3 * SECOND)
    assert told == [m.DiceRolling(9), m.DiceSettled(6, 1, 0, 9)]
    throws = set()
    for _ in range(400):
        dice.roll()
        agenda.run(agenda.now + 3 * SECOND)
        throws.add(dice.value)
    assert len(throws) == 36


def test_a_tilted_die_settles_nothing_and_keeps_the_value_for_the_next_roll() -> None:
    agenda, told = Agenda(), []
    dice = Dice(agenda, told.append, 0.0, random.Random(4), [(2, 5)], tilted=1)
    dice.roll()
    agenda.run(0)
    assert told == [m.DiceRolling(0)]
    assert dice.value is None
    dice.roll()
    agenda.run(0)
    assert told[-1] == m.DiceSettled(2, 5, 0, 0)


@given(st.integers(0, 1200).map(lambda n: n * 100))
def test_a_start_set_is_worth_its_points(points: int) -> None:
    assert worth(start_set(points)) == points


def test_the_usual_25000() -> None:
    assert start_set(25_000) == [1, 2, 4, 0, 10]


@given(st.lists(st.integers(0, 300), min_size=3, max_size=3), st.integers(0, 3))
def test_sticks_are_neither_made_nor_lost(moves: list[int], riichi: int) -> None:
    sticks = Sticks(int(LEVEL_SCORE), lambda _event: None)
    for seat in range(riichi):
        sticks.lay_riichi(seat)
    sticks.clear_slots()
    assert sum(sticks.totals()) + 1000 * sticks.on_table == 100_000
    first = [min(100 * n, 30_000) for n in moves]
    targets = [*first, 100_000 - 1000 * riichi - sum(first)]
    before = [sum(tray[i] for tray in sticks.trays) for i in range(len(VALUES))]
    before[2] += sticks.on_table
    possible = share_out(targets, [*before[:2], before[2] - riichi, *before[3:]]) is not None
    sticks.pay(targets)
    assert sticks.totals() == targets
    assert sticks.on_table == riichi
    after = [sum(tray[i] for tray in sticks.trays) for i in range(len(VALUES))]
    after[2] += sticks.on_table
    assert after == before or not possible, "unless changed at the counter, it is the same sticks"


def test_payments_of_a_usual_game_need_no_counter() -> None:
    rng = random.Random(3)
    sticks = Sticks(int(LEVEL_SCORE), lambda _event: None)
    scores = [25_000] * 4
    pool = [sum(tray[i] for tray in sticks.trays) for i in range(len(VALUES))]
    for _ in range(300):
        give, take = rng.sample(range(4), 2)
        amount = min(rng.choice([1000, 1300, 2000, 3900, 7700, 8000, 12_000]), scores[give])
        scores[give] -= amount
        scores[take] += amount
        sticks.pay(scores)
        assert sticks.totals() == scores
        assert [sum(tray[i] for tray in sticks.trays) for i in range(len(VALUES))] == pool


def test_the_winner_takes_the_deposits() -> None:
    sticks = Sticks(int(LEVEL_SCORE), lambda _event: None)
    sticks.lay_riichi(0)
    sticks.lay_riichi(2)
    sticks.clear_slots()
    sticks.pay([24_000, 29_000, 24_000, 23_000])
    assert sticks.on_table == 0
    assert sticks.totals() == [24_000, 29_000, 24_000, 23_000]


def test_displays_show_what_they_can() -> None:
    poor = Displays(LEVELS["basic"])
    poor.take(m.SetHonba(37), 5)
    poor.take(m.SetScores((1, 2, 3, 4)), 6)
    assert poor.reading()["honba"] == 20, "a commercial display counts to 20"
    assert poor.reading()["scores"] is None
    no_minus = Displays(int(Capability.SCORE_DISPLAYS))
    no_minus.take(m.SetScores((-300, 50_300, 25_000, 25_000)), 1)
    assert no_minus.reading()["scores"] == [0, 50_300, 25_000, 25_000]
    rich = Displays(LEVELS["score"])
    rich.take(m.SetScores((-300, 50_300, 25_000, 25_000)), 1)
    rich.take(m.SetRound(1, 3, 2), 2)
    rich.take(m.SetLamps(1 | 1 << 6, 1), 3)
    reading = rich.reading()
    assert reading["scores"] == [-300, 50_300, 25_000, 25_000]
    assert (reading["round"], reading["dealer"]) == ("S3", 2)
    assert reading["lamps"] == ["RIICHI_0", "DEALER_2"]
    assert [at for at, _ in rich.history] == [1, 2, 2, 3]
    rich.dead = True
    assert set(rich.reading().values()) == {None}


def antennas(quality: Quality, has: int = LEVELS["tiles"]) -> tuple[Tabletop, list[m.TileEvent]]:
    top, told = Tabletop(), []
    Sensors(top, has, told.extend, random.Random("antennas"), quality, tags=(900, 901))
    return top, told


def lay(kind: ZoneKind, slot: int) -> Lying:
    return Lying(Place(kind, 1, slot))


def sights(told: list[m.TileEvent]) -> list[tuple[int, int, int]]:
    return [(e.zone, s.tag, s.flags & Sight.APPEARED) for e in told for s in e.tiles]


def test_perfect_antennas_tell_each_movement_once() -> None:
    top, told = antennas(Quality())
    top.move(*((tag, lay(ZoneKind.WALL, tag)) for tag in range(6)))
    assert [len(e.tiles) for e in told] == [4, 2]
    told.clear()
    top.move((2, lay(ZoneKind.DRAWN, 0)))
    assert sights(told) == [(zone(ZoneKind.WALL, 1), 2, 0), (zone(ZoneKind.DRAWN, 1), 2, 1)]
    assert all(s.signal >= 150 for e in told for s in e.tiles if s.flags)


def test_no_antenna_no_sighting() -> None:
    top, told = antennas(Quality(), LEVELS["score"])
    top.move((1, lay(ZoneKind.RIVER, 0)))
    assert told == []


def test_a_missed_tile_is_not_seen_to_leave() -> None:
    top, told = antennas(Quality(misses=1.0))
    top.move((1, lay(ZoneKind.RIVER, 0)))
    top.move((1, None))
    assert told == []


@pytest.mark.parametrize("share", [0.05, 0.3])
def test_the_read_rate_is_what_was_asked(share: float) -> None:
    top, told = antennas(Quality(misses=share))
    for tag in range(4000):
        top.move((tag, lay(ZoneKind.RIVER, tag)))
    seen = sum(1 for _, _, appeared in sights(told) if appeared)
    assert 1 - seen / 4000 == pytest.approx(share, abs=0.025)


def test_overlap_repeats_and_ghosts() -> None:
    top, told = antennas(Quality(overlaps=1.0))
    top.move((1, lay(ZoneKind.DRAWN, 0)))
    assert {z for z, _, _ in sights(told)} == {zone(ZoneKind.DRAWN, 1), zone(ZoneKind.HAND, 1)}
    top.move((1, None))
    assert sights(told)[-2:] == [(zone(ZoneKind.DRAWN, 1), 1, 0), (zone(ZoneKind.HAND, 1), 1, 0)]
    top, told = antennas(Quality(repeats=1.0))
    top.move((1, lay(ZoneKind.DRAWN, 0)))
    assert sights(told) == [(zone(ZoneKind.DRAWN, 1), 1, 1)] * 2
    top, told = antennas(Quality(ghosts=1.0))
    top.move((1, lay(ZoneKind.RIVER, 0)))
    assert [(tag >= 900, appeared) for _, tag, appeared in sights(told)] == [
        (False, 1),
        (True, 1),
        (True, 0),
    ]


def test_people_and_motors_wait_without_a_clock() -> None:
    agenda, log = Agenda(), []
    gate: list[int] = []

    def person() -> Activity:
        yield Pause(2)
        log.append(("rested", agenda.now))
        got = yield Until(lambda: bool(gate), what="the gate")
        log.append(("through", got))
        got = yield Until(lambda: len(gate) > 1, patience=3)
        log.append(("gave up" if not got else "got it", agenda.now))

    agenda.start("anna", person())
    agenda.run(5 * SECOND)
    assert log == [("rested", 2 * SECOND)]
    assert agenda.waiting_for("anna") == "the gate"
    gate.append(1)
    agenda.run(5 * SECOND)
    agenda.run(9 * SECOND)
    assert log[1:] == [("through", True), ("gave up", 8 * SECOND)]
    assert not agenda.busy("anna")
    agenda.start("anna", person())
    agenda.stop("anna")
    agenda.run(99 * SECOND)
    assert len(log) == 3
