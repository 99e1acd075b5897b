"""What an end remembers: the device its unacknowledged events, actions and displays, the host the events it has seen."""

from __future__ import annotations

import dataclasses
from collections import OrderedDict, deque
from collections.abc import Iterable

from firmware_protocol.messages import EventsLost
from firmware_protocol.outgoing import Key, display_digest
from firmware_protocol.schema import Message
from firmware_protocol.timing import signed32
from firmware_protocol.vocabulary import ActionState

_U32 = (1 << 32) - 1
ACTIONS_REMEMBERED = 8
LOST_MOST = 0xFFFF


@dataclasses.dataclass(frozen=True, slots=True)
class HeldEvent:
    """An event until the host has acknowledged it."""

    event_no: int
    uptime_ms: int
    message: Message


class EventBuffer:
    """The device's events since boot: numbered, held over link resets until acknowledged, bounded."""

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._held: deque[HeldEvent] = deque()
        self._sent = 0
        self.event_no = 0
        """Last number given."""
        self.lost = 0
        """Events without room since the last EventsLost."""
        self.lost_total = 0
        self.high = 0

    def __len__(self) -> int:
        return len(self._held)

    @property
    def space(self) -> int:
        """Events that find room now."""
        return self._capacity - len(self._held)

    def add(self, message: Message, uptime_ms: int) -> bool:
        """Number and hold an event; False when there was no room and it is lost."""
        self.tell_lost(uptime_ms, room=2)
        if self.lost or len(self._held) >= self._capacity:
            self.lost = min(self.lost + 1, LOST_MOST)
            self.lost_total += 1
            return False
        self._append(message, uptime_ms)
        return True

    def tell_lost(self, uptime_ms: int, room: int = 1) -> None:
        """Put an EventsLost where the gap is, once there is room for it."""
        if self.lost and len(self._held) + room <= self._capacity:
            count, self.lost = self.lost, 0
            self._append(EventsLost(count=count), uptime_ms)

    def _append(self, message: Message, uptime_ms: int) -> None:
        self.event_no = self.event_no % _U32 + 1  # never 0: that means "none"
        self._held.append(HeldEvent(self.event_no, uptime_ms, message))
        self.high = max(self.high, len(self._held))

    def next_unsent(self) -> HeldEvent | None:
        """The oldest event not yet written in this session."""
        return self._held[self._sent] if self._sent < len(self._held) else None

    def mark_sent(self) -> None:
        """The event of `next_unsent` was written."""
        self._sent += 1

    def acknowledged(self) -> None:
        """The host has the oldest written event."""
        self._held.popleft()
        self._sent -= 1

    def drop_unsent(self) -> None:
        """Forget the event of `next_unsent`: this peer cannot read it."""
        del self._held[self._sent]

    def link_up(self, accepted: int | None) -> None:
        """A new session: all held events go out again, but for those that the host says it has."""
        self._sent = 0
        while (
            accepted is not None and self._held and signed32(accepted - self._held[0].event_no) >= 0
        ):
            self._held.popleft()


class ActionMemory:
    """The device's last actions by cmd_id: what makes a repeated command harmless."""

    def __init__(self) -> None:
        self._known: OrderedDict[int, tuple[ActionState, int, int]] = OrderedDict()
        self.last_finished = 0
        self.count = 0
        """Actions handed to the owner since boot."""

    def look_up(self, cmd_id: int) -> tuple[ActionState, int, int]:
        """State, result and detail of an action."""
        return self._known.get(cmd_id, (ActionState.UNKNOWN, 0, 0))

    def remember(self, cmd_id: int) -> bool:
        """Remember an action as running; False when eight are running already."""
        while len(self._known) >= ACTIONS_REMEMBERED:
            old = next(
                (c for c, known in self._known.items() if known[0] is ActionState.FINISHED), None
            )
            if old is None:
                return False
            del self._known[old]
        self._known[cmd_id] = (ActionState.RUNNING, 0, 0)
        return True

    def finish(self, cmd_id: int, result: int, detail: int) -> None:
        """Remember how an action ended."""
        if cmd_id in self._known:
            self._known[cmd_id] = (ActionState.FINISHED, result, detail)
        self.last_finished = cmd_id

    def running(self) -> tuple[int, ...]:
        """cmd_ids of running actions, oldest first."""
        return tuple(c for c, known in self._known.items() if known[0] is ActionState.RUNNING)


class DisplayMemory:
    """The desired states in force on the device, for the digest of the heartbeat."""

    def __init__(self) -> None:
        self._payloads: dict[Key, bytes] = {}
        self.digest = display_digest({})

    def apply(self, states: Iterable[tuple[Key, bytes]]) -> None:
        """These desired states are in force now: display and payload as it came."""
        self._payloads.update(states)
        self.digest = display_digest(self._payloads)


class EventLedger:
    """The host's side of exactly-once: which events of which boot were delivered and accepted."""

    def __init__(self, boot: int, accepted: int) -> None:
        self.boot = boot
        self._delivered = accepted
        self._open: dict[int, bool] = {}
        self._fresh = boot == 0

    @property
    def accepted(self) -> int:
        """Last event accepted without a gap, 0 when none."""
        waiting = next((no for no, done in self._open.items() if not done), None)
        return self._delivered if waiting is None else waiting - 1 & _U32

    def new_boot(self, boot: int) -> None:
        """Another start of the device: numbers begin again."""
        self.boot = boot
        self._delivered = 0
        self._open.clear()
        self._fresh = True

    def seen(self, event_no: int) -> bool:
        """True when this event was delivered before; else it counts as delivered now."""
        if not self._fresh and signed32(event_no - self._delivered) <= 0:
            return True
        self._fresh = False
        self._delivered = event_no
        self._open[event_no] = False
        return False

    def accept(self, boot: int, event_no: int) -> None:
        """The owner has this event for good."""
        if boot != self.boot or event_no not in self._open:
            return
        self._open[event_no] = True
        for no in list(self._open):
            if not self._open[no]:
                break
            del self._open[no]

    def is_accepted(self, event_no: int) -> bool:
        """True when a repeated event needs no second accept."""
        return event_no not in self._open or self._open[event_no]
