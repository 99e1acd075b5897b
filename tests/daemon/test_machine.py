"""What is wrong with the machine reaches the technician: log, pages, monitoring, doctor and MQTT."""

from __future__ import annotations

import asyncio
import dataclasses
import logging
from pathlib import Path
from typing import Any

import pytest

from firmware_protocol import messages as m
from firmware_protocol.schema import Message
from firmware_protocol.vocabulary import Jam, Motor, MotorFault, Phase, Result, StickFault
from tablectl.table.machine import Machine
from tests.daemon.halls import Hall
from tests.daemon.technician import look
from tests.first_light.brokers import mosquitto

WELL = m.SnapshotState(9, 1, Phase.DOWN, (Phase.DOWN,) * 4, 0, 0, (0,) * 20, 0)
HELD_UP = dataclasses.replace(WELL, fault=1)


def jammed(side: int, jam: int = Jam.TILE_STUCK) -> m.WallEvent:
    return m.WallEvent(side, Phase.JAMMED if jam else Phase.UP, jam, 0)


def hot(decidegrees: int, limit: int) -> m.Temperature:
    return m.Temperature(0, decidegrees, limit)


def motor(fault: int) -> m.MotorFaultEvent:
    return m.MotorFaultEvent(Motor.LIFT, fault, 780)


