"""Motions on their way: marked before they are written, asked for when in doubt, never doubled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from firmware_protocol import messages as m
from firmware_protocol.vocabulary import ActionState, Result
from tablectl.table.drivers import MarkSent, Motion, MotionEnd, SettleMotion

ASK_EVERY = 1_000_000
"""µs between two ActionQuery for one motion: the link repeats lost frames, this repeats lost links."""
ASK_MOST = 3

NOT_BEGUN = frozenset(
    {
        Result.UNSUPPORTED,
        Result.REFUSED_INTERLOCK,
        Result.REFUSED_PRECONDITION,
        Result.REFUSED_BUSY,
        Result.EXPIRED,
    }
)
"""Results that say: nothing has moved."""

Stage = Literal["marking", "ready", "sent", "asking"]


@dataclass(slots=True)
class _Underway:
    motion: Motion
    stage: Stage
    at: int
    """When its stage began (µs)."""
    asked: int = 0
    resend: bool = False
    """Asked after a reconnection: one that was never written may be written now."""


class Motions:
    """Sans-I/O: `wanted` are outputs for the session, `to_send` messages for the link."""

    def __init__(self, patience_us: int) -> None:
        self._patience = patience_us
        self._under: dict[int, _Underway] = {}
        self.wanted: list[MarkSent | SettleMotion] = []
        self.to_query: list[int] = []

    @property
    def asking(self) -> bool:
        """True while the fate of a motion from before the reconnection is asked."""
        return any(u.stage == "asking" and u.resend for u in self._under.values())

    def begin(self, motion: Motion, now: int) -> None:
        """A new motion: mark it, then write it."""
        if motion.cmd_id not in self._under:
            self._under[motion.cmd_id] = _Underway(motion, "marking", now)
            self.wanted.append(MarkSent(motion.cmd_id))

    def marked(self, cmd_id: int, now: int) -> None:
        """It is written down: its frame may go."""
        underway = self._under.get(cmd_id)
        if underway is not None and underway.stage == "marking":
            underway.stage, underway.at = "ready", now

    def ready(self, now: int) -> list[Motion]:
        """Motions whose frame is to be written now; they count as sent. The late are refused."""
        out = []
        for underway in list(self._under.values()):
            if underway.stage != "ready":
                continue
            if late(underway.motion, now):
                self._end(underway.motion.cmd_id, "refused", Result.EXPIRED, 0)
            else:
                underway.stage, underway.at = "sent", now
                out.append(underway.motion)
        return out

    def link_down(self) -> None:
        """All is in doubt; the resync asks anew."""
        self._under.clear()
        self.wanted.clear()
        self.to_query.clear()

    def resync(self, motions: list[Motion], now: int, *, reset: bool) -> None:
        """The unsettled ones after a reconnection: asked for, or unknowable after a reset."""
        for motion in motions:
            if motion.cmd_id in self._under:
                continue
            if reset:
                self.wanted.append(SettleMotion(motion.cmd_id, "unknown", {"reason": "reset"}))
            else:
                self._under[motion.cmd_id] = _Underway(motion, "asking", now, 1, resend=True)
                self.to_query.append(motion.cmd_id)

    def result(self, message: m.ActionResult) -> None:
        """An action ended."""
        self._end(message.cmd_id, _end_of(message.result), message.result, message.detail)

    def status(self, message: m.ActionStatus, now: int) -> None:
        """The board answered an ActionQuery."""
        underway = self._under.get(message.cmd_id)
        if underway is None or underway.stage != "asking":
            return
        if message.state == ActionState.FINISHED:
            self._end(message.cmd_id, _end_of(message.result), message.result, message.detail)
        elif message.state == ActionState.RUNNING:
            underway.stage, underway.at, underway.asked = "sent", now, 0
        elif underway.motion.sent or not underway.resend:
            # It may have been written in an earlier session: it is not written in another.
            self._forgotten(message.cmd_id)
        elif late(underway.motion, now):
            self._end(message.cmd_id, "refused", Result.EXPIRED, 0)
        else:
            underway.stage, underway.at = "marking", now
            self.wanted.append(MarkSent(message.cmd_id))

    def poll(self, now: int) -> None:
        """Ask for what takes too long."""
        for cmd_id, underway in list(self._under.items()):
            if underway.stage == "sent" and now >= underway.at + self._patience:
                underway.stage, underway.at, underway.asked, underway.resend = (
                    "asking",
                    now,
                    1,
                    False,
                )
                self.to_query.append(cmd_id)
            elif underway.stage == "asking" and now >= underway.at + ASK_EVERY:
                if underway.asked >= ASK_MOST:
                    self._forgotten(cmd_id)
                else:
                    underway.asked += 1
                    underway.at = now
                    self.to_query.append(cmd_id)

    @property
    def next_deadline(self) -> int | None:
        """When `poll` has something to do."""
        times = [
            u.at + (self._patience if u.stage == "sent" else ASK_EVERY)
            for u in self._under.values()
            if u.stage in {"sent", "asking"}
        ]
        return min(times, default=None)

    def _forgotten(self, cmd_id: int) -> None:
        self._under.pop(cmd_id, None)
        self.wanted.append(SettleMotion(cmd_id, "unknown", {"reason": "not_remembered"}))

    def _end(self, cmd_id: int, state: MotionEnd, result: int, detail: int) -> None:
        self._under.pop(cmd_id, None)
        names = {value.value: value.name.lower() for value in Result}
        told: dict[str, int | str] = {
            "result": int(result),
            "name": names.get(int(result), str(int(result))),
            "detail": detail,
        }
        self.wanted.append(SettleMotion(cmd_id, state, told))


def late(motion: Motion, now: int) -> bool:
    """True when its deadline has passed."""
    return motion.deadline_ms is not None and now >= motion.deadline_ms * 1000


def _end_of(result: int) -> MotionEnd:
    return "refused" if result in NOT_BEGUN else "done"
