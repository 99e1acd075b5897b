"""What sensors show and what must be made of it: known faults 48 and 49, and design §2."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from firmware_protocol import messages as m
from firmware_protocol.vocabulary import Capability, Phase, Sight, ZoneKind, zone
from hardware_sim.record import parse
from hardware_sim.sensors import Quality
from tablectl.engine.game import commands as cmd
from tablectl.engine.game import events as ev
from tablectl.mirror.mirror import Mirror
from tablectl.mirror.tags import TileFileError, load_tags
from tests.conftest import scaled
from tests.daemon.bench import HANDS, Bench, split
from tests.daemon.halls import evening
from tests.daemon.virtual import tiles_bridge
from tests.first_light.games import game_of, start_request, tenhou_games

PATIENCE = 2000


def after_dealers_discard(ruleset: str = "saikouisen") -> tuple[Bench, list[list[int]]]:
    """Seat 0 has drawn 9s and thrown it; seat 1 is next."""
    bench = Bench(ruleset)
    tags = bench.deal()
    tags[0].append(bench.draw(0, "9s"))
    bench.discard(0, tags[0][-1])
    bench.wait(400)
    return bench, tags


def test_deal_draw_and_discard_are_told_in_order() -> None:
    bench, _ = after_dealers_discard()
    assert bench.types() == [
        "game_started", "hand_started", "walls_built", "dice_rolled", "wall_broken", "dealt",
        "dora_revealed", "drawn", "discarded",
    ]  # fmt: skip
    assert bench.mirror.verdict.certainty == "accepted"


def test_first_discard_of_the_dealer_never_tells_tsumogiri_after_a_hand_deal() -> None:
    bench, _ = after_dealers_discard()
    discarded = bench.events[-1]
    assert isinstance(discarded, ev.Discarded)
    assert discarded.tsumogiri is None


@pytest.mark.parametrize(("own", "tsumogiri"), [(True, True), (False, False)])
def test_tsumogiri_is_what_left_the_drawn_slot(own: bool, tsumogiri: bool) -> None:
    bench, tags = after_dealers_discard()
    drawn = bench.draw(1, "7z")
    bench.wait(400)
    bench.discard(1, drawn if own else tags[1][0])
    bench.wait(400)
    discarded = bench.events[-1]
    assert isinstance(discarded, ev.Discarded)
    assert discarded.tsumogiri is tsumogiri


def test_tsumogiri_is_null_where_no_drawn_slot_is_sensed() -> None:
    bench, _ = after_dealers_discard()
    bench.mirror.capabilities &= ~int(Capability.TILES_DRAWN)
    tag = bench.tag("7z")
    bench.appear(ZoneKind.HAND, 1, tag)
    bench.discard(1, tag)
    bench.wait(400)
    discarded = bench.events[-1]
    assert isinstance(discarded, ev.Discarded)
    assert discarded.tsumogiri is None


def test_a_tile_lifted_and_put_back_is_no_move() -> None:
    bench, tags = after_dealers_discard()
    before = len(bench.events)
    bench.vanish(tags[1][3])
    bench.wait(200)
    bench.appear(ZoneKind.HAND, 1, tags[1][3])
    bench.wait(PATIENCE)
    assert bench.types(before) == []
    assert bench.mirror.verdict.certainty == "accepted"


def test_a_hand_held_over_the_river_is_no_discard() -> None:
    bench, tags = after_dealers_discard()
    bench.draw(1, "7z")
    before = len(bench.events)
    bench.move(tags[1][0], ZoneKind.RIVER, 1)
    bench.wait(150)
    bench.move(tags[1][0], ZoneKind.HAND, 1)
    bench.wait(PATIENCE)
    assert bench.types(before) == []
    assert bench.mirror.verdict.certainty == "accepted"


def test_a_tile_in_the_air_over_the_river_settles_nothing() -> None:
    bench, tags = after_dealers_discard()
    bench.draw(1, "7z")
    before = len(bench.events)
    bench.move(tags[1][0], ZoneKind.RIVER, 1)
    bench.wait(100)
    bench.vanish(tags[1][0])
    bench.wait(PATIENCE)
    assert bench.types(before) == []


def test_fast_hands_confirm_each_other_without_waiting() -> None:
    bench, _ = after_dealers_discard()
    before = len(bench.events)
    first = bench.draw(1, "7z")
    bench.discard(1, first)
    bench.draw(2, "6z")
    assert bench.types(before) == ["drawn", "discarded", "drawn"]


def test_three_missed_reads_flicker_without_effect() -> None:
    bench, tags = after_dealers_discard()
    before = len(bench.events)
    for _ in range(5):
        for tag in tags[2]:
            bench.vanish(tag)
        bench.wait(250)
        bench.appear(ZoneKind.HAND, 2, *tags[2])
    bench.wait(PATIENCE)
    assert bench.types(before) == []
    assert bench.mirror.verdict.certainty == "accepted"


def test_the_same_reading_twice_is_one_reading() -> None:
    bench, _ = after_dealers_discard()
    drawn = bench.draw(1, "7z")
    bench.discard(1, drawn)
    bench.wait(400)
    before = len(bench.events)
    bench.appear(ZoneKind.RIVER, 1, drawn)
    bench.wait(PATIENCE)
    assert bench.types(before) == []


def test_a_faint_reading_next_door_is_no_move() -> None:
    bench, tags = after_dealers_discard()
    bench.draw(1, "7z")
    before = len(bench.events)
    for tag in tags[1]:
        octet = bench.where[tag]
        bench.appear(ZoneKind.LAID, 1, tag, signal=30)
        bench.where[tag] = octet
    bench.wait(PATIENCE)
    assert bench.types(before) == []


def test_a_ghost_flickers_without_effect() -> None:
    bench, _ = after_dealers_discard()
    before = len(bench.events)
    ghost = bench.tag("8m")
    bench.appear(ZoneKind.DRAWN, 1, ghost, signal=10)
    bench.vanish(ghost)
    bench.wait(PATIENCE)
    assert bench.types(before) == []
    assert bench.mirror.verdict.certainty == "accepted"


def test_a_discard_the_river_missed_is_known_by_what_left_the_hand() -> None:
    bench, tags = after_dealers_discard()
    bench.draw(1, "7z")
    bench.vanish(tags[1][0])
    bench.wait(400)
    bench.draw(2, "6z")
    bench.wait(400)
    discarded = [e for e in bench.events if isinstance(e, ev.Discarded)][-1]
    assert (discarded.seat, bench.names[tags[1][0]]) == (1, "1s")
    assert bench.state.turn == 2


def test_a_discard_nobody_saw_is_a_contradiction_with_its_shortest_explanation() -> None:
    bench, _ = after_dealers_discard()
    bench.draw(1, "7z")
    bench.draw(2, "6z")
    bench.wait(PATIENCE)
    verdict = bench.mirror.verdict
    assert (verdict.certainty, verdict.code, verdict.seat) == ("contradiction", "missed_discard", 1)
    assert "a discard by seat 1 was missed" in verdict.text


def test_a_draw_the_hand_missed_is_known_by_the_discard() -> None:
    bench, _ = after_dealers_discard()
    before = len(bench.events)
    bench.appear(ZoneKind.RIVER, 1, bench.tag("7z"))
    bench.wait(400)
    assert bench.types(before) == ["drawn", "discarded"]


def test_a_draw_out_of_turn_is_named() -> None:
    bench, _ = after_dealers_discard()
    bench.draw(3, "6z")
    bench.wait(PATIENCE)
    assert bench.mirror.verdict.code == "out_of_turn"
    assert bench.mirror.verdict.seat == 3
    found = [event for event in bench.events if isinstance(event, ev.Found)]
    assert [(event.row, event.seat) for event in found] == [("P23", 3)]


def test_a_discard_taken_back_is_named() -> None:
    bench, tags = after_dealers_discard()
    bench.move(tags[0][-1], ZoneKind.HAND, 0)
    bench.wait(PATIENCE)
    assert bench.mirror.verdict.code == "taken_back"


def test_a_tag_of_no_set_and_one_of_the_other_set_are_named() -> None:
    bench, _ = after_dealers_discard()
    bench.appear(ZoneKind.HAND, 2, 99)
    bench.wait(PATIENCE)
    assert (bench.mirror.verdict.code, bench.mirror.verdict.seat) == ("strange_tag", 2)
    bench.vanish(99)
    bench.appear(ZoneKind.HAND, 3, 2005)
    bench.wait(PATIENCE)
    assert (bench.mirror.verdict.code, bench.mirror.verdict.seat) == ("other_set", 3)
    bench.vanish(2005)
    bench.wait(PATIENCE)
    assert bench.mirror.verdict.certainty == "accepted"


def test_a_contradiction_stops_scoring_and_never_the_table() -> None:
    winning = ("1m1m1m2m3m4m5m6m7m8m9m9m9m", *HANDS[1:3], "2m3m4m2p3p4p2s3s4s5z5z6z6z")
    bench = Bench()
    tags = bench.deal(winning)
    bench.appear(ZoneKind.HAND, 2, 99)
    bench.wait(PATIENCE)
    assert bench.mirror.verdict.code == "strange_tag"
    tags[0].append(bench.draw(0, "5m"))
    for tag in tags[0]:
        bench.move(tag, ZoneKind.LAID, 0)
    bench.wait(PATIENCE)
    assert "drawn" in bench.types()
    assert "won" not in bench.types()
    bench.vanish(99)
    bench.wait(PATIENCE)
    assert "won" in bench.types()


def test_a_call_is_the_claimed_tile_in_the_melds() -> None:
    bench, tags = after_dealers_discard()
    drawn = bench.draw(1, "5z")
    bench.discard(1, drawn)
    haku = [tag for tag in tags[3] if bench.names[tag] == "5z"]
    for tag in [*haku, drawn]:
        bench.move(tag, ZoneKind.MELD, 3)
    bench.wait(400)
    called = bench.events[-1]
    assert isinstance(called, ev.Called)
    assert (called.kind, called.seat, called.from_seat) == ("pon", 3, 1)


def test_riichi_shows_by_the_sideways_tile() -> None:
    bench = Bench()
    tags = bench.deal(("1m2m3m4m5m6m7m8m9m1p1p2p3p", *HANDS[1:3], "2m3m4m2p3p4p2s3s4s5z5z6z6z"))
    tags[0].append(bench.draw(0, "9s"))
    bench.discard(0, tags[0][-1], flags=int(Sight.ORIENTED | Sight.SIDEWAYS))
    bench.wait(400)
    assert bench.types()[-2:] == ["riichi_declared", "discarded"]


def test_riichi_shows_by_the_stick_where_orientation_is_not_sensed() -> None:
    bench = Bench(extra=Capability(0))
    tags = bench.deal(("1m2m3m4m5m6m7m8m9m1p1p2p3p", *HANDS[1:3], "2m3m4m2p3p4p2s3s4s5z5z6z6z"))
    tags[0].append(bench.draw(0, "9s"))
    bench.discard(0, tags[0][-1])
    bench.wait(1200)
    assert bench.types()[-1] == "drawn"
    bench.see(m.RiichiSlot(0, 1))
    bench.wait(400)
    assert bench.types()[-2:] == ["riichi_declared", "discarded"]


def test_blind_time_does_not_count() -> None:
    """The cable is out while a discard lies for an hour: it has been seen for a moment only."""
    bench, tags = after_dealers_discard()
    bench.draw(1, "7z")
    before = len(bench.events)
    bench.move(tags[1][0], ZoneKind.RIVER, 1)
    bench.wait(100)
    bench.mirror.link(False, bench.now)
    bench.now += 3_600_000
    bench.mirror.link(True, bench.now)
    bench.decide(*bench.mirror.advance(bench.now, bench.state))
    assert bench.types(before) == []
    bench.wait(400)
    assert bench.types(before) == ["discarded"]


def test_an_indicator_nobody_read_is_known_by_its_place_in_the_wall() -> None:
    bench = Bench()
    bench.decide(cmd.PressStart(0), cmd.WallsReady(), cmd.RollDice(3, 4))
    tags = [[bench.tag(name) for name in split(hand)] for hand in HANDS]
    indicator = bench.tag("7z")
    # 7 stacks stay at the right of seat 2's wall; the indicator is the third stack from the break (1.15.3).
    bench.see(m.TileEvent(zone(ZoneKind.WALL, 2), 0, (m.TileSight(8, 1, 200, indicator),)))
    for seat, mine in enumerate(tags):
        bench.appear(ZoneKind.HAND, seat, *mine)
    bench.see(m.TileEvent(zone(ZoneKind.WALL, 2), 0, (m.TileSight(8, 0, 0, indicator),)))
    bench.wait(3000)
    assert bench.types()[-2:] == ["dealt", "dora_revealed"]
    assert bench.mirror.verdict.certainty in ("accepted", "tentative")


def test_early_start_press_changes_nothing_but_is_refused() -> None:
    bench, _ = after_dealers_discard()
    before = len(bench.events)
    bench.see(m.ButtonEvent(1, 2, 1))
    assert bench.types(before) == []
    assert bench.refused[-1].code == "hand_in_progress"


@pytest.mark.parametrize(
    ("held", "fault", "found"), [(30_000, 0, []), (29_000, 0, [2]), (29_000, 1, [])]
)
def test_a_tray_that_holds_other_than_the_score_is_for_the_referee(
    held: int, fault: int, found: list[int]
) -> None:
    bench = Bench("saikouisen")
    bench.see(m.StickTray(2, (0, 0, held // 1000, 0, 0), fault))
    bench.see(m.ButtonEvent(1, 0, 1))
    rows = [(e.row, e.seat) for e in bench.events if isinstance(e, ev.Found)]
    assert rows == [("P45", seat) for seat in found]
    assert bench.state.phase == "walls"


def test_lid_in_the_middle_of_play_ends_nothing() -> None:
    bench, _ = after_dealers_discard()
    before = len(bench.events)
    bench.see(m.LidEvent(Phase.UP, 0, 0))
    assert bench.types(before) == []


def test_a_snapshot_after_a_reset_heals_what_was_missed() -> None:
    bench, tags = after_dealers_discard()
    drawn = bench.tag("7z")
    before = len(bench.events)
    pages: list[tuple[int, list[int]]] = [
        (zone(ZoneKind.HAND, seat), tags[seat][:13]) for seat in range(4)
    ]
    pages += [(zone(ZoneKind.RIVER, 0), [tags[0][-1]]), (zone(ZoneKind.RIVER, 1), [drawn])]
    pages.append((zone(ZoneKind.INDICATOR), [t for t, w in bench.where.items() if w >> 4 == 7]))
    chunks = [(octet, mine[at : at + 4]) for octet, mine in pages for at in range(0, len(mine), 4)]
    state = m.SnapshotState(9, len(chunks) + 1, Phase.DOWN, (3, 3, 3, 3), 0, 0, (0,) * 20, 0)
    bench.see(state)
    for number, (octet, mine) in enumerate(chunks, 1):
        tiles = tuple(m.TileAt(255, 1, tag) for tag in mine)
        bench.see(m.SnapshotTiles(9, number, octet, 0, tiles))
    bench.wait(3500)  # nothing tells how the discard lies: a stick may come
    assert bench.types(before) == ["drawn", "discarded"]
    assert bench.mirror.verdict.certainty == "accepted"


def test_the_mirror_survives_as_json() -> None:
    bench, tags = after_dealers_discard()
    bench.draw(1, "7z")
    bench.move(tags[1][0], ZoneKind.RIVER, 1)
    bench.wait(100)
    memory = json.loads(json.dumps(bench.mirror.to_json()))
    other = Mirror(bench.mirror.view.tags, bench.mirror.options)
    other.load(memory)
    assert other.to_json() == bench.mirror.to_json()
    assert other.advance(bench.now + 400, bench.state) == bench.mirror.advance(
        bench.now + 400, bench.state
    )


# ---- whole games through bad antennas -----------------------------------------------------------------


TOO_MANY = {
    "overlaps": Quality(overlaps=0.1),
    "ghosts": Quality(ghosts=0.05),
    "repeats": Quality(repeats=0.2),
    "all": Quality(0.0, 0.05, 0.02, 0.05),
}
AT_HUMAN_SPEED = list(TOO_MANY)[-scaled(4, 1) :]
"""All at once as a rule, each alone too in the big run: people's pace costs most."""


