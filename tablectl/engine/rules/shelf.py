"""The rulesets that are shipped, and rule files of a house: resolving `extends` and options."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from tablectl.engine.rules.codec import HANGS_ON, build, check, known_keys
from tablectl.engine.rules.errors import RuleError, nearest
from tablectl.engine.rules.model import Ruleset
from tablectl.engine.rules.toml import Option, RuleFile, read

DATA = Path(__file__).parent / "data"
BASE = "base"

_IDS = (
    "saikouisen",
    "saikouisen-classic",
    "mu",
    "jpml-a",
    "jpml-a-2022",
    "jpml-a-2023",
    "tenhou",
    "m-league",
    "wrc-2025",
    "ema-2016",
)


def ids() -> tuple[str, ...]:
    """Ids of the shipped rulesets (without `base`, which is no game anybody plays)."""
    return _IDS


def load(ruleset_id: str, options: Mapping[str, Any] | None = None) -> Ruleset:
    """A shipped ruleset; `options` are the ruleset's own or any rule value by name.

    Raises `RuleError` with codes unknown_ruleset, unknown_option, wrong_type, impossible_value.
    """
    if ruleset_id not in _IDS and ruleset_id != BASE:
        near = nearest(ruleset_id, _IDS)
        raise RuleError(
            "unknown_ruleset",
            f"there is no ruleset {ruleset_id!r}",
            key="ruleset",
            value=ruleset_id,
            nearest=near,
            hint="'tablectl rules list' shows them." if not near else "",
        )
    if not options:
        return _plain(ruleset_id)
    return resolve(_shipped_chain(ruleset_id), options)


def load_file(path: str | Path, options: Mapping[str, Any] | None = None) -> Ruleset:
    """A house-rule file that extends a shipped ruleset or another file; raises `RuleError`."""
    return resolve(chain_of(Path(path)), options or {})


@cache
def _plain(ruleset_id: str) -> Ruleset:
    return resolve(_shipped_chain(ruleset_id), {})


@cache
def _shipped_chain(ruleset_id: str) -> tuple[RuleFile, ...]:
    file = read(DATA / f"{ruleset_id}.toml", shipped=True)
    return (*(_shipped_chain(file.extends) if file.extends else ()), file)


def chain_of(path: Path) -> tuple[RuleFile, ...]:
    """The files a house-rule file builds on, oldest first, itself last."""
    own: list[RuleFile] = []
    seen: list[Path] = []
    while True:
        file = read(path, shipped=False)
        if path.resolve() in seen:
            names = " → ".join(p.name for p in [*seen, path])
            raise RuleError(
                "cyclic_extends",
                f"the files extend each other in a circle: {names}",
                key="extends",
                value=path.name,
                file=own[-1].path,
                line=own[-1].line("extends"),
                hint="Let one of them extend a shipped ruleset.",
            )
        seen.append(path.resolve())
        _check_head(file)
        own.append(file)
        if not file.extends.endswith(".toml"):
            return (*_shipped_chain(file.extends), *reversed(own))
        path = path.parent / file.extends
        if not path.is_file():
            raise RuleError(
                "bad_extends",
                f"the file it extends, {file.extends!r}, is not there",
                key="extends",
                value=file.extends,
                file=file.path,
                line=file.line("extends"),
            )


def _check_head(file: RuleFile) -> None:
    if file.id in _IDS or file.id == BASE:
        raise RuleError(
            "impossible_value",
            f"{file.id!r} is the id of a shipped ruleset",
            key="id",
            value=file.id,
            file=file.path,
            line=file.line("id"),
            hint="Give the house rules an id of their own.",
        )
    if file.extends.endswith(".toml") or file.extends in (*_IDS, BASE):
        return
    near = nearest(file.extends, _IDS)
    raise RuleError(
        "bad_extends",
        f"extends = {file.extends!r} names no ruleset" if file.extends else "'extends' is missing",
        key="extends",
        value=file.extends,
        file=file.path,
        line=file.line("extends") or 1,
        nearest=near,
        hint="" if near else "Name a shipped ruleset (see 'tablectl rules list') or a .toml file.",
    )


def declared_options(chain: tuple[RuleFile, ...]) -> dict[str, Option]:
    """Options the files declare, the last word winning."""
    found: dict[str, Option] = {}
    for file in chain:
        found |= file.options
    return found


def resolve(chain: tuple[RuleFile, ...], options: Mapping[str, Any]) -> Ruleset:
    """One ruleset from files, oldest first, with options on top; raises `RuleError`."""
    last = chain[-1]
    values: dict[str, Any] = {}
    refs: dict[str, str] = {}
    for file in chain:
        shipped = Path(file.path).parent == DATA
        for key, entry in file.values.items():
            values[key] = entry.value
            refs[key] = entry.ref or ("" if shipped else f"house rule {file.id}")
        refs |= file.refs
    chosen = _apply(declared_options(chain), options, values, refs)
    for key in known_keys():
        if key not in values:
            raise RuleError("missing_value", f"{key} has no value", key=key, file=last.path)
    try:
        return build(last.id, chosen, values, MappingProxyType(refs))
    except RuleError as error:
        lines = (last.line(key) for key in (error.key, *HANGS_ON.get(error.key, ())))
        raise error.at(last.path, next(filter(None, lines), 0)) from None


def _apply(
    declared: Mapping[str, Option],
    options: Mapping[str, Any],
    values: dict[str, Any],
    refs: dict[str, str],
) -> tuple[tuple[str, str], ...]:
    """Put options over the values: the ruleset's own first, then single values by name."""
    chosen: list[tuple[str, str]] = []
    for name, raw in options.items():
        option = declared.get(name)
        if option is None:
            continue
        word = str(raw).lower() if isinstance(raw, bool) else str(raw)
        choice = option.choices.get(word)
        if choice is None:
            raise RuleError(
                "impossible_value",
                f"option {name} = {raw!r}: possible are " + ", ".join(option.choices),
                key=name,
                value=raw,
                nearest=nearest(word, option.choices),
            )
        for key, entry in choice.items():
            values[key] = entry.value
            refs[key] = entry.ref or option.ref or f"option {name}"
        chosen.append((name, word))
    for name, raw in options.items():
        if name in declared:
            continue
        values[name] = _by_name(name, raw, declared)
        refs[name] = f"option {name}"
        chosen.append((name, str(raw).lower() if isinstance(raw, bool) else str(raw)))
    return tuple(sorted(chosen))


