"""`TABLECTL_<SECTION>__<KEY>`: values from the environment, typed as the file would have them."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Iterator
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel
from pydantic_settings import EnvSettingsSource

from tablectl.config.problem import PREFIX, Problem
from tablectl.config.secret import Secret

_TRUTH = {"true": True, "false": False}
_NO_KEYS = frozenset({"TABLECTL_KILL_AT", "TABLECTL_SCALE", "TABLECTL_SHARED"})
"""Of the fault points and the tests: never a misspelt key, however near they come to one."""


class Environment(EnvSettingsSource):
    """Texts of the environment become the numbers and truths that the strict model wants."""

    def __call__(self) -> dict[str, Any]:
        """Section → key → value of what the environment gives."""
        found = super().__call__()
        return {name: _typed(value, self.settings_cls, name) for name, value in found.items()}


def _typed(value: Any, model: type[BaseModel], name: str, variable: str = PREFIX) -> Any:
    field = model.model_fields.get(name)
    if field is None:
        return value
    variable += name.upper()
    inner = model_in(field.annotation)
    if inner is Secret:
        # A password of digits is no number: what JSON made of it is undone.
        raw = next((v for n, v in os.environ.items() if n.upper() == variable), "")
        return raw if raw and not raw.startswith("{") else value
    if inner is not None and isinstance(value, dict):
        return {key: _typed(part, inner, key, f"{variable}__") for key, part in value.items()}
    if not isinstance(value, str):
        return value
    kinds = set(_kinds(field.annotation))
    if bool in kinds and value.lower() in _TRUTH:
        return _TRUTH[value.lower()]
    if int in kinds and re.fullmatch(r"[+-]?\d+", value):
        return int(value)
    return value


def _kinds(annotation: Any) -> Iterator[Any]:
    if get_origin(annotation) is Literal:
        return
    yield annotation
    for part in get_args(annotation):
        yield from _kinds(part)


def model_in(annotation: Any) -> type[BaseModel] | None:
    """The section that an annotation speaks of, through unions and lists."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    for inner in get_args(annotation):
        model = model_in(inner)
        if model is not None:
            return model
    return None


def misspelt(settings: type[BaseModel]) -> list[Problem]:
    """Variables that mean to set a key and name none: the source above never looks at them."""
    sections = settings.model_fields
    names = [f"{PREFIX}{section.upper()}" for section in sections]
    for section, field in sections.items():
        inner = model_in(field.annotation)
        if inner is not None and section != "tables":
            names += [f"{PREFIX}{section}__{key}".upper() for key in inner.model_fields]
    found = []
    for name in sorted(os.environ):
        if not name.upper().startswith(PREFIX) or name in _NO_KEYS:
            continue
        first, double, _ = name.upper().removeprefix(PREFIX).partition("__")
        if first.lower() in sections:
            continue
        near = difflib.get_close_matches(name.upper(), names, n=1, cutoff=0.8)
        if double or near or first.partition("_")[0].lower() in sections:
            found.append(
                Problem(
                    code="unknown_key",
                    file=f"environment variable {name}",
                    line=0,
                    column=0,
                    key=name,
                    message="names no key of the configuration",
                    hint=f"did you mean {near[0]}?" if near else "write TABLECTL_<SECTION>__<KEY>, such as TABLECTL_WEB__PORT",
                )
            )  # fmt: skip
    return found
