"""`WinSituation`: the facts of one win, checked and laid out for scoring.

Everything that no ruleset can change is checked here, once: an instance exists only for a win that can have
happened. What depends on the rules (red fives, how many indicators count) is checked when it is scored.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from tablectl.engine.errors import EngineError, HandError, MeldError, SituationError
from tablectl.engine.scoring.circumstances import (
    BY_DEALER,
    BY_TSUMO,
    DOUBLE_DECLARED,
    OPEN_HAND,
    RIICHI_DECLARED,
    SPECIAL,
    UNCLEAR,
    bits_of,
    check_circumstances,
)
from tablectl.engine.scoring.melds import Meld
from tablectl.engine.scoring.suits import ONE, Key
from tablectl.engine.scoring.yaku import SANKANTSU, SUUKANTSU
from tablectl.engine.tiles import DORA, KIND, KINDS, NAMES, TILES, WINDS, counts_of, text_of

MAX_INDICATORS: Final = 5
MAX_COUNT: Final = 1000
"""Honba or deposits beyond this are a slip of the keyboard."""
PAO_YAKUMAN: Final = ("daisangen", "daisuushii", "suukantsu")

_SUITS_FROM: Final = ((0, 1, 2), (1, 0, 2), (2, 0, 1))
"""The three suits of numbers with a given one first."""


class Layout(NamedTuple):
    """The facts as the scorer reads them, in one piece: suit keys with the winning suit first, melds summed up.

    Numbers and fields are those of `suits`. A hand won on an honour has any suit of its tiles first.
    """

    circumstances: int
    first: int
    second: int
    third: int
    honours: int
    win_kind: int
    numbers: int
    """Tiles of the first suit, melds included; 0 = none."""
    others: int
    """Tiles of the second and third suit, melds included; 0 = no more than one suit of numbers."""
    meld_sums: int
    meld_masks: Key | None
    """None without melds."""
    kan_yaku: int
    """Sankantsu or suukantsu."""
    winds: int
    """4 × seat wind + round wind."""
    counts: tuple[int, ...]
    """Copies of each kind, melds included."""
    dora: tuple[int, ...]
    """Kinds that the indicators point at."""
    ura: tuple[int, ...]
    reds: int
    doubtful: bool
    has_red: bool
    seat_wind: int
    source: int | None
    honba: int
    deposits: int


class WinSituation:
    """One win, as it happened. Read-only; winds are 0–3 (E S W N), tiles are `tiles` codes.

    `concealed` are the tiles in hand without `win_tile`; `source` is the discarder's seat wind, None on
    tsumo; `flags` are names of `FLAGS`; `deposits` are the sticks on the table, the winner's own included;
    `pao` names the liable seat wind of a yakuman. Raises `HandError`, `MeldError`, `SituationError`.
    """

    __slots__ = (
        "circumstances", "concealed", "counts", "deposits", "dora", "doubtful", "has_red",
        "honba", "key",
        "layout", "melds", "pao", "reds", "riichi", "round_wind", "seat_wind", "source", "suit_order",
        "ura", "win_kind", "win_tile",
    )  # fmt: skip

    def __init__(
        self,
        concealed: Sequence[int],
        win_tile: int,
        *,
        seat_wind: int,
        round_wind: int,
        source: int | None = None,
        melds: Sequence[Meld] = (),
        riichi: int = 0,
        flags: Iterable[str] = (),
        dora_indicators: Sequence[int] = (),
        ura_indicators: Sequence[int] = (),
        honba: int = 0,
        deposits: int = 0,
        pao: Mapping[str, int] | None = None,
    ) -> None:
        self.concealed = tuple(concealed)
        self.win_tile = win_tile
        self.melds = tuple(melds)
        self.seat_wind = seat_wind
        self.round_wind = round_wind
        self.source = source
        self.riichi = riichi
        self.dora = tuple(dora_indicators)
        self.ura = tuple(ura_indicators)
        self.honba = honba
        self.deposits = deposits
        self.pao: Mapping[str, int] = pao or {}
        self._count()
        self._note(flags)
        self._lay_out()

    @property
    def is_tsumo(self) -> bool:
        """Whether the winner drew the tile."""
        return self.source is None

    @property
    def is_dealer(self) -> bool:
        """Whether the winner deals."""
        return self.seat_wind == 0

    @property
    def is_open(self) -> bool:
        """Whether a call opened the hand."""
        return bool(self.circumstances & OPEN_HAND)

    def __repr__(self) -> str:
        melds = "".join(f" {meld}" for meld in self.melds)
        how = "tsumo" if self.source is None else f"ron from {WINDS[self.source]}"
        return f"<WinSituation {text_of(self.concealed)}{melds} + {NAMES[self.win_tile]} {how}>"

    # --- checks and layout ----------------------------------------------------------------------------

    def _count(self) -> None:
        """Copies of each kind, keys of the suits, red fives; no kind five times."""
        melds = self.melds
        if len(self.concealed) != 13 - 3 * len(melds):
            raise self._wrong_count()
        tiles = [*self.concealed, self.win_tile]
        if not 0 <= min(tiles) <= max(tiles) < TILES:
            wrong = next(tile for tile in tiles if not 0 <= tile < TILES)
            raise HandError("bad_tile", f"{wrong} is no tile", field="concealed", value=wrong)
        self.win_kind = KIND[self.win_tile]
        keys = [0, 0, 0, 0]
        for tile in tiles:
            kind = KIND[tile]
            keys[kind // 9] += ONE[kind % 9]
        for meld in melds:
            tiles += meld.tiles
        counts = counts_of(tiles)
        if max(counts) > 4:
            raise five_of_a_kind(counts, "hand, melds and winning tile")
        self.counts = tuple(counts)
        self.key = (keys[0], keys[1], keys[2], keys[3])
        shown = (*self.dora, *self.ura)
        reds = [tile for tile in tiles if tile > 33]
        self.reds = len(reds)
        reds += [tile for tile in shown if tile > 33]
        self.has_red = bool(reds)
        self.doubtful = len(set(reds)) < len(reds)
        if shown:
            for indicator in shown:
                counts[KIND[indicator]] += 1
            self.doubtful |= max(counts) > 4

    def _wrong_count(self) -> EngineError:
        melds = len(self.melds)
        if melds > 4:
            return MeldError("too_many_melds", f"{melds} melds", field="melds", value=melds)
        return HandError(
            "wrong_tile_count",
            f"{len(self.concealed)} concealed tiles with {melds} melds, {13 - 3 * melds} are needed",
            field="concealed",
            value=text_of(self.concealed),
            hint="the winning tile is not one of them, a kan counts as three",
        )

    def _note(self, flags: Iterable[str]) -> None:
        """The circumstances as bits; none of them may contradict another fact."""
        bits = bits_of(flags)
        if self.source is None:
            bits |= BY_TSUMO
        for meld in self.melds:
            if meld.type != "ankan":
                bits |= OPEN_HAND
        if self.riichi:
            bits |= RIICHI_DECLARED if self.riichi == 1 else DOUBLE_DECLARED
        if self.seat_wind == 0:
            bits |= BY_DEALER
        self.circumstances = bits
        self.doubtful |= bits & UNCLEAR > 0
        _check_facts(self)
        if bits & SPECIAL:
            check_circumstances(bits, self.melds, self.counts[self.win_kind])

    def _lay_out(self) -> None:
        """The suits with the winning one first, and what the melds add."""
        key = self.key
        win_suit = self.win_kind // 9
        meld_sums = kan_yaku = 0
        masks: Key | None = None
        tiles = key
        if self.melds:
            meld_sums, kan_yaku, meld_masks, held = _sum_up(self.melds, key)
            tiles = (held[0], held[1], held[2], held[3])
        if win_suit == 3:
            win_suit = 0 if tiles[0] else 1 if tiles[1] else 2
        self.suit_order = _SUITS_FROM[win_suit]
        first, second, third = self.suit_order
        if self.melds:
            masks = (meld_masks[first], meld_masks[second], meld_masks[third], meld_masks[3])
        self.layout = Layout(
            self.circumstances,
            key[first],
            key[second],
            key[third],
            key[3],
            self.win_kind,
            tiles[first],
            tiles[second] | tiles[third],
            meld_sums,
            masks,
            kan_yaku,
            4 * self.seat_wind + self.round_wind,
            self.counts,
            tuple([DORA[indicator] for indicator in self.dora]),
            tuple([DORA[indicator] for indicator in self.ura]),
            self.reds,
            self.doubtful,
            self.has_red,
            self.seat_wind,
            self.source,
            self.honba,
            self.deposits,
        )


def _sum_up(melds: Sequence[Meld], key: Key) -> tuple[int, int, list[int], list[int]]:
    """Sums, sankantsu or suukantsu, masks by suit, and the suit keys with the melds' kinds or-ed in."""
    sums = kans = 0
    masks = [0, 0, 0, 0]
    held = list(key)
    for meld in melds:
        suit, mask, worth, tiles = meld.worth
        masks[suit] |= mask
        held[suit] |= tiles
        sums += worth
        kans += len(meld.tiles) == 4
    return sums, (0, 0, 0, SANKANTSU, SUUKANTSU)[kans], masks, held


