"""Four people at the table: they press, draw, discard, call, lay sticks and open hands as a record says.

At human speed they take their time, with jitter; as fast as possible, each acts as soon as what he
would wait for has happened: a motion ended, the host has taken in the last move, a display shows
the new hand. They know tiles and turns, no scores: what is to be paid they read off the displays.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

from firmware_protocol.vocabulary import Button, Capability, Jam, Phase, ZoneKind
from hardware_sim.clock import Activity, Pause, Until
from hardware_sim.errors import RecordError
from hardware_sim.pack import Pack
from hardware_sim.parts import Parts
from hardware_sim.record import Hand, Step
from hardware_sim.wall import INDICATORS, LAST_LIVE, LIVE_START, RINSHAN, URA, deal_packets
from hardware_sim.zones import MELD_SLOTS, Lying, Place

PRESS_AGAIN = 5.0
"""Seconds after which somebody presses start again when nothing moves; not scaled by speed."""
LOOK = 2.0
"""Seconds that people look at a display for the new hand before they go on; not scaled by speed."""
GLANCE = 0.3
"""Seconds in which new scores come up when there are any; not scaled by speed."""
HABITS = {
    "press": (0.8, 2.0), "walls": (1.5, 3.0), "packet": (0.9, 1.6), "draw": (0.5, 1.1), "think": (0.8, 4.5),
    "claim": (0.7, 1.8), "sort": (0.3, 0.9), "stick": (0.8, 1.6), "turn": (0.6, 1.2), "lay": (1.0, 2.5),
    "settle": (4.0, 9.0), "push": (3.0, 5.0), "free": (10.0, 20.0),
}  # fmt: skip
"""Seconds a person takes for each thing, least and most, at speed 1."""
DRAWN_WHEN_LAID = 13
"""Slot of the drawn tile beside a hand laid open."""


@dataclass(frozen=True, slots=True)
class Progress:
    """Something a spectator would tell: for a progress line, an operator, a test."""

    kind: str
    """`hand` `lifted` `dice` `dealt` `draw` `discard` `call` `riichi` `result` `settled` `over`."""
    hand: int
    """0-based hand of the record."""
    index: int = -1
    """Place of the event in the record's hand."""
    seat: int = -1
    waits: bool = False
    """The people go on only after `operator_done()`."""


