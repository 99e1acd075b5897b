"""One model per payload of the bus (docs/bus.md); JSON, times in milliseconds.

A public payload can only be made of what is public: `EventMessage` takes a `PublicView`, whose only
maker masks an engine event, and `StateSnapshot` is read from the state field by field in `snapshot.py`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, RootModel

from tablectl.engine.game.events import Event, mask_event

Wind = Literal["E", "S", "W", "N"]
Seat = Annotated[int, Field(ge=0, le=3)]
Riichi = Literal["no", "declared", "accepted"]
WINDS: tuple[Wind, Wind, Wind, Wind] = ("E", "S", "W", "N")


class Payload(BaseModel):
    """Base of the payloads we publish: fixed fields, compact UTF-8 JSON."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    def encode(self) -> bytes:
        """The bytes on the wire."""
        return self.model_dump_json(by_alias=True).encode()


class Received(BaseModel):
    """Base of what comes in from other daemons: later minor versions may add fields."""

    model_config = ConfigDict(extra="ignore", frozen=True)


# ---- the bridge -----------------------------------------------------------------------------------


class BridgeState(Payload):
    """`bridge/state`: birth, farewell and will. An `offline` of an older epoch is stale."""

    state: Literal["online", "offline"]
    epoch: int
    stream: str
    """The journal's UUID: epochs compare within one stream only."""
    instance: str
    """This process's own UUID."""


class SeenBridgeState(Received):
    """`bridge/state` as somebody published it; a bare `{state, epoch}` is understood too."""

    state: str
    epoch: int
    stream: str | None = None
    instance: str | None = None


class BridgeInfo(Payload):
    """`bridge/info`: who speaks here, and what the table can do."""

    software: str
    protocol: str
    """Version of this tree of topics and payloads."""
    table_name: str
    venue_name: str
    level: Literal["basic", "score", "tiles"] | None
    model: str | None
    serial_number: str | None
    firmware: str | None
    wire: str | None
    """Wire protocol of the board, `major.minor`."""
    wire_schema: str | None
    """Hash of the message declaration both ends agreed on."""
    capabilities: tuple[str, ...]


PROTOCOL = "1.0"


class LinkStatus(Payload):
    """`link`: the serial line to the table."""

    state: Literal["up", "resync", "down"]
    boot_id: int | None
    """Another one: the board has started anew, however short the `resync` between was."""
    since: int
    """Wall time of the change, ms since 1970. Another one: the link was lost, or read anew, in between."""
    reason: str = ""
    reset_cause: str | None = None
    """Why the board started with this `boot_id`: power_on, brown_out, watchdog, pin …; null: not known."""


class MachineTrouble(Payload):
    """One thing that is wrong with the machine itself."""

    part: str
    """`motor lift`, `lid`, `wall 2`, `walls`, `sensor 0`, `tray 3`, `set 1`, `motion`, `machine`."""
    code: str
    """`overheat`, `stalled`, `tile_stuck`, `too_hot`, `unreadable`, `tiles_missing` …"""
    detail: str = ""
    """For a person: a temperature, a count."""


class BridgeHealth(Payload):
    """`bridge/health`: figures for the technician, every 30 s and when `machine` changes; expires after 90 s."""

    t_wall: int
    uptime_s: int
    loop_lag_ms: float
    outbox: int
    """Public events not yet acknowledged by the broker."""
    durable: bool
    link: dict[str, int | float]
    """Counters of the link: frames, crc_errors, retransmits, resets, rtt_ms …"""
    machine: tuple[MachineTrouble, ...] = ()
    """What is wrong with the machine now, as its board tells it."""
    temperatures: dict[str, float] = {}
    """Sensor → °C, as last told."""


# ---- the game -------------------------------------------------------------------------------------


class PublicView:
    """What everybody may see of one event. The only way to make one is to mask an engine event."""

    __slots__ = ("_fields",)

    def __init__(self, event: Event) -> None:
        fields = mask_event(event, "public")
        if fields is None:
            raise SecretEventError(event.type)
        self._fields = fields

    @property
    def fields(self) -> Mapping[str, Any]:
        """`type` and the public fields; hidden values are null."""
        return self._fields


class SecretEventError(TypeError):
    """An event without anything public was about to be published: a defect, caught here."""

    code = "secret_event"

    def __init__(self, event_type: str) -> None:
        super().__init__(f"{event_type} has nothing public: it does not exist on the public feed")
        self.value = event_type


@dataclass(frozen=True, slots=True)
class Stamp:
    """When and where an event was written down."""

    seq: int
    """Gap-free on the public feed, from 1, for the life of the table."""
    id: str
    """UUID of the event, the same on all feeds."""
    epoch: int
    t_wall: int
    """Wall time in ms since 1970, right only when `time_synced`."""
    t_mono: int
    """Monotonic time in ms; compares within one epoch only."""
    time_synced: bool
    durable: bool = True
    retracted: tuple[str, ...] = ()
    """With `undone`: ids of the events of this feed that are void now."""


