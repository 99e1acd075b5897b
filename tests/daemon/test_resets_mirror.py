"""What the mirror makes of a gap: the one legal explanation, or none, and never an order that nobody saw."""

from __future__ import annotations

import json

import pytest

from firmware_protocol import messages as m
from firmware_protocol.vocabulary import Capability, Phase, Sight, ZoneKind, zone
from tablectl.engine.game import commands as cmd
from tablectl.engine.game import events as ev
from tablectl.engine.game.state import EMPTY, LIVE_AT_DEAL, GameState
from tablectl.engine.game.wall import DEALERS_FOURTEENTH, REPLACEMENTS
from tablectl.engine.rules import load as rules_of
from tablectl.mirror.mirror import Mirror
from tablectl.mirror.moves import View
from tests.daemon.bench import HANDS, Bench
from tests.daemon.test_mirror import after_dealers_discard

PATIENCE = 3500
"""Longer than a stick is waited for, where orientation is not told."""


def gap(bench: Bench) -> int:
    """The board starts anew; how many events there were before."""
    bench.mirror.link(False, bench.now)
    bench.mirror.link(True, bench.now, reset=True)
    return len(bench.events)


def moves(bench: Bench, before: int) -> list[str]:
    """What was done since; a win that somebody let pass is nothing that is done."""
    return [name for name in bench.types(before) if name != "missed_win"]


def play_silently(bench: Bench, seat: int, draws: str, discards: int | None = None) -> int:
    """A seat draws and discards (what it drew, or `discards`), and nobody hears of it; the discard."""
    drawn = bench.silently(bench.tag(draws), ZoneKind.HAND, seat)
    return bench.silently(drawn if discards is None else discards, ZoneKind.RIVER, seat)


def test_a_call_within_the_gap_is_found_with_all_around_it() -> None:
    bench, tags = after_dealers_discard()
    before = gap(bench)
    haku = play_silently(bench, 1, "5z")
    for tag in [haku, *(tag for tag in tags[3] if bench.names[tag] == "5z")]:
        bench.silently(tag, ZoneKind.MELD, 3)
    bench.silently(tags[3][0], ZoneKind.RIVER, 3)
    bench.silently(bench.tag("7z"), ZoneKind.DRAWN, 0)
    bench.look()
    bench.wait(PATIENCE)
    assert moves(bench, before) == ["drawn", "discarded", "called", "discarded", "drawn"]
    called = next(event for event in bench.events if isinstance(event, ev.Called))
    assert (called.kind, called.seat, called.from_seat) == ("pon", 3, 1)
    assert bench.mirror.verdict.certainty == "accepted"


def a_go_around(bench: Bench, tags: list[list[int]]) -> tuple[int, int]:
    """Five draws and discards that nobody saw; the two discards of seat 1."""
    first = play_silently(bench, 1, "7z", tags[1][0])
    for seat, name in ((2, "6z"), (3, "9m"), (0, "9p")):
        play_silently(bench, seat, name)
    return first, play_silently(bench, 1, "8s", tags[1][1])


def test_two_orders_of_discards_are_two_explanations_and_neither_is_taken() -> None:
    bench, tags = after_dealers_discard()
    before = gap(bench)
    a_go_around(bench, tags)
    bench.look()
    bench.wait(PATIENCE)
    assert moves(bench, before) == []
    verdict = bench.mirror.verdict
    assert (verdict.certainty, verdict.code) == ("contradiction", "gap")
    assert "either discard 1s by seat 1 or discard 2s by seat 1 came first" in verdict.text


@pytest.mark.parametrize("turned", [False, True])
def test_the_places_in_a_river_tell_the_order(turned: bool) -> None:
    bench, tags = after_dealers_discard()
    before = gap(bench)
    one, other = a_go_around(bench, tags)
    bench.look(slots={one: int(turned), other: int(not turned)})
    bench.wait(PATIENCE)
    thrown = [e for e in bench.events[before:] if isinstance(e, ev.Discarded) and e.seat == 1]
    assert [bench.names[one], bench.names[other]] == ["1s", "2s"]
    names = {18: "1s", 19: "2s"}
    told = [names[event.tile] for event in thrown if event.tile is not None]
    assert told == (["2s", "1s"] if turned else ["1s", "2s"])
    assert bench.mirror.verdict.certainty == "accepted"


