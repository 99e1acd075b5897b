"""What the machine does when the host asks: actions once, displays as desired, stop at once."""

from __future__ import annotations

from firmware_protocol import messages as m
from firmware_protocol.schema import Kind, Message
from firmware_protocol.vocabulary import ActionKind, Capability, Result
from hardware_sim.lift import Done
from hardware_sim.parts import Parts

NEEDS: dict[int, Capability] = {
    ActionKind.ROLL: Capability.DICE,
    ActionKind.LIFT: Capability.LIFT,
    ActionKind.LOWER: Capability.LIFT,
    ActionKind.LOCK: Capability.LOCK,
    ActionKind.UNLOCK: Capability.LOCK,
    ActionKind.BEEP: Capability.BEEP,
    ActionKind.SEAT_DRAW: Capability.SEAT_ROULETTE,
    ActionKind.TEST: Capability.TEST,
    ActionKind.TEST_COUNT: Capability.TILE_COUNT,
}
"""The capability behind each action."""


def act(parts: Parts, message: Message) -> None:
    """Do what a message of the host asks of the machine."""
    if message.SPEC.kind is Kind.SET:
        parts.displays.take(message, parts.agenda.now)
    elif isinstance(message, m.Stop):
        parts.board.started(message.cmd_id)
        parts.lift.stop()
        parts.dice.stop()
        parts.board.finish(message.cmd_id, Result.DONE, 0)
    elif isinstance(message, m.Action):
        _action(parts, message)


def _action(parts: Parts, action: m.Action) -> None:
    board, cmd_id = parts.board, action.cmd_id

    def done(result: Result, detail: int) -> None:
        if result in {Result.DONE, Result.FAILED_JAM, Result.STOPPED}:
            return board.finish(cmd_id, result, detail)
        board.refused[cmd_id] += 1
        return board.finish(cmd_id, result, detail)

    needed = NEEDS.get(action.action)
    if needed is None or not parts.capabilities & needed:
        done(Result.UNSUPPORTED, 0)
    elif not parts.lift.holds(action.require):
        done(Result.REFUSED_PRECONDITION, 0)
    else:
        _do(parts, action, done)


def _do(parts: Parts, action: m.Action, done: Done) -> None:
    board, cmd_id, lift = parts.board, action.cmd_id, parts.lift
    motions = lift.motions + parts.dice.rolls
    match action.action:
        case ActionKind.ROLL:
            parts.dice.roll(cmd_id, done)
        case ActionKind.LIFT:
            lift.raise_walls(cmd_id, done)
        case ActionKind.LOWER:
            lift.lower_walls(cmd_id, done)
        case ActionKind.LOCK | ActionKind.UNLOCK:
            lift.lock(action.action == ActionKind.LOCK, cmd_id)
            done(Result.DONE, 0)
        case ActionKind.BEEP:
            parts.beeps += 1
            done(Result.DONE, action.arg)
        case ActionKind.SEAT_DRAW:
            seat = parts.rng.randrange(4)
            board.emit(m.SeatRoulette(seat))
            done(Result.DONE, seat)
        case ActionKind.TEST:
            board.emit(m.TestEvent(action.arg, 0))
            done(Result.DONE, action.arg)
        case ActionKind.TEST_COUNT:
            for index, short in enumerate(parts.missing):
                board.emit(m.TileCountFault(index, 136, 136 - short))
            done(Result.DONE, sum(parts.missing))
    moved = lift.motions + parts.dice.rolls > motions
    if moved or action.action not in {ActionKind.ROLL, ActionKind.LIFT, ActionKind.LOWER}:
        board.started(cmd_id)
