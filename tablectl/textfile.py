"""Text that people wrote, read in one way: UTF-8, with or without the mark Windows editors put in front."""

from __future__ import annotations

import codecs
from pathlib import Path

_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


class NotTextError(ValueError):
    """Octets that are no UTF-8 text; `line` and `column` count from 1, `hint` says what to do."""

    def __init__(self, message: str, hint: str, line: int = 1, column: int = 1) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.line = line
        self.column = column


def is_file(path: Path) -> bool:
    """Whether a file is there that we can see; `Path.is_file` raises where a folder is closed to us."""
    try:
        return path.is_file()
    except OSError:
        return False


def is_folder(path: Path) -> bool:
    """As `is_file`, for a folder."""
    try:
        return path.is_dir()
    except OSError:
        return False


def read_text(path: Path) -> str:
    """The whole file; raises OSError (it cannot be read) and NotTextError."""
    return decode(path.read_bytes())


def decode(data: bytes) -> str:
    """Octets of a file as text, without a byte order mark; raises NotTextError."""
    if data.startswith(_UTF16):
        raise NotTextError("it is UTF-16 text", "save the file as UTF-8 (Notepad calls it 'UTF-8')")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = bytes(error.object)[: error.start]
        raise NotTextError(
            f"byte 0x{error.object[error.start]:02x} is not UTF-8",
            "save the file as UTF-8 (an editor set to Shift_JIS or Latin-1 writes this)",
            before.count(b"\n") + 1,
            error.start - before.rfind(b"\n"),
        ) from None
