"""`tablectl run`: all tables of a hall in one loop, from the lock on the journal to the last farewell.

Order of birth: journal, tables as the journal left them, pages, broker, ports. Order of death: ports
(every event under way is written and acknowledged), broker (what is left is published), pages, journal.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import signal
from collections.abc import Callable, Collection, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from tablectl import __version__
from tablectl.bus.broker import Broker
from tablectl.config import Settings
from tablectl.config.reload import Change, changes, content_changes, merged, merged_settings
from tablectl.daemon import hallfile, logs
from tablectl.daemon.clock import Clock, SystemClock
from tablectl.daemon.contents import fingerprints
from tablectl.daemon.faultpoints import passing_in_journal
from tablectl.daemon.ids import Ids, random_ids
from tablectl.daemon.lag import LoopLag
from tablectl.daemon.notify import Notifier, Watchdog
from tablectl.daemon.progress import Progress
from tablectl.daemon.unit import TableUnit
from tablectl.engine.rules import RuleError
from tablectl.journal import Health, Journal, JournalError
from tablectl.web.server import WebServer

_LOG = logging.getLogger("tablectl.daemon")
PORT_CLOSE_S = 0.6
FAREWELL_S = 0.6
WEB_CLOSE_S = 0.2
LATE_S = 0.1
"""All together leave the journal half a second of the two that a stop may take."""
STATUS_EVERY_S = 10.0
THREADS, THREADS_PER_TABLE = 16, 4
"""For names, connections and ports: one that hangs must not keep the next table's waiting."""
DAY_MS = 24 * 3_600_000


