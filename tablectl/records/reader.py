"""Game records in the format of `../shared/data/README.md`: reading files, choosing the rules they were played by.

A record is one JSON object a line, plain or compressed (`.xz`, `.gz`); `FILE#ID` names one game of a file.
"""

from __future__ import annotations

import gzip
import json
import lzma
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TextIO

from tablectl.engine.game.ending import standing
from tablectl.engine.game.events import Four
from tablectl.engine.rules import Ruleset, load

WINDS = "ESWN"
SITES = ("tenhou", "majsoul", "kobalab", "mjai", "mjai.app")
ERAS = ("since-2022", "2010-2022", "until-2009")
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
        return str(self.raw["rules"].get("site", "tenhou"))


def split_name(name: str) -> tuple[Path, str | None]:
    """`FILE#ID` → (file, id); a `#` that is part of an existing file's name stays."""
    if "#" in name and not Path(name).exists():
        file, _, wanted = name.rpartition("#")
        return Path(file), wanted
    return Path(name), None


def read_records(name: str) -> Iterator[Record]:
    """The records of `FILE` or the one of `FILE#ID`; raises `RecordError`."""
    path, wanted = split_name(name)
    found = False
    try:
        with _open(path) as lines:
            for number, line in enumerate(lines, 1):
                if not line.strip():
                    continue
                record = _record(line, f"{path}:{number}")
                if wanted is None or record.id == wanted:
                    found = True
                    yield record
    except FileNotFoundError:
        raise RecordError("no_such_file", "there is no such file", where=str(path)) from None
    except IsADirectoryError:
        raise RecordError(
            "no_such_file", "this is a folder", where=str(path), hint="name a file"
        ) from None
    except (OSError, EOFError, lzma.LZMAError, UnicodeDecodeError) as error:
        raise RecordError("unreadable", f"cannot be read: {error}", where=str(path)) from None
    if not found:
        if wanted is None:
            raise RecordError("no_records", "the file holds no game", where=str(path))
        raise RecordError("no_such_game", f"no game {wanted!r} in it", where=str(path))


def _open(path: Path) -> TextIO:
    if path.suffix == ".xz":
        return lzma.open(path, "rt", encoding="utf-8")
    if path.suffix == ".gz":
        return gzip.open(path, "rt", encoding="utf-8")
    return path.open(encoding="utf-8")


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
    if not isinstance(raw, dict):
        raise RecordError("bad_record", "a game is a JSON object", where=where)
    for key, kind in (("id", str), ("rules", dict), ("rounds", list)):
        if not isinstance(raw.get(key), kind):
            raise RecordError("bad_record", f"a game has {key!r} ({kind.__name__})", where=where)
    if raw["rules"].get("players", 4) != 4:
        raise RecordError(
            "three_player_game", "three-player games are not played here", where=where
        )
    return Record(raw["id"], where, raw)


# ---- the rules it was played by -----------------------------------------------------------------------


def ruleset_of(record: Record) -> Ruleset:
    """The ruleset a record was played by: Tenhou's with the record's options, its site's and its day's values.

    A record of our own names its ruleset (`x_tablectl.ruleset`, resolved). Raises `RecordError`.
    """
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
    return _rules_of_day(record) if site == "tenhou" else _load(record, site=_site_option(record))


def _site_option(record: Record) -> str:
    if record.site == "majsoul" and record.rounds and max(record.rounds[0]["start"]) >= 30000:
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
    if record.rounds:
        first = record.rounds[0]
        total = sum(first["start"]) + 1000 * first["deposits"]
        if total != 100_000 and "site" not in options:
            # A private room with another start.
            options["start_points"] = total // 4
    chosen = {
        "length": "hanchan" if rules.get("length") == "south" else "tonpuusen",
        "kuitan": bool(rules.get("kuitan", True)),
        "aka": bool(rules.get("red", True)),
        **options,
    }
    return _tenhou(tuple(chosen.items()))


def _rules_of_day(record: Record) -> Ruleset:
    """The values of the day whose final points the record has: logs tell no date, but their points do."""
    final = record.raw.get("final")
    newest = _load(record, era=ERAS[0])
    if not final or final.get("points") is None:
        return newest
    wanted = [round(1000 * point) for point in final["points"]]
    scores: Four = tuple(final["scores"])
    dealer = record.rounds[0]["dealer"] - record.rounds[0]["num"] + 1
    for era in ERAS:
        rules = _load(record, era=era)
        if list(standing(rules, scores, 0, dealer % 4).points) == wanted:
            return rules
    return newest
