"""Before the first hand: starting, adopting, pausing and ending a game by a person's word (rules 1.14)."""

from __future__ import annotations

from typing import Any

from tablectl.engine.game import commands as cmd
from tablectl.engine.game import events as ev
from tablectl.engine.game.apply import ruleset_of
from tablectl.engine.game.commands import Refusal
from tablectl.engine.game.ending import close_game, void_hand
from tablectl.engine.game.events import Event, Four, FourNames
from tablectl.engine.game.state import GameState, SeatDrawState
from tablectl.engine.rules.errors import RuleError
from tablectl.engine.rules.model import Ruleset

Answer = list[Event] | Refusal
_IN_HAND = ("walls", "dice", "deal", "play", "tenpai", "result")


def start_game(state: GameState, command: cmd.StartGame) -> Answer:
    """A new game; four players, a ruleset that resolves, four scores or the ruleset's start."""
    rules = _ready(state, command.ruleset, command.players)
    if isinstance(rules, Refusal):
        return rules
    if command.first_dealer is not None and not 0 <= command.first_dealer <= 3:
        return Refusal(
            "bad_seat", "the first dealer is no seat", "seats are 0-3", value=command.first_dealer
        )
    if command.first_dealer is not None and command.seat_draw:
        return Refusal(
            "dealer_before_draw",
            "seats are still to be drawn, so the first dealer is not known yet",
            "leave first_dealer empty (null) or seat_draw false",
        )
    scores = command.scores or (rules.start_points,) * 4
    return [
        _started(
            command,
            rules,
            scores=scores,
            seat_draw=command.seat_draw and rules.seat_draw != "assigned",
            shuffler=command.shuffler % 4,
            provisional_east=command.provisional_east % 4,
        )
    ]


def adopt_game(state: GameState, command: cmd.AdoptGame) -> Answer:
    """A game in progress is taken over between two hands."""
    rules = _ready(state, command.ruleset, command.players)
    if isinstance(rules, Refusal):
        return rules
    for name, low, high in (("first_dealer", 0, 3), ("round_wind", 0, 3), ("hand_number", 1, 4)):
        value = getattr(command, name)
        if not low <= value <= high:
            return Refusal("bad_value", f"{name} {value} cannot be", f"{low}-{high}", value=value)
    if command.honba < 0 or command.deposits < 0:
        return Refusal(
            "bad_value",
            "honba and deposits count from 0",
            value=min(command.honba, command.deposits),
        )
    total, full = sum(command.scores) + 1000 * command.deposits, 4 * rules.start_points
    if total != full:
        return Refusal(
            "scores_do_not_add_up",
            f"scores and deposits make {total}, four starts make {full}",
            "check the scores, or start with scores of your own and adjust them with a reason",
            value=total,
        )
    return [
        _started(
            command,
            rules,
            scores=command.scores,
            seat_draw=False,
            round_wind=command.round_wind,
            hand_number=command.hand_number,
            honba=command.honba if rules.honba_counted else 0,
            deposits=command.deposits,
            adopted=True,
        )
    ]


def _started(command: cmd.StartGame | cmd.AdoptGame, rules: Ruleset, **rest: Any) -> ev.GameStarted:
    """What every start says: who plays, by which rules, and what the table tells."""
    return ev.GameStarted(
        game_id=command.game_id,
        knowledge=command.knowledge,
        auto_deal=command.auto_deal,
        ruleset_id=rules.id,
        ruleset=rules.to_dict(),
        ruleset_hash=rules.hash,
        players=command.players,
        names=_names(command.names, command.players),
        first_dealer=command.first_dealer,
        time_limit_min=command.time_limit_min,
        **rest,
    )


