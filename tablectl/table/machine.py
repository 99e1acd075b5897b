"""What is wrong with the machine itself: motors, jams, heat, stick trays, missing tiles; a fold of its events.

Nothing of it belongs to the game. It is for the technician: log, `/healthz`, metrics, `bridge/health`.
"""

from __future__ import annotations

import enum
import logging
from dataclasses import dataclass

from firmware_protocol import messages as m
from firmware_protocol.schema import Message
from firmware_protocol.vocabulary import Jam, Motor, MotorFault, Phase, Result, StickFault

MOVES = ("motor ", "lid", "wall", "motion", "machine")
"""Parts whose trouble keeps the table from moving: what `SnapshotState.fault` sums up."""
_HEAT = {1: "warm", 2: "too_hot"}
_FAILED = {Result.FAILED_JAM, Result.FAILED_MOTOR}


@dataclass(frozen=True, slots=True)
class Trouble:
    """One thing that is wrong."""

    part: str
    """`motor lift`, `lid`, `wall 2`, `walls`, `sensor 0`, `tray 3`, `set 1`, `motion`, `machine`."""
    code: str
    """What, by the names of the wire in small letters: `overheat`, `tile_stuck`, `unreadable` …"""
    detail: str = ""
    """For a person."""

    def __str__(self) -> str:
        return f"{self.part}: {self.code}" + (f" ({self.detail})" if self.detail else "")


class Machine:
    """What a board has said about itself since it, or the daemon, started."""

    def __init__(self) -> None:
        self._troubles: dict[str, Trouble] = {}
        self.temperatures: dict[int, float] = {}
        """Sensor → °C."""

    @property
    def troubles(self) -> tuple[Trouble, ...]:
        """What is wrong now, the oldest first."""
        return tuple(self._troubles.values())

    def forget(self) -> None:
        """The board has started anew: it will say again what is still so."""
        self._troubles.clear()
        self.temperatures.clear()

    def observe(self, message: Message) -> list[tuple[int, str]]:
        """Take in what the board reported; lines for the log (level, text), one for each change."""
        before = dict(self._troubles)
        match message:
            case m.MotorFaultEvent():
                detail = "" if message.decidegrees == -32768 else _degrees(message.decidegrees)
                part = f"motor {_name(Motor, message.motor)}"
                self._set(part, message.fault and _name(MotorFault, message.fault), detail)
            case m.LidEvent(jam=jam, phase=phase):
                self._set("lid", _jam(jam, phase))
            case m.WallEvent(side=side, jam=jam, phase=phase):
                self._set("walls" if side > 3 else f"wall {side}", _jam(jam, phase))
                if not jam:
                    for part in ["walls", *(f"wall {one}" for one in range(4) if side > 3)]:
                        self._set(part, "")
            case m.Temperature(sensor=sensor, decidegrees=tenths, limit=limit):
                self.temperatures[sensor] = tenths / 10
                self._set(f"sensor {sensor}", _HEAT.get(limit, ""), _degrees(tenths))
            case m.StickTray(seat=seat, fault=fault):
                self._set(f"tray {seat}", fault and _name(StickFault, fault))
            case m.TileCountFault(tile_set=number, expected=expected, counted=counted):
                code = "" if counted == expected else "tiles_missing" if counted < expected else "tiles_too_many"  # fmt: skip
                self._set(f"set {number}", code, f"{counted} of {expected}")
            case m.ActionResult(result=result, detail=number):
                if result == Result.DONE or result in _FAILED:
                    self._set("motion", result and _name(Result, result), f"code {number}")
            case m.SnapshotState(fault=fault):
                self._whole(bool(fault))
        return self._lines(before)

    def _whole(self, fault: bool) -> None:
        """The board's own sum: it clears what we missed, and says what we have not heard."""
        moving = [part for part in self._troubles if part.startswith(MOVES)]
        if not fault:
            for part in moving:
                del self._troubles[part]
        elif not moving:
            self._set("machine", "cannot_move", "a motor or a jam")

    def _set(self, part: str, code: str | int, detail: str = "") -> None:
        if not code:
            self._troubles.pop(part, None)
            return
        known = self._troubles.get(part)
        if known is None or known.code != code:
            self._troubles[part] = Trouble(part, str(code), detail)
        if part != "machine" and part.startswith(MOVES):
            self._troubles.pop("machine", None)  # now we know what it is

    def _lines(self, before: dict[str, Trouble]) -> list[tuple[int, str]]:
        now = self._troubles
        lines = [
            (_level(trouble), f"machine: {trouble}")
            for part, trouble in now.items()
            if before.get(part) != trouble
        ]
        held_up = any(part.startswith(MOVES) for part in now)
        lines += [
            (logging.INFO, f"machine: {part}: well again")
            for part in before
            if part not in now and not (part == "machine" and held_up)
        ]
        return lines


def _level(trouble: Trouble) -> int:
    return logging.INFO if trouble.code == "warm" else logging.WARNING


def _jam(jam: int, phase: int) -> str:
    if jam:
        return _name(Jam, jam)
    return "jammed" if phase == Phase.JAMMED else ""


def _name(names: type[enum.IntEnum], value: int) -> str:
    known = {member.value: member.name.lower() for member in names}
    return known.get(value, f"code {value}")


def _degrees(tenths: int) -> str:
    return f"{tenths / 10:.1f} °C"
