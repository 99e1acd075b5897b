"""Plays a fault script on a table: waits for the moments its sentences name, and does the deeds."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from hardware_sim.faults import board, line, machine, people, sensors
from hardware_sim.faults.language import (
    Sentence,
    bundled_names,
    load_script,
    manual,
    parse_script,
)

if TYPE_CHECKING:
    from hardware_sim.table import SimTable

__all__ = ["AREAS", "Faults", "bundled_names", "manual"]

AREAS = (line, board, machine, sensors, people)
"""Importing them declares their forms of words."""


class Faults:
    """A script under way."""

    def __init__(self, sentences: list[Sentence]) -> None:
        self.sentences = sentences
        self.done: list[tuple[int, str]] = []
        """(µs, sentence) of what has happened."""
        self._waiting = [s for s in sentences if s.trigger.kind not in {"start", "after"}]
        self._counts: Counter[tuple[str, int]] = Counter()
        self._hand = -1

    @classmethod
    def load(cls, name: str) -> Faults:
        """A script file, or one that comes with the simulator. Raises ScriptError."""
        return cls(load_script(name))

    @classmethod
    def parse(cls, text: str) -> Faults:
        """A script given as text. Raises ScriptError."""
        return cls(parse_script(text))

    def begin(self, table: SimTable) -> None:
        """Do what happens at the start."""
        for sentence in self.sentences:
            if sentence.trigger.kind == "start":
                table.agenda.after(0, lambda s=sentence: self._do(table, s))  # type: ignore[misc] # mypy cannot infer defaults

    def notice(self, table: SimTable, kind: str, hand: int, seat: int) -> None:
        """Something happened at the table: whoever waited for it does his deed."""
        if hand != self._hand:
            self._hand = hand
            self._counts.clear()
        self._counts[kind, -1] += 1
        self._counts[kind, seat] += seat >= 0
        for sentence in list(self._waiting):
            trigger = sentence.trigger
            if (
                trigger.kind != kind
                or trigger.hand not in {-1, hand}
                or trigger.seat not in {-1, seat}
            ):
                continue
            if trigger.count in {0, self._counts[kind, trigger.seat]}:
                self._waiting.remove(sentence)
                self._do(table, sentence)

    @property
    def finished(self) -> bool:
        """True when every sentence has happened."""
        return len(self.done) == len(self.sentences)

    def _do(self, table: SimTable, sentence: Sentence) -> None:
        self.done.append((table.agenda.now, sentence.text))
        sentence.do(table, **sentence.words)
        follower = self.sentences.index(sentence) + 1
        if follower < len(self.sentences) and self.sentences[follower].trigger.kind == "after":
            after = self.sentences[follower]
            table.agenda.after(after.trigger.seconds, lambda: self._do(table, after))