def test_nothing_is_decided_before_the_board_has_told_its_state() -> None:
    """What it reports after the restart comes after what it did not report."""
    bench, tags = after_dealers_discard()
    before = gap(bench)
    play_silently(bench, 1, "7z")
    drawn = bench.draw(2, "6z")
    bench.wait(100)
    bench.discard(2, drawn)
    bench.draw(3, "9m")
    bench.wait(PATIENCE)
    assert moves(bench, before) == []
    assert bench.mirror.verdict.code == "gap"
    bench.look()
    assert moves(bench, before) == ["drawn", "discarded"] * 2 + ["drawn"]
    assert [e.seat for e in bench.events[before:] if isinstance(e, ev.Drawn)] == [1, 2, 3]
    assert len(tags[1]) == 13


def test_a_tile_in_the_air_at_the_end_of_the_gap_is_waited_for() -> None:
    bench, tags = after_dealers_discard()
    before = gap(bench)
    haku = play_silently(bench, 1, "5z")
    own = [tag for tag in tags[3] if bench.names[tag] == "5z"]
    for tag in own:
        bench.silently(tag, ZoneKind.MELD, 3)
    del bench.where[haku]
    bench.look()
    bench.wait(200)
    assert moves(bench, before) == []
    bench.appear(ZoneKind.MELD, 3, haku)
    bench.wait(PATIENCE)
    assert moves(bench, before) == ["drawn", "discarded", "called"]


def test_a_hand_that_was_taken_away_meanwhile_is_for_a_person() -> None:
    bench, tags = after_dealers_discard()
    before = gap(bench)
    for tag in tags[2]:
        del bench.where[tag]
    bench.look()
    bench.wait(PATIENCE)
    assert moves(bench, before) == []
    assert bench.mirror.verdict.certainty == "contradiction"
    assert "the hand of seat 2 was taken away meanwhile" in bench.mirror.verdict.text


def test_lost_events_wait_for_the_state_and_are_given_up_without_it() -> None:
    bench, _ = after_dealers_discard()
    before = len(bench.events)
    bench.see(m.EventsLost(3))
    bench.draw(1, "7z")
    bench.wait(5000)
    verdict = bench.mirror.verdict
    assert (verdict.certainty, verdict.code) == ("tentative", "gap")
    bench.wait(15_000)
    verdict = bench.mirror.verdict
    assert (verdict.certainty, verdict.code) == ("contradiction", "gap")
    assert "its state could not be read" in verdict.text
    assert moves(bench, before) == []
    bench.look()  # late is not too late
    assert moves(bench, before) == ["drawn"]


def test_a_hand_that_nobody_can_explain_leaves_nothing_to_the_next() -> None:
    bench, tags = after_dealers_discard()
    gap(bench)
    a_go_around(bench, tags)
    bench.look()
    bench.wait(PATIENCE)
    assert bench.mirror.verdict.certainty == "contradiction"
    bench.mirror.started()
    verdict = bench.mirror.verdict
    assert (verdict.certainty, verdict.code) == ("accepted", "")
    assert bench.mirror.to_json()["gap"] is None


def test_what_waits_for_the_state_has_a_bound() -> None:
    """A board that never tells it, and readers that see tiles all night."""
    bench, tags = after_dealers_discard()
    gap(bench)
    for _ in range(200):
        bench.vanish(tags[1][0])
        bench.wait(100)
        bench.appear(ZoneKind.HAND, 1, tags[1][0])
    assert bench.mirror.verdict.certainty == "contradiction"
    assert bench.mirror.to_json()["gap"]["reports"] == []


