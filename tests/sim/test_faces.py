"""The command, the console, the view and the coverage report: what a person sees of the simulator."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from hardware_sim.console import BUTTONS, SHORT, obey
from hardware_sim.coverage import missing, report, talk
from hardware_sim.table import Options, SimTable
from hardware_sim.view import draw
from tests.sim.games import tiny, tiny_game
from tests.sim.host import Host, Pair


def test_every_message_of_the_wire_is_produced_or_consumed() -> None:
    counts = talk()
    assert missing(counts) == []
    lines: list[str] = []
    assert report(counts, lines.append) == 0
    assert lines[-1] == "nothing is missing"
    del counts["device → host", "EventsLost"]
    assert report(counts, lines.append) == 1
    assert lines[-1] == "never on the line: EventsLost"


def at_the_table(seconds: float) -> SimTable:
    table = SimTable(Options(seed=3, speed=1.0), tiny_game(3))
    Pair(table, Host()).run(lambda: False, limit=seconds)
    return table


def test_the_view_shows_hands_rivers_melds_and_displays() -> None:
    table = SimTable(Options(seed=3), tiny_game(3))
    pair = Pair(table, Host())
    assert pair.run(lambda: table.parts.sticks.slots[0], limit=60.0)
    picture = draw(table)
    lines = picture.splitlines()
    assert "hand 1/2" in lines[0]
    assert "dice 3 2" in picture
    seat0 = next(line for line in lines if line.startswith("seat 0"))
    assert "東" in seat0
    assert "|riichi|" in seat0
    assert "<3z>" in lines[lines.index(seat0) + 1], "the riichi tile lies sideways"
    assert "[7z 7z <7z>]" in next(line for line in lines if line.startswith("seat 3"))


def test_the_console_obeys() -> None:
    table = at_the_table(0.5)
    for line, tells in (
        ("press start 2", "seat 2 pressed start"),
        ("press start 7", "seats are 0 to 3"),
        ("press launch", "which button?"),
        ("hold reset 1", "seat 1 pressed reset"),
        ("stick 1", "lays a riichi stick"),
        ("stick 1", "takes the stick back"),
        ("stick 9", "seats are 0 to 3"),
        ("pay 26000 24000 25000 25000", "26000 24000 25000 25000"),
        ("pay 1", "four totals"),
        ("jam", "done: the lift jams"),
        ("seat 2 drops a tile and puts it back.", "done:"),
        ("the board is flashed with protocol 1.300", "no protocol"),
        ("dance", "nobody knows how to 'dance'"),
        ("help", "press BUTTON"),
        ("script", "unplug the cable"),
        ("", "level tiles"),
        ("table", "level tiles"),
    ):
        assert tells in (obey(table, line) or ""), line
    assert json.loads(obey(table, "report") or "")["level"] == "tiles"
    assert obey(table, "quit") is None


@pytest.mark.parametrize("word", sorted(SHORT))
def test_short_words_mean_something(word: str) -> None:
    assert "nobody knows" not in (obey(at_the_table(0.1), word) or "")


@pytest.mark.parametrize("name", sorted(BUTTONS))
def test_every_button_can_be_pressed(name: str) -> None:
    assert obey(at_the_table(0.1), f"press {name} 1") == f"seat 1 pressed {name}"


def command(*arguments: str, **options: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tablectl", "sim", *arguments], capture_output=True, text=True, timeout=30,
        check=False, **options,
    )  # type: ignore[call-overload,no-any-return] # fmt: skip


def test_help_teaches_and_lists_the_sentences() -> None:
    assert "examples:" in command("--help").stdout
    done = command("--help-faults")
    assert done.returncode == 0
    assert "unplug the cable" in done.stdout
    assert "tripped-cable" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "tells"),
    [
        (["--level", "high"], "no level 'high'"),
        (["--speed", "fast"], "no speed 'fast'"),
        (["--record", "nowhere.jsonl"], "no game record"),
        (["--faults", "tripped-cabel"], "did you mean tripped-cable"),
        (["--quirk", "moody"], "no quirk"),
        (["--with", "telepathy"], "no capability"),
        (["--link", "/proc/table"], "cannot make"),
    ],
)
def test_what_cannot_be_simulated_is_said_without_a_traceback(
    arguments: list[str], tells: str
) -> None:
    done = command(*arguments)
    assert done.returncode == 2
    assert tells in done.stderr
    assert "Traceback" not in done.stderr


def test_a_table_ends_cleanly_on_ctrl_c_with_its_report(tmp_path: Path) -> None:
    record, link = tmp_path / "tiny.jsonl", tmp_path / "table"
    record.write_text(json.dumps(tiny()), encoding="utf-8")
    process = subprocess.Popen(
        [sys.executable, "-m", "tablectl", "sim", "--link", str(link), "--record", str(record), "--json", "--view",
         "--console", "--tiles", str(tmp_path / "tiles.toml")],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdin is not None
    assert process.stderr is not None
    assert process.stdout is not None
    assert str(link) in process.stderr.readline()
    process.stdin.write("press start 1\nreport\n")
    process.stdin.flush()
    while '"ButtonEvent": 1' not in process.stdout.readline():
        pass
    assert link.is_symlink()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=20)
    assert process.returncode == 0, err
    assert json.loads(out.splitlines()[-1])["sent"] == {"ButtonEvent": 1}
    assert not link.is_symlink()
    assert "Traceback" not in err
