"""From a configured name to something that can be opened, and from a failure to its cause."""

from __future__ import annotations

import grp
import os
import pwd
import stat
from importlib.metadata import entry_points
from pathlib import Path
from urllib.parse import urlsplit

from tablectl.table.errors import (
    PortAddressError,
    PortBusyError,
    PortDeniedError,
    PortError,
    PortMissingError,
    PortUnusableError,
)

BY_ID = Path("/dev/serial/by-id")
TRANSPORTS = "tablectl.transports"
PYSERIAL_SCHEMES = frozenset({"socket", "rfc2217", "loop", "spy", "alt", "hwgrep"})


def resolve(port: str) -> str:
    """What to hand to pyserial: a path or one of its URLs. May take time (a transport may start).

    Raises PortMissingError, PortAddressError, PortUnusableError.
    """
    if port.startswith("usb:"):
        return _usb(port)
    scheme = urlsplit(port).scheme if "://" in port else ""
    if not scheme:
        return port
    if scheme in PYSERIAL_SCHEMES:
        return port
    found = {point.name: point for point in entry_points(group=TRANSPORTS)}
    if scheme not in found:
        known = ", ".join(sorted({*found, "socket", "rfc2217"}))
        raise PortAddressError(
            port, f"no transport {scheme}://", hint=f"known are {known}, paths, and usb:VID:PID"
        )
    try:
        return str(found[scheme].load()(port))
    except Exception as error:
        hint = str(getattr(error, "hint", "")) or f"it comes from {found[scheme].value}"
        raise PortAddressError(port, f"{port}: {error}", hint=hint) from error


def _usb(port: str) -> str:
    """`usb:VID:PID[:SERIAL]` → path of the device node."""
    from serial.tools import list_ports

    parts = port.split(":")
    if len(parts) not in {3, 4}:
        raise PortAddressError(
            port, f"{port} is no USB name", hint="write usb:VID:PID or usb:VID:PID:SERIAL"
        )
    try:
        vendor, product = int(parts[1], 16), int(parts[2], 16)
    except ValueError:
        raise PortAddressError(
            port,
            f"{port}: vendor and product are hexadecimal numbers",
            hint="such as usb:1a86:7523",
        ) from None
    serial = parts[3] if len(parts) == 4 else None
    matches = [
        info
        for info in list_ports.comports()
        if info.vid == vendor and info.pid == product and serial in {None, info.serial_number}
    ]
    if not matches:
        raise PortMissingError(
            port, f"no USB device {port.removeprefix('usb:')} is plugged in", hint=_there()
        )
    if len(matches) > 1:
        names = ", ".join(f"{info.device} (serial {info.serial_number})" for info in matches)
        raise PortAddressError(
            port, f"{port} fits several devices: {names}", hint="add the serial number"
        )
    return str(matches[0].device)


def advice(port: str) -> str:
    """A word on a name that works today and may be another device tomorrow (known fault 16)."""
    name = Path(port).name
    if not port.startswith("/dev/") or not name.startswith(("ttyUSB", "ttyACM")):
        return ""
    stable = _by_id_of(Path(port))
    better = str(stable) if stable else "its name in /dev/serial/by-id/"
    return f"{port} may be another device after a replug; use {better}"


def _by_id_of(path: Path) -> Path | None:
    try:
        return next(
            (link for link in sorted(BY_ID.iterdir()) if link.resolve() == path.resolve()), None
        )
    except OSError:
        return None


def _there() -> str:
    try:
        names = [str(link) for link in sorted(BY_ID.iterdir())]
    except OSError:
        names = []
    if not names:
        return "no USB serial port is there at all: look at cable and power"
    return "there are: " + ", ".join(names[:6])


