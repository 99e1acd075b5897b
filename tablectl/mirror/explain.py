"""What must have been played while nobody looked: every legal order of play that ends in what lies on the table.

After a gap only places are known, no order. So each way the rules allow is tried, and only what all of them agree on
counts: two ways that differ in anything a score may depend on are two explanations, and neither is taken.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Literal

from firmware_protocol.vocabulary import ANYWHERE, SEATS, Capability, Sight, ZoneKind
from tablectl.engine.game import commands as cmd
from tablectl.engine.game.commands import Command, Refusal
from tablectl.engine.game.state import GameState, Seat
from tablectl.engine.game.wall import DEAL, INDICATORS
from tablectl.engine.tiles import NAMES
from tablectl.mirror.book import Book, Home, HomeKind
from tablectl.mirror.moves import HAND_ZONES, Move, View, call_command, tsumogiri
from tablectl.mirror.perceive import judge
from tablectl.mirror.picture import Spot, Where

MOST_TRIED = 300
"""Moves tried for one gap, some tens of milliseconds; what is longer nobody can put together again."""
MOST_WAYS = 8
UNSEEN_RIICHI = "a riichi that nothing shows yet"
"""Thought of as long as its stick may still come; no infraction is."""
IN_PLAY = (*HAND_ZONES, ZoneKind.RIVER, ZoneKind.MELD)
_ZONES: dict[HomeKind, tuple[ZoneKind, ...]] = {
    "hand": HAND_ZONES,
    "river": (ZoneKind.RIVER,),
    "meld": (ZoneKind.MELD,),
    "dora": (ZoneKind.INDICATOR,),
    "ura": (ZoneKind.URA,),
}

_SEAT = tuple(name for name in Seat.__annotations__ if name not in ("river", "key", "waits_cache"))
"""What makes a seat; the key follows from the hand."""
_SAME = frozenset({"seats", "game"})
_ZONE_WORDS: dict[int, str] = {
    ZoneKind.DRAWN: "hand",
    ZoneKind.LAID: "hand laid open",
    ZoneKind.MELD: "melds",
}


@dataclass(frozen=True, slots=True)
class Explanation:
    """One legal way from the game as it was known to what lies on the table."""

    moves: tuple[Move, ...]
    state: GameState
    """The game after it."""
    assumed: str = ""
    """What it takes for granted that no antenna saw, in words."""


@dataclass(frozen=True, slots=True)
class Findings:
    """All explanations that differ in what may matter."""

    ways: tuple[Explanation, ...] = ()
    exhausted: bool = False
    """The search was given up: there may be more."""
    puzzle: str = ""
    """Without any: what no legal play explains, in words. May name concealed tiles."""

    @property
    def only(self) -> Explanation | None:
        """The one explanation there is; None where there is none or more than one."""
        return self.ways[0] if len(self.ways) == 1 and not self.exhausted else None

    @property
    def text(self) -> str:
        """Why there is not exactly one, for the referee."""
        if self.only is not None:
            return ""
        if self.exhausted:
            return "too much was played while nobody looked"
        if not self.ways:
            return self.puzzle or "no legal play leads to what lies on the table"
        one, other = self.ways[:2]
        for first, second in zip(one.moves, other.moves, strict=False):
            if first.commands != second.commands:
                return f"either {_words(first)} or {_words(second)} came first"
        longer = max(one.moves, other.moves, key=len)
        return f"perhaps {_words(longer[-1])}, perhaps not"


def explain(
    view: View, book: Book, state: GameState, where: Where, sticks: set[int], *, stick_due: bool
) -> Findings:
    """Explanations of what lies on the table, with as little assumed as possible.

    `sticks`: seats with a stick in the riichi slot. `stick_due`: one may still come that belongs to this.
    """
    for seat, hand in enumerate(book.hands):
        if hand and not any(where.get(tag) for tag in hand):
            return Findings(puzzle=f"the hand of seat {seat} was taken away meanwhile")
    found = Findings()
    for slots, unseen in ((True, False), (False, False), (True, True)):
        search = _Search(view, where, sticks, stick_due=stick_due, slots=slots, unseen=unseen)
        found = search.run(book, state)
        if found.ways or found.exhausted:
            return found
    return found


@dataclass(slots=True)
class _Node:
    """A point on a way: the book, the game, and how they were reached."""

    book: Book
    state: GameState
    moves: tuple[Move, ...] = ()


class _Search:
    """Depth first over the moves that bring tiles where they lie."""

    def __init__(
        self,
        view: View,
        where: Where,
        sticks: set[int],
        *,
        stick_due: bool,
        slots: bool,
        unseen: bool,
    ) -> None:
        self.view = view
        self.where = where
        self.sticks = sticks
        self.stick_due = stick_due
        self.slots = slots
        """Tiles of a river were laid in the order of their slots."""
        self.unseen = unseen
        """Tiles that nobody sees may have been drawn and discarded."""
        self.stood: dict[int, int] = {}
        """Draw index → the tag that stood there."""
        self.riichi: set[int] = set()
        """Seats that were in riichi before the gap."""
        self.tried = 0

    def run(self, book: Book, state: GameState) -> Findings:
        """All ways from here, those with the fewest infractions."""
        self.riichi = {seat for seat in SEATS if state.seats[seat].riichi}
        for tag in self.view.walls:
            index = self.view.draw_index(tag, state)
            if index is not None:
                self.stood[index] = tag
        ways: dict[Hashable, Explanation] = {}
        puzzle, deepest = "", -1
        stack = [_Node(book, state)]
        met: set[Hashable] = set()
        while stack:
            node = stack.pop()
            key = _key(node.state)
            mark = (key, node.book.drawn, frozenset(node.book.home.items()))
            if mark in met:
                continue
            met.add(mark)
            text = self._unexplained(node)
            if not text:
                reasons = [move.reason for move in node.moves if move.reason]
                way = Explanation(node.moves, node.state, reasons[0] if reasons else "")
                ways.setdefault(key, way)
            elif len(node.moves) > deepest:
                puzzle, deepest = text, len(node.moves)
            following = self._after(node)
            if self.tried > MOST_TRIED or len(ways) > MOST_WAYS:
                return Findings(tuple(ways.values()), exhausted=True)
            stack += reversed(following)
        if not ways:
            return Findings(puzzle=puzzle)
        clean = min(len(way.state.findings) for way in ways.values())
        return Findings(
            tuple(way for way in ways.values() if len(way.state.findings) == clean), puzzle=puzzle
        )

    def _after(self, node: _Node) -> list[_Node]:
        """What the rules allow from here."""
        found = []
        for move in self._moves(node):
            self.tried += 1
            state = judge(node.state, move.commands)
            if isinstance(state, Refusal):
                continue
            assumed = move.reason == UNSEEN_RIICHI
            if assumed and state.findings != node.state.findings:
                continue
            book = node.book.copy()
            move.enter(book)
            found.append(_Node(book, state, (*node.moves, move)))
            if isinstance(move.commands[0], cmd.RevealDora):
                break  # whenever it was turned between two moves, the game is the same
        return found

    # ---- what may come next

    def _moves(self, node: _Node) -> Iterator[Move]:
        state = node.state
        if state.phase in ("deal", "play"):
            yield from self._indicators(node)
        if state.phase == "deal":
            yield from self._deal(node)
        if state.phase != "play":
            return
        if state.step in ("own", "call"):
            yield from self._discards(node)
            if state.step == "own":
                yield from self._kans(node)
            return
        if state.step == "draw":
            yield from self._calls(node)
        yield from self._draws(node)

    def _indicators(self, node: _Node) -> Iterator[Move]:
        known, book = node.state.dora, node.book
        here = Spot(ZoneKind.INDICATOR, 0)
        turned = [tag for tag in self._seen_in(here) if tag not in book.home]
        due = None if len(known) >= len(INDICATORS) else self.stood.get(INDICATORS[len(known)])
        if due in turned or (self.unseen and due is not None and not self._sees(due)):
            turned = [due] if due is not None else []
        turned.sort(key=lambda tag: self._slot(tag, here))
        for tag in turned[:1]:
            reason = "" if self._sees(tag) else "a dora indicator was not read"
            yield _move(cmd.RevealDora(self.view.tile(tag)), ("turn_dora", (tag,)), reason)

    def _deal(self, node: _Node) -> Iterator[Move]:
        """Tiles that have been played with since are known by the place in the wall they came from."""
        state = node.state
        if state.wall is None or any(node.book.hands):
            return
        tags = [[self.stood.get(t) for t in DEAL[state.wind(seat)]] for seat in SEATS]
        known = [[tag for tag in mine if tag is not None] for mine in tags]
        if any(len(mine) < len(DEAL[0]) for mine in known):
            return
        hands = tuple(tuple(self.view.tile(tag) for tag in mine) for mine in known)
        steps = tuple(("take", (seat, tag)) for seat in SEATS for tag in known[seat])
        yield Move((cmd.Deal(hands),), 0, 0, steps)

    def _draws(self, node: _Node) -> Iterator[Move]:
        state, book, seat = node.state, node.book, node.state.turn
        due = self.stood.get(self.view.due_index(state))
        if due is not None:
            loose = [due]
        else:
            loose = [tag for tag in self.where if self.view.draw_index(tag, state) is None]
        for tag in loose:
            spots = self.where.get(tag, {})
            if tag in book.home or tag in self.view.ignored:
                continue
            if not spots and not (self.unseen and due is not None):
                continue
            if any(spot.kind == ZoneKind.WALL for spot in spots):
                continue
            if spots and not any(_may_have_drawn(seat, spot) for spot in spots):
                continue
            reason = "" if spots else f"the draw of seat {seat} was not read in the hand"
            draw = cmd.Draw(seat, self.view.tile(tag), state.step != "draw")
            yield _move(draw, ("draw", (seat, tag)), reason)

    def _discards(self, node: _Node) -> Iterator[Move]:
        state, book, seat = node.state, node.book, node.state.turn
        for tag in book.hands[seat]:
            spots = self.where.get(tag, {})
            if Spot(ZoneKind.RIVER, seat) in spots:
                if self.slots and not self._next_in_river(book, seat, tag):
                    continue
            elif spots:
                if not any(spot.kind == ZoneKind.MELD and spot.seat != seat for spot in spots):
                    continue
            elif not self.unseen:
                continue
            reason = "" if spots else f"the discard of seat {seat} was not read in the river"
            said = tsumogiri(self.view, book, state, seat, tag)
            discard = cmd.Discard(seat, self.view.tile(tag), said)
            for declares in self._may_declare(node, tag):
                move = _move(discard, ("discard", (seat, tag)), reason)
                if declares:
                    move = replace(move, commands=(cmd.DeclareRiichi(seat), discard))
                    if not (seat in self.sticks or self._sideways(tag, seat)):
                        move = replace(move, certainty="tentative", reason=UNSEEN_RIICHI)
                yield move

    def _may_declare(self, node: _Node, tag: int) -> tuple[bool, ...]:
        """Whether riichi may have been said with this discard."""
        seat = node.state.turn
        mine, stick = node.state.seats[seat], seat in self.sticks
        if mine.riichi or not mine.closed or node.state.step != "own":
            return (False,)
        told = self.where.get(tag, {}).get(Spot(ZoneKind.RIVER, seat))
        if told is not None and told.flags & Sight.ORIENTED:
            if told.flags & Sight.SIDEWAYS:
                return (True,)
            return (False, True) if stick and self.unseen else (False,)
        return (False, True) if stick or self.stick_due else (False,)

    def _sideways(self, tag: int, seat: int) -> bool:
        told = self.where.get(tag, {}).get(Spot(ZoneKind.RIVER, seat))
        return told is not None and bool(told.flags & Sight.SIDEWAYS)

    def _next_in_river(self, book: Book, seat: int, tag: int) -> bool:
        """Whether a tile lies behind all that were there, and before all that are still to come."""
        here = Spot(ZoneKind.RIVER, seat)
        slot = self.where[tag][here].slot
        if slot == ANYWHERE:
            return True
        for other in self._seen_in(here):
            its = self.where[other][here].slot
            if other == tag or its == ANYWHERE or other in self.view.ignored:
                continue
            laid = book.home.get(other) == Home("river", seat)
            if laid == (its >= slot):
                return False
        return True

    def _kans(self, node: _Node) -> Iterator[Move]:
        seat, view = node.state.turn, self.view
        mine = self._hand_in_meld(node.book, seat)
        by_kind: dict[int | None, list[int]] = {}
        for tag in mine:
            by_kind.setdefault(view.kind(tag), []).append(tag)
        for kind, tags in by_kind.items():
            if len(tags) == 4:
                tiles = tuple(view.tile(tag) or 0 for tag in tags)
                yield _move(cmd.Ankan(seat, tiles), ("meld", (seat, tuple(tags))))
            for index, group in enumerate(node.book.melds[seat]):
                if len(group) == 3 and {view.kind(tag) for tag in group} == {kind}:
                    tile = view.tile(tags[0])
                    assert tile is not None
                    yield _move(cmd.Kakan(seat, tile), ("add_to_meld", (seat, index, tags[0])))

    def _calls(self, node: _Node) -> Iterator[Move]:
        discard, book = node.state.discard, node.book
        if discard is None or not book.rivers[discard[0]]:
            return
        claimed = book.rivers[discard[0]][-1]
        for seat in SEATS:
            if seat == discard[0] or Spot(ZoneKind.MELD, seat) not in self.where.get(claimed, {}):
                continue
            mine = self._hand_in_meld(book, seat)
            lost = [tag for tag in book.hands[seat] if not self._sees(tag)] if self.unseen else []
            groups = [(group, "") for size in (2, 3) for group in combinations(mine, size)]
            unread = f"a tile of seat {seat}'s meld was not read"
            groups += [((*two, tag), unread) for tag in lost for two in combinations(mine, 1)]
            for group, reason in groups:
                command = call_command(self.view, seat, claimed, [claimed, *group])
                if command is not None:
                    yield _move(command, ("meld", (seat, (claimed, *group))), reason)

    # ---- what lies where

    def _sees(self, tag: int) -> bool:
        return bool(self.where.get(tag))

    def _seen_in(self, spot: Spot) -> list[int]:
        return [tag for tag, spots in self.where.items() if spot in spots]

    def _slot(self, tag: int, spot: Spot) -> int:
        told = self.where.get(tag, {}).get(spot)
        return ANYWHERE if told is None else told.slot

    def _hand_in_meld(self, book: Book, seat: int) -> list[int]:
        here = Spot(ZoneKind.MELD, seat)
        return [tag for tag in book.hands[seat] if here in self.where.get(tag, {})]

    # ---- whether all is explained

    def _unexplained(self, node: _Node) -> str:
        """What lies elsewhere than the game has it, in words; empty: nothing."""
        book, state = node.book, node.state
        if state.phase == "deal":
            return "tiles were played with before the deal was seen"
        for tag, spots in self.where.items():
            if tag in self.view.ignored or not spots:
                continue
            home = book.home.get(tag)
            if home is None:
                fits = any(
                    spot.kind not in IN_PLAY and spot.kind != ZoneKind.INDICATOR for spot in spots
                )
            else:
                fits = any(
                    spot.kind in _ZONES[home.kind] and spot.seat == home.seat for spot in spots
                )
            if not fits:
                return f"no legal play brings {self._name(tag)} {_place(next(iter(spots)))}"
        for seat in self.sticks:
            own = state.step == "own" and state.turn == seat
            if not (state.seats[seat].riichi or own):
                return f"seat {seat} laid a stick, and no discard of it shows riichi"
        for seat in SEATS:
            if seat not in self.sticks and self._played_on_in_riichi(state, seat):
                return f"seat {seat} would have played on in riichi without laying a stick"
        return ""

    def _played_on_in_riichi(self, state: GameState, seat: int) -> bool:
        """A riichi of this way has been followed by another discard: its stick lies there by then."""
        mine = state.seats[seat]
        if seat in self.riichi or not mine.riichi or not self.view.has(Capability.RIICHI_SLOTS):
            return False
        said = next((n for n, tile in enumerate(mine.river) if tile.sideways), len(mine.river))
        return said < len(mine.river) - 1

    def _name(self, tag: int) -> str:
        tile = self.view.tile(tag)
        return "a tile" if tile is None else NAMES[tile]


def _move(command: Command, step: tuple[str, tuple[object, ...]], reason: str = "") -> Move:
    certainty: Literal["accepted", "tentative"] = "tentative" if reason else "accepted"
    return Move((command,), 0, 0, (step,), certainty=certainty, reason=reason)


def _may_have_drawn(seat: int, spot: Spot) -> bool:
    """A tile drawn by a seat is before it, or in the meld of whoever claimed it."""
    return spot.kind == ZoneKind.MELD or (spot.kind in IN_PLAY and spot.seat == seat)


def _key(state: GameState) -> Hashable:
    """Equal for two games in which nothing differs that a score may depend on."""
    seats = tuple(
        (
            *[getattr(seat, name) for name in _SEAT],
            tuple((kept.tile, kept.sideways, kept.called_by) for kept in seat.river),
        )
        for seat in state.seats
    )
    rest = [(name, value) for name, value in vars(state).items() if name not in _SAME]
    return seats, frozenset(rest)


def _place(spot: Spot) -> str:
    if spot.kind == ZoneKind.INDICATOR:
        return "to the indicators"
    zone = _ZONE_WORDS.get(spot.kind) or ZoneKind(spot.kind).name.lower()
    return f"into the {zone} of seat {spot.seat}"


def _words(move: Move) -> str:
    command = move.commands[-1]
    seat = getattr(command, "seat", None)
    said = "riichi and discard" if len(move.commands) > 1 else command.type.replace("_", " ")
    tile = getattr(command, "tile", None)
    text = said if tile is None else f"{said} {NAMES[tile]}"
    return text if seat is None else f"{text} by seat {seat}"
