"""Ids of events, commands and games. What they are used for must not show in the others."""

from __future__ import annotations

import random
import uuid
from typing import Literal, Protocol

Purpose = Literal["public", "secret", "command", "game", "instance"]


class Ids(Protocol):
    """Gives an id for a purpose."""

    def __call__(self, purpose: Purpose) -> str:
        """A new id; unguessable in production."""
        ...


def random_ids(purpose: Purpose) -> str:
    """A random UUID: nothing about the number of secret events shows in public ids."""
    return str(uuid.uuid4())


class SeededIds:
    """The same ids in each run, one series per purpose: a secret event never shifts public ids."""

    def __init__(self, seed: str) -> None:
        self._seed = seed
        self._series: dict[Purpose, random.Random] = {}

    def __call__(self, purpose: Purpose) -> str:
        """The next id of the purpose's series."""
        rng = self._series.setdefault(purpose, random.Random(f"{self._seed}/{purpose}"))
        return str(uuid.UUID(int=rng.getrandbits(128), version=4))
