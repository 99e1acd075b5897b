"""What does not fit into one frame: texts about the device and snapshots of its state, page by page (SPEC chapter 7).

Device: `info_page(request, texts)` and `snapshot_page(request, version, state, tiles)` make the answer to one request.
Host:   `InfoReader` and `SnapshotReader` tell what to ask next until all pages are there; the owner repeats `request` on time-out.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

from firmware_protocol import framing
from firmware_protocol.messages import (
    InfoPage,
    InfoRequest,
    SnapshotRequest,
    SnapshotState,
    SnapshotTiles,
    TileAt,
)

INFO_OCTETS = 40
TILES_A_PAGE = 4
_STATE_FROM = 5
"""Octets of version and pages in front of the part of SnapshotState that the state digest covers."""

Place = tuple[int, int]
"""Zone octet and reader."""


def info_page(request: InfoRequest, texts: Mapping[int, str]) -> InfoPage:
    """The page asked for; a text the device lacks, or a page behind its end, has no octets."""
    data = texts.get(request.key, "").encode("utf-8")
    pages = -(-len(data) // INFO_OCTETS)
    at = request.page * INFO_OCTETS
    return InfoPage(
        key=request.key, page=request.page, pages=pages, data=data[at : at + INFO_OCTETS]
    )


class InfoReader:
    """Collects one text about the device."""

    def __init__(self, key: int) -> None:
        self.key = key
        self._pages: list[bytes] = []
        self.text: str | None = None
        """The whole text, once all pages are there; empty when the device lacks it."""

    @property
    def request(self) -> InfoRequest:
        """What to ask next."""
        return InfoRequest(key=self.key, page=len(self._pages))

    def feed(self, page: InfoPage) -> bool:
        """Take an answer; True when the text is whole. Other keys and repeated pages are ignored."""
        if page.key != self.key or self.text is not None or page.page != len(self._pages):
            return self.text is not None
        if page.pages:
            self._pages.append(page.data)
        if len(self._pages) >= page.pages:
            self.text = b"".join(self._pages).decode("utf-8", "replace")
        return self.text is not None


def state_digest(state: SnapshotState) -> int:
    """CRC-16 of a device state without version and pages: `Heartbeat.state_digest` (SPEC S-5)."""
    return framing.crc16(state.pack()[_STATE_FROM:])


def snapshot_page(
    request: SnapshotRequest,
    version: int,
    state: SnapshotState,
    tiles: Mapping[Place, Sequence[TileAt]],
) -> SnapshotState | SnapshotTiles:
    """The page asked for, or page 0 when the request is for another version than the current one.

    `version` is the event_no of the last event; version and pages of `state` are filled in here.
    """
    parts = [
        (place, found[at : at + TILES_A_PAGE])
        for place, found in sorted(tiles.items())
        for at in range(0, len(found), TILES_A_PAGE)
    ]
    if request.page == 0 or request.version != version or request.page > len(parts):
        return dataclasses.replace(state, version=version, pages=1 + len(parts))
    (zone, reader), found = parts[request.page - 1]
    return SnapshotTiles(
        version=version, page=request.page, zone=zone, reader=reader, tiles=tuple(found)
    )


class SnapshotReader:
    """Collects one snapshot; starts over by itself when the device's state changed on the way."""

    def __init__(self) -> None:
        self.state: SnapshotState | None = None
        self.tiles: dict[Place, list[TileAt]] = {}
        self._next = 0
        self.restarts = 0

    @property
    def request(self) -> SnapshotRequest:
        """What to ask next (again after a time-out)."""
        version = 0 if self.state is None else self.state.version
        return SnapshotRequest(version=version, page=self._next)

    @property
    def done(self) -> bool:
        """True when all pages of one version are there."""
        return self.state is not None and self._next >= self.state.pages

    def feed(self, page: SnapshotState | SnapshotTiles) -> bool:
        """Take an answer; True when the snapshot is whole. Pages that were not asked for are ignored."""
        if self.done:
            return True
        if isinstance(page, SnapshotState):
            if self.state is not None and page.version == self.state.version:
                return self.done
            self.restarts += self.state is not None
            self.state = page
            self.tiles = {}
            self._next = 1
        elif (
            self.state is not None
            and page.version == self.state.version
            and page.page == self._next
        ):
            self.tiles.setdefault((page.zone, page.reader), []).extend(page.tiles)
            self._next += 1
        return self.done
