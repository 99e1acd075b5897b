"""The log of a game's commands: what stands, what was taken back, and the state they fold to.

Undo is an event: the state goes back to before the command, and what came after it is decided again
(design §2). Commands of this hand and the one before can go; older ones only fold.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from tablectl.engine.game import commands as cmd
from tablectl.engine.game import events as ev
from tablectl.engine.game.apply import apply_all
from tablectl.engine.game.commands import Command, Refusal, command_from_json
from tablectl.engine.game.decide import decide
from tablectl.engine.game.events import Event
from tablectl.engine.game.state import EMPTY, GameState

KEPT_HANDS = 2

RESULTS = (
    cmd.Win,
    cmd.ResultDraw,
    cmd.DeclareTenpai,
    cmd.DeclareNoten,
    cmd.KyuushuKyuuhai,
    cmd.Settle,
)
"""What a correction window is about (A45.14, J-IX.2)."""

Decided = list[tuple[str, Command, list[Event]]]
"""Commands with their ids and the events each led to, in order."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One command that stands, and the state it was decided in."""

    command_id: str
    command: Command | None
    """None: not known any more (folded from events of an older release)."""
    before: GameState
    starts_hand: bool
    discards: bool


class Ledger:
    """State and log of one table's game."""

    def __init__(self) -> None:
        self.state: GameState = EMPTY
        self.entries: list[Entry] = []

    @property
    def last_command_id(self) -> str | None:
        """The last command still standing."""
        return self.entries[-1].command_id if self.entries else None

    def submit(self, command_id: str, command: Command) -> Decided | Refusal:
        """Decide a command; what it led to is part of the state from now on."""
        if isinstance(command, cmd.Undo):
            return self._undo(command_id, command)
        answer = decide(self.state, command)
        if isinstance(answer, Refusal):
            return answer
        self._add(command_id, command, answer)
        return [(command_id, command, answer)]

    def restore(self, command_id: str, command: Command | None, events: Sequence[Event]) -> None:
        """Take in journaled events of one command, as they were decided then."""
        if len(events) == 1 and isinstance(events[0], ev.Undone):
            index = self._find(events[0].retracted[0]) if events[0].retracted else None
            if index is not None:
                self._cut(index)
            return
        self._add(command_id, command, events)

    def commands_json(self) -> list[dict[str, Any]]:
        """Commands that stand, for the snapshot; states come back with the events."""
        return [
            {"id": entry.command_id, "command": entry.command.to_json()}
            for entry in self.entries
            if entry.command is not None
        ]

    # ------------------------------------------------------------------ inside

    def _add(self, command_id: str, command: Command | None, events: Sequence[Event]) -> None:
        kinds = {type(event) for event in events}
        if ev.GameStarted in kinds:
            self.entries.clear()
        before = self.state
        self.state = apply_all(before, events)
        self.entries.append(
            Entry(command_id, command, before, ev.HandStarted in kinds, ev.Discarded in kinds)
        )
        starts = [i for i, entry in enumerate(self.entries) if entry.starts_hand]
        if len(starts) > KEPT_HANDS:
            del self.entries[: starts[-KEPT_HANDS]]

    def _find(self, command_id: str) -> int | None:
        for index, entry in enumerate(self.entries):
            if entry.command_id == command_id:
                return index
        return None

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
                "only commands of this hand and the one before can be taken back",
                value=command.command_id,
            )
        refusal = self._closed(index)
        if refusal is not None:
            return refusal
        replacement: Command | None = None
        if command.replacement is not None:
            replacement = command_from_json(command.replacement)
            answer = decide(self.entries[index].before, replacement)
            if isinstance(answer, Refusal):
                return answer
        tail = self._cut(index)
        retracted = tuple(entry.command_id for entry in tail)
        decided: Decided = [
            (undo_id, command, [ev.Undone(command.command_id, retracted, command.reason)])
        ]
        again = [entry.command for entry in tail[1:]]
        for number, following in enumerate([replacement, *again]):
            if following is None:
                continue
            answer = decide(self.state, following)
            if isinstance(answer, Refusal):
                continue  # it does not hold any more without what was taken back
            new_id = f"{undo_id}.{number}"
            self._add(new_id, following, answer)
            decided.append((new_id, following, answer))
        return decided

    def _closed(self, index: int) -> Refusal | None:
        """Why the command may not go any more, or None (row 136, design §2)."""
        later = self.entries[index + 1 :]
        state = self.state
        if not later or state.game is None:
            return None
        entry = self.entries[index]
        if isinstance(entry.command, cmd.StartGame):
            return Refusal("undo_closed", "a game with play in it is aborted, not taken back")
        if not any(following.starts_hand for following in later):
            return None  # its hand is still on the table
        closes = state.rules.correction_closes
        is_open = closes == "never" or (
            closes == "next_first_discard" and not any(following.discards for following in later)
        )
        if is_open and isinstance(entry.command, RESULTS):
            return None
        return Refusal(
            "undo_closed",
            "the time to correct this is over",
            "a referee adjusts the scores instead",
            state.rules.ref("correction_closes"),
        )


def fold(standing: Iterable[tuple[str, Event]]) -> GameState:
    """The state after events of a game, each with its command id; what was undone is left out."""
    kept: list[tuple[str, Event]] = []
    for command_id, event in standing:
        if isinstance(event, ev.Undone):
            gone = set(event.retracted)
            kept = [item for item in kept if item[0] not in gone]
        else:
            kept.append((command_id, event))
    return apply_all(EMPTY, [event for _, event in kept])
