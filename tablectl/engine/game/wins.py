"""Ron and tsumo: who may win, what it pays, several winners (rules 1.3, 1.8, 1.12).

A hand the engine knows is scored from its own tiles. Where tiles are unknown the command brings the hand,
or han and fu, or a limit; what it brings is checked for being possible at all (`reported`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from tablectl.engine.errors import EngineError
from tablectl.engine.game import commands as cmd
from tablectl.engine.game import events as ev
from tablectl.engine.game.commands import Refusal
from tablectl.engine.game.events import Event, Four, Hand
from tablectl.engine.game.hands import completes, furiten, robs_ankan, scoring_melds
from tablectl.engine.game.late import before_the_draw
from tablectl.engine.game.liability import liable_for
from tablectl.engine.game.passing import indicator_due
from tablectl.engine.game.reported import reported_win
from tablectl.engine.game.state import GameState, Meld, Seat
from tablectl.engine.scoring import NoWin, Win, WinSituation, score
from tablectl.engine.tiles import KIND, NAMES, is_run

Answer = list[Event] | Refusal


@dataclass(frozen=True, slots=True)
class Claim:
    """Everything a win rests on, as far as it is known; `hand` without the winning tile."""

    seat: int
    source: int
    tile: int
    hand: Hand
    melds: tuple[Meld, ...]
    flags: tuple[str, ...]
    dora: Hand
    ura: Hand


# ---- may a seat win now? ------------------------------------------------------------------------------


def win_open(state: GameState, number: int, source: int) -> Refusal | None:
    """Why no win of `number` from `source` can be claimed at this moment, whatever the hand, or None."""
    if state.phase == "result":
        return _second_win_open(state, number, source)
    if not state.tiles_known and state.phase in ("dice", "deal", "play"):
        return None
    if state.phase != "play":
        return Refusal("not_in_play", f"nobody can win now (phase {state.phase})")
    if number == source:
        if state.turn != number or state.step != "own":
            return Refusal(
                "not_your_turn", "a tsumo follows the own draw", "", "A45.2", number, "P1"
            )
        if state.seats[number].riichi == 1:
            return Refusal(
                "discard_due", "riichi was said: a tile is discarded next", "", "A39.13", number
            )
        return indicator_due(state, "tsumo")
    if state.step == "rob" and state.open_kan is not None and state.open_kan.seat == source:
        return None
    if state.discard is None or state.discard[0] != source or state.step != "draw":
        return Refusal(
            "ron_closed", "that tile cannot be won (any more)", "", "A45.3, 1.17.2", source, "P1"
        )
    return indicator_due(state, "ron")


def _second_win_open(state: GameState, number: int, source: int) -> Refusal | None:
    outcome = state.outcome
    wins = () if outcome is None else outcome.wins
    if not wins:
        return Refusal("hand_is_over", "the hand has ended in a draw", "undo that result first")
    if wins[0].from_seat == wins[0].seat or number == source or source != wins[0].from_seat:
        return Refusal("hand_is_over", "a win stands already", "settle it, or undo it first")
    if any(win.seat == number for win in wins):
        return Refusal(
            "won_already", f"seat {number} has won already", "undo that win first", value=number
        )
    return None


def winning_tile(state: GameState, number: int, source: int) -> int | None:
    """The tile a win now would be on, as far as the engine knows it."""
    if number == source:
        return state.seats[number].drawn
    if state.open_kan is not None:
        return state.open_kan.tile
    if state.discard is not None and state.discard[0] == source:
        return state.discard[1]
    outcome = state.outcome
    return outcome.wins[0].tile if outcome is not None and outcome.wins else None


def flags_now(state: GameState, number: int, source: int) -> tuple[str, ...]:
    """What happened around a win at this moment, where the table senses play."""
    seat, tsumo = state.seats[number], number == source
    flags = []
    if seat.ippatsu:
        flags.append("ippatsu")
    if state.open_kan is not None:
        flags.append("chankan")
    elif tsumo and state.rinshan:
        flags.append("rinshan")
    elif state.live == 0:
        flags.append("haitei" if tsumo else "houtei")
    if state.first_turn and state.open_kan is None and not seat.river and not seat.melds:
        flags.append("first_turn")
    return tuple(flags)


def can_win(state: GameState, number: int, source: int) -> Win | Refusal:
    """The win that seat `number` could lay open now; needs all its tiles known."""
    refusal = win_open(state, number, source)
    if refusal:
        return refusal
    tile = winning_tile(state, number, source)
    seat = state.seats[number]
    if tile is None or seat.unknown:
        return Refusal("tiles_unknown", "not all tiles of this hand are known")
    if not completes(seat, tile, tsumo=number == source):
        return Refusal("not_complete", "these tiles are no winning hand", "", "A45.1", number, "P1")
    dora = tuple(t for t in state.dora if t is not None)
    claim = Claim(
        number,
        source,
        tile,
        _without(seat, tile) if number == source else seat.hand,
        seat.melds,
        flags_now(state, number, source),
        dora,
        (),
    )
    return _judge(state, claim)


def _without(seat: Seat, tile: int) -> Hand:
    place = seat.hand.index(tile)
    return seat.hand[:place] + seat.hand[place + 1 :]


def _judge(state: GameState, claim: Claim) -> Win | Refusal:
    """The score of a claim, or why it is no win (shape, yaku, furiten, stop-win)."""
    seat = state.seats[claim.seat]
    if seat.stopped:
        return Refusal("stopped", "a stopped hand may not win", "", "A54.3, M70", claim.seat, "P40")
    ron = claim.seat != claim.source
    kan = state.open_kan
    if (
        ron
        and kan is not None
        and kan.kind == "ankan"
        and not (state.rules.kokushi_robs_ankan and robs_ankan(seat, KIND[claim.tile]))
    ):
        return Refusal(
            "ankan_not_robbed",
            "an ankan cannot be robbed",
            "",
            state.rules.ref("kokushi_robs_ankan"),
            row="P1",
        )
    result = _score(state, claim)
    if isinstance(result, Refusal):
        return result
    if ron and furiten(seat):
        return Refusal("furiten", f"seat {claim.seat} is furiten", "", "A51", claim.seat, "P1")
    return result


def _score(state: GameState, claim: Claim) -> Win | Refusal:
    seat, dealer = state.seats[claim.seat], state.dealer
    riichi = 0 if seat.riichi != 2 else 2 if seat.double else 1
    try:
        result = score(
            WinSituation(
                claim.hand,
                claim.tile,
                seat_wind=(claim.seat - dealer) % 4,
                round_wind=state.round_wind % 4,
                source=None if claim.seat == claim.source else (claim.source - dealer) % 4,
                melds=scoring_melds(claim.melds),
                riichi=riichi,
                flags=claim.flags,
                dora_indicators=claim.dora,
                ura_indicators=claim.ura if riichi else (),
                honba=state.honba,
                deposits=state.deposits,
                pao={
                    yakuman: (liable - dealer) % 4
                    for yakuman, liable in liable_for(state, claim.seat).items()
                },
            ),
            state.rules,
        )
    except EngineError as error:
        return Refusal(error.code, str(error), error.hint, value=error.value)
    if isinstance(result, NoWin):
        text = {
            "not_complete": "these tiles are no winning hand",
            "no_yaku": "the hand has no yaku",
            "unclear_tsumo": "the drawn tile could not be told from the hand",
        }[result.reason]
        return Refusal(result.reason, text, "", "A45.1", claim.seat, "P1")
    return result


# ---- the command --------------------------------------------------------------------------------------


def win(state: GameState, command: cmd.Win) -> Answer:
    """A hand is laid open, or its result is reported."""
    if (
        state.step == "own"
        and state.tiles_known
        and command.seat not in (command.from_seat, state.turn)
    ):
        late = before_the_draw(state, command.from_seat, ron=True)
        if late is not None:
            answer = win(late[0], command)
            return answer if isinstance(answer, Refusal) else late[1] + answer
    refusal = win_open(state, command.seat, command.from_seat)
    if refusal:
        return refusal
    won = _won(state, command)
    if isinstance(won, Refusal):
        return won
    if state.phase != "result":
        return [won]
    return _second(state, command, won)


def _won(state: GameState, command: cmd.Win) -> ev.Won | Refusal:
    seat = state.seats[command.seat]
    known = winning_tile(state, command.seat, command.from_seat)
    tile = command.tile if command.tile is not None else known
    if known is not None and tile != known:
        return Refusal(
            "wrong_tile", f"the winning tile is {NAMES[known]}", "", "A45", NAMES[tile or 0], "P1"
        )
    if command.hand is None and (seat.unknown or tile is None or not state.tiles_known):
        if seat.stopped:
            return Refusal(
                "stopped", "a stopped hand may not win", "", "A54.3, M70", command.seat, "P40"
            )
        return reported_win(state, command, tile)
    if tile is None:
        return Refusal("tile_needed", "name the winning tile")
    claim = _claim(state, command, tile)
    if isinstance(claim, Refusal):
        return claim
    result = _judge(state, claim)
    return result if isinstance(result, Refusal) else _event(state, claim, result, command)


def _claim(state: GameState, command: cmd.Win, tile: int) -> Claim | Refusal:
    seat = state.seats[command.seat]
    tsumo = command.seat == command.from_seat
    if command.hand is not None:
        hand: Hand = tuple(sorted(command.hand))
        held = Counter(hand) + (Counter((tile,)) if tsumo else Counter())
        if state.tiles_known and (Counter(seat.hand) - held or held.total() != seat.concealed):
            return Refusal(
                "hand_differs",
                f"seat {command.seat} was seen with other tiles",
                "put the tiles right, or the hand that was given",
                value=" ".join(NAMES[t] for t in hand),
            )
    else:
        if seat.unknown:
            return Refusal("tiles_unknown", "not all tiles of this hand are known", "give the hand")
        hand = _without(seat, tile) if tsumo else seat.hand
    melds = seat.melds if command.melds is None else _melds(command)
    if isinstance(melds, Refusal):
        return melds
    dora = _indicators(state, command)
    if isinstance(dora, Refusal):
        return dora
    ura = _ura(state, command, len(dora))
    if isinstance(ura, Refusal):
        return ura
    flags = _flags(state, command)
    claim = Claim(command.seat, command.from_seat, tile, hand, melds, flags, dora, ura)
    return _too_many(state, claim, tsumo) or claim


def _flags(state: GameState, command: cmd.Win) -> tuple[str, ...]:
    flags: tuple[str, ...]
    if state.tiles_known:
        flags = flags_now(state, command.seat, command.from_seat)
    else:
        named = {"tenhou": "first_turn", "chiihou": "first_turn", "renhou": "first_turn"}
        flags = tuple(named.get(flag, flag) for flag in command.flags)
    if command.unclear:
        flags += ("unclear_tsumo",)
    return flags


def _melds(command: cmd.Win) -> tuple[Meld, ...] | Refusal:
    out = []
    for place, tiles in enumerate(command.melds or ()):
        kinds = [KIND[tile] for tile in tiles]
        if len(tiles) == 4 and len(set(kinds)) == 1:
            out.append(Meld("ankan" if place < command.closed_kans else "daiminkan", tiles))
        elif len(tiles) == 3 and len(set(kinds)) == 1:
            out.append(Meld("pon", tiles))
        elif is_run(kinds):
            out.append(Meld("chi", tiles))
        else:
            return Refusal(
                "bad_meld", "these tiles are no meld", "", value=" ".join(NAMES[t] for t in tiles)
            )
    return tuple(out)


def _indicators(state: GameState, command: cmd.Win) -> Hand | Refusal:
    if command.dora is not None:
        return command.dora
    known = tuple(tile for tile in state.dora if tile is not None)
    if not state.dora or len(known) < len(state.dora):
        return Refusal(
            "dora_unknown",
            "not every dora indicator was read",
            "give `dora` with the win: all open indicators in order",
        )
    return known


def _ura(state: GameState, command: cmd.Win, open_indicators: int) -> Hand | Refusal:
    rules = state.rules
    if not rules.ura_dora or state.seats[command.seat].riichi != 2:
        return ()
    due = open_indicators if rules.kan_ura_dora else 1
    if command.ura is None:
        return Refusal(
            "ura_unknown",
            f"riichi won: {due} ura indicators are turned",
            "give `ura` with the win",
            "A24.7",
        )
    if len(command.ura) != due:
        return Refusal(
            "wrong_ura_count",
            f"{due} ura indicators belong to this win",
            "",
            "A24.7",
            len(command.ura),
        )
    return command.ura


def _too_many(state: GameState, claim: Claim, tsumo: bool) -> Refusal | None:
    """A fifth copy of a tile, or a red five twice, counting all that lies open."""
    shown = list(claim.hand) + list(claim.dora) + list(claim.ura)
    if tsumo or not state.tiles_known:
        shown.append(claim.tile)
    for number, seat in enumerate(state.seats):
        for meld in claim.melds if number == claim.seat else seat.melds:
            shown += meld.tiles
        shown += [t.tile for t in seat.river if t.tile is not None and t.called_by is None]
    counts = Counter(KIND[tile] for tile in shown)
    reds = Counter(tile for tile in shown if tile > 33)
    worst = next((k for k, n in counts.items() if n > 4), None)
    if worst is None:
        worst = next((t for t, n in reds.items() if n > 1), None)
    if worst is None:
        return None
    return Refusal(
        "five_of_a_kind",
        f"{NAMES[worst]} would be there more often than it exists",
        "check the tiles of the hand and the indicators",
        value=NAMES[worst],
    )


# ---- what it pays -------------------------------------------------------------------------------------


def _event(state: GameState, claim: Claim, result: Win, command: cmd.Win) -> ev.Won:
    yakuman = result.yakuman_count > 0
    items = tuple(ev.YakuHan(name, han) for name, han in result.yaku)
    extra = tuple(
        ev.YakuHan(name, han)
        for name, han in (
            ("dora", result.dora),
            ("ura_dora", result.ura_dora),
            ("red_dora", result.red_dora),
        )
        if han and not yakuman
    )
    pao = liable_for(state, claim.seat)
    liable = next((pao[name] for name, _ in result.yaku if name in pao), None) if yakuman else None
    limit = result.limit
    return ev.Won(
        seat=claim.seat,
        from_seat=claim.source,
        tile=claim.tile,
        hand=claim.hand,
        yaku=() if yakuman else items + extra,
        yakuman=items if yakuman else (),
        han=result.han,
        fu=result.fu,
        limit="none" if limit is None else "yakuman" if limit == "kazoe_yakuman" else limit,
        points=result.points,
        deltas=by_seat(result.deltas, state.dealer),
        honba=state.honba if state.rules.honba_counted else 0,
        deposits=state.deposits,
        payments=result.payments,
        pao_seat=liable,
        dora=claim.dora,
        ura=claim.ura if state.seats[claim.seat].riichi == 2 else None,
    )


def by_seat(by_wind: Sequence[int], dealer: int) -> Four:
    """Amounts by seat from amounts by seat wind."""
    return (
        by_wind[-dealer % 4],
        by_wind[(1 - dealer) % 4],
        by_wind[(2 - dealer) % 4],
        by_wind[(3 - dealer) % 4],
    )


# ---- several winners ------------------------------------------------------------------------------------


def _second(state: GameState, command: cmd.Win, won: ev.Won) -> Answer:
    assert state.outcome is not None
    wins = state.outcome.wins
    rules = state.rules
    if rules.multi_ron == "head_bump":
        return _head_bump(state, command, won, wins[0])
    if len(wins) == 2 and rules.sanchahou:
        return [ev.HandDrawn("sanchahou", None, None, (), (0, 0, 0, 0))]
    out: list[Event] = []
    nearest = min((*wins, won), key=lambda one: (one.seat - one.from_seat) % 4)
    for one in (*wins, won):
        share = _share(state, one, first=one is nearest)
        if one is won or share != one:
            out.append(share)
    return out


def _share(state: GameState, won: ev.Won, *, first: bool) -> ev.Won:
    """The win with the honba and deposits it gets among several (row 37)."""
    honba = state.honba if first or state.rules.multi_ron_honba == "each" else 0
    if not state.rules.honba_counted:
        honba = 0
    deposits = state.deposits if first else 0
    if (honba, deposits) == (won.honba, won.deposits):
        return won
    deltas = list(won.deltas)
    moved = (honba - won.honba) * state.rules.honba_ron
    payer = won.from_seat
    if won.pao_seat is not None and state.rules.pao_honba_ron == "liable":
        payer = won.pao_seat
    deltas[payer] -= moved
    deltas[won.seat] += moved + 1000 * (deposits - won.deposits)
    return replace(
        won,
        honba=honba,
        deposits=deposits,
        deltas=(deltas[0], deltas[1], deltas[2], deltas[3]),
    )


def _head_bump(state: GameState, command: cmd.Win, won: ev.Won, standing: ev.Won) -> Answer:
    closes = state.rules.head_bump_closes
    nearer = (won.seat - won.from_seat) % 4 < (standing.seat - standing.from_seat) % 4
    if not nearer or not (command.together or closes == "never"):
        return Refusal(
            "head_bump",
            f"seat {standing.seat} has won this tile",
            "only a better placed ron said at the same time takes it over (`together`)"
            if nearer
            else "the seat nearer to the discarder in drawing order wins",
            state.rules.ref("multi_ron"),
            won.seat,
        )
    return [ev.WinBumped(standing.seat, won.seat), won]
