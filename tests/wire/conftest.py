"""The marker that ties a test to sentences of SPEC.md."""

from __future__ import annotations

import pytest


def pytest_configure(config: pytest.Config) -> None:
    """`@pytest.mark.spec("L-12")`: this test shows sentence L-12 of SPEC.md."""
    config.addinivalue_line(
        "markers", "spec(*ids): sentences of firmware_protocol/SPEC.md that the test shows"
    )
