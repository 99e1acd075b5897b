"""The state of a game: what the fold of its events knows, and its canonical form.

A `GameState` is never changed once `apply` has returned it: `apply` copies it (one dict copy, parts shared)
and writes to the copy. Tiles that nobody saw are counted (`unknown`), never guessed: one model serves
every level of table.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from tablectl.engine.game.codec import Public, Record, Tile, canonical, tile_text
from tablectl.engine.game.events import (
    DrawKind,
    Four,
    FourNames,
    GameEnd,
    Hand,
    Knowledge,
    SanctionClass,
    Won,
)
from tablectl.engine.rules.model import KanDoraTiming, Ruleset
from tablectl.engine.tiles import KIND

Phase = Literal[
    "empty",  # no game
    "seating",  # seats and first dealer are being drawn
    "ready",  # between hands: the next start press begins one
    "walls",  # start pressed, walls rising
    "dice",  # walls stand, the dealer throws
    "deal",  # broken, tiles are taken
    "play",  # tiles are drawn and discarded
    "tenpai",  # no tile left, seats declare
    "result",  # a result stands and is not settled
    "ended",  # final points are known
]
Step = Literal[
    "none",
    "draw",  # `turn` draws next; until then the last discard may be claimed
    "own",  # `turn` holds a drawn tile (or the dealer's fourteenth)
    "call",  # `turn` has called and must discard
    "rob",  # `turn` has declared a kan that may still be robbed
    "rinshan",  # `turn` takes the replacement tile next
]
MeldKind = Literal["chi", "pon", "daiminkan", "ankan", "kakan"]

PACKED: tuple[int, ...] = tuple(1 << 27 * (kind // 9) + 3 * (kind % 9) for kind in KIND)
"""Tile → its share of a hand's key: three bits a kind, the suit keys of scoring side by side."""
LIVE_AT_DEAL = 70
"""Live tiles after thirteen each were dealt, the dealer's fourteenth among them (1.15.3)."""
NOBODY: Four = (0, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class Meld(Record):
    """An open meld or an ankan; `called` is the tile taken from `from_seat` (None for an ankan)."""

    type: ClassVar[str] = ""
    kind: Public[MeldKind]
    tiles: Public[Hand]
    """All tiles, the called one first, an added one last."""
    from_seat: Public[int | None] = None
    called: Public[Tile | None] = None


@dataclass(frozen=True, slots=True)
class RiverTile(Record):
    """One discard; `called_by` where a call took it away."""

    type: ClassVar[str] = ""
    tile: Public[Tile | None]
    tsumogiri: Public[bool | None] = None
    sideways: Public[bool] = False
    called_by: Public[int | None] = None


class Seat:
    """One side of the table within a hand."""

    hand: tuple[int, ...] = ()
    """Concealed tiles that are known, sorted, the drawn one among them."""
    unknown: int = 0
    """Concealed tiles that are there but not known."""
    drawn: int | None = None
    """The tile just drawn; None: none, or not known."""
    melds: tuple[Meld, ...] = ()
    river: tuple[RiverTile, ...] = ()
    riichi: int = 0
    """0 no, 1 declared, 2 established."""
    double: bool = False
    ippatsu: bool = False
    missed: int = 0
    """0 no, 1 furiten until the own next discard, 2 furiten for the hand."""
    forbidden: frozenset[int] = frozenset()
    """Kinds that must not be discarded right after a call (kuikae)."""
    sideways_due: bool = False
    """The riichi tile was called: the next discard lies sideways."""
    stopped: bool = False
    """Under a stop-win sanction."""
    tenpai: bool | None = None
    """Declared at the draw."""
    shown: tuple[int, ...] | None = None
    """The hand as it was laid open."""
    key: int = 0
    """The known concealed tiles as one number (`PACKED` summed); follows `hand`, no part of the value."""
    waits_cache: int | None = None
    """Waits of the hand as it stands; a cache, no part of the state's value."""

    def copy(self) -> Seat:
        """An equal seat that may be written to."""
        new = object.__new__(Seat)
        new.__dict__.update(self.__dict__)
        return new

    @property
    def concealed(self) -> int:
        """How many tiles the hand holds, known or not."""
        return len(self.hand) + self.unknown

    @property
    def closed(self) -> bool:
        """No open meld (an ankan keeps the hand closed, A40.2)."""
        return all(meld.kind == "ankan" for meld in self.melds)

    def to_json(self) -> dict[str, Any]:
        """Everything of the seat, tiles as text."""
        return {
            "hand": [tile_text(t) for t in self.hand],
            "unknown": self.unknown,
            "drawn": None if self.drawn is None else tile_text(self.drawn),
            "melds": [meld.to_json() for meld in self.melds],
            "river": [tile.to_json() for tile in self.river],
            "riichi": self.riichi,
            "double": self.double,
            "ippatsu": self.ippatsu,
            "missed": self.missed,
            "forbidden": sorted(self.forbidden),
            "sideways_due": self.sideways_due,
            "stopped": self.stopped,
            "tenpai": self.tenpai,
            "shown": None if self.shown is None else [tile_text(t) for t in self.shown],
        }


@dataclass(frozen=True, slots=True)
class Outcome:
    """A result that stands but is not settled."""

    kind: Literal["win"] | DrawKind
    wins: tuple[Won, ...] = ()
    """In the order they are paid."""
    deltas: Four = NOBODY
    tenpai: tuple[bool, bool, bool, bool] | None = None
    nagashi: tuple[int, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """JSON object of the result."""
        return {
            "kind": self.kind,
            "wins": [win.to_json() for win in self.wins],
            "deltas": list(self.deltas),
            "tenpai": None if self.tenpai is None else list(self.tenpai),
            "nagashi": list(self.nagashi),
        }


@dataclass(frozen=True, slots=True)
class FinalResult:
    """How the game ended."""

    reason: GameEnd
    ranks: Four
    points: Four
    points_scale: int
    deposits_left: int

    def to_json(self) -> dict[str, Any]:
        """JSON object of the end."""
        return {
            "reason": self.reason,
            "ranks": list(self.ranks),
            "points": list(self.points),
            "points_scale": self.points_scale,
            "deposits_left": self.deposits_left,
        }


@dataclass(frozen=True, slots=True)
class Finding:
    """A finding and the referee's word on it (`upheld` None: not settled)."""

    number: int
    row: str
    seat: int | None
    proposed: SanctionClass
    article: str
    certainty: str
    secret: bool
    detail: str
    hand: int
    """Number of hands ended before it: which hand it belongs to."""
    upheld: bool | None = None

    def to_json(self) -> dict[str, Any]:
        """JSON object of the finding."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class Game:
    """What stays the same from hand to hand."""

    game_id: str
    knowledge: Knowledge
    auto_deal: bool
    rules: Ruleset
    ruleset_hash: str
    time_limit_min: int | None
    start_scores: Four
    adopted: bool = False

    def to_json(self) -> dict[str, Any]:
        """JSON object; the ruleset by its hash (it stands in full in `game_started`)."""
        return {
            "game_id": self.game_id,
            "knowledge": self.knowledge,
            "auto_deal": self.auto_deal,
            "ruleset_id": self.rules.id,
            "ruleset_hash": self.ruleset_hash,
            "time_limit_min": self.time_limit_min,
            "start_scores": list(self.start_scores),
            "adopted": self.adopted,
        }


@dataclass(frozen=True, slots=True)
class SeatDrawState:
    """How far the seat draw has come (rules 1.14)."""

    step: Literal["provisional", "parity", "row", "dealer1", "dealer2"]
    thrower: int | None
    east: int = 0
    """Provisional East place."""
    odd: bool = False
    """The winds are taken from the 1p end."""

    def to_json(self) -> dict[str, Any]:
        """JSON object of the draw."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class Pao:
    """`liable` answers for `yakuman` of `winner`."""

    winner: int
    yakuman: str
    liable: int


@dataclass(frozen=True, slots=True)
class OpenKan:
    """A kan that may still be robbed."""

    seat: int
    kind: Literal["ankan", "kakan"]
    tile: int


@dataclass(frozen=True, slots=True)
class HandStart:
    """How the hand began: what a replay goes back to."""

    scores: Four = NOBODY
    deposits: int = 0
    replay: bool = False


_NEW_SEATS = (Seat(), Seat(), Seat(), Seat())


class GameState:
    """Everything the engine knows of one game; read its attributes, change it through events only."""

    # --- the game
    phase: Phase = "empty"
    game: Game | None = None
    players: FourNames = ("", "", "", "")
    names: FourNames = ("", "", "", "")
    seat_draw: SeatDrawState | None = None
    paused: bool = False
    scores: Four = NOBODY
    deposits: int = 0
    honba: int = 0
    first_dealer: int = 0
    round_wind: int = 0
    """0 E, 1 S, 2 W, 3 N."""
    hand_number: int = 1
    """1–4 within the round."""
    hands_ended: int = 0
    """Hands ended, aborted and voided ones included."""
    hands_to_play: int = 0
    """Time was called: so many hands remain, the one in progress among them; 0 = no limit."""
    replay: bool = False
    """The next hand is the last one again."""
    voided_by: tuple[int, ...] = ()
    """Seats whose sanction voided the hand that is to be replayed."""
    final: FinalResult | None = None
    placement: Four = NOBODY
    """Sanctions by seat in 1/1000 pt."""
    off_table: int = 0
    """Points that left the game (negative scores were taken off the table by sanctions)."""
    warnings: Four = NOBODY
    findings: tuple[Finding, ...] = ()
    # --- the hand
    hand_start: HandStart = HandStart()
    taken_over: bool = False
    """A person reports the result; what is sensed of tiles decides nothing in this hand."""
    dice: tuple[int, int] | None = None
    wall: tuple[int, int, int] | None = None
    """(wall_seat, stacks, first_stack) of the break."""
    rinshan_laid: bool = False
    seats: tuple[Seat, Seat, Seat, Seat] = _NEW_SEATS
    turn: int = 0
    step: Step = "none"
    live: int = LIVE_AT_DEAL
    """Live tiles not yet drawn."""
    dora: tuple[int | None, ...] = ()
    """Open indicators in the order they were turned."""
    dora_pending: tuple[KanDoraTiming, ...] = ()
    """Indicators that kans still owe, by when they are due."""
    first_turn: bool = False
    """No call and no kan yet: the first go-around is unbroken."""
    discard: tuple[int, int | None] | None = None
    """(seat, tile) of the last discard while it may be claimed."""
    passed_with_draw: tuple[tuple[int, int], ...] = ()
    """(seat, furiten before) of seats the last draw made furiten; a claim that overtakes the draw lifts it."""
    riichi_with_draw: int | None = None
    """The seat whose riichi the last draw established."""
    open_kan: OpenKan | None = None
    rinshan: bool = False
    """The tile in hand is a replacement tile."""
    kans: tuple[int, ...] = ()
    """Seats of the kans made, in order."""
    pao: tuple[Pao, ...] = ()
    outcome: Outcome | None = None

    def copy(self) -> GameState:
        """An equal state that may be written to."""
        new = object.__new__(GameState)
        new.__dict__.update(self.__dict__)
        return new

    @property
    def rules(self) -> Ruleset:
        """The ruleset of the game; only where a game has started."""
        assert self.game is not None
        return self.game.rules

    @property
    def dealer(self) -> int:
        """Seat of the dealer, by the hand's number (also between hands: the next dealer)."""
        return (self.first_dealer + self.hand_number - 1) % 4

    def wind(self, seat: int) -> int:
        """Seat wind: 0 E … 3 N."""
        return (seat - self.dealer) % 4

    @property
    def tiles_known(self) -> bool:
        """The table senses play: draws, discards and calls come as commands."""
        return self.game is not None and self.game.knowledge == "tiles" and not self.taken_over

    def to_json(self) -> dict[str, Any]:
        """The whole state, secrets included; the form replays are compared by."""
        return {
            "phase": self.phase,
            "game": None if self.game is None else self.game.to_json(),
            "players": list(self.players),
            "names": list(self.names),
            "seat_draw": None if self.seat_draw is None else self.seat_draw.to_json(),
            "paused": self.paused,
            "scores": list(self.scores),
            "deposits": self.deposits,
            "honba": self.honba,
            "first_dealer": self.first_dealer,
            "dealer": self.dealer,
            "round_wind": self.round_wind,
            "hand_number": self.hand_number,
            "hands_ended": self.hands_ended,
            "hands_to_play": self.hands_to_play,
            "replay": self.replay,
            "voided_by": list(self.voided_by),
            "final": None if self.final is None else self.final.to_json(),
            "placement": list(self.placement),
            "off_table": self.off_table,
            "warnings": list(self.warnings),
            "findings": [finding.to_json() for finding in self.findings],
            "hand_start": {
                "scores": list(self.hand_start.scores),
                "deposits": self.hand_start.deposits,
                "replay": self.hand_start.replay,
            },
            "taken_over": self.taken_over,
            "dice": None if self.dice is None else list(self.dice),
            "wall": None if self.wall is None else list(self.wall),
            "rinshan_laid": self.rinshan_laid,
            "seats": [seat.to_json() for seat in self.seats],
            "turn": self.turn,
            "step": self.step,
            "live": self.live,
            "dora": [None if t is None else tile_text(t) for t in self.dora],
            "dora_pending": list(self.dora_pending),
            "first_turn": self.first_turn,
            "discard": None
            if self.discard is None
            else [self.discard[0], None if self.discard[1] is None else tile_text(self.discard[1])],
            "passed_with_draw": [list(pair) for pair in self.passed_with_draw],
            "riichi_with_draw": self.riichi_with_draw,
            "open_kan": None
            if self.open_kan is None
            else [self.open_kan.seat, self.open_kan.kind, tile_text(self.open_kan.tile)],
            "rinshan": self.rinshan,
            "kans": list(self.kans),
            "pao": [[p.winner, p.yakuman, p.liable] for p in self.pao],
            "outcome": None if self.outcome is None else self.outcome.to_json(),
        }

    def canonical(self) -> bytes:
        """Canonical JSON of the state: equal states, equal bytes."""
        return canonical(self.to_json())

    @property
    def digest(self) -> str:
        """SHA-256 (hex) of the canonical form."""
        return hashlib.sha256(self.canonical()).hexdigest()


EMPTY = GameState()
"""The state before any game."""
HAND_FIELDS: dict[str, Any] = {
    "taken_over": False,
    "dice": None,
    "wall": None,
    "rinshan_laid": False,
    "seats": _NEW_SEATS,
    "step": "none",
    "live": LIVE_AT_DEAL,
    "dora": (),
    "dora_pending": (),
    "first_turn": True,
    "discard": None,
    "passed_with_draw": (),
    "riichi_with_draw": None,
    "open_kan": None,
    "rinshan": False,
    "kans": (),
    "pao": (),
    "outcome": None,
}
"""What a new hand resets."""
