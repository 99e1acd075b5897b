"""What an examination says: one line each, with the fix in it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

Status = Literal["ok", "warn", "fail"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One line. `code` is stable; `fix` is empty only where nothing is to be done."""

    check: str
    """`config`, `files`, `port`, `board`, `clock`, `disk`, `journal`, `daemon`, `broker`, `rights`, `retained`, `web`."""
    subject: str
    """Table, path, address or topic that was looked at."""
    status: Status
    code: str
    message: str
    fix: str = ""

    def __str__(self) -> str:
        subject = f" {self.subject}:" if self.subject else ""
        fix = f" → {self.fix}" if self.fix else ""
        text = f"{self.status:<5} {self.check:<9}{subject} {self.message}{fix}"
        return " ".join(text.splitlines())

    def as_json(self) -> dict[str, Any]:
        """All fields by name."""
        return asdict(self)


def ok(check: str, subject: str, message: str, *, code: str = "ok") -> Finding:
    """Nothing to be done."""
    return Finding(check, subject, "ok", code, message)


def warn(check: str, subject: str, code: str, message: str, fix: str) -> Finding:
    """Works, but will not always."""
    return Finding(check, subject, "warn", code, message, fix)


def fail(check: str, subject: str, code: str, message: str, fix: str) -> Finding:
    """Does not work."""
    return Finding(check, subject, "fail", code, message, fix)
