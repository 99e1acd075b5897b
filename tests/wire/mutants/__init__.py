"""Twenty sentences of SPEC.md, drawn by `SEED` from all of it, each broken once (`tests.mutants`)."""

from __future__ import annotations

import random
from pathlib import Path

from tests.mutants import Suite
from tests.wire.spec.test_coverage import named, sentences

SEED, COUNT = 1, 20

WIRE = Suite(
    folder=Path(__file__).resolve().parent,
    needed=("firmware_protocol", "tests/__init__.py", "tests/conftest.py", "tests/wire/__init__.py",
            "tests/wire/conftest.py", "tests/wire/ends.py", "tests/wire/spec", "hardware_sim", "pyproject.toml"),
    tests=("tests/wire/spec",),
    wanted=lambda sentence: set(named()[sentence]),
    text=lambda sentence: sentences()[sentence],
)  # fmt: skip


def drawn(ids: list[str]) -> list[str]:
    """The sentences that the seed chose among these ids; chapter B is the table's and not this package's."""
    ours = sorted(key for key in ids if not key.startswith("B-"))
    return sorted(random.Random(SEED).sample(ours, COUNT))
