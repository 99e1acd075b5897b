"""The parts of a command that has several (`rules show`, `journal verify`): each with a help that teaches."""

from __future__ import annotations

import argparse
from typing import Any


def add_part(
    parts: Any, name: str, meaning: str, examples: str, codes: str, *, description: str = ""
) -> argparse.ArgumentParser:
    """The parser of one part, in what `add_subparsers` gave; `description` where `meaning` is too short."""
    part: argparse.ArgumentParser = parts.add_parser(
        name,
        help=meaning,
        description=description or f"{meaning[:1].upper()}{meaning[1:]}.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog=f"examples:\n{examples}\n\nexit codes: {codes}",
    )
    return part
