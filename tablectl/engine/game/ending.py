"""After a hand and after the game: who deals next, whether the game is over, final points (rules 1.1)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import lcm
from typing import Literal

from tablectl.engine.game import events as ev
from tablectl.engine.game.apply import apply_all
from tablectl.engine.game.events import Event, Four, GameEnd
from tablectl.engine.game.state import GameState
from tablectl.engine.rules.model import Ruleset

ABORTIVE = frozenset({"kyuushu", "suufon", "suucha_riichi", "suukaikan", "sanchahou"})
Ending = Literal["win", "draw", "abort"]


@dataclass(frozen=True, slots=True)
class NextHand:
    """The hand after this one, or the end of the game (`over`)."""

    renchan: bool
    honba: int
    round_wind: int
    hand_number: int
    over: GameEnd | None


def next_hand(
    rules: Ruleset,
    *,
    ending: Ending,
    dealer_stays: bool,
    round_wind: int,
    hand_number: int,
    honba: int,
    dealer: int,
    first_dealer: int,
    scores: Four,
    hands_to_play: int = 0,
    stop: bool = False,
) -> NextHand:
    """What follows a hand; `dealer_stays` = the dealer won, was tenpai, or the hand was aborted.

    `scores` are those after the settlement, without the deposits on the table (T9); `stop` = the dealer
    of the last hand wants to end it, where the ruleset lets him choose.
    """
    counted = rules.honba_counted and not (
        ending == "draw" and not dealer_stays and not rules.honba_on_rotating_draw
    )
    if ending == "win" and not dealer_stays:
        following = 0
    else:
        following = honba + 1 if counted else honba
    wind, number = round_wind, hand_number
    if not dealer_stays:
        wind, number = (round_wind + 1, 1) if hand_number == 4 else (round_wind, hand_number + 1)
    over = _over(
        rules, ending, dealer_stays, round_wind, hand_number, dealer, first_dealer, scores, stop
    )
    if hands_to_play == 1:
        over = over or "time"
    return NextHand(dealer_stays, following, wind, number, over)


def _over(
    rules: Ruleset,
    ending: Ending,
    renchan: bool,
    round_wind: int,
    hand_number: int,
    dealer: int,
    first_dealer: int,
    scores: Four,
    stop: bool,
) -> GameEnd | None:
    lowest, highest = min(scores), max(scores)
    if (rules.tobi == "below_zero" and lowest < 0) or (
        rules.tobi == "zero_or_less" and lowest <= 0
    ):
        return "tobi"
    last_wind = 0 if rules.length == "tonpuusen" else 1
    overtime = round_wind > last_wind
    if not overtime and not (round_wind == last_wind and hand_number == 4):
        return None
    reached = highest >= rules.target_points
    if overtime and rules.overtime_end == "at_once" and reached and ending != "abort":
        return "extension"
    if renchan:
        if ending == "abort":
            return None
        choice = rules.agari_yame if ending == "win" else rules.tenpai_yame
        if choice == "none" or (choice == "optional" and not stop):
            return None
        leads = order_of(scores, first_dealer)[0] == dealer
        return "agari_yame" if leads and scores[dealer] >= rules.target_points else None
    if rules.extension == "none":
        return "last_hand"
    if reached:
        return "extension" if overtime else "last_hand"
    at_limit = round_wind == last_wind + 1 and hand_number == 4
    return "extension" if at_limit else None


def order_of(scores: Sequence[int], first_dealer: int) -> list[int]:
    """Seats from first to last; ties by East-1 seat order (T14)."""
    return sorted(range(4), key=lambda seat: (-scores[seat], (seat - first_dealer) % 4))


# ---- final points -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Standing:
    """Scores, ranks and points of a finished game; `points` in 1/`scale` pt."""

    scores: Four
    deposits_left: int
    ranks: Four
    points: Four
    scale: int


def standing(
    rules: Ruleset,
    scores: Four,
    deposits: int,
    first_dealer: int,
    placement: Four = (0, 0, 0, 0),
) -> Standing:
    """The final result in the order of the rules: deposits, rank, uma, oka, sanctions (1.1.2)."""
    final = list(scores)
    left = deposits
    if rules.leftover_deposits == "first" and deposits:
        left = 0
        firsts = _tied_first(rules, final, first_dealer)
        share, rest = divmod(10 * deposits, len(firsts))
        for place, seat in enumerate(firsts):
            final[seat] += 100 * (share + (1 if place < rest else 0))
    order = order_of(final, first_dealer)
    groups = _groups(rules, final, order)
    uma = _uma(rules, final)
    prizes = [uma[0] + rules.oka, uma[1], uma[2], uma[3]]
    scale = 1000
    for group in groups:
        if sum(prizes[place] for place in group) % len(group):
            scale = lcm(scale, 1000 * len(group))
    factor = scale // 1000
    points, ranks = [0, 0, 0, 0], [0, 0, 0, 0]
    for group in groups:
        prize = sum(prizes[place] for place in group) * factor // len(group)
        for place in group:
            seat = order[place]
            counted = final[seat] if rules.point_rounding == "none" else _whole(rules, final[seat])
            points[seat] = (counted - rules.return_points) * factor + prize
            ranks[seat] = group[0] + 1
    if rules.point_rounding != "none":
        # The first takes what rounding left over.
        points[order[0]] = -sum(points[seat] for seat in order[1:])
    for seat in range(4):
        points[seat] += placement[seat] * factor
    return Standing(_four(final), left, _four(ranks), _four(points), scale)


def _tied_first(rules: Ruleset, scores: list[int], first_dealer: int) -> list[int]:
    order = order_of(scores, first_dealer)
    if rules.ties == "seat_order":
        return order[:1]
    return [seat for seat in order if scores[seat] == scores[order[0]]]


def _groups(rules: Ruleset, scores: list[int], order: list[int]) -> list[list[int]]:
    """Places (0 = first) that share their prizes."""
    groups: list[list[int]] = []
    for place in range(4):
        if place and rules.ties == "split" and scores[order[place]] == scores[order[place - 1]]:
            groups[-1].append(place)
        else:
            groups.append([place])
    return groups


def _uma(rules: Ruleset, scores: list[int]) -> Four:
    if rules.uma_kind == "fixed":
        return rules.uma
    above = sum(1 for score in scores if score >= rules.above_water_points)
    return rules.uma_floating[above]


def _whole(rules: Ruleset, score: int) -> int:
    """A score to the nearest thousand (logs of before 2022, N7)."""
    if rules.point_rounding == "whole_points_half_up" or score >= 0:
        return (score + 500) // 1000 * 1000
    return (500 - score) // 1000 * -1000


def _four(values: Sequence[int]) -> Four:
    return (values[0], values[1], values[2], values[3])


# ---- events -----------------------------------------------------------------------------------------


def close_game(state: GameState, pending: Iterable[Event], reason: GameEnd) -> list[Event]:
    """The end of the game after `pending` events."""
    after = apply_all(state, pending)
    result = standing(
        after.rules, after.scores, after.deposits, after.first_dealer, after.placement
    )
    return [
        ev.GameEnded(
            reason,
            result.scores,
            result.deposits_left,
            result.ranks,
            result.points,
            result.scale,
        )
    ]


def void_hand(state: GameState, reason: Literal["voided", "aborted"]) -> list[Event]:
    """The hand counts as not played: riichi sticks go back, everything as before (A53.5, M68, J-II.9)."""
    scores = list(state.scores)
    returned = [0, 0, 0, 0]
    for number, seat in enumerate(state.seats):
        if seat.riichi == 2:
            scores[number] += 1000
            returned[number] = 1000
    return [
        ev.HandEnded(
            reason=reason,
            deltas=_four(returned),
            scores=_four(scores),
            deposits=state.deposits - sum(returned) // 1000,
            honba=state.honba,
            next_dealer=state.dealer,
            round_wind=state.round_wind,
            hand_number=state.hand_number,
            renchan=True,
            replay=True,
        ),
        *disclosures(state),
    ]


def disclosures(state: GameState) -> list[Event]:
    """Secret findings come to light when the hand ends."""
    return [
        ev.FindingDisclosed(finding.number, finding.row, finding.seat, finding.proposed)
        for finding in state.findings
        if finding.secret
    ]
