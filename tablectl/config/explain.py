"""The configuration file explained from its own model: the reference, and a file to begin with."""

from __future__ import annotations

import difflib
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, NamedTuple, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from tablectl.config.model import Settings
from tablectl.config.problem import PREFIX
from tablectl.config.reload import is_live
from tablectl.config.secret import Secret


class Key(NamedTuple):
    """One key of the file, ready to print."""

    section: str
    name: str
    kind: str
    default: str
    meaning: str
    examples: tuple[str, ...]

    @property
    def dotted(self) -> str:
        """`mqtt.url`, `tables.port`."""
        return f"{self.section}.{self.name}"


def keys() -> list[Key]:
    """Every key, in the order of the model."""
    return list(_keys(Settings, ""))


def _keys(model: type[BaseModel], section: str) -> Iterator[Key]:
    nested = []
    for name, field in model.model_fields.items():
        inner = _section_model(field.annotation)
        if inner is not None:
            nested.append((f"{section}.{name}".lstrip("."), inner))
            continue
        yield Key(
            section=section,
            name=name,
            kind=_kind(field.annotation),
            default=_default(field),
            meaning=field.description or "",
            examples=tuple(str(example) for example in field.examples or ()),
        )
    for inner_name, inner in nested:
        yield from _keys(inner, inner_name)


def _section_model(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return None if annotation is Secret else annotation
    for part in get_args(annotation):
        inner = _section_model(part)
        if inner is not None:
            return inner
    return None


def _kind(annotation: Any) -> str:
    origin = get_origin(annotation)
    if origin is Literal:
        return " | ".join(f'"{value}"' for value in get_args(annotation))
    if origin in (Union, types.UnionType):
        parts = [_kind(part) for part in get_args(annotation) if part is not type(None)]
        return " | ".join(parts)
    if origin is tuple:
        return f"list of {_kind(get_args(annotation)[0])}s"
    if origin is not None and get_args(annotation):
        return _kind(get_args(annotation)[0])
    names = {bool: "true | false", int: "number", str: "text", Path: "path", Secret: "secret"}
    return names.get(annotation, str(annotation))


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "required"
    value = field.default
    if value is None:
        return "none"
    if value == ():
        return "[]"
    if isinstance(value, bool):
        return str(value).lower()
    return f'"{value}"' if isinstance(value, (str, Path)) else str(value)


def reference(wanted: str | None = None) -> str:
    """All keys (or those of one section, or of one name) as text; empty when nothing matches.

    A person may write `mqtt`, `[mqtt]`, `mqtt.url`, `url` or `TABLECTL_MQTT__URL`.
    """
    lines: list[str] = []
    section = None
    for key in _chosen(wanted):
        if key.section != section:
            section = key.section
            lines += ["", _heading(section)]
        lines.append(f"{key.name} = {key.kind}    (default: {key.default})")
        lines.append(f"    {key.meaning}")
        lines += [f"    example: {key.name} = {example}" for example in key.examples]
        lines.append(f"    {_change(key)}")
    return "\n".join(lines).strip()


def _chosen(wanted: str | None) -> list[Key]:
    every = keys()
    if not wanted:
        return every
    word = _plain(wanted)
    found = [key for key in every if f"{key.dotted}.".startswith(f"{word}.")]
    return found or [key for key in every if key.name == word]


def _plain(wanted: str) -> str:
    return wanted.strip("[] ").lower().removeprefix(PREFIX.lower()).replace("__", ".")


def nearest(wanted: str) -> str:
    """The key or section most like a misspelt one, or ''."""
    word = _plain(wanted)
    names = [key.dotted for key in keys()]
    sections = sorted({key.section for key in keys()})
    near = difflib.get_close_matches(word, [*names, *sections], n=1)
    if not near:
        near = [n for n in names if difflib.get_close_matches(word, [n.rpartition(".")[2]], n=1)]
    return near[0] if near else ""


def _change(key: Key) -> str:
    when = "taken over by a reload (SIGHUP)" if is_live(key.dotted) else "needs a restart"
    if key.section.startswith("tables"):
        return f"a change {when}" if when.startswith("needs") else f"a change is {when}"
    variable = f"{PREFIX}{key.section}__{key.name}".upper()
    return f"in the environment: {variable}; a change {'is ' if when[0] == 't' else ''}{when}"


def _heading(section: str) -> str:
    return "[[tables]]" if section == "tables" else f"[{section}]"


def template(ports: list[str]) -> str:
    """A commented file to begin with; one table for each port that was found."""
    lines = [
        "# tablectl: one file for the whole hall. A line that begins with # shows a default.",
        "# 'tablectl config explain' tells every key, 'tablectl config check' reads this file.",
    ]
    tables = [key for key in keys() if key.section == "tables"]
    section = None
    for key in keys():
        if key.section.startswith("tables"):
            continue
        if key.section != section:
            section = key.section
            lines += ["", f"[{section}]"]
        shown = key.default if key.default != "none" else (key.examples or ('""',))[0]
        lines.append(f"# {key.name} = {shown}    # {key.meaning}")
    found = ports or ["/dev/serial/by-id/usb-YOUR-TABLE"]
    for number, port in enumerate(found, 1):
        lines += ["", "[[tables]]"]
        for key in tables:
            if key.name == "id":
                lines.append(f'id = "t{number}"    # {key.meaning}')
            elif key.name == "port":
                lines.append(f'port = "{port}"    # {key.meaning}')
            else:
                shown = key.default if key.default != "none" else (key.examples or ('""',))[0]
                lines.append(f"# {key.name} = {shown}    # {key.meaning}")
    if not ports:
        lines.append("# no serial port was found when this file was written: put yours above")
    return "\n".join(lines) + "\n"
