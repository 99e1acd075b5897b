"""A session that meets a defect of its own: the connection is begun anew, and no fact is left hanging."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from firmware_protocol import messages as m
from tablectl.table.port import Port
from tests.daemon.port_kit import play
from tests.daemon.test_device_session import bench, button


def test_a_fact_in_hand_when_the_session_failed_is_acknowledged_by_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise the board keeps it for ever, and everything after it."""

    async def work() -> None:
        async with bench(tmp_path) as b:
            await b.until(b.ledger.up)
            b.ledger.gate.clear()
            number = b.board.event(button())
            await b.until(lambda: b.ledger.waiting == 1)
            opening = Port.open

            async def broken(*_: Any) -> Port:
                raise RuntimeError("a defect")

            monkeypatch.setattr(Port, "open", broken)
            b.pty.link.unlink()
            b.board.detach()
            b.pty.unplug()
            with pytest.raises(RuntimeError, match="a defect"):
                await b.running
            assert b.ledger.events() == []
            monkeypatch.setattr(Port, "open", opening)
            b.ledger.gate.set()
            b.running = asyncio.ensure_future(b.host.run())
            b.board.replug()
            await b.until(lambda: b.ledger.up() and number in b.ledger.events())
            later = b.board.event(button(1))
            await b.until(lambda: later in b.ledger.events() and b.board.link.idle)
            assert b.ledger.events() == [number, later]

    play(work)


def test_a_defect_in_what_follows_a_fact_ends_the_opening_and_not_the_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The worker lives on: the next opening acknowledges what comes."""

    async def work() -> None:
        async with bench(tmp_path) as b:
            await b.until(b.ledger.up)
            observe = b.host.machine.observe

            def broken(message: Any) -> Any:
                if isinstance(message, m.ButtonEvent) and message.seat == 0:
                    raise RuntimeError("a defect")
                return observe(message)

            monkeypatch.setattr(b.host.machine, "observe", broken)
            first = b.board.event(button(0))
            await b.until(lambda: first in b.ledger.events())
            await b.until(lambda: not b.ledger.up())
            await b.until(b.ledger.up)
            later = b.board.event(button(1))
            await b.until(lambda: later in b.ledger.events() and b.board.link.idle)
            assert b.ledger.events() == [first, later]

    play(work)
    assert "a defect" in caplog.text
