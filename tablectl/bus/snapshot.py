"""The public side of a game, read from its state field by field: concealed tiles are not among them."""

from __future__ import annotations

from tablectl.bus.payloads import (
    WINDS,
    FinalView,
    GameView,
    MeldView,
    ResultView,
    Riichi,
    RiverView,
    RoundView,
    SeatView,
    WinView,
)
from tablectl.bus.topics import SEATS
from tablectl.engine.game.codec import tile_text
from tablectl.engine.game.events import Won
from tablectl.engine.game.state import FinalResult, GameState, Outcome

_RIICHI: tuple[Riichi, Riichi, Riichi] = ("no", "declared", "accepted")


def game_view(state: GameState) -> GameView | None:
    """The game as everybody at the table sees it; None where there is none."""
    game = state.game
    if game is None:
        return None
    seated = state.phase not in ("empty", "seating")
    return GameView(
        game_id=game.game_id,
        knowledge=game.knowledge,
        ruleset_id=game.rules.id,
        ruleset_hash=game.ruleset_hash,
        phase=state.phase,
        paused=state.paused,
        round=RoundView(
            wind=WINDS[state.round_wind],
            number=state.hand_number,
            honba=state.honba,
            deposits=state.deposits,
            dealer=state.dealer if seated else None,
        ),
        turn=state.turn if state.phase == "play" and state.tiles_known else None,
        dora=tuple(_text(tile) for tile in state.dora),
        tiles_left=state.live if state.tiles_known and state.phase in ("play", "tenpai") else None,
        seats=(_seat(state, 0), _seat(state, 1), _seat(state, 2), _seat(state, 3)),
        result=None if state.outcome is None else _result(state.outcome),
        final=None if state.final is None else _final(state.final),
    )


def _seat(state: GameState, number: int) -> SeatView:
    assert number in SEATS
    seat = state.seats[number]
    seated = state.phase not in ("empty", "seating")
    return SeatView(
        player=state.players[number],
        name=state.names[number],
        wind=WINDS[state.wind(number)] if seated else None,
        score=state.scores[number],
        # Once the hand is settled the sticks are off the table, whoever took them.
        riichi=_RIICHI[seat.riichi] if state.phase not in ("ready", "ended") else "no",
        melds=tuple(
            MeldView(
                kind=meld.kind,
                tiles=_texts(meld.tiles),
                from_seat=meld.from_seat,
                called=_text(meld.called),
            )
            for meld in seat.melds
        ),
        river=tuple(
            RiverView(
                tile=_text(tile.tile),
                tsumogiri=tile.tsumogiri,
                sideways=tile.sideways,
                called_by=tile.called_by,
            )
            for tile in seat.river
        ),
        shown=None if seat.shown is None else _texts(seat.shown),
    )


def _result(outcome: Outcome) -> ResultView:
    return ResultView(
        kind=outcome.kind,
        wins=tuple(_win(win) for win in outcome.wins),
        tenpai=outcome.tenpai,
        deltas=outcome.deltas,
    )


def _win(win: Won) -> WinView:
    return WinView(
        seat=win.seat,
        from_seat=win.from_seat,
        tile=_text(win.tile),
        hand=None if win.hand is None else _texts(win.hand),
        yaku=tuple((yaku.name, yaku.han) for yaku in win.yaku),
        yakuman=tuple(yaku.name for yaku in win.yakuman),
        han=win.han,
        fu=win.fu,
        limit=win.limit,
        points=win.points,
        deltas=win.deltas,
        dora=_texts(win.dora),
        ura=None if win.ura is None else _texts(win.ura),
    )


def _final(final: FinalResult) -> FinalView:
    return FinalView(
        reason=final.reason,
        ranks=final.ranks,
        points=final.points,
        points_scale=final.points_scale,
        deposits_left=final.deposits_left,
    )


def _text(tile: int | None) -> str | None:
    return None if tile is None else tile_text(tile)


def _texts(tiles: tuple[int, ...]) -> tuple[str, ...]:
    return tuple(tile_text(tile) for tile in tiles)
