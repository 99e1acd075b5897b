"""The language of fault scripts, and what each sentence does to a table as its host sees it."""

from __future__ import annotations

import dataclasses
import itertools
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from firmware_protocol import messages as m
from firmware_protocol.deliveries import LinkFailed, LinkRefused, LogBytes, PeerReset, State
from firmware_protocol.schema import Message
from firmware_protocol.vocabulary import (
    ActionKind,
    Button,
    Jam,
    LogLevel,
    Motor,
    MotorFault,
    Phase,
    ResetCause,
    Result,
    Sight,
    StickFault,
    ZoneKind,
    zone,
)
from hardware_sim import people
from hardware_sim.errors import ScriptError
from hardware_sim.faults.language import DEEDS, find_script
from hardware_sim.faults.play import AREAS, Faults, bundled_names, manual
from hardware_sim.table import Options, SimTable
from hardware_sim.view import draw
from tests.sim.games import tiny_game
from tests.sim.host import SECOND, Host, Pair


@dataclasses.dataclass
class Run:
    """A game under a script, at its end."""

    table: SimTable
    host: Host
    pair: Pair

    def events(self, *kinds: type[Message]) -> list[Message]:
        return self.host.messages(*kinds)

    def sights(self, octet: int) -> list[tuple[int, int]]:
        """(tag, appeared) of a zone, in order."""
        return [
            (s.tag, s.flags & Sight.APPEARED)
            for e in self.events(m.TileEvent)
            if isinstance(e, m.TileEvent) and e.zone == octet
            for s in e.tiles
        ]


def run(
    script: str,
    *,
    level: str = "tiles",
    limit: float = 120.0,
    ends: bool = True,
    speed: float | None = None,
) -> Run:
    faults = Faults.parse(script)
    table = SimTable(Options(level=level, seed=3, speed=speed), tiny_game(3), faults=faults)
    host = Host()
    pair = Pair(table, host)
    over = pair.run(lambda: table.over, limit=limit)
    assert over is ends, f"waiting for {table.agenda.waiting_for('people')}"
    assert table.report()["executed_twice"] == 0
    if ends:
        assert faults.finished, [s.text for s in faults.sentences]
    return Run(table, host, pair)


