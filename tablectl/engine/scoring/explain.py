"""Why a hand is worth what it is: each step with the article of its own ruleset it rests on."""

from __future__ import annotations

from typing import Literal, NamedTuple

from tablectl.engine.scoring.circumstances import ON_RINSHAN, UNCLEAR
from tablectl.engine.scoring.points import MANGAN
from tablectl.engine.scoring.reading import Group, Reading, reading_of
from tablectl.engine.scoring.result import Win
from tablectl.engine.scoring.settle import honba_rates
from tablectl.engine.scoring.special import used_dora, used_ura
from tablectl.engine.scoring.yaku import BY_ID
from tablectl.engine.tiles import DORA, EAST, HAKU, NAMES, WINDS

Topic = Literal["yaku", "dora", "fu", "points", "payment"]

_FORMS = {
    "minko": ("open triplet", "fu_minko"),
    "anko": ("concealed triplet", "fu_anko"),
    "minkan": ("open kan", "fu_minkan"),
    "ankan": ("concealed kan", "fu_ankan"),
}


class Step(NamedTuple):
    """One line: what it is about, in words, how much (han, fu or points), the article."""

    topic: Topic
    text: str
    amount: int | None
    ref: str


def explain(win: Win) -> list[Step]:
    """Yaku, dora, fu, points and payments of a win, in the order they are reckoned."""
    steps = _yaku_steps(win)
    if win.yakuman_count:
        return [*steps, *_yakuman_steps(win), *_payment_steps(win)]
    steps += _dora_steps(win)
    steps += _fu_steps(win)
    return [*steps, *_point_steps(win), *_payment_steps(win)]


def fu_steps(win: Win) -> list[Step]:
    """The fu table alone; empty with yakuman and renhou. All but the last line add up to the raw fu."""
    return [] if win.yakuman_count else _fu_steps(win)


def raw_fu(win: Win) -> int | None:
    """Fu before rounding; None where there are none."""
    steps = fu_steps(win)
    return sum(step.amount or 0 for step in steps[:-1]) if steps else None


def _ref(win: Win, name: str) -> str:
    return win.ruleset.ref(name)


# --- yaku and dora ------------------------------------------------------------------------------------


def _yaku_steps(win: Win) -> list[Step]:
    steps = []
    for name, han in win.yaku:
        yaku = BY_ID[name]
        worth = "yakuman" if win.yakuman_count else "mangan" if name == "renhou" else f"{han} han"
        if win.yakuman_count and han > 13:
            worth = "double yakuman"
        steps.append(
            Step("yaku", f"{yaku.title} ({yaku.japanese}): {worth}", han, _yaku_ref(win, name))
        )
    return steps


def _yaku_ref(win: Win, name: str) -> str:
    own = {
        "ippatsu": "ippatsu",
        "renhou": "renhou",
        "ryuuiisou": "ryuuiisou_needs_hatsu",
        "shousangen": "shousangen_includes_dragons",
        "tanyao": "kuitan" if win.situation.is_open else "",
        "tsuuiisou": "tsuuiisou_seven_pairs" if not win.situation.melds else "",
    }.get(name, "")
    return (own and _ref(win, own)) or _ref(win, f"yaku.{name}")


def _dora_steps(win: Win) -> list[Step]:
    situation, rules = win.situation, win.ruleset
    steps = []
    for word, number, indicators, name in (
        ("dora", win.dora, used_dora(situation.dora, rules), "dora"),
        ("ura dora", win.ura_dora, used_ura(situation.ura, situation, rules), "ura_dora"),
    ):
        if number:
            kinds = " ".join(NAMES[DORA[indicator]] for indicator in indicators)
            steps.append(Step("dora", f"{word} ({kinds}): {number} han", number, _ref(win, name)))
    if win.red_dora:
        steps.append(Step("dora", f"red fives: {win.red_dora} han", win.red_dora, _ref(win, "aka")))
    return steps


# --- fu -----------------------------------------------------------------------------------------------


def _fu_steps(win: Win) -> list[Step]:
    if win.fu is None:
        return []
    reading = reading_of(win)
    if reading is None:
        return [
            Step("fu", "seven pairs: 25 fu, nothing added", 25, _ref(win, "fu_chiitoitsu")),
            Step("fu", "fu: 25", 25, _ref(win, "fu_chiitoitsu")),
        ]
    steps = [Step("fu", "base: 20 fu", 20, _ref(win, "fu_base"))]
    situation = win.situation
    if not situation.is_tsumo and not situation.is_open:
        steps.append(Step("fu", "concealed ron: 10 fu", 10, _ref(win, "fu_closed_ron")))
    steps += [_group_step(win, group) for group in reading.groups if group.fu]
    steps += _pair_steps(win, reading)
    unclear = situation.circumstances & UNCLEAR and win.ruleset.unclear_tsumo != "counts"
    if unclear:
        steps.append(Step("fu", "wait not shown apart: 0 fu", 0, _ref(win, "unclear_tsumo")))
    elif reading.wait in ("kanchan", "penchan", "tanki"):
        steps.append(Step("fu", f"{reading.wait} wait: 2 fu", 2, _ref(win, "fu_wait")))
    steps += _tsumo_steps(win)
    raw = sum(step.amount or 0 for step in steps)
    name, text = "fu_rounding", f"fu: {raw} rounded up to {win.fu}"
    if raw == 20 and situation.is_open:
        name, text = "open_pinfu_fu", f"fu: an open hand without any counts {win.fu}"
    elif raw == win.fu:
        text = f"fu: {raw}"
    return [*steps, Step("fu", text, win.fu, _ref(win, name))]


