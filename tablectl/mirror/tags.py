"""Which tag is soldered into which tile: the file `tiles.toml` of a table.

    format = 1

    [set.blue]
    E0040150A1B2C301 = "1m"

One table per set of tiles; key = tag in hex digits, value = tile in two characters.
"""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from tablectl.engine.tiles import BY_NAME, KIND, NAMES
from tablectl.textfile import NotTextError, read_text

SET_SIZE = 136
COPIES = 4


class TileFileError(Exception):
    """A tile file that cannot be used; `code`, the value at fault and a hint."""

    def __init__(
        self, code: str, path: Path, message: str, hint: str, value: object = None
    ) -> None:
        super().__init__(f"{path}: {message} ({hint})")
        self.code = code
        self.path = path
        self.message = message
        self.hint = hint
        self.value = value


class Engraved(NamedTuple):
    """What a tag stands for."""

    tile: int
    """Tile of the engine, 0–36."""
    set_name: str


@dataclass(frozen=True, slots=True)
class TagMap:
    """Tag → tile, of both sets of a table; tags that are not in it belong to no set."""

    engraved: Mapping[int, Engraved] = field(default_factory=dict)

    def tile(self, tag: int) -> int | None:
        """Tile of a tag, None for a strange one."""
        known = self.engraved.get(tag)
        return None if known is None else known.tile

    def set_name(self, tag: int) -> str | None:
        """Set of a tag, None for a strange one."""
        known = self.engraved.get(tag)
        return None if known is None else known.set_name


def load_tags(path: Path) -> TagMap:
    """Read a tile file; TileFileError names what is wrong with it."""
    try:
        data = tomllib.loads(read_text(path))
    except OSError as error:
        raise TileFileError(
            "tiles_unreadable",
            path,
            f"cannot be read: {error.strerror}",
            "name the table's tile file in 'tiles', or leave it out to play at level score",
        ) from error
    except NotTextError as error:
        raise TileFileError(
            "tiles_syntax", path, f"line {error.line}: {error.message}", error.hint
        ) from error
    except tomllib.TOMLDecodeError as error:
        raise TileFileError(
            "tiles_syntax", path, f"not TOML: {error}", 'write lines such as E00401… = "5m"'
        ) from error
    if data.get("format") != 1:
        raise TileFileError(
            "tiles_format",
            path,
            f"format {data.get('format')!r} is not known",
            "this tablectl reads format = 1",
            data.get("format"),
        )
    sets = data.get("set")
    if not isinstance(sets, dict) or not sets:
        raise TileFileError("tiles_no_set", path, "no set in it", "add a table [set.NAME]")
    engraved: dict[int, Engraved] = {}
    for name, lines in sets.items():
        _read_set(path, name, lines, engraved)
    return TagMap(engraved)


def _read_set(path: Path, name: str, lines: Any, engraved: dict[int, Engraved]) -> None:
    if not isinstance(lines, dict):
        raise TileFileError("tiles_no_set", path, f"set {name!r} is no table", "write [set.NAME]")
    kinds: Counter[int] = Counter()
    for key, text in lines.items():
        tile = BY_NAME.get(text) if isinstance(text, str) else None
        if tile is None:
            raise TileFileError(
                "tiles_unknown_tile",
                path,
                f"set {name!r}: {key} = {text!r} names no tile",
                "write 1m-9m 1p-9p 1s-9s 1z-7z 0m 0p 0s",
                text,
            )
        try:
            tag = int(key, 16)
        except ValueError:
            raise TileFileError(
                "tiles_bad_tag", path, f"set {name!r}: {key!r} is no tag", "write hex digits", key
            ) from None
        if tag in engraved:
            raise TileFileError(
                "tiles_tag_twice",
                path,
                f"tag {key} stands twice, last in set {name!r}",
                "each tag is in one tile only; read that tile again",
                key,
            )
        engraved[tag] = Engraved(tile, name)
        kinds[KIND[tile]] += 1
    for kind, count in kinds.items():
        if count > COPIES:
            raise TileFileError(
                "tiles_five_copies",
                path,
                f"set {name!r} has {count} tiles {NAMES[kind]}",
                "a set holds four of each kind; read the extra one again",
                NAMES[kind],
            )
    if sum(kinds.values()) > SET_SIZE:  # pragma: no cover - four of 34 kinds are 136
        raise TileFileError("tiles_too_many", path, f"set {name!r} is too large", "136 at most")
