"""What every test area shares: where the reading room is, and what a missing part means."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import NoReturn

import pytest

ROOT = Path(__file__).resolve().parent.parent
SHARED = Path(os.environ.get("TABLECTL_SHARED", ROOT.parent / "shared"))
IN_CI = os.environ.get("CI") == "true"


def scaled(full: int, sample: int) -> int:
    """Size of a big run: `sample` as a rule (and in CI), `full` times TABLECTL_SCALE where that is set.

    `make soak` sets TABLECTL_SCALE=1, the full number.
    """
    scale = os.environ.get("TABLECTL_SCALE")
    return sample if scale is None else max(sample, int(full * float(scale)))


def missing(part: str, how: str) -> NoReturn:
    """A part that a test needs is not there: skip loudly, or fail where CI promised to have it."""
    text = f"{part} is not here: {how}"
    if IN_CI:
        pytest.fail(text)
    pytest.skip(text)


def need_program(name: str, package: str | None = None) -> str:
    """Path of a program that a test runs for real."""
    path = shutil.which(name)
    if path is None:
        missing(name, f"apt-get install {package or name}")
    return path


def need_root(why: str) -> None:
    """For a test that becomes somebody else, or leaves files of root behind."""
    if os.geteuid() != 0:
        missing("root", why)


def shared_path(name: str) -> Path:
    """A file of ../shared, or a skip where the repository stands alone (a plain clone)."""
    path = SHARED / name
    if not SHARED.is_dir():
        pytest.skip("../shared is not beside this clone: its cases cannot be run")
    if not path.exists():
        missing(str(path), "../shared lacks it")
    return path


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What takes minutes begins first: the other workers do all else meanwhile."""
    items.sort(key=lambda item: item.get_closest_marker("long") is None)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Figures that tests have measured (`record_property("figures", …)`), also where other processes ran them."""
    for outcome in ("passed", "failed"):
        for report in terminalreporter.getreports(outcome):
            for name, value in report.user_properties:
                if name == "figures":
                    terminalreporter.write_line(str(value))


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder ../shared, or a skip where it is absent."""
    return shared_path(".")
