"""Games that come along, of our own making (`tablectl selfplay`): one for each source ruleset."""

from __future__ import annotations

from pathlib import Path
from typing import Final

FOLDER: Final = Path(__file__).parent
ENDING: Final = ".jsonl.xz"
DEFAULT: Final = "tenhou"
SOURCES: Final = ("tenhou", "saikouisen", "saikouisen-classic", "mu", "jpml-a")
"""The rulesets that are taken from a text of their own, the default first."""


def path(name: str = DEFAULT) -> Path:
    """File of the bundled game of a ruleset."""
    return FOLDER / f"{name}{ENDING}"


def resolve(name: str | None) -> str:
    """A record's name as given, or the bundled game it means: none, or a ruleset's id."""
    if name is None:
        return str(path())
    if name in SOURCES and not Path(name).exists():
        return str(path(name))
    return name
