"""Live reckoning for displays: what each seat wins now, how the game would end now, what the last hand needs.

Secret where hands are known (`wins_now`); `ending_now` and `conditions` rest on public numbers only.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tablectl.engine.game.ending import Standing, standing
from tablectl.engine.game.events import Four
from tablectl.engine.game.hands import furiten, scoring_melds, waits
from tablectl.engine.game.state import GameState
from tablectl.engine.game.wins import by_seat
from tablectl.engine.rules.model import Ruleset
from tablectl.engine.scoring import Win, WinSituation, score
from tablectl.engine.scoring.points import MANGAN, YAKUMAN, Price, base_of, price
from tablectl.engine.scoring.settle import honba_rates
from tablectl.engine.tiles import KIND, NAMES, kinds_in

# ---- what a seat wins now -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class WaitWorth:
    """One wait of a seat: how many copies nobody has seen, and what a win on it brings."""

    tile: int
    left: int
    """Copies not in the own hand, nor face up."""
    ron: int | None
    """Points of a ron, None without a yaku or in furiten."""
    tsumo: int | None

    def to_json(self) -> dict[str, Any]:
        """JSON object, tile as text."""
        return {"tile": NAMES[self.tile], "left": self.left, "ron": self.ron, "tsumo": self.tsumo}


def wins_now(state: GameState, number: int) -> tuple[WaitWorth, ...]:
    """The waits of a seat that is tenpai with a known hand, each with its worth; secret."""
    seat = state.seats[number]
    mask = waits(seat)
    if not mask or state.phase != "play":
        return ()
    blocked = furiten(seat) or seat.stopped
    return tuple(
        WaitWorth(
            kind,
            max(0, 4 - seen_copies(state, number, kind)),
            None if blocked else _worth(state, number, kind, tsumo=False),
            None if seat.stopped else _worth(state, number, kind, tsumo=True),
        )
        for kind in kinds_in(mask)
    )


def seen_copies(state: GameState, number: int, kind: int) -> int:
    """Copies of a kind that seat `number` can see: own hand, melds, rivers, indicators."""
    count = sum(1 for tile in state.seats[number].hand if KIND[tile] == kind)
    for seat in state.seats:
        count += sum(1 for meld in seat.melds for tile in meld.tiles if KIND[tile] == kind)
        count += sum(
            1
            for t in seat.river
            if t.tile is not None and t.called_by is None and KIND[t.tile] == kind
        )
    return count + sum(1 for tile in state.dora if tile is not None and KIND[tile] == kind)


def _worth(state: GameState, number: int, kind: int, *, tsumo: bool) -> int | None:
    seat = state.seats[number]
    if sum(1 for tile in seat.hand if KIND[tile] == kind) > 3:
        return None
    wind = state.wind(number)
    riichi = 0 if seat.riichi == 0 else 2 if seat.double else 1
    result = score(
        WinSituation(
            seat.hand,
            kind,
            seat_wind=wind,
            round_wind=state.round_wind % 4,
            source=None if tsumo else (wind + 1) % 4,
            melds=scoring_melds(seat.melds),
            riichi=riichi,
            flags=("ippatsu",) if seat.ippatsu else (),
            dora_indicators=tuple(tile for tile in state.dora if tile is not None),
        ),
        state.rules,
    )
    return result.points if isinstance(result, Win) else None


# ---- if the game ended now ------------------------------------------------------------------------------


def ending_now(state: GameState) -> Standing | None:
    """Scores, ranks and points if the game ended at this moment; None without a game."""
    if state.game is None:
        return None
    return standing(state.rules, state.scores, state.deposits, state.first_dealer, state.placement)


def is_last_hand(state: GameState) -> bool:
    """Whether the game would be over if this hand ended with the deal passing."""
    if state.game is None:
        return False
    last_wind = 0 if state.rules.length == "tonpuusen" else 1
    at_end = state.round_wind > last_wind or (
        state.round_wind == last_wind and state.hand_number == 4
    )
    return at_end or state.hands_to_play == 1


# ---- conditions in the last hand ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Condition:
    """The smallest win with which a seat reaches a rank."""

    seat: int
    rank: int
    """The rank reached (1–4)."""
    source: int | None
    """Whose discard; None: tsumo."""
    points: int
    """The hand's value from all payers, without honba and deposits."""
    han: int | None
    fu: int | None
    """Fewest han with the least fu of that value; None for a limit."""
    limit: str

    def to_json(self) -> dict[str, Any]:
        """JSON object."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class _Value:
    han: int | None
    fu: int | None
    limit: str
    price: Price


def conditions(state: GameState) -> tuple[Condition, ...]:
    """For each seat: the smallest ron from each other seat, and tsumo, that changes its rank for the better.

    Under the ruleset's own ties, deposits and honba; the game is taken to end with that win. Ranks that a
    yakuman does not reach are left out.
    """
    if state.game is None or state.phase == "ended":
        return ()
    now = ending_now(state)
    assert now is not None
    out: list[Condition] = []
    for seat in range(4):
        for source in (*(other for other in range(4) if other != seat), None):
            out += _reachable(state, now, seat, source)
    return tuple(out)


def _reachable(
    state: GameState, now: Standing, seat: int, source: int | None
) -> Iterator[Condition]:
    best = now.ranks[seat]
    for value in _values(state.rules, dealer=seat == state.dealer, tsumo=source is None):
        scores = _after(state, seat, source, value.price)
        rank = standing(state.rules, scores, 0, state.first_dealer).ranks[seat]
        if rank < best:
            best = rank
            yield Condition(
                seat, rank, source, value.price.points, value.han, value.fu, value.limit
            )
        if best == 1:
            return


def _after(state: GameState, seat: int, source: int | None, cost: Price) -> Four:
    rates = honba_rates(state.rules)
    dealer = state.dealer
    moved = [0, 0, 0, 0]
    if source is not None:
        paid = cost.points + state.honba * rates.ron
        moved[source] -= paid
        moved[seat] += paid
    else:
        for payer in range(4):
            if payer != seat:
                part = cost.dealer if payer == dealer else cost.child
                moved[payer] -= part + state.honba * rates.tsumo
                moved[seat] += part + state.honba * rates.tsumo
    moved[seat] += 1000 * state.deposits
    return by_seat([state.scores[s] + moved[s] for s in range(4)], 0)


def _values(rules: Ruleset, *, dealer: bool, tsumo: bool) -> list[_Value]:
    """Every value a win can have, cheapest first, each with its fewest han."""
    found: dict[int, _Value] = {}
    fus = (20, 25, *range(30, 120, 10)) if tsumo else (25, *range(30, 120, 10))
    for han in range(1, 5):
        for fu in fus:
            if (fu == 20 and han < 2) or (fu == 25 and han < (3 if tsumo else 2)):
                continue
            base, limit = base_of(han, fu, rules)
            if limit is None:
                _keep(
                    found,
                    _Value(han, fu, "none", price(base, fu, None, dealer=dealer, tsumo=tsumo)),
                )
    ladder = (
        ("mangan", MANGAN), ("haneman", MANGAN * 3 // 2), ("baiman", MANGAN * 2), ("sanbaiman", MANGAN * 3),
        ("yakuman", YAKUMAN),
    )  # fmt: skip
    for limit_name, base in ladder:
        _keep(
            found,
            _Value(None, None, limit_name, price(base, None, None, dealer=dealer, tsumo=tsumo)),
        )
    return [found[points] for points in sorted(found)]


def _keep(found: dict[int, _Value], value: _Value) -> None:
    known = found.get(value.price.points)
    if known is None or (value.han or 99, value.fu or 0) < (known.han or 99, known.fu or 0):
        found[value.price.points] = value
