"""The dice under their glass: rolling, settled, tilted; the next value may be laid down by a record."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field

from firmware_protocol import messages as m
from firmware_protocol.schema import Message
from firmware_protocol.vocabulary import Result
from hardware_sim.clock import Agenda, Appointment
from hardware_sim.lift import Done

ROLL_TIME = 2.2
"""Seconds from the button to dice that lie still, at speed 1."""


@dataclass
class Dice:
    """Two dice. `pace` scales the rolling time (0 = at once)."""

    agenda: Agenda
    emit: Callable[[Message], None]
    pace: float
    rng: random.Random
    loaded: list[tuple[int, int]] = field(default_factory=list)
    """Values of the next rolls; chance when empty."""
    tilted: int = 0
    """So many coming rolls end with a die on edge: no value is settled."""
    value: tuple[int, int] | None = None
    """What lies there now; None while rolling or on edge."""
    rolling: bool = False
    commanded: bool = False
    """The host asked for the roll under way."""
    rolls: int = 0
    _settling: Appointment | None = None
    _stopped: Callable[[], None] = lambda: None

    def roll(self, cmd_id: int = 0, done: Done = lambda _r, _d: None) -> None:
        """Roll; refused while they roll. `done` gets 10·a + b as detail."""
        if self.rolling:
            done(Result.REFUSED_BUSY, 0)
            return
        self.rolling = True
        self.value = None
        self.rolls += 1
        self.commanded = cmd_id != 0
        self.emit(m.DiceRolling(cmd_id))
        self._settling = self.agenda.after(
            ROLL_TIME * self.pace, lambda: self._settle(cmd_id, done)
        )
        self._stopped = lambda: done(Result.STOPPED, 0)

    def stop(self) -> None:
        """Stop a roll: the dice lie somehow, no value is settled (SPEC B-4)."""
        if self.rolling and self._settling is not None:
            self._settling.cancelled = True
            self.rolling = False
            self._stopped()

    def forget(self) -> None:
        """After a restart of the board nobody waits for a roll under way."""
        if self._settling is not None:
            self._settling.cancelled = True
        self.rolling = False

    def by_hand(self, a: int, b: int) -> None:
        """People threw their own dice and told the machine."""
        self.value = (a, b)
        self.emit(m.DiceSettled(a, b, 1, 0))

    def _settle(self, cmd_id: int, done: Done) -> None:
        self.rolling = False
        if self.tilted:
            self.tilted -= 1
            done(Result.FAILED_JAM, 0)
            return
        a, b = (
            self.loaded.pop(0) if self.loaded else (self.rng.randint(1, 6), self.rng.randint(1, 6))
        )
        self.value = (a, b)
        self.emit(m.DiceSettled(a, b, 0, cmd_id))
        done(Result.DONE, 10 * a + b)
