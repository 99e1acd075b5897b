"""What may be asked on `request/<name>`: one model per name, each of which becomes an engine command.

The web console asks with the same names and the same models. Later requests extend this table; none is
renamed. Seats are the physical sides 0–3; tiles are two characters (`5m`, `0p` red five, `7z` chun).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Annotated, Any, ClassVar, Literal, Protocol

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    model_validator,
)

from tablectl.engine.game import commands
from tablectl.engine.game.codec import VocabularyError, tile_of
from tablectl.engine.game.events import DrawKind, Knowledge, Limit
from tablectl.mirror.submit import Refused

Seat = Annotated[int, Field(ge=0, le=3, strict=True)]
PlayerId = Annotated[str, StringConstraints(pattern=r"[^\s/+#]{1,64}", strict=True)]
Name = Annotated[str, StringConstraints(max_length=64, strict=True)]
Reason = Annotated[str, StringConstraints(min_length=1, max_length=500, strict=True)]


def _tile(value: str) -> str:
    try:
        tile_of(value)
    except VocabularyError as error:
        raise ValueError(error.hint) from None
    return value


def _split(value: object) -> object:
    if not isinstance(value, str):
        return value
    if len(value) % 2:
        raise ValueError("a tile string holds two characters for each tile, such as 1m2m3m")
    return [value[i : i + 2] for i in range(0, len(value), 2)]


TileText = Annotated[str, AfterValidator(_tile)]
Tiles = Annotated[tuple[TileText, ...], BeforeValidator(_split)]
"""Tiles as a list (`["1m", "0p"]`) or as one string (`"1m0p"`)."""


class Context(Protocol):
    """What a request needs to know of its table before it can become a command."""

    @property
    def knowledge(self) -> Knowledge:
        """What the machine reports, by its level."""
        ...

    @property
    def auto_deal(self) -> bool:
        """The machine deals by itself."""
        ...

    @property
    def last_command_id(self) -> str | None:
        """The last command still standing, for an undo that names none."""
        ...

    def new_game_id(self) -> str:
        """An id no game of this table has had."""
        ...

    def resolve_ruleset(self, name: str, options: dict[str, Any]) -> dict[str, Any]:
        """The whole ruleset as JSON; `ValueError` (or its own error with `code`) for an unknown one."""
        ...


class RequestError(ValueError):
    """A request that cannot become a command: stable `code`, the `field` at fault, a hint."""

    def __init__(self, code: str, message: str, hint: str, field: str | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.hint = hint
        self.field = field

    def refusal(self) -> Refused:
        """The same as an answer."""
        return Refused(self.code, str(self), hint=self.hint, field=self.field)


class RequestModel(BaseModel, ABC):
    """Base of the requests: unknown fields are refused, nothing is coerced silently."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    name: ClassVar[str]
    needs_referee: ClassVar[bool] = False

    @abstractmethod
    def command(self, context: Context) -> commands.Command:
        """The engine command this request asks for."""


class GameStart(RequestModel):
    """Start a game: four players by seat, a ruleset, and who deals first (null: the dice decide)."""

    name: ClassVar[str] = "game/start"

    ruleset: str | dict[str, Any] = ""
    """An id, also of the hall's own house rules (empty: the table's own), or a whole ruleset as `rules show ID --json` prints it."""
    options: dict[str, Any] = {}
    """Options of a ruleset named by id, such as `{"length": "tonpuusen", "kuitan": false}`."""
    players: tuple[PlayerId, PlayerId, PlayerId, PlayerId]
    names: tuple[Name, Name, Name, Name] = ("", "", "", "")
    first_dealer: Seat | None = 0
    seat_draw: bool = False
    scores: tuple[int, int, int, int] | None = None
    time_limit_min: Annotated[int, Field(gt=0)] | None = None
    game_id: Annotated[str, StringConstraints(pattern=r"[A-Za-z0-9._-]{1,64}")] | None = None

    @model_validator(mode="after")
    def _four_people(self) -> GameStart:
        if len(set(self.players)) != 4:
            raise ValueError("four different players are needed")
        return self

    def command(self, context: Context) -> commands.Command:
        """`StartGame` with the ruleset written out in full."""
        return commands.StartGame(
            game_id=self.game_id or context.new_game_id(),
            ruleset=_ruleset(context, self.ruleset, self.options),
            players=self.players,
            names=self.names,
            first_dealer=self.first_dealer,
            seat_draw=self.seat_draw,
            knowledge=context.knowledge,
            auto_deal=context.auto_deal,
            scores=self.scores,
            time_limit_min=self.time_limit_min,
        )


