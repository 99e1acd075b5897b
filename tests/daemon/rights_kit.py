"""A command run by somebody without rights: as root the process gives them up first."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.conftest import ROOT

NOBODY = 65534
_CODE = """\
import contextlib, importlib, io, json, os, sys
modules, commands = json.loads(sys.argv[1])
for name in modules:
    importlib.import_module(name)  # while the interpreter's own folders may still be read
if os.geteuid() == 0:
    os.setgroups([])
    os.setresgid({nobody}, {nobody}, {nobody})
    os.setresuid({nobody}, {nobody}, {nobody})
from tablectl.cli.main import main
answers = []
for words in commands:
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        answers.append((main(words), said))
print(json.dumps([(code, said.getvalue()) for code, said in answers]))
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


def as_nobody(*commands: Sequence[str | Path]) -> list[tuple[int, str]]:
    """Exit code of each command, and everything that it said."""
    words = [[str(word) for word in command] for command in commands]
    done = subprocess.run(
        [sys.executable, "-c", _CODE.format(nobody=NOBODY), json.dumps([_MODULES, words])],
        cwd=ROOT, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return [(code, said) for code, said in json.loads(done.stdout.splitlines()[-1])]
