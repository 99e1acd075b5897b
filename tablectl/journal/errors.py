"""What can go wrong with a journal, each with a stable code, the value at fault and a hint."""

from __future__ import annotations

from pathlib import Path

_RIGHTS = "check owner and rights of the folder and its files: tablectl doctor names the command"


class JournalError(Exception):
    """Root of the tree. `code` is stable, `hint` says what to do next."""

    code = "journal"

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} ({self.hint})" if self.hint else self.message


class JournalLockedError(JournalError):
    """Another process holds the journal for its life. `pid` is 0 when it could not be read."""

    code = "journal_locked"

    def __init__(self, path: Path, pid: int, command: str) -> None:
        who = f"process {pid} ({command})" if command else f"process {pid}" if pid else "a process"
        hint = f"stop it first: kill {pid}" if pid else "stop the other tablectl first"
        super().__init__(f"{path} is held by {who}", hint=hint)
        self.path = path
        self.pid = pid
        self.command = command


class JournalTooNewError(JournalError):
    """The file was written by a later release; opening it could lose what that release knows."""

    code = "journal_too_new"

    def __init__(self, path: Path, found: int, known: int) -> None:
        super().__init__(
            f"{path} has schema version {found}, this tablectl knows versions up to {known}",
            hint="run the newer tablectl that wrote it, or name another journal file",
        )
        self.path = path
        self.found = found
        self.known = known


class NotAJournalError(JournalError):
    """A file that some other program owns: nothing is touched."""

    code = "not_a_journal"

    def __init__(self, path: Path) -> None:
        super().__init__(
            f"{path} is no journal of tablectl: it belongs to another program",
            hint="name another journal file in [journal] path",
        )
        self.path = path


class JournalUnusableError(JournalError):
    """The file or its folder cannot be opened for reading and writing."""

    code = "journal_unusable"

    def __init__(self, path: Path, reason: str, *, hint: str = "") -> None:
        super().__init__(f"{path}: {reason}", hint=hint or _RIGHTS)
        self.path = path
        self.reason = reason


class TransactionRejectedError(JournalError):
    """A transaction contradicts the journal (an event id given twice, an unknown `cmd_id`).

    Nothing of it was written; other transactions of the same commit are not touched.
    """

    code = "transaction_rejected"

    def __init__(self, table_id: str, reason: str) -> None:
        super().__init__(f"table {table_id}: {reason}", hint="this is a defect: please report it")
        self.table_id = table_id
        self.reason = reason


class JournalClosedError(JournalError):
    """The journal was used after `close`."""

    code = "journal_closed"

    def __init__(self) -> None:
        super().__init__("the journal is closed")
