"""Hardware facts in, engine commands out: one table's mirror, a fold that can be rebuilt.

Pure given its input: the same facts at the same times against the same states give the same commands.
Machine facts (buttons, walls, dice, lid, sticks) speak for themselves; tile movements go through
`perceive`. What a level does not sense is simply never reported.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from firmware_protocol import messages as m
from firmware_protocol.schema import Message
from firmware_protocol.vocabulary import (
    SEATS,
    Button,
    Capability,
    Phase,
    Press,
    Sight,
    ZoneKind,
    zone_kind,
    zone_seat,
)
from tablectl.engine.game import commands as cmd
from tablectl.engine.game.commands import Refusal
from tablectl.engine.game.state import GameState
from tablectl.mirror import perceive
from tablectl.mirror.book import Book
from tablectl.mirror.explain import explain
from tablectl.mirror.gap import MOST_ABSORBED, TOLD_MS, Gap, Report
from tablectl.mirror.moves import Move, View
from tablectl.mirror.picture import Picture, Where
from tablectl.mirror.sticks import Sticks
from tablectl.mirror.tags import TagMap
from tablectl.mirror.verdict import ACCEPTED, Verdict

WALL_SLOTS = 34
PERCEIVED = ("deal", "play", "tenpai", "result")
"""Phases in which tiles are read."""
IN_HAND = (ZoneKind.HAND, ZoneKind.DRAWN, ZoneKind.RIVER, ZoneKind.MELD, ZoneKind.LAID)


@dataclass(frozen=True, slots=True)
class MirrorOptions:
    """Times in ms; see [tables.sensors] of the configuration."""

    settle_ms: int = 300
    missed_reads: int = 3
    read_period_ms: int = 100
    same_tag_ms: int = 1500
    patience_ms: int = 1500
    """A picture that no legal path explains is a contradiction after this."""
    draw_ms: int = 6000
    """Quiet after the last discard before a draw counts, when the lid stays closed."""
    results: bool = True
    """Level tiles: results are found; false: a person enters them."""

    @property
    def gone_ms(self) -> int:
        """How long a tag that is not read keeps its zone."""
        return self.missed_reads * self.read_period_ms


class _Play:
    """Commands in a row, and the game after them."""

    def __init__(self, state: GameState) -> None:
        self.state = state
        self.commands: list[cmd.Command] = []
        self.refused = False

    def add(self, commands: Sequence[cmd.Command]) -> None:
        """Let them follow; after a refusal nothing follows any more."""
        if self.refused:
            return
        self.commands += commands
        after = perceive.judge(self.state, tuple(commands))
        if isinstance(after, Refusal):
            self.refused = True  # the core meets it too, and finds every tag again
        else:
            self.state = after


class Mirror:
    """What one machine reports, read against the game it belongs to."""

    def __init__(self, tags: TagMap | None = None, options: MirrorOptions | None = None) -> None:
        self.options = options or MirrorOptions()
        picture = Picture(self.options.gone_ms, self.options.same_tag_ms)
        self.view = View(picture, tags or TagMap(), result=self.options.results)
        self.book = Book()
        self.verdict: Verdict = ACCEPTED
        self.wake_at: int | None = None
        """Mirror time at which `advance` has something to say; None: only after a fact."""
        self._last_now: int | None = None
        self._blind = False
        """The board is out of reach."""
        self._walls_up: set[int] = set()
        self._pages: dict[int, m.SnapshotTiles] = {}
        self._pages_due = 0
        self._sticks_told: set[int] = set()
        """Seats with a stick of this hand in the slot, by the snapshot that is being read."""
        self._sticks = Sticks()
        self._gap: Gap | None = None
        """Events were lost, and what was played meanwhile is not known yet."""
        self._waits_for_fading = False
        self._reported: set[tuple[str, int | None]] = set()

    def retune(self, options: MirrorOptions) -> None:
        """Other times from now on; what is pending is judged by them."""
        self.options = options
        self.view.picture.gone_ms = options.gone_ms
        self.view.picture.same_tag_ms = options.same_tag_ms
        self.view.result = options.results

    # ------------------------------------------------------------------ input

    def observe(self, message: Message, now_ms: int, state: GameState) -> list[cmd.Command]:
        """The commands a fact leads to, in order. `now_ms` is monotonic host time."""
        self._clock(now_ms)
        match message:
            case m.ButtonEvent():
                return self._button(message, state)
            case m.WallEvent():
                return self._wall(message, state)
            case m.DiceSettled():
                return self._dice(message, state)
            case m.LidEvent():
                return self._lid(message, state)
            case m.StickTray():
                self._sticks.tray(message)
                return []
            case m.RiichiSlot():
                return self._riichi_slot(message, state)
            case m.TileEvent():
                self._remember_walls(message.zone, message.tiles)
                return self._tiles(message, state)
            case m.EventsLost():
                self._gap = Gap("lost", self.view.now)
                return self._perceive(state)
            case m.SnapshotState():
                return self._snapshot_state(message, state)
            case m.SnapshotTiles():
                return self._snapshot_page(message, state)
            case _:
                return []

    def advance(self, now_ms: int, state: GameState) -> list[cmd.Command]:
        """The commands that time alone leads to. Without any, nothing has changed."""
        self._clock(now_ms)
        return self._perceive(state)

    def started(self) -> None:
        """A hand has begun: the book is empty, the riichi slots count anew."""
        self.book = Book()
        self.verdict = ACCEPTED
        gap, self._gap = self._gap, None
        if gap is not None and (gap.where is not None or gap.hopeless):
            self._look_anew(gap)
        elif gap is not None:
            # What was reported belongs to the hand before; what the board will tell, to this one.
            self._gap = Gap(gap.why, gap.since)
        self.view.walls = {}
        self.view.ignored = set()
        self.view.sticks = set()
        self._sticks.hand_begins()
        self.view.picture.forget_gone(self.view.now)
        self._reported = set()

    def taken_over(self) -> None:
        """A person settles this hand: whatever is seen of it contradicts nothing any more."""
        gap, self._gap = self._gap, None
        if gap is not None:
            self._look_anew(gap)
        self.verdict = ACCEPTED
        self.wake_at = None

    def rebook(self, state: GameState) -> None:
        """The game changed by other hands than ours (a request, an undo): find every tag again."""
        self.book = perceive.rebook(self.view, state, self.book)

    @property
    def capabilities(self) -> int:
        """What the machine said it has."""
        return self.view.capabilities

    @capabilities.setter
    def capabilities(self, value: int) -> None:
        self.view.capabilities = value

    # ------------------------------------------------------------------ the machine

    def _clock(self, now_ms: int) -> None:
        """Mirror time runs with the monotonic clock, and stands still where that starts over."""
        if self._last_now is not None and not self._blind:
            self.view.now += max(0, now_ms - self._last_now)
        self._last_now = now_ms
        self.view.picture.fade(self.view.now)

    def link(self, up: bool, now_ms: int, *, reset: bool = False) -> None:
        """The board came into reach or went out of it. Blind time does not count: nobody looked.

        `reset`: it has started anew, so what it had not told is lost until it tells its state.
        """
        if not up:
            self._clock(now_ms)
        self._blind = not up
        self._last_now = now_ms
        if reset:
            self._gap = Gap("reset", self.view.now)

    def to_host(self, mirror_ms: int) -> int:
        """Host time of a mirror time."""
        return mirror_ms - self.view.now + (self._last_now or 0)

    def _button(self, event: m.ButtonEvent, state: GameState) -> list[cmd.Command]:
        if event.press != Press.PRESSED:
            return []
        seat = event.seat if event.seat in SEATS else None
        if event.button == Button.START:
            commands = [*self._finish(state), cmd.PressStart(seat)]
            return [*commands, *self._sticks.against(state, commands)]
        if event.button == Button.RIICHI and seat is not None:
            return self._riichi(seat, state)
        return []

    def _wall(self, event: m.WallEvent, state: GameState) -> list[cmd.Command]:
        sides = [event.side] if event.side in SEATS else list(SEATS)
        if event.phase == Phase.UP:
            self._walls_up.update(sides)
        else:
            self._walls_up.difference_update(sides)
        if len(self._walls_up) < len(SEATS) or state.phase != "walls":
            return []
        return [cmd.WallsReady(), *self._machine_deal(state)]

    def _machine_deal(self, state: GameState) -> list[cmd.Command]:
        """An automatic deal needs no dice; where no tile is seen it is taken as done."""
        game = state.game
        if game is None or not game.auto_deal or game.knowledge == "tiles":
            return []
        return [cmd.Deal(), cmd.RevealDora()]

    def _dice(self, event: m.DiceSettled, state: GameState) -> list[cmd.Command]:
        if state.phase == "seating":
            return [cmd.SeatThrow(event.a, event.b)]
        if state.phase not in ("walls", "dice"):
            return []
        commands: list[cmd.Command] = [] if state.phase == "dice" else [cmd.WallsReady()]
        commands.append(cmd.RollDice(event.a, event.b))
        if not state.tiles_known:
            commands += [cmd.Deal(), cmd.RevealDora()]
        return commands

    def _lid(self, event: m.LidEvent, state: GameState) -> list[cmd.Command]:
        """The lid opens to take the tiles: the hand is over, and its result is agreed on."""
        if event.phase not in (Phase.RISING, Phase.UP):
            return []
        commands = self._finish(state)
        after = perceive.judge(state, tuple(commands))
        if not isinstance(after, Refusal) and after.phase == "result":
            commands.append(cmd.Settle())
        return commands

    def _finish(self, state: GameState) -> list[cmd.Command]:
        """All that still waits for its time counts now."""
        if not state.tiles_known or state.phase not in ("play", "tenpai", "result"):
            return []
        if self._waits_for_gap(None):
            return self._perceive(state)
        with self.view.picture.remembered(self.view.now):
            return self._perceive(state, finish=True)

    def _riichi_slot(self, event: m.RiichiSlot, state: GameState) -> list[cmd.Command]:
        self._sticks.slot(event)
        if state.tiles_known and self._waits_for_gap(event):
            return self._perceive(state)
        if not event.present:
            self.view.sticks.discard(event.seat)
            return []
        return self._riichi(event.seat, state)

    def _waits_for_gap(self, report: Report) -> bool:
        """Whether it is taken in only once it is known what was played before it."""
        gap = self._gap
        if gap is None or gap.hopeless:
            return False
        if gap.where is None and self.view.now >= gap.since + TOLD_MS:
            gap.hopeless = True
            self._look_anew(gap)
            return False
        gap.reports.append((self.view.now, report))
        return True

    def _riichi(self, seat: int, state: GameState) -> list[cmd.Command]:
        self.view.sticks.add(seat)
        if state.tiles_known:
            return self._perceive(state)
        if state.phase == "play" and not state.seats[seat].riichi:
            return [cmd.DeclareRiichi(seat)]
        return []

    # ------------------------------------------------------------------ the device's own view

    def _snapshot_state(self, message: m.SnapshotState, state: GameState) -> list[cmd.Command]:
        self._sticks_told = self._sticks.told(message, trays=self.view.has(Capability.STICK_TRAYS))
        self._walls_up = {s for s, phase in enumerate(message.walls) if phase == Phase.UP}
        self._pages, self._pages_due = {}, message.pages - 1
        commands: list[cmd.Command] = []
        if len(self._walls_up) == len(SEATS) and state.phase == "walls":
            commands = [cmd.WallsReady(), *self._machine_deal(state)]
        if not commands and self._pages_due == 0:
            commands = self._replace(state)
        return commands

    def _snapshot_page(self, message: m.SnapshotTiles, state: GameState) -> list[cmd.Command]:
        if not self._pages_due:
            return []
        self._pages[message.page] = message
        return self._replace(state) if len(self._pages) >= self._pages_due else []

    def _replace(self, state: GameState) -> list[cmd.Command]:
        pages = [self._pages[number] for number in sorted(self._pages)]
        self._pages, self._pages_due = {}, 0
        for page in pages:
            self._remember_walls(page.zone, page.tiles)
        where = self.view.picture.told(pages)
        if self._gap is None:
            if self.view.picture.agrees(where):
                return self._sticks_found(state)
            self._gap = Gap("snapshot", self.view.now)
        elif self._gap.hopeless:
            self._gap = Gap(self._gap.why, self._gap.since)  # late is not too late
        self._gap.told(where, set(self._sticks_told), self.view.now)
        if state.phase not in PERCEIVED or not state.tiles_known:
            known = set(self.view.sticks)
            self._look_anew(self._gap)
            self._gap, self.view.sticks = None, known
            return self._sticks_found(state)
        return self._perceive(state)

    def _sticks_found(self, state: GameState) -> list[cmd.Command]:
        """Sticks in their slots by the board's state; without tiles, one that nobody told of is a riichi."""
        new = sorted(self._sticks_told - self.view.sticks)
        self.view.sticks = set(self._sticks_told)
        if state.tiles_known:
            return self._perceive(state)
        return [command for seat in new for command in self._riichi(seat, state)]

    # ------------------------------------------------------------------ gaps

    def _through_gap(self, gap: Gap, state: GameState) -> list[cmd.Command]:
        """Nothing is decided before the one way is found that leads over the gap."""
        if gap.where is None and self.view.now >= gap.since + TOLD_MS:
            gap.hopeless = True
        if gap.hopeless:
            self._look_anew(gap)
        elif gap.where is None:
            self._wake(gap.since + TOLD_MS)
        else:
            commands = self._explain(gap, state)
            if commands is not None:
                return commands
        self.verdict = gap.verdict(self.view.now, self.options.patience_ms)
        for due in (gap.told_at + self.options.patience_ms, gap.stick_from + self.view.stick_ms):
            if gap.where is not None and due > self.view.now:
                self._wake(due)
        return []

    def _explain(self, gap: Gap, state: GameState) -> list[cmd.Command] | None:
        """The commands over the gap and of all that was reported since; None: not found (yet)."""
        assert gap.where is not None
        if state.phase == "result" or (state.phase == "deal" and not _played(gap.where)):
            return self._over(gap, (), state)
        while True:
            stick_due = self.view.now < gap.stick_from + self.view.stick_ms and not gap.closed
            found = explain(
                self.view,
                self.book,
                state,
                gap.where,
                gap.sticks,
                stick_due=stick_due,
            )
            if found.only is not None:
                # The last move is judged like any other: it stands when it has lain for a while.
                return self._over(gap, found.only.moves[:-1], state)
            gap.text = found.text
            if found.exhausted:
                gap.hopeless = not stick_due
                return None
            if not gap.absorb():
                gap.hopeless = gap.closed or gap.absorbed >= MOST_ABSORBED
                return None

    def _over(self, gap: Gap, moves: Sequence[Move], state: GameState) -> list[cmd.Command]:
        """Play these moves, then all that was reported after the gap, each at its own time."""
        real, self._gap = self.view.now, None
        for move in moves:
            move.enter(self.book)
        self.view.now = gap.ended
        self._look_anew(gap, reports=False)
        play = _Play(state)
        play.add([command for move in moves for command in move.commands])
        play.add(self._perceive(play.state))
        for at, event in gap.reports[gap.absorbed :]:
            self._pass_time(at, play)
            if isinstance(event, m.TileEvent):
                play.add(self._tiles(event, play.state))
            elif isinstance(event, m.RiichiSlot):
                play.add(self._riichi_slot(event, play.state))
            else:
                play.add(self._finish(play.state))
                if play.state.phase == "result":
                    play.add([cmd.Settle()])
        self._pass_time(real, play)
        play.add(self._perceive(play.state))
        return play.commands

    def _pass_time(self, until: int, play: _Play) -> None:
        """What time alone leads to, up to then."""
        while self.wake_at is not None and self.wake_at <= until and not play.refused:
            self.view.now = max(self.view.now + 1, self.wake_at)
            self.view.picture.fade(self.view.now)
            play.add(self._perceive(play.state))
        self.view.now = max(self.view.now, until)
        self.view.picture.fade(self.view.now)

    def _look_anew(self, gap: Gap, *, reports: bool = True) -> None:
        """The picture becomes what the board told, with or without what it has reported since."""
        touched: set[int] = set()
        if gap.where is not None:
            touched |= self.view.picture.replace(gap.where, self.view.now)
            self.view.sticks = set(gap.sticks)
        gap.where = None
        if reports:
            for _, event in gap.reports[gap.absorbed :]:
                if isinstance(event, m.TileEvent):
                    touched |= self.view.picture.observe(event, self.view.now)
                elif isinstance(event, m.RiichiSlot):
                    (self.view.sticks.add if event.present else self.view.sticks.discard)(
                        event.seat
                    )
            gap.reports, gap.absorbed = [], 0
        self._sort_out(touched)

    # ------------------------------------------------------------------ tiles

    def _tiles(self, event: m.TileEvent, state: GameState) -> list[cmd.Command]:
        if not self._waits_for_gap(event):
            self._sort_out(self.view.picture.observe(event, self.view.now))
        return self._perceive(state)

    def _remember_walls(self, octet: int, tiles: Sequence[m.TileSight | m.TileAt]) -> None:
        if zone_kind(octet) == ZoneKind.WALL:
            for tile in tiles:
                if tile.flags & Sight.APPEARED and tile.slot < WALL_SLOTS:
                    self.view.walls[tile.tag] = (zone_seat(octet), tile.slot)

    def _sort_out(self, touched: set[int]) -> None:
        """Tags of no set, or of the set that is in the machine now, play no part."""
        view = self.view
        for tag in touched:
            set_name = view.tags.set_name(tag)
            if set_name is None:
                view.ignored.add(tag)
            elif tag not in self.book.home and tag not in view.ignored and self.book.home:
                in_play = view.tags.set_name(next(iter(self.book.home)))
                if set_name != in_play:
                    view.ignored.add(tag)

    def _perceive(self, state: GameState, *, finish: bool = False) -> list[cmd.Command]:
        """Commands of every move that counts by now; sets the verdict and the next waking."""
        self.wake_at = None
        if not state.tiles_known or state.paused:
            return []
        if state.phase == "dice" and self._gap is None:
            return self._missed_dice(state)
        if state.phase not in PERCEIVED:
            return []
        if self._gap is not None:
            return self._through_gap(self._gap, state)
        reading = perceive.read(self.view, self.book, state)
        commands, state = self._commit(reading, state, finish)
        self._judge(reading)
        commands += self._report(state)
        if not self._holds_back():
            commands += self._quiet_end(reading, state, finish, bool(commands))
        return commands

    def _missed_dice(self, state: GameState) -> list[cmd.Command]:
        """Tiles are taken, and no throw was reported: the wall shows where it was opened."""
        stacks = self.view.broken_at(state)
        if stacks is None:
            return []
        command = cmd.BreakWall(stacks)
        after = perceive.judge(state, (command,))
        return [] if isinstance(after, Refusal) else [command, *self._perceive(after)]

    def _commit(
        self, reading: perceive.Reading, state: GameState, finish: bool
    ) -> tuple[list[cmd.Command], GameState]:
        commands: list[cmd.Command] = []
        for index, (move, after) in enumerate((s.move, s.state) for s in reading.steps):
            followed = index + 1 < len(reading.steps)
            if move.scoring and self._holds_back():
                break
            if not finish:
                due = move.since + (move.wait_ms or self.options.settle_ms)
                if not move.ready:
                    self._wake(move.since + self.view.ura_ms)
                    break
                if not followed and not move.steady:
                    self._wake(self.view.now + self.options.gone_ms)
                    break
                if not followed and not move.at_once and self.view.now < due:
                    self._wake(due)
                    break
            move.enter(self.book)
            commands += move.commands
            state = after
        return commands, state

    def _report(self, state: GameState) -> list[cmd.Command]:
        """What looks like an infraction becomes a finding for the referee, once in a hand."""
        verdict = self.verdict
        key = (verdict.row, verdict.seat)
        if not verdict.row or key in self._reported:
            return []
        report = cmd.Report(verdict.row, verdict.seat, detail=verdict.text)
        if isinstance(perceive.judge(state, (report,)), Refusal):
            return []
        self._reported.add(key)
        return [report]

    def _holds_back(self) -> bool:
        return self.verdict.certainty == "contradiction"

    def _judge(self, reading: perceive.Reading) -> None:
        view, patience = self.view, self.options.patience_ms
        if reading.state is not None:
            due = self._sticks.loose(view.sticks, reading.state, view.now, patience)
            if due is not None and due > view.now:
                self._wake(due)
        self.verdict = (
            self._strange_tag()
            or self._sticks.verdict()
            or perceive.contradiction(view, reading, patience)
        )
        self._wake_for_faint()
        if reading.refused or self._unexplained(reading):
            last = max((place.since for place in view.picture.places.values()), default=0)
            for due in (last + patience, last + view.indicator_ms):
                if due > view.now:
                    self._wake(due)
                    break

    def _wake_for_faint(self) -> None:
        """Faint readings count after a while, and what is not read any more is gone after another."""
        self._waits_for_fading = False
        for tag, place in self.view.picture.places.items():
            due = place.since + self.view.faint_ms
            if place.weak and due > self.view.now and tag not in self.view.ignored:
                self._wake(due)
            if place.fading and not self._waits_for_fading:
                self._waits_for_fading = True
                self._wake(self.view.now + self.options.gone_ms + 1)

    def _unexplained(self, reading: perceive.Reading) -> bool:
        """Some tile lies where the game does not have it, even after the whole path."""
        view, book = self.view, reading.book
        for kind in IN_HAND:
            for seat in SEATS:
                for tag, _ in view.zone(kind, seat):
                    home = book.home.get(tag)
                    if home is None or home.seat != seat:
                        return True
        return False

    def _strange_tag(self) -> Verdict | None:
        for tag in self.view.ignored:
            place = self.view.picture.places.get(tag)
            if place is None or place.spot.kind not in IN_HAND:
                continue
            if self.view.now - place.since < self.options.patience_ms:
                self._wake(place.since + self.options.patience_ms)
                continue
            seat = place.spot.seat
            if self.view.tags.set_name(tag) is None:
                text = f"a tile that is in no set lies before seat {seat}"
                return Verdict("contradiction", "strange_tag", text, seat, (tag,))
            text = f"a tile of the other set lies before seat {seat}"
            return Verdict("contradiction", "other_set", text, seat, (tag,))
        return None

    def _quiet_end(
        self, reading: perceive.Reading, state: GameState, finish: bool, moved: bool
    ) -> list[cmd.Command]:
        """A hand nobody won, once the lid opens or nothing has moved for a while."""
        if state.phase not in ("play", "tenpai") or not self.options.results:
            return []
        if not finish and state.step != "draw":
            return []
        last = max((place.since for place in self.view.picture.places.values()), default=0)
        if not finish and (moved or reading.steps):
            if moved:
                # It may have been the last move of the hand: nothing else would wake us then.
                self._wake(last + self.options.draw_ms)
            return []
        if not finish and self.view.now < last + self.options.draw_ms:
            if perceive.drawn_result(self.view, self.book, state) is not None:
                self._wake(last + self.options.draw_ms)
            return []
        return list(perceive.drawn_result(self.view, self.book, state) or ())

    def _wake(self, at: int) -> None:
        self.wake_at = at if self.wake_at is None else min(self.wake_at, at)

    # ------------------------------------------------------------------ memory

    def to_json(self) -> dict[str, Any]:
        """JSON object from which `load` rebuilds the mirror; the verdict is judged anew."""
        view = self.view
        return {
            "picture": view.picture.to_json(),
            "book": self.book.to_json(),
            "capabilities": view.capabilities,
            "sticks": sorted(view.sticks),
            **self._sticks.to_json(),
            "ignored": sorted(view.ignored),
            "walls": [[tag, side, position] for tag, (side, position) in view.walls.items()],
            "walls_up": sorted(self._walls_up),
            "reported": sorted([row, -1 if seat is None else seat] for row, seat in self._reported),
            "now": view.now,
            "last_now": self._last_now,
            "blind": self._blind,
            "gap": None if self._gap is None else self._gap.to_json(),
            "wake_at": self.wake_at,
        }

    def load(self, data: dict[str, Any]) -> None:
        """Take over what `to_json` wrote."""
        view = self.view
        view.picture.load(data["picture"], data["now"])
        self.book = Book.from_json(data["book"])
        view.capabilities = data["capabilities"]
        view.sticks = set(data["sticks"])
        self._sticks.load(data)
        view.ignored = set(data["ignored"])
        view.walls = {tag: (side, position) for tag, side, position in data["walls"]}
        self._walls_up = set(data["walls_up"])
        self._reported = {(row, None if seat < 0 else seat) for row, seat in data["reported"]}
        view.now = data["now"]
        self._last_now = data["last_now"]
        self._blind = data["blind"]
        gap = data.get("gap")
        self._gap = None if gap is None else Gap.from_json(gap)
        self.wake_at = data["wake_at"]


def _played(where: Where) -> bool:
    """Somebody has discarded or called already."""
    return any(
        spot.kind in (ZoneKind.RIVER, ZoneKind.MELD) for spots in where.values() for spot in spots
    )
