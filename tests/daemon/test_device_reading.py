"""The board's state is read while the game goes on: whole, right, and in its place among the events."""

from __future__ import annotations

import dataclasses
import random
from collections import deque
from collections.abc import Callable

import pytest

from firmware_protocol import messages as m
from firmware_protocol.paging import Place, snapshot_page
from firmware_protocol.schema import Message
from firmware_protocol.vocabulary import Phase, Sight
from tablectl.table.reading import HOLD, StateReading
from tests.conftest import scaled

START = m.SnapshotState(0, 1, Phase.DOWN, (Phase.DOWN,) * 4, 0, 0, (0,) * 20, 0)
PLACES = [(kind << 4 | seat, 4 * kind + seat) for kind in (1, 2, 3, 4) for seat in range(4)]
Tiles = dict[Place, list[m.TileAt]]


class Table:
    """A board in the order of SPEC: what it sees, its events by number, its pages."""

    def __init__(
        self,
        rng: random.Random,
        page: Callable[..., Message] = snapshot_page,
        tiles: int | None = None,
    ) -> None:
        self.rng, self._page = rng, page
        self.state = START
        self.tiles: Tiles = {}
        self.event_no = 0
        self.asked = 0
        for tag in range(rng.randrange(137) if tiles is None else tiles):
            self._put(rng.choice(PLACES), tag)

    def _put(self, place: Place, tag: int) -> m.TileAt:
        tile = m.TileAt(self.rng.randrange(34), int(Sight.APPEARED), tag)
        self.tiles.setdefault(place, []).append(tile)
        self.tiles[place].sort(key=lambda t: (t.slot, t.tag))
        return tile

    def happen(self) -> tuple[int, Message]:
        """Something happens: an event with its number."""
        self.event_no += 1
        return self.event_no, self._something()

    def _something(self) -> Message:
        lying = [place for place, tiles in self.tiles.items() if tiles]
        if self.rng.random() < 0.1 or not lying:
            seat, present = self.rng.randrange(4), self.rng.randrange(2)
            riichi = self.state.riichi & ~(1 << seat) | present << seat
            self.state = dataclasses.replace(self.state, riichi=riichi)
            return m.RiichiSlot(seat, present)
        if self.rng.random() < 0.5:
            place = self.rng.choice(lying)
            few = self.rng.sample(self.tiles[place], min(len(self.tiles[place]), 4))
            gone = few[: self.rng.randrange(1, 1 + len(few))]
            self.tiles[place] = [tile for tile in self.tiles[place] if tile not in gone]
            sights = tuple(m.TileSight(tile.slot, 0, 0, tile.tag) for tile in gone)
        else:
            place = self.rng.choice(PLACES)
            new = [self._put(place, 1000 + 4 * self.event_no + n) for n in range(self.rng.randrange(1, 5))]  # fmt: skip
            sights = tuple(m.TileSight(tile.slot, tile.flags, 200, tile.tag) for tile in new)
        return m.TileEvent(*place, sights)

    def answer(self, request: m.SnapshotRequest) -> Message:
        self.asked += 1
        return self._page(request, self.event_no, self.state, self.tiles)

    def whole(self) -> tuple[m.SnapshotState, set[tuple[Place, m.TileAt]]]:
        state = dataclasses.replace(self.state, version=self.event_no, pages=1)
        return state, {(place, tile) for place, tiles in self.tiles.items() for tile in tiles}


def told(pages: tuple[Message, ...]) -> tuple[m.SnapshotState, set[tuple[Place, m.TileAt]]]:
    """State and tiles of a reading, after its pages were counted and each tile found once."""
    state, *rest = pages
    assert isinstance(state, m.SnapshotState)
    assert state.pages == len(pages)
    found: list[tuple[Place, m.TileAt]] = []
    for number, page in enumerate(rest, 1):
        assert isinstance(page, m.SnapshotTiles)
        assert (page.version, page.page) == (state.version, number)
        found += [((page.zone, page.reader), tile) for tile in page.tiles]
    assert len(found) == len(set(found))
    return dataclasses.replace(state, pages=1), set(found)


