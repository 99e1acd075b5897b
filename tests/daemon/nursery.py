"""Daemons without their second of imports: a process that has read all modules and forks `tablectl run`.

Each daemon is a process of its own with its own lock, port and journal, and dies as one. On standard input
come lines `<config>\\t<kill at>\\t<log>`; on standard output go two numbers for each: its pid when it is
born, its exit code when it has ended (negative: by that signal).
"""

from __future__ import annotations

import importlib
import os
import sys

from tablectl.cli.main import main as tablectl
from tablectl.daemon import faultpoints


def main() -> None:
    """Until standard input ends; one daemon at a time."""
    for module in ("config.check", "daemon.app", "engine.rules", "web.server"):
        importlib.import_module(f"tablectl.{module}")
    for line in sys.stdin:
        config, kill_at, log = line.rstrip("\n").split("\t")
        pid = os.fork()
        if pid == 0:
            for number, path in ((0, os.devnull), (1, log), (2, log)):
                os.dup2(os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644), number)
            code = 70
            try:
                faultpoints.arm(kill_at)
                code = tablectl(["run", "--config", config])
            finally:
                sys.stderr.flush()
                os._exit(code)
        print(pid, flush=True)
        print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)


if __name__ == "__main__":
    main()
