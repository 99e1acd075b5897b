"""Which changes of the file take effect in a running daemon, and which need a restart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from pydantic import BaseModel

from tablectl.config.model import Settings, TableSettings

_LIVE = ("log.level", "log.format", "venue.name", "venue.rulesets", "journal.keep_days")
_LIVE_PER_TABLE = ("name", "ruleset", "sensors", "operator_results")


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


def content_changes(
    old: Mapping[str, str], new: Mapping[str, str], named: Sequence[Change]
) -> list[Change]:
    """Files and secrets behind a key that are not what they were, though the key is the same.

    `old`, `new`: key → fingerprint. `named`: what `changes` has found already.
    """
    known = {change.key for change in named}
    return [
        Change(key, live=is_live(key))
        for key in sorted(old.keys() & new.keys())
        if old[key] != new[key] and key not in known
    ]


def is_live(key: str) -> bool:
    """Whether a running daemon takes over this key (`mqtt.url`, `tables.t1.name`, `tables.name`)."""
    parts = key.split(".")
    if parts[0] == "tables":
        return any(part in _LIVE_PER_TABLE for part in parts[1:])
    return any(key == live or key.startswith(f"{live}.") for live in _LIVE)


def _compare(path: str, old: Any, new: Any) -> list[Change]:
    if old == new:
        return []
    if isinstance(old, BaseModel) and isinstance(new, BaseModel) and type(old) is type(new):
        return [
            change
            for name in type(old).model_fields
            for change in _compare(f"{path}.{name}", getattr(old, name), getattr(new, name))
        ]
    return [Change(path, live=is_live(path))]


def merged(old: TableSettings, new: TableSettings) -> TableSettings:
    """The table as it runs on: live keys from the new file, the others as they were."""
    return old.model_copy(update={name: getattr(new, name) for name in _LIVE_PER_TABLE})


def merged_settings(old: Settings, new: Settings) -> Settings:
    """The whole as it runs on."""
    fresh = {table.id: table for table in new.tables}
    tables = tuple(merged(t, fresh[t.id]) if t.id in fresh else t for t in old.tables)
    update: dict[str, Any] = {"tables": tables}
    for key in _LIVE:
        section, _, name = key.partition(".")
        part = update.get(section, getattr(old, section))
        update[section] = part.model_copy(update={name: getattr(getattr(new, section), name)})
    return old.model_copy(update=update)
