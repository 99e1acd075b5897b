"""What happened around a win, as bits of one integer, and what cannot have happened together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from tablectl.engine.errors import SituationError
from tablectl.engine.scoring.melds import Meld

RIICHI_DECLARED: Final = 1
DOUBLE_DECLARED: Final = 2
ON_IPPATSU: Final = 4
ON_RINSHAN: Final = 8
ON_CHANKAN: Final = 16
ON_HAITEI: Final = 32
ON_HOUTEI: Final = 64
ON_FIRST_TURN: Final = 128
UNCLEAR: Final = 256
"""The drawn tile was not shown apart (J-VIII.2)."""
BY_TSUMO: Final = 512
OPEN_HAND: Final = 1024
BY_DEALER: Final = 2048
IN_RIICHI: Final = RIICHI_DECLARED | DOUBLE_DECLARED
SPECIAL: Final = 2 * UNCLEAR - ON_IPPATSU
"""All of the circumstances that `FLAGS` names."""

FLAGS: Final[dict[str, int]] = {
    "ippatsu": ON_IPPATSU,
    "rinshan": ON_RINSHAN,
    "chankan": ON_CHANKAN,
    "haitei": ON_HAITEI,
    "houtei": ON_HOUTEI,
    "first_turn": ON_FIRST_TURN,
    "unclear_tsumo": UNCLEAR,
}
"""What may have happened, by name."""

# Which pairs of circumstances exclude each other: (code, one, other, why).
_EXCLUSIVE: Final = (
    ("houtei_with_tsumo", ON_HOUTEI, BY_TSUMO, "houtei is a ron; the last tile drawn is haitei"),
    ("chankan_with_tsumo", ON_CHANKAN, BY_TSUMO, "chankan is a ron on a tile added to a pon"),
    (
        "haitei_with_rinshan",
        ON_HAITEI,
        ON_RINSHAN,
        "a replacement tile is not the last tile of the wall",
    ),
    ("houtei_with_chankan", ON_HOUTEI, ON_CHANKAN, "a kan tile is not the last discard"),
    ("ippatsu_with_rinshan", ON_IPPATSU, ON_RINSHAN, "the winner's own kan ends ippatsu"),
    (
        "first_turn_with_chankan",
        ON_FIRST_TURN,
        ON_CHANKAN,
        "a kan needs a call, which ends the first turn",
    ),
    ("first_turn_with_haitei", ON_FIRST_TURN, ON_HAITEI, "the first turn is long over"),
    ("first_turn_with_houtei", ON_FIRST_TURN, ON_HOUTEI, "the first turn is long over"),
)

# What one needs of the other: (code, one, the other, why).
_NEEDED: Final = (
    ("ippatsu_without_riichi", ON_IPPATSU, IN_RIICHI, "ippatsu needs riichi"),
    ("rinshan_with_ron", ON_RINSHAN, BY_TSUMO, "rinshan is a win on one's own replacement tile"),
    (
        "haitei_with_ron",
        ON_HAITEI,
        BY_TSUMO,
        "haitei is the last tile drawn; a ron on the last one is houtei",
    ),
    ("unclear_tsumo_with_ron", UNCLEAR, BY_TSUMO, "the tile of a ron is always seen"),
)


def bits_of(flags: Iterable[str]) -> int:
    """The bits of flags by name; raises `SituationError` unknown_flag."""
    bits = 0
    for name in flags:
        bit = FLAGS.get(name)
        if bit is None:
            raise SituationError(
                "unknown_flag",
                f"{name!r} is no flag",
                field="flags",
                value=name,
                hint=", ".join(FLAGS),
            )
        bits |= bit
    return bits


def check_circumstances(bits: int, melds: Sequence[Meld], held: int) -> None:
    """Flags that cannot have happened, each with its own code; raises `SituationError`.

    `held` is how many copies of the winning tile the winner has, that tile included.
    """
    for code, flag, against, why in _EXCLUSIVE:
        if bits & flag and bits & against:
            raise _cannot(code, why)
    for code, flag, needed, why in _NEEDED:
        if bits & flag and not bits & needed:
            raise _cannot(code, why)
    if bits & ON_RINSHAN and not any(meld.is_kan for meld in melds):
        raise _cannot("rinshan_without_kan", "no kan, no replacement tile")
    if bits & ON_CHANKAN and held > 1:
        raise _cannot("chankan_tile_held", "the player of the kan holds the other three copies")
    if bits & ON_FIRST_TURN:
        if melds:
            raise _cannot("first_turn_with_meld", "a call or kan ends the first turn (A48, Y9)")
        if bits & IN_RIICHI and bits & BY_TSUMO:
            raise _cannot("first_turn_with_riichi", "riichi comes with the own first discard")


def _cannot(code: str, why: str) -> SituationError:
    return SituationError(code, why, field="flags", value=code.partition("_with")[0])
