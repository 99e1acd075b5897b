"""Text files as people write them: UTF-8, with or without the mark Windows editors put in front."""

from __future__ import annotations

from pathlib import Path

SAVE_AS = "save it as UTF-8"


def read_text(path: Path) -> str:
    """The whole file; raises OSError and UnicodeDecodeError."""
    return path.read_text(encoding="utf-8-sig")
