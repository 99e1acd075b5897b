"""Game records in the format of `../shared/data/README.md`: reading files, choosing the rules they were played by.

A record is one JSON object a line, plain or compressed (`.xz`, `.gz`); `FILE#ID` names one game of a file.
"""

from __future__ import annotations

import gzip
import json
import lzma
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, TextIO

from tablectl.engine.game.ending import order_of, standing
from tablectl.engine.game.events import Four
from tablectl.engine.rules import Ruleset, load

WINDS = "ESWN"
SITES = ("tenhou", "majsoul", "kobalab", "mjai", "mjai.app")
ERAS = ("since-2022", "2010-2022", "2009-2010", "until-2009")
"""Tenhou's values by their day, newest first: dates were dropped from the records."""


class RecordError(ValueError):
    """A file or record that cannot be read: stable `code`, where it stands, what to do."""

    def __init__(self, code: str, message: str, *, where: str = "", hint: str = "") -> None:
        super().__init__(f"{where + ': ' if where else ''}{message}{f' ({hint})' if hint else ''}")
        self.code = code
        self.message = message
        self.where = where
        self.hint = hint


@dataclass(frozen=True, slots=True)
class Record:
    """One game as it was written down; `raw` is the JSON object."""

    id: str
    where: str
    raw: Mapping[str, Any]

    @property
    def rounds(self) -> list[dict[str, Any]]:
        """The hands in order."""
        rounds: list[dict[str, Any]] = self.raw["rounds"]
        return rounds

    @property
    def site(self) -> str:
        """Where it was played."""
        return str(self.raw["rules"].get("site") or "tenhou")


def split_name(name: str) -> tuple[Path, str | None]:
    """`FILE#ID` → (file, id); a `#` that is part of an existing file's name stays."""
    if "#" in name and not Path(name).exists():
        file, _, wanted = name.rpartition("#")
        return Path(file), wanted
    return Path(name), None


FORM_ERRORS = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError)
"""What reading a record raises that is none: something missing, or of another kind than it should be."""


def no_record(record: Record, place: str, error: Exception) -> RecordError:
    """The error for a record whose form is wrong at `place`."""
    if isinstance(error, RecordError):
        return error
    what = str(error)
    if isinstance(error, KeyError):
        key = error.args[0]
        what = (
            "a null stands where a value must" if key is None else f"{key!r} is missing or unknown"
        )
    elif not isinstance(error, ValueError):
        what = f"a value is missing or of the wrong kind ({error})"
    return RecordError(
        "bad_record",
        f"{record.id}{place} is not in the form of a record: {what}",
        where=record.where,
    )


def read_records(
    name: str, on_error: Callable[[RecordError], None] | None = None
) -> Iterator[Record]:
    """The records of `FILE` or the one of `FILE#ID`; raises `RecordError`.

    With `on_error` a line that is no record goes there and reading goes on.
    """
    path, wanted = split_name(name)
    found = False
    try:
        with _open(path) as lines:
            for number, line in enumerate(lines, 1):
                if not line.strip():
                    continue
                try:
                    record = _record(line, f"{path}:{number}")
                except RecordError as error:
                    if wanted is not None:
                        continue  # another line than the one asked for
                    if on_error is None:
                        raise
                    on_error(error)
                    found = True
                    continue
                if wanted is None or record.id == wanted:
                    found = True
                    yield record
    except FileNotFoundError:
        raise RecordError(
            "no_such_file", "there is no such file", where=str(path), hint="give FILE or FILE#ID"
        ) from None
    except IsADirectoryError:
        raise RecordError(
            "no_such_file", "this is a folder", where=str(path), hint="name a file"
        ) from None
    except UnicodeDecodeError:
        raise RecordError(
            "unreadable",
            "it is no UTF-8 text",
            where=str(path),
            hint="name a .jsonl, .xz or .gz file",
        ) from None
    except (OSError, EOFError, lzma.LZMAError) as error:
        raise RecordError("unreadable", f"cannot be read: {error}", where=str(path)) from None
    if not found:
        if wanted is None:
            raise RecordError(
                "no_records",
                "the file holds no game",
                where=str(path),
                hint="a game is one JSON object on a line",
            )
        raise RecordError("no_such_game", f"no game {wanted!r} in it", where=str(path))


def _open(path: Path) -> TextIO:
    if path.suffix == ".xz":
        return lzma.open(path, "rt", encoding="utf-8-sig")
    if path.suffix == ".gz":
        return gzip.open(path, "rt", encoding="utf-8-sig")
    return path.open(encoding="utf-8-sig")


