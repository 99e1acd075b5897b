"""The same case scored by PyPI `mahjong` and by `jansou`, and what each of them is known to do otherwise."""

from __future__ import annotations

from typing import Any, NamedTuple

from jansou.core.hand import CallSource, Hand, MeldType
from jansou.core.hand import Meld as JansouMeld
from jansou.core.rules import Rules
from jansou.core.tiles import Tile, TileKind, Wind
from jansou.scoring.context import WinContext
from jansou.scoring.score import ScoringError
from jansou.scoring.score import score as jansou_score
from mahjong.constants import EAST, NORTH, SOUTH, WEST
from mahjong.hand_calculating.hand import HandCalculator
from mahjong.hand_calculating.hand_config import HandConfig, HandConstants, OptionalRules
from mahjong.meld import Meld as MahjongMeld

from tablectl.engine.rules import Ruleset, load
from tablectl.engine.scoring import FLAGS, NoWin, Win, WinSituation, score

_WINDS = (EAST, SOUTH, WEST, NORTH)
_REDS = {34: 16, 35: 52, 36: 88}


class Verdict(NamedTuple):
    """What two scorers can be compared by; `yaku` is None where the names are not comparable."""

    valid: bool
    yaku: frozenset[str] = frozenset()
    han: int | None = None
    fu: int | None = None
    payments: tuple[int, ...] = ()


def ours(result: Win | NoWin) -> Verdict:
    """Our own result."""
    if not isinstance(result, Win):
        return Verdict(False)
    yaku = frozenset(name for name, _ in result.yaku)
    return Verdict(True, yaku, result.han, result.fu, result.payments)


# --- PyPI mahjong -------------------------------------------------------------------------------------


class MahjongCase(NamedTuple):
    """The arguments of `HandCalculator.estimate_hand_value`."""

    tiles: list[int]
    win_tile: int
    melds: list[MahjongMeld]
    dora: list[int]
    config: HandConfig
    ura: list[int]

    def run(self) -> Any:
        """Its own response."""
        return HandCalculator.estimate_hand_value(
            self.tiles,
            self.win_tile,
            self.melds,
            self.dora,
            self.config,
            ura_dora_indicators=self.ura,
        )


def mahjong_options(rules: Ruleset) -> OptionalRules:
    """Its options, as near to a ruleset as they reach."""
    return OptionalRules(
        has_open_tanyao=rules.kuitan,
        has_aka_dora=rules.aka,
        has_double_yakuman=False,
        kazoe_limit=(
            HandConstants.KAZOE_LIMITED if rules.counted_yakuman else HandConstants.KAZOE_SANBAIMAN
        ),
        kiriage=rules.kiriage,
        fu_for_open_pinfu=True,
        fu_for_pinfu_tsumo=False,
    )


class _Numbers:
    """Tiles 0-135, each given out once."""

    def __init__(self) -> None:
        self.used: set[int] = set()

    def give(self, tile: int) -> int:
        if tile > 33:
            self.used.add(_REDS[tile])
            return _REDS[tile]
        # Copy 0 of a five is the red one.
        first = 1 if tile in (4, 13, 22) else 0
        copies = [*range(first, 4), 0]
        number = next(4 * tile + c for c in copies if 4 * tile + c not in self.used)
        self.used.add(number)
        return number


def for_mahjong(situation: WinSituation, rules: Ruleset, options: OptionalRules) -> MahjongCase:
    """A case for the library; what the ruleset does not count is left out."""
    numbers = _Numbers()
    melds = []
    kinds = {
        "chi": MahjongMeld.CHI, "pon": MahjongMeld.PON, "ankan": MahjongMeld.KAN,
        "daiminkan": MahjongMeld.KAN, "kakan": MahjongMeld.SHOUMINKAN,
    }  # fmt: skip
    tiles = [
        numbers.give(tile) for tile in sorted((*situation.concealed, situation.win_tile))[::-1]
    ]
    for one in situation.melds:
        own = sorted(numbers.give(tile) for tile in sorted(one.tiles)[::-1])
        melds.append(MahjongMeld(kinds[one.type], own, opened=one.is_open))
        tiles += own
    win = next(
        number
        for number in tiles
        if number // 4 == situation.win_kind
        and (situation.win_tile < 34 or number == _REDS[situation.win_tile])
    )
    flags = flag_names(situation)
    first = "first_turn" in flags
    config = HandConfig(
        is_tsumo=situation.is_tsumo,
        is_riichi=situation.riichi == 1,
        is_daburu_riichi=situation.riichi == 2,
        is_ippatsu="ippatsu" in flags and rules.ippatsu,
        is_rinshan="rinshan" in flags,
        is_chankan="chankan" in flags,
        is_haitei="haitei" in flags,
        is_houtei="houtei" in flags,
        is_tenhou=first and situation.is_tsumo and situation.is_dealer,
        is_chiihou=first and situation.is_tsumo and not situation.is_dealer,
        player_wind=_WINDS[situation.seat_wind],
        round_wind=_WINDS[situation.round_wind],
        options=options,
    )
    dora = [_plain(tile) for tile in situation.dora[: None if rules.kan_dora else 1]]
    ura = [_plain(tile) for tile in situation.ura] if rules.ura_dora else []
    return MahjongCase(tiles, win, melds, dora, config, ura)


