"""Faults put back on purpose: one patch each, which exactly the named test must notice.

    python -m tests.mutants            all of them (make mutants)
    python -m tests.mutants L-12 R-8   these

A suite is a folder of patches with what its tests need. Each patch is applied to a copy; the tree is not touched.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.conftest import ROOT

_FAILED = re.compile(r"^(?:FAILED|ERROR) \S+::(\w+)", re.MULTILINE)
_LEFT_OUT = shutil.ignore_patterns("__pycache__", "c", "*.o")


@dataclass(frozen=True)
class Suite:
    """One folder of patches; the key of a mutant is the name of its file."""

    folder: Path
    needed: Sequence[str]
    """What the tests need of the tree."""
    tests: Sequence[str]
    """What is run against each mutant, as pytest takes it."""
    wanted: Callable[[str], set[str]]
    """Key → the tests that must fail, and no others."""
    text: Callable[[str], str]
    """Key → what the fault is, for a person."""
    limit_s: float = 120

    def patches(self) -> dict[str, Path]:
        """Key → patch."""
        return {path.stem: path for path in sorted(self.folder.glob("*.patch"))}

    def copy_to(self, folder: Path) -> None:
        """Copy what the tests need."""
        for name in self.needed:
            source, target = ROOT / name, folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            if source.is_dir():
                shutil.copytree(source, target, ignore=_LEFT_OUT, dirs_exist_ok=True)
            else:
                shutil.copy2(source, target)

    def failing(self, folder: Path) -> set[str]:
        """Names of the tests that fail there."""
        done = subprocess.run(
            [sys.executable, "-B", "-m", "pytest", *self.tests, "-q", "--tb=no", "-rfE", "-p", "no:cacheprovider"],
            cwd=folder, env=os.environ | {"PYTHONPATH": str(folder)}, capture_output=True, text=True, check=False,
            timeout=self.limit_s,
        )  # fmt: skip
        found = set(_FAILED.findall(done.stdout))
        if done.returncode not in (0, 1) or (done.returncode == 1 and not found):
            raise RuntimeError(f"pytest could not run:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
        return found

    def verdict(self, key: str) -> str:
        """Empty when exactly the wanted tests fail; else what happened instead."""
        wanted = self.wanted(key)
        with tempfile.TemporaryDirectory(prefix="mutant-") as name:
            folder = Path(name)
            self.copy_to(folder)
            complaint = apply(self.patches()[key], folder)
            if complaint:
                return f"the patch does not fit: {complaint}"
            found = self.failing(folder)
        if found == wanted:
            return ""
        missing, more = sorted(wanted - found), sorted(found - wanted)
        return "; ".join(
            ([f"not noticed by {', '.join(missing)}"] if missing else [])
            + ([f"also fails: {', '.join(more)}"] if more else [])
        )

    def sound(self) -> str:
        """Empty when nothing fails without a mutant; else what does."""
        with tempfile.TemporaryDirectory(prefix="mutant-") as name:
            self.copy_to(Path(name))
            return ", ".join(sorted(self.failing(Path(name))))


def apply(patch: Path, folder: Path) -> str:
    """Apply a patch to a copy; the complaint of `git apply`, empty when it fits."""
    # A folder of its own outside any repository, so that git compares with nothing else.
    env = os.environ | {"GIT_CEILING_DIRECTORIES": str(folder.parent)}
    done = subprocess.run(
        ["git", "apply", "--whitespace=nowarn", str(patch)],
        cwd=folder, env=env, capture_output=True, text=True, check=False,
    )  # fmt: skip
    return "" if done.returncode == 0 else done.stderr.strip() or "git apply failed"


def main(arguments: list[str], suites: Sequence[Suite]) -> int:
    """Run mutants; 0 when each is noticed by exactly its test."""
    known = {key: suite for suite in suites for key in suite.patches()}
    unknown = [a for a in arguments if a not in known]
    if unknown:
        print(f"no mutant {', '.join(unknown)}; there are: {', '.join(known)}", file=sys.stderr)
        return 2
    keys = arguments or list(known)
    for suite in suites:
        if any(known[key] is suite for key in keys) and (broken := suite.sound()):
            print(f"these fail without any mutant: {broken}", file=sys.stderr)
            return 1
    bad = 0
    for key in keys:
        result = known[key].verdict(key)
        bad += bool(result)
        told = "caught" if not result else f"WRONG: {result}"
        print(f"{key:5} {told}   {known[key].text(key)[:70]}…", flush=True)
    print(f"{len(keys) - bad} of {len(keys)} mutants caught by exactly their test")
    return 1 if bad else 0
