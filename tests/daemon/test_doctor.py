"""`tablectl doctor`: each fault of a hall in one line, with its fix in it."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import sqlite3
import subprocess
import sys
import tty
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import aiomqtt
import pytest

from firmware_protocol import messages as wire
from hardware_sim.runner import RunConfig, RunningTable
from hardware_sim.table import Options
from tablectl.bus.broker import Broker
from tablectl.cli.main import main
from tablectl.config import load, loads
from tablectl.daemon.app import Daemon
from tablectl.daemon.clock import ManualClock
from tablectl.doctor import files, host, memory, pages, ports, rights
from tablectl.doctor.examine import Plan, examine
from tablectl.doctor.finding import Finding
from tablectl.journal import Journal
from tablectl.table import locate
from tests.conftest import ROOT, need_program
from tests.daemon.journal_kit import change
from tests.daemon.rights_kit import public_folder
from tests.first_light.brokers import Mosquitto, mosquitto

ACL = ROOT / "deploy" / "mosquitto" / "tablectl.acl"
FAST = Plan(wait_s=2.0)


@pytest.fixture
def line(tmp_path: Path) -> Iterator[int]:
    """A serial port that takes octets and says nothing; its name is `tmp_path / "tty"`."""
    master, slave = os.openpty()
    tty.setraw(slave)
    (tmp_path / "tty").symlink_to(os.ttyname(slave))
    yield master
    os.close(slave)
    os.close(master)


def hall(folder: Path, broker: int, *tables: str, more: str = "") -> tuple[Any, Path]:
    file = folder / "hall.toml"
    blocks = tables or (f'port = "{folder / "tty"}"',)
    file.write_text(
        f'[mqtt]\nurl = "mqtt://127.0.0.1:{broker}"\n{more}[web]\nport = 0\n'
        f'[journal]\npath = "{folder}/journal.db"\n'
        + "".join(f'[[tables]]\nid = "t{n}"\n{block}\n' for n, block in enumerate(blocks, 1)),
        encoding="utf-8",
    )
    return loads(file.read_text(encoding="utf-8")), file


def doctor(settings: Any, file: Path, plan: Plan = FAST) -> dict[str, Finding]:
    """Findings by code; every one that is not ok has a fix in its line."""
    clock = ManualClock(0, 1_790_000_000_000)
    found = asyncio.run(examine(settings, file, plan, clock=clock))
    for finding in found:
        assert finding.status == "ok" or (finding.fix and finding.fix in str(finding)), finding
        assert "\n" not in str(finding)
    return {finding.code: finding for finding in found if finding.status != "ok"}


# ---------------------------------------------------------------- configuration and host


def test_a_bad_configuration_ends_with_2_and_names_line_and_key(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "hall.toml"
    file.write_text('[mqtt]\npasswd = "x"\n', encoding="utf-8")
    assert main(["doctor", "--config", str(file)]) == 2
    said = capsys.readouterr().err
    assert f"{file}:2:1" in said
    assert "did you mean 'password'?" in said
    assert main(["doctor", "--config", str(file), "--json"]) == 2
    assert json.loads(capsys.readouterr().out)["lines"][0]["code"] == "unknown_key"


def test_what_only_the_hosts_files_can_tell_is_a_failing_line(tmp_path: Path, line: int) -> None:
    settings, file = hall(tmp_path, 1, more='username = "x"\npassword = { file = "/nowhere" }\n')
    assert doctor(settings, file)["secret_missing"].status == "fail"


@pytest.mark.parametrize(
    ("wall_ms", "synced", "code"),
    [(0, True, "clock_wrong"), (1_790_000_000_000, False, "clock_not_synced")],
)
def test_a_clock_that_cannot_be_trusted(wall_ms: int, synced: bool, code: str) -> None:
    finding = host.clock(ManualClock(0, wall_ms, synced=synced))
    assert finding.code == code
    assert "timedatectl" in finding.fix


def test_a_disk_without_room_or_rights(tmp_path: Path) -> None:
    def room(free: int, *, flag: int = 0, inodes: int = 5) -> Callable[[Path], Any]:
        return lambda _path: os.statvfs_result((1, 1, free, free, free, 9, inodes, inodes, flag, 255))  # fmt: skip

    journal = tmp_path / "journal.db"
    many = 10 * 1024**3
    assert host.disk(journal, room(many)).status == "ok"
    assert host.disk(journal, room(100 * host.MIB)).code == "disk_low"
    assert host.disk(journal, room(host.LEAST - 1)).code == "disk_full"
    assert host.disk(journal, room(many, inodes=0)).code == "disk_no_inodes"
    assert host.disk(journal, room(many, flag=os.ST_RDONLY)).code == "disk_read_only"
    assert host.disk(tmp_path / "no" / "journal.db").code == "folder_missing"


# ---------------------------------------------------------------- files

NOBODY = files.User("tablectl", 54321, 54321, frozenset({54321}))


def test_files_that_the_service_may_not_read_or_write() -> None:
    with public_folder() as folder:
        service_files(folder)


def service_files(tmp_path: Path) -> None:
    settings, file = hall(tmp_path, 1, more='username = "u"\npassword = { file = "pw" }\n')
    settings = load(file)
    for name, mode in (("pw", 0o600), ("journal.db", 0o640), ("journal.db.lock", 0o644)):
        (tmp_path / name).write_text("x", encoding="utf-8")
        (tmp_path / name).chmod(mode)
    file.chmod(0o644)
    found = {finding.code: finding for finding in files.examine(settings, file, NOBODY)}
    assert set(found) == {"file_denied", "journal_denied"}
    assert found["file_denied"].subject == str(tmp_path / "pw")
    assert "chgrp" in found["file_denied"].fix
    assert f"sudo chown tablectl: {tmp_path}" in found["journal_denied"].fix
    for name in ("pw", "journal.db", "journal.db.lock"):
        (tmp_path / name).chmod(0o666)
    (good,) = files.examine(settings, file, NOBODY)
    assert good.status == "ok"
    tmp_path.chmod(0o700)  # the way there is closed
    assert {f.code for f in files.examine(settings, file, NOBODY)} == {"file_denied"}


def test_a_password_that_only_the_service_has_is_a_warning_with_a_way(
    tmp_path: Path, line: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CREDENTIALS_DIRECTORY", raising=False)
    monkeypatch.setattr("tablectl.config.secret.SERVICE_CREDENTIALS", tmp_path / "none")
    settings, file = hall(tmp_path, 1, more='username = "u"\npassword = { credential = "mqtt" }\n')
    finding = doctor(settings, file)["secret_elsewhere"]
    assert finding.status == "warn"
    assert "systemd-run" in finding.fix


@pytest.mark.parametrize(
    ("more", "table", "code"),
    [
        ("", 'port = "/dev/null"\ntiles = "hall.toml"', "tiles_format"),
        ("", 'port = "/dev/null"\nruleset = "no-such.toml"', "unreadable"),
        ("", 'port = "/dev/null"\ndriver = "lines"', "driver"),
        ('ca_file = "hall.toml"\n', 'port = "/dev/null"', "no_certificate"),
    ],
)
def test_what_a_start_would_find_out_the_doctor_finds(
    tmp_path: Path, more: str, table: str, code: str
) -> None:
    _, file = hall(tmp_path, 1, table, more=more)
    assert doctor(load(file), file)[code].status == "fail"


# ---------------------------------------------------------------- journal


def test_the_holder_of_a_journal_is_known_without_touching_its_lock(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    assert memory.holder(path) == 0

    async def story() -> None:
        journal = Journal.open(path)
        await journal.append(change(1))
        assert memory.holder(path) == os.getpid()
        await journal.close()

    asyncio.run(story())
    assert memory.holder(path) == 0
    (good,) = memory.journal(path, 0, verify=True)
    assert good.status == "ok"


def test_a_changed_row_and_a_damaged_file_are_found(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"

    async def story() -> None:
        journal = Journal.open(path)
        await journal.append(change(1))
        await journal.close()

    asyncio.run(story())
    with sqlite3.connect(path) as db:
        db.execute("UPDATE events SET t_wall_ms = t_wall_ms + 1")
    db.close()
    (tmp_path / "journal.db.damaged-2026").touch()
    codes = {finding.code: finding for finding in memory.journal(path, 0, verify=True)}
    assert codes["seal_broken"].status == "fail"
    assert codes["journal_damaged"].status == "warn"
    assert "seal_broken" not in {f.code for f in memory.journal(path, 0, verify=False)}


# ---------------------------------------------------------------- ports and boards


def test_a_port_that_is_not_there_and_a_name_that_wanders(tmp_path: Path) -> None:
    settings, file = hall(tmp_path, 1, 'port = "/dev/ttyUSB77"')
    found = doctor(settings, file)
    assert found["port_missing"].status == "fail"
    assert found["port_unstable_name"].status == "warn"
    assert "/dev/serial/by-id/" in found["port_unstable_name"].fix


def test_a_busy_port_names_its_holder(tmp_path: Path, line: int) -> None:
    hold = (
        "import fcntl, serial, sys, termios; "
        "s = serial.Serial(sys.argv[1], exclusive=True); fcntl.ioctl(s.fd, termios.TIOCEXCL); "
        "print('held', flush=True); sys.stdin.read()"
    )
    holder = subprocess.Popen(
        [sys.executable, "-c", hold, str(tmp_path / "tty")],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        settings, file = hall(tmp_path, 1)
        busy = doctor(settings, file)["port_busy"]
        assert f"process {holder.pid}" in busy.message
        assert f"kill {holder.pid}" in busy.fix
    finally:
        holder.communicate(timeout=10)


def test_denied_names_the_group_and_the_command(
    tmp_path: Path, line: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def denied(_options: object) -> None:
        raise locate.explain(
            str(tmp_path / "tty"), str(tmp_path / "tty"), PermissionError(13, "no")
        )

    monkeypatch.setattr("tablectl.table.port._open", denied)
    settings, file = hall(tmp_path, 1)
    finding = doctor(settings, file)["port_denied"]
    assert "belongs to" in finding.message
    assert finding.fix.startswith(("sudo ", "give it to a group: sudo ", "something else"))


def test_rights_of_a_file_are_read_as_the_kernel_does(tmp_path: Path) -> None:
    file = tmp_path / "port"
    file.touch()
    info = file.stat()
    for mode, uid, groups, may in [
        (0o660, 1234, {info.st_gid}, True),
        (0o660, 1234, {99}, False),
        (0o606, 1234, {info.st_gid}, False),
        (0o666, 1234, set(), True),
        (0o000, 0, set(), True),
    ]:
        file.chmod(mode)
        assert files.may(file.stat(), uid, groups, 0o6) is may, (oct(mode), uid, groups)


def test_a_silent_board_is_told_from_a_port_that_does_not_open(tmp_path: Path, line: int) -> None:
    settings, file = hall(tmp_path, 1)
    found = doctor(settings, file, Plan(wait_s=0.4))
    assert "115200 baud" in found["no_answer"].message
    assert "conformance" in found["no_answer"].fix
    assert "port_slow" not in found


@pytest.mark.parametrize(
    ("deed", "code", "words"),
    [
        ("", "ok", "SIM-1"),
        ("At the start, the board is flashed with protocol 2.0.", "version_refused", "2.0"),
        ("At the start, the board is flashed with protocol 1.9.", "firmware_differs", "1.9"),
    ],
)
def test_the_board_is_greeted_and_its_firmware_compared(
    deed: str, code: str, words: str, tmp_path: Path
) -> None:
    script = tmp_path / "faults.txt"
    script.write_text(deed + "\n")
    url = f'port = "sim://?level=score&faults={script}"\nflash_hint = "make flash"'
    settings, file = hall(tmp_path, 1, url)
    found = asyncio.run(examine(settings, file, FAST))
    board = [finding for finding in found if finding.check == "board"]
    hit = next(finding for finding in board if finding.code == code)
    assert words in hit.message
    assert hit.status == {"ok": "ok", "version_refused": "fail", "firmware_differs": "warn"}[code]
    assert code == "ok" or "make flash" in str(hit)


def test_a_level_the_board_does_not_have(tmp_path: Path) -> None:
    settings, file = hall(tmp_path, 1, 'port = "sim://?level=basic&seed=5"\nlevel = "tiles"')
    finding = doctor(settings, file)["level_too_low"]
    assert 'level = "basic"' in finding.fix


def test_events_that_wait_on_the_board_stay_there(tmp_path: Path) -> None:
    """The doctor listens and takes nothing: the daemon that comes after gets every event."""
    table = RunningTable(
        RunConfig(Options(level="score", seed=1), link=tmp_path / "tty", exit_at_end=False)
    )
    settings, _ = hall(tmp_path, 1)

    async def story() -> None:
        life = asyncio.create_task(table.run())
        table.poke(lambda sim: sim.board.emit(wire.ButtonEvent(0, 1, 1)))
        found = await ports.examine(settings.tables[0], 0, 1.0)
        assert [finding.status for finding in found] == ["ok", "ok"]
        assert not table.table.board.told(), "the doctor has acknowledged an event"
        table.stop()
        await life

    asyncio.run(story())


# ---------------------------------------------------------------- broker


@pytest.fixture
def strict(tmp_path: Path) -> Iterator[Mosquitto]:
    """A broker with the access list of deploy/."""
    make = need_program("mosquitto_passwd", "mosquitto")
    passwords = tmp_path / "passwords"
    passwords.touch(mode=0o600)
    for user in ("tablectl", "display", "staff", "broadcast"):
        subprocess.run([make, "-b", str(passwords), user, f"of {user}"], check=True)
    # With max_queued_messages 0 mosquitto 2.0 hangs up on a denied publish.
    more = f"max_queued_messages 10000\nallow_anonymous false\npassword_file {passwords}\nacl_file {ACL}"
    with mosquitto(tmp_path, more) as broker:
        yield broker


def as_user(name: str, password: str | None = None) -> str:
    return f'username = "{name}"\npassword = "{password or "of " + name}"\n'


def test_no_broker_and_refused_credentials(tmp_path: Path, strict: Mosquitto, line: int) -> None:
    free = socket.create_server(("127.0.0.1", 0))
    port = free.getsockname()[1]
    free.close()
    assert doctor(*hall(tmp_path, port), Plan(0.2))["broker_unreachable"].status == "fail"
    found = doctor(*hall(tmp_path, strict.port, more=as_user("tablectl", "wrong")), Plan(0.2))
    assert "user tablectl" in found["credentials_refused"].message
    assert "mosquitto_passwd" in found["credentials_refused"].fix


def certificate(folder: Path) -> None:
    """`ca.pem` and `key.pem` of a broker at 127.0.0.1 that signs for itself."""
    openssl = need_program("openssl")
    subprocess.run(
        [openssl, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
         "-days", "2", "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1",
         "-keyout", str(folder / "key.pem"), "-out", str(folder / "ca.pem")],
        check=True, capture_output=True,
    )  # fmt: skip


def test_a_broker_with_tls_and_each_way_to_miss_it(tmp_path: Path) -> None:
    certificate(tmp_path)
    tls = f"certfile {tmp_path}/ca.pem\nkeyfile {tmp_path}/key.pem"
    with mosquitto(tmp_path, tls) as secure, mosquitto(tmp_path) as plain:

        def asked(url: str, more: str = "") -> dict[str, Finding]:
            _, file = hall(tmp_path, 1, 'port = "/nowhere"', more=more)
            text = file.read_text(encoding="utf-8").replace("mqtt://127.0.0.1:1", url)
            file.write_text(text, encoding="utf-8")
            return doctor(load(file), file)

        ca = 'ca_file = "ca.pem"\n'
        good = asked(f"mqtts://127.0.0.1:{secure.port}", ca)
        assert not [f for f in good.values() if f.check in ("broker", "rights")]
        strange = asked(f"mqtts://127.0.0.1:{secure.port}")["tls_refused"]
        assert "ca_file" in strange.fix
        shut = asked(f"mqtt://127.0.0.1:{secure.port}")["broker_hangs_up"]
        assert f"mqtts://127.0.0.1:{secure.port}" in shut.fix
        loud = asked(f"mqtts://127.0.0.1:{plain.port}", ca)["broker_hangs_up"]
        assert f'"mqtt://127.0.0.1:{plain.port}"' in loud.fix


def test_rights_are_proved_by_what_comes_back(tmp_path: Path, strict: Mosquitto, line: int) -> None:
    assert "rights_missing" not in doctor(
        *hall(tmp_path, strict.port, more=as_user("tablectl")), Plan(0.2)
    )
    finding = doctor(*hall(tmp_path, strict.port, more=as_user("display")), Plan(0.2))[
        "rights_missing"
    ]
    assert "tablectl/home/t1/bridge/" in finding.message
    assert "topic readwrite tablectl/home/#" in finding.fix


def test_a_broker_that_hangs_up_on_a_denied_publish_is_no_riddle(tmp_path: Path, line: int) -> None:
    acl = tmp_path / "acl"
    acl.write_text("topic read tablectl/#\n")
    with mosquitto(tmp_path, f"acl_file {acl}") as broker:
        finding = doctor(*hall(tmp_path, broker.port), Plan(0.2))["rights_missing"]
        assert "hangs up" in finding.message


@pytest.mark.parametrize(
    ("user", "topic", "may_read", "may_write"),
    [
        ("display", "event", True, False),
        ("display", "seat/0/score", True, False),
        ("display", "private/seat0", False, False),
        ("display", "broadcast/hands", False, False),
        ("display", "request/undo", False, False),
        ("staff", "request/undo", False, True),
        ("staff", "response/undo", True, False),
        ("staff", "private/referee", False, False),
        ("broadcast", "broadcast/hands", True, False),
        ("broadcast", "request/undo", False, False),
    ],
)
def test_the_access_list_of_deploy_keeps_secrets(
    user: str, topic: str, may_read: bool, may_write: bool, strict: Mosquitto
) -> None:
    full = f"tablectl/hall/t1/{topic}"

    async def came(client: aiomqtt.Client, word: bytes) -> bool:
        """The fence goes the same way after it: what has not come before it was dropped."""
        async with asyncio.timeout(10):
            async for message in client.messages:
                if message.payload in {word, b"fence " + word}:
                    return message.payload == word
        raise AssertionError

    async def story() -> None:
        owner_of = {"username": "tablectl", "password": "of tablectl"}
        async with (
            aiomqtt.Client("127.0.0.1", strict.port, **owner_of) as owner,  # type: ignore[arg-type]
            aiomqtt.Client("127.0.0.1", strict.port, username=user, password=f"of {user}") as other,
        ):
            fence = "tablectl/hall/t1/bridge/fence"
            await owner.subscribe("tablectl/#", 1)
            await other.subscribe("tablectl/#", 1)
            await owner.publish(full, b"down", 1)
            await owner.publish(fence, b"fence down", 1)
            assert await came(other, b"down") is may_read
            await other.publish(full, b"up", 1)
            await owner.publish(fence, b"fence up", 1)
            assert await came(owner, b"up") is may_write

    asyncio.run(story())


def test_retained_leftovers_are_named_and_removed_on_request(tmp_path: Path, line: int) -> None:
    async def leave(port: int) -> None:
        async with aiomqtt.Client("127.0.0.1", port) as client:
            for topic in ("t1/request/result/win", "t1/event", "old/state", "t1/state"):
                await client.publish(f"tablectl/home/{topic}", b"{}", 1, retain=True)
            await client.publish(
                "tablectl/home/t1/bridge/state", b'{"state":"online","epoch":4}', 1, retain=True
            )

    with mosquitto(tmp_path) as broker:
        asyncio.run(leave(broker.port))
        found = doctor(*hall(tmp_path, broker.port), Plan(0.2))
        assert found["retained_request"].subject == "tablectl/home/t1/request/result/win"
        assert "-r -n -t 'tablectl/home/t1/request/result/win'" in found["retained_request"].fix
        assert found["retained_event"].subject == "tablectl/home/t1/event"
        assert found["retained_ghost"].subject == "tablectl/home/old/state"
        assert "epoch 4" in found["spoken_for"].message
        doctor(*hall(tmp_path, broker.port), Plan(0.2, remove_leftovers=True))
        found = doctor(*hall(tmp_path, broker.port), Plan(0.2))
        assert set(found) & {"retained_request", "retained_event", "retained_ghost"} == set()
        assert "spoken_for" in found, "what a table says of itself is not ours to remove"


# ---------------------------------------------------------------- beside the daemon


def test_beside_a_running_daemon_nothing_is_disturbed(tmp_path: Path) -> None:
    table = RunningTable(
        RunConfig(Options(level="score", seed=1), link=tmp_path / "tty", exit_at_end=False)
    )

    async def story() -> None:
        with mosquitto(tmp_path) as broker:
            settings, file = hall(tmp_path, broker.port)
            daemon = Daemon(settings)
            board = asyncio.create_task(table.run())
            life = asyncio.create_task(daemon.run())
            await daemon.ready.wait()
            changed = asyncio.Event()
            unit = daemon.units["t1"]
            unit.wake_pages = changed.set
            async with asyncio.timeout(20):
                while not (
                    unit.status and unit.status.state == "up"
                    and unit.bus and unit.bus.status.state == "online"
                ):  # fmt: skip
                    changed.clear()
                    await changed.wait()
            assert daemon.web is not None
            web = settings.web.model_copy(
                update={"port": int(daemon.web.address.rsplit(":", 1)[1])}
            )
            settings = settings.model_copy(update={"web": web})
            before = unit.session.reconnects if unit.session else -1
            clock = ManualClock(0, 1_790_000_000_000)
            found = await examine(settings, file, FAST, clock=clock)
            assert [f for f in found if f.status != "ok"] == []
            said = " / ".join(str(finding) for finding in found)
            assert "open in the running daemon" in said
            assert "answers requests over the broker" in said
            assert "all parts well" in said
            assert unit.session is not None
            assert (unit.session.reconnects, unit.status.state) == (before, "up")
            # The pages tell what is wrong inside.
            unit.writer.fault = "ButtonEvent could not be taken in"
            codes = {f.code for f in await examine(settings, file, FAST, clock=clock)}
            assert "defect" in codes
            daemon.stop()
            await life
            table.stop()
            await board

    asyncio.run(story())


WELL: dict[str, Any] = {
    "link": "up", "reason": "", "bus": "online", "outbox": 0, "fault": "", "durable": True,
    "contradiction": False, "machine": [],
}  # fmt: skip


@pytest.mark.parametrize(
    ("part", "value", "code"),
    [
        ("link", "down", "link_down"), ("bus", "offline", "bus_offline"), ("bus", "stopped", "bus_stopped"),
        ("durable", False, "not_durable"), ("contradiction", True, "contradiction"), ("fault", "x", "defect"),
        ("machine", ["lift jammed"], "machine"), ("", "", ""),
    ],
)  # fmt: skip
def test_each_word_of_the_running_daemon_becomes_a_line(
    part: str, value: Any, code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = WELL | ({part: value} if part else {})
    facts = {
        "version": "1", "stuck": [], "loop_lag_ms": 1.0, "journal": {"state": "ok", "reason": ""},
        "tables": {"t1": table},
    }  # fmt: skip
    monkeypatch.setattr(pages, "_ask", lambda _url: facts)
    (finding,) = pages.examine(loads("").web, os.getpid())
    assert finding.code == (code or "ok")
    assert bool(finding.fix) == bool(code)


def test_the_command_prints_a_line_each_and_json_and_its_code(
    tmp_path: Path, line: int, capsys: pytest.CaptureFixture[str]
) -> None:
    _, file = hall(tmp_path, 1)
    assert main(["doctor", "--config", str(file), "--wait", "0.2"]) == 1
    text = capsys.readouterr().out
    assert "\nfail  board     t1: the board is silent" in text
    assert text.splitlines()[-1].endswith("warning") or "warnings" in text.splitlines()[-1]
    assert main(["doctor", "--config", str(file), "--wait", "0.2", "--json"]) == 1
    report = json.loads(capsys.readouterr().out)
    assert report["ok"] is False
    assert report["fails"] == sum(line["status"] == "fail" for line in report["lines"]) > 0
    file.write_text(
        f'mqtt = false\n[web]\nenabled = false\n[journal]\npath = "{tmp_path}/j.db"\n'
        '[[tables]]\nid = "t1"\nport = "sim://?level=score&seed=11"\n',
        encoding="utf-8",
    )
    assert main(["doctor", "--config", str(file)]) == 0
    with pytest.raises(SystemExit) as ended:
        main(["doctor", "--wait", "soon"])
    assert ended.value.code == 2


def test_a_broker_of_the_old_protocol_is_examined_in_its_own(tmp_path: Path) -> None:
    with mosquitto(tmp_path) as broker:
        old = Broker("127.0.0.1", broker.port, protocol="3.1.1")
        found = asyncio.run(rights.examine(old, "home", ["t1"], 0))
        assert [finding.status for finding in found] == ["ok", "ok", "ok"]
        assert "MQTT 3.1.1" in found[0].message