def _ready(state: GameState, ruleset: dict[str, Any], players: FourNames) -> Ruleset | Refusal:
    if state.phase not in ("empty", "ended"):
        return Refusal("game_in_progress", "a game is in progress", "end or abort it first")
    if not all(players):
        return Refusal(
            "four_players_only",
            "four players are needed: three-player games are not played here",
            "name a player for every seat",
            value=sum(1 for player in players if player),
        )
    if len(set(players)) < 4:
        return Refusal(
            "same_player_twice", "one player cannot take two seats", value=", ".join(players)
        )
    try:
        return ruleset_of(ruleset)
    except RuleError as error:
        return Refusal(error.code, str(error), "give a ruleset as `rules show ID --json` prints it")


def _names(names: FourNames, players: FourNames) -> FourNames:
    first, second, third, fourth = (
        name or player for name, player in zip(names, players, strict=True)
    )
    return (first, second, third, fourth)


# ---- seat draw and first dealer ---------------------------------------------------------------------


def seat_of(thrower: int, total: int) -> int:
    """The place a throw points to: the thrower counts as 1, counter-clockwise (A3, M5)."""
    return (thrower + total - 1) % 4


def seat_throw(state: GameState, command: cmd.SeatThrow) -> Answer:
    """The throw that the seat draw or the first dealer waits for."""
    draw = state.seat_draw
    if state.phase != "seating" or draw is None:
        return Refusal("no_seat_draw", "no seat draw is going on")
    if draw.step == "row" or draw.thrower is None:
        return Refusal("row_due", "the row of tiles is turned up next", "send seat_row")
    if not (1 <= command.a <= 6 and 1 <= command.b <= 6):
        return Refusal(
            "bad_dice", "a die shows 1-6", "throw both dice again", value=(command.a, command.b)
        )
    target = seat_of(draw.thrower, command.a + command.b)
    following, thrower = _after_throw(state.rules, draw, target)
    out: list[Event] = [
        ev.SeatThrown(draw.step, draw.thrower, (command.a, command.b), target, following, thrower)
    ]
    if following == "done":
        out.append(ev.FirstDealerSet(target))
    return out


def _after_throw(rules: Ruleset, draw: SeatDrawState, target: int) -> tuple[str, int | None]:
    if draw.step == "provisional":
        return ("row", None) if rules.seat_draw == "row_one_throw" else ("parity", target)
    if draw.step == "parity":
        return "row", None
    if draw.step == "dealer1" and rules.first_dealer == "two_throws":
        return "dealer2", target
    return "done", None


def seat_row(state: GameState, command: cmd.SeatRow) -> Answer:
    """The winds that everybody got; people move to their seats."""
    draw = state.seat_draw
    if state.phase != "seating" or draw is None or draw.step != "row":
        return Refusal("no_row_due", "no row of wind tiles is to be turned up now")
    if sorted(command.winds) != [0, 1, 2, 3]:
        return Refusal(
            "bad_winds", "the row holds each wind once", "0 E, 1 S, 2 W, 3 N", value=command.winds
        )
    rules = state.rules
    if rules.seat_draw == "wind_tiles":
        east = command.winds.index(0)
        taken = list(command.winds)
    else:
        east = draw.east
        row = command.winds if draw.odd else command.winds[::-1]
        taken = [0, 0, 0, 0]
        for offset, wind in enumerate(row):
            taken[(east + offset) % 4] = wind
    order = sorted(range(4), key=lambda place: (east + taken[place]) % 4)
    step, thrower = ("dealer1", east) if rules.first_dealer != "east" else ("done", None)
    out: list[Event] = [
        ev.SeatsDrawn(
            (taken[0], taken[1], taken[2], taken[3]),
            _by_place(state.players, order),
            _by_place(state.names, order),
            east,
            step,
            thrower,
        )
    ]
    if step == "done":
        out.append(ev.FirstDealerSet(east))
    return out


def _by_place(values: FourNames, order: list[int]) -> FourNames:
    return (values[order[0]], values[order[1]], values[order[2]], values[order[3]])


# ---- the life of a game -------------------------------------------------------------------------------


def pause_game(state: GameState, command: cmd.PauseGame) -> Answer:
    """Play rests until it is resumed."""
    if state.paused:
        return Refusal("already_paused", "the game is paused already")
    return [ev.GamePaused(command.reason)]


