"""Drawing, discarding and riichi (rules 1.6, 1.17)."""

from __future__ import annotations

from tablectl.engine.game import commands as cmd
from tablectl.engine.game import events as ev
from tablectl.engine.game.commands import Refusal
from tablectl.engine.game.events import Event
from tablectl.engine.game.hands import furiten_after, tenpai_discards
from tablectl.engine.game.passing import abort_due, indicator_due, passed
from tablectl.engine.game.referee import find, played_by_machine
from tablectl.engine.game.state import GameState
from tablectl.engine.tiles import KIND, NAMES

Answer = list[Event] | Refusal


def not_in_play(state: GameState) -> Refusal | None:
    """A refusal outside the phase in which tiles move."""
    if state.phase == "play":
        return None
    return Refusal(
        "not_in_play", f"no tiles move now (phase {state.phase})", "start the hand and deal first"
    )


# ---- draw -------------------------------------------------------------------------------------------


def draw(state: GameState, command: cmd.Draw) -> Answer:
    """A tile from the wall, or the replacement after a kan."""
    if state.phase != "play":
        return not_in_play(state) or []
    if state.step in ("rob", "rinshan"):
        return _replacement(state, command)
    if state.step != "draw":
        return Refusal(
            "discard_due",
            f"seat {state.turn} discards next, nobody draws",
            "",
            "1.17.1",
            command.seat,
            "P23",
        )
    if command.rinshan:
        return Refusal("no_kan", "no kan was made, so no replacement tile is due", row="P22")
    if command.seat != state.turn:
        return Refusal(
            "not_your_turn",
            f"seat {state.turn} draws next, not seat {command.seat}",
            "a skipped turn or a tile drawn out of turn is for the referee",
            "1.17.1",
            command.seat,
            "P23",
        )
    if state.live == 0:
        return Refusal(
            "no_tiles_left", "the live wall is empty", "the seats declare tenpai or noten", "A52.1"
        )
    due = abort_due(state)
    if due:
        return Refusal(
            "hand_is_drawn", f"the hand ends here: {due}", f"report the draw ({due})", "T18"
        )
    refusal = indicator_due(state, "next")
    if refusal:
        return refusal
    return [*passed(state), ev.Drawn(command.seat, command.tile)]


def _replacement(state: GameState, command: cmd.Draw) -> Answer:
    seat = state.open_kan.seat if state.open_kan is not None else state.turn
    if command.seat != seat:
        return Refusal(
            "not_your_turn",
            f"seat {seat} takes the replacement tile",
            "",
            "A43",
            command.seat,
            "P23",
        )
    if not command.rinshan:
        return Refusal(
            "replacement_due", "after a kan the replacement tile is drawn", "", "A43.3", row="P22"
        )
    refusal = indicator_due(state, "replacement")
    if refusal:
        return refusal
    return [*passed(state), ev.Drawn(command.seat, command.tile, rinshan=True)]


# ---- discard ----------------------------------------------------------------------------------------


def discard(state: GameState, command: cmd.Discard) -> Answer:
    """A tile into the river. What a rule forbids but a hand can do is accepted with a finding."""
    if state.phase != "play":
        return not_in_play(state) or []
    seat = state.seats[command.seat]
    if command.seat != state.turn or state.step not in ("own", "call"):
        return Refusal(
            "not_your_turn",
            f"seat {command.seat} has no tile to discard",
            "a discard out of turn is for the referee",
            "1.17.1",
            command.seat,
            "P23",
        )
    tile = command.tile
    if tile is None and not seat.unknown:
        return Refusal("tile_needed", "all tiles of this hand are known: name the discard")
    if tile is not None and tile not in seat.hand and not seat.unknown:
        return Refusal(
            "tile_not_in_hand",
            f"seat {command.seat} does not hold {NAMES[tile]}",
            "a discard or draw was missed: put the hand right first",
            value=NAMES[tile],
        )
    if (
        state.game is not None
        and not state.dora
        and not seat.river
        and command.seat == state.dealer
    ):
        return Refusal(
            "indicator_due",
            "the dora indicator is turned before the first discard",
            "",
            "1.16",
            row="P44",
        )
    refusal = indicator_due(state, "discard")
    if refusal:
        return refusal
    findings = _discard_findings(state, command)
    if isinstance(findings, Refusal):
        return findings
    sideways = seat.riichi == 1 or seat.sideways_due
    return [ev.Discarded(command.seat, tile, command.tsumogiri, sideways), *findings]


