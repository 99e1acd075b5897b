"""What can be wrong with tiles, hands, melds and situations: one tree, each error with a stable code.

`EngineError` is the only exception the scoring core raises on bad input. A ruleset that cannot be used is
a `tablectl.engine.rules.RuleError`, which carries the same `code`.
"""

from __future__ import annotations

from typing import Any


class EngineError(ValueError):
    """Input that cannot be: stable `code`, `message`, the `field` and `value` at fault, a `hint`."""

    def __init__(
        self, code: str, message: str, *, field: str = "", value: Any = None, hint: str = ""
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.field = field
        self.value = value
        self.hint = hint

    def __str__(self) -> str:
        where = f"{self.field}: " if self.field else ""
        hint = f" ({self.hint})" if self.hint else ""
        return f"{where}{self.message}{hint}"


class TileError(EngineError):
    """Text that is no tile: bad_tile, bad_tiles."""


class MeldError(EngineError):
    """Tiles that are no meld: bad_meld_type, bad_meld, too_many_melds."""


class HandError(EngineError):
    """Tiles that cannot be held: wrong_tile_count, five_of_a_kind, no_red_fives, too_many_red_fives."""


class SituationError(EngineError):
    """Circumstances that cannot have come about, such as ippatsu_without_riichi or riichi_open_hand."""


class CaseError(EngineError):
    """A scoring case that cannot be read: bad_json, missing_field, unknown_field, wrong_type, …"""
