"""Requests and payloads without a broker: what is understood, what is refused, what the document says."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tablectl.bus import asyncapi, payloads
from tablectl.bus.requests import REQUESTS, RequestError, parse
from tablectl.bus.snapshot import game_view
from tablectl.bus.topics import SEAT_SCALARS, Topics
from tablectl.engine import rules
from tablectl.engine.game import commands as cmd
from tablectl.engine.game.codec import Visibility, plan
from tablectl.engine.game.events import EVENTS
from tablectl.engine.game.views import public_snapshot
from tests.web.played import PlayedTable, start_of_game, start_of_hand

PLAYERS = ["a", "b", "c", "d"]


class Desk:
    """A table's context for requests."""

    knowledge = "basic"
    auto_deal = False
    last_command_id: str | None = None

    def new_game_id(self) -> str:
        return "g1"

    def resolve_ruleset(self, name: str, options: dict[str, Any]) -> dict[str, Any]:
        return rules.load(name or "tenhou", options).to_dict()


def command(name: str, data: dict[str, Any]) -> cmd.Command:
    return parse(name, data).command(Desk())  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "data", "wanted"),
    [
        ("riichi", {"seat": 2}, cmd.DeclareRiichi(2)),
        ("settle", {}, cmd.Settle()),
        ("game/abort", {"reason": "fire"}, cmd.AbortGame("fire")),
        ("result/win", {"winner": 1, "from": 1, "han": 3, "fu": 30}, cmd.Win(1, 1, han=3, fu=30)),
        ("result/win", {"winner": 1, "from": 0, "limit": "mangan"}, cmd.Win(1, 0, limit="mangan")),
        ("result/win", {"winner": 3, "from": 0}, cmd.Win(3, 0)),
        (
            "result/win",
            {
                "winner": 0,
                "from": 2,
                "hand": {
                    "tiles": "2m3m4m0p6p7p",
                    "tile": "7z",
                    "melds": ["1z1z1z1z"],
                    "closed_kans": 1,
                },
            },
            cmd.Win(0, 2, 33, hand=(1, 2, 3, 35, 14, 15), melds=((27, 27, 27, 27),), closed_kans=1),
        ),
        (
            "result/draw",
            {"kind": "exhaustive", "tenpai": [True, False, False, True]},
            cmd.ResultDraw("exhaustive", (True, False, False, True)),
        ),
        ("result/draw", {"kind": "kyuushu", "seat": 1}, cmd.ResultDraw("kyuushu", seat=1)),
        ("undo", {"command_id": "r-7"}, cmd.Undo("r-7")),
    ],
)
def test_a_request_becomes_its_command(
    name: str, data: dict[str, Any], wanted: cmd.Command
) -> None:
    assert command(name, data) == wanted


def test_a_game_starts_with_its_whole_ruleset_named_or_given() -> None:
    named = command(
        "game/start", {"players": PLAYERS, "ruleset": "tenhou", "options": {"length": "tonpuusen"}}
    )
    assert isinstance(named, cmd.StartGame)
    assert named.ruleset == rules.load("tenhou", {"length": "tonpuusen"}).to_dict()
    house = rules.load("mu").to_dict()
    given_whole = command("game/start", {"players": PLAYERS, "ruleset": house})
    assert isinstance(given_whole, cmd.StartGame)
    assert given_whole.ruleset == house
    adopted = command(
        "game/adopt",
        {
            "players": PLAYERS, "scores": [25000] * 4, "first_dealer": 1, "wind": "S", "number": 2,
            "honba": 1,
        },
    )  # fmt: skip
    assert isinstance(adopted, cmd.AdoptGame)
    assert (adopted.round_wind, adopted.hand_number, adopted.honba) == (1, 2, 1)


@pytest.mark.parametrize(
    ("name", "data", "code", "field"),
    [
        ("riichi", {}, "bad_request", "seat"),
        ("riichi", {"seat": 4}, "bad_request", "seat"),
        ("riichi", {"seat": "1"}, "bad_request", "seat"),
        ("riichi", {"seat": True}, "bad_request", "seat"),
        ("riichi", {"seat": 1, "chair": 2}, "bad_request", "chair"),
        ("riichi", [], "bad_request", None),
        ("riichi/now", {}, "unknown_request", "name"),
        ("result/win", {"winner": 1, "from": 2, "han": 3, "limit": "mangan"}, "bad_request", None),
        ("result/win", {"winner": 1, "from": 2, "fu": 30}, "bad_request", None),
        ("result/win", {"winner": 1, "from": 2, "hand": {"tiles": "1", "tile": "1m"}}, "bad_request", "hand.tiles"),
        ("result/win", {"winner": 1, "from": 2, "hand": {"tiles": "9z", "tile": "1m"}}, "bad_request", "hand.tiles.0"),
        ("result/draw", {"kind": "exhaustive"}, "bad_request", None),
        ("result/draw", {"kind": "kyuushu"}, "bad_request", None),
        ("game/start", {"players": ["a", "a", "b", "c"]}, "bad_request", None),
        ("game/start", {"players": ["a", "b", "c"]}, "bad_request", "players.3"),
        ("game/start", {"players": PLAYERS, "ruleset": {}, "options": {"aka": True}}, "bad_request", "options"),
        ("undo", {}, "nothing_to_undo", None),
    ],
)  # fmt: skip
def test_what_cannot_be_meant_is_refused_with_its_field(
    name: str, data: Any, code: str, field: str | None
) -> None:
    with pytest.raises(RequestError) as caught:
        command(name, data)
    refusal = caught.value.refusal()
    assert (refusal.code, refusal.field) == (code, field)
    assert refusal.hint


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8) | st.floats(allow_nan=False),
    lambda inner: (
        st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=8), inner, max_size=5)
    ),
    max_leaves=12,
)


