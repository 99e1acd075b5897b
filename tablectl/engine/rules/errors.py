"""What can be wrong with a rule file, a ruleset id or an option."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


class RuleError(ValueError):
    """A ruleset that cannot be used: stable `code`, where it stands, the value at fault, what to do.

    Codes: `unknown_ruleset` `unknown_option` `unknown_value` `wrong_type` `impossible_value`
    `missing_value` `bad_toml` `bad_extends` `cyclic_extends` `unreadable` `missing_citation`.
    """

    def __init__(
        self,
        code: str,
        message: str,
        *,
        key: str = "",
        value: Any = None,
        file: str = "",
        line: int = 0,
        nearest: str = "",
        hint: str = "",
    ) -> None:
        self.code = code
        self.message = message
        self.key = key
        self.value = value
        self.file = file
        self.line = line
        self.nearest = nearest
        self.hint = hint
        super().__init__(str(self))

    def __str__(self) -> str:
        where = f"{self.file}:{self.line}: " if self.line else f"{self.file}: " if self.file else ""
        guess = f" Did you mean {self.nearest!r}?" if self.nearest else ""
        hint = f" {self.hint}" if self.hint else ""
        return f"{where}{self.message}.{guess}{hint}"

    def to_dict(self) -> dict[str, Any]:
        """The error as a program reads it; fields that say nothing are left out."""
        fields = {
            "code": self.code,
            "message": self.message,
            "key": self.key,
            "value": self.value,
            "file": self.file,
            "line": self.line,
            "nearest": self.nearest,
            "hint": self.hint,
        }
        return {k: v for k, v in fields.items() if v not in (None, "", 0)}

    def at(self, file: str, line: int) -> RuleError:
        """The same error, with the place it was found."""
        return RuleError(
            self.code,
            self.message,
            key=self.key,
            value=self.value,
            file=file,
            line=line,
            nearest=self.nearest,
            hint=self.hint,
        )


def nearest(word: str, known: Iterable[str]) -> str:
    """The known word most like a misspelt one, or ''."""
    from difflib import get_close_matches

    found = get_close_matches(word, list(known), n=1, cutoff=0.5)
    return found[0] if found else ""
