"""Whole games played by the engine against itself, written as records: every win computed by our rules.

The same seed and ruleset give the same bytes. The format is that of `../shared/data/README.md`; what it has
no field for stands under `x_tablectl` (the resolved ruleset, the seed).
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from tablectl.engine.game import commands as cmd
from tablectl.engine.game import events as ev
from tablectl.engine.game.apply import apply_all
from tablectl.engine.game.commands import Command, Refusal
from tablectl.engine.game.decide import decide
from tablectl.engine.game.events import Event
from tablectl.engine.game.legal import claims, legal
from tablectl.engine.game.state import EMPTY, GameState
from tablectl.engine.game.wall import (
    DEAL,
    DEALERS_FOURTEENTH,
    FIRST_LIVE_DRAW,
    INDICATORS,
    REPLACEMENTS,
)
from tablectl.engine.rules import Ruleset
from tablectl.engine.tiles import KIND, NAMES, RED
from tablectl.records.player import Player

SEATS: Final = range(4)
NAMES_OF_PLAYERS: Final = ("Aoi", "Botan", "Chika", "Daichi")
MAX_HANDS: Final = 60
"""A game that does not end in so many hands is a defect of the rules, not bad luck."""
LIMITS: Final = ("none", "mangan", "haneman", "baiman", "sanbaiman", "yakuman")
CLAIMS: Final = (cmd.Win, cmd.Chi, cmd.Pon, cmd.Daiminkan)
FEATURES: Final = ("riichi_win", "open_win", "kan", "exhaustive", "dealer_repeat")
"""What a bundled record must hold."""


class SelfPlayError(RuntimeError):
    """The engine refused what it had called legal: a defect, told with the command."""

    code: Final = "selfplay"

    def __init__(self, command: Command, refusal: Refusal) -> None:
        super().__init__(f"{command} was refused: {refusal.code}: {refusal.message}")


class SelfPlay:
    """One game; `record()` plays it to its end."""

    def __init__(self, rules: Ruleset, seed: int, *, first_dealer: int | None = None) -> None:
        self._rules = rules
        self._seed = seed
        self._rng = random.Random(f"tablectl/{rules.id}/{seed}")
        self._first = self._rng.randrange(4) if first_dealer is None else first_dealer
        self._players = [
            Player(seat, random.Random(f"tablectl/{rules.id}/{seed}/{seat}")) for seat in SEATS
        ]
        self.state: GameState = EMPTY
        self._wall: list[int] = []
        self._replaced = 0
        self._live = FIRST_LIVE_DRAW
        self._out: list[dict[str, Any]] = []
        self._accepted: list[int] = []

    def record(self, game_id: str) -> dict[str, Any]:
        """The whole game as a record."""
        self._do(
            cmd.StartGame(
                game_id=game_id,
                ruleset=self._rules.to_dict(),
                players=NAMES_OF_PLAYERS,
                first_dealer=self._first,
            )
        )
        rounds = []
        while self.state.phase == "ready":
            rounds.append(self._hand())
            if len(rounds) > MAX_HANDS:
                raise RuntimeError(f"{game_id}: {MAX_HANDS} hands and no end")
        final = self.state.final
        assert final is not None
        return {
            "id": game_id,
            "source": {"repo": "tablectl", "licence": "MIT"},
            "format": "tablectl",
            "dora_timing": "logged",
            "rules": {
                "site": "tablectl",
                "players": 4,
                "length": "south" if self._rules.length == "hanchan" else "east",
                "red": self._rules.aka,
                "kuitan": self._rules.kuitan,
            },
            "complete": True,
            "players": list(NAMES_OF_PLAYERS),
            "rounds": rounds,
            "tags": sorted(features(rounds)),
            "final": {
                "scores": list(self.state.scores),
                "points": [points / final.points_scale for points in final.points],
            },
            "x_tablectl": {
                "ruleset": self._rules.to_dict(),
                "ruleset_id": self._rules.id,
                "seed": self._seed,
            },
        }

    # ---- one hand -----------------------------------------------------------------------------------

    def _hand(self) -> dict[str, Any]:
        self._wall = self._set()
        self._rng.shuffle(self._wall)
        self._replaced, self._live = 0, FIRST_LIVE_DRAW
        self._out, self._accepted = [], []
        dice = (self._rng.randint(1, 6), self._rng.randint(1, 6))
        (started,) = (
            event for event in self._do(cmd.PressStart()) if isinstance(event, ev.HandStarted)
        )
        self._do(cmd.WallsReady())
        self._do(cmd.RollDice(*dice))
        hands = [
            tuple(sorted(self._wall[t] for t in DEAL[(seat - started.dealer) % 4]))
            for seat in SEATS
        ]
        self._do(cmd.Deal((hands[0], hands[1], hands[2], hands[3])))
        self._do(cmd.RevealDora(self._wall[INDICATORS[0]]))
        self._draw(started.dealer, DEALERS_FOURTEENTH)
        while self.state.phase == "play":
            self._step()
        for seat in SEATS:
            if self.state.phase == "tenpai" and self.state.seats[seat].tenpai is None:
                self._declare(seat)
        self._write_result(hands)
        (ended,) = (event for event in self._do(cmd.Settle()) if isinstance(event, ev.HandEnded))
        return {
            "wind": "ESWN"[started.round_wind],
            "num": started.hand_number,
            "honba": started.honba,
            "deposits": started.deposits,
            "dealer": started.dealer,
            "start": list(started.scores),
            "dice": list(dice),
            "dora": NAMES[self._wall[INDICATORS[0]]],
            "hands": [_text(hand) for hand in hands],
            "wall": _text(self._wall),
            "events": self._out,
            "end": list(ended.scores),
            "deposits_after": ended.deposits,
            "finished": True,
        }

    def _set(self) -> list[int]:
        """136 tiles, with the red fives of the ruleset in place of plain ones."""
        tiles = [kind for kind in range(34) for _ in range(4)]
        if self._rules.aka:
            for five, red in RED.items():
                tiles[tiles.index(five)] = red
        return tiles

    def _step(self) -> None:
        state = self.state
        if state.step in ("own", "call"):
            self._own_turn(state.turn)
        elif self._claim() or self.state.phase != "play":
            return
        elif state.step in ("rob", "rinshan"):
            kan = state.open_kan
            self._replace(kan.seat if kan is not None else state.turn)
        else:
            self._go_on(state)

    def _own_turn(self, seat: int) -> None:
        state = self.state
        options = legal(state, seat)
        if not any(isinstance(option, cmd.Discard) for option in options):
            # A kan's indicator is due before the discard; a tsumo may still come first.
            win = next((option for option in options if isinstance(option, cmd.Win)), None)
            if win is not None:
                self._win(win)
            else:
                self._reveal()
            return
        choice = self._players[seat].own_turn(state, options)
        if isinstance(choice, cmd.Win):
            self._win(choice)
        elif isinstance(choice, cmd.DeclareRiichi):
            self._do(choice)
            self._note("riichi", seat)
            self._discard(
                self._players[seat].discard(
                    self.state, [o for o in legal(self.state, seat) if isinstance(o, cmd.Discard)]
                )
            )
        elif isinstance(choice, cmd.Discard):
            self._discard(choice)
        else:
            self._call(choice)

    def _discard(self, choice: cmd.Discard) -> None:
        seat = self.state.seats[choice.seat]
        assert choice.tile is not None
        # Of two equal tiles the drawn one goes, unless the hand has nothing new.
        tsumogiri = seat.drawn == choice.tile
        self._do(cmd.Discard(choice.seat, choice.tile, tsumogiri))
        self._note("discard", choice.seat, t=NAMES[choice.tile], tg=tsumogiri)

    def _claim(self) -> bool:
        """Let the others claim, in the order of precedence; True when somebody did."""
        state = self.state
        source = state.open_kan.seat if state.open_kan is not None else None
        if source is None:
            source = state.discard[0] if state.discard is not None else None
        if source is None:
            return False
        order = [(source + k) % 4 for k in (1, 2, 3)]
        wanted = {
            seat: choice
            for seat in order
            if (choice := self._players[seat].claim(state, claims(state, seat))) is not None
        }
        rons = [ron for seat in order if isinstance(ron := wanted.get(seat), cmd.Win)]
        if rons:
            for ron in rons[:1] if self._rules.multi_ron == "head_bump" else rons:
                if self.state.phase in ("play", "result"):
                    self._win(ron)
            return True
        calls = [wanted[seat] for seat in order if seat in wanted]
        calls.sort(key=lambda call: isinstance(call, cmd.Chi))
        if not calls:
            return False
        self._call(calls[0])
        return True

    def _go_on(self, state: GameState) -> None:
        """Nobody claimed: the next seat draws, or the hand ends here."""
        options = [o for o in legal(state, state.turn) if not isinstance(o, CLAIMS)]
        if not options:
            self._reveal()
        elif isinstance(options[0], cmd.Draw):
            self._draw(state.turn, self._live)
            self._live += 1
        elif isinstance(options[0], cmd.ResultDraw):
            self._do(options[0])
        else:
            self._declare(state.turn)

    def _replace(self, seat: int) -> None:
        if not any(isinstance(option, cmd.Draw) for option in legal(self.state, seat)):
            self._reveal()
            return
        t = REPLACEMENTS[self._replaced]
        self._replaced += 1
        self._do(cmd.Draw(seat, self._wall[t], rinshan=True))
        self._note("draw", seat, t=NAMES[self._wall[t]], rinshan=True)

    def _draw(self, seat: int, t: int) -> None:
        self._do(cmd.Draw(seat, self._wall[t]))
        self._note("draw", seat, t=NAMES[self._wall[t]])

    def _reveal(self) -> None:
        tile = self._wall[INDICATORS[len(self.state.dora)]]
        self._do(cmd.RevealDora(tile))
        self._out.append({"e": "dora", "t": NAMES[tile]})

    def _declare(self, seat: int) -> None:
        options = legal(self.state, seat)
        said = next((o for o in options if isinstance(o, cmd.DeclareTenpai)), options[0])
        self._do(said)

    def _call(self, choice: Command) -> None:
        if isinstance(choice, cmd.KyuushuKyuuhai):
            self._do(choice)
            return
        state = self.state
        source = state.discard[0] if state.discard is not None else choice.seat  # type: ignore[attr-defined]  # all calls have one
        pon = _pon_of(state, choice) if isinstance(choice, cmd.Kakan) else ""
        self._do(choice)
        match choice:
            case cmd.Chi() | cmd.Pon() | cmd.Daiminkan():
                self._note(
                    choice.type, choice.seat, **{"from": source},
                    t=NAMES[choice.tile], **{"with": _text(choice.hand_tiles)},
                )  # fmt: skip
            case cmd.Ankan():
                self._note("ankan", choice.seat, tiles=_text(choice.tiles))
            case cmd.Kakan():
                self._note("kakan", choice.seat, t=NAMES[choice.tile], pon=pon)

    def _win(self, choice: cmd.Win) -> None:
        state = self.state
        ura: tuple[int, ...] = ()
        if state.seats[choice.seat].riichi == 2 and self._rules.ura_dora:
            turned = len(state.dora) if self._rules.kan_ura_dora else 1
            ura = tuple(self._wall[t + 1] for t in INDICATORS[:turned])
        if choice.seat == choice.from_seat:
            tile = state.seats[choice.seat].drawn
        else:
            assert state.discard is not None or state.open_kan is not None
            tile = state.discard[1] if state.discard is not None else state.open_kan.tile  # type: ignore[union-attr]  # one of them is there
        self._do(cmd.Win(choice.seat, choice.from_seat, tile, ura=ura))

    # ---- engine and record --------------------------------------------------------------------------

    def _do(self, command: Command) -> list[Event]:
        answer = decide(self.state, command)
        if isinstance(answer, Refusal):
            raise SelfPlayError(command, answer)
        self.state = apply_all(self.state, answer)
        for event in answer:
            if isinstance(event, ev.RiichiAccepted):
                # Established by the act that follows the discard: it stands before that act.
                self._out.append({"e": "riichi_ok", "p": event.seat})
        return answer

    def _note(self, kind: str, seat: int, **facts: Any) -> None:
        self._out.append({"e": kind, "p": seat, **facts})

    def _write_result(self, dealt: list[tuple[int, ...]]) -> None:
        outcome = self.state.outcome
        assert outcome is not None
        if outcome.wins:
            self._out += [self._win_event(won) for won in outcome.wins]
            return
        drawn: dict[str, Any] = {
            "e": "drawn",
            "reason": outcome.kind,
            "deltas": list(outcome.deltas),
            "shown": self._shown(outcome.tenpai),
        }
        if outcome.tenpai is not None:
            drawn["tenpai"] = list(outcome.tenpai)
        if outcome.nagashi:
            drawn["nagashi"] = list(outcome.nagashi)
        if outcome.kind == "kyuushu":
            drawn["p"] = self.state.turn
            drawn["shown"][self.state.turn] = _text(self.state.seats[self.state.turn].hand)
        self._out.append(drawn)

    def _shown(self, tenpai: tuple[bool, ...] | None) -> list[str | None]:
        if tenpai is None:
            return [None] * 4
        return [
            _text(seat.hand) if shows else None
            for seat, shows in zip(self.state.seats, tenpai, strict=True)
        ]

    def _win_event(self, won: ev.Won) -> dict[str, Any]:
        seat = self.state.seats[won.seat]
        yakuman = bool(won.yakuman)
        event: dict[str, Any] = {
            "e": "win",
            "p": won.seat,
            "from": won.from_seat,
            "hand": _text(won.hand or ()),
            "melds": [_meld(meld) for meld in seat.melds],
            "t": None if won.tile is None else NAMES[won.tile],
            "fu": won.fu,
            "han": None if yakuman else won.han,
            "points": won.points,
            "limit": LIMITS.index(won.limit),
            "yaku": [] if yakuman else [[one.name, one.han] for one in won.yaku],
            "yakuman": [one.name for one in won.yakuman],
            "dora": _text(won.dora),
            "ura": _text(won.ura or ()),
            "honba": won.honba,
            "deposits": won.deposits,
            "deltas": list(won.deltas),
        }
        if won.pao_seat is not None:
            event["pao"] = won.pao_seat
        return event


def features(rounds: list[dict[str, Any]]) -> set[str]:
    """Which of the things a demo should show are in these hands."""
    found: set[str] = set()
    for number, round_ in enumerate(rounds):
        events = round_["events"]
        kinds = {event["e"] for event in events}
        if kinds & {"ankan", "kakan", "daiminkan"}:
            found.add("kan")
        if any(event["e"] == "drawn" and event["reason"] == "exhaustive" for event in events):
            found.add("exhaustive")
        for win in (event for event in events if event["e"] == "win"):
            if any(meld["k"] != "ankan" for meld in win["melds"]):
                found.add("open_win")
            if any(name in ("riichi", "double_riichi") for name, _ in win["yaku"]):
                found.add("riichi_win")
        if number and rounds[number - 1]["dealer"] == round_["dealer"]:
            found.add("dealer_repeat")
    return found


def games(
    rules: Ruleset,
    seed: int,
    *,
    need: frozenset[str] = frozenset(),
    tried: Callable[[int], None] = lambda _seed: None,
) -> Iterator[dict[str, Any]]:
    """Game after game from `seed` on; those without all that is needed are passed over."""
    while True:
        tried(seed)
        record = SelfPlay(rules, seed).record(f"{rules.id}-{seed}")
        if need <= set(record["tags"]):
            yield record
        seed += 1


def _meld(meld: Any) -> dict[str, Any]:
    out: dict[str, Any] = {"k": meld.kind, "tiles": _text(meld.tiles)}
    if meld.from_seat is not None:
        out["from"] = meld.from_seat
    if meld.called is not None:
        out["called"] = NAMES[meld.called]
    if meld.kind == "kakan":
        out["added"] = NAMES[meld.tiles[-1]]
    return out


def _pon_of(state: GameState, kakan: cmd.Kakan) -> str:
    return next(
        _text(meld.tiles)
        for meld in state.seats[kakan.seat].melds
        if meld.kind == "pon" and KIND[meld.tiles[0]] == KIND[kakan.tile]
    )


def _text(tiles: Any) -> str:
    return "".join(NAMES[tile] for tile in tiles)


def as_line(record: Mapping[str, Any]) -> str:
    """One line of a record file, the same bytes for the same record."""
    return json.dumps(record, ensure_ascii=False, separators=(",", ":"))
