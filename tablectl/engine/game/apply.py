"""`apply(state, event) → state`: the fold. Results stand in the events; nothing is scored here."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from tablectl.engine.game import events as ev
from tablectl.engine.game.codec import canonical
from tablectl.engine.game.state import (
    EMPTY,
    HAND_FIELDS,
    PACKED,
    FinalResult,
    Finding,
    Game,
    GameState,
    HandStart,
    Meld,
    OpenKan,
    Outcome,
    Pao,
    RiverTile,
    Seat,
    SeatDrawState,
)
from tablectl.engine.rules.model import KanDoraTiming, Ruleset
from tablectl.engine.tiles import KIND


def apply(state: GameState, event: ev.Event) -> GameState:
    """The state after `event`; `state` itself stays as it was."""
    return apply_all(state, (event,))


def apply_all(state: GameState, events: Iterable[ev.Event]) -> GameState:
    """The state after all `events`, copied once."""
    new = state.copy()
    for event in events:
        _APPLY[type(event)](new, event)
    return new


def _edit(state: GameState, seat: int) -> Seat:
    new = state.seats[seat].copy()
    seats = list(state.seats)
    seats[seat] = new
    state.seats = tuple(seats)  # type: ignore[assignment] # four stay four
    return new


def _take(seat: Seat, tiles: Iterable[int | None]) -> None:
    """Remove tiles from the hand; one that is not known to be there was among the unknown."""
    hand = list(seat.hand)
    for tile in tiles:
        if tile is not None and tile in hand:
            hand.remove(tile)
            seat.key -= PACKED[tile]
        else:
            seat.unknown -= 1
    seat.hand = tuple(hand)
    seat.waits_cache = None


def _end_ippatsu(state: GameState) -> None:
    for number, seat in enumerate(state.seats):
        if seat.ippatsu:
            _edit(state, number).ippatsu = False


def kan_timing(rules: Ruleset, kind: str) -> KanDoraTiming:
    """When the indicator of a kan of `kind` is turned."""
    timing: KanDoraTiming = getattr(rules, f"kan_dora_{kind}")
    return timing


_KEPT_RULESETS = 64
_rulesets: dict[bytes, Ruleset] = {}


def ruleset_of(described: dict[str, Any]) -> Ruleset:
    """The ruleset a dict describes, one object for equal dicts: scoring prepares itself once a ruleset.

    Raises `RuleError` for a dict that describes none.
    """
    key = canonical(described)
    found = _rulesets.get(key)
    if found is None:
        found = Ruleset.from_dict(described)
        if len(_rulesets) >= _KEPT_RULESETS:
            _rulesets.clear()
        _rulesets[key] = found
    return found


# ---- the game -------------------------------------------------------------------------------------


def _game_started(state: GameState, event: ev.GameStarted) -> None:
    rules = ruleset_of(event.ruleset)
    state.__dict__.clear()
    state.__dict__.update(EMPTY.__dict__)
    state.game = Game(
        event.game_id,
        event.knowledge,
        event.auto_deal,
        rules,
        event.ruleset_hash,
        event.time_limit_min,
        event.scores,
        event.adopted,
    )
    state.players = event.players
    state.names = event.names
    state.scores = event.scores
    state.round_wind = event.round_wind
    state.hand_number = event.hand_number
    state.honba = event.honba
    state.deposits = event.deposits
    if event.first_dealer is not None:
        state.first_dealer = event.first_dealer
        state.phase = "ready"
        return
    state.phase = "seating"
    if not event.seat_draw:
        state.seat_draw = SeatDrawState("dealer1", event.provisional_east, event.provisional_east)
    elif rules.seat_draw == "wind_tiles":
        state.seat_draw = SeatDrawState("row", None)
    else:
        state.seat_draw = SeatDrawState("provisional", (event.shuffler + 2) % 4)


def _seat_thrown(state: GameState, event: ev.SeatThrown) -> None:
    draw = state.seat_draw
    assert draw is not None
    east, odd = draw.east, draw.odd
    if event.step == "provisional":
        east = event.points_to
    if event.step == "parity" or (event.step == "provisional" and event.next_step == "row"):
        odd = sum(event.dice) % 2 == 1
    state.seat_draw = SeatDrawState(event.next_step, event.next_thrower, east, odd)  # type: ignore[arg-type] # steps are written by decide


def _seats_drawn(state: GameState, event: ev.SeatsDrawn) -> None:
    state.players = event.players
    state.names = event.names
    state.seat_draw = SeatDrawState(
        event.next_step,  # type: ignore[arg-type] # steps are written by decide
        event.next_thrower,
        event.provisional_east,
    )


def _first_dealer_set(state: GameState, event: ev.FirstDealerSet) -> None:
    state.first_dealer = event.first_dealer
    state.seat_draw = None
    state.phase = "ready"


def _paused(state: GameState, _: ev.GamePaused) -> None:
    state.paused = True


def _resumed(state: GameState, _: ev.GameResumed) -> None:
    state.paused = False


def _hand_taken_over(state: GameState, _: ev.HandTakenOver) -> None:
    state.taken_over = True
    state.step = "none"
    state.discard = None
    state.open_kan = None
    state.rinshan = False
    state.passed_with_draw = ()
    state.riichi_with_draw = None
    for number in range(4):
        seat = _edit(state, number)
        # Rivers and melds lie open and stay; what is in the hands is not known any more.
        seat.hand, seat.unknown, seat.key = (), len(seat.hand) + seat.unknown, 0
        seat.drawn = None
        seat.missed, seat.forbidden, seat.ippatsu = 0, frozenset(), False
        seat.waits_cache = None


def _time_called(state: GameState, event: ev.TimeCalled) -> None:
    state.hands_to_play = event.hands_to_play


def _player_replaced(state: GameState, event: ev.PlayerReplaced) -> None:
    players, names = list(state.players), list(state.names)
    players[event.seat], names[event.seat] = event.player, event.name
    state.players = tuple(players)  # type: ignore[assignment] # four stay four
    state.names = tuple(names)  # type: ignore[assignment] # four stay four


def _score_adjusted(state: GameState, event: ev.ScoreAdjusted) -> None:
    state.scores = event.scores
    state.deposits = event.deposits_after
    state.off_table -= sum(event.deltas) + 1000 * event.deposits


def _game_ended(state: GameState, event: ev.GameEnded) -> None:
    state.off_table += sum(state.scores) + 1000 * state.deposits - sum(event.scores)
    state.scores = event.scores
    state.deposits = 0
    state.phase = "ended"
    state.paused = False
    state.final = FinalResult(
        event.reason, event.ranks, event.points, event.points_scale, event.deposits_left
    )


# ---- the start of a hand ----------------------------------------------------------------------------


def _hand_started(state: GameState, event: ev.HandStarted) -> None:
    state.__dict__.update(HAND_FIELDS)
    state.phase = "walls"
    state.round_wind = event.round_wind
    state.hand_number = event.hand_number
    state.honba = event.honba
    state.deposits = event.deposits
    state.scores = event.scores
    state.replay = False
    state.voided_by = ()
    state.turn = event.dealer
    state.hand_start = HandStart(event.scores, event.deposits, event.replay)


def _walls_built(state: GameState, _: ev.WallsBuilt) -> None:
    assert state.game is not None
    state.phase = "deal" if state.game.auto_deal else "dice"


def _dice_rolled(state: GameState, event: ev.DiceRolled) -> None:
    state.dice = event.dice


def _wall_broken(state: GameState, event: ev.WallBroken) -> None:
    state.wall = (event.wall_seat, event.stacks, event.first_stack)
    state.phase = "deal"


def _dealt(state: GameState, event: ev.Dealt) -> None:
    for number, tiles in enumerate(event.hands):
        seat = _edit(state, number)
        seat.hand = tuple(sorted(tile for tile in tiles or () if tile is not None))
        seat.unknown = event.each - len(seat.hand)
        seat.key = sum([PACKED[tile] for tile in seat.hand])
        seat.waits_cache = None
    state.phase = "play"
    state.step = "draw"
    state.turn = state.dealer


def _rinshan_laid(state: GameState, _: ev.RinshanLaid) -> None:
    state.rinshan_laid = True


def _dora_revealed(state: GameState, event: ev.DoraRevealed) -> None:
    state.dora = (*state.dora, event.tile)
    if event.kan:
        state.dora_pending = state.dora_pending[1:]


def _dora_replaced(state: GameState, event: ev.DoraReplaced) -> None:
    dora = list(state.dora)
    dora[event.index] = event.tile
    state.dora = tuple(dora)


# ---- play -------------------------------------------------------------------------------------------


def _drawn(state: GameState, event: ev.Drawn) -> None:
    seat = _edit(state, event.seat)
    if event.tile is None:
        seat.unknown += 1
    else:
        seat.hand = tuple(sorted((*seat.hand, event.tile)))
        seat.key += PACKED[event.tile]
    seat.drawn = event.tile
    seat.waits_cache = None
    if seat.missed == 1 and state.rules.temporary_furiten_ends == "own_draw_or_call":
        seat.missed = 0
    state.live -= 1
    state.turn = event.seat
    state.step = "own"
    state.discard = None
    state.rinshan = event.rinshan


def _draw_returned(state: GameState, event: ev.DrawReturned) -> None:
    seat = _edit(state, event.seat)
    _take(seat, (seat.drawn,))
    seat.drawn = None
    state.live += 1
    source = (event.seat - 1) % 4
    state.step = "draw"
    state.turn = event.seat
    state.discard = (source, state.seats[source].river[-1].tile)
    for number, before in state.passed_with_draw:
        _edit(state, number).missed = before
    if state.riichi_with_draw is not None:
        declarer = _edit(state, state.riichi_with_draw)
        declarer.riichi = 1
        declarer.ippatsu = False
        _move(state, state.riichi_with_draw, 1000)
        state.deposits -= 1
    state.passed_with_draw = ()
    state.riichi_with_draw = None


def _move(state: GameState, seat: int, points: int) -> None:
    scores = list(state.scores)
    scores[seat] += points
    state.scores = tuple(scores)  # type: ignore[assignment] # four stay four


def _discarded(state: GameState, event: ev.Discarded) -> None:
    seat = _edit(state, event.seat)
    _take(seat, (event.tile,))
    seat.river = (*seat.river, RiverTile(event.tile, event.tsumogiri, event.sideways))
    seat.drawn = None
    seat.forbidden = frozenset()
    seat.sideways_due = False
    if seat.missed == 1:
        seat.missed = 0
    if seat.riichi == 2:
        seat.ippatsu = False
    state.step = "draw"
    state.turn = (event.seat + 1) % 4
    state.discard = (event.seat, event.tile)
    state.rinshan = False
    state.passed_with_draw = ()
    state.riichi_with_draw = None


def _riichi_declared(state: GameState, event: ev.RiichiDeclared) -> None:
    seat = _edit(state, event.seat)
    seat.riichi = 1
    seat.double = event.double


def _riichi_accepted(state: GameState, event: ev.RiichiAccepted) -> None:
    seat = _edit(state, event.seat)
    seat.riichi = 2
    seat.ippatsu = True
    _move(state, event.seat, -1000)
    state.deposits += 1
    state.riichi_with_draw = event.seat


def _called(state: GameState, event: ev.Called) -> None:
    giver = _edit(state, event.from_seat)
    last = giver.river[-1]
    giver.river = (
        *giver.river[:-1],
        RiverTile(last.tile, last.tsumogiri, last.sideways, event.seat),
    )
    giver.sideways_due = last.sideways
    seat = _edit(state, event.seat)
    _take(seat, event.hand_tiles)
    seat.melds = (
        *seat.melds,
        Meld(event.kind, (event.tile, *event.hand_tiles), event.from_seat, event.tile),
    )
    seat.forbidden = frozenset(event.forbidden)
    seat.drawn = None
    if seat.missed == 1 and state.rules.temporary_furiten_ends == "own_draw_or_call":
        seat.missed = 0
    _end_ippatsu(state)
    state.first_turn = False
    state.discard = None
    state.turn = event.seat
    state.step = "call"
    if event.pao:
        state.pao = (*state.pao, Pao(event.seat, event.pao, event.from_seat))
    if event.kind == "daiminkan":
        _kan_made(state, event.seat, "daiminkan")


def _kan_made(state: GameState, seat: int, kind: str) -> None:
    state.kans = (*state.kans, seat)
    state.step = "rinshan"
    if state.rules.kan_dora:
        state.dora_pending = (*state.dora_pending, kan_timing(state.rules, kind))


def _ankan_declared(state: GameState, event: ev.AnkanDeclared) -> None:
    seat = _edit(state, event.seat)
    _take(seat, event.tiles)
    seat.melds = (*seat.melds, Meld("ankan", event.tiles))
    seat.drawn = None
    state.open_kan = OpenKan(event.seat, "ankan", KIND[event.tiles[0]])
    state.step = "rob"


def _kakan_declared(state: GameState, event: ev.KakanDeclared) -> None:
    seat = _edit(state, event.seat)
    _take(seat, (event.tile,))
    kind = KIND[event.tile]
    seat.melds = tuple(
        Meld("kakan", (*meld.tiles, event.tile), meld.from_seat, meld.called)
        if meld.kind == "pon" and KIND[meld.tiles[0]] == kind
        else meld
        for meld in seat.melds
    )
    seat.drawn = None
    state.open_kan = OpenKan(event.seat, "kakan", event.tile)
    state.step = "rob"


def _kan_established(state: GameState, event: ev.KanEstablished) -> None:
    kan = state.open_kan
    assert kan is not None
    state.open_kan = None
    _end_ippatsu(state)
    state.first_turn = False
    _kan_made(state, event.seat, kan.kind)


def _missed_win(state: GameState, event: ev.MissedWin) -> None:
    seat = _edit(state, event.seat)
    state.passed_with_draw = (*state.passed_with_draw, (event.seat, seat.missed))
    seat.missed = 2 if event.permanent else 1


# ---- results ----------------------------------------------------------------------------------------


def _won(state: GameState, event: ev.Won) -> None:
    earlier = () if state.outcome is None else state.outcome.wins
    wins = [win for win in earlier if win.seat != event.seat] + [event]
    wins.sort(key=lambda win: (win.seat - win.from_seat) % 4)
    _set_wins(state, wins)
    _edit(state, event.seat).shown = event.hand


def _win_bumped(state: GameState, event: ev.WinBumped) -> None:
    assert state.outcome is not None
    _set_wins(state, [win for win in state.outcome.wins if win.seat != event.seat])


def _set_wins(state: GameState, wins: list[ev.Won]) -> None:
    deltas = [sum(win.deltas[seat] for win in wins) for seat in range(4)]
    state.outcome = Outcome("win", tuple(wins), tuple(deltas))  # type: ignore[arg-type] # four seats
    state.phase = "result"


def _draw_reached(state: GameState, _: ev.DrawReached) -> None:
    state.phase = "tenpai"
    state.step = "none"
    state.discard = None


def _tenpai_declared(state: GameState, event: ev.TenpaiDeclared) -> None:
    seat = _edit(state, event.seat)
    seat.tenpai = event.tenpai
    seat.shown = event.hand


def _hand_drawn(state: GameState, event: ev.HandDrawn) -> None:
    state.outcome = Outcome(event.kind, (), event.deltas, event.tenpai, event.nagashi)
    state.phase = "result"


def _hand_ended(state: GameState, event: ev.HandEnded) -> None:
    state.phase = "ready"
    state.step = "none"
    state.outcome = None
    state.discard = None
    state.open_kan = None
    state.scores = event.scores
    state.deposits = event.deposits
    state.honba = event.honba
    state.round_wind = event.round_wind
    state.hand_number = event.hand_number
    state.hands_ended += 1
    state.replay = event.replay
    if not event.replay and state.hands_to_play:
        state.hands_to_play -= 1


# ---- the referee --------------------------------------------------------------------------------------


def _found(state: GameState, event: ev.Found) -> None:
    finding = Finding(
        event.finding,
        event.row,
        event.seat,
        event.proposed,
        event.article,
        event.certainty,
        event.secret,
        event.detail,
        state.hands_ended,
    )
    state.findings = (*state.findings, finding)


def _replace_finding(state: GameState, number: int, **changes: Any) -> None:
    state.findings = tuple(
        Finding(**{**finding.to_json(), **changes}) if finding.number == number else finding
        for finding in state.findings
    )


def _finding_disclosed(state: GameState, event: ev.FindingDisclosed) -> None:
    _replace_finding(state, event.finding, secret=False)


def _finding_settled(state: GameState, event: ev.FindingSettled) -> None:
    _replace_finding(state, event.finding, upheld=event.upheld)


def _sanctioned(state: GameState, event: ev.Sanctioned) -> None:
    placement, scores, warnings = list(state.placement), list(state.scores), list(state.warnings)
    placement[event.seat] += event.placement
    scores[event.seat] += event.score
    warnings[event.seat] = event.warnings
    state.placement = tuple(placement)  # type: ignore[assignment] # four stay four
    state.scores = tuple(scores)  # type: ignore[assignment] # four stay four
    state.warnings = tuple(warnings)  # type: ignore[assignment] # four stay four
    state.off_table -= event.score
    if event.ends_hand:
        state.voided_by = (event.seat,)
    if event.stops_win:
        _edit(state, event.seat).stopped = True


def _undone(_: GameState, event: ev.Undone) -> None:
    raise ValueError(f"undone {event.command_id} needs the log: fold it with `Timeline`")


_APPLY: dict[type[ev.Event], Callable[[GameState, Any], None]] = {
    ev.GameStarted: _game_started,
    ev.SeatThrown: _seat_thrown,
    ev.SeatsDrawn: _seats_drawn,
    ev.FirstDealerSet: _first_dealer_set,
    ev.GamePaused: _paused,
    ev.GameResumed: _resumed,
    ev.HandTakenOver: _hand_taken_over,
    ev.TimeCalled: _time_called,
    ev.PlayerReplaced: _player_replaced,
    ev.ScoreAdjusted: _score_adjusted,
    ev.GameEnded: _game_ended,
    ev.HandStarted: _hand_started,
    ev.WallsBuilt: _walls_built,
    ev.DiceRolled: _dice_rolled,
    ev.WallBroken: _wall_broken,
    ev.Dealt: _dealt,
    ev.RinshanLaid: _rinshan_laid,
    ev.DoraRevealed: _dora_revealed,
    ev.DoraReplaced: _dora_replaced,
    ev.Drawn: _drawn,
    ev.DrawReturned: _draw_returned,
    ev.Discarded: _discarded,
    ev.RiichiDeclared: _riichi_declared,
    ev.RiichiAccepted: _riichi_accepted,
    ev.Called: _called,
    ev.AnkanDeclared: _ankan_declared,
    ev.KakanDeclared: _kakan_declared,
    ev.KanEstablished: _kan_established,
    ev.MissedWin: _missed_win,
    ev.Won: _won,
    ev.WinBumped: _win_bumped,
    ev.DrawReached: _draw_reached,
    ev.TenpaiDeclared: _tenpai_declared,
    ev.HandDrawn: _hand_drawn,
    ev.HandEnded: _hand_ended,
    ev.Found: _found,
    ev.FindingDisclosed: _finding_disclosed,
    ev.FindingSettled: _finding_settled,
    ev.Sanctioned: _sanctioned,
    ev.Undone: _undone,
}
