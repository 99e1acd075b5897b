"""Faults put back on purpose: one patch per sentence of SPEC.md, which exactly the test of that sentence must notice.

    python -m tests.wire.mutants            all of them (make mutants)
    python -m tests.wire.mutants L-12 D-2   these

The twenty sentences were drawn by `SEED` from all of SPEC.md. Each patch is applied to a copy; the tree is not touched.
"""

from __future__ import annotations

import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.conftest import ROOT
from tests.wire.spec.test_coverage import named, sentences

HERE = Path(__file__).resolve().parent
SEED, COUNT = 1, 20
NEEDED = ("firmware_protocol", "tests/__init__.py", "tests/conftest.py", "tests/wire/__init__.py", "tests/wire/conftest.py",
          "tests/wire/ends.py", "tests/wire/spec", "hardware_sim", "pyproject.toml")  # fmt: skip
_FAILED = re.compile(r"^(?:FAILED|ERROR) \S+::(\w+)", re.MULTILINE)


def drawn(ids: list[str]) -> list[str]:
    """The sentences that the seed chose among these ids; chapter B is the table's and not this package's."""
    ours = sorted(key for key in ids if not key.startswith("B-"))
    return sorted(random.Random(SEED).sample(ours, COUNT))


def patches() -> dict[str, Path]:
    """Sentence → its patch."""
    return {path.stem: path for path in sorted(HERE.glob("*.patch"))}


def apply(patch: Path, folder: Path) -> str:
    """Apply a patch to a copy; the complaint of `git apply`, empty when it fits."""
    # A folder of its own outside any repository, so that git compares with nothing else.
    env = os.environ | {"GIT_CEILING_DIRECTORIES": str(folder.parent)}
    done = subprocess.run(
        ["git", "apply", "--whitespace=nowarn", str(patch)],
        cwd=folder, env=env, capture_output=True, text=True, check=False,
    )  # fmt: skip
    return "" if done.returncode == 0 else done.stderr.strip() or "git apply failed"


def copy_to(folder: Path) -> None:
    """What the tests of the sentences need."""
    for name in NEEDED:
        source, target = ROOT / name, folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(
                source, target, ignore=shutil.ignore_patterns("__pycache__", "c", "*.o")
            )
        else:
            shutil.copy2(source, target)


def failing(folder: Path) -> set[str]:
    """Names of the tests of SPEC.md that fail there."""
    done = subprocess.run(
        [sys.executable, "-B", "-m", "pytest", "tests/wire/spec", "-q", "--tb=no", "-rfE", "-p", "no:cacheprovider"],
        cwd=folder, env=os.environ | {"PYTHONPATH": str(folder)}, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    found = set(_FAILED.findall(done.stdout))
    if done.returncode not in (0, 1) or (done.returncode == 1 and not found):
        raise RuntimeError(f"pytest could not run:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return found


def verdict(sentence: str) -> str:
    """Empty when exactly the tests that name the sentence fail; else what happened instead."""
    wanted = set(named()[sentence])
    with tempfile.TemporaryDirectory(prefix="mutant-") as name:
        folder = Path(name)
        copy_to(folder)
        complaint = apply(patches()[sentence], folder)
        if complaint:
            return f"the patch does not fit: {complaint}"
        found = failing(folder)
    if found == wanted:
        return ""
    missing, more = sorted(wanted - found), sorted(found - wanted)
    return "; ".join(
        ([f"not noticed by {', '.join(missing)}"] if missing else [])
        + ([f"also fails: {', '.join(more)}"] if more else [])
    )


def main(arguments: list[str]) -> int:
    """Run mutants; 0 when each is noticed by exactly its test."""
    unknown = [a for a in arguments if a not in patches()]
    if unknown:
        print(
            f"no mutant for {', '.join(unknown)}; there are: {', '.join(patches())}",
            file=sys.stderr,
        )
        return 2
    with tempfile.TemporaryDirectory(prefix="mutant-") as name:
        copy_to(Path(name))
        if broken := failing(Path(name)):
            print(f"these fail without any mutant: {', '.join(sorted(broken))}", file=sys.stderr)
            return 1
    texts = sentences()
    bad = 0
    for sentence in arguments or patches():
        result = verdict(sentence)
        bad += bool(result)
        print(
            f"{sentence:5} {'caught' if not result else 'WRONG: ' + result}   {texts[sentence][:70]}…",
            flush=True,
        )
    print(
        f"{len(arguments or patches()) - bad} of {len(arguments or patches())} mutants caught by exactly their test"
    )
    return 1 if bad else 0
