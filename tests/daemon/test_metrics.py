"""/metrics is what Prometheus reads: every line in its format, every part named before it is in trouble."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

from tablectl.config import load
from tablectl.daemon.app import Daemon

SAMPLE = re.compile(r'([a-z_]+)(?:\{((?:[a-z_]+="(?:[^"\\\n]|\\.)*",?)*)\})? (-?[0-9.e+-]+)')


def page(folder: Path, table: str = "t1") -> str:
    """The text of a daemon with one table that is not there."""
    file = folder / "hall.toml"
    file.write_text(
        'mqtt = false\n[web]\nenabled = false\n[journal]\npath = "j.db"\nfsync = false\n'
        f'[[tables]]\nid = "{table}"\nport = "/nowhere"\n',
        encoding="utf-8",
    )

    async def story() -> str:
        daemon = Daemon(load(file))
        life = asyncio.create_task(daemon.run())
        await daemon.ready.wait()
        await asyncio.sleep(0)  # let the tasks that were just made begin
        text = daemon.metrics()
        daemon.stop()
        await life
        return text

    return asyncio.run(story())


def test_every_line_is_in_the_format_and_every_family_once(tmp_path: Path) -> None:
    families: dict[str, str] = {}
    current = ""
    for line in page(tmp_path).splitlines():
        if line.startswith("# HELP "):
            current = line.split()[2]
            assert current not in families, f"{current} twice"
            assert len(line.split(None, 3)) == 4
        elif line.startswith("# TYPE "):
            _, _, name, kind = line.split()
            assert name == current
            families[name] = kind
        else:
            sample = SAMPLE.fullmatch(line)
            assert sample, line
            assert sample[1] == current
            float(sample[3])
    for name, kind in families.items():
        assert name.endswith("_total") == (kind == "counter"), name


def test_what_an_alarm_needs_is_there_before_anything_happens(tmp_path: Path) -> None:
    text = page(tmp_path)
    for line in (
        'tablectl_link_up{table="t1"} 0',
        'tablectl_bus_online{table="t1"} 0',
        'tablectl_outbox{table="t1"} 0',
        'tablectl_durable{table="t1"} 1',
        'tablectl_contradiction{table="t1"} 0',
        "tablectl_journal_ok 1",
        "tablectl_journal_in_memory 0",
        'tablectl_stuck{part="engine"} 0',
        'tablectl_stuck{part="serial"} 0',
        'tablectl_stuck{part="bus"} 0',
    ):
        assert f"\n{line}\n" in text, line
    for name in ("process_resident_memory_bytes", "process_open_fds", "process_cpu_seconds_total"):
        (value,) = re.findall(rf"^{name} (\S+)$", text, re.MULTILINE)
        assert float(value) > 0
