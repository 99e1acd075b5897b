"""The rulesets that may be named in one hall: the shipped ones, and its own house rules by their ids."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from tablectl.engine.rules.errors import RuleError, nearest
from tablectl.engine.rules.model import Ruleset
from tablectl.engine.rules.shelf import chain_of, ids, load, resolve
from tablectl.engine.rules.toml import RuleFile
from tablectl.engine.rules.word import split


class HallRules:
    """House-rule files are read once, here: afterwards a name is an id and never a path."""

    def __init__(self, files: Iterable[Path] = ()) -> None:
        """Raises RuleError for a file with a fault, and for two files with one id."""
        self._house: dict[str, tuple[RuleFile, ...]] = {}
        self._names: dict[Path, str] = {}
        for path in files:
            if path.resolve() in self._names:
                continue
            chain = chain_of(path)
            resolve(chain, {})
            own = chain[-1]
            if own.id in self._house:
                other = self._house[own.id][-1].path
                raise RuleError(
                    "impossible_value",
                    f"id {own.id!r} is used by {other} too",
                    key="id",
                    value=own.id,
                    file=own.path,
                    line=own.line("id"),
                    hint="Give each house-rule file an id of its own.",
                )
            self._house[own.id] = chain
            self._names[path.resolve()] = own.id

    @property
    def ids(self) -> tuple[str, ...]:
        """Every id that a game may name."""
        return (*ids(), *self._house)

    def load(self, name: str, options: Mapping[str, Any] | None = None) -> Ruleset:
        """A ruleset by its id; raises RuleError."""
        chain = self._house.get(name)
        if chain is not None:
            return resolve(chain, options or {})
        if name in ids():
            return load(name, options)
        near = nearest(name, self.ids)
        raise RuleError(
            "unknown_ruleset",
            f"there is no ruleset {name!r}",
            key="ruleset",
            value=name,
            nearest=near,
            hint="" if near else f"Known here: {', '.join(self.ids)}.",
        )

    def pick(self, word: str) -> tuple[str, dict[str, Any]]:
        """Id and options of a word as the hall's file has it: an id or one of the files, options after commas.

        Raises RuleError.
        """
        name, options = split(word)
        if name.endswith(".toml"):
            known = self._names.get(Path(name).resolve())
            if known is None:
                raise RuleError("unreadable", "this rule file was not read", value=name, file=name)
            name = known
        self.load(name, options)
        return name, options


SHIPPED = HallRules()
"""A hall without house rules."""
