"""Python host and the C table over a real pty in real time: thousands of messages, with a good cable and a bad one."""

from __future__ import annotations

import os
import random
import select
import time
import tty
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from firmware_protocol import messages as m
from firmware_protocol.deliveries import Delivery, Item, LinkFailed, LinkUp, State
from firmware_protocol.link import Link
from firmware_protocol.vocabulary import ActionKind, Result
from tests.conftest import scaled
from tests.wire.c_table import Firmware, host_program, running
from tests.wire.channel import BadCable

PATIENCE_S = 30.0


class PtyHost:
    """A host's link on a pty, with a cable for each direction."""

    def __init__(self, path: str, seed: int) -> None:
        rng = random.Random(seed)
        self.fd = os.open(path, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
        tty.setraw(self.fd)
        self.link = Link.host(self.now, nonce=lambda: rng.getrandbits(32))
        self.out, self.into = BadCable(seed + 1, 0.0), BadCable(seed + 2, 0.0)
        self._half = b""
        self.series: list[int] = []
        self.event_numbers: list[int] = []
        self.results: Counter[int] = Counter()
        self.lost = 0
        self.echoes: set[int] = set()
        self.sent: set[int] = set()
        self.unsure: set[int] = set()
        self.failures: Counter[str] = Counter()
        self.handshakes = 0
        self.messages = 0

    @property
    def now(self) -> int:
        """µs of the real clock."""
        return time.monotonic_ns() // 1000

    def run(self, until: Callable[[], bool], patience_s: float = PATIENCE_S) -> bool:
        """Let both ends talk until something is so; False when it is not in time."""
        end = time.monotonic() + patience_s
        while not until():
            if time.monotonic() > end:
                return False
            self._take(self.link.poll(self.now))
            self._write()
            due = self.link.next_deadline
            wait = 0.05 if due is None else min(max((due - self.now) / 1e6, 0.0), 0.05)
            if select.select([self.fd], [], [], wait)[0]:
                self._read()
        return True

    def _read(self) -> None:
        data = self._half + os.read(self.fd, 4096)
        whole, zero, self._half = data.rpartition(b"\0")
        if zero:
            self._take(self.link.receive(self.into.carry(whole + zero), self.now))

    def _write(self) -> None:
        data = self.link.data_to_send(self.now)
        if data:
            data = self.out.carry(data)
        while data:
            try:
                data = data[os.write(self.fd, data) :]
            except BlockingIOError:
                select.select([], [self.fd], [], 1.0)

    def _take(self, items: list[Item]) -> None:
        for item in items:
            if isinstance(item, LinkFailed):
                self.failures[item.reason] += 1
                lost = item.unsure + item.unsent
                self.unsure |= {x.cmd_id for x in lost if isinstance(x, m.Action)}
                if item.reason not in ("peer_reset", "peer_lost"):
                    self.link.connect(self.now)
            elif isinstance(item, LinkUp):
                self.handshakes += 1
            elif isinstance(item, Delivery) and item.ticket:
                self._heard(item)
                self.link.accept(item)

    def _heard(self, item: Delivery) -> None:
        message = item.message
        self.messages += 1
        if item.event_no is not None:
            self.event_numbers.append(item.event_no)
        if isinstance(message, m.TestEvent):
            self.series.append(message.number)
        elif isinstance(message, m.ActionResult) and not message.repeated:
            self.results[message.cmd_id] += 1
            assert message.result == Result.DONE
        elif isinstance(message, m.EventsLost):
            self.lost += message.count
        elif isinstance(message, m.TestEchoReply):
            self.echoes.add(message.token)

    def send_something(self, number: int) -> None:
        """Displays; an action when the last ones have ended; an echo."""
        self.link.show(m.SetHonba(number & 0xFF))
        self.link.show(m.SetText(1, str(number)))
        self.messages += 2
        open_actions = self.sent - self.unsure - set(self.results)
        if self.link.state is State.UP and len(open_actions) < 2:
            self.link.send(m.Action(number, ActionKind.BEEP, 0, 0, 0), self.now)
            self.sent.add(number)
            self.link.send(m.TestEcho(number, bytes(number % 49)), self.now)
            self.messages += 2


@pytest.mark.soak
@pytest.mark.parametrize(
    ("rate", "events"), [(0.0, scaled(5_000, 1_500)), (0.02, scaled(5_000, 400))]
)
def test_thousands_of_messages_over_a_real_pty(
    rate: float,
    events: int,
    tmp_path_factory: pytest.TempPathFactory,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A thousand events a second; displays, actions and echoes against them."""
    program = host_program(tmp_path_factory)
    with running(Firmware.on_host(program, tmp_path / "errors")) as firmware:
        host = PtyHost(firmware.wire, 31)
        host.link.connect(host.now)
        assert host.run(lambda: host.link.state is State.UP)
        host.link.show(m.SetTestMode(1))
        assert host.run(lambda: host.link.idle)
        host.link.send(m.TestEmit(events, 1), host.now)
        assert host.run(lambda: bool(host.series))
        host.out.rate = host.into.rate = rate
        number = 0
        while len(host.series) < events:
            number += 1
            host.send_something(number)
            before = host.messages

            def moved(before: int = before) -> bool:
                return host.messages > before + 3 or len(host.series) >= events

            assert host.run(moved), "the line stands still"
        host.out.rate = host.into.rate = 0.0
        assert host.run(lambda: host.link.state is State.UP and host.link.idle)
        assert host.run(lambda: host.sent - host.unsure <= set(host.results))
        firmware.press("show")
        said = ""
        while ", links " not in said:
            said += firmware.read()
    beeps = said.count("beep\n")
    forged = len(host.out.forged) + len(host.into.forged)
    with capsys.disabled():
        print(
            f"\n  pty, {rate:.0%} each fault: {host.messages} messages, {len(host.series)} events of the series,"
            f" {len(host.sent)} actions ({len(host.unsure)} unsure), {len(host.echoes)} echoes; {host.handshakes} handshakes,"
            f" failures {dict(host.failures)}; cable {dict(host.out.done + host.into.done)}; passed although damaged: {forged}"
        )
    assert host.series == list(range(events)), "lost, doubled or out of order"
    assert host.event_numbers == list(range(1, len(host.event_numbers) + 1))
    assert host.lost == 0
    assert set(host.results.values()) == {1}, "an action without exactly one result"
    assert beeps == len(host.results), "executed as often as told"
    assert forged <= 3
    if rate == 0.0:
        assert host.failures == {}
        assert host.sent == set(host.results)
        assert len(host.echoes) > len(host.sent) / 2
    assert (tmp_path / "errors").read_text() == "", "a sanitizer has something to say"
