"""Fifteen of the field's faults with bridges, drawn by `SEED`, each put back once (`tests.mutants`).

Drawn from the rows that a test of seconds proves; run against the tests of the rows drawn.
"""

from __future__ import annotations

import random
from pathlib import Path

from tests.daemon.test_known_faults_bridge import HERE, PROVED, own_test
from tests.mutants import Suite

SEED, COUNT = 1, 15
QUICK = ("test_port", "test_device_session", "test_bus", "test_bus_losses", "test_doctor", "test_journal_disk", "test_mirror")  # fmt: skip
FILE = "daemon/test_known_faults_bridge.py"
TALK_ONLY = 17
"""A row about documents."""


def eligible() -> list[int]:
    """Rows whose test takes seconds."""
    proved = [row for row, (file, _) in PROVED.items() if Path(file).stem in QUICK]
    return sorted({*proved, *HERE} - {TALK_ONLY})


def drawn() -> list[int]:
    """The rows that the seed chose."""
    return sorted(random.Random(SEED).sample(eligible(), COUNT))


def test_of(row: int) -> tuple[str, str]:
    """(File, test) of a row."""
    return PROVED[row] if row in PROVED else (FILE, own_test(row))


def _row(key: str) -> int:
    return int(key.removeprefix("R-"))


def _nodes() -> list[str]:
    return sorted({f"tests/{file}::{name}" for file, name in map(test_of, drawn())})


BRIDGE = Suite(
    folder=Path(__file__).resolve().parent,
    needed=("firmware_protocol", "hardware_sim", "tablectl", "tests", "docs", "pyproject.toml"),
    tests=_nodes(),
    wanted=lambda key: {test_of(_row(key))[1]},
    text=lambda key: test_of(_row(key))[1].removeprefix("test_").replace("_", " "),
    limit_s=300,
)
