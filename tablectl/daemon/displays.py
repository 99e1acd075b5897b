"""What the table's displays should show: derived from the state, whoever wrote them last."""

from __future__ import annotations

from collections.abc import Iterable

from firmware_protocol import messages as m
from firmware_protocol.schema import Message
from firmware_protocol.vocabulary import Capability, Lamp
from tablectl.engine.game.events import Four
from tablectl.engine.game.state import GameState

DARK: Four = (0, 0, 0, 0)


def desired(state: GameState, capabilities: int) -> list[Message]:
    """One SET message for each display the machine has."""
    has = Capability(capabilities)
    scores = shown_scores(state)
    out: list[Message] = []
    if has & Capability.ROUND_DISPLAY:
        out.append(m.SetRound(state.round_wind % 4, state.hand_number, state.dealer))
    if has & Capability.HONBA_DISPLAY:
        out.append(m.SetHonba(min(state.honba, 255)))
    if has & Capability.DEPOSITS_DISPLAY:
        out.append(m.SetDeposits(min(state.deposits, 255)))
    if has & Capability.SCORE_DISPLAYS:
        floor = None if has & Capability.NEGATIVE_SCORES else 0
        out.append(m.SetScores(scores if floor is None else _four(max(s, floor) for s in scores)))
    if has & Capability.DIFFERENCE_DISPLAYS:
        out += [
            m.SetDifferences(seat, _four(scores[seat] - other for other in scores))
            for seat in range(4)
        ]
    if has & Capability.LAMPS:
        out.append(m.SetLamps(*lamps(state)))
    return out


def shown_scores(state: GameState) -> Four:
    """Scores as they will be once the result that stands is paid, so that people can pay it."""
    if state.outcome is None or state.phase != "result":
        return state.scores
    return _four(a + b for a, b in zip(state.scores, state.outcome.deltas, strict=True))


def lamps(state: GameState) -> tuple[int, int]:
    """(lamps that shine, those that blink): riichi, the dealer, blinking where a riichi may be won yet."""
    on = blink = 0
    if state.game is None or state.phase in ("empty", "seating", "ended"):
        return 0, 0
    on |= Lamp.DEALER_0 << state.dealer
    in_hand = state.phase != "ready"
    for seat in range(4):
        riichi = state.seats[seat].riichi if in_hand else 0
        if riichi:
            on |= Lamp.RIICHI_0 << seat
        if riichi == 1:
            blink |= Lamp.RIICHI_0 << seat
    return int(on), int(blink)


def _four(values: Iterable[int]) -> Four:
    a, b, c, d = values
    return (a, b, c, d)
