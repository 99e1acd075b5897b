"""The yaku as bits of one integer, and what each is worth.

Han by `rules.md` 1.9 (A48, M51-M52, J-XI, Y1-Y15). The thirty ordinary yaku are the low bits, so that a hand
without yakuman needs one machine digit; every yakuman lies above them.
"""

from __future__ import annotations

from typing import Final, NamedTuple


class Yaku(NamedTuple):
    """A yaku: its id, han closed and open (0 = not when open), the name people use, its citation key."""

    id: str
    closed: int
    open: int
    title: str
    japanese: str


ORDINARY: Final[tuple[Yaku, ...]] = (
    Yaku("riichi", 1, 0, "riichi", "立直"),
    Yaku("double_riichi", 2, 0, "double riichi", "ダブル立直"),
    Yaku("ippatsu", 1, 0, "ippatsu", "一発"),
    Yaku("menzen_tsumo", 1, 0, "menzen tsumo", "門前清自摸和"),
    Yaku("chankan", 1, 1, "chankan", "槍槓"),
    Yaku("rinshan", 1, 1, "rinshan kaihou", "嶺上開花"),
    Yaku("haitei", 1, 1, "haitei raoyue", "海底摸月"),
    Yaku("houtei", 1, 1, "houtei raoyui", "河底撈魚"),
    Yaku("pinfu", 1, 0, "pinfu", "平和"),
    Yaku("tanyao", 1, 1, "tanyao", "断幺九"),
    Yaku("iipeikou", 1, 0, "iipeikou", "一盃口"),
    Yaku("seat_wind", 1, 1, "seat wind", "自風"),
    Yaku("round_wind", 1, 1, "round wind", "場風"),
    Yaku("haku", 1, 1, "haku", "白"),
    Yaku("hatsu", 1, 1, "hatsu", "發"),
    Yaku("chun", 1, 1, "chun", "中"),
    Yaku("chiitoitsu", 2, 0, "chiitoitsu", "七対子"),
    Yaku("chanta", 2, 1, "chanta", "混全帯幺九"),
    Yaku("ittsu", 2, 1, "ittsuu", "一気通貫"),
    Yaku("sanshoku_doujun", 2, 1, "sanshoku doujun", "三色同順"),
    Yaku("sanshoku_doukou", 2, 2, "sanshoku doukou", "三色同刻"),
    Yaku("sankantsu", 2, 2, "sankantsu", "三槓子"),
    Yaku("toitoi", 2, 2, "toitoi", "対々和"),
    Yaku("sanankou", 2, 2, "sanankou", "三暗刻"),
    Yaku("shousangen", 2, 2, "shousangen", "小三元"),
    Yaku("honroutou", 2, 2, "honroutou", "混老頭"),
    Yaku("ryanpeikou", 3, 0, "ryanpeikou", "二盃口"),
    Yaku("junchan", 3, 2, "junchan", "純全帯幺九"),
    Yaku("honitsu", 3, 2, "honitsu", "混一色"),
    Yaku("chinitsu", 6, 5, "chinitsu", "清一色"),
)

YAKUMAN: Final[tuple[Yaku, ...]] = (
    Yaku("tenhou", 13, 0, "tenhou", "天和"),
    Yaku("chiihou", 13, 0, "chiihou", "地和"),
    Yaku("renhou", 13, 0, "renhou", "人和"),
    Yaku("daisangen", 13, 13, "daisangen", "大三元"),
    Yaku("suuankou", 13, 0, "suuankou", "四暗刻"),
    Yaku("suuankou_tanki", 13, 0, "suuankou tanki", "四暗刻単騎"),
    Yaku("tsuuiisou", 13, 13, "tsuuiisou", "字一色"),
    Yaku("ryuuiisou", 13, 13, "ryuuiisou", "緑一色"),
    Yaku("chinroutou", 13, 13, "chinroutou", "清老頭"),
    Yaku("chuuren", 13, 0, "chuuren poutou", "九蓮宝燈"),
    Yaku("junsei_chuuren", 13, 0, "junsei chuuren poutou", "純正九蓮宝燈"),
    Yaku("kokushi", 13, 0, "kokushi musou", "国士無双"),
    Yaku("kokushi_13", 13, 0, "kokushi 13-wait", "国士無双十三面"),
    Yaku("daisuushii", 13, 13, "daisuushii", "大四喜"),
    Yaku("shousuushii", 13, 13, "shousuushii", "小四喜"),
    Yaku("suukantsu", 13, 13, "suukantsu", "四槓子"),
)

ALL: Final = ORDINARY + YAKUMAN
BY_ID: Final[dict[str, Yaku]] = {yaku.id: yaku for yaku in ALL}
BIT: Final[dict[str, int]] = {yaku.id: 1 << place for place, yaku in enumerate(ALL)}
ORDINARY_BITS: Final = (1 << len(ORDINARY)) - 1

RIICHI: Final = BIT["riichi"]
DOUBLE_RIICHI: Final = BIT["double_riichi"]
IPPATSU: Final = BIT["ippatsu"]
MENZEN_TSUMO: Final = BIT["menzen_tsumo"]
CHANKAN: Final = BIT["chankan"]
RINSHAN: Final = BIT["rinshan"]
HAITEI: Final = BIT["haitei"]
HOUTEI: Final = BIT["houtei"]
PINFU: Final = BIT["pinfu"]
TANYAO: Final = BIT["tanyao"]
IIPEIKOU: Final = BIT["iipeikou"]
SEAT_WIND: Final = BIT["seat_wind"]
ROUND_WIND: Final = BIT["round_wind"]
DRAGONS: Final = (BIT["haku"], BIT["hatsu"], BIT["chun"])
CHIITOITSU: Final = BIT["chiitoitsu"]
CHANTA: Final = BIT["chanta"]
ITTSU: Final = BIT["ittsu"]
SANSHOKU_DOUJUN: Final = BIT["sanshoku_doujun"]
SANSHOKU_DOUKOU: Final = BIT["sanshoku_doukou"]
SANKANTSU: Final = BIT["sankantsu"]
TOITOI: Final = BIT["toitoi"]
SANANKOU: Final = BIT["sanankou"]
SHOUSANGEN: Final = BIT["shousangen"]
HONROUTOU: Final = BIT["honroutou"]
RYANPEIKOU: Final = BIT["ryanpeikou"]
JUNCHAN: Final = BIT["junchan"]
HONITSU: Final = BIT["honitsu"]
CHINITSU: Final = BIT["chinitsu"]
TENHOU: Final = BIT["tenhou"]
CHIIHOU: Final = BIT["chiihou"]
RENHOU: Final = BIT["renhou"]
DAISANGEN: Final = BIT["daisangen"]
SUUANKOU: Final = BIT["suuankou"]
SUUANKOU_TANKI: Final = BIT["suuankou_tanki"]
TSUUIISOU: Final = BIT["tsuuiisou"]
RYUUIISOU: Final = BIT["ryuuiisou"]
CHINROUTOU: Final = BIT["chinroutou"]
CHUUREN: Final = BIT["chuuren"]
JUNSEI_CHUUREN: Final = BIT["junsei_chuuren"]
KOKUSHI: Final = BIT["kokushi"]
KOKUSHI_13: Final = BIT["kokushi_13"]
DAISUUSHII: Final = BIT["daisuushii"]
SHOUSUUSHII: Final = BIT["shousuushii"]
SUUKANTSU: Final = BIT["suukantsu"]
