"""The end of a hand: points move, the next dealer is named, the game may be over (rules 1.1, 1.3)."""

from __future__ import annotations

from tablectl.engine.game import commands as cmd
from tablectl.engine.game import events as ev
from tablectl.engine.game.commands import Refusal
from tablectl.engine.game.ending import ABORTIVE, Ending, close_game, disclosures, next_hand
from tablectl.engine.game.events import Event, Four
from tablectl.engine.game.referee import open_hand_enders
from tablectl.engine.game.state import GameState, Outcome

Answer = list[Event] | Refusal


def settle(state: GameState, command: cmd.Settle) -> Answer:
    """The result that stands is paid."""
    outcome = state.outcome
    if state.phase != "result" or outcome is None:
        return Refusal("no_result", "no result is waiting to be settled")
    waiting = open_hand_enders(state)
    if waiting:
        return Refusal(
            "finding_open",
            "the referee has a finding to settle first",
            "settle_finding: uphold or dismiss it",
            "A53.2",
            waiting[0],
        )
    return settled(state, outcome, command.stop)


def settled(state: GameState, outcome: Outcome, stop: bool = False) -> list[Event]:
    """Events of the settlement: the hand's end, findings disclosed, the game's end if it is over."""
    rules = state.rules
    scores = _plus(state.scores, outcome.deltas)
    following = next_hand(
        rules,
        ending=ending_of(outcome),
        dealer_stays=dealer_stays(state, outcome),
        round_wind=state.round_wind,
        hand_number=state.hand_number,
        honba=state.honba,
        dealer=state.dealer,
        first_dealer=state.first_dealer,
        scores=scores,
        hands_to_play=state.hands_to_play,
        stop=stop,
    )
    taken = -sum(outcome.deltas) // 1000
    out: list[Event] = [
        ev.HandEnded(
            reason=outcome.kind,
            deltas=outcome.deltas,
            scores=scores,
            deposits=state.deposits + taken,
            honba=following.honba,
            next_dealer=(state.first_dealer + following.hand_number - 1) % 4,
            round_wind=following.round_wind,
            hand_number=following.hand_number,
            renchan=following.renchan,
        ),
        *disclosures(state),
    ]
    if following.over is not None:
        out += close_game(state, out, following.over)
    return out


def ending_of(outcome: Outcome) -> Ending:
    """Win, draw or abort."""
    if outcome.kind == "win":
        return "win"
    return "abort" if outcome.kind in ABORTIVE else "draw"


def dealer_stays(state: GameState, outcome: Outcome) -> bool:
    """Renchan (rows 14, 31): the dealer won, was tenpai where that is enough, or the hand was aborted."""
    if outcome.kind == "win":
        return any(win.seat == state.dealer for win in outcome.wins)
    if outcome.kind in ABORTIVE:
        return True
    return (
        state.rules.renchan == "tenpai"
        and outcome.tenpai is not None
        and outcome.tenpai[state.dealer]
    )


def _plus(a: Four, b: Four) -> Four:
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3])
