"""Rulesets as data: `load("tenhou", {"aka": False})` gives the frozen object every engine part reads."""

from tablectl.engine.rules.errors import RuleError
from tablectl.engine.rules.model import Ruleset, Ruling
from tablectl.engine.rules.shelf import ids, load, load_file, sheet

__all__ = ["RuleError", "Ruleset", "Ruling", "ids", "load", "load_file", "sheet"]
