"""What the next act proves: the last discard or kan tile passed.

Riichi becomes established, seats that let a completing tile go become furiten, a kan can no longer be
robbed. None of it is announced while a claim is still possible: it comes with the act that closes the window,
for everyone alike (1.17.2).
"""

from __future__ import annotations

from collections.abc import Collection

from tablectl.engine.game import events as ev
from tablectl.engine.game.apply import kan_timing
from tablectl.engine.game.commands import Refusal
from tablectl.engine.game.events import DrawKind, Event
from tablectl.engine.game.hands import robs_ankan, waits
from tablectl.engine.game.state import GameState
from tablectl.engine.tiles import EAST, KIND


def passed(state: GameState, winners: Collection[int] = ()) -> list[Event]:
    """Events that hold once the last discard or the declared kan was not won (or only by `winners`)."""
    if state.discard is not None:
        source, tile = state.discard
        out = _missed(state, source, tile, winners)
        if state.seats[source].riichi == 1 and not winners:
            out.append(ev.RiichiAccepted(source))
        return out
    kan = state.open_kan
    if kan is not None and state.step == "rob":
        out = []
        if kan.kind == "kakan" or state.rules.kokushi_robs_ankan:
            out = _missed(state, kan.seat, kan.tile, winners)
        if not winners:
            out.append(ev.KanEstablished(kan.seat))
        return out
    return []


def _missed(
    state: GameState, source: int, tile: int | None, winners: Collection[int]
) -> list[Event]:
    if tile is None:
        return []
    bit = 1 << KIND[tile]
    kan = state.open_kan
    out: list[Event] = []
    for number, seat in enumerate(state.seats):
        mask: int | None = seat.waits_cache
        if mask is None:
            mask = waits(seat)
        if not mask or not mask & bit:
            continue
        if number == source or number in winners or seat.missed == 2:
            continue
        if kan is not None and kan.kind == "ankan" and not robs_ankan(seat, KIND[tile]):
            continue
        permanent = seat.riichi == 2
        if permanent or not seat.missed:
            out.append(ev.MissedWin(number, permanent))
    return out


# ---- indicators that kans owe -------------------------------------------------------------------------


def kan_dora_may_turn(state: GameState) -> Refusal | None:
    """Whether an indicator that a kan brought may be turned now (rows 64–66, 97)."""
    pending = list(state.dora_pending)
    kan = state.open_kan
    if state.step == "rob" and kan is not None and state.rules.kan_dora:
        pending.append(kan_timing(state.rules, kan.kind))
    if not pending:
        return Refusal(
            "no_indicator_due",
            "no indicator is to be turned now",
            "each kan turns one, where the ruleset has kan dora",
            row="P44",
        )
    timing = pending[0]
    later_kan = len(pending) > 1 and state.step in ("rob", "rinshan")
    own = state.step == "own" and state.rinshan
    fine = (
        later_kan
        or {
            "before_replacement": state.step in ("rob", "rinshan"),
            "after_replacement": own,
            "before_discard": own,
            "with_discard": own or state.step == "draw",
            "with_discard_or_kan": own or state.step == "draw",
        }[timing]
    )
    if fine:
        return None
    return Refusal(
        "indicator_not_due",
        f"this indicator is turned {timing.replace('_', ' ')}",
        "wait for that moment",
        state.rules.ref("kan_dora_kakan"),
        row="P44",
    )


def turning_establishes(state: GameState) -> bool:
    """Whether turning an indicator now proves that the kan just declared was not robbed (T34)."""
    return state.step == "rob" and state.dora_pending[:1] != ("with_discard_or_kan",)


def indicator_due(state: GameState, act: str) -> Refusal | None:
    """A refusal where an indicator must be turned before `act`: discard, tsumo, ron, replacement, next."""
    pending = state.dora_pending
    if act == "replacement":
        kan = state.open_kan
        newest = (
            kan_timing(state.rules, kan.kind)
            if state.step == "rob" and kan is not None and state.rules.kan_dora
            else None
        )
        older = pending if newest is not None else pending[:-1]
        newest = newest or (pending[-1] if pending else None)
        due = bool(older) or newest == "before_replacement"
    elif act == "discard":
        due = any(
            t in ("before_replacement", "after_replacement", "before_discard") for t in pending
        )
    elif act == "tsumo":
        due = any(t in ("before_replacement", "after_replacement") for t in pending)
    elif act == "ron":
        due = state.step == "draw" and any(t.startswith("with_discard") for t in pending)
    else:
        due = bool(pending)
    if not due:
        return None
    return Refusal(
        "indicator_due",
        "a kan's indicator must be turned first",
        "turn the next dora indicator",
        state.rules.ref("kan_dora"),
        row="P44",
    )


# ---- abortive draws ---------------------------------------------------------------------------------


def abort_due(state: GameState) -> DrawKind | None:
    """The abortive draw that stands once the last discard has passed, or None (1.2)."""
    if state.discard is None or state.step != "draw":
        return None
    source = state.discard[0]
    if (
        state.seats[source].riichi == 1
        and state.rules.suucha_riichi
        and all(seat.riichi for seat in state.seats)
    ):
        return "suucha_riichi"
    if len(state.kans) == 4 and state.rules.suukaikan and len(set(state.kans)) > 1:
        return "suukaikan"
    if state.first_turn and source == (state.dealer + 3) % 4 and state.rules.suufon_renda:
        firsts = {seat.river[0].tile if len(seat.river) == 1 else None for seat in state.seats}
        tile = firsts.pop()
        if not firsts and tile is not None and EAST <= tile < EAST + 4:
            return "suufon"
    return None
