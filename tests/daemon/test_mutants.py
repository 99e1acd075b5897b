"""The checked-in mutants of the bridge still fit the sources; `make mutants` runs them all."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from tests.conftest import need_program
from tests.daemon.mutants import BRIDGE, drawn
from tests.mutants import apply


def test_every_patch_applies_to_the_sources_of_today() -> None:
    need_program("git")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for row, patch in BRIDGE.patches().items():
            BRIDGE.copy_to(folder)  # over what the last patch left
            assert apply(patch, folder) == "", row


def test_the_seed_chose_the_rows() -> None:
    assert list(BRIDGE.patches()) == [f"R-{row:02}" for row in drawn()]


@pytest.mark.parametrize("row", ["R-47"])
def test_a_mutant_is_caught_by_exactly_its_test(row: str) -> None:
    need_program("git")
    assert BRIDGE.verdict(row) == ""
