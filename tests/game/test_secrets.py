"""The vocabulary: JSON and back, who sees what; and public feeds that tell nothing of concealed tiles."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tablectl.engine.game import commands as cmd
from tablectl.engine.game import events as ev
from tablectl.engine.game.codec import Visibility, VocabularyError, canonical, plan
from tablectl.engine.game.commands import COMMANDS, Refusal, command_from_json
from tablectl.engine.game.decide import decide
from tablectl.engine.game.events import EVENTS, event_from_json, mask_event
from tablectl.engine.game.prompts import prompt
from tablectl.engine.game.state import EMPTY, GameState
from tablectl.engine.game.views import public_snapshot, snapshot
from tablectl.engine.rules import load
from tests.conftest import scaled
from tests.game.scripted import Table
from tests.game.table import PLAYERS, RandomGame

# ---- JSON and back --------------------------------------------------------------------------------------


def test_every_record_has_a_json_form() -> None:
    for record in (*EVENTS.values(), *COMMANDS.values()):
        assert plan(record) is not None
        assert record.type
        assert record.__doc__


def test_a_whole_game_survives_json() -> None:
    game = RandomGame(load("tenhou"), 3)
    game.play()
    for command, events in game.log:
        assert command_from_json(json.loads(json.dumps(command.to_json()))) == command
        for event in events:
            again = event_from_json(json.loads(json.dumps(event.to_json())))
            assert again == event
            assert canonical(again.to_json()) == canonical(event.to_json())


@pytest.mark.parametrize(
    ("value", "code"),
    [
        ({"type": "nothing"}, "unknown_event"),
        ({}, "unknown_event"),
        ({"type": "drawn", "seat": 0}, "missing_field"),
        ({"type": "drawn", "seat": "0", "tile": None}, "wrong_type"),
        ({"type": "drawn", "seat": True, "tile": None}, "wrong_type"),
        ({"type": "drawn", "seat": 0, "tile": "9z"}, "unknown_tile"),
        ({"type": "drawn", "seat": 0, "tile": 5}, "unknown_tile"),
        ({"type": "drawn", "seat": 0, "tile": "5m", "colour": 1}, "unknown_field"),
        ({"type": "dice_rolled", "dice": [1]}, "wrong_length"),
        ({"type": "dice_rolled", "dice": 3}, "not_a_list"),
        ({"type": "called", "seat": 0, "kind": "kita", "from_seat": 1, "tile": "1m", "hand_tiles": []}, "unknown_value"),
    ],
)  # fmt: skip
def test_bad_json_is_told(value: dict[str, Any], code: str) -> None:
    with pytest.raises(VocabularyError) as caught:
        event_from_json(value)
    assert caught.value.code == code
    assert caught.value.hint


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 40) | st.sampled_from(["", "5m", "0p", "7z", "tenhou", "basic"]),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.sampled_from(["id", "values", "x"]), inner, max_size=2),
    max_leaves=6,
)  # fmt: skip


@st.composite
def command_json(draw: st.DrawFn) -> dict[str, Any]:
    kind = draw(st.sampled_from(sorted(COMMANDS)))
    names = [field.name for field in plan(COMMANDS[kind])]
    chosen = draw(st.lists(st.sampled_from(names), unique=True)) if names else []
    value: dict[str, Any] = {"type": kind}
    for name in chosen:
        value[name] = draw(JSON)
    return value


@settings(max_examples=scaled(3000, 300), deadline=None)
@given(command_json(), st.integers(0, 60))
def test_no_command_makes_the_engine_stumble(value: dict[str, Any], where: int) -> None:
    """Anything that is a command gets events or a refusal, in any state."""
    try:
        command = command_from_json(value)
    except VocabularyError:
        return
    answer = decide(STATES[where % len(STATES)], command)
    if isinstance(answer, Refusal):
        assert answer.code
        assert answer.message
        json.dumps(answer.to_json())


def _states() -> list[GameState]:
    game = RandomGame(load("saikouisen"), 1)
    game.play()
    states = [EMPTY]
    state = EMPTY
    from tablectl.engine.game.apply import apply_all

    for number, (_, events) in enumerate(game.log):
        state = apply_all(state, events)
        if number % 13 == 0:
            states.append(state)
    return states


STATES = _states()


# ---- who sees what --------------------------------------------------------------------------------------


def test_concealed_tiles_have_a_visibility() -> None:
    """No event carries a concealed tile in a public field."""
    concealed = {("drawn", "tile"), ("dealt", "hands")}
    for name, record in EVENTS.items():
        for field in plan(record):
            if (name, field.name) in concealed:
                assert field.visibility in (Visibility.OWNER, Visibility.EACH)
    for name in ("missed_win", "found", "finding_disclosed", "finding_settled"):
        assert all(field.visibility is not Visibility.PUBLIC for field in plan(EVENTS[name])), name


def test_a_drawn_tile_is_its_owners() -> None:
    drawn = ev.Drawn(2, 5)
    assert mask_event(drawn, "public") == {
        "type": "drawn",
        "seat": 2,
        "tile": None,
        "rinshan": False,
    }
    assert mask_event(drawn, 1) == mask_event(drawn, "public")
    for viewer in (2, "referee"):
        shown = mask_event(drawn, viewer)  # type: ignore[arg-type]
        assert shown is not None
        assert shown["tile"] == "6m"


def test_a_deal_shows_each_seat_its_own() -> None:
    dealt = ev.Dealt(((0,) * 13, (1,) * 13, (2,) * 13, (3,) * 13))
    shown = mask_event(dealt, 1)
    assert shown is not None
    assert shown["hands"] == [None, ["2m"] * 13, None, None]
    public = mask_event(dealt, "public")
    assert public is not None
    assert public["hands"] == [None] * 4
    assert public["each"] == 13


def test_furiten_exists_for_its_seat_only() -> None:
    missed = ev.MissedWin(3, permanent=False)
    assert mask_event(missed, "public") is None
    assert mask_event(missed, 0) is None
    assert mask_event(missed, 3) == missed.to_json()


def _public(table: Table) -> bytes:
    """Everything the public feed ever saw, byte for byte, with snapshots and prompts."""
    state = EMPTY
    from tablectl.engine.game.apply import apply_all

    lines = []
    for _, events in table.log:
        state = apply_all(state, events)
        lines += [
            canonical(shown)
            for event in events
            if (shown := mask_event(event, "public")) is not None
        ]
        lines.append(canonical(public_snapshot(state)))
        asked = prompt(state)
        lines.append(canonical(None if asked is None else asked.to_json()))
    return b"\n".join(lines)


def _play(south: str, *, ruleset: str) -> Table:
    """One hand in which South's concealed tiles never come to light."""
    table = Table(ruleset)
    table.deal(
        dora="9m",
        S=south,
        E="234m67s345s2344p1z",
        W="111p222p333p555p5z",
        N="6z6z7z7z1s1s2s2s3s3s4s5s6s",
    )
    table.rest.clear()
    rng = random.Random(5)
    for _ in range(16):
        wind = "ESWN"[table.state.turn]
        tile = rng.choice(("9p", "8p", "1z"))
        table.do(cmd.Draw(table.state.turn, {"9p": 17, "8p": 16, "1z": 27}[tile]))
        table.discard(wind)
    return table


