"""Hands that end without a winner (rules 1.2): tenpai declarations, abortive draws, nagashi mangan."""

from __future__ import annotations

from tablectl.engine.game import commands as cmd
from tablectl.engine.game import events as ev
from tablectl.engine.game.commands import Refusal
from tablectl.engine.game.ending import ABORTIVE
from tablectl.engine.game.events import DrawKind, Event, Four, Hand
from tablectl.engine.game.hands import ALL_YAOCHU, is_tenpai, nine_kinds, tenpai
from tablectl.engine.game.passing import abort_due, indicator_due, passed
from tablectl.engine.game.referee import find, numbered, played_by_machine
from tablectl.engine.game.state import GameState
from tablectl.engine.game.wins import can_win
from tablectl.engine.rules.model import Ruleset
from tablectl.engine.scoring import Win
from tablectl.engine.scoring.points import MANGAN
from tablectl.engine.scoring.settle import noten_payments
from tablectl.engine.tiles import KIND

Answer = list[Event] | Refusal
NINE = 9
_SWITCH: dict[DrawKind, str] = {
    "kyuushu": "kyuushu_kyuuhai",
    "suufon": "suufon_renda",
    "suucha_riichi": "suucha_riichi",
    "suukaikan": "suukaikan",
    "sanchahou": "sanchahou",
}


# ---- declarations -----------------------------------------------------------------------------------


def draw_reached(state: GameState) -> Refusal | None:
    """Why the hand is not over by exhaustion, or None."""
    if state.phase == "tenpai":
        return None
    if not state.tiles_known and state.phase in ("dice", "deal", "play"):
        return None
    if state.phase != "play" or state.step != "draw" or state.live or state.discard is None:
        return Refusal("tiles_left", "the wall is not exhausted", "", "A52.1", state.live)
    return indicator_due(state, "next")


def declare_tenpai(state: GameState, command: cmd.DeclareTenpai) -> Answer:
    """Tenpai: the hand is laid open and counts if it is."""
    return _declare(state, command.seat, True, command.hand)


def declare_noten(state: GameState, command: cmd.DeclareNoten) -> Answer:
    """Noten: tiles face down."""
    return _declare(state, command.seat, False, None)


def _declare(state: GameState, number: int, claimed: bool, hand: Hand | None) -> Answer:
    refusal = draw_reached(state)
    if refusal:
        return refusal
    seat = state.seats[number]
    if seat.tenpai is not None:
        return Refusal(
            "declared_already", f"seat {number} has declared", "undo it first", value=number
        )
    out: list[Event] = []
    if state.phase != "tenpai":
        out += [*passed(state), ev.DrawReached()]
    if hand is not None and seat.hand and not seat.unknown and tuple(sorted(hand)) != seat.hand:
        return Refusal("hand_differs", f"seat {number} was seen with other tiles", value=number)
    counts, findings = _judge(state, number, claimed, hand)
    out.append(ev.TenpaiDeclared(number, counts, _shown(state, number, claimed, hand)))
    out += findings
    after = [s.tenpai if s is not seat else counts for s in state.seats]
    if all(value is not None for value in after):
        a, b, c, d = (bool(value) for value in after)
        out.append(_exhausted(state, (a, b, c, d), None))
    return numbered(state, out)


def _shown(state: GameState, number: int, claimed: bool, hand: Hand | None) -> Hand | None:
    if not claimed:
        return None
    if hand is not None:
        return tuple(sorted(hand))
    seat = state.seats[number]
    # Where a tenpai hand may stay hidden (C-sum), only what was shown is told.
    return None if seat.unknown or state.rules.noten_choice == "free" else seat.hand


def _judge(
    state: GameState, number: int, claimed: bool, hand: Hand | None
) -> tuple[bool, list[Event]]:
    """How a declaration counts, and what it shows the referee."""
    rules, seat = state.rules, state.seats[number]
    truth = tenpai(rules, seat)
    if truth is None and hand is not None and len(hand) == 13 - 3 * len(seat.melds):
        truth = is_tenpai(rules, hand, seat.melds)
    machine = played_by_machine(rules)
    findings: list[Event] = []
    order = _out_of_order(state, number)
    if order and not machine:
        findings += find(state, "P13", number)
    counts = claimed and truth is not False and not seat.stopped
    riichi = seat.riichi == 2
    if riichi and not machine:
        row = "P6" if truth is False else "P11" if not claimed else ""
        if row and not (rules.noten_choice == "free" and not claimed):
            findings += find(state, row, number)
    elif claimed and truth is False and not machine:
        findings += find(state, "P12", number)
    return counts, findings


