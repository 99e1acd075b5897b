"""A record played on the table comes back from the wire, event by event, at every level."""

from __future__ import annotations

from typing import Any

import pytest

from firmware_protocol import messages as m
from firmware_protocol.vocabulary import Capability, Phase, ZoneKind, zone_kind
from hardware_sim import people, record
from hardware_sim.people import Progress
from hardware_sim.table import LEVELS, Options, SimTable
from tests.sim.games import real_games, tiny, tiny_game
from tests.sim.host import Host, Pair
from tests.sim.shadow import Shadow


@pytest.fixture(autouse=True)
def _no_looking(monkeypatch: pytest.MonkeyPatch) -> None:
    """The host of these tests writes no displays: nobody looks for them."""
    monkeypatch.setattr(people, "LOOK", 0.0)
    monkeypatch.setattr(people, "GLANCE", 0.0)


def play(game: record.Game, **options: Any) -> tuple[SimTable, Host]:
    table = SimTable(Options(**options), game)
    host = Host()
    assert Pair(table, host).run(lambda: table.over, limit=20_000.0), "the game did not end"
    report = table.report()
    assert report["executed_twice"] == 0
    assert report["events_lost"] == 0
    assert [e.event_no for e in host.events] == list(range(1, len(host.events) + 1))
    return table, host


def shadow_of(table: SimTable, host: Host) -> Shadow:
    shadow = Shadow({tag: tile for s in table.parts.sets for tag, tile in s.tiles.items()})
    for message in host.messages():
        shadow.see(message)
    return shadow


def check_hand(raw: dict[str, Any], shadow: Shadow, number: int) -> None:
    """Everything a record tells of a hand, found again in what the antennas told."""
    events = raw["events"]
    assert shadow.dealt[number] == [
        "".join(sorted(text[i : i + 2] for i in range(0, len(text), 2))) for text in raw["hands"]
    ]
    draws = [(e["p"], e["t"]) for e in events if e["e"] == "draw"]
    assert [(e["p"], e["t"]) for e in shadow.of(number, "draw")] == draws
    discards = [(e["p"], e["t"], e["tg"]) for e in events if e["e"] == "discard"]
    first = 1 if events[0]["p"] == raw["dealer"] else 0
    seen = [(e["p"], e["t"], e["tg"]) for e in shadow.of(number, "discard")]
    assert [d[:2] for d in seen] == [d[:2] for d in discards]
    assert seen[first:] == discards[first:], "tsumogiri or tedashi"
    assert [e["p"] for e in shadow.of(number, "riichi_ok")] == [
        e["p"] for e in events if e["e"] == "riichi_ok"
    ]
    indicators = [raw["dora"]] + [e["t"] for e in events if e["e"] == "dora"]
    assert [e["t"] for e in shadow.of(number, "dora")] == indicators
    check_melds(events, shadow, number)
    laid = {e["p"] for e in shadow.of(number, "laid")}
    last = events[-1]
    if last["e"] == "win":
        wins = [e for e in events if e["e"] == "win"]
        assert laid == {e["p"] for e in wins}
        ura = next((e["ura"] for e in wins if e.get("ura")), "")
        assert "".join(e["t"] for e in shadow.of(number, "ura"))[: len(ura)] == ura
    elif last.get("tenpai"):
        assert laid == {seat for seat in range(4) if last["tenpai"][seat]}


def check_melds(events: list[dict[str, Any]], shadow: Shadow, number: int) -> None:
    wanted: list[tuple[int, str]] = []
    for e in events:
        own = e.get("with", "") + (e["t"] if e["e"] in {"chi", "pon", "daiminkan", "kakan"} else "")
        own = e["tiles"] if e["e"] == "ankan" else own
        wanted += [(e["p"], own[i : i + 2]) for i in range(0, len(own), 2)]
    assert sorted((e["p"], e["t"]) for e in shadow.of(number, "meld")) == sorted(wanted)


def test_real_games_come_back_from_the_wire() -> None:
    hands = 0
    for raw in real_games(12):
        table, host = play(record.parse(raw), seed=5)
        shadow = shadow_of(table, host)
        for number, hand in enumerate(raw["rounds"]):
            check_hand(hand, shadow, number)
            hands += 1
    assert hands > 30


def test_a_kan_and_a_riichi_step_by_step() -> None:
    table, host = play(tiny_game(), seed=1)
    shadow = shadow_of(table, host)
    story = [(e["e"], e.get("p"), e.get("t")) for e in shadow.hands[0]]
    at = story.index(("meld", 2, "4z"))
    assert story[at : at + 7] == [
        ("meld", 2, "4z"), ("meld", 2, "4z"), ("meld", 2, "4z"), ("meld", 2, "4z"), ("dora", None, "2z"),
        ("draw", 2, "9m"), ("discard", 2, "9p"),
    ]  # fmt: skip
    riichi = [e for e in shadow.of(0, "discard") if e["sideways"]]
    assert [(e["p"], e["t"]) for e in riichi] == [(0, "3z")]
    assert shadow.of(0, "riichi_ok") == [{"e": "riichi_ok", "p": 0}]
    assert [e["t"] for e in shadow.of(0, "ura")] == ["3m", "4m"]
    assert story[-1] == ("tiles in", None, None)