@pytest.mark.parametrize("ruleset", ["tenhou", "saikouisen", "ema-2016"])
def test_games_that_differ_in_concealed_tiles_only_look_the_same(ruleset: str) -> None:
    """South waits for 9p in one game and passes it, is far from tenpai in the other: nobody can tell."""
    waiting = _play("234m567m5s5s78p7s8s9s", ruleset=ruleset)
    far = _play("258m369m2z3z4z5z5s8s9s", ruleset=ruleset)
    assert any(isinstance(event, ev.MissedWin) for event in waiting.events())
    assert not any(isinstance(event, ev.MissedWin) for event in far.events())
    assert _public(waiting) == _public(far)


def test_a_snapshot_shows_a_seat_its_own_hand_only() -> None:
    table = Table("tenhou").deal(dora="9m", S="234m567p22z67s345s")
    for viewer in ("public", 0, 1, 2, 3):
        shown = snapshot(table.state, viewer)  # type: ignore[arg-type]
        for seat in range(4):
            assert (shown["seats"][seat]["hand"] is not None) is (seat == viewer)
    assert snapshot(table.state, "referee")["seats"][1]["hand"] is not None
    assert snapshot(table.state, "referee")["findings"] == []
    assert PLAYERS[1] in json.dumps(public_snapshot(table.state))
