"""A ruleset worked out into tables: what circumstances, shapes and honours are worth, and all prices.

Scoring reads nothing but these tables; each is indexed by a small integer that adding and or-ing the suits
gives (`suits`). Made once a ruleset, filled lazily where most entries never occur.
"""

from __future__ import annotations

from functools import cache
from typing import Final, NamedTuple

from tablectl.engine.rules.model import Ruleset
from tablectl.engine.scoring import yaku as y
from tablectl.engine.scoring.circumstances import (
    BY_DEALER,
    BY_TSUMO,
    DOUBLE_DECLARED,
    ON_CHANKAN,
    ON_FIRST_TURN,
    ON_HAITEI,
    ON_HOUTEI,
    ON_IPPATSU,
    ON_RINSHAN,
    OPEN_HAND,
    RIICHI_DECLARED,
    UNCLEAR,
)
from tablectl.engine.scoring.points import MANGAN, YAKUMAN, Limit, Price, base_of, price
from tablectl.engine.scoring.suits import (
    ANKO,
    PAIR_BIT,
    PAIRS,
    RUN,
    SHAPE_BITS,
    SIMPLE,
    TRIPLET_BIT,
    TWINS,
    TWO_FU,
)

MAX_HAN: Final = 120
"""More than any hand can have: four kans of dora under five indicators stay below."""
_LEVELS: Final = 27
"""From so many han on the price cannot change any more (the largest counted yakuman is 26)."""
_MAX_TWO_FU: Final = 83
"""20 + 10 + four kans of honours 128 + pair 4 + wait 2 = 164 fu, in twos."""

Listed = tuple[tuple[tuple[str, int], ...], int]
"""Yaku with their han, and the han together; minus the number of yakuman where there are any."""


class Luck(NamedTuple):
    """What the circumstances of a win decide before any tile is looked at."""

    yaku: int
    sums: int
    """20 fu, 10 for a concealed ron, 2 for tsumo (A49.1)."""
    pinfu: int | None
    """What pinfu adds to the sums; None where it cannot be (open hand, unclear tsumo)."""
    wait: int
    """What a kanchan, penchan or tanki adds."""
    ron: bool
    ura: bool
    prices: list[list[Price]]
    """By han, then by twos of fu."""
    shapes: tuple[list[int], list[int]]
    """Yaku of the shape, by the low bits of the sums: without honours, with honours."""
    names: dict[int, Listed]
    pairs_prices: list[Price]
    """Of seven pairs, by han."""


class Honours(NamedTuple):
    """What triplets and pair of honours are worth at one seat in one round."""

    yaku: int
    sums: int
    """Fu of the pair."""


