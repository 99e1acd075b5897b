"""The single writer of one table: decide, journal, then let the world see it.

Everything that changes a table goes through one lock, in the order it came. Nothing is visible, sent or
acknowledged before its transaction is committed (docs/architecture.md).
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, Literal, TypeVar

from tablectl.daemon import facts, motions
from tablectl.daemon.clock import Clock
from tablectl.daemon.core import Change, TableCore, answer_of
from tablectl.daemon.faultpoints import passing
from tablectl.daemon.rebuild import rebuild
from tablectl.engine.game.events import Event
from tablectl.engine.game.state import EMPTY, GameState
from tablectl.journal import (
    ActionChange,
    CommitResult,
    Journal,
    JournalError,
    StoredAction,
    StoredEvent,
    Transaction,
    canonical,
)
from tablectl.mirror.submit import Accepted, Fact, Refused, Request
from tablectl.mirror.verdict import ACCEPTED, Verdict
from tablectl.table.drivers import Motion

_LOG = logging.getLogger("tablectl.table")
T = TypeVar("T")


class _Turn:
    """`async with` one input: since when it has been worked on is known."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = asyncio.Lock()
        self.since_ms: int | None = None

    async def __aenter__(self) -> None:
        await self._lock.acquire()
        self.since_ms = self._clock.mono_ms()

    async def __aexit__(self, *_: object) -> None:
        self.since_ms = None
        self._lock.release()


