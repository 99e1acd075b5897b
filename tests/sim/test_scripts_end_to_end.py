"""Every fault script that comes along, through pty, daemon and mosquitto: what a subscriber and the displays saw.

One hall: a daemon process, a broker, a table per script, all at once. The record is the same on every table, so
that each fault may be held against what must come out of it.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import json
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from firmware_protocol.vocabulary import Result, StickFault
from hardware_sim.faults.language import bundled_names
from hardware_sim.runner import RunConfig, RunningTable
from hardware_sim.table import Options
from tablectl.bus.broker import Broker
from tablectl.bus.tasks import end
from tablectl.bus.topics import Topics
from tablectl.bus.watcher import Seen, Watcher
from tests.conftest import ROOT
from tests.first_light.brokers import mosquitto
from tests.sim.games import AFTER_SHORT, short

ENDLESS = "wrong-firmware"
"""The script after which no game can go on."""
AT_ONCE = 5
"""Games at full speed at the same time."""
PATIENCE_S = 150.0
"""For the slowest game on a machine that is busy with other things."""
FIRST_HAND = [43_000, 7_000, 25_000, 25_000]


@dataclasses.dataclass
class Outcome:
    """What was left of one table."""

    report: dict[str, Any]
    seen: Seen
    links: list[dict[str, Any]]
    table: RunningTable

    def events(self, kind: str) -> list[Any]:
        return [event for event in self.seen.events if event.type == kind]

    def shown(self, name: str) -> list[str]:
        """What a display showed, one after the other."""
        history = self.table.table.parts.displays.history
        return [text.removeprefix(name + " ") for _, text in history if text.startswith(name + " ")]


@pytest.fixture(scope="module")
def hall(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Outcome]]:
    folder = tmp_path_factory.mktemp("hall")
    (folder / "short.jsonl").write_text(json.dumps(short()) + "\n", encoding="utf-8")
    with mosquitto(folder) as broker:
        yield asyncio.run(play_all(folder, broker.port))


async def play_all(folder: Path, port: int) -> dict[str, Outcome]:
    tables = {name: seat_people(folder, name) for name in bundled_names()}
    config = folder / "hall.toml"
    config.write_text(
        f'[mqtt]\nurl = "mqtt://127.0.0.1:{port}"\n[web]\nenabled = false\n[journal]\npath = "journal.db"\n'
        + "".join(
            f'[[tables]]\nid = "{name}"\nport = "{table.path}"\ntiles = "{name}.toml"\n'
            for name, table in tables.items()
        ),
        encoding="utf-8",
    )
    async with daemon(config):
        room = asyncio.Semaphore(AT_ONCE)

        async def in_turn(name: str, table: RunningTable) -> Outcome:
            async with room:
                return await play(name, table, port)

        outcomes = await asyncio.gather(*(in_turn(name, table) for name, table in tables.items()))
    return dict(zip(tables, outcomes, strict=True))


def seat_people(folder: Path, name: str) -> RunningTable:
    options = Options(level="tiles", seed=3, speed=None, hold=True)
    return RunningTable(
        RunConfig(
            options, record=str(folder / "short.jsonl"), link=folder / f"tty-{name}",
            tiles_toml=folder / f"{name}.toml", faults=name, exit_at_end=False,
        )
    )  # fmt: skip


@contextlib.asynccontextmanager
async def daemon(config: Path) -> AsyncIterator[None]:
    with (config.parent / "daemon.log").open("wb") as log:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "tablectl", "run", "--config", str(config), cwd=ROOT, stderr=log
        )
        try:
            yield
        finally:
            if process.returncode is None:
                process.terminate()
            assert await process.wait() == 0, (config.parent / "daemon.log").read_text()


async def play(name: str, table: RunningTable, port: int) -> Outcome:
    links: list[dict[str, Any]] = []

    def retained(topic: str, value: Any) -> None:
        if topic.endswith("/link"):
            links.append(value)

    watcher = Watcher(Broker("127.0.0.1", port), Topics("home", name), on_retained=retained)
    life = asyncio.create_task(table.run())
    try:
        async with watcher.connected():
            await watcher.until(lambda _: bool(links) and links[-1]["state"] == "up", 30)
            request = {"ruleset": "tenhou", "players": list("abcd"), "first_dealer": 0}
            answer = await watcher.request("game/start", request)
            assert answer.status == "accepted", answer
            table.begin()
            if name == ENDLESS:
                await watcher.until(lambda _: "protocol" in links[-1]["reason"], 30)
            else:
                async with asyncio.timeout(PATIENCE_S):
                    await table.played()
                await watcher.until(
                    lambda seen: seen.retained.get("seat/0/score") == AFTER_SHORT[0]
                    and sum(event.type == "hand_ended" for event in seen.events) == 3, 30
                )  # fmt: skip
        return Outcome(table.table.report(), watcher.seen, links, table)
    except TimeoutError:
        waits = table.table.agenda.waiting_for("people")
        kinds = [event.type for event in watcher.seen.events]
        raise AssertionError(
            f"{name}: people wait for {waits!r}, last events {kinds[-3:]}, "
            f"link {links[-1:]}, score {watcher.seen.retained.get('seat/0/score')!r}"
        ) from None
    finally:
        table.stop()
        await end([life])


@pytest.mark.parametrize("name", sorted(set(bundled_names()) - {ENDLESS}))
def test_the_game_comes_out_right_all_the_same(hall: dict[str, Outcome], name: str) -> None:
    outcome = hall[name]
    report, seen = outcome.report, outcome.seen
    assert report["over"]
    assert outcome.table.table.faults.finished, "not every sentence of the script has happened"
    assert report["executed_twice"] == 0
    assert seen.gaps == []
    scores = [event.field("scores") for event in outcome.events("hand_ended")]
    assert scores == [FIRST_HAND, FIRST_HAND, AFTER_SHORT]
    assert [event.field("reason") for event in outcome.events("hand_ended")] == [
        "win",
        "kyuushu",
        "win",
    ]
    assert len(outcome.events("drawn")) == 15
    assert len(outcome.events("discarded")) == 13
    assert report["displays"]["scores"] == AFTER_SHORT
    assert (report["displays"]["round"], report["displays"]["honba"]) == ("E2", 0)
    assert [seen.retained[f"seat/{seat}/score"] for seat in range(4)] == AFTER_SHORT
    assert report["trays"] == AFTER_SHORT
    assert outcome.links[-1]["state"] == "up"


def test_a_tripped_cable_is_seen_as_such(hall: dict[str, Outcome]) -> None:
    states = [link["state"] for link in hall["tripped-cable"].links]
    assert "down" in states[states.index("up") :]
    boots = {link["boot_id"] for link in hall["tripped-cable"].links if link["state"] == "up"}
    assert len(boots) == 1, "the board was never without power"


def test_a_bad_cable_costs_only_time(hall: dict[str, Outcome]) -> None:
    outcome = hall["bad-cable"]
    assert outcome.table.table.line.lost > 0
    assert outcome.table.table.line.flipped > 0
    assert outcome.report["link"]["retransmits"] > 0


def test_a_brown_out_darkens_the_displays_and_they_are_written_again(
    hall: dict[str, Outcome],
) -> None:
    outcome = hall["brown-out"]
    assert outcome.report["boots"] == 2
    assert outcome.report["pressed_again"] == 1
    boots = [link["boot_id"] for link in outcome.links if link["state"] == "up"]
    assert boots[0] != boots[-1]
    honba = [text for text in outcome.shown("honba") if text != "None"]
    assert honba.count("1") == 2, "written before and after the restart"
    assert outcome.report["executed_twice"] == 0


def test_a_frozen_board_is_missed_and_its_restart_has_a_cause(hall: dict[str, Outcome]) -> None:
    outcome = hall["frozen-board"]
    down = [link["reason"] for link in outcome.links if link["state"] == "down"]
    assert any("silent" in reason for reason in down), down
    assert outcome.report["boots"] == 2


def test_a_jammed_lift_is_told_and_lifted_again_under_a_new_number(
    hall: dict[str, Outcome],
) -> None:
    outcome = hall["jammed-lift"]
    results = [action["result"] for action in outcome.report["actions"].values()]
    assert sorted(results) == sorted([Result.FAILED_JAM, Result.DONE, Result.DONE, Result.DONE])
    assert len(outcome.events("walls_built")) == 3
    assert outcome.report["pressed_again"] == 1


def test_a_hot_motor_lifts_later(hall: dict[str, Outcome]) -> None:
    outcome = hall["hot-motor"]
    assert outcome.report["sent"]["MotorFaultEvent"] == 2
    assert outcome.table.table.board.refused, "the lift was refused while hot"
    assert outcome.report["pressed_again"] >= 1


def test_tilted_dice_count_for_nothing(hall: dict[str, Outcome]) -> None:
    outcome = hall["tilted-dice"]
    assert outcome.report["sent"]["DiceRolling"] == 5
    assert [event.field("dice") for event in outcome.events("dice_rolled")] == [
        [3, 2],
        [1, 2],
        [6, 5],
    ]


def test_a_set_short_of_a_tile_is_told(hall: dict[str, Outcome]) -> None:
    assert hall["short-set"].report["sent"]["TileCountFault"] == 2
    assert hall["short-set"].report["sent"]["Temperature"] == 1


@pytest.mark.parametrize("name", ["nervous-hands", "poor-antennas"])
def test_what_hands_and_antennas_did_wrong_was_never_said_in_public(
    hall: dict[str, Outcome], name: str
) -> None:
    clean = [event.type for event in hall["tilted-dice"].seen.events]
    assert [event.type for event in hall[name].seen.events] == clean
    assert hall[name].report["sent"]["TileEvent"] > hall["tilted-dice"].report["sent"]["TileEvent"]


def test_sticks_counted_badly_do_not_touch_the_displays(hall: dict[str, Outcome]) -> None:
    outcome = hall["careless-count"]
    wrong = [44_000, 6_000, 25_000, 25_000]
    assert str(wrong) not in outcome.shown("scores")
    assert wrong in outcome.table.table.parts.sticks.payments
    assert outcome.table.table.parts.sticks.fault == [int(StickFault.NONE)] * 4


def test_events_without_room_are_made_up_for_by_a_snapshot(hall: dict[str, Outcome]) -> None:
    outcome = hall["full-buffer"]
    assert outcome.report["events_lost"] > 0
    assert outcome.report["sent"]["SnapshotState"] >= 1
    clean = [event.type for event in hall["tilted-dice"].seen.events]
    assert [event.type for event in outcome.seen.events] == clean, (
        "the lost discard was seen after all"
    )


def test_another_major_is_refused_by_name(hall: dict[str, Outcome]) -> None:
    outcome = hall[ENDLESS]
    reason = outcome.links[-1]["reason"]
    assert outcome.links[-1]["state"] == "down"
    assert "2.0" in reason
    assert "1.0" in reason
    assert "flash" in reason.lower()
    assert outcome.events("hand_ended") == []
    assert outcome.events("dealt"), "what had happened before stands"
