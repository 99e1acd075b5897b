"""Worked cases of scoring, furiten, unclear tsumo and declarations, through the engine's own commands."""

from __future__ import annotations

from collections.abc import Callable

from tablectl.engine.game import commands as cmd
from tablectl.engine.game import events as ev
from tablectl.engine.game.commands import Refusal
from tablectl.engine.game.decide import decide
from tablectl.engine.game.hands import furiten
from tablectl.engine.game.prompts import announcement, prompt
from tablectl.engine.tiles import NAMES, parse, parse_one
from tests.game.cases import Case, cases
from tests.game.scripted import SEATS, WIND, Table, by_seat, rules_named

# ---- scoring --------------------------------------------------------------------------------------------

FLAGS = ("ippatsu", "rinshan", "chankan", "haitei", "houtei", "first_turn")


def _report(case: Case) -> tuple[Table, cmd.Win]:
    """The win of a case at a table that senses no tiles: hand, melds and indicators are typed in."""
    situation = case["situation"]
    seat, ron = SEATS[situation["seat"]], situation["win_type"] == "ron"
    source = SEATS[situation["from"]] if ron else seat
    riichi = int(situation.get("riichi", 0) or 0)
    own = 1 if riichi else 0
    table = Table(
        rules_named(case["ruleset"]), wind=situation.get("round", "E"), honba=situation.get("honba", 0),
        deposits=max(0, situation.get("deposits", 0) - own), knowledge="basic", first_dealer=0,
    )  # fmt: skip
    for command in (cmd.PressStart(), cmd.WallsReady(), cmd.RollDice(2, 3), cmd.Deal()):
        table.do(command)
    if riichi:
        table.do(cmd.DeclareRiichi(seat, double=riichi == 2))
    melds = sorted(situation.get("melds", []), key=lambda meld: meld["type"] != "ankan")
    shown = sum(1 for meld in melds if meld["type"] == "ankan")
    return table, cmd.Win(
        seat,
        source,
        tile=parse_one(situation["win"]),
        hand=parse(situation["concealed"]),
        melds=tuple(parse(meld["tiles"]) for meld in melds),
        closed_kans=shown,
        dora=_indicators(situation),
        ura=_ura(table, situation) if riichi else (),
        flags=tuple(
            flag for flag in FLAGS if situation.get(flag if flag != "first_turn" else "first")
        ),
    )


def _indicators(situation: Case) -> tuple[int, ...]:
    return tuple(parse_one(t) for t in (*situation.get("dora", []), *situation.get("kandora", [])))


def _ura(table: Table, situation: Case) -> tuple[int, ...]:
    if not table.rules.ura_dora:
        return ()
    given = tuple(parse_one(t) for t in (*situation.get("ura", []), *situation.get("kanura", [])))
    return given[: len(_indicators(situation)) if table.rules.kan_ura_dora else 1]


@cases("scoring")
def test_scoring(case: Case) -> None:
    expected = case["expected"]
    table, command = _report(case)
    answer = decide(table.state, command)
    if not expected["win_possible"]:
        assert isinstance(answer, Refusal)
        assert answer.code in ("no_yaku", "not_complete")
        return
    assert not isinstance(answer, Refusal), answer
    table.do(command)
    won = next(event for event in table.events() if isinstance(event, ev.Won))
    names = {one["name"] for one in expected["yaku"]}
    assert won.han == expected["han"] or names == {"renhou"}  # a mangan: five han by contract
    if not won.yakuman and names != {"renhou"}:
        assert won.fu == expected["fu"]
    if "delta_by_seat" in expected:
        assert won.deltas == by_seat(expected["delta_by_seat"])
    ended = table.settle()
    following = expected.get("next_hand")
    if following:
        assert ended.renchan is not following["dealer"].startswith("rotates")
        assert ended.honba == following["honba"]
        assert ended.deposits == following["deposits"]


# ---- furiten --------------------------------------------------------------------------------------------

WAITS_47P = "234m567s22z56p678m"
"""Waits for 4p and 7p; riichi gives it a yaku."""


