"""The process dies in the middle of the journal's own work: whatever was durable is there at the next start."""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tablectl.journal.check import check
from tablectl.journal.store import Store
from tests.conftest import ROOT, scaled
from tests.daemon.journal_kit import change
from tests.daemon.test_journal_disk import spoil

CHILD = """
import os, signal, sys
from pathlib import Path
from tablectl.journal.store import Store
from tests.daemon.journal_kit import change
path, step, die_at = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
count = 0
def on_step(name):
    global count
    if name == step:
        count += 1
        if count == die_at:
            os.kill(os.getpid(), signal.SIGKILL)
store = Store(path, on_step=on_step)
start = store.last_seq("t1", "public") // 2 + 1
for number in range(start, 1000):
    store.commit(change(number))
    print(number, flush=True)
"""


@pytest.mark.parametrize("step", ["begin", "written", "committed"])
def test_killed_between_two_steps_nothing_acknowledged_is_lost(tmp_path: Path, step: str) -> None:
    path = tmp_path / "journal.db"
    acknowledged = 0
    for die_at in (1, 7, 20):
        child = subprocess.run(
            [sys.executable, "-c", CHILD, str(path), step, str(die_at)],
            capture_output=True,
            cwd=ROOT,
            timeout=60,
            check=False,
        )
        assert child.returncode == -signal.SIGKILL, child.stderr.decode()
        lines = child.stdout.split()
        if lines:
            acknowledged = int(lines[-1])
        store = Store(path)
        assert store.health.rescued is None
        written = store.last_seq("t1", "public") // 2
        # Killed after the commit, one more is there than was told: the board sends it again.
        assert written == acknowledged + (step == "committed")
        assert store.commit(change(written)).duplicate if written else True
        acknowledged = written
        store.close()
    assert acknowledged > 20
    assert check(path).findings == ()


ON_A_FULL_DISK = """
import os, signal, sys, uuid
from pathlib import Path
from tablectl.journal.ballast import Ballast
from tablectl.journal.store import Store
from tests.daemon.journal_kit import ApswConnection, FullDisk, change
path, state, step = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
disk = FullDisk(f"full-{uuid.uuid4()}", path.parent, 40 * 1024 * 1024)
left = 30
def on_step(name):
    global left
    if store.health.state == state and name == step:
        left -= 1
        if not left:
            os.kill(os.getpid(), signal.SIGKILL)
store = Store(path, ballast=Ballast(path, free=disk.free), on_step=on_step,
              connect=lambda p: ApswConnection(p, disk.name))
disk.capacity = disk.used() + 100_000
for number in range(1, 20_000):
    result = store.commit(change(number))
    print(number, store.health.state, int(result.durable), flush=True)
"""


@pytest.mark.parametrize("step", ["written", "committed"])
@pytest.mark.parametrize("state", ["ballast", "memory"])
def test_killed_on_a_full_disk_what_was_durable_is_there(
    tmp_path: Path, state: str, step: str
) -> None:
    """On the ballast as on any disk; of what only memory held nothing comes back, and nothing is torn."""
    path = tmp_path / "journal.db"
    child = subprocess.run(
        [sys.executable, "-c", ON_A_FULL_DISK, str(path), state, step],
        capture_output=True, text=True, cwd=ROOT,
        timeout=60, check=False,
    )  # fmt: skip
    assert child.returncode == -signal.SIGKILL, child.stderr
    told = [line.split() for line in child.stdout.splitlines()]
    durable = [int(number) for number, _, kept in told if kept == "1"]
    assert durable == list(range(1, len(durable) + 1))
    assert told[-1][1:] == [state, str(int(state == "ballast"))]
    lost = len(told) - len(durable)
    assert lost == (29 if state == "memory" else 0)
    store = Store(path)
    assert store.health.rescued is None
    more = state == "ballast" and step == "committed"
    assert store.last_seq("t1", "public") == 2 * (len(durable) + more)
    assert store.commit(change(durable[-1])).duplicate
    assert store.commit(change(durable[-1] + 1)).duplicate == more
    store.close()
    assert check(path).findings == ()


def killed_at_file_operation(number: int, path: Path) -> bool:
    """A process opens the journal and is killed before its n-th operation on files; False: it lived."""
    child = os.fork()
    if child == 0:
        count = itertools.count(1)

        def watch(name: str, _args: object) -> None:
            if name in FILE_OPERATIONS and next(count) == number:
                os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(watch)
        try:
            Store(path).close()
        finally:
            os._exit(0)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert code in (0, -signal.SIGKILL)
    return code != 0


FILE_OPERATIONS = frozenset(
    {"open", "os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.link", "shutil.copyfile",
     "sqlite3.connect", "tempfile.mkdtemp"}
)  # fmt: skip


@pytest.mark.parametrize("log", [False, True], ids=["file", "file and log"])
def test_killed_while_a_damaged_file_is_set_aside(tmp_path: Path, log: bool) -> None:
    """Whatever the moment, the next start keeps what a rescue in one piece keeps, and cleans up."""
    model = tmp_path / "model.db"
    store = Store(model)
    for number in range(1, 81):
        store.commit(change(number, table=f"t{number % 2}"))
        if number == 40:
            store.idle()
    model.with_name("dead.db").write_bytes(model.read_bytes())
    if log:
        # Not closed in order: the newest stand in the write-ahead log only.
        model.with_name("dead.db-wal").write_bytes(model.with_name("model.db-wal").read_bytes())
    store.close()
    model = model.with_name("dead.db")
    spoil(model, 0, 100)

    def laid_out(folder: Path) -> Path:
        folder.mkdir()
        for suffix in ("", "-wal"):
            source = model.with_name(model.name + suffix)
            if source.exists():
                (folder / ("journal.db" + suffix)).write_bytes(source.read_bytes())
        (folder / "journal.db.ballast").write_bytes(b"")
        return folder / "journal.db"

    def kept(path: Path) -> tuple[int, str]:
        store = Store(path)
        count = sum(len(store.reads.entries_after(f"t{n}", 0)) for n in (0, 1))
        store.close()
        assert check(path).findings == ()
        return count, store.stream

    whole, _ = kept(laid_out(tmp_path / "whole"))
    assert whole > 0
    kills = 0
    for number in itertools.count(1, 1 if scaled(1, 0) else 5):
        folder = tmp_path / str(number)
        path = laid_out(folder)
        damaged = [f.read_bytes() for f in folder.iterdir() if f.suffix != ".ballast"]
        if not killed_at_file_operation(number, path):
            break
        kills += 1
        count, _ = kept(path)
        assert count == whole, number
        aside = [f for f in folder.iterdir() if ".damaged-" in f.name]
        assert sorted(f.read_bytes() for f in aside) == sorted(damaged), number
        ours = {"journal.db" + suffix for suffix in ("", "-wal", "-shm", ".lock", ".ballast")}
        assert {f.name for f in folder.iterdir() if f not in aside} <= ours, number
    assert kills > 2
