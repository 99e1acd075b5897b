"""The language of fault scripts: one sentence a line, `WHEN, DEED.`

    # Somebody trips over the cable.
    When hand 2 is dealt, unplug the cable.
    After 3 seconds, plug the cable in.

`#` starts a comment. Hands count from 1, seats are 0–3. Seconds are seconds of the clock: `--speed`
does not change them. `After` counts from the sentence before it.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from firmware_protocol.vocabulary import Motor
from hardware_sim.errors import ScriptError
from hardware_sim.textfile import SAVE_AS, read_text

BUNDLED = Path(__file__).resolve().parent.parent / "scripts"
"""Scripts that come with the simulator; `--faults NAME` finds them."""

Do = Callable[..., None]
"""A deed: called with the table and the words of its sentence."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """A form of words: shown to people as `form`, recognised by `regex`."""

    form: str
    regex: re.Pattern[str]
    do: Do
    area: str


@dataclass(frozen=True, slots=True)
class Trigger:
    """When a sentence happens. `after` and `start` are times, the others are told by the table."""

    kind: str
    hand: int = -1
    """0-based; -1 any."""
    seat: int = -1
    count: int = 0
    """The n-th such event of the hand, from 1; 0 any."""
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Sentence:
    """One line of a script."""

    line: int
    text: str
    trigger: Trigger
    do: Do
    words: dict[str, Any] = field(default_factory=dict)


DEEDS: list[Pattern] = []
"""All forms that a deed may take, in the order of the manual."""

_SLOTS: dict[str, tuple[str, Callable[[str], Any]]] = {
    "N": (r"\d+(?:\.\d+)?", lambda text: float(text) if "." in text else int(text)),
    "S": (r"[0-3]", int),
    "T": (r'"[^"]*"', lambda text: text[1:-1]),
    "V": (r"\d+\.\d+", lambda text: tuple(int(n) for n in text.split("."))),
    "M": (r"lift|lid|shuffler|conveyor|pusher|dice", lambda text: Motor[text.upper()]),
    "Z": (r"hand|drawn slot|river|meld area|wall", str),
}
"""Slots of a form: number, seat, "text", version, motor, zone."""


def deed(form: str, area: str) -> Callable[[Do], Do]:
    """Declare a form of words: `{name:N}` is a slot, `[…]` may be left out, `a|b` in parentheses is a choice."""

    def declare(do: Do) -> Do:
        DEEDS.append(Pattern(form, _compile(form), do, area))
        return do

    return declare


def _compile(form: str) -> re.Pattern[str]:
    """Turn a form into a regular expression with one named group per slot, `name__KIND`."""
    pattern = re.escape(form)
    pattern = pattern.replace(r"\[", "(?:").replace(r"\]", ")?").replace(r"\|", "|")
    pattern = pattern.replace(r"\(", "(?:").replace(r"\)", ")").replace(r"\ ", " ")

    def slot(match: re.Match[str]) -> str:
        name, kind = match.group(1), match.group(2)
        return f"(?P<{name}__{kind}>{_SLOTS[kind][0]})"

    return re.compile(re.sub(r"\\{(\w+):(\w)\\}", slot, pattern) + r"\Z", re.IGNORECASE)


def words_of(match: re.Match[str]) -> dict[str, Any]:
    """The filled slots of a form by name."""
    found: dict[str, Any] = {}
    for group, text in match.groupdict().items():
        if text is not None:
            name, kind = group.split("__")
            found[name] = _SLOTS[kind][1](text)
    return found


_TRIGGERS: list[tuple[str, re.Pattern[str], str]] = [
    (form, _compile(form), kind)
    for form, kind in (
        ("at the start", "start"),
        ("at once", "start"),
        ("after {seconds:N} second[s]", "after"),
        ("when hand {hand:N} begins", "hand"),
        ("when start is pressed in hand {hand:N}", "start_pressed"),
        ("when the walls of hand {hand:N} are up", "lifted"),
        ("when the walls begin to rise in hand {hand:N}", "rising"),
        ("when the dice of hand {hand:N} lie still", "dice"),
        ("when hand {hand:N} is dealt", "dealt"),
        ("when tile {count:N} is drawn in hand {hand:N}", "draw"),
        ("when tile {count:N} is discarded in hand {hand:N}", "discard"),
        ("when seat {seat:S} draws [for the first time ]in hand {hand:N}", "draw"),
        ("when seat {seat:S} draws tile {count:N} in hand {hand:N}", "draw"),
        ("when seat {seat:S} discards [for the first time ]in hand {hand:N}", "discard"),
        ("when seat {seat:S} discards tile {count:N} in hand {hand:N}", "discard"),
        ("when somebody calls in hand {hand:N}", "call"),
        ("when somebody lays a riichi stick[ in hand {hand:N}]", "riichi"),
        ("when hand {hand:N} ends", "result"),
        ("when the tiles of hand {hand:N} are in the machine", "settled"),
        ("when the game is over", "over"),
    )
]


def manual() -> str:
    """Every form of words, for `--help-faults`."""
    lines = ["When:"]
    lines += [f"  {form}" for form, _, _ in _TRIGGERS]
    area = ""
    for pattern in DEEDS:
        if pattern.area != area:
            area = pattern.area
            lines += ["", f"What ({area}):"]
        lines.append(f"  {pattern.form}")
    lines += [
        "",
        "{…:N} a number, {…:S} a seat 0-3, {…:Z} hand, drawn slot, river, meld area or wall,",
        '{…:T} "text", {…:V} a version such as 2.0, {…:M} lift, lid, shuffler, conveyor, pusher or dice.',
        "[Words in brackets] may be left out.",
    ]
    return "\n".join(lines)


def find_script(name: str) -> Path:
    """A script by path, or by name among those that come with the simulator. Raises ScriptError."""
    path = Path(name)
    if path.is_file():
        return path
    bundled = BUNDLED / f"{name}.txt"
    if bundled.is_file():
        return bundled
    names = bundled_names()
    near = difflib.get_close_matches(name, names, 1)
    raise ScriptError(
        f"no fault script {name}", value=name,
        hint=f"did you mean {near[0]}?" if near else f"a file, or one of {', '.join(names)}",
    )  # fmt: skip


def bundled_names() -> list[str]:
    """Names of the scripts that come with the simulator."""
    return sorted(path.stem for path in BUNDLED.glob("*.txt"))


def load_script(name: str) -> list[Sentence]:
    """The sentences of a script file. Raises ScriptError with file and line."""
    path = find_script(name)
    try:
        text = read_text(path)
    except OSError as error:
        raise ScriptError(
            f"{path.name} cannot be read: {error.strerror}", value=name, hint="look at its rights"
        ) from error
    except UnicodeDecodeError as error:
        raise ScriptError(
            f"{path.name} is no UTF-8 text: {error.reason}", value=name, hint=SAVE_AS
        ) from error
    return parse_script(text, path.name)


def parse_script(text: str, name: str = "script") -> list[Sentence]:
    """The sentences of a script. Raises ScriptError."""
    sentences: list[Sentence] = []
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.partition("#")[0].strip()
        if line:
            sentences.append(_sentence(line, number, f"{name}:{number}", bool(sentences)))
    return sentences


def _sentence(line: str, number: int, where: str, follows: bool) -> Sentence:
    if not line.endswith("."):
        raise ScriptError(f"{where}: a sentence ends with a full stop: {line!r}", value=where)
    when, comma, what = line[:-1].partition(", ")
    if not comma:
        raise ScriptError(
            f"{where}: no comma between when and what: {line!r}", value=where,
            hint="such as: When hand 2 is dealt, unplug the cable.",
        )  # fmt: skip
    trigger = _trigger(when, where)
    if trigger.kind == "after" and not follows:
        raise ScriptError(
            f"{where}: 'After' counts from the sentence before it, and there is none", value=where,
            hint="begin with: At the start, …",
        )  # fmt: skip
    for pattern in DEEDS:
        match = pattern.regex.match(what)
        if match:
            return Sentence(number, line, trigger, pattern.do, words_of(match))
    raise ScriptError(
        f"{where}: nobody knows how to {what!r}",
        value=where,
        hint=_nearest(what, [p.form for p in DEEDS]),
    )


def _trigger(when: str, where: str) -> Trigger:
    for _, regex, kind in _TRIGGERS:
        match = regex.match(when)
        if match:
            words = words_of(match)
            count = words.get("count", 1 if kind in {"draw", "discard", "call"} else 0)
            return Trigger(
                kind,
                words.get("hand", 0) - 1,
                words.get("seat", -1),
                count,
                float(words.get("seconds", 0)),
            )
    raise ScriptError(
        f"{where}: never is it {when!r}",
        value=where,
        hint=_nearest(when, [form for form, _, _ in _TRIGGERS]),
    )


def _nearest(text: str, forms: list[str]) -> str:
    near = difflib.get_close_matches(text.lower(), [form.lower() for form in forms], 1, 0.3)
    return f"nearest: {near[0]}" if near else "see tablectl sim --help-faults"
