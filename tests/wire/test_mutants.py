"""The checked-in mutants still fit the sources; `make mutants` runs them all."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from tests.conftest import need_program
from tests.mutants import apply
from tests.wire.mutants import WIRE, drawn
from tests.wire.spec.test_coverage import sentences


def test_every_patch_applies_to_the_sources_of_today() -> None:
    need_program("git")
    for sentence, patch in WIRE.patches().items():
        with tempfile.TemporaryDirectory() as name:
            WIRE.copy_to(Path(name))
            assert apply(patch, Path(name)) == "", sentence


def test_the_seed_chose_the_sentences() -> None:
    assert list(WIRE.patches()) == drawn(list(sentences()))


@pytest.mark.parametrize("sentence", ["L-12", "D-2"])
def test_a_mutant_is_caught_by_exactly_its_test(sentence: str) -> None:
    need_program("git")
    assert WIRE.verdict(sentence) == ""
