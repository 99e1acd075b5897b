"""Read the file, and say of each fault where it stands, what is meant and how it would be right."""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails
from pydantic_settings import SettingsError

from tablectl.config.environment import misspelt, model_in
from tablectl.config.model import DuplicateTableError, Settings, TableSettings
from tablectl.config.positions import Path as KeyPath
from tablectl.config.problem import ConfigError, Places, Problem, dotted, variable_of
from tablectl.config.secret import Secret
from tablectl.config.syntax import syntax_problem
from tablectl.textfile import NotTextError, is_folder, read_text

_UNIQUE = ("id", "port")


def load(path: Path) -> Settings:
    """Settings of a file, relative paths in it made relative to its folder; ConfigError."""
    try:
        text = read_text(path)
    except OSError as error:
        raise ConfigError([_unreadable(path, error)]) from error
    except NotTextError as error:
        problem = Problem(
            code="config_syntax",
            file=str(path),
            line=error.line,
            column=error.column,
            key="",
            message=error.message,
            hint=error.hint,
        )
        raise ConfigError([problem]) from error
    return loads(text, name=str(path), folder=path.resolve().parent)


def loads(text: str, *, name: str = "<text>", folder: Path | None = None) -> Settings:
    """Settings of a TOML text; ConfigError with every fault."""
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError([syntax_problem(text, name, error)]) from error
    places = Places(name, text)
    problems = misspelt(Settings)
    try:
        settings = Settings(**data)
    except ValidationError as error:
        raise ConfigError([*problems, *_problems(error, places, data)]) from error
    except SettingsError as error:
        raise ConfigError([*problems, _no_json(error)]) from error
    if problems:
        raise ConfigError(problems)
    return settings if folder is None else _anchored(settings, folder)


def _unreadable(path: Path, error: OSError) -> Problem:
    if isinstance(error, IsADirectoryError):
        message = "is a folder, not a file"
        hint = f"name the file in it, such as {path / 'tablectl.toml'}"
    elif isinstance(error, PermissionError):
        message = "may not be read by this user"
        hint = f"sudo chgrp tablectl {path} && sudo chmod 640 {path}, or run this with sudo"
    elif isinstance(error, NotADirectoryError):
        message = f"cannot be read: {path.parent} is a file, not a folder"
        hint = f"did you mean {path.parent}?"
    elif not is_folder(path.parent):
        message = "cannot be read: its folder is not there"
        hint = f"mkdir -p {path.parent} && tablectl config init {path}"
    else:
        message = f"cannot be read: {error.strerror}"
        hint = f"'tablectl config init {path}' writes one to begin with"
    return Problem("config_unreadable", str(path), 0, 0, "", message, hint)


def _no_json(error: SettingsError) -> Problem:
    field = str(error).partition('field "')[2].partition('"')[0]
    name = variable_of((field,)) if field else ""
    return Problem(
        code="bad_value",
        file=f"environment variable {name}" if name else "environment",
        line=0,
        column=0,
        key=field,
        message="a whole section or list is written as JSON, and this is none",
        hint="TABLECTL_<SECTION>__<KEY> sets one key, such as TABLECTL_WEB__PORT=8731",
    )


# ---------------------------------------------------------------- paths


def _anchored(settings: Settings, folder: Path) -> Settings:
    journal = settings.journal.model_copy(update={"path": folder / settings.journal.path})
    venue = settings.venue.model_copy(
        update={"rulesets": tuple(folder / path for path in settings.venue.rulesets)}
    )
    mqtt = settings.mqtt
    if mqtt is not None:
        mqtt = mqtt.model_copy(
            update={
                "password": _anchored_secret(mqtt.password, folder),
                "ca_file": None if mqtt.ca_file is None else folder / mqtt.ca_file,
            }
        )
    tables = tuple(_anchored_table(table, folder) for table in settings.tables)
    return settings.model_copy(
        update={"journal": journal, "venue": venue, "mqtt": mqtt, "tables": tables}
    )


