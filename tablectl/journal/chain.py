"""A hash chain per game: each fact and event is sealed with all that stood before it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any

ANCHOR = bytes(32)
"""What a chain starts from."""
_ENCODER = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False)


def seal(previous: bytes, kind: str, row: Sequence[Any]) -> bytes:
    """SHA-256 over the previous seal and the row (all columns but `hash`) as JSON; 32 octets."""
    text = _ENCODER.encode((kind, *row))
    return hashlib.sha256(previous + text.encode("utf-8", "surrogatepass")).digest()
