"""`sim://`: a transport that brings its own table, running in a thread of its own on a pty.

    sim://?record=games.jsonl%23g0002&level=tiles&seed=7&speed=max&tiles=/var/lib/tablectl/tiles.toml

All parts are optional; without a record nobody sits at the table.
"""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from hardware_sim.errors import OptionError
from hardware_sim.runner import RunConfig, RunningTable
from hardware_sim.table import Options

_KNOWN = {"record", "level", "seed", "speed", "tiles", "faults"}
_running: dict[str, RunningTable] = {}
_lock = threading.Lock()


def open_sim(url: str) -> str:
    """Path of the pty of the table that a `sim://` URL describes; the same URL is the same table.

    Raises OptionError for a part of the URL that does not exist.
    """
    with _lock:
        running = _running.get(url)
        if running is None or running.ended:
            running = RunningTable(_config(url))
            thread = threading.Thread(
                target=_live, args=(running,), name=f"table {url}", daemon=True
            )
            thread.start()
            _running[url] = running
        return running.path


def close_sim(url: str) -> None:
    """Take the table of a URL away; harmless when there is none."""
    with _lock:
        running = _running.pop(url, None)
    if running is not None:
        running.stop_threadsafe()


def _live(running: RunningTable) -> None:
    asyncio.run(running.run())


def _config(url: str) -> RunConfig:
    parts = urlsplit(url)
    if parts.scheme != "sim":
        raise OptionError(f"{url} is no sim:// URL", value=url)
    values = {key: found[-1] for key, found in parse_qs(parts.query).items()}
    unknown = sorted(set(values) - _KNOWN)
    if unknown:
        raise OptionError(
            f"sim:// does not know {', '.join(unknown)}",
            value=unknown[0],
            hint=f"known: {', '.join(sorted(_KNOWN))}",
        )
    seed = values.get("seed", "0")
    if not seed.lstrip("-").isdigit():
        raise OptionError(f"seed={seed} is no whole number", value=seed)
    options = Options(
        level=values.get("level", "tiles"),
        seed=int(seed),
        speed=parse_speed(values.get("speed", "1")),
    )
    tiles = values.get("tiles")
    return RunConfig(
        options, record=values.get("record"), tiles_toml=Path(tiles) if tiles else None,
        faults=values.get("faults"), exit_at_end=False,
    )  # fmt: skip


def parse_speed(text: str) -> float | None:
    """`max` is None, else times faster than people. Raises OptionError."""
    if text == "max":
        return None
    try:
        speed = float(text)
    except ValueError:
        speed = 0.0
    if not 0.0 < speed < 1e6:
        raise OptionError(
            f"no speed {text!r}", value=text, hint="a number above 0 (1 = people's pace) or max"
        )
    return speed
