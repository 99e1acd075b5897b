"""Chi, pon and the three kans: what each seat may claim or declare, and what it leads to (rules 1.4, 1.5)."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from typing import Literal

from tablectl.engine.game import commands as cmd
from tablectl.engine.game import events as ev
from tablectl.engine.game.commands import Refusal
from tablectl.engine.game.events import Event, Hand
from tablectl.engine.game.hands import ankan_keeps, kuikae
from tablectl.engine.game.late import before_the_draw
from tablectl.engine.game.liability import pao_of_call
from tablectl.engine.game.passing import abort_due, indicator_due, passed
from tablectl.engine.game.referee import find, played_by_machine
from tablectl.engine.game.state import GameState, Seat
from tablectl.engine.tiles import KIND, NAMES, is_run

Answer = list[Event] | Refusal
MAX_KANS = 4


def may_claim(state: GameState, number: int) -> Refusal | None:
    """Why seat `number` cannot chi, pon or daiminkan the last discard, or None."""
    if state.phase != "play" or state.discard is None or state.step != "draw":
        return Refusal(
            "nothing_to_call", "no discard can be called now", "", "1.17.2", number, "P19"
        )
    if state.discard[0] == number:
        return Refusal("own_discard", "nobody calls the own discard", value=number)
    seat = state.seats[number]
    if seat.riichi:
        return Refusal(
            "riichi_hand_is_fixed", "after riichi nothing is called", "", "A39.8", number, "P15"
        )
    if seat.stopped:
        return Refusal("stopped", "a stopped hand may not call", "", "A54.3", number, "P39")
    if state.live == 0 and not state.rules.call_last_discard:
        return Refusal(
            "last_discard",
            "the last discard cannot be called",
            "",
            state.rules.ref("call_last_discard"),
            number,
            "P41",
        )
    if abort_due(state):
        return Refusal("hand_is_drawn", "the hand ends here, only a ron stands", "", "T18", number)
    return None


def _holds(seat: Seat, tiles: Hand) -> bool:
    missing = Counter(tiles) - Counter(seat.hand)
    return missing.total() <= seat.unknown


def _claim(
    state: GameState, command: cmd.Chi | cmd.Pon | cmd.Daiminkan, need: int
) -> Refusal | None:
    refusal = may_claim(state, command.seat)
    if refusal:
        return refusal
    assert state.discard is not None
    tile = state.discard[1]
    if tile is not None and tile != command.tile:
        return Refusal(
            "wrong_tile",
            f"the last discard is {NAMES[tile]}, not {NAMES[command.tile]}",
            "",
            "A40",
            NAMES[command.tile],
            "P15",
        )
    if len(command.hand_tiles) != need or not _holds(state.seats[command.seat], command.hand_tiles):
        return Refusal(
            "tiles_not_in_hand",
            f"seat {command.seat} does not hold these {need} tiles",
            "",
            "A40",
            " ".join(NAMES[t] for t in command.hand_tiles),
            "P15",
        )
    return indicator_due(state, "next")


def _leaves_a_discard(seat: Seat, used: Hand, forbidden: tuple[int, ...]) -> bool:
    """Whether some tile may still be discarded after the call (row 49)."""
    if not forbidden or seat.unknown:
        return True
    rest = Counter(seat.hand) - Counter(used)
    return any(KIND[tile] not in forbidden for tile in rest)


def chi(state: GameState, command: cmd.Chi) -> Answer:
    """Three in a row with the left neighbour's discard."""
    refusal = _claim(state, command, 2)
    if refusal:
        return refusal
    assert state.discard is not None
    if (state.discard[0] + 1) % 4 != command.seat:
        return Refusal(
            "not_left_neighbour",
            "chi is called on the left neighbour's discard only",
            "",
            "A41",
            row="P15",
        )
    if not is_run([KIND[t] for t in (command.tile, *command.hand_tiles)]):
        return Refusal("no_run", "these three tiles are no run", "", "A41", row="P15")
    return _call(state, command.seat, "chi", command.tile, command.hand_tiles)


