"""What every command shares: an output that fails, an encoding that lacks letters, a command that is none."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = (sys.executable, "-m", "tablectl")
LISTING = (*PROGRAM, "rules", "list")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize("words", [("rules", "list"), ("rules", "show", "mu", "--json")])
def test_a_full_disk_is_said_in_one_line(words: tuple[str, ...]) -> None:
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        done = subprocess.run((*PROGRAM, *words), stdout=full, stderr=subprocess.PIPE, check=False)
    assert done.returncode == 2
    assert b"No space left" in done.stderr
    assert done.stderr.count(b"\n") == 1


def test_a_reader_that_leaves_is_no_error() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(LISTING, stdout=writing, stderr=subprocess.PIPE, check=False)
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_terminal_without_japanese_is_no_error() -> None:
    done = subprocess.run(
        LISTING,
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"saikouisen" in done.stdout


@pytest.mark.parametrize("words", [(), ("nothing",), ("\udcff",)])
def test_no_such_command_is_a_usage_error(words: tuple[str, ...]) -> None:
    done = subprocess.run((*PROGRAM, *words), capture_output=True, check=False)
    assert done.returncode == 2
    assert b"--help" in done.stderr
    assert b"Traceback" not in done.stderr
