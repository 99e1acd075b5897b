"""A bad cable: loses, flips, duplicates, truncates frames and inserts garbage, each with the same seeded chance.

It knows what it damaged. A damaged frame that passes every check of the receiver (about one in 65,536) would be a message that nobody
sent; the channel finds it before the receiver does, counts it in `forged` and takes it out.
"""

from __future__ import annotations

import random
from collections import Counter, deque

from firmware_protocol import framing

FAULTS = ("lose", "flip", "duplicate", "truncate", "garbage")


class BadCable:
    """One direction. `carry(octets)` returns what arrives of them."""

    def __init__(self, seed: int, rate: float = 0.05) -> None:
        self._random = random.Random(seed)
        self.rate = rate
        self.cut = False
        """Nothing passes at all."""
        self.done: Counter[str] = Counter()
        self.forged: list[bytes] = []
        self._true: deque[bytes] = deque(maxlen=256)
        self._rest = b""

    def carry(self, data: bytes) -> bytes:
        """Whole frames in, damaged stream out."""
        assert data.endswith(b"\0"), "a link writes whole frames"
        if self.cut:
            self.done["cut"] += 1
            return b""
        out = b""
        for chunk in data.split(b"\0")[:-1]:
            if chunk:
                self._true.append(chunk)
                out += self._spoil(chunk + b"\0")
            else:
                out += b"\0"
        return self._without_forgeries(out)

    def _spoil(self, frame: bytes) -> bytes:
        rng = self._random
        out = frame
        for fault in FAULTS:
            if rng.random() >= self.rate:
                continue
            self.done[fault] += 1
            if fault == "lose":
                return b""
            if fault == "flip":
                at = rng.randrange(len(out))
                out = out[:at] + bytes((out[at] ^ 1 << rng.randrange(8),)) + out[at + 1 :]
            elif fault == "duplicate":
                out += out
            elif fault == "truncate":
                at = rng.randrange(1, len(out))
                out = out[:at] if rng.random() < 0.5 else out[at:]
            else:
                at = rng.choice((0, rng.randrange(len(out) + 1)))
                out = out[:at] + rng.randbytes(rng.randrange(1, 90)) + out[at:]
        return out

    def _without_forgeries(self, stream: bytes) -> bytes:
        *chunks, self._rest = (self._rest + stream).split(b"\0")
        kept = []
        for chunk in chunks:
            if framing.parse(chunk) is not None and chunk not in self._true:
                self.forged.append(chunk)
                kept.append(b"")
            else:
                kept.append(chunk)
        return b"\0".join(kept) + b"\0" if kept else b""
