"""From the picture to commands: the shortest legal path that the engine accepts, and what contradicts it.

A move counts once it has lain for the settling time, or as soon as another legal move follows it: fast
hands confirm each other, and a hand held over the river for a moment confirms nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from firmware_protocol.vocabulary import ZoneKind
from tablectl.engine.game import commands as cmd
from tablectl.engine.game.apply import apply_all
from tablectl.engine.game.commands import Refusal
from tablectl.engine.game.decide import decide
from tablectl.engine.game.events import DrawKind
from tablectl.engine.game.hands import completes
from tablectl.engine.game.state import GameState
from tablectl.engine.tiles import NAMES
from tablectl.mirror.book import Book, Home
from tablectl.mirror.moves import HAND_ZONES, Move, View, candidates, discard_move, laid, lies_open
from tablectl.mirror.picture import Place, Spot
from tablectl.mirror.verdict import ACCEPTED, Verdict

LONGEST_PATH = 12
"""Moves looked ahead: a whole go-around that came in one burst, with calls."""


@dataclass(frozen=True, slots=True)
class Step:
    """A move that the engine accepts, and the game after it."""

    move: Move
    state: GameState


@dataclass(slots=True)
class Reading:
    """What the picture means now."""

    steps: list[Step] = field(default_factory=list)
    refused: list[tuple[Move, Refusal]] = field(default_factory=list)
    """Moves that the picture shows and the rules forbid, at the end of the path."""
    book: Book = field(default_factory=Book)
    state: GameState | None = None


def read(view: View, book: Book, state: GameState) -> Reading:
    """The longest chain of moves that leads from the book towards the picture."""
    reading = Reading(book=book.copy(), state=state)
    while len(reading.steps) < LONGEST_PATH:
        step, refused = _first_legal(view, reading.book, state)
        if step is None or _too_late(view, reading.book, state, step.move):
            step = _first_assumed(view, reading.book, state, refused)
        if step is None:
            reading.refused = refused
            break
        step.move.enter(reading.book)
        state = step.state
        reading.steps.append(step)
    reading.state = state
    return reading


def _too_late(view: View, book: Book, state: GameState, move: Move) -> bool:
    """Others went on before this discard came: the one they answered was another, and was missed."""
    if state.phase != "play" or state.step not in ("own", "call"):
        return False
    follower = _who_went_on(view, book, state.turn)
    return follower is not None and follower.order < move.order


def _first_legal(
    view: View, book: Book, state: GameState
) -> tuple[Step | None, list[tuple[Move, Refusal]]]:
    refused: list[tuple[Move, Refusal]] = []
    for move in candidates(view, book, state):
        after = judge(state, move.commands)
        if isinstance(after, Refusal):
            alternative = _as_kyuushu(view, book, state, move)
            if alternative is not None:
                return alternative, refused
            refused.append((move, after))
            continue
        return Step(move, after), refused
    return None, refused


def judge(state: GameState, commands: tuple[cmd.Command, ...]) -> GameState | Refusal:
    """The state after commands, or the first refusal."""
    for command in commands:
        answer = decide(state, command)
        if isinstance(answer, Refusal):
            return answer
        state = apply_all(state, answer)
    return state


def _as_kyuushu(view: View, book: Book, state: GameState, move: Move) -> Step | None:
    """An own hand laid open that is no win: nine kinds of terminals and honours, perhaps."""
    command = move.commands[-1]
    if not isinstance(command, cmd.Win) or command.seat != command.from_seat:
        return None
    commands = (cmd.KyuushuKyuuhai(command.seat),)
    after = judge(state, commands)
    if isinstance(after, Refusal):
        return None
    return Step(Move(commands, move.order, move.since, scoring=True), after)


# ---- what was not seen but must have been ---------------------------------------------------------


def _first_assumed(
    view: View, book: Book, state: GameState, refused: list[tuple[Move, Refusal]]
) -> Step | None:
    """A move no antenna saw, when what came after it leaves exactly one that fits."""
    if state.phase != "play":
        return None
    move = (
        _missed_discard(view, book, state)
        if state.step in ("own", "call")
        else _missed_draw(view, book, state)
    )
    if move is None and any(refusal.code == "indicator_due" for _, refusal in refused):
        move = _missed_indicator(view, book, state)
    if move is None:
        return None
    after = judge(state, move.commands)
    return None if isinstance(after, Refusal) else Step(move, after)


def _missed_discard(view: View, book: Book, state: GameState) -> Move | None:
    """The seat in turn still has to discard, and somebody has already gone on."""
    seat = state.turn
    follower = _who_went_on(view, book, seat)
    if follower is None:
        return None
    home = Home("hand", seat)
    lost = [
        tag
        for tag in book.hands[seat]
        if (place := view.picture.places.get(tag)) is None
        or place.fading
        or (place.spot.kind == ZoneKind.MELD and place.spot.seat != seat)
        or any(spot.kind == ZoneKind.RIVER and spot.seat == seat for spot in view.picture.also(tag))
    ]
    river = Spot(ZoneKind.RIVER, seat)
    claimed = [
        tag
        for tag in lost
        if view.picture.was_in(tag, river)
        or ((place_of := view.picture.places.get(tag)) and place_of.spot.kind == ZoneKind.MELD)
    ]
    if claimed:
        lost = claimed
    elif len(lost) > 1:
        # One of them has not been read for long; the one that went after the draw was discarded.
        begun = _order_of_turn(view, book, seat)
        lost = [tag for tag in lost if view.picture.lost_order(tag) > begun]
    if len(lost) != 1 or book.home.get(lost[0]) != home:
        return None
    move = discard_move(view, book, state, seat, lost[0], follower._replace(sideways=False))
    if view.picture.was_in(lost[0], river):
        return replace(
            move, order=follower.order - 1, since=follower.since
        )  # claimed as soon as it lay
    return Move(
        move.commands,
        follower.order - 1,
        follower.since,
        move.book,
        certainty="tentative",
        reason=f"the discard of seat {seat} was not read in the river",
    )


def _order_of_turn(view: View, book: Book, seat: int) -> int:
    """When the seat's turn began: the arrival of the tile it drew, or of the meld it called."""
    if book.drawn is not None:
        sightings = view.picture.seen.get(book.drawn, {})
        came = [s.order for spot, s in sightings.items() if spot.kind in HAND_ZONES]
        left = [s.gone_order for spot, s in sightings.items() if spot.kind == ZoneKind.WALL]
        return min(came or left, default=0)
    orders = [place.order for _, place in view.zone(ZoneKind.MELD, seat)]
    return max(orders, default=0)