def pon(state: GameState, command: cmd.Pon) -> Answer:
    """Three alike with anybody's discard."""
    late = _overtakes(state, command)
    if late is not None:
        answer = pon(late[0], command)
        return answer if isinstance(answer, Refusal) else late[1] + answer
    refusal = _claim(state, command, 2)
    if refusal:
        return refusal
    if len({KIND[t] for t in (command.tile, *command.hand_tiles)}) != 1:
        return Refusal("not_alike", "a pon is three tiles alike", "", "A42", row="P15")
    return _call(state, command.seat, "pon", command.tile, command.hand_tiles)


def _overtakes(
    state: GameState, command: cmd.Pon | cmd.Daiminkan
) -> tuple[GameState, list[Event]] | None:
    if command.said_ms is None or command.seat == state.turn:
        return None
    return before_the_draw(state, None, ron=False, said_ms=command.said_ms)


def _call(
    state: GameState, number: int, kind: Literal["chi", "pon"], tile: int, hand_tiles: Hand
) -> Answer:
    seat = state.seats[number]
    forbidden = kuikae(state.rules, tile, hand_tiles)
    if not _leaves_a_discard(seat, hand_tiles, forbidden):
        return Refusal(
            "no_discard_left",
            "after this call every tile left would be forbidden",
            "",
            state.rules.ref("kuikae"),
            number,
            "P14",
        )
    assert state.discard is not None
    source = state.discard[0]
    called = ev.Called(
        number,
        kind,
        source,
        tile,
        hand_tiles,
        forbidden,
        pao_of_call(state, number, kind, tile, hand_tiles),
    )
    return [*passed(state), called]


def daiminkan(state: GameState, command: cmd.Daiminkan) -> Answer:
    """An open kan of a discard."""
    late = _overtakes(state, command)
    if late is not None:
        answer = daiminkan(late[0], command)
        return answer if isinstance(answer, Refusal) else late[1] + answer
    refusal = _claim(state, command, 3) or may_kan(state, command.seat)
    if refusal:
        return refusal
    if len({KIND[t] for t in (command.tile, *command.hand_tiles)}) != 1:
        return Refusal("not_alike", "a kan is four tiles alike", "", "A43", row="P15")
    assert state.discard is not None
    called = ev.Called(
        command.seat,
        "daiminkan",
        state.discard[0],
        command.tile,
        command.hand_tiles,
        (),
        pao_of_call(state, command.seat, "daiminkan", command.tile, command.hand_tiles),
    )
    return [*passed(state), called]


# ---- kans in one's own turn -------------------------------------------------------------------------


def may_kan(state: GameState, number: int) -> Refusal | None:
    """Why no kan can be made at all: four were made, or no live tile would be left to refill (A43.5–6)."""
    if len(state.kans) >= MAX_KANS:
        return Refusal(
            "fifth_kan", "four kans were made, a fifth cannot be", "", "A43.5", number, "P41"
        )
    if state.live == 0:
        return Refusal(
            "kan_on_last_tile", "no kan with the last live tile", "", "A43.6", number, "P41"
        )
    return None


def _may_kan_now(state: GameState, number: int) -> Refusal | None:
    if state.phase != "play" or state.turn != number or state.step != "own":
        return Refusal("not_your_turn", "a kan follows one's own draw", "", "A43.10", number, "P15")
    seat = state.seats[number]
    if seat.riichi == 1:
        return Refusal(
            "discard_due", "riichi was said: a tile is discarded next", "", "A39.13", number
        )
    if seat.stopped:
        return Refusal("stopped", "a stopped hand may not make a kan", "", "A54.3", number, "P39")
    return may_kan(state, number)


def ankan(state: GameState, command: cmd.Ankan) -> Answer:
    """A closed kan; after riichi as the ruleset allows (row 83)."""
    refusal = _may_kan_now(state, command.seat)
    if refusal:
        return refusal
    seat = state.seats[command.seat]
    if (
        len(command.tiles) != 4
        or len({KIND[t] for t in command.tiles}) != 1
        or not _holds(seat, command.tiles)
    ):
        return Refusal(
            "tiles_not_in_hand",
            "an ankan is four tiles alike of the own hand",
            "",
            "A43.10",
            " ".join(NAMES[t] for t in command.tiles),
            "P15",
        )
    findings: list[Event] = []
    if seat.riichi == 2 and not may_ankan_in_riichi(state, command.seat, KIND[command.tiles[0]]):
        if played_by_machine(state.rules):
            return Refusal(
                "riichi_ankan",
                "this kan is not allowed after riichi",
                "",
                state.rules.ref("riichi_ankan"),
                row="P7",
            )
        findings = find(state, "P7", command.seat, secret=True)
    return [ev.AnkanDeclared(command.seat, command.tiles), *findings]


