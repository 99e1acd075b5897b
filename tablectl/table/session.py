"""One table's connection and its life: discover → open → handshake → resync → up → lost → again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from firmware_protocol.messages import Message
from tablectl.mirror.submit import Submit
from tablectl.table.options import ReconnectOptions, TableOptions

LinkState = Literal["down", "resync", "up"]
"""What the bus publishes on `link`."""

Phase = Literal[
    "idle", "discover", "open", "handshake", "resync", "up", "lost", "refused", "closed"
]


@dataclass(frozen=True, slots=True)
class DeviceInfo:
    """Who is at the other end, from HELLO and INFO."""

    model: str = ""
    serial_number: str = ""
    firmware: str = ""
    protocol: tuple[int, int] = (0, 0)
    schema_hash: int = 0
    boot_id: int = 0
    reset_cause: str = ""
    capabilities: int = 0
    level: Literal["basic", "score", "tiles"] = "basic"
    reliable: bool = True
    """False for drivers without acknowledgement (line driver)."""


@dataclass(frozen=True, slots=True)
class LinkStatus:
    """Told to `on_link_state` once per change."""

    table_id: str
    state: LinkState
    phase: Phase
    since_mono_ms: int
    reason: str = ""
    """Why it is not up, for a person: what, where, and what to do next."""
    code: str = ""
    """Stable: `port_missing`, `port_busy`, `port_denied`, `version_refused`, `link_failed`, …"""
    device: DeviceInfo | None = None
    boot_id: int | None = None
    reset: bool = False
    """True when this `up` or `resync` follows a reset of the board: motions in flight are unknown."""
    warnings: tuple[str, ...] = ()
    figures: dict[str, int] = field(default_factory=dict)
    """Link statistics: rtt_p50_us, retransmits, crc_errors, reconnects, …"""


@dataclass(frozen=True, slots=True)
class Motion:
    """An action to be commanded: journaled by the daemon before it gets here."""

    cmd_id: int
    message: Message
    """The ACTION message, its `cmd_id` filled in."""
    deadline_ms: int | None = None
    """Not sent later than this (ms of the session's clock)."""


class ActionLedger(Protocol):
    """The daemon's action rows as the session needs them."""

    async def sent(self, cmd_id: int) -> None:
        """The first frame of this motion is about to be written."""
        ...

    async def settled(self, cmd_id: int, state: Literal["done", "refused", "unknown"],
                      result: dict[str, int | str]) -> None:  # fmt: skip
        """The motion's fate is known, or known to be unknowable after a reset."""
        ...

    async def unsettled(self) -> Sequence[Motion]:
        """Motions journaled and not settled, oldest first: asked for after each (re)connection."""
        ...


class TableSession:
    """Runs one table's connection until it is stopped.

    `submit.fact` is awaited for each device event, in order, and the event is acknowledged only
    after it returned. `desired()` gives the SET messages of every display as they should be now;
    the session writes what differs and rewrites all after a reset. `on_link_state` is called once
    per change. `clock()` is monotonic ms.
    """

    def __init__(
        self,
        options: TableOptions,
        submit: Submit,
        *,
        desired: Callable[[], Sequence[Message]],
        actions: ActionLedger,
        on_link_state: Callable[[LinkStatus], None],
        clock: Callable[[], int] | None = None,
        reconnect: ReconnectOptions | None = None,
        seed: int | None = None,
    ) -> None:
        raise NotImplementedError

    @property
    def status(self) -> LinkStatus:
        """The latest status."""
        raise NotImplementedError

    async def run(self) -> None:
        """Live until `stop` or cancellation; returns only after the port is really closed."""
        raise NotImplementedError

    async def stop(self) -> None:
        """End within a second: say goodbye, close the port, return when `run` has ended."""
        raise NotImplementedError

    def refresh(self) -> None:
        """`desired()` has changed: write what differs (latest wins, 50 ms apart per display)."""
        raise NotImplementedError

    def command(self, motion: Motion) -> None:
        """Send a motion now, or after the next resync with the same boot; `actions` hears its fate."""
        raise NotImplementedError
