"""Log lines: the first few of equal ones at once, then a count; every format carries the same words."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator

import pytest

from tablectl.daemon import logs


@pytest.fixture(autouse=True)
def _root() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)


def record(text: str, level: int = logging.WARNING, *, trace: bool = False) -> logging.LogRecord:
    error = (ValueError, ValueError("x"), None) if trace else None
    return logging.LogRecord("tablectl.t", level, "f", 1, text, (), error)


def test_a_line_that_comes_again_and_again_is_written_three_times_then_counted() -> None:
    now = 0.0
    fold = logs.Folding(lambda: now)
    written = []
    for second in range(1000):
        now = float(second)
        line = record("port_missing")
        if fold.filter(line):
            written.append((second, line.getMessage()))
    assert written[:3] == [(0, "port_missing"), (1, "port_missing"), (2, "port_missing")]
    assert [second for second, _ in written[3:]] == [300, 600, 900]
    assert written[3][1] == "port_missing (298 times in 300 s)"
    assert written[4][1] == "port_missing (300 times in 300 s)"


def test_a_cable_that_comes_and_goes_is_seen_to() -> None:
    fold = logs.Folding(lambda: 0.0)
    passed = [fold.filter(record(text)) for text in ("down", "up", "down", "up", "down", "up")]
    assert passed == [True] * 6


def test_a_trace_is_written_once_and_old_lines_are_forgotten() -> None:
    now = 0.0
    fold = logs.Folding(lambda: now)
    assert [fold.filter(record("defect", trace=True)) for _ in range(3)] == [True, False, False]
    now = logs.FORGET_S
    fresh = record("defect", trace=True)
    assert fold.filter(fresh)
    assert fresh.getMessage() == "defect"
    for number in range(3000):
        fold.filter(record(f"line {number}"))
        assert len(fold._seen) <= logs.MOST, "memory of lines grows for ever"
    again = [fold.filter(record("line 2999")) for _ in range(3)]
    assert again == [True, True, False], "what is new is still folded"
    now = 2 * logs.FORGET_S
    for number in range(logs.MOST):
        fold.filter(record(f"another {number}"))
    kept = [message for _, _, message in fold._seen]
    assert all(message.startswith("another") for message in kept), "what is old goes first"


@pytest.mark.parametrize("form", ["text", "json", "journald"])
def test_every_format_has_level_words_and_trace(form: logs.Format) -> None:
    out = io.StringIO()
    logs.configure("info", form, out)
    log = logging.getLogger("tablectl.x")
    log.debug("hidden")
    try:
        raise ValueError("全部")
    except ValueError:
        log.exception("卓 t1 failed")
    text = out.getvalue()
    assert "hidden" not in text
    if form == "json":
        line = json.loads(text)
        assert (line["level"], line["message"]) == ("error", "卓 t1 failed")
        assert "ValueError: 全部" in line["trace"]
    elif form == "journald":
        assert all(line.startswith("<3>") for line in text.splitlines())
        assert "卓 t1 failed" in text
    else:
        assert "ERROR" in text.splitlines()[0]
        assert "ValueError: 全部" in text
