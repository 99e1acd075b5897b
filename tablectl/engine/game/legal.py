"""What each seat may do at any point: the commands that `decide` would accept without a finding.

Secret: a seat's legal actions depend on its concealed tiles. Where tiles are unknown the set holds what
could be legal as far as anybody can know.
"""

from __future__ import annotations

from collections.abc import Collection

from tablectl.engine.game import commands as cmd
from tablectl.engine.game.claims import chi_options, kan_options, pon_options
from tablectl.engine.game.commands import Command
from tablectl.engine.game.draws import NINE, draw_reached, may_kyuushu
from tablectl.engine.game.hands import furiten_after, nine_kinds, tenpai, tenpai_discards
from tablectl.engine.game.late import before_the_draw
from tablectl.engine.game.passing import abort_due, indicator_due
from tablectl.engine.game.play import may_riichi
from tablectl.engine.game.state import GameState
from tablectl.engine.game.wins import can_win
from tablectl.engine.scoring import Win
from tablectl.engine.tiles import KIND


def legal(state: GameState, number: int) -> list[Command]:
    """Everything seat `number` may do now, draws included; empty outside the play."""
    if state.phase == "play":
        if state.step in ("own", "call") and state.turn == number:
            return own_turn(state, number)
        if state.step == "draw":
            return claims(state, number) + _draws(state, number)
        if state.step in ("rob", "rinshan"):
            return claims(state, number) + _replacement(state, number)
        return _late_rons(state, number)
    if state.phase == "tenpai" and state.seats[number].tenpai is None:
        return _declarations(state, number)
    if state.phase == "result" and state.outcome is not None and state.outcome.wins:
        return _rons(state, number, state.outcome.wins[0].from_seat)
    return []


def own_turn(state: GameState, number: int) -> list[Command]:
    """With a tile in hand: tsumo, kyuushu kyuuhai, riichi, kans, discards."""
    out: list[Command] = []
    if state.step == "own":
        if isinstance(can_win(state, number, number), Win):
            out.append(cmd.Win(number, number))
        if _may_abort(state, number):
            out.append(cmd.KyuushuKyuuhai(number))
        if riichi_is_legal(state, number):
            out.append(cmd.DeclareRiichi(number))
        out += kan_options(state, number)
    return out + discards(state, number)


def is_legal(state: GameState, command: Command) -> bool:
    """Whether `legal` holds an act of a seat: the same question, without listing everything else.

    `tsumogiri` of a discard, tiles of a win and the order of tiles make no difference.
    """
    number: int = getattr(command, "seat", -1)
    own = state.phase == "play" and state.turn == number and state.step in ("own", "call")
    if isinstance(command, cmd.Discard):
        return own and command.tile in _discard_tiles(state, number)
    if isinstance(command, cmd.DeclareRiichi):
        return own and riichi_is_legal(state, number)
    if isinstance(command, cmd.Win):
        return isinstance(can_win(state, number, command.from_seat), Win)
    if isinstance(command, cmd.KyuushuKyuuhai):
        return own and _may_abort(state, number)
    if isinstance(command, cmd.Kakan):
        return own and command in kan_options(state, number)
    if isinstance(command, cmd.Ankan):
        wanted = sorted(command.tiles)
        return own and any(
            isinstance(one, cmd.Ankan) and sorted(one.tiles) == wanted
            for one in kan_options(state, number)
        )
    if isinstance(command, cmd.Chi | cmd.Pon | cmd.Daiminkan):
        held = sorted(command.hand_tiles)
        options = chi_options if isinstance(command, cmd.Chi) else pon_options
        return any(
            type(one) is type(command)
            and one.tile == command.tile
            and sorted(one.hand_tiles) == held
            for one in options(state, number)
        )
    return command in legal(state, number)


def _may_abort(state: GameState, number: int) -> bool:
    seat = state.seats[number]
    return may_kyuushu(state, number) is None and (
        bool(seat.unknown) or nine_kinds(seat.hand) >= NINE
    )


def riichi_is_legal(state: GameState, number: int) -> bool:
    """Whether riichi could be declared without being wrong."""
    if may_riichi(state, number) is not None:
        return False
    seat, rules = state.seats[number], state.rules
    if rules.noten_riichi == "free" or seat.unknown:
        return True
    options = tenpai_discards(rules, seat)
    return bool(options) and (
        rules.furiten_riichi or not all(furiten_after(seat, kind) for kind in options)
    )


def discards(state: GameState, number: int) -> list[Command]:
    """Every known tile that may be discarded; `tsumogiri` is left open."""
    return [cmd.Discard(number, tile) for tile in sorted(set(_discard_tiles(state, number)))]


def _discard_tiles(state: GameState, number: int) -> Collection[int]:
    seat = state.seats[number]
    if (state.dora_pending and indicator_due(state, "discard")) or (
        not state.dora and not seat.river and number == state.dealer
    ):
        return set()
    if seat.riichi == 2 and seat.drawn is not None:
        return {seat.drawn}
    tiles = seat.hand
    if seat.riichi == 1 and not seat.unknown and state.rules.noten_riichi != "free":
        keep = tenpai_discards(state.rules, seat)
        return {tile for tile in tiles if KIND[tile] in keep}
    if seat.forbidden:
        return {tile for tile in tiles if KIND[tile] not in seat.forbidden}
    return tiles


def claims(state: GameState, number: int) -> list[Command]:
    """On the last discard or a declared kan: ron, daiminkan, pon, chi."""
    source = _source(state)
    if source is None or source == number:
        return []
    return [*_rons(state, number, source), *pon_options(state, number), *chi_options(state, number)]


def _rons(state: GameState, number: int, source: int) -> list[Command]:
    if isinstance(can_win(state, number, source), Win):
        return [cmd.Win(number, source)]
    return []


def _late_rons(state: GameState, number: int) -> list[Command]:
    """A ron that is still heard after the next player has drawn (row 38)."""
    source = (state.turn - 1) % 4
    if number == source:
        return []
    late = before_the_draw(state, source, ron=True)
    return [] if late is None else _rons(late[0], number, source)


def _source(state: GameState) -> int | None:
    if state.open_kan is not None:
        return state.open_kan.seat
    return None if state.discard is None else state.discard[0]


def _draws(state: GameState, number: int) -> list[Command]:
    due = abort_due(state)
    if due is not None:
        return [cmd.ResultDraw(due)]
    if state.live == 0:
        return _declarations(state, number) if draw_reached(state) is None else []
    if state.turn == number and indicator_due(state, "next") is None:
        return [cmd.Draw(number)]
    return []


def _replacement(state: GameState, number: int) -> list[Command]:
    seat = state.open_kan.seat if state.open_kan is not None else state.turn
    if seat == number and indicator_due(state, "replacement") is None:
        return [cmd.Draw(number, rinshan=True)]
    return []


def _declarations(state: GameState, number: int) -> list[Command]:
    seat, rules = state.seats[number], state.rules
    truth = tenpai(rules, seat)
    out: list[Command] = []
    if truth is not False and not seat.stopped:
        out.append(cmd.DeclareTenpai(number))
    must_show = seat.riichi == 2 and rules.noten_choice != "free"
    if truth is not True or not (must_show or rules.noten_choice == "automatic"):
        out.append(cmd.DeclareNoten(number))
    return out
