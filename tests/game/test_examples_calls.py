"""Worked cases of kuikae, tenpai, ankan after riichi and kan dora, each played on a table."""

from __future__ import annotations

from tablectl.engine.game import commands as cmd
from tablectl.engine.game import events as ev
from tablectl.engine.game.legal import legal, own_turn
from tablectl.engine.tiles import KIND, NAMES, compact, parse, parse_one
from tests.game.cases import Case, cases
from tests.game.scripted import Table
from tests.game.table import all_declare

# ---- kuikae ---------------------------------------------------------------------------------------------


@cases("kuikae")
def test_kuikae(case: Case) -> None:
    called, shown = case["situation"]["called"], case["situation"]["exposed"]
    wanted = case["expected"]["forbidden_discards"]
    suit = called[1]
    around = "".join(f"{n}{suit}" for n in range(1, 10)) if suit != "z" else called
    hand = (shown + around).replace("0", "5")
    hand = "".join(NAMES[t] for t in parse(shown)) + "".join(
        NAMES[t] for t in parse(around) if NAMES[t] != called
    )
    hand = hand[:24] + called if called not in hand else hand
    hand += "".join(f"{n}z" for n in range(1, 8))
    text = "".join(NAMES[t] for t in parse(hand)[:13])
    if called not in text:
        text = text[:-2] + called
    table = Table(case["ruleset"]).deal(E=called, S=text)
    table.discards("E", called)
    pon = len({KIND[t] for t in (*parse(shown), parse_one(called))}) == 1
    table.call("pon" if pon else "chi", "S", shown)
    seat = table.state.seats[1]
    assert sorted(NAMES[k] for k in seat.forbidden) == sorted(wanted)
    allowed = {
        KIND[one.tile]
        for one in legal(table.state, 1)
        if isinstance(one, cmd.Discard) and one.tile is not None
    }
    held = {KIND[t] for t in seat.hand}
    assert allowed == held - {parse_one(name) for name in wanted}
    for name in wanted:
        if parse_one(name) in held:
            finding = (
                table.do(cmd.Discard(1, parse_one(name))) if table.rules.id != "tenhou" else None
            )
            if finding is None:
                assert table.refuses(cmd.Discard(1, parse_one(name))).code == "kuikae"
            else:
                assert any(isinstance(event, ev.Found) and event.row == "P14" for event in finding)
            return


# ---- tenpai ---------------------------------------------------------------------------------------------


@cases("tenpai")
def test_tenpai(case: Case) -> None:
    concealed = parse(case["situation"]["concealed"])
    melds = [(one["type"], parse(one["tiles"])) for one in case["situation"]["melds"]]
    hand = list(concealed)
    gifts: list[tuple[str, int, str]] = []
    used = {KIND[t] for _, tiles in melds for t in tiles} | {KIND[t] for t in concealed}
    spare = [NAMES[k] for k in range(27, 34) if k not in used]
    for kind, tiles in melds:
        if kind == "ankan":
            hand += tiles[:3]
            gifts.append((kind, tiles[0], ""))
        else:
            # The called tile comes from the left neighbour; one spare tile is discarded for it.
            hand += [*tiles[1:], parse_one(spare.pop())]
            gifts.append((kind, tiles[0], compact(tiles[1:])))
    text = "".join(NAMES[t] for t in hand)
    left = "".join(NAMES[t] for kind, t, _ in gifts if kind != "ankan")
    kept = "".join(NAMES[t] for kind, t, _ in gifts if kind == "ankan")
    table = Table(case["ruleset"]).deal(dora="6p", S=text, E=left, keep=kept)
    for kind, tile, shown in gifts:
        if kind == "ankan":
            table.until("S")
            table.draw("S", NAMES[tile])
            table.ankan("S", NAMES[tile])
            if table.rules.kan_dora:
                table.flip()
            table.replacement("S")
            table.discard("S")
        else:
            table.discards("E", NAMES[tile])
            table.call(kind, "S", shown)
            keep = list(concealed)
            junk = next(
                t
                for t in table.state.seats[1].hand
                if table.state.seats[1].hand.count(t) > keep.count(t)
                and t not in {u for k, _, s in gifts for u in parse(s)}
            )
            table.discard("S", NAMES[junk])
    assert table.state.seats[1].hand == tuple(sorted(concealed))
    table.run_out()
    drawn = [
        event for event in table.do(all_declare(table.state)) if isinstance(event, ev.HandDrawn)
    ]
    assert drawn[0].tenpai is not None
    assert drawn[0].tenpai[1] is case["expected"]["tenpai"]


# ---- ankan after riichi ---------------------------------------------------------------------------------


