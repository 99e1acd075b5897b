"""One table of the daemon: its writer, its connection, its bus, and what the pages read of it."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Sequence

from firmware_protocol.schema import Message
from tablectl.bus.broker import Broker
from tablectl.bus.client import BusStatus, TableBus
from tablectl.bus.topics import Topics
from tablectl.config import Settings, TableSettings
from tablectl.daemon.clock import Clock
from tablectl.daemon.core import TableCore
from tablectl.daemon.displays import desired
from tablectl.daemon.ids import Ids
from tablectl.daemon.source import PublicSource
from tablectl.daemon.writer import TableWriter
from tablectl.engine.game.events import Event
from tablectl.engine.rules import SHIPPED, HallRules
from tablectl.journal import Journal, StoredEvent
from tablectl.mirror.mirror import Mirror, MirrorOptions
from tablectl.mirror.tags import TagMap, load_tags
from tablectl.table.machine import Machine
from tablectl.table.options import PortOptions, TableOptions
from tablectl.table.session import KnownBoot, LinkStatus, Motion, TableSession

_LOG = logging.getLogger("tablectl.table")
RETRY_S = 1.0
"""After a defect, so that it cannot fill the log or the processor."""


class TableUnit:
    """Wires one table together; `run` lives until `stop`."""

    def __init__(
        self,
        settings: Settings,
        table: TableSettings,
        journal: Journal,
        clock: Clock,
        ids: Ids,
        *,
        instance: str,
        broker: Broker | None,
        loop_lag_ms: Callable[[], float],
        rules: HallRules = SHIPPED,
    ) -> None:
        self.settings = table
        self._rules = rules
        self.table_id = table.id
        self._journal = journal
        self._clock = clock
        self._ids = ids
        self._unmask = settings.log.unmask
        self._tags = load_tags(table.tiles) if table.tiles is not None else TagMap()
        self.writer = TableWriter(table.id, journal, clock, self._make_core)
        self.status: LinkStatus | None = None
        self.session: TableSession | None = None
        self.wake_pages: Callable[[], None] = lambda: None
        self.on_link: Callable[[LinkStatus], None] = lambda _status: None
        self.source = PublicSource(
            self.writer,
            journal,
            clock,
            table_name=table.name or table.id,
            venue_name=settings.venue.name or settings.venue.id,
            status=lambda: self.status,
            figures=self.figures,
            loop_lag_ms=loop_lag_ms,
            machine=lambda: self.machine,
        )
        self.bus: TableBus | None = None
        if broker is not None:
            topics = Topics(settings.venue.id, table.id)
            self.bus = TableBus(
                broker,
                _client_id(settings, table.id, journal.stream),
                topics,
                self.source,
                self.writer,
                instance=instance,
                on_status=self._bus_changed,
            )
        self.session_ended = False
        """The connection's task has come to its end."""
        self.writer.on_commit.append(self._committed)
        self.writer.on_motion = self._command

    def _make_core(self) -> TableCore:
        table = self.settings
        return TableCore(
            table.id,
            mirror=Mirror(self._tags, mirror_options(table)),
            clock=self._clock,
            ids=self._ids,
            default_ruleset=table.ruleset,
            hall=self._rules,
            most=table.level or "tiles",
        )

    def retune(self, settings: Settings, table: TableSettings, rules: HallRules) -> None:
        """Take over what may change while it runs: names, rules of the next game, sensor times."""
        self.settings = table
        self._rules = rules
        self.writer.core.retune(mirror_options(table), table.ruleset, rules)
        self.source.rename(table.name or table.id, settings.venue.name or settings.venue.id)
        self._wake()

    # ------------------------------------------------------------------ life

    async def prepare(self) -> None:
        """Be where the journal is, and know the board of last time."""
        await self.writer.restore()
        last = await self._journal.last_device_fact(self.table_id)
        known = KnownBoot()
        if last is not None and last.boot_id is not None and last.event_no is not None:
            known = KnownBoot(last.boot_id, last.event_no, last.uptime_ms or 0)
        table = self.settings
        self.session = TableSession(
            TableOptions(
                table.id,
                PortOptions(table.port, table.baud, table.dtr, table.rts, table.hupcl),
                driver=table.driver,
                flash_hint=table.flash_hint,
                capture=table.capture,
                unmask=self._unmask,
            ),
            self.writer,
            desired=self._desired,
            actions=self.writer,
            on_link_state=self._link_changed,
            known=known,
        )

    async def run_session(self) -> None:
        """The serial side, for ever; a defect in it is told and tried again, alone."""
        assert self.session is not None
        self.session_ended = False
        while True:
            try:
                await self.session.run()
            except Exception:  # noqa: BLE001 - tables are islands
                _LOG.exception("%s: the port met a defect; it is opened anew", self.table_id)
                await asyncio.sleep(RETRY_S)
            else:
                self.session_ended = True
                return

    async def run_bus(self) -> None:
        """The broker side, for ever."""
        while self.bus is not None:
            try:
                await self.bus.run()
            except Exception:  # noqa: BLE001 - tables are islands
                _LOG.exception("%s: the bus met a defect; it is begun anew", self.table_id)
                await asyncio.sleep(RETRY_S)
            else:
                return

    async def stop_session(self) -> None:
        """Close the port; what was under way is written."""
        try:
            if self.session is not None:
                with contextlib.suppress(Exception):
                    await self.session.stop()
        finally:
            # Also when nobody waits for the port any more: nothing comes to a journal that is closed.
            await self.writer.close()

    # ------------------------------------------------------------------ what changed

    def _command(self, motion: Motion) -> None:
        if self.session is not None:
            self.session.command(motion)

    def _desired(self) -> Sequence[Message]:
        return desired(self.writer.state, self.writer.core.capabilities)

    def _committed(self, stored: Sequence[StoredEvent], events: Sequence[Event]) -> None:
        self.source.committed(stored, events)
        self._wake()
        if self.session is not None:
            self.session.refresh()

    def _link_changed(self, status: LinkStatus) -> None:
        self.status = status
        self.writer.reached(status.state != "down", reset=status.reset)
        if status.device is not None:
            about = {"model": status.device.model, "firmware": status.device.firmware}
            self.writer.met(status.device.capabilities, about)
        self.on_link(status)
        self._wake()

    def _bus_changed(self, _status: BusStatus) -> None:
        self.wake_pages()

    def caught_up(self) -> None:
        """What only memory held is on the disk: the public state says so, without waiting for an event."""
        self.writer.durable = True
        self._wake()

    def _wake(self) -> None:
        if self.bus is not None:
            self.bus.wake()
        self.wake_pages()

    # ------------------------------------------------------------------ how it is

    def figures(self) -> dict[str, int]:
        """Counters of the serial link."""
        return {} if self.session is None else self.session.figures

    @property
    def machine(self) -> Machine:
        """What the board has said about its own parts."""
        return Machine() if self.session is None else self.session.machine

    @property
    def waiting(self) -> int:
        """Public events the broker has not acknowledged yet."""
        return max(0, self._journal.last_seq(self.table_id, "public") - self.source.published())


def mirror_options(table: TableSettings) -> MirrorOptions:
    """The mirror's times as the file has them."""
    sensors = table.sensors
    return MirrorOptions(
        settle_ms=sensors.settle_ms,
        missed_reads=sensors.missed_reads,
        read_period_ms=sensors.read_period_ms,
        same_tag_ms=sensors.same_tag_ms,
        results=not table.operator_results,
    )


def _client_id(settings: Settings, table_id: str, stream: str) -> str:
    base = settings.mqtt.client_id if settings.mqtt else None
    return f"{base or f'tablectl-{settings.venue.id}-{stream[:8]}'}-{table_id}"
