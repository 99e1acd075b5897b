"""The set that stands on the table: which tag is the tile drawn as number t, and where it stands."""

from __future__ import annotations

import random
from dataclasses import dataclass

from hardware_sim.record import Hand
from hardware_sim.tags import TileSet
from hardware_sim.wall import WallPlace, place_of


@dataclass(frozen=True, slots=True)
class Pack:
    """One built set of 136 tiles."""

    set_index: int
    tiles: dict[int, str]
    """Tag → what is engraved."""
    order: tuple[int, ...]
    """Tag by draw index."""
    places: tuple[WallPlace, ...]
    """Place by draw index."""

    def tag(self, t: int) -> int:
        """Tag of the tile with draw index t."""
        return self.order[t]


def build(
    hand: Hand, set_index: int, tile_set: TileSet, ring_start: int, rng: random.Random
) -> Pack:
    """Shuffle a set into the walls of a hand: equal tiles by chance, the rest as the hand says."""
    loose = tile_set.by_tile(rng)
    order = tuple(loose[tile].pop() for tile in hand.wall)
    places = tuple(place_of(t, ring_start, hand.dealer) for t in range(len(order)))
    return Pack(set_index, tile_set.tiles, order, places)


def with_foreign(pack: Pack, t: int, other: TileSet) -> Pack:
    """The same pack, but for the tile drawn as t: it comes from the other set and looks the same."""
    tile = pack.tiles[pack.order[t]]
    stranger = next(tag for tag, engraved in other.tiles.items() if engraved == tile)
    order = (*pack.order[:t], stranger, *pack.order[t + 1 :])
    return Pack(pack.set_index, pack.tiles | {stranger: tile}, order, pack.places)
