"""Rulesets as data: `load("tenhou", {"aka": False})` gives the frozen object every engine part reads."""

from tablectl.engine.rules.errors import RuleError
from tablectl.engine.rules.hall import SHIPPED, HallRules
from tablectl.engine.rules.model import Ruleset, Ruling
from tablectl.engine.rules.shelf import ids, load, load_file, sheet

__all__ = [
    "SHIPPED",
    "HallRules",
    "RuleError",
    "Ruleset",
    "Ruling",
    "ids",
    "load",
    "load_file",
    "sheet",
]
