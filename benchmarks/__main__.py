"""`python -m benchmarks [NAME …]`: prints the tables of every benchmark, or of those named."""

from __future__ import annotations

import importlib
import pkgutil
import sys
import time

import benchmarks

NAMES = sorted(m.name for m in pkgutil.iter_modules(benchmarks.__path__) if m.name[0] != "_")


def main(wanted: list[str]) -> int:
    """Run the benchmarks named (all without a name); each module has `main() -> int`."""
    unknown = [name for name in wanted if name not in NAMES]
    if unknown:
        print(f"no benchmark {', '.join(unknown)}; there are: {', '.join(NAMES)}", file=sys.stderr)
        return 2
    worst = 0
    for name in wanted or NAMES:
        print(f"\n== {name}", flush=True)
        started = time.monotonic()
        worst = max(worst, int(importlib.import_module(f"benchmarks.{name}").main() or 0))
        print(f"   ({name} took {time.monotonic() - started:.0f} s)", flush=True)
    return worst


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