class GameAdopt(RequestModel):
    """Take over a game already in progress, between two hands."""

    name: ClassVar[str] = "game/adopt"

    ruleset: str | dict[str, Any] = ""
    options: dict[str, Any] = {}
    players: tuple[PlayerId, PlayerId, PlayerId, PlayerId]
    names: tuple[Name, Name, Name, Name] = ("", "", "", "")
    scores: tuple[int, int, int, int]
    first_dealer: Seat
    wind: Literal["E", "S", "W", "N"]
    """Round wind."""
    number: Annotated[int, Field(ge=1, le=4)]
    """Of the hand within the round: the dealer is `first_dealer + number - 1`."""
    honba: Annotated[int, Field(ge=0)] = 0
    deposits: Annotated[int, Field(ge=0)] = 0
    time_limit_min: Annotated[int, Field(gt=0)] | None = None
    game_id: Annotated[str, StringConstraints(pattern=r"[A-Za-z0-9._-]{1,64}")] | None = None

    def command(self, context: Context) -> commands.Command:
        """`AdoptGame` with the ruleset written out in full."""
        return commands.AdoptGame(
            game_id=self.game_id or context.new_game_id(),
            ruleset=_ruleset(context, self.ruleset, self.options),
            players=self.players,
            names=self.names,
            scores=self.scores,
            first_dealer=self.first_dealer,
            round_wind="ESWN".index(self.wind),
            hand_number=self.number,
            honba=self.honba,
            deposits=self.deposits,
            knowledge=context.knowledge,
            auto_deal=context.auto_deal,
            time_limit_min=self.time_limit_min,
        )


class GameAbort(RequestModel):
    """Break the game off; the scores stand as they are."""

    name: ClassVar[str] = "game/abort"

    reason: Reason

    def command(self, context: Context) -> commands.Command:
        """`AbortGame`."""
        return commands.AbortGame(self.reason)


class GamePause(RequestModel):
    """Let the game rest; it may go on another day."""

    name: ClassVar[str] = "game/pause"

    reason: Annotated[str, StringConstraints(max_length=500)] = ""

    def command(self, context: Context) -> commands.Command:
        """`PauseGame`."""
        return commands.PauseGame(self.reason)


class GameResume(RequestModel):
    """Let a resting game go on."""

    name: ClassVar[str] = "game/resume"

    def command(self, context: Context) -> commands.Command:
        """`ResumeGame`."""
        return commands.ResumeGame()


class HandAbort(RequestModel):
    """Break the hand off; it is played anew with everything as before."""

    name: ClassVar[str] = "hand/abort"

    reason: Reason

    def command(self, context: Context) -> commands.Command:
        """`AbortHand`."""
        return commands.AbortHand(self.reason)


class HandTakeOver(RequestModel):
    """Settle a contradiction: the result of this hand is reported, what the antennas see decides nothing."""

    name: ClassVar[str] = "hand/take_over"

    reason: Reason

    def command(self, context: Context) -> commands.Command:
        """`TakeOver`."""
        return commands.TakeOver(self.reason)


class Riichi(RequestModel):
    """A seat has declared riichi (level basic: no slot sees the stick)."""

    name: ClassVar[str] = "riichi"

    seat: Seat

    def command(self, context: Context) -> commands.Command:
        """`DeclareRiichi`."""
        return commands.DeclareRiichi(self.seat)