def test_the_walls_stand_complete_before_the_deal() -> None:
    _table, host = play(tiny_game())
    walls: list[int] = []
    for message in host.messages(m.TileEvent, m.DiceSettled):
        if isinstance(message, m.DiceSettled):
            break
        assert isinstance(message, m.TileEvent)
        assert zone_kind(message.zone) == ZoneKind.WALL
        walls += [sight.tag for sight in message.tiles]
    assert len(set(walls)) == len(walls) == 136


def test_two_sets_alternate() -> None:
    table, host = play(tiny_game())
    shadow_sets = []
    for message in host.messages(m.TileEvent):
        assert isinstance(message, m.TileEvent)
        shadow_sets += [
            0 if sight.tag in table.parts.sets[0].tiles else 1 for sight in message.tiles
        ]
    assert shadow_sets[0] == 0
    assert shadow_sets[-1] == 1
    assert shadow_sets == sorted(shadow_sets)


@pytest.mark.parametrize("level", sorted(LEVELS))
def test_a_level_tells_what_its_machine_has_and_no_more(level: str) -> None:
    table, host = play(tiny_game(), level=level, speed=2000.0)
    kinds = {type(message) for message in host.messages()}
    assert {
        m.ButtonEvent,
        m.WallEvent,
        m.LidEvent,
        m.DiceRolling,
        m.DiceSettled,
        m.ActionResult,
    } <= kinds
    assert (m.RiichiSlot in kinds) == (level != "basic")
    assert (m.StickTray in kinds) == (level != "basic")
    assert (m.TileEvent in kinds) == (level == "tiles")
    assert table.report()["hands_played"] == 2


def test_the_machine_deals_itself() -> None:
    has = LEVELS["tiles"] | Capability.AUTO_DEAL | Capability.AUTO_DORA
    table, host = play(tiny_game(), capabilities=has)
    assert not host.messages(m.DiceSettled, m.DiceRolling)
    shadow = shadow_of(table, host)
    for number, raw in enumerate(tiny()["rounds"]):
        check_hand(raw, shadow, number)


def test_without_a_drawn_slot_draws_are_not_told() -> None:
    has = LEVELS["tiles"] & ~Capability.TILES_DRAWN
    _table, host = play(tiny_game(), capabilities=has)
    zones = {zone_kind(e.zone) for e in host.messages(m.TileEvent) if isinstance(e, m.TileEvent)}
    assert ZoneKind.DRAWN not in zones
    assert ZoneKind.RIVER in zones


def test_people_wait_for_the_operator() -> None:
    told: list[Progress] = []
    table = SimTable(Options(operator=frozenset({"result", "riichi"})), tiny_game(), told.append)
    pair = Pair(table, Host())
    for kind in ("riichi", "result", "result"):
        assert not pair.run(lambda: table.over, limit=30.0)
        assert (told[-1].kind, told[-1].waits) == (kind, True)
        table.operator_done()
    assert pair.run(lambda: table.over, limit=30.0)


def test_people_wait_until_the_game_is_known() -> None:
    table = SimTable(Options(hold=True), tiny_game())
    pair = Pair(table, Host())
    assert not pair.run(lambda: bool(pair.host.messages(m.ButtonEvent)), limit=30.0)
    table.begin()
    assert pair.run(lambda: table.over, limit=30.0)


def test_at_human_speed_a_hand_takes_minutes_and_motors_seconds() -> None:
    table, host = SimTable(Options(speed=1.0), tiny_game()), Host()
    pair = Pair(table, host)
    times: dict[str, int] = {}

    def note(_host: Host, message: m.Message) -> None:
        if isinstance(message, m.WallEvent):
            times[Phase(message.phase).name] = pair.now

    host.on_event = note
    assert pair.run(lambda: table.people.hands_done == 1, limit=3600.0)
    assert times["UP"] - times["RISING"] == pytest.approx(4_500_000, abs=10_000)
    assert 60_000_000 < pair.now < 600_000_000


def test_people_look_for_the_new_honba() -> None:
    table, host = SimTable(Options(), tiny_game()), Host()
    pair = Pair(table, host)
    host.link.show(m.SetHonba(0))
    people.LOOK = 50.0
    assert not pair.run(lambda: table.over, limit=40.0)
    host.link.show(m.SetHonba(1))
    host.link.show(m.SetRound(0, 1, 0))
    assert pair.run(lambda: table.people.hands_done == 2, limit=5.0)
    assert table.report()["unmet"] == []


def test_people_pay_what_the_displays_show() -> None:
    host = Host()

    def enter_result(progress: Progress) -> None:
        if (progress.kind, progress.hand) == ("result", 0):
            host.link.show(m.SetScores((33_700, 17_300, 25_000, 24_000)))

    table = SimTable(Options(level="score"), tiny_game(), enter_result)
    host.link.show(m.SetScores((25_000, 25_000, 25_000, 25_000)))
    people.LOOK = people.GLANCE = 2.0
    assert Pair(table, host).run(lambda: table.over, limit=60.0)
    assert table.parts.sticks.totals() == [33_700, 17_300, 25_000, 24_000]
    trays = {e.seat: e.sticks for e in host.messages(m.StickTray) if isinstance(e, m.StickTray)}
    assert trays[0] == tuple(table.parts.sticks.trays[0])
