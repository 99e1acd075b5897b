"""SIGKILL between receive and acknowledge: the table plays on, and nobody can tell from what came out.

The real command each time, as systemd would start it; `tests/daemon/test_crash_matrix.py` has the other points.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

from tests.daemon.test_crash_matrix import play
from tests.daemon.undisturbed import Undisturbed
from tests.sim.games import short

KILLS = [("committed", 212), ("effected", 97)]
"""One after the other in one game: each daemon goes on where the last one died."""


def test_killed_twice_in_a_game_nothing_is_lost_or_done_twice(tmp_path: Path) -> None:
    reference = Undisturbed(short(), tmp_path)
    deaths = asyncio.run(play(tmp_path, short(), KILLS, reference, command=True))
    assert [death.point for death in deaths] == [point for point, _ in KILLS]
