"""What a person, a sensor or a program asks of the game; `decide` answers with events or a refusal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from tablectl.engine.game.codec import Json, Public, Record, Tile, VocabularyError
from tablectl.engine.game.events import (
    DrawKind,
    Four,
    FourNames,
    Hand,
    Knowledge,
    Limit,
    SanctionClass,
)


class Command(Record):
    """Base of the commands."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a command changes nothing: stable `code`, what happened, what to do, the article.

    `row` names the infraction (rules 2.3) it would be if somebody did it all the same: `Report` it then.
    """

    code: str
    message: str
    hint: str = ""
    article: str = ""
    value: object = None
    row: str = ""

    def to_json(self) -> dict[str, Any]:
        """JSON object for an answer; `value` as text."""
        return {
            "code": self.code,
            "message": self.message,
            "hint": self.hint,
            "article": self.article,
            "value": None if self.value is None else str(self.value),
            "row": self.row,
        }


# ---- the game -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class StartGame(Command):
    """Start a game. `ruleset` is a resolved ruleset as JSON; scores None = the ruleset's start."""

    type: ClassVar[str] = "start_game"
    game_id: Public[str]
    ruleset: Public[Json]
    players: Public[FourNames]
    names: Public[FourNames] = ("", "", "", "")
    first_dealer: Public[int | None] = 0
    """None: the dice decide (`seat_draw`, then `SeatThrow` commands)."""
    seat_draw: Public[bool] = False
    """Draw seats with tiles and dice before the first dealer is thrown."""
    shuffler: Public[int] = 0
    """The place of whoever shuffles the row of wind tiles."""
    provisional_east: Public[int] = 0
    """Who throws first for the first dealer, where no seats are drawn."""
    knowledge: Public[Knowledge] = "tiles"
    auto_deal: Public[bool] = False
    scores: Public[Four | None] = None
    time_limit_min: Public[int | None] = None


@dataclass(frozen=True, slots=True)
class AdoptGame(Command):
    """Take over a game already in progress, between two hands."""

    type: ClassVar[str] = "adopt_game"
    game_id: Public[str]
    ruleset: Public[Json]
    players: Public[FourNames]
    scores: Public[Four]
    first_dealer: Public[int]
    round_wind: Public[int]
    hand_number: Public[int]
    """1–4: the dealer is `first_dealer + hand_number - 1`."""
    honba: Public[int] = 0
    deposits: Public[int] = 0
    names: Public[FourNames] = ("", "", "", "")
    knowledge: Public[Knowledge] = "tiles"
    auto_deal: Public[bool] = False
    time_limit_min: Public[int | None] = None


@dataclass(frozen=True, slots=True)
class SeatThrow(Command):
    """The throw the seat draw waits for."""

    type: ClassVar[str] = "seat_throw"
    a: Public[int]
    b: Public[int]


@dataclass(frozen=True, slots=True)
class SeatRow(Command):
    """The row of wind tiles turned up, from the end where the odd number tile (1p) was put."""

    type: ClassVar[str] = "seat_row"
    winds: Public[tuple[int, int, int, int]]
    """0 E, 1 S, 2 W, 3 N, each once."""


@dataclass(frozen=True, slots=True)
class PauseGame(Command):
    """Let play rest."""

    type: ClassVar[str] = "pause_game"
    reason: Public[str] = ""


@dataclass(frozen=True, slots=True)
class ResumeGame(Command):
    """Let play go on."""

    type: ClassVar[str] = "resume_game"


@dataclass(frozen=True, slots=True)
class AbortHand(Command):
    """Break the hand off; it is played anew with everything as before."""

    type: ClassVar[str] = "abort_hand"
    reason: Public[str]


@dataclass(frozen=True, slots=True)
class TakeOver(Command):
    """A person takes the hand over: what the machine sees of its tiles decides nothing any more.

    Its result is reported, as at a table that senses no tiles.
    """

    type: ClassVar[str] = "take_over"
    reason: Public[str]


@dataclass(frozen=True, slots=True)
class AbortGame(Command):
    """Break the game off; scores stand as they are."""

    type: ClassVar[str] = "abort_game"
    reason: Public[str]


@dataclass(frozen=True, slots=True)
class CallTime(Command):
    """The clock says that the time limit has passed."""

    type: ClassVar[str] = "call_time"


@dataclass(frozen=True, slots=True)
class ReplacePlayer(Command):
    """Another person takes a seat."""

    type: ClassVar[str] = "replace_player"
    seat: Public[int]
    player: Public[str]
    name: Public[str] = ""
    reason: Public[str] = ""


@dataclass(frozen=True, slots=True)
class AdjustScore(Command):
    """Change scores by hand (`deltas` by seat) and the number of deposit sticks."""

    type: ClassVar[str] = "adjust_score"
    deltas: Public[Four]
    reason: Public[str]
    deposits: Public[int] = 0


# ---- the start of a hand ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PressStart(Command):
    """The start button; an unsettled result is settled first where the ruleset lets it."""

    type: ClassVar[str] = "press_start"
    seat: Public[int | None] = None


