"""Reads the board's state page by page while the game goes on, and puts it in its place among the events.

SPEC S-3 gives pages of the current version only, so a reading that begins anew with each event never ends at a
busy table. Here what was read stays: the events since bring it forward (they are numbered without a gap, E-2),
and the reading goes on at the page where it stood. For that the pages must come by zone and reader, four tiles
each, which SPEC does not promise. It is checked with each page; a board that lays them out otherwise is read
from one version only.
"""

from __future__ import annotations

import dataclasses
from collections import deque

from firmware_protocol import messages as m
from firmware_protocol.paging import TILES_A_PAGE, Place
from firmware_protocol.schema import Message
from firmware_protocol.timing import signed32
from firmware_protocol.vocabulary import Sight
from tablectl.table.picture import change

HOLD = 3_000_000
"""µs that a page waits for the events it includes."""
MISFITS_MOST = 2
"""Pages out of place before the board is taken for one that lays them out otherwise."""
EVENTS_MOST = 1_000
"""Events kept while no page comes: with more the reading begins anew."""

Bound = tuple[int, int, int]
_START: Bound = (-1, 0, 0)
_END: Bound = (256, 0, 0)


class StateReading:
    """One reading, from the first request to `result`. No I/O; times in µs.

    `reported` is the last event_no handed on. Tell it each further one with `event`, each page with
    `page`; ask `request` when no answer is under way.
    """

    def __init__(self, reported: int) -> None:
        self._at = reported
        self._misfits = 0
        self.restarts = 0
        """How often it had to begin anew."""
        self._held: tuple[m.SnapshotState | m.SnapshotTiles, int] | None = None
        """A page that waits, and since when."""
        self._log: deque[tuple[int, Message]] = deque()
        """Events behind the version that is being read."""
        self._floor = reported
        """Versions before this one cannot be brought forward: not all events since are in the log."""
        self.result: tuple[Message, ...] | None = None
        """SnapshotState and SnapshotTiles as of the last event reported, once it is whole."""
        self._forget()

    def _forget(self) -> None:
        self._state: m.SnapshotState | None = None
        self._done: dict[Place, dict[int, m.TileAt]] = {}
        self._known: Bound = _START
        """Every place below it is in `_done`, or has no tiles."""
        self._open: Place | None = None
        """The place being read; its tiles and how many pages they came on stand below."""
        self._tiles: list[m.TileAt] = []
        self._pages = 0
        self._asked = 0
        self._refused = 0

    # ------------------------------------------------------------------ in

    @property
    def request(self) -> m.SnapshotRequest | None:
        """What to ask next (again after a time-out); None while a page waits for its events."""
        if self._held is not None:
            return None
        if self._state is None:
            self._asked = 0
            return m.SnapshotRequest(0, 0)
        self._asked = self._next
        # Behind an event the board answers with page 0 of its new version.
        return m.SnapshotRequest(self._state.version, self._asked)

    def event(self, number: int, message: Message, now: int) -> None:
        """An event was reported."""
        self._at = number
        if isinstance(message, m.EventsLost):
            self._floor = number
            self._begin_anew()
        if self._state is None or signed32(number - self._state.version) > 0:
            self._log.append((number, message))
        self._follow(message, _START)
        if len(self._log) > EVENTS_MOST:
            self._floor = self._log.popleft()[0]
            self._begin_anew()
        self.poll(now)

    def page(self, page: m.SnapshotState | m.SnapshotTiles, now: int) -> None:
        """The board answered."""
        if self.result is None:
            self._held = page, now
            self.poll(now)

    def poll(self, now: int) -> None:
        """Take the page that waits, once its events are there (or never come, in a minor we do not read)."""
        if self._held is None:
            return
        page, since = self._held
        if signed32(page.version - self._at) > 0:
            if now < since + HOLD:
                return
            self._at = page.version
        self._held = None
        if signed32(page.version - self._floor) < 0:
            return
        if isinstance(page, m.SnapshotState):
            self._take_state(page)
        elif self._state is not None and page.version == self._state.version:
            self._take_tiles(page)

    @property
    def next_deadline(self) -> int | None:
        """When `poll` has something to do."""
        return None if self._held is None else self._held[1] + HOLD

    # ------------------------------------------------------------------ pages

    @property
    def _plain(self) -> bool:
        """One version or nothing, as SPEC has it."""
        return self._misfits >= MISFITS_MOST

    @property
    def _next(self) -> int:
        """Number of the first page that is not read."""
        return 1 + self._pages + (0 if self._plain else sum(map(_count, self._done.values())))

    def _begin_anew(self) -> None:
        self.restarts += self._state is not None
        self._forget()

    def _misfit(self) -> None:
        self._misfits += 1
        self._begin_anew()

    def _take_state(self, page: m.SnapshotState) -> None:
        if self._state is not None and page.version == self._state.version:
            # Twice: the page asked for is not there, so they lie otherwise than we count. Once: a late answer.
            self._refused += self._asked > 0
            if self._refused > 1:
                self._misfit()
            return
        if self._plain and self._state is not None:
            self._begin_anew()
        while self._log and signed32(self._log[0][0] - page.version) <= 0:
            self._log.popleft()
        self._state = page
        self._refused = 0
        if page.pages == 1:
            self._done.clear()
            self._open, self._tiles, self._pages, self._known = None, [], 0, _START
            self._finish()
        elif not self._log and self._next >= page.pages:
            # What was left to read went away.
            if self._next == page.pages:
                self._finish()
            else:
                self._misfit()

    def _take_tiles(self, page: m.SnapshotTiles) -> None:
        if page.page != self._asked:
            return
        assert self._state is not None
        place = (page.zone, page.reader)
        if self._plain:
            self._done.setdefault(place, {}).update((tile.tag, tile) for tile in page.tiles)
        else:
            if any(_place(message) == place for _, message in self._log):
                return  # it changed behind this page: it is read again
            if place != self._open:
                self._close()
                if (*place, 0) < self._known:
                    self._misfit()
                    return
                self._reach((*place, 0))
                self._open = place
            elif len(self._tiles) % TILES_A_PAGE:
                self._misfit()
                return
            self._tiles += page.tiles
        self._pages += 1
        self._refused = 0
        if page.page == self._state.pages - 1:
            self._finish()

    def _close(self) -> None:
        """The place that was being read is read."""
        if self._open is not None:
            self._done[self._open] = {tile.tag: tile for tile in self._tiles}
            self._known = (*self._open, 1)
            self._open, self._tiles, self._pages = None, [], 0

    def _reach(self, bound: Bound) -> None:
        """Places up to `bound` have no tiles in this version but those that are read."""
        before, self._known = self._known, bound
        for _, message in self._log:
            self._follow(message, before)

    def _finish(self) -> None:
        assert self._state is not None
        self._close()
        self._reach(_END)
        state = self._state
        for _, message in self._log:
            state = dataclasses.replace(state, **change(state, message))
        pages: list[m.SnapshotTiles] = []
        for (zone, reader), by_tag in sorted(self._done.items()):
            tiles = sorted(by_tag.values(), key=lambda tile: (tile.slot, tile.tag))
            for at in range(0, len(tiles), TILES_A_PAGE):
                part = tuple(tiles[at : at + TILES_A_PAGE])
                pages.append(m.SnapshotTiles(self._at, 1 + len(pages), zone, reader, part))
        state = dataclasses.replace(state, version=self._at, pages=1 + len(pages))
        self.result = (state, *pages)

    # ------------------------------------------------------------------ events

    def _follow(self, message: Message, above: Bound) -> None:
        """Bring the places from `above` to what is known forward by an event."""
        place = _place(message)
        if place is None or not isinstance(message, m.TileEvent):
            return
        if place == self._open:
            # Half read: from its first page again. The answer that may be under way is not taken.
            self._open, self._tiles, self._pages, self._asked = None, [], 0, -1
            return
        if not above <= (*place, 0) < self._known:
            return
        by_tag = self._done.setdefault(place, {})
        for sight in message.tiles:
            if sight.flags & Sight.APPEARED:
                by_tag[sight.tag] = m.TileAt(sight.slot, sight.flags, sight.tag)
            else:
                by_tag.pop(sight.tag, None)


def _place(message: Message) -> Place | None:
    return (message.zone, message.reader) if isinstance(message, m.TileEvent) else None


def _count(by_tag: dict[int, m.TileAt]) -> int:
    return -(-len(by_tag) // TILES_A_PAGE)