def _plain(tile: int) -> int:
    return _REDS[tile] if tile > 33 else 4 * tile + 1


_MAHJONG_NAMES = {
    "iipeiko": "iipeikou", "chantai": "chanta", "haitei_raoyue": "haitei", "houtei_raoyui": "houtei",
    "rinshan_kaihou": "rinshan", "shou_sangen": "shousangen", "san_ankou": "sanankou", "san_kantsu": "sankantsu",
    "dai_suushii": "daisuushii", "suu_ankou": "suuankou", "suu_ankou_tanki": "suuankou",
    "suu_kantsu": "suukantsu", "tsuu_iisou": "tsuuiisou", "chuuren_poutou": "chuuren",
    "daburu_chuuren_poutou": "chuuren", "kokushi_musou": "kokushi",
    "kokushi_musou_juusanmen_matchi": "kokushi",
}  # fmt: skip
"""Where our id is not simply the library's name with underscores."""
_DORA = {"Dora", "Aka Dora", "Ura Dora"}


def _mahjong_id(name: str) -> str:
    value, _, what = name.lower().removesuffix(")").partition(" (")
    if value == "yakuhai":
        # "Yakuhai (seat wind east)", "Yakuhai (haku)"
        return "_".join(what.split()[:2])
    plain = value.replace(" ", "_")
    return _MAHJONG_NAMES.get(plain, plain)


def mahjong_payments(response: Any, *, tsumo: bool) -> tuple[int, ...]:
    """What is announced: ron one amount, child's tsumo child then dealer, dealer's tsumo one amount."""
    main, additional = int(response.cost["main"]), int(response.cost["additional"])
    return (main,) if not tsumo or additional == main else (additional, main)


def mahjong_verdict(case: MahjongCase) -> Verdict:
    """The library's result in our words."""
    response = case.run()
    if response.error is not None:
        return Verdict(False)
    names = {_mahjong_id(yaku.name) for yaku in response.yaku if yaku.name not in _DORA}
    yakuman = any(yaku.is_yakuman for yaku in response.yaku)
    payments = mahjong_payments(response, tsumo=case.config.is_tsumo)
    if yakuman:
        return Verdict(True, frozenset(names), None, None, payments)
    return Verdict(True, frozenset(names), response.han, response.fu, payments)


# --- jansou -------------------------------------------------------------------------------------------

_JANSOU_NAMES = {
    "YAKUHAI_HAKU": "haku", "YAKUHAI_HATSU": "hatsu", "YAKUHAI_CHUN": "chun",
    "YAKUHAI_ROUND": "round_wind", "YAKUHAI_SEAT": "seat_wind",
    "SHOUSUUSHI": "shousuushii", "DAISUUSHI": "daisuushii", "ITTSU": "ittsu",
}  # fmt: skip


def jansou_rules(rules: Ruleset) -> Rules:
    """Its rules, as near to a ruleset as they reach."""
    return Rules(
        honba_value=100 if rules.honba_counted else 0,
        double_wind_fu=rules.double_wind_pair_fu,
        kiriage_mangan=rules.kiriage,
        kazoe_yakuman=rules.counted_yakuman > 0,
        multiple_yakuman=rules.composite_yakuman,
        double_yakuman=False,
        aka_dora=rules.aka,
        ura_dora=rules.ura_dora,
        kan_dora=rules.kan_dora,
        kuitan=rules.kuitan,
        ippatsu=rules.ippatsu,
    )


def _jansou_tile(tile: int) -> Tile:
    if tile > 33:
        return Tile(TileKind({34: 4, 35: 13, 36: 22}[tile]), red=True)
    return Tile(TileKind(tile))


