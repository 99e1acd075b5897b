"""Motions of the machine: which event asks for which, and how a row becomes a command on the wire."""

from __future__ import annotations

import json

from firmware_protocol.messages import Action
from firmware_protocol.vocabulary import ActionKind, Capability, Require
from tablectl.engine.game import events as ev
from tablectl.engine.game.events import Event
from tablectl.journal import NewAction, StoredAction, canonical
from tablectl.table.drivers import Motion

LIFT_REQUIRES = (
    Require.IDLE | Require.LID_DOWN | Require.WALLS_DOWN | Require.UNLOCKED | Require.NO_FAULT
)
VALID_MS = 15_000
"""A motion not begun by then is not begun any more: the people have gone on (design §3)."""


def asked_by(event: Event, capabilities: int, wall_ms: int) -> NewAction | None:
    """The motion an event causes."""
    if isinstance(event, ev.HandStarted) and capabilities & Capability.LIFT:
        return lift(wall_ms)
    return None


def lift(wall_ms: int) -> NewAction:
    """Raise the walls."""
    body = {"action": int(ActionKind.LIFT), "arg": 0, "require": int(LIFT_REQUIRES)}
    return NewAction("lift", canonical(body), wall_ms + VALID_MS)


def motion_of(action: StoredAction, wall_ms: int, mono_ms: int) -> Motion:
    """The wire command of a row; its deadline in monotonic time."""
    body = json.loads(action.body)
    deadline = None
    if action.deadline_wall_ms is not None:
        deadline = mono_ms + action.deadline_wall_ms - wall_ms
    message = Action(action.cmd_id, body["action"], body["arg"], 0, body["require"])
    return Motion(action.cmd_id, message, deadline, action.state == "sent")