class Compiled:
    """The tables of one ruleset."""

    __slots__ = ("_names", "_pairs", "_rows", "_shapes", "honours", "lucks", "rules")

    def __init__(self, rules: Ruleset) -> None:
        self.rules = rules
        self.honours: tuple[dict[int, Honours], ...] = tuple({} for _ in range(16))
        """By 4 × seat wind + round wind, then by the masks of triplets and pair."""
        self.lucks: dict[int, Luck] = {}
        self._names: tuple[dict[int, Listed], dict[int, Listed]] = ({}, {})
        self._rows: dict[tuple[bool, bool, bool], list[list[Price]]] = {}
        self._pairs: dict[tuple[bool, bool], list[Price]] = {}
        self._shapes = tuple(
            (_shapes(is_open=is_open, honours=False), _shapes(is_open=is_open, honours=True))
            for is_open in (False, True)
        )

    # --- circumstances --------------------------------------------------------------------------------

    def luck(self, bits: int) -> Luck:
        """What circumstances are worth (A48, A49.1, J-VIII.2)."""
        found = self.lucks.get(bits)
        if found is None:
            found = self.lucks[bits] = self._luck(bits)
        return found

    def _luck(self, bits: int) -> Luck:
        rules = self.rules
        tsumo, is_open = bool(bits & BY_TSUMO), bool(bits & OPEN_HAND)
        unclear = bool(bits & UNCLEAR) and rules.unclear_tsumo != "counts"
        no_tsumo_fu = (unclear and rules.unclear_tsumo == "no_wait_no_tsumo_fu") or (
            bits & ON_RINSHAN and rules.rinshan_tsumo_fu == 0
        )
        fu = 20
        if tsumo:
            fu += 0 if no_tsumo_fu else 2
        elif not is_open:
            fu += 10
        pinfu: int | None = None
        if not is_open and not unclear:
            pinfu = -TWO_FU if tsumo else 0
        return Luck(
            self._circumstantial(bits),
            fu // 2 * TWO_FU - PAIRS,
            pinfu,
            0 if unclear else TWO_FU,
            not tsumo,
            bool(bits & (RIICHI_DECLARED | DOUBLE_DECLARED)) and rules.ura_dora,
            self._prices(dealer=bool(bits & BY_DEALER), tsumo=tsumo, is_open=is_open),
            self._shapes[is_open],
            self._names[is_open],
            self._pairs_prices(dealer=bool(bits & BY_DEALER), tsumo=tsumo),
        )

    def _circumstantial(self, bits: int) -> int:
        yaku = 0
        for bit, one in (
            (RIICHI_DECLARED, y.RIICHI),
            (DOUBLE_DECLARED, y.DOUBLE_RIICHI),
            (ON_RINSHAN, y.RINSHAN),
            (ON_CHANKAN, y.CHANKAN),
            (ON_HAITEI, y.HAITEI),
            (ON_HOUTEI, y.HOUTEI),
        ):
            if bits & bit:
                yaku |= one
        if bits & ON_IPPATSU and self.rules.ippatsu:
            yaku |= y.IPPATSU
        if bits & BY_TSUMO and not bits & OPEN_HAND:
            yaku |= y.MENZEN_TSUMO
        if bits & ON_FIRST_TURN:
            if bits & BY_TSUMO:
                yaku |= y.TENHOU if bits & BY_DEALER else y.CHIIHOU
            elif self.rules.renhou == "yakuman" and may_be_renhou(bits):
                yaku |= y.RENHOU
        return yaku

    # --- honours --------------------------------------------------------------------------------------

    def honours_at(self, winds: int, masks: int) -> Honours:
        """Yaku and fu of triplets and pair of honours at a seat in a round (A48, A49.1.5)."""
        table = self.honours[winds]
        found = table.get(masks)
        if found is None:
            found = table[masks] = self._honours(winds, masks)
        return found

    def _honours(self, winds: int, masks: int) -> Honours:
        seat, round_ = divmod(winds, 4)
        triplets = masks >> TRIPLET_BIT & 0x7F
        pair = masks >> PAIR_BIT & 0x7F
        yaku = fu = 0
        for place, one in enumerate(y.DRAGONS):
            if triplets & 0x10 << place:
                yaku |= one
        if triplets & 1 << round_:
            yaku |= y.ROUND_WIND
        if triplets & 1 << seat and not (seat == round_ and self.rules.double_wind_han == 1):
            yaku |= y.SEAT_WIND
        dragons, winds_ = (triplets & 0x70).bit_count(), (triplets & 0xF).bit_count()
        if dragons == 3:
            yaku |= y.DAISANGEN
        elif dragons == 2 and pair & 0x70:
            yaku |= y.SHOUSANGEN
        if winds_ == 4:
            yaku |= y.DAISUUSHII
        elif winds_ == 3 and pair & 0xF:
            yaku |= y.SHOUSUUSHII
        if pair & 0x70 or pair & (1 << seat | 1 << round_):
            double = seat == round_ and pair & 0xF
            fu = self.rules.double_wind_pair_fu if double else 2
        return Honours(yaku, fu // 2 * TWO_FU)

    # --- names and han --------------------------------------------------------------------------------

    def name(self, yaku: int, names: dict[int, Listed]) -> Listed:
        """The yaku of a bit mask with their han; kept in `names`, one of the two this object gave out."""
        found = names[yaku] = self._name(yaku, is_open=names is self._names[True])
        return found

    def _name(self, yaku: int, *, is_open: bool) -> Listed:
        if yaku > y.ORDINARY_BITS:
            return self._name_yakuman(yaku)
        rules = self.rules
        listed: list[tuple[str, int]] = []
        for one in y.ORDINARY:
            if not yaku & y.BIT[one.id]:
                continue
            han = one.open if is_open else one.closed
            if one.id == "tanyao" and is_open and not rules.kuitan:
                han = 0
            if yaku & y.SHOUSANGEN and rules.shousangen_includes_dragons:
                # M51(24): four han, its two dragon sets among them.
                han = 4 if one.id == "shousangen" else 0 if y.BIT[one.id] in y.DRAGONS else han
            if han:
                listed.append((one.id, han))
        return tuple(listed), sum(han for _, han in listed)

    def _name_yakuman(self, yaku: int) -> Listed:
        doubled = self.rules.double_yakuman
        for plain, special in (
            (y.SUUANKOU, "suuankou_tanki"),
            (y.CHUUREN, "junsei_chuuren"),
            (y.KOKUSHI, "kokushi_13"),
        ):
            # The rarer wait has a name of its own only where it counts twice (Y8).
            if yaku & y.BIT[special]:
                yaku ^= plain if special in doubled else y.BIT[special]
        listed = tuple(
            (one.id, 26 if one.id in doubled else 13) for one in y.YAKUMAN if yaku & y.BIT[one.id]
        )
        counts = [han // 13 for _, han in listed]
        return listed, -(sum(counts) if self.rules.composite_yakuman else max(counts))

    # --- prices ---------------------------------------------------------------------------------------

    def _prices(self, *, dealer: bool, tsumo: bool, is_open: bool) -> list[list[Price]]:
        """By han, then by twos of raw fu."""
        found = self._rows.get((dealer, tsumo, is_open))
        if found is None:
            open_ron = is_open and not tsumo
            rows = [
                self._row(han, dealer=dealer, tsumo=tsumo, open_ron=open_ron)
                for han in range(_LEVELS + 1)
            ]
            found = rows + [rows[-1]] * (MAX_HAN - _LEVELS)
            self._rows[dealer, tsumo, is_open] = found
        return found

    def _row(self, han: int, *, dealer: bool, tsumo: bool, open_ron: bool) -> list[Price]:
        by_fu = {
            fu: price(*self._base(han, fu), dealer=dealer, tsumo=tsumo) for fu in range(20, 180, 10)
        }
        row = []
        for twos in range(_MAX_TWO_FU):
            fu = -(-max(2 * twos, 20) // 10) * 10
            if twos == 10 and open_ron:
                # An open hand without any fu (A49.2.3, M56(6)).
                fu = self.rules.open_pinfu_fu
            row.append(by_fu[fu])
        return row

    def _base(self, han: int, fu: int) -> tuple[int, int, Limit | None]:
        base, limit = base_of(han, fu, self.rules)
        return base, fu, limit

    def _pairs_prices(self, *, dealer: bool, tsumo: bool) -> list[Price]:
        """25 fu, nothing added (A49.2.2), by han."""
        found = self._pairs.get((dealer, tsumo))
        if found is None:
            by_han = [
                price(*self._base(han, 25), dealer=dealer, tsumo=tsumo)
                for han in range(_LEVELS + 1)
            ]
            found = by_han + [by_han[-1]] * (MAX_HAN - _LEVELS)
            self._pairs[dealer, tsumo] = found
        return found

    def yakuman_price(self, count: int, bits: int) -> Price:
        """`count` yakuman together."""
        dealer, tsumo = bool(bits & BY_DEALER), bool(bits & BY_TSUMO)
        return price(count * YAKUMAN, None, "yakuman", dealer=dealer, tsumo=tsumo)

    def renhou_price(self) -> Price:
        """Renhou as a mangan; the winner is never the dealer."""
        return price(MANGAN, None, "mangan", dealer=False, tsumo=False)


def may_be_renhou(bits: int) -> bool:
    """A child's ron in the first turn before the own first draw, so before riichi."""
    return bool(bits & ON_FIRST_TURN) and not bits & (
        BY_TSUMO | BY_DEALER | RIICHI_DECLARED | DOUBLE_DECLARED
    )


@cache
def _shapes(*, is_open: bool, honours: bool) -> list[int]:
    """Yaku that counting sets decides, by the low bits of the sums (A48, M51)."""
    found = []
    for sums in range(1 << SHAPE_BITS):
        twins, ankos = sums // TWINS & 3, sums // ANKO & 7
        runs, simple = sums // RUN & 7, sums // SIMPLE & 7
        yaku = 0
        if twins and not is_open:
            yaku |= y.IIPEIKOU if twins == 1 else y.RYANPEIKOU
        if ankos == 3:
            yaku |= y.SANANKOU
        elif ankos == 4:
            yaku |= y.SUUANKOU
        if not runs:
            yaku |= y.TOITOI
        if simple == 5:
            yaku |= y.TANYAO
        elif not simple and runs:
            yaku |= y.CHANTA if honours else y.JUNCHAN
        elif not simple:
            yaku |= y.HONROUTOU if honours else y.CHINROUTOU
        found.append(yaku)
    return found
