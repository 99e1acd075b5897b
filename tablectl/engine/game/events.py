"""What happened at the table: every event, its fields and who may see each.

Events are facts: results are in them, so that folding them never computes a score (`apply`).
Seats are the physical sides 0–3 counter-clockwise; scores and payments are points; `*_by_seat` and lists
of four are indexed by seat. `points` of the final result are counted in 1/`points_scale` pt.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from tablectl.engine.game.codec import (
    Each,
    Json,
    Owner,
    Public,
    Record,
    Referee,
    Tile,
    Viewer,
    VocabularyError,
    mask,
)
from tablectl.engine.rules.model import Sanction

Four = tuple[int, int, int, int]
FourNames = tuple[str, str, str, str]
Hand = tuple[Tile, ...]

Knowledge = Literal["basic", "score", "tiles"]
DrawKind = Literal[
    "exhaustive", "nagashi", "kyuushu", "suufon", "suucha_riichi", "suukaikan", "sanchahou"
]
Limit = Literal["none", "mangan", "haneman", "baiman", "sanbaiman", "yakuman"]
HandEnd = Literal[
    "win",
    "exhaustive",
    "nagashi",
    "kyuushu",
    "suufon",
    "suucha_riichi",
    "suukaikan",
    "sanchahou",
    "voided",
    "aborted",
]
GameEnd = Literal["last_hand", "tobi", "agari_yame", "extension", "time", "aborted"]
SanctionClass = Sanction
"""Classes of sanctions as the rulesets name them (rules 2.1)."""


class Event(Record):
    """Base of the events."""

    __slots__ = ()


# ---- the game -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class GameStarted(Event):
    """A game begins (or is adopted in progress) under the ruleset written here in full."""

    type: ClassVar[str] = "game_started"
    game_id: Public[str]
    knowledge: Public[Knowledge]
    auto_deal: Public[bool]
    ruleset_id: Public[str]
    ruleset: Public[Json]
    ruleset_hash: Public[str]
    players: Public[FourNames]
    """Player ids by seat; before a seat draw by the place where each stands."""
    names: Public[FourNames]
    scores: Public[Four]
    first_dealer: Public[int | None]
    """None while seats or first dealer are still to be drawn."""
    seat_draw: Public[bool]
    shuffler: Public[int] = 0
    """Who shuffles the row of wind tiles (1.14.2)."""
    provisional_east: Public[int] = 0
    """Who throws first for the first dealer, where no seats are drawn."""
    round_wind: Public[int] = 0
    hand_number: Public[int] = 1
    honba: Public[int] = 0
    deposits: Public[int] = 0
    adopted: Public[bool] = False
    time_limit_min: Public[int | None] = None


@dataclass(frozen=True, slots=True)
class SeatThrown(Event):
    """A throw of the seat draw or for the first dealer (rules 1.14)."""

    type: ClassVar[str] = "seat_thrown"
    step: Public[str]
    thrower: Public[int]
    dice: Public[tuple[int, int]]
    points_to: Public[int]
    next_step: Public[str]
    next_thrower: Public[int | None]


@dataclass(frozen=True, slots=True)
class SeatsDrawn(Event):
    """Everybody has a seat; players and names by new seat."""

    type: ClassVar[str] = "seats_drawn"
    winds: Public[tuple[int, int, int, int]]
    """Wind tile (0 E … 3 N) taken by whoever stood at each place before."""
    players: Public[FourNames]
    names: Public[FourNames]
    provisional_east: Public[int]
    next_step: Public[str]
    next_thrower: Public[int | None]


@dataclass(frozen=True, slots=True)
class FirstDealerSet(Event):
    """The first dealer (chiicha) is known."""

    type: ClassVar[str] = "first_dealer_set"
    first_dealer: Public[int]


@dataclass(frozen=True, slots=True)
class GamePaused(Event):
    """Play rests; it may go on another day."""

    type: ClassVar[str] = "game_paused"
    reason: Public[str] = ""


@dataclass(frozen=True, slots=True)
class HandTakenOver(Event):
    """The result of this hand is reported by a person: its tiles were not all seen."""

    type: ClassVar[str] = "hand_taken_over"
    reason: Public[str]


@dataclass(frozen=True, slots=True)
class GameResumed(Event):
    """Play goes on."""

    type: ClassVar[str] = "game_resumed"


@dataclass(frozen=True, slots=True)
class TimeCalled(Event):
    """The time limit has passed; `hands_to_play` hands remain, the one in progress among them."""

    type: ClassVar[str] = "time_called"
    hands_to_play: Public[int]


@dataclass(frozen=True, slots=True)
class PlayerReplaced(Event):
    """Another person sits down at a seat; the score stays with the seat."""

    type: ClassVar[str] = "player_replaced"
    seat: Public[int]
    player: Public[str]
    name: Public[str]
    reason: Public[str] = ""


@dataclass(frozen=True, slots=True)
class ScoreAdjusted(Event):
    """A referee changed scores or deposits by hand."""

    type: ClassVar[str] = "score_adjusted"
    deltas: Public[Four]
    deposits: Public[int]
    """Change of the number of deposit sticks."""
    scores: Public[Four]
    deposits_after: Public[int]
    reason: Public[str]


@dataclass(frozen=True, slots=True)
class GameEnded(Event):
    """The game is over; nothing but corrections may follow."""

    type: ClassVar[str] = "game_ended"
    reason: Public[GameEnd]
    scores: Public[Four]
    """Final scores, leftover deposits already given where the ruleset gives them."""
    deposits_left: Public[int]
    """Sticks nobody scores."""
    ranks: Public[Four]
    """1–4 by seat; tied seats share the better number where the ruleset splits ties."""
    points: Public[Four]
    """Final points with uma, oka and sanctions, in 1/`points_scale` pt."""
    points_scale: Public[int]


# ---- the start of a hand ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class HandStarted(Event):
    """The start button was pressed: the hand has begun (A29.2)."""

    type: ClassVar[str] = "hand_started"
    round_wind: Public[int]
    hand_number: Public[int]
    honba: Public[int]
    deposits: Public[int]
    dealer: Public[int]
    scores: Public[Four]
    replay: Public[bool] = False


@dataclass(frozen=True, slots=True)
class WallsBuilt(Event):
    """The four walls stand."""

    type: ClassVar[str] = "walls_built"


@dataclass(frozen=True, slots=True)
class DiceRolled(Event):
    """The dealer's throw."""

    type: ClassVar[str] = "dice_rolled"
    dice: Public[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class WallBroken(Event):
    """Where the wall opens (1.15.2): `stacks` stay at the right of the wall before `wall_seat`."""

    type: ClassVar[str] = "wall_broken"
    wall_seat: Public[int]
    stacks: Public[int]
    first_stack: Public[int]
    """Ring number of the first stack taken, 0–67 in drawing order from the dealer's right end."""


@dataclass(frozen=True, slots=True)
class Dealt(Event):
    """Thirteen tiles each; a tile nobody saw is null, an unseen hand is null as a whole."""

    type: ClassVar[str] = "dealt"
    hands: Each[tuple[tuple[Tile | None, ...] | None, ...]]
    each: Public[int] = 13


@dataclass(frozen=True, slots=True)
class RinshanLaid(Event):
    """The first replacement tile lies beside the second (A24.1)."""

    type: ClassVar[str] = "rinshan_laid"


@dataclass(frozen=True, slots=True)
class DoraRevealed(Event):
    """An indicator was turned; `kan` for one that a kan brought. None: not read."""

    type: ClassVar[str] = "dora_revealed"
    tile: Public[Tile | None]
    kan: Public[bool] = False


@dataclass(frozen=True, slots=True)
class DoraReplaced(Event):
    """A wrongly turned indicator was put right (row 101)."""

    type: ClassVar[str] = "dora_replaced"
    index: Public[int]
    tile: Public[Tile]


# ---- play -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Drawn(Event):
    """A tile went from the wall into a hand."""

    type: ClassVar[str] = "drawn"
    seat: Public[int]
    tile: Owner[Tile | None]
    rinshan: Public[bool] = False


@dataclass(frozen=True, slots=True)
class DrawReturned(Event):
    """A claim in time overtakes a draw made too fast: the tile goes back to the wall, as if not drawn."""

    type: ClassVar[str] = "draw_returned"
    seat: Public[int]


@dataclass(frozen=True, slots=True)
class Discarded(Event):
    """A tile went into the river; `tsumogiri` None where no drawn-tile slot is sensed."""

    type: ClassVar[str] = "discarded"
    seat: Public[int]
    tile: Public[Tile | None]
    tsumogiri: Public[bool | None]
    sideways: Public[bool] = False


@dataclass(frozen=True, slots=True)
class RiichiDeclared(Event):
    """Riichi was said; it is established once the declaration tile was not ronned."""

    type: ClassVar[str] = "riichi_declared"
    seat: Public[int]
    double: Public[bool]


@dataclass(frozen=True, slots=True)
class RiichiAccepted(Event):
    """Riichi is established: 1000 points went from the seat to the table."""

    type: ClassVar[str] = "riichi_accepted"
    seat: Public[int]


@dataclass(frozen=True, slots=True)
class Called(Event):
    """Chi, pon or daiminkan: `tile` from `from_seat` joins `hand_tiles`."""

    type: ClassVar[str] = "called"
    seat: Public[int]
    kind: Public[Literal["chi", "pon", "daiminkan"]]
    from_seat: Public[int]
    tile: Public[Tile]
    hand_tiles: Public[Hand]
    forbidden: Public[tuple[Tile, ...]] = ()
    """Kinds the caller must not discard now (kuikae)."""
    pao: Public[str] = ""
    """The yakuman whose liability this call puts on `from_seat`, or empty."""


@dataclass(frozen=True, slots=True)
class AnkanDeclared(Event):
    """Four tiles of the hand are laid out as an ankan."""

    type: ClassVar[str] = "ankan_declared"
    seat: Public[int]
    tiles: Public[Hand]


@dataclass(frozen=True, slots=True)
class KakanDeclared(Event):
    """A tile is added to a pon; it may still be robbed."""

    type: ClassVar[str] = "kakan_declared"
    seat: Public[int]
    tile: Public[Tile]


@dataclass(frozen=True, slots=True)
class KanEstablished(Event):
    """The kan stands: first go-around and ippatsu are broken, an indicator may be due."""

    type: ClassVar[str] = "kan_established"
    seat: Public[int]


@dataclass(frozen=True, slots=True)
class MissedWin(Event):
    """A seat let a completing tile pass: furiten until its next discard, or for the hand."""

    type: ClassVar[str] = "missed_win"
    seat: Owner[int]
    permanent: Owner[bool]


# ---- results ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class YakuHan(Record):
    """A yaku with its han (13 for a yakuman)."""

    name: Public[str]
    han: Public[int]


@dataclass(frozen=True, slots=True)
class Won(Event):
    """A win and what it pays; a second `won` of the same seat replaces the first.

    `points` is the hand's value from all payers without honba and deposits; `deltas` all that moves for
    this win, honba and deposits included. Unknown parts are None (the result was typed in).
    """

    type: ClassVar[str] = "won"
    seat: Public[int]
    from_seat: Public[int]
    """Equal to `seat` for a tsumo."""
    tile: Public[Tile | None]
    hand: Public[Hand | None]
    """Concealed tiles without the winning tile."""
    yaku: Public[tuple[YakuHan, ...]]
    yakuman: Public[tuple[YakuHan, ...]]
    han: Public[int | None]
    fu: Public[int | None]
    limit: Public[Limit]
    points: Public[int]
    deltas: Public[Four]
    honba: Public[int]
    """Honba paid to this win."""
    deposits: Public[int]
    """Sticks this win takes."""
    payments: Public[tuple[int, ...]] = ()
    """As announced, without honba: ron (8000,), child's tsumo (2000, 4000), dealer's tsumo (4000,)."""
    pao_seat: Public[int | None] = None
    dora: Public[tuple[Tile, ...]] = ()
    ura: Public[tuple[Tile, ...] | None] = None


@dataclass(frozen=True, slots=True)
class WinBumped(Event):
    """A win yields to a better placed one (atama-hane)."""

    type: ClassVar[str] = "win_bumped"
    seat: Public[int]
    by: Public[int]


@dataclass(frozen=True, slots=True)
class DrawReached(Event):
    """No live tile is left and the last discard passed: the seats declare tenpai or noten."""

    type: ClassVar[str] = "draw_reached"


@dataclass(frozen=True, slots=True)
class TenpaiDeclared(Event):
    """A seat's declaration at the draw; the hand where it was shown and read."""

    type: ClassVar[str] = "tenpai_declared"
    seat: Public[int]
    tenpai: Public[bool]
    hand: Public[Hand | None] = None


@dataclass(frozen=True, slots=True)
class HandDrawn(Event):
    """The hand ends without a winner; `tenpai` counts as the ruleset counts it."""

    type: ClassVar[str] = "hand_drawn"
    kind: Public[DrawKind]
    seat: Public[int | None]
    """Who declared kyuushu kyuuhai."""
    tenpai: Public[tuple[bool, bool, bool, bool] | None]
    nagashi: Public[tuple[int, ...]]
    deltas: Public[Four]


@dataclass(frozen=True, slots=True)
class HandEnded(Event):
    """The hand is settled: what moved, what stands, who deals next."""

    type: ClassVar[str] = "hand_ended"
    reason: Public[HandEnd]
    deltas: Public[Four]
    scores: Public[Four]
    deposits: Public[int]
    honba: Public[int]
    next_dealer: Public[int]
    round_wind: Public[int]
    hand_number: Public[int]
    renchan: Public[bool]
    replay: Public[bool] = False
    """The hand counts as not played and starts anew."""


# ---- the referee --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Found(Event):
    """The engine saw what looks like an infraction: a finding for the referee, not a verdict.

    `row` is the row of rules 2.3 (`P14`); a `secret` one is shown to nobody until the hand ends.
    """

    type: ClassVar[str] = "found"
    finding: Referee[int]
    row: Referee[str]
    seat: Referee[int | None]
    proposed: Referee[SanctionClass]
    article: Referee[str]
    certainty: Referee[Literal["certain", "flag"]]
    secret: Referee[bool]
    detail: Referee[str] = ""


@dataclass(frozen=True, slots=True)
class FindingDisclosed(Event):
    """A secret finding may now be told to the referee: the hand is over."""

    type: ClassVar[str] = "finding_disclosed"
    finding: Referee[int]
    row: Referee[str]
    seat: Referee[int | None]
    proposed: Referee[SanctionClass]


@dataclass(frozen=True, slots=True)
class FindingSettled(Event):
    """The referee's word on a finding."""

    type: ClassVar[str] = "finding_settled"
    finding: Referee[int]
    upheld: Referee[bool]
    note: Referee[str] = ""


@dataclass(frozen=True, slots=True)
class Sanctioned(Event):
    """A sanction with what it costs; placement points in 1/1000 pt, points on the table in `score`."""

    type: ClassVar[str] = "sanctioned"
    seat: Public[int]
    sanction: Public[SanctionClass]
    row: Public[str]
    article: Public[str]
    placement: Public[int]
    """Change of the final points in 1/1000 pt (negative)."""
    score: Public[int]
    """Change of the score on the table (negative; MU variant B)."""
    ends_hand: Public[bool]
    stops_win: Public[bool]
    warnings: Public[int]
    """The seat's warnings of this game after this one."""
    finding: Referee[int | None] = None
    note: Referee[str] = ""


@dataclass(frozen=True, slots=True)
class Undone(Event):
    """A command's events are as if they had never been, with those of every command after it.

    State after it is the state before `command_id`; commands that stand again follow with new events.
    """

    type: ClassVar[str] = "undone"
    command_id: Public[str]
    retracted: Public[tuple[str, ...]]
    """Command ids whose events are void, in order."""
    reason: Public[str] = ""


EVENTS: dict[str, type[Event]] = {
    cls.type: cls
    for cls in (
        GameStarted, SeatThrown, SeatsDrawn, FirstDealerSet, GamePaused, GameResumed, HandTakenOver, TimeCalled,
        PlayerReplaced, ScoreAdjusted, GameEnded, HandStarted, WallsBuilt, DiceRolled, WallBroken, Dealt,
        RinshanLaid, DoraRevealed, DoraReplaced, Drawn, DrawReturned, Discarded, RiichiDeclared, RiichiAccepted, Called,
        AnkanDeclared, KakanDeclared, KanEstablished, MissedWin, Won, WinBumped, DrawReached,
        TenpaiDeclared, HandDrawn, HandEnded, Found, FindingDisclosed, FindingSettled, Sanctioned, Undone,
    )
}  # fmt: skip
"""Every event by its `type`."""


def to_json(event: Event) -> dict[str, Any]:
    """The whole event, `type` first."""
    return event.to_json()


def event_from_json(value: Mapping[str, Any]) -> Event:
    """The event an object describes; `VocabularyError` where it describes none."""
    kind = value.get("type")
    cls = EVENTS.get(kind) if isinstance(kind, str) else None
    if cls is None:
        raise VocabularyError("unknown_event", kind, "types are listed in docs/engine.md")
    return cls.from_json(value)


def mask_event(event: Event, viewer: Viewer) -> dict[str, Any] | None:
    """What a feed may carry of the event; None: on that feed it does not exist."""
    return mask(event, viewer)