def _out_of_order(state: GameState, number: int) -> bool:
    if state.rules.declaration_order != "wind_order":
        return False
    return any(
        state.seats[(state.dealer + wind) % 4].tenpai is None for wind in range(state.wind(number))
    )


# ---- reported draws -----------------------------------------------------------------------------------


def kyuushu_kyuuhai(state: GameState, command: cmd.KyuushuKyuuhai) -> Answer:
    """Nine kinds on the first own draw, nothing called before (row 26)."""
    return _kyuushu(state, command.seat, command.hand)


def may_kyuushu(state: GameState, number: int) -> Refusal | None:
    """Why seat `number` cannot abort with nine kinds, the tiles apart, or None."""
    rules, seat = state.rules, state.seats[number]
    if not rules.kyuushu_kyuuhai:
        return Refusal(
            "not_in_ruleset", "kyuushu kyuuhai is not played here", "", rules.ref("kyuushu_kyuuhai")
        )
    if not state.tiles_known and state.phase in ("dice", "deal", "play"):
        return None
    if (
        state.phase != "play"
        or state.step != "own"
        or state.turn != number
        or not state.first_turn
        or seat.river
        or seat.riichi
    ):
        return Refusal(
            "first_turn_over",
            "nine kinds abort on the first own draw only, before any call or kan",
            "",
            "T19",
            number,
        )
    return None


def _kyuushu(state: GameState, number: int, hand: Hand | None) -> Answer:
    refusal = may_kyuushu(state, number)
    if refusal:
        return refusal
    seat = state.seats[number]
    tiles = hand if seat.unknown or not state.tiles_known else seat.hand
    if tiles is not None and nine_kinds(tiles) < NINE:
        return Refusal(
            "too_few_kinds", f"{nine_kinds(tiles)} kinds, nine are needed", "", "T19", number
        )
    return [ev.HandDrawn("kyuushu", number, None, (), (0, 0, 0, 0))]


def result_draw(state: GameState, command: cmd.ResultDraw) -> Answer:
    """A drawn hand as a whole."""
    if command.kind in ABORTIVE:
        return _aborted(state, command)
    refusal = draw_reached(state)
    if refusal:
        return refusal
    declared: list[bool] = []
    out: list[Event] = []
    if state.phase == "play" and state.tiles_known:
        out += [*passed(state), ev.DrawReached()]
    for number in range(4):
        seat = state.seats[number]
        truth = tenpai(state.rules, seat)
        claimed = seat.tenpai
        if claimed is None and command.tenpai is not None:
            claimed = command.tenpai[number]
        if claimed is None and state.rules.noten_choice == "automatic":
            claimed = truth  # a server looks; elsewhere only what is declared counts (A52.5, M22)
        if claimed is None:
            return Refusal(
                "tenpai_needed",
                f"nobody said whether seat {number} is tenpai",
                "say who declared tenpai",
                state.rules.ref("noten_choice"),
                number,
            )
        if (
            truth is not None
            and truth is not claimed
            and state.rules.noten_choice == "automatic"
            and not seat.stopped
        ):
            return Refusal(
                "tenpai_differs",
                f"seat {number} is {'tenpai' if truth else 'noten'}",
                "the hands are known here",
                state.rules.ref("tenpai_exhausted_rule"),
                number,
            )
        counts = claimed
        if seat.tenpai is None:
            counts, findings = _judge_reported(state, number, claimed)
            out.append(ev.TenpaiDeclared(number, counts, _shown(state, number, claimed, None)))
            out += findings
        declared.append(counts)
    tenpai_by_seat = (declared[0], declared[1], declared[2], declared[3])
    drawn = _exhausted(state, tenpai_by_seat, command.nagashi)
    if command.kind == "nagashi" and drawn.kind != "nagashi":
        return Refusal(
            "no_nagashi",
            "nobody has a nagashi mangan",
            "only terminals and honours discarded, none of them called; or not played here",
            state.rules.ref("nagashi_mangan"),
        )
    return numbered(state, [*out, drawn])


