"""The table as text: what stands, lies, shines and is waited for, for a terminal of 80 columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from firmware_protocol.vocabulary import Jam, Phase, ZoneKind

if TYPE_CHECKING:
    from hardware_sim.table import SimTable

WINDS = "東南西北"
PHASES = {
    Phase.UNKNOWN: "?", Phase.DOWN: "down", Phase.RISING: "rising", Phase.UP: "up", Phase.LOWERING: "lowering",
    Phase.BUILDING: "building", Phase.READY: "ready", Phase.JAMMED: "JAMMED",
}  # fmt: skip
FULL_WALL = 34


def draw(table: SimTable) -> str:
    """The whole table, one string of lines."""
    parts, people = table.parts, table.people
    hand = people.hand
    lines = []
    head = f"level {table.options.level}   t {table.agenda.now / 1e6:8.1f} s"
    if table.game:
        head += f"   record {table.game.id}"
    if hand is not None and table.game:
        head += f"   hand {hand.number + 1}/{len(table.game.hands)}"
    lines.append(head)
    lines.append(_machine(table))
    lines.append(_displays(table))
    for seat in range(4):
        lines += _seat(table, seat)
    lines.append("indicators  " + (_tiles(table, ZoneKind.INDICATOR, 0) or "-"))
    ura = _tiles(table, ZoneKind.URA, 0)
    if ura:
        lines.append("ura         " + ura)
    waiting = table.agenda.waiting_for("people")
    lines.append(f"waiting for {waiting}" if waiting else "")
    if parts.sensors.blind:
        lines.append(
            "blind readers: " + ", ".join(f"0x{z:02x}" for z in sorted(parts.sensors.blind))
        )
    if table.faults.done:
        lines.append(f"last fault: {table.faults.done[-1][1]}")
    return "\n".join(lines)


def _machine(table: SimTable) -> str:
    lift, dice, board = table.parts.lift, table.parts.dice, table.board
    walls = PHASES.get(Phase(lift.walls[0]), "?")
    value = (
        "rolling"
        if dice.rolling
        else "-"
        if dice.value is None
        else f"{dice.value[0]} {dice.value[1]}"
    )
    notes = []
    if lift.jam:
        notes.append(f"jam: {Jam(lift.jam).name.lower().replace('_', ' ')}")
    if lift.hot:
        notes.append("motor hot")
    if lift.locked:
        notes.append("locked")
    if board.frozen:
        notes.append("board frozen")
    if not table.line.plugged:
        notes.append("unplugged")
    link = "host there" if board.linked() else "no host"
    return (
        f"lid {PHASES.get(Phase(lift.lid), '?')}   walls {walls}   dice {value}   {link}, "
        f"boot {board.boots}   {'  '.join(notes)}"
    ).rstrip()


def _displays(table: SimTable) -> str:
    shown = table.parts.displays.reading()
    names = {
        "round": "round",
        "honba": "honba",
        "deposits": "deposits",
        "scores": "scores",
        "lamps": "lamps",
    }
    cells = []
    for key, name in names.items():
        value = shown[key]
        if isinstance(value, list):
            value = " ".join(str(v) for v in value) or None
        cells.append(f"{name} {'-' if value is None else value}")
    return "displays    " + "   ".join(cells)


def _seat(table: SimTable, seat: int) -> list[str]:
    parts, hand = table.parts, table.people.hand
    wind = WINDS[(seat - hand.dealer) % 4] if hand is not None else "  "
    wall = len(parts.tabletop.zone(ZoneKind.WALL, seat))
    stick = " |riichi|" if parts.sticks.slots[seat] else ""
    concealed = _tiles(table, ZoneKind.HAND, seat) or _tiles(table, ZoneKind.LAID, seat)
    drawn = _tiles(table, ZoneKind.DRAWN, seat)
    melds = _tiles(table, ZoneKind.MELD, seat)
    tray = f"   {parts.sticks.totals()[seat]}" if table.options.level != "basic" else ""
    return [
        f"seat {seat} {wind}   {concealed}{'  + ' + drawn if drawn else ''}{'   [' + melds + ']' if melds else ''}{stick}{tray}",
        f"            river {_tiles(table, ZoneKind.RIVER, seat) or '-'}   wall {wall}/{FULL_WALL}",
    ]


def _tiles(table: SimTable, kind: ZoneKind, seat: int) -> str:
    pack = table.people.pack
    if pack is None:
        return ""
    out = []
    for tag in table.parts.tabletop.zone(kind, seat).values():
        lying = table.parts.tabletop.where(tag)
        text = pack.tiles.get(tag, "??")
        out.append(f"<{text}>" if lying is not None and lying.sideways else text)
    return " ".join(out)
