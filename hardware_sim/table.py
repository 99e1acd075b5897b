"""A whole simulated table without I/O: octets in, octets out, time handed in as microseconds.

table = SimTable(options, record.load("games.jsonl#g0002"))
table.receive(octets, now)          # what the host wrote
table.advance(now)                  # when `next_deadline` has come
port.write(table.data_to_send(now)) # after each of these
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from firmware_protocol.schema import Message
from firmware_protocol.vocabulary import (
    LEVEL_BASIC,
    LEVEL_SCORE,
    LEVEL_TILES,
    Button,
    Capability,
    ResetCause,
)
from hardware_sim.actions import act
from hardware_sim.board import Board, Firmware
from hardware_sim.clock import Agenda
from hardware_sim.dice import Dice
from hardware_sim.displays import Displays
from hardware_sim.errors import OptionError
from hardware_sim.faults.play import Faults
from hardware_sim.lift import Lift
from hardware_sim.line import Line
from hardware_sim.parts import Parts
from hardware_sim.people import People, Progress
from hardware_sim.record import Game
from hardware_sim.sensors import PERFECT, Quality, Sensors
from hardware_sim.sticks import Sticks
from hardware_sim.tags import make_sets, write_tiles_toml
from hardware_sim.zones import Tabletop

EXTRAS = (
    Capability.TEST | Capability.TEMPERATURE | Capability.TILE_COUNT | Capability.BEEP | Capability.LOCK
    | Capability.ORIENTATION
)  # fmt: skip
LEVELS: dict[str, int] = {
    "basic": int(LEVEL_BASIC | Capability.TEST | Capability.BEEP | Capability.LOCK),
    "score": int(LEVEL_SCORE | (EXTRAS & ~Capability.ORIENTATION)),
    "tiles": int(LEVEL_TILES | EXTRAS),
}
"""Capabilities of the three levels as this simulator builds them."""
MAX_SPEED = 0.0
"""`pace` at `--speed max`: people and motors take no time."""


@dataclass(frozen=True)
class Options:
    """How a table is built and who sits at it."""

    level: str = "tiles"
    capabilities: int | None = None
    """Instead of a level: any mix of capability bits."""
    seed: int = 0
    speed: float | None = None
    """Times faster than people (1 = their pace); None: as fast as possible."""
    firmware: Firmware = field(default_factory=Firmware)
    quality: Quality = PERFECT
    operator: frozenset[str] = frozenset()
    """What people wait for an operator to enter: `result`, `riichi`."""
    dtr_resets: bool = False
    """The board restarts whenever the port is opened."""
    sorts: bool = False
    """People sort their tiles once they have been dealt."""
    hold: bool = False
    """The first dealer waits for `begin()`."""

    @property
    def pace(self) -> float:
        """Factor on the seconds of people and motors."""
        return MAX_SPEED if self.speed is None else 1.0 / self.speed

    @property
    def has(self) -> int:
        """Capability bits. Raises OptionError for a level that does not exist."""
        if self.capabilities is not None:
            return self.capabilities
        if self.level not in LEVELS:
            raise OptionError(
                f"no level {self.level!r}", value=self.level, hint=f"one of {', '.join(LEVELS)}"
            )
        return LEVELS[self.level]


class SimTable:
    """Machine, board and people of one table."""

    def __init__(
        self,
        options: Options,
        game: Game | None = None,
        on_event: Callable[[Progress], None] | None = None,
        faults: Faults | None = None,
    ) -> None:
        self.options = options
        self.faults = faults or Faults([])
        self.game = game
        self.on_event = on_event
        has, seed, pace = options.has, options.seed, options.pace
        self.agenda = Agenda()
        self.line = Line(random.Random(f"line/{seed}"))
        self.board = Board(
            self.agenda, options.firmware, has, seed=seed, state=lambda: self.parts.state(),
            tiles=lambda: self.parts.sensors.snapshot(), act=self._act, host_gone=self._host_gone,
        )  # fmt: skip
        emit = self.board.emit
        top = Tabletop()
        sets = make_sets(game.reds if game else True, seed)
        lift = Lift(self.agenda, emit, pace, random.Random(f"lift/{seed}"))
        self.parts = Parts(
            self.agenda, has, lift, Dice(self.agenda, emit, pace, random.Random(f"dice/{seed}")),
            Displays(has), Sticks(has, emit), top,
            Sensors(top, has, self.board.emit_sweep, random.Random(f"sensors/{seed}"), options.quality,
                    tags=tuple(sets[0].tiles) + tuple(sets[1].tiles)),
            self.board, sets, random.Random(f"tiles/{seed}"),
        )  # fmt: skip
        self.board.moving = lambda: lift.moving or self.parts.dice.rolling
        lift.on_walls_up = self.parts.walls_arrived
        lift.on_walls_rising = lambda: self._moment("rising")
        self.people = People(
            self.parts, pace=pace, rng=random.Random(f"people/{seed}"), tell=self._tell,
            operator=options.operator, sorts=options.sorts,
        )  # fmt: skip
        if game is not None:
            self.agenda.start("people", self.people.play(game.hands))
        if not options.hold:
            self.people.begin()
        self.parts.on_press = self._pressed
        self.faults.begin(self)

    # ------------------------------------------------------------------ octets and time

    def receive(self, data: bytes, now: int) -> None:
        """Octets that the host wrote."""
        self.agenda.run(now)
        self._arrive(data, now)
        self.advance(now)

    def advance(self, now: int) -> None:
        """Let time pass: motors turn, people act, the board's timers run."""
        self.agenda.run(now)
        if self.line.to_table.held:
            self._arrive(b"", now)
        self.board.advance()
        # What came in or ran out may be what somebody waited for.
        self.agenda.run(now)

    def data_to_send(self, now: int) -> bytes:
        """Octets for the host."""
        self.agenda.run(now)
        return self.line.carry(self.line.to_host, self.board.data_to_send(), now)

    def _arrive(self, data: bytes, now: int) -> None:
        arrived = self.line.carry(self.line.to_table, data, now)
        if arrived:
            self.board.receive(arrived)

    @property
    def next_deadline(self) -> int | None:
        """When `advance` wants to be called (µs); None: only after octets came."""
        times = (self.agenda.next_due, self.board.next_deadline, self.line.next_due)
        return min((t for t in times if t is not None), default=None)

    # ------------------------------------------------------------------ from outside

    def begin(self) -> None:
        """The game is known to the host: the first dealer may press start."""
        self.people.begin()

    def operator_done(self) -> None:
        """The host has accepted what the operator entered."""
        self.people.operator_done()

    def reset_board(self, cause: int = ResetCause.WATCHDOG) -> None:
        """The board restarts; motors stop where they are and find home, displays go dark."""
        self.parts.lift.home()
        self.parts.dice.forget()
        self.parts.displays.dark()
        self.board.reset(cause)

    def write_tiles_toml(self, path: Path) -> None:
        """Write the map from tag to tile for the host."""
        write_tiles_toml(path, self.parts.sets)

    @property
    def over(self) -> bool:
        """True when the record is played to its end."""
        return self.people.over

    def report(self) -> dict[str, Any]:
        """What the table did and what it shows, ready for JSON."""
        return {
            "record": self.game.id if self.game else None,
            "level": self.options.level,
            "over": self.over,
            "hand": self.people.hand.number if self.people.hand else None,
            "hands_played": self.people.hands_done,
            "displays": self.parts.displays.reading(),
            "trays": self.parts.sticks.totals(),
            "actions": {
                str(cmd): {"executed": n, "result": int(self.board.results.get(cmd, -1))}
                for cmd, n in sorted(self.board.executed.items())
            },
            "executed_twice": self.board.executed_twice,
            "boots": self.board.boots,
            "events_lost": self.board.events_lost,
            "faults": [text for _, text in self.faults.done],
            "unmet": list(self.people.unmet),
            "pressed_again": self.people.pressed_again,
            "link": self.board.link.stats.as_dict(),
            "sent": dict(sorted(self.board.sent.items())),
            "received": dict(sorted(self.board.received.items())),
        }

    # ------------------------------------------------------------------ inside

    def _act(self, message: Message) -> None:
        act(self.parts, message)

    def _host_gone(self) -> None:
        """Nobody watches: what the host began ends; what a person began goes on."""
        for motion in (self.parts.lift, self.parts.dice):
            if motion.commanded:
                motion.stop()

    def _pressed(self, button: int, seat: int) -> None:
        if button == Button.START:
            self._moment("start_pressed", seat)

    def _moment(self, kind: str, seat: int = -1) -> None:
        if self.people.hand is not None:
            self.faults.notice(self, kind, self.people.hand.number, seat)

    def _tell(self, progress: Progress) -> None:
        self.faults.notice(self, progress.kind, progress.hand, progress.seat)
        if self.on_event is not None:
            self.on_event(progress)
