"""The log of a game's commands and the undo that works on it (design §2, A45.14, J-IX.2).

`undone` makes the state what it was before a command; the commands after it are decided again, in order,
and what no longer holds falls away. A correction puts another command in the place of the one undone.
Physical facts are never undone, only decided again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tablectl.engine.game import commands as cmd
from tablectl.engine.game import events as ev
from tablectl.engine.game.apply import apply_all
from tablectl.engine.game.codec import VocabularyError
from tablectl.engine.game.commands import Command, Refusal, command_from_json
from tablectl.engine.game.decide import decide
from tablectl.engine.game.events import Event
from tablectl.engine.game.state import EMPTY, GameState

Decided = list[tuple[str, list[Event]]]
"""Command ids with the events each led to, in order."""
KEPT_HANDS = 3
"""Hands whose commands keep the state they were decided in; older ones only fold."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One command that stands."""

    command_id: str
    command: Command | None
    """None: not known any more (folded from events alone)."""
    before: GameState
    physical: bool
    events: tuple[Event, ...]

    def has(self, kind: type[Event]) -> bool:
        """Whether it led to an event of that kind."""
        return any(isinstance(event, kind) for event in self.events)


class Timeline:
    """State and log of one game; `submit` is its only way forward."""

    def __init__(self) -> None:
        self.state: GameState = EMPTY
        self.entries: list[Entry] = []

    @property
    def last_command_id(self) -> str | None:
        """The last command that stands."""
        return self.entries[-1].command_id if self.entries else None

    def submit(
        self, command_id: str, command: Command, *, physical: bool = False
    ) -> Decided | Refusal:
        """Decide a command; what it led to is part of the state from now on."""
        if isinstance(command, cmd.Undo):
            return self._undo(command_id, command)
        answer = decide(self.state, command)
        if isinstance(answer, Refusal):
            return answer
        self._add(command_id, command, answer, physical=physical)
        return [(command_id, answer)]

    def restore(
        self,
        command_id: str,
        command: Command | None,
        events: Sequence[Event],
        *,
        physical: bool = False,
    ) -> None:
        """Take in journaled events of one command as they were decided then."""
        undone = next((event for event in events if isinstance(event, ev.Undone)), None)
        if undone is not None:
            index = self._find(undone.retracted[0]) if undone.retracted else None
            if index is not None:
                self._cut(index)
            return
        self._add(command_id, command, events, physical=physical)

    # ---- inside -----------------------------------------------------------------------------------------

    def _add(
        self, command_id: str, command: Command | None, events: Sequence[Event], *, physical: bool
    ) -> None:
        entry = Entry(command_id, command, self.state, physical, tuple(events))
        if entry.has(ev.GameStarted):
            self.entries.clear()
        self.state = apply_all(self.state, events)
        self.entries.append(entry)
        if not entry.has(ev.HandStarted):
            return
        starts = [i for i, one in enumerate(self.entries) if one.has(ev.HandStarted)]
        if len(starts) > KEPT_HANDS:
            del self.entries[: starts[-KEPT_HANDS]]

    def _find(self, command_id: str) -> int | None:
        return next(
            (i for i, entry in enumerate(self.entries) if entry.command_id == command_id), None
        )

    def _cut(self, index: int) -> list[Entry]:
        tail = self.entries[index:]
        del self.entries[index:]
        self.state = tail[0].before
        return tail

    def _undo(self, undo_id: str, command: cmd.Undo) -> Decided | Refusal:
        index = self._find(command.command_id)
        if index is None:
            return Refusal(
                "unknown_command",
                "this command does not stand (any more)",
                "only commands of this hand and those just before it can be taken back",
                value=command.command_id,
            )
        refusal = self.closed(index)
        if refusal is not None:
            return refusal
        replacement = self._replacement(index, command)
        if isinstance(replacement, Refusal):
            return replacement
        tail = self._cut(index)
        retracted = tuple(entry.command_id for entry in tail)
        decided: Decided = [(undo_id, [ev.Undone(command.command_id, retracted, command.reason)])]
        again = [(entry.command, entry.physical) for entry in tail[1:]]
        for number, (following, physical) in enumerate([(replacement, False), *again]):
            if following is None:
                continue
            answer = decide(self.state, following)
            if isinstance(answer, Refusal):
                continue  # without what was taken back it does not hold any more
            new_id = f"{undo_id}.{number}"
            self._add(new_id, following, answer, physical=physical)
            decided.append((new_id, answer))
        return decided

    def _replacement(self, index: int, command: cmd.Undo) -> Command | Refusal | None:
        if command.replacement is None:
            return None
        try:
            other = command_from_json(command.replacement)
        except VocabularyError as error:
            return Refusal(error.code, str(error), error.hint, value=error.value)
        answer = decide(self.entries[index].before, other)
        return answer if isinstance(answer, Refusal) else other

    def closed(self, index: int) -> Refusal | None:
        """Why entry `index` may not be taken back, or None: it is the last, or its window is open."""
        entry, later = self.entries[index], self.entries[index + 1 :]
        if entry.physical:
            return Refusal(
                "physical_fact",
                "what the table saw cannot be taken back",
                "correct the result, or abort the hand",
                value=entry.command_id,
            )
        if not later:
            return None
        if isinstance(entry.command, cmd.StartGame | cmd.AdoptGame):
            return Refusal("undo_closed", "a game with play in it is aborted, not taken back")
        settled = entry.has(ev.HandEnded) or any(one.has(ev.HandEnded) for one in later)
        if not settled or self._window_open(later):
            return None
        return Refusal(
            "undo_closed",
            "the time to correct this is over",
            "a referee adjusts the scores instead",
            self.state.rules.ref("correction_closes"),
            entry.command_id,
        )

    def _window_open(self, later: Sequence[Entry]) -> bool:
        """Whether the correction window of a settled hand is open (row 43)."""
        closes = self.state.rules.correction_closes
        ended = next((i for i, one in enumerate(later) if one.has(ev.HandEnded)), -1)
        after = later[ended:] if ended >= 0 else later
        if sum(1 for one in after if one.has(ev.HandEnded)) > 1:
            return False
        if closes == "next_first_discard":
            return not any(one.has(ev.Discarded) for one in after)
        if closes == "hand_broken":
            return not any(one.has(ev.HandStarted) for one in after)
        return False


def fold(log: Iterable[tuple[str, Event]]) -> GameState:
    """The state after the events of a game, each with its command id; what was undone is left out."""
    kept: list[tuple[str, Event]] = []
    for command_id, event in log:
        if isinstance(event, ev.Undone):
            gone = set(event.retracted)
            kept = [item for item in kept if item[0] not in gone]
        else:
            kept.append((command_id, event))
    return apply_all(EMPTY, [event for _, event in kept])
