"""What can be known about a well-formed configuration from its own files: secrets, certificates, doubles."""

from __future__ import annotations

import os
import ssl
from collections.abc import Iterator
from pathlib import Path

from tablectl.config.model import MqttSettings, Settings
from tablectl.config.positions import Path as KeyPath
from tablectl.config.problem import Places, Problem, variable_of
from tablectl.config.secret import SecretError
from tablectl.textfile import is_folder


def beyond_syntax(settings: Settings, places: Places) -> Iterator[Problem]:
    """Faults of a well-formed file, warnings among them."""
    if not settings.tables:
        yield places.problem(
            "no_tables", (), "no table is configured", "add a [[tables]] block with id and port"
        )
    if settings.mqtt is not None:
        yield from _broker(settings.mqtt, places)
    yield from _journal(settings.journal.path, places)
    yield from _shared(settings, places)


def _journal(path: Path, places: Places) -> Iterator[Problem]:
    if is_folder(path):
        yield places.problem(
            "journal_is_folder", ("journal", "path"), f"{path} is a folder",
            "name the file in it", f'path = "{path / "journal.db"}"',
        )  # fmt: skip


def _shared(settings: Settings, places: Places) -> Iterator[Problem]:
    """One port under two names, one capture file for two tables."""
    for name, code, what in (
        ("port", "duplicate_port", "port"), ("capture", "duplicate_capture", "capture file"),
    ):  # fmt: skip
        first: dict[str, int] = {}
        for index, table in enumerate(settings.tables):
            value = getattr(table, name)
            if value is None or "://" in str(value):
                continue
            real = os.path.realpath(value)
            if real in first:
                other = settings.tables[first[real]]
                yield places.problem(
                    code, ("tables", index, name),
                    f"{value} is the same {what} as that of table {other.id!r}: both are {real}",
                    "each table needs its own",
                )  # fmt: skip
            first.setdefault(real, index)


def _broker(mqtt: MqttSettings, places: Places) -> Iterator[Problem]:
    key: KeyPath = ("mqtt", "password")
    if mqtt.password is not None:
        try:
            mqtt.password.reveal()
        except SecretError as error:
            yield places.problem(error.code, key, error.message, error.hint)
        if mqtt.password.readable_by_others():
            yield places.problem(
                "secret_open", key, f"{mqtt.password.where()} may be read by everybody on this computer",
                f"sudo chgrp tablectl {mqtt.password.file} && sudo chmod 640 {mqtt.password.file}",
                severity="warning",
            )  # fmt: skip
        in_file = mqtt.password.value is not None and not variable_of(key)
        if in_file and places.open_to_all():
            yield places.problem(
                "secret_open", key, "the password stands in a file that everybody on this computer may read",
                "chmod 640 the file, or give the password a file of its own",
                'password = { file = "/etc/tablectl/mqtt.password" }', severity="warning",
            )  # fmt: skip
        if mqtt.username is None:
            yield places.problem(
                "password_without_user", key, "a password without a username is never sent",
                "add username to [mqtt]", 'username = "tablectl"',
            )  # fmt: skip
    if mqtt.ca_file is not None:
        yield from _certificate(mqtt.ca_file, places)


def _certificate(path: Path, places: Places) -> Iterator[Problem]:
    hint = "name the PEM file of the authority that signed the broker's certificate"
    try:
        ssl.create_default_context(cafile=str(path))
    except ssl.SSLError:
        message = f"{path} holds no certificate (a line -----BEGIN CERTIFICATE----- begins one)"
        yield places.problem("no_certificate", ("mqtt", "ca_file"), message, hint)
    except FileNotFoundError:
        message = f"the certificate file {path} is not there"
        yield places.problem("file_missing", ("mqtt", "ca_file"), message, hint)
    except OSError as error:
        message = f"the certificate file {path} cannot be read: {error.strerror}"
        yield places.problem("file_unreadable", ("mqtt", "ca_file"), message, hint)
