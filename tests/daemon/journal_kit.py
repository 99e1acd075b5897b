"""Transactions to write, and a second SQLite binding whose files fail on purpose."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import apsw

from tablectl.journal import EventEntry, FactEntry, Transaction, canonical

FEEDS = ("public", "seat0", "seat1", "seat2", "seat3", "broadcast", "referee")


def fact(number: int, boot: int = 7) -> FactEntry:
    return FactEntry("ButtonEvent", canonical({"n": number}), boot, number, number * 10)


def event(name: str, feeds: tuple[str, ...] = ("public", "referee"), **body: Any) -> EventEntry:
    return EventEntry(name, "discard", canonical({"tile": "5m", **body}), feeds, f"c-{name}")


def change(
    number: int,
    *,
    table: str = "t1",
    game: str | None = "g1",
    events: int = 2,
    boot: int = 7,
    **more: Any,
) -> Transaction:
    """What one button press might change: a fact and some events."""
    return Transaction(
        table,
        1_700_000_000_000 + number,
        number,
        True,
        game,
        (
            fact(number, boot),
            *(event(f"{table}-{number}-{k}", FEEDS[: 1 + (number + k) % 7]) for k in range(events)),
        ),
        **more,
    )


class ApswCursor:
    """DB-API face of rows that are read already."""

    def __init__(self, rows: list[Any]) -> None:
        self._rows = rows

    def fetchone(self) -> Any:
        return self._rows.pop(0) if self._rows else None

    def fetchall(self) -> list[Any]:
        rows, self._rows = self._rows, []
        return rows

    def __iter__(self) -> Iterator[Any]:
        yield from self.fetchall()


class ApswConnection:
    """apsw behind the few methods the store uses: its errors become those of sqlite3."""

    def __init__(self, path: str, vfs: str) -> None:
        self._db = apsw.Connection(path, vfs=vfs)

    @property
    def in_transaction(self) -> bool:
        return bool(self._db.in_transaction)

    def _do(self, work: Callable[[], Any]) -> Any:
        try:
            return work()
        except apsw.ConstraintError as error:
            raise sqlite3.IntegrityError(str(error)) from error
        except apsw.Error as error:
            translated = sqlite3.OperationalError(str(error))
            translated.sqlite_errorcode = getattr(
                error, "extendedresult", apsw.mapping_result_codes["SQLITE_FULL"]
            )
            raise translated from error

    def execute(self, sql: str, parameters: Sequence[Any] = (), /) -> ApswCursor:
        return ApswCursor(self._do(lambda: list(self._db.execute(sql, tuple(parameters)))))

    def executemany(self, sql: str, parameters: Any, /) -> ApswCursor:
        return ApswCursor(self._do(lambda: list(self._db.executemany(sql, list(parameters)))))

    def close(self) -> None:
        self._db.close()


class FullDisk(apsw.VFS):
    """A disk of `capacity` octets: database, log and ballast share it."""

    def __init__(self, name: str, folder: Path, capacity: int) -> None:
        self.name = name
        self.folder = folder
        self.capacity = capacity
        super().__init__(name, base="")

    def used(self) -> int:
        return sum(f.stat().st_size for f in self.folder.iterdir() if not f.name.endswith("-shm"))

    def free(self, _folder: Path) -> int:
        return self.capacity - self.used()

    def excepthook(self, *_error: object) -> None:
        """Where SQLite has no use for an error (checkpoint at closing), neither have we."""

    def xOpen(self, name: Any, flags: list[int]) -> apsw.VFSFile:
        return _FullFile(self, name, flags)


class _FullFile(apsw.VFSFile):
    def __init__(self, disk: FullDisk, name: Any, flags: list[int]) -> None:
        self._disk = disk
        super().__init__("", name, flags)

    def excepthook(self, *_error: object) -> None:
        """As for the disk."""

    def xWrite(self, data: bytes, offset: int) -> None:
        growth = max(0, offset + len(data) - self.xFileSize())
        if growth > self._disk.capacity - self._disk.used():
            raise apsw.FullError("no space left on this small disk")
        super().xWrite(data, offset)


class Recorder(apsw.VFS):
    """Remembers every write, truncation and sync of database and log, in order."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.log: list[tuple[str, str, int, bytes]] = []
        """(`write` | `truncate` | `sync` | `mark`, file name, offset or size, data)."""
        super().__init__(name, base="")

    def xOpen(self, name: Any, flags: list[int]) -> apsw.VFSFile:
        return _RecordedFile(self, name, flags)

    def xDelete(self, filename: str, syncdir: bool) -> None:
        self.log.append(("delete", Path(filename).name, 0, b""))
        super().xDelete(filename, syncdir)


class _RecordedFile(apsw.VFSFile):
    def __init__(self, recorder: Recorder, name: Any, flags: list[int]) -> None:
        self._recorder = recorder
        filename = name.filename() if isinstance(name, apsw.URIFilename) else str(name)
        self._name = Path(filename).name
        super().__init__("", name, flags)

    def xWrite(self, data: bytes, offset: int) -> None:
        self._recorder.log.append(("write", self._name, offset, bytes(data)))
        super().xWrite(data, offset)

    def xTruncate(self, newsize: int) -> None:
        self._recorder.log.append(("truncate", self._name, newsize, b""))
        super().xTruncate(newsize)

    def xSync(self, flags: int) -> None:
        self._recorder.log.append(("sync", self._name, 0, b""))
        super().xSync(flags)