def test_people_who_end_the_hand_end_the_search() -> None:
    bench, tags = after_dealers_discard()
    gap(bench)
    a_go_around(bench, tags)
    bench.look()
    bench.see(m.LidEvent(Phase.RISING, 0, 0))
    assert bench.mirror.to_json()["gap"]["hopeless"]
    assert bench.mirror.verdict.certainty == "contradiction"


def test_a_stick_laid_after_the_gap_makes_no_riichi_of_a_discard_within_it() -> None:
    hands = (
        "1m2m3m4m5m6m7m8m9m1p1p2z2z",
        "2s3s4s5s6s7s1p2p3p7p8p9p9p",
        "1s1s1s4p5p6p4s5s6s8s8s3z3z",
        "2m3m4m2p3p4p2s3s4s5z5z6z6z",
    )
    bench = Bench(extra=Capability.ORIENTATION)
    bench.deal(hands)
    bench.discard(0, bench.draw(0, "9s"))
    bench.wait(400)
    before = gap(bench)
    play_silently(bench, 1, "7z")
    drawn = bench.draw(2, "6z")
    bench.discard(2, drawn, flags=int(Sight.ORIENTED | Sight.SIDEWAYS))
    bench.see(m.RiichiSlot(2, 1))
    bench.look(sticks=1 << 2)
    bench.wait(PATIENCE)
    assert moves(bench, before) == [
        "drawn", "discarded", "drawn", "riichi_declared", "discarded",
    ]  # fmt: skip
    bench.draw(3, "9m")
    assert bench.state.seats[1].riichi == 0
    assert bench.state.seats[2].ippatsu


def at_score_level() -> Bench:
    bench = Bench()
    bench.state = EMPTY
    rules = rules_of("tenhou", {"aka": False}).to_dict()
    bench.decide(
        cmd.StartGame("g", rules, ("a", "b", "c", "d"), knowledge="score"), cmd.PressStart(0),
        cmd.WallsReady(), cmd.RollDice(3, 4), cmd.Deal(), cmd.RevealDora(),
    )  # fmt: skip
    assert bench.state.phase == "play"
    return bench


def score_state(bench: Bench, sticks: int) -> None:
    bench.see(m.SnapshotState(9, 1, 1, (3, 3, 3, 3), 0, sticks, (0,) * 20, 0))


@pytest.mark.parametrize("in_the_gap", [True, False])
def test_a_stick_is_a_riichi_at_level_score_whenever_it_was_laid(in_the_gap: bool) -> None:
    """Before the board has told its state, or with nobody told of it at all."""
    bench = at_score_level()
    before = gap(bench)
    if not in_the_gap:
        bench.see(m.RiichiSlot(2, 1))
    score_state(bench, 1 << 2)
    assert bench.types(before) == ["riichi_declared", "riichi_accepted"]
    assert bench.state.seats[2].riichi
    score_state(bench, 1 << 2)
    assert len(bench.types(before)) == 2


def test_a_stick_of_the_hand_before_is_no_riichi() -> None:
    bench = at_score_level()
    bench.see(m.RiichiSlot(2, 1))
    bench.mirror.started()
    bench.state = bench.state.copy()
    bench.state.seats = at_score_level().state.seats
    before = gap(bench)
    score_state(bench, 1 << 2 | 1 << 3)
    assert [e.seat for e in bench.events[before:] if isinstance(e, ev.RiichiDeclared)] == [3]
    bench.see(m.RiichiSlot(2, 0))
    bench.see(m.RiichiSlot(2, 1))
    assert bench.state.seats[2].riichi