def _who_went_on(view: View, book: Book, seat: int) -> Place | None:
    """Where the first tile went that can only have moved after the seat's discard."""
    found = []
    for other in range(4):
        if other == seat:
            continue
        if other == (seat + 1) % 4:
            found += view.fresh_in_hand(other, book)
        found += [
            (tag, place)
            for tag, place in view.fresh(ZoneKind.MELD, other, book, Home("meld", other))
            if book.home.get(tag) == Home("hand", other)
        ]
        if lies_open(view, book, other):
            found += laid(view, book, other)  # a ron
    if not found:
        return None
    return min((place for _, place in found), key=lambda place: place.order)


def _missed_draw(view: View, book: Book, state: GameState) -> Move | None:
    """The seat in turn has discarded, and its draw was not seen."""
    if state.step not in ("draw", "rinshan", "rob"):
        return None
    seat = state.turn
    rinshan = state.step != "draw"
    strange = [
        (tag, place)
        for zone in (ZoneKind.RIVER, ZoneKind.MELD, ZoneKind.LAID)
        for tag, place in view.zone(zone, seat)
        if tag not in book.home
    ]
    if strange:
        drawn: int | None = strange[0][0]
        place = strange[0][1]
    else:
        thrown = [
            place
            for tag, place in view.zone(ZoneKind.RIVER, seat)
            if book.home.get(tag) == Home("hand", seat)
        ]
        if not thrown:
            return None
        drawn, place = _taken_from_wall(view, book, state), thrown[0]
    return Move(
        (cmd.Draw(seat, None if drawn is None else view.tile(drawn), rinshan),),
        place.order - 1,
        place.since,
        (("draw", (seat, drawn)),),
        certainty="tentative",
        reason=f"the draw of seat {seat} was not read in the hand",
    )


def _taken_from_wall(view: View, book: Book, state: GameState) -> int | None:
    """The tag whose turn it was to be drawn, when it has left the wall and lies nowhere."""
    tag = view.at_index(view.due_index(state), state)
    return tag if tag is not None and tag not in book.home else None


