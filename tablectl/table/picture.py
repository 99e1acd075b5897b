"""The device's state as its events tell it: what a heartbeat's digest is compared with."""

from __future__ import annotations

import dataclasses
from typing import Any

from firmware_protocol import messages as m
from firmware_protocol.paging import state_digest
from firmware_protocol.schema import Message
from firmware_protocol.vocabulary import SEATS, TABLE

PATIENCE = 2
"""Mismatches in a row that count: one may be a heartbeat that crossed an event."""


class DevicePicture:
    """A fold of snapshot and events; `stale` asks for a snapshot."""

    def __init__(self) -> None:
        self.state: m.SnapshotState | None = None
        self.stale = True
        self._strikes = 0

    def forget(self) -> None:
        """Nothing is known any more: events were lost, or the board started anew."""
        self.state = None
        self.stale = True
        self._strikes = 0

    def snapshot(self, state: m.SnapshotState) -> None:
        """Start from what the device says."""
        self.state = state
        self.stale = False
        self._strikes = 0

    def observe(self, message: Message) -> None:
        """Follow an event."""
        if isinstance(message, m.EventsLost):
            self.forget()
        if self.state is None:
            return
        changed = change(self.state, message)
        if changed:
            self.state = dataclasses.replace(self.state, **changed)

    def compare(self, heartbeat: m.Heartbeat, event_no: int) -> bool:
        """Compare at the same event only; True when the picture has just been found wrong."""
        if self.state is None or self.stale or heartbeat.event_no != event_no:
            return False
        other = dataclasses.replace(self.state, fault=1 - self.state.fault)
        if state_digest(self.state) == heartbeat.state_digest:
            self._strikes = 0
        elif state_digest(other) == heartbeat.state_digest:
            # No event says when a fault ends: the digest does.
            self.state = other
            self._strikes = 0
        else:
            self._strikes += 1
            self.stale = self._strikes >= PATIENCE
        return self.stale


def change(state: m.SnapshotState, message: Message) -> dict[str, Any]:
    """The fields of a state that an event changes."""
    match message:
        case m.LidEvent(phase=phase):
            return {"lid": phase}
        case m.WallEvent(side=side, phase=phase):
            sides = SEATS if side == TABLE else (side,)
            return {"walls": tuple(phase if s in sides else state.walls[s] for s in SEATS)}
        case m.LockEvent(locked=locked):
            return {"locked": locked}
        case m.RiichiSlot(seat=seat, present=present):
            return {"riichi": state.riichi & ~(1 << seat) | present << seat}
        case m.StickTray(seat=seat, sticks=sticks):
            trays = list(state.trays)
            trays[5 * seat : 5 * seat + 5] = sticks
            return {"trays": tuple(trays)}
    return {}
