"""Input that cannot be: each kind has its own code, names the field, and nothing else is ever raised."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tablectl.engine.errors import EngineError, HandError, MeldError, SituationError, TileError
from tablectl.engine.rules import RuleError, ids, load
from tablectl.engine.scoring import FLAGS, Win, WinSituation, meld, score
from tablectl.engine.scoring.cases import FIELDS, answer, read_case, read_line
from tablectl.engine.scoring.melds import MELD_TYPES
from tablectl.engine.tiles import NAMES, parse, parse_one, wind_of
from tests.conftest import scaled
from tests.scoring.shorthand import case_of

GOOD = case_of("tenhou", "234567m345p67s88s", "5s", riichi=1, id="x", deposits=1)


def error_of(**changes: Any) -> dict[str, Any]:
    """The error of a good case with some fields changed; None takes a field away."""
    case = {**GOOD, **changes}
    case = {name: value for name, value in case.items() if value is not None or name == "from"}
    result = answer(case)
    assert set(result) == {"id", "error"}, result
    assert set(result["error"]) == {"code", "message", "field"}
    assert result["id"] == "x"
    return result["error"]


def chi(tiles: str = "234m") -> list[dict[str, str]]:
    return [{"type": "chi", "tiles": tiles}]


CASES: list[tuple[str, str, dict[str, Any]]] = [
    # tiles and hands
    ("bad_tiles", "concealed", {"concealed": "234567m345p67s88"}),
    ("bad_tiles", "concealed", {"concealed": "234567m 345p67s88s"}),
    ("bad_tiles", "concealed", {"concealed": "m"}),
    ("bad_tile", "concealed", {"concealed": "234567m345p67s8s8z"}),
    ("bad_tile", "concealed", {"concealed": "234567m345p67s8s0z"}),
    ("bad_tile", "win_tile", {"win_tile": "5x"}),
    ("bad_tile", "win_tile", {"win_tile": "55s"}),
    ("bad_tile", "win_tile", {"win_tile": 5}),
    ("wrong_tile_count", "concealed", {"concealed": "234567m345p67s8s"}),
    ("wrong_tile_count", "concealed", {"concealed": "234567m345p67s888s"}),
    ("wrong_tile_count", "concealed", {"concealed": ""}),
    ("wrong_tile_count", "concealed", {"melds": [{"type": "ankan", "tiles": "1111z"}]}),
    ("five_of_a_kind", "concealed", {"concealed": "234567m11p55567s", "win_tile": "5s", "ura_indicators": ["5s"]}),
    ("five_of_a_kind", "concealed", {"concealed": "33334567m345p66s", "win_tile": "3m"}),
    ("five_of_a_kind", "concealed", {"concealed": "234567m345p67s88s", "dora_indicators": ["8s", "8s", "8s"]}),
    ("no_red_fives", "concealed", {"ruleset": "saikouisen", "concealed": "234067m345p67s88s"}),
    ("no_red_fives", "concealed", {"options": {"aka": False}, "win_tile": "0s"}),
    ("no_red_fives", "concealed", {"ruleset": "saikouisen", "dora_indicators": ["0p"]}),
    ("too_many_red_fives", "concealed", {"concealed": "234006m345p67s88s"}),
    ("too_many_red_fives", "concealed", {"win_tile": "0s", "dora_indicators": ["0s"]}),
    # melds
    ("bad_meld_type", "melds.type", {"melds": [{"type": "kan", "tiles": "1111z"}]}),
    ("bad_meld", "melds.tiles", {"melds": chi("235m")}),
    ("bad_meld", "melds.tiles", {"melds": chi("123z")}),
    ("bad_meld", "melds.tiles", {"melds": chi("891m"[:2] + "1m")}),
    ("bad_meld", "melds.tiles", {"melds": chi("1m2m3p")}),
    ("bad_meld", "melds.tiles", {"melds": [{"type": "pon", "tiles": "1112z"}]}),
    ("bad_meld", "melds.tiles", {"melds": [{"type": "ankan", "tiles": "111z"}]}),
    ("bad_meld", "melds.tiles", {"melds": [{"type": "pon", "tiles": ""}]}),
    ("bad_tiles", "melds.tiles", {"melds": chi("234")}),
    ("too_many_melds", "melds", {"riichi": 0, "concealed": "1z", "melds": 5 * chi()}),
    # circumstances
    ("riichi_open_hand", "riichi", {"concealed": "567m345p67s88s", "melds": chi()}),
    ("bad_riichi", "riichi", {"riichi": 3}),
    ("bad_riichi", "riichi", {"riichi": -1}),
    ("unknown_flag", "flags", {"flags": ["Ippatsu"]}),
    ("ippatsu_without_riichi", "flags", {"riichi": 0, "flags": ["ippatsu"]}),
    ("ippatsu_with_rinshan", "flags", {"concealed": "567m345p67s88s",
     "melds": [{"type": "ankan", "tiles": "1111z"}], "flags": ["ippatsu", "rinshan"]}),
    ("rinshan_without_kan", "flags", {"flags": ["rinshan"]}),
    ("rinshan_with_ron", "flags", {"win": "ron", "from": "E", "flags": ["rinshan"]}),
    ("haitei_with_ron", "flags", {"win": "ron", "from": "E", "flags": ["haitei"]}),
    ("houtei_with_tsumo", "flags", {"flags": ["houtei"]}),
    ("chankan_with_tsumo", "flags", {"flags": ["chankan"]}),
    ("chankan_tile_held", "flags", {"win": "ron", "from": "E", "win_tile": "8s", "flags": ["chankan"]}),
    ("haitei_with_rinshan", "flags", {"concealed": "567m345p67s88s",
     "melds": [{"type": "ankan", "tiles": "1111z"}], "flags": ["haitei", "rinshan"]}),
    ("houtei_with_chankan", "flags", {"win": "ron", "from": "E", "flags": ["houtei", "chankan"]}),
    ("first_turn_with_meld", "flags", {"riichi": 0, "concealed": "567m345p67s88s", "melds": chi(),
     "flags": ["first_turn"]}),
    ("first_turn_with_riichi", "flags", {"flags": ["first_turn"]}),
    ("first_turn_with_haitei", "flags", {"riichi": 0, "flags": ["first_turn", "haitei"]}),
    ("first_turn_with_houtei", "flags", {"riichi": 0, "win": "ron", "from": "E", "flags": ["first_turn", "houtei"]}),
    ("first_turn_with_chankan", "flags", {"riichi": 0, "win": "ron", "from": "E", "flags": ["first_turn", "chankan"]}),
    ("unclear_tsumo_with_ron", "flags", {"win": "ron", "from": "E", "flags": ["unclear_tsumo"]}),
    ("bad_wind", "seat_wind", {"seat_wind": "X"}),
    ("bad_wind", "round_wind", {"round_wind": "east"}),
    ("bad_wind", "from", {"win": "ron", "from": ""}),
    ("from_missing", "from", {"win": "ron"}),
    ("from_with_tsumo", "from", {"from": "E"}),
    ("from_winner", "from", {"win": "ron", "from": "S"}),
    ("bad_win", "win", {"win": "Ron"}),
    ("out_of_range", "honba", {"honba": -1}),
    ("out_of_range", "deposits", {"deposits": 10**9}),
    ("too_many_indicators", "dora_indicators", {"dora_indicators": ["1z", "2z", "3z", "4z", "5z", "6z"]}),
    ("unknown_pao", "pao", {"pao": {"tsuuiisou": "W"}}),
    ("bad_pao", "pao.daisangen", {"pao": {"daisangen": "S"}}),
    ("bad_wind", "pao.daisangen", {"pao": {"daisangen": "Q"}}),
    # the case itself
    ("unknown_ruleset", "ruleset", {"ruleset": "tenho"}),
    ("unknown_option", "kuitann", {"options": {"kuitann": True}}),
    ("wrong_type", "options", {"options": [1]}),
    ("missing_field", "concealed", {"concealed": None}),
    ("missing_field", "ruleset", {"ruleset": None}),
    ("unknown_field", "dora", {"dora": ["1m"]}),
    ("wrong_type", "concealed", {"concealed": ["1m"]}),
    ("wrong_type", "honba", {"honba": "1"}),
    ("wrong_type", "honba", {"honba": True}),
    ("wrong_type", "riichi", {"riichi": 1.0}),
    ("wrong_type", "flags", {"flags": "ippatsu"}),
    ("wrong_type", "flags", {"flags": [1]}),
    ("wrong_type", "melds", {"melds": ["chi"]}),
    ("missing_field", "melds.tiles", {"melds": [{"type": "chi"}]}),
    ("wrong_type", "pao", {"pao": ["daisangen"]}),
]  # fmt: skip


@pytest.mark.parametrize(
    ("code", "field", "changes"), CASES, ids=[f"{c[0]}-{n}" for n, c in enumerate(CASES)]
)
def test_each_fault_has_its_code_and_names_its_field(
    code: str, field: str, changes: dict[str, Any]
) -> None:
    error = error_of(**changes)
    assert (error["code"], error["field"]) == (code, field), error
    assert error["message"]


def test_the_good_case_is_good() -> None:
    assert answer(GOOD)["valid"] is True


def test_a_misspelt_field_or_ruleset_is_met_with_the_nearest_name() -> None:
    assert "dora_indicators" in error_of(dora_indicator=["1m"])["message"]
    assert "tenhou" in error_of(ruleset="tenho")["message"]


def test_indicators_a_ruleset_does_not_use_are_not_counted() -> None:
    """Five 5s with the ura indicator: impossible where ura count, ignored where there are none."""
    hand = {**GOOD, "concealed": "234567m11p55567s", "ura_indicators": ["5s"]}
    assert answer(hand)["error"]["code"] == "five_of_a_kind"
    assert answer({**hand, "ruleset": "mu"})["valid"] is True
    assert answer({**hand, "riichi": 0})["valid"] is True
    two = {**hand, "ura_indicators": [], "dora_indicators": ["1z", "5s"]}
    assert answer(two)["error"]["code"] == "five_of_a_kind"
    assert answer({**two, "ruleset": "mu"})["valid"] is True


@pytest.mark.parametrize(
    ("line", "code"),
    [("", "bad_json"), ("{", "bad_json"), ("[]", "not_an_object"), ("1", "not_an_object"),
     ('{"id": NaN}', "bad_json"), ("[" * 100_000, "bad_json"), (b"\xff", "bad_json"),
     ('{"honba": ' + "9" * 5000 + "}", "bad_json")],
)  # fmt: skip
def test_lines_that_are_no_cases(line: str | bytes, code: str) -> None:
    with pytest.raises(EngineError) as caught:
        read_line(line)
    assert caught.value.code == code


@pytest.mark.parametrize("case_id", [["x"], {"a": 1}])
def test_an_id_that_is_no_text_is_refused(case_id: Any) -> None:
    assert answer({**GOOD, "id": case_id}) == {
        "id": None,
        "error": {"code": "wrong_type", "message": "id is text", "field": "id"},
    }


def test_errors_are_told_apart_by_class() -> None:
    with pytest.raises(HandError):
        WinSituation((0,) * 12, 0, seat_wind=0, round_wind=0)
    with pytest.raises(HandError):
        WinSituation((-1,) * 13, 0, seat_wind=0, round_wind=0)
    with pytest.raises(MeldError):
        meld("chi", "111m")
    with pytest.raises(SituationError):
        WinSituation(parse("234567m345p67s88s"), parse_one("5s"), seat_wind=4, round_wind=0)
    assert str(HandError("c", "a fault", field="f", hint="do this")) == "f: a fault (do this)"


# --- nothing else is raised ---------------------------------------------------------------------------

tile_names = st.sampled_from(NAMES)
junk = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(max_size=6)
    | tile_names,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=3)
    ),
    max_leaves=6,
)
hands = st.lists(tile_names, max_size=14).map("".join) | st.text("0123456789mpsz", max_size=20)
meld_objects = st.fixed_dictionaries(
    {"type": st.sampled_from(MELD_TYPES) | junk, "tiles": hands | junk}
)
plausible: dict[str, st.SearchStrategy[Any]] = {
    "id": st.text(max_size=3),
    "ruleset": st.sampled_from(ids()),
    "options": st.just({}) | st.dictionaries(st.sampled_from(["kuitan", "aka", "kiriage", "renhou"]), junk, max_size=2),
    "concealed": hands,
    "melds": st.lists(meld_objects, max_size=4),
    "win_tile": tile_names,
    "win": st.sampled_from(["ron", "tsumo"]),
    "seat_wind": st.sampled_from("ESWN"),
    "round_wind": st.sampled_from("ESWN"),
    "from": st.none() | st.sampled_from("ESWN"),
    "riichi": st.integers(0, 2),
    "flags": st.lists(st.sampled_from(list(FLAGS)), max_size=3),
    "dora_indicators": st.lists(tile_names, max_size=5),
    "ura_indicators": st.lists(tile_names, max_size=5),
    "honba": st.integers(-1, 20),
    "deposits": st.integers(-1, 20),
    "pao": st.dictionaries(st.sampled_from(["daisangen", "daisuushii", "x"]), st.sampled_from("ESWN"), max_size=2),
}  # fmt: skip
assert set(plausible) == set(FIELDS)


@settings(max_examples=scaled(20_000, 400), deadline=None)
@given(
    st.fixed_dictionaries({}, optional={name: value | junk for name, value in plausible.items()})
)
def test_no_case_raises_anything(case: dict[str, Any]) -> None:
    result = answer(case)
    json.dumps(result)
    assert "valid" in result or result["error"]["code"]


@settings(max_examples=scaled(20_000, 400), deadline=None)
@given(st.text(max_size=20) | st.lists(tile_names, max_size=5).map("".join))
def test_no_text_raises_anything_but_a_tile_error(text: str) -> None:
    for read in (parse, parse_one, wind_of):
        with suppress(TileError):
            read(text)


@st.composite
def situations(draw: st.DrawFn) -> dict[str, Any]:
    """A hand that nearly always is one: sets and a pair, with circumstances of every kind."""
    concealed: list[int] = []
    melds = []
    for _ in range(4):
        low = draw(st.integers(0, 33))
        run = low < 27 and low % 9 < 7 and draw(st.booleans())
        tiles = [low, low + 1, low + 2] if run else [low] * 3
        if draw(st.integers(0, 3)) == 0:
            kind = "chi" if run else draw(st.sampled_from(["pon", "ankan", "kakan", "daiminkan"]))
            melds.append((kind, tiles if kind in ("chi", "pon") else [low] * 4))
        else:
            concealed += tiles
    concealed += [draw(st.integers(0, 33))] * 2
    win = concealed.pop(draw(st.integers(0, len(concealed) - 1)))
    seat = draw(st.integers(0, 3))
    source = draw(st.none() | st.sampled_from([wind for wind in range(4) if wind != seat]))
    return {
        "tiles": (concealed, win),
        "melds": melds,
        "seat_wind": seat,
        "round_wind": draw(st.integers(0, 3)),
        "source": source,
        "riichi": draw(st.integers(0, 2)),
        "flags": draw(st.lists(st.sampled_from(list(FLAGS)), max_size=2)),
        "dora_indicators": draw(st.lists(st.integers(0, 36), max_size=3)),
        "ura_indicators": draw(st.lists(st.integers(0, 36), max_size=3)),
        "honba": draw(st.integers(0, 9)),
        "deposits": draw(st.integers(0, 9)),
        "pao": draw(st.dictionaries(st.sampled_from(["daisangen", "daisuushii", "suukantsu"]), st.integers(0, 3))),
    }  # fmt: skip


@settings(max_examples=scaled(20_000, 600), deadline=None)
@given(situations(), st.sampled_from(ids()))
def test_deltas_always_sum_to_the_deposits(facts: dict[str, Any], name: str) -> None:
    rules = load(name)
    (concealed, win), melds = facts.pop("tiles"), facts.pop("melds")
    try:
        situation = WinSituation(
            concealed, win, melds=[meld(kind, tiles) for kind, tiles in melds], **facts
        )
        result = score(situation, rules)
    except EngineError:
        return
    if isinstance(result, Win):
        assert sum(result.deltas) == 1000 * situation.deposits
        assert all(delta % 100 == 0 for delta in result.deltas)
        assert result.deltas[situation.seat_wind] > 0
        assert result.explain()[-1].ref


def test_rule_errors_pass_through_with_their_own_code() -> None:
    with pytest.raises(RuleError):
        read_case({**GOOD, "options": {"renhou": "maybe"}})
