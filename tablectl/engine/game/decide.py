"""`decide(state, command)` → events, or a refusal that says why and changes nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any

from tablectl.engine.game import claims, draws, play, referee, settle, setup, starting, wins
from tablectl.engine.game import commands as cmd
from tablectl.engine.game.commands import Command, Refusal
from tablectl.engine.game.events import Event
from tablectl.engine.game.state import GameState

Answer = list[Event] | Refusal
_BEFORE_A_GAME = frozenset({cmd.StartGame, cmd.AdoptGame})
_WHILE_PAUSED = frozenset(
    {cmd.PauseGame, cmd.ResumeGame, cmd.AbortGame, cmd.AbortHand, cmd.TakeOver, cmd.ReplacePlayer, cmd.AdjustScore, cmd.CallTime,
     cmd.Sanction, cmd.SettleFinding, cmd.Report}
)  # fmt: skip
_AFTER_THE_END = frozenset({cmd.StartGame, cmd.AdoptGame})

_DECIDE: dict[type[Command], Callable[[GameState, Any], Answer]] = {
    cmd.StartGame: setup.start_game,
    cmd.AdoptGame: setup.adopt_game,
    cmd.SeatThrow: setup.seat_throw,
    cmd.SeatRow: setup.seat_row,
    cmd.PauseGame: setup.pause_game,
    cmd.ResumeGame: setup.resume_game,
    cmd.AbortHand: setup.abort_hand,
    cmd.TakeOver: setup.take_over,
    cmd.AbortGame: setup.abort_game,
    cmd.CallTime: setup.call_time,
    cmd.ReplacePlayer: setup.replace_player,
    cmd.AdjustScore: setup.adjust_score,
    cmd.PressStart: starting.press_start,
    cmd.WallsReady: starting.walls_ready,
    cmd.RollDice: starting.roll_dice,
    cmd.BreakWall: starting.break_open,
    cmd.Deal: starting.deal,
    cmd.LayRinshan: starting.lay_rinshan,
    cmd.RevealDora: starting.reveal_dora,
    cmd.CorrectDora: starting.correct_dora,
    cmd.Draw: play.draw,
    cmd.Discard: play.discard,
    cmd.DeclareRiichi: play.declare_riichi,
    cmd.Chi: claims.chi,
    cmd.Pon: claims.pon,
    cmd.Daiminkan: claims.daiminkan,
    cmd.Ankan: claims.ankan,
    cmd.Kakan: claims.kakan,
    cmd.KyuushuKyuuhai: draws.kyuushu_kyuuhai,
    cmd.Win: wins.win,
    cmd.DeclareTenpai: draws.declare_tenpai,
    cmd.DeclareNoten: draws.declare_noten,
    cmd.ResultDraw: draws.result_draw,
    cmd.Settle: settle.settle,
    cmd.Report: referee.report,
    cmd.SettleFinding: referee.settle_finding,
    cmd.Sanction: referee.sanction,
}
_SEATS: dict[type[Command], tuple[str, ...]] = {
    kind: tuple(field.name for field in fields(kind) if field.name in ("seat", "from_seat"))  # type: ignore[arg-type] # commands are dataclasses
    for kind in _DECIDE
}


def decide(state: GameState, command: Command) -> Answer:
    """What `command` does in `state`: the events that follow from it, or a `Refusal`."""
    kind = type(command)
    handler = _DECIDE.get(kind)
    if handler is None:
        return Refusal(
            "needs_the_log", f"{command.type} is decided by the game's timeline", value=command.type
        )
    if state.phase == "empty" and kind not in _BEFORE_A_GAME:
        return Refusal("no_game", "no game is in progress", "start or adopt a game")
    if state.phase == "ended" and kind not in _AFTER_THE_END:
        return Refusal(
            "game_over", "the game is over", "undo the last command, or start another game"
        )
    if state.paused and kind not in _WHILE_PAUSED:
        return Refusal("paused", "the game is paused", "resume it first")
    for name in _SEATS[kind]:
        seat = getattr(command, name)
        if seat is not None and not 0 <= seat <= 3:
            return Refusal("bad_seat", f"{seat} is no seat", "seats are 0-3", value=seat)
    return handler(state, command)
