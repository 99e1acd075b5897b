"""Octets of flash and RAM that codec and link cost a table's microcontroller: Cortex-M3, `arm-none-eabi-gcc -Os`, module by module."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

SOURCES = Path(__file__).resolve().parent.parent / "firmware_protocol" / "c"
FLASH_MOST, RAM_MOST = 8 * 1024, 1024
WHAT = {
    "tctl_octets": "numbers and texts in payloads",
    "tablectl_messages": "the messages of a device (generated)",
    "tctl_frame": "COBS, CRC, framer",
    "tctl_ring": "events and answers that wait",
    "tctl_timer": "retransmission timer",
    "tctl_memory": "actions and displays",
    "tctl_link": "sessions and windows",
    "tctl_device": "handshake, heartbeat, answers",
    "tctl_pages": "texts, snapshots, test series",
    "one": "one link with its buffers",
}


class Size(NamedTuple):
    """Octets of one module as `size` tells them."""

    module: str
    text: int
    data: int
    bss: int


def measure(defines: str = "") -> list[Size]:
    """Sizes of the modules. Raises FileNotFoundError without the compiler, RuntimeError when it fails."""
    for program in ("make", "arm-none-eabi-gcc"):
        if shutil.which(program) is None:
            raise FileNotFoundError(program)
    with tempfile.TemporaryDirectory() as folder:
        command = [
            "make",
            "-s",
            "-C",
            str(SOURCES),
            f"BUILD={folder}",
            f"DEFINES={defines}",
            "size",
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr)
    sizes = []
    for line in done.stdout.splitlines()[1:]:
        text, data, bss, _, _, name = line.split(maxsplit=5)
        if not name.startswith("("):
            sizes.append(Size(Path(name).stem, int(text), int(data), int(bss)))
    return sizes


def image() -> Size:
    """The example table for QEMU's Cortex-M3 with everything in it: startup, drivers, machine, panel."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["make", "-s", "-C", str(SOURCES), f"BUILD={folder}", "qemu"], check=True)
        command = ["arm-none-eabi-size", f"{folder}/table-mps2.elf"]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    text, data, bss = (int(word) for word in done.stdout.splitlines()[1].split()[:3])
    return Size("the whole example image", text, data, bss)


def flash(sizes: list[Size]) -> int:
    """Octets in flash."""
    return sum(size.text + size.data for size in sizes)


def ram(sizes: list[Size]) -> int:
    """Octets in RAM, without the stack."""
    return sum(size.data + size.bss for size in sizes)


def main() -> int:
    """Print the table; 1 when a limit is passed."""
    try:
        sizes = measure()
        both = measure("-DTCTL_BOTH_ROLES")
        whole = image()
    except FileNotFoundError as error:
        print(f"{error} is not here: apt-get install gcc-arm-none-eabi make", file=sys.stderr)
        return 0
    print(f"{'module':20} {'text':>6} {'data':>5} {'bss':>5}")
    for size in sizes:
        print(
            f"{size.module:20} {size.text:6} {size.data:5} {size.bss:5}  {WHAT.get(size.module, '')}"
        )
    print(
        f"codec and link: {flash(sizes)} of {FLASH_MOST} octets of flash, {ram(sizes)} of {RAM_MOST} octets of RAM"
    )
    print(f"with the messages of both ends in both directions: {flash(both)} octets of flash")
    print(
        f"{whole.module}: {whole.text + whole.data} octets of flash, {whole.data + whole.bss} of RAM"
    )
    return 0 if flash(sizes) < FLASH_MOST and ram(sizes) < RAM_MOST else 1


if __name__ == "__main__":
    sys.exit(main())
