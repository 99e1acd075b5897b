"""Liability for a yakuman (pao): which call brings it, and who then pays (`rules.md` 1.12)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tablectl.engine.rules.model import Ruleset
from tablectl.engine.scoring.melds import Meld
from tablectl.engine.scoring.points import YAKUMAN, price
from tablectl.engine.scoring.settle import Deltas, added, honba_rates, ron_deltas, tsumo_deltas
from tablectl.engine.tiles import EAST, HAKU


def fixed_by_call(melds: Sequence[Meld], ruleset: Ruleset, *, live_tile: bool = True) -> str | None:
    """The yakuman that the last of `melds`, just called, makes certain: its discarder is liable.

    Third dragon or fourth wind as pon or daiminkan, ankans among the earlier sets counted (M67, J-VI, T24);
    for suukantsu a daiminkan as fourth kan, under some rules only of a tile not seen before (`live_tile`,
    J-VI.2c). A set completed by oneself brings no liability (`rules.md` 155). None where the rules have none.
    """
    last = melds[-1]
    if last.type not in ("pon", "daiminkan"):
        return None
    kinds = {meld.kind for meld in melds if meld.type != "chi"}
    for yakuman, group, first, beyond in (
        ("daisangen", 3, HAKU, HAKU + 3),
        ("daisuushii", 4, EAST, HAKU),
    ):
        if (
            yakuman in ruleset.pao
            and first <= last.kind < beyond
            and sum(first <= kind < beyond for kind in kinds) == group
        ):
            return yakuman
    if (
        "suukantsu" in ruleset.pao
        and last.type == "daiminkan"
        and sum(meld.is_kan for meld in melds) == 4
        and (live_tile or not ruleset.pao_suukantsu_live_tile)
    ):
        return "suukantsu"
    return None


def pao_deltas(
    counts: Mapping[str, int],
    total: int,
    liable: Mapping[str, int],
    ruleset: Ruleset,
    *,
    winner: int,
    source: int | None,
    honba: int,
    bonus: int,
) -> Deltas | None:
    """Who pays a hand of `total` yakuman, each counted in `counts`; None when nobody is liable.

    Tsumo: the liable player pays the covered part alone; ron from a third player: half each; ron from the
    liable player: as any ron (M67, J-VI.1, T24, X10, X12). The covered part is the whole hand or the covered
    yakuman only (`pao_composite`); the rest is paid as usual. `honba` is their number, `bonus` points.
    """
    covered = {
        wind: count
        for yakuman, wind in liable.items()
        if yakuman in ruleset.pao and (count := counts.get(yakuman, 0))
    }
    if not covered or set(covered) == {source}:
        return None
    first = next(iter(covered))
    rest = max(total - sum(covered.values()), 0)
    if ruleset.pao_composite == "whole" or not ruleset.composite_yakuman:
        covered[first] += rest
        rest = 0
    if not ruleset.composite_yakuman:
        covered = {first: total}
    rates = honba_rates(ruleset)
    if source is not None:
        payer = source if ruleset.pao_honba_ron == "discarder" else first
        deltas = ron_deltas(_ron(rest, winner), winner, source, 0, bonus)
        deltas = added(deltas, ron_deltas(honba * rates.ron, winner, payer, 0, 0))
        for wind, count in covered.items():
            half = _ron(count, winner) // 2
            for one in (source, wind):
                deltas = added(deltas, ron_deltas(half, winner, one, 0, 0))
        return deltas
    share = price(rest * YAKUMAN, None, "yakuman", dealer=winner == 0, tsumo=True)
    if ruleset.pao_honba_tsumo == "shared":
        deltas = tsumo_deltas(share, winner, honba * rates.tsumo, bonus)
    else:
        deltas = tsumo_deltas(share, winner, 0, bonus)
        deltas = added(deltas, ron_deltas(3 * honba * rates.tsumo, winner, first, 0, 0))
    for wind, count in covered.items():
        deltas = added(deltas, ron_deltas(_ron(count, winner), winner, wind, 0, 0))
    return deltas


def _ron(count: int, winner: int) -> int:
    """What `count` yakuman are worth together, by ron as by tsumo."""
    return count * YAKUMAN * (6 if winner == 0 else 4)
