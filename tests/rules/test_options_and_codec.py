"""Loading with options; a ruleset as data, its hash, and back."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tablectl.engine.rules import RuleError, Ruleset, ids, load
from tablectl.engine.rules.codec import check, known_keys, values_hash

ALL = [*ids(), "base"]


def test_an_unknown_ruleset_is_named_with_the_nearest() -> None:
    with pytest.raises(RuleError) as caught:
        load("tenhuo")
    assert (caught.value.code, caught.value.nearest) == ("unknown_ruleset", "tenhou")


def test_tenhou_options() -> None:
    rules = load("tenhou", {"kuitan": False, "aka": False, "length": "tonpuusen"})
    assert (rules.kuitan, rules.aka, rules.length) == (False, False, "tonpuusen")
    assert rules.options == (("aka", "false"), ("kuitan", "false"), ("length", "tonpuusen"))
    assert (rules.ref("kuitan"), rules.ref("length")) == ("T5", "T8")


def test_any_value_by_name_is_an_option_of_any_ruleset() -> None:
    rules = load("saikouisen", {"kiriage": False, "P14": "legal", "pao": ["daisangen"]})
    assert (rules.kiriage, rules.ruling(14).sanction, rules.pao) == (False, "legal", ("daisangen",))
    assert rules.ref("kiriage") == "option kiriage"


def test_a_named_value_goes_over_a_choice_that_sets_it_too() -> None:
    assert load("tenhou", {"uma": [5000, 1000, -1000, -5000], "era": "until-2009"}).uma[0] == 5000


@pytest.mark.parametrize(
    ("options", "code", "near"),
    [
        ({"kuitam": True}, "unknown_option", "kuitan"),
        ({"lenght": "hanchan"}, "unknown_option", "length"),
        ({"length": "tonpusen"}, "impossible_value", "tonpuusen"),
        ({"length": 3}, "impossible_value", ""),
        ({"kuitan": 1}, "impossible_value", ""),
        ({"kiriage": 1}, "wrong_type", ""),
        ({"kuikae": "sett"}, "impossible_value", "set"),
        ({"id": "mine"}, "unknown_option", ""),
        ({"infractions": []}, "unknown_option", ""),
        ({"kan_dora": False}, "impossible_value", ""),
    ],
)
def test_a_wrong_option(options: dict[str, Any], code: str, near: str) -> None:
    with pytest.raises(RuleError) as caught:
        load("tenhou", options)
    assert caught.value.code == code
    assert not near or caught.value.nearest == near


def test_eras_of_tenhou_are_named_values() -> None:
    now, old = load("tenhou"), load("tenhou", {"era": "until-2009"})
    assert load("tenhou", {"era": "since-2022"}) == now
    assert load("tenhou", {"era": "2010-2022"}).point_rounding == "whole_points"
    assert load("tenhou", {"era": "2009-2010"}).tenpai_yame == "none"
    assert old.uma == (10000, 5000, -5000, -10000)
    assert old.ref("uma").startswith("N5")


def test_sites_are_named_values() -> None:
    tenhou = load("tenhou")
    for site in ("tenhou", "mjai", "mjai.app"):
        assert load("tenhou", {"site": site}) == tenhou
    majsoul = load("tenhou", {"site": "majsoul"})
    assert (majsoul.start_points, majsoul.return_points, majsoul.oka) == (25000, 25000, 0)
    assert majsoul.kokushi_robs_ankan
    room = load("tenhou", {"site": "majsoul-room"})
    assert (room.start_points, room.uma[0]) == (30000, 30000)
    kobalab = load("tenhou", {"site": "kobalab"})
    assert (kobalab.point_rounding, kobalab.overtime_end) == (
        "whole_points_half_up",
        "at_once",
    )


@pytest.mark.parametrize("ruleset", ALL)
def test_round_trip_through_json(ruleset: str) -> None:
    rules = load(ruleset)
    again = Ruleset.from_dict(json.loads(json.dumps(rules.to_dict())))
    assert again == rules
    assert hash(again) == hash(rules)
    assert again.hash == rules.hash == values_hash(rules.to_dict()["values"])
    assert again.refs == rules.refs


def test_options_survive_the_round_trip_and_lose_only_the_citations_they_changed() -> None:
    rules = load("tenhou", {"kuitan": False})
    again = Ruleset.from_dict(rules.to_dict())
    assert (again, again.options) == (rules, rules.options)
    assert again.ref("kuitan") == ""
    assert again.ref("aka") == "T6, N2"


def test_the_hash_is_of_the_values_alone() -> None:
    assert load("jpml-a", {"rinshan_tsumo_fu": 2}).hash == load("jpml-a-2023").hash
    hashes = {name: load(name).hash for name in ALL}
    assert len(set(hashes.values())) == len(ALL)


def test_the_hash_is_stable() -> None:
    """Journals carry it: the way it is reckoned cannot change unnoticed."""
    data = {"kuitan": True, "uma": [3, 1, -1, -3], "P1": {"sanction": "chombo"}}
    canonical = '{"P1":{"sanction":"chombo"},"kuitan":true,"uma":[3,1,-1,-3]}'
    import hashlib

    assert values_hash(data) == hashlib.sha256(canonical.encode()).hexdigest()


@pytest.mark.parametrize("name", known_keys())
def test_every_value_changes_the_hash(name: str) -> None:
    rules = load("tenhou")
    data = rules.to_dict()
    data["values"][name] = OTHER[name] if name in OTHER else _other(name, data["values"][name])
    for key, value in TOGETHER.get(name, {}).items():
        data["values"][key] = value
    assert Ruleset.from_dict(data).hash != rules.hash


def _other(name: str, value: Any) -> Any:
    """Another possible value, found by asking the check what it takes."""
    candidates: list[Any] = [not value] if isinstance(value, bool) else []
    if isinstance(value, int):
        candidates += [value + 600, value + 1, 2, 0, 20, 1, 11]
    if isinstance(value, str):
        try:
            check(name, "no such word")
        except RuleError as error:
            candidates += [w for w in error.message.partition("are ")[2].split(", ") if w != value]
    for candidate in candidates:
        try:
            check(name, candidate)
        except RuleError:
            continue
        if candidate != value:
            return candidate
    raise AssertionError(f"no other value of {name} is known")


OTHER: dict[str, Any] = {
    "uma": [30000, 10000, -10000, -30000],
    "uma_floating": [[8000, 4000, -4000, -8000]] * 5,
    "pao": [],
    "double_yakuman": ["kokushi_13"],
    "uma_kind": "floating",
}
TOGETHER: dict[str, dict[str, Any]] = {
    "uma_kind": {"uma_floating": OTHER["uma_floating"]},
    "uma_floating": {"uma_kind": "floating"},
    "honba_counted": {"honba_ron": 0, "honba_tsumo": 0},
    "kan_dora": {"kan_ura_dora": False},
    "ura_dora": {"kan_ura_dora": False},
}


def test_a_description_by_a_newer_program_is_refused() -> None:
    data = load("mu").to_dict()
    data["values"]["washizu"] = True
    with pytest.raises(RuleError, match="newer tablectl") as caught:
        Ruleset.from_dict(data)
    assert (caught.value.code, caught.value.key) == ("unknown_value", "washizu")


def test_a_description_by_an_older_program_takes_what_it_lacks_from_the_base() -> None:
    data = load("tenhou").to_dict()
    del data["values"]["all_tenpai_hai"]
    assert Ruleset.from_dict(data) == load("tenhou")


@pytest.mark.parametrize("lost", ["id", "values"])
def test_a_description_without_its_parts_is_refused(lost: str) -> None:
    data = load("mu").to_dict()
    del data[lost]
    with pytest.raises(RuleError) as caught:
        Ruleset.from_dict(data)
    assert (caught.value.code, caught.value.key) == ("missing_value", lost)


def test_a_part_that_is_unknown_is_refused() -> None:
    with pytest.raises(RuleError) as caught:
        Ruleset.from_dict({**load("mu").to_dict(), "valeus": {}})
    assert (caught.value.code, caught.value.nearest) == ("unknown_value", "values")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=3)
    ),
    max_leaves=6,
)


@given(name=st.sampled_from(known_keys()) | st.text(max_size=12), value=JSON)
def test_no_value_raises_anything_but_a_rule_error(name: str, value: Any) -> None:
    try:
        rules = load("saikouisen", {name: value})
    except RuleError:
        return
    assert Ruleset.from_dict(rules.to_dict()) == rules


def test_rulesets_are_immutable_and_shared() -> None:
    rules = load("mu")
    assert load("mu") is rules
    with pytest.raises(AttributeError):
        rules.kuitan = False  # type: ignore[misc]  # that it cannot be set is the point
    with pytest.raises(TypeError):
        rules.refs["kuitan"] = ""  # type: ignore[index]  # read-only as well
