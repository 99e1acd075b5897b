"""The disk is full or fails in the middle of a game: the table plays on, everybody is told, nothing is lost."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import apsw
import pytest

from tablectl.journal import Journal
from tablectl.journal import store as stores
from tablectl.journal.ballast import Ballast
from tablectl.journal.check import check
from tablectl.journal.store import Store
from tests.daemon.halls import Hall, short_is_right, whole
from tests.daemon.journal_kit import ApswConnection, FullDisk
from tests.daemon.technician import look
from tests.first_light.brokers import mosquitto

MIB = 1024 * 1024


def go(story: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(story, 90))


class Medium:
    """A disk in a test's hands: `fail()` and `heal()` it while the daemon runs."""

    store: Store

    def open(self, path: Path, **_: Any) -> Store:
        raise NotImplementedError

    def fail(self) -> None:
        raise NotImplementedError

    def heal(self) -> None:
        raise NotImplementedError


class FewPages(Medium):
    """`PRAGMA max_page_count`: the file may not grow; giving the ballast up does not help."""

    def open(self, path: Path, **more: Any) -> Store:
        self.store = Store(path, **more)
        return self.store

    def fail(self) -> None:
        pages = self.store.db.execute("PRAGMA main.page_count").fetchone()[0]
        self.store.db.execute(f"PRAGMA main.max_page_count = {pages}")

    def heal(self) -> None:
        self.store.db.execute("PRAGMA main.max_page_count = 1000000")


class SmallDisk(Medium):
    """A VFS of limited capacity; the ballast goes first."""

    def open(self, path: Path, **more: Any) -> Store:
        folder = path.parent
        self.disk = FullDisk(f"full-{uuid.uuid4()}", folder, 64 * MIB)
        self.store = Store(
            path, ballast=Ballast(path, free=self.disk.free),
            connect=lambda p: ApswConnection(p, self.disk.name), **more,
        )  # fmt: skip
        return self.store

    def fail(self) -> None:
        ballast = self.store._ballast
        assert ballast is not None
        assert ballast.held
        # Less than nothing: giving the ballast up does not help for long.
        self.disk.capacity = self.disk.used() - 8 * MIB

    def heal(self) -> None:
        self.disk.capacity = 200 * MIB


class _FailingFile(apsw.VFSFile):
    def __init__(self, medium: BrokenDisk, name: Any, flags: list[int]) -> None:
        self._medium = medium
        super().__init__("", name, flags)

    def excepthook(self, *_error: object) -> None:
        """Where SQLite has no use for an error, neither have we."""

    def xWrite(self, data: bytes, offset: int) -> None:
        if self._medium.broken:
            raise apsw.IOError("input/output error")
        super().xWrite(data, offset)

    def xSync(self, flags: int) -> None:
        if self._medium.broken:
            raise apsw.IOError("input/output error")
        super().xSync(flags)


class BrokenDisk(Medium):
    """A VFS whose writes and syncs fail: a dying SD card."""

    broken = False

    def open(self, path: Path, **more: Any) -> Store:
        medium = self

        class Vfs(apsw.VFS):
            def __init__(self) -> None:
                self.name = f"broken-{uuid.uuid4()}"
                super().__init__(self.name, base="")

            def excepthook(self, *_error: object) -> None:
                """As for the file."""

            def xOpen(self, name: Any, flags: list[int]) -> apsw.VFSFile:
                return _FailingFile(medium, name, flags)

        self.vfs = Vfs()
        self.store = Store(path, connect=lambda p: ApswConnection(p, self.vfs.name), **more)
        return self.store

    def fail(self) -> None:
        self.broken = True

    def heal(self) -> None:
        self.broken = False


@pytest.mark.parametrize("make", [FewPages, SmallDisk, BrokenDisk])
def test_the_disk_fails_in_the_middle_of_a_hand(
    make: Callable[[], Medium], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    medium = make()

    def open_journal(path: Path, *, fsync: bool, on_health: Any, **_: Any) -> Journal:
        return Journal(medium.open(path, fsync=fsync), on_health=on_health)

    async def story() -> None:
        monkeypatch.setattr(Journal, "open", open_journal)
        monkeypatch.setattr(stores, "RETRY_MS", 50)
        with mosquitto(tmp_path) as broker:
            hall = Hall(tmp_path, broker.port)
            async with hall.open(), hall.subscriber() as subscriber:
                await hall.up()
                await hall.online()
                await hall.begin()
                seen = subscriber.seen
                await hall.until(lambda: seen.last_seq >= 8)
                daemon = hall.daemon
                assert daemon is not None
                journal = daemon.journal
                assert journal is not None
                await journal._ask(lambda _store: medium.fail())
                await hall.until(lambda: journal.health.state == "memory")
                await hall.played()
                await hall.published()
                # Displays, trays, subscribers: as if nothing had been, but for one word.
                short_is_right(hall)
                marks = [event.durable for event in seen.events]
                assert marks[:8] == [True] * 8
                assert marks[-1] is False, "what only memory holds says so"
                assert seen.retained["state"]["durable"] is False
                # The technician: a loud line, /healthz says no, and doctor names it.
                assert hall.lines("ERROR", "journal: memory")
                healthy, facts = daemon.health()
                assert not healthy
                assert facts["journal"]["state"] == "memory"
                assert facts["journal"]["reason"]
                pages = await look(hall)
                assert pages.status == 503
                assert not pages.tables["t1"]["durable"]
                assert (pages.metrics["tablectl_journal_ok"], pages.value("durable")) == (0, 0)
                assert pages.metrics["tablectl_journal_in_memory"] > 0
                found = await hall.doctor()
                assert found["journal_memory"].status == "fail"
                assert found["not_durable"].subject == "t1"
                assert daemon.watchdog.stuck() == [], "a restart would lose what memory holds"
                # Who asks is answered, and told what the answer is worth.
                answer = await subscriber.request("game/pause", {"reason": "the disk"})
                assert answer.status == "accepted_not_durable"
                # Space comes back: it catches up by itself.
                await journal._ask(lambda _store: medium.heal())
                await hall.until(lambda: journal.health.state == "ok")
                assert journal.health.in_memory == 0
                await hall.until(lambda: bool(hall.lines("INFO", "journal: ok")))
                pages = await look(hall)
                assert pages.status == 200
                assert pages.tables["t1"]["durable"]
                assert (pages.metrics["tablectl_journal_ok"], pages.value("durable")) == (1, 1)
                assert pages.metrics["tablectl_journal_in_memory"] == 0
                await hall.until(lambda: seen.retained["state"]["durable"] is True)
                assert {"journal_memory", "not_durable"}.isdisjoint(await hall.doctor())
                answer = await subscriber.request("game/resume", {})
                assert answer.status == "accepted"
                await hall.published()
                whole(seen)
                assert seen.events[-1].durable
                last = seen.last_seq
        report = check(hall.folder / "journal.db")
        assert report.findings == ()
        assert report.events >= last, "the disk has everything that was published"

    go(story())
