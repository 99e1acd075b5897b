"""A hall's file read again by a running daemon, house rules among it; what cannot change waits and says so."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import IO, Any

import pytest

from tablectl.cli.main import main
from tablectl.config import Settings, load
from tablectl.daemon import hallfile
from tablectl.daemon.app import Daemon
from tablectl.mirror.submit import Accepted, Refused, Request
from tests.conftest import ROOT

FRIDAY = 'extends = "tenhou"\ntitle = "Friday evenings"\nkuitan = false\n'
TABLE = '[[tables]]\nid = "t1"\nport = "/nowhere"\n'


def write(folder: Path, text: str = "", name: str = "hall.toml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def hall(folder: Path, table: str = "", venue: str = "", more: str = "") -> Path:
    head = f"[venue]\n{venue}\n[web]\nenabled = false\n[journal]\npath = 'j.db'\nfsync = false\n"
    return write(folder, f"mqtt = false\n{head}{more}{TABLE}{table}")


@asynccontextmanager
async def living(path: Path, **more: Any) -> AsyncIterator[Daemon]:
    daemon = Daemon(load(path), **more)
    life = asyncio.create_task(daemon.run())
    await asyncio.wait(
        {life, asyncio.create_task(daemon.ready.wait())}, return_when="FIRST_COMPLETED"
    )
    if life.done():
        life.result()
    try:
        yield daemon
    finally:
        daemon.stop()
        await life


def play(story: Callable[[], Any]) -> None:
    asyncio.run(asyncio.wait_for(story(), 30))


async def start(daemon: Daemon, number: int, **data: Any) -> Accepted | Refused:
    """A game by request, and the one before it aborted."""
    writer = daemon.units["t1"].writer
    if writer.state.phase not in ("empty", "ended"):
        end = Request("t1", "game/abort", {"reason": "test"}, "test", f"end{number}", "referee")
        assert isinstance(await writer.request(end), Accepted)
    body = {"players": list("abcd"), **data}
    return await writer.request(Request("t1", "game/start", body, "test", f"go{number}", "referee"))


def rules(daemon: Daemon) -> Any:
    game = daemon.units["t1"].writer.state.game
    assert game is not None
    return game.rules


# ---------------------------------------------------------------- house rules


@pytest.mark.parametrize(
    "table",
    ['ruleset = "friday.toml"\n', 'ruleset = "friday"\n', 'ruleset = "friday,length=tonpuusen"\n'],
)
def test_a_table_plays_by_the_halls_own_rules(tmp_path: Path, table: str) -> None:
    write(tmp_path, FRIDAY, "friday.toml")

    async def story() -> None:
        async with living(hall(tmp_path, table, 'rulesets = ["friday.toml"]')) as daemon:
            assert isinstance(await start(daemon, 1), Accepted)
            assert (rules(daemon).id, rules(daemon).kuitan) == ("friday", False)
            assert (rules(daemon).length == "tonpuusen") == ("tonpuusen" in table)
            assert isinstance(await start(daemon, 2, options={"length": "tonpuusen"}), Accepted)
            assert (rules(daemon).kuitan, rules(daemon).length) == (False, "tonpuusen")

    play(story)


def test_a_request_names_the_halls_rules_by_id_and_never_a_path(tmp_path: Path) -> None:
    write(tmp_path, FRIDAY, "friday.toml")
    secret = write(tmp_path, FRIDAY, "secret.toml")

    async def story() -> None:
        async with living(hall(tmp_path, venue='rulesets = ["friday.toml"]')) as daemon:
            assert isinstance(await start(daemon, 1), Accepted)
            assert rules(daemon).id == "tenhou"
            assert isinstance(await start(daemon, 2, ruleset="friday"), Accepted)
            assert (rules(daemon).id, rules(daemon).kuitan) == ("friday", False)
            for number, name in enumerate(
                ("secret", str(secret), "friday.toml", "../friday.toml", "fridya"), 3
            ):
                answer = await start(daemon, number, ruleset=name)
                assert isinstance(answer, Refused)
                assert (answer.code, answer.field) == ("unknown_ruleset", "ruleset")
                assert "friday" in (answer.hint or "")
                assert str(tmp_path) not in answer.message.replace(name, "")
            answer = await start(daemon, 9, ruleset="friday", options={"kuitann": True})
            assert isinstance(answer, Refused)
            assert (answer.code, answer.field) == ("unknown_option", "options")
            assert "kuitan" in (answer.hint or "")

    play(story)


@pytest.mark.parametrize(
    ("text", "code", "line", "hint"),
    [
        ('extends = "tenhou"\nkuitann = false\n', "unknown_value", 2, "kuitan"),
        ('extends = "tenhou"\n[frame]\numa = [30, 10, -10, -30]\n', "impossible_value", 3, ""),
        ('extends = "tenhuo"\n', "bad_extends", 1, "tenhou"),
        ('extends = "other.toml"\n', "bad_extends", 1, ""),
        ('extends = "friday.toml"\n', "cyclic_extends", 1, ""),
        ('extends = = "x"\n', "bad_toml", 1, ""),
        ('id = "tenhou"\nextends = "mu"\n', "impossible_value", 1, "an id of their own"),
        ('extends = "tenhou"\ntitle = "\udcff"\n', "unreadable", 2, "UTF-8"),
    ],
)
def test_a_fault_in_a_house_rule_file_names_that_file_and_its_line(
    tmp_path: Path, text: str, code: str, line: int, hint: str
) -> None:
    file = tmp_path / "friday.toml"
    file.write_bytes(text.encode("utf-8", "surrogateescape"))
    path = hall(tmp_path, 'ruleset = "friday.toml"\n')
    (problem,) = hallfile.problems(load(path), path)
    assert problem.code == code
    if code == "unreadable":
        assert f"{file}" in problem.message
        assert problem.file == str(path)
    else:
        assert (problem.file, problem.line) == (str(file), line)
    assert hint in problem.hint
    assert main(["run", "--config", str(path)]) == 2


def test_two_house_rules_of_one_id_are_told_apart(tmp_path: Path) -> None:
    one = write(tmp_path, f'id = "ours"\n{FRIDAY}', "one.toml")
    write(tmp_path, f'\nid = "ours"\n{FRIDAY}', "two.toml")
    path = hall(tmp_path, venue='rulesets = ["one.toml", "two.toml"]')
    (problem,) = hallfile.problems(load(path), path)
    assert (problem.line, str(one) in problem.message) == (2, True)


def test_the_game_goes_on_after_a_restart_without_its_house_rules(tmp_path: Path) -> None:
    write(tmp_path, FRIDAY, "friday.toml")

    async def story() -> None:
        async with living(hall(tmp_path, 'ruleset = "friday.toml"\n')) as daemon:
            assert isinstance(await start(daemon, 1), Accepted)
        (tmp_path / "friday.toml").unlink()
        async with living(hall(tmp_path)) as daemon:
            assert (rules(daemon).id, rules(daemon).kuitan) == ("friday", False)

    play(story)


# ---------------------------------------------------------------- read again


def test_what_is_live_is_taken_over_and_the_rest_named(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    friday = write(tmp_path, FRIDAY, "friday.toml")
    path = hall(tmp_path)

    def again() -> Settings:
        return load(path)

    async def story() -> None:
        async with living(path) as daemon:
            hall(
                tmp_path,
                'ruleset = "friday"\nbaud = 9600\n',
                'rulesets = ["friday.toml"]\nname = "麻雀"',
            )
            found = {change.key: change.live for change in daemon.reload(again())}
            assert found == {
                "venue.name": True, "venue.rulesets": True, "tables.t1.ruleset": True, "tables.t1.baud": False,
            }  # fmt: skip
            assert isinstance(await start(daemon, 1), Accepted)
            assert (rules(daemon).id, rules(daemon).kuitan) == ("friday", False)
            # The file is the same, what it names is not.
            friday.write_text(FRIDAY + "aka = false\n", encoding="utf-8")
            found = {change.key: change.live for change in daemon.reload(again())}
            assert found == {
                "venue.rulesets": True,
                "tables.t1.ruleset": True,
                "tables.t1.baud": False,
            }
            assert isinstance(await start(daemon, 2), Accepted)
            assert (rules(daemon).kuitan, rules(daemon).aka) == (False, False)
            # A fault changes nothing, not even the half of it.
            friday.write_text(FRIDAY + "nonsense = 1\n", encoding="utf-8")
            assert daemon.reload(again()) == []
            assert isinstance(await start(daemon, 3, ruleset="friday"), Accepted)

    play(story)
    said = caplog.text
    assert "tables.t1.baud needs a restart and is not used yet" in said
    assert "everything stays as it was" in said
    assert "friday.toml:4" in said


def test_a_password_or_tile_file_that_changed_behind_its_name_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HALL_PASSWORD", "old")
    tiles = write(tmp_path, 'format = 1\n[set.a]\n01 = "1m"\n', "tiles.toml")
    path = write(
        tmp_path,
        '[mqtt]\nurl = "mqtt://127.0.0.1:1"\nusername = "u"\npassword = { env = "HALL_PASSWORD" }\n'
        f'[web]\nenabled = false\n[journal]\npath = "j.db"\n{TABLE}tiles = "tiles.toml"\n',
    )

    async def story() -> None:
        async with living(path) as daemon:
            assert daemon.reload(load(path)) == []
            monkeypatch.setenv("HALL_PASSWORD", "new")
            tiles.write_text('format = 1\n[set.a]\n01 = "2m"\n', encoding="utf-8")
            for _ in range(2):  # it is said until it is used
                found = {change.key: change.live for change in daemon.reload(load(path))}
                assert found == {"mqtt.password": False, "tables.t1.tiles": False}

    play(story)


def test_sighup_tells_systemd_that_it_reads_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[tuple[str, ...]] = []
    path = hall(tmp_path)

    async def story() -> None:
        daemon = Daemon(load(path))
        monkeypatch.setattr(daemon.notifier, "send", lambda *lines: told.append(lines))
        rung = asyncio.Event()

        def again() -> Settings:
            asyncio.get_running_loop().call_soon(rung.set)
            return load(path)

        daemon.obey_signals(again)
        life = asyncio.create_task(daemon.run())
        await daemon.ready.wait()
        signal.raise_signal(signal.SIGHUP)
        await rung.wait()
        daemon.stop()
        await life

    play(story)
    words = [lines[0] for lines in told]
    first = words.index("RELOADING=1")
    assert told[first][1].startswith("MONOTONIC_USEC=")
    assert words[first + 1 : first + 3] in (
        ["READY=1", "STOPPING=1"],
        ["STATUS=0 of 1 tables up", "READY=1"],
    )


def test_the_level_of_the_command_line_survives_a_reload(tmp_path: Path) -> None:
    import argparse

    from tablectl.cli import run

    args = argparse.Namespace(config=hall(tmp_path, more="[log]\nlevel = 'error'\n"), log="debug")
    for _ in range(2):
        settings = run._settings(args, lambda problem: pytest.fail(str(problem)))
        assert settings is not None
        assert settings.log.level == "debug"


def test_faults_at_the_start_have_a_priority_where_journald_reads(tmp_path: Path) -> None:
    pw = write(tmp_path, "secret", "pw")
    pw.chmod(0o644)
    path = write(
        tmp_path, f'[mqtt]\nusername = "u"\npassword = {{ file = "pw" }}\n{TABLE}baudd = 1\n'
    )
    lines = told(path)
    assert lines[0].startswith("<3>tablectl: configuration: ")
    assert all(line.startswith("<3>") for line in lines)
    path.write_text(
        path.read_text(encoding="utf-8").replace("baudd = 1", 'driver = "x"'), encoding="utf-8"
    )
    priorities = {line[:3] for line in told(path)}
    assert priorities == {"<3>", "<4>"}, "a warning is no error"


def told(path: Path) -> list[str]:
    """What a start that fails says to journald."""
    done = subprocess.run(
        [sys.executable, "-m", "tablectl", "run", "--config", str(path)],
        cwd=ROOT, env=os.environ | {"JOURNAL_STREAM": "1:2"}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (2, "")
    return done.stderr.splitlines()


def test_a_reload_that_fails_says_so_and_a_warning_does_not(tmp_path: Path) -> None:
    pw = write(tmp_path, "secret", "pw")
    pw.chmod(0o644)
    text = (
        f'[mqtt]\nurl = "mqtt://127.0.0.1:1"\nusername = "u"\npassword = {{ file = "pw" }}\n'
        f"[web]\nenabled = false\n{TABLE}"
    )
    path = write(tmp_path, text)
    process = subprocess.Popen(
        [sys.executable, "-m", "tablectl", "run", "--config", str(path)],
        cwd=ROOT, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert process.stderr is not None
        until(process.stderr, "running:")
        process.send_signal(signal.SIGHUP)
        said = until(process.stderr, "nothing has changed")
        assert "WARNING configuration:" in said
        assert "not reloaded" not in said
        path.write_text(text + "baudd = 1\n", encoding="utf-8")
        process.send_signal(signal.SIGHUP)
        said = until(process.stderr, "everything stays as it was")
        assert "did you mean 'baud'?" in said
    finally:
        process.terminate()
        process.communicate(timeout=20)
    assert process.returncode == 0


def until(stream: IO[str], words: str) -> str:
    """Read until a line holds these words; all that was read."""
    said = ""
    for line in stream:
        said += line
        if words in line:
            return said
    raise AssertionError(f"{words!r} was not said:\n{said}")