class ShownHand(BaseModel):
    """A winning hand typed in as it lies open."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    tiles: Tiles
    """Concealed tiles without the winning tile."""
    tile: TileText
    """The winning tile."""
    melds: tuple[Tiles, ...] = ()
    """Closed kans first, then what was called."""
    closed_kans: Annotated[int, Field(ge=0, le=4)] = 0
    dora: Tiles | None = None
    """Indicators turned, where the machine does not see them."""
    ura: Tiles | None = None
    flags: tuple[str, ...] = ()
    """What only a person saw: ippatsu rinshan chankan haitei houtei tenhou chiihou renhou."""


class ResultWin(RequestModel):
    """A win: by `han` and `fu`, or by `limit`, or by the whole `hand`; `from` = `winner` for tsumo.

    Where the machine sees the tiles, winner and from are enough.
    """

    name: ClassVar[str] = "result/win"

    winner: Seat
    from_: Annotated[Seat, Field(alias="from")]
    han: Annotated[int, Field(ge=1, le=200)] | None = None
    fu: Annotated[int, Field(ge=20, le=200)] | None = None
    limit: Limit | None = None
    yakuman: Annotated[int, Field(ge=1, le=6)] = 1
    """How many yakuman, with `limit` = yakuman."""
    hand: ShownHand | None = None
    pao: Seat | None = None
    """Who is liable for the yakuman, where the calls were not seen."""

    @model_validator(mode="after")
    def _one_way(self) -> ResultWin:
        ways = [self.han is not None, self.limit is not None, self.hand is not None]
        if sum(ways) > 1:
            raise ValueError("give one of: han with fu, limit, hand")
        if self.fu is not None and self.han is None:
            raise ValueError("fu needs han")
        return self

    def command(self, context: Context) -> commands.Command:
        """`Win`."""
        hand = self.hand
        return commands.Win(
            seat=self.winner,
            from_seat=self.from_,
            tile=tile_of(hand.tile) if hand else None,
            hand=_tiles(hand.tiles) if hand else None,
            melds=tuple(_tiles(meld) for meld in hand.melds) if hand and hand.melds else None,
            closed_kans=hand.closed_kans if hand else 0,
            dora=_tiles(hand.dora) if hand and hand.dora is not None else None,
            ura=_tiles(hand.ura) if hand and hand.ura is not None else None,
            flags=hand.flags if hand else (),
            han=self.han,
            fu=self.fu,
            limit=self.limit,
            yakuman=self.yakuman,
            pao_seat=self.pao,
        )


class ResultDraw(RequestModel):
    """A hand without a winner; `tenpai` by seat where it matters (exhaustive, nagashi)."""

    name: ClassVar[str] = "result/draw"

    kind: DrawKind = "exhaustive"
    tenpai: tuple[bool, bool, bool, bool] | None = None
    nagashi: tuple[Seat, ...] | None = None
    """Seats with nagashi mangan, where the rivers are not seen."""
    seat: Seat | None = None
    """Who declared kyuushu kyuuhai."""

    @model_validator(mode="after")
    def _complete(self) -> ResultDraw:
        if self.kind in ("exhaustive", "nagashi") and self.tenpai is None:
            raise ValueError("an exhaustive draw needs tenpai: four times true or false, by seat")
        if self.kind == "kyuushu" and self.seat is None:
            raise ValueError("kyuushu needs the seat that declared it")
        return self

    def command(self, context: Context) -> commands.Command:
        """`ResultDraw`."""
        return commands.ResultDraw(self.kind, self.tenpai, self.nagashi, self.seat)


class Settle(RequestModel):
    """The result stands: pay, and name the next dealer."""

    name: ClassVar[str] = "settle"

    def command(self, context: Context) -> commands.Command:
        """`Settle`."""
        return commands.Settle()


class Undo(RequestModel):
    """Take back the last command still standing, or one inside the ruleset's correction window."""

    name: ClassVar[str] = "undo"

    command_id: Annotated[str, StringConstraints(min_length=1, max_length=64)] | None = None
    reason: Annotated[str, StringConstraints(max_length=500)] = ""

    def command(self, context: Context) -> commands.Command:
        """`Undo`; `RequestError` when nothing stands that could be taken back."""
        target = self.command_id or context.last_command_id
        if target is None:
            raise RequestError(
                "nothing_to_undo", "no command stands", "there is nothing to take back"
            )
        return commands.Undo(target, self.reason)


REQUESTS: dict[str, type[RequestModel]] = {
    model.name: model
    for model in (
        GameStart, GameAdopt, GameAbort, GamePause, GameResume, HandAbort, HandTakeOver, Riichi, ResultWin, ResultDraw, Settle, Undo,
    )
}  # fmt: skip
"""Every request by the name after `request/`."""

Role = Literal["operator", "referee"]


def parse(name: str, data: object) -> RequestModel:
    """The request `data` describes, or a `RequestError` that names the field and what to write."""
    model = REQUESTS.get(name)
    if model is None:
        raise RequestError(
            "unknown_request",
            f"there is no request {name!r}",
            f"known: {', '.join(REQUESTS)}",
            "name",
        )
    if not isinstance(data, dict):
        raise RequestError(
            "bad_request", "the payload is no JSON object", 'write {"field": value, …}'
        )
    try:
        return model.model_validate(data)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        field = ".".join(str(part) for part in first["loc"]) or None
        known = ", ".join(f.alias or key for key, f in model.model_fields.items()) or "none"
        raise RequestError(
            "bad_request",
            f"{name}: {field + ': ' if field else ''}{first['msg']}",
            f"fields of {name}: {known}",
            field,
        ) from None


def _ruleset(
    context: Context, named: str | dict[str, Any], options: dict[str, Any]
) -> dict[str, Any]:
    if isinstance(named, str):
        return context.resolve_ruleset(named, options)
    if options:
        raise RequestError(
            "bad_request", "options go with a ruleset named by id", "leave options out", "options"
        )
    return named


def _tiles(texts: tuple[str, ...]) -> tuple[int, ...]:
    return tuple(tile_of(text) for text in texts)
