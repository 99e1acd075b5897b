"""Hands by script: deal what a test needs, let the rest of the table play junk, say what happens."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from tablectl.engine.game import commands as cmd
from tablectl.engine.game import events as ev
from tablectl.engine.game.commands import Command
from tablectl.engine.game.events import Event, Four
from tablectl.engine.game.legal import legal
from tablectl.engine.rules import Ruleset, load
from tablectl.engine.tiles import KIND, NAMES, ordered, parse, parse_one
from tests.game.table import PLAYERS, Player, full_set

SEATS = {"E": 0, "S": 1, "W": 2, "N": 3}
WIND = "ESWN"
SPECIAL = {"tenhou (kuitan off, aka off)": ("tenhou", {"kuitan": False, "aka": False})}


def rules_named(name: str, **options: object) -> Ruleset:
    """A ruleset by the name a case gives it."""
    ident, more = SPECIAL.get(name, (name, {}))
    return load(ident, {**more, **options})


def by_seat(amounts: dict[str, int]) -> Four:
    """Amounts of E, S, W, N as the engine has them when seat 0 is East."""
    return (amounts.get("E", 0), amounts.get("S", 0), amounts.get("W", 0), amounts.get("N", 0))


class Table(Player):
    """One hand with seat 0 as East unless told otherwise; tiles and seats are written as text."""

    def __init__(
        self,
        rules: Ruleset | str,
        *,
        wind: str = "E",
        number: int = 1,
        honba: int = 0,
        deposits: int = 0,
        scores: Four | None = None,
        knowledge: str = "tiles",
        first_dealer: int | None = None,
    ) -> None:
        super().__init__(rules_named(rules) if isinstance(rules, str) else rules)
        first = (1 - number) % 4 if first_dealer is None else first_dealer
        if scores is None:
            start = self.rules.start_points
            scores = (start - 1000 * deposits, start, start, start)
        self.do(
            cmd.AdoptGame(
                game_id="test",
                ruleset=self.rules.to_dict(),
                players=PLAYERS,
                scores=scores,
                first_dealer=first,
                round_wind=SEATS[wind],
                hand_number=number,
                honba=honba,
                deposits=deposits,
                knowledge=knowledge,  # type: ignore[arg-type]
            )
        )
        self.rest: Counter[int] = Counter()

    # ---- the start of a hand

    def seat(self, wind: str) -> int:
        return (self.state.dealer + SEATS[wind]) % 4

    def deal(self, dora: str = "9s", keep: str = "", **hands: str) -> Table:
        """Deals the hands named by wind; the others get what is left, odd pieces first. `keep` stays in the wall."""
        self.rest = Counter(full_set(self.rules))
        given = {wind: parse(text) for wind, text in hands.items()}
        self.take([parse_one(dora), *parse(keep), *(t for hand in given.values() for t in hand)])
        dealt: list[tuple[int, ...]] = [(), (), (), ()]
        for wind in WIND:
            hand = given.get(wind, ())
            hand += tuple(self.junk() for _ in range(13 - len(hand)))
            dealt[self.seat(wind)] = tuple(sorted(hand))
        self.do(cmd.PressStart())
        self.do(cmd.WallsReady())
        self.do(cmd.RollDice(3, 4))
        self.do(cmd.Deal((dealt[0], dealt[1], dealt[2], dealt[3])))
        self.do(cmd.RevealDora(parse_one(dora)))
        self.rest += Counter(parse(keep))
        self.kept = Counter(parse(keep))
        return self

    def take(self, tiles: Iterable[int]) -> None:
        for tile in tiles:
            found = tile
            if not self.rest[found] and found < 34:
                # A plain five may be the red one where the set has reds.
                found = next((t for t in (34, 35, 36) if KIND[t] == tile), tile)
            assert self.rest[found] > 0, f"no {NAMES[tile]} left"
            self.rest[found] -= 1

    def junk(self, avoid: Iterable[int] = ()) -> int:
        """A tile nobody misses: one far from the others that were given out."""
        kept = getattr(self, "kept", Counter())
        avoided = set(avoid)
        order = [*range(27, 34), 0, 8, 9, 17, 18, 26, *range(27)]
        for tile in sorted(order, key=lambda t: -self.rest[t]):
            if self.rest[tile] - kept[tile] > 0 and tile not in avoided:
                self.rest[tile] -= 1
                return tile
        raise AssertionError("no tiles left")

    # ---- play

    def draw(self, wind: str, tile: str | None = None, *, rinshan: bool = False) -> Table:
        if tile is None:
            code = self.junk(self.blocked())
        else:
            code = parse_one(tile)
            self.take([code])
            if self.kept[code]:
                self.kept[code] -= 1
        self.do(cmd.Draw(self.seat(wind), code, rinshan))
        return self

    def blocked(self) -> set[int]:
        """Kinds junk draws must not bring: they would complete a hand that waits."""
        return getattr(self, "_blocked", set())

    def avoid(self, kinds: str) -> Table:
        self._blocked = set(parse(kinds))
        return self

    def discard(self, wind: str, tile: str | None = None) -> list[Event]:
        seat = self.state.seats[self.seat(wind)]
        code = seat.drawn if tile is None else parse_one(tile)
        assert code is not None
        if code not in seat.hand:
            code = next(t for t in seat.hand if KIND[t] == KIND[code])
        tsumogiri = None if seat.drawn is None else code == seat.drawn and tile is None
        return self.do(cmd.Discard(self.seat(wind), code, tsumogiri))

    def turn(self, wind: str, draws: str | None = None, discards: str | None = None) -> Table:
        """Draws and discards; junk and the drawn tile where nothing is said."""
        self.draw(wind, draws)
        self.discard(wind, discards)
        return self

    def until(self, wind: str) -> Table:
        """Everybody before `wind` draws junk and throws it away."""
        while self.state.turn != self.seat(wind) or self.state.step != "draw":
            self.turn(WIND[self.state.wind(self.state.turn)])
        return self

    def discards(self, wind: str, tile: str) -> Table:
        """`wind` gets the turn, draws junk and discards `tile` from the hand."""
        self.until(wind)
        self.draw(wind)
        self.discard(wind, tile)
        return self

    def riichi(self, wind: str, discards: str | None = None, draws: str | None = None) -> Table:
        self.until(wind)
        self.draw(wind, draws)
        self.do(cmd.DeclareRiichi(self.seat(wind)))
        self.discard(wind, discards)
        return self

    def call(self, kind: str, wind: str, tiles: str) -> list[Event]:
        """chi, pon or daiminkan of the last discard with the hand tiles named."""
        assert self.state.discard is not None
        tile = self.state.discard[1]
        assert tile is not None
        hand = self.held(wind, tiles)
        maker: dict[str, type[Command]] = {
            "chi": cmd.Chi,
            "pon": cmd.Pon,
            "daiminkan": cmd.Daiminkan,
        }
        return self.do(maker[kind](self.seat(wind), tile, hand))  # type: ignore[call-arg]

    def held(self, wind: str, tiles: str) -> tuple[int, ...]:
        """The tiles of a hand that are meant: a red five where the plain one is not there."""
        left = list(self.state.seats[self.seat(wind)].hand)
        out = []
        for tile in parse(tiles):
            found = tile if tile in left else next(t for t in left if KIND[t] == KIND[tile])
            left.remove(found)
            out.append(found)
        return tuple(ordered(out))

    def ankan(self, wind: str, tile: str) -> list[Event]:
        return self.do(cmd.Ankan(self.seat(wind), self.held(wind, tile * 4)))

    def kakan(self, wind: str, tile: str) -> list[Event]:
        return self.do(cmd.Kakan(self.seat(wind), self.held(wind, tile)[0]))

    def flip(self, tile: str | None = None) -> Table:
        code = self.junk() if tile is None else parse_one(tile)
        if tile is not None:
            self.take([code])
        self.do(cmd.RevealDora(code))
        return self

    def replacement(self, wind: str, tile: str | None = None) -> Table:
        return self.draw(wind, tile, rinshan=True)

    def run_out(self) -> Table:
        """Plays junk until no live tile is left and the last discard lies in the river."""
        while self.state.live or self.state.step != "draw":
            self.turn(WIND[self.state.wind(self.state.turn)])
        return self

    # ---- looking

    def may(self, wind: str, kind: type[Command]) -> bool:
        return any(isinstance(one, kind) for one in legal(self.state, self.seat(wind)))

    def may_ron(self, wind: str) -> bool:
        return self.may(wind, cmd.Win)

    def win(self, wind: str, source: str | None = None, ura: str = "", **more: object) -> ev.Won:
        events = self.do(
            cmd.Win(
                self.seat(wind),
                self.seat(source or wind),
                ura=parse(ura) if ura else None if more.pop("no_ura", False) else (),
                **more,  # type: ignore[arg-type]
            )
        )
        return next(e for e in events if isinstance(e, ev.Won) and e.seat == self.seat(wind))

    def settle(self) -> ev.HandEnded:
        events = self.do(cmd.Settle())
        return next(e for e in events if isinstance(e, ev.HandEnded))

    def ended(self) -> ev.GameEnded | None:
        return next((e for e in self.events() if isinstance(e, ev.GameEnded)), None)