@dataclass(frozen=True, slots=True)
class WallsReady(Command):
    """The walls stand."""

    type: ClassVar[str] = "walls_ready"


@dataclass(frozen=True, slots=True)
class RollDice(Command):
    """The throw that breaks the wall."""

    type: ClassVar[str] = "roll_dice"
    a: Public[int]
    b: Public[int]


@dataclass(frozen=True, slots=True)
class BreakWall(Command):
    """The wall was opened, and nobody read the dice: their sum is known by the stacks at its right."""

    type: ClassVar[str] = "break_wall"
    stacks: Public[int]


@dataclass(frozen=True, slots=True)
class Deal(Command):
    """Thirteen tiles lie before everybody; None for what was not read."""

    type: ClassVar[str] = "deal"
    hands: Public[tuple[tuple[Tile | None, ...] | None, ...]] = (None, None, None, None)


@dataclass(frozen=True, slots=True)
class LayRinshan(Command):
    """The first replacement tile was laid down."""

    type: ClassVar[str] = "lay_rinshan"


@dataclass(frozen=True, slots=True)
class RevealDora(Command):
    """An indicator was turned; None where it was not read."""

    type: ClassVar[str] = "reveal_dora"
    tile: Public[Tile | None] = None


@dataclass(frozen=True, slots=True)
class CorrectDora(Command):
    """Put a wrongly turned indicator right (row 101)."""

    type: ClassVar[str] = "correct_dora"
    tile: Public[Tile]
    index: Public[int] = 0


# ---- play -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Draw(Command):
    """A seat draws; also the dealer's fourteenth tile after the deal."""

    type: ClassVar[str] = "draw"
    seat: Public[int]
    tile: Public[Tile | None] = None
    rinshan: Public[bool] = False


@dataclass(frozen=True, slots=True)
class Discard(Command):
    """A seat discards; `tsumogiri` None where no drawn-tile slot is sensed."""

    type: ClassVar[str] = "discard"
    seat: Public[int]
    tile: Public[Tile | None]
    tsumogiri: Public[bool | None] = None


@dataclass(frozen=True, slots=True)
class DeclareRiichi(Command):
    """Riichi is said, before the discard."""

    type: ClassVar[str] = "declare_riichi"
    seat: Public[int]
    double: Public[bool] = False
    """Double riichi, where the engine does not see the turns."""


@dataclass(frozen=True, slots=True)
class Chi(Command):
    """Chi of the last discard with two hand tiles."""

    type: ClassVar[str] = "chi"
    seat: Public[int]
    tile: Public[Tile]
    hand_tiles: Public[Hand]


@dataclass(frozen=True, slots=True)
class Pon(Command):
    """Pon of the last discard with two hand tiles."""

    type: ClassVar[str] = "pon"
    seat: Public[int]
    tile: Public[Tile]
    hand_tiles: Public[Hand]
    said_ms: Public[int | None] = None
    """Milliseconds after the discard, where it was measured: a draw made too fast does not kill the call."""


@dataclass(frozen=True, slots=True)
class Daiminkan(Command):
    """Open kan of the last discard with three hand tiles."""

    type: ClassVar[str] = "daiminkan"
    seat: Public[int]
    tile: Public[Tile]
    hand_tiles: Public[Hand]
    said_ms: Public[int | None] = None
    """Milliseconds after the discard, where it was measured: a draw made too fast does not kill the call."""


@dataclass(frozen=True, slots=True)
class Ankan(Command):
    """Closed kan of four hand tiles."""

    type: ClassVar[str] = "ankan"
    seat: Public[int]
    tiles: Public[Hand]


@dataclass(frozen=True, slots=True)
class Kakan(Command):
    """A hand tile is added to an own pon."""

    type: ClassVar[str] = "kakan"
    seat: Public[int]
    tile: Public[Tile]


@dataclass(frozen=True, slots=True)
class KyuushuKyuuhai(Command):
    """Nine kinds of terminals and honours on the first draw: abort the hand."""

    type: ClassVar[str] = "kyuushu_kyuuhai"
    seat: Public[int]
    hand: Public[Hand | None] = None
    """The fourteen tiles, where the engine does not know them."""


@dataclass(frozen=True, slots=True)
class Win(Command):
    """A hand is laid open. `from_seat` = `seat` for tsumo.

    Where the tiles are known nothing else is needed. Otherwise give `hand` (concealed tiles without the
    winning tile, `melds` of the command where no call was seen), or `han` and `fu`, or `limit`.
    """

    type: ClassVar[str] = "win"
    seat: Public[int]
    from_seat: Public[int]
    tile: Public[Tile | None] = None
    hand: Public[Hand | None] = None
    melds: Public[tuple[tuple[Tile, ...], ...] | None] = None
    """Only where calls are not sensed: tiles of each meld; four of a kind with `closed_kans`."""
    closed_kans: Public[int] = 0
    """How many of the first melds are ankan."""
    ura: Public[tuple[Tile, ...] | None] = None
    dora: Public[tuple[Tile, ...] | None] = None
    """Indicators, only where the engine has not seen them."""
    flags: Public[tuple[str, ...]] = ()
    """What only a person saw: ippatsu, rinshan, chankan, haitei, houtei, tenhou, chiihou, renhou."""
    han: Public[int | None] = None
    fu: Public[int | None] = None
    limit: Public[Limit | None] = None
    yakuman: Public[int] = 1
    """How many yakuman, with `limit` = yakuman."""
    pao_seat: Public[int | None] = None
    """Only where calls are not sensed."""
    together: Public[bool] = False
    """Said at the same time as the win that stands: the order of play decides (A45.4)."""
    unclear: Public[bool] = False
    """Tsumo whose drawn tile could not be told from the hand (J-VIII.2)."""


