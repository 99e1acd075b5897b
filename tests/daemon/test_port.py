"""A serial port in the loop: opened for us alone, lost exactly once, and errors that name the cause."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import fcntl
import os
import socket
import stat
import struct
import subprocess
import sys
import termios
import threading
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
import serial
import serial.rfc2217

from tablectl.table import locate
from tablectl.table import port as port_module
from tablectl.table.errors import (
    PortAddressError,
    PortBusyError,
    PortDeniedError,
    PortError,
    PortLostError,
    PortMissingError,
    PortUnusableError,
)
from tablectl.table.options import PortOptions
from tablectl.table.port import STUCK, Port
from tests.conftest import need_root
from tests.daemon.port_kit import Bell, Ledger, Pty, play, session

TIOCGEXCL = 0x80045440


class Ear:
    """What a port told, in order."""

    def __init__(self) -> None:
        self.bell = Bell()
        self.data = bytearray()
        self.lost: list[PortLostError | None] = []
        self.open_at_loss: list[bool] = []
        self.fd = -1

    def on_data(self, data: bytes) -> None:
        self.data += data
        self.bell.ring()

    def on_lost(self, error: PortLostError | None) -> None:
        self.lost.append(error)
        try:
            self.open_at_loss.append(os.path.exists(f"/proc/self/fd/{self.fd}"))  # noqa: PTH110 - a name
        finally:
            self.bell.ring()

    async def open(self, options: PortOptions | str) -> Port:
        if isinstance(options, str):
            options = PortOptions(options)
        port = await Port.open(options, self.on_data, self.on_lost)
        self.fd = port._opened.fd if port._opened.fd is not None else -1
        return port


def on_pty(tmp_path: Path, work: Callable[[Pty, Ear], Coroutine[Any, Any, None]]) -> None:
    async def run() -> None:
        pty = Pty(tmp_path / "port")
        try:
            await work(pty, Ear())
        finally:
            pty.unplug()

    play(run)


def test_octets_pass_both_ways(tmp_path: Path) -> None:
    async def work(pty: Pty, ear: Ear) -> None:
        port = await ear.open(pty.path)
        os.write(pty.master, b"\x00\x11\x13\xff\r\n")
        await ear.bell.until(lambda: len(ear.data) == 6)
        assert bytes(ear.data) == b"\x00\x11\x13\xff\r\n", "raw: no flow control, no line ends"
        port.write(b"\x00\x11\x13\xff\r\n")
        assert os.read(pty.master, 100) == b"\x00\x11\x13\xff\r\n"
        await port.close()
        assert ear.lost == [None]

    on_pty(tmp_path, work)


def test_lost_comes_exactly_once_and_after_the_descriptor_is_closed(tmp_path: Path) -> None:
    """Known faults 9, 10."""

    async def work(pty: Pty, ear: Ear) -> None:
        port = await ear.open(pty.path)
        pty.unplug()
        await ear.bell.until(lambda: bool(ear.lost))
        port.write(b"too late")
        await port.close()
        await port.close()
        assert len(ear.lost) == 1
        assert isinstance(ear.lost[0], PortLostError)
        assert pty.path in str(ear.lost[0])
        assert ear.open_at_loss == [False]

    on_pty(tmp_path, work)


def test_closing_while_it_is_being_lost_is_one_end(tmp_path: Path) -> None:
    async def work(pty: Pty, ear: Ear) -> None:
        port = await ear.open(pty.path)
        pty.unplug()
        await asyncio.gather(port.close(), port.close())
        assert len(ear.lost) == 1
        assert ear.open_at_loss == [False]

    on_pty(tmp_path, work)


def test_the_same_port_opens_again_at_once_after_the_loss(tmp_path: Path) -> None:
    """Known fault 8."""

    async def work(pty: Pty, ear: Ear) -> None:
        for _ in range(5):
            port = await ear.open(pty.path)
            await port.close()
        assert ear.lost == [None] * 5

    on_pty(tmp_path, work)


def test_a_slow_reader_gets_everything_in_order(tmp_path: Path) -> None:
    """Known fault 21: a short write loses nothing."""

    async def work(pty: Pty, ear: Ear) -> None:
        port = await ear.open(pty.path)
        sent = bytearray()
        number = 0
        while port.waiting < STUCK // 2:
            piece = struct.pack(">I", number) * 64
            port.write(piece)
            sent += piece
            number += 1
        assert not ear.lost
        read = bytearray()
        arrived = Bell()
        loop = asyncio.get_running_loop()

        def some() -> None:
            with contextlib.suppress(BlockingIOError):
                read.extend(os.read(pty.master, 777))
            arrived.ring()

        loop.add_reader(pty.master, some)
        await arrived.until(lambda: len(read) == len(sent))
        loop.remove_reader(pty.master)
        assert read == sent
        assert port.waiting == 0
        await port.close()

    on_pty(tmp_path, work)


def test_a_line_that_takes_nothing_is_a_lost_line(tmp_path: Path) -> None:
    async def work(pty: Pty, ear: Ear) -> None:
        port = await ear.open(pty.path)
        while not ear.lost:
            port.write(bytes(4096))
            await asyncio.sleep(0)
        assert "takes no octets" in str(ear.lost[0])
        assert len(ear.lost) == 1

    on_pty(tmp_path, work)


HOLDER = """
import sys, serial
port = serial.Serial(sys.argv[1], exclusive=True)
print("open", flush=True)
sys.stdin.read()
"""


def held(path: str) -> subprocess.Popen[bytes]:
    """Another program that has the port open."""
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == b"open\n"
    return holder


def test_a_busy_port_names_who_holds_it(tmp_path: Path) -> None:
    """Known faults 5, 14."""

    async def work(pty: Pty, ear: Ear) -> None:
        holder = await asyncio.to_thread(held, pty.path)
        assert holder.stdout is not None
        assert holder.stdin is not None
        with pytest.raises(PortBusyError) as caught:
            await ear.open(pty.path)
        assert caught.value.pid == holder.pid
        assert caught.value.code == "port_busy"
        assert f"process {holder.pid}" in str(caught.value)
        assert "python" in str(caught.value)
        holder.kill()
        holder.wait()
        holder.stdin.close()
        holder.stdout.close()
        port = await ear.open(pty.path)
        await port.close()

    on_pty(tmp_path, work)


def test_two_tables_on_one_port_are_told_so(tmp_path: Path) -> None:
    async def work(pty: Pty, ear: Ear) -> None:
        port = await ear.open(pty.path)
        with pytest.raises(PortBusyError, match="this process itself"):
            await ear.open(pty.path)
        await port.close()

    on_pty(tmp_path, work)


def test_nobody_else_may_open_it_and_closing_does_not_reset_the_board(tmp_path: Path) -> None:
    """Known faults 15 and 19: TIOCEXCL as well as flock; HUPCL off."""

    async def work(pty: Pty, ear: Ear) -> None:
        def exclusive() -> int:
            return int(struct.unpack("i", fcntl.ioctl(pty.slave, TIOCGEXCL, bytes(4)))[0])

        settings = termios.tcgetattr(pty.slave)
        settings[2] |= termios.HUPCL
        termios.tcsetattr(pty.slave, termios.TCSANOW, settings)
        port = await ear.open(pty.path)
        assert exclusive() == 1
        assert not termios.tcgetattr(pty.slave)[2] & termios.HUPCL
        await port.close()
        assert exclusive() == 0
        port = await ear.open(PortOptions(pty.path, hupcl=True, exclusive=False))
        assert termios.tcgetattr(pty.slave)[2] & termios.HUPCL
        assert exclusive() == 0
        await port.close()

    on_pty(tmp_path, work)


@pytest.mark.parametrize(("dtr", "rts"), [(False, False), (True, False), (None, None)])
def test_dtr_and_rts_are_set_as_configured_from_the_first_moment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, dtr: bool | None, rts: bool | None
) -> None:
    """Known fault 19: a line that toggles at opening resets the board."""
    seen: list[tuple[str, bool]] = []
    monkeypatch.setattr(
        serial.Serial, "_update_dtr_state", lambda self: seen.append(("dtr", self._dtr_state))
    )
    monkeypatch.setattr(
        serial.Serial, "_update_rts_state", lambda self: seen.append(("rts", self._rts_state))
    )

    async def work(pty: Pty, ear: Ear) -> None:
        port = await ear.open(PortOptions(pty.path, dtr=dtr, rts=rts))
        await port.close()

    on_pty(tmp_path, work)
    assert seen == [("dtr", dtr is not False), ("rts", rts is not False)]


def failed(port: str) -> PortError:
    async def work() -> PortError:
        ear = Ear()
        with pytest.raises(PortError) as caught:
            await ear.open(port)
        assert not ear.lost
        return caught.value

    return asyncio.run(work())


def test_a_missing_port_is_told_with_what_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    by_id = tmp_path / "by-id"
    monkeypatch.setattr(locate, "BY_ID", by_id)
    error = failed(str(tmp_path / "nothing"))
    assert isinstance(error, PortMissingError)
    assert "cable and power" in str(error)
    by_id.mkdir()
    (by_id / "usb-Example_MJ100_0001-if00").symlink_to("/dev/null")
    error = failed(str(tmp_path / "nothing"))
    assert "usb-Example_MJ100_0001-if00" in str(error)


def test_a_name_whose_device_is_gone_says_so(tmp_path: Path) -> None:
    link = tmp_path / "usb-Example_MJ100"
    link.symlink_to("/dev/ttyUSB99")
    error = failed(str(link))
    assert isinstance(error, PortMissingError)
    assert "/dev/ttyUSB99, which is gone" in str(error)


@pytest.mark.parametrize(("mode", "hint"), [(0o660, "usermod -aG"), (0o600, "chgrp dialout")])
def test_denied_names_owner_group_ours_and_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: int, hint: str
) -> None:
    """Known fault 18. (Root is denied nothing: the explanation is asked for.)"""
    file = tmp_path / "tty"
    file.touch()
    file.chmod(mode)
    real = file.stat()
    values = [*real[:5], 20, *real[6:]]
    monkeypatch.setattr(Path, "stat", lambda _self: os.stat_result(values))
    monkeypatch.setattr(os, "getgroups", lambda: [65534])
    error = locate.explain(str(file), str(file), OSError(errno.EACCES, "Permission denied"))
    assert isinstance(error, PortDeniedError)
    assert error.code == "port_denied"
    owner, group = locate._user(real.st_uid), locate._group(20)
    assert f"belongs to {owner}:{group} with mode {stat.filemode(stat.S_IFREG | mode)}" in str(
        error
    )
    assert hint in error.hint
    assert locate._group(65534) in str(error)


AS_NOBODY = """
import os, sys
from tablectl.table.port import _open
from tablectl.table.options import PortOptions
from tablectl.table.errors import PortError
os.setgroups([])
os.setgid(65534)
os.setuid(65534)
try:
    _open(PortOptions(sys.argv[1]))