def read(table: Table, busy: float, *, most: int = 5_000) -> StateReading:
    """Read it while events come: `busy` is the chance of one before an answer, and of one more behind it.

    Events overtake pages that were made before them (SPEC L-20), never the other way round.
    """
    rng = table.rng
    reading = StateReading(table.event_no)
    for now in range(most):
        request = reading.request
        assert request is not None
        on_the_way: deque[tuple[int, Message]] = deque()
        if rng.random() < busy:
            on_the_way.append(table.happen())
        page = table.answer(request)
        while on_the_way:
            reading.event(*on_the_way.popleft(), now)
        while rng.random() < busy:
            reading.event(*table.happen(), now)
            if reading.result is not None:
                return reading
        assert isinstance(page, (m.SnapshotState, m.SnapshotTiles))
        reading.page(page, now)
        if reading.result is not None:
            return reading
    raise AssertionError(f"not read in {most} questions, begun anew {reading.restarts} times")


@pytest.mark.parametrize("busy", [0.0, 0.05, 0.3])
def test_what_is_read_between_events_is_what_lies_there(busy: float) -> None:
    for seed in range(scaled(5_000, 150)):
        table = Table(random.Random(f"{busy}/{seed}"))
        reading = read(table, busy)
        assert reading.result is not None
        assert told(reading.result) == table.whole(), seed
        assert reading.restarts == 0, "what was read is thrown away"


def test_at_a_quiet_table_each_page_is_asked_once() -> None:
    table = Table(random.Random(1), tiles=136)
    reading = read(table, 0.0)
    assert reading.result is not None
    assert table.asked == len(reading.result) > 35


def test_steady_traffic_costs_questions_and_no_second_beginning() -> None:
    """An event with every other answer: no version lasts for more than a page or two."""
    table = Table(random.Random(3), tiles=136)
    reading = read(table, 0.5)
    assert reading.result is not None
    assert reading.restarts == 0
    assert table.event_no > 100
    assert told(reading.result) == table.whole()


def otherwise(
    request: m.SnapshotRequest, version: int, state: m.SnapshotState, tiles: Tiles
) -> Message:
    """Pages as SPEC allows them too: the last place first, three tiles a page."""
    pages = [
        (place, tuple(tiles[place][at : at + 3]))
        for place in sorted(tiles, reverse=True)
        for at in range(0, len(tiles[place]), 3)
    ]
    if request.page == 0 or request.version != version or request.page > len(pages):
        return dataclasses.replace(state, version=version, pages=1 + len(pages))
    (zone, reader), part = pages[request.page - 1]
    return m.SnapshotTiles(version, request.page, zone, reader, part)


@pytest.mark.parametrize("busy", [0.0, 0.01])
def test_a_board_that_lays_its_pages_out_otherwise_is_read_from_one_version(busy: float) -> None:
    for seed in range(scaled(1_000, 60)):
        table = Table(random.Random(f"otherwise/{seed}"), otherwise)
        reading = read(table, busy)
        assert reading.result is not None
        assert told(reading.result) == table.whole(), seed


def test_events_that_were_lost_begin_it_anew() -> None:
    table = Table(random.Random(2))
    reading = StateReading(0)
    for _ in range(8):
        assert reading.request is not None
        reading.page(table.answer(reading.request), 0)  # type: ignore[arg-type]  # a page
    old = table.answer(reading.request)
    table._something()  # it happened, and there was no room to tell it
    table.event_no += 1
    reading.event(table.event_no, m.EventsLost(1), 0)
    assert reading.request == m.SnapshotRequest(0, 0)
    reading.page(old, 0)  # type: ignore[arg-type]  # a page of a version that nobody can bring forward
    assert reading.request == m.SnapshotRequest(0, 0)
    while reading.result is None:
        assert reading.request is not None
        reading.page(table.answer(reading.request), 0)  # type: ignore[arg-type]  # a page
    assert told(reading.result) == table.whole()
    assert reading.restarts == 1


def test_a_page_waits_for_its_events_and_not_for_ever() -> None:
    """Two events of a later minor are unknown here: the page that includes them is taken all the same."""
    table = Table(random.Random(4))
    reading = StateReading(0)
    assert reading.request is not None
    table.event_no = 2
    reading.page(table.answer(reading.request), 0)  # type: ignore[arg-type]  # a page
    assert reading.request is None
    assert reading.next_deadline == HOLD
    reading.poll(HOLD - 1)
    assert reading.request is None
    reading.poll(HOLD)
    while reading.result is None:
        assert reading.request is not None
        reading.page(table.answer(reading.request), HOLD)  # type: ignore[arg-type]  # a page
    assert told(reading.result) == table.whole()
