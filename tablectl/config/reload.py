"""Which changes of the file take effect in a running daemon, and which need a restart."""

from __future__ import annotations

from typing import Any, NamedTuple

from pydantic import BaseModel

from tablectl.config.model import Settings

_LIVE = ("log", "broadcast", "venue.name", "mqtt.username", "mqtt.password")
_LIVE_PER_TABLE = ("name", "ruleset", "flash_hint", "sensors", "operator_results")


class Change(NamedTuple):
    """One key that differs."""

    key: str
    live: bool
    """True when the running daemon takes it over; false: only after a restart."""


def changes(old: Settings, new: Settings) -> list[Change]:
    """Every key in which two files differ, tables matched by id."""
    found: list[Change] = []
    for name in Settings.model_fields:
        if name == "tables":
            continue
        found += _compare(name, getattr(old, name), getattr(new, name))
    before = {table.id: table for table in old.tables}
    after = {table.id: table for table in new.tables}
    for table_id in sorted(before.keys() | after.keys()):
        if table_id not in before or table_id not in after:
            found.append(Change(f"tables.{table_id}", live=False))
            continue
        for name in type(before[table_id]).model_fields:
            if getattr(before[table_id], name) != getattr(after[table_id], name):
                found.append(Change(f"tables.{table_id}.{name}", live=name in _LIVE_PER_TABLE))
    return found


def _compare(path: str, old: Any, new: Any) -> list[Change]:
    if old == new:
        return []
    if isinstance(old, BaseModel) and isinstance(new, BaseModel) and type(old) is type(new):
        return [
            change
            for name in type(old).model_fields
            for change in _compare(f"{path}.{name}", getattr(old, name), getattr(new, name))
        ]
    live = any(path == key or path.startswith(f"{key}.") for key in _LIVE)
    return [Change(path, live=live)]
