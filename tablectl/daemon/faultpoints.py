"""Points between receive and acknowledge at which a test may kill the daemon.

They cost one comparison unless `TABLECTL_KILL_AT=<point>[@<request>]:<n>` is in the environment: then the
process names the point on standard error and ends by SIGKILL at its n-th passing (1 = the first).
`any` counts all points together; `@game/start` counts only while that request is under way.
"""

from __future__ import annotations

import itertools
import os
import signal

STEPS = (
    "received",
    "decided",
    "begun",
    "written",
    "synced",
    "committed",
    "effected",
    "answered",
)
"""The steps of one input, numbered from 1. received: a fact or request is in, nothing done · decided:
events known, nothing written · begun: the writer thread has it, no transaction yet · written: all rows
written, not committed · synced: on the disk, the loop does not know · committed: the loop knows, nothing
visible · effected: effects started, sender not answered · answered: the sender has its answer (a device
event is acknowledged next)."""
BESIDE = ("restored", "published", "sending", "sent", "settling", "settled")
"""Steps beside them. restored: a table is read back, nothing is open yet · published: the broker has
acknowledged events, the outbox does not know · sending: a motion is about to be marked as sent · sent:
marked, its frame not written · settling: a motion's fate is known, not written · settled: it is written."""
POINTS = STEPS + BESIDE
OF_THE_JOURNAL = {"begin": "begun", "written": "written", "committed": "synced"}
"""What the journal's store calls its steps."""

_AT = _POINT = _REQUEST = ""
_passings = itertools.count(1)
_LAST = 0


def arm(kill_at: str) -> None:
    """Take over a word as `TABLECTL_KILL_AT` has it; empty: nobody is killed."""
    global _AT, _POINT, _REQUEST, _LAST, _passings
    _AT, _, number = kill_at.partition(":")
    _POINT, _, _REQUEST = _AT.partition("@")
    _LAST = int(number or "1")
    _passings = itertools.count(1)


def passing(point: str, request: str = "") -> None:
    """The daemon goes through `point`; `request` is the name of the request under way."""
    if not _AT or _POINT not in (point, "any") or (_REQUEST and request != _REQUEST):
        return
    if next(_passings) == _LAST:
        os.write(2, f"killed at {point}\n".encode())
        os.kill(os.getpid(), signal.SIGKILL)


def passing_in_journal(step: str) -> None:
    """The journal's store goes through one of its steps."""
    passing(OF_THE_JOURNAL[step])


arm(os.environ.get("TABLECTL_KILL_AT", ""))