class EventMessage:
    """`event`: one public event with its stamp, flat: `{epoch, seq, id, stream, …, type, …}`."""

    __slots__ = ("_stamp", "_stream", "seq", "view")

    def __init__(self, stream: str, stamp: Stamp, view: PublicView) -> None:
        self.seq = stamp.seq
        self.view = view
        self._stamp = stamp
        self._stream = stream

    def to_json(self) -> dict[str, Any]:
        """The whole payload as a JSON object."""
        stamp = self._stamp
        out: dict[str, Any] = {
            "epoch": stamp.epoch,
            "seq": stamp.seq,
            "id": stamp.id,
            "stream": self._stream,
            "t_wall": stamp.t_wall,
            "t_mono": stamp.t_mono,
            "time_synced": stamp.time_synced,
        }
        if not stamp.durable:
            out["durable"] = False
        out |= self.view.fields
        if out["type"] == "undone":
            out["retracted_ids"] = list(stamp.retracted)
        return out

    def encode(self) -> bytes:
        """The bytes on the wire."""
        return json.dumps(self.to_json(), separators=(",", ":"), ensure_ascii=False).encode()


class SeenEvent(BaseModel):
    """An event as a subscriber receives it: the envelope is checked, the rest kept as it is."""

    model_config = ConfigDict(extra="allow", frozen=True)

    epoch: int
    seq: int
    id: str
    stream: str
    t_wall: int
    t_mono: int
    time_synced: bool
    durable: bool = True
    type: str

    def field(self, name: str) -> Any:
        """A field of the event itself, None where it is not there."""
        return (self.model_extra or {}).get(name)


class MeldView(Payload):
    """An open meld or ankan as it lies on the table."""

    kind: Literal["chi", "pon", "daiminkan", "ankan", "kakan"]
    tiles: tuple[str, ...]
    from_seat: Seat | None
    called: str | None


class RiverView(Payload):
    """One discard; `tile` null where the machine does not see it."""

    tile: str | None
    tsumogiri: bool | None
    sideways: bool
    called_by: Seat | None


class SeatView(Payload):
    """One side of the table."""

    player: str
    name: str
    wind: Wind | None
    """Null before the first dealer is known."""
    score: int
    riichi: Riichi
    melds: tuple[MeldView, ...]
    river: tuple[RiverView, ...]
    shown: tuple[str, ...] | None
    """The hand, where it was laid open at the draw."""


class RoundView(Payload):
    """Which hand it is."""

    wind: Wind
    number: Annotated[int, Field(ge=1, le=4)]
    honba: int
    deposits: int
    """Riichi sticks on the table, of earlier hands and of this one."""
    dealer: Seat | None


class WinView(Payload):
    """A win that stands, as the result card shows it."""

    seat: Seat
    from_seat: Seat
    tile: str | None
    hand: tuple[str, ...] | None
    yaku: tuple[tuple[str, int], ...]
    yakuman: tuple[str, ...]
    han: int | None
    fu: int | None
    limit: str
    points: int
    deltas: tuple[int, int, int, int]
    dora: tuple[str, ...]
    ura: tuple[str, ...] | None


class ResultView(Payload):
    """The result of the hand that has just ended or waits for settlement."""

    kind: str
    wins: tuple[WinView, ...]
    tenpai: tuple[bool, bool, bool, bool] | None
    deltas: tuple[int, int, int, int]


class FinalView(Payload):
    """How the game ended; `points` in 1/`points_scale` pt."""

    reason: str
    ranks: tuple[int, int, int, int]
    points: tuple[int, int, int, int]
    points_scale: int
    deposits_left: int


class GameView(Payload):
    """The public side of one game."""

    game_id: str
    knowledge: Literal["basic", "score", "tiles"]
    ruleset_id: str
    ruleset_hash: str
    phase: str
    """empty seating ready walls dice deal play tenpai result ended."""
    paused: bool
    round: RoundView
    turn: Seat | None
    dora: tuple[str | None, ...]
    tiles_left: int | None
    """Live tiles in the wall, where the machine counts them."""
    seats: tuple[SeatView, SeatView, SeatView, SeatView]
    result: ResultView | None
    final: FinalView | None


class StateSnapshot(Payload):
    """`state`: the public game and the `seq` of the last public event it includes."""

    epoch: int
    stream: str
    last_seq: int
    last_event: str | None
    """Type of that event."""
    t_wall: int
    time_synced: bool
    durable: bool
    game: GameView | None


class Name(RootModel[str]):
    """`seat/<n>/name`."""


class Score(RootModel[int]):
    """`seat/<n>/score`."""


class SeatWind(RootModel[Wind | None]):
    """`seat/<n>/wind`."""


class RiichiLamp(RootModel[bool]):
    """`seat/<n>/riichi`."""


SCALARS: dict[str, type[RootModel[Any]]] = {
    "name": Name,
    "score": Score,
    "wind": SeatWind,
    "riichi": RiichiLamp,
}
"""Model of each display-friendly value under `seat/<n>/`."""


# ---- answers --------------------------------------------------------------------------------------


class Response(Payload):
    """`response/<name>`: what became of a request.

    `accepted_not_durable`: it counts, but the disk did not take it. `code` is stable, `error` is for
    people.
    """

    status: Literal["accepted", "accepted_not_durable", "refused"]
    code: str | None = None
    error: str | None = None
    transaction: str
    data: dict[str, Any] = {}
    """`event_ids` of an accepted request; `article`, `field`, `hint` of a refused one."""