def test_a_stick_that_comes_too_late_is_for_a_person_and_makes_no_later_riichi() -> None:
    """Where orientation is not sensed, its discard has passed without it, and the next one is not it."""
    bench = Bench(extra=Capability(0))
    tags = bench.deal(("1m2m3m4m5m6m7m8m9m1p1p2p3p", *HANDS[1:3], "2m3m4m2p3p4p2s3s4s5z5z6z6z"))
    bench.discard(0, bench.draw(0, "9s"))
    bench.discard(1, bench.draw(1, "7z"))
    bench.see(m.RiichiSlot(0, 1))
    bench.wait(1000)
    assert bench.mirror.verdict.certainty == "accepted"
    bench.wait(1000)
    assert (bench.mirror.verdict.certainty, bench.mirror.verdict.code, bench.mirror.verdict.seat) == (
        "contradiction", "late_stick", 0,
    )  # fmt: skip
    for seat, name in ((2, "6z"), (3, "9m"), (0, "9p")):
        bench.discard(seat, bench.draw(seat, name))
    bench.draw(1, "8s")
    assert bench.state.seats[0].river[-1].tile == bench.mirror.view.tile(
        bench.mirror.book.rivers[0][-1]
    )
    assert len(bench.state.seats[0].river) == 2
    assert bench.state.seats[0].riichi == 0
    assert len(tags) == 4
    bench.see(m.RiichiSlot(0, 0))
    bench.wait(100)
    assert bench.mirror.verdict.certainty == "accepted"


def test_a_gap_survives_as_json() -> None:
    bench, tags = after_dealers_discard()
    before = gap(bench)
    play_silently(bench, 1, "7z")
    bench.draw(2, "6z")
    bench.see(m.RiichiSlot(2, 1))
    memory = json.loads(json.dumps(bench.mirror.to_json()))
    other = Mirror(bench.mirror.view.tags, bench.mirror.options)
    other.load(memory)
    assert other.to_json() == bench.mirror.to_json()
    bench.mirror = other
    bench.look(sticks=1 << 2)
    bench.wait(PATIENCE)
    assert moves(bench, before) == ["drawn", "discarded", "drawn"]
    assert len(tags[2]) == 13


def test_a_snapshot_keeps_what_is_known_of_faint_readings() -> None:
    """The antenna next door sees a whole hand; the board's state says nothing of strength."""
    bench, tags = after_dealers_discard()
    bench.draw(1, "7z")
    before = len(bench.events)
    for tag in tags[1]:
        octet = bench.where[tag]
        bench.appear(ZoneKind.LAID, 1, tag, signal=30)
        bench.where[tag] = octet
    pages = {zone(ZoneKind.LAID, 1): list(tags[1])}
    for tag, octet in bench.where.items():
        pages.setdefault(octet, []).append(tag)
    chunks = [
        (octet, mine[at : at + 4]) for octet, mine in pages.items() for at in range(0, len(mine), 4)
    ]
    bench.see(m.SnapshotState(9, len(chunks) + 1, 1, (3, 3, 3, 3), 0, 0, (0,) * 20, 0))
    for number, (octet, mine) in enumerate(chunks, 1):
        tiles = tuple(m.TileAt(255, 1, tag) for tag in mine)
        bench.see(m.SnapshotTiles(9, number, octet, 0, tiles))
    bench.wait(PATIENCE)
    assert moves(bench, before) == []
    assert bench.mirror.verdict.certainty == "accepted"


@pytest.mark.parametrize(
    ("kans", "step", "drawn", "due"),
    [
        ((), "draw", 1, DEALERS_FOURTEENTH + 1),
        ((0,), "draw", 3, DEALERS_FOURTEENTH + 2),
        ((0, 1), "draw", 6, DEALERS_FOURTEENTH + 4),
        ((), "rob", 1, REPLACEMENTS[0]),
        ((0,), "rinshan", 1, REPLACEMENTS[0]),
        ((0, 1), "rinshan", 3, REPLACEMENTS[1]),
    ],
)
def test_the_tile_that_is_due_is_known_after_kans_too(
    kans: tuple[int, ...], step: str, drawn: int, due: int
) -> None:
    state = GameState()
    state.kans, state.live = kans, LIVE_AT_DEAL - drawn
    state.__dict__["step"] = step
    assert View.due_index(state) == due
