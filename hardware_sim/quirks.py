"""Odd boards, machines and people by name: what a table maker's first firmware gets wrong, and more."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

from firmware_protocol.messages import MAJOR, MINOR
from firmware_protocol.vocabulary import Capability
from hardware_sim.errors import OptionError
from hardware_sim.faults.board import schema_of
from hardware_sim.table import Options

QUIRKS: dict[str, str] = {
    "no-boot-id": "sends boot_id 0: a restart shows only by its uptime",
    "slow": "acts 150 ms after it has read",
    "chatty": "prints boot text on the same line",
    "small-buffer": "keeps only 16 unacknowledged events",
    "window-1": "takes one unacknowledged frame at a time",
    "newer-minor": "speaks a protocol one minor newer than ours",
    "older-minor": "speaks a protocol one minor older than ours",
    "sorting": "people sort their tiles after the deal",
    "dtr-reset": "restarts whenever the port is opened",
}
"""Name → what it does, for the help text."""

_SLOW = 0.15
_SMALL = 16


def with_quirks(options: Options, names: Iterable[str]) -> Options:
    """The same table with these quirks. Raises OptionError for one that does not exist."""
    firmware = options.firmware
    for name in names:
        match name:
            case "no-boot-id":
                firmware = dataclasses.replace(firmware, has_boot_id=False)
            case "slow":
                firmware = dataclasses.replace(firmware, answer_delay=_SLOW)
            case "chatty":
                firmware = dataclasses.replace(firmware, chatty=True)
            case "small-buffer":
                firmware = dataclasses.replace(firmware, event_capacity=_SMALL)
            case "window-1":
                firmware = dataclasses.replace(firmware, window=1)
            case "newer-minor":
                firmware = dataclasses.replace(firmware, schema=schema_of(MAJOR, MINOR + 1))
            case "older-minor":
                if MINOR == 0:
                    raise OptionError(f"there is no minor older than {MAJOR}.{MINOR}", value=name)
                firmware = dataclasses.replace(firmware, schema=schema_of(MAJOR, MINOR - 1))
            case "sorting":
                options = dataclasses.replace(options, sorts=True)
            case "dtr-reset":
                options = dataclasses.replace(options, dtr_resets=True)
            case _:
                raise OptionError(
                    f"no quirk {name!r}", value=name, hint=f"one of {', '.join(QUIRKS)}"
                )
    return dataclasses.replace(options, firmware=firmware)


def with_capabilities(options: Options, add: Iterable[str], drop: Iterable[str]) -> Options:
    """The same table with capabilities more or less. Raises OptionError for one that does not exist."""
    has = options.has
    for name in add:
        has |= _capability(name)
    for name in drop:
        has &= ~_capability(name)
    return dataclasses.replace(options, capabilities=has)


def _capability(name: str) -> int:
    key = name.upper().replace("-", "_")
    if key not in Capability.__members__:
        known = ", ".join(c.lower().replace("_", "-") for c in Capability.__members__)
        raise OptionError(f"no capability {name!r}", value=name, hint=f"one of {known}")
    return int(Capability[key])