def _missed_indicator(view: View, book: Book, state: GameState) -> Move | None:
    """Play goes on although an indicator is due: it lies there, and its reader does not see it."""
    since = max((place.since for place in view.picture.places.values()), default=view.now)
    if view.now - since < view.indicator_ms:
        return None
    return Move(
        (cmd.RevealDora(None),),
        view.picture.order,
        since,
        certainty="tentative",
        reason="a dora indicator was not read",
    )


# ---- the end without a win ------------------------------------------------------------------------

ABORTS: tuple[DrawKind, ...] = ("suufon", "suucha_riichi", "suukaikan", "sanchahou")


def drawn_result(view: View, book: Book, state: GameState) -> tuple[cmd.Command, ...] | None:
    """How a hand that people stopped without a win must have ended; None: no way the rules know."""
    if state.phase not in ("play", "tenpai"):
        return None
    shown = [bool(laid(view, book, seat)) and lies_open(view, book, seat) for seat in range(4)]
    tenpai = (shown[0], shown[1], shown[2], shown[3])
    ways = [cmd.ResultDraw(kind) for kind in ABORTS]
    if state.rules.noten_choice == "automatic":
        # Hands are judged by their tiles there, shown or not.
        ways += [cmd.ResultDraw("nagashi"), cmd.ResultDraw("exhaustive")]
    ways += [cmd.ResultDraw("nagashi", tenpai), cmd.ResultDraw("exhaustive", tenpai)]
    for way in ways:
        if not isinstance(judge(state, (way,)), Refusal):
            return (way,)
    return None


# ---- contradictions -------------------------------------------------------------------------------


def contradiction(view: View, reading: Reading, patience_ms: int) -> Verdict:
    """What in the picture no legal path explains, once it has lain for `patience_ms`."""
    book, state = reading.book, reading.state
    if state is None or state.phase != "play":
        return ACCEPTED
    for check in (_five_copies, _refused_move, _out_of_turn, _taken_back, _wrong_count):
        verdict = check(view, book, state, reading, view.now - patience_ms)
        if verdict is not None:
            return verdict
    tentative = [step.move for step in reading.steps if step.move.certainty == "tentative"]
    if tentative:
        return Verdict("tentative", "assumed", tentative[0].reason)
    return ACCEPTED


def _five_copies(
    view: View, book: Book, state: GameState, reading: Reading, before: int
) -> Verdict | None:
    kinds = Counter(view.kind(tag) for tag in book.home)
    for kind, count in kinds.items():
        if kind is not None and count > 4:
            return Verdict("contradiction", "five_copies", f"{count} tiles {NAMES[kind]} in play")
    return None


def _refused_move(
    view: View, book: Book, state: GameState, reading: Reading, before: int
) -> Verdict | None:
    for move, refusal in reading.refused:
        if move.since <= before and not isinstance(move.commands[0], cmd.RevealDora):
            command = move.commands[-1]
            if _shown_at_a_draw(view, book, state, command, refusal):
                continue
            return Verdict(
                "contradiction",
                "illegal",
                f"{command.type} by seat {getattr(command, 'seat', '?')}: {refusal.message}",
                getattr(command, "seat", None),
                row=refusal.row,
            )
    return None


def _shown_at_a_draw(
    view: View, book: Book, state: GameState, command: cmd.Command, refusal: Refusal
) -> bool:
    """A hand laid open that cannot win the last discard, where the hand may have ended in a draw: it is shown."""
    if not isinstance(command, cmd.Win) or command.seat == command.from_seat:
        return False
    seat = state.seats[command.seat]
    wins = command.tile is None or completes(seat, command.tile, tsumo=False)
    if wins and refusal.code != "furiten":
        return False
    return drawn_result(view, book, state) is not None


def _out_of_turn(
    view: View, book: Book, state: GameState, reading: Reading, before: int
) -> Verdict | None:
    for seat in range(4):
        fresh = [i for i in view.fresh_in_hand(seat, book) if i[1].since <= before]
        if not fresh:
            continue
        tags = tuple(tag for tag, _ in fresh)
        if state.step in ("own", "call") and seat == (state.turn + 1) % 4:
            text = f"a discard by seat {state.turn} was missed: seat {seat} has drawn"
            return Verdict("contradiction", "missed_discard", text, state.turn, tags)
        if state.step == "own" and seat == state.turn:
            text = f"seat {seat} took a second tile"
        else:
            text = f"seat {seat} took a tile, but it is the turn of seat {state.turn}"
        return Verdict("contradiction", "out_of_turn", text, seat, tags, "P23")
    return None