@pytest.mark.parametrize(
    ("quality", "speed"),
    [(name, None) for name in TOO_MANY] + [(name, 1.0) for name in AT_HUMAN_SPEED],
)
def test_readings_too_many_change_no_result(
    quality: str, speed: float | None, tmp_path: Path
) -> None:
    game = game_of("g0411")
    bridge = tiles_bridge(parse(game), tmp_path, quality=TOO_MANY[quality], speed=speed)
    bridge.start(options=start_request(game)[1]["options"])
    bridge.play()
    ends = [event.data["scores"] for event in bridge.events if event.type == "hand_ended"]
    assert ends[:-1] == [hand["end"] for hand in game["rounds"]][:-1]
    assert bridge.state.final is not None


def test_hands_shown_at_a_draw_claim_no_win(tmp_path: Path) -> None:
    """Tenpai is shown while the last discard lies there, for as long as people like."""
    game = game_of("g0304")
    (*_, last), wanted = game["rounds"][0]["events"], game["rounds"][0]["end"]
    assert (last["reason"], last["tenpai"]) == ("exhaustive", [True, False, False, False])
    bridge = tiles_bridge(parse(game | {"rounds": game["rounds"][:1]}), tmp_path, speed=1.0)
    bridge.start(options=start_request(game)[1]["options"])
    bridge.play()
    ends = [event.data["scores"] for event in bridge.events if event.type == "hand_ended"]
    assert ends == [wanted]
    assert [event for event in bridge.events if event.type == "found"] == []


