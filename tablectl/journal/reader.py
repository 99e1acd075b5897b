"""Reading a journal from outside, also while a daemon holds it: no lock, no change."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from tablectl.journal import schema as s
from tablectl.journal.errors import JournalUnusableError, NotAJournalError
from tablectl.journal.reads import Reads


@contextmanager
def open_reads(path: Path) -> Iterator[Reads]:
    """Questions to a journal file. Raises JournalUnusableError, NotAJournalError, JournalTooNewError.

    The write-ahead log of a daemon that runs is read too. On a medium that cannot be written and
    without a log, SQLite is told that nothing will change.
    """
    if _missing(path):
        raise JournalUnusableError(
            path, "no such file", hint="name the journal of your configuration"
        )
    db = _open(path)
    try:
        if s.identify(db, path) == 0:
            raise NotAJournalError(path)
        yield Reads(db)
    except sqlite3.DatabaseError as error:
        raise JournalUnusableError(
            path, str(error), hint=f"look closer: tablectl journal verify {path}"
        ) from error
    finally:
        db.close()


def _missing(path: Path) -> bool:
    """No file is there; a way that is closed to us is another fault."""
    try:
        return not path.is_file()
    except PermissionError:
        return False


def _open(path: Path) -> s.Connection:
    address = "file:" + quote(str(path.resolve()))
    for mode in ("?mode=ro", "?mode=ro&immutable=1"):
        try:
            db = sqlite3.connect(address + mode, uri=True, isolation_level=None, timeout=5.0)
        except sqlite3.OperationalError as error:
            last = error  # rights: nothing was opened
            continue
        try:
            db.execute("SELECT count(*) FROM sqlite_master").fetchone()
        except sqlite3.OperationalError as error:
            db.close()
            last = error
            continue
        except sqlite3.DatabaseError as error:
            db.close()
            raise JournalUnusableError(
                path, str(error), hint="the daemon sets a damaged file aside when it starts"
            ) from error
        return db
    hint = "" if os.access(path, os.R_OK) else "this user may not read it: use sudo"
    raise JournalUnusableError(path, str(last), hint=hint) from last