def _taken_back(
    view: View, book: Book, state: GameState, reading: Reading, before: int
) -> Verdict | None:
    for tag, home in book.home.items():
        place = view.picture.places.get(tag)
        if place is None or place.since > before:
            continue
        kind, seat = place.spot
        if home.kind == "river" and kind in (ZoneKind.HAND, ZoneKind.DRAWN):
            tile = _name(view, tag)
            text = f"the discard {tile} of seat {home.seat} lies in the hand of seat {seat}"
            return Verdict("contradiction", "taken_back", text, seat, (tag,), "P42")
        if home.kind == "hand" and kind == ZoneKind.RIVER and seat != home.seat:
            text = f"a tile of seat {home.seat} lies in the river of seat {seat}"
            return Verdict("contradiction", "illegal", text, home.seat, (tag,))
        if home.kind == "hand" and kind == ZoneKind.RIVER and state.turn != seat:
            text = f"seat {seat} discarded out of turn"
            return Verdict("contradiction", "out_of_turn", text, seat, (tag,), "P23")
        if home.kind == "hand" and kind == ZoneKind.HAND and seat != home.seat:
            text = f"a tile of seat {home.seat} lies in the hand of seat {seat}"
            return Verdict("contradiction", "illegal", text, home.seat, (tag,))
    return None


def _wrong_count(
    view: View, book: Book, state: GameState, reading: Reading, before: int
) -> Verdict | None:
    for seat in range(4):
        wanted = state.seats[seat].concealed
        unseen = [
            tag
            for tag in book.hands[seat]
            if (since := view.picture.unseen_since(tag)) is not None and since <= before - 10_000
        ]
        if unseen:
            text = f"seat {seat} should hold {wanted} tiles, {len(unseen)} of them are not seen"
            return Verdict("contradiction", "wrong_count", text, seat, tuple(unseen))
    return None


def _name(view: View, tag: int) -> str:
    tile = view.tile(tag)
    return "?" if tile is None else NAMES[tile]


def rebook(view: View, state: GameState, old: Book) -> Book:
    """A book that agrees with the game: tags as `old` has them, else where the picture has such tiles.

    A tag that lies elsewhere already, because a move has not counted yet, keeps its home.
    """
    book = Book()
    free = set(view.picture.places)
    for seat in range(4):
        table = state.seats[seat]
        melded = [tag for group in old.melds[seat] for tag in group]
        for meld in table.melds:
            tags = _claim(view, book, free, melded, ZoneKind.MELD, seat, meld.tiles)
            book.meld(seat, tuple(tags))
        for kept in table.river:
            if kept.called_by is None:
                found = _claim(
                    view, book, free, old.rivers[seat], ZoneKind.RIVER, seat, (kept.tile,)
                )
                book.discard(seat, found[0] if found else None)
        first = [*old.hands[seat], *old.rivers[seat], *melded]
        for zone in (ZoneKind.HAND, ZoneKind.DRAWN, ZoneKind.LAID):
            have = [tile for tag in book.hands[seat] if (tile := view.tile(tag)) is not None]
            held = Counter(table.hand) - Counter(have)
            for tag in _claim(view, book, free, first, zone, seat, tuple(held.elements())):
                book.take(seat, tag)
    for tag in _claim(view, book, free, old.dora, ZoneKind.INDICATOR, 0, state.dora):
        book.turn_dora(tag)
    if state.step == "own":
        if old.drawn is not None and book.home.get(old.drawn) == Home("hand", state.turn):
            book.drawn = old.drawn
        else:
            drawn = [tag for tag, _ in view.zone(ZoneKind.DRAWN, state.turn) if tag in book.home]
            book.drawn = drawn[0] if drawn else None
    return book


def _claim(
    view: View,
    book: Book,
    free: set[int],
    first: Sequence[int],
    zone: ZoneKind,
    seat: int,
    tiles: tuple[int | None, ...],
) -> list[int]:
    """A tag for each tile, as far as there are: of `first`, then of those that lie in the zone."""
    found: list[int] = []
    for tile in tiles:
        lying = (tag for tag, _ in view.zone(zone, seat) if tag in free)
        for tag in (*first, *lying):
            known = tag in book.home or tag in found
            if not known and (tile is None or view.tile(tag) == tile):
                free.discard(tag)
                found.append(tag)
                break
    return found
