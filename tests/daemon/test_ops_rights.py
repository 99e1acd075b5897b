"""Whoever lacks a right hears which one, where, and the command that gives it; never a trace."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tablectl.journal import Journal
from tests.conftest import need_root
from tests.daemon.journal_kit import change
from tests.daemon.rights_kit import NOBODY, as_nobody, public_folder


@pytest.fixture
def hall() -> Iterator[Path]:
    """A hall's file that everybody may read, its journal in a folder of its own."""
    with public_folder() as folder:
        yield hall_in(folder)


def hall_in(folder: Path) -> Path:
    (folder / "memory").mkdir(0o755)
    file = folder / "hall.toml"
    file.write_text(
        'mqtt = false\n[web]\nenabled = false\n[journal]\npath = "memory/journal.db"\n'
        '[[tables]]\nid = "t1"\nport = "/nowhere"\n',
        encoding="utf-8",
    )
    file.chmod(0o644)
    return file


def refused(*commands: tuple[str | Path, ...]) -> str:
    """All commands end with 2 and a word; what they said together."""
    answers = as_nobody(*commands)
    for code, said in answers:
        assert code == 2, said
        assert "Traceback" not in said, said
    return "".join(said for _, said in answers)


def readers(file: Path) -> list[tuple[str | Path, ...]]:
    return [("config", "check", file), ("run", "--config", file), ("doctor", "--config", file)]


def test_a_hall_file_that_may_not_be_read(hall: Path) -> None:
    hall.chmod(0o000)
    said = refused(*readers(hall))
    assert said.count("may not be read by this user") == 3
    assert said.count(f"sudo chgrp tablectl {hall}") == 3


def test_a_folder_that_may_not_be_looked_into(hall: Path) -> None:
    hall.parent.chmod(0o000)
    try:
        journal = ("journal", "verify", hall.parent / "memory" / "journal.db")
        assert refused(*readers(hall), journal).count("may not") >= 4
    finally:
        hall.parent.chmod(0o755)


def test_a_folder_that_may_not_be_written(hall: Path) -> None:
    memory = hall.parent / "memory"
    if os.geteuid() != 0:
        memory.chmod(0o555)
    (started, tried, (code, said)) = as_nobody(
        ("run", "--config", hall),
        ("config", "init", memory / "new.toml"),
        ("doctor", "--config", hall),
    )
    assert started[0] == tried[0] == 2
    assert "tablectl doctor names the command" in started[1]
    assert "this user may not write it" in tried[1]
    assert code == 1
    assert "we may not write here" in said
    assert f"sudo chown nobody {memory}" in said or os.geteuid() != 0
    memory.chmod(0o755)


def test_a_journal_that_a_run_as_root_has_made(hall: Path) -> None:
    need_root("only root can leave files that nobody else may write")
    memory = hall.parent / "memory"

    async def as_root() -> None:
        journal = Journal.open(memory / "journal.db")
        await journal.append(change(1))
        await journal.close()

    asyncio.run(as_root())
    os.chown(memory, NOBODY, NOBODY)
    for path in memory.iterdir():
        path.chmod(0o600)
    (started, verified, (code, said)) = as_nobody(
        ("run", "--config", hall),
        ("journal", "verify", memory / "journal.db"),
        ("doctor", "--config", hall),
    )
    assert started[0] == verified[0] == 2
    assert "Permission denied" in started[1]
    assert "this user may not read it" in verified[1]
    assert (code, "belongs to root" in said, "sudo chown nobody:" in said) == (1, True, True), said
