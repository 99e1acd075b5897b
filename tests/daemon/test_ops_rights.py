"""Whoever lacks a right hears which one, where, and the command that gives it; never a trace."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tablectl.journal import Journal
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


def refused(*words: str | Path) -> str:
    code, said = as_nobody(*words)
    assert code == 2, said
    assert "Traceback" not in said, said
    return said


def test_a_hall_file_that_may_not_be_read(hall: Path) -> None:
    hall.chmod(0o000)
    for words in (("config", "check"), ("run", "--config"), ("doctor", "--config")):
        said = refused(*words, hall)
        assert "may not be read by this user" in said
        assert f"sudo chgrp tablectl {hall}" in said


def test_a_folder_that_may_not_be_looked_into(hall: Path) -> None:
    hall.parent.chmod(0o000)
    try:
        for words in (("config", "check"), ("run", "--config"), ("doctor", "--config")):
            assert "may not be read by this user" in refused(*words, hall)
        assert "may not" in refused("journal", "verify", hall.parent / "memory" / "journal.db")
    finally:
        hall.parent.chmod(0o755)


def test_a_folder_that_may_not_be_written(hall: Path) -> None:
    memory = hall.parent / "memory"
    if os.geteuid() != 0:
        memory.chmod(0o555)
    assert "tablectl doctor names the command" in refused("run", "--config", hall)
    code, said = as_nobody("doctor", "--config", hall)
    assert code == 1
    assert f"sudo chown nobody {memory}" in said or os.geteuid() != 0
    assert "we may not write here" in said
    refused("config", "init", memory / "new.toml")
    memory.chmod(0o755)


@pytest.mark.skipif(
    os.geteuid() != 0, reason="only root can leave files that nobody else may write"
)
def test_a_journal_that_a_run_as_root_has_made(hall: Path) -> None:
    memory = hall.parent / "memory"

    async def as_root() -> None:
        journal = Journal.open(memory / "journal.db")
        await journal.append(change(1))
        await journal.close()

    asyncio.run(as_root())
    os.chown(memory, NOBODY, NOBODY)
    assert "Permission denied" in refused("run", "--config", hall)
    code, said = as_nobody("doctor", "--config", hall)
    assert (code, "belongs to root" in said) == (1, True), said
    assert "sudo chown nobody:" in said
    for path in memory.iterdir():
        path.chmod(0o600)
    assert "this user may not read it" in refused("journal", "verify", memory / "journal.db")
