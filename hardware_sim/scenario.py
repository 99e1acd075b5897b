"""Hands written by a person: a TOML file that names only the tiles that matter.

    id = "robbed kan"
    red = true

    [[hand]]
    dealer = 0
    dice = [3, 2]
    dora = "1z"
    hands = ["1m2m3m", "", "", "5p5p"]     # the rest of each hand comes by chance
    story = '''
    0 draws
    0 discards 5p
    3 pons 5p with 5p5p
    3 discards
    …
    '''

It becomes a raw game record; `record.parse` does the rest.
"""

from __future__ import annotations

import random
import re
import tomllib
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hardware_sim.errors import RecordError
from hardware_sim.tags import KINDS, full_set, split_tiles
from hardware_sim.textfile import SAVE_AS, read_text

HAND = 13
TILE = r"[0-9][mpsz]"
SEATS = range(4)
Event = dict[str, Any]

_FORMS: list[tuple[str, Callable[[re.Match[str]], Event]]] = [
    (rf"(?P<p>[0-3]) draws(?: (?P<t>{TILE}))?(?P<r> from the dead wall)?", lambda m: {
        "e": "draw", "p": int(m["p"]), "t": m["t"], **({"rinshan": True} if m["r"] else {})}),
    (rf"(?P<p>[0-3]) discards(?: (?P<t>{TILE}))?", lambda m: {
        "e": "discard", "p": int(m["p"]), "t": m["t"], "tg": m["t"] is None}),
    (r"(?P<p>[0-3]) declares riichi", lambda m: {"e": "riichi", "p": int(m["p"])}),
    (r"(?P<p>[0-3]) lays a stick", lambda m: {"e": "riichi_ok", "p": int(m["p"])}),
    (rf"(?P<p>[0-3]) (?P<k>chi|pon|kan)s (?P<t>{TILE}) with (?P<w>(?:{TILE})+)", lambda m: {
        "e": {"kan": "daiminkan"}.get(m["k"], m["k"]), "p": int(m["p"]), "t": m["t"], "with": m["w"]}),
    (rf"(?P<p>[0-3]) kans (?P<t>(?:{TILE}){{4}})", lambda m: {
        "e": "ankan", "p": int(m["p"]), "tiles": m["t"]}),
    (rf"(?P<p>[0-3]) adds (?P<t>{TILE})", lambda m: {"e": "kakan", "p": int(m["p"]), "t": m["t"]}),
    (rf"indicator(?: (?P<t>{TILE}))?", lambda m: {"e": "dora", "t": m["t"]}),
    (rf"(?P<p>[0-3]) wins(?: on (?P<t>{TILE}) of (?P<f>[0-3]))?", lambda m: {
        "e": "win", "p": int(m["p"]), "t": m["t"], "from": int(m["f"] or m["p"]), "ura": None}),
    (r"(?P<s>nobody|[0-3](?:(?:, | and )[0-3])*) shows? at the end", lambda m: {
        "e": "drawn", "reason": "exhaustive",
        "tenpai": [str(s) in m["s"] for s in SEATS]}),
    (r"(?P<p>[0-3]) shows nine terminals", lambda m: {"e": "drawn", "reason": "kyuushu", "p": int(m["p"])}),
    (r"(?P<w>suufon|suucha_riichi|suukaikan|sanchahou)", lambda m: {"e": "drawn", "reason": m["w"]}),
]  # fmt: skip
FORMS = (
    "S draws [TILE] [from the dead wall]", "S discards [TILE]", "S declares riichi", "S lays a stick",
    "S chis|pons|kans TILE with TILES", "S kans TILES", "S adds TILE", "indicator [TILE]", "S wins [on TILE of S]",
    "S and S show at the end", "nobody shows at the end", "S shows nine terminals", "suufon", "suucha_riichi",
    "suukaikan", "sanchahou",
)  # fmt: skip
"""What a line of a story may say. A discard without a tile is the drawn one."""


