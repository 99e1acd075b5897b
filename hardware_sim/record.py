"""A game record as movements: who draws, discards, calls, lays a stick, opens a hand.

Reads only what hands and machines need from a record of the uniform format (one JSON object per
game: `players`, `rules`, `rounds` of `events`). Yaku, han, fu, points, deltas and scores are not
read: a table does not know them.
"""

from __future__ import annotations

import gzip
import io
import json
import lzma
import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Literal, cast

from hardware_sim import scenario
from hardware_sim.errors import RecordError
from hardware_sim.tags import KINDS, full_set, split_tiles
from hardware_sim.wall import INDICATORS, LIVE_START, RINSHAN, TILES, URA, dealt_to

SEATS = 4
StepKind = Literal[
    "draw", "discard", "riichi", "stick", "chi", "pon", "daiminkan", "ankan", "kakan",
    "indicator", "win", "show",
]  # fmt: skip
CALLS = frozenset({"chi", "pon", "daiminkan"})


@dataclass(frozen=True, slots=True)
class Step:
    """One thing a hand of a person does; `index` is the event's place in the record's hand."""

    kind: StepKind
    seat: int
    index: int
    tile: str = ""
    """The tile drawn, discarded, claimed or added."""
    tiles: tuple[str, ...] = ()
    """Tiles from the hand that go into the meld."""
    source: int = -1
    """Seat the claimed or winning tile comes from; the winner himself on tsumo."""
    tsumogiri: bool = False
    rinshan: bool = False
    turns_ura: bool = False
    """This winner was in riichi: what lies under the indicators is turned."""


@dataclass(frozen=True, slots=True)
class Hand:
    """One hand (kyoku) of a record, ready for a table."""

    number: int
    """0-based place in the game."""
    dealer: int
    honba: int
    round_wind: int
    """0 E … 3 N."""
    round_number: int
    dice: tuple[int, int] | None
    """None where the record has none: the simulator rolls seeded ones."""
    wall: tuple[str, ...]
    """136 tiles by draw index (`wall.py`)."""
    steps: tuple[Step, ...]
    drawn_reason: str = ""
    """Reason of a drawn hand (`exhaustive`, `kyuushu` …), empty when it ends in a win."""

    @property
    def ends_in_win(self) -> bool:
        """True when a hand was laid open to win."""
        return not self.drawn_reason


@dataclass(frozen=True, slots=True)
class Game:
    """A game ready for a table."""

    id: str
    reds: bool
    """The sets hold one red five of each suit."""
    hands: tuple[Hand, ...]


def load(where: str, seed: int = 0) -> Game:
    """The game of `FILE` or `FILE#ID` (`.jsonl`, `.json`, `.xz`, `.gz`, `.toml`). Raises RecordError."""
    raw = find(where, seed)
    if "rounds" not in raw:
        raise RecordError(
            f"{where} is no game record: there are no rounds in it",
            value=where,
            hint="one game on each line, as 'tablectl selfplay' writes them",
        )
    return parse(raw, seed)


def find(where: str, seed: int = 0) -> dict[str, Any]:
    """The raw object of `FILE#ID`, or the first one of `FILE`; a `.toml` is a scenario. Raises RecordError."""
    name, _, wanted = where.partition("#")
    path = Path(name)
    if not path.is_file():
        raise RecordError(
            f"no game record {name}",
            value=where,
            hint="give FILE or FILE#ID, such as games.jsonl#g0002",
        )
    if path.suffix == ".toml":
        return scenario.read(path, seed)
    try:
        for text in _objects(path):
            if wanted and f'"{wanted}"' not in text:
                continue
            game = json.loads(text)
            if isinstance(game, dict) and (not wanted or game.get("id") == wanted):
                return game
    except UnicodeDecodeError as error:
        raise RecordError(
            f"{name} is no game record: it is no UTF-8 text",
            value=where,
            hint="name a .jsonl, .json, .xz or .gz file",
        ) from error
    except (OSError, EOFError, lzma.LZMAError, json.JSONDecodeError) as error:
        raise RecordError(
            f"{name} is no game record: {error}",
            value=where,
            hint="one JSON object per line is expected",
        ) from error
    if wanted:
        raise RecordError(
            f"{name} holds no game {wanted}", value=where, hint='ids stand in the field "id"'
        )
    raise RecordError(f"{name} is empty", value=where, hint="a game is one JSON object on a line")