@pytest.fixture(autouse=True)
def _no_looking(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(people, "LOOK", 0.0)
    monkeypatch.setattr(people, "GLANCE", 0.0)


# ---------------------------------------------------------------------- the language


@pytest.mark.parametrize(
    ("line", "tells"),
    [
        ("When hand 2 is dealt, unplug the cable", "full stop"),
        ("Unplug the cable.", "no comma"),
        ("When the moon is full, unplug the cable.", "never is it"),
        ("When hand 1 is dealt, unplug the telephone.", "unplug the cable"),
        ("After 3 seconds, unplug the cable.", "sentence before"),
        ("When seat 4 discards in hand 1, unplug the cable.", "never is it"),
    ],
)
def test_a_sentence_nobody_understands_says_line_and_nearest(line: str, tells: str) -> None:
    with pytest.raises(ScriptError, match=tells) as caught:
        Faults.parse(f"# comment\n\n{line}\n")
    assert caught.value.value == "script:3"


def test_a_script_that_does_not_exist() -> None:
    with pytest.raises(ScriptError, match="tripped-cable"):
        find_script("triped-cable")


def test_scripts_are_found_by_path_and_by_name(tmp_path: Path) -> None:
    own = tmp_path / "mine.txt"
    own.write_text("At the start, unplug the cable.  # ケーブル\n", encoding="utf-8")
    assert len(Faults.load(str(own)).sentences) == 1
    assert find_script("brown-out").name == "brown-out.txt"


def test_at_least_ten_scripts_come_along_and_read_as_sentences() -> None:
    names = bundled_names()
    assert len(names) >= 10
    for name in names:
        text = find_script(name).read_text(encoding="utf-8")
        assert text.startswith("# "), f"{name} begins with what happens, in words"
        assert Faults.load(name).sentences


def test_the_manual_holds_every_form_of_every_area() -> None:
    text = manual()
    assert {p.area for p in DEEDS} == {area.__name__.rpartition(".")[2] for area in AREAS}
    assert all(pattern.form in text for pattern in DEEDS)


EXAMPLES = {"N": "2", "S": "2", "Z": "river", "V": "1.3", "M": "lift", "T": '"ぽん"'}


def example(form: str) -> str:
    """A sentence of a form: slots filled, optional words said, first of each choice."""
    text = form.replace("[", "").replace("]", "")
    text = re.sub(r"\((\w+)\|[^)]*\)", r"\1", text)
    return re.sub(r"\{\w+:(\w)\}", lambda slot: EXAMPLES[slot.group(1)], text)


@pytest.mark.parametrize("form", [p.form for p in DEEDS])
@pytest.mark.parametrize("moment", ["At the start", "When seat 2 draws in hand 1"])
def test_every_form_can_be_said_at_any_time(form: str, moment: str) -> None:
    faults = Faults.parse(f"{moment}, {example(form)}.")
    table = SimTable(Options(seed=3), tiny_game(3), faults=faults)
    Pair(table, Host()).run(lambda: table.over, limit=12.0)
    assert faults.finished
    assert table.report()["executed_twice"] == 0
    draw(table)


# ---------------------------------------------------------------------- line


def test_frames_are_lost_and_sent_again() -> None:
    done = run("At the start, lose 20% of the frames.")
    assert done.table.line.lost > 20
    assert done.table.board.link.stats.retransmits > 10
    assert [e.event_no for e in done.host.events] == list(range(1, len(done.host.events) + 1))


def test_flipped_bits_are_found_out() -> None:
    done = run("At the start, flip a bit in 1% of the octets for 5 seconds.")
    assert done.table.line.flipped > 20
    assert done.host.link.stats.crc_errors + done.host.link.stats.noise > 0
    assert [e.event_no for e in done.host.events] == list(range(1, len(done.host.events) + 1))


def test_garbage_goes_to_the_log() -> None:
    done = run("When hand 1 is dealt, 200 octets of garbage come down the line.")
    noise = b"".join(i.data for i in done.host.items if isinstance(i, LogBytes))
    assert len(noise) >= 190


def test_a_stall_holds_everything_back() -> None:
    done = run("When hand 1 is dealt, stall the line for 2 seconds.")
    times = [at for at, way, _ in done.pair.transcript if way == "host"]
    assert max(b - a for a, b in itertools.pairwise(times)) > 1.5 * SECOND


def test_nobody_plays_on_while_the_cable_is_out() -> None:
    done = run("When hand 1 is dealt, unplug the cable.\nAfter 4 seconds, plug the cable in.")
    assert done.pair.now > 4 * SECOND
    assert done.table.report()["events_lost"] == 0
    assert any(isinstance(i, LinkFailed) for i in done.host.items)


@pytest.mark.parametrize(
    "deed", ["nothing the board says arrives any more", "nothing the host says arrives any more"]
)
def test_a_half_open_line_is_found_out_by_both_ends(deed: str) -> None:
    done = run(f"When hand 1 is dealt, {deed}.\nAfter 9 seconds, repair the line.")
    assert any(isinstance(i, LinkFailed) for i in done.host.items)
    assert sum(done.table.board.link.stats.failures.values()) > 0


# ---------------------------------------------------------------------- board


@pytest.mark.parametrize(
    ("deed", "cause"),
    [
        ("the board browns out", ResetCause.BROWN_OUT),
        ("the watchdog resets the board", ResetCause.WATCHDOG),
        ("somebody presses the reset pin", ResetCause.PIN),
    ],
)
def test_a_restart_tells_its_cause_and_the_game_goes_on(deed: str, cause: ResetCause) -> None:
    done = run(f"When seat 3 discards in hand 1, {deed}.")
    resets = [i for i in done.host.items if isinstance(i, PeerReset)]
    assert [r.cause for r in resets] == [cause]
    assert len({e.boot for e in done.host.events}) == 2
    assert done.table.board.boots == 2


def test_a_restart_while_the_walls_rise_needs_a_second_press() -> None:
    done = run("When the walls begin to rise in hand 1, the board browns out.")
    starts = [
        e for e in done.events(m.ButtonEvent) if isinstance(e, m.ButtonEvent) and e.button == 1
    ]
    assert done.table.people.pressed_again == 1
    assert len(starts) == 3 - 1 + 1
    assert done.table.board.executed_twice == 0


def test_displays_are_dark_after_a_restart_until_written_again() -> None:
    script = "When seat 3 discards in hand 1, the board browns out."
    table = SimTable(Options(seed=3), tiny_game(3), faults=Faults.parse(script))
    pair = Pair(table, Host())
    pair.host.link.show(m.SetHonba(4))
    assert pair.run(lambda: table.board.boots == 2, limit=60.0)
    assert table.parts.displays.honba is None
    assert pair.run(lambda: table.parts.displays.honba == 4, limit=10.0)


def test_a_frozen_board_hears_nothing() -> None:
    done = run("When hand 1 is dealt, the board freezes for 6 seconds.")
    assert any(isinstance(i, LinkFailed) for i in done.host.items)
    assert done.pair.now > 6 * SECOND


def test_another_major_is_refused() -> None:
    done = run("When hand 1 is dealt, the board is flashed with protocol 2.0.", ends=False)
    refused = [i for i in done.host.items if isinstance(i, LinkRefused)]
    assert refused
    assert refused[0].theirs == "2.0"
    assert done.host.link.state is State.REFUSED


def test_a_newer_minor_plays_on() -> None:
    done = run("When hand 1 is dealt, the board is flashed with protocol 1.7.")
    assert done.host.link.peer is not None
    assert done.host.link.peer.minor == 7


@pytest.mark.parametrize("deed", ["the clock drifts by 20000 ppm", "the clock lags by 20000 ppm"])
def test_a_bad_crystal_disturbs_nobody(deed: str) -> None:
    done = run(f"At the start, {deed}.\nWhen hand 2 begins, stall the line for 0.5 seconds.")
    assert not [i for i in done.host.items if isinstance(i, PeerReset | LinkFailed)]
    board = done.table.board.link
    uptime = board.uptime_ms(done.table.board._device_time(done.pair.now))
    assert abs(uptime * 1000 - done.pair.now) == pytest.approx(0.02 * done.pair.now, abs=2000)


def test_a_full_event_buffer_says_how_many_are_gone() -> None:
    small = "At the start, the event buffer holds only 12 events.\n"
    patient = run(small)
    assert not patient.events(m.EventsLost), "sweeps are told as fast as there is room"
    done = run(small + "When hand 1 is dealt, stall the line for 2 seconds.", speed=20.0)
    lost = [e.count for e in done.events(m.EventsLost) if isinstance(e, m.EventsLost)]
    assert lost
    assert sum(lost) == done.table.board.events_lost


def test_a_slow_board_acts_late() -> None:
    table = SimTable(
        Options(),
        tiny_game(),
        faults=Faults.parse("At the start, the board answers 0.3 seconds late."),
    )
    pair, times = Pair(table, Host()), dict[type[Message], int]()

    def note(_host: Host, message: Message) -> None:
        times.setdefault(type(message), pair.now)

    pair.host.on_event = note
    assert pair.run(lambda: table.over, limit=60.0)
    assert times[m.WallEvent] - times[m.ButtonEvent] >= 0.3 * SECOND


def test_prints_and_logs() -> None:
    done = run(
        'When hand 1 is dealt, the board prints "panic: no".\nWhen hand 1 is dealt, the board logs "熱い".'
    )
    noise = b"".join(i.data for i in done.host.items if isinstance(i, LogBytes))
    assert b"panic: no\r\n" in noise
    assert m.LogText(LogLevel.WARNING, "熱い") in done.host.others


# ---------------------------------------------------------------------- machine


def test_a_jammed_lift_is_freed_and_start_pressed_again() -> None:
    done = run("When start is pressed in hand 1, the lift jams.")
    jams = [
        e.jam
        for e in done.events(m.WallEvent)
        if isinstance(e, m.WallEvent) and e.phase == Phase.JAMMED
    ]
    results = [e.result for e in done.events(m.ActionResult) if isinstance(e, m.ActionResult)]
    assert jams == [Jam.TILE_STUCK]
    assert results == [Result.FAILED_JAM, Result.DONE, Result.DONE]


def test_a_jam_that_needs_staff() -> None:
    done = run(
        "When start is pressed in hand 1, the lift jams until it is freed.\nAfter 7 seconds, staff frees the lift."
    )
    assert done.pair.now > 7 * SECOND


def test_a_jammed_lid() -> None:
    done = run("When hand 1 ends, the lid jams.")
    assert m.LidEvent(Phase.JAMMED, Jam.LID_BLOCKED, 0) in done.events(m.LidEvent)


def test_a_hot_motor_refuses_until_it_has_cooled() -> None:
    done = run(
        "At the start, the lift motor gets too hot.\nAfter 6 seconds, the lift motor has cooled down."
    )
    faults = [
        (e.motor, e.fault)
        for e in done.events(m.MotorFaultEvent)
        if isinstance(e, m.MotorFaultEvent)
    ]
    assert faults == [(Motor.LIFT, MotorFault.OVERHEAT), (Motor.LIFT, MotorFault.CLEARED)]
    results = [e.result for e in done.events(m.ActionResult) if isinstance(e, m.ActionResult)]
    assert results[0] == Result.FAILED_MOTOR


def test_temperature() -> None:
    done = run("At the start, it gets 61.5 degrees in the machine.")
    assert m.Temperature(0, 615, 1) in done.events(m.Temperature)


def test_tilted_dice_are_rolled_again() -> None:
    done = run("When the walls of hand 1 are up, the dice lie tilted 2 times.")
    order = [type(e).__name__ for e in done.events(m.DiceRolling, m.DiceSettled)]
    assert order == ["DiceRolling"] * 3 + ["DiceSettled", "DiceRolling", "DiceSettled"]
    settled = done.events(m.DiceSettled)[0]
    assert isinstance(settled, m.DiceSettled)
    assert (settled.a, settled.b) == (3, 2), "the record's dice all the same"


def test_a_set_short_of_a_tile() -> None:
    done = run(
        "At the start, a wall is short of a tile.\nWhen hand 1 ends, the missing tile is found."
    )
    counts = [
        (e.tile_set, e.counted)
        for e in done.events(m.TileCountFault)
        if isinstance(e, m.TileCountFault)
    ]
    assert counts == [(0, 135), (0, 136)]
    walls = {t for seat in range(4) for t, up in done.sights(zone(ZoneKind.WALL, seat)) if up}
    assert len(walls) == 135 + 136


def test_dead_displays_show_nothing_though_the_board_thinks_so() -> None:
    table = SimTable(
        Options(), None, faults=Faults.parse("At the start, the displays lose their power.")
    )
    pair = Pair(table, Host())
    pair.host.link.show(m.SetHonba(2))
    pair.run(lambda: False, limit=5.0)
    assert table.report()["displays"]["honba"] is None
    assert table.parts.displays.honba == 2
    bright = run("When hand 1 is dealt, the displays have power again.")
    assert not bright.table.parts.displays.dead


def test_a_locked_table_does_not_lift() -> None:
    done = run(
        "At the start, somebody locks the table.\nAfter 6 seconds, somebody unlocks the table."
    )
    assert done.events(m.LockEvent) == [m.LockEvent(1, 0), m.LockEvent(0, 0)]
    assert done.table.board.refused


def test_the_roulette() -> None:
    done = run("At the start, the seat draw points at seat 2.")
    assert m.SeatRoulette(2) in done.events(m.SeatRoulette)


# ---------------------------------------------------------------------- sensors


def test_a_missed_tile_is_neither_seen_to_come_nor_to_go() -> None:
    done = run("When hand 1 is dealt, the river of seat 3 misses the next tile.")
    seen = {tag for tag, _ in done.sights(zone(ZoneKind.RIVER, 3))}
    assert len(seen) == 2 - 1


@pytest.mark.parametrize(
    "deed",
    [
        "the antennas miss 10% of the tiles", "50% of the sightings come twice",
        "50% of the tiles are seen in the next zone too", "ghosts flicker at 30% of the tiles",
    ],
)  # fmt: skip
def test_bad_antennas_change_what_is_told(deed: str) -> None:
    clean = run("At the start, the antennas are fine again.")
    rough = run(f"At the start, {deed}.")
    assert len(rough.events(m.TileEvent)) != len(clean.events(m.TileEvent))
    assert rough.table.report()["hands_played"] == 2


def test_a_ghost_in_the_river() -> None:
    done = run("When hand 1 is dealt, a ghost flickers in the river of seat 2.")
    sights = done.sights(zone(ZoneKind.RIVER, 2))
    known = {tag for s in done.table.parts.sets for tag in s.tiles}
    assert [up for tag, up in sights if tag not in known] == [1, 0]


def test_a_flickering_zone_comes_back_as_it_was() -> None:
    done = run("When hand 1 is dealt, the hand of seat 2 flickers.")
    sights = done.sights(zone(ZoneKind.HAND, 2))
    assert [up for _, up in sights[:39]] == [1] * 13 + [0] * 13 + [1] * 13
    assert {tag for tag, _ in sights[:13]} == {tag for tag, _ in sights[26:39]}


def test_a_blind_reader_tells_all_when_it_sees_again() -> None:
    done = run(
        "When hand 1 is dealt, the river of seat 3 goes blind.\n"
        "When tile 6 is discarded in hand 1, the river of seat 3 sees again."
    )
    clean = run("At the start, the antennas are fine again.")
    tags = {tag for tag, up in done.sights(zone(ZoneKind.RIVER, 3)) if up}
    assert tags == {tag for tag, up in clean.sights(zone(ZoneKind.RIVER, 3)) if up}


def test_a_tile_in_two_zones() -> None:
    done = run("When seat 1 draws in hand 1, the drawn tile of seat 1 is seen in the hand too.")
    drawn = next(tag for tag, up in done.sights(zone(ZoneKind.DRAWN, 1)) if up)
    assert [up for tag, up in done.sights(zone(ZoneKind.HAND, 1)) if tag == drawn][:2] == [1, 0]


def test_a_hand_over_the_river() -> None:
    done = run("When hand 1 is dealt, seat 2 holds the hand over the river for 0.5 seconds.")
    tags = [tag for tag, up in done.sights(zone(ZoneKind.HAND, 2)) if up][:3]
    weak = [s.signal for e in done.events(m.TileEvent) if isinstance(e, m.TileEvent) and e.zone == zone(ZoneKind.RIVER, 2)
            for s in e.tiles if s.tag in tags and s.flags]  # fmt: skip
    assert len(weak) == 3
    assert max(weak) < 60


def first_walls(done: Run) -> list[int]:
    """Tags that stood on the table before the dice of the first hand."""
    walls: list[int] = []
    for event in done.events(m.TileEvent, m.DiceSettled):
        if isinstance(event, m.DiceSettled):
            break
        assert isinstance(event, m.TileEvent)
        walls += [s.tag for s in event.tiles]
    return walls


def test_a_tile_of_the_other_set() -> None:
    done = run("At the start, a tile of the other set got into the wall.")
    strangers = [tag for tag in first_walls(done) if tag not in done.table.parts.sets[0].tiles]
    assert len(strangers) == 1
    assert strangers[0] in done.table.parts.sets[1].tiles


def test_two_tiles_with_one_tag() -> None:
    walls = first_walls(run("At the start, two tiles of the wall carry the same tag."))
    assert len(walls) == 136
    assert len(set(walls)) == 135


def test_a_stick_in_the_wrong_slot() -> None:
    done = run(
        "When hand 1 ends, a stick lies in the wrong slot of the tray of seat 2.\n"
        "When the tiles of hand 1 are in the machine, the tray of seat 2 reads well again."
    )
    faults = [
        e.fault for e in done.events(m.StickTray) if isinstance(e, m.StickTray) and e.seat == 2
    ]
    assert faults == [StickFault.WRONG_SLOT, StickFault.NONE]


# ---------------------------------------------------------------------- people


@pytest.mark.parametrize(
    ("deed", "button", "press"),
    [
        ("seat 2 presses start", 1, 1), ("seat 2 presses the dice button", 2, 1),
        ("seat 2 presses the riichi button", 4, 1), ("seat 2 holds the reset button", 7, 2),
        ("seat 2 calls staff", 9, 1),
    ],
)  # fmt: skip
def test_a_button_at_the_wrong_time(deed: str, button: int, press: int) -> None:
    done = run(f"When seat 3 discards in hand 1, {deed}.")
    assert m.ButtonEvent(button, 2, press) in done.events(m.ButtonEvent)
    assert done.table.report()["hands_played"] == 2


def test_a_dropped_tile_comes_back_to_its_slot() -> None:
    done = run(
        "When seat 3 discards in hand 1, seat 2 drops a tile and puts it back after 2 seconds."
    )
    sights = done.sights(zone(ZoneKind.HAND, 2))
    assert [up for _, up in sights[:15]] == [1] * 13 + [0, 1]
    assert sights[13][0] == sights[14][0]


def test_a_discard_taken_back() -> None:
    done = run("When seat 3 discards in hand 1, seat 3 takes the discard back.")
    river = done.sights(zone(ZoneKind.RIVER, 3))
    assert [up for _, up in river[:3]] == [1, 0, 1]
    assert river[0][0] == river[1][0] == river[2][0]


def test_a_draw_out_of_turn() -> None:
    done = run(
        "When seat 3 discards in hand 1, seat 2 draws early and puts it back after 1 second."
    )
    early = done.sights(zone(ZoneKind.DRAWN, 2))[:2]
    assert [up for _, up in early] == [1, 0]
    proper = done.sights(zone(ZoneKind.DRAWN, 0))
    assert early[0][0] in {tag for tag, _ in proper}, "the next player draws it after all"


def test_the_wrong_place_of_the_wall() -> None:
    done = run(
        "When seat 3 discards in hand 1, seat 2 takes a tile from the wrong place and puts it back."
    )
    wrong = done.sights(zone(ZoneKind.DRAWN, 2))[0][0]
    nexts = [tag for tag, up in done.sights(zone(ZoneKind.DRAWN, 0)) if up]
    assert wrong != nexts[1]


def test_a_tile_too_many() -> None:
    done = run("When seat 3 discards in hand 1, seat 2 has one tile too many for 1 second.")
    assert [up for _, up in done.sights(zone(ZoneKind.HAND, 2))[:15]] == [1] * 14 + [0]


def test_a_wrong_meld() -> None:
    done = run("When seat 3 discards in hand 1, seat 1 opens a wrong meld and takes it back.")
    assert [up for _, up in done.sights(zone(ZoneKind.MELD, 1))] == [1, 1, 0, 0]


def test_sticks_miscounted() -> None:
    script = "At the start, seat 0 takes 1000 points too many from the next seat."
    table = SimTable(Options(level="score"), tiny_game(), faults=Faults.parse(script))
    pair = Pair(table, Host())
    pair.host.link.show(m.SetScores((25_000,) * 4))
    people.LOOK = people.GLANCE = 1.0
    assert pair.run(lambda: table.over, limit=60.0)
    assert table.parts.sticks.totals() == [26_000, 24_000, 25_000, 25_000]


def test_sorting_changes_slots_not_tiles() -> None:
    done = run("When hand 1 is dealt, seat 2 sorts the hand.")
    sights = done.sights(zone(ZoneKind.HAND, 2))
    assert [up for _, up in sights[:39]] == [1] * 13 + [0] * 13 + [1] * 13


# ---------------------------------------------------------------------- what a host may do to a table


def refusal(prepare: Callable[[SimTable], None], action: int, *, level: str = "tiles") -> int:
    table, host = SimTable(Options(level=level)), Host()
    pair = Pair(table, host)
    assert pair.run(lambda: host.link.state is State.UP, limit=5.0)
    prepare(table)
    host.act(action, arg=200)
    assert pair.run(lambda: bool(host.messages(m.ActionResult)), limit=30.0)
    result = host.messages(m.ActionResult)[-1]
    assert isinstance(result, m.ActionResult)
    return result.result


def test_actions_of_the_host() -> None:
    def nothing(_table: SimTable) -> None:
        return

    for action in ActionKind:
        wanted = {
            ActionKind.SEAT_DRAW: Result.UNSUPPORTED,
            ActionKind.LOWER: Result.REFUSED_INTERLOCK,
        }
        assert refusal(nothing, action) == wanted.get(action, Result.DONE), action.name
    assert refusal(lambda t: t.parts.lift.lock(True), ActionKind.LIFT) == Result.REFUSED_INTERLOCK
    assert refusal(nothing, ActionKind.TEST_COUNT, level="basic") == Result.UNSUPPORTED
    assert refusal(nothing, 99) == Result.UNSUPPORTED


@pytest.mark.parametrize("commanded", [True, False])
def test_without_a_host_only_its_own_motions_stop(commanded: bool) -> None:
    table, host = SimTable(Options(speed=0.5)), Host()
    pair = Pair(table, host)
    assert pair.run(lambda: host.link.state is State.UP, limit=5.0)
    if commanded:
        host.act(ActionKind.LIFT)
    else:
        table.parts.press(Button.UP_DOWN)
    assert pair.run(lambda: table.parts.lift.moving, limit=5.0)
    table.line.to_table.dead = True
    pair.run(lambda: False, limit=12.0)
    assert table.parts.lift.walls_up is False
    assert (table.parts.lift.jam == Jam.POSITION_LOST) == commanded
    assert (table.parts.lift.lid == Phase.UP) == (not commanded)