class People:
    """Plays the hands of a record on the parts of a table."""

    def __init__(
        self,
        parts: Parts,
        *,
        pace: float,
        rng: random.Random,
        tell: Callable[[Progress], None],
        operator: frozenset[str] = frozenset(),
        sorts: bool = False,
    ) -> None:
        self._parts = parts
        self._top = parts.tabletop
        self._pace = pace
        self._rng = rng
        self._tell_out = tell
        self._operator = operator
        self._sorts = sorts
        self._interruptions: list[Activity] = []
        self._dealt = False
        self._asked = 0
        self._answered = 0
        self.begun = False
        """The game may start; set by `begin`."""
        self.hand: Hand | None = None
        self.over = False
        self.hands_done = 0
        self.unmet: list[str] = []
        """What people waited for in vain, in words."""
        self.pressed_again = 0
        self._pack: Pack | None = None
        self._replaced = 0
        self._turned = 0
        self._live = LIVE_START
        self._riichi: set[int] = set()
        self._paid: list[int] | None = None
        """Scores up to which the sticks are settled."""
        self._settled = False
        """Sticks have moved since the hands of this hand were opened."""

    # ------------------------------------------------------------------ from outside

    def begin(self) -> None:
        """Seats are drawn, the host knows the game: the first dealer may press start."""
        self.begun = True

    def operator_done(self) -> None:
        """The host has accepted what the operator entered."""
        self._answered = min(self._answered + 1, self._asked)

    def interrupt(self, activity: Activity) -> None:
        """Before the next move of the record somebody does this first."""
        self._interruptions.append(activity)

    def next_live(self, ahead: int = 0) -> int | None:
        """Tag of the tile that is drawn next (or some tiles later), None when no hand is played."""
        t = self._live + ahead
        if self._pack is None or t > LAST_LIVE or not self._dealt:
            return None
        return self._pack.tag(t)

    @property
    def pack(self) -> Pack | None:
        """The set on the table and how it is stacked, while a hand is played."""
        return self._pack

    def play(self, hands: tuple[Hand, ...]) -> Activity:
        """The whole game."""
        yield Until(lambda: self.begun, what="the game to be announced")
        for hand in hands:
            yield from self._start(hand)
            yield from self._deal(hand)
            for step in hand.steps:
                yield from self._interrupted()
                yield from self._do(step)
            yield from self._interrupted()
            yield from self._finish(hand)
        yield from self._last_payment()
        self.over = True
        self._tell("over", hands[-1].number)

    def _last_payment(self) -> Activity:
        """Nobody gets up before the last result is on the displays and paid."""
        if self._parts.capabilities & Capability.STICK_TRAYS and not self._settled:
            yield from self._see("", lambda: self._parts.displays.scores != self._paid, LOOK)
            self._pay()
            yield from self._told()

    def _interrupted(self) -> Activity:
        while self._interruptions:
            yield from self._interruptions.pop(0)
            yield from self._told()

    # ------------------------------------------------------------------ before the play

    def _start(self, hand: Hand) -> Activity:
        parts = self._parts
        self.hand = hand
        yield Until(parts.board.linked, what="the link")
        if hand.number:
            yield from self._see("the honba of the new hand", lambda: self._shows(hand), LOOK)
        if parts.capabilities & Capability.STICK_TRAYS:
            self._pay()
        self._tell("hand", hand.number)
        self._pack = parts.stack(hand)
        self._replaced, self._turned, self._live = 0, 0, LIVE_START
        self._riichi = set()
        yield from self._lift(hand.dealer)
        self._tell("lifted", hand.number)
        yield from self._told()

    def _lift(self, dealer: int) -> Activity:
        parts = self._parts
        yield from self._busy("press")
        parts.press(Button.START, dealer)
        yield from self._until_moved(
            Button.START, dealer, lambda: parts.lift.walls_up, "the walls to rise"
        )
        yield from self._busy("walls")

    def _shows(self, hand: Hand) -> bool:
        shown, has = self._parts.displays, self._parts.capabilities
        if has & Capability.HONBA_DISPLAY and shown.honba != hand.honba:
            return False
        place = (hand.round_wind, hand.round_number, hand.dealer)
        return not has & Capability.ROUND_DISPLAY or place == (
            shown.wind, shown.round_number, shown.dealer,
        )  # fmt: skip

    def _deal(self, hand: Hand) -> Activity:
        parts = self._parts
        if parts.capabilities & Capability.AUTO_DEAL:
            for seat in range(4):
                mine = [
                    t for who, packet in deal_packets(hand.dealer) for t in packet if who == seat
                ]
                self._take(seat, tuple(mine))
            yield from self._told()
        else:
            if parts.capabilities & Capability.DICE:
                yield from self._roll(hand)
            for seat, packet in deal_packets(hand.dealer):
                yield from self._busy("packet")
                self._take(seat, packet)
                yield from self._told()
        yield from self._busy("turn")
        self._turn_indicator()
        yield from self._told()
        if self._sorts:
            for seat in range(4):
                yield from self._busy("sort")
                self.sort_hand(seat)
                yield from self._told()
        self._dealt = True
        self._tell("dealt", hand.number)

    def _roll(self, hand: Hand) -> Activity:
        parts = self._parts
        while True:
            yield from self._busy("press")
            parts.press(Button.DICE, hand.dealer)
            yield Until(lambda: not parts.dice.rolling, what="the dice to lie still")
            if parts.dice.value is not None:
                break
        yield from self._told()
        self._tell("dice", hand.number)

    def _take(self, seat: int, packet: tuple[int, ...]) -> None:
        pile = self._pile()
        first = self._top.next_slot(ZoneKind.HAND, seat)
        self._top.move(
            *((pile.tag(t), _at(ZoneKind.HAND, seat, first + k)) for k, t in enumerate(packet))
        )

    def _turn_indicator(self) -> None:
        tag = self._pile().tag(INDICATORS[self._turned])
        self._top.move((tag, Lying(Place(ZoneKind.INDICATOR, 0, self._turned), face_up=True)))
        self._turned += 1

    # ------------------------------------------------------------------ play

    def _do(self, step: Step) -> Activity:
        match step.kind:
            case "draw":
                yield from self._draw(step)
            case "discard":
                yield from self._discard(step)
            case "chi" | "pon" | "daiminkan":
                yield from self._call(step)
            case "ankan":
                yield from self._ankan(step)
            case "kakan":
                yield from self._kakan(step)
            case "riichi":
                self._riichi.add(step.seat)
            case "stick":
                yield from self._stick(step)
            case "indicator":
                yield from self._busy("turn")
                self._turn_indicator()
                yield from self._told()
            case "win" | "show":
                yield from self._lay(step)

    def _draw(self, step: Step) -> Activity:
        if step.rinshan:
            t = RINSHAN[self._replaced]
            self._replaced += 1
        else:
            t = self._live
            self._live += 1
        yield from self._busy("draw")
        self._put_drawn_away(step.seat)
        tag = self._pile().tag(t)
        if self._engraved(tag) != step.tile:
            raise RecordError(
                f"draw {t} is {self._engraved(tag)}, the record says {step.tile}", value=t
            )
        self._top.move((tag, _at(ZoneKind.DRAWN, step.seat, 0)))
        self._note("draw", step)

    def _discard(self, step: Step) -> Activity:
        seat = step.seat
        yield from self._busy("think")
        drawn = self._top.at(Place(ZoneKind.DRAWN, seat, 0))
        keeps = drawn is not None and (self._engraved(drawn) != step.tile or not step.tsumogiri)
        tag = self._in_hand(seat, step.tile) if keeps or drawn is None else drawn
        sideways = seat in self._riichi and not self._has_sideways(seat)
        place = Place(ZoneKind.RIVER, seat, self._river_slot(seat))
        self._top.move((tag, Lying(place, sideways, True)))
        self._note("discard", step)
        if self._top.at(Place(ZoneKind.DRAWN, seat, 0)) is not None:
            yield from self._busy("sort")
            self._put_drawn_away(seat)
        # The host decides on the discard before anybody claims it or draws.
        yield from self._told()

    def _call(self, step: Step) -> Activity:
        yield from self._busy("claim")
        seat = step.seat
        first = self._next_meld(seat)
        mine = self._tags_in_hand(seat, step.tiles)
        self._top.move(*((tag, _at(ZoneKind.MELD, seat, first + k)) for k, tag in enumerate(mine)))
        claimed = self._last_in_river(step.source)
        if claimed is None or self._engraved(claimed) != step.tile:
            raise RecordError(
                f"{step.kind} of {step.tile}, which seat {step.source} did not discard last",
                value=step.tile,
            )
        lying = Lying(Place(ZoneKind.MELD, seat, first + len(mine)), sideways=True, face_up=True)
        self._top.move((claimed, lying))
        self._note("call", step)
        yield from self._told()

    def _ankan(self, step: Step) -> Activity:
        yield from self._busy("claim")
        seat = step.seat
        first = self._next_meld(seat)
        drawn = self._top.at(Place(ZoneKind.DRAWN, seat, 0))
        tags = self._tags_in_hand(seat, step.tiles, drawn)
        self._top.move(
            *(
                (tag, Lying(Place(ZoneKind.MELD, seat, first + k), face_up=k in (1, 2)))
                for k, tag in enumerate(tags)
            )
        )
        self._put_drawn_away(seat)
        self._note("call", step)
        yield from self._told()

    def _kakan(self, step: Step) -> Activity:
        yield from self._busy("claim")
        seat = step.seat
        drawn = self._top.at(Place(ZoneKind.DRAWN, seat, 0))
        (tag,) = self._tags_in_hand(seat, (step.tile,), drawn)
        slot = self._pon_of(seat, step.tile) + MELD_SLOTS - 1
        self._top.move((tag, Lying(Place(ZoneKind.MELD, seat, slot), sideways=True, face_up=True)))
        self._put_drawn_away(seat)
        self._note("call", step)
        yield from self._told()

    def _stick(self, step: Step) -> Activity:
        yield from self._busy("stick")
        self._parts.sticks.lay_riichi(step.seat)
        yield from self._told()
        yield from self._ask("riichi", step.index, step.seat)

    def _lay(self, step: Step) -> Activity:
        yield from self._busy("lay")
        seat = step.seat
        hand = self._top.zone(ZoneKind.HAND, seat)
        moves = [
            (tag, Lying(Place(ZoneKind.LAID, seat, k), face_up=True))
            for k, tag in enumerate(hand.values())
        ]
        drawn = self._top.at(Place(ZoneKind.DRAWN, seat, 0))
        if drawn is not None:
            moves.append((drawn, Lying(Place(ZoneKind.LAID, seat, DRAWN_WHEN_LAID), face_up=True)))
        self._top.move(*moves)
        yield from self._told()
        if step.turns_ura:
            yield from self._busy("turn")
            pile = self._pile()
            self._top.move(
                *(
                    (pile.tag(URA[k]), Lying(Place(ZoneKind.URA, 0, k), face_up=True))
                    for k in range(self._turned)
                )
            )
            yield from self._told()

    # ------------------------------------------------------------------ after the play

    def _finish(self, hand: Hand) -> Activity:
        parts = self._parts
        before = parts.displays.scores
        self._settled = False
        yield from self._ask("result", len(hand.steps), -1)
        yield from self._busy("settle")
        if parts.capabilities & Capability.STICK_TRAYS:
            yield from self._see("", lambda: parts.displays.scores != before, GLANCE)
            parts.sticks.clear_slots()
            self._pay()
            yield from self._told()
        parts.press(Button.UP_DOWN, hand.dealer)
        yield from self._lid(Phase.UP)
        yield from self._busy("push")
        self._top.move(*((tag, None) for tag, _ in list(self._top.all_tiles())))
        yield from self._told()
        parts.press(Button.UP_DOWN, hand.dealer)
        yield from self._lid(Phase.DOWN)
        yield from self._told()
        self._pack, self._dealt = None, False
        self.hands_done += 1
        self._tell("settled", hand.number)

    def _lid(self, phase: Phase) -> Activity:
        lift = self._parts.lift
        yield from self._until_moved(Button.UP_DOWN, 0, lambda: lift.lid == phase, "the lid")

    def _until_moved(
        self, button: int, seat: int, there: Callable[[], bool], what: str
    ) -> Activity:
        """Wait for a motion; free a jam, press again when nothing moves."""
        lift, board = self._parts.lift, self._parts.board

        def stuck() -> bool:
            return lift.jam != Jam.NONE and not lift.jam_held

        while True:
            yield Until(lambda: there() or stuck(), PRESS_AGAIN, what)
            if there():
                return
            if stuck():
                yield from self._told()
                yield from self._busy("free")
                lift.clear_jam()
            elif lift.moving or lift.faulty or not board.told():
                continue
            yield from self._told()
            self.pressed_again += 1
            self._parts.press(button, seat)

    def _pay(self) -> None:
        """Move sticks when the displays show other scores than at the last payment."""
        scores = self._parts.displays.scores
        if scores is not None and scores != self._paid:
            self._paid = list(scores)
            self._settled = True
            self._parts.sticks.pay(scores)

    # ------------------------------------------------------------------ waiting

    def _busy(self, habit: str) -> Activity:
        least, most = HABITS[habit]
        yield Pause(self._rng.uniform(least, most) * self._pace)

    def _told(self) -> Activity:
        """As fast as possible still means: after the host has taken in what happened."""
        if self._pace == 0:
            yield Until(self._parts.board.told, what="the host to take in the last move")

    def _see(self, what: str, ready: Callable[[], bool], patience: float) -> Activity:
        if not (yield Until(ready, patience, what)) and what:
            self.unmet.append(what)

    def _ask(self, kind: str, index: int, seat: int) -> Activity:
        waits = kind in self._operator
        if waits:
            self._asked += 1
        asked = self._asked
        assert self.hand is not None
        self._tell_out(Progress(kind, self.hand.number, index, seat, waits))
        if waits:
            yield Until(lambda: self._answered >= asked, what=f"the operator's {kind}")

    def _tell(self, kind: str, hand: int) -> None:
        self._tell_out(Progress(kind, hand))

    def _note(self, kind: str, step: Step) -> None:
        assert self.hand is not None
        self._tell_out(Progress(kind, self.hand.number, step.index, step.seat))

    # ------------------------------------------------------------------ tiles

    def _pile(self) -> Pack:
        assert self._pack is not None
        return self._pack

    def _engraved(self, tag: int) -> str:
        return self._pile().tiles[tag]

    def _in_hand(self, seat: int, tile: str) -> int:
        """The tag of a tile in the hand; the drawn one when the hand has none."""
        for tag in self._top.zone(ZoneKind.HAND, seat).values():
            if self._engraved(tag) == tile:
                return tag
        drawn = self._top.at(Place(ZoneKind.DRAWN, seat, 0))
        if drawn is not None and self._engraved(drawn) == tile:
            return drawn
        raise RecordError(f"seat {seat} has no {tile}", value=tile)

    def _tags_in_hand(
        self, seat: int, tiles: tuple[str, ...], drawn: int | None = None
    ) -> list[int]:
        loose = list(self._top.zone(ZoneKind.HAND, seat).values())
        if drawn is not None:
            loose.append(drawn)
        found = []
        for tile in tiles:
            tag = next((tag for tag in loose if self._engraved(tag) == tile), None)
            if tag is None:
                raise RecordError(f"seat {seat} has no {tile}", value=tile)
            loose.remove(tag)
            found.append(tag)
        return found

    def sort_hand(self, seat: int) -> None:
        """Tiles change their slots: man, pin, sou, honours."""
        hand = self._top.zone(ZoneKind.HAND, seat)
        if self._pack is None or not hand:
            return
        order = sorted(
            hand.values(),
            key=lambda tag: ("mpsz".index(self._engraved(tag)[1]), self._engraved(tag)),
        )
        self._top.move(*((tag, None) for tag in order))
        self._top.move(
            *((tag, _at(ZoneKind.HAND, seat, slot)) for slot, tag in zip(hand, order, strict=True))
        )

    def _put_drawn_away(self, seat: int) -> None:
        """A drawn tile that is kept goes into the hand."""
        drawn = self._top.at(Place(ZoneKind.DRAWN, seat, 0))
        if drawn is not None:
            slot = self._top.free_slot(ZoneKind.HAND, seat)
            self._top.move((drawn, _at(ZoneKind.HAND, seat, slot)))

    def _river_slot(self, seat: int) -> int:
        """Behind the last discard; where a claimed tile lay, the next one comes."""
        return self._top.next_slot(ZoneKind.RIVER, seat)

    def _last_in_river(self, seat: int) -> int | None:
        tiles = self._top.zone(ZoneKind.RIVER, seat)
        return tiles[max(tiles)] if tiles else None

    def _has_sideways(self, seat: int) -> bool:
        tags = self._top.zone(ZoneKind.RIVER, seat).values()
        return any((lying := self._top.where(tag)) and lying.sideways for tag in tags)

    def _next_meld(self, seat: int) -> int:
        last = self._top.next_slot(ZoneKind.MELD, seat)
        return -(-last // MELD_SLOTS) * MELD_SLOTS

    def _pon_of(self, seat: int, tile: str) -> int:
        """First slot of the pon that a tile is added to (a red five counts as a five)."""
        kind = tile.replace("0", "5")
        melds = self._top.zone(ZoneKind.MELD, seat)
        for slot in melds:
            if slot % MELD_SLOTS == 0:
                meld = [melds.get(slot + k) for k in range(3)]
                if all(t is not None and self._engraved(t).replace("0", "5") == kind for t in meld):
                    return slot
        raise RecordError(f"seat {seat} has no pon of {tile}", value=tile)


def _at(kind: ZoneKind, seat: int, slot: int) -> Lying:
    return Lying(Place(kind, seat, slot))