def _objects(path: Path) -> Iterator[str]:
    with _open(path) as stream:
        text = io.TextIOWrapper(stream, encoding="utf-8-sig")
        if path.suffix == ".json":
            yield text.read()
            return
        for line in text:
            if line.strip():
                yield line


def _open(path: Path) -> IO[bytes]:
    if path.suffix == ".xz":
        return cast("IO[bytes]", lzma.open(path))
    if path.suffix == ".gz":
        return cast("IO[bytes]", gzip.open(path))
    return path.open("rb")


def parse(game: dict[str, Any], seed: int = 0) -> Game:
    """A raw record as movements; what it leaves open (walls, ura) is filled in by `seed`."""
    name = str(game.get("id", "?"))
    rules = game.get("rules") or {}
    if rules.get("players", len(game.get("players") or ())) not in (0, SEATS):
        raise RecordError(
            f"game {name} is not for four players",
            value=name,
            hint="three-player games are not played here",
        )
    rounds = game.get("rounds")
    if not isinstance(rounds, list) or not rounds:
        raise RecordError(f"game {name} has no rounds", value=name)
    reds = bool(rules.get("red", _any_red(rounds)))
    hands = []
    for number, raw in enumerate(rounds):
        try:
            hands.append(_hand(number, raw, reds, random.Random(f"{seed}/{name}/{number}")))
        except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
            raise RecordError(
                f"game {name}, hand {number}: {error!r}", value=f"{name}/{number}",
                hint="the record lacks what a hand on a table needs",
            ) from error  # fmt: skip
        except RecordError as error:
            raise RecordError(
                f"game {name}, hand {number}: {error.message}", value=error.value, hint=error.hint
            ) from None
    return Game(name, reds, tuple(hands))


def _any_red(rounds: list[Any]) -> bool:
    return any("0" in text for r in rounds for text in r.get("hands", ()))


def _hand(number: int, raw: dict[str, Any], reds: bool, rng: random.Random) -> Hand:
    events = raw["events"]
    steps: list[Step] = []
    reason = ""
    last_discarder = -1
    ura_turned = False
    for index, event in enumerate(events):
        kind = event["e"]
        if kind == "win":
            turn = event.get("ura") != "" and not ura_turned and _in_riichi(events, event["p"])
            ura_turned |= turn
            steps.append(
                Step("win", event["p"], index, event["t"], source=event["from"], turns_ura=turn)
            )
        elif kind == "drawn":
            reason = event["reason"]
            steps += [Step("show", seat, index) for seat in _shown(event, last_discarder)]
        else:
            steps.append(_step(event, index))
            if kind == "discard":
                last_discarder = event["p"]
    return Hand(
        number, raw["dealer"], raw.get("honba", 0), "ESWN".index(raw.get("wind", "E")), raw.get("num", 1),
        tuple(raw["dice"]) if raw.get("dice") else None, _wall(raw, reds, rng), tuple(steps), reason,
    )  # fmt: skip


def _in_riichi(events: list[dict[str, Any]], seat: int) -> bool:
    return any(e["e"] == "riichi" and e["p"] == seat for e in events)


_STEP_OF: dict[str, StepKind] = {
    "draw": "draw", "discard": "discard", "riichi": "riichi", "riichi_ok": "stick", "chi": "chi",
    "pon": "pon", "daiminkan": "daiminkan", "ankan": "ankan", "kakan": "kakan", "dora": "indicator",
}  # fmt: skip