def jansou_verdict(situation: WinSituation, rules: Ruleset, own: Rules) -> Verdict:
    """The library's result in our words."""
    kinds = {
        "chi": MeldType.CHII, "pon": MeldType.PON, "daiminkan": MeldType.DAIMINKAN,
        "ankan": MeldType.ANKAN, "kakan": MeldType.SHOUMINKAN,
    }  # fmt: skip
    melds = []
    for one in situation.melds:
        tiles = tuple(_jansou_tile(tile) for tile in one.tiles)
        called = None if one.type == "ankan" else tiles[0]
        melds.append(
            JansouMeld(
                kinds[one.type],
                tiles,
                called,
                None if called is None else CallSource.KAMICHA,
                tiles[-1] if one.type == "kakan" else None,
            )
        )
    win = _jansou_tile(situation.win_tile)
    hand = Hand((*[_jansou_tile(tile) for tile in situation.concealed], win), tuple(melds))
    flags = flag_names(situation)
    first = "first_turn" in flags and situation.is_tsumo
    context = WinContext(
        rules=own,
        round_wind=Wind(situation.round_wind),
        seat_wind=Wind(situation.seat_wind),
        is_tsumo=situation.is_tsumo,
        riichi=situation.riichi == 1,
        double_riichi=situation.riichi == 2,
        ippatsu="ippatsu" in flags and rules.ippatsu,
        haitei="haitei" in flags,
        houtei="houtei" in flags,
        rinshan="rinshan" in flags,
        chankan="chankan" in flags,
        tenhou=first and situation.is_dealer,
        chiihou=first and not situation.is_dealer,
        dora_indicators=tuple(
            _jansou_tile(tile) for tile in situation.dora[: None if rules.kan_dora else 1]
        ),
        ura_indicators=tuple(_jansou_tile(tile) for tile in situation.ura if rules.ura_dora),
    )
    try:
        result = jansou_score(hand, win, context)
    except ScoringError:
        return Verdict(False)
    names = frozenset(
        _JANSOU_NAMES.get(value.yaku.name, value.yaku.name.lower()) for value in result.yaku
    )
    payment = result.payment
    if payment.ron:
        payments: tuple[int, ...] = (payment.ron,)
    elif payment.tsumo_dealer:
        payments = (payment.tsumo_non_dealer, payment.tsumo_dealer)
    else:
        payments = (payment.tsumo_non_dealer,)
    if result.is_yakuman:
        return Verdict(True, names, None, None, payments)
    return Verdict(True, names, result.han, result.fu.total, payments)


def flag_names(situation: WinSituation) -> set[str]:
    """The flags of a situation by name."""
    return {name for name, bit in FLAGS.items() if situation.circumstances & bit}


# --- where they are known to differ -------------------------------------------------------------------


class Slip(NamedTuple):
    """A rule value an oracle cannot be told: it always scores as if `key` were `value`."""

    oracle: str
    key: str
    value: Any
    ref: str


SLIPS = (
    Slip(
        "mahjong", "double_wind_pair_fu", 4, "rules.md 136: 2 fu in SK, MU, JA, ML, WRC; 4 only T15"
    ),
    Slip("mahjong", "rinshan_tsumo_fu", 2, "J-X.3: no tsumo fu on a replacement tile"),
    Slip("jansou", "rinshan_tsumo_fu", 2, "J-X.3: no tsumo fu on a replacement tile"),
    Slip(
        "mahjong",
        "shousangen_includes_dragons",
        False,
        "M51(24): four han, the dragon sets in them",
    ),
    Slip(
        "jansou", "shousangen_includes_dragons", False, "M51(24): four han, the dragon sets in them"
    ),
    Slip("mahjong", "composite_yakuman", True, "M54, X13: several yakuman count once"),
    Slip("mahjong", "ryuuiisou_needs_hatsu", False, "J-n66, X6: hatsu was needed until 2022"),
    Slip("jansou", "ryuuiisou_needs_hatsu", False, "J-n66, X6: hatsu was needed until 2022"),
    Slip("mahjong", "renhou", "none", "X12, X13: renhou is a mangan of its own, added to nothing"),
    Slip("jansou", "renhou", "none", "X12, X13: renhou is a mangan of its own, added to nothing"),
)


def explained(oracle: str, situation: WinSituation, rules: Ruleset, found: Verdict) -> str:
    """The article that explains why an oracle found otherwise, '' where none does.

    A slip explains a difference only if our own scorer, with that one value put the oracle's way, finds
    exactly what the oracle found; several slips may meet in one hand.
    """
    mine = [slip for slip in SLIPS if slip.oracle == oracle and _differs(rules, slip)]
    for slip in mine:
        if ours(score(situation, load(rules.id, {slip.key: slip.value}))) == found:
            return slip.ref
    if len(mine) > 1:
        together = {slip.key: slip.value for slip in mine}
        if ours(score(situation, load(rules.id, together))) == found:
            return "; ".join(slip.ref for slip in mine)
    own = ours(score(situation, rules))
    if (
        oracle == "jansou"
        and not rules.composite_yakuman
        and found.yaku < own.yaku
        and found.payments == own.payments
        and own.han is None
    ):
        return "M54: of several yakuman that count once it names one only; the price is the same"
    return ""


def _differs(rules: Ruleset, slip: Slip) -> bool:
    return bool(getattr(rules, slip.key) != slip.value)
