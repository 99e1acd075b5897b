"""The journal: who holds it, and whether it is what was written."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from tablectl.doctor.finding import Finding, fail, ok, warn
from tablectl.journal import JournalError
from tablectl.journal.check import check
from tablectl.journal.lock import command_of
from tablectl.textfile import is_file, is_folder

LOCKS = Path("/proc/locks")


def holder(journal: Path, locks: Path = LOCKS) -> int:
    """Pid of the process that holds a journal, 0 for none: read from the kernel, nothing is touched."""
    lock = journal.with_name(journal.name + ".lock")
    try:
        info = lock.stat()
        lines = locks.read_text(encoding="ascii").splitlines()
    except OSError:
        return 0
    inode = f"{os.major(info.st_dev):02x}:{os.minor(info.st_dev):02x}:{info.st_ino}"
    for line in lines:
        fields = line.split()
        if len(fields) > 5 and fields[1] == "FLOCK" and fields[5] == inode:
            written = lock.read_text(encoding="ascii", errors="replace").strip()
            # In a container the kernel's number is another one, or none: trust the file then.
            return int(written) if written.isdigit() else max(0, int(fields[4]))
    return 0


def journal(
    path: Path, pid: int, *, verify: bool, progress: Callable[[int], None] = lambda _rows: None
) -> list[Finding]:
    """Lock, leftovers of damage, seals."""
    found: list[Finding] = []
    if pid:
        command = command_of(pid)
        who = f"process {pid}" + (f", {command}" if command else "")
        found.append(ok("journal", str(path), f"held by the running daemon ({who})"))
    if is_folder(path):
        return found  # the check of the configuration tells it
    if not is_file(path):
        if os.access(path.parent, os.R_OK | os.X_OK):
            found.append(ok("journal", str(path), "not there yet; the first start makes it"))
        return found
    found += _damaged(path)
    if not verify:
        return found
    try:
        report = check(path, progress)
    except JournalError as error:
        found.append(fail("journal", str(path), error.code, error.message, error.hint))
        return found
    if report.findings:
        first = report.findings[0]
        more = f" (and {len(report.findings) - 1} more)" if len(report.findings) > 1 else ""
        found.append(
            fail(
                "journal", str(path), first.code, f"{first.message}{more}",
                f"keep a copy, then see tablectl journal verify {path}",
            )
        )  # fmt: skip
    else:
        rows = report.facts + report.events
        found.append(
            ok("journal", str(path), f"{rows:,} rows of {report.games} games, all seals hold")
        )
    return found


def _damaged(path: Path) -> list[Finding]:
    aside = sorted(path.parent.glob(f"{path.name}.damaged-*"))
    if not aside:
        return []
    return [
        warn(
            "journal", str(aside[-1]), "journal_damaged",
            f"{len(aside)} damaged file{'s' if len(aside) > 1 else ''} set aside",
            "power cuts or a dying SD card: check the medium, then move the file away",
        )
    ]  # fmt: skip