def _discard_findings(state: GameState, command: cmd.Discard) -> list[Event] | Refusal:
    seat, tile = state.seats[command.seat], command.tile
    if not seat.forbidden and not seat.riichi:
        return []
    machine = played_by_machine(state.rules)
    if tile is not None and KIND[tile] in seat.forbidden:
        if machine:
            return Refusal(
                "kuikae",
                f"{NAMES[tile]} must not be discarded right after this call",
                "discard another tile",
                state.rules.ref("kuikae"),
                NAMES[tile],
                "P14",
            )
        return find(state, "P14", command.seat, detail=NAMES[tile])
    if seat.riichi == 2 and not _is_drawn_tile(state, command):
        if machine:
            return Refusal(
                "riichi_hand_is_fixed",
                "after riichi the drawn tile is discarded",
                "",
                "A39.8",
                None if tile is None else NAMES[tile],
                "P10",
            )
        return find(state, "P10", command.seat)
    if seat.riichi == 1 and not seat.unknown and tile is not None:
        rules = state.rules
        if KIND[tile] not in tenpai_discards(rules, seat):
            if rules.noten_riichi == "refused":
                return Refusal(
                    "noten_riichi",
                    f"the hand is not tenpai after {NAMES[tile]}",
                    "discard a tile that leaves tenpai",
                    rules.ref("noten_riichi"),
                    NAMES[tile],
                    "P6",
                )
            if rules.noten_riichi == "punished":
                return find(state, "P6", command.seat, secret=True)
    return []


def _is_drawn_tile(state: GameState, command: cmd.Discard) -> bool:
    seat = state.seats[command.seat]
    if command.tsumogiri is False:
        return False
    return seat.drawn is None or command.tile is None or command.tile == seat.drawn


# ---- riichi -----------------------------------------------------------------------------------------


def may_riichi(state: GameState, number: int) -> Refusal | None:
    """Why seat `number` cannot declare riichi now, or None; a noten hand is another matter (row 73–76)."""
    rules, seat = state.rules, state.seats[number]
    if state.phase != "play" or state.turn != number or state.step != "own":
        return Refusal(
            "not_your_turn", "riichi is declared after one's own draw", "", "A39.13", number, "P8"
        )
    barred = _barred_from_riichi(state, number)
    if barred:
        return barred
    if not seat.closed:
        return Refusal(
            "riichi_open_hand", "an open hand cannot declare riichi", "", "A39.3", number, "P8"
        )
    if state.scores[number] < rules.riichi_min_points:
        return _too_few_points(state, number)
    if state.live < rules.riichi_min_live_tiles:
        return Refusal(
            "riichi_live_tiles",
            f"riichi needs {rules.riichi_min_live_tiles} live tiles, {state.live} are left",
            "",
            rules.ref("riichi_min_live_tiles"),
            state.live,
            "P8",
        )
    return None


def _barred_from_riichi(state: GameState, number: int) -> Refusal | None:
    seat = state.seats[number]
    if seat.riichi:
        return Refusal("riichi_already", "this seat has declared riichi")
    if seat.stopped:
        return Refusal(
            "stopped", "a stopped hand may not declare riichi", "", "A54.3", number, "P39"
        )
    return None


def _too_few_points(state: GameState, number: int) -> Refusal:
    rules = state.rules
    return Refusal(
        "riichi_points",
        f"riichi needs {rules.riichi_min_points} points",
        "",
        rules.ref("riichi_min_points"),
        state.scores[number],
    )


def declare_riichi(state: GameState, command: cmd.DeclareRiichi) -> Answer:
    """Riichi is said; at a table that senses no tiles it is taken as established."""
    if not state.tiles_known:
        return _riichi_by_word(state, command)
    refusal = may_riichi(state, command.seat)
    if refusal:
        return refusal
    seat, rules = state.seats[command.seat], state.rules
    if not seat.unknown and rules.noten_riichi == "refused":
        options = tenpai_discards(rules, seat)
        if not options:
            return Refusal(
                "noten_riichi", "the hand is not tenpai", "", rules.ref("noten_riichi"), row="P6"
            )
        if not rules.furiten_riichi and all(furiten_after(seat, kind) for kind in options):
            return Refusal(
                "furiten_riichi",
                "riichi in furiten is not allowed",
                "",
                rules.ref("furiten_riichi"),
            )
    return [ev.RiichiDeclared(command.seat, state.first_turn and not seat.river)]


def _riichi_by_word(state: GameState, command: cmd.DeclareRiichi) -> Answer:
    number, rules = command.seat, state.rules
    if state.phase not in ("dice", "deal", "play"):
        return Refusal("not_in_play", f"riichi is declared in a hand (phase {state.phase})")
    barred = _barred_from_riichi(state, number)
    if barred:
        return barred
    if state.scores[number] < rules.riichi_min_points:
        return _too_few_points(state, number)
    return [ev.RiichiDeclared(number, command.double), ev.RiichiAccepted(number)]