@pytest.mark.parametrize("speed", [1.0, 5.0, None])
def test_a_draw_is_found_while_everybody_sits_and_waits(
    speed: float | None, tmp_path: Path
) -> None:
    """After the last discard no sensor speaks any more: six quiet seconds are enough."""
    game = parse(evening(1))
    bridge = tiles_bridge(game, tmp_path, speed=speed, operator=frozenset({"result"}))
    bridge.start()
    bridge.run(until=lambda: bridge.waiting() == "the operator's result")
    bridge.rest(8.0)
    assert [event.type for event in bridge.events][-6:] == [
        "draw_reached", *["tenpai_declared"] * 4, "hand_drawn",
    ]  # fmt: skip
    assert len([event for event in bridge.events if event.type == "discarded"]) == 70


def test_missed_readings_never_make_a_wrong_result(tmp_path: Path) -> None:
    """One reading in five hundred never comes: most hands are read all the same, none is read wrong."""
    hands = read = 0
    ids = random.Random("misses").sample(tenhou_games(), scaled(40, 2))
    for game_id in ids:
        game = game_of(game_id)
        bridge = tiles_bridge(parse(game), tmp_path, quality=Quality(misses=0.002))
        bridge.start(options=start_request(game)[1]["options"])
        try:
            bridge.play(patience_s=60)
        except AssertionError:
            assert bridge.state.phase == "play"  # people wait for the referee: nothing was guessed
        ends = [event.data["scores"] for event in bridge.events if event.type == "hand_ended"]
        wanted = [hand["end"] for hand in game["rounds"]]
        assert ends[: len(wanted) - 1] == wanted[: min(len(ends), len(wanted) - 1)]
        hands += len(wanted)
        read += len(ends)
    assert read >= 0.8 * hands


