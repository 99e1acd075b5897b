"""A table of tiles in a test's hands: move a tile, let time pass, see what the mirror makes of it."""

from __future__ import annotations

from collections import defaultdict

from firmware_protocol import messages as m
from firmware_protocol.vocabulary import (
    ANYWHERE,
    LEVEL_TILES,
    Capability,
    Phase,
    Sight,
    ZoneKind,
    zone,
)
from tablectl.engine import rules
from tablectl.engine.game import commands as cmd
from tablectl.engine.game.apply import apply_all
from tablectl.engine.game.commands import Refusal
from tablectl.engine.game.decide import decide
from tablectl.engine.game.events import Event
from tablectl.engine.game.state import EMPTY
from tablectl.engine.tiles import NAMES
from tablectl.mirror.mirror import Mirror, MirrorOptions
from tablectl.mirror.tags import Engraved, TagMap

HANDS = (
    "1m1m2m3m4m5m6m7m8m9m1p2p3p",
    "1s2s3s4s5s6s7s8s9s1z1z2z2z",
    "1p1p4p5p6p7p8p9p9p3z3z4z4z",
    "2m3m4m2p3p4p2s3s4s5z5z6z6z",
)
INDICATOR = "7z"


def split(tiles: str) -> list[str]:
    return [tiles[i : i + 2] for i in range(0, len(tiles), 2)]


class Bench:
    """Mirror and engine; `tag("5m")` takes the next tag of a tile, moves are told as a board tells them."""

    def __init__(self, ruleset: str = "tenhou", extra: Capability = Capability.ORIENTATION) -> None:
        engraved: dict[int, Engraved] = {}
        self._free: dict[str, list[int]] = defaultdict(list)
        for number, name in enumerate(n for n in NAMES[:34] for _ in range(4)):
            engraved[1000 + number] = Engraved(NAMES.index(name), "blue")
            engraved[2000 + number] = Engraved(NAMES.index(name), "yellow")
            self._free[name].append(1000 + number)
        self.names = {tag: NAMES[e.tile] for tag, e in engraved.items()}
        self.mirror = Mirror(TagMap(engraved), MirrorOptions())
        self.mirror.capabilities = int(LEVEL_TILES | extra)
        self.state = EMPTY
        self.now = 1000
        self.events: list[Event] = []
        self.refused: list[Refusal] = []
        self.where: dict[int, int] = {}
        self.decide(
            cmd.StartGame(
                "g", rules.load(ruleset, {"aka": False} if ruleset == "tenhou" else {}).to_dict(),
                ("a", "b", "c", "d"),
            )
        )  # fmt: skip

    # ------------------------------------------------------------------ the game

    def decide(self, *commands: cmd.Command) -> None:
        for command in commands:
            answer = decide(self.state, command)
            if isinstance(answer, Refusal):
                self.refused.append(answer)
                continue
            self.state = apply_all(self.state, answer)
            self.events += answer
            if isinstance(command, cmd.PressStart):
                self.mirror.started()

    def see(self, message: m.Message) -> None:
        self.decide(*self.mirror.observe(message, self.now, self.state))

    def wait(self, ms: int) -> None:
        """Time passes; the mirror is woken as it asks to be."""
        end = self.now + ms
        while self.mirror.wake_at is not None and self.mirror.to_host(self.mirror.wake_at) <= end:
            self.now = max(self.now + 1, self.mirror.to_host(self.mirror.wake_at))
            self.decide(*self.mirror.advance(self.now, self.state))
        self.now = end
        self.decide(*self.mirror.advance(self.now, self.state))

    def types(self, after: int = 0) -> list[str]:
        return [event.type for event in self.events[after:]]

    # ------------------------------------------------------------------ tiles

    def tag(self, name: str) -> int:
        return self._free[name].pop(0)

    def appear(
        self, kind: ZoneKind, seat: int, *tags: int, flags: int = 0, signal: int = 200
    ) -> None:
        for tag in tags:
            sight = m.TileSight(255, int(Sight.APPEARED) | flags, signal, tag)
            self.where[tag] = zone(kind, seat)
            self.see(m.TileEvent(zone(kind, seat), 0, (sight,)))

    def vanish(self, tag: int, octet: int | None = None) -> None:
        where = self.where.pop(tag) if octet is None else octet
        self.see(m.TileEvent(where, 0, (m.TileSight(255, 0, 0, tag),)))

    def move(self, tag: int, kind: ZoneKind, seat: int, *, flags: int = 0) -> None:
        if tag in self.where:
            self.vanish(tag)
        self.appear(kind, seat, tag, flags=flags)

    def silently(self, tag: int, kind: ZoneKind, seat: int) -> int:
        """A tile comes to lie there, and the board tells nobody."""
        self.where[tag] = zone(kind, seat)
        return tag

    def look(self, *, slots: dict[int, int] | None = None, sticks: int = 0) -> None:
        """The board tells what lies where; `slots`: places in a zone, by tag."""
        zones: dict[int, list[m.TileAt]] = defaultdict(list)
        for tag, octet in sorted(self.where.items()):
            slot = (slots or {}).get(tag, ANYWHERE)
            zones[octet].append(m.TileAt(slot, int(Sight.APPEARED), tag))
        pages = [
            (octet, tiles[at : at + 4])
            for octet, tiles in sorted(zones.items())
            for at in range(0, len(tiles), 4)
        ]
        walls = (Phase.UP,) * 4
        self.see(m.SnapshotState(9, 1 + len(pages), 1, walls, 0, sticks, (0,) * 20, 0))
        for number, (octet, tiles) in enumerate(pages, 1):
            self.see(m.SnapshotTiles(9, number, octet, 0, tuple(tiles)))

    def deal(self, hands: tuple[str, ...] = HANDS) -> list[list[int]]:
        """Start the hand, deal, turn the indicator; tags of the four hands."""
        self.decide(cmd.PressStart(0), cmd.WallsReady(), cmd.RollDice(3, 4))
        tags = [[self.tag(name) for name in split(hand)] for hand in hands]
        for seat, mine in enumerate(tags):
            self.appear(ZoneKind.HAND, seat, *mine)
        self.appear(ZoneKind.INDICATOR, 0, self.tag(INDICATOR), flags=int(Sight.FACE_UP))
        self.wait(400)
        assert self.state.phase == "play", self.types()
        return tags

    def draw(self, seat: int, name: str) -> int:
        tag = self.tag(name)
        self.appear(ZoneKind.DRAWN, seat, tag)
        return tag

    def discard(self, seat: int, tag: int, *, flags: int = 0) -> None:
        self.move(tag, ZoneKind.RIVER, seat, flags=flags)
