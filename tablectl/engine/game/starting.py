"""From the start button to the first draw (rules 1.15, 1.16)."""

from __future__ import annotations

from collections import Counter

from tablectl.engine.game import commands as cmd
from tablectl.engine.game import events as ev
from tablectl.engine.game.apply import apply_all
from tablectl.engine.game.commands import Refusal
from tablectl.engine.game.events import Event
from tablectl.engine.game.passing import kan_dora_may_turn, passed, turning_establishes
from tablectl.engine.game.settle import settle
from tablectl.engine.game.state import GameState
from tablectl.engine.game.wall import break_wall
from tablectl.engine.tiles import KIND, NAMES

Answer = list[Event] | Refusal
DEALT = 13


def press_start(state: GameState, command: cmd.PressStart) -> Answer:
    """The hand begins; a result that stands is settled by it."""
    out: list[Event] = []
    if state.phase == "result":
        answer = settle(state, cmd.Settle())
        if isinstance(answer, Refusal):
            return answer
        out = answer
        state = apply_all(state, out)
    if state.phase == "ended":
        return out or Refusal("game_over", "the game is over", "start another game")
    if state.phase == "seating":
        return Refusal(
            "seats_not_drawn", "seats or first dealer are not decided yet", "throw the dice", "A26"
        )
    if state.phase != "ready":
        return Refusal(
            "hand_in_progress",
            f"a hand is in progress (phase {state.phase})",
            "report its result, or abort the hand",
            "A29.2",
        )
    out.append(
        ev.HandStarted(
            state.round_wind,
            state.hand_number,
            state.honba,
            state.deposits,
            state.dealer,
            state.scores,
            state.replay,
        )
    )
    return out


def walls_ready(state: GameState, _: cmd.WallsReady) -> Answer:
    """The walls stand."""
    if state.phase != "walls":
        return Refusal(
            "no_walls_due", f"no walls are rising (phase {state.phase})", "press start first"
        )
    return [ev.WallsBuilt()]


def roll_dice(state: GameState, command: cmd.RollDice) -> Answer:
    """The dealer's throw breaks the wall; it also proves that the walls stand."""
    if not (1 <= command.a <= 6 and 1 <= command.b <= 6):
        return Refusal(
            "bad_dice", "a die shows 1-6", "throw both dice again", value=(command.a, command.b)
        )
    dice = (command.a, command.b)
    return _no_break(state) or _broken(state, sum(dice), ev.DiceRolled(dice))


def break_open(state: GameState, command: cmd.BreakWall) -> Answer:
    """The wall is open at so many stacks, and the throw was not seen."""
    if not 2 <= command.stacks <= 12:
        return Refusal("bad_dice", "two dice show 2-12", value=command.stacks)
    return _no_break(state) or _broken(state, command.stacks)


def _no_break(state: GameState) -> Refusal | None:
    assert state.game is not None
    if state.phase not in ("walls", "dice"):
        return Refusal("no_dice_due", f"no throw is due (phase {state.phase})", "", "1.16")
    if state.game.auto_deal:
        return Refusal("no_dice_due", "this table deals by itself: no dice, no break", "", "1.15.5")
    return None


def _broken(state: GameState, dice_sum: int, *thrown: Event) -> list[Event]:
    opened = break_wall(dice_sum)
    built: list[Event] = [] if state.phase == "dice" else [ev.WallsBuilt()]
    wall_seat = (state.dealer + opened.wind) % 4
    return [*built, *thrown, ev.WallBroken(wall_seat, opened.stacks, opened.first)]


def deal(state: GameState, command: cmd.Deal) -> Answer:
    """Thirteen tiles each; a hand that nobody read is None."""
    late = state.phase in ("walls", "dice") and not state.tiles_known
    if state.phase != "deal" and not late:
        return Refusal("no_deal_due", f"no tiles are dealt now (phase {state.phase})", "", "1.16")
    if len(command.hands) != 4:
        return Refusal("four_hands", "four hands are dealt", value=len(command.hands))
    known: list[int] = []
    for number, hand in enumerate(command.hands):
        if hand is None:
            continue
        if len(hand) != DEALT:
            return Refusal(
                "wrong_tile_count",
                f"seat {number} has {len(hand)} tiles after the deal, not {DEALT}",
                "put it right, or report P25",
                state.rules.ref("P25"),
                len(hand),
                "P25",
            )
        known += [tile for tile in hand if tile is not None]
    refusal = _exists(state, known)
    return refusal or [ev.Dealt(command.hands)]


def _exists(state: GameState, tiles: list[int]) -> Refusal | None:
    kinds = Counter(KIND[tile] for tile in tiles)
    for kind, count in kinds.items():
        if count > 4:
            return Refusal(
                "five_of_a_kind", f"{NAMES[kind]} was dealt {count} times", value=NAMES[kind]
            )
    for tile in (34, 35, 36):
        count = tiles.count(tile)
        if count > (1 if state.rules.aka else 0):
            return Refusal(
                "too_many_red_fives",
                f"{NAMES[tile]} was dealt {count} times",
                "check the set of tiles",
                state.rules.ref("aka"),
                NAMES[tile],
            )
    return None


def lay_rinshan(state: GameState, _: cmd.LayRinshan) -> Answer:
    """The first replacement tile is laid beside the second (A24.1)."""
    if state.phase not in ("deal", "play") or state.kans:
        return Refusal("no_dead_wall", f"there is no dead wall to arrange (phase {state.phase})")
    if state.rinshan_laid:
        return Refusal("rinshan_laid_already", "the replacement tile has been laid down")
    return [ev.RinshanLaid()]


def reveal_dora(state: GameState, command: cmd.RevealDora) -> Answer:
    """The hand's indicator, or the one a kan brought."""
    if state.phase not in ("deal", "play"):
        late = state.phase in ("walls", "dice") and not state.tiles_known
        if not late:
            return Refusal(
                "no_indicator_due", f"no indicator is turned now (phase {state.phase})", row="P44"
            )
    if not state.dora:
        return [ev.DoraRevealed(command.tile)]
    refusal = kan_dora_may_turn(state)
    if refusal:
        return refusal
    out = passed(state) if turning_establishes(state) else []
    return [*out, ev.DoraRevealed(command.tile, kan=True)]


def correct_dora(state: GameState, command: cmd.CorrectDora) -> Answer:
    """A wrongly turned indicator is put right, as long as the ruleset allows (row 101)."""
    if state.phase not in ("deal", "play") or not 0 <= command.index < len(state.dora):
        return Refusal("no_indicator", "there is no such indicator", value=command.index, row="P44")
    rules = state.rules
    dealer = state.seats[state.dealer]
    closed = bool(dealer.river) or (
        rules.indicator_cutoff == "first_discard_or_ankan" and bool(dealer.melds or state.open_kan)
    )
    if rules.indicator_cutoff != "referee" and (closed or command.index):
        return Refusal(
            "indicator_stands",
            "the tile that was turned stays the indicator",
            "put it into the right place and play on",
            rules.ref("indicator_cutoff"),
            command.index,
            "P44",
        )
    return [ev.DoraReplaced(command.index, command.tile)]
