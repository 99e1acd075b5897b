"""Which messages of the wire the simulated table produces and consumes: `python -m hardware_sim.coverage`.

A scripted host talks to a table on a virtual clock, asks for everything there is to ask and lets
everything go wrong that can be told; what then stood on the line is counted, message by message.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from firmware_protocol import messages as m
from firmware_protocol.deliveries import Delivery, Item, LinkFailed
from firmware_protocol.framing import Decoder, Frame
from firmware_protocol.link import Link
from firmware_protocol.schema import Message
from firmware_protocol.vocabulary import ActionKind, Button, Capability, InfoKey, ZoneKind
from hardware_sim.faults.play import Faults
from hardware_sim.table import LEVELS, Options, SimTable
from hardware_sim.zones import Lying, Place

SECOND = 1_000_000
STEP = 5_000
"""µs between two looks at both ends: this is a report, not a race."""
SCRIPT = """
At the start, the event buffer holds only 12 events.
After 1 second, the seat draw points at seat 1.
After 1 second, it gets 61.5 degrees in the machine.
After 1 second, the lid motor gets too hot.
After 1 second, the lid motor has cooled down.
After 1 second, somebody locks the table.
After 1 second, somebody unlocks the table.
After 1 second, the board logs "all is well".
After 1 second, a stick lies in the wrong slot of the tray of seat 0.
"""


@dataclass
class Session:
    """A table, a host that asks for everything, and the line between them."""

    table: SimTable
    host: Link
    counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    """(direction, message) → frames seen."""
    now: int = 0
    _decoders: dict[str, Decoder] = field(
        default_factory=lambda: {"device → host": Decoder(), "host → device": Decoder()}
    )

    def run(self, seconds: float) -> None:
        """Let both ends talk for a while."""
        end = self.now + round(seconds * SECOND)
        while self.now < end:
            self.now += STEP
            self.table.advance(self.now)
            self._host(self.host.poll(self.now))
            self._host(
                self.host.receive(
                    self._seen("device → host", self.table.data_to_send(self.now)), self.now
                )
            )
            self.table.receive(
                self._seen("host → device", self.host.data_to_send(self.now)), self.now
            )

    def send(self, message: Message) -> None:
        """The host says something, and both ends have time to deal with it."""
        self.host.send(message, self.now)
        self.run(0.2)

    def _host(self, items: list[Item]) -> None:
        for item in items:
            if isinstance(item, Delivery):
                self.host.accept(item)
            elif isinstance(item, LinkFailed):
                self.host.connect(self.now)

    def _seen(self, way: str, data: bytes) -> bytes:
        for item in self._decoders[way].feed(data):
            if isinstance(item, Frame) and item.message_id in m.SCHEMA.by_id:
                self.counts[way, m.SCHEMA.by_id[item.message_id].SPEC.name] += 1
        return data


def talk() -> Counter[tuple[str, str]]:
    """Run the whole conversation; (direction, message) → frames on the line."""
    numbers: Iterator[int] = iter(range(1, 1_000_000))
    options = Options(
        capabilities=LEVELS["tiles"] | Capability.SEAT_ROULETTE | Capability.TEXT_DISPLAY
    )
    table = SimTable(options, faults=Faults.parse(SCRIPT))
    session = Session(table, Link.host(0, nonce=lambda: next(numbers) * 7919))
    session.run(1.5)  # the board announces itself until somebody connects
    session.host.connect(session.now)
    session.run(12.0)  # what the script brings
    for deed in (_buttons, _questions, _displays, _actions, _tiles):
        deed(session)
    return session.counts


def _buttons(session: Session) -> None:
    parts = session.table.parts
    for button in Button:
        if button != Button.UP_DOWN:
            parts.press(button, 0)
            session.run(0.1)
    parts.press(Button.UP_DOWN)
    session.run(0.5)
    parts.press(Button.UP_DOWN)
    session.run(0.5)
    parts.sticks.lay_riichi(2)
    session.run(0.2)


def _questions(session: Session) -> None:
    for key in InfoKey:
        session.send(m.InfoRequest(key, 0))
    session.send(m.SnapshotRequest(0, 0))
    session.send(m.StatsRequest())
    session.send(m.TestEcho(5, b"echo"))
    session.send(m.ActionQuery(77))


def _displays(session: Session) -> None:
    shown: list[Message] = [
        m.SetRound(0, 1, 0), m.SetHonba(1), m.SetDeposits(2), m.SetScores((25_000,) * 4),
        m.SetDifferences(0, (0, 1, 2, 3)), m.SetLamps(3, 1), m.SetText(0, "東一局"), m.SetTestMode(1),
    ]  # fmt: skip
    for message in shown:
        session.host.show(message)
    session.run(2.0)
    session.send(m.TestEmit(3, 20))
    session.run(0.5)
    session.host.show(m.SetTestMode(0))
    session.run(0.5)


def _actions(session: Session) -> None:
    for cmd_id, action in enumerate(ActionKind, 1):
        session.send(m.Action(cmd_id, action, 100, 0, 0))
        session.run(0.5)
    session.send(m.Stop(99))


def _tiles(session: Session) -> None:
    top, tags = session.table.parts.tabletop, list(session.table.parts.sets[0].tiles)
    river = [(tag, Lying(Place(ZoneKind.RIVER, 1, slot))) for slot, tag in enumerate(tags[:6])]
    top.move(*river)
    session.run(0.5)
    session.send(m.SnapshotRequest(0, 0))
    session.send(m.SnapshotRequest(session.table.board.link.event_no, 1))
    session.table.line.to_table.dead = True  # a host that is not heard: the small buffer overflows
    for slot, tag in enumerate(tags[6:40]):
        top.move((tag, Lying(Place(ZoneKind.HAND, 1, slot))))
    session.run(6.0)
    session.table.line.to_table.dead = False
    session.run(3.0)


def missing(counts: Counter[tuple[str, str]]) -> list[str]:
    """Messages of the protocol that never stood on the line."""
    seen = {name for _, name in counts}
    return [cls.SPEC.name for cls in m.SCHEMA if cls.SPEC.name not in seen]


def report(counts: Counter[tuple[str, str]], write: Callable[[str], object] = print) -> int:
    """Print the table of all messages; 1 when one was neither produced nor consumed."""
    write(f"protocol {m.SCHEMA}: {len(list(m.SCHEMA))} messages")
    for cls in m.SCHEMA:
        spec = cls.SPEC
        for way in ("device → host", "host → device"):
            count = counts[way, spec.name]
            if count:
                verb = "produced" if way == "device → host" else "consumed"
                write(f"  0x{spec.id:02x} {spec.name:16} {spec.kind.value:9} {verb} {count:5}")
    left = missing(counts)
    write("nothing is missing" if not left else f"never on the line: {', '.join(left)}")
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(report(talk()))
