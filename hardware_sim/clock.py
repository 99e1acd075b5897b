"""Time that is handed in: an agenda of what is due, and people or motors that wait.

Nothing here reads a clock; times are integer microseconds of the clock handed in. `Agenda.run(now)` does what is due up to `now`, each thing at its own
time, so that two runs with the same seed and the same inputs do the same things at the same times.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable, Generator
from dataclasses import dataclass, field

SECOND = 1_000_000


@dataclass(frozen=True, slots=True)
class Pause:
    """A person or motor is busy for so many seconds (already scaled by speed)."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Until:
    """Wait until `ready()`; give up after `patience` seconds (None: never)."""

    ready: Callable[[], bool]
    patience: float | None = None
    what: str = ""
    """What is waited for, in words, for the view."""


Activity = Generator[Pause | Until, bool, None]
"""A person's or machine's doing: yields what it waits for, gets False when patience ran out."""


@dataclass(slots=True)
class Appointment:
    """Something due; `cancelled` makes it never happen."""

    when: int
    act: Callable[[], None]
    cancelled: bool = False


@dataclass(slots=True)
class _Doer:
    name: str
    activity: Activity
    waiting: Until | None = None
    alarm: Appointment | None = None
    started: bool = False
    finished: bool = False


@dataclass
class Agenda:
    """What is due when; ties are done in the order in which they were made."""

    now: int = 0
    _heap: list[tuple[int, int, Appointment]] = field(default_factory=list)
    _number: itertools.count[int] = field(default_factory=itertools.count)
    _doers: list[_Doer] = field(default_factory=list)

    def at(self, when: int, act: Callable[[], None]) -> Appointment:
        """Do `act` at `when` (at once on the next run if that is past)."""
        made = Appointment(max(when, self.now), act)
        heapq.heappush(self._heap, (made.when, next(self._number), made))
        return made

    def after(self, seconds: float, act: Callable[[], None]) -> Appointment:
        """Do `act` in so many seconds."""
        return self.at(self.now + round(seconds * SECOND), act)

    def start(self, name: str, activity: Activity) -> None:
        """Let somebody begin; runs until the first wait during the next `run`."""
        doer = _Doer(name, activity)
        self._doers.append(doer)
        self.at(self.now, lambda: self._resume(doer, True))

    def stop(self, name: str) -> None:
        """Somebody drops what he is doing."""
        for doer in self._doers:
            if doer.name == name and not doer.finished:
                self._finish(doer)
        self._doers = [d for d in self._doers if not d.finished]

    def busy(self, name: str) -> bool:
        """True while somebody of this name has not finished."""
        return any(d.name == name for d in self._doers)

    def waiting_for(self, name: str) -> str:
        """What somebody waits for, in words; empty when he is acting or gone."""
        return next((d.waiting.what for d in self._doers if d.name == name and d.waiting), "")

    @property
    def next_due(self) -> int | None:
        """When `run` has something to do at the latest; None: only after an input."""
        while self._heap and self._heap[0][2].cancelled:
            heapq.heappop(self._heap)
        return self._heap[0][0] if self._heap else None

    def run(self, now: int) -> None:
        """Do everything due up to `now`, and let go on who has got what he waited for."""
        while True:
            due = self.next_due
            if due is not None and due <= now:
                _, _, appointment = heapq.heappop(self._heap)
                self.now = max(self.now, due)
                appointment.act()
            elif not self._wake():
                break
        self.now = max(self.now, now)

    def _wake(self) -> bool:
        """Resume the first who has got what he waited for."""
        for doer in self._doers:
            if doer.waiting is not None and doer.waiting.ready():
                self._resume(doer, True)
                return True
        return False

    def _resume(self, doer: _Doer, got: bool) -> None:
        if doer.finished:
            return
        doer.waiting = None
        if doer.alarm is not None:
            doer.alarm.cancelled = True
            doer.alarm = None
        try:
            wish = doer.activity.send(got) if doer.started else next(doer.activity)
            doer.started = True
        except StopIteration:
            self._finish(doer)
            self._doers = [d for d in self._doers if not d.finished]
            return
        if isinstance(wish, Pause):
            doer.alarm = self.after(wish.seconds, lambda: self._resume(doer, True))
            return
        doer.waiting = wish
        if wish.patience is not None:
            doer.alarm = self.after(wish.patience, lambda: self._resume(doer, False))

    def _finish(self, doer: _Doer) -> None:
        doer.finished = True
        doer.activity.close()
        if doer.alarm is not None:
            doer.alarm.cancelled = True
