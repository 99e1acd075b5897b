"""The moves that the picture allows at one point of the game: candidates, judged later by the engine."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from firmware_protocol.vocabulary import Capability, ZoneKind
from tablectl.engine.game import commands as cmd
from tablectl.engine.game.state import LIVE_AT_DEAL, GameState
from tablectl.engine.game.wall import (
    DEAL,
    DEALERS_FOURTEENTH,
    INDICATORS,
    REPLACEMENTS,
    RING,
    STACKS_IN_WALL,
    break_wall,
)
from tablectl.engine.tiles import KIND
from tablectl.mirror.book import Book, Home
from tablectl.mirror.picture import Picture, Place
from tablectl.mirror.tags import TagMap

HAND_ZONES = (ZoneKind.HAND, ZoneKind.DRAWN, ZoneKind.LAID)

PACKETS_SURE = 16
"""Tiles taken, a packet for each seat, after which the break of the wall is told by them."""

Step = tuple[str, tuple[object, ...]]
"""A change of the book: name of its method and the arguments."""


@dataclass(frozen=True, slots=True)
class Move:
    """Commands that would explain part of the picture, and what the book says after them."""

    commands: tuple[cmd.Command, ...]
    order: int
    """Arrival of the last tag it rests on."""
    since: int
    """Mirror time of that arrival."""
    book: tuple[Step, ...] = ()
    wait_ms: int = 0
    """How long it must stand unless another move follows it; 0: the usual settling time."""
    at_once: bool = False
    """It stands as soon as it is seen: a started draw is irrevocable (A35.4)."""
    steady: bool = True
    """False: a tile it rests on is not seen this moment; only what follows can confirm it."""
    ready: bool = True
    """False: something that belongs to it is still to come (ura not turned yet)."""
    scoring: bool = False
    """It ends the hand: a contradiction holds it back."""
    certainty: Literal["accepted", "tentative"] = "accepted"
    reason: str = ""

    def enter(self, book: Book) -> None:
        """Write the move into the book."""
        for name, arguments in self.book:
            getattr(book, name)(*arguments)


@dataclass(slots=True)
class View:
    """All that perception looks at besides the game: picture, tags, sticks, the machine's abilities."""

    picture: Picture
    tags: TagMap
    capabilities: int = 0
    sticks: set[int] = field(default_factory=set)
    """Seats with a stick in the riichi slot."""
    ignored: set[int] = field(default_factory=set)
    """Tags of the other set or of none: they play no part in the hand."""
    now: int = 0
    """Mirror time, ms."""
    stick_ms: int = 3000
    """Without sensed orientation a riichi shows by its stick only: a closed hand's discard waits this long."""
    faint_ms: int = 1500
    """A faint reading counts after this: a ghost flickers, a tile lies."""
    ura_ms: int = 4000
    """How long a win waits for the ura indicators."""
    indicator_ms: int = 5000
    """After this an indicator that is due and not seen counts as turned, unread."""
    result: bool = True
    """Results are found from the tiles (false: a person enters them)."""

    def has(self, capability: Capability) -> bool:
        """Whether the machine has something."""
        return bool(self.capabilities & capability)

    walls: dict[int, tuple[int, int]] = field(default_factory=dict)
    """Tag → (side, position 0–33) where it stood in the walls of this hand, where they are sensed."""

    def draw_index(self, tag: int, state: GameState) -> int | None:
        """Draw index t of a tag by its place in the wall (rules 1.15.1); None where it is not known."""
        if tag not in self.walls or state.wall is None:
            return None
        return 2 * ((self._ring(tag, state) - state.wall[2]) % RING) + self.walls[tag][1] % 2

    @staticmethod
    def due_index(state: GameState) -> int:
        """Draw index of the tile that is taken next, by how many were taken so far."""
        replaced = len(state.kans) - (state.step == "rinshan")
        if state.step in ("rob", "rinshan"):
            return REPLACEMENTS[min(replaced, len(REPLACEMENTS) - 1)]
        return DEALERS_FOURTEENTH + LIVE_AT_DEAL - state.live - replaced

    def broken_at(self, state: GameState) -> int | None:
        """The sum of the dice by the tiles taken from the wall so far; None while it can be another."""
        shown = self.picture.zone(ZoneKind.INDICATOR)
        taken = [tag for tag in self.walls if self.left_wall(tag) and tag not in shown]
        if len(taken) < PACKETS_SURE:
            return None
        rings = {(tag, self._ring(tag, state)) for tag in taken}
        found = []
        for dice_sum in range(2, 13):
            first = break_wall(dice_sum).first
            indexes = {2 * ((ring - first) % RING) + self.walls[tag][1] % 2 for tag, ring in rings}
            if indexes == set(range(len(taken))):
                found.append(dice_sum)
        return found[0] if len(found) == 1 else None

    def _ring(self, tag: int, state: GameState) -> int:
        side, position = self.walls[tag]
        return STACKS_IN_WALL * ((state.dealer - side) % 4) + position // 2

    def at_index(self, t: int, state: GameState) -> int | None:
        """The tag that stood at draw index t and has left the wall; None where that is not known."""
        if state.wall is None or not 0 <= t < 2 * RING:
            return None
        ring = (t // 2 + state.wall[2]) % RING
        side = (state.dealer - ring // STACKS_IN_WALL) % 4
        place = (side, 2 * (ring % STACKS_IN_WALL) + t % 2)
        tag = next((tag for tag, stood in self.walls.items() if stood == place), None)
        return tag if tag is not None and self.left_wall(tag) else None

    def left_wall(self, tag: int) -> bool:
        """Whether a tag that stood in the wall is gone from there."""
        place = self.picture.places.get(tag)
        return place is None or place.fading or place.spot.kind != ZoneKind.WALL

    def unread(self, tag: int) -> bool:
        """Whether no antenna sees the tag this moment."""
        place = self.picture.places.get(tag)
        return place is None or place.fading

    def zone(self, kind: ZoneKind, seat: int = 0) -> list[tuple[int, Place]]:
        """Tags of this hand in a zone, in the order they came; a faint one only once it stays."""
        found = [
            (tag, place)
            for tag, place in self.picture.zone(kind, seat).items()
            if tag not in self.ignored
            and not (place.weak and self.now - place.since < self.faint_ms)
        ]
        return sorted(found, key=lambda item: item[1].order)

    def fresh(self, kind: ZoneKind, seat: int, book: Book, home: Home) -> list[tuple[int, Place]]:
        """Tags in a zone which the book keeps elsewhere."""
        return [item for item in self.zone(kind, seat) if book.home.get(item[0]) != home]

    def fresh_in_hand(self, seat: int, book: Book) -> list[tuple[int, Place]]:
        """Tags that came into a seat's hand and are nobody's yet: drawn from the wall."""
        found = [
            item
            for kind in (ZoneKind.HAND, ZoneKind.DRAWN)
            for item in self.zone(kind, seat)
            if item[0] not in book.home
        ]
        return sorted(found, key=lambda item: item[1].order)

    def tile(self, tag: int) -> int | None:
        """Tile of a tag."""
        return self.tags.tile(tag)

    def kind(self, tag: int) -> int | None:
        """Kind 0–33 of a tag."""
        tile = self.tags.tile(tag)
        return None if tile is None else KIND[tile]


def candidates(view: View, book: Book, state: GameState) -> list[Move]:
    """Every move the picture suggests now, the one that came first at the front."""
    if state.phase == "deal":
        found = [*_deal(view, book, state), *_indicators(view, book, state)]
    elif state.phase == "play":
        found = [*_indicators(view, book, state), *_play(view, book, state)]
    elif state.phase == "result":
        found = list(_more_wins(view, book, state))
    else:
        found = []
    return sorted(found, key=lambda move: move.order)


# ---- the deal -------------------------------------------------------------------------------------


def _deal(view: View, book: Book, state: GameState) -> Iterator[Move]:
    """Thirteen tiles before each seat and the indicator open, or the dealer has discarded already."""
    turned = view.zone(ZoneKind.INDICATOR) or state.dora
    if any(book.hands) or not (turned or _unread_indicator(view, book, state) is not None):
        return
    begun = bool(view.zone(ZoneKind.RIVER, state.dealer))
    hands: list[list[tuple[int, Place]]] = []
    for seat in range(4):
        tags = [i for kind in (ZoneKind.HAND, ZoneKind.DRAWN) for i in view.zone(kind, seat)]
        if seat == state.dealer:
            tags = _without_fourteenth(view, state, tags)
        if len(tags) > 13:
            return
        hands.append(sorted(tags, key=lambda item: item[1].order))
    places = [place for tags in hands for _, place in tags]
    dealt_tags = [
        [tag for tag, _ in tags] + _dealt_unread(view, state, seat, 13 - len(tags))
        for seat, tags in enumerate(hands)
    ]
    missing = sum(13 - len(tags) for tags in dealt_tags)
    if not places or (missing and not begun):
        return
    dealt = tuple(
        (*(view.tile(tag) for tag in tags), *([None] * (13 - len(tags)))) for tags in dealt_tags
    )
    yield Move(
        (cmd.Deal(dealt),),
        max(place.order for place in places),
        max(place.since for place in places),
        tuple(("take", (seat, tag)) for seat, tags in enumerate(dealt_tags) for tag in tags),
        certainty="tentative" if missing else "accepted",
        reason=f"{missing} dealt tiles were not read" if missing else "",
    )


def _dealt_unread(view: View, state: GameState, seat: int, count: int) -> list[int]:
    """Tiles the hand's antenna missed, known by the place in the wall they were taken from."""
    if count <= 0 or state.wall is None:
        return []
    indexes = DEAL[state.wind(seat)]
    found = [tag for t in indexes if (tag := view.at_index(t, state)) is not None]
    unread = [tag for tag in found if view.unread(tag)]
    return unread if len(unread) == count else []


def _without_fourteenth(
    view: View, state: GameState, tags: list[tuple[int, Place]]
) -> list[tuple[int, Place]]:
    """The dealer's thirteen: the tile in the drawn slot, the one of t = 52, or the last apart."""
    if len(tags) < 14:
        return tags
    slot = {tag for tag, _ in view.zone(ZoneKind.DRAWN, state.dealer)}
    by_wall = {tag for tag, _ in tags if view.draw_index(tag, state) == DEALERS_FOURTEENTH}
    last = max(tags, key=lambda item: item[1].order)[0]
    fourteenth = next((tag for tag, _ in tags if tag in slot), None)
    if fourteenth is None:
        fourteenth = next((tag for tag, _ in tags if tag in by_wall), last)
    return [item for item in tags if item[0] != fourteenth]


def _indicators(view: View, book: Book, state: GameState) -> Iterator[Move]:
    turned = view.fresh(ZoneKind.INDICATOR, 0, book, Home("dora", 0))
    for tag, place in turned:
        yield Move(
            (cmd.RevealDora(view.tile(tag)),),
            place.order,
            place.since,
            (("turn_dora", (tag,)),),
        )
    unread = None if turned else _unread_indicator(view, book, state)
    if unread is not None:
        lost = view.picture.unseen_since(unread) or 0
        yield Move(
            (cmd.RevealDora(view.tile(unread)),),
            view.picture.order,
            lost,
            (("turn_dora", (unread,)),),
            wait_ms=view.faint_ms,
            certainty="tentative",
            reason="a dora indicator was not read; it is known by its place in the wall",
        )


def _unread_indicator(view: View, book: Book, state: GameState) -> int | None:
    """The tag of the next indicator, when it has left the wall and no antenna sees it."""
    if len(state.dora) >= len(INDICATORS):
        return None
    tag = view.at_index(INDICATORS[len(state.dora)], state)
    return (
        tag if tag is not None and tag not in view.picture.places and tag not in book.home else None
    )


# ---- play -----------------------------------------------------------------------------------------


def _play(view: View, book: Book, state: GameState) -> Iterator[Move]:
    seat = state.turn
    if state.step in ("own", "call"):
        yield from _discards(view, book, state, seat)
        if state.step == "own":
            yield from _kans(view, book, state, seat)
            if view.result:
                yield from _laid_open(view, book, state, [seat])
        return
    if state.step == "draw":
        yield from _calls(view, book, state)
    yield from _draws(view, book, state, seat)
    if view.result and state.step in ("draw", "rob", "rinshan"):
        yield from _laid_open(view, book, state, _in_turn_after(seat, state))


def _in_turn_after(turn: int, state: GameState) -> list[int]:
    """Who may claim: everybody but the seat that discarded or declared the kan."""
    actor = state.discard[0] if state.step == "draw" and state.discard else turn
    return [(actor + offset) % 4 for offset in (1, 2, 3)]


def _draws(view: View, book: Book, state: GameState, seat: int) -> Iterator[Move]:
    for tag, place in view.fresh_in_hand(seat, book)[:1]:
        rinshan = state.step in ("rob", "rinshan")
        yield Move(
            (cmd.Draw(seat, view.tile(tag), rinshan),),
            place.order,
            place.since,
            (("draw", (seat, tag)),),
            at_once=not place.weak,
        )


def _discards(view: View, book: Book, state: GameState, seat: int) -> Iterator[Move]:
    mine = state.seats[seat]
    for tag, place in view.fresh(ZoneKind.RIVER, seat, book, Home("river", seat)):
        home = book.home.get(tag)
        if home != Home("hand", seat) and not (home is None and mine.unknown):
            continue
        yield discard_move(view, book, state, seat, tag, place)


def discard_move(
    view: View,
    book: Book,
    state: GameState,
    seat: int,
    tag: int,
    place: Place,
) -> Move:
    """A discard, with the riichi that a stick or the tile's orientation tells."""
    mine = state.seats[seat]
    discard = cmd.Discard(seat, view.tile(tag), tsumogiri(view, book, state, seat, tag))
    may_riichi = mine.riichi == 0 and mine.closed and state.step == "own"
    declares = may_riichi and (place.sideways or seat in view.sticks)
    by_stick_only = (
        may_riichi
        and not declares
        and view.has(Capability.RIICHI_SLOTS)
        and not view.has(Capability.ORIENTATION)
    )
    return Move(
        (cmd.DeclareRiichi(seat), discard) if declares else (discard,),
        place.order,
        place.since,
        (("discard", (seat, tag)),),
        wait_ms=view.stick_ms if by_stick_only else 0,
        steady=not place.fading,
    )


def tsumogiri(view: View, book: Book, state: GameState, seat: int, tag: int) -> bool | None:
    """Whether the tile just drawn was discarded; None where nothing can tell."""
    if not view.has(Capability.TILES_DRAWN) or state.step == "call":
        return False if state.step == "call" else None
    first = not state.seats[seat].river and seat == state.dealer
    if first and state.game is not None and not state.game.auto_deal and not state.rinshan:
        return None
    return None if book.drawn is None else tag == book.drawn


def _kans(view: View, book: Book, state: GameState, seat: int) -> Iterator[Move]:
    fresh = view.fresh(ZoneKind.MELD, seat, book, Home("meld", seat))
    mine = [(tag, place) for tag, place in fresh if book.home.get(tag) == Home("hand", seat)]
    order = max((place.order for _, place in mine), default=0)
    since = max((place.since for _, place in mine), default=0)
    tags = tuple(tag for tag, _ in mine)
    kinds = {view.kind(tag) for tag in tags}
    if len(tags) == 4 and len(kinds) == 1:
        tiles = tuple(view.tile(tag) or 0 for tag in tags)
        yield Move((cmd.Ankan(seat, tiles),), order, since, (("meld", (seat, tags)),))
    elif len(tags) == 1:
        for index, group in enumerate(book.melds[seat]):
            if len(group) == 3 and {view.kind(tag) for tag in group} == kinds:
                tile = view.tile(tags[0])
                assert tile is not None
                yield Move(
                    (cmd.Kakan(seat, tile),),
                    order,
                    since,
                    (("add_to_meld", (seat, index, tags[0])),),
                )


def _calls(view: View, book: Book, state: GameState) -> Iterator[Move]:
    if state.discard is None:
        return
    source = state.discard[0]
    claimed = book.rivers[source][-1] if book.rivers[source] else None
    if claimed is None:
        return
    for seat in _in_turn_after(state.turn, state):
        fresh = view.fresh(ZoneKind.MELD, seat, book, Home("meld", seat))
        if claimed not in [tag for tag, _ in fresh]:
            continue
        group = [
            (tag, place)
            for tag, place in fresh
            if tag == claimed or book.home.get(tag) == Home("hand", seat)
        ]
        tags = [tag for tag, _ in group]
        command = call_command(view, seat, claimed, tags)
        unread = None
        if command is None and len(tags) == 2:
            command, unread = _call_with_unread(view, book, seat, claimed, tags)
        if command is not None:
            yield Move(
                (command,),
                max(place.order for _, place in group),
                max(place.since for _, place in group),
                (("meld", (seat, (*tags, *(() if unread is None else (unread,))))),),
                wait_ms=0 if unread is None else view.faint_ms,
                certainty="accepted" if unread is None else "tentative",
                reason="" if unread is None else f"a tile of seat {seat}'s meld was not read",
            )


def _call_with_unread(
    view: View, book: Book, seat: int, claimed: int, tags: list[int]
) -> tuple[cmd.Command | None, int | None]:
    """A meld whose third tile left the hand and is not seen: the one tile that completes it."""
    found = [
        (command, tag)
        for tag in book.hands[seat]
        if view.unread(tag)
        and (command := call_command(view, seat, claimed, [*tags, tag])) is not None
    ]
    return found[0] if len(found) == 1 else (None, None)


def call_command(view: View, seat: int, claimed: int, tags: list[int]) -> cmd.Command | None:
    """The call of these tags, the claimed one among them; None where they form no meld."""
    tile = view.tile(claimed)
    kinds = [view.kind(tag) for tag in tags]
    others = tuple(
        sorted(t for t in (view.tile(tag) for tag in tags if tag != claimed) if t is not None)
    )
    if tile is None or len(others) != len(tags) - 1:
        return None
    if len(set(kinds)) == 1 and len(tags) == 3:
        return cmd.Pon(seat, tile, others)
    if len(set(kinds)) == 1 and len(tags) == 4:
        return cmd.Daiminkan(seat, tile, others)
    low = sorted(kind for kind in kinds if kind is not None)
    if len(tags) == 3 and low[0] < 27 and low == [low[0], low[0] + 1, low[0] + 2]:
        return cmd.Chi(seat, tile, others)
    return None


# ---- results --------------------------------------------------------------------------------------


def laid(view: View, book: Book, seat: int) -> list[tuple[int, Place]]:
    """Tags of a seat's own hand that lie open before it."""
    home = Home("hand", seat)
    return [item for item in view.zone(ZoneKind.LAID, seat) if book.home.get(item[0]) == home]


def lies_open(view: View, book: Book, seat: int) -> bool:
    """The hand is laid open: all of it but one tile that a reader may miss, or the one just drawn."""
    count, tags = len(book.hands[seat]), len(laid(view, book, seat))
    return count > 0 and tags >= max(1, count - 1)


def _laid_open(view: View, book: Book, state: GameState, seats: list[int]) -> Iterator[Move]:
    for seat in seats:
        if lies_open(view, book, seat):
            yield _win(view, book, state, seat, together=False)


def _more_wins(view: View, book: Book, state: GameState) -> Iterator[Move]:
    """A second hand laid open on the same tile (head bump and double ron are the engine's)."""
    outcome = state.outcome
    if not view.result or outcome is None or not outcome.wins:
        return
    source = outcome.wins[0].from_seat
    winners = {win.seat for win in outcome.wins}
    for offset in (1, 2, 3):
        seat = (source + offset) % 4
        if seat not in winners and source not in winners and lies_open(view, book, seat):
            yield _win(view, book, state, seat, together=True)


def _win(view: View, book: Book, state: GameState, seat: int, *, together: bool) -> Move:
    own = state.step == "own" and state.turn == seat and not together
    if together and state.outcome is not None:
        source, tile = state.outcome.wins[0].from_seat, state.outcome.wins[0].tile
    elif own:
        source, tile = seat, _winning_tile(view, book, state)
    elif state.step == "draw" and state.discard is not None:
        source, tile = state.discard
    else:
        source = state.turn
        tile = None if state.open_kan is None else state.open_kan.tile
    places = [place for _, place in laid(view, book, seat)]
    order = max(place.order for place in places)
    since = max(place.since for place in places)
    ura, ready = _ura(view, state, seat)
    command = cmd.Win(seat, source, tile, ura=ura, together=together)
    ready = ready or view.now - since >= view.ura_ms
    return Move((command,), order, since, ready=ready, scoring=True)


def _winning_tile(view: View, book: Book, state: GameState) -> int | None:
    drawn = state.seats[state.turn].drawn
    if drawn is not None or book.drawn is None:
        return drawn
    return view.tile(book.drawn)


def _ura(view: View, state: GameState, seat: int) -> tuple[tuple[int, ...] | None, bool]:
    """The ura indicators that lie open, and whether they are all there."""
    if state.seats[seat].riichi < 1 or not state.rules.ura_dora:
        return None, True
    turned = sorted(view.zone(ZoneKind.URA), key=lambda item: (item[1].slot, item[1].order))
    wanted = len(state.dora) if state.rules.kan_ura_dora else 1
    tags = [tag for tag, _ in turned]
    if len(tags) < wanted:
        below = [view.at_index(t + 1, state) for t in INDICATORS[:wanted]]
        tags = [tag for tag in below if tag is not None]
    tiles = tuple(t for t in (view.tile(tag) for tag in tags) if t is not None)
    return (tiles[:wanted] or None), len(tiles) >= wanted
