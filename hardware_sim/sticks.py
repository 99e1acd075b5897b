"""Point sticks: four trays by denomination, four riichi slots, and the deposits on the table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from firmware_protocol import messages as m
from firmware_protocol.schema import Message
from firmware_protocol.vocabulary import Capability, StickFault

VALUES = (10_000, 5_000, 1_000, 500, 100)
RIICHI = 2
"""Index of the 1000-point stick in `VALUES`."""
Counts = list[int]


def worth(counts: Sequence[int]) -> int:
    """Points of the sticks of a tray."""
    return sum(value * count for value, count in zip(VALUES, counts, strict=True))


def start_set(points: int) -> Counts:
    """Sticks a player gets: change first (ten 100s, four 1000s, two 5000s), the rest in large ones."""
    counts = [0, 0, 0, 0, 0]
    for index, most in ((4, 10), (2, 4), (1, 2)):
        counts[index] = min(most, points // VALUES[index])
        points -= counts[index] * VALUES[index]
    for index, value in enumerate(VALUES):
        more, points = divmod(points, value)
        counts[index] += more
    return counts


def share_out(targets: Sequence[int], pool: Counts) -> list[Counts] | None:
    """Lay the sticks of the pool into trays worth exactly the targets; None when they do not suffice.

    From the smallest stick up: everybody gets what his remainder needs; bundles that are over stand
    in for larger sticks, first where those would be too few, else where most is missing.
    """
    left = list(targets)
    trays = [[0] * len(VALUES) for _ in targets]
    for index in range(len(VALUES) - 1, -1, -1):
        value = VALUES[index]
        larger = VALUES[index - 1] if index else None
        stock = pool[index]
        for seat, points in enumerate(left):
            need = points // value if larger is None else points % larger // value
            trays[seat][index] += need
            left[seat] -= need * value
            stock -= need
        if stock < 0:
            return None
        if larger is not None:
            for seat in _bundles(left, stock // (larger // value), index - 1, pool):
                trays[seat][index] += larger // value
                left[seat] -= larger
    return trays if not any(left) else None


def _bundles(left: Counts, count: int, index: int, pool: Counts) -> list[int]:
    """Seats that take a bundle of small sticks for one larger stick (`index`), at most `count` of them."""
    left = list(left)
    value = VALUES[index]
    over = VALUES[index - 1] if index else None
    seats: list[int] = []
    while len(seats) < count and max(left) >= value:
        seat = left.index(max(left))
        if over is not None:
            needs = [points % over // value for points in left]
            if sum(needs) > pool[index]:
                seat = needs.index(max(needs))
        seats.append(seat)
        left[seat] -= value
    return seats


@dataclass
class Sticks:
    """What lies in trays and slots, reported as far as the table senses it."""

    capabilities: int
    emit: Callable[[Message], None]
    trays: list[Counts] = field(default_factory=lambda: [start_set(25_000) for _ in range(4)])
    slots: list[bool] = field(default_factory=lambda: [False] * 4)
    on_table: int = 0
    """Deposits that left the slots and lie with the dealer's counters."""
    fault: list[int] = field(default_factory=lambda: [int(StickFault.NONE)] * 4)
    payments: list[list[int]] = field(default_factory=list)
    """What the trays were worth after each payment."""
    miscounts: list[tuple[int, int]] = field(default_factory=list)
    """(seat, points) somebody takes too much at the next payment, from the next seat."""

    def totals(self) -> list[int]:
        """Points in the four trays."""
        return [worth(counts) for counts in self.trays]

    def lay_riichi(self, seat: int) -> None:
        """A 1000-point stick goes from the tray into the riichi slot."""
        tray = self.trays[seat]
        if tray[RIICHI] == 0:
            self._change(seat)
        if tray[RIICHI]:
            tray[RIICHI] -= 1
            self._tell_tray(seat)
        self._slot(seat, True)

    def take_back_riichi(self, seat: int) -> None:
        """The stick goes back into the tray (the declaration tile was won on)."""
        if self.slots[seat]:
            self._slot(seat, False)
            self.trays[seat][RIICHI] += 1
            self._tell_tray(seat)

    def clear_slots(self) -> None:
        """At the end of a hand the sticks leave their slots and lie on the table."""
        for seat in range(4):
            if self.slots[seat]:
                self._slot(seat, False)
                self.on_table += 1

    def pay(self, targets: Sequence[int]) -> None:
        """People move sticks until every tray is worth what its display shows."""
        wanted = [max(0, points) for points in targets]
        while self.miscounts:
            seat, points = self.miscounts.pop()
            wanted[seat] += points
            wanted[(seat + 1) % 4] = max(0, wanted[(seat + 1) % 4] - points)
        if wanted == self.totals():
            return
        pool = [sum(tray[i] for tray in self.trays) for i in range(len(VALUES))]
        pool[RIICHI] += self.on_table
        over = worth(pool) - sum(wanted)
        self.on_table = 0
        while over >= VALUES[RIICHI] and pool[RIICHI]:
            pool[RIICHI] -= 1
            self.on_table += 1
            over -= VALUES[RIICHI]
        # What the sticks of four players cannot make is changed at the counter.
        fresh = share_out(wanted, pool) or [start_set(points) for points in wanted]
        for seat, counts in enumerate(fresh):
            if counts != self.trays[seat]:
                self.trays[seat] = counts
                self._tell_tray(seat)
        self.payments.append(self.totals())

    def misplace(self, seat: int, fault: StickFault) -> None:
        """A stick lies in the wrong slot of a tray, or the contacts are dirty."""
        self.fault[seat] = fault
        self._tell_tray(seat)

    def _change(self, seat: int) -> None:
        tray = self.trays[seat]
        for index in (1, 0):
            if tray[index]:
                tray[index] -= 1
                tray[RIICHI] += VALUES[index] // VALUES[RIICHI]
                return

    def _slot(self, seat: int, present: bool) -> None:
        self.slots[seat] = present
        if self.capabilities & Capability.RIICHI_SLOTS:
            self.emit(m.RiichiSlot(seat, int(present)))

    def _tell_tray(self, seat: int) -> None:
        if self.capabilities & Capability.STICK_TRAYS:
            tray = self.trays[seat]
            counts = (
                min(tray[0], 255),
                min(tray[1], 255),
                min(tray[2], 255),
                min(tray[3], 255),
                min(tray[4], 255),
            )
            self.emit(m.StickTray(seat, counts, self.fault[seat]))
