"""Read the file, and say of each fault where it stands, what is meant and how it would be right."""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, get_args

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails
from pydantic_settings import SettingsError

from tablectl.config.model import DuplicateTableError, Settings, TableSettings
from tablectl.config.positions import Path as KeyPath
from tablectl.config.positions import Position, positions

_TOML_PLACE = re.compile(r"\s*\(at (?:line (\d+), column (\d+)|end of document)\)")


@dataclass(frozen=True, slots=True)
class Problem:
    """One fault: `code` is stable, line and column count from 1 (0 = not in the file)."""

    code: str
    file: str
    line: int
    column: int
    key: str
    message: str
    hint: str = ""
    example: str = ""

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}:{self.column}" if self.line else self.file
        text = f"{place}: {self.message}"
        if self.hint:
            text += f"\n    {self.hint}"
        if self.example:
            text += f"\n    example: {self.example}"
        return text


class ConfigError(Exception):
    """The file cannot be used; `problems` has all faults found, in the order of the file."""

    code = "config"

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = sorted(problems, key=lambda p: (p.line, p.column))
        super().__init__("\n".join(str(problem) for problem in self.problems))


def load(path: Path) -> Settings:
    """Settings of a file, relative paths in it made relative to its folder; ConfigError."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise ConfigError(
            [
                Problem(
                    code="config_unreadable",
                    file=str(path),
                    line=0,
                    column=0,
                    key="",
                    message=f"cannot be read: {error.strerror}",
                    hint=f"'tablectl config init {path}' writes one to begin with",
                )
            ]
        ) from error
    except UnicodeDecodeError as error:
        raise ConfigError([_not_utf8(path, error)]) from error
    return loads(text, name=str(path), folder=path.resolve().parent)


def loads(text: str, *, name: str = "<text>", folder: Path | None = None) -> Settings:
    """Settings of a TOML text; ConfigError with every fault."""
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError([_syntax(text, name, error)]) from error
    where = positions(text)
    try:
        settings = Settings(**data)
    except ValidationError as error:
        raise ConfigError(_problems(error, where, name, data)) from error
    except SettingsError as error:
        raise ConfigError(
            [
                Problem(
                    code="bad_value",
                    file="environment",
                    line=0,
                    column=0,
                    key="",
                    message=str(error),
                    hint="TABLECTL_<SECTION>__<KEY> holds one value, lists and tables as JSON",
                )
            ]
        ) from error
    return settings if folder is None else _anchored(settings, folder)


def _anchored(settings: Settings, folder: Path) -> Settings:
    journal = settings.journal.model_copy(update={"path": folder / settings.journal.path})
    tables = tuple(_anchored_table(table, folder) for table in settings.tables)
    return settings.model_copy(update={"journal": journal, "tables": tables})


def _anchored_table(table: TableSettings, folder: Path) -> TableSettings:
    paths = {name: getattr(table, name) for name in ("tiles", "capture")}
    return table.model_copy(update={n: folder / path for n, path in paths.items() if path})


def _not_utf8(path: Path, error: UnicodeDecodeError) -> Problem:
    before = bytes(error.object)[: error.start]
    return Problem(
        code="config_syntax",
        file=str(path),
        line=before.count(b"\n") + 1,
        column=error.start - (before.rfind(b"\n") + 1) + 1,
        key="",
        message=f"byte 0x{error.object[error.start]:02x} is not UTF-8",
        hint="save the file as UTF-8 (an editor set to Shift_JIS or Latin-1 writes this)",
    )


def _syntax(text: str, name: str, error: tomllib.TOMLDecodeError) -> Problem:
    message = str(error)
    place = _TOML_PLACE.search(message)
    if place is not None and place[1]:
        line, column = int(place[1]), int(place[2])
    else:
        line, column = text.count("\n") + 1, len(text) - (text.rfind("\n") + 1) + 1
    hint = "texts stand in quotes, lists in [ ], and each key on its own line"
    if "Cannot overwrite" in message or "twice" in message or "declare" in message:
        hint = "a key or a [section] may stand only once"
    return Problem(
        code="config_syntax",
        file=name,
        line=line,
        column=column,
        key="",
        message=f"not TOML: {_TOML_PLACE.sub('', message)}",
        hint=hint,
        example='port = "/dev/ttyUSB0"',
    )


def _problems(
    error: ValidationError, where: Mapping[KeyPath, Position], name: str, data: Mapping[str, Any]
) -> list[Problem]:
    found: dict[tuple[str, str], Problem] = {}
    for detail in error.errors():
        problem = _problem(detail, where, name, data)
        key = (problem.key, problem.code)
        other = found.get(key)
        if other is not None and other.message != problem.message:
            # each member of a union gives its own error: "a whole number or 'hand'"
            wanted = problem.message.partition(": ")[2].removeprefix("must be ")
            head, _, tail = other.message.partition(" (it is")
            problem = replace(
                other, message=f"{head} or {wanted.partition(' (it is')[0]} (it is{tail}"
            )
        found[key] = problem
    return list(found.values())


def _problem(
    detail: ErrorDetails, where: Mapping[KeyPath, Position], name: str, data: Mapping[str, Any]
) -> Problem:
    cause = detail.get("ctx", {}).get("error")
    if isinstance(cause, DuplicateTableError):
        path: KeyPath = ("tables", cause.index, cause.key)
        first = _place(("tables", cause.first, cause.key), where)
        return _make(
            "duplicate_id" if cause.key == "id" else "duplicate_port",
            path,
            where,
            name,
            data,
            message=f"{cause.key} {cause.value!r} is used by two tables",
            hint=f"the other one stands in line {first.line}; each table needs its own",
            example="",
        )
    path, field, model = _follow(detail["loc"])
    kind = detail["type"]
    example = _example(path, field)
    if kind == "extra_forbidden":
        names = list(model.model_fields) if model is not None else []
        near = difflib.get_close_matches(str(path[-1]), names, n=1, cutoff=0.6)
        hint = f"did you mean '{near[0]}'?" if near else f"known here: {', '.join(names)}"
        if near and model is not None:
            example = _example((*path[:-1], near[0]), model.model_fields[near[0]])
        return _make(
            "unknown_key", path, where, name, data, f"unknown key '{_dotted(path)}'", hint, example
        )
    if kind == "missing":
        return _make(
            "missing_key",
            path,
            where,
            name,
            data,
            f"'{path[-1]}' is missing in {_section(path[:-1])}",
            field.description or "" if field else "",
            example,
        )
    value = detail.get("input")
    shown = "" if "password" in path else f" (it is {value!r})"
    return _make(
        "bad_value",
        path,
        where,
        name,
        data,
        f"'{_dotted(path)}': {_plain(detail)}{shown}",
        field.description or "" if field else "",
        example,
    )


def _make(
    code: str,
    path: KeyPath,
    where: Mapping[KeyPath, Position],
    name: str,
    data: Mapping[str, Any],
    message: str,
    hint: str,
    example: str,
) -> Problem:
    from_file = code == "missing_key" or _in_data(path, data)
    place = _place(path, where) if from_file else Position(0, 0)
    variable = "TABLECTL_" + "__".join(str(part) for part in path).upper()
    return Problem(
        code=code,
        file=name if from_file else f"environment variable {variable}",
        line=place.line,
        column=place.column,
        key=_dotted(path),
        message=message,
        hint=hint,
        example=example,
    )


def _in_data(path: KeyPath, data: Any) -> bool:
    for part in path:
        try:
            data = data[part]
        except (KeyError, IndexError, TypeError):
            return False
    return True


def _place(path: KeyPath, where: Mapping[KeyPath, Position]) -> Position:
    for length in range(len(path), 0, -1):
        if path[:length] in where:
            return where[path[:length]]
    return Position(1, 1)


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
        model = _model_in(field.annotation)
        if model is None:
            return tuple(path), field, owner
    return tuple(path), field, model


def _model_in(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    for inner in get_args(annotation):
        model = _model_in(inner)
        if model is not None:
            return model
    return None


def _example(path: KeyPath, field: FieldInfo | None) -> str:
    if field is None or not field.examples:
        return ""
    return f"{path[-1]} = {field.examples[0]}"


def _dotted(path: KeyPath) -> str:
    text = ""
    for part in path:
        text += f"[{part + 1}]" if isinstance(part, int) else f".{part}"
    return text.lstrip(".")


def _section(path: KeyPath) -> str:
    if path and isinstance(path[-1], int):
        return f"[[{path[-2]}]] number {path[-1] + 1}"
    return f"[{_dotted(path)}]" if path else "the file"


def _plain(detail: ErrorDetails) -> str:
    """Pydantic's sentence in the words of a person who edits a file."""
    kind, ctx = detail["type"], detail.get("ctx", {})
    sentences = {
        "int_type": "must be a whole number",
        "int_parsing": "must be a whole number",
        "bool_type": "must be true or false",
        "bool_parsing": "must be true or false",
        "string_type": "must be a text in quotes",
        "path_type": "must be a path in quotes",
        "model_type": "must be a section of its own",
        "model_attributes_type": "must be a section of its own",
        "tuple_type": "must be written as [[tables]] blocks",
        "string_pattern_mismatch": "may hold small letters, digits and '-' only, 1 to 32 of them",
    }
    if kind in sentences:
        return sentences[kind]
    if kind == "literal_error":
        return f"must be {ctx['expected']}"
    if kind in ("greater_than_equal", "less_than_equal"):
        bound = "at least" if kind.startswith("greater") else "at most"
        return f"must be {bound} {ctx.get('ge', ctx.get('le'))}"
    return detail["msg"].removeprefix("Value error, ")
