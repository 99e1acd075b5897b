"""Codec and link fit a small microcontroller, and their sources stay plain."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from benchmarks import firmware_size
from tests.conftest import ROOT, need_program
from tests.wire.c_device import SOURCES

FIRMWARE = sorted([*SOURCES.glob("*.[ch]"), *SOURCES.glob("generated/*.[ch]")])


def test_codec_and_link_fit(capsys: pytest.CaptureFixture[str]) -> None:
    need_program("make")
    need_program("arm-none-eabi-gcc", "gcc-arm-none-eabi")
    sizes = firmware_size.measure()
    assert {size.module for size in sizes} == set(firmware_size.WHAT)
    flash, ram = firmware_size.flash(sizes), firmware_size.ram(sizes)
    with capsys.disabled():
        print(f"\n  codec and link on a Cortex-M3: {flash} octets of flash, {ram} of RAM")
    assert 4_000 < flash < firmware_size.FLASH_MOST
    assert 500 < ram < firmware_size.RAM_MOST
    assert sum(size.data for size in sizes) == 0


def test_sources_need_no_heap_no_library_and_no_floating_point() -> None:
    assert len(FIRMWARE) > 15
    for path in FIRMWARE:
        code = re.sub(r"/\*.*?\*/|\"[^\"]*\"", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)  # fmt: skip
        found = re.findall(
            r"\b(malloc|calloc|realloc|free|float|double|goto|setjmp|alloca|printf)\b(?=\s*[\(\s])",
            code,
        )
        assert found == [], path.name
        includes = set(re.findall(r"#include <([^>]+)>", code))
        assert includes <= {"stdint.h", "stdbool.h", "stddef.h"}, path.name


def test_nothing_calls_itself() -> None:
    """No recursion: the stack has a known depth. Told by the names that each function's body calls."""
    calls: dict[str, set[str]] = {}
    for path in (path for path in FIRMWARE if path.suffix == ".c"):
        code = re.sub(r"/\*.*?\*/", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
        functions = r"^(?:static )?[\w ]+[ \*](\w+)\([^;{]*\)\n\{\n(.*?)^\}"
        for name, body in re.findall(functions, code, re.DOTALL | re.MULTILINE):
            # What is called through the board's table is the board's.
            calls.setdefault(name, set()).update(re.findall(r"(?<![\w>])(\w+)\(", body))
    assert len(calls) > 80
    assert "tctl_seal" in calls["write_frame"]

    def reaches(start: str) -> set[str]:
        seen: set[str] = set()
        waiting = list(calls[start])
        while waiting:
            name = waiting.pop()
            if name not in seen:
                seen.add(name)
                waiting += calls.get(name, ())
        return seen

    assert [name for name in sorted(calls) if name in reaches(name)] == []


def test_the_firmware_of_the_documentation_compiles(tmp_path: Path) -> None:
    compiler = need_program("arm-none-eabi-gcc", "gcc-arm-none-eabi")
    text = (ROOT / "docs" / "firmware.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"^```c\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    (tmp_path / "main.c").write_text(code, encoding="utf-8")
    command = [compiler, "-std=c11", "-Wall", "-Wextra", "-Werror", "-Wconversion", "-mcpu=cortex-m3", "-mthumb", "-Os",
               "-ffreestanding", f"-I{SOURCES}", "-c", str(tmp_path / "main.c"), "-o", str(tmp_path / "main.o")]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_every_file_of_the_documentation_is_there() -> None:
    text = (ROOT / "docs" / "firmware.md").read_text(encoding="utf-8")
    named = set(re.findall(r"^\| `([\w/]+?)(?:\.c)?` \|", text, re.MULTILINE)) - {"example/"}
    assert "tctl_link" in named
    modules = {str(p.relative_to(SOURCES).with_suffix("")) for p in FIRMWARE if p.suffix == ".c"}
    assert named - {"test/step"} == modules
