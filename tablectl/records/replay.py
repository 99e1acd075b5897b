"""Game records through the engine: every act legal, every win, payment, next hand and final point compared.

A field that is null in the record is not compared, and counted. What differs is a `Mismatch` that names
game, hand, act and both values; after one the game goes on from what the record says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any

from tablectl.engine.game import commands as cmd
from tablectl.engine.game import events as ev
from tablectl.engine.game.apply import apply_all
from tablectl.engine.game.commands import Command, Refusal
from tablectl.engine.game.decide import decide
from tablectl.engine.game.events import Event, Hand
from tablectl.engine.game.legal import is_legal
from tablectl.engine.game.state import EMPTY, GameState, Meld
from tablectl.engine.rules import Ruleset
from tablectl.engine.tiles import BY_NAME, KIND, NAMES, text_of
from tablectl.records.reader import FORM_ERRORS, WINDS, Record, no_record, ruleset_of
from tablectl.records.walls import ura_in, wall_differences

Observer = Callable[[GameState, Command], None]
"""Sees each state with the command that is decided in it (what `--check` of positions hooks into)."""

_LIMIT_NUMBER = {"none": 0, "mangan": 1, "haneman": 2, "baiman": 3, "sanbaiman": 4, "yakuman": 5}
_FLOW = (cmd.Draw, cmd.RevealDora, cmd.ResultDraw)
"""Acts nobody chooses."""
_PLAIN = {"suuankou_tanki": "suuankou", "junsei_chuuren": "chuuren", "kokushi_13": "kokushi"}
"""The rarer wait has a name of its own only where it counts twice."""
_DRAGONS = frozenset({"haku", "hatsu", "chun"})
_CALLS = frozenset({"chi", "pon", "daiminkan", "kakan"})
_START_FIELDS = {
    "round_wind": "wind", "hand_number": "num", "honba": "honba", "deposits": "deposits",
    "dealer": "dealer", "scores": "start",
}  # fmt: skip
"""What a hand starts with: the engine's name and the record's."""


@dataclass(frozen=True, slots=True)
class Mismatch:
    """One difference: where (`event` from 0, None for the hand as a whole), and which field of the record.

    `expected` is what the record says, `got` what the engine found. The fields `refused`, `legal` and
    `finding` are about an act as a whole.
    """

    game: str
    hand: str
    event: int | None
    field: str
    expected: str
    got: str

    def to_json(self) -> dict[str, Any]:
        """JSON object."""
        return {name: getattr(self, name) for name in self.__slots__}

    def __str__(self) -> str:
        at = "" if self.event is None else f" event {self.event}"
        return (
            f"{self.game} {self.hand}{at}: {self.field}: record {self.expected}, engine {self.got}"
        )


@dataclass(slots=True)
class Report:
    """What a replay found."""

    games: int = 0
    hands: int = 0
    wins: int = 0
    events: int = 0
    uncompared: int = 0
    mismatches: list[Mismatch] = field(default_factory=list)


class StopReplay(Exception):  # noqa: N818 # it ends a hand, it is no error
    """The hand cannot go on: the record asks for what the engine refuses."""


def replay(records: Iterable[Record], report: Report | None = None) -> Report:
    """All records through the engine; the findings in one report."""
    report = report or Report()
    for record in records:
        GameReplay(record, report).run()
    return report


class GameReplay:
    """One record through the engine; `log` collects every command with its events."""

    def __init__(
        self,
        record: Record,
        report: Report | None = None,
        *,
        rules: Ruleset | None = None,
        observer: Observer | None = None,
        keep_log: bool = False,
    ) -> None:
        self.record = record
        self.report = Report() if report is None else report
        self.rules = ruleset_of(record) if rules is None else rules
        self.state: GameState = EMPTY
        self.observer = observer
        self.log: list[tuple[Command, list[Event]]] | None = [] if keep_log else None
        self._hand = ""
        self._event: int | None = None
        self._accepted: set[int] = set()
        self._ended: ev.HandEnded | None = None

    def run(self) -> Report:
        """Plays the record; returns the report. Raises `RecordError` for a record that is none."""
        try:
            return self._run()
        except FORM_ERRORS as error:
            at = "" if self._event is None else f", event {self._event}"
            raise no_record(self.record, f" {self._hand or 'start'}{at}", error) from error

    def _run(self) -> Report:
        self.report.games += 1
        for number, round_ in enumerate(self.record.rounds):
            self._hand = f"{round_['wind']}{round_['num']}.{round_['honba']}"
            self._event = None
            for event, what, record, wall in wall_differences(round_):
                self._differs(what, record, f"{wall} in the wall", event)
            try:
                self._begin(round_, first=number == 0)
                self._play(round_)
                self._end(round_)
            except StopReplay:
                # The rest of this hand has nothing to stand on; the next begins from the record.
                self.state = EMPTY
            self.report.hands += 1
        self._hand, self._event = "end", None
        self._final()
        return self.report

    # ---- hands ----------------------------------------------------------------------------------------

    def _begin(self, round_: Mapping[str, Any], *, first: bool) -> None:
        wanted = _start_of(round_)
        if first and self.record.raw.get("complete", True):
            self._first_hand(wanted)
        if not first and self.state.phase == "ready":
            for what, record in wanted.items():
                engine = getattr(self.state, what)
                if record is None:
                    self.report.uncompared += 1
                elif engine != record:
                    self._differs(_START_FIELDS[what], record, engine)
                    self.state = EMPTY
                    break
        elif not first and self.state is not EMPTY:
            self._differs("rounds", "another hand", self.state.phase)
            self.state = EMPTY
        if self.state.phase != "ready":
            self._adopt(round_)
        self._do(cmd.PressStart())
        self._do(cmd.WallsReady())
        if not self._auto_deal:
            self._do(cmd.RollDice(*round_["dice"]))
        a, b, c, d = (tiles(hand) for hand in round_["hands"])
        self._do(cmd.Deal((a, b, c, d)))
        self._do(cmd.RevealDora(BY_NAME[round_["dora"]]))

    @property
    def _auto_deal(self) -> bool:
        return not all(round_.get("dice") and all(round_["dice"]) for round_ in self.record.rounds)

    def _first_hand(self, start: Mapping[str, Any]) -> None:
        """A complete game begins with the first hand of East, everybody with the same."""
        points = self.rules.start_points
        begins = {
            "round_wind": 0,
            "hand_number": 1,
            "honba": 0,
            "deposits": 0,
            "scores": (points,) * 4,
        }
        for what, value in begins.items():
            if start[what] is not None:
                self._same(_START_FIELDS[what], start[what], value)

    def _adopt(self, round_: Mapping[str, Any]) -> None:
        self.state = EMPTY
        start = _start_of(round_)
        players = tuple(self.record.raw.get("players") or ("P0", "P1", "P2", "P3"))
        fresh = all(score == self.rules.start_points for score in round_["start"])
        first = fresh and not (round_["deposits"] or round_["honba"] or start["round_wind"])
        game: Command
        if first and round_["num"] == 1:
            game = cmd.StartGame(
                game_id=self.record.id,
                ruleset=self.rules.to_dict(),
                players=players,
                first_dealer=round_["dealer"],
                auto_deal=self._auto_deal,
            )
        else:
            game = cmd.AdoptGame(
                game_id=self.record.id,
                ruleset=self.rules.to_dict(),
                players=players,
                scores=start["scores"],
                first_dealer=(round_["dealer"] - round_["num"] + 1) % 4,
                round_wind=start["round_wind"],
                hand_number=round_["num"],
                honba=round_["honba"],
                deposits=round_["deposits"],
                auto_deal=self._auto_deal,
            )
        self._do(game)

    def _play(self, round_: Mapping[str, Any]) -> None:
        self._accepted = set()
        self._ended = None
        noted: dict[int, int] = {}
        results: list[tuple[int, Mapping[str, Any]]] = []
        for number, event in enumerate(round_["events"]):
            self._event = number
            kind = event["e"]
            self.report.events += 1
            if kind == "riichi_ok":
                noted[event["p"]] = number
                self._riichi_ok(event)
                continue
            if kind in ("win", "drawn"):
                results.append((number, event))
            elif kind in _CALLS:
                self._call(kind, event)
            command = self._command(kind, event, round_)
            self._legal(command)
            self._do(command)
        self._event = None
        outcome = self.state.outcome
        if self.state.phase != "result" or outcome is None:
            self._differs("events", "end of the hand", self.state.phase)
            raise StopReplay
        if results[0][1]["e"] == "win":
            self._compare_wins(results, outcome.wins)
        else:
            self._event, drawn = results[-1]
            self._compare_draw(drawn, outcome)
        for seat in sorted(noted.keys() ^ self._accepted):
            found = "accepted" if seat in self._accepted else "not accepted"
            said = "no riichi_ok" if seat in self._accepted else f"riichi_ok of seat {seat}"
            self._differs("riichi_ok", said, f"seat {seat} {found}", noted.get(seat))
        self._event = None

    def _command(self, kind: str, event: Mapping[str, Any], round_: Mapping[str, Any]) -> Command:
        make = _COMMAND.get(kind)
        if make is None:
            raise ValueError(f"there is no event {kind!r}")
        if kind == "drawn" and self.rules.noten_choice == "automatic":
            # Who is tenpai is found, then compared.
            event = {**event, "tenpai": None}
        if kind == "drawn" and event["reason"] == "kyuushu" and event.get("p") is None:
            event = {**event, "p": self.state.turn}
        if kind == "win" and event.get("ura") is None and round_.get("wall"):
            wall = [round_["wall"][i : i + 2] for i in range(0, len(round_["wall"]), 2)]
            due = len(self.state.dora) if self.state.seats[event["p"]].riichi else 0
            event = {**event, "ura": ura_in(wall, due)}
        return make(event)

    def _call(self, kind: str, event: Mapping[str, Any]) -> None:
        """What a call says beyond the command: whose tile it took, which pon grew."""
        if kind == "kakan":
            pons = (m for m in self.state.seats[event["p"]].melds if m.kind == "pon")
            mine = next(
                (m.tiles for m in pons if KIND[m.tiles[0]] == KIND[BY_NAME[event["t"]]]), ()
            )
            wanted = event.get("pon")
            self._maybe("pon", _sorted(wanted), text_of(sorted(mine)))
        elif self.state.discard is not None:
            self._maybe("from", event.get("from"), self.state.discard[0])

    def _end(self, round_: Mapping[str, Any]) -> None:
        self._do(cmd.Settle())
        ended = self._ended
        assert ended is not None
        self._maybe("end", _numbers(round_.get("end")), ended.scores)
        if "deposits_after" in round_:
            self._maybe("deposits_after", round_["deposits_after"], ended.deposits)

    def _final(self) -> None:
        if not self.record.raw.get("complete", True):
            return
        final = self.record.raw.get("final")
        if final is None:
            self.report.uncompared += 1
            return
        result = self.state.final
        if result is None:
            self._differs("rounds", "this is the last hand", self.state.phase)
            return
        self._maybe("final.scores", _numbers(final.get("scores")), self.state.scores)
        points = final.get("points")
        scale = result.points_scale
        wanted = points and tuple(None if p is None else round(p * scale) for p in points)
        self._maybe("final.points", wanted, result.points)

    # ---- one act --------------------------------------------------------------------------------------

    def _do(self, command: Command) -> list[Event]:
        if self.observer is not None:
            self.observer(self.state, command)
        answer = decide(self.state, command)
        if isinstance(answer, Refusal):
            self._differs(
                "refused", f"{command.type} {_text(command)}", f"{answer.code}: {answer.message}"
            )
            raise StopReplay
        self.state = apply_all(self.state, answer)
        if self.log is not None:
            self.log.append((command, answer))
        for event in answer:
            kind = type(event)
            if kind is ev.RiichiAccepted:
                self._accepted.add(event.seat)  # type: ignore[attr-defined] # it is one
            elif kind is ev.HandEnded:
                self._ended = event  # type: ignore[assignment] # it is one
            elif kind is ev.Found:
                self._differs("finding", _text(command), event.row)  # type: ignore[attr-defined] # it is one
        return answer

    def _legal(self, command: Command) -> None:
        """The record's act must be one of those the engine calls legal."""
        if isinstance(command, _FLOW):
            return
        if isinstance(command, cmd.Discard) and command.tsumogiri is None:
            self.report.uncompared += 1
        if not is_legal(self.state, command):
            self._differs("legal", _text(command), "not in the set of legal acts")

    def _riichi_ok(self, event: Mapping[str, Any]) -> None:
        seat = self.state.seats[event["p"]]
        if seat.riichi != 1 or self.state.discard is None or self.state.discard[0] != event["p"]:
            self._differs("riichi_ok", event["p"], "no riichi waits to be established")

    # ---- results --------------------------------------------------------------------------------------

    def _compare_wins(
        self, results: list[tuple[int, Mapping[str, Any]]], engine: tuple[ev.Won, ...]
    ) -> None:
        wins = [(number, event) for number, event in results if event["e"] == "win"]
        self._event = results[-1][0]
        self._same("p", [win["p"] for _, win in wins], [won.seat for won in engine])
        for (number, record), won in zip(wins, engine, strict=False):
            self._event = number
            self.report.wins += 1
            if record["p"] == won.seat:
                self._compare_win(record, won)

    def _compare_win(self, record: Mapping[str, Any], won: ev.Won) -> None:
        self._maybe("hand", _sorted(record.get("hand")), text_of(sorted(won.hand or ())))
        melds = record.get("melds")
        self._maybe(
            "melds",
            None if melds is None else [_meld_said(one) for one in melds],
            [_meld_found(one) for one in self.state.seats[won.seat].melds],
        )
        # A yakuman has no fu; what a log writes there is not compared.
        self._maybe("fu", None if won.yakuman else record.get("fu"), won.fu)
        self._maybe("han", record.get("han"), won.han if not won.yakuman else None)
        self._maybe("points", record.get("points"), won.points)
        self._maybe("limit", record.get("limit"), _LIMIT_NUMBER[won.limit])
        self._maybe("deltas", _numbers(record.get("deltas")), won.deltas)
        self._maybe("honba", record.get("honba"), won.honba)
        self._maybe("deposits", record.get("deposits"), won.deposits)
        # Who won from the liable player himself was paid an ordinary ron: logs name him or not.
        liable = [
            None if one == won.from_seat else one for one in (record.get("pao"), won.pao_seat)
        ]
        self._same("pao", *liable)
        self._maybe("dora", record.get("dora"), text_of(won.dora))
        if record.get("ura") is None:
            self.report.uncompared += 1
        elif won.ura is not None:
            self._same("ura", record["ura"], text_of(won.ura))
        else:
            self._same("ura", record["ura"], "")
        self._compare_yaku(record, won)

    def _compare_yaku(self, record: Mapping[str, Any], won: ev.Won) -> None:
        yaku = record.get("yaku")
        engine = sorted((one.name, one.han) for one in won.yaku)
        known = dict(engine)
        wanted = yaku and sorted(
            (name, known.get(name, 0) if han is None else han) for name, han in yaku
        )
        if wanted is not None and any(name == "dragon" for name, _ in wanted):
            engine = sorted(("dragon" if name in _DRAGONS else name, han) for name, han in engine)
        self._maybe("yaku", wanted, engine)
        yakuman = record.get("yakuman")
        if yakuman is None or (yaku is None and not yakuman):
            # Logs without yaku have no names of yakuman either.
            self.report.uncompared += yaku is not None
            return
        self._same(
            "yakuman",
            sorted(_PLAIN.get(name, name) for name in yakuman),
            sorted(_PLAIN.get(one.name, one.name) for one in won.yakuman),
        )

    def _compare_draw(self, record: Mapping[str, Any], outcome: Any) -> None:
        self._same("reason", record["reason"], outcome.kind)
        self._maybe("deltas", _numbers(record.get("deltas")), outcome.deltas)
        if record["reason"] in ("exhaustive", "nagashi"):
            self._maybe("tenpai", _numbers(record.get("tenpai")), outcome.tenpai)
        if record["reason"] == "nagashi":
            seats = record.get("nagashi")
            self._maybe("nagashi", None if seats is None else sorted(seats), list(outcome.nagashi))
        for number, shown in enumerate(record.get("shown") or ()):
            if shown is not None:
                mine = self.state.seats[number].hand
                self._same(
                    "shown",
                    f"seat {number} {_sorted(shown)}",
                    f"seat {number} {text_of(sorted(mine))}",
                )

    def _maybe(self, what: str, record: object, engine: object) -> None:
        """Compares what is not null; of a row of numbers those that are not."""
        if record is None:
            self.report.uncompared += 1
            return
        if isinstance(record, tuple) and None in record and isinstance(engine, tuple):
            self.report.uncompared += record.count(None)
            pairs = zip_longest(record, engine)
            record = tuple(theirs if mine is None else mine for mine, theirs in pairs)
        self._same(what, record, engine)

    def _same(self, what: str, record: object, engine: object) -> None:
        if record != engine:
            self._differs(what, record, engine)

    def _differs(self, what: str, record: object, engine: object, event: int | None = None) -> None:
        at = self._event if event is None else event
        self.report.mismatches.append(
            Mismatch(self.record.id, self._hand, at, what, str(record), str(engine))
        )


