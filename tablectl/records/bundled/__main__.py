"""`python -m tablectl.records.bundled`: plays the bundled games anew, after rules or player have changed."""

from __future__ import annotations

import lzma
import sys

from tablectl.engine import rules
from tablectl.records.bundled import SOURCES, path
from tablectl.records.selfplay import FEATURES, as_line, games


def main() -> int:
    """One game for each source ruleset: the first seed that has all there is to show."""
    for name in SOURCES:
        record = next(games(rules.load(name), 0, need=frozenset(FEATURES)))
        with lzma.open(path(name), "wt", encoding="utf-8") as file:
            file.write(as_line(record) + "\n")
        print(f"{path(name).name}: {record['id']}, {len(record['rounds'])} hands")
    return 0


if __name__ == "__main__":
    sys.exit(main())