def _by_name(name: str, raw: Any, declared: Mapping[str, Option]) -> Any:
    if name not in known_keys():
        near = nearest(str(name), [*declared, *known_keys()])
        raise RuleError(
            "unknown_option",
            f"there is no option or rule value {name!r}",
            key=str(name),
            value=raw,
            nearest=near,
        )
    return check(name, raw)


@cache
def base_values() -> Mapping[str, Any]:
    """Every value of `base`: what an older description of a ruleset did not have yet."""
    return MappingProxyType({k: e.value for f in _shipped_chain(BASE) for k, e in f.values.items()})


@cache
def shipped(ruleset_id: str) -> tuple[Mapping[str, Any], Mapping[str, str]] | None:
    """Values (by key, P1 … P50 too) and citations of a shipped ruleset, or None."""
    if ruleset_id not in _IDS and ruleset_id != BASE:
        return None
    values: dict[str, Any] = {}
    for file in _shipped_chain(ruleset_id):
        values |= {k: e.value for k, e in file.values.items()}
    return values, _plain(ruleset_id).refs


@dataclass(frozen=True, slots=True)
class Sheet:
    """A ruleset with the words of its files, for people to read."""

    rules: Ruleset
    title: str
    title_ja: str
    text: str
    extends: str
    options: Mapping[str, Option]


def sheet(name: str | Path, options: Mapping[str, Any] | None = None) -> Sheet:
    """A shipped ruleset by id, or a house-rule file by its path (it ends in .toml); raises `RuleError`."""
    if str(name).endswith(".toml"):
        chain = chain_of(Path(name))
        rules = resolve(chain, options or {})
    else:
        rules = load(str(name), options)
        chain = _shipped_chain(str(name))
    last = chain[-1]
    return Sheet(
        rules=rules,
        title=last.title or last.id,
        title_ja=last.title_ja,
        text=last.text,
        extends=last.extends,
        options=declared_options(chain),
    )