CASES: dict[str, tuple[list[Message], list[str]]] = {
    "a motor": ([motor(MotorFault.OVERHEAT)], ["motor lift: overheat (78.0 °C)"]),
    "another fault of it": ([motor(MotorFault.OVERHEAT), motor(MotorFault.STALLED)],
                            ["motor lift: stalled (78.0 °C)"]),
    "a motor of a later minor": ([m.MotorFaultEvent(99, 1, -32768)], ["motor code 99: overheat"]),
    "a motor well again": ([motor(MotorFault.OVERHEAT), motor(MotorFault.CLEARED)], []),
    "a wall": ([jammed(2)], ["wall 2: tile_stuck"]),
    "a wall freed": ([jammed(2), jammed(2, 0)], []),
    "all walls": ([jammed(255)], ["walls: tile_stuck"]),
    "all walls freed one by one": ([jammed(255), jammed(0, 0)], []),
    "a wall freed with all": ([jammed(1), jammed(255, 0)], []),
    "the lid": ([m.LidEvent(Phase.JAMMED, 0, 0)], ["lid: jammed"]),
    "warm": ([hot(560, 1)], ["sensor 0: warm (56.0 °C)"]),
    "too hot": ([hot(560, 1), hot(710, 2)], ["sensor 0: too_hot (71.0 °C)"]),
    "cool": ([hot(710, 2), hot(400, 0)], []),
    "a tray": ([m.StickTray(3, (0, 1, 2, 3, 4), StickFault.UNREADABLE)], ["tray 3: unreadable"]),
    "a tray that can be read": ([m.StickTray(3, (0,) * 5, StickFault.OVERFULL), m.StickTray(3, (0,) * 5, 0)], []),
    "a tile is missing": ([m.TileCountFault(1, 136, 135)], ["set 1: tiles_missing (135 of 136)"]),
    "a tile too many": ([m.TileCountFault(0, 136, 137)], ["set 0: tiles_too_many (137 of 136)"]),
    "all tiles": ([m.TileCountFault(1, 136, 135), m.TileCountFault(1, 136, 136)], []),
    "a motion": ([m.ActionResult(7, Result.FAILED_JAM, 1, 0)], ["motion: failed_jam (code 1)"]),
    "a motion not begun says nothing": ([m.ActionResult(7, Result.FAILED_MOTOR, 2, 0),
                                         m.ActionResult(8, Result.REFUSED_INTERLOCK, 0, 0)],
                                        ["motion: failed_motor (code 2)"]),
    "the next motion": ([m.ActionResult(7, Result.FAILED_JAM, 1, 0), m.ActionResult(8, Result.DONE, 0, 0)], []),
    "a board found held up": ([HELD_UP], ["machine: cannot_move (a motor or a jam)"]),
    "a board found held up, and why": ([HELD_UP, jammed(1)], ["wall 1: tile_stuck"]),
    "a known jam says it": ([jammed(1), HELD_UP], ["wall 1: tile_stuck"]),
    "a board found well": ([jammed(1), hot(710, 2), WELL], ["sensor 0: too_hot (71.0 °C)"]),
    "play": ([m.ButtonEvent(1, 0, 1), m.RiichiSlot(0, 1)], []),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_what_is_wrong_now(case: str) -> None:
    messages, wrong = CASES[case]
    machine = Machine()
    for message in messages:
        machine.observe(message)
    assert [str(trouble) for trouble in machine.troubles] == wrong


def test_each_change_has_one_line_however_often_it_is_told() -> None:
    machine = Machine()
    lines = [line for _ in range(3) for line in machine.observe(motor(MotorFault.OVERHEAT))]
    lines += machine.observe(hot(560, 1))
    lines += [line for _ in range(3) for line in machine.observe(motor(MotorFault.CLEARED))]
    assert lines == [
        (logging.WARNING, "machine: motor lift: overheat (78.0 °C)"),
        (logging.INFO, "machine: sensor 0: warm (56.0 °C)"),
        (logging.INFO, "machine: motor lift: well again"),
    ]


def test_what_a_machine_says_is_told_everywhere_and_taken_back(tmp_path: Path) -> None:
    async def story() -> None:
        with mosquitto(tmp_path) as broker:
            hall = Hall(tmp_path, broker.port)
            async with hall.open(), hall.subscriber() as subscriber:
                seen = subscriber.seen
                await hall.up()
                await hall.online()
                table = hall.tables["t1"]

                def health() -> dict[str, Any]:
                    told: dict[str, Any] = seen.retained.get("bridge/health") or {}
                    return told

                await hall.until(lambda: "machine" in health())
                assert (health()["machine"], health()["temperatures"]) == ([], {})
                table.poke(lambda sim: sim.parts.lift.overheat(Motor.LIFT, 780))
                table.poke(lambda sim: sim.board.emit(hot(710, 2)))
                # Told at once, not with the next half minute.
                await hall.until(lambda: len(health()["machine"]) == 2)
                assert health()["machine"] == [
                    {"part": "motor lift", "code": "overheat", "detail": "78.0 °C"},
                    {"part": "sensor 0", "code": "too_hot", "detail": "71.0 °C"},
                ]
                assert health()["temperatures"] == {"0": 71.0}
                assert len(hall.lines("WARNING", "t1: machine: motor lift: overheat")) == 1
                pages = await look(hall)
                assert pages.status == 200, "the daemon is well, the machine is not"
                assert pages.tables["t1"]["machine"] == [
                    "motor lift: overheat (78.0 °C)", "sensor 0: too_hot (71.0 °C)",
                ]  # fmt: skip
                trouble = 'tablectl_machine_trouble{table="t1",part="motor lift",code="overheat"}'
                assert pages.metrics[trouble] == 1
                celsius = 'tablectl_machine_temperature_celsius{table="t1",sensor="0"}'
                assert pages.metrics[celsius] == 71.0
                assert "the machine says" in (await hall.doctor())["machine"].message
                table.poke(lambda sim: sim.parts.lift.cool(Motor.LIFT))
                table.poke(lambda sim: sim.board.emit(hot(400, 0)))
                await hall.until(lambda: health()["machine"] == [])
                assert len(hall.lines("INFO", "t1: machine: motor lift: well again")) == 1
                pages = await look(hall)
                assert trouble not in pages.metrics
                assert pages.metrics[celsius] == 40.0
                assert "machine" not in await hall.doctor()

    asyncio.run(asyncio.wait_for(story(), 90))