@cases("furiten")
def test_furiten(case: Case) -> None:
    FURITEN[case["id"]](case["ruleset"], case["expected"])


def _ron_on(table: Table, wind: str, source: str, tile: str) -> bool:
    """`source` draws and discards the tile: may `wind` win it?"""
    table.until(source)
    table.draw(source, tile)
    table.discard(source)
    return table.may_ron(wind)


def _junk(table: Table, wind: str) -> str:
    seat = table.state.seats[table.seat(wind)]
    return NAMES[next(t for t in reversed(seat.hand) if t not in seat.forbidden)]


def _own_river(ruleset: str, expected: Case, *, river: str, call: bool) -> None:
    """South's river holds a tile of its wait 3m-6m, called away or not: no ron, but tsumo."""
    other = "6m" if river == "3m" else "3m"
    hands = {"S": f"45m{river}678p234s222s7z", "W": f"{river}{river}"}
    table = Table(ruleset).deal(dora="9p", keep=f"7z{other}{other}", **hands)
    table.avoid("3m6m")
    table.until("S")
    table.draw("S", "7z")
    table.discard("S", river)
    if call:
        table.call("pon", "W", river * 2)
        table.discard("W", _junk(table, "W"))
    assert not _ron_on(table, "S", "N", other)
    refusal = table.refuses(cmd.Win(1, 3, ura=()))
    assert refusal.code in ("furiten", "no_yaku")
    table.riichi("S")
    assert not _ron_on(table, "S", "E", other) if not expected["can_ron_on"] else True
    assert table.refuses(cmd.Win(1, 0, ura=(0,))).code == "furiten"
    assert furiten(table.state.seats[1])


def _tsumo_in_furiten(ruleset: str, expected: Case) -> None:
    _own_river(ruleset, expected, river="3m", call=True)
    table = Table(ruleset).deal(dora="9p", S="45m3m678p234s222s7z", keep="7z6m")
    table.avoid("3m6m")
    table.until("S")
    table.draw("S", "7z")
    table.discard("S", "3m")
    table.until("S")
    table.draw("S", "6m")
    assert table.may("S", cmd.Win) is expected.get("tsumo_ok", True)


def _fu_three_waits(ruleset: str, expected: Case) -> None:
    # 23456p waits for 1p, 4p and 7p; 1p lies in the own river and would give no yaku.
    table = Table(ruleset).deal(dora="9m", S="123456p234m678s5s", keep="5s4p7p")
    table.avoid("1p4p7p")
    table.until("S")
    table.draw("S", "5s")
    table.discard("S", "1p")
    for tile, source in (("4p", "W"), ("7p", "N")):
        assert not _ron_on(table, "S", source, tile)
        assert table.refuses(cmd.Win(1, SEATS[source], ura=())).code in ("furiten", "no_yaku")
    assert expected["can_ron_on"] == []


def _passing(
    ruleset: str, between: Callable[[Table], None], *, allowed: bool, then: str = "N"
) -> None:
    """West throws 4p, South passes; something happens; then 4p or 7p again."""
    table = Table(ruleset).deal(dora="9m", S="345m567s22s56p678m", keep="4p7p")
    table.avoid("4p7p")
    table.until("W")
    table.draw("W", "4p")
    table.discard("W")
    assert table.may_ron("S")
    between(table)
    assert _ron_on(table, "S", then, "7p") is allowed


def _own_turn(table: Table) -> None:
    table.until("S")
    table.turn("S")


def _fu_own_discard(ruleset: str, expected: Case) -> None:
    _passing(ruleset, _own_turn, allowed=expected["ron_allowed"])


def _fu_same_go_around(ruleset: str, expected: Case) -> None:
    _passing(ruleset, lambda table: None, allowed=expected["ron_allowed"])