def _start_of(round_: Mapping[str, Any]) -> dict[str, Any]:
    wind = round_["wind"]
    if wind is not None and wind not in tuple(WINDS):
        raise ValueError(f"{wind!r} is no wind")
    return {
        "round_wind": None if wind is None else WINDS.index(wind),
        "hand_number": round_["num"],
        "honba": round_["honba"],
        "deposits": round_["deposits"],
        "dealer": round_["dealer"],
        "scores": _numbers(round_["start"]),
    }


def _numbers(values: Any) -> tuple[Any, ...] | None:
    return None if values is None else tuple(values)


def _sorted(text: str | None) -> str | None:
    return None if text is None else text_of(sorted(tiles(text)))


def _meld_said(meld: Mapping[str, Any]) -> str:
    """A meld of a record as text: kind, tiles, taken tile and whose it was."""
    taken = "" if meld["k"] == "ankan" else f" {meld.get('called')} from {meld.get('from')}"
    return f"{meld['k']} {_sorted(meld['tiles'])}{taken}"


def _meld_found(meld: Meld) -> str:
    taken = "" if meld.called is None else f" {NAMES[meld.called]} from {meld.from_seat}"
    return f"{meld.kind} {text_of(sorted(meld.tiles))}{taken}"


def tiles(text: str) -> Hand:
    """Tiles of a tile string, two characters each."""
    return tuple(BY_NAME[text[i : i + 2]] for i in range(0, len(text), 2))