class TableWriter:
    """`Submit` of one table, and the rows of its motions."""

    def __init__(
        self,
        table_id: str,
        journal: Journal,
        clock: Clock,
        make_core: Callable[[], TableCore],
    ) -> None:
        self.table_id = table_id
        self.journal = journal
        self.core = make_core()
        self.state: GameState = EMPTY
        """The game as committed: what displays, bus and pages may show."""
        self.durable = True
        self.fault = ""
        """A defect that a fact or request ran into, for the console and doctor; empty: none."""
        self.verdict: Verdict = ACCEPTED
        self.last_event: StoredEvent | None = None
        self.on_commit: list[Callable[[Sequence[StoredEvent], Sequence[Event]], None]] = []
        """Called after each commit that changed something, in the loop: events as stored, and themselves."""
        self.on_motion: Callable[[Motion], None] = lambda _motion: None
        self._clock = clock
        self._make_core = make_core
        self._turn = _Turn(clock)
        """One input at a time, in the order they came."""
        self._kinds: dict[int, str] = {}
        """Of the motions that are not settled yet, by cmd_id."""
        self._timer: asyncio.TimerHandle | None = None
        self._under_way: set[asyncio.Task[Any]] = set()
        self._closed = False
        self._device: tuple[int, dict[str, Any]] | None = None
        self._reached = False
        self._link_news: list[tuple[bool, bool]] = []

    @property
    def busy_s(self) -> float:
        """For how long the input under way has been worked on."""
        since = self._turn.since_ms
        return 0.0 if since is None else (self._clock.mono_ms() - since) / 1000

    # ------------------------------------------------------------------ life

    async def restore(self) -> None:
        """Be where the journal is: state, mirror, log and open motions."""
        self.core = self._make_core()
        await rebuild(self.core, self.journal)
        self._kinds.clear()
        for action in await self.journal.pending_actions(self.table_id):
            self._kinds[action.cmd_id] = action.kind
            self.core.action_changed(action.kind, settled=False)
        last = self.journal.last_seq(self.table_id, "public")
        if last:
            found = await self.journal.events_after(self.table_id, "public", last - 1, 1)
            self.last_event = found[-1] if found else None
        self.state = self.core.state
        self.verdict = self.core.mirror.verdict
        self._set_timer()
        passing("restored")

    async def close(self) -> None:
        """Let what is under way be written; afterwards nothing is taken in any more."""
        async with self._turn:
            self._closed = True
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None

    # ------------------------------------------------------------------ Submit

    async def fact(self, fact: Fact) -> Accepted | Refused:
        """A device event; a repeated one is accepted again without a second effect."""
        passing("received")
        async with self._turn:
            if self._closed:
                return _stopping()
            await self._meet_now()
            known = await self._known(fact)
            if known is not None:
                return Accepted(tuple(e.event_id for e in known.events), known.durable)
            try:
                change = self.core.handle_fact(fact)
            except Exception:  # noqa: BLE001 - tables are islands
                # A defect must not stop the table: the fact is kept, the next one may be fine.
                _LOG.exception(
                    "%s: fact %s led to a defect", self.table_id, type(fact.message).__name__
                )
                return await self._keep_only(fact)
            result = await self._commit(change)
        passing("answered")
        return Accepted(tuple(e.event_id for e in result.events), result.durable)

    async def request(self, request: Request) -> Accepted | Refused:
        """A command from outside; a repeated transaction gets its first answer again.

        Whoever asked may go away meanwhile: what was begun is done whole, with its effects.
        """
        return await asyncio.shield(self._start(self._request(request)))

    async def _request(self, request: Request) -> Accepted | Refused:
        passing("received", request.name)
        async with self._turn:
            if self._closed:
                return _stopping()
            first = await self.journal.request_answer(self.table_id, request.transaction)
            if first is not None:
                return answer_of(json.loads(first[0]), durable=first[1])
            try:
                change = self.core.handle_request(request)
            except Exception as error:  # noqa: BLE001 - a defect is answered, not thrown at a person
                _LOG.exception("%s: request %s led to a defect", self.table_id, request.name)
                self.fault = f"{request.name}: {type(error).__name__}"
                await self.restore()
                return Refused(
                    "internal_error",
                    "this request met a defect; nothing changed",
                    hint="see the daemon's log",
                )
            result = await self._commit(change)
        passing("answered", request.name)
        answer = change.answer
        if isinstance(answer, Accepted):
            return Accepted(answer.event_ids, result.durable, answer.data)
        assert answer is not None
        return answer

    def met(self, capabilities: int, about: dict[str, Any]) -> None:
        """The machine said who it is; journaled before the next fact, or as soon as may be."""
        if capabilities != self.core.capabilities:
            self._device = (capabilities, about)
            self._start(self._meet())

    def reached(self, up: bool, *, reset: bool = False) -> None:
        """The board came into reach (`reset`: it has started anew) or went out of it.

        Mirror time runs only while it is in reach; what it had not told before a reset is lost.
        """
        if up != self._reached:
            self._reached = up
            self._link_news.append((up, reset))
            self._start(self._meet())

    async def _meet(self) -> bool:
        async with self._turn:
            return not self._closed and await self._meet_now()

    async def _meet_now(self) -> bool:
        while self._link_news:
            up, reset = self._link_news.pop(0)
            await self._commit(self.core.handle_link(up, reset=reset))
        device, self._device = self._device, None
        change = None if device is None else self.core.handle_device(*device)
        if change is not None:
            await self._commit(change)
        return change is not None

    async def _known(self, fact: Fact) -> CommitResult | None:
        if fact.boot_id is None or fact.event_no is None:
            return None
        if self.journal.is_new_fact(self.table_id, fact.boot_id, fact.event_no):
            return None
        return await self.journal.find_fact(self.table_id, fact.boot_id, fact.event_no)

    async def _keep_only(self, fact: Fact) -> Accepted:
        """Journal a fact that nobody could make sense of, and stand where the journal stands."""
        self.fault = f"{type(fact.message).__name__} could not be taken in"
        transaction = Transaction(
            self.table_id,
            self._clock.wall_ms(),
            self._clock.mono_ms(),
            self._clock.synced(),
            entries=(facts.entry_of(fact),),
        )
        result = await self.journal.append(transaction)
        await self.restore()
        return Accepted((), result.durable)

    # ------------------------------------------------------------------ commit and effects

    async def _commit(self, change: Change) -> CommitResult:
        asked = change.transaction.request
        name = asked.name if asked is not None else ""
        passing("decided", name)
        try:
            result = await self.journal.append(
                change.transaction, lambda result: self._committed(change, result, name)
            )
        except Exception:
            _LOG.exception("%s: the journal refused a transaction; going back to it", self.table_id)
            await self.restore()
            raise
        if result.duplicate:
            # Another writer's word stands in the journal: be where it is.
            await self.restore()
        return result

    def _committed(self, change: Change, result: CommitResult, request: str) -> None:
        """The transaction stands: its effects follow, whoever still waits for it."""
        passing("committed", request)
        if not result.duplicate:
            self._effects(change, result)
            if change.snapshot:
                self._start(self._save_snapshot())
            passing("effected", request)

    async def _save_snapshot(self) -> None:
        """After the effects: people wait for those, nobody for a snapshot."""
        async with self._turn:
            try:
                if not self._closed:
                    await self.journal.append(self.core.snapshot())
            except JournalError as error:
                _LOG.warning("%s: no snapshot for the next start: %s", self.table_id, error)

    def _effects(self, change: Change, result: CommitResult) -> None:
        self.state = change.state
        self.durable = result.durable
        self.verdict = self.core.mirror.verdict
        for command, refusal in change.refused:
            _LOG.info("%s: %s refused: %s", self.table_id, command.type, refusal.message)
        for event in result.events:
            if "public" in event.seqs:
                self.last_event = event
        for hook in self.on_commit:
            try:
                hook(result.events, change.events)
            except Exception:  # noqa: BLE001 - one reader's defect is not another's
                _LOG.exception("%s: an effect failed", self.table_id)
        written = change.transaction
        for action in result.actions:
            self._kinds[action.cmd_id] = action.kind
            self.on_motion(motions.motion_of(action, written.t_wall_ms, written.t_mono_ms))
        self._set_timer()

    # ------------------------------------------------------------------ time

    def _set_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        due = self.core.wake_at
        if due is None or self._closed or not self._reached:
            return
        delay = max(0, due - self._clock.mono_ms()) / 1000
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(delay, lambda: self._start(self.tick()))

    def _start(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        task = asyncio.get_running_loop().create_task(work)
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)
        return task

    async def tick(self) -> bool:
        """Let the mirror look at the clock; True when that changed something."""
        async with self._turn:
            if self._closed or not self._reached:
                return False
            await self._meet_now()
            try:
                change = self.core.handle_timer()
            except Exception:  # noqa: BLE001 - tables are islands
                _LOG.exception("%s: time led to a defect", self.table_id)
                await self.restore()
                return False
            if change is None:
                self.verdict = self.core.mirror.verdict
                self._set_timer()
                return False
            await self._commit(change)
            return True

    # ------------------------------------------------------------------ ActionLedger

    async def sent(self, cmd_id: int) -> None:
        """The first frame of a motion is about to be written."""
        passing("sending")
        await self._change_action(ActionChange(cmd_id, "sent"), settled=False)
        passing("sent")

    async def settled(
        self,
        cmd_id: int,
        state: Literal["done", "refused", "unknown"],
        result: dict[str, int | str],
    ) -> None:
        """The fate of a motion is known, or known to be unknowable."""
        passing("settling")
        kind = self._kinds.get(cmd_id, "motion")
        await self._change_action(ActionChange(cmd_id, state, canonical(result)), settled=True)
        passing("settled")
        if state != "done":
            _LOG.warning(
                "%s: %s (cmd_id %d) is %s: %s; press start again",
                self.table_id,
                kind,
                cmd_id,
                state,
                result,
            )

    async def unsettled(self) -> Sequence[Motion]:
        """Motions journaled and not settled, oldest first."""
        rows = await self.journal.pending_actions(self.table_id)
        return [self._motion(row) for row in rows]

    def _motion(self, row: StoredAction) -> Motion:
        self._kinds[row.cmd_id] = row.kind
        return motions.motion_of(row, self._clock.wall_ms(), self._clock.mono_ms())

    async def _change_action(self, change: ActionChange, *, settled: bool) -> None:
        async with self._turn:
            if self._closed and not settled:
                return
            await self.journal.append(
                Transaction(
                    self.table_id,
                    self._clock.wall_ms(),
                    self._clock.mono_ms(),
                    self._clock.synced(),
                    action_changes=(change,),
                )
            )
            self.core.action_changed(self._kinds.get(change.cmd_id, ""), settled=settled)
            if settled:
                self._kinds.pop(change.cmd_id, None)


def _stopping() -> Refused:
    return Refused("stopping", "the daemon is stopping", hint="ask again in a moment")
