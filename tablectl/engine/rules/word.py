"""A ruleset as a person names it: `tenhou,kuitan=false`, or the path of a house-rule file with options."""

from __future__ import annotations

import re
import tomllib
from typing import Any


def split(word: str) -> tuple[str, dict[str, Any]]:
    """Name and options of the word; a value that is no TOML is text."""
    name, *parts = re.split(r",(?=\s*\w+\s*=)", word)
    options: dict[str, Any] = {}
    for part in parts:
        key, _, raw = part.partition("=")
        try:
            options[key.strip()] = tomllib.loads(f"value = {raw}")["value"]
        except tomllib.TOMLDecodeError:
            options[key.strip()] = raw.strip()
    return name.strip(), options
