"""An open serial port in the event loop: opened by pyserial, read and written by its descriptor."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import fcntl
import logging
import os
import re
import socket
import stat
import termios
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import serial

from tablectl.table.errors import (
    PortAddressError,
    PortError,
    PortLostError,
    PortMissingError,
    PortUnusableError,
)
from tablectl.table.locate import busy, explain, resolve
from tablectl.table.options import PortOptions

_LOG = logging.getLogger("tablectl.port")

CHUNK = 4096
OPEN_MOST = 15.0
"""Seconds: a network adapter may take its time, a hung USB hub would take for ever."""
CLOSE_MOST = 5.0
"""Seconds: a tty waits at closing until its octets are out (we throw them away first)."""
STUCK = 16_384
"""Octets nobody took: at 115,200 baud 1.4 s of line, far more than the link ever has under way."""

_KEEPALIVE = (
    (socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1),
    (socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, 5),
    (socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, 2),
    (socket.IPPROTO_TCP, socket.TCP_KEEPCNT, 3),
    (socket.IPPROTO_TCP, socket.TCP_NODELAY, 1),
)
"""Known fault 3: an adapter that restarts never says goodbye."""


@dataclass(frozen=True, slots=True)
class _Opened:
    serial: Any
    path: str
    fd: int | None
    """None: pyserial has to be asked (rfc2217 has a protocol inside)."""
    is_tty: bool


class Port:
    """One opening of one port. `on_data` gets octets; `on_lost` is called exactly once, after the
    descriptor is really closed, with the reason, or None when `close` was called.
    """

    def __init__(
        self,
        options: PortOptions,
        opened: _Opened,
        on_data: Callable[[bytes], None],
        on_lost: Callable[[PortLostError | None], None],
    ) -> None:
        self._options = options
        self._opened = opened
        self._on_data = on_data
        self._on_lost = on_lost
        self._loop = asyncio.get_running_loop()
        self._out = bytearray()
        self._reading = False
        self._writing = False
        self._ending: asyncio.Task[None] | None = None
        self._closed = asyncio.Event()
        self._pump: _ThreadPump | None = None
        self.path = opened.path
        """What was opened, once names are resolved."""
        if opened.fd is None:
            self._pump = _ThreadPump(
                opened.serial, self._loop, self._thread_data, self._thread_lost
            )
        else:
            self._loop.add_reader(opened.fd, self._readable)
            self._reading = True

    @classmethod
    async def open(
        cls,
        options: PortOptions,
        on_data: Callable[[bytes], None],
        on_lost: Callable[[PortLostError | None], None],
    ) -> Port:
        """Open it (in a thread: nothing blocks the loop). Raises PortError."""
        work = asyncio.ensure_future(asyncio.to_thread(_open, options))
        try:
            opened = await asyncio.wait_for(asyncio.shield(work), OPEN_MOST)
        except TimeoutError:
            work.add_done_callback(_close_late)
            raise PortUnusableError(
                options.port, f"{options.port} did not open within {OPEN_MOST:.0f} s"
            ) from None
        except asyncio.CancelledError:
            work.add_done_callback(_close_late)
            raise
        return cls(options, opened, on_data, on_lost)

    # ------------------------------------------------------------------ octets

    def write(self, data: bytes) -> None:
        """Write, or keep until the line takes it. After the port is lost: nothing."""
        if self._ending is not None or not data:
            return
        if self._pump is not None:
            self._pump.write(data)
            return
        self._out += data
        if not self._writing:
            self._flush()
        if len(self._out) > STUCK and self._ending is None:
            self._lose(f"the board takes no octets: {len(self._out)} wait")

    @property
    def waiting(self) -> int:
        """Octets that the line has not taken yet."""
        return len(self._out)

    def _flush(self) -> None:
        fd = self._opened.fd
        assert fd is not None
        try:
            written = os.write(fd, self._out)
        except (BlockingIOError, InterruptedError):
            written = 0
        except OSError as error:
            self._lose(f"writing failed: {error.strerror}")
            return
        del self._out[:written]
        if self._out and not self._writing:
            self._loop.add_writer(fd, self._flush)
            self._writing = True
        elif not self._out and self._writing:
            self._loop.remove_writer(fd)
            self._writing = False

    def look(self) -> None:
        """Take in now what has come already, before its turn in the loop."""
        if self._pump is None and self._ending is None:
            self._readable()

    def _readable(self) -> None:
        fd = self._opened.fd
        assert fd is not None
        try:
            data = os.read(fd, CHUNK)
        except (BlockingIOError, InterruptedError):
            return
        except OSError as error:
            gone = (
                "unplugged"
                if error.errno in {errno.EIO, errno.ENXIO, errno.ENODEV}
                else error.strerror
            )
            self._lose(f"reading failed: {gone}")
            return
        if not data:
            self._lose("the other end hung up")
            return
        self._on_data(data)

    def _thread_data(self, data: bytes) -> None:
        if self._ending is None:
            self._on_data(data)

    def _thread_lost(self, reason: str) -> None:
        self._lose(reason)

    # ------------------------------------------------------------------ the end

    def _lose(self, reason: str) -> None:
        if self._ending is None:
            error = PortLostError(self._options.port, f"{self._options.port}: {reason}")
            self._ending = self._loop.create_task(self._end(error))

    async def close(self) -> None:
        """Close and wait until it is closed; also valid when it is lost already."""
        if self._ending is None:
            self._ending = self._loop.create_task(self._end(None))
        await self._closed.wait()

    async def _end(self, error: PortLostError | None) -> None:
        fd = self._opened.fd
        if fd is not None and self._reading:
            self._loop.remove_reader(fd)
            self._loop.remove_writer(fd)
            self._reading = self._writing = False
        closing = asyncio.ensure_future(asyncio.to_thread(_close, self._opened, self._pump))
        try:
            await asyncio.wait_for(asyncio.shield(closing), CLOSE_MOST)
        except TimeoutError:
            _LOG.error("%s does not close: the driver hangs", self._options.port)
        self._closed.set()
        self._on_lost(error)


class _ThreadPump:
    """Reading and writing by pyserial's blocking calls, where there is no descriptor to watch."""

    def __init__(
        self,
        port: Any,
        loop: asyncio.AbstractEventLoop,
        on_data: Callable[[bytes], None],
        on_lost: Callable[[str], None],
    ) -> None:
        self._port = port
        self._loop = loop
        self._on_data = on_data
        self._on_lost = on_lost
        self._out: list[bytes] = []
        self._lock = threading.Condition()
        self._stop = False
        self._threads = [
            threading.Thread(target=self._read, name="port reader", daemon=True),
            threading.Thread(target=self._write, name="port writer", daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    def write(self, data: bytes) -> None:
        """Queue octets for the writer thread."""
        with self._lock:
            self._out.append(data)
            self._lock.notify()

    def stop(self) -> None:
        """End both threads (called outside the loop)."""
        with self._lock:
            self._stop = True
            self._lock.notify()
        for thread in self._threads:
            thread.join(CLOSE_MOST)

    def _read(self) -> None:
        while not self._stop:
            try:
                data = self._port.read(1)
                if data:
                    data += self._port.read(min(self._port.in_waiting, CHUNK))
            except Exception as error:  # noqa: BLE001 - any failure of the port is its loss
                self._tell(self._on_lost, f"reading failed: {error}")
                return
            if data:
                self._tell(self._on_data, data)

    def _write(self) -> None:
        while True:
            with self._lock:
                self._lock.wait_for(lambda: self._out or self._stop)
                if self._stop:
                    return
                data = b"".join(self._out)
                self._out.clear()
            try:
                self._port.write(data)
            except Exception as error:  # noqa: BLE001 - any failure of the port is its loss
                self._tell(self._on_lost, f"writing failed: {error}")
                return

    def _tell(self, callback: Callable[[Any], None], value: object) -> None:
        if not self._stop:
            with contextlib.suppress(RuntimeError):  # the loop is gone
                self._loop.call_soon_threadsafe(callback, value)


# ---------------------------------------------------------------- in a thread


def _open(options: PortOptions) -> _Opened:
    path = resolve(options.port)
    try:
        port = serial.serial_for_url(path, do_not_open=True)
    except (ValueError, serial.SerialException) as error:
        raise PortAddressError(options.port, f"{options.port}: {error}") from error
    port.baudrate = options.baud
    port.timeout = 0.1
    if options.dtr is not None:
        port.dtr = options.dtr
    if options.rts is not None:
        port.rts = options.rts
    is_path = "://" not in path
    if is_path and options.exclusive:
        port.exclusive = True
    try:
        port.open()
    except serial.SerialException as error:
        raise _explain(options, path, error) from error
    except (OSError, termios.error, ValueError) as error:
        raise PortUnusableError(
            options.port, f"{options.port} cannot be opened: {error}"
        ) from error
    try:
        return _prepare(options, path, port)
    except BaseException:
        port.close()
        raise


def _explain(options: PortOptions, path: str, error: Exception) -> PortError:
    """pyserial wraps the system's error in text: look for its number."""
    if "://" in path:
        return PortMissingError(
            options.port,
            f"{options.port} does not answer: {error}",
            hint="is the adapter on the network?",
        )
    number = getattr(error, "errno", None)
    told = re.search(r"\((\d+), ", str(error))
    if not isinstance(number, int) and told:
        number = int(told[1])
    if isinstance(number, int):
        return explain(options.port, path, OSError(number, os.strerror(number)))
    if "exclusively lock" in str(error):
        return busy(options.port, Path(path))
    if not Path(path).exists():
        return explain(options.port, path, OSError(errno.ENOENT, ""))
    if not stat.S_ISCHR(Path(path).stat().st_mode):
        return explain(options.port, path, OSError(errno.ENOTTY, ""))
    return PortUnusableError(options.port, f"{options.port} cannot be opened: {error}")


def _prepare(options: PortOptions, path: str, port: Any) -> _Opened:
    try:
        fd = int(port.fileno())
    except (AttributeError, OSError, ValueError):
        return _Opened(port, path, None, is_tty=False)
    is_tty = os.isatty(fd)
    os.set_blocking(fd, False)
    if is_tty:
        if options.exclusive:
            with contextlib.suppress(OSError):
                fcntl.ioctl(fd, termios.TIOCEXCL)
        settings = termios.tcgetattr(fd)
        settings[2] = settings[2] | termios.HUPCL if options.hupcl else settings[2] & ~termios.HUPCL
        # With VMIN 0 an empty read means "nothing yet"; with 1 it means "hung up", and nothing else.
        settings[6][termios.VMIN] = 1
        settings[6][termios.VTIME] = 0
        termios.tcsetattr(fd, termios.TCSANOW, settings)
    else:
        _keep_alive(fd)
    return _Opened(port, path, fd, is_tty)


def _keep_alive(fd: int) -> None:
    with contextlib.suppress(OSError):
        twin = socket.socket(fileno=os.dup(fd))
        try:
            for level, option, value in _KEEPALIVE:
                twin.setsockopt(level, option, value)
        finally:
            twin.close()


def _close(opened: _Opened, pump: _ThreadPump | None = None) -> None:
    if pump is not None:
        pump.stop()
    if opened.is_tty and opened.fd is not None:
        # Octets that nobody takes would hold the closing up for 30 s.
        with contextlib.suppress(OSError, termios.error):
            termios.tcflush(opened.fd, termios.TCIOFLUSH)
        with contextlib.suppress(OSError, termios.error):
            fcntl.ioctl(opened.fd, termios.TIOCNXCL)
    try:
        opened.serial.close()
    except Exception as error:  # noqa: BLE001 - a port that is gone may fail in any way at closing
        # The descriptor is released all the same (close(2)); pyserial's own pipes are not.
        _LOG.debug("closing %s: %s", opened.path, error)
        for name in ("abort_read_r", "abort_read_w", "abort_write_r", "abort_write_w"):
            pipe = getattr(opened.serial, f"pipe_{name}", None)
            if isinstance(pipe, int):
                with contextlib.suppress(OSError):
                    os.close(pipe)


def open_blocking(options: PortOptions) -> _Opened:
    """For programs without a loop: the same opening. Raises PortError."""
    return _open(options)


def close_blocking(opened: _Opened) -> None:
    """The end of `open_blocking`."""
    _close(opened)


def _close_late(work: asyncio.Future[_Opened]) -> None:
    """Nobody waits for this opening any more."""
    if not work.cancelled() and work.exception() is None:
        threading.Thread(target=_close, args=(work.result(),), daemon=True).start()
