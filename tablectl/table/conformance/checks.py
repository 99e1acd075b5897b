"""The checks: each tries one behaviour and names the sentences of SPEC.md that demand it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

Check = Callable[["object"], None]


@dataclasses.dataclass(frozen=True, slots=True)
class Trial:
    """A named check and its sentences."""

    name: str
    sentences: tuple[str, ...]
    run: Callable[..., None]
    slow: bool = False


TRIALS: list[Trial] = []


def trial(
    *sentences: str, slow: bool = False
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Register a check; its docstring is its name."""

    def register(function: Callable[..., None]) -> Callable[..., None]:
        name = " ".join((function.__doc__ or function.__name__).split()).rstrip(".")
        TRIALS.append(Trial(name, sentences, function, slow))
        return function

    return register
