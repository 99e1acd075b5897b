"""Mixed traffic in both directions through bad cables, and the account of it: nothing lost, nothing twice, nothing out of order.

The device may be a `Link` or anything that behaves like one (`DeviceLike`), such as compiled firmware.
"""

from __future__ import annotations

import dataclasses
import heapq
import random
from collections import Counter
from typing import Protocol

from firmware_protocol import messages as m
from firmware_protocol.deliveries import Delivery, Item, LinkFailed, LinkUp, State
from firmware_protocol.link import Link
from firmware_protocol.schema import Kind, Message
from firmware_protocol.timing import MS, SECOND
from firmware_protocol.vocabulary import ActionKind, Result
from tests.wire.channel import BadCable

ONE_WAY = 400
"""µs that octets are under way."""


CUT_EVERY = 700
"""Messages between two cuts of the cable, long enough for many of them to fail the link."""
RESULTS_ROOM = 4
"""Places in the device's event buffer that the traffic leaves for results of actions."""


class DeviceLike(Protocol):
    """What the soak needs of a device's end; times in µs."""

    def receive(self, data: bytes, now: int) -> list[Item]:
        """Octets in."""

    def poll(self, now: int) -> list[Item]:
        """Time passes."""

    def data_to_send(self, now: int) -> bytes:
        """Octets out."""

    def accept(self, delivery: Delivery) -> None:
        """Acted on."""

    def send(self, message: Message, now: int) -> int:
        """Send an event: its number, 0 when there was no room."""

    def send_space(self, kind: Kind) -> int:
        """Room for events."""

    def finish(self, cmd_id: int, result: int, detail: int, now: int) -> int:
        """An action ended."""

    @property
    def next_deadline(self) -> int | None:
        """When to poll."""

    @property
    def idle(self) -> bool:
        """Nothing waits."""


@dataclasses.dataclass
class Account:
    """What was sent and what came of it."""

    messages: int = 0
    """Reliable messages that arrived, at both ends."""
    cuts: int = 0
    events_sent: list[int] = dataclasses.field(default_factory=list)
    events_got: list[int] = dataclasses.field(default_factory=list)
    event_numbers: list[int] = dataclasses.field(default_factory=list)
    actions_sent: set[int] = dataclasses.field(default_factory=set)
    actions_unsent: set[int] = dataclasses.field(default_factory=set)
    actions_unsure: set[int] = dataclasses.field(default_factory=set)
    executed: Counter[int] = dataclasses.field(default_factory=Counter)
    refused: set[int] = dataclasses.field(default_factory=set)
    results: Counter[int] = dataclasses.field(default_factory=Counter)
    failures: Counter[str] = dataclasses.field(default_factory=Counter)
    handshakes: int = 0
    echoes: int = 0
    echo_faults: int = 0
    shown: dict[int, Message] = dataclasses.field(default_factory=dict)

    def summary(self) -> str:
        """One line for the log."""
        fates = f"{len(self.actions_unsure)} unsure, {len(self.actions_unsent)} unsent"
        return (
            f"{self.messages} messages: {len(self.events_got)} events, {len(self.actions_sent)} actions ({fates}), "
            f"{self.echoes} echoes; {self.cuts} cuts, {self.handshakes} handshakes, failures {dict(self.failures)}"
        )