def _text(command: Command) -> str:
    if isinstance(command, cmd.StartGame | cmd.AdoptGame):
        return f"scores={command.scores}"
    parts = [
        f"{k}={v}"
        for k, v in command.to_json().items()
        if k != "type" and v not in (None, [], False)
    ]
    return " ".join(parts)


# ---- from record events to commands ---------------------------------------------------------------------


def _draw(e: Mapping[str, Any]) -> Command:
    return cmd.Draw(e["p"], BY_NAME[e["t"]], bool(e.get("rinshan")))


def _discard(e: Mapping[str, Any]) -> Command:
    return cmd.Discard(e["p"], BY_NAME[e["t"]], e.get("tg"))


def _win(e: Mapping[str, Any]) -> Command:
    ura = tiles(e["ura"]) if e.get("ura") else ()
    tile = None if e.get("t") is None else BY_NAME[e["t"]]
    return cmd.Win(e["p"], e["from"], tile, ura=ura)


def _drawn(e: Mapping[str, Any]) -> Command:
    if e["reason"] == "kyuushu":
        return cmd.KyuushuKyuuhai(e["p"])
    tenpai = e.get("tenpai")
    if tenpai is None:
        return cmd.ResultDraw(e["reason"])
    a, b, c, d = tenpai
    return cmd.ResultDraw(e["reason"], (a, b, c, d))


_COMMAND: dict[str, Callable[[Mapping[str, Any]], Command]] = {
    "draw": _draw,
    "discard": _discard,
    "riichi": lambda e: cmd.DeclareRiichi(e["p"]),
    "chi": lambda e: cmd.Chi(e["p"], BY_NAME[e["t"]], tiles(e["with"])),
    "pon": lambda e: cmd.Pon(e["p"], BY_NAME[e["t"]], tiles(e["with"])),
    "daiminkan": lambda e: cmd.Daiminkan(e["p"], BY_NAME[e["t"]], tiles(e["with"])),
    "ankan": lambda e: cmd.Ankan(e["p"], tiles(e["tiles"])),
    "kakan": lambda e: cmd.Kakan(e["p"], BY_NAME[e["t"]]),
    "dora": lambda e: cmd.RevealDora(BY_NAME[e["t"]]),
    "win": _win,
    "drawn": _drawn,
}


def commands_of(record: Record) -> Iterator[Command]:
    """The commands a record stands for, settlements included, without comparing anything."""
    run = GameReplay(record, keep_log=True)
    run.run()
    for command, _ in run.log or ():
        yield command