def _fu_kakan(ruleset: str, expected: Case) -> None:
    # West adds the 4p South waits for to its pon; South passes; North throws 7p.
    table = Table(ruleset).deal(dora="9m", S="345m567s22s56p678m", W="44p", E="4p", keep="4p7p")
    table.avoid("4p7p")
    table.discards("E", "4p")
    assert table.may_ron("S")
    table.call("pon", "W", "44p")
    table.discard("W", _junk(table, "W"))
    _own_turn(table)
    table.until("W")
    table.draw("W", "4p")
    table.kakan("W", "4p")
    assert table.may_ron("S")
    table.replacement("W")
    table.discard("W")
    table.flip()
    assert _ron_on(table, "S", "N", "7p") is expected["ron_allowed"]


def _fu_call_skips(ruleset: str, expected: Case) -> None:
    # West throws the wait; North pons East's tile, so that South's turn is skipped: still furiten.
    table = Table(ruleset).deal(dora="9m", S="345m567s22s56p678m", N="1z1z", E="1z", keep="4p7p")
    table.avoid("4p7p")
    table.until("W")
    table.draw("W", "4p")
    table.discard("W")
    table.until("E")
    table.draw("E")
    table.discard("E", "1z")
    table.call("pon", "N", "11z")
    table.discard("N", _junk(table, "N"))
    assert _ron_on(table, "S", "E", "7p") is expected["ron_allowed"]


def _fu_own_pon(ruleset: str, expected: Case) -> None:
    # South passes 4p, pons 2p and waits for 6p alone after its discard: the furiten is gone.
    table = Table(ruleset).deal(dora="9m", S="345m678m234s22p56p", E="2p", keep="4p6p")
    table.avoid("4p6p7p2p")
    table.until("W")
    table.turn("W", "4p")
    table.until("E")
    table.draw("E")
    table.discard("E", "2p")
    assert table.state.seats[1].missed == 1
    table.call("pon", "S", "22p")
    assert table.state.seats[1].missed == 1, "it ends with the discard (T37), not with the call"
    table.discard("S", "5p")
    assert table.state.seats[1].missed == 0
    assert _ron_on(table, "S", "W", "6p") is expected["ron_allowed"]


def _fu_ema_draw(ruleset: str, expected: Case) -> None:
    table = Table(ruleset).deal(dora="9m", S="345m567s22s56p678m", keep="4p7p")
    table.avoid("4p7p")
    table.until("W")
    table.draw("W", "4p")
    table.discard("W")
    table.until("S")
    assert table.state.seats[1].missed == 1
    table.draw("S")
    assert table.state.seats[1].missed == 0
    table.discard("S")
    assert _ron_on(table, "S", "W", "7p") is expected["ron_allowed"]


def _fu_riichi(ruleset: str, expected: Case) -> None:
    table = Table(ruleset).deal(dora="9m", S="345m567s22s56p678m", keep="4p7p")
    table.avoid("4p7p")
    table.riichi("S")
    table.until("W")
    table.draw("W", "4p")
    table.discard("W")
    assert table.may_ron("S")
    _own_turn(table)
    assert table.state.seats[1].missed == 2
    assert not _ron_on(table, "S", "W", "7p")
    again = Table(ruleset).deal(dora="9m", S="345m567s22s56p678m", keep="4p7p")
    again.avoid("4p7p")
    again.riichi("S")
    again.until("W")
    again.draw("W", "4p")
    again.discard("W")
    again.until("S")
    again.draw("S", "7p")
    assert again.may("S", cmd.Win) is expected["tsumo_ok"]


def _fu_kokushi(ruleset: str, expected: Case) -> None:
    table = Table(ruleset).deal(dora="5m", S="19m19p19s1234567z", keep="9s1m")
    table.avoid("1m9m1p9p1s9s1z2z3z4z5z6z7z")
    table.until("S")
    table.draw("S", "9s")
    table.discard("S")
    assert not _ron_on(table, "S", "N", "1m")
    assert table.refuses(cmd.Win(1, 3, ura=())).code == "furiten"


