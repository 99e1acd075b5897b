"""What lies on the disk, what the board did and what a subscriber heard, compared while daemons come and go."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from firmware_protocol.vocabulary import Result
from hardware_sim.table import SimTable
from tablectl.daemon.core import TableCore
from tablectl.daemon.ids import random_ids
from tablectl.daemon.rebuild import rebuild
from tablectl.daemon.source import public_message
from tablectl.engine.game.events import event_from_json
from tablectl.journal import Journal, StoredEvent, StoredFact
from tablectl.journal.check import check
from tablectl.journal.reader import open_reads
from tablectl.journal.store import Store
from tablectl.mirror.mirror import Mirror
from tablectl.mirror.tags import TagMap
from tests.daemon.living import Listener, content
from tests.daemon.shadow import Shadow, memory_of
from tests.daemon.test_restart import at_once
from tests.daemon.undisturbed import Undisturbed


def same(one: Sequence[Any], other: Sequence[Any]) -> None:
    """Equal, or the first that differs is told."""
    for number, (left, right) in enumerate(zip(one, other, strict=False)):
        assert left == right, f"number {number}:\n  {left}\n  {right}"
    assert len(one) == len(other), f"{len(one)} instead of {len(other)}"


class Witness:
    """Of one table, its journal and a subscriber that never left."""

    def __init__(self, journal: Path, listener: Listener, table: SimTable, tags: TagMap) -> None:
        self._journal = journal
        self._listener = listener
        self._table = table
        self._tags = tags
        self._shadow = Shadow(tags)

    def epoch(self) -> int:
        """How often a daemon got as far as to open the journal: one that died before it does not count."""
        with open_reads(self._journal) as reads:
            (epoch,) = reads.db.execute("SELECT value FROM meta WHERE key = 'epoch'").fetchone()
        return int(epoch)

    # ------------------------------------------------------------------ after a death

    def looks(self) -> str:
        """While no daemon lives: what the next one would read back is what one that never died would
        have of the same inputs, and nobody outside knows more. Returns the phase of the game."""
        path = self._copied()
        report = check(path)
        assert report.findings == (), report.findings
        store = Store(path)
        try:
            assert store.health.rescued is None
            core, events = self._as_without_deaths(store)
            heard = set(self._listener.payloads)
            assert heard <= {event.event_id for event in events}, "heard and not journaled"
            last = store.reads.last_device_fact("t1")
            link = self._table.board.link
            acknowledged = link.event_no - len(link._device.events)
            journaled = 0 if last is None else last.event_no or 0
            assert acknowledged <= journaled, "acknowledged and not journaled"
            for cmd_id in self._table.board.executed:
                action = store.reads.action("t1", cmd_id)
                assert action is not None, "a motion that nobody wrote down"
                assert action.state != "pending", "a motion not marked before it was sent"
            return core.state.phase
        finally:
            store.close()

    def _copied(self) -> Path:
        """The journal as the dead left it, to look at."""
        scratch = self._journal.parent / "copy"
        shutil.rmtree(scratch, ignore_errors=True)
        scratch.mkdir()
        for suffix in ("", "-wal"):
            file = self._journal.with_name(self._journal.name + suffix)
            if file.exists():
                shutil.copyfile(file, scratch / file.name)
        return scratch / self._journal.name

    def _as_without_deaths(self, store: Store) -> tuple[TableCore, list[StoredEvent]]:
        """State, perception and every event are those of the shadow; the core a restart would have."""
        shadow = self._shadow
        shadow.follow(store.reads.entries_after("t1", shadow.pos))
        core = TableCore("t1", mirror=Mirror(self._tags), clock=shadow.clock, ids=random_ids)
        at_once(rebuild(core, Journal(store, threaded=False)))
        rows = store.reads.entries_after("t1", 0)
        events = [row for row in rows if isinstance(row, StoredEvent)]
        same([(event.type, event.body) for event in events], shadow.events)
        same(sorted(memory_of(core).items()), sorted(shadow.memory().items()))
        return core, events

    # ------------------------------------------------------------------ at the end

    def saw(self, reference: Undisturbed | None = None) -> None:
        """At the end: nothing is missing, nothing came or was done twice, all is as in `reference`."""
        report = check(self._journal)
        assert report.findings == (), "tablectl journal verify finds nothing"
        store = Store(self._journal)
        try:
            _, events = self._as_without_deaths(store)
            rows = store.reads.entries_after("t1", 0)
            actions = store.reads._actions("1 = 1", "t1")
            stream = store.stream
        finally:
            store.close()
        assert report.events == len(events)
        self._heard(events, stream)
        self._facts([row for row in rows if isinstance(row, StoredFact)])
        self._motions({action.cmd_id: action.state for action in actions})
        if reference is not None:
            heard = [each[0] for each in self._listener.payloads.values()]
            same(content(heard), reference.public)
            assert self._listener.seen.retained["state"]["game"] == reference.view
            assert self._table.report()["displays"] == reference.displays
            assert sum(self._table.board.executed.values()) == reference.motions

    def _heard(self, events: Sequence[StoredEvent], stream: str) -> None:
        """The public feed: every event once in order, what came twice equal, all as journaled."""
        seen, payloads = self._listener.seen, self._listener.payloads
        public = [event for event in events if "public" in event.seqs]
        assert [event.seqs["public"] for event in public] == list(range(1, len(public) + 1))
        assert seen.gaps == []
        assert [event.seq for event in seen.events] == list(range(1, len(public) + 1))
        assert list(payloads) == [event.event_id for event in public]
        ids = {event.command_id: [] for event in public}  # type: dict[Any, list[str]]
        for event in public:
            gone: list[str] = []
            if event.type == "undone":
                gone = [i for command in event.data["retracted"] for i in ids.get(command, [])]
            assert set(payloads[event.event_id]) == {
                public_message(event, event_from_json(event.data), stream, tuple(gone)).encode()
            }
            ids[event.command_id].append(event.event_id)
        assert seen.retained["state"]["last_seq"] == len(public)

    def _facts(self, rows: Sequence[StoredFact]) -> None:
        """What the board said is journaled, each number once and none left out."""
        board = self._table.board
        device = [row for row in rows if row.boot_id is not None]
        assert len({row.boot_id for row in device}) == 1
        assert [row.event_no for row in device] == list(range(1, board.link.event_no + 1))
        assert board.events_lost == 0
        by_kind = Counter(row.kind for row in device)
        assert by_kind == {kind: board.sent[kind] for kind in by_kind}

    def _motions(self, states: dict[int, str]) -> None:
        """No motion twice, none that nobody wrote down, each with its fate."""
        board = self._table.board
        assert board.executed_twice == 0
        assert set(board.executed.values()) <= {1}
        assert set(states.values()) <= {"done", "refused", "unknown"}
        done = [cmd for cmd, result in board.results.items() if result == Result.DONE]
        assert {cmd: states[cmd] for cmd in done} == dict.fromkeys(done, "done")
