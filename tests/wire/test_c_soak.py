"""Python host and C device through bad cables: nothing lost, nothing twice, nothing out of order, nothing for a sanitizer to say."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from firmware_protocol.deliveries import Item
from tests.conftest import scaled
from tests.wire.c_device import CDevice, built
from tests.wire.channel import FAULTS
from tests.wire.soak import Soak

MESSAGES = scaled(100_000, 3_000)


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The link under AddressSanitizer and UndefinedBehaviorSanitizer, with its default buffers."""
    return built(tmp_path_factory, "step") / "step"


@pytest.mark.soak
@pytest.mark.parametrize("seed", [11, 12])
def test_mixed_traffic_through_a_bad_cable(
    seed: int, program: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    device = CDevice(program)
    soak = Soak(device, seed)
    account = soak.run(MESSAGES if seed == 11 else MESSAGES // 3)
    device.close()
    damage = {role: dict(cable.done) for role, cable in soak.cables.items()}
    forged = sum(len(cable.forged) for cable in soak.cables.values())
    failed = sum(change.state == "failed" for change in device.changes)
    with capsys.disabled():
        print(
            f"\n  C device, seed {seed}: {account.summary()}; the device saw {failed} failures;"
            f" cable {damage}; passed every check although damaged: {forged}"
        )
    soak.check()
    assert account.messages >= MESSAGES // 3
    assert all(damage[role][fault] for role in damage for fault in FAULTS)
    assert sum(account.failures.values()) > 0, "the cable was not bad enough to show recovery"
    assert account.echoes > 0


class ShortUart(CDevice):
    """A device whose UART takes a random number of octets at a time, often none."""

    chance = random.Random(5)

    def step(self, op: str, now: int, arguments: bytes = b"") -> list[Item]:
        if op != "B":
            budget = self.chance.choice((0, 0, 20, 40, 64, 130, 1000))
            super().step("w", now, budget.to_bytes(4, "little"))
        return super().step(op, now, arguments)


@pytest.mark.soak
def test_a_uart_without_room_changes_nothing_but_the_time(program: Path) -> None:
    device = ShortUart(program)
    soak = Soak(device, 13, rate=0.01)
    account = soak.run(scaled(20_000, 1_200))
    device.close()
    soak.check()
    assert account.echoes > 0
