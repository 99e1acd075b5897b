"""How one table is connected: plain values, whoever read them from a file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class PortOptions:
    """A serial port or URL and its lines."""

    port: str
    """Path, `/dev/serial/by-id/…`, `usb:VID:PID[:SERIAL]`, `socket://`, `rfc2217://`, `sim://`."""
    baud: int = 115_200
    dtr: bool | None = None
    """Level while open; None leaves the line as the system puts it (raised)."""
    rts: bool | None = None
    hupcl: bool = False
    """Drop DTR at close: resets many boards, so off unless asked (known fault 19)."""
    exclusive: bool = True


@dataclass(frozen=True, slots=True)
class TableOptions:
    """One table's connection."""

    table_id: str
    port: PortOptions
    driver: str = "framed"
    """`framed` (SPEC.md), `line` (ASCII), or an entry point of the group `tablectl.drivers`."""
    flash_hint: str = ""
    """Command that puts the right firmware on this board."""
    capture: Path | None = None
    """File that gets every frame, for `tablectl decode`."""
    unmask: bool = False
    """Write tags and concealed tiles to captures and logs as they are."""
    motion_patience_ms: int = 20_000
    """A motion not reported done after this is asked for."""
    display_period_ms: int = 10_000
    """The line driver rewrites its displays this often: nothing there is acknowledged."""


@dataclass(frozen=True, slots=True)
class ReconnectOptions:
    """Waiting times between attempts."""

    first_ms: int = 250
    factor: float = 1.7
    most_ms: int = 15_000
    missing_ms: int = 2_000
    """Most for a port that is not there: looking costs nothing, and people wait for the replug."""
    refused_ms: int = 60_000
    """After a refused version: the port stays free meanwhile, so that firmware can be flashed."""
    jitter: float = 0.25
    """Each wait is spread by this part, so that twenty tables do not knock at once."""
    fold_ms: int = 300_000
    """A repeated failure is logged again after this, with its count (known fault 43)."""