@dataclass(frozen=True, slots=True)
class DeclareTenpai(Command):
    """At the draw: tenpai, the hand laid open where it is not known."""

    type: ClassVar[str] = "declare_tenpai"
    seat: Public[int]
    hand: Public[Hand | None] = None


@dataclass(frozen=True, slots=True)
class DeclareNoten(Command):
    """At the draw: noten, tiles face down."""

    type: ClassVar[str] = "declare_noten"
    seat: Public[int]


@dataclass(frozen=True, slots=True)
class ResultDraw(Command):
    """A drawn hand as a person reports it; `tenpai` by seat for exhaustive and nagashi."""

    type: ClassVar[str] = "result_draw"
    kind: Public[DrawKind]
    tenpai: Public[tuple[bool, bool, bool, bool] | None] = None
    nagashi: Public[tuple[int, ...] | None] = None
    """Seats with nagashi mangan, where the rivers are not seen."""
    seat: Public[int | None] = None


@dataclass(frozen=True, slots=True)
class Settle(Command):
    """The result stands: pay, and name the next dealer."""

    type: ClassVar[str] = "settle"
    stop: Public[bool] = False
    """The dealer of the last hand ends the game, where the ruleset lets him choose (agari-yame)."""


# ---- the referee --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Report(Command):
    """A person reports an infraction by its row of rules 2.3 (`P14`); it becomes a finding."""

    type: ClassVar[str] = "report"
    row: Public[str]
    seat: Public[int | None] = None
    circumstances: Public[tuple[str, ...]] = ()
    """What the referee saw that decides between two classes: `not_undone`, `with_win`, `unplayable`, …"""
    tiles: Public[int] = 0
    """How many tiles were exposed."""
    detail: Public[str] = ""


@dataclass(frozen=True, slots=True)
class SettleFinding(Command):
    """The referee's word: uphold (with another class than proposed, if given) or dismiss."""

    type: ClassVar[str] = "settle_finding"
    finding: Public[int]
    upheld: Public[bool]
    sanction: Public[SanctionClass | None] = None
    seat: Public[int | None] = None
    note: Public[str] = ""


@dataclass(frozen=True, slots=True)
class Sanction(Command):
    """A sanction by class, or by the row of the infraction as the ruleset treats it."""

    type: ClassVar[str] = "sanction"
    seat: Public[int]
    sanction: Public[SanctionClass | None] = None
    row: Public[str] = ""
    circumstances: Public[tuple[str, ...]] = ()
    tiles: Public[int] = 0
    by: Public[Literal["referee", "players"]] = "referee"
    """Players may rule a stop-win where the ruleset lets them (M70)."""
    amount: Public[int | None] = None
    """Placement points in 1/1000 pt taken away, where the class leaves them to the referee."""
    note: Public[str] = ""


@dataclass(frozen=True, slots=True)
class Undo(Command):
    """Take a command back, or decide another in its place; the commands after it are decided again."""

    type: ClassVar[str] = "undo"
    command_id: Public[str]
    reason: Public[str] = ""
    replacement: Public[Json | None] = None
    """A command as JSON that takes the place of the one undone."""


COMMANDS: dict[str, type[Command]] = {
    cls.type: cls
    for cls in (
        StartGame, AdoptGame, SeatThrow, SeatRow, PauseGame, ResumeGame, AbortHand, AbortGame, CallTime,
        ReplacePlayer, AdjustScore, PressStart, WallsReady, RollDice, BreakWall, Deal, LayRinshan, RevealDora,
        CorrectDora, Draw, Discard, DeclareRiichi, Chi, Pon, Daiminkan, Ankan, Kakan, KyuushuKyuuhai, Win,
        DeclareTenpai, DeclareNoten, ResultDraw, Settle, Report, SettleFinding, Sanction, Undo,
    )
}  # fmt: skip
"""Every command by its `type`."""


def command_from_json(value: Mapping[str, Any]) -> Command:
    """The command an object describes; `VocabularyError` where it describes none."""
    kind = value.get("type")
    cls = COMMANDS.get(kind) if isinstance(kind, str) else None
    if cls is None:
        raise VocabularyError("unknown_command", kind, "types are listed in docs/engine.md")
    players = value.get("players")
    if isinstance(players, list) and len(players) == 3:
        raise VocabularyError(
            "three_player_game",
            players,
            "four players are needed: three-player games are not played here",
        )
    return cls.from_json(value)
