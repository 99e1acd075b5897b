"""Lid, lift and walls: motions with travel times, end switches, interlocks, jams and hot motors.

The interlocks are the machine's own: whoever asks for a motion may be refused.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field

from firmware_protocol import messages as m
from firmware_protocol.schema import Message
from firmware_protocol.vocabulary import TABLE, Jam, Motor, MotorFault, Phase, Require, Result
from hardware_sim.clock import Agenda, Appointment

LID_TRAVEL = 1.8
"""Seconds the lid needs from closed to open at speed 1."""
LIFT_TRAVEL = 4.5
BUILD_TIME = 65.0
"""Seconds from tiles in the hole to "set complete" (60–80 s on commercial tables)."""
NOT_MEASURED = -32768
Done = Callable[[Result, int], None]


@dataclass
class Lift:
    """The moving parts. `pace` scales seconds of travel (0 = at once)."""

    agenda: Agenda
    emit: Callable[[Message], None]
    pace: float
    rng: random.Random
    on_walls_up: Callable[[], None] = lambda: None
    """The platform has arrived: the tiles stand on the table."""
    on_walls_rising: Callable[[], None] = lambda: None
    lid: int = Phase.DOWN
    walls: list[int] = field(default_factory=lambda: [int(Phase.READY)] * 4)
    locked: bool = False
    jam: int = Jam.NONE
    hot: set[int] = field(default_factory=set)
    """Motors that are too hot to start."""
    jam_held: bool = False
    """The jam stays until somebody told to frees it; people at the table cannot."""
    jam_next: dict[str, Jam] = field(default_factory=dict)
    """`lift` or `lid` → how its next motion will jam."""
    commanded: bool = False
    """The host asked for the motion under way."""
    motions: int = 0
    """Motions begun since power-on."""
    _running: Appointment | None = None
    _on_stop: Callable[[], None] | None = None

    @property
    def moving(self) -> bool:
        """True while a motor of lid or lift turns."""
        return self._running is not None

    @property
    def faulty(self) -> bool:
        """True while a jam or a hot motor keeps the table from moving."""
        return self.jam != Jam.NONE or bool(self.hot)

    @property
    def walls_up(self) -> bool:
        """True when all four walls stand on the table."""
        return all(phase == Phase.UP for phase in self.walls)

    @property
    def walls_down(self) -> bool:
        """True when all four walls are inside the machine."""
        return all(phase in {Phase.DOWN, Phase.READY, Phase.BUILDING} for phase in self.walls)

    def holds(self, require: int) -> bool:
        """True when all preconditions of an action hold now."""
        facts = {
            Require.IDLE: not self.moving,
            Require.LID_DOWN: self.lid == Phase.DOWN,
            Require.LID_UP: self.lid == Phase.UP,
            Require.WALLS_DOWN: self.walls_down,
            Require.WALLS_UP: self.walls_up,
            Require.UNLOCKED: not self.locked,
            Require.NO_FAULT: not self.faulty,
        }
        return all(fact for flag, fact in facts.items() if require & flag)

    # ------------------------------------------------------------------ motions

    def raise_walls(self, cmd_id: int, done: Done) -> None:
        """Lift the finished set; `done(result, detail)` comes when it stands or could not."""
        if self.moving:
            done(Result.REFUSED_BUSY, 0)
        elif Motor.LIFT in self.hot:
            done(Result.FAILED_MOTOR, Motor.LIFT)
        elif self.lid != Phase.DOWN or self.locked or self.jam or not self._set_ready():
            done(Result.REFUSED_INTERLOCK, self.jam)
        else:
            self._walls_to(Phase.RISING, cmd_id)
            self._travel("lift", LIFT_TRAVEL, cmd_id, done, self._walls_arrived)
            self.on_walls_rising()

    def lower_walls(self, cmd_id: int, done: Done) -> None:
        """Take the platform down again (walls as they are go with it)."""
        if self.moving:
            done(Result.REFUSED_BUSY, 0)
        elif Motor.LIFT in self.hot:
            done(Result.FAILED_MOTOR, Motor.LIFT)
        elif self.locked or self.walls_down:
            done(Result.REFUSED_INTERLOCK, self.jam)
        else:
            self.jam = Jam.NONE
            self._walls_to(Phase.LOWERING, cmd_id)
            self._travel("lift", LIFT_TRAVEL, cmd_id, done, self._walls_lowered)

    def open_lid(self, cmd_id: int = 0, done: Done = lambda _r, _d: None) -> None:
        """Raise the centre plate so that tiles can be pushed into the hole."""
        if self.moving or self.locked or self.lid == Phase.UP or Motor.LID in self.hot:
            done(Result.REFUSED_INTERLOCK, 0)
            return
        self._lid_to(Phase.RISING, cmd_id)
        self._travel("lid", LID_TRAVEL, cmd_id, done, self._lid_opened)

    def close_lid(self, cmd_id: int = 0, done: Done = lambda _r, _d: None) -> None:
        """Lower the centre plate; what lies in the hole is shuffled and built."""
        if self.moving or self.lid == Phase.DOWN:
            done(Result.REFUSED_INTERLOCK, 0)
            return
        self._lid_to(Phase.LOWERING, cmd_id)
        self._travel("lid", LID_TRAVEL, cmd_id, done, self._lid_closed)

    def stop(self) -> None:
        """Stop all motion where it is."""
        if self._running is not None:
            self._running.cancelled = True
            self._running = None
            finish, self._on_stop = self._on_stop, None
            if finish is not None:
                finish()

    def home(self) -> None:
        """After a restart of the board nothing turns; a platform under way sinks back, a lid closes."""
        if self._running is not None:
            self._running.cancelled = True
            self._running = None
            self._on_stop = None
        if Phase.RISING in self.walls or Phase.LOWERING in self.walls:
            self.walls = [int(Phase.READY)] * 4
        if self.lid in {Phase.RISING, Phase.LOWERING}:
            self.lid = Phase.DOWN

    def clear_jam(self) -> None:
        """A person frees the stuck tile; lift or lid go back by hand."""
        if self.jam == Jam.NONE:
            return
        self.jam = Jam.NONE
        self.jam_held = False
        if self.lid == Phase.JAMMED:
            self._lid_to(Phase.DOWN, 0)
        if Phase.JAMMED in self.walls:
            self._walls_to(Phase.READY, 0)

    def overheat(self, motor: Motor, decidegrees: int) -> None:
        """A motor is too hot: it will not start until it has cooled."""
        self.hot.add(motor)
        self.emit(m.MotorFaultEvent(motor, MotorFault.OVERHEAT, decidegrees))

    def cool(self, motor: Motor, decidegrees: int = 450) -> None:
        """A hot motor may start again."""
        if motor in self.hot:
            self.hot.discard(motor)
            self.emit(m.MotorFaultEvent(motor, MotorFault.CLEARED, decidegrees))

    def lock(self, locked: bool, cmd_id: int = 0) -> None:
        """Lock or unlock the table; locked, no motor starts."""
        if locked != self.locked:
            self.locked = locked
            self.emit(m.LockEvent(int(locked), cmd_id))

    # ------------------------------------------------------------------ inside

    def _set_ready(self) -> bool:
        return all(phase == Phase.READY for phase in self.walls)

    def _travel(
        self, part: str, seconds: float, cmd_id: int, done: Done, arrived: Callable[[int], None]
    ) -> None:
        self.motions += 1
        self.commanded = cmd_id != 0
        jam = self.jam_next.pop(part, None)
        share = self.rng.uniform(0.2, 0.8) if jam else 1.0

        def end() -> None:
            self._running = None
            self._on_stop = None
            if jam is not None:
                self._jammed(part, jam, cmd_id)
                done(Result.FAILED_JAM, jam)
            else:
                arrived(cmd_id)
                done(Result.DONE, 0)

        def stopped() -> None:
            self._jammed(part, Jam.POSITION_LOST, cmd_id)
            done(Result.STOPPED, 0)

        self._on_stop = stopped
        self._running = self.agenda.after(seconds * share * self.pace, end)

    def _jammed(self, part: str, jam: Jam, cmd_id: int) -> None:
        self.jam = jam
        if part == "lid":
            self._lid_to(Phase.JAMMED, cmd_id, jam)
        else:
            self._walls_to(Phase.JAMMED, cmd_id, jam)

    def _walls_arrived(self, cmd_id: int) -> None:
        self._walls_to(Phase.UP, cmd_id)
        self.on_walls_up()

    def _walls_lowered(self, cmd_id: int) -> None:
        self._walls_to(Phase.DOWN, cmd_id)
        self._walls_to(Phase.READY, 0)

    def _lid_opened(self, cmd_id: int) -> None:
        self._lid_to(Phase.UP, cmd_id)

    def _lid_closed(self, cmd_id: int) -> None:
        self._lid_to(Phase.DOWN, cmd_id)
        if self.walls_up:
            # The hands of people have taken the tiles off the platform: it sinks and fetches the other set.
            self._walls_to(Phase.DOWN, 0)
            self._walls_to(Phase.READY, 0)

    def _walls_to(self, phase: Phase, cmd_id: int, jam: Jam = Jam.NONE) -> None:
        self.walls = [int(phase)] * 4
        self.emit(m.WallEvent(TABLE, phase, jam, cmd_id))

    def _lid_to(self, phase: Phase, cmd_id: int, jam: Jam = Jam.NONE) -> None:
        self.lid = phase
        self.emit(m.LidEvent(phase, jam, cmd_id))