def _fu_own_kakan(ruleset: str, expected: Case) -> None:
    # 45m waits 3m-6m while the own kakan holds all four 6m; the kakan is no discard.
    table = Table(ruleset).deal(dora="9m", S="66m45m234p678s55s7z", E="6m", keep="6m3m")
    table.avoid("3m6m")
    table.discards("E", "6m")
    table.call("pon", "S", "66m")
    table.discard("S", "7z")
    table.until("S")
    table.draw("S", "6m")
    table.kakan("S", "6m")
    table.replacement("S")
    table.discard("S")
    table.flip()
    assert furiten(table.state.seats[1]) is expected["furiten"]
    assert _ron_on(table, "S", "W", "3m")


def _fu_until_discard(ruleset: str, expected: Case) -> None:
    _passing(ruleset, lambda table: None, allowed=False)
    _passing(ruleset, _own_turn, allowed=True)
    assert expected["until"] == "own next discard"


FURITEN = {
    "FU-01": _tsumo_in_furiten,
    "FU-02": lambda ruleset, expected: _own_river(ruleset, expected, river="6m", call=True),
    "FU-03": _fu_three_waits,
    "FU-04": _fu_own_discard,
    "FU-05": _fu_same_go_around,
    "FU-06": _fu_kakan,
    "FU-07": _fu_call_skips,
    "FU-08": _fu_own_pon,
    "FU-09": _fu_ema_draw,
    "FU-10": _fu_riichi,
    "FU-11": _fu_kokushi,
    "FU-12": _fu_own_kakan,
    "FU-13": _fu_until_discard,
    "FU-14": lambda ruleset, expected: _fu_kokushi(ruleset, {"can_ron_on": [], **expected}),
}


# ---- unclear tsumo, declarations ------------------------------------------------------------------------


@cases("unclear_tsumo")
def test_unclear_tsumo(case: Case) -> None:
    situation = case["situation"]
    for option, value in (("option_A", "no_wait"), ("option_B", "no_wait_no_tsumo_fu")):
        rules = rules_named(case["ruleset"], unclear_tsumo=value)
        table = Table(rules).deal(dora="7z", S=situation["concealed"], keep=situation["win"])
        table.avoid("5s8s")
        _own_turn(table)  # past the first go-around: no double riichi
        table.riichi("S")
        table.until("S")
        table.draw("S", situation["win"])
        won = table.win("S", unclear=True)
        child, dealer = (int(part) for part in case["expected"][option]["declared"].split("-"))
        assert won.points == 2 * child + dealer
        assert all(one.name != "pinfu" for one in won.yaku)


@cases("declaration")
def test_declaration(case: Case) -> None:
    situation, expected = case["situation"], case["expected"]
    if "tenpai" in situation:
        table = Table(case["ruleset"], knowledge="basic")
        for command in (cmd.PressStart(), cmd.WallsReady(), cmd.RollDice(2, 3), cmd.Deal()):
            table.do(command)
        table.do(cmd.DeclareTenpai(0))
        said = []
        while table.state.phase == "tenpai":
            ask = prompt(table.state)
            assert ask is not None
            assert ask.seat is not None
            said.append((WIND[ask.seat], ask.code))
            table.do(cmd.DeclareTenpai(ask.seat))
        assert ["E", *(wind for wind, _ in said)] == expected["order"].split(",")
        assert said[-1][1] == "declare_tenpai_hai"
        return
    child, dealer = (int(part) for part in situation["base"].split("-"))
    table = Table(case["ruleset"], honba=situation["honba"], knowledge="basic")
    for command in (cmd.PressStart(), cmd.WallsReady(), cmd.RollDice(2, 3), cmd.Deal()):
        table.do(command)
    table.do(cmd.Win(1, 1, han=3, fu=40))
    won = next(event for event in table.events() if isinstance(event, ev.Won))
    assert won.points == 2 * child + dealer
    spoken = announcement(table.state, won)
    if "say" in expected:
        assert spoken.text == expected["say"]
    else:
        assert list(spoken.totals) == [int(part) for part in expected["totals"].split("-")]
        assert spoken.base[0] < spoken.base[1]
