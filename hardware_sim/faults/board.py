"""What goes wrong on the board: resets, hangs, wrong firmware, a drifting crystal, a small event buffer."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from firmware_protocol.messages import MAJOR, MINOR, SCHEMA
from firmware_protocol.schema import Message, Schema
from firmware_protocol.vocabulary import LogLevel, ResetCause
from hardware_sim.errors import ScriptError
from hardware_sim.faults.language import deed

if TYPE_CHECKING:
    from hardware_sim.table import SimTable

AREA = "board"


@deed("the board browns out", AREA)
def brown_out(table: SimTable) -> None:
    """The supply sags: reset, displays dark, held events gone."""
    table.reset_board(ResetCause.BROWN_OUT)


@deed("the watchdog resets the board", AREA)
def watchdog(table: SimTable) -> None:
    """The program hung and was restarted."""
    table.reset_board(ResetCause.WATCHDOG)


@deed("somebody presses the reset pin", AREA)
def pin(table: SimTable) -> None:
    """Reset by hand."""
    table.reset_board(ResetCause.PIN)


@deed("the board freezes for {seconds:N} second[s]", AREA)
def freeze(table: SimTable, seconds: float) -> None:
    """Nothing is read, written or noticed."""
    table.board.freeze(seconds)


@deed("the board is flashed with protocol {version:V}", AREA)
def flash(table: SimTable, version: tuple[int, int]) -> None:
    """Another firmware; the board restarts with it."""
    firmware = dataclasses.replace(
        table.board.firmware, schema=schema_of(*version), version=(*version, 0)
    )
    table.board.firmware = firmware
    table.reset_board(ResetCause.UPDATE)


def schema_of(major: int, minor: int) -> Schema:
    """A schema that calls itself by another version; an older minor lacks what came later."""
    if (major, minor) == (MAJOR, MINOR):
        return SCHEMA
    kinds: list[type[Message]] = list(SCHEMA)
    if major == MAJOR and minor < MINOR:
        return SCHEMA.only(minor)
    if not (0 <= major < 256 and 0 <= minor < 256):
        raise ScriptError(f"no protocol {major}.{minor}", value=f"{major}.{minor}")
    return Schema(major, max(minor, MINOR), kinds)


@deed("the clock drifts by {ppm:N} ppm", AREA)
def drift(table: SimTable, ppm: int) -> None:
    """The crystal is too fast by so much."""
    table.board.drift(int(ppm))


@deed("the clock lags by {ppm:N} ppm", AREA)
def lag(table: SimTable, ppm: int) -> None:
    """The crystal is too slow by so much."""
    table.board.drift(-int(ppm))


@deed("the event buffer holds only {events:N} events", AREA)
def small_buffer(table: SimTable, events: int) -> None:
    """From now on the board has room for so few unacknowledged events (it restarts with it)."""
    table.board.firmware = dataclasses.replace(table.board.firmware, event_capacity=int(events))
    table.reset_board(ResetCause.SOFTWARE)


@deed("the board answers {seconds:N} second[s] late", AREA)
def slow(table: SimTable, seconds: float) -> None:
    """A slow board: it acts that much after it has read."""
    table.board.firmware = dataclasses.replace(table.board.firmware, answer_delay=float(seconds))


@deed("the board prints {text:T}", AREA)
def prints(table: SimTable, text: str) -> None:
    """A printf of the firmware on the same line, between the frames."""
    table.board.print_raw(text.encode("utf-8") + b"\r\n")


@deed("the board logs {text:T}", AREA)
def logs(table: SimTable, text: str) -> None:
    """A log line of the protocol."""
    table.board.log(LogLevel.WARNING, text)
