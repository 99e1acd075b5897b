"""`Ruleset`: every rule value that differs somewhere, as one frozen object with plain attributes.

Amounts are points, integers (placement points too: 1 pt = 1000 points). Which value a ruleset has, and
why, stands in `data/*.toml`; the notation of citations is explained in `docs/rules.md`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

# --- kinds of values ---------------------------------------------------------------------------

FourInts = tuple[int, int, int, int]
Uma = Literal["fixed", "floating"]
Ties = Literal["split", "seat_order"]
PointRounding = Literal[
    "none",
    "whole_points",  # halves away from zero
    "whole_points_half_up",  # halves upwards, below zero too
]
LeftoverDeposits = Literal["lost", "first"]
Tobi = Literal["none", "below_zero", "zero_or_less"]
Length = Literal["tonpuusen", "hanchan"]
TimeLimit = Literal["hand_in_progress", "one_more_hand"]
Extension = Literal["none", "one_round"]
OvertimeEnd = Literal["dealer_repeat_first", "at_once"]
DealerStop = Literal["none", "automatic", "optional"]
Renchan = Literal["win", "tenpai"]

NotenChoice = Literal["free", "not_after_riichi", "automatic"]
DeclarationOrder = Literal["wind_order", "any_order", "automatic"]

MultiRon = Literal["head_bump", "all"]
MultiRonHonba = Literal["nearest", "each"]
UnclearTsumo = Literal["no_win", "no_wait", "no_wait_no_tsumo_fu", "counts"]
ScoreAnnouncement = Literal["totals", "base_then_totals"]

Renhou = Literal["none", "mangan", "yakuman"]
PaoComposite = Literal["whole", "covered"]
PaoHonbaTsumo = Literal["liable", "shared"]
PaoHonbaRon = Literal["discarder", "liable"]
TenpaiExhausted = Literal["concealed", "own_all", "shape"]

Kuikae = Literal["allowed", "same_tile", "set"]
CallPriority = Literal["pon", "pon_unless_misspoken", "pon_unless_later", "first_spoken"]
ShownTilesChange = Literal["exposed", "free", "referee"]
CallOrder = Literal["fixed", "free"]
KanDoraTiming = Literal[
    "before_replacement",  # turned before the replacement draw: a rinshan win sees it
    "after_replacement",  # turned with the replacement draw: a rinshan win sees it
    "before_discard",  # turned after the replacement draw, unless it wins, before the next discard
    "with_discard",  # turned with the discard (a ron on it sees it) or before the next replacement
    "with_discard_or_kan",  # the same, but at the next kan's declaration already, robbed or not
]
RiichiAnkan = Literal["none", "waits", "strict"]
NotenRiichi = Literal["refused", "punished", "free"]
TemporaryFuriten = Literal["own_discard", "own_draw_or_call"]

SeatDraw = Literal["row_two_throws", "row_one_throw", "wind_tiles", "assigned"]
FirstDealer = Literal["two_throws", "one_throw", "east", "assigned"]
WrongBreak = Literal["restart_before_discard", "referee"]
IndicatorCutoff = Literal["first_discard", "first_discard_or_ankan", "referee"]
IndicatorTurner = Literal["faces_indicator", "at_dead_wall", "machine"]
HandBegins = Literal["start_key", "first_discard"]

RonCloses = Literal["next_draw", "later_utterance", "next_discard", "timer"]
HeadBumpCloses = Literal["hand_shown", "simultaneous", "never"]
ChankanCloses = Literal["indicator_turned", "replacement_drawn", "timer"]
PonCloses = Literal["next_draw_starts", "next_draw_ends", "timer"]
ChiOpens = Literal["discard", "own_draw", "after_check"]
CorrectionCloses = Literal["next_first_discard", "payment", "hand_broken", "never"]

WinAndChombo = Literal["order_of_play", "win"]
SeveralInfractions = Literal["order_of_play", "cumulative", "win_first"]
ChomboPaid = Literal["placement", "table"]
StopWinRuledBy = Literal["referee", "players"]
StoppedRiichi = Literal["chombo", "stays_and_shows"]

Sanction = Literal[
    "chombo",  # hand ended and replayed, the large deduction (C)
    "minor_chombo_ended",  # hand ended and replayed, the small deduction (mE)
    "minor_chombo_stop_win",  # no call, riichi or win for the rest of the hand, with points (mS)
    "minor_chombo_continues",  # points only (mC)
    "stop_win",  # no call, riichi or win for the rest of the hand; dead hand, agari-houki (S)
    "warning",  # counted; yellow card (W)
    "caution",  # recorded, costs nothing (K)
    "disqualification",
    "referee",  # the text leaves it to the referee, or names no class (R)
    "point_penalty",  # points by the referee's list
    "restart",  # the deal is made again, nobody pays
    "corrected",  # put right, nobody pays
    "void",  # the act is undone or does not count: late call ignored, tile put back
    "legal",  # not an infraction under these rules
    "silent",  # the text does not speak of it: the referee decides
]
"""What the referee is offered for an infraction (`rules.md` 2.1, 2.3)."""

When = Literal[
    "always",
    "by_referee",  # the referee chooses between the two
    "after_discard",  # the act was completed with a discard
    "after_first_discard",  # the dealer's first discard has been made
    "not_undone",  # the state could not be restored
    "corrected_at_once",
    "unplayable",  # the hand cannot go on
    "repeated",  # again in the same hand
    "with_win",  # a win was claimed with it
    "tile_merged",  # the drawn tile went into the hand
    "caused_ambiguity",
    "two_or_more_tiles",
    "by_exposed_tiles",  # by their number, as P27, P28, P29
    "five_or_more_tiles",
    "more_than_five_tiles",
    "intentional",
]
"""Condition of the second sanction of a ruling."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruling:
    """What one infraction brings: `sanction`, or `other` when the circumstance `when` holds."""

    sanction: Sanction
    other: Sanction | None = None
    when: When = "always"


