"""Old against new at the table: peers one minor apart play a whole game with what both know."""

from __future__ import annotations

from pathlib import Path

from firmware_protocol import messages as m
from firmware_protocol.messages import SCHEMA
from firmware_protocol.schema import Message, Schema
from hardware_sim.board import Firmware
from hardware_sim.record import parse
from tests.daemon.test_levels import check, start
from tests.daemon.virtual import Bridge, tiles_bridge
from tests.first_light.games import game_of
from tests.wire.test_minors import DiceSettled, HandWave, SetMood, TileEvent, newer

GAME = "g0002"


def speak_later(bridge: Bridge) -> list[Message]:
    """The board's program is one minor on: longer events, and one that this version does not have."""
    link, said = bridge.sim.board.link, list[Message]()
    send = link.send

    def send_later(message: Message, now: int) -> bool:
        if isinstance(message, m.DiceSettled):
            message = DiceSettled(
                message.a, message.b, message.manual, message.cmd_id, spins=9, maker="Q"
            )
            said.append(HandWave(seat=1))
            send(said[-1], now)
        elif isinstance(message, m.TileEvent):
            message = TileEvent(message.zone, message.reader, message.tiles, antenna=3)
        said.append(message)
        return send(message, now)

    link.send = send_later  # type: ignore[method-assign]  # the program of a later board
    return said


def test_a_newer_board_plays_a_game_with_this_host(tmp_path: Path) -> None:
    game = game_of(GAME)
    bridge = tiles_bridge(parse(game), tmp_path, firmware=Firmware(schema=newer()))
    said = speak_later(bridge)
    start(bridge, game)
    bridge.play()
    check(bridge, game)
    assert bridge.link.minor == m.MINOR
    spoken = {type(message) for message in said}
    assert {HandWave, DiceSettled, TileEvent} <= spoken


def test_an_older_board_plays_a_game_with_a_newer_host(tmp_path: Path) -> None:
    game = game_of(GAME)
    bridge = tiles_bridge(parse(game), tmp_path)
    extra = (HandWave, SetMood)
    taken = {cls.SPEC.id for cls in extra}
    later = Schema(m.MAJOR, m.MINOR + 1, [*(c for c in SCHEMA if c.SPEC.id not in taken), *extra])
    bridge = Bridge(bridge.game, bridge.options, bridge.core.mirror.view.tags, schema=later)
    bridge.link.show(SetMood(mood=7))
    start(bridge, game)
    bridge.play()
    check(bridge, game)
    assert bridge.link.minor == m.MINOR
    board = bridge.sim.board.link.stats
    assert (board.unknown, board.malformed) == (
        0,
        0,
    )  # nothing the older board cannot read was written
