"""C device and Python device hear the same octets and write the same frames at the same microsecond, through any damage."""

from __future__ import annotations

from pathlib import Path

import pytest

from firmware_protocol.deliveries import Delivery, Item
from firmware_protocol.framing import LINK, Frame
from firmware_protocol.link import Link
from firmware_protocol.outgoing import Outbox
from firmware_protocol.schema import Kind, Message
from firmware_protocol.vocabulary import LEVEL_BASIC
from tests.conftest import scaled
from tests.wire.c_device import CDevice, built
from tests.wire.ends import frames
from tests.wire.soak import Soak

MESSAGES = scaled(20_000, 1_500)
ROOMY = "-DTCTL_EVENT_BYTES=3648U -DTCTL_BULK_BYTES=32000U"
"""As many events and replies as Python keeps: what differs then is a difference of behaviour, not of memory."""


class Endless(Outbox):
    """As many answers as there are: in C the memory is larger than what ever waits here."""

    def put(self, message: Message) -> None:
        self._queues[message.SPEC.kind].append(message)

    def space(self, kind: Kind) -> int:
        return 1_000


class Twin:
    """Two devices in one: the soak sees the Python one; what the C one does must be the same."""

    def __init__(self, program: Path) -> None:
        self.python = Link.device(
            0, boot_id=7, capabilities=int(LEVEL_BASIC), version=0x01020300, event_capacity=64
        )
        self.python._session.outbox = Endless()
        self.c = CDevice(program)
        self.c.polls = False
        self.compared = 0

    def receive(self, data: bytes, now: int) -> list[Item]:
        items = self.python.receive(data, now)
        self._same_items(items, self.c.receive(data, now))
        return items

    def poll(self, now: int) -> list[Item]:
        items = self.python.poll(now)
        self._same_items(items, self.c.poll(now))
        return items

    def _same_items(self, items: list[Item], others: list[Item]) -> None:
        ours = [x.message for x in items if isinstance(x, Delivery) and x.ticket]
        theirs = [x.message for x in others if isinstance(x, Delivery)]
        assert [x for x in theirs if x.SPEC.kind is not Kind.DATAGRAM] == ours

    def data_to_send(self, now: int) -> bytes:
        # A device in C writes when it is polled; so both are.
        self.poll(now)
        data = self.python.data_to_send(now)
        ours, theirs = _comparable(data), _comparable(self.c.data_to_send(now))
        assert ours == theirs, f"at {now} µs"
        self.compared += len(ours)
        return data

    def accept(self, delivery: Delivery) -> None:
        self.python.accept(delivery)

    def send(self, message: Message, now: int) -> int:
        number = self.python.send(message, now)
        assert self.c.send(message, now) == number
        return number

    def send_space(self, kind: Kind) -> int:
        return self.python.send_space(kind)

    def finish(self, cmd_id: int, result: int, detail: int, now: int) -> int:
        number = self.python.finish(cmd_id, result, detail, now)
        assert self.c.finish(cmd_id, result, detail, now) == number
        return number

    @property
    def next_deadline(self) -> int | None:
        return self.python.next_deadline

    @property
    def idle(self) -> bool:
        assert self.c.idle == self.python.idle
        return self.python.idle


def _comparable(data: bytes) -> list[Frame]:
    """Frames by type: between types the order is free. In C one HelloAck answers copies of a Hello that came together."""
    out: list[Frame] = []
    for frame in sorted(frames(data), key=lambda frame: frame.type):
        if frame.type != LINK or frame not in out:
            out.append(frame)
    return out


@pytest.fixture(scope="module")
def roomy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory, "step", DEFINES=ROOMY) / "step"


@pytest.mark.soak
@pytest.mark.parametrize("seed", [21, 22])
def test_the_c_device_writes_what_the_python_device_writes(seed: int, roomy: Path) -> None:
    twin = Twin(roomy)
    soak = Soak(twin, seed)
    account = soak.run(MESSAGES)
    soak.check()
    twin.c.close()
    assert twin.compared > MESSAGES / 2
    assert sum(account.failures.values()) > 0