# ---- tiles.toml ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("format = 2\n", "tiles_format"),
        ("format = 1\n", "tiles_no_set"),
        ("format = 1\nset = 3\n", "tiles_no_set"),
        ('format = 1\n[set.a]\nXYZ = "1m"\n', "tiles_bad_tag"),
        ('format = 1\n[set.a]\nE0 = "9z"\n', "tiles_unknown_tile"),
        ('format = 1\n[set.a]\nE0 = "1m"\n[set.b]\n0E0 = "1m"\n', "tiles_tag_twice"),
        (
            "format = 1\n[set.a]\n" + "".join(f'E{n} = "1m"\n' for n in range(5)),
            "tiles_five_copies",
        ),
        ("format = ", "tiles_syntax"),
    ],
)
def test_a_bad_tile_file_says_what_is_wrong(text: str, code: str, tmp_path: Path) -> None:
    path = tmp_path / "tiles.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(TileFileError) as caught:
        load_tags(path)
    assert caught.value.code == code
    assert str(path) in str(caught.value)
    assert caught.value.hint


def test_a_missing_tile_file_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(TileFileError) as caught:
        load_tags(tmp_path / "absent.toml")
    assert caught.value.code == "tiles_unreadable"


def test_the_bench_deals_real_hands() -> None:
    assert all(len(split(hand)) == 13 for hand in HANDS)