def _anchored_secret(secret: Secret | None, folder: Path) -> Secret | None:
    if secret is None or secret.file is None:
        return secret
    return secret.model_copy(update={"file": folder / secret.file})


def _anchored_table(table: TableSettings, folder: Path) -> TableSettings:
    paths = {name: getattr(table, name) for name in ("tiles", "capture")}
    update: dict[str, Any] = {name: folder / path for name, path in paths.items() if path}
    if "://" not in table.port and not table.port.startswith("usb:"):
        update["port"] = str(folder / table.port)
    file, comma, options = table.ruleset.partition(",")
    if file.strip().endswith(".toml"):
        update["ruleset"] = f"{folder / file.strip()}{comma}{options}"
    return table.model_copy(update=update)


# ---------------------------------------------------------------- faults of the model


def _problems(error: ValidationError, places: Places, data: Mapping[str, Any]) -> list[Problem]:
    found: dict[tuple[str, str], Problem] = {}
    for detail in error.errors():
        problem = _problem(detail, places)
        key = (problem.key, problem.code)
        other = found.get(key)
        if other is not None and other.message != problem.message:
            # each member of a union gives its own error: "a whole number or 'hand'"
            message = (
                f"{other.message.partition(' (it is')[0]}, or {problem.message.partition(': ')[2]}"
            )
            problem = Problem(
                problem.code, problem.file, problem.line, problem.column, problem.key, message,
                problem.hint, problem.example,
            )  # fmt: skip
        found[key] = problem
    for problem in _duplicates(data, places):
        found[problem.key, problem.code] = problem
    return list(found.values())


def _duplicates(data: Mapping[str, Any], places: Places) -> Iterator[Problem]:
    """Tables of the file that share what each must have for itself: all of them, not the first only."""
    tables = data.get("tables")
    if not isinstance(tables, list):
        return
    for key in _UNIQUE:
        first: dict[str, int] = {}
        for index, table in enumerate(tables):
            value = table.get(key) if isinstance(table, dict) else None
            if not isinstance(value, str):
                continue
            if value in first:
                yield _duplicate(places, key, value, index, first[value])
            first.setdefault(value, index)


def _duplicate(places: Places, key: str, value: str, index: int, first: int) -> Problem:
    line = places.line(("tables", first, key))
    other = (
        f"the other one stands in line {line}" if line else f"the other one is number {first + 1}"
    )
    return places.problem(
        "duplicate_id" if key == "id" else "duplicate_port",
        ("tables", index, key),
        f"{key} {value!r} is used by two tables",
        f"{other}; each table needs its own",
    )


def _problem(detail: ErrorDetails, places: Places) -> Problem:
    cause = detail.get("ctx", {}).get("error")
    if isinstance(cause, DuplicateTableError):
        return _duplicate(places, cause.key, cause.value, cause.index, cause.first)
    path, field, model = _follow(detail["loc"])
    kind = detail["type"]
    example = _example(path, field)
    if kind == "extra_forbidden":
        names = list(model.model_fields) if model is not None else []
        near = difflib.get_close_matches(str(path[-1]).lower(), names, n=1, cutoff=0.6)
        hint = f"did you mean '{near[0]}'?" if near else _known(names, str(path[-1]))
        if near and model is not None:
            example = _example((*path[:-1], near[0]), model.model_fields[near[0]])
        return places.problem("unknown_key", path, f"unknown key '{dotted(path)}'", hint, example)
    meaning = field.description or "" if field else ""
    if kind == "missing":
        message = f"'{path[-1]}' is missing in {_section(path[:-1])}"
        return places.problem("missing_key", path, message, meaning, example)
    message = f"'{dotted(path)}': {_plain(detail)}{_shown(path, detail.get('input'))}"
    return places.problem("bad_value", path, message, _nearer(detail) or meaning, example)


