"""A fault of the configuration, and where it stands: a line of the file, or a variable of the environment."""

from __future__ import annotations

import os
import stat
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from tablectl.config.positions import Path as KeyPath
from tablectl.config.positions import Position, positions
from tablectl.textfile import read_text

PREFIX = "TABLECTL_"
Severity = Literal["error", "warning"]


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
    severity: Severity = "error"
    """A warning is told and stops nothing."""

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}:{self.column}" if self.line else self.file
        word = "warning: " if self.severity == "warning" else ""
        text = f"{place}: {word}{self.message}"
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


class Places:
    """Where the keys of one configuration come from."""

    def __init__(self, name: str, text: str = "") -> None:
        """`text` is what `tomllib` has accepted; empty: no key stands in a file."""
        self._name = name
        self._where = positions(text) if text else {}
        self._mode = 0

    @classmethod
    def of(cls, path: Path) -> Places:
        """Of a file that was read before; without lines where it has gone or changed since."""
        try:
            text = read_text(path)
            tomllib.loads(text)
        except (OSError, ValueError):
            return cls(str(path))
        places = cls(str(path), text)
        places._mode = path.stat().st_mode
        return places

    def open_to_all(self) -> bool:
        """Whether everybody on this computer may read the file."""
        return bool(self._mode & stat.S_IROTH)

    def line(self, key: KeyPath) -> int:
        """Line of a key, 0 when it stands in no line."""
        return self._place(key).line

    def problem(
        self,
        code: str,
        key: KeyPath,
        message: str,
        hint: str = "",
        example: str = "",
        severity: Severity = "error",
    ) -> Problem:
        """A fault at a key."""
        variable = variable_of(key)
        place = Position(0, 0) if variable else self._place(key)
        return Problem(
            code=code,
            file=f"environment variable {variable}" if variable else self._name,
            line=place.line,
            column=place.column,
            key=dotted(key),
            message=message,
            hint=hint,
            example=example,
            severity=severity,
        )

    def _place(self, key: KeyPath) -> Position:
        for length in range(len(key), 0, -1):
            if key[:length] in self._where:
                return self._where[key[:length]]
        return Position(1, 1) if key and self._where else Position(0, 0)


def variable_of(key: KeyPath) -> str:
    """The environment variable that gives this key its value (it overrides the file), or ''."""
    names = {name.upper(): name for name in os.environ if name.upper().startswith(PREFIX)}
    words = [str(part).upper() for part in key]
    for length in range(len(words), 0, -1):
        name = PREFIX + "__".join(words[:length])
        if name in names:
            return names[name]
    part = f"{PREFIX}{'__'.join(words)}__"
    return next((names[name] for name in sorted(names) if words and name.startswith(part)), "")


def dotted(key: KeyPath) -> str:
    """`tables[2].port`: tables count from 1, as people do."""
    text = ""
    for part in key:
        text += f"[{part + 1}]" if isinstance(part, int) else f".{part}"
    return text.lstrip(".")
