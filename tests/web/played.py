"""A table for the pages without a daemon: real events of the engine, let out one by one."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Sequence

from tablectl.bus.payloads import (
    BridgeHealth,
    BridgeInfo,
    EventMessage,
    LinkStatus,
    PublicView,
    Stamp,
    StateSnapshot,
)
from tablectl.bus.snapshot import game_view
from tablectl.engine import rules
from tablectl.engine.game import commands as cmd
from tablectl.engine.game.apply import apply
from tablectl.engine.game.codec import Record
from tablectl.engine.game.commands import Command, Refusal
from tablectl.engine.game.decide import decide
from tablectl.engine.game.events import Event, mask_event
from tablectl.engine.game.state import EMPTY, GameState

NAMES = ("Aoi", "Björk", "千早", "Dara")


class PlayedTable:
    """`TableSource` of a game that a test plays by hand."""

    def __init__(
        self, table_id: str = "t1", name: str = "1番卓", stream: str | None = None
    ) -> None:
        self.table_id = table_id
        self.name = name
        self.epoch = 1
        self.stream = stream or str(uuid.uuid4())
        self.state: GameState = EMPTY
        self.messages: list[EventMessage] = []
        self.link_state = LinkStatus(state="up", boot_id=1, since=0)

    def do(self, *commands: Command) -> None:
        """Decide commands and let their events out; a refusal is a test's mistake."""
        for command in commands:
            answer = decide(self.state, command)
            assert not isinstance(answer, Refusal), answer
            for event in answer:
                self.let_out(event)

    def let_out(self, event: Event) -> None:
        """One event becomes public."""
        self.state = apply(self.state, event)
        if mask_event(event, "public") is None:
            return
        stamp = Stamp(len(self.messages) + 1, str(uuid.uuid4()), 1, 1_800_000_000_000, 0, True)
        self.messages.append(EventMessage(self.stream, stamp, PublicView(event)))

    def last_seq(self) -> int:
        return len(self.messages)

    def published(self) -> int:
        return len(self.messages)

    async def public_events(self, after: int, limit: int) -> Sequence[EventMessage]:
        return self.messages[after : after + limit]

    def mark_published(self, seq: int) -> None:
        raise AssertionError("pages move no cursor")

    def snapshot(self) -> StateSnapshot:
        last = self.messages[-1].view.fields["type"] if self.messages else None
        return StateSnapshot(
            epoch=1, stream=self.stream, last_seq=len(self.messages), last_event=last,
            t_wall=0, time_synced=True, durable=True, game=game_view(self.state),
        )  # fmt: skip

    def link(self) -> LinkStatus:
        return self.link_state

    def info(self) -> BridgeInfo:
        return BridgeInfo(
            software="0", protocol="1.0", table_name=self.name, venue_name="", level="tiles", model=None,
            serial_number=None, firmware=None, wire=None, wire_schema=None, capabilities=(),
        )  # fmt: skip

    def health(self) -> BridgeHealth:
        return BridgeHealth(t_wall=0, uptime_s=0, loop_lag_ms=0, outbox=0, durable=True, link={})


def start_of_game(names: tuple[str, str, str, str] = NAMES) -> cmd.StartGame:
    """A tenhou game at level basic: results come from people."""
    return cmd.StartGame(
        "g1", rules.load("tenhou").to_dict(), ("a", "b", "c", "d"), names, knowledge="basic"
    )


def start_of_hand() -> Iterable[Record]:
    """From the start button to the first discard, at level basic."""
    return (cmd.PressStart(), cmd.WallsReady(), cmd.RollDice(3, 4), cmd.Deal(), cmd.RevealDora())
