"""The cable between board and host: what is written at one end and what arrives at the other."""

from __future__ import annotations

import random
from dataclasses import dataclass, field


@dataclass
class Way:
    """One direction of the line."""

    lose: float = 0.0
    """Share of frames that do not arrive."""
    flip: float = 0.0
    """Share of octets in which a bit flips."""
    dead: bool = False
    """Nothing arrives (half-open)."""
    held_until: int = 0
    """Octets are held back until then (µs)."""
    held: bytearray = field(default_factory=bytearray)


@dataclass
class Line:
    """Both directions. A perfect line passes everything on at once."""

    rng: random.Random
    to_host: Way = field(default_factory=Way)
    to_table: Way = field(default_factory=Way)
    plugged: bool = True
    garbage: bytearray = field(default_factory=bytearray)
    """Octets that turn up on their way to the host."""
    lost: int = 0
    flipped: int = 0

    def repair(self) -> None:
        """A good cable again (plugged or not)."""
        self.to_host, self.to_table = Way(held=self.to_host.held), Way(held=self.to_table.held)

    def carry(self, way: Way, data: bytes, now: int) -> bytes:
        """What arrives now of what was written now and held back before."""
        if way is self.to_host and self.garbage:
            data = bytes(self.garbage) + data
            self.garbage.clear()
        if not self.plugged or way.dead:
            way.held.clear()
            return b""
        if data and (way.lose or way.flip):
            data = self._damage(way, data)
        if way.held_until > now:
            way.held += data
            return b""
        if way.held:
            data = bytes(way.held) + data
            way.held.clear()
        return data

    @property
    def next_due(self) -> int | None:
        """When held octets arrive."""
        times = [way.held_until for way in (self.to_host, self.to_table) if way.held]
        return min(times, default=None)

    def _damage(self, way: Way, data: bytes) -> bytes:
        out = bytearray()
        for frame in data.split(b"\0"):
            if frame and self.rng.random() < way.lose:
                self.lost += 1
                continue
            out += frame + b"\0"
        del out[-1:]
        for at in range(len(out)):
            if way.flip and self.rng.random() < way.flip:
                out[at] ^= 1 << self.rng.randrange(8)
                self.flipped += 1
        return bytes(out)