def read(path: Path, seed: int = 0) -> dict[str, Any]:
    """The raw record of a scenario file. Raises RecordError with file and line of the story."""
    try:
        raw = tomllib.loads(read_text(path))
    except OSError as error:
        raise RecordError(
            f"{path.name} cannot be read: {error.strerror}",
            value=str(path),
            hint="name a scenario file",
        ) from error
    except UnicodeDecodeError as error:
        raise RecordError(
            f"{path.name} is no UTF-8 text: {error.reason}", value=str(path), hint=SAVE_AS
        ) from error
    except tomllib.TOMLDecodeError as error:
        raise RecordError(
            f"{path.name} is no scenario: {error}", value=str(path), hint="see docs/simulator.md"
        ) from error
    name = str(raw.get("id", path.stem))
    reds = bool(raw.get("red", True))
    hands = raw.get("hand")
    if not isinstance(hands, list) or not hands:
        raise RecordError(
            f"{path.name} has no [[hand]]", value=str(path), hint="see docs/simulator.md"
        )
    rounds = [
        _round(hand, reds, f"{path.name}, hand {number}", random.Random(f"{seed}/{name}/{number}"))
        for number, hand in enumerate(hands, 1)
    ]
    return {"id": name, "rules": {"players": 4, "red": reds}, "rounds": rounds}


def _round(hand: dict[str, Any], reds: bool, where: str, rng: random.Random) -> dict[str, Any]:
    events = _story(str(hand.get("story", "")), where)
    held = [split_tiles(text) for text in hand.get("hands", ["", "", "", ""])]
    if len(held) != len(SEATS) or any(len(tiles) > HAND for tiles in held):
        raise RecordError(
            f"{where}: hands are four, of at most {HAND} tiles", value=hand.get("hands")
        )
    loose = _loose(hand, held, events, reds, where, rng)
    for tiles in held:
        tiles += [loose.pop() for _ in range(HAND - len(tiles))]
    _fill_in(events, loose)
    return {
        "wind": hand.get("wind", "E"), "num": hand.get("num", 1), "honba": hand.get("honba", 0),
        "dealer": hand.get("dealer", 0), "dice": hand.get("dice"), "dora": hand.get("dora") or loose.pop(),
        "hands": ["".join(tiles) for tiles in held], "events": events,
    }  # fmt: skip


def _story(text: str, where: str) -> list[Event]:
    events: list[Event] = []
    for number, line in enumerate(text.strip().splitlines(), 1):
        words = " ".join(line.partition("#")[0].split())
        if words:
            events.append(_event(words, f"{where}, line {number}"))
    if not events or events[-1]["e"] not in {"win", "drawn"}:
        raise RecordError(
            f"{where}: the story has no end", value=where, hint="… wins, or … show at the end"
        )
    return events


def _event(words: str, where: str) -> Event:
    for form, make in _FORMS:
        match = re.fullmatch(form, words)
        if match:
            return make(match)
    raise RecordError(f"{where}: {words!r} says nothing", value=where, hint="; ".join(FORMS))


def _loose(hand: dict[str, Any], held: list[list[str]], events: list[Event], reds: bool, where: str,
           rng: random.Random) -> list[str]:  # fmt: skip
    """Shuffled tiles that neither hands nor story name."""
    named = [tile for tiles in held for tile in tiles]
    named += [e["t"] for e in events if e["e"] in {"draw", "dora"} and e["t"]]
    named += [hand["dora"]] if hand.get("dora") else []
    odd = sorted(set(named) - KINDS)
    rest = Counter(full_set(reds))
    rest.subtract(named)
    over = sorted(tile for tile, left in rest.items() if left < 0)
    if odd or over:
        raise RecordError(
            f"{where}: no set holds these tiles: {', '.join(odd or over)}", value=odd or over
        )
    loose = sorted(rest.elements())
    rng.shuffle(loose)
    return loose


def _fill_in(events: list[Event], loose: list[str]) -> None:
    """Give a tile to every draw and discard that names none, a source to every call."""
    drawn: dict[int, str] = {}
    last = (-1, "")
    for event in events:
        kind = event["e"]
        if kind in {"draw", "dora"}:
            event["t"] = event["t"] or loose.pop()
            if kind == "draw":
                drawn[event["p"]] = event["t"]
        elif kind == "discard":
            event["t"] = event["t"] or drawn.get(event["p"], "")
            event["tg"] = event["tg"] or event["t"] == drawn.get(event["p"])
            last = (event["p"], event["t"])
        elif kind in {"chi", "pon", "daiminkan"}:
            event["from"] = last[0]
        elif kind == "win":
            event["t"] = event["t"] or drawn.get(event["p"], "")
