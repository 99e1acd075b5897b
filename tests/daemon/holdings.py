"""What a running process holds, by name: how the soak sees a leak long before memory shows it.

`python -m tests.daemon.holdings ARGUMENTS…` is `tablectl ARGUMENTS…`; at each SIGUSR1 it writes a line to
standard output: the sizes of all that can grow, a JSON object. Nothing of this is in the product.
"""

from __future__ import annotations

import asyncio
import functools
import gc
import itertools
import json
import signal
import sys
import threading
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from statistics import mean
from typing import Any

from pydantic import BaseModel

PACKAGES = frozenset(
    {"tablectl", "firmware_protocol", "aiomqtt", "paho", "aiohttp", "asyncio", "serial", "queue"}
)
"""Whose objects and modules are looked into: ours, and those that work for us all the time."""
VALUES = frozenset(
    {
        "tablectl.bus.payloads", "tablectl.engine.game.state", "paho.mqtt.properties", "paho.mqtt.reasoncodes",
        "asyncio.events",
    }
)  # fmt: skip
"""Modules of values that are not frozen by their type."""
DEEP = 3
"""A dict of lists of sets is still counted to its last element."""
Sizes = dict[str, int]

_kept: list[object] = []
"""Objects that a daemon hides from the collector once it is ready (`gc.freeze`), and so from us."""
_freeze = gc.freeze


def holdings() -> Sizes:
    """Elements of every collection, over all objects of a class: `module.Class.attribute` → how many.

    Also of module globals and caches, and the tasks and threads. Left out is what cannot grow by itself:
    a deque with a limit, and values (frozen ones, payloads): something has to hold them. Only objects
    that have lived for a while are asked: the collector's last generation, and what it was told to forget.
    """
    sizes: Counter[str] = Counter()
    owners: dict[type, str] = {}
    for thing in itertools.chain(_kept, gc.get_objects(generation=2)):
        kind = type(thing)
        name = owners.get(kind)
        if name is None:
            name = owners[kind] = _owner(kind)
        if not name:
            continue
        if kind is functools._lru_cache_wrapper:
            cached = f"{thing.__module__}.{getattr(thing, '__qualname__', 'cached')}"
            sizes[cached] += thing.cache_info().currsize
        elif kind is asyncio.Task:
            sizes["tasks"] += not thing.done()
        else:
            for attribute, value in _attributes(thing, kind):
                if (size := _elements(value, DEEP)) is not None:
                    sizes[f"{name}.{attribute}"] += size
    for name, module in list(sys.modules.items()):
        if _watched(name):
            for attribute, value in list(vars(module).items()):
                if (size := _elements(value, DEEP)) is not None:
                    sizes[f"{name}.{attribute}"] += size
    sizes["threads"] = threading.active_count()
    return dict(sizes)


def keep_and_freeze() -> None:
    """`gc.freeze` that remembers whom to ask."""
    _kept.extend(thing for thing in gc.get_objects() if _owner(type(thing)))
    _freeze()


def _owner(kind: type) -> str:
    """Name of a class whose objects are looked into; empty for the others."""
    if kind is functools._lru_cache_wrapper or kind is asyncio.Task:
        return kind.__name__
    frozen = getattr(getattr(kind, "__dataclass_params__", None), "frozen", False)
    value = frozen or issubclass(kind, BaseModel | type) or kind.__module__ in VALUES
    if value or not _watched(kind.__module__):
        return ""
    return f"{kind.__module__}.{kind.__qualname__}"


def _watched(module: object) -> bool:
    return isinstance(module, str) and module.partition(".")[0] in PACKAGES


def _attributes(thing: object, kind: type) -> Iterator[tuple[str, Any]]:
    yield from list(getattr(thing, "__dict__", {}).items())
    for base in kind.__mro__:
        slots = base.__dict__.get("__slots__", ())
        for slot in (slots,) if isinstance(slots, str) else slots:
            if slot not in ("__dict__", "__weakref__") and hasattr(thing, slot):
                yield slot, getattr(thing, slot)


def _elements(value: Any, deep: int) -> int | None:
    """Elements of a collection and of those in it; None for what is no collection or has a limit."""
    if isinstance(value, asyncio.Queue):
        return value.qsize()
    if isinstance(value, bytearray):
        return len(value)
    inner: list[Any]
    if isinstance(value, dict):
        inner = list(value.values())
    elif isinstance(value, list | set) or (isinstance(value, deque) and value.maxlen is None):
        inner = list(value)
    else:
        return None
    if not deep:
        return len(inner)
    return len(inner) + sum(_elements(each, deep - 1) or 0 for each in inner)


def growing(samples: Sequence[Sizes], limits: dict[str, int], least: int) -> dict[str, list[int]]:
    """Names that grow and do not stop, with their sizes: what would fill the memory in months.

    The first third of the samples is left to warming up. From then on a name leaks when it rose in three
    steps or more and never shrank, or, over a hundred samples and more, when its mean rose by a fifth
    from the middle third to the last; either way by `least` or more. What rises and falls with the hands
    that are played does neither. `limits` say of names that may fill up how far.
    """
    start, late = len(samples) // 3, 2 * len(samples) // 3
    found = {}
    for name in sorted(set().union(*samples)):
        sizes = [sample.get(name, 0) for sample in samples]
        if name in limits:
            if max(sizes) > limits[name]:
                found[name] = sizes
            continue
        steps = [after - before for before, after in itertools.pairwise(sizes[start:])]
        climbs = min(steps) >= 0 and sum(step > 0 for step in steps) >= 3 and sum(steps) >= least
        middle, end = mean(sizes[start:late]), mean(sizes[late:])
        swells = len(samples) >= 100 and end > middle + max(least, middle / 5)
        if climbs or swells:
            found[name] = sizes
    return found


def main(arguments: list[str]) -> int:
    """Be `tablectl`, and answer SIGUSR1."""

    def tell(_number: int, _frame: object) -> None:
        # Here and in one go: a tuple in the making that another thread has got hold of cannot be finished.
        interval = sys.getswitchinterval()
        sys.setswitchinterval(10.0)
        try:
            sizes = holdings()
        finally:
            sys.setswitchinterval(interval)
        print(json.dumps(sizes), flush=True)

    signal.signal(signal.SIGUSR1, tell)
    gc.freeze = keep_and_freeze
    from tablectl.cli.main import main as tablectl

    return tablectl(arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
