"""Game records through the engine: every act legal, every win, payment, next hand and final point compared.

A field that is null in the record is not compared, and counted. What differs is a `Mismatch` that names
game, hand, act and both values; after one the game goes on from what the record says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from tablectl.engine.game import commands as cmd
from tablectl.engine.game import events as ev
from tablectl.engine.game.apply import apply_all
from tablectl.engine.game.commands import Command, Refusal
from tablectl.engine.game.decide import decide
from tablectl.engine.game.events import Event, Hand
from tablectl.engine.game.legal import is_legal
from tablectl.engine.game.state import EMPTY, GameState
from tablectl.engine.rules import Ruleset
from tablectl.engine.tiles import BY_NAME, text_of
from tablectl.records.reader import WINDS, Record, RecordError, ruleset_of

Observer = Callable[[GameState, Command], None]
"""Sees each state with the command that is decided in it (what `--check` of positions hooks into)."""

_LIMIT_NUMBER = {"none": 0, "mangan": 1, "haneman": 2, "baiman": 3, "sanbaiman": 4, "yakuman": 5}
_FLOW = (cmd.Draw, cmd.RevealDora, cmd.ResultDraw)
"""Acts nobody chooses."""
_PLAIN = {"suuankou_tanki": "suuankou", "junsei_chuuren": "chuuren", "kokushi_13": "kokushi"}
"""The rarer wait has a name of its own only where it counts twice."""
_DRAGONS = frozenset({"haku", "hatsu", "chun"})


@dataclass(frozen=True, slots=True)
class Mismatch:
    """One difference between a record and the engine."""

    game: str
    hand: str
    event: int | None
    what: str
    record: str
    engine: str

    def to_json(self) -> dict[str, Any]:
        """JSON object."""
        return {name: getattr(self, name) for name in self.__slots__}

    def __str__(self) -> str:
        at = "" if self.event is None else f" event {self.event}"
        return (
            f"{self.game} {self.hand}{at}: {self.what}: record {self.record}, engine {self.engine}"
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
        self.report = report or Report()
        self.rules = rules or ruleset_of(record)
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
        except (KeyError, TypeError, ValueError, IndexError) as error:
            at = "" if self._event is None else f", event {self._event}"
            raise RecordError(
                "bad_record",
                f"{self.record.id} {self._hand}{at} is not in the form of a record: {error!r}",
                where=self.record.where,
            ) from error

    def _run(self) -> Report:
        self.report.games += 1
        for number, round_ in enumerate(self.record.rounds):
            self._hand = f"{round_['wind']}{round_['num']}.{round_['honba']}"
            self._event = None
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
        if not first and self.state.phase == "ready":
            for what, record in wanted.items():
                engine = getattr(self.state, what)
                if engine != record:
                    self._differs(f"start: {what}", record, engine)
                    self.state = EMPTY
                    break
        elif not first and self.state is not EMPTY:
            self._differs("game over", "another hand", self.state.phase)
            self.state = EMPTY
        if self.state.phase != "ready":
            self._adopt(round_)
        self._do(cmd.PressStart())
        self._do(cmd.WallsReady())
        dice = round_.get("dice")
        if dice and not self._auto_deal:
            self._do(cmd.RollDice(dice[0], dice[1]))
        a, b, c, d = (tiles(hand) for hand in round_["hands"])
        self._do(cmd.Deal((a, b, c, d)))
        self._do(cmd.RevealDora(BY_NAME[round_["dora"]]))

    @property
    def _auto_deal(self) -> bool:
        return not all(round_.get("dice") for round_ in self.record.rounds)

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
        wins: list[Mapping[str, Any]] = []
        for number, event in enumerate(round_["events"]):
            self._event = number
            kind = event["e"]
            self.report.events += 1
            if kind == "riichi_ok":
                self._riichi_ok(event)
                continue
            if kind == "win":
                wins.append(event)
            command = _COMMAND[kind](event)
            self._legal(command)
            self._do(command)
        self._event = None
        outcome = self.state.outcome
        if self.state.phase != "result" or outcome is None:
            self._differs("end of hand", "a result", self.state.phase)
            raise StopReplay
        if wins:
            self._compare_wins(wins, outcome.wins)
        else:
            self._compare_draw(round_["events"][-1], outcome)
        noted = sorted(e["p"] for e in round_["events"] if e["e"] == "riichi_ok")
        self._same("riichi accepted", noted, sorted(self._accepted))

    def _end(self, round_: Mapping[str, Any]) -> None:
        self._do(cmd.Settle())
        ended = self._ended
        assert ended is not None
        self._same("end scores", tuple(round_["end"]), ended.scores)
        if "deposits_after" in round_:
            self._same("deposits after", round_["deposits_after"], ended.deposits)

    def _final(self) -> None:
        final = self.record.raw.get("final")
        if not self.record.raw.get("complete", True) or not final:
            return
        result = self.state.final
        if result is None:
            self._differs("game over", "the last hand", self.state.phase)
            return
        self._same("final scores", tuple(final["scores"]), self.state.scores)
        if final.get("points") is None:
            self.report.uncompared += 1
            return
        wanted = tuple(round(point * result.points_scale) for point in final["points"])
        self._same("final points", wanted, result.points)

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

    def _compare_wins(self, wins: list[Mapping[str, Any]], engine: tuple[ev.Won, ...]) -> None:
        self._same("winners", [win["p"] for win in wins], [won.seat for won in engine])
        for record, won in zip(wins, engine, strict=False):
            self.report.wins += 1
            if record["p"] == won.seat:
                self._compare_win(record, won)

    def _compare_win(self, record: Mapping[str, Any], won: ev.Won) -> None:
        self._same("win hand", text_of(sorted(tiles(record["hand"]))), text_of(won.hand or ()))
        # A yakuman has no fu; what a log writes there is not compared.
        self._maybe("fu", None if won.yakuman else record["fu"], won.fu)
        self._maybe("han", record["han"], won.han if not won.yakuman else None)
        self._maybe("points", record["points"], won.points)
        self._maybe("limit", record["limit"], _LIMIT_NUMBER[won.limit])
        self._same("win deltas", tuple(record["deltas"]), won.deltas)
        self._same("honba", record["honba"], won.honba)
        self._same("deposits", record["deposits"], won.deposits)
        self._same("pao", record.get("pao"), won.pao_seat)
        self._same("dora", record["dora"], text_of(won.dora))
        if record["yaku"] is None:
            self.report.uncompared += 1
        else:
            self._same_yaku(record, won)

    def _same_yaku(self, record: Mapping[str, Any], won: ev.Won) -> None:
        wanted = sorted((name, han) for name, han in record["yaku"])
        engine = sorted((one.name, one.han) for one in won.yaku)
        if any(name == "dragon" for name, _ in wanted):
            engine = sorted(("dragon" if name in _DRAGONS else name, han) for name, han in engine)
        self._same("yaku", wanted, engine)
        self._same(
            "yakuman",
            sorted(_PLAIN.get(name, name) for name in record["yakuman"]),
            sorted(_PLAIN.get(one.name, one.name) for one in won.yakuman),
        )

    def _compare_draw(self, record: Mapping[str, Any], outcome: Any) -> None:
        self._same("draw", record["reason"], outcome.kind)
        self._same("draw deltas", tuple(record["deltas"]), outcome.deltas)
        if record.get("tenpai") is not None:
            self._same("tenpai", tuple(record["tenpai"]), outcome.tenpai)
        if record["reason"] == "nagashi":
            self._same("nagashi", sorted(record["nagashi"]), list(outcome.nagashi))

    def _maybe(self, what: str, record: object, engine: object) -> None:
        if record is None:
            self.report.uncompared += 1
        else:
            self._same(what, record, engine)

    def _same(self, what: str, record: object, engine: object) -> None:
        if record != engine:
            self._differs(what, record, engine)

    def _differs(self, what: str, record: object, engine: object) -> None:
        self.report.mismatches.append(
            Mismatch(self.record.id, self._hand, self._event, what, str(record), str(engine))
        )


def _start_of(round_: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "round_wind": WINDS.index(round_["wind"]),
        "hand_number": round_["num"],
        "honba": round_["honba"],
        "deposits": round_["deposits"],
        "dealer": round_["dealer"],
        "scores": tuple(round_["start"]),
    }


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
    return cmd.Win(e["p"], e["from"], BY_NAME[e["t"]], ura=ura)


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
