"""The person at the console, played from a record: says riichi and types in results, over MQTT requests.

At level tiles he only starts the game: riichi and results are seen by the machine, han and fu are
found by the engine.
"""

from __future__ import annotations

import asyncio
import uuid
from typing import Any, Final

from tablectl.bus.payloads import Response
from tablectl.bus.watcher import Watcher
from tablectl.cli.demo.process import DemoError
from tablectl.records.reader import Record, ruleset_of

DUTIES: Final[dict[str, frozenset[str]]] = {
    "basic": frozenset({"riichi", "result"}),
    "score": frozenset({"result"}),
    "tiles": frozenset(),
}
"""What a person must type in, by level: the rest is sensed."""
LIMITS: Final = ("none", "mangan", "haneman", "baiman", "sanbaiman", "yakuman")
ANSWER_S: Final = 3.0
TRIES: Final = 20


class Operator:
    """Asks on behalf of a record; an unanswered request is asked again with the same transaction."""

    def __init__(self, record: Record, watcher: Watcher) -> None:
        self._record = record
        self._watcher = watcher
        self.asked = 0

    async def start_game(self) -> None:
        """Tell the table who plays, by which rules, and from where."""
        name, data = opening(self._record)
        await self._ask(name, data)

    async def riichi(self, hand: int, index: int) -> None:
        """A seat has laid a stick."""
        event = self._record.rounds[hand]["events"][index]
        await self._ask("riichi", {"seat": event["p"]})

    async def result(self, hand: int) -> None:
        """The hand is over: every win, or the draw."""
        for name, data in results(self._record, hand):
            await self._ask(name, data)

    async def _ask(self, name: str, data: dict[str, Any]) -> Response:
        transaction = str(uuid.uuid4())
        for _ in range(TRIES):
            self.asked += 1
            try:
                answer = await self._watcher.request(
                    name, data, transaction=transaction, wait_s=ANSWER_S
                )
            except TimeoutError:
                continue  # the daemon may be away for a moment: the same transaction is harmless
            if answer.code == "stopping":
                await asyncio.sleep(0.1)
                continue
            if answer.status == "refused":
                raise DemoError(
                    "request_refused",
                    f"the table refuses {name} {data}: {answer.error} ({answer.code})",
                    str(answer.data.get("hint", "")),
                )
            return answer
        raise DemoError("no_answer", f"the daemon does not answer {name}", "see its log above")


def opening(record: Record) -> tuple[str, dict[str, Any]]:
    """`game/start` for a game from its beginning, `game/adopt` for one that is recorded later."""
    first = record.rounds[0]
    players = [str(player) for player in record.raw.get("players") or ("P0", "P1", "P2", "P3")]
    data: dict[str, Any] = {
        "ruleset": ruleset_of(record).to_dict(),
        "players": [f"p{seat}" for seat in range(4)],
        "names": players,
        "scores": list(first["start"]),
        "first_dealer": (first["dealer"] - first["num"] + 1) % 4,
    }
    later = (first["wind"], first["num"], first["honba"], first["deposits"]) != ("E", 1, 0, 0)
    if not later:
        return "game/start", data
    more = {"wind": first["wind"], "number": first["num"], "honba": first["honba"]}
    return "game/adopt", {**data, **more, "deposits": first["deposits"]}


def results(record: Record, hand: int) -> list[tuple[str, dict[str, Any]]]:
    """The requests that report the end of a hand, in order."""
    events = record.rounds[hand]["events"]
    wins = [event for event in events if event["e"] == "win"]
    if wins:
        return [("result/win", _win(record, hand, win)) for win in wins]
    drawn = next((event for event in reversed(events) if event["e"] == "drawn"), None)
    if drawn is None:
        raise DemoError("bad_record", f"hand {hand + 1} of {record.id} has no result", record.where)
    return [("result/draw", _draw(drawn))]


def _win(record: Record, hand: int, win: dict[str, Any]) -> dict[str, Any]:
    data: dict[str, Any] = {"winner": win["p"], "from": win["from"]}
    if win.get("pao") is not None:
        data["pao"] = win["pao"]
    yakuman = win.get("yakuman") or []
    limit = win.get("limit")
    if yakuman:
        return {**data, "limit": "yakuman", "yakuman": _times(record, hand, win)}
    if win.get("han") is not None and win.get("fu") is not None:
        return {**data, "han": win["han"], "fu": win["fu"]}
    if limit:
        return {**data, "limit": LIMITS[limit]}
    return {**data, "hand": _shown(record, hand, win)}


def _times(record: Record, hand: int, win: dict[str, Any]) -> int:
    """How many yakuman were paid, where the rules let one count twice."""
    unit = 48_000 if win["p"] == record.rounds[hand]["dealer"] else 32_000
    points = win.get("points")
    return max(1, points // unit) if points else len(win["yakuman"])


def _draw(drawn: dict[str, Any]) -> dict[str, Any]:
    data: dict[str, Any] = {"kind": drawn["reason"]}
    if drawn.get("tenpai") is not None:
        data["tenpai"] = drawn["tenpai"]
    if drawn.get("nagashi"):
        data["nagashi"] = drawn["nagashi"]
    if drawn["reason"] == "kyuushu":
        data["seat"] = drawn["p"]
    return data


def _shown(record: Record, hand: int, win: dict[str, Any]) -> dict[str, Any]:
    """The whole hand, for records that tell neither han and fu nor the limit."""
    melds = sorted(win.get("melds") or [], key=lambda meld: meld["k"] != "ankan")
    return {
        "tiles": win["hand"],
        "tile": win["t"],
        "melds": [meld["tiles"] for meld in melds],
        "closed_kans": sum(meld["k"] == "ankan" for meld in melds),
        "dora": _indicators(record, hand, win),
        "ura": win.get("ura") or None,
        "flags": _flags(record, hand, win),
    }


def _indicators(record: Record, hand: int, win: dict[str, Any]) -> str:
    given = win.get("dora")
    if given:
        return str(given)
    round_ = record.rounds[hand]
    return "".join([round_["dora"], *(e["t"] for e in round_["events"] if e["e"] == "dora")])


FLAGS: Final = ("ippatsu", "rinshan", "chankan", "haitei", "houtei", "tenhou", "chiihou", "renhou")


def _flags(record: Record, hand: int, win: dict[str, Any]) -> list[str]:
    """What a person at the table saw, from the yaku of the record where it names them."""
    named = {name for name, _ in win.get("yaku") or []} | set(win.get("yakuman") or [])
    return [flag for flag in FLAGS if flag in named]