def five_of_a_kind(counts: Sequence[int], where: str) -> HandError:
    """The error for a kind that is there more than four times."""
    kind = max(range(KINDS), key=counts.__getitem__)
    return HandError(
        "five_of_a_kind",
        f"{NAMES[kind]} is there {counts[kind]} times ({where})",
        field="concealed",
        value=NAMES[kind],
        hint="four copies of each tile exist",
    )


def _check_facts(situation: WinSituation) -> None:
    """Numbers and winds within their bounds; raises `SituationError`."""
    seat, source = situation.seat_wind, situation.source
    for name in ("seat_wind", "round_wind"):
        wind = getattr(situation, name)
        if wind not in (0, 1, 2, 3):
            raise SituationError("bad_wind", f"{wind!r} is no wind 0-3", field=name, value=wind)
    if source is not None and source not in (0, 1, 2, 3):
        raise SituationError("bad_wind", f"{source!r} is no wind 0-3", field="from", value=source)
    if source == seat:
        raise SituationError(
            "from_winner",
            "nobody wins from his own discard",
            field="from",
            value=WINDS[seat],
            hint="a tsumo has no discarder: from is null",
        )
    if situation.riichi not in (0, 1, 2):
        raise SituationError(
            "bad_riichi",
            f"riichi is 0, 1 or 2 (double), not {situation.riichi!r}",
            field="riichi",
            value=situation.riichi,
        )
    if situation.riichi and situation.circumstances & OPEN_HAND:
        raise SituationError(
            "riichi_open_hand",
            "riichi with an open hand",
            field="riichi",
            value=situation.riichi,
            hint="only an ankan leaves the hand concealed (A39.3, M50, J-II.1)",
        )
    for name in ("honba", "deposits"):
        value = getattr(situation, name)
        if not 0 <= value <= MAX_COUNT:
            raise SituationError(
                "out_of_range", f"{name} is 0 to {MAX_COUNT}, not {value}", field=name, value=value
            )
    for name in ("dora", "ura"):
        if len(getattr(situation, name)) > MAX_INDICATORS:
            raise SituationError(
                "too_many_indicators",
                f"more than {MAX_INDICATORS} indicators",
                field=f"{name}_indicators",
                value=text_of(getattr(situation, name)),
            )
    if situation.pao:
        _check_pao(situation)


def _check_pao(situation: WinSituation) -> None:
    for yakuman, wind in situation.pao.items():
        if yakuman not in PAO_YAKUMAN:
            raise SituationError(
                "unknown_pao",
                f"no ruleset has liability for {yakuman!r}",
                field="pao",
                value=yakuman,
                hint=", ".join(PAO_YAKUMAN),
            )
        if wind not in (0, 1, 2, 3) or wind == situation.seat_wind:
            raise SituationError(
                "bad_pao",
                "the liable player is one of the other three",
                field=f"pao.{yakuman}",
                value=wind,
            )
