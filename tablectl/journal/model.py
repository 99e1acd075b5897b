"""What goes into the journal and what comes out: frozen records, JSON as canonical text."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

ActionState = Literal["pending", "sent", "done", "refused", "unknown"]
"""`pending` → `sent` → one of the last three, which never change again."""

SETTLED: frozenset[str] = frozenset({"done", "refused", "unknown"})

JournalState = Literal["ok", "ballast", "memory"]
"""`ballast`: the disk was full and the ballast file was given up, commits are still durable.
`memory`: commits are kept in memory only (`durable` false) until the disk takes them again."""


def canonical(value: Any) -> str:
    """Canonical JSON: sorted keys, no blanks, UTF-8 as it is; floats and NaN are refused."""
    text = _ENCODER.encode(value)
    if any(mark in text for mark in _OF_FLOATS) and _has_float(value):
        raise ValueError("canonical JSON holds integers only, no floats")
    return text


_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False)
_OF_FLOATS = (".", "e-", "e+", "NaN", "Infinity")
"""Text without one of these holds no float; with one the value is looked at closely."""


def _has_float(value: Any) -> bool:
    if isinstance(value, float):
        return True
    if isinstance(value, Mapping):
        return any(_has_float(item) for item in value.values())
    if isinstance(value, (list, tuple)):
        return any(_has_float(item) for item in value)
    return False


# ---------------------------------------------------------------- in


@dataclass(frozen=True, slots=True)
class FactEntry:
    """What hardware reported, or a timer that ran out (`boot_id` and `event_no` None).

    Device facts are unique by (table, boot_id, event_no). `body` is canonical JSON.
    """

    kind: str
    """Name of the wire message, or `timer`."""
    body: str
    boot_id: int | None = None
    event_no: int | None = None
    uptime_ms: int | None = None


@dataclass(frozen=True, slots=True)
class EventEntry:
    """One event of the engine, whole (referee's view), and the feeds that see something of it."""

    event_id: str
    """UUID, given by the caller; unique in the journal."""
    type: str
    body: str
    """Canonical JSON of the full event."""
    feeds: tuple[str, ...]
    """`public`, `seat0` … `seat3`, `broadcast`, `referee`: each gets its next gap-free `seq`."""
    command_id: str | None = None
    """The command this event came from: what `undone` names."""


@dataclass(frozen=True, slots=True)
class RequestEntry:
    """A request and its answer, remembered so that a repeated one gets the first answer again."""

    transaction: str
    name: str
    source: str
    data: str
    """Canonical JSON of the request."""
    answer: str
    """Canonical JSON of the answer. Event ids may be in it; `durable` is known only later."""


@dataclass(frozen=True, slots=True)
class NewAction:
    """A motion to be commanded; the journal allots its `cmd_id`, never reused for this table."""

    kind: str
    body: str = "{}"
    deadline_wall_ms: int | None = None
    """After this wall time it is not sent any more."""


@dataclass(frozen=True, slots=True)
class ActionChange:
    """A step in an action's life. A settled action does not change again: such a change is void."""

    cmd_id: int
    state: ActionState
    result: str | None = None
    """Canonical JSON of what the device answered."""


@dataclass(frozen=True, slots=True)
class Transaction:
    """All that one fact, timer or request changed on one table: written whole or not at all.

    `entries` are in the order in which they happened. At most one of them is a device fact; when
    that fact (or the request's transaction) is known already, nothing is written and the result
    says `duplicate`.
    """

    table_id: str
    t_wall_ms: int
    """Unix time in ms, as far as it is known (`time_synced`)."""
    t_mono_ms: int
    """Monotonic ms; compares within one epoch only."""
    time_synced: bool = True
    game_id: str | None = None
    entries: tuple[FactEntry | EventEntry, ...] = ()
    request: RequestEntry | None = None
    actions: tuple[NewAction, ...] = ()
    action_changes: tuple[ActionChange, ...] = ()
    snapshot: str | None = None
    """Canonical JSON from which `tail_since_snapshot` starts; it stands after all `entries`."""


# ---------------------------------------------------------------- out


@dataclass(frozen=True, slots=True)
class StoredFact:
    """A fact as journaled; `pos` orders facts and events of all tables."""

    pos: int
    table_id: str
    game_id: str | None
    kind: str
    body: str
    boot_id: int | None
    event_no: int | None
    uptime_ms: int | None
    t_wall_ms: int
    t_mono_ms: int
    epoch: int
    time_synced: bool

    @property
    def data(self) -> Any:
        """`body` parsed."""
        return json.loads(self.body)


@dataclass(frozen=True, slots=True)
class StoredEvent:
    """An event as journaled, with the `seq` of every feed that sees it."""

    pos: int
    table_id: str
    game_id: str | None
    event_id: str
    type: str
    body: str
    seqs: Mapping[str, int]
    command_id: str | None
    t_wall_ms: int
    t_mono_ms: int
    epoch: int
    time_synced: bool
    durable: bool = True

    @property
    def data(self) -> Any:
        """`body` parsed."""
        return json.loads(self.body)


@dataclass(frozen=True, slots=True)
class StoredAction:
    """An action as journaled."""

    table_id: str
    cmd_id: int
    kind: str
    body: str
    state: ActionState
    result: str | None
    game_id: str | None
    deadline_wall_ms: int | None
    t_wall_ms: int
    epoch: int


@dataclass(frozen=True, slots=True)
class CommitResult:
    """What became of one transaction.

    `duplicate`: the fact or request was known; `events` and `answer` are then those of the first
    time. `conflict`: a known (boot_id, event_no) came with other content, a defect of the board.
    `durable` false: kept in memory only, the disk did not take it.
    """

    events: tuple[StoredEvent, ...] = ()
    actions: tuple[StoredAction, ...] = ()
    answer: str | None = None
    duplicate: bool = False
    conflict: bool = False
    durable: bool = True


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The state from which the tail is folded."""

    pos: int
    table_id: str
    game_id: str | None
    body: str

    @property
    def data(self) -> Any:
        """`body` parsed."""
        return json.loads(self.body)


@dataclass(frozen=True, slots=True)
class Tail:
    """What a restart folds: the latest snapshot (None: from the beginning) and all since then."""

    snapshot: Snapshot | None
    entries: tuple[StoredFact | StoredEvent, ...]


@dataclass(frozen=True, slots=True)
class Health:
    """How the journal is; `reason` is the disk's own word when `state` is not `ok`."""

    state: JournalState = "ok"
    reason: str = ""
    in_memory: int = 0
    """Facts and events that only memory holds."""
    commits: int = 0
    transactions: int = 0
    rescued: str | None = None
    """Where the damaged file was set aside at opening, if it was."""
    notes: tuple[str, ...] = field(default=())