except PortError as error:
    print(error.code, error)
"""


def test_denied_as_a_real_user(tmp_path: Path) -> None:
    need_root("only root can become somebody else")
    pty = Pty(tmp_path / "port")
    name = os.ttyname(pty.slave)
    Path(name).chmod(0o660)
    os.chown(name, 0, 20)
    done = subprocess.run(
        [sys.executable, "-c", AS_NOBODY, name],
        capture_output=True, text=True, check=False, timeout=30,
    )  # fmt: skip
    pty.unplug()
    assert done.stdout.startswith(f"port_denied {name} belongs to"), done.stderr
    assert f"usermod -aG {locate._group(20)}" in done.stdout


def test_a_file_that_is_no_port_is_told_so(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("x")
    error = failed(str(file))
    assert isinstance(error, PortUnusableError)
    assert "no serial port" in str(error)
    assert failed("/dev/null").code == "port_unusable"


@pytest.mark.parametrize(
    ("port", "code", "word"),
    [
        ("carrier://pigeon", "port_address", "known are"),
        ("usb:1a86", "port_address", "usb:VID:PID"),
        ("usb:zzzz:7523", "port_address", "hexadecimal"),
        ("usb:dead:beef", "port_missing", "plugged in"),
        ("socket://127.0.0.1:1", "port_missing", "network"),
        ("socket://nonsense", "port_missing", "socket://nonsense"),
        ("sim://?colour=blue", "port_address", "colour"),
    ],
)
def test_an_address_that_leads_nowhere_is_explained(port: str, code: str, word: str) -> None:
    error = failed(port)
    assert error.code == code
    assert word in str(error)
    assert error.port == port


def test_a_plain_tty_name_is_warned_about(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Known fault 16."""
    monkeypatch.setattr(locate, "BY_ID", tmp_path)
    assert "/dev/serial/by-id/" in locate.advice("/dev/ttyUSB0")
    assert locate.advice("/dev/serial/by-id/usb-x") == ""
    assert locate.advice("socket://x:1") == ""
    (tmp_path / "usb-Example").symlink_to("/dev/ttyUSB0")
    assert str(tmp_path / "usb-Example") in locate.advice("/dev/ttyUSB0")


