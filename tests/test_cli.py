"""What every command shares: an output that fails, an encoding that lacks letters, a command that is none."""

from __future__ import annotations

import errno
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tablectl.cli.main import main

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


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (("rul",), "did you mean 'rules'?"),
        (("docter",), "did you mean 'doctor'?"),
        (("nonsense",), "commands: config, conformance,"),
        (("rules", "list", "--jsn"), "did you mean --json?"),
        (("selfplay", "--rulset", "mu"), "did you mean --ruleset?"),
        (("run", "--confg=x"), "did you mean --config?"),
    ],
)
def test_a_misspelt_word_is_answered_with_the_right_one(
    words: tuple[str, ...], hint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as caught:
        main(list(words))
    said = capsys.readouterr().err
    assert caught.value.code == 2
    assert hint in said
    assert "--help" in said


@pytest.fixture
def strange(tmp_path: Path) -> Path:
    """A folder of files that are none of what a command wants."""
    (tmp_path / "octets").write_bytes(bytes(range(256)) * 8)
    (tmp_path / "empty").touch()
    (tmp_path / "folder").mkdir()
    (tmp_path / "other.jsonl").write_text('{"a": 1}\n', encoding="utf-8")
    (tmp_path / "octets.toml").write_bytes(bytes(range(256)))
    (tmp_path / "folder.toml").mkdir()
    return tmp_path


@pytest.mark.parametrize("name", ["nothing", "octets", "empty", "folder", "other.jsonl", "no/file"])
@pytest.mark.parametrize(
    "words",
    [
        ("replay", "{}", "--check"), ("decode", "{}"), ("demo", "--headless", "--record", "{}"),
        ("sim", "--exit-at-end", "--speed", "max", "--record", "{}"),
        ("rules", "show", "{}.toml"), ("score", "--jsonl", "--ruleset", "{}.toml"),
        ("journal", "verify", "{}"), ("journal", "export", "{}"), ("config", "check", "{}"),
        ("run", "--config", "{}"), ("doctor", "--config", "{}"),
        ("conformance", "{}"),
    ],
    ids=lambda words: " ".join(words[:2]),
)  # fmt: skip
def test_a_file_that_is_another_is_told_in_words(
    words: tuple[str, ...], name: str, strange: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        code = main([word.format(strange / name) for word in words])
    except SystemExit as end:
        code = int(end.code or 0)
    out, err = capsys.readouterr()
    empty_hall = words[0] in ("run", "doctor", "config") and name == "empty"
    assert code == 2 or (words[:2] == ("config", "check") and code == 1) or empty_hall, (
        code,
        out,
        err,
    )
    said = out + err
    assert name.partition(".")[0] in said
    for word in ("Traceback", "codec", "Errno", "<class", "Error:", "None"):
        assert word not in said, said
    assert len(said.splitlines()) > 1 or re.search(r"[(:;→.] ?\S", said), "what to do is missing"


def test_an_error_of_the_system_names_the_file_and_no_number(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from tablectl.cli import rules

    def broken(_args: object) -> int:
        raise OSError(errno.EIO, os.strerror(errno.EIO), "/media/card/x")

    monkeypatch.setattr(rules, "run", broken)
    assert main(["rules", "list"]) == 2
    assert capsys.readouterr().err == "tablectl rules: /media/card/x: Input/output error\n"
