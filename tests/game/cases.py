"""The worked cases of ../shared/rule-examples.json, by category."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import pytest

from tests.conftest import SHARED

Case = dict[str, Any]


@cache
def _all() -> dict[str, list[Case]]:
    path = SHARED / "rule-examples.json"
    found: dict[str, list[Case]] = {}
    if path.exists():
        for case in json.loads(path.read_text(encoding="utf-8"))["cases"]:
            found.setdefault(case["category"], []).append(case)
    return found


def cases(category: str) -> pytest.MarkDecorator:
    """Parametrises a test with every case of a category; one skipped case where ../shared is absent."""
    found = _all().get(category)
    if not found:
        reason = "../shared is not beside this clone: its cases cannot be run"
        return pytest.mark.parametrize(
            "case", [pytest.param({}, marks=pytest.mark.skip(reason=reason))]
        )
    return pytest.mark.parametrize("case", found, ids=[case["id"] for case in found])


def count(category: str) -> int:
    """How many cases of a category there are; 0 where ../shared is absent."""
    return len(_all().get(category, []))
