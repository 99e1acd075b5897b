"""A table for tests: a seeded wall, people who choose among the legal acts, and twins that know less."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field

from tablectl.engine.game import commands as cmd
from tablectl.engine.game import events as ev
from tablectl.engine.game.apply import apply_all
from tablectl.engine.game.commands import Command, Refusal
from tablectl.engine.game.decide import decide
from tablectl.engine.game.events import Event
from tablectl.engine.game.hands import tenpai, tenpai_discards
from tablectl.engine.game.legal import claims, legal, own_turn
from tablectl.engine.game.passing import abort_due, indicator_due, kan_dora_may_turn
from tablectl.engine.game.state import EMPTY, GameState
from tablectl.engine.game.wall import DEAL, DEALERS_FOURTEENTH, INDICATORS, REPLACEMENTS
from tablectl.engine.rules import Ruleset
from tablectl.engine.scoring import key_of, shanten
from tablectl.engine.tiles import KIND, RED

PLAYERS = ("asa", "beni", "chie", "dai")


def all_declare(state: GameState) -> cmd.ResultDraw:
    """The exhaustive draw with everybody declaring what the hand is."""
    a, b, c, d = (bool(tenpai(state.rules, seat)) and not seat.stopped for seat in state.seats)
    return cmd.ResultDraw("exhaustive", (a, b, c, d))


def full_set(rules: Ruleset) -> list[int]:
    """136 tiles, one red five a suit where the ruleset has them."""
    tiles = [kind for kind in range(34) for _ in range(4)]
    if rules.aka:
        for kind, red in RED.items():
            tiles[tiles.index(kind)] = red
    return tiles


class RefusedError(AssertionError):
    """The engine refused what the test did."""


@dataclass
class Player:
    """Drives one game: `do` decides and applies, and checks what must always hold."""

    rules: Ruleset
    state: GameState = EMPTY
    log: list[tuple[Command, list[Event]]] = field(default_factory=list)
    total: int | None = None

    def do(self, command: Command) -> list[Event]:
        answer = decide(self.state, command)
        if isinstance(answer, Refusal):
            raise RefusedError(f"{command} → {answer}")
        self.state = apply_all(self.state, answer)
        self.log.append((command, answer))
        if self.total is None:
            self.total = balance(self.state)
        assert balance(self.state) == self.total, command
        return answer

    def refuses(self, command: Command) -> Refusal:
        answer = decide(self.state, command)
        assert isinstance(answer, Refusal), answer
        return answer

    def events(self) -> Iterator[Event]:
        for _, events in self.log:
            yield from events

    def start(self, **changes: object) -> None:
        self.do(cmd.StartGame("test", self.rules.to_dict(), PLAYERS, **changes))  # type: ignore[arg-type]


def balance(state: GameState) -> int:
    """Scores, deposits and what left the game: never changes."""
    return sum(state.scores) + 1000 * state.deposits + state.off_table


class RandomGame(Player):
    """Plays a whole game by legal acts chosen at random, with a taste for winning."""

    def __init__(self, rules: Ruleset, seed: int, *, hands: int = 40) -> None:
        super().__init__(rules)
        self.rng = random.Random(seed)
        self.most_hands = hands
        self.wall: list[int] = []
        self.next_live = 0
        self.replacements = 0
        self.turned = 0
        self.start(first_dealer=self.rng.randrange(4))

    def play(self) -> GameState:
        while self.state.phase != "ended":
            if self.state.hands_ended >= self.most_hands and not self.state.hands_to_play:
                self.do(cmd.CallTime())
                continue
            self.hand()
        return self.state

    # ---- one hand

    def hand(self) -> None:
        self.deal()
        while self.state.phase == "play":
            self.step()
        while self.state.phase == "tenpai":
            self.declare()
        if self.state.phase == "result" and self.rng.random() < 0.5:
            self.do(cmd.Settle())
        elif self.state.phase == "result":
            # The start press settles too; take the new hand back by aborting it.
            self.do(cmd.PressStart())
            if self.state.phase == "walls":
                self.do(cmd.AbortHand("test"))

    def deal(self) -> None:
        self.wall = full_set(self.rules)
        self.rng.shuffle(self.wall)
        self.next_live, self.replacements, self.turned = DEALERS_FOURTEENTH, 0, 0
        self.do(cmd.PressStart())
        self.do(cmd.WallsReady())
        self.do(cmd.RollDice(self.rng.randint(1, 6), self.rng.randint(1, 6)))
        hands = [
            tuple(sorted(self.wall[t] for t in DEAL[self.state.wind(seat)])) for seat in range(4)
        ]
        self.do(cmd.Deal((hands[0], hands[1], hands[2], hands[3])))
        if self.rng.random() < 0.5:
            self.do(cmd.LayRinshan())
        self.turn_indicator()

    def turn_indicator(self) -> None:
        self.do(cmd.RevealDora(self.wall[INDICATORS[self.turned]]))
        self.turned += 1

    def ura(self) -> tuple[int, ...]:
        shown = len(self.state.dora) if self.rules.kan_ura_dora else 1
        return tuple(self.wall[INDICATORS[i] + 1] for i in range(shown))

    def step(self) -> None:
        state = self.state
        if state.step in ("own", "call"):
            self.own(state.turn)
            return
        if self.claimed():
            return
        state = self.state
        due = abort_due(state)
        if due is not None and state.step == "draw":
            self.do(cmd.ResultDraw(due))
            return
        if state.step == "draw" and state.live == 0:
            self.exhausted()
            return
        act = "replacement" if state.step in ("rob", "rinshan") else "next"
        if indicator_due(state, act) is not None:
            self.turn_indicator()
            return
        if act == "replacement":
            seat = state.open_kan.seat if state.open_kan is not None else state.turn
            tile = self.wall[REPLACEMENTS[self.replacements]]
            self.replacements += 1
            self.do(cmd.Draw(seat, tile, rinshan=True))
        else:
            self.do(cmd.Draw(state.turn, self.wall[self.next_live]))
            self.next_live += 1

    def own(self, seat: int) -> None:
        options = own_turn(self.state, seat)
        if not options:
            assert indicator_due(self.state, "discard") is not None
            self.turn_indicator()
            return
        special = [one for one in options if not isinstance(one, cmd.Discard)]
        self.rng.shuffle(special)
        for one in special:
            if self.rng.random() < self.taste(one):
                if isinstance(one, cmd.Win):
                    if indicator_due(self.state, "tsumo") is not None:
                        self.turn_indicator()
                    one = cmd.Win(seat, seat, ura=self.ura())
                self.do(one)
                return
        if kan_dora_may_turn(self.state) is None and self.rng.random() < 0.5:
            self.turn_indicator()
            options = own_turn(self.state, seat)
        self.do(self.chosen_discard(seat, [one for one in options if isinstance(one, cmd.Discard)]))

    def taste(self, one: Command) -> float:
        if isinstance(one, cmd.DeclareRiichi):
            ready = tenpai_discards(self.rules, self.state.seats[one.seat])
            return 0.7 if ready else 0.01
        return {cmd.Win: 0.95, cmd.KyuushuKyuuhai: 0.3}.get(type(one), 0.7)

    def chosen_discard(self, seat: int, options: list[cmd.Discard]) -> cmd.Discard:
        assert options, (self.state.seats[seat].to_json(), self.state.step)
        one = self.rng.choice(options)
        if self.rng.random() < 0.9:
            hand = self.state.seats[seat].hand

            def left(option: cmd.Discard) -> tuple[int, float]:
                rest = list(hand)
                rest.remove(option.tile)  # type: ignore[arg-type]
                return shanten(key_of(rest)), self.rng.random()

            one = min(options, key=left)
        drawn = self.state.seats[seat].drawn
        return cmd.Discard(seat, one.tile, None if drawn is None else one.tile == drawn)

    def claimed(self) -> bool:
        state = self.state
        if state.step == "rinshan":
            return False
        if state.step == "draw" and indicator_due(state, "ron") is not None:
            self.turn_indicator()
            state = self.state
        choices = {seat: claims(state, seat) for seat in range(4)}
        rons = [
            one
            for seat in range(4)
            for one in choices[seat]
            if isinstance(one, cmd.Win) and self.rng.random() < 0.9
        ]
        if rons:
            self.rng.shuffle(rons)
            self.rons(rons)
            return True
        if state.step == "rob":
            return False
        for kinds in ((cmd.Pon, cmd.Daiminkan), (cmd.Chi,)):
            calls = [one for seat in range(4) for one in choices[seat] if isinstance(one, kinds)]
            if calls and self.rng.random() < 0.25:
                self.do(self.rng.choice(calls))
                return True
        return False

    def rons(self, rons: list[cmd.Win]) -> None:
        for place, one in enumerate(rons):
            command = cmd.Win(one.seat, one.from_seat, ura=self.ura(), together=True)
            if place:
                answer = decide(self.state, command)
                if isinstance(answer, Refusal):
                    assert answer.code == "head_bump", answer
                    continue
            self.do(command)
            if self.state.outcome is not None and not self.state.outcome.wins:
                return

    def exhausted(self) -> None:
        if indicator_due(self.state, "next") is not None:
            self.turn_indicator()
        if self.rng.random() < 0.5:
            self.do(all_declare(self.state))
        else:
            self.declare()

    def declare(self) -> None:
        order = [(self.state.dealer + wind) % 4 for wind in range(4)]
        seat = next(one for one in order if self.state.seats[one].tenpai is None)
        self.do(self.rng.choice(legal(self.state, seat)))


# ---- twins that know less -------------------------------------------------------------------------------


def without_tiles(rules: Ruleset, log: list[tuple[Command, list[Event]]]) -> Player:
    """The same game with every concealed tile unknown; whatever was accepted must be accepted."""
    twin = Player(rules)
    for command, events in log:
        for one in _blinded(twin.state, command, events):
            twin.do(one)
        ended = [event for event in events if isinstance(event, ev.HandEnded)]
        if ended:
            same_table(twin.state, ended[-1])
    return twin


def same_table(state: GameState, ended: ev.HandEnded) -> None:
    """Scores, next dealer, honba and deposits after a hand."""
    assert state.scores == ended.scores or state.phase == "ended"
    assert state.phase == "ended" or state.deposits == ended.deposits
    assert (state.honba, state.dealer) == (ended.honba, ended.next_dealer)
    assert (state.round_wind, state.hand_number) == (ended.round_wind, ended.hand_number)


def _blinded(state: GameState, command: Command, events: list[Event]) -> Iterator[Command]:
    if isinstance(command, cmd.Deal):
        yield cmd.Deal()
    elif isinstance(command, cmd.Draw):
        yield cmd.Draw(command.seat, None, command.rinshan)
    elif isinstance(command, cmd.Win):
        for won in events:
            if isinstance(won, ev.Won) and won.seat == command.seat:
                yield cmd.Win(
                    won.seat,
                    won.from_seat,
                    tile=won.tile,
                    hand=won.hand,
                    ura=command.ura,
                    together=command.together,
                )
                return
        yield cmd.ResultDraw("sanchahou")
    elif isinstance(command, cmd.KyuushuKyuuhai):
        yield cmd.KyuushuKyuuhai(command.seat)
    elif isinstance(command, cmd.ResultDraw):
        drawn = next(event for event in events if isinstance(event, ev.HandDrawn))
        yield cmd.ResultDraw(command.kind, drawn.tenpai)
    elif isinstance(command, cmd.DeclareTenpai):
        shown = next(event for event in events if isinstance(event, ev.TenpaiDeclared))
        yield cmd.DeclareTenpai(command.seat, shown.hand)
    else:
        yield command


def at_basic_level(rules: Ruleset, game: RandomGame, rng: random.Random) -> Player:
    """The same game at a table that senses no tiles: riichi and results are typed in."""
    twin = Player(rules)
    state = EMPTY
    for command, events in game.log:
        before, state = state, apply_all(state, events)
        for one in _typed(before, state, command, events, rng, rules):
            twin.do(one)
        ended = [event for event in events if isinstance(event, ev.HandEnded)]
        if ended:
            same_table(twin.state, ended[-1])
    return twin


def _typed(
    before: GameState,
    after: GameState,
    command: Command,
    events: list[Event],
    rng: random.Random,
    rules: Ruleset,
) -> Iterator[Command]:
    if isinstance(command, cmd.StartGame):
        yield cmd.StartGame(
            command.game_id, command.ruleset, command.players, first_dealer=command.first_dealer,
            knowledge="basic",
        )  # fmt: skip
        return
    if isinstance(command, cmd.Deal):
        yield cmd.Deal()
        return
    if isinstance(
        command,
        cmd.PressStart | cmd.WallsReady | cmd.RollDice | cmd.Settle | cmd.AbortHand | cmd.CallTime,
    ):
        yield command
        return
    for event in events:
        if isinstance(event, ev.RiichiAccepted):
            yield cmd.DeclareRiichi(event.seat, after.seats[event.seat].double)
    if isinstance(command, cmd.Win):
        bumped = [event for event in events if isinstance(event, ev.WinBumped)]
        won = next((e for e in events if isinstance(e, ev.Won) and e.seat == command.seat), None)
        if won is None:
            yield cmd.ResultDraw("sanchahou")
        else:
            yield _typed_win(before, won, rng, rules, together=bool(bumped) or command.together)
    for event in events:
        if isinstance(event, ev.HandDrawn) and not isinstance(command, cmd.Win):
            yield cmd.ResultDraw(event.kind, event.tenpai, event.nagashi or None, event.seat)


def _typed_win(
    before: GameState, won: ev.Won, rng: random.Random, rules: Ruleset, *, together: bool
) -> cmd.Win:
    seat = before.seats[won.seat]
    composite = len(won.yakuman) > 1 and won.pao_seat is not None
    if won.yakuman and not composite and rng.random() < 0.5:
        count = len(won.yakuman) if rules.composite_yakuman else 1
        return cmd.Win(
            won.seat, won.from_seat, limit="yakuman", yakuman=count, pao_seat=won.pao_seat, together=together
        )  # fmt: skip
    if won.fu is not None and rng.random() < 0.5:
        return cmd.Win(won.seat, won.from_seat, han=won.han, fu=won.fu, together=together)
    if won.limit not in ("none", "yakuman") and rng.random() < 0.5:
        return cmd.Win(won.seat, won.from_seat, limit=won.limit, together=together)
    melds = sorted(seat.melds, key=lambda meld: meld.kind != "ankan")
    return cmd.Win(
        won.seat,
        won.from_seat,
        tile=won.tile,
        hand=won.hand,
        melds=tuple(meld.tiles for meld in melds),
        closed_kans=sum(1 for meld in melds if meld.kind == "ankan"),
        dora=won.dora,
        ura=won.ura if won.ura is not None else (),
        flags=tuple(sorted(_flags(before, won))),
        pao_seat=won.pao_seat,
        together=together,
    )


def _flags(before: GameState, won: ev.Won) -> set[str]:
    names = {one.name for one in (*won.yaku, *won.yakuman)}
    found = names & {
        "ippatsu",
        "rinshan",
        "chankan",
        "haitei",
        "houtei",
        "tenhou",
        "chiihou",
        "renhou",
    }
    seat = before.seats[won.seat]
    if won.yakuman:
        # Circumstances that a yakuman swallows are not printed, and not needed.
        found &= {"tenhou", "chiihou", "renhou"}
    if won.tile is not None and KIND[won.tile] >= 0 and seat.river:
        found -= {"tenhou", "chiihou", "renhou"}
    return found
