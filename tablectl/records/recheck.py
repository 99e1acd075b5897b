"""Our own events through the engine again: what a journal says happened, decided anew and compared.

Each command's events are decided from the state before them. Where events do not hold all that was asked
(a typed hand with its melds, an adopted seat draw) they are folded and counted as not compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from tablectl.engine.game import commands as cmd
from tablectl.engine.game import events as ev
from tablectl.engine.game.commands import Command, Refusal
from tablectl.engine.game.decide import decide
from tablectl.engine.game.events import Event
from tablectl.engine.game.state import GameState
from tablectl.engine.game.timeline import Timeline
from tablectl.records.replay import Mismatch, Report

Group = tuple[str, Sequence[Event]]
"""A command id and the events it led to."""


def recheck(game: str, groups: Iterable[Group], report: Report) -> GameState:
    """All groups in their order; the state at the end. Differences go into the report."""
    report.games += 1
    line = Timeline()
    for number, (command_id, events) in enumerate(groups):
        state = line.state
        if not any(isinstance(event, ev.Undone) for event in events):
            _compare(game, number, state, events, report)
        line.restore(command_id, None, events)
        report.events += len(events)
        report.hands += sum(1 for event in events if isinstance(event, ev.HandEnded))
        report.wins += sum(1 for event in events if isinstance(event, ev.Won))
    return line.state


def _compare(
    game: str, number: int, state: GameState, events: Sequence[Event], report: Report
) -> None:
    command = command_of(state, events)
    if command is None:
        report.uncompared += 1
        return
    answer = decide(state, command)
    found: object = f"{answer.code}: {answer.message}" if isinstance(answer, Refusal) else answer
    if found != list(events):
        hand = f"{'ESWN'[state.round_wind % 4]}{state.hand_number}.{state.honba}"
        report.mismatches.append(
            Mismatch(game, hand, number, command.type, _text(events), _text(found))
        )


def _text(what: Any) -> str:
    if isinstance(what, str):
        return what
    return "; ".join(str(event.to_json()) for event in what)[:600]


# ---- from events to the command behind them ---------------------------------------------------------------


def command_of(state: GameState, events: Sequence[Event]) -> Command | None:
    """The command that leads to these events, or None where they do not tell all of it."""
    by_type = {type(event): event for event in events}
    for kind, make in _MAKERS:
        event = by_type.get(kind)
        if event is not None:
            return make(state, events, event)
    return None


def _started(state: GameState, events: Sequence[Event], event: ev.GameStarted) -> Command:
    if event.adopted:
        assert event.first_dealer is not None
        return cmd.AdoptGame(
            event.game_id, event.ruleset, event.players, event.scores, event.first_dealer,
            event.round_wind, event.hand_number, event.honba, event.deposits, event.names,
            event.knowledge, event.auto_deal, event.time_limit_min,
        )  # fmt: skip
    return cmd.StartGame(
        event.game_id, event.ruleset, event.players, event.names, event.first_dealer, event.seat_draw,
        event.shuffler, event.provisional_east, event.knowledge, event.auto_deal, event.scores,
        event.time_limit_min,
    )  # fmt: skip


def _row(state: GameState, events: Sequence[Event], event: ev.SeatsDrawn) -> Command:
    draw = state.seat_draw
    assert draw is not None
    taken = event.winds
    if state.rules.seat_draw != "wind_tiles":
        in_order = [taken[(draw.east + i) % 4] for i in range(4)]
        row = in_order if draw.odd else in_order[::-1]
        taken = (row[0], row[1], row[2], row[3])
    return cmd.SeatRow(taken)


def _won(state: GameState, events: Sequence[Event], _: ev.Won) -> Command | None:
    earlier = () if state.outcome is None else state.outcome.wins
    seats = {win.seat for win in earlier}
    won = next((e for e in events if isinstance(e, ev.Won) and e.seat not in seats), None)
    if won is None:
        return None
    together = any(isinstance(event, ev.WinBumped) for event in events)
    if won.hand is None:
        if won.pao_seat is not None or (won.limit == "yakuman" and won.han is None):
            return None  # how many yakuman were typed is not told
        limit = won.limit if won.han is None else None
        return cmd.Win(
            won.seat, won.from_seat, won.tile, ura=won.ura, han=won.han, fu=won.fu, limit=limit,
            together=together,
        )  # fmt: skip
    if not state.tiles_known:
        return None  # its melds and circumstances were typed with it
    return cmd.Win(
        won.seat, won.from_seat, won.tile, won.hand, ura=won.ura, dora=won.dora, together=together
    )


def _drawn_hand(state: GameState, events: Sequence[Event], event: ev.HandDrawn) -> Command | None:
    if event.kind == "kyuushu":
        return None if event.seat is None else cmd.KyuushuKyuuhai(event.seat)
    declared = [e for e in events if isinstance(e, ev.TenpaiDeclared)]
    if len(declared) == 1 and state.phase == "tenpai":
        return _declared(state, events, declared[0])
    nagashi = event.nagashi if event.kind == "nagashi" else None
    return cmd.ResultDraw(event.kind, event.tenpai, nagashi)


def _declared(
    state: GameState, events: Sequence[Event], event: ev.TenpaiDeclared
) -> Command | None:
    if any(isinstance(e, ev.Found) for e in events):
        return None  # what was claimed and what counts differ
    if event.tenpai:
        return cmd.DeclareTenpai(event.seat, event.hand)
    return cmd.DeclareNoten(event.seat)


def _called(state: GameState, events: Sequence[Event], event: ev.Called) -> Command | None:
    if any(isinstance(e, ev.DrawReturned) for e in events):
        return None
    makers: dict[str, Callable[..., Command]] = {
        "chi": cmd.Chi, "pon": cmd.Pon, "daiminkan": cmd.Daiminkan,
    }  # fmt: skip
    return makers[event.kind](event.seat, event.tile, event.hand_tiles)


def _hand_started(state: GameState, events: Sequence[Event], event: ev.HandStarted) -> Command:
    return cmd.PressStart()


def _hand_ended(state: GameState, events: Sequence[Event], event: ev.HandEnded) -> Command | None:
    if event.reason in ("voided", "aborted"):
        ended = any(isinstance(e, ev.GameEnded) for e in events)
        return cmd.AbortGame("again") if ended else cmd.AbortHand("again")
    return cmd.Settle()


def _deal(state: GameState, events: Sequence[Event], event: ev.Dealt) -> Command:
    return cmd.Deal(event.hands)


def _riichi(state: GameState, events: Sequence[Event], event: ev.RiichiDeclared) -> Command:
    return cmd.DeclareRiichi(event.seat, event.double)


_Maker = Callable[[GameState, Sequence[Event], Any], Command | None]
_MAKERS: tuple[tuple[type[Event], _Maker], ...] = (
    (ev.GameStarted, _started),
    (ev.SeatThrown, lambda s, es, e: cmd.SeatThrow(*e.dice)),
    (ev.SeatsDrawn, _row),
    (ev.Sanctioned, lambda s, es, e: None),
    (ev.FindingSettled, lambda s, es, e: None),
    (ev.TimeCalled, lambda s, es, e: cmd.CallTime()),
    (ev.HandStarted, _hand_started),
    (ev.Won, _won),
    (ev.HandDrawn, _drawn_hand),
    (ev.HandEnded, _hand_ended),
    (ev.GameEnded, lambda s, es, e: cmd.AbortGame("again")),
    (ev.TenpaiDeclared, _declared),
    (ev.WallBroken, lambda s, es, e: _broken(es, e)),
    (ev.WallsBuilt, lambda s, es, e: _walls(es)),
    (ev.DiceRolled, lambda s, es, e: cmd.RollDice(*e.dice)),
    (ev.Dealt, _deal),
    (ev.RinshanLaid, lambda s, es, e: cmd.LayRinshan()),
    (ev.Called, _called),
    (ev.DoraRevealed, lambda s, es, e: cmd.RevealDora(e.tile)),
    (ev.DoraReplaced, lambda s, es, e: cmd.CorrectDora(e.tile, e.index)),
    (ev.Drawn, lambda s, es, e: cmd.Draw(e.seat, e.tile, e.rinshan)),
    (ev.Discarded, lambda s, es, e: cmd.Discard(e.seat, e.tile, e.tsumogiri)),
    (ev.RiichiDeclared, _riichi),
    (ev.AnkanDeclared, lambda s, es, e: cmd.Ankan(e.seat, e.tiles)),
    (ev.KakanDeclared, lambda s, es, e: cmd.Kakan(e.seat, e.tile)),
    (ev.GamePaused, lambda s, es, e: cmd.PauseGame(e.reason)),
    (ev.HandTakenOver, lambda s, es, e: cmd.TakeOver(e.reason)),
    (ev.GameResumed, lambda s, es, e: cmd.ResumeGame()),
    (ev.PlayerReplaced, lambda s, es, e: cmd.ReplacePlayer(e.seat, e.player, e.name, e.reason)),
    (ev.ScoreAdjusted, lambda s, es, e: cmd.AdjustScore(e.deltas, e.reason, e.deposits)),
)
"""The event that names the command, most telling first."""


def _walls(events: Sequence[Event]) -> Command:
    rolled = next((event for event in events if isinstance(event, ev.DiceRolled)), None)
    return cmd.WallsReady() if rolled is None else cmd.RollDice(*rolled.dice)


def _broken(events: Sequence[Event], event: ev.WallBroken) -> Command:
    rolled = next((event for event in events if isinstance(event, ev.DiceRolled)), None)
    return cmd.BreakWall(event.stacks) if rolled is None else cmd.RollDice(*rolled.dice)
