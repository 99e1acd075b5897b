"""The daemon that did not die: one core that is given, in order, what the journal says came in.

A journal that several daemons wrote, each going on where the last one was killed, must hold the events,
the state and the perception that one daemon alone would have had of the same facts and requests.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tablectl.daemon import core as cores
from tablectl.daemon import facts
from tablectl.daemon.clock import ManualClock
from tablectl.daemon.core import ASKED, TableCore
from tablectl.daemon.ids import random_ids
from tablectl.engine.game.commands import command_from_json
from tablectl.journal import StoredEvent, StoredFact, canonical
from tablectl.mirror.mirror import Mirror
from tablectl.mirror.submit import Fact
from tablectl.mirror.tags import TagMap


class Shadow:
    """Follows one table's rows; `events` are what it decided itself."""

    def __init__(self, tags: TagMap) -> None:
        self.clock = ManualClock(0, 1_700_000_000_000)
        self.events: list[tuple[str, str]] = []
        """Type and canonical JSON."""
        self.pos = 0
        """Position of the last row it was given."""
        self._command_id = ""
        self.core = TableCore("t1", mirror=Mirror(tags), clock=self.clock, ids=self._id)

    def _id(self, purpose: Any) -> str:
        return (
            self._command_id if purpose == "command" and self._command_id else random_ids(purpose)
        )

    def follow(self, rows: Sequence[StoredFact | StoredEvent]) -> None:
        """Facts are given to it, events are for it to find."""
        for row in rows:
            self.pos = row.pos
            if isinstance(row, StoredFact):
                self.clock.advance(max(0, row.t_mono_ms - self.clock.mono_ms()))
                self._given(row)

    def _given(self, row: StoredFact) -> None:
        core, data = self.core, row.data
        if row.kind == facts.COMMAND:
            self._asked(data["id"], data["command"])
            return
        if row.kind == facts.TIMER:
            change = core.handle_timer()
        elif row.kind == facts.LINK:
            change = core.handle_link(data["up"], reset=data.get("reset", False))
        elif row.kind == facts.DEVICE:
            change = core.handle_device(data["capabilities"], {})
        else:
            message = facts.message_of(row.kind, data)
            assert message is not None
            change = core.handle_fact(Fact("t1", message, row.boot_id, row.event_no, row.uptime_ms))
        if change is not None:
            self._decided(change.events)

    def _asked(self, command_id: str, command: dict[str, Any]) -> None:
        if "." in command_id:
            return  # decided again after an undo: the undo brings it along
        draft = cores._Draft()
        self._command_id = command_id.removeprefix(f"{ASKED}-")
        try:
            assert self.core._decide(draft, command_from_json(command), ASKED) is None
        finally:
            self._command_id = ""
        self._decided(draft.events)

    def _decided(self, events: Sequence[Any]) -> None:
        self.events += [(event.type, canonical(event.to_json())) for event in events]

    def memory(self) -> dict[str, Any]:
        """What a restart must bring back, ids aside."""
        return memory_of(self.core)


def memory_of(core: TableCore) -> dict[str, Any]:
    """State, perception and standing commands of a core without the ids of its commands."""
    memory = core.memory()
    return {
        "state": core.state.canonical(),
        "mirror": memory["mirror"],
        "verdict": core.mirror.verdict,
        "capabilities": core.capabilities,
        "commands": [{**item, "id": None} for item in memory["commands"]],
    }
