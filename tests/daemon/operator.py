"""A person with the record in hand who types in what a table cannot see."""

from __future__ import annotations

from typing import Any

_LIMITS = ("none", "mangan", "haneman", "baiman", "sanbaiman", "yakuman")


def results(hand: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """The requests that report the end of a record's hand, in order."""
    wins = [event for event in hand["events"] if event["e"] == "win"]
    if wins:
        return [("result/win", _win(win)) for win in wins]
    drawn = hand["events"][-1]
    kind = drawn["reason"]
    data: dict[str, Any] = {"kind": kind}
    if kind in ("exhaustive", "nagashi"):
        data["kind"] = kind
        data["tenpai"] = drawn["tenpai"]
    if drawn.get("nagashi"):
        data["kind"] = "nagashi"
        data["nagashi"] = drawn["nagashi"]
    if kind == "kyuushu":
        data["seat"] = drawn["p"]
    return [("result/draw", data)]


def _win(win: dict[str, Any]) -> dict[str, Any]:
    data: dict[str, Any] = {"winner": win["p"], "from": win["from"]}
    if win.get("pao") is not None:
        data["pao"] = win["pao"]
    if win["yakuman"]:
        return data | {"limit": "yakuman", "yakuman": len(win["yakuman"])}
    if win["han"] is not None and win["fu"] is not None:
        return data | {"han": win["han"], "fu": win["fu"]}
    return data | {"limit": _LIMITS[win["limit"]]}
