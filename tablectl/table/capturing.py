"""A capture file of one table: the previous run's is kept beside it, and a full disk stops nothing."""

from __future__ import annotations

import contextlib
import datetime as dt
import logging
from collections.abc import Callable
from pathlib import Path
from typing import IO

from firmware_protocol.capture import CaptureWriter

_LOG = logging.getLogger("tablectl.capture")

CAPTURE_MOST = 64 * 1024 * 1024
"""Octets, then a new file is begun: some ten hours of a busy table at level tiles."""


class Capture:
    """Writes what passes the line; every call is harmless when the file cannot be written."""

    def __init__(self, path: Path, port: str, *, unmask: bool, wall_s: float | None = None) -> None:
        self._path = path
        self._port = port
        self._unmask = unmask
        self._wall_s = wall_s
        self._file: IO[str] | None = None
        self._writer: CaptureWriter | None = None
        self._failed = False

    def received(self, data: bytes, now: int) -> None:
        """The board sent these octets."""
        self._write(lambda writer: writer.received(data, now), now)

    def sent(self, data: bytes, now: int) -> None:
        """We sent these octets."""
        self._write(lambda writer: writer.sent(data, now), now)

    def remark(self, text: str, now: int) -> None:
        """Something happened."""
        self._write(lambda writer: writer.remark(text, now), now)

    def close(self) -> None:
        """End the file."""
        if self._file is not None:
            with contextlib.suppress(OSError):
                self._file.close()
        self._file = self._writer = None

    def _write(self, what: Callable[[CaptureWriter], None], now: int) -> None:
        if self._failed:
            return
        try:
            if self._file is not None and self._file.tell() > CAPTURE_MOST:
                self.close()
            writer = self._writer or self._begin(now)
            what(writer)
        except OSError as error:
            self._failed = True
            _LOG.warning("capture %s ends here: %s", self._path, error.strerror)
            self.close()

    def _begin(self, now: int) -> CaptureWriter:
        if self._path.exists():
            self._path.replace(self._path.with_name(self._path.name + ".1"))
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._file = self._path.open("w", encoding="utf-8", buffering=1)
        zone = dt.UTC
        when = (
            dt.datetime.now(zone)
            if self._wall_s is None
            else dt.datetime.fromtimestamp(self._wall_s, zone)
        )
        self._writer = CaptureWriter(
            self._file,
            now,
            started=when.isoformat(timespec="seconds"),
            port=self._port,
            unmask=self._unmask,
        )
        return self._writer
