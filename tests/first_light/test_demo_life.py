"""How a demo begins, ends and fails: nothing is left behind, every error is a sentence."""

from __future__ import annotations

import os
import re
import select
import signal
import subprocess
import threading
import time
from pathlib import Path

import pytest

from tests.conftest import need_program
from tests.first_light.demos import (
    alive,
    command_of,
    descendants,
    interrupt,
    left_behind,
    run,
    start,
)

SLOW = ("--speed", "1", "--headless")


def first_lines(demo: subprocess.Popen[str], count: int, within_s: float = 30.0) -> list[str]:
    """The first lines of standard output, as they come (`readline` keeps what came with a line: no select here)."""
    assert demo.stdout is not None
    out, lines = demo.stdout, list[str]()

    def read() -> None:
        while len(lines) < count and (line := out.readline()):
            lines.append(line.rstrip("\n"))

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    reader.join(within_s)
    assert len(lines) == count, f"only {lines} within {within_s} s"
    return lines


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_ends_everything_and_leaves_nothing(tmp_path: Path, how: signal.Signals) -> None:
    with start(tmp_path, *SLOW) as demo:
        lines = first_lines(demo, 3)
        assert re.fullmatch(r"Board: http://127\.0\.0\.1:\d+/board", lines[0])
        family = descendants(demo.pid)
        assert len(family) >= 2  # the broker and the daemon
        ended = interrupt(demo, how)
    assert ended.code == 130
    assert "Traceback" not in ended.err
    assert alive(family) == set()
    assert left_behind(tmp_path) == []


def test_a_killed_demo_takes_broker_and_daemon_with_it(tmp_path: Path) -> None:
    with start(tmp_path, *SLOW) as demo:
        first_lines(demo, 3)
        family = descendants(demo.pid)
        interrupt(demo, signal.SIGKILL)
    deadline = time.monotonic() + 10
    while alive(family) and time.monotonic() < deadline:
        select.select([], [], [], 0.05)
    assert alive(family) == set()


def test_a_game_played_to_its_end_keeps_the_page_until_ctrl_c(tmp_path: Path) -> None:
    with start(tmp_path, "--speed", "max", "--headless", "--table-level", "basic") as demo:
        assert demo.stdout is not None
        for line in demo.stdout:
            if line.startswith("The page stays at"):
                break
        family = descendants(demo.pid)
        assert family
        ended = interrupt(demo)
    assert ended.code == 0
    assert alive(family) == set()
    assert left_behind(tmp_path) == []


@pytest.mark.parametrize("part", ["tablectl run", "mosquitto -c"])
def test_a_part_that_dies_ends_the_demo_with_its_name(tmp_path: Path, part: str) -> None:
    need_program("mosquitto")
    with start(tmp_path, *SLOW) as demo:
        first_lines(demo, 3)
        family = descendants(demo.pid)
        (victim,) = (pid for pid in family if part in command_of(pid))
        os.kill(victim, signal.SIGKILL)
        _, err = demo.communicate(timeout=20)
    assert demo.returncode == 1
    told = "the daemon ended" if part == "tablectl run" else "the broker (mosquitto) ended"
    assert told in err
    assert "Traceback" not in err
    assert alive(family) == set()
    assert left_behind(tmp_path) == []


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("--record", "no-such-file.jsonl"), 2, "no such file"),
        (("--record", "tenhou.jsonl.xz#x"), 2, "no such file"),
        (("--table-level", "gold"), 2, "invalid choice"),
        (("--speed", "fast"), 2, "is no speed"),
        (("--speed", "0"), 2, "is no speed"),
    ],
)
def test_errors_are_sentences(arguments: tuple[str, ...], code: int, words: str) -> None:
    failed = run(*arguments, "--headless", "--exit-at-end")
    assert failed.code == code
    assert words in failed.err
    assert "Traceback" not in failed.err


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no game"),
        ("{]\n", "no JSON"),
        ('{"id": "x", "rules": {"players": 3}, "rounds": []}\n', "only four play"),
        ('{"id": "x", "rules": {"site": "tenhou"}, "rounds": []}\n', "no rounds"),
        ('{"id": "x", "rules": {"site": "nowhere"}, "rounds": [{}]}\n', "not known"),
    ],
)
def test_bad_records_are_told_and_leave_nothing(text: str, words: str, tmp_path: Path) -> None:
    file = tmp_path / "record.jsonl"
    file.write_text(text, encoding="utf-8")
    folder = tmp_path / "tmp"
    folder.mkdir()
    with start(
        folder, "--record", str(file), "--headless", "--exit-at-end", "--speed", "max"
    ) as demo:
        out, err = demo.communicate(timeout=30)
    assert demo.returncode == 2, out + err
    assert words in err
    assert "Traceback" not in err
    assert left_behind(folder) == []