def test_usb_names_are_found_by_vendor_product_and_serial(monkeypatch: pytest.MonkeyPatch) -> None:
    class Info:
        def __init__(self, device: str, serial_number: str) -> None:
            self.device, self.serial_number = device, serial_number
            self.vid, self.pid = 0x1A86, 0x7523

    from serial.tools import list_ports

    monkeypatch.setattr(list_ports, "comports", lambda: [Info("/dev/a", "1"), Info("/dev/b", "2")])
    assert locate.resolve("usb:1a86:7523:2") == "/dev/b"
    with pytest.raises(PortAddressError, match="several devices"):
        locate.resolve("usb:1a86:7523")
    with pytest.raises(PortMissingError):
        locate.resolve("usb:1a86:7523:3")


def test_a_network_adapter_is_a_port_too() -> None:
    """Known faults 3, 6: its end is one event with a reason."""

    async def work() -> None:
        bell, got = Bell(), bytearray()
        writers: list[asyncio.StreamWriter] = []

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writers.append(writer)
            while data := await reader.read(100):
                got.extend(data)
                bell.ring()
            writer.close()

        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        number = server.sockets[0].getsockname()[1]
        ear = Ear()
        port = await ear.open(f"socket://127.0.0.1:{number}")
        twin = socket.socket(fileno=os.dup(ear.fd))
        assert twin.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE) == 1
        twin.close()
        port.write(b"hello")
        await bell.until(lambda: bytes(got) == b"hello")
        writers[0].write(b"there")
        await ear.bell.until(lambda: bytes(ear.data) == b"there")
        writers[0].transport.abort()
        await ear.bell.until(lambda: bool(ear.lost))
        assert len(ear.lost) == 1
        assert ear.lost[0] is not None
        server.close()
        await server.wait_closed()

    play(work)


