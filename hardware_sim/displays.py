"""What the table's displays and lamps really show, which is not always what was asked."""

from __future__ import annotations

from dataclasses import dataclass, field

from firmware_protocol import messages as m
from firmware_protocol.schema import Message
from firmware_protocol.vocabulary import Capability, Lamp

HONBA_MOST = 20
"""A commercial honba display counts to 20 and stays there."""


@dataclass
class Displays:
    """Displays by capability; a display that is not there shows nothing."""

    capabilities: int
    wind: int | None = None
    round_number: int | None = None
    dealer: int | None = None
    honba: int | None = None
    deposits: int | None = None
    scores: list[int] | None = None
    differences: dict[int, tuple[int, ...]] = field(default_factory=dict)
    lamps: int = 0
    blinking: int = 0
    texts: dict[int, str] = field(default_factory=dict)
    writes: int = 0
    """Desired states taken since power-on."""
    last_write: int = 0
    """When the last desired state came (µs)."""
    dead: bool = False
    """The display board has lost its power: it shows nothing, though it takes what is written."""
    history: list[tuple[int, str]] = field(default_factory=list)
    """When a display changed what it shows, in words; µs of the clock."""

    def take(self, message: Message, now: int) -> None:
        """Show a desired state as far as this table can."""
        self.writes += 1
        self.last_write = now
        before = self.reading()
        has = self.capabilities
        match message:
            case m.SetRound() if has & Capability.ROUND_DISPLAY:
                self.wind, self.round_number = message.wind, message.number
                self.dealer = message.dealer
            case m.SetHonba() if has & Capability.HONBA_DISPLAY:
                self.honba = min(message.honba, HONBA_MOST)
            case m.SetDeposits() if has & Capability.DEPOSITS_DISPLAY:
                self.deposits = message.deposits
            case m.SetScores() if has & Capability.SCORE_DISPLAYS:
                self.scores = [self._digits(score) for score in message.scores]
            case m.SetDifferences() if has & Capability.DIFFERENCE_DISPLAYS:
                self.differences[message.seat] = tuple(message.differences)
            case m.SetLamps() if has & Capability.LAMPS:
                self.lamps, self.blinking = message.on, message.blink & message.on
            case m.SetText() if has & Capability.TEXT_DISPLAY:
                self.texts[message.display] = message.text
            case _:
                return
        after = self.reading()
        for name, value in after.items():
            if value != before[name]:
                self.history.append((now, f"{name} {value}"))

    def dark(self) -> None:
        """Power was lost: nothing is shown until it is written again."""
        fresh = Displays(self.capabilities)
        for name in (
            "wind",
            "round_number",
            "dealer",
            "honba",
            "deposits",
            "scores",
            "lamps",
            "blinking",
        ):
            setattr(self, name, getattr(fresh, name))
        self.differences, self.texts = {}, {}

    def reading(self) -> dict[str, object]:
        """Everything a person can read off the table now."""
        if self.dead:
            return dict.fromkeys(
                ("round", "dealer", "honba", "deposits", "scores", "differences", "lamps", "texts")
            )
        wind = None if self.wind is None else f"{'ESWN'[self.wind]}{self.round_number}"
        return {
            "round": wind,
            "dealer": self.dealer,
            "honba": self.honba,
            "deposits": self.deposits,
            "scores": None if self.scores is None else list(self.scores),
            "differences": {str(s): list(d) for s, d in sorted(self.differences.items())} or None,
            "lamps": [str(lamp.name) for lamp in Lamp if self.lamps & lamp],
            "texts": {str(n): t for n, t in sorted(self.texts.items())} or None,
        }

    def _digits(self, score: int) -> int:
        """A display without a minus sign stays at zero below it (箱下)."""
        return score if score >= 0 or self.capabilities & Capability.NEGATIVE_SCORES else 0