@cases("riichi_ankan")
def test_ankan_after_riichi(case: Case) -> None:
    situation = case["situation"]
    if "hand_part" in situation:
        # 3455 55 with the 2 drawn: the kan of the fives must not follow (okuri-kan).
        hand, drawn, kan = "345555m678p23s99s", "2m", "5m"
    else:
        hand, drawn, kan = situation["hand_at_riichi"], situation["drawn"], situation["drawn"]
    table = Table(case["ruleset"]).deal(dora="6z", S=hand, keep=drawn)
    table.avoid("".join(situation.get("waits", ["1s", "4s", "2m", "5m"])))
    table.riichi("S", draws="7z", discards="7z")
    table.until("S")
    table.draw("S", drawn)
    allowed = [one for one in own_turn(table.state, 1) if isinstance(one, cmd.Ankan)]
    assert bool(allowed) is case["expected"]["ankan_allowed"]
    command = cmd.Ankan(1, table.held("S", kan * 4))
    if case["expected"]["ankan_allowed"]:
        assert not any(isinstance(event, ev.Found) for event in table.do(command))
    elif case["ruleset"] == "tenhou":
        assert table.refuses(command).code == "riichi_ankan"
    else:
        found = [event for event in table.do(command) if isinstance(event, ev.Found)]
        assert [(one.row, one.secret) for one in found] == [("P7", True)]


# ---- kan dora -------------------------------------------------------------------------------------------

TSUMO_HAND = "23456m234678p55s"


def _ankan_table(ruleset: str) -> Table:
    table = Table(ruleset).deal(dora="9m", S="111z23456m678p55s", keep="1z7m6p")
    table.until("S")
    table.draw("S", "1z")
    table.ankan("S", "1z")
    return table


def _daiminkan_table(ruleset: str) -> Table:
    table = Table(ruleset).deal(dora="9m", S="777z23456m678p55s", E="7z", keep="7m5m")
    table.discards("E", "7z")
    table.call("daiminkan", "S", "777z")
    return table


def _kakan_table(ruleset: str, robber: str = "") -> Table:
    hands = {"S": "77z23456m678p55s1z", "E": "7z"}
    if robber:
        hands["W"] = robber
    table = Table(ruleset).deal(dora="9m", keep="7z7m", **hands)
    table.discards("E", "7z")
    table.call("pon", "S", "77z")
    table.discard("S", "1z")
    table.until("S")
    table.draw("S", "7z")
    table.kakan("S", "7z")
    return table


def test_ankan_indicator_is_seen_by_the_rinshan_win() -> None:
    for ruleset in ("saikouisen", "tenhou", "m-league", "ema-2016"):
        table = _ankan_table(ruleset)
        assert table.refuses(cmd.Draw(1, parse_one("7m"), rinshan=True)).code == "indicator_due"
        table.flip("6p")
        table.replacement("S", "7m")
        assert len(table.win("S", no_ura=True).dora) == 2


@cases("kan_dora_timing")
def test_kan_dora_timing(case: Case) -> None:
    KAN_DORA[case["id"]](case["ruleset"], case["expected"])


def _kd_ankan_rinshan(ruleset: str, expected: Case) -> None:
    table = _ankan_table(ruleset)
    assert table.refuses(cmd.Draw(1, parse_one("7m"), rinshan=True)).code == "indicator_due"
    table.flip("6p")
    table.replacement("S", "7m")
    won = table.win("S")
    assert (len(won.dora) == 2) is expected["new_indicator_counts"]


def _kd_daiminkan_rinshan(ruleset: str, expected: Case) -> None:
    table = _daiminkan_table(ruleset)
    if expected["new_indicator_counts"]:
        assert table.refuses(cmd.Draw(1, parse_one("7m"), rinshan=True)).code == "indicator_due"
        table.flip()
    else:
        assert table.refuses(cmd.RevealDora(0)).code == "indicator_not_due"
    table.replacement("S", "7m")
    assert (len(table.win("S").dora) == 2) is expected["new_indicator_counts"]


def _kd_daiminkan_first(ruleset: str, expected: Case) -> None:
    _kd_daiminkan_rinshan(ruleset, {"new_indicator_counts": True, **expected})


def _kd_chankan(ruleset: str, expected: Case) -> None:
    table = _kakan_table(ruleset, robber="19m19p19s123456z9p")
    won = table.win("W", "S")
    assert len(won.dora) == 1
    assert expected["new_indicator_flipped"] is False
    assert not any(isinstance(event, ev.KanEstablished) for event in table.events())
    assert table.state.kans == ()


