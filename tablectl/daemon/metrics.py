"""Prometheus text of the daemon: what a hall's monitoring asks for every few seconds."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from tablectl import __version__

if TYPE_CHECKING:
    from tablectl.daemon.app import Daemon

_KINDS = {"gauge", "counter"}


def render(daemon: Daemon) -> str:
    """The whole page in exposition format 0.0.4."""
    page = _Page()
    journal = daemon.journal
    page.add("tablectl_build_info", "gauge", "which software runs", [({"version": __version__}, 1)])
    page.add(
        "tablectl_loop_lag_seconds",
        "gauge",
        "how late the loop was at worst in the last minute",
        [({}, daemon.lag.worst_ms() / 1000)],
    )
    stuck = daemon.watchdog.stuck()
    page.add(
        "tablectl_stuck",
        "gauge",
        "1 while a part makes no progress (the watchdog starves)",
        [({"part": part}, int(part in stuck)) for part in daemon.watchdog.parts],
    )
    page.add(
        "tablectl_time_synced",
        "gauge",
        "1 while the clock follows a time server",
        [({}, int(daemon.clock.synced()))],
    )
    _process(page)
    if journal is not None:
        health = journal.health
        page.add("tablectl_journal_epoch", "gauge", "daemon starts", [({}, journal.epoch)])
        page.add("tablectl_journal_commits_total", "counter", "commits", [({}, health.commits)])
        page.add(
            "tablectl_journal_transactions_total",
            "counter",
            "transactions in those commits",
            [({}, health.transactions)],
        )
        page.add(
            "tablectl_journal_ok",
            "gauge",
            "1 while the disk takes everything",
            [({}, int(health.state == "ok"))],
        )
        page.add(
            "tablectl_journal_in_memory",
            "gauge",
            "facts and events the disk has not taken",
            [({}, health.in_memory)],
        )
    units = list(daemon.units.values())
    page.add(
        "tablectl_link_up",
        "gauge",
        "1 while the board is there",
        [
            ({"table": u.table_id}, int(u.status is not None and u.status.state == "up"))
            for u in units
        ],
    )
    page.add(
        "tablectl_bus_online",
        "gauge",
        "1 while the broker is there",
        [
            ({"table": u.table_id}, int(u.bus is not None and u.bus.status.state == "online"))
            for u in units
        ],
    )
    page.add(
        "tablectl_outbox",
        "gauge",
        "public events the broker has not acknowledged",
        [({"table": u.table_id}, u.waiting) for u in units],
    )
    page.add(
        "tablectl_events_total",
        "counter",
        "public events of the table since its journal began",
        [({"table": u.table_id}, u.source.last_seq()) for u in units],
    )
    page.add(
        "tablectl_durable",
        "gauge",
        "0 while the last events of the table are in memory only",
        [({"table": u.table_id}, int(u.writer.durable)) for u in units],
    )
    page.add(
        "tablectl_defect",
        "gauge",
        "1 after the table met a defect",
        [({"table": u.table_id}, int(bool(u.writer.fault))) for u in units],
    )
    page.add(
        "tablectl_contradiction",
        "gauge",
        "1 while what is seen contradicts the rules",
        [
            ({"table": u.table_id}, int(u.writer.verdict.certainty == "contradiction"))
            for u in units
        ],
    )
    page.add(
        "tablectl_machine_trouble",
        "gauge",
        "1 for each thing that is wrong with the machine",
        [
            ({"table": u.table_id, "part": trouble.part, "code": trouble.code}, 1)
            for u in units
            for trouble in u.machine.troubles
        ],
    )
    page.add(
        "tablectl_machine_temperature_celsius",
        "gauge",
        "temperatures in the machine",
        [
            ({"table": u.table_id, "sensor": str(sensor)}, degrees)
            for u in units
            for sensor, degrees in sorted(u.machine.temperatures.items())
        ],
    )
    page.add(
        "tablectl_link_figure",
        "gauge",
        "figures of the serial link by name",
        [
            ({"table": u.table_id, "figure": name}, value)
            for u in units
            for name, value in sorted(u.figures().items())
        ],
    )
    return page.text()


def _process(page: _Page) -> None:
    """What grows over months when something leaks, under the names that every dashboard knows."""
    statm = Path("/proc/self/statm")
    fds = Path("/proc/self/fd")
    if statm.exists():
        pages = int(statm.read_text(encoding="ascii").split()[1])
        page.add(
            "process_resident_memory_bytes",
            "gauge",
            "memory in use",
            [({}, pages * os.sysconf("SC_PAGE_SIZE"))],
        )
        page.add("process_open_fds", "gauge", "open descriptors", [({}, len(list(fds.iterdir())))])
    page.add("process_cpu_seconds_total", "counter", "processor time", [({}, time.process_time())])


class _Page:
    def __init__(self) -> None:
        self._lines: list[str] = []

    def add(
        self, name: str, kind: str, meaning: str, values: Iterable[tuple[dict[str, str], float]]
    ) -> None:
        assert kind in _KINDS
        self._lines += [f"# HELP {name} {meaning}", f"# TYPE {name} {kind}"]
        for labels, value in values:
            inner = ",".join(f'{key}="{_escape(text)}"' for key, text in labels.items())
            self._lines.append(f"{name}{{{inner}}} {value}" if inner else f"{name} {value}")

    def text(self) -> str:
        return "\n".join(self._lines) + "\n"


def _escape(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
