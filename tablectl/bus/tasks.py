"""Coroutines side by side: the first that ends takes the others with it, and none is left behind."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterable
from typing import Any, Final

AGAIN_S: Final = 0.05


async def first_of(*parts: Coroutine[Any, Any, Any]) -> None:
    """Run parts until the first ends or fails, then cancel the rest; failures raise in their order."""
    tasks = [asyncio.ensure_future(part) for part in parts]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in tasks:
            if task.done():
                task.result()
    finally:
        await end(tasks)


async def end(tasks: Iterable[asyncio.Future[Any]]) -> None:
    """Cancel tasks and wait until they are gone; what they raise is theirs alone.

    Asked again where needed: until Python 3.12 `wait_for` forgets a cancellation that meets its result.
    """
    waiting = set(tasks)
    while waiting:
        for task in waiting:
            task.cancel()
        done, waiting = await asyncio.wait(waiting, timeout=AGAIN_S)
        for task in done:
            if not task.cancelled():
                task.exception()
