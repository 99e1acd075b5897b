"""One rule file: reading it, and saying at which line something is wrong."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tablectl.engine.rules.codec import check, infraction_keys, unknown_value
from tablectl.engine.rules.errors import RuleError, nearest
from tablectl.engine.rules.topics import COMMON_RULES, TOPICS, topic_of
from tablectl.textfile import NotTextError, read_text

_HEAD = ("id", "extends", "title", "title_ja", "text", "refs", "options", "infractions")
_ID = re.compile(r"[a-z0-9-]{1,32}")
_TABLE = re.compile(r"\s*\[+\s*([^\[\]]+?)\s*\]+\s*(?:#.*)?$")


@dataclass(frozen=True, slots=True)
class Entry:
    """A value as a file gives it, with its citation ('' when the file gives none)."""

    value: Any
    ref: str


@dataclass(frozen=True, slots=True)
class Option:
    """An option a ruleset declares: each choice sets values; `ref` says who leaves it open."""

    name: str
    ref: str
    choices: Mapping[str, Mapping[str, Entry]]


@dataclass(frozen=True, slots=True)
class RuleFile:
    """A rule file as read: only what it says itself, nothing inherited."""

    path: str
    id: str
    extends: str
    title: str
    title_ja: str
    text: str
    values: Mapping[str, Entry]
    refs: Mapping[str, str]
    options: Mapping[str, Option]

    def line(self, *keys: str) -> int:
        """Line of the first of the keys in the file (0 when the file cannot be read again)."""
        try:
            return find_line(read_text(Path(self.path)), *keys)
        except (OSError, NotTextError):
            return 0


def find_line(text: str, *keys: str) -> int:
    """1-based line on which the last of nested keys is set; falls back to the nearest outer key."""
    path = [k for k in keys if k]
    table: list[str] = []
    best, depth = 0, 0
    for number, line in enumerate(text.splitlines(), start=1):
        head = _TABLE.match(line)
        if head:
            table = [part.strip().strip("\"'") for part in head[1].split(".")]
            here = table
        else:
            key = re.match(r"""\s*["']?([\w.-]+)["']?\s*=""", line)
            here = [*table, *key[1].split(".")] if key else []
        reached = sum(1 for k in path if k in here or _inline(line, k))
        if path and here and reached > depth and (path[0] in here):
            best, depth = number, reached
    return best


def _inline(line: str, key: str) -> bool:
    return re.search(rf"""[{{,]\s*["']?{re.escape(key)}["']?\s*=""", line) is not None


def read(path: Path, *, shipped: bool) -> RuleFile:
    """Parse and check one file; raises `RuleError` with file, line and the nearest name."""
    try:
        text = read_text(path)
    except OSError as error:
        raise RuleError(
            "unreadable",
            f"cannot read this rule file: {error.strerror}",
            file=str(path),
            value=str(path),
            hint="Name a file that is there.",
        ) from None
    except NotTextError as error:
        raise RuleError(
            "unreadable",
            f"cannot read this rule file: {error.message}",
            file=str(path),
            line=error.line,
            value=str(path),
            hint=f"{error.hint[:1].upper()}{error.hint[1:]}.",
        ) from None
    import tomllib

    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        at = re.search(r"line (\d+)", str(error))
        line = int(at[1]) if at else len(text.splitlines())
        message = re.sub(r" \(at .*\)$", "", str(error))
        raise RuleError(
            "bad_toml", f"this is no TOML: {message}", file=str(path), line=line
        ) from None
    return _Reader(path, text, shipped).file(data)


class _Reader:
    def __init__(self, path: Path, text: str, shipped: bool) -> None:
        self.path = str(path)
        self.stem = path.stem
        self.text = text
        self.shipped = shipped

    def at(self, error: RuleError, *keys: str) -> RuleError:
        return error.at(self.path, find_line(self.text, *keys))

    def file(self, data: dict[str, Any]) -> RuleFile:
        words = {
            key: self._text(data, key, default)
            for key, default in (
                ("id", self.stem),
                ("extends", ""),
                ("title", ""),
                ("title_ja", ""),
                ("text", ""),
            )
        }
        if not _ID.fullmatch(words["id"]):
            raise self.at(
                RuleError(
                    "impossible_value",
                    f"id {words['id']!r} is no ruleset id",
                    key="id",
                    value=words["id"],
                    hint="Use small letters, digits and '-', at most 32.",
                ),
                "id",
            )
        values: dict[str, Entry] = {}
        for key, raw in data.items():
            if key in TOPICS or key == "infractions":
                self._topic(key, raw, values)
            elif key not in _HEAD:
                self._put(values, key, raw, key)
        return RuleFile(
            path=self.path,
            values=values,
            refs=self._refs(data.get("refs", {})),
            options=self._options(data.get("options", {})),
            **words,
        )

    def _text(self, data: dict[str, Any], key: str, default: str) -> str:
        raw = data.get(key, default)
        if not isinstance(raw, str):
            raise self.at(RuleError("wrong_type", f"{key} is text", key=key, value=raw), key)
        return raw

    def _topic(self, topic: str, raw: Any, values: dict[str, Entry]) -> None:
        if not isinstance(raw, dict):
            # a value may have the name of its topic (pao)
            if topic in TOPICS[topic][1]:
                return self._put(values, topic, raw, topic)
            raise self.at(RuleError("wrong_type", f"{topic} is a table", key=topic), topic)
        if topic in TOPICS.get(topic, ("", {}))[1] and "value" in raw:
            return self._put(values, topic, raw, topic)
        for key, value in raw.items():
            entry = self._entry(key, value, topic, key)
            if topic_of(key) != topic:
                raise self.at(
                    RuleError(
                        "unknown_value",
                        f"{key!r} does not belong to [{topic}]",
                        key=key,
                        nearest=topic_of(key),
                        hint="Move it to that table, or to the top of the file.",
                    ),
                    topic,
                    key,
                )
            values[key] = entry
        return None

    def _put(self, values: dict[str, Entry], key: str, raw: Any, *place: str) -> None:
        values[key] = self._entry(key, raw, *place)

    def _entry(self, key: str, raw: Any, *place: str) -> Entry:
        ref = ""
        try:
            if isinstance(raw, dict):
                raw, ref = self._unfold(key, raw)
            value = check(key, raw)
        except RuleError as error:
            if error.code == "unknown_value" and not error.nearest and key == error.key:
                error = self._unknown_table(key) or error
            raise self.at(error, *place) from None
        if self.shipped and not ref:
            raise self.at(RuleError("missing_citation", f"{key} cites nothing", key=key), *place)
        return Entry(value, ref)

    def _unfold(self, key: str, raw: dict[str, Any]) -> tuple[Any, str]:
        infraction = key in infraction_keys()
        allowed = ("value", "ref", "note", *(("other", "when") if infraction else ()))
        if key not in infraction_keys() and topic_of(key) == "infractions":
            raise self._unknown_table(key) or unknown_value(key)
        for word in raw:
            if word not in allowed:
                raise RuleError(
                    "unknown_value",
                    f"{key} has no {word!r}",
                    key=key,
                    value=raw,
                    nearest=nearest(word, allowed),
                )
        if "value" not in raw:
            raise RuleError("missing_value", f"{key} has no 'value'", key=key, value=raw)
        ref = raw.get("ref", "")
        if not isinstance(ref, str):
            raise RuleError("wrong_type", f"the ref of {key} is text", key=key, value=ref)
        if not infraction:
            return raw["value"], ref
        ruling = {"sanction": raw["value"]}
        return ruling | {k: raw[k] for k in ("other", "when") if k in raw}, ref

    @staticmethod
    def _unknown_table(key: str) -> RuleError | None:
        near = nearest(key, [*TOPICS, *_HEAD])
        if not near:
            return None
        return RuleError("unknown_value", f"a rule file has no {key!r}", key=key, nearest=near)

    def _refs(self, raw: Any) -> dict[str, str]:
        if not isinstance(raw, dict):
            raise self.at(RuleError("wrong_type", "refs is a table", key="refs"), "refs")
        for key, ref in raw.items():
            name = key.partition(".")[0]
            if not isinstance(ref, str):
                error = RuleError("wrong_type", f"the ref of {key} is text", key=key, value=ref)
                raise self.at(error, "refs", key)
            if name not in COMMON_RULES and words_missing(name):
                near = nearest(name, [*COMMON_RULES, *value_words()])
                raise self.at(
                    RuleError(
                        "unknown_value", f"there is no rule {key!r} to cite", key=key, nearest=near
                    ),
                    "refs",
                    key,
                )
        return dict(raw)

    def _options(self, raw: Any) -> dict[str, Option]:
        if not isinstance(raw, dict):
            raise self.at(RuleError("wrong_type", "options is a table", key="options"), "options")
        return {name: self._option(name, body) for name, body in raw.items()}

    def _option(self, name: str, body: Any) -> Option:
        if not isinstance(body, dict) or not isinstance(body.get("choices"), dict):
            raise self.at(
                RuleError(
                    "wrong_type",
                    f"option {name} is a table with 'ref' and a table 'choices'",
                    key=name,
                ),
                "options",
                name,
            )
        choices: dict[str, dict[str, Entry]] = {}
        for choice, values in body["choices"].items():
            if not isinstance(values, dict):
                error = RuleError("wrong_type", f"choice {choice} of {name} is a table", key=name)
                raise self.at(error, "options", name, choice)
            choices[choice] = {
                key: self._entry(key, value, "options", name, choice, key)
                for key, value in values.items()
            }
        return Option(name, str(body.get("ref", "")), choices)


def value_words() -> list[str]:
    """Every name that may be cited besides the common rules."""
    return [*(n for _, values in TOPICS.values() for n in values), *infraction_keys()]


def words_missing(name: str) -> bool:
    """True when a name is neither a value nor P1 … P50."""
    return name not in value_words()
