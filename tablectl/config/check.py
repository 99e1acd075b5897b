"""What can be known about a configuration without opening a port or a connection."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from pathlib import Path

from tablectl.config.load import Problem
from tablectl.config.model import MqttSettings, Settings
from tablectl.config.positions import Path as KeyPath
from tablectl.config.positions import Position, positions
from tablectl.config.secret import SecretError


def beyond_syntax(settings: Settings, path: Path, rulesets: Sequence[str] = ()) -> list[Problem]:
    """Faults of a well-formed file: secrets, certificates and tile files that are not there, and a
    ruleset that is none of `rulesets` (where these are given)."""
    where = positions(path.read_text(encoding="utf-8-sig"))
    return [
        _at(key, where, path, code, message, hint)
        for key, code, message, hint in _findings(settings, rulesets)
    ]


_Finding = tuple[KeyPath, str, str, str]


def _findings(settings: Settings, rulesets: Sequence[str]) -> Iterator[_Finding]:
    if not settings.tables:
        yield (), "no_tables", "no table is configured", "add a [[tables]] block with id and port"
    if settings.mqtt is not None:
        yield from _broker(settings.mqtt)
    for index, table in enumerate(settings.tables):
        if rulesets and table.ruleset not in rulesets:
            near = difflib.get_close_matches(table.ruleset, rulesets, n=1)
            yield (
                ("tables", index, "ruleset"),
                "unknown_ruleset",
                f"there is no ruleset {table.ruleset!r}",
                f"did you mean '{near[0]}'?" if near else f"known: {', '.join(rulesets)}",
            )
        if table.tiles is not None and not table.tiles.is_file():
            yield (
                ("tables", index, "tiles"),
                "file_missing",
                f"the tile file {table.tiles} is not there",
                "the table maker supplies it, or 'tablectl sim' writes one",
            )


def _broker(mqtt: MqttSettings) -> Iterator[_Finding]:
    if mqtt.password is not None:
        try:
            mqtt.password.reveal()
        except SecretError as error:
            yield ("mqtt", "password"), error.code, error.message, error.hint
        if mqtt.username is None:
            yield (
                ("mqtt", "password"),
                "password_without_user",
                "a password without a username is never sent",
                "add username to [mqtt]",
            )
    if mqtt.ca_file is not None and not mqtt.ca_file.is_file():
        yield (
            ("mqtt", "ca_file"),
            "file_missing",
            f"the certificate file {mqtt.ca_file} is not there",
            "name the PEM file of the authority that signed the broker's certificate",
        )


def _at(
    key: KeyPath,
    where: dict[KeyPath, Position],
    path: Path,
    code: str,
    message: str,
    hint: str,
) -> Problem:
    place = next(
        (where[key[:length]] for length in range(len(key), 0, -1) if key[:length] in where),
        Position(0, 0),
    )
    return Problem(
        code=code,
        file=str(path),
        line=place.line,
        column=place.column,
        key=".".join(str(part) for part in key),
        message=message,
        hint=hint,
    )
