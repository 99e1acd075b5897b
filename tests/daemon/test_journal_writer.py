"""The writer thread: many tables, few commits, each answered only when it is on disk."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from tablectl.journal import (
    ActionChange,
    Health,
    Journal,
    JournalClosedError,
    Transaction,
    TransactionRejectedError,
)
from tablectl.journal.store import Store
from tests.daemon.journal_kit import change, event, fact


def play(work: Callable[[], Coroutine[Any, Any, None]]) -> None:
    asyncio.run(asyncio.wait_for(work(), 30))


class Gate:
    """Holds the writer inside a commit until the test lets it go."""

    def __init__(self) -> None:
        self.inside = threading.Event()
        self.let_go = threading.Event()

    def __call__(self, step: str) -> None:
        if step == "written":
            self.inside.set()
            assert self.let_go.wait(10)


@pytest.mark.parametrize("threaded", [True, False])
def test_many_tables_at_once_stay_gap_free(tmp_path: Path, threaded: bool) -> None:
    async def work() -> None:
        journal = Journal.open(tmp_path / "journal.db", threaded=threaded)

        async def table(name: str) -> None:
            for number in range(1, 41):
                await journal.append(change(number, table=name))

        await asyncio.gather(*(table(f"t{n}") for n in range(20)))
        for n in range(20):
            seqs = [e.seqs["public"] for e in await journal.events_after(f"t{n}", "public", 0)]
            assert seqs == list(range(1, 81))
            assert journal.last_seq(f"t{n}", "public") == 80
        await journal.close()

    play(work)


def test_what_is_queued_during_a_commit_shares_the_next_one(tmp_path: Path) -> None:
    async def work() -> None:
        gate = Gate()
        journal = Journal(Store(tmp_path / "journal.db", on_step=gate))
        first = asyncio.ensure_future(journal.append(change(1)))
        await asyncio.to_thread(gate.inside.wait, 10)
        rest = [asyncio.ensure_future(journal.append(change(1, table=f"x{n}"))) for n in range(50)]
        await asyncio.sleep(0)
        assert not first.done()
        gate.let_go.set()
        await asyncio.gather(first, *rest)
        assert journal.health.commits == 2
        assert journal.health.transactions == 51
        await journal.close()

    play(work)


def test_nothing_is_answered_before_its_commit(tmp_path: Path) -> None:
    async def work() -> None:
        gate = Gate()
        journal = Journal(Store(tmp_path / "journal.db", on_step=gate))
        append = asyncio.ensure_future(journal.append(change(1)))
        await asyncio.to_thread(gate.inside.wait, 10)
        assert not append.done()
        assert journal.last_seq("t1", "public") == 0
        assert not journal.is_new_fact("t1", 7, 2)
        gate.let_go.set()
        await append
        assert journal.last_seq("t1", "public") == 2
        assert journal.is_new_fact("t1", 7, 2)
        await journal.close()

    play(work)


def test_a_rejected_transaction_reaches_its_caller_only(tmp_path: Path) -> None:
    async def work() -> None:
        journal = Journal.open(tmp_path / "journal.db")
        bad = Transaction("t1", 0, 0, action_changes=(ActionChange(5, "done"),))
        results = await asyncio.gather(
            journal.append(change(1, table="t2")),
            journal.append(bad),
            journal.append(change(1, table="t3")),
            return_exceptions=True,
        )
        assert isinstance(results[1], TransactionRejectedError)
        assert [type(r).__name__ for r in results] == [
            "CommitResult",
            "TransactionRejectedError",
            "CommitResult",
        ]
        await journal.close()

    play(work)


def test_an_unforeseen_error_of_one_table_does_not_stop_the_others(tmp_path: Path) -> None:
    async def work() -> None:
        gate = Gate()
        journal = Journal(Store(tmp_path / "journal.db", on_step=gate))
        first = asyncio.ensure_future(journal.append(change(1)))
        await asyncio.to_thread(gate.inside.wait, 10)
        broken = change(2, table="t2")
        object.__setattr__(broken, "entries", (object(),))
        rest = [
            asyncio.ensure_future(journal.append(t))
            for t in (change(1, table="t3"), broken, change(1, table="t4"))
        ]
        await asyncio.sleep(0)
        gate.let_go.set()
        results = await asyncio.gather(first, *rest, return_exceptions=True)
        assert [isinstance(r, Exception) for r in results] == [False, False, True, False]
        assert await journal.append(change(2, table="t3"))
        await journal.close()

    play(work)


def test_a_cancelled_caller_does_not_take_the_transaction_back(tmp_path: Path) -> None:
    async def work() -> None:
        gate = Gate()
        journal = Journal(Store(tmp_path / "journal.db", on_step=gate))
        append = asyncio.ensure_future(journal.append(change(1)))
        await asyncio.to_thread(gate.inside.wait, 10)
        append.cancel()
        gate.let_go.set()
        assert len(await journal.events_after("t1", "public", 0)) == 2
        assert append.cancelled()
        await journal.close()

    play(work)


def test_a_known_fact_is_found_after_a_restart(tmp_path: Path) -> None:
    async def work() -> None:
        path = tmp_path / "journal.db"
        journal = Journal.open(path)
        first = await journal.append(change(4))
        await journal.close()
        journal = Journal.open(path)
        assert not journal.is_new_fact("t1", 7, 4)
        assert not journal.is_new_fact("t1", 7, 5)
        found = await journal.find_fact("t1", 7, 4)
        assert found is not None
        assert found.events == first.events
        assert journal.is_new_fact("t1", 7, 5)
        assert await journal.find_fact("t1", 7, 5) is None
        latest = await journal.last_device_fact("t1")
        assert latest is not None
        assert (latest.boot_id, latest.event_no) == (7, 4)
        await journal.close()

    play(work)


def test_outbox_cursors_are_written_when_the_writer_rests(tmp_path: Path) -> None:
    async def work() -> None:
        written = threading.Event()
        path = tmp_path / "journal.db"
        journal = Journal(
            Store(path, on_step=lambda step: written.set() if step == "committed" else None)
        )
        await journal.append(change(1))
        written.clear()
        journal.mark_published("t1", "public", 2)
        assert journal.published("t1", "public") == 2
        assert await asyncio.to_thread(written.wait, 10)
        await journal.close()
        journal = Journal.open(path)
        assert journal.published("t1", "public") == 2
        assert journal.published("t1", "seat0") == 0
        await journal.close()

    play(work)


def test_closing_commits_what_is_queued(tmp_path: Path) -> None:
    async def work() -> None:
        path = tmp_path / "journal.db"
        journal = Journal.open(path)
        appends = [asyncio.ensure_future(journal.append(change(n))) for n in range(1, 50)]
        await asyncio.sleep(0)
        await journal.close()
        await journal.close()
        assert all(result.durable for result in await asyncio.gather(*appends))
        with pytest.raises(JournalClosedError):
            await journal.append(change(99))
        with pytest.raises(JournalClosedError):
            await journal.pending_actions("t1")
        journal = Journal.open(path)
        assert journal.last_seq("t1", "public") == 98
        await journal.close()

    play(work)


def test_inline_and_threaded_write_the_same_rows(tmp_path: Path) -> None:
    def rows(path: Path, *, threaded: bool) -> list[Any]:
        async def work() -> list[Any]:
            journal = Journal.open(path, threaded=threaded, new_id=lambda: "stream")
            for number in range(1, 20):
                await journal.append(change(number))
            await journal.append(Transaction("t1", 0, 0, entries=(event("end"),), snapshot="{}"))
            await journal.close()
            store = Store(path)
            found = [
                store.db.execute(f"SELECT * FROM main.{name}").fetchall()
                for name in ("facts", "events", "snapshots", "chains", "counters", "feed_index")
            ]
            store.close()
            return found

        return asyncio.run(work())

    one = rows(tmp_path / "a.db", threaded=True)
    assert one == rows(tmp_path / "b.db", threaded=False)
    assert len(one[1]) == 39


def test_health_is_told_once_per_change(tmp_path: Path) -> None:
    async def work() -> None:
        told: list[Health] = []
        now = [0]
        store = Store(tmp_path / "journal.db", clock=lambda: now[0])
        journal = Journal(store, threaded=False, on_health=told.append)
        pages = store.db.execute("PRAGMA main.page_count").fetchone()[0]
        store.db.execute(f"PRAGMA main.max_page_count = {pages + 4}")
        number = 0
        while journal.health.state != "memory":
            number += 1
            await journal.append(
                Transaction("t1", 0, 0, entries=(fact(number), event(f"e{number}")))
            )
        for _ in range(5):
            number += 1
            await journal.append(
                Transaction("t1", 0, 0, entries=(fact(number), event(f"e{number}")))
            )
        store.db.execute("PRAGMA main.max_page_count = 1000000")
        now[0] += 10_000
        await journal.append(Transaction("t1", 0, 0, entries=(fact(number + 1),)))
        assert [h.state for h in told] == ["memory", "ok"]
        assert "full" in told[0].reason
        await journal.close()

    play(work)
