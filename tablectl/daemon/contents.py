"""Whether what the hall's file names has changed, while the file itself has not: passwords, tiles, rules."""

from __future__ import annotations

import contextlib
import hashlib
from pathlib import Path

from tablectl.config import SecretError, Settings
from tablectl.engine.rules import HallRules


def fingerprints(settings: Settings, rules: HallRules) -> dict[str, str]:
    """Key of the configuration → a hash of what stands behind it; what cannot be read is left out."""
    found: dict[str, str] = {}
    mqtt = settings.mqtt
    if mqtt is not None:
        if mqtt.password is not None:
            with contextlib.suppress(SecretError):  # the check of the file tells it
                found["mqtt.password"] = _hash(mqtt.password.reveal().encode())
        _add(found, "mqtt.ca_file", mqtt.ca_file)
    for table in settings.tables:
        _add(found, f"tables.{table.id}.tiles", table.tiles)
        found[f"tables.{table.id}.ruleset"] = rules.load(*rules.pick(table.ruleset)).hash
    own = [rules.load(*rules.pick(str(path))).hash for path in settings.venue.rulesets]
    found["venue.rulesets"] = _hash(" ".join(own).encode())
    return found


def _add(found: dict[str, str], key: str, path: Path | None) -> None:
    if path is not None:
        try:
            found[key] = _hash(path.read_bytes())
        except OSError:
            return


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
