"""`tablectl demo` as a person runs it: a process of its own, its last line, and what it leaves behind."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

COMMAND = (sys.executable, "-m", "tablectl", "demo")
PLAY_S = 240.0


@dataclass(frozen=True, slots=True)
class Played:
    """What one demo did."""

    code: int
    out: str
    err: str

    @property
    def end(self) -> dict[str, Any]:
        """The last line of standard output."""
        value = json.loads(self.out.splitlines()[-1])
        assert isinstance(value, dict)
        return value


def play(record: str | None, level: str, *more: str) -> Played:
    """As fast as possible, to the end, with the summary."""
    command = [
        *COMMAND,
        "--table-level",
        level,
        "--speed",
        "max",
        "--headless",
        "--exit-at-end",
        "--json",
    ]
    if record is not None:
        command += ["--record", record]
    done = subprocess.run(
        [*command, *more], capture_output=True, text=True, timeout=PLAY_S, check=False
    )
    return Played(done.returncode, done.stdout, done.stderr)


def run(*arguments: str) -> Played:
    """Any demo command that ends by itself."""
    done = subprocess.run(
        [*COMMAND, *arguments], capture_output=True, text=True, timeout=PLAY_S, check=False
    )
    return Played(done.returncode, done.stdout, done.stderr)


@contextlib.contextmanager
def start(folder: Path, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """A demo that goes on until it is told to stop; its temporary folders are made in `folder`."""
    demo = subprocess.Popen(
        [*COMMAND, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(folder)},
        start_new_session=True,
    )
    try:
        with demo:
            try:
                yield demo
            except BaseException:
                demo.terminate()  # a failed test must not wait for a demo that plays on
                raise
    finally:
        demo.kill()


def descendants(pid: int) -> set[int]:
    """Every living process below `pid`."""
    parents: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            parent = _parent(entry)
            if parent is not None:
                parents.setdefault(parent, []).append(int(entry.name))
    found: set[int] = set()
    waiting = [pid]
    while waiting:
        for child in parents.get(waiting.pop(), ()):
            found.add(child)
            waiting.append(child)
    return found


def _parent(entry: Path) -> int | None:
    try:
        text = (entry / "stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    fields = text.rpartition(")")[2].split()
    return None if fields[0] == "Z" else int(fields[1])


def command_of(pid: int) -> str:
    """The command line of a process."""
    text = (Path("/proc") / str(pid) / "cmdline").read_bytes()
    return text.replace(b"\0", b" ").decode(errors="replace")


def alive(pids: set[int]) -> set[int]:
    """Which of these processes still live."""
    return {pid for pid in pids if _parent(Path("/proc") / str(pid)) is not None}


def left_behind(folder: Path) -> list[str]:
    """What is still in a folder."""
    return sorted(path.name for path in folder.iterdir())


def interrupt(demo: subprocess.Popen[str], how: signal.Signals = signal.SIGINT) -> Played:
    """Ctrl-C (or another signal), and what the demo said until it was gone."""
    demo.send_signal(how)
    out, err = demo.communicate(timeout=20)
    return Played(demo.returncode, out, err)
