"""Two sets of 136 tagged tiles, and the file that tells the host which tag is which tile.

The wire carries tags only; `tiles.toml` is written here and read by the daemon:

    format = 1

    [set.blue]
    E0040150A1B2C301 = "1m"
    …

One table per set; key = the tag in upper-case hex digits, value = the tile in two characters
(`1m`–`9s`, `0m 0p 0s` red fives, `1z`–`7z` = E S W N haku hatsu chun).
"""

from __future__ import annotations

import random
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from hardware_sim.errors import SimError

KINDS = frozenset(
    [f"{n}{suit}" for suit in "mps" for n in range(10)] + [f"{n}z" for n in range(1, 8)]
)
"""Every tile a set may hold, in two characters."""

TAG_BASE = 0xE004_0150_0000_0000
"""ISO 15693: E0, then the chip maker; the rest is the serial number."""

SET_NAMES = ("blue", "yellow")
"""Backs of the two sets of an automatic table, alternating hand by hand."""


def split_tiles(text: str) -> list[str]:
    """`1m0p5z` → `["1m", "0p", "5z"]`."""
    return [text[i : i + 2] for i in range(0, len(text), 2)]


def full_set(reds: bool) -> list[str]:
    """The 136 tiles of a set, with one red five per suit when `reds`."""
    tiles = [f"{n}{suit}" for suit in "mps" for n in range(1, 10) for _ in range(4)]
    tiles += [f"{n}z" for n in range(1, 8) for _ in range(4)]
    if reds:
        for suit in "mps":
            tiles[tiles.index(f"5{suit}")] = f"0{suit}"
    return tiles


@dataclass(frozen=True, slots=True)
class TileSet:
    """136 tags and what is engraved on their tiles."""

    name: str
    tiles: dict[int, str]
    """Tag → tile."""

    def by_tile(self, rng: random.Random) -> dict[str, list[int]]:
        """Tile → its tags, shuffled: which of the four equal tiles comes is chance."""
        found: dict[str, list[int]] = defaultdict(list)
        for tag, tile in self.tiles.items():
            found[tile].append(tag)
        for tags in found.values():
            rng.shuffle(tags)
        return found


def make_sets(reds: bool, seed: int) -> tuple[TileSet, TileSet]:
    """Both sets of a table: distinct random tags, as a factory solders them."""
    rng = random.Random(f"tags/{seed}")
    tags = rng.sample(range(1, 1 << 24), 2 * 136)
    tiles = full_set(reds)
    return (
        TileSet(SET_NAMES[0], {TAG_BASE + tag: tile for tag, tile in zip(tags[:136], tiles, strict=True)}),
        TileSet(SET_NAMES[1], {TAG_BASE + tag: tile for tag, tile in zip(tags[136:], tiles, strict=True)}),
    )  # fmt: skip


def write_tiles_toml(path: Path, sets: tuple[TileSet, TileSet]) -> None:
    """Write the map from tag to tile, whole or not at all."""
    lines = [
        "# Which tag is soldered into which tile. Written by the simulated table; a hall's own file looks the same.",
        "format = 1",
    ]
    for tile_set in sets:
        lines += ["", f"[set.{tile_set.name}]"]
        lines += [f'{tag:016X} = "{tile}"' for tag, tile in tile_set.tiles.items()]
    fresh = path.with_name(path.name + ".new")
    try:
        fresh.write_text("\n".join(lines) + "\n", encoding="utf-8")
        fresh.replace(path)
    except OSError as error:
        raise SimError(
            f"cannot write {path}: {error.strerror}",
            value=str(path),
            hint="the folder must exist and be writable",
        ) from error
