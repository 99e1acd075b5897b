"""What the demo tells in the terminal: a line for each hand, and one live line while it is played."""

from __future__ import annotations

import sys
from typing import Any, Final, TextIO

from tablectl.bus.payloads import SeenEvent

ROUNDS: Final = ("East", "South", "West", "North")
DRAWS: Final = {
    "exhaustive": "exhaustive draw", "nagashi": "nagashi mangan", "kyuushu": "kyuushu kyuuhai",
    "suufon": "suufon renda", "suucha_riichi": "suucha riichi", "suukaikan": "suukaikan",
    "sanchahou": "sanchahou",
}  # fmt: skip
STEPS: Final = {
    "hand_started": "walls", "walls_built": "dice", "dice_rolled": "deal", "dora_revealed": "play",
}  # fmt: skip


class Teller:
    """Turns public events into lines; `live` rewrites one line in place (a terminal only)."""

    def __init__(self, out: TextIO, *, live: bool) -> None:
        self._out = out
        self._live = live
        self._names = ["P0", "P1", "P2", "P3"]
        self._hand = ""
        self._step = ""
        self._discards = 0
        self._results: list[str] = []
        self._drawn_line = False

    def say(self, text: str) -> None:
        """One whole line."""
        self._clear()
        print(text, file=self._out, flush=True)

    def hear(self, event: SeenEvent) -> None:
        """One event as the subscriber received it."""
        field = event.field
        match event.type:
            case "game_started":
                names, players = field("names"), field("players")
                self._names = [name or player for name, player in zip(names, players, strict=True)]
                self.say(
                    f"{field('ruleset_id')}, level {field('knowledge')}: {', '.join(self._names)}"
                )
            case "hand_started":
                place = f"{ROUNDS[field('round_wind')]} {field('hand_number')}"
                self._hand = f"{place}, {field('honba')} honba, {field('deposits')} deposits"
                self._discards, self._results = 0, []
            case "discarded":
                self._discards += 1
            case "won":
                self._results.append(self._win(event))
            case "hand_drawn":
                self._results.append(DRAWS.get(field("kind"), field("kind")))
            case "hand_ended":
                if field("reason") in ("chombo", "minor_chombo", "aborted"):
                    self._results.append(field("reason"))
                self._tell_hand(field("deltas"), field("scores"))
        self._step = STEPS.get(event.type, self._step)
        self._show(event)

    def finish(self) -> None:
        """Leave the terminal as it was."""
        self._clear()

    def _win(self, event: SeenEvent) -> str:
        field = event.field
        who, source = self._names[field("seat")], self._names[field("from_seat")]
        how = "tsumo" if field("seat") == field("from_seat") else f"ron from {source}"
        worth = []
        if field("han") is not None:
            worth.append(f"{field('han')} han" + (f" {field('fu')} fu" if field("fu") else ""))
        if field("limit") not in (None, "none"):
            worth.append(field("limit"))
        return f"{who} {how}, {' '.join(worth)}, {field('points'):,}"

    def _tell_hand(self, deltas: list[int], scores: list[int]) -> None:
        self.say(f"{self._hand}: {'; '.join(self._results)}")
        row = [
            f"{name} {score:,} ({change:+,})" if change else f"{name} {score:,}"
            for name, score, change in zip(self._names, scores, deltas, strict=True)
        ]
        self.say(f"    {'   '.join(row)}")

    def _show(self, event: SeenEvent) -> None:
        if not self._live or not self._hand:
            return
        text = f"  {self._hand} · {self._step}"
        if self._discards:
            text += f" · {self._discards} discards"
        print(f"\r\x1b[2K{text} · event {event.seq}", end="", file=self._out, flush=True)
        self._drawn_line = True

    def _clear(self) -> None:
        if self._drawn_line:
            print("\r\x1b[2K", end="", file=self._out)
            self._drawn_line = False


def final_lines(names: list[str], ended: dict[str, Any]) -> list[str]:
    """The last table: rank, name, score, points."""
    order = sorted(range(4), key=lambda seat: ended["ranks"][seat])
    scale = ended["points_scale"]
    return [
        f"  {ended['ranks'][seat]}. {names[seat]:<12} {ended['scores'][seat]:>8,}"
        f"  {ended['points'][seat] / scale:>+7.1f}"
        for seat in order
    ]


def is_terminal(stream: TextIO) -> bool:
    """Whether a line can be rewritten in place."""
    return stream.isatty() and sys.platform != "win32"