@given(st.sampled_from(sorted(REQUESTS)), JSON)
def test_no_payload_raises_anything_else(name: str, data: Any) -> None:
    if isinstance(data, dict):
        fields = REQUESTS[name].model_fields
        data = {
            **data,
            **{f.alias or key: value for key, f in fields.items() for value in data.values()},
        }
    with contextlib.suppress(RequestError, rules.RuleError):
        command(name, data)


# ---- payloads -------------------------------------------------------------------------------------------


def test_the_state_says_what_the_engines_own_public_view_says() -> None:
    table = PlayedTable()
    table.do(
        start_of_game(), *start_of_hand(), cmd.DeclareRiichi(1), cmd.Win(1, 3, limit="haneman")
    )
    ours = game_view(table.state)
    assert ours is not None
    theirs = public_snapshot(table.state)
    assert [seat.score for seat in ours.seats] == theirs["scores"]
    assert [seat.name for seat in ours.seats] == theirs["names"]
    assert ours.round.honba == theirs["honba"]
    assert ours.round.deposits == theirs["deposits"]
    assert ours.round.dealer == theirs["dealer"]
    assert ours.phase == theirs["phase"]
    assert ours.ruleset_hash == theirs["ruleset_hash"]
    assert ours.result is not None
    assert list(ours.result.deltas) == theirs["result"]["deltas"]
    assert [seat.riichi for seat in ours.seats] == ["no", "accepted", "no", "no"]


def test_topics_are_exactly_those_of_the_design() -> None:
    topics = Topics("hall", "t1")
    assert topics.bridge_state == "tablectl/hall/t1/bridge/state"
    assert topics.bridge_info == "tablectl/hall/t1/bridge/info"
    assert topics.bridge_health == "tablectl/hall/t1/bridge/health"
    assert topics.link == "tablectl/hall/t1/link"
    assert topics.state == "tablectl/hall/t1/state"
    assert topics.event == "tablectl/hall/t1/event"
    assert topics.seat(3, "wind") == "tablectl/hall/t1/seat/3/wind"
    assert topics.private("seat0") == "tablectl/hall/t1/private/seat0"
    assert topics.broadcast("event") == "tablectl/hall/t1/broadcast/event"
    assert topics.request("result/win") == "tablectl/hall/t1/request/result/win"
    assert topics.response("undo") == "tablectl/hall/t1/response/undo"
    assert topics.request_name("tablectl/hall/t1/request/result/draw") == "result/draw"
    assert topics.request_name("tablectl/hall/t2/request/undo") is None


@pytest.mark.parametrize(
    ("topic", "allowed"),
    [
        ("a/b", True),
        ("tablectl/hall/t1/response/x", True),
        ("tablectl/hall/t1/request/undo", False),
        ("tablectl/hall/t2/response/x", False),
        ("tablectl", False),
        ("tablectl/#", False),
        ("a/+", False),
        ("$SYS/x", False),
        ("", False),
    ],
)
def test_where_an_answer_may_go(topic: str, allowed: bool) -> None:
    assert Topics("hall", "t1").may_answer_on(topic) is allowed


# ---- the document -----------------------------------------------------------------------------------------


def test_the_document_in_the_repository_is_what_the_models_say(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert asyncapi.main(["--check"]) == 0, capsys.readouterr().err


def test_the_document_has_every_request_scalar_and_public_event_and_no_loose_end() -> None:
    document = asyncapi.document()
    addresses = {channel["address"] for channel in document["channels"].values()}
    base = "tablectl/{venue}/{table}"
    assert {f"{base}/request/{name}" for name in REQUESTS} <= addresses
    assert {f"{base}/seat/{{seat}}/{name}" for name in SEAT_SCALARS} <= addresses
    assert set(payloads.SCALARS) == set(SEAT_SCALARS)
    told = {
        body["allOf"][1]["properties"]["type"]["const"]
        for name, message in document["components"]["messages"].items()
        if name.startswith("event") and "allOf" in (body := message["payload"])
    }
    public = {
        kind
        for kind, event in EVENTS.items()
        if not plan(event) or any(f.visibility is Visibility.PUBLIC for f in plan(event))
    }
    assert told == public
    for reference in _references(document):
        place: Any = document
        for part in reference.removeprefix("#/").split("/"):
            place = place[part]


def _references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, item in value.items():
            if key == "$ref":
                yield item
            else:
                yield from _references(item)
    elif isinstance(value, list):
        for item in value:
            yield from _references(item)
