"""Points between receive and acknowledge at which a test may kill the daemon.

They cost one comparison unless `TABLECTL_KILL_AT=<point>:<n>` is in the environment: then the process
ends by SIGKILL at the n-th passing of that point (1 = the first; `any` counts all points together).
"""

from __future__ import annotations

import os
import signal
from collections import Counter

POINTS = ("received", "decided", "committed", "effected", "answered")
"""received: a fact or request is in, nothing done · decided: events known, nothing written ·
committed: in the journal, nothing visible · effected: effects started, sender not answered ·
answered: the sender has its answer (a device event is acknowledged next)."""

_AT, _, _NUMBER = os.environ.get("TABLECTL_KILL_AT", "").partition(":")
_passed: Counter[str] = Counter()


def passing(point: str) -> None:
    """The daemon goes through `point`."""
    if not _AT or _AT not in (point, "any"):
        return
    _passed[_AT] += 1
    if _passed[_AT] == int(_NUMBER or "1"):
        os.kill(os.getpid(), signal.SIGKILL)
