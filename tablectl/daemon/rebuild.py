"""After a restart: the state, the log and the mirror, folded from the journal.

State and log come from the events of the game; the mirror from the facts since the last snapshot, each
met with the state it was met with the first time. Rows of kinds this version does not know are skipped.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from itertools import groupby
from typing import Any

from tablectl.daemon import facts
from tablectl.daemon.core import ASKED, RESULTS, TableCore
from tablectl.engine.game.commands import Command, command_from_json
from tablectl.engine.game.events import Event, event_from_json
from tablectl.journal import Journal, StoredEvent, StoredFact, Tail

_LOG = logging.getLogger("tablectl.table")


async def rebuild(core: TableCore, journal: Journal) -> None:
    """Bring a fresh core to where the journal ends."""
    tail = await journal.tail_since_snapshot(core.table_id)
    game_id = _latest_game(tail)
    earlier: Sequence[StoredEvent] = ()
    known: dict[str, tuple[Command, bool]] = {}
    if tail.snapshot is not None:
        memory = tail.snapshot.data
        core.mirror.load(memory["mirror"])
        known = {
            item["id"]: (command_from_json(item["command"]), item["physical"])
            for item in memory["commands"]
        }
        if tail.snapshot.game_id is not None:
            events = await journal.events_of_game(core.table_id, tail.snapshot.game_id)
            earlier = [event for event in events if event.pos <= tail.snapshot.pos]
    _fold(core, earlier, known)
    _replay(core, tail, game_id)


def _latest_game(tail: Tail) -> str | None:
    for entry in reversed(tail.entries):
        if entry.game_id is not None:
            return entry.game_id
    return None if tail.snapshot is None else tail.snapshot.game_id


def _fold(
    core: TableCore,
    stored: Sequence[StoredEvent],
    known: dict[str, tuple[Command, bool]],
) -> None:
    """Events before the snapshot: state and log, nothing for the mirror."""
    for command_id, group in groupby(stored, key=lambda event: event.command_id or ""):
        events = _events(group)
        command, physical = known.get(command_id, (None, False))
        core.timeline.restore(command_id, command, events, physical=physical)


def _replay(core: TableCore, tail: Tail, game_id: str | None) -> None:
    """Facts and events since the snapshot, in their order."""
    led_to: list[Command] = []
    asked: dict[str, tuple[Command, bool]] = {}
    entries = list(tail.entries)
    at = 0
    while at < len(entries):
        entry = entries[at]
        if isinstance(entry, StoredFact):
            commands = _meet(core, entry, asked)
            led_to = led_to if commands is None else commands
            at += 1
            continue
        group = [entry]
        while (
            at + len(group) < len(entries)
            and isinstance(following := entries[at + len(group)], StoredEvent)
            and following.command_id == entry.command_id
        ):
            group.append(following)
        at += len(group)
        command_id = entry.command_id or ""
        command: Command | None
        if command_id.startswith(ASKED):
            command, physical = asked.get(command_id, (None, False))
        else:
            command = led_to.pop(0) if led_to else None
            physical = not isinstance(command, RESULTS)
        events = _events(group)
        core.timeline.restore(command_id, command, events, physical=physical)
        core.follow(command_id, events)


def _meet(
    core: TableCore, fact: StoredFact, asked: dict[str, tuple[Command, bool]]
) -> list[Command] | None:
    """Show a fact to the mirror; the commands it led to, None when it is no fact for the mirror."""
    data: dict[str, Any] = fact.data
    if fact.kind == facts.COMMAND:
        asked[data["id"]] = (command_from_json(data["command"]), data["physical"])
        return None
    if fact.kind == facts.DEVICE:
        core.mirror.capabilities = data["capabilities"]
        return None
    if fact.kind == facts.LINK:
        core.mirror.link(data["up"], fact.t_mono_ms, reset=data.get("reset", False))
        return None
    try:
        if fact.kind == facts.TIMER:
            return core.mirror.advance(fact.t_mono_ms, core.state)
        message = facts.message_of(fact.kind, data)
        if message is None:
            return []
        return core.mirror.observe(message, fact.t_mono_ms, core.state)
    except Exception:  # noqa: BLE001 - it was kept, and play went on after it
        # A fact that led to a defect once does so again.
        _LOG.exception("%s: a journaled %s cannot be taken in", core.table_id, fact.kind)
        return []


def _events(stored: Any) -> list[Event]:
    return [event_from_json(event.data) for event in stored]
