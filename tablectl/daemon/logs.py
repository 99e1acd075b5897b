"""Log lines: readable under a terminal, structured for journald or a collector, repeats folded.

The first few of equal lines are written at once, so that a cable that comes and goes is seen to come and
go; the others are counted and told every five minutes (known fault 43: a retry that filled 2 GB).
"""

from __future__ import annotations

import json
import logging
import os
import sys
import time
from collections.abc import Callable
from typing import Literal, TextIO

FOLD_S = 300.0
FORGET_S = 3 * FOLD_S
MOST = 1000
"""Different lines remembered: a board that numbers its lines must not fill the memory."""
FIRST = 3
"""Equal lines written in five minutes before they are folded; of a defect with its trace only one."""
_SYSLOG = {"DEBUG": 7, "INFO": 6, "WARNING": 4, "ERROR": 3, "CRITICAL": 2}

Format = Literal["auto", "text", "json", "journald"]


class Folding(logging.Filter):
    """Lets the first few equal lines pass, then one in five minutes with the count of the others."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._clock = clock
        self._seen: dict[tuple[str, int, str], tuple[float, int]] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether the record is written now."""
        now = self._clock()
        key = (record.name, record.levelno, record.getMessage())
        last = self._seen.get(key)
        if last is None or now - last[0] >= FORGET_S:
            self._tidy(now)
            self._seen[key] = (now, 0)
            return True
        since, count = last
        first = 1 if record.exc_info else FIRST
        if now - since < FOLD_S:
            self._seen[key] = (since, count + 1)
            return count + 1 < first
        folded = count + 1 - first
        # From here on it is a known repetition: one line for each five minutes.
        self._seen[key] = (now, first - 1)
        if folded > 0:
            record.msg = f"{record.getMessage()} ({folded + 1} times in {int(now - since)} s)"
            record.args = ()
        return True

    def _tidy(self, now: float) -> None:
        if len(self._seen) < MOST:
            return
        old = [key for key, (since, _) in self._seen.items() if now - since >= FOLD_S]
        if len(self._seen) - len(old) > MOST // 2:
            old = list(self._seen)[: MOST // 2]
        for key in old:
            del self._seen[key]


class JsonFormatter(logging.Formatter):
    """One JSON object a line."""

    def format(self, record: logging.LogRecord) -> str:
        """`{"t": …, "level": …, "logger": …, "message": …}`."""
        line = {
            "t": time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
            + f".{int(record.msecs):03d}Z",
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if record.exc_info:
            line["trace"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False)


class JournaldFormatter(logging.Formatter):
    """The priority in front as `<n>`, no time: journald has its own; every line of a trace gets one."""

    def format(self, record: logging.LogRecord) -> str:
        """Text as systemd reads it from standard error."""
        prefix = f"<{_SYSLOG.get(record.levelname, 6)}>"
        text = f"{record.name}: {record.getMessage()}"
        if record.exc_info:
            text += "\n" + self.formatException(record.exc_info)
        return "\n".join(prefix + line for line in text.splitlines())


def configure(level: str = "info", form: Format = "auto", stream: TextIO | None = None) -> None:
    """Set up the root logger; called again it replaces what it set."""
    out = stream or sys.stderr
    if form == "auto":
        form = "journald" if "JOURNAL_STREAM" in os.environ else "text"
    handler = logging.StreamHandler(out)
    if form == "json":
        handler.setFormatter(JsonFormatter())
    elif form == "journald":
        handler.setFormatter(JournaldFormatter())
    else:
        handler.setFormatter(
            logging.Formatter("%(asctime)s %(levelname)-7s %(message)s", "%H:%M:%S")
        )
    handler.addFilter(Folding())
    root = logging.getLogger()
    for old in [h for h in root.handlers if getattr(h, "_tablectl", False)]:
        root.removeHandler(old)
    handler._tablectl = True  # type: ignore[attr-defined]  # noqa: SLF001 - our own mark
    root.addHandler(handler)
    root.setLevel(level.upper())
    logging.getLogger("asyncio").setLevel("WARNING")