def _step(event: dict[str, Any], index: int) -> Step:
    name = event["e"]
    if name not in _STEP_OF:
        raise RecordError(
            f"event {index} is {name!r}, which no four-player table knows", value=name
        )
    kind = _STEP_OF[name]
    if kind == "ankan":
        tiles = tuple(split_tiles(event["tiles"]))
    else:
        tiles = tuple(split_tiles(event.get("with", "")))
    return Step(
        kind, event.get("p", -1), index, event.get("t", ""), tiles, event.get("from", -1),
        bool(event.get("tg")), bool(event.get("rinshan")),
    )  # fmt: skip


def _shown(event: dict[str, Any], last_discarder: int) -> list[int]:
    """Seats that lay their hand open at a drawn hand."""
    reason = event["reason"]
    tenpai = event.get("tenpai")
    if reason in {"exhaustive", "nagashi"} and tenpai:
        return [seat for seat in range(SEATS) if tenpai[seat]]
    if reason == "kyuushu":
        return [event["p"]]
    shown = event.get("shown")
    if shown:
        return [seat for seat in range(SEATS) if shown[seat]]
    if reason == "sanchahou":
        return [(last_discarder + k) % SEATS for k in (1, 2, 3)]
    return list(range(SEATS)) if reason == "suucha_riichi" else []


# ---------------------------------------------------------------------- the wall


def _wall(raw: dict[str, Any], reds: bool, rng: random.Random) -> tuple[str, ...]:
    """136 tiles by draw index: the record's wall, or one that gives every tile it names."""
    known = _known_tiles(raw)
    if raw.get("wall"):
        wall = split_tiles(raw["wall"])
        if len(wall) != TILES:
            raise RecordError(f"a wall has {TILES} tiles, not {len(wall)}", value=len(wall))
        for t, tile in known.items():
            if wall[t] != tile:
                raise RecordError(
                    f"draw {t} is {tile} in the events and {wall[t]} in the wall", value=t,
                    hint='remove the field "wall": the simulator builds one from the events',
                )  # fmt: skip
        return tuple(wall)
    rest = Counter(full_set(reds))
    rest.subtract(known.values())
    short = sorted(tile for tile, left in rest.items() if left < 0)
    if short:
        raise RecordError(f"more {', '.join(short)} than a set holds", value=short)
    loose = sorted(rest.elements())
    rng.shuffle(loose)
    return tuple(known[t] if t in known else loose.pop() for t in range(TILES))


def _known_tiles(raw: dict[str, Any]) -> dict[int, str]:
    """Draw index → tile, for every tile whose place the events fix."""
    known: dict[int, str] = {}
    dealer = raw["dealer"]
    wall = split_tiles(raw["wall"]) if raw.get("wall") else None
    for seat, text in enumerate(raw["hands"]):
        tiles = split_tiles(text)
        places = dealt_to(seat, dealer)
        if len(tiles) != len(places):
            raise RecordError(f"seat {seat} was dealt {len(tiles)} tiles, not 13", value=text)
        if wall is None:
            known |= dict(zip(places, tiles, strict=True))
        elif len(wall) == TILES and sorted(tiles) != sorted(wall[t] for t in places):
            raise RecordError(f"the hand of seat {seat} is not what the wall deals", value=text)
    live, replaced, turned = LIVE_START, 0, 1
    known[INDICATORS[0]] = raw["dora"]
    for event in raw["events"]:
        kind = event["e"]
        if kind == "draw" and event.get("rinshan"):
            known[RINSHAN[replaced]] = event["t"]
            replaced += 1
        elif kind == "draw":
            known[live] = event["t"]
            live += 1
        elif kind == "dora":
            known[INDICATORS[turned]] = event["t"]
            turned += 1
        elif kind == "win" and event.get("ura"):
            known |= dict(zip(URA, split_tiles(event["ura"]), strict=False))
    for t, tile in known.items():
        if tile not in KINDS:
            raise RecordError(f"draw {t} is {tile!r}, which is no tile", value=tile)
    return known