INFRACTIONS = 50
"""P1 … P50 of `rules.md` 2.3."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruleset:
    """All rule values of one game; immutable, hashable, equal when every value is equal."""

    id: str = field(compare=False)
    options: tuple[tuple[str, str], ...] = field(compare=False)
    refs: Mapping[str, str] = field(compare=False, repr=False)

    # --- game frame and final result (rules.md 1.1) ---
    start_points: int
    return_points: int
    target_points: int
    uma_kind: Uma
    uma: FourInts
    uma_floating: tuple[FourInts, ...]
    above_water_points: int
    oka: int
    ties: Ties
    point_rounding: PointRounding
    leftover_deposits: LeftoverDeposits
    tobi: Tobi
    length: Length
    time_limit: TimeLimit
    extension: Extension
    overtime_end: OvertimeEnd
    agari_yame: DealerStop
    tenpai_yame: DealerStop
    renchan: Renchan
    honba_counted: bool
    honba_on_rotating_draw: bool

    # --- draws (1.2) ---
    noten_pool: int
    noten_choice: NotenChoice
    declaration_order: DeclarationOrder
    all_tenpai_hai: bool
    kyuushu_kyuuhai: bool
    suufon_renda: bool
    suucha_riichi: bool
    suukaikan: bool
    sanchahou: bool
    nagashi_mangan: bool
    nagashi_honba: bool
    nagashi_deposits: bool

    # --- winning (1.3) ---
    multi_ron: MultiRon
    unclear_tsumo: UnclearTsumo
    score_announcement: ScoreAnnouncement
    two_han_from_honba: int

    # --- calls (1.4) ---
    kuitan: bool
    kuikae: Kuikae
    call_priority: CallPriority
    call_order: CallOrder
    shown_tiles_change: ShownTilesChange
    call_last_discard: bool

    # --- kan (1.5) ---
    kokushi_robs_ankan: bool

    # --- riichi (1.6) ---
    riichi_min_points: int
    riichi_min_live_tiles: int
    riichi_ankan: RiichiAnkan
    furiten_riichi: bool
    noten_riichi: NotenRiichi
    ippatsu: bool

    # --- dora (1.7) ---
    aka: bool
    ura_dora: bool
    kan_dora: bool
    kan_ura_dora: bool
    kan_dora_ankan: KanDoraTiming
    kan_dora_kakan: KanDoraTiming
    kan_dora_daiminkan: KanDoraTiming

    # --- furiten (1.8) ---
    temporary_furiten_ends: TemporaryFuriten

    # --- yaku (1.9) ---
    double_wind_han: int
    shousangen_includes_dragons: bool
    renhou: Renhou
    ryuuiisou_needs_hatsu: bool
    tsuuiisou_seven_pairs: bool
    composite_yakuman: bool
    double_yakuman: tuple[str, ...]
    counted_yakuman: int

    # --- fu (1.10) ---
    double_wind_pair_fu: int
    rinshan_tsumo_fu: int
    open_pinfu_fu: int

    # --- points and payments (1.11, 1.1) ---
    kiriage: bool
    honba_ron: int
    honba_tsumo: int
    multi_ron_honba: MultiRonHonba

    # --- pao (1.12) ---
    pao: tuple[str, ...]
    pao_suukantsu_live_tile: bool
    pao_composite: PaoComposite
    pao_honba_tsumo: PaoHonbaTsumo
    pao_honba_ron: PaoHonbaRon

    # --- tenpai (1.13) ---
    tenpai_exhausted_rule: TenpaiExhausted

    # --- before the game, start of a hand (1.14 – 1.16) ---
    seat_draw: SeatDraw
    first_dealer: FirstDealer
    dealer_marker: bool
    wrong_break: WrongBreak
    indicator_cutoff: IndicatorCutoff
    indicator_turner: IndicatorTurner
    hand_begins: HandBegins

    # --- claim windows (1.17, 1.3) ---
    ron_closes: RonCloses
    head_bump_closes: HeadBumpCloses
    chankan_closes: ChankanCloses
    pon_closes: PonCloses
    fast_draw_grace_ms: int
    chi_opens: ChiOpens
    correction_closes: CorrectionCloses

    # --- sanctions (Part 2) ---
    chombo_amount: int
    chombo_paid: ChomboPaid
    minor_ended_amount: int
    minor_stop_win_amount: int
    minor_continues_amount: int
    warnings_free: int
    warning_step: int
    warning_amount: int
    stop_win_ruled_by: StopWinRuledBy
    stopped_riichi: StoppedRiichi
    win_and_chombo: WinAndChombo
    several_infractions: SeveralInfractions
    infractions: tuple[Ruling, ...]

    def __hash__(self) -> int:
        """Cheap, so that what was prepared for a ruleset is quickly found again."""
        return hash((self.start_points, self.uma, self.kuitan, self.aka, self.rinshan_tsumo_fu))

    @property
    def hash(self) -> str:
        """SHA-256 (hex) over the canonical JSON of all values; equal rules have equal hashes."""
        from tablectl.engine.rules.codec import values_hash

        return values_hash(self.to_dict()["values"])

    def to_dict(self) -> dict[str, Any]:
        """`{"id", "options", "values"}`: JSON-able, integers only, what `game_started` carries."""
        from tablectl.engine.rules.codec import to_dict

        return to_dict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Ruleset:
        """The ruleset a `to_dict` described; raises `RuleError` on unknown keys or values."""
        from tablectl.engine.rules.codec import from_dict

        return from_dict(data)

    def ref(self, name: str) -> str:
        """The citation of a value (`kuitan`), of P14, or of a common rule (`fu_base`); '' if none."""
        refs = self.refs
        return refs.get(name) or refs.get(name.partition(".")[0], "")

    def ruling(self, number: int) -> Ruling:
        """What infraction P`number` (1 … 50) brings."""
        if not 1 <= number <= INFRACTIONS:
            raise IndexError(f"there is no infraction P{number}: P1 … P{INFRACTIONS}")
        return self.infractions[number - 1]
