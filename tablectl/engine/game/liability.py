"""Who becomes liable by a call (pao, sekinin-barai; rules 1.12)."""

from __future__ import annotations

from tablectl.engine.game.events import Hand
from tablectl.engine.game.hands import scoring_melds
from tablectl.engine.game.state import GameState, Meld, MeldKind
from tablectl.engine.scoring.pao import fixed_by_call
from tablectl.engine.tiles import KIND


def pao_of_call(state: GameState, number: int, kind: MeldKind, tile: int, hand_tiles: Hand) -> str:
    """The yakuman that a call of `tile` fixes for seat `number`, or ''."""
    if kind == "chi" or not state.rules.pao or len(state.seats[number].melds) < 2:
        return ""
    melds = (*state.seats[number].melds, Meld(kind, (tile, *hand_tiles)))
    live = not _seen(state, KIND[tile])
    return fixed_by_call(scoring_melds(melds), state.rules, live_tile=live) or ""


def _seen(state: GameState, kind: int) -> bool:
    """Whether a copy other than the last discard lies face up (3-J20)."""
    source = state.discard[0] if state.discard is not None else -1
    for number, seat in enumerate(state.seats):
        river = seat.river[:-1] if number == source else seat.river
        if any(t.tile is not None and KIND[t.tile] == kind for t in river):
            return True
        if any(KIND[tile] == kind for meld in seat.melds for tile in meld.tiles):
            return True
    return any(tile is not None and KIND[tile] == kind for tile in state.dora)


def liable_for(state: GameState, winner: int) -> dict[str, int]:
    """Yakuman → liable seat for a win of `winner`."""
    return {pao.yakuman: pao.liable for pao in state.pao if pao.winner == winner}