class Soak:
    """Runs the traffic on a virtual clock."""

    def __init__(self, device: DeviceLike, seed: int, *, rate: float = 0.05) -> None:
        self.random = random.Random(seed)
        self.now = 0
        self.host = Link.host(0, nonce=lambda: self.random.getrandbits(32))
        self.device = device
        self.account = Account()
        self.cables = {"host": BadCable(seed + 1, rate), "device": BadCable(seed + 2, rate)}
        self._line: list[tuple[int, int, str, bytes]] = []
        self._tasks: list[tuple[int, int, str, Delivery | int]] = []
        self._order = 0
        self._bad = rate > 0
        self._cmd = 0
        self._token = 0
        self._outstanding: set[int] = set()
        self._echo: dict[int, bytes] = {}

    # ------------------------------------------------------------------ traffic

    def run(self, messages: int) -> Account:
        """Let so many messages arrive (both ends together), then let the line settle."""
        account, rng = self.account, self.random
        self.host.connect(0)
        next_cut = CUT_EVERY
        while account.messages < messages:
            for _ in range(rng.randrange(1, 4)):
                self._send_something()
            self._advance(rng.choice((200, 1_000, 5_000, 20_000)))
            if account.messages >= next_cut and self._bad:
                next_cut += CUT_EVERY
                self._cut(rng.randrange(500, 8_000) * MS)
        for cable in self.cables.values():
            cable.rate = 0.0
        limit = self.now + 600 * SECOND
        while not (
            self.host.state is State.UP and self.host.idle and self.device.idle and not self._tasks
        ):
            assert self.now < limit, f"the line does not settle: {account.summary()}"
            self._advance(50 * MS)
        return account

    def _cut(self, duration: int) -> None:
        """Nothing passes for a while, while both ends want to send."""
        self.account.cuts += 1
        for cable in self.cables.values():
            cable.cut = True
        for _ in range(4):
            self._send_something()
        self._advance(duration)
        for cable in self.cables.values():
            cable.cut = False

    def _send_something(self) -> None:
        account, rng = self.account, self.random
        choice = rng.random()
        if choice < 0.5:
            under_way = len(account.events_sent) - len(account.events_got)
            if under_way < 8 and self.device.send_space(Kind.EVENT) > RESULTS_ROOM:
                number = len(account.events_sent)
                account.events_sent.append(number)
                assert self.device.send(self._event(number), self.now)
        elif choice < 0.6:
            self.host.show(m.SetHonba(honba=rng.randrange(256)))
            self.host.show(m.SetText(display=rng.randrange(3), text=str(rng.randrange(1000))))
        elif self.host.state is State.UP:
            if choice < 0.8:
                if len(self._outstanding) < 6:
                    self._cmd += 1
                    self._outstanding.add(self._cmd)
                    account.actions_sent.add(self._cmd)
                    command = m.Action(self._cmd, ActionKind.TEST_COUNT, 0, 0, 0)
                    self.host.send(command if choice < 0.78 else m.Stop(cmd_id=self._cmd), self.now)
            elif self.host.send_space(Kind.BULK) > 60:
                self._token += 1
                data = rng.randbytes(rng.randrange(49))
                self._echo[self._token] = data
                self.host.send(m.TestEcho(token=self._token, data=data), self.now)

    def _event(self, number: int) -> Message:
        low, high = number & 0xFF, number >> 8 & 0xFF
        if number % 3 == 0:
            return m.TestEvent(number=number, value=-number)
        if number % 3 == 1:
            sight = m.TileSight(slot=low, flags=1, signal=high, tag=number)
            return m.TileEvent(zone=0x21, reader=1, tiles=(sight,) * (1 + number % 4))
        return m.DiceSettled(a=1 + number % 6, b=1 + number % 5, manual=0, cmd_id=number)

    def _number(self, message: Message) -> int | None:
        if isinstance(message, m.TestEvent):
            return message.number
        if isinstance(message, m.TileEvent):
            return message.tiles[0].tag
        return message.cmd_id if isinstance(message, m.DiceSettled) else None

    # ------------------------------------------------------------------ both ends

    def _at_host(self, item: Item) -> None:
        account = self.account
        if isinstance(item, LinkFailed):
            account.failures[item.reason] += 1
            for kind, fates in (
                (item.unsent, account.actions_unsent),
                (item.unsure, account.actions_unsure),
            ):
                fates.update(x.cmd_id for x in kind if isinstance(x, m.Action | m.Stop))
                self._outstanding -= fates
            if item.reason not in ("peer_reset", "peer_lost"):
                self.host.connect(self.now)
        elif isinstance(item, LinkUp):
            account.handshakes += 1
        elif isinstance(item, Delivery) and item.ticket:
            message = item.message
            account.messages += 1
            number = self._number(message)
            if number is not None:
                account.events_got.append(number)
                assert message == self._event(number), "an event arrived altered"
            if item.event_no is not None:
                account.event_numbers.append(item.event_no)
            if isinstance(message, m.ActionResult) and not message.repeated:
                account.results[message.cmd_id] += 1
                self._outstanding.discard(message.cmd_id)
                if message.result == Result.REFUSED_BUSY:
                    account.refused.add(message.cmd_id)
            elif isinstance(message, m.TestEchoReply):
                account.echoes += 1
                account.echo_faults += self._echo.pop(message.token, None) != message.data
            self._later(self.random.choice((0, 300, 2_000)), "commit", item)

    def _at_device(self, item: Item) -> None:
        if not isinstance(item, Delivery) or not item.ticket:
            return
        message = item.message
        self.account.messages += 1
        if isinstance(message, m.Action | m.Stop):
            self.account.executed[message.cmd_id] += 1
            self._later(self.random.choice((100, 3_000, 15_000)), "finish", message.cmd_id)
        elif isinstance(message, m.SetHonba):
            self.account.shown[-1] = message
        elif isinstance(message, m.SetText):
            self.account.shown[message.display] = message
        self.device.accept(item)

    def _later(self, delay: int, what: str, of: Delivery | int) -> None:
        self._order += 1
        heapq.heappush(self._tasks, (self.now + delay, self._order, what, of))

    def _do_tasks(self) -> None:
        while self._tasks and self._tasks[0][0] <= self.now:
            _, _, what, of = heapq.heappop(self._tasks)
            if isinstance(of, Delivery):
                self.host.accept(of)
            elif self.device.send_space(Kind.EVENT) > 1:
                self.device.finish(of, Result.DONE, 0, self.now)
            else:  # a firmware waits with its report until there is room
                self._later(5 * MS, what, of)

    def _advance(self, duration: int) -> None:
        end = self.now + duration
        while True:
            self._flush()
            times = [self.host.next_deadline, self.device.next_deadline]
            times += [queue[0][0] for queue in (self._line, self._tasks) if queue]
            at = min(t for t in times if t is not None)
            if at > end:
                self.now = end
                return
            self.now = max(at, self.now)
            if at < self.now:
                self.now += 1
            while self._line and self._line[0][0] <= self.now:
                _, _, role, data = heapq.heappop(self._line)
                if role == "host":
                    for item in self.host.receive(data, self.now):
                        self._at_host(item)
                else:
                    for item in self.device.receive(data, self.now):
                        self._at_device(item)
            self._do_tasks()
            if (due := self.host.next_deadline) is not None and due <= self.now:
                for item in self.host.poll(self.now):
                    self._at_host(item)
            if (due := self.device.next_deadline) is not None and due <= self.now:
                for item in self.device.poll(self.now):
                    self._at_device(item)

    def _flush(self) -> None:
        for role, other, end in (("host", "device", self.host), ("device", "host", self.device)):
            data = end.data_to_send(self.now)
            if data and (data := self.cables[role].carry(data)):
                self._order += 1
                heapq.heappush(self._line, (self.now + ONE_WAY, self._order, other, data))

    # ------------------------------------------------------------------ the account

    def check(self) -> None:
        """Every claim of the wire, on what happened."""
        a = self.account
        assert a.events_got == a.events_sent, "events lost, doubled or out of order"
        assert a.event_numbers == list(range(1, len(a.event_numbers) + 1))
        assert max(a.executed.values(), default=0) <= 1, "an action was executed twice"
        certain = a.actions_sent - a.actions_unsure - a.actions_unsent
        assert not a.refused & set(a.executed), "a refused action was executed"
        assert certain <= set(a.executed) | a.refused, "an acknowledged action was not executed"
        assert not a.actions_unsent & set(a.executed), "an action called unsent was executed"
        assert a.results == Counter(set(a.executed) | a.refused), (
            "an action without exactly one result"
        )
        wanted = {x.display if isinstance(x, m.SetText) else -1: x for x in self.host.shown()}
        assert a.shown == wanted, "displays do not show the last wish"
        assert a.echo_faults == 0
        forged = [chunk for cable in self.cables.values() for chunk in cable.forged]
        assert len(forged) <= 3, (
            f"damaged frames that passed every check: {[c.hex() for c in forged]}"
        )
