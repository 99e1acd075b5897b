"""Where each key of a TOML text stands: `tomllib` tells values, people need lines.

Works on text that `tomllib` has accepted already, so it only follows structure and never judges.
"""

from __future__ import annotations

from typing import NamedTuple

Path = tuple[str | int, ...]


class Position(NamedTuple):
    """A place in the text, both counted from 1."""

    line: int
    column: int


def positions(text: str) -> dict[Path, Position]:
    """Path of every key, table and array element → where its name (or element) begins."""
    return _Scanner(text).scan()


class _Scanner:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.found: dict[Path, Position] = {}
        self.arrays: dict[Path, int] = {}
        """Length so far of each `[[array of tables]]`."""

    def scan(self) -> dict[Path, Position]:
        table: Path = ()
        while self._skip_blank():
            if self.text[self.at] == "[":
                table = self._header()
            else:
                self._pair(table)
        return self.found

    def _here(self, at: int) -> Position:
        line_start = self.text.rfind("\n", 0, at) + 1
        return Position(self.text.count("\n", 0, at) + 1, at - line_start + 1)

    def _mark(self, path: Path, at: int) -> None:
        self.found.setdefault(path, self._here(at))

    def _skip_blank(self, newlines: bool = True) -> bool:
        blank = " \t\r\n" if newlines else " \t"
        while self.at < len(self.text):
            char = self.text[self.at]
            if char in blank:
                self.at += 1
            elif char == "#" and newlines:
                end = self.text.find("\n", self.at)
                self.at = len(self.text) if end < 0 else end
            else:
                return True
        return False

    def _header(self) -> Path:
        start = self.at
        is_array = self.text.startswith("[[", self.at)
        self.at += 2 if is_array else 1
        path = self._resolve(self._key())
        self.at = self.text.index("]", self.at) + (2 if is_array else 1)
        if is_array:
            index = self.arrays.get(path, -1) + 1
            self.arrays[path] = index
            self._mark(path, start)
            path = (*path, index)
        self._mark(path, start)
        return path

    def _resolve(self, names: list[str]) -> Path:
        """A header inside an array of tables speaks of that array's last element."""
        path: Path = ()
        for name in names[:-1]:
            path = (*path, name)
            if path in self.arrays:
                path = (*path, self.arrays[path])
        return (*path, names[-1])

    def _key(self) -> list[str]:
        names = []
        while True:
            self._skip_blank(newlines=False)
            if self.text[self.at] in "\"'":
                start = self.at
                self._string()
                names.append(self.text[start + 1 : self.at - 1])
            else:
                start = self.at
                while self.text[self.at] not in ".=] \t":
                    self.at += 1
                names.append(self.text[start : self.at])
            self._skip_blank(newlines=False)
            if self.text[self.at] != ".":
                return names
            self.at += 1

    def _pair(self, table: Path) -> None:
        start = self.at
        path = table
        for name in self._key():
            path = (*path, name)
            self._mark(path, start)
        self.at += 1  # "="
        self._skip_blank(newlines=False)
        self._value(path)

    def _value(self, path: Path) -> None:
        char = self.text[self.at]
        if char in "\"'":
            self._string()
        elif char == "[":
            self._array(path)
        elif char == "{":
            self._inline(path)
        else:
            while self.at < len(self.text) and self.text[self.at] not in ",]}#\n":
                self.at += 1

    def _array(self, path: Path) -> None:
        self.at += 1
        index = 0
        while self._skip_blank() and self.text[self.at] != "]":
            self._mark((*path, index), self.at)
            self._value((*path, index))
            index += 1
            self._skip_blank()
            if self.text[self.at] == ",":
                self.at += 1
        self.at += 1

    def _inline(self, path: Path) -> None:
        self.at += 1
        while self._skip_blank() and self.text[self.at] != "}":
            self._pair(path)
            self._skip_blank()
            if self.text[self.at] == ",":
                self.at += 1
        self.at += 1

    def _string(self) -> None:
        quote = self.text[self.at]
        long = self.text.startswith(quote * 3, self.at)
        mark = quote * 3 if long else quote
        self.at += len(mark)
        while not self.text.startswith(mark, self.at):
            self.at += 2 if quote == '"' and self.text[self.at] == "\\" else 1
        self.at += len(mark)
        while long and self.at < len(self.text) and self.text[self.at] == quote:
            self.at += 1  # up to two quotes may stand before the closing three
