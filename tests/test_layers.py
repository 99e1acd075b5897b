"""Arrows only point down (docs/architecture.md); no module grows past one idea."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.conftest import ROOT

ALLOWED: dict[str, set[str]] = {
    "firmware_protocol": set(),
    "hardware_sim": {"firmware_protocol"},
    "tablectl.engine": set(),

    "tablectl.mirror": {"tablectl.engine", "firmware_protocol"},
    "tablectl.journal": {"tablectl.mirror", "tablectl.engine"},
    "tablectl.records": {"tablectl.mirror", "tablectl.engine"},
    "tablectl.table": {"tablectl.mirror", "tablectl.engine", "tablectl.config", "firmware_protocol"},
    "tablectl.bus": {"tablectl.mirror", "tablectl.engine", "tablectl.config"},
    "tablectl.web": {"tablectl.mirror", "tablectl.engine", "tablectl.config", "tablectl.bus"},
    "tablectl.config": set(),
    "tablectl.daemon": {
        "tablectl.bus", "tablectl.config", "tablectl.engine", "tablectl.journal", "tablectl.mirror",
        "tablectl.records", "tablectl.table", "tablectl.web", "firmware_protocol",
    },
    "tablectl.doctor": {
        "tablectl.bus", "tablectl.config", "tablectl.daemon", "tablectl.engine", "tablectl.journal",
        "tablectl.mirror", "tablectl.records", "tablectl.table", "firmware_protocol",
    },
}  # fmt: skip
"""Room → the rooms it may look into. `tablectl.cli` stands on top of everything; it alone sees the simulator."""

EVERYONE_MAY = {"tablectl", "tablectl.errors", "tablectl.textfile"}
"""The bare package (its version), the shared error tree, and the one way to read a text file."""

TOP = {"tablectl.cli", "tablectl.__main__"}
MAX_LINES = 700
PACKAGES = ("tablectl", "firmware_protocol", "hardware_sim")
MODULES = sorted(p for package in PACKAGES for p in (ROOT / package).rglob("*.py"))


def room_of(dotted: str) -> str:
    parts = dotted.split(".")
    return parts[0] if parts[0] != "tablectl" else ".".join(parts[:2])


def imports_of(path: Path) -> set[str]:
    """Every module of ours that a file imports, anywhere in it."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    package = list(path.relative_to(ROOT).with_suffix("").parts[:-1])
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*base, *(node.module.split(".") if node.module else [])])
            if module == "tablectl":
                found.update(f"tablectl.{alias.name}" for alias in node.names)
            else:
                found.add(module)
    return {name for name in found if name.split(".")[0] in PACKAGES}


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(ROOT)))
def test_module_looks_only_down(path: Path) -> None:
    room = room_of(".".join(path.relative_to(ROOT).with_suffix("").parts))
    for name in imports_of(path):
        target = room_of(name)
        if target in {room, *EVERYONE_MAY} or name == "tablectl.__version__":
            continue
        if room in TOP:
            continue
        assert target in ALLOWED.get(room, set()), f"{path.name}: {room} may not import {name}"


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(ROOT)))
def test_module_is_one_idea(path: Path) -> None:
    lines = len(path.read_text(encoding="utf-8").splitlines())
    assert lines <= MAX_LINES or path.name == "generated.py", f"{path} has {lines} lines"


ENGINE_FLOORS = ("tiles", "rules", "scoring", "game")
"""Inside the engine too arrows point down: a floor sees those before it (and the error tree)."""


@pytest.mark.parametrize("floor", ENGINE_FLOORS)
def test_the_engine_has_floors(floor: str) -> None:
    higher = {f"tablectl.engine.{name}" for name in ENGINE_FLOORS[ENGINE_FLOORS.index(floor) + 1 :]}
    for path in MODULES:
        dotted = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        if not dotted.startswith(f"tablectl.engine.{floor}"):
            continue
        for name in imports_of(path):
            target = ".".join(name.split(".")[:3])
            assert target not in higher, f"{dotted} may not import {name}"


def test_the_rule_itself_can_fail() -> None:
    assert "tablectl.daemon" not in ALLOWED["tablectl.mirror"]
    assert "firmware_protocol.schema" in imports_of(ROOT / "tablectl" / "mirror" / "submit.py")