def _group_step(win: Win, group: Group) -> Step:
    words, name = _FORMS[group.form]
    if group.form == "minko" and not group.melded:
        words = "triplet completed by ron"
    return Step("fu", f"{words} of {NAMES[group.kind]}: {group.fu} fu", group.fu, _ref(win, name))


def _pair_steps(win: Win, reading: Reading) -> list[Step]:
    situation = win.situation
    kind = reading.pair
    roles = [
        word
        for word, wind in (
            ("round wind", situation.round_wind),
            ("seat wind", situation.seat_wind),
        )
        if kind == EAST + wind
    ]
    if kind >= HAKU:
        roles = ["dragon"]
    if not roles:
        return []
    fu, name = 2, "fu_pair"
    if len(roles) == 2:
        fu, name = win.ruleset.double_wind_pair_fu, "double_wind_pair_fu"
    words = " and ".join(roles)
    return [Step("fu", f"pair of {NAMES[kind]} ({words}): {fu} fu", fu, _ref(win, name))]


def _tsumo_steps(win: Win) -> list[Step]:
    situation, rules = win.situation, win.ruleset
    if not situation.is_tsumo:
        return []
    if "pinfu" in dict(win.yaku):
        return [Step("fu", "tsumo with pinfu: 0 fu", 0, _ref(win, "fu_pinfu_tsumo"))]
    if situation.circumstances & ON_RINSHAN and rules.rinshan_tsumo_fu == 0:
        return [Step("fu", "tsumo on a replacement tile: 0 fu", 0, _ref(win, "rinshan_tsumo_fu"))]
    if situation.circumstances & UNCLEAR and rules.unclear_tsumo == "no_wait_no_tsumo_fu":
        return [Step("fu", "tsumo not shown apart: 0 fu", 0, _ref(win, "unclear_tsumo"))]
    return [Step("fu", "tsumo: 2 fu", 2, _ref(win, "fu_tsumo"))]


# --- points -------------------------------------------------------------------------------------------


def _yakuman_steps(win: Win) -> list[Step]:
    count = win.yakuman_count
    single = len(win.yaku) > 1 and not win.ruleset.composite_yakuman
    times = "yakuman" if count == 1 else f"{count} yakuman"
    text = "several yakuman count as one" if single else times
    ref = _ref(win, "composite_yakuman" if len(win.yaku) > 1 else "yakuman")
    return [
        Step("points", f"{text}: base {count} × {4 * MANGAN}", None, ref),
        _announced(win),
    ]


def _point_steps(win: Win) -> list[Step]:
    han, fu, limit = win.han, win.fu, win.limit
    if win.yaku == (("renhou", 5),):
        return [
            Step("points", f"renhou: mangan, base {MANGAN}", None, _ref(win, "renhou")),
            _announced(win),
        ]
    assert han is not None
    assert fu is not None
    reckoned = fu << han + 2
    if limit is None:
        text = f"{han} han {fu} fu: base {fu} × 2^({han}+2) = {reckoned}"
        return [Step("points", text, None, _ref(win, "points_ron")), _announced(win)]
    name = "limits"
    if limit == "kazoe_yakuman":
        name, text = "counted_yakuman", f"{han} han: counted yakuman"
    elif han >= 5:
        text = f"{han} han: {limit}"
    elif reckoned > MANGAN:
        text = f"{han} han {fu} fu: base {reckoned} is more than {MANGAN}, mangan"
    else:
        name, text = "kiriage", f"{han} han {fu} fu: base {reckoned} raised to mangan"
    return [Step("points", text, None, _ref(win, name)), _announced(win)]


def _announced(win: Win) -> Step:
    payments = win.payments
    if not win.situation.is_tsumo:
        return Step("points", f"ron: {payments[0]}", win.points, _ref(win, "points_ron"))
    if len(payments) == 1:
        text = f"tsumo: {payments[0]} from each"
    else:
        text = f"tsumo: {payments[0]} from each child, {payments[1]} from the dealer"
    return Step("points", text, win.points, _ref(win, "points_tsumo"))


def _payment_steps(win: Win) -> list[Step]:
    situation, rules = win.situation, win.ruleset
    steps = []
    rates = honba_rates(rules)
    if situation.honba:
        rate, word = (
            (rates.tsumo, "honba_tsumo") if situation.is_tsumo else (rates.ron, "honba_ron")
        )
        if not rates.ron:
            word = "honba_counted"
        each = " from each" if situation.is_tsumo else ""
        amount = situation.honba * rate
        steps.append(
            Step("payment", f"{situation.honba} honba: {amount}{each}", amount, _ref(win, word))
        )
    if situation.deposits:
        amount = 1000 * situation.deposits
        steps.append(Step("payment", f"deposits: {amount}", amount, _ref(win, "deposits")))
    if win.yakuman_count:
        for yakuman, wind in situation.pao.items():
            if yakuman in rules.pao and yakuman in dict(win.yaku):
                name = "pao_tsumo" if situation.is_tsumo else "pao_ron"
                text = f"liability of {WINDS[wind]} for {BY_ID[yakuman].title}"
                steps.append(Step("payment", text, None, _ref(win, name)))
    moved = ", ".join(
        f"{wind} {delta:+d}" for wind, delta in zip(WINDS, win.deltas, strict=True) if delta
    )
    steps.append(Step("payment", moved, None, _ref(win, "points_rounding")))
    return steps
