"""The same records through `jansou` (PyPI): its menus at each decision, for comparison and for the benchmark."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from jansou.core.hand import CallSource, Meld, MeldType
from jansou.core.rules import PRESETS
from jansou.core.tiles import Tile, TileKind, Wind
from jansou.game import actions as peer
from jansou.game.events import Call as PeerCall
from jansou.game.events import Discard as PeerDiscard
from jansou.game.events import Draw as PeerDraw
from jansou.io.paifu import Agari, Call, Discard, DoraReveal, Draw, Paifu, RoundLog, Ryuukyoku
from jansou.io.replay import replay_round_decisions

from tablectl.engine.game import commands as cmd
from tablectl.engine.game.hands import tenpai_discards
from tablectl.engine.game.legal import claims, own_turn
from tablectl.engine.game.state import EMPTY, GameState
from tablectl.engine.tiles import BY_NAME, KIND, NAMES
from tablectl.records.reader import Record
from tablectl.records.replay import GameReplay, tiles

Place = tuple[int, int, int]
"""Round, moves made in it so far, seat."""
Menus = dict[Place, frozenset[str]]

KINDS = {
    "chi": MeldType.CHII, "pon": MeldType.PON, "daiminkan": MeldType.DAIMINKAN, "ankan": MeldType.ANKAN,
}  # fmt: skip
REASONS = {
    "exhaustive": "exhaustive", "nagashi": "nm", "kyuushu": "yao9", "suufon": "kaze4", "suucha_riichi": "reach4",
    "suukaikan": "kan4", "sanchahou": "ron3",
}  # fmt: skip
SOURCES = {1: CallSource.SHIMOCHA, 2: CallSource.TOIMEN, 3: CallSource.KAMICHA}


def tile_of(text: str) -> Tile:
    code = BY_NAME[text]
    return Tile(TileKind(KIND[code]), red=code > 33)


def tiles_of(text: str) -> tuple[Tile, ...]:
    return tuple(tile_of(NAMES[code]) for code in tiles(text))


# ---- our record as theirs -------------------------------------------------------------------------------


def paifu_of(record: Record) -> Paifu:
    """A plain Tenhou record as jansou reads games."""
    rules = record.raw["rules"]
    preset = replace(
        PRESETS["tenhou"],
        kuitan=bool(rules.get("kuitan", True)),
        aka_dora=bool(rules.get("red", True)),
        game_length=Wind.SOUTH if rules.get("length") == "south" else Wind.EAST,
    )
    return Paifu(rules=preset, player_count=4, rounds=tuple(_round(one) for one in record.rounds))


def _round(one: Mapping[str, Any]) -> RoundLog:
    events: list[Any] = []
    riichi: int | None = None
    pons: dict[tuple[int, int], Meld] = {}
    for event in one["events"]:
        kind = event["e"]
        if kind == "draw":
            events.append(Draw(event["p"], tile_of(event["t"])))
        elif kind == "riichi":
            riichi = event["p"]
        elif kind == "discard":
            declares = riichi == event["p"]
            events.append(
                Discard(
                    event["p"], tile_of(event["t"]), riichi=declares, tsumogiri=bool(event["tg"])
                )
            )
            if declares:
                riichi = None
        elif kind == "dora":
            events.append(DoraReveal(tile_of(event["t"])))
        elif kind in ("chi", "pon", "daiminkan"):
            called = tile_of(event["t"])
            meld = Meld(
                KINDS[kind],
                (called, *tiles_of(event["with"])),
                called=called,
                source=SOURCES[(event["from"] - event["p"]) % 4],
            )
            pons[event["p"], called.kind] = meld
            events.append(Call(event["p"], meld))
        elif kind == "ankan":
            events.append(Call(event["p"], Meld(MeldType.ANKAN, tiles_of(event["tiles"]))))
        elif kind == "kakan":
            added = tile_of(event["t"])
            pon = pons[event["p"], added.kind]
            events.append(
                Call(
                    event["p"],
                    Meld(
                        MeldType.SHOUMINKAN, (*pon.tiles, added), called=pon.called, source=pon.source, added=added
                    ),
                )
            )  # fmt: skip
    return RoundLog(
        round_wind=Wind("ESWN".index(one["wind"])),
        dealer=one["dealer"],
        honba=one["honba"],
        riichi_sticks=one["deposits"],
        initial_dora=tile_of(one["dora"]),
        scores=tuple(one["start"]),
        hands=tuple(tiles_of(hand) for hand in one["hands"]),
        events=tuple(events),
        outcome=_outcome(one),
    )


def _outcome(one: Mapping[str, Any]) -> Any:
    last = one["events"][-1]
    if last["e"] == "drawn":
        tenpai = last.get("tenpai") or [False] * 4
        return Ryuukyoku(REASONS[last["reason"]], tuple(last["deltas"]), tuple(tenpai))
    wins = [event for event in one["events"] if event["e"] == "win"]
    return tuple(
        Agari(
            winner=win["p"],
            from_seat=win["from"],
            winning_tile=tile_of(win["t"]),
            ura_indicators=tiles_of(win["ura"] or ""),
            honba=win["honba"],
            riichi_sticks=win["deposits"],
            deltas=tuple(win["deltas"]),
        )
        for win in wins
    )


# ---- menus ----------------------------------------------------------------------------------------------


def peer_menus(record: Record) -> Menus:
    """Every menu jansou offers in a record."""
    paifu = paifu_of(record)
    found: Menus = {}
    for number in range(len(paifu.rounds)):
        moves = 0

        def count(event: Any) -> None:
            nonlocal moves
            if isinstance(event, PeerDraw | PeerDiscard | PeerCall):
                moves += 1

        for decision in replay_round_decisions(paifu, number, observe=count):
            names = {_peer_name(action) for action in decision.request.actions}
            names -= {"pass", "declaration"}
            if names:
                found[number, moves, decision.request.seat] = frozenset(names)
    return found


def _peer_name(action: Any) -> str:
    if isinstance(action, peer.Discard):
        return f"discard {_text(action.tile)}"
    if isinstance(action, peer.Riichi):
        return f"riichi {_text(action.tile)}"
    if isinstance(action, peer.Chii | peer.Pon):
        kind = "chi" if isinstance(action, peer.Chii) else "pon"
        return f"{kind} {' '.join(sorted(_text(tile) for tile in action.tiles))}"
    if isinstance(action, peer.ClosedKan):
        return f"ankan {NAMES[int(action.kind)]}"
    if isinstance(action, peer.AddedKan):
        return f"kakan {_text(action.tile)}"
    names = {
        peer.Tsumo: "win", peer.Ron: "win", peer.OpenKan: "daiminkan", peer.NineTerminals: "kyuushu",
        peer.Pass: "pass", peer.DeclareTenpai: "declaration",
    }  # fmt: skip
    return names[type(action)]


def _text(tile: Tile) -> str:
    return f"0{NAMES[int(tile.kind)][1]}" if tile.red else NAMES[int(tile.kind)]


def own_menus(record: Record) -> Menus:
    """Every set of legal acts of this engine at the same places."""
    found: Menus = {}
    round_, moves = -1, 0
    robbing = False

    def observe(state: GameState, command: cmd.Command) -> None:
        nonlocal round_, moves, robbing
        if isinstance(command, cmd.PressStart):
            round_, moves = round_ + 1, 0
        elif isinstance(
            command,
            cmd.Draw | cmd.Discard | cmd.Chi | cmd.Pon | cmd.Daiminkan | cmd.Ankan | cmd.Kakan,
        ):
            _look(found, state, round_, moves, robbing=robbing)
            moves += 1
            # jansou shows a kan after its window has closed.
            robbing = isinstance(command, cmd.Kakan | cmd.Ankan)
        elif isinstance(command, cmd.Win | cmd.KyuushuKyuuhai | cmd.ResultDraw | cmd.DeclareRiichi):
            _look(found, state, round_, moves, robbing=robbing)
            robbing = False

    GameReplay(record, observer=observe).run()
    return found


def _look(found: Menus, state: GameState, round_: int, moves: int, *, robbing: bool) -> None:
    if state.phase != "play" or state is EMPTY:
        return
    if state.step in ("own", "call"):
        seat = state.turn
        # Riichi is declared and discarded in one act there: its discards were noted at the declaration.
        if state.seats[seat].riichi != 1:
            found[round_, moves, seat] = frozenset(_own_turn(state, seat))
        return
    for seat in range(4):
        names = set(_names(claims(state, seat)))
        if names:
            found[round_, moves - (1 if robbing else 0), seat] = frozenset(names)


def _own_turn(state: GameState, seat: int) -> Iterator[str]:
    options = own_turn(state, seat)
    yield from _names(option for option in options if not isinstance(option, cmd.DeclareRiichi))
    if any(isinstance(option, cmd.DeclareRiichi) for option in options):
        ready = tenpai_discards(state.rules, state.seats[seat])
        for tile in set(state.seats[seat].hand):
            if KIND[tile] in ready:
                yield f"riichi {NAMES[tile]}"


def _names(options: Any) -> Iterator[str]:
    for one in options:
        if isinstance(one, cmd.Discard) and one.tile is not None:
            yield f"discard {NAMES[one.tile]}"
        elif isinstance(one, cmd.Chi | cmd.Pon):
            yield f"{one.type} {' '.join(sorted(NAMES[t] for t in one.hand_tiles))}"
        elif isinstance(one, cmd.Ankan):
            yield f"ankan {NAMES[KIND[one.tiles[0]]]}"
        elif isinstance(one, cmd.Kakan):
            yield f"kakan {NAMES[one.tile]}"
        elif isinstance(one, cmd.Win):
            yield "win"
        elif isinstance(one, cmd.Daiminkan):
            yield "daiminkan"
        elif isinstance(one, cmd.KyuushuKyuuhai):
            yield "kyuushu"
