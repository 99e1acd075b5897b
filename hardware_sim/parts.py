"""What people have before them: the machine's parts, its buttons, and the tiles."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field

from firmware_protocol import messages as m
from firmware_protocol.vocabulary import TABLE, Button, Capability, Phase, Press, ZoneKind
from hardware_sim.board import Board
from hardware_sim.clock import Agenda
from hardware_sim.dice import Dice
from hardware_sim.displays import Displays
from hardware_sim.lift import Lift
from hardware_sim.pack import Pack, build, with_foreign
from hardware_sim.record import Hand
from hardware_sim.sensors import Sensors
from hardware_sim.sticks import Sticks
from hardware_sim.tags import TileSet
from hardware_sim.wall import LIVE_START, break_ring
from hardware_sim.zones import Lying, Place, Tabletop

MISSED = 123
"""Draw index of the tile a short wall lacks: the lower tile of the last dead stack, which hardly any hand needs."""
SOME_DEALT = 17
LAST_LIVE = 120


@dataclass
class Parts:
    """One machine. Whoever acts on it — people, a fault script, a console — does it here."""

    agenda: Agenda
    capabilities: int
    lift: Lift
    dice: Dice
    displays: Displays
    sticks: Sticks
    tabletop: Tabletop
    sensors: Sensors
    board: Board
    sets: tuple[TileSet, TileSet]
    rng: random.Random
    pack: Pack | None = None
    """The set that stands (or will stand) on the table."""
    beeps: int = 0
    presses: int = 0
    missing: list[int] = field(default_factory=lambda: [0, 0])
    """Tiles that each set is short of."""
    next_set: int = 0
    """Index of the set that is lifted next."""
    foreign_next: bool = False
    """A tile of the other set is in the set that is lifted next."""
    twin_next: bool = False
    """Two tiles of the set that is lifted next answer with the same tag."""
    on_press: Callable[[int, int], None] = lambda _button, _seat: None

    def press(self, button: int, seat: int = TABLE, press: int = Press.PRESSED) -> None:
        """Somebody presses a button; what the machine does by itself it does at once."""
        self.presses += 1
        self.board.emit(m.ButtonEvent(button, seat, press))
        self.on_press(button, seat)
        if self.board.test_mode or self.board.frozen or self.lift.locked or press != Press.PRESSED:
            return
        if button == Button.DICE and self.capabilities & Capability.DICE:
            self.dice.roll()
        elif button == Button.UP_DOWN:
            if self.lift.lid == Phase.UP:
                self.lift.close_lid()
            else:
                self.lift.open_lid()
        elif button == Button.SEAT_DRAW and self.capabilities & Capability.SEAT_ROULETTE:
            self.board.emit(m.SeatRoulette(self.rng.randrange(4)))

    def stack(self, hand: Hand) -> Pack:
        """The machine has built the set of this hand; the dice will break it as the record says."""
        value = hand.dice or (self.rng.randint(1, 6), self.rng.randint(1, 6))
        self.dice.loaded = [value]
        auto = self.capabilities & Capability.AUTO_DEAL
        ring = 0 if auto else break_ring(sum(value))
        index = hand.number % 2
        self.next_set = 1 - index
        self.pack = build(hand, index, self.sets[index], ring, self.rng)
        self.sensors.twins.clear()
        if self.twin_next:
            self.twin_next = False
            self.sensors.twins[self.pack.tag(LAST_LIVE)] = self.pack.tag(SOME_DEALT)
        if self.foreign_next:
            self.foreign_next = False
            self.pack = with_foreign(self.pack, SOME_DEALT, self.sets[1 - index])
        return self.pack

    def walls_arrived(self) -> None:
        """The tiles of the set stand on the table: side by side, stack by stack."""
        pack = self.pack
        if pack is None or self.tabletop.occupied:
            return
        first = LIVE_START if self.capabilities & Capability.AUTO_DEAL else 0
        short = self.missing[pack.set_index]
        standing = sorted(
            (place.seat, place.slot, t)
            for t, place in enumerate(pack.places)
            if t >= first and not (short and t == MISSED)
        )
        self.tabletop.move(
            *((pack.tag(t), Lying(Place(ZoneKind.WALL, seat, slot))) for seat, slot, t in standing)
        )
        if short and self.capabilities & Capability.TILE_COUNT:
            self.board.emit(
                m.TileCountFault(pack.set_index, len(pack.order), len(pack.order) - short)
            )

    def state(self) -> m.SnapshotState:
        """The DeviceState record: all that is not tiles."""
        trays = tuple(min(n, 255) for tray in self.sticks.trays for n in tray)
        riichi = sum(1 << seat for seat, there in enumerate(self.sticks.slots) if there)
        if not self.capabilities & Capability.STICK_TRAYS:
            trays = (0,) * 20
        if not self.capabilities & Capability.RIICHI_SLOTS:
            riichi = 0
        a, b, c, d = self.lift.walls
        return m.SnapshotState(
            0,
            1,
            self.lift.lid,
            (a, b, c, d),
            int(self.lift.locked),
            riichi,
            trays,
            int(self.lift.faulty),
        )
