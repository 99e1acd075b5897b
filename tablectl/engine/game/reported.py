"""A win as a person reports it: han and fu, or a limit, checked for being possible at all."""

from __future__ import annotations

from tablectl.engine.game import commands as cmd
from tablectl.engine.game import events as ev
from tablectl.engine.game.commands import Refusal
from tablectl.engine.game.events import Four, Limit
from tablectl.engine.game.state import GameState
from tablectl.engine.rules.model import Ruleset
from tablectl.engine.scoring.points import MANGAN, YAKUMAN, base_of, price

FU = (20, 25, *range(30, 180, 10))
"""Every fu a hand can have; 170 is four concealed kans of terminals and honours with a tsumo."""
MAX_YAKUMAN = 6
_LIMITS: dict[Limit, tuple[int, int]] = {
    "mangan": (MANGAN, 3),
    "haneman": (MANGAN * 3 // 2, 6),
    "baiman": (MANGAN * 2, 8),
    "sanbaiman": (MANGAN * 3, 11),
    "yakuman": (YAKUMAN, 13),
}
"""Base points of a limit, and the fewest han that reach it."""


def reported_win(state: GameState, command: cmd.Win, tile: int | None) -> ev.Won | Refusal:
    """The win of a hand the engine does not know, from han and fu or from its limit."""
    found = _base(state, command)
    if isinstance(found, Refusal):
        return found
    base, limit = found
    rules = state.rules
    tsumo = command.seat == command.from_seat
    dealer = command.seat == state.dealer
    cost = price(base, command.fu, None, dealer=dealer, tsumo=tsumo)
    honba = state.honba if rules.honba_counted else 0
    pao = command.pao_seat
    if pao is not None:
        refusal = _pao_possible(rules, command, limit)
        if refusal:
            return refusal
    deltas = [0, 0, 0, 0]
    if tsumo:
        for seat in range(4):
            if seat != command.seat:
                part = cost.dealer if seat == state.dealer else cost.child
                payer = seat if pao is None else pao
                honba_payer = seat if pao is None or rules.pao_honba_tsumo == "shared" else pao
                deltas[payer] -= part
                deltas[honba_payer] -= honba * rules.honba_tsumo
    else:
        share = cost.points if pao in (None, command.from_seat) else cost.points // 2
        deltas[command.from_seat] -= share
        if pao is not None and pao != command.from_seat:
            deltas[pao] -= cost.points - share
        liable = pao is not None and rules.pao_honba_ron == "liable"
        deltas[pao if liable and pao is not None else command.from_seat] -= honba * rules.honba_ron
    deltas[command.seat] = -sum(deltas) + 1000 * state.deposits
    return ev.Won(
        seat=command.seat,
        from_seat=command.from_seat,
        tile=tile,
        hand=None,
        yaku=(),
        yakuman=(),
        han=command.han,
        fu=command.fu,
        limit=limit,
        points=cost.points,
        deltas=_four(deltas),
        honba=honba,
        deposits=state.deposits,
        payments=cost.payments,
        pao_seat=pao,
        ura=command.ura,
    )


def _four(values: list[int]) -> Four:
    return (values[0], values[1], values[2], values[3])


def _pao_possible(rules: Ruleset, command: cmd.Win, limit: Limit) -> Refusal | None:
    if not rules.pao:
        return Refusal("no_pao", "this ruleset knows no liability", "", rules.ref("pao"))
    if limit != "yakuman" or command.pao_seat == command.seat:
        return Refusal(
            "no_pao", "only another seat is liable, and only for a yakuman", "", rules.ref("pao")
        )
    return None


def _base(state: GameState, command: cmd.Win) -> tuple[int, Limit] | Refusal:
    rules = state.rules
    if command.limit is not None and command.limit != "none":
        base, least = _LIMITS[command.limit]
        if command.limit == "yakuman":
            if not 1 <= command.yakuman <= (MAX_YAKUMAN if rules.composite_yakuman else 1):
                return Refusal(
                    "impossible_yakuman",
                    f"{command.yakuman} yakuman cannot be counted here",
                    "",
                    rules.ref("composite_yakuman"),
                    command.yakuman,
                )
            return base * command.yakuman, "yakuman"
        if command.han is not None and command.fu is not None:
            computed = _from_han_fu(state, command)
            if isinstance(computed, Refusal):
                return computed
            if computed[1] != command.limit:
                return Refusal(
                    "limit_differs",
                    f"{command.han} han {command.fu} fu is {computed[1]}, not {command.limit}",
                    "leave the limit out, or correct han and fu",
                    value=command.limit,
                )
        elif command.han is not None and command.han < least:
            return Refusal(
                "impossible_han",
                f"{command.han} han never make a {command.limit}",
                value=command.han,
            )
        return base, command.limit
    return _from_han_fu(state, command)


def _from_han_fu(state: GameState, command: cmd.Win) -> tuple[int, Limit] | Refusal:
    han, fu = command.han, command.fu
    if han is None or (fu is None and han < 5):
        return Refusal(
            "result_needed",
            "the hand is not known: give it, or han and fu, or the limit",
            "hand; or han and fu (from 5 han on han alone); or limit",
        )
    if han < 1:
        return Refusal("impossible_han", "a win has at least one han", "", "A45.1", han, "P1")
    refusal = None if fu is None else _impossible_fu(state, command, han, fu)
    if refusal:
        return refusal
    base, limit = base_of(han, 30 if fu is None else fu, state.rules)
    if limit == "kazoe_yakuman":
        return base, "yakuman"
    return base, limit or "none"


def _impossible_fu(state: GameState, command: cmd.Win, han: int, fu: int) -> Refusal | None:
    if fu not in FU:
        return Refusal("impossible_fu", f"no hand has {fu} fu", "20, 25, 30, 40 … 170", "A49", fu)
    tsumo = command.seat == command.from_seat
    seat = state.seats[command.seat]
    least, most = _han_range(tsumo, fu)
    riichi = seat.riichi == 2
    opened = not seat.closed
    if fu == 20 and (not tsumo or opened):
        return Refusal(
            "impossible_fu",
            "20 fu is a concealed pinfu tsumo, nothing else",
            "a ron has 25 fu or at least 30",
            "A49.2.1",
            fu,
        )
    if fu == 25 and (opened or seat.melds):
        return Refusal("impossible_fu", "25 fu is seven pairs: no meld", "", "A49.2.2", fu)
    if riichi and fu in (20, 25):
        least += 1
    elif riichi and fu == 30 and not tsumo and not seat.melds:
        # A concealed ron of 30 fu has nothing but the 20 and the 10: it is pinfu.
        least = 2
    elif riichi and tsumo:
        least = 2
    if han < least or han > most:
        return Refusal(
            "impossible_han",
            f"{fu} fu by {'tsumo' if tsumo else 'ron'} goes with {least} han or more, not {han}",
            "check han and fu",
            "A48, A49",
            han,
        )
    return None


def _han_range(tsumo: bool, fu: int) -> tuple[int, int]:
    """Fewest and most han that go with fu: chiitoitsu has two, and menzen tsumo; pinfu tsumo has two."""
    if fu == 20:
        return 2, 99
    if fu == 25:
        return (3 if tsumo else 2), 99
    return 1, 99
