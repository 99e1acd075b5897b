"""What each feed may see of a state, and the prompt that says who does what next."""

from __future__ import annotations

from typing import Any

from tablectl.engine.game.codec import Viewer, tile_text
from tablectl.engine.game.state import GameState, Seat


def snapshot(state: GameState, viewer: Viewer = "public") -> dict[str, Any]:
    """The state as `viewer` may see it: hands of other seats as counts, no furiten, no findings.

    Keys never depend on concealed tiles; `"referee"` sees everything.
    """
    return {
        "phase": state.phase,
        "paused": state.paused,
        "game_id": None if state.game is None else state.game.game_id,
        "knowledge": None if state.game is None else state.game.knowledge,
        "ruleset": None if state.game is None else state.game.rules.id,
        "ruleset_hash": None if state.game is None else state.game.ruleset_hash,
        "players": list(state.players),
        "names": list(state.names),
        "round_wind": state.round_wind,
        "hand_number": state.hand_number,
        "honba": state.honba,
        "deposits": state.deposits,
        "dealer": state.dealer,
        "first_dealer": state.first_dealer,
        "scores": list(state.scores),
        "last_hand": state.hands_to_play == 1,
        "hands_ended": state.hands_ended,
        "dice": None if state.dice is None else list(state.dice),
        "wall": None
        if state.wall is None
        else dict(zip(("wall_seat", "stacks", "first_stack"), state.wall, strict=True)),
        "turn": state.turn,
        "step": state.step,
        "tiles_left": state.live,
        "dora": [None if tile is None else tile_text(tile) for tile in state.dora],
        "seats": [_seat(state, seat, viewer) for seat in range(4)],
        "result": None if state.outcome is None else state.outcome.to_json(),
        "final": None if state.final is None else state.final.to_json(),
        "seat_draw": None if state.seat_draw is None else state.seat_draw.to_json(),
        "findings": [finding.to_json() for finding in state.findings]
        if viewer == "referee"
        else None,
    }


def public_snapshot(state: GameState) -> dict[str, Any]:
    """What everybody may see: goes out on retained topics and the hall board."""
    return snapshot(state, "public")


def _seat(state: GameState, number: int, viewer: Viewer) -> dict[str, Any]:
    seat: Seat = state.seats[number]
    own = viewer == "referee" or viewer == number
    return {
        "seat": number,
        "player": state.players[number],
        "name": state.names[number],
        "wind": state.wind(number),
        "score": state.scores[number],
        "riichi": seat.riichi == 2,
        "riichi_declared": seat.riichi > 0,
        "double_riichi": seat.double and seat.riichi > 0,
        "concealed": seat.concealed,
        "melds": [meld.to_json() for meld in seat.melds],
        "river": [tile.to_json() for tile in seat.river],
        "tenpai": seat.tenpai,
        "shown": None if seat.shown is None else [tile_text(tile) for tile in seat.shown],
        "warnings": state.warnings[number],
        "stopped": seat.stopped,
        "hand": [tile_text(tile) for tile in seat.hand] if own else None,
        "drawn": (None if seat.drawn is None else tile_text(seat.drawn)) if own else None,
        "missed": seat.missed if own else None,
    }
