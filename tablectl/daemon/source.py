"""One table as bus and pages read it: everything public, everything already in the journal."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Sequence
from itertools import islice

from firmware_protocol.vocabulary import Capability
from tablectl import __version__
from tablectl.bus.payloads import (
    PROTOCOL,
    BridgeHealth,
    BridgeInfo,
    EventMessage,
    LinkStatus,
    MachineTrouble,
    PublicView,
    Stamp,
    StateSnapshot,
)
from tablectl.bus.snapshot import game_view
from tablectl.daemon import feeds
from tablectl.daemon.clock import Clock
from tablectl.daemon.faultpoints import passing
from tablectl.daemon.writer import TableWriter
from tablectl.engine.game.events import Event, event_from_json
from tablectl.journal import Journal, StoredEvent
from tablectl.table import session as sessions
from tablectl.table.machine import Machine

RECENT = 64
"""Public events kept in memory: more than a start of a hand makes at once."""


class PublicSource:
    """`tablectl.bus.source.TableSource` of one table."""

    def __init__(
        self,
        writer: TableWriter,
        journal: Journal,
        clock: Clock,
        *,
        table_name: str,
        venue_name: str,
        status: Callable[[], sessions.LinkStatus | None],
        figures: Callable[[], dict[str, int]],
        loop_lag_ms: Callable[[], float],
        machine: Callable[[], Machine] = Machine,
    ) -> None:
        self._writer = writer
        self._journal = journal
        self._clock = clock
        self._table_name = table_name
        self._venue_name = venue_name
        self._status = status
        self._figures = figures
        self._lag = loop_lag_ms
        self._machine = machine
        self._recent: deque[tuple[StoredEvent, Event]] = deque(maxlen=RECENT)
        self._started_ms = clock.mono_ms()
        self._since: tuple[int | None, int] = (None, clock.wall_ms())
        """Of the link's last change: monotonic time as the session has it, and wall time."""

    def rename(self, table_name: str, venue_name: str) -> None:
        """Other names from now on."""
        self._table_name = table_name
        self._venue_name = venue_name

    @property
    def table_id(self) -> str:
        """Id of the table."""
        return self._writer.table_id

    @property
    def epoch(self) -> int:
        """How often the daemon has started with this journal."""
        return self._journal.epoch

    @property
    def stream(self) -> str:
        """UUID of the journal."""
        return self._journal.stream

    def last_seq(self) -> int:
        """The last `seq` of the public feed."""
        return self._journal.last_seq(self.table_id, feeds.PUBLIC)

    def published(self) -> int:
        """The `seq` up to which the broker has acknowledged public events."""
        return self._journal.published(self.table_id, feeds.PUBLIC)

    def recent_events(self, after: int, limit: int) -> Sequence[EventMessage]:
        """Public events with `seq` > `after` from memory, up to the first that needs the journal."""
        messages = []
        for stored, event in self._from_memory(after, limit):
            if event.type == "undone":
                break
            messages.append(public_message(stored, event, self.stream))
        return messages

    async def public_events(self, after: int, limit: int) -> Sequence[EventMessage]:
        """Public events with `seq` > `after`, in order, at most `limit`."""
        found = self._from_memory(after, limit)
        if not found:
            rows = await self._journal.events_after(self.table_id, feeds.PUBLIC, after, limit)
            found = [(row, event_from_json(row.data)) for row in rows]
        return [
            public_message(stored, event, self.stream, await self._retracted(stored))
            for stored, event in found
        ]

    def committed(self, stored: Sequence[StoredEvent], events: Sequence[Event]) -> None:
        """Keep what was just committed: a live broker is served without asking the journal again."""
        for row, event in zip(stored, events, strict=True):
            if feeds.PUBLIC in row.seqs:
                self._recent.append((row, event))

    def _from_memory(self, after: int, limit: int) -> list[tuple[StoredEvent, Event]]:
        if not self._recent or self._recent[0][0].seqs[feeds.PUBLIC] > after + 1:
            return []
        newer = (pair for pair in self._recent if pair[0].seqs[feeds.PUBLIC] > after)
        return list(islice(newer, limit))

    async def _retracted(self, event: StoredEvent) -> tuple[str, ...]:
        """Ids of the public events that an `undone` makes void."""
        if event.type != "undone" or event.game_id is None:
            return ()
        gone = set(json.loads(event.body)["retracted"])
        game = await self._journal.events_of_game(self.table_id, event.game_id)
        return tuple(
            old.event_id
            for old in game
            if old.pos < event.pos and old.command_id in gone and feeds.PUBLIC in old.seqs
        )

    def mark_published(self, seq: int) -> None:
        """The broker has acknowledged everything up to `seq`."""
        passing("published")
        self._journal.mark_published(self.table_id, feeds.PUBLIC, seq)

    def snapshot(self) -> StateSnapshot:
        """The public state as committed."""
        last = self._writer.last_event
        return StateSnapshot(
            epoch=self.epoch,
            stream=self.stream,
            last_seq=last.seqs[feeds.PUBLIC] if last else 0,
            last_event=last.type if last else None,
            t_wall=last.t_wall_ms if last else 0,
            time_synced=last.time_synced if last else self._clock.synced(),
            durable=self._writer.durable,
            game=game_view(self._writer.state),
        )

    def link(self) -> LinkStatus:
        """The serial line now."""
        status = self._status()
        if status is None:
            return LinkStatus(state="down", boot_id=None, since=self._since[1], reason="not opened")
        if status.since_mono_ms != self._since[0]:
            # Also when it is `up` as before: what lay between may have been too short for this topic.
            age = max(0, self._clock.mono_ms() - status.since_mono_ms)
            self._since = (status.since_mono_ms, self._clock.wall_ms() - age)
        return LinkStatus(
            state=status.state,
            boot_id=status.device.boot_id if status.device else None,
            since=self._since[1],
            reason=status.reason,
            reset_cause=(status.device.reset_cause or None) if status.device else None,
        )

    def info(self) -> BridgeInfo:
        """Versions and capabilities."""
        status = self._status()
        device = None if status is None else status.device
        return BridgeInfo(
            software=__version__,
            protocol=PROTOCOL,
            table_name=self._table_name,
            venue_name=self._venue_name,
            level=self._writer.core.knowledge if device else None,
            model=device.model or None if device else None,
            serial_number=device.serial_number or None if device else None,
            firmware=device.firmware or None if device else None,
            wire=device.protocol or None if device else None,
            wire_schema=f"{device.schema_hash:08x}" if device else None,
            capabilities=_names(device.capabilities) if device else (),
        )

    def troubles(self) -> tuple[MachineTrouble, ...]:
        """What the machine says is wrong with it."""
        return tuple(
            MachineTrouble(part=one.part, code=one.code, detail=one.detail)
            for one in self._machine().troubles
        )

    def health(self) -> BridgeHealth:
        """Figures for the technician."""
        waiting = self.last_seq() - self.published()
        return BridgeHealth(
            t_wall=self._clock.wall_ms(),
            uptime_s=(self._clock.mono_ms() - self._started_ms) // 1000,
            loop_lag_ms=round(self._lag(), 3),
            outbox=max(0, waiting),
            durable=self._writer.durable,
            link=dict(self._figures()),
            machine=self.troubles(),
            temperatures={str(sensor): tc for sensor, tc in self._machine().temperatures.items()},
        )


def public_message(
    stored: StoredEvent, event: Event, stream: str, retracted: tuple[str, ...] = ()
) -> EventMessage:
    """The public payload of an event as it is stored."""
    stamp = Stamp(
        seq=stored.seqs[feeds.PUBLIC],
        id=stored.event_id,
        epoch=stored.epoch,
        t_wall=stored.t_wall_ms,
        t_mono=stored.t_mono_ms,
        time_synced=stored.time_synced,
        durable=stored.durable,
        retracted=retracted,
    )
    return EventMessage(stream, stamp, PublicView(event))


def _names(capabilities: int) -> tuple[str, ...]:
    return tuple(name.lower() for name, bit in Capability.__members__.items() if capabilities & bit)