class Rfc2217Server:
    """A network adapter that speaks RFC 2217; its serial line has a plug that echoes."""

    def __init__(self) -> None:
        self.serial = serial.serial_for_url("loop://", timeout=0.05)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.number = self.listener.getsockname()[1]
        self.stop = False
        self.connection: socket.socket | None = None
        self.thread = threading.Thread(target=self._run)
        self.thread.start()

    def write(self, data: bytes) -> None:
        """PortManager's way to the client."""
        assert self.connection is not None
        self.connection.sendall(data)

    def _run(self) -> None:
        self.connection, _ = self.listener.accept()
        self.connection.settimeout(0.02)
        manager = serial.rfc2217.PortManager(self.serial, self)
        while not self.stop:
            try:
                data = self.connection.recv(1024)
            except TimeoutError:
                data = None
            if data == b"":
                break
            if data:
                self.serial.write(b"".join(manager.filter(data)))
            if self.serial.in_waiting:
                self.write(b"".join(manager.escape(self.serial.read(self.serial.in_waiting))))
        self.connection.close()

    def close(self) -> None:
        self.stop = True
        self.thread.join(5)
        self.listener.close()
        self.serial.close()


@pytest.mark.filterwarnings("ignore:setDaemon:DeprecationWarning")
@pytest.mark.filterwarnings("ignore:setName:DeprecationWarning")
def test_rfc2217_is_read_by_a_thread_of_its_own() -> None:
    async def work() -> None:
        ear = Ear()
        server = await asyncio.to_thread(Rfc2217Server)
        port = await ear.open(f"rfc2217://127.0.0.1:{server.number}")
        assert port._opened.fd is None
        port.write(b"\xff\x00there ")
        port.write(b"and back\xff")
        await ear.bell.until(lambda: len(ear.data) == 17)
        assert bytes(ear.data) == b"\xff\x00there and back\xff"
        await asyncio.to_thread(server.close)
        await ear.bell.until(lambda: bool(ear.lost))
        assert len(ear.lost) == 1
        assert ear.lost[0] is not None

    play(work)


