"""Who does what next: one prompt for the console and the board, and what a winner says.

A prompt never depends on concealed tiles.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tablectl.engine.game.events import Won
from tablectl.engine.game.state import GameState
from tablectl.engine.game.wall import INDICATORS, Break
from tablectl.engine.scoring.declaration import Announcement, announce, draw_declaration


@dataclass(frozen=True, slots=True)
class Prompt:
    """What the table waits for: a stable `code`, whose turn it is, the article."""

    code: str
    seat: int | None = None
    article: str = ""
    detail: str = ""

    def to_json(self) -> dict[str, Any]:
        """JSON object."""
        return {name: getattr(self, name) for name in self.__slots__}


def prompt(state: GameState) -> Prompt | None:
    """What comes next, or None where nothing is awaited (no game, game over)."""
    if state.game is None or state.phase in ("empty", "ended"):
        return None
    if state.paused:
        return Prompt("resume")
    return _BY_PHASE[state.phase](state)


def _seating(state: GameState) -> Prompt:
    draw = state.seat_draw
    assert draw is not None
    if draw.step == "row":
        return Prompt("turn_up_row", None, state.rules.ref("seat_draw"))
    if draw.step.startswith("dealer"):
        code = "throw_for_first_dealer"
        return Prompt(code, draw.thrower, state.rules.ref("first_dealer"))
    return Prompt("throw_for_seats", draw.thrower, state.rules.ref("seat_draw"), draw.step)


def _ready(state: GameState) -> Prompt:
    assert state.game is not None
    if state.rules.dealer_marker and not state.hands_ended and not state.game.adopted:
        return Prompt("lay_dealer_marker", state.dealer, state.rules.ref("dealer_marker"))
    return Prompt("press_start", state.dealer, "A28.3")


def _play(state: GameState) -> Prompt:
    if not state.dora and state.tiles_known:
        return Prompt(
            "turn_indicator", indicator_turner(state), state.rules.ref("indicator_turner")
        )
    if state.step == "own":
        return Prompt("discard", state.turn)
    if state.step == "call":
        return Prompt("discard_after_call", state.turn)
    if state.step in ("rob", "rinshan"):
        return Prompt("draw_replacement", state.turn)
    if not state.tiles_known:
        return Prompt("report_result")
    return Prompt("draw" if state.live else "declare", state.turn if state.live else state.dealer)


def _tenpai(state: GameState) -> Prompt:
    rules = state.rules
    undeclared = [seat for seat in _in_wind_order(state) if state.seats[seat].tenpai is None]
    said = [seat.tenpai for seat in state.seats if seat.tenpai is not None]
    declaration = draw_declaration(rules, 4 if all(said) else 0)
    last = len(undeclared) == 1 and declaration.last_says_hai
    code = "declare_tenpai_hai" if last else "declare_tenpai"
    seat = undeclared[0] if declaration.order is not None else None
    return Prompt(code, seat, rules.ref("declaration_order"))


def _in_wind_order(state: GameState) -> list[int]:
    return [(state.dealer + wind) % 4 for wind in range(4)]


def indicator_turner(state: GameState) -> int | None:
    """The seat that turns the first indicator: before whom it lies, or who sits at the dead wall (row 100)."""
    if state.rules.indicator_turner == "machine" or state.wall is None:
        return None
    seat, stacks, first = state.wall
    opened = Break((seat - state.dealer) % 4, stacks, first)
    tile = INDICATORS[0] if state.rules.indicator_turner == "faces_indicator" else 135
    return (state.dealer + opened.place(tile).wind) % 4


_BY_PHASE: dict[str, Callable[[GameState], Prompt]] = {
    "seating": _seating,
    "ready": _ready,
    "walls": lambda state: Prompt("build_walls"),
    "dice": lambda state: Prompt("throw_dice", state.dealer, "A28.3"),
    "deal": lambda state: Prompt("deal", state.dealer, "A34"),
    "play": _play,
    "tenpai": _tenpai,
    "result": lambda state: Prompt("settle"),
}


def announcement(state: GameState, won: Won) -> Announcement:
    """What the winner says of a win that stands (row 42)."""
    tsumo = won.seat == won.from_seat
    return announce(won.payments, won.honba, state.rules, tsumo=tsumo)
