"""Point sticks: what the trays hold, and which sticks in the riichi slots belong to the hand in play."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from firmware_protocol.messages import RiichiSlot, SnapshotState, StickTray
from firmware_protocol.vocabulary import SEATS
from tablectl.engine.game import commands as cmd
from tablectl.engine.game.commands import Refusal
from tablectl.engine.game.state import GameState
from tablectl.mirror.perceive import judge
from tablectl.mirror.verdict import Verdict

STICKS = (10_000, 5_000, 1_000, 500, 100)
"""What the sticks of a tray are worth, in the order the wire counts them."""


class Sticks:
    """What the machine has told of sticks."""

    def __init__(self) -> None:
        self.trays: dict[int, int | None] = {}
        """Points in each seat's tray; None where the tray says it may be wrong."""
        self._in_slots: set[int] = set()
        """Seats with any stick in the slot."""
        self._old: set[int] = set()
        """Seats whose stick was in the slot when the hand began: it belongs to the hand before."""
        self._loose: dict[int, int] = {}
        """Seat → since when its stick belongs to no riichi (mirror time)."""
        self.late: set[int] = set()
        """Seats whose stick came when their discard had passed: a person settles it."""

    def hand_begins(self) -> None:
        """What is in a slot now is no riichi of this hand."""
        self._old = set(self._in_slots)
        self._loose, self.late = {}, set()

    def loose(self, sticks: set[int], state: GameState, now: int, patience_ms: int) -> int | None:
        """Look for sticks that belong to no riichi; when the next of them counts as late (None: there is none).

        A late one leaves `sticks`: the discard it was meant for has passed, and the next one is not it.
        """
        for seat in SEATS:
            own = state.step == "own" and state.turn == seat
            if seat not in sticks or state.phase != "play" or own or state.seats[seat].riichi:
                self._loose.pop(seat, None)
            elif now - self._loose.setdefault(seat, now) >= patience_ms:
                sticks.discard(seat)
                self.late.add(seat)
        waiting = [since + patience_ms for seat, since in self._loose.items() if seat in sticks]
        return min(waiting, default=None)

    def verdict(self) -> Verdict | None:
        """A contradiction while a late stick lies there."""
        for seat in sorted(self.late):
            text = f"seat {seat} laid a stick, and no discard of it was taken for a riichi"
            return Verdict("contradiction", "late_stick", text, seat)
        return None

    def slot(self, event: RiichiSlot) -> None:
        """A stick came into a riichi slot, or left it."""
        if event.present:
            self._in_slots.add(event.seat)
        else:
            self._in_slots.discard(event.seat)
            self._old.discard(event.seat)
            self.late.discard(event.seat)

    def tray(self, event: StickTray) -> None:
        """A tray was counted."""
        self.trays[event.seat] = None if event.fault else _points(event.sticks)

    def told(self, state: SnapshotState, *, trays: bool) -> set[int]:
        """Take over what the board tells; the seats with a stick of this hand in the slot."""
        self._in_slots = {seat for seat in SEATS if state.riichi >> seat & 1}
        self._old &= self._in_slots
        if trays:
            for seat in SEATS:
                self.trays[seat] = _points(state.trays[5 * seat : 5 * seat + 5])
        self.late &= self._in_slots
        return self._in_slots - self._old - self.late

    def against(self, state: GameState, commands: list[cmd.Command]) -> list[cmd.Command]:
        """A hand begins and the last one is paid: trays that hold something else are for the referee."""
        after = judge(state, tuple(commands))
        if isinstance(after, Refusal) or after.phase != "walls":
            return []
        reports: list[cmd.Command] = []
        for seat, score in enumerate(after.scores):
            held = self.trays.get(seat)
            if held is None or held == score:
                continue
            report = cmd.Report(
                "P45", seat, detail=f"the tray of seat {seat} holds {held}, the score is {score}"
            )
            if not isinstance(judge(after, (report,)), Refusal):
                reports.append(report)
        return reports

    def to_json(self) -> dict[str, Any]:
        """JSON fields of everything."""
        return {
            "trays": [[seat, total] for seat, total in sorted(self.trays.items())],
            "in_slots": sorted(self._in_slots),
            "old_sticks": sorted(self._old),
            "loose_sticks": [[seat, since] for seat, since in sorted(self._loose.items())],
            "late_sticks": sorted(self.late),
        }

    def load(self, data: dict[str, Any]) -> None:
        """Take over what `to_json` wrote; a journal of an earlier version knows no slots."""
        self.trays = dict(data["trays"])
        self._in_slots = set(data.get("in_slots", data["sticks"]))
        self._old = set(data.get("old_sticks", ()))
        self._loose = dict(data.get("loose_sticks", ()))
        self.late = set(data.get("late_sticks", ()))


def _points(sticks: Sequence[int]) -> int:
    return sum(count * worth for count, worth in zip(sticks, STICKS, strict=True))