def _record(line: str, where: str) -> Record:
    try:
        raw = json.loads(line)
    except json.JSONDecodeError as error:
        raise RecordError(
            "bad_json",
            f"no JSON at character {error.pos + 1}: {error.msg}",
            where=where,
            hint="one game a line",
        ) from None
    except RecursionError:
        raise RecordError("bad_json", "brackets within brackets without end", where=where) from None
    if not isinstance(raw, dict):
        raise RecordError("bad_record", "a game is a JSON object", where=where)
    for key, kind in (("id", str), ("rules", dict), ("rounds", list)):
        if not isinstance(raw.get(key), kind):
            raise RecordError("bad_record", f"a game has {key!r} ({kind.__name__})", where=where)
    return Record(raw["id"], where, raw)


# ---- the rules it was played by -----------------------------------------------------------------------


def ruleset_of(record: Record) -> Ruleset:
    """The ruleset a record was played by: Tenhou's with the record's options, its site's and its day's values.

    A record of our own names its ruleset (`x_tablectl.ruleset`, resolved). Raises `RecordError`.
    """
    try:
        return _ruleset_of(record)
    except FORM_ERRORS as error:
        raise no_record(record, "", error) from error


def _ruleset_of(record: Record) -> Ruleset:
    players = record.raw["rules"].get("players")
    if players not in (4, None):
        raise RecordError(
            "three_player_game",
            f"{record.id} is a game of {players} players; only four play here",
            where=record.where,
        )
    own = record.raw.get("x_tablectl")
    if isinstance(own, Mapping) and isinstance(own.get("ruleset"), Mapping):
        return Ruleset.from_dict(own["ruleset"])
    site = record.site
    if site not in SITES:
        raise RecordError(
            "unknown_site",
            f"games of {site!r} are not known",
            where=record.where,
            hint=", ".join(SITES),
        )
    if not record.rounds:
        raise RecordError("bad_record", f"{record.id} has no rounds", where=record.where)
    return _rules_of_day(record) if site == "tenhou" else _load(record, site=_site_option(record))


def _site_option(record: Record) -> str:
    if record.site == "majsoul" and max(record.rounds[0]["start"]) >= 30000:
        return "majsoul-room"
    return record.site


@cache
def _tenhou(options: tuple[tuple[str, object], ...]) -> Ruleset:
    return load("tenhou", dict(options))


def _load(record: Record, **options: object) -> Ruleset:
    rules = record.raw["rules"]
    if rules.get("special"):
        raise RecordError(
            "special_rules",
            f"{record.id} was played with chips or other extras (special {rules['special']})",
            where=record.where,
            hint="only plain rules are compared",
        )
    first = record.rounds[0]
    total = sum(first["start"] or ()) + 1000 * (first["deposits"] or 0)
    if total != 100_000 and total % 4000 == 0 and total and "site" not in options:
        # A private room with another start.
        options["start_points"] = total // 4
    chosen = {
        "length": "tonpuusen" if rules.get("length") == "east" else "hanchan",
        "kuitan": rules.get("kuitan") is not False,
        "aka": rules.get("red") is not False,
        **options,
    }
    return _tenhou(tuple(chosen.items()))


def _rules_of_day(record: Record) -> Ruleset:
    """The values of the day a record was played on: logs tell no date, but points and last hands do."""
    days = [_load(record, era=era) for era in ERAS]
    if _played_on_after_tenpai(record, days[0]):
        days = [rules for rules in days if rules.tenpai_yame == "none"]
    final = record.raw.get("final")
    if not final or final.get("points") is None or final.get("scores") is None:
        return days[0]
    wanted = [round(1000 * point) for point in final["points"]]
    scores: Four = tuple(final["scores"])
    dealer = record.rounds[0]["dealer"] - record.rounds[0]["num"] + 1
    for rules in days:
        if list(standing(rules, scores, 0, dealer % 4).points) == wanted:
            return rules
    return days[0]


def _played_on_after_tenpai(record: Record, rules: Ruleset) -> bool:
    """Whether a dealer who led with enough was tenpai in a last hand and played another (before 2010-06, N6)."""
    last_wind = 0 if rules.length == "tonpuusen" else 1
    for round_, after in pairwise(record.rounds):
        wind = WINDS.index(round_["wind"])
        last = wind > last_wind or (wind == last_wind and round_["num"] == 4)
        drawn = round_["events"] and round_["events"][-1].get("reason") in ("exhaustive", "nagashi")
        if not (last and drawn) or (after["wind"], after["num"]) != (round_["wind"], round_["num"]):
            continue
        scores, dealer = after["start"], round_["dealer"]
        first_dealer = (dealer - round_["num"] + 1) % 4
        if order_of(scores, first_dealer)[0] == dealer and scores[dealer] >= rules.target_points:
            return True
    return False
