"""Whether a player in riichi may make an ankan (`rules.md` 83-84)."""

from __future__ import annotations

from tablectl.engine.rules.model import RiichiAnkan
from tablectl.engine.scoring.special import NINE_GATES
from tablectl.engine.scoring.suits import TRIPLET_BIT, Key, copies, grown, remove, tables
from tablectl.engine.scoring.waits import waits
from tablectl.engine.tiles import KIND, kinds_in


def riichi_ankan_allowed(key: Key, drawn: int, rule: RiichiAnkan, kan: int | None = None) -> bool:
    """Whether the ankan of tile `drawn` is allowed to a hand `key` (3n+1 tiles, before the draw).

    Only the drawn tile may be used (no okuri-kan: A43.11.1, T32): a `kan` of another kind is refused. Levels:
    `none` never (M51(10)); `waits` the waits must stay (T32); `strict` also every way to read each winning
    hand must have the three tiles as a triplet, so that neither composition nor yaku change (A43.11, J-II.3).
    Yaku of the kan itself do not count as a change (3-S11).
    """
    kind = KIND[drawn]
    if rule == "none" or copies(key, kind) != 3 or (kan is not None and KIND[kan] != kind):
        return False
    before = waits(key)
    if not before or waits(remove(key, kind, 3)) != before:
        return False
    return rule == "waits" or _only_a_triplet(key, kind, before)


def _only_a_triplet(key: Key, kind: int, waiting: int) -> bool:
    suit, rank = divmod(kind, 9)
    if suit == 3:
        return True
    bit = 1 << TRIPLET_BIT + rank
    for wait in kinds_in(waiting):
        whole = grown(key, wait)[suit]
        if whole in NINE_GATES:
            # Chuuren would be lost: it has no kan (Y13).
            return False
        if not all(masks & bit for masks, _ in tables().numbers.get(whole, ())):
            return False
    return True
