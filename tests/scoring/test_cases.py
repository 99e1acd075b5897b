"""The 8,334 scoring cases: real Tenhou wins, an independent oracle, worked examples, two professional tests."""

from __future__ import annotations

import json
import lzma
from collections import Counter
from typing import Any

import pytest

from tablectl.engine.scoring.cases import answer
from tests.conftest import shared_path

SOURCES = {
    "real Tenhou win": 5_000,
    "random hand, independent oracle": 3_000,
    "worked example": 254,
    "JPML test key": 80,
}


def lines() -> list[dict[str, Any]]:
    with lzma.open(shared_path("data/score-cases.jsonl.xz"), "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def test_the_file_holds_what_it_says() -> None:
    assert Counter(line["source"] for line in lines()) == SOURCES


@pytest.mark.parametrize("source", SOURCES)
def test_every_case_of_a_source(source: str) -> None:
    wrong = []
    for line in lines():
        if line["source"] != source:
            continue
        result = answer(line["case"])
        if "yaku" in result:
            result["yaku"] = sorted(yaku["id"] for yaku in result["yaku"])
        for field, expected in line["expected"].items():
            if result.get(field) != expected:
                wrong.append(
                    (line["case"]["id"], field, expected, result.get(field), result.get("error"))
                )
    assert not wrong, f"{len(wrong)} fields differ, the first: {wrong[:5]}"


def test_every_step_of_an_explanation_has_an_article_and_the_fu_add_up() -> None:
    """On every tenth case; fu lines must come to the rounded fu that is paid."""
    seen = 0
    for line in lines()[::10]:
        result = answer(line["case"])
        if not result["valid"]:
            continue
        seen += 1
        assert all(step["ref"] and step["text"] for step in result["explain"]), result
    assert seen > 600
