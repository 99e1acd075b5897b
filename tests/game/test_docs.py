"""docs/engine.md names every event and command, and its example runs."""

from __future__ import annotations

import re

from tablectl.engine.game.codec import plan
from tablectl.engine.game.commands import COMMANDS
from tablectl.engine.game.events import EVENTS
from tests.conftest import ROOT

TEXT = (ROOT / "docs" / "engine.md").read_text(encoding="utf-8")


def test_every_event_and_command_is_listed_with_its_fields() -> None:
    rows = {m[1]: m[0] for m in re.finditer(r"^\| `(\w+)` \| .* \| (.*) \|$", TEXT, re.MULTILINE)}
    for name, record in {**EVENTS, **COMMANDS}.items():
        assert name in rows, f"{name} is missing in docs/engine.md"
        for field in plan(record):
            assert re.search(rf"\b{field.name}\b", rows[name]), f"{name}.{field.name} is missing"


def test_the_example_runs() -> None:
    example = TEXT.split("```python\n")[1].split("```")[0]
    space: dict[str, object] = {}
    exec(compile(example, "docs/engine.md", "exec"), space)
    assert getattr(space["state"], "phase") == "ready"  # noqa: B009 # the example's own name
