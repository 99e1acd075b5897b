"""Random winning hands as cases of the JSON contract: every shape, meld, wait and circumstance."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from typing import Any

Case = dict[str, Any]

_NUMBERS = [f"{rank}{suit}" for suit in "mps" for rank in range(1, 10)]
_HONOURS = [f"{rank}z" for rank in range(1, 8)]
_YAOCHU = [name for name in _NUMBERS + _HONOURS if name[0] in "19" or name[1] == "z"]
_FOLLOWS = {
    **{f"{rank}{suit}": f"{rank % 9 + 1}{suit}" for suit in "mps" for rank in range(1, 10)},
    "1z": "2z", "2z": "3z", "3z": "4z", "4z": "1z", "5z": "6z", "6z": "7z", "7z": "5z",
}  # fmt: skip


def random_wins(
    seed: int, number: int, ruleset: str = "tenhou", *, reds: bool = True
) -> Iterator[Case]:
    """`number` winning shapes under one ruleset, the same for the same seed; some lack a yaku."""
    rng = random.Random(seed)
    made = 0
    while made < number:
        case = _case(rng, reds=reds)
        if case is not None:
            made += 1
            yield {"id": f"{seed}-{made}", "ruleset": ruleset, **case}


def _case(rng: random.Random, *, reds: bool) -> Case | None:
    concealed, melds = _shape(rng)
    held = Counter(concealed) + Counter(t for _, tiles in melds for t in tiles)
    if max(held.values()) > 4:
        return None
    win_tile = rng.choice(concealed)
    concealed.remove(win_tile)
    rng.shuffle(concealed)
    tsumo = rng.random() < 0.45
    seat = rng.choice("ESWN")
    is_open = any(kind != "ankan" for kind, _ in melds)
    riichi = 0 if is_open else rng.choice((0, 0, 1, 1, 1, 2))
    flags = _flags(rng, melds, riichi, tsumo=tsumo, alone=held[win_tile] == 1)
    room = held + Counter()
    indicators = []
    for _ in range(2 * rng.choice((1, 1, 1, 2, 3))):
        # Half of the indicators point at a tile of the hand.
        aimed = [t for t in _FOLLOWS if _FOLLOWS[t] in held] if rng.random() < 0.3 else []
        tile = rng.choice(aimed or list(_FOLLOWS))
        if room[tile] > 3:
            return None
        room[tile] += 1
        indicators.append(tile)
    case = {
        "concealed": concealed,
        "melds": [{"type": kind, "tiles": list(tiles)} for kind, tiles in melds],
        "win_tile": win_tile,
        "win": "tsumo" if tsumo else "ron",
        "seat_wind": seat,
        "round_wind": rng.choice("EESSW"),
        "from": None if tsumo else rng.choice([wind for wind in "ESWN" if wind != seat]),
        "riichi": riichi,
        "flags": flags,
        "dora_indicators": indicators[::2],
        "ura_indicators": indicators[1::2] if riichi else [],
        "honba": rng.choice((0, 0, 0, 1, 2, 5)),
        "deposits": max(rng.choice((0, 0, 1, 2)), int(riichi > 0)),
    }
    if reds:
        _redden(rng, case)
    case["concealed"] = "".join(case["concealed"])
    case["melds"] = [{**meld, "tiles": "".join(meld["tiles"])} for meld in case["melds"]]
    return case


def _shape(rng: random.Random) -> tuple[list[str], list[tuple[str, list[str]]]]:
    dice = rng.random()
    if dice < 0.06:
        return [name for name in rng.sample(_NUMBERS + _HONOURS, 7) for _ in range(2)], []
    if dice < 0.07:
        return [*_YAOCHU, rng.choice(_YAOCHU)], []
    # Hands lean towards one suit, terminals or honours, as real ones do; that is where readings are many.
    numbers = _NUMBERS
    if rng.random() < 0.25:
        suit = rng.choice("mps")
        numbers = [name for name in _NUMBERS if name[1] == suit]
    runs = rng.random() < 0.75
    concealed: list[str] = []
    melds: list[tuple[str, list[str]]] = []
    calls = rng.choice((0, 0, 0, 0, 1, 1, 2, 3))
    for place in range(4):
        kinds = numbers if rng.random() < 0.8 else _HONOURS
        if kinds is numbers and rng.random() < (0.85 if runs else 0.25):
            low = rng.choice([name for name in numbers if int(name[0]) < 8])
            tiles, kind = [f"{int(low[0]) + step}{low[1]}" for step in range(3)], "chi"
        else:
            tiles, kind = [rng.choice(kinds)] * 3, "pon"
        if kind == "pon" and rng.random() < 0.08:
            melds.append((rng.choice(("ankan", "ankan", "daiminkan", "kakan")), tiles + tiles[:1]))
        elif place < calls:
            melds.append((kind, tiles))
        else:
            concealed += tiles
    concealed += [rng.choice(numbers if rng.random() < 0.75 else _HONOURS)] * 2
    return concealed, melds


def _flags(
    rng: random.Random,
    melds: list[tuple[str, list[str]]],
    riichi: int,
    *,
    tsumo: bool,
    alone: bool,
) -> list[str]:
    flags = []
    kans = any(len(tiles) == 4 for _, tiles in melds)
    if tsumo and kans and rng.random() < 0.3:
        return ["rinshan"]
    if riichi and rng.random() < 0.2:
        flags.append("ippatsu")
    if not tsumo and alone and rng.random() < 0.05:
        flags.append("chankan")
    elif rng.random() < 0.05:
        flags.append("haitei" if tsumo else "houtei")
    elif not melds and not riichi and rng.random() < 0.01:
        flags.append("first_turn")
    return flags


def _redden(rng: random.Random, case: Case) -> None:
    """One five a suit may be the red one; of four fives one is."""
    groups = [case["concealed"], *[meld["tiles"] for meld in case["melds"]]]
    for suit in "mps":
        five = f"5{suit}"
        there = sum(tiles.count(five) for tiles in groups) + (case["win_tile"] == five)
        if there < 4 and rng.random() < 0.5:
            continue
        for tiles in groups:
            if five in tiles:
                tiles[tiles.index(five)] = f"0{suit}"
                break