def _judge_reported(state: GameState, number: int, claimed: bool) -> tuple[bool, list[Event]]:
    """As `_judge`, without the order of showing: a report does not tell it."""
    counts, findings = _judge(state, number, claimed, None)
    return counts, [f for f in findings if isinstance(f, ev.Found) and f.row != "P13"]


def _aborted(state: GameState, command: cmd.ResultDraw) -> Answer:
    switch = _SWITCH[command.kind]
    rules = state.rules
    if not getattr(rules, switch):
        return Refusal(
            "not_in_ruleset", f"{command.kind} is not played here", "", rules.ref(switch)
        )
    if command.kind == "kyuushu":
        if command.seat is None:
            return Refusal("seat_needed", "say who declared kyuushu kyuuhai")
        return _kyuushu(state, command.seat, None)
    drawn = ev.HandDrawn(command.kind, None, None, (), (0, 0, 0, 0))
    if not state.tiles_known and state.phase in ("dice", "deal", "play"):
        return [drawn]
    if command.kind == "sanchahou":
        return _triple_ron(state) or [drawn]
    if abort_due(state) != command.kind:
        return Refusal(
            "no_abort", f"the hand is no {command.kind}", "", rules.ref(switch), command.kind
        )
    return [*passed(state), drawn]


def _triple_ron(state: GameState) -> Refusal | None:
    if state.phase != "play" or state.discard is None:
        return Refusal("no_abort", "three rons answer a discard", "", "T18")
    source = state.discard[0]
    for number in range(4):
        if number == source or state.seats[number].unknown:
            continue
        answer = can_win(state, number, source)
        if not isinstance(answer, Win):
            return answer
    return None


# ---- exhaustion -------------------------------------------------------------------------------------


def nagashi_seats(state: GameState) -> tuple[int, ...]:
    """Seats whose river holds terminals and honours only, none called away (T20, T21)."""
    if not state.rules.nagashi_mangan or not state.tiles_known:
        return ()
    return tuple(
        number
        for number, seat in enumerate(state.seats)
        if seat.river
        and not seat.stopped
        and all(
            t.called_by is None and t.tile is not None and KIND[t.tile] in ALL_YAOCHU
            for t in seat.river
        )
    )


def _exhausted(
    state: GameState,
    tenpai_by_seat: tuple[bool, bool, bool, bool],
    reported: tuple[int, ...] | None,
) -> ev.HandDrawn:
    rules = state.rules
    nagashi = nagashi_seats(state)
    if reported is not None and rules.nagashi_mangan and not state.tiles_known:
        nagashi = tuple(sorted(set(reported)))
    if nagashi:
        deltas = nagashi_deltas(rules, nagashi, state.dealer, state.honba, state.deposits)
        return ev.HandDrawn("nagashi", None, tenpai_by_seat, nagashi, deltas)
    return ev.HandDrawn(
        "exhaustive",
        None,
        tenpai_by_seat,
        (),
        noten_payments([s for s in range(4) if tenpai_by_seat[s]], rules.noten_pool),
    )


def nagashi_deltas(
    rules: Ruleset, seats: tuple[int, ...], dealer: int, honba: int, deposits: int
) -> Four:
    """Each nagashi mangan is paid like a mangan tsumo, independently of the others (3-T14)."""
    deltas = [0, 0, 0, 0]
    extra = honba * rules.honba_tsumo if rules.nagashi_honba else 0
    for seat in seats:
        for payer in range(4):
            if payer != seat:
                part = (2 * MANGAN if dealer in (seat, payer) else MANGAN) + extra
                deltas[payer] -= part
                deltas[seat] += part
    if rules.nagashi_deposits:
        deltas[seats[0]] += 1000 * deposits
    return (deltas[0], deltas[1], deltas[2], deltas[3])