def _kd_kakan_then_ron(ruleset: str, expected: Case) -> None:
    table = Table(ruleset).deal(
        dora="9m", S="77z23456m678p99s1z", W="234m345678p22z67s", E="7z", keep="7z8s"
    )
    table.avoid("5s8s")
    table.discards("E", "7z")
    table.call("pon", "S", "77z")
    table.discard("S", "1z")
    table.riichi("W")
    table.until("S")
    table.draw("S", "7z")
    table.kakan("S", "7z")
    table.flip()
    table.replacement("S", "8s")
    table.discard("S")
    won = table.win("W", "S", ura="1m1m")
    assert (len(won.dora) == 2) is expected["new_indicator_counts"]


def _kd_daiminkan_then_ron(ruleset: str, expected: Case) -> None:
    table = Table(ruleset).deal(
        dora="9m", S="777z23456m678p99s", W="234m345678p22z67s", E="7z", keep="8s"
    )
    table.avoid("5s8s")
    table.riichi("W")
    table.discards("E", "7z")
    table.call("daiminkan", "S", "777z")
    table.replacement("S", "8s")
    table.discard("S")
    # It is turned with the discard: before that is done, nobody wins and nobody draws.
    assert table.refuses(cmd.Win(2, 1, ura=())).code == "indicator_due"
    assert table.refuses(cmd.Draw(2, 0)).code == "indicator_due"
    table.flip()
    won = table.win("W", "S", ura="1m1m")
    assert (len(won.dora) == 2) is expected["new_indicator_counts"]


def _kd_daiminkan_then_ankan(ruleset: str, expected: Case) -> None:
    table = Table(ruleset).deal(dora="9m", S="777z2222m678p555s", E="7z", keep="5m")
    table.discards("E", "7z")
    table.call("daiminkan", "S", "777z")
    table.replacement("S")
    table.ankan("S", "2m")
    table.flip()
    assert table.refuses(cmd.Draw(1, parse_one("5m"), rinshan=True)).code == "indicator_due"
    table.flip()
    table.replacement("S", "5m")
    assert len(table.state.dora) == expected["indicators_open_at_rinshan2"]


def _kd_second_kakan_robbed(ruleset: str, expected: Case) -> None:
    table = Table(ruleset).deal(
        dora="9m", S="77z66s34m678p99m11z", W="234m345p678p22z45s", E="7z6s", keep="7z6s"
    )
    table.avoid("3s6s")
    table.discards("E", "7z")
    table.call("pon", "S", "77z")
    table.discard("S", "1z")
    table.until("E")
    table.discards("E", "6s")
    table.call("pon", "S", "66s")
    table.discard("S", "1z")
    table.until("S")
    table.draw("S", "7z")
    table.kakan("S", "7z")
    table.replacement("S", "6s")
    table.kakan("S", "6s")
    won = table.win("W", "S")
    assert len(won.dora) == 1
    assert [event.seat for event in table.events() if isinstance(event, ev.KanEstablished)] == [1]


def _kd_never(ruleset: str, expected: Case) -> None:
    table = _ankan_table(ruleset)
    assert table.refuses(cmd.RevealDora(0)).code == "no_indicator_due"
    table.replacement("S", "7m")
    assert len(table.win("S").dora) == 1
    assert expected["new_indicator_flipped"] is False


def _kd_before_discard(ruleset: str, expected: Case) -> None:
    table = _daiminkan_table(ruleset)
    table.replacement("S", "5m")
    assert table.refuses(cmd.Discard(1, parse_one("5m"))).code == "indicator_due"
    table.flip()
    table.discard("S")
    assert len(table.state.dora) == 2
    _kd_chankan(ruleset, {"new_indicator_flipped": False})


KAN_DORA = {
    "KD-01": _kd_ankan_rinshan,
    "KD-02": _kd_daiminkan_rinshan,
    "KD-03": _kd_chankan,
    "KD-04": _kd_kakan_then_ron,
    "KD-05": _kd_ankan_rinshan,
    "KD-06": _kd_daiminkan_rinshan,
    "KD-07": _kd_daiminkan_then_ron,
    "KD-08": _kd_daiminkan_then_ankan,
    "KD-09": _kd_second_kakan_robbed,
    "KD-10": _kd_never,
    "KD-11": _kd_never,
    "KD-12": _kd_before_discard,
    "KD-13": _kd_daiminkan_first,
}


def test_riichi_ankan_of_a_stopped_hand() -> None:
    table = Table("saikouisen").deal(dora="6z", S="444m567p123s77s56s", keep="4m")
    table.do(cmd.Sanction(1, "stop_win"))
    table.until("S")
    table.draw("S", "4m")
    assert not table.may("S", cmd.Ankan)
    assert table.refuses(cmd.Ankan(1, table.held("S", "4m4m4m4m"))).code == "stopped"