def explain(port: str, path: str, error: OSError) -> PortError:
    """The error class and words for a failed opening."""
    number = error.errno
    word = error.strerror or str(error)
    file = Path(path)
    if number in {2, 6, 19}:  # ENOENT, ENXIO, ENODEV
        return _missing(port, file)
    if number == 13 or number == 1:  # EACCES, EPERM
        return _denied(port, file)
    if number in {16, 11}:  # EBUSY, EWOULDBLOCK
        return busy(port, file)
    if number == 25:  # ENOTTY
        return PortUnusableError(port, f"{port} is no serial port", hint=_there())
    return PortUnusableError(port, f"{port} cannot be opened: {word}", hint=_there())


def _missing(port: str, file: Path) -> PortMissingError:
    if file.is_symlink():
        target = file.readlink()
        return PortMissingError(
            port, f"{port} points to {target}, which is gone", hint="plug the device in again"
        )
    return PortMissingError(port, f"{port} is not there", hint=_there())


def _denied(port: str, file: Path) -> PortDeniedError:
    """Known fault 18: owner and group of the file, our groups, and the command."""
    try:
        info = file.stat()
    except OSError:
        return PortDeniedError(
            port, f"{port} may not be looked at", hint="check the folder's rights"
        )
    owner, group = _user(info.st_uid), _group(info.st_gid)
    us = _user(os.geteuid())
    mine = sorted({_group(gid) for gid in os.getgroups()})
    text = (
        f"{port} belongs to {owner}:{group} with mode {stat.filemode(info.st_mode)}; "
        f"we are {us} in {', '.join(mine) or 'no group'}"
    )
    if info.st_mode & 0o060 != 0o060 or info.st_gid == 0:
        hint = f"give it to a group: sudo chgrp dialout {file} && sudo chmod g+rw {file}, or a udev rule"
    elif group in mine:
        hint = "something else forbids it: a container, AppArmor or SELinux"
    else:
        hint = f"sudo usermod -aG {group} {us}, then log in again"
    return PortDeniedError(port, text, hint=hint)


def _user(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


def _group(gid: int) -> str:
    try:
        return grp.getgrgid(gid).gr_name
    except KeyError:
        return str(gid)


def busy(port: str, file: Path) -> PortBusyError:
    """Known fault 14: who holds the port, by /proc."""
    holders = [pid for pid in holders_of(file) if pid != os.getpid()]
    if not holders:
        ours = os.getpid() in holders_of(file)
        who = "by this process itself" if ours else "by a process that we may not see"
        hint = "two tables with one port?" if ours else f"sudo fuser -v {port}"
        return PortBusyError(port, f"{port} is in use {who}", hint=hint)
    pid = holders[0]
    command = _command(pid)
    return PortBusyError(
        port,
        f"{port} is in use by process {pid}" + (f" ({command})" if command else ""),
        pid=pid,
        hint=_stop(pid, command),
    )


def _stop(pid: int, command: str) -> str:
    if "ModemManager" in command:
        return "ModemManager probes it: sudo systemctl disable --now ModemManager, or a udev rule"
    if "brltty" in command:
        return "brltty takes CH340 adapters for a braille terminal: sudo apt remove brltty"
    return f"stop it first: kill {pid}"


def _command(pid: int) -> str:
    try:
        raw = Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return ""
    return raw.replace(b"\0", b" ").decode(errors="replace").strip()[:120]


def holders_of(file: Path) -> list[int]:
    """Processes that have the device open, as far as we may look."""
    try:
        wanted = file.stat()
    except OSError:
        return []
    found: list[int] = []
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        try:
            descriptors = list((folder / "fd").iterdir())
        except OSError:
            continue
        if any(_same(descriptor, wanted) for descriptor in descriptors):
            found.append(int(folder.name))
    return sorted(found)


def _same(descriptor: Path, wanted: os.stat_result) -> bool:
    try:
        info = descriptor.stat()
    except OSError:
        return False
    if stat.S_ISCHR(wanted.st_mode):
        return stat.S_ISCHR(info.st_mode) and info.st_rdev == wanted.st_rdev
    return (info.st_dev, info.st_ino) == (wanted.st_dev, wanted.st_ino)
