"""Python host and Python device through bad cables: nothing lost, nothing twice, nothing out of order."""

from __future__ import annotations

import pytest

from firmware_protocol.link import Link
from firmware_protocol.vocabulary import LEVEL_TILES
from tests.conftest import scaled
from tests.wire.channel import FAULTS
from tests.wire.soak import Soak

MESSAGES = scaled(100_000, 3_000)


@pytest.mark.soak
@pytest.mark.parametrize("seed", [1, 2])
def test_mixed_traffic_through_a_bad_cable(seed: int, capsys: pytest.CaptureFixture[str]) -> None:
    soak = Soak(Link.device(0, boot_id=7, capabilities=int(LEVEL_TILES)), seed)
    account = soak.run(MESSAGES if seed == 1 else MESSAGES // 3)
    damage = {role: dict(cable.done) for role, cable in soak.cables.items()}
    forged = sum(len(cable.forged) for cable in soak.cables.values())
    with capsys.disabled():
        print(
            f"\n  seed {seed}: {account.summary()}; cable {damage}; passed every check although damaged: {forged}"
        )
    soak.check()
    assert account.messages >= MESSAGES // 3
    assert all(damage[role][fault] for role in damage for fault in FAULTS)
    assert sum(account.failures.values()) > 0, (
        "no failure: the cable was not bad enough to show recovery"
    )
    assert account.echoes > 0


def test_a_good_cable_repeats_nothing() -> None:
    soak = Soak(Link.device(0, boot_id=7, capabilities=int(LEVEL_TILES)), 5, rate=0.0)
    soak.run(1_000)
    soak.check()
    assert soak.host.stats.retransmits == 0
    assert soak.account.failures == {}
    assert soak.account.handshakes == 1