def resume_game(state: GameState, _: cmd.ResumeGame) -> Answer:
    """Play goes on."""
    if not state.paused:
        return Refusal("not_paused", "the game is not paused")
    return [ev.GameResumed()]


def abort_hand(state: GameState, command: cmd.AbortHand) -> Answer:
    """The hand is broken off and played anew."""
    if state.phase not in _IN_HAND:
        return Refusal("no_hand", "no hand is in progress")
    return void_hand(state, "aborted")


def take_over(state: GameState, command: cmd.TakeOver) -> Answer:
    """The rest of the hand is a person's word: for a hand that the machine has lost sight of.

    A riichi that was said counts as established: a stick that lies has its say at every level.
    """
    if state.phase not in ("dice", "deal", "play"):
        return Refusal("no_hand", "no hand is being played")
    if not state.tiles_known:
        return Refusal(
            "nothing_seen", "this hand's tiles are not sensed anyway", "report its result"
        )
    said = [seat for seat in range(4) if state.seats[seat].riichi == 1]
    return [ev.HandTakenOver(command.reason), *(ev.RiichiAccepted(seat) for seat in said)]


def abort_game(state: GameState, command: cmd.AbortGame) -> Answer:
    """The game is broken off; a hand in progress does not count."""
    out: list[Event] = []
    if state.phase in _IN_HAND:
        out += void_hand(state, "aborted")
    return out + close_game(state, out, "aborted")


def call_time(state: GameState, _: cmd.CallTime) -> Answer:
    """The clock ran out: the hand in progress is the last, or one more follows, by the ruleset (M24)."""
    if state.hands_to_play:
        return Refusal("time_called_already", "time has been called")
    in_hand = (state.phase in _IN_HAND and _begun(state)) or state.replay
    remaining = (1 if in_hand else 0) + (1 if state.rules.time_limit == "one_more_hand" else 0)
    if state.phase == "seating" or (not remaining and not state.hands_ended):
        remaining = max(remaining, 1)
    if remaining:
        return [ev.TimeCalled(remaining)]
    out: list[Event] = [ev.TimeCalled(0)]
    if state.phase in _IN_HAND:
        # It had not begun yet: it is not played.
        out += void_hand(state, "aborted")
    return out + close_game(state, out, "time")


def _begun(state: GameState) -> bool:
    """Whether the hand counts as begun: with the start key, or with the dealer's first discard (J-I.10)."""
    if state.rules.hand_begins == "start_key" or not state.tiles_known:
        return True
    return bool(state.seats[state.dealer].river)


def replace_player(state: GameState, command: cmd.ReplacePlayer) -> Answer:
    """Another person takes a seat."""
    if not command.player:
        return Refusal("no_player", "name the player who takes the seat")
    if command.player in state.players:
        return Refusal(
            "same_player_twice", "that player already sits at the table", value=command.player
        )
    return [
        ev.PlayerReplaced(
            command.seat, command.player, command.name or command.player, command.reason
        )
    ]


def adjust_score(state: GameState, command: cmd.AdjustScore) -> Answer:
    """Scores and deposits changed by hand, with a reason."""
    if not command.reason.strip():
        return Refusal("no_reason", "an adjusted score needs a reason", "say why, for the record")
    if any(delta % 100 for delta in command.deltas):
        return Refusal("bad_amount", "points come in hundreds", value=command.deltas)
    if state.phase == "result":
        return Refusal("result_unsettled", "a result is waiting", "settle or undo it first")
    deposits = state.deposits + command.deposits
    if deposits < 0:
        return Refusal(
            "bad_amount", f"only {state.deposits} deposits lie on the table", value=command.deposits
        )
    return [
        ev.ScoreAdjusted(
            command.deltas,
            command.deposits,
            _plus(state.scores, command.deltas),
            deposits,
            command.reason,
        )
    ]


def _plus(a: Four, b: Four) -> Four:
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3])