class Daemon:
    """Everything that runs; `run` returns after a graceful stop."""

    def __init__(
        self,
        settings: Settings,
        *,
        clock: Clock | None = None,
        ids: Ids = random_ids,
        notifier: Notifier | None = None,
    ) -> None:
        self.settings = settings
        self.clock = clock or SystemClock()
        self.lag = LoopLag()
        self.notifier = notifier or Notifier()
        self.watchdog = Watchdog(self.notifier)
        self.units: dict[str, TableUnit] = {}
        self.web: WebServer | None = None
        self.journal: Journal | None = None
        self.ready = asyncio.Event()
        """Set once everything is started: tables read back, pages served, ports being opened."""
        self.on_ready: Callable[[Daemon], None] = lambda _daemon: None
        self.keep_days = settings.journal.keep_days
        self._contents: dict[str, str] = {}
        self._ids = ids
        self._stopping = asyncio.Event()
        keepalive_s = settings.mqtt.keepalive if settings.mqtt else 0
        self.progress = Progress(self.units, self.clock, keepalive_s=keepalive_s)

    # ------------------------------------------------------------------ life

    def stop(self) -> None:
        """Ask for a graceful stop; a second call changes nothing."""
        self._stopping.set()

    def obey_signals(self, read_again: Callable[[], Settings | None]) -> None:
        """SIGTERM and SIGINT stop gracefully; SIGHUP takes over what `read_again` gives."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self.stop)
        loop.add_signal_handler(signal.SIGHUP, lambda: self._read_again(read_again))

    def _read_again(self, read_again: Callable[[], Settings | None]) -> None:
        self.notifier.reloading()
        settings = read_again()
        if settings is not None:
            self.reload(settings)
        self.notifier.ready(self.status_line())

    def reload(self, settings: Settings) -> list[Change]:
        """Take over the changes that a running daemon can; the others are named and left alone."""
        try:
            rules = hallfile.rules_of(settings)
        except RuleError as error:
            _LOG.error("configuration: not reloaded, everything stays as it was: %s", error)
            return []
        contents = fingerprints(settings, rules)
        found = changes(self.settings, settings)
        found += content_changes(self._contents, contents, found)
        for change in found:
            if change.live:
                _LOG.info("configuration: %s taken over", change.key)
            else:
                _LOG.warning(
                    "configuration: %s needs a restart and is not used yet (systemctl restart tablectl)",
                    change.key,
                )
        if not found:
            _LOG.info("configuration: nothing has changed")
        logs.configure(settings.log.level, settings.log.format)
        self.keep_days = settings.journal.keep_days
        for table in settings.tables:
            unit = self.units.get(table.id)
            if unit is not None:
                unit.retune(settings, merged(unit.settings, table), rules)
        self.settings = merged_settings(self.settings, settings)
        self._contents |= {c.key: contents[c.key] for c in found if c.live and c.key in contents}
        self.notifier.status(self.status_line())
        return found

    async def run(self) -> None:
        """Live until `stop`.

        Raises JournalError, TileFileError, DriverError, RuleError, WebAddressError before anything runs.
        """
        most = THREADS + THREADS_PER_TABLE * len(self.settings.tables)
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(most, "tablectl"))
        self.journal = Journal.open(
            self.settings.journal.path,
            fsync=self.settings.journal.fsync,
            on_health=self._journal_health,
            on_step=passing_in_journal,
        )
        tasks: list[asyncio.Task[None]] = []
        try:
            if not await self._unless_stopping(self._prepare(self.journal)):
                return
            tasks.append(asyncio.create_task(self.lag.run(), name="loop lag"))
            tasks.append(asyncio.create_task(self._tell_systemd(), name="systemd"))
            tasks.append(asyncio.create_task(self._prune(self.journal), name="prune"))
            for unit in self.units.values():
                tasks.append(asyncio.create_task(unit.run_bus(), name=f"bus {unit.table_id}"))
                tasks.append(asyncio.create_task(unit.run_session(), name=f"port {unit.table_id}"))
            # What lives as long as the daemon is not looked through for garbage again and again: those
            # are the pauses of some 10 ms that a late event would be blamed for.
            gc.collect()
            gc.freeze()
            self.ready.set()
            self.notifier.ready(self.status_line())
            self.on_ready(self)
            await self._stopping.wait()
        finally:
            await self._end(tasks)

    async def _unless_stopping(self, coming: Coroutine[Any, Any, None]) -> bool:
        """Do it, unless a stop is asked for before it is done: a long start is left at once."""
        doing = asyncio.create_task(coming, name="start")
        stopping = asyncio.create_task(self._stopping.wait(), name="stopping")
        await asyncio.wait({doing, stopping}, return_when=asyncio.FIRST_COMPLETED)
        stopping.cancel()
        if doing.done():
            doing.result()
            return True
        doing.cancel()
        await asyncio.gather(doing, return_exceptions=True)
        return False

    async def _prepare(self, journal: Journal) -> None:
        settings = self.settings
        rules = hallfile.rules_of(settings)
        self._contents = fingerprints(settings, rules)
        broker = None
        if settings.mqtt is not None:
            mqtt = settings.mqtt
            broker = Broker.from_url(
                mqtt.url,
                username=mqtt.username,
                password=mqtt.password.reveal() if mqtt.password else None,
                ca_file=mqtt.ca_file,
                protocol=mqtt.protocol,
                keepalive_s=mqtt.keepalive,
            )
        instance = self._ids("instance")
        for table in settings.tables:
            unit = TableUnit(
                settings,
                table,
                journal,
                self.clock,
                self._ids,
                instance=instance,
                broker=broker,
                loop_lag_ms=self.lag.worst_ms,
                rules=rules,
            )
            await unit.prepare()
            self.units[table.id] = unit
        if settings.web.enabled:
            self.web = WebServer(
                [unit.source for unit in self.units.values()],
                venue=settings.venue.id,
                venue_name=settings.venue.name,
                host=settings.web.host,
                port=settings.web.port,
                health=self.health,
                metrics=self.metrics,
            )
            await self.web.start()
            for unit in self.units.values():
                unit.wake_pages = _waker(self.web, unit.table_id)

    async def _end(self, tasks: list[asyncio.Task[None]]) -> None:
        self.notifier.stopping()
        _LOG.info("stopping")
        await _within(
            PORT_CLOSE_S, *(unit.stop_session() for unit in self.units.values()), what="ports"
        )
        for unit in self.units.values():
            if unit.bus is not None:
                unit.bus.stop()
        waiting = [task for task in tasks if task.get_name().startswith("bus ")]
        if waiting:
            await asyncio.wait(waiting, timeout=FAREWELL_S)
        await _cancelled(tasks)
        if self.web is not None:
            with contextlib.suppress(Exception):
                await asyncio.wait_for(self.web.stop(), WEB_CLOSE_S)
        if self.journal is not None:
            await self.journal.close()
        _LOG.info("stopped")

    # ------------------------------------------------------------------ how it is

    def status_line(self) -> str:
        """One line for systemd and the log."""
        up = sum(1 for u in self.units.values() if u.status is not None and u.status.state == "up")
        online = sum(1 for u in self.units.values() if u.bus and u.bus.status.state == "online")
        text = f"{up} of {len(self.units)} tables up"
        if self.settings.mqtt is not None:
            text += f", {online} online at the broker"
        if self.journal is not None and self.journal.health.state != "ok":
            text += f"; journal: {self.journal.health.state} ({self.journal.health.reason})"
        return text

    def health(self) -> tuple[bool, dict[str, Any]]:
        """For /healthz: whether the daemon itself is well, and each part of it."""
        assert self.journal is not None
        journal = self.journal.health
        stuck = self.watchdog.stuck()
        facts = {
            "version": __version__,
            "epoch": self.journal.epoch,
            "stuck": stuck,
            "loop_lag_ms": round(self.lag.worst_ms(), 3),
            "journal": {"state": journal.state, "reason": journal.reason},
            "tables": {
                unit.table_id: {
                    "link": unit.status.state if unit.status else "down",
                    "reason": unit.status.reason if unit.status else "",
                    "bus": unit.bus.status.state if unit.bus else "off",
                    "outbox": unit.waiting,
                    "fault": unit.writer.fault,
                    "durable": unit.writer.durable,
                    "contradiction": unit.writer.verdict.certainty == "contradiction",
                    "machine": [str(trouble) for trouble in unit.machine.troubles],
                }
                for unit in self.units.values()
            },
        }
        return not stuck and journal.state != "memory", facts

    def metrics(self) -> str:
        """For /metrics."""
        from tablectl.daemon.metrics import render

        return render(self)

    def _journal_health(self, health: Health) -> None:
        level = logging.INFO if health.state == "ok" else logging.ERROR
        if health.state == "ok":
            for unit in self.units.values():
                unit.caught_up()
        _LOG.log(level, "journal: %s %s", health.state, health.reason)
        self.notifier.status(self.status_line())

    async def _prune(self, journal: Journal) -> None:
        """Once a day, drop finished games older than the configuration keeps; one table at a time."""
        while True:
            for table_id in self.units:
                if not self.keep_days or not self.clock.synced():
                    continue  # with a wrong clock everything may look old
                before = self.clock.wall_ms() - self.keep_days * DAY_MS
                try:
                    dropped = await journal.prune(table_id, before)
                except JournalError as error:
                    _LOG.warning("%s: pruning failed: %s", table_id, error)
                    continue
                if dropped:
                    _LOG.info("%s: %d old rows pruned", table_id, dropped)
            await asyncio.sleep(DAY_MS / 1000)

    async def _tell_systemd(self) -> None:
        """Status text, and the watchdog, fed only by real progress of serial, engine and bus."""
        self.watchdog.watch("engine", self.progress.engine_stuck)
        self.watchdog.watch("serial", self.progress.serial_stuck)
        self.watchdog.watch("bus", self.progress.bus_stuck)
        period = self.notifier.watchdog_s or STATUS_EVERY_S
        while True:
            await asyncio.sleep(min(period, STATUS_EVERY_S))
            if self.notifier.watchdog_s is None or not self.watchdog.beat():
                self.notifier.status(self.status_line())


def _waker(web: WebServer, table_id: str) -> Callable[[], None]:
    return lambda: web.wake(table_id)


async def _within(seconds: float, *coming: Any, what: str) -> None:
    """Wait for all, but not longer: an ordered end has a limit for each step (known fault 7)."""
    if not coming:
        return
    tasks = [asyncio.ensure_future(each) for each in coming]
    _done, late = await asyncio.wait(tasks, timeout=seconds)
    if late:
        _LOG.warning("%s did not close within %.1f s; going on without them", what, seconds)
        await _cancelled(late)


async def _cancelled(tasks: Collection[asyncio.Future[Any]]) -> None:
    """Cancel, and give them a moment: what waits for a system call does not hear it, and is left."""
    for task in tasks:
        task.cancel()
    if tasks:
        await asyncio.wait(tasks, timeout=LATE_S)