def may_ankan_in_riichi(state: GameState, number: int, kind: int) -> bool:
    """Whether a hand in riichi may make this ankan; True where not all its tiles are known."""
    seat = state.seats[number]
    if state.rules.riichi_ankan == "none":
        return False
    if seat.unknown:
        return True
    if seat.drawn is None or KIND[seat.drawn] != kind:
        return False
    return ankan_keeps(state.rules, seat, seat.drawn)


def kakan(state: GameState, command: cmd.Kakan) -> Answer:
    """A tile is added to an own pon; it may be robbed until the next act."""
    refusal = _may_kan_now(state, command.seat)
    if refusal:
        return refusal
    seat = state.seats[command.seat]
    kind = KIND[command.tile]
    if not any(meld.kind == "pon" and KIND[meld.tiles[0]] == kind for meld in seat.melds):
        return Refusal(
            "no_pon", "there is no own pon of that tile", "", "A43.13", NAMES[command.tile], "P15"
        )
    if not _holds(seat, (command.tile,)):
        return Refusal(
            "tile_not_in_hand",
            "the added tile is not in the hand",
            "",
            "A43.13",
            NAMES[command.tile],
            "P15",
        )
    return [ev.KakanDeclared(command.seat, command.tile)]


# ---- what can be called, for `legal` ------------------------------------------------------------------


def chi_options(state: GameState, number: int) -> list[cmd.Chi]:
    """Every legal chi of the last discard, each choice of red fives on its own."""
    if may_claim(state, number) or state.discard is None:
        return []
    source, tile = state.discard
    seat = state.seats[number]
    if (
        tile is None
        or (source + 1) % 4 != number
        or KIND[tile] >= 27
        or indicator_due(state, "next")
    ):
        return []
    kind = KIND[tile]
    near = sorted({t for t in seat.hand if t != kind and abs(KIND[t] - kind) <= 2})
    return [
        cmd.Chi(number, tile, pair)
        for pair in combinations(near, 2)
        if is_run([kind, KIND[pair[0]], KIND[pair[1]]])
        and _leaves_a_discard(seat, pair, kuikae(state.rules, tile, pair))
    ]


def pon_options(state: GameState, number: int) -> list[cmd.Pon | cmd.Daiminkan]:
    """Every legal pon and daiminkan of the last discard."""
    if may_claim(state, number) or state.discard is None:
        return []
    tile = state.discard[1]
    if tile is None or indicator_due(state, "next"):
        return []
    seat = state.seats[number]
    same = [t for t in seat.hand if KIND[t] == KIND[tile]]
    out: list[cmd.Pon | cmd.Daiminkan] = [
        cmd.Pon(number, tile, pair)
        for pair in sorted(set(combinations(same, 2)))
        if _leaves_a_discard(seat, pair, kuikae(state.rules, tile, pair))
    ]
    if len(same) == 3 and not may_kan(state, number):
        out.append(cmd.Daiminkan(number, tile, (same[0], same[1], same[2])))
    return out


def kan_options(state: GameState, number: int) -> list[cmd.Ankan | cmd.Kakan]:
    """Every legal ankan and kakan in the own turn."""
    if _may_kan_now(state, number):
        return []
    seat = state.seats[number]
    counts = Counter(KIND[t] for t in seat.hand)
    out: list[cmd.Ankan | cmd.Kakan] = []
    for kind, count in counts.items():
        if count == 4 and (seat.riichi != 2 or may_ankan_in_riichi(state, number, kind)):
            a, b, c, d = (t for t in seat.hand if KIND[t] == kind)
            out.append(cmd.Ankan(number, (a, b, c, d)))
    if not seat.riichi:
        for meld in seat.melds:
            if meld.kind == "pon" and counts[KIND[meld.tiles[0]]]:
                tile = next(t for t in seat.hand if KIND[t] == KIND[meld.tiles[0]])
                out.append(cmd.Kakan(number, tile))
    return out
