"""Words a person types at a simulated table: press start, roll, jam the lift, or any sentence of a fault script."""

from __future__ import annotations

import json
from collections.abc import Callable

from firmware_protocol.vocabulary import Button, Press
from hardware_sim.errors import ScriptError
from hardware_sim.faults.language import DEEDS, manual, words_of
from hardware_sim.table import SimTable
from hardware_sim.view import draw

SHORT = {
    "start": "press start", "s": "press start", "dice": "press dice", "r": "press dice", "roll": "press dice",
    "lid": "press up", "jam": "the lift jams", "free": "staff frees the lift", "reset": "the watchdog resets the board",
    "unplug": "unplug the cable", "plug": "plug the cable in",
}  # fmt: skip
"""Short words for what is done most."""
BUTTONS = {
    "start": Button.START, "dice": Button.DICE, "up": Button.UP_DOWN, "riichi": Button.RIICHI,
    "honba+": Button.HONBA_UP, "honba-": Button.HONBA_DOWN, "reset": Button.RESET,
    "draw": Button.SEAT_DRAW, "staff": Button.CALL_STAFF,
}  # fmt: skip
HELP = f"""\
press BUTTON [SEAT]     {" ".join(BUTTONS)}
hold BUTTON [SEAT]      a long press
stick SEAT              a riichi stick into the slot (again: out of it)
pay A B C D             move sticks until the trays are worth this
table                   the whole table (also: an empty line)
report                  what was done and shown so far, as JSON
script                  every sentence of the fault scripts, without its 'when'
any such sentence       the lift jams · unplug the cable · seat 2 drops a tile and puts it back …
short words             {" ".join(SHORT)}
help, quit
"""


def obey(table: SimTable, line: str) -> str | None:
    """Do what a line says; returns what to print, None to quit."""
    text = " ".join(line.split())
    text = SHORT.get(text.lower(), text)
    word, _, rest = text.partition(" ")
    command = _COMMANDS.get(word.lower())
    if text in {"quit", "exit", "q"}:
        return None
    if command is not None:
        return command(table, rest)
    return _sentence(table, text)


def _sentence(table: SimTable, text: str) -> str:
    for pattern in DEEDS:
        match = pattern.regex.match(text.rstrip("."))
        if match:
            try:
                pattern.do(table, **words_of(match))
            except ScriptError as error:
                return str(error)
            return f"done: {text}"
    return f"nobody knows how to {text!r}; try help"


def _press(table: SimTable, rest: str, press: Press = Press.PRESSED) -> str:
    name, _, seat_text = rest.partition(" ")
    if name not in BUTTONS:
        return f"which button? {' '.join(BUTTONS)}"
    seat = _seat(seat_text or "0")
    if seat is None:
        return "seats are 0 to 3"
    table.parts.press(BUTTONS[name], seat, press)
    return f"seat {seat} pressed {name}"


def _hold(table: SimTable, rest: str) -> str:
    return _press(table, rest, Press.LONG)


def _stick(table: SimTable, rest: str) -> str:
    seat = _seat(rest)
    if seat is None:
        return "seats are 0 to 3"
    sticks = table.parts.sticks
    if sticks.slots[seat]:
        sticks.take_back_riichi(seat)
        return f"seat {seat} takes the stick back"
    sticks.lay_riichi(seat)
    return f"seat {seat} lays a riichi stick"


def _pay(table: SimTable, rest: str) -> str:
    words = rest.split()
    if len(words) != 4 or not all(word.lstrip("-").isdigit() for word in words):
        return "pay needs four totals, such as: pay 26000 24000 25000 25000"
    table.parts.sticks.pay([int(word) for word in words])
    return "trays: " + " ".join(str(total) for total in table.parts.sticks.totals())


def _table(table: SimTable, _rest: str) -> str:
    return draw(table)


def _report(table: SimTable, _rest: str) -> str:
    return json.dumps(table.report(), ensure_ascii=False, indent=1)


def _help(_table: SimTable, _rest: str) -> str:
    return HELP


def _script(_table: SimTable, _rest: str) -> str:
    return manual()


def _seat(text: str) -> int | None:
    return int(text) if text in {"0", "1", "2", "3"} else None


_COMMANDS: dict[str, Callable[[SimTable, str], str]] = {
    "press": _press, "hold": _hold, "stick": _stick, "pay": _pay, "table": _table, "": _table, "report": _report,
    "help": _help, "?": _help, "script": _script,
}  # fmt: skip
