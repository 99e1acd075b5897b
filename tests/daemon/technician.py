"""What a hall's monitoring reads of a daemon under test: its own pages, over HTTP."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import aiohttp

from tests.daemon.halls import Hall


@dataclass(frozen=True, slots=True)
class Pages:
    """One look at /healthz and /metrics."""

    status: int
    """Of /healthz: 200 well, 503 not."""
    facts: dict[str, Any]
    metrics: dict[str, float]
    """By name and labels, as in the text."""

    @property
    def tables(self) -> dict[str, dict[str, Any]]:
        """What /healthz says of each table."""
        tables: dict[str, dict[str, Any]] = self.facts["tables"]
        return tables

    def value(self, name: str, table: str = "t1") -> float:
        """A figure of one table."""
        return self.metrics[f'tablectl_{name}{{table="{table}"}}']


async def look(hall: Hall) -> Pages:
    """Ask both pages."""
    base = f"http://127.0.0.1:{hall.web_port}"
    async with aiohttp.ClientSession() as client:
        async with client.get(f"{base}/healthz") as answer:
            status, facts = answer.status, await answer.json()
        async with client.get(f"{base}/metrics") as answer:
            text = await answer.text()
    lines = [line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#")]
    return Pages(status, facts, {name: float(value) for name, value in lines})