def test_an_opening_nobody_waits_for_is_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Known fault 7: every step has a limit; what comes late leaks nothing."""

    async def work(pty: Pty, ear: Ear) -> None:
        go, closed = threading.Event(), threading.Event()
        real_open, real_close = port_module._open, port_module._close

        def slow(options: PortOptions) -> Any:
            go.wait(10)
            return real_open(options)

        def close(*arguments: Any) -> None:
            real_close(*arguments)
            closed.set()

        monkeypatch.setattr(port_module, "_open", slow)
        monkeypatch.setattr(port_module, "_close", close)
        monkeypatch.setattr(port_module, "OPEN_MOST", 0.01)
        with pytest.raises(PortUnusableError, match="did not open within"):
            await ear.open(pty.path)
        go.set()
        assert await asyncio.to_thread(closed.wait, 10)
        assert not ear.lost

    on_pty(tmp_path, work)


def test_a_port_that_does_not_close_is_given_up_in_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def work(pty: Pty, ear: Ear) -> None:
        go = threading.Event()
        real = port_module._close

        def hangs(*arguments: Any) -> None:
            go.wait(10)
            real(*arguments)

        monkeypatch.setattr(port_module, "_close", hangs)
        monkeypatch.setattr(port_module, "CLOSE_MOST", 0.01)
        port = await ear.open(pty.path)
        await port.close()
        assert ear.lost == [None]
        go.set()

    on_pty(tmp_path, work)
    assert "does not close" in caplog.text


def test_the_simulators_own_transport_brings_its_table(tmp_path: Path) -> None:
    async def work() -> None:
        from hardware_sim.transport import close_sim

        url = f"sim://?level=score&seed=3&tiles={tmp_path / 'tiles.toml'}"
        bell = Bell()
        ledger = Ledger(bell)
        host = session(ledger, url)
        running = asyncio.ensure_future(host.run())
        await bell.until(ledger.up)
        assert ledger.status.device is not None
        assert ledger.status.device.level == "score"
        await host.stop()
        await running
        await asyncio.to_thread(_taken_away, close_sim, url)

    def _taken_away(close_sim: Callable[[str], None], url: str) -> None:
        threads = [t for t in threading.enumerate() if t.name == f"table {url}"]
        close_sim(url)
        for thread in threads:
            thread.join(10)

    play(work)
