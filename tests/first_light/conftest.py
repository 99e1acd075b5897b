"""What the tests of the bus share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.first_light.brokers import Mosquitto, mosquitto


@pytest.fixture
def hall(tmp_path: Path) -> Iterator[Mosquitto]:
    """A hall's broker."""
    with mosquitto(tmp_path) as broker:
        yield broker
