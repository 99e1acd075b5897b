"""What a driver is: octets of one board on one side, facts and displays on the other; no I/O.

A vendor's own board joins by a class with these methods, named as an entry point of the group
`tablectl.drivers`; its `factory(DriverContext)` returns one. Built in are `framed` (SPEC.md) and
`line` (ASCII). All times are integer microseconds of one monotonic clock.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib.metadata import entry_points
from typing import Any, Literal, Protocol

from firmware_protocol.messages import Action
from firmware_protocol.schema import Message
from tablectl.mirror.submit import Fact
from tablectl.table.errors import DriverError
from tablectl.table.options import TableOptions

Level = Literal["basic", "score", "tiles"]
MotionEnd = Literal["done", "refused", "unknown"]
Stand = Literal["handshake", "resync", "up", "refused"]

GROUP = "tablectl.drivers"


@dataclass(frozen=True, slots=True)
class DeviceInfo:
    """Who is at the other end."""

    model: str = ""
    serial_number: str = ""
    vendor: str = ""
    hardware: str = ""
    firmware: str = ""
    protocol: str = ""
    """`major.minor` of the device."""
    schema_hash: int = 0
    boot_id: int = 0
    """Key of this start of the device, as in `Fact.boot_id`."""
    reset_cause: str = ""
    capabilities: int = 0
    """`vocabulary.Capability` flags."""
    level: Level = "basic"
    reliable: bool = True
    """False for drivers without acknowledgement."""


@dataclass(frozen=True, slots=True)
class KnownBoot:
    """The latest device fact in the journal: what the board is told that we have."""

    boot_id: int = 0
    event_no: int = 0
    uptime_ms: int = 0


@dataclass(frozen=True, slots=True)
class Motion:
    """An action to be commanded: journaled before it gets here."""

    cmd_id: int
    message: Action
    """Its `deadline_ms` is filled in by the driver from `deadline_ms` below."""
    deadline_ms: int | None = None
    """Not sent later than this (monotonic ms of the host)."""
    sent: bool = False
    """Its frame may have been written before: then it is never written again, only asked for."""


# ---------------------------------------------------------------- what a driver wants


@dataclass(frozen=True, slots=True)
class ReportFact:
    """Submit this fact; `done` lets its acknowledgement go out."""

    fact: Fact
    token: Any = None


@dataclass(frozen=True, slots=True)
class MarkSent:
    """Write down that this motion's frame is about to be written; `done` writes it."""

    cmd_id: int


@dataclass(frozen=True, slots=True)
class SettleMotion:
    """Write down what became of a motion.

    `done`: it ended, `result` says how (also a jam). `refused`: it was not begun. `unknown`: nobody
    can know; it is never sent again.
    """

    cmd_id: int
    state: MotionEnd
    result: dict[str, int | str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class AskUnsettled:
    """Tell which motions are journaled and not settled: `done(output, now, motions)`."""


@dataclass(frozen=True, slots=True)
class Standing:
    """How the connection stands now."""

    stand: Stand
    reason: str = ""
    code: str = ""
    device: DeviceInfo | None = None
    reset: bool = False
    """The board has started anew: motions in flight are unknown."""
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Reopen:
    """The board does not answer: close the port and open it again."""

    reason: str
    code: str = "no_answer"


@dataclass(frozen=True, slots=True)
class Say:
    """A line for the log; `level` as in `logging`."""

    level: int
    text: str


Output = ReportFact | MarkSent | SettleMotion | AskUnsettled | Standing | Reopen | Say


class Driver(Protocol):
    """One board's language. The session calls `take` after each of the other calls."""

    def opened(self, now: int) -> None:
        """The port is open (again): begin."""
        ...

    def closed(self, now: int) -> None:
        """The port is gone."""
        ...

    def receive(self, data: bytes, now: int) -> None:
        """Octets from the board."""
        ...

    def poll(self, now: int) -> None:
        """Time has passed."""
        ...

    def data_to_send(self, now: int) -> bytes:
        """Octets for the board."""
        ...

    @property
    def next_deadline(self) -> int | None:
        """When `poll` and `data_to_send` want to be called; a past time: now; None: after an input."""
        ...

    def take(self) -> list[Output]:
        """What is wanted, in order; each is answered by `done` before the next is begun."""
        ...

    def done(self, output: Output, now: int, answer: Sequence[Motion] = ()) -> None:
        """An output has been dealt with."""
        ...

    def desire(self, displays: Sequence[Message], now: int) -> None:
        """What the displays should show from now on (SET messages)."""
        ...

    def command(self, motion: Motion, now: int) -> None:
        """Send a motion now; when the board is not there, it is asked for after the next resync."""
        ...

    @property
    def figures(self) -> dict[str, int]:
        """Counters for health and metrics."""
        ...


class Outputs:
    """What a driver wants, in order, until the session takes it: the same in every driver."""

    def __init__(self) -> None:
        self._out: deque[Output] = deque()

    def take(self) -> list[Output]:
        """See `Driver.take`."""
        out = list(self._out)
        self._out.clear()
        return out


@dataclass(frozen=True, slots=True)
class DriverContext:
    """What a driver is made from."""

    options: TableOptions
    known: KnownBoot
    nonce: Callable[[], int]
    """Random 32 bits."""
    wall_clock: Callable[[], int]
    """Unix seconds, 0 while the host's clock cannot be trusted."""


def make_driver(context: DriverContext) -> Driver:
    """The driver that the options name. Raises DriverError."""
    name = context.options.driver
    if name == "framed":
        from tablectl.table.device import FramedDevice

        return FramedDevice(context)
    if name == "line":
        from tablectl.table.line import LineDevice

        return LineDevice(context)
    found = {point.name: point for point in entry_points(group=GROUP)}
    if name not in found:
        known = ", ".join(["framed", "line", *sorted(found)])
        raise DriverError(name, f"no driver {name!r}", hint=f"installed are: {known}")
    try:
        driver: Driver = found[name].load()(context)
    except Exception as error:
        raise DriverError(
            name,
            f"driver {name!r} does not start: {type(error).__name__}: {error}",
            hint=f"it comes from {found[name].value}",
        ) from error
    return driver
