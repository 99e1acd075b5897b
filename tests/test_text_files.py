"""Every text file that a person hands us may come from a Windows editor: a mark at its start, CRLF line ends."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hardware_sim import record, scenario
from hardware_sim.errors import RecordError, ScriptError
from hardware_sim.faults.language import load_script
from hardware_sim.faults.play import AREAS
from tablectl.config import ConfigError, load
from tablectl.engine.rules import RuleError, load_file
from tablectl.mirror.tags import TileFileError, load_tags
from tablectl.records.reader import RecordError as ReaderError
from tablectl.records.reader import read_records
from tablectl.textfile import NotTextError, decode
from tests.conftest import ROOT
from tests.sim.games import short

assert AREAS, "the sentences of the fault scripts are known"
BOM = b"\xef\xbb\xbf"
SCENARIO = '[[hand]]\nstory = """\n0 draws\n0 discards\nsuufon\n"""\n'
KINDS: dict[str, tuple[str, str, Callable[[Path], Any]]] = {
    "hall": ("hall.toml", '[[tables]]\nid = "t1"\nport = "/dev/null"\n', load),
    "house rules": ("house.toml", 'extends = "tenhou"\nkuitan = false\n', lambda path: load_file(path).to_dict()),
    "tiles": ("tiles.toml", 'format = 1\n[set.a]\n0A = "1m"\n', load_tags),
    "scenario": ("story.toml", SCENARIO, scenario.read),
    "faults": ("cable.txt", "# a remark\nWhen tile 6 is discarded in hand 1, unplug the cable.\n", lambda path: load_script(str(path))),
    "record of the simulator": ("game.jsonl", json.dumps(short()) + "\n", lambda path: record.find(str(path))),
    "record": ("game.jsonl", json.dumps(short()) + "\n", lambda path: list(read_records(str(path)))),
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_a_mark_and_windows_line_ends_change_nothing(tmp_path: Path, kind: str) -> None:
    name, text, reading = KINDS[kind]
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    plain = reading(path)
    path.write_bytes(BOM + text.replace("\n", "\r\n").encode())
    assert reading(path) == plain


@pytest.mark.parametrize("kind", KINDS)
def test_octets_that_are_no_text_are_refused_with_a_word(tmp_path: Path, kind: str) -> None:
    name, text, reading = KINDS[kind]
    path = tmp_path / name
    for data in ((text + "# \xe9\n").encode("latin-1"), text.encode("utf-16")):
        path.write_bytes(data)
        with pytest.raises(
            (ConfigError, RuleError, TileFileError, RecordError, ScriptError, ReaderError)
        ) as caught:
            reading(path)
        assert re.search("UTF-8|utf-8|UTF-16", str(caught.value)), caught.value


@pytest.mark.parametrize(
    ("data", "line", "column"), [(b"a\nb \xe9", 2, 3), (b"\xff", 1, 1), (BOM + b"a\n\xe9", 2, 1)]
)
def test_the_octet_at_fault_is_named(data: bytes, line: int, column: int) -> None:
    with pytest.raises(NotTextError) as caught:
        decode(data)
    assert (caught.value.line, caught.value.column) == (line, column)


@pytest.mark.parametrize("source", ["file", "pipe"])
def test_a_capture_with_a_mark_is_decoded(tmp_path: Path, source: str) -> None:
    path = tmp_path / "t1.capture"
    path.write_bytes(BOM + b"# tablectl capture 1\r\n")
    name = str(path) if source == "file" else "-"
    done = subprocess.run(
        [sys.executable, "-m", "tablectl", "decode", name],
        cwd=ROOT, input=path.read_bytes(), capture_output=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def test_no_file_of_a_person_is_read_in_a_second_way() -> None:
    """Who reads text otherwise says which file of ours, or of the kernel, it is."""
    ours = {
        "tablectl/textfile.py", "hardware_sim/textfile.py",
        "tablectl/bus/asyncapi.py", "firmware_protocol/generate.py",  # generated files
        "tablectl/table/conformance/runner.py", "tablectl/table/conformance/vectors.py",  # shipped
        "tablectl/doctor/memory.py",  # /proc and our lock
        "tablectl/daemon/metrics.py",  # /proc
        "tablectl/cli/demo/process.py",  # the log of our own process
    }  # fmt: skip
    found = set()
    for room in ("tablectl", "hardware_sim", "firmware_protocol"):
        for path in (ROOT / room).rglob("*.py"):
            text = path.read_text(encoding="utf-8")
            if re.search(r"\.read_text\((?!\))|encoding=\"utf-8\"\) as stream", text):
                found.add(str(path.relative_to(ROOT)))
    assert found <= ours, found - ours
