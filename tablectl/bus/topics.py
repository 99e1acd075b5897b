"""The topic tree of the bus: every topic there is, built and parsed in one place (docs/bus.md)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

ROOT: Final = "tablectl"
SEATS: Final = range(4)
SEAT_SCALARS: Final = ("name", "score", "wind", "riichi")
"""Display-friendly values under `seat/<0-3>/`: one number or word a topic, for small displays."""

_ID: Final = re.compile(r"[a-z0-9-]{1,32}")


class TopicError(ValueError):
    """A word that cannot stand in a topic: `code`, the value at fault, a hint."""

    code: Final = "bad_topic_id"

    def __init__(self, what: str, value: str) -> None:
        super().__init__(f"{what} {value!r} cannot stand in a topic")
        self.value = value
        self.hint = "use 1 to 32 of the characters a-z, 0-9 and '-'; display names are free text"


def check_id(what: str, value: str) -> str:
    """`value` when it is a venue or table id (`[a-z0-9-]{1,32}`), else `TopicError`."""
    if not _ID.fullmatch(value):
        raise TopicError(what, value)
    return value


@dataclass(frozen=True, slots=True)
class Topics:
    """All topics of one table."""

    venue: str
    table: str

    def __post_init__(self) -> None:
        check_id("venue", self.venue)
        check_id("table", self.table)

    @property
    def base(self) -> str:
        """`tablectl/<venue>/<table>`."""
        return f"{ROOT}/{self.venue}/{self.table}"

    @property
    def bridge_state(self) -> str:
        """Retained: the bridge is online or offline, with its epoch; the will speaks here too."""
        return f"{self.base}/bridge/state"

    @property
    def bridge_info(self) -> str:
        """Retained: versions, capabilities, schema hash."""
        return f"{self.base}/bridge/info"

    @property
    def bridge_health(self) -> str:
        """Retained with expiry: link and queue figures."""
        return f"{self.base}/bridge/health"

    @property
    def link(self) -> str:
        """Retained: the serial link is up, resync or down."""
        return f"{self.base}/link"

    @property
    def state(self) -> str:
        """Retained: public snapshot of the game."""
        return f"{self.base}/state"

    @property
    def event(self) -> str:
        """The public feed; never retained."""
        return f"{self.base}/event"

    @property
    def request_filter(self) -> str:
        """Subscription to every request of this table."""
        return f"{self.base}/request/#"

    @property
    def response_filter(self) -> str:
        """Subscription to every answer of this table."""
        return f"{self.base}/response/#"

    def seat(self, seat: int, scalar: str) -> str:
        """Retained: one display-friendly value of a seat."""
        if seat not in SEATS or scalar not in SEAT_SCALARS:
            raise TopicError("seat topic", f"{seat}/{scalar}")
        return f"{self.base}/seat/{seat}/{scalar}"

    def private(self, feed: str) -> str:
        """Concealed tiles of one feed (`seat0` … `seat3`, `referee`): behind its own access list."""
        return f"{self.base}/private/{feed}"

    def broadcast(self, part: str) -> str:
        """The delayed feed with hands: behind its own access list."""
        return f"{self.base}/broadcast/{part}"

    def request(self, name: str) -> str:
        """Where a request called `name` (such as `result/win`) is asked."""
        return f"{self.base}/request/{name}"

    def response(self, name: str) -> str:
        """Where the request called `name` is answered."""
        return f"{self.base}/response/{name}"

    def request_name(self, topic: str) -> str | None:
        """The request a topic asks for, or None when it is no request of this table."""
        prefix = f"{self.base}/request/"
        return topic.removeprefix(prefix) if topic.startswith(prefix) else None

    def may_answer_on(self, topic: str) -> bool:
        """Whether an answer may be sent to a response topic that a requester named.

        Anywhere outside our tree, and under this table's own `response/`: an answer must never be
        able to speak as a request, a state or an event.
        """
        if not topic or "+" in topic or "#" in topic or "\0" in topic or topic.startswith("$"):
            return False
        inside = topic == ROOT or topic.startswith(f"{ROOT}/")
        return not inside or topic.startswith(f"{self.base}/response/")


def everything(venue: str = "+", table: str = "+") -> tuple[str, ...]:
    """Filters of all that is public of the tables of a venue: for boards and recorders."""
    base = f"{ROOT}/{venue}/{table}"
    return (f"{base}/bridge/#", f"{base}/link", f"{base}/state", f"{base}/event", f"{base}/seat/#")