def _known(names: list[str], word: str) -> str:
    """Keys of this section; or the section that has a key of this name."""
    elsewhere = [
        section
        for section, field in Settings.model_fields.items()
        if (inner := model_in(field.annotation)) is not None and word in inner.model_fields
    ]
    if elsewhere:
        head = "[[tables]]" if elsewhere[0] == "tables" else f"[{elsewhere[0]}]"
        return f"'{word}' belongs into {head}: a key counts to the section above it"
    return f"known here: {', '.join(names)}"


def _shown(path: KeyPath, value: Any) -> str:
    """The value at fault, unless it may hold a secret: a password, an address with one, a whole section."""
    if "password" in path or isinstance(value, (dict, list)) or "@" in str(value):
        return ""
    return f" (it is {value!r})"


def _follow(loc: tuple[str | int, ...]) -> tuple[KeyPath, FieldInfo | None, type[BaseModel] | None]:
    """Key path of an error (pydantic's names of union members left out), its field and model."""
    model: type[BaseModel] | None = Settings
    field: FieldInfo | None = None
    path: list[str | int] = []
    for part in loc:
        if isinstance(part, int):
            path.append(part)
            continue
        if model is None:
            break
        owner = model
        path.append(part)
        field = owner.model_fields.get(part)
        if field is None:
            return tuple(path), None, owner
        model = model_in(field.annotation)
        if model is None:
            return tuple(path), field, owner
    return tuple(path), field, model


def _example(path: KeyPath, field: FieldInfo | None) -> str:
    if field is None or not field.examples:
        return ""
    return f"{path[-1]} = {field.examples[0]}"


def _section(path: KeyPath) -> str:
    if path and isinstance(path[-1], int):
        return f"[[{path[-2]}]] number {path[-1] + 1}"
    return f"[{dotted(path)}]" if path else "the file"


def _nearer(detail: ErrorDetails) -> str:
    """The word that was meant, where only some are possible."""
    value = detail.get("input")
    if detail["type"] != "literal_error" or not isinstance(value, str):
        return ""
    words = [
        word.strip("'") for word in str(detail["ctx"]["expected"]).replace(" or ", ", ").split(", ")
    ]
    near = difflib.get_close_matches(value.lower(), words, n=1)
    return f"did you mean '{near[0]}'?" if near else ""


_SENTENCES = {
    "int_type": "must be a whole number, without quotes or unit",
    "int_parsing": "must be a whole number, without quotes or unit",
    "int_from_float": "must be a whole number",
    "bool_type": "must be true or false, without quotes",
    "bool_parsing": "must be true or false, without quotes",
    "string_type": "must be a text in quotes",
    "path_type": "must be a path in quotes",
    "model_type": "must be a section of its own",
    "model_attributes_type": "must be a section of its own",
    "tuple_type": 'must be a list of texts: ["…", "…"]',
    "string_pattern_mismatch": "may hold small letters, digits and '-' only, 1 to 32 of them",
}
"""Pydantic's kinds in the words of a person who edits a file."""


def _plain(detail: ErrorDetails) -> str:
    kind, ctx = detail["type"], detail.get("ctx", {})
    if kind == "tuple_type" and detail["loc"] == ("tables",):
        return "each table is a block that begins with [[tables]], in double brackets"
    if kind in _SENTENCES:
        if (
            kind.startswith("model")
            and isinstance(detail.get("input"), list)
            and len(detail["loc"]) == 1
        ):
            return "may stand once only: its name is in single brackets"
        return _SENTENCES[kind]
    if kind == "literal_error":
        return f"must be {ctx['expected']}"
    if kind in ("greater_than_equal", "less_than_equal"):
        bound = "at least" if kind.startswith("greater") else "at most"
        return f"must be {bound} {ctx.get('ge', ctx.get('le'))}"
    return detail["msg"].removeprefix("Value error, ")
