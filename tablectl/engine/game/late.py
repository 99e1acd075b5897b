"""Claims that overtake a draw (rows 38, 52): the drawn tile goes back, the claim is decided as if in time.

EMA hears a ron until the next player discards (unless that player wins by tsumo) and a pon or kan for three
seconds after the discard, however fast the next player draws.
"""

from __future__ import annotations

from tablectl.engine.game import events as ev
from tablectl.engine.game.apply import apply
from tablectl.engine.game.events import Event
from tablectl.engine.game.state import GameState


def before_the_draw(
    state: GameState, source: int | None, *, ron: bool, said_ms: int | None = None
) -> tuple[GameState, list[Event]] | None:
    """The state with the last draw taken back, and the event that does it; None where it is too late.

    `source`: whose discard is claimed, None where that follows from the turn.
    """
    rules = state.rules
    if ron:
        heard = rules.ron_closes == "next_discard"
    else:
        heard = said_ms is not None and said_ms <= rules.fast_draw_grace_ms
    if not heard or state.phase != "play" or state.step != "own" or state.rinshan:
        return None
    drawer = state.seats[state.turn]
    giver = state.seats[(state.turn - 1) % 4]
    if drawer.riichi == 1 or not giver.river or giver.river[-1].called_by is not None:
        return None
    if source is not None and source != (state.turn - 1) % 4:
        return None
    returned = ev.DrawReturned(state.turn)
    return apply(state, returned), [returned]
