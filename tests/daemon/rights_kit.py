"""A command run by somebody without rights: as root the process gives them up first."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tests.conftest import ROOT

NOBODY = 65534
_CODE = """\
import importlib, os, sys
for name in sys.argv.pop(1).split(","):
    importlib.import_module(name)  # while the interpreter's own folders may still be read
if os.geteuid() == 0:
    os.setgroups([])
    os.setresgid({nobody}, {nobody}, {nobody})
    os.setresuid({nobody}, {nobody}, {nobody})
from tablectl.cli.main import main
sys.exit(main(sys.argv[1:]))
"""
_MODULES = (
    "tablectl.cli.config", "tablectl.cli.doctor", "tablectl.cli.journal", "tablectl.cli.run",
    "tablectl.daemon.app", "tablectl.doctor.examine", "tablectl.table.device", "tablectl.table.session",
    "encodings.idna", "encodings.utf_8_sig", "encodings.ascii", "multiprocessing.synchronize", "sqlite3", "pwd", "grp",
)  # fmt: skip


@contextlib.contextmanager
def public_folder() -> Iterator[Path]:
    """A folder that everybody can get to: pytest keeps its own closed."""
    with tempfile.TemporaryDirectory(prefix="tablectl-test-") as name:
        Path(name).chmod(0o755)
        yield Path(name)


def as_nobody(*words: str | Path, seconds: float = 60) -> tuple[int, str]:
    """Exit code and everything that was said."""
    done = subprocess.run(
        [sys.executable, "-c", _CODE.format(nobody=NOBODY), ",".join(_MODULES), *map(str, words)],
        cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, timeout=seconds,
    )  # fmt: skip
    return done.returncode, done.stdout
