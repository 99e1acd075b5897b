"""The link as a state machine: any order of sending, losing, waiting, restarting keeps its promises."""

from __future__ import annotations

from collections import Counter, deque

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from firmware_protocol import messages as m
from firmware_protocol.deliveries import Delivery, Item, LinkFailed, PeerReset, State
from firmware_protocol.errors import LinkDown, QueueFull
from firmware_protocol.link import Link
from firmware_protocol.timing import MS
from firmware_protocol.vocabulary import ActionKind, Result
from tests.conftest import scaled
from tests.wire.ends import nonces


class WireMachine(RuleBasedStateMachine):
    """Two ends and a line in each direction, whose octets move, vanish or double when a rule says so."""

    @initialize()
    def begin(self) -> None:
        self.now = 0
        self.boot = 100
        self.nonces = nonces()
        self.host = Link.host(0, nonce=self.nonces)
        self.device = Link.device(0, boot_id=self.boot, capabilities=0, event_capacity=6)
        self.lines: dict[str, deque[bytes]] = {"host": deque(), "device": deque()}
        self.open: dict[str, deque[Delivery]] = {"host": deque(), "device": deque()}
        self.sent: dict[int, list[int]] = {self.boot: []}
        self.got: dict[int, list[int]] = {}
        self.journal = (0, 0)
        self.cmd = 0
        self.executed: Counter[int] = Counter()
        self.fates: dict[int, str] = {}
        self.running: deque[int] = deque()
        self.host.connect(0)
        self._shake_hands()

    # ------------------------------------------------------------------ what may happen

    @rule(seat=st.integers(0, 3))
    def event(self, seat: int) -> None:
        number = self.device.send(m.RiichiSlot(seat=seat, present=1), self.now)
        if number:
            self.sent[self.boot].append(number)

    @rule(stop=st.booleans())
    def command(self, stop: bool) -> None:
        self.cmd += 1
        message = m.Stop(cmd_id=self.cmd) if stop else m.Action(self.cmd, ActionKind.BEEP, 0, 0, 0)
        try:
            self.host.send(message, self.now)
        except (LinkDown, QueueFull):
            self.fates[self.cmd] = "refused"
            assert self.host.state is not State.UP or len(self.fates) > 60

    @rule(honba=st.integers(0, 255))
    def show(self, honba: int) -> None:
        self.host.show(m.SetHonba(honba=honba))

    @rule(wait=st.sampled_from([1, 30, 60, 300, 1_100, 4_000]))
    def wait(self, wait: int) -> None:
        self.now += wait * MS
        for role, link in self._ends():
            self._take(role, link.poll(self.now))

    @rule(role=st.sampled_from(["host", "device"]))
    def write(self, role: str) -> None:
        data = self._link(role).data_to_send(self.now)
        self.lines[role].extend(part + b"\0" for part in data.split(b"\0")[:-1])

    @rule(role=st.sampled_from(["host", "device"]), count=st.integers(1, 6))
    def arrive(self, role: str, count: int) -> None:
        other = "device" if role == "host" else "host"
        for _ in range(min(count, len(self.lines[role]))):
            self._take(other, self._link(other).receive(self.lines[role].popleft(), self.now))

    @rule(loss=st.integers(0, 3))
    def exchange(self, loss: int) -> None:
        """Both write and read; bits of `loss` take away the first frame of the host, of the device."""
        for bit, role in enumerate(("host", "device")):
            self.write(role)
            if loss >> bit & 1 and self.lines[role]:
                self.lines[role].popleft()
            self.arrive(role, 100)

    @rule()
    def accept_all(self) -> None:
        for role in ("host", "device"):
            while self.open[role]:
                self.accept(role)

    @rule(role=st.sampled_from(["host", "device"]), data=st.data())
    def spoil(self, role: str, data: st.DataObject) -> None:
        line = self.lines[role]
        if line:
            at = data.draw(st.integers(0, len(line) - 1))
            how = data.draw(st.sampled_from(["lose", "double", "cut"]))
            if how == "lose":
                del line[at]
            elif how == "double":
                line.insert(at, line[at])
            else:
                line[at] = line[at][: len(line[at]) // 2]

    @rule(role=st.sampled_from(["host", "device"]))
    def accept(self, role: str) -> None:
        if self.open[role]:
            delivery = self.open[role].popleft()
            if delivery.event_no is not None:  # the journal commits, then the link may acknowledge
                self.got.setdefault(delivery.boot, []).append(delivery.event_no)
                self.journal = (delivery.boot, delivery.event_no)
            self._link(role).accept(delivery)

    @rule()
    def finish(self) -> None:
        if self.running:
            number = self.device.finish(self.running.popleft(), Result.DONE, 0, self.now)
            if number:
                self.sent[self.boot].append(number)

    @rule(heal=st.booleans())
    def connect(self, heal: bool) -> None:
        self.host.connect(self.now)
        if heal:
            self._shake_hands()

    @rule(heal=st.booleans())
    def kill_host(self, heal: bool) -> None:
        """Another host on the same journal: what was delivered and not journaled must come again."""
        self.open["host"].clear()
        self.lines["host"].clear()
        for cmd in range(1, self.cmd + 1):
            self.fates.setdefault(cmd, "unsure")
        boot, event_no = self.journal
        self.host = Link.host(self.now, nonce=self.nonces, known_boot=boot, known_event=event_no)
        self.host.connect(self.now)
        if heal:
            self._shake_hands()

    @rule(heal=st.booleans())
    def restart(self, heal: bool) -> None:
        self.boot += 1
        self.sent[self.boot] = []
        self.running.clear()
        self.open["device"].clear()
        self.lines["device"].clear()
        self.device = Link.device(self.now, boot_id=self.boot, capabilities=0, event_capacity=6)
        if heal:
            self._shake_hands()

    # ------------------------------------------------------------------ what holds

    @invariant()
    def events_come_once_and_in_order(self) -> None:
        for numbers in self.got.values():
            assert numbers == list(range(1, len(numbers) + 1))

    @invariant()
    def actions_happen_once_and_never_after_unsent(self) -> None:
        assert max(self.executed.values(), default=0) <= 1
        assert not [c for c in self.executed if self.fates.get(c) in ("unsent", "refused")]

    @invariant()
    def memory_is_bounded(self) -> None:
        for link in (self.host, self.device):
            assert len(link.recent()) <= 32
        assert len(self.open["host"]) <= 8

    def teardown(self) -> None:
        """On a good line everything arrives in the end."""
        if not hasattr(self, "device"):
            return
        for _ in range(400):
            if self.host.state in (State.FAILED, State.DOWN):
                self.host.connect(self.now)
            for role in ("host", "device"):
                self.write(role)
                self.arrive(role, 100)
                while self.open[role]:
                    self.accept(role)
            while self.running:
                self.finish()
            if self.host.state is State.UP and self.host.idle and self.device.idle:
                break
            self.wait(100)
        assert self.host.idle, "the host does not come to rest"
        assert self.device.idle, "the device does not come to rest"
        held = self.got.get(self.boot, [])
        assert set(self.sent[self.boot]) <= set(held), "an event of this start is missing"
        self.events_come_once_and_in_order()
        self.actions_happen_once_and_never_after_unsent()

    # ------------------------------------------------------------------ plumbing

    def _shake_hands(self) -> None:
        """Time and a good line enough for a handshake."""
        for _ in range(4):
            self.wait(100)
            self.exchange(loss=0)

    def _ends(self) -> list[tuple[str, Link]]:
        return [("host", self.host), ("device", self.device)]

    def _link(self, role: str) -> Link:
        return self.host if role == "host" else self.device

    def _take(self, role: str, items: list[Item]) -> None:
        for item in items:
            if role == "host" and isinstance(item, LinkFailed):
                for fate, messages in (("unsent", item.unsent), ("unsure", item.unsure)):
                    self.fates.update(
                        {x.cmd_id: fate for x in messages if isinstance(x, m.Action | m.Stop)}
                    )
            elif isinstance(item, PeerReset):
                assert item.boot == self.boot
            elif isinstance(item, Delivery) and item.ticket:
                if isinstance(item.message, m.Action | m.Stop):
                    self.executed[item.message.cmd_id] += 1
                    self.running.append(item.message.cmd_id)
                self.open[role].append(item)


WireMachine.TestCase.settings = settings(
    max_examples=scaled(3_000, 250),
    stateful_step_count=50,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
TestWire = WireMachine.TestCase
