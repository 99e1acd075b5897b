"""What `tomllib` cannot read, in the words of a person who edits a file, with the line as it would be right."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator
from typing import NamedTuple

from tablectl.config.problem import Problem

_PLACE = re.compile(r"\s*\(at (?:line (\d+), column (\d+)|end of document)\)")
_PAIR = re.compile(r"""^\s*(?P<key>[\w.-]+)\s*(?P<sign>[=:])\s*(?P<value>[^#]*?)\s*(?:#.*)?$""")
_NUMBER_WITH_UNIT = re.compile(r"(\d+)\s*[A-Za-z]+")
_TYPOGRAPHIC = "“”„‟‘’‚「」『』＂＇«»"
_WIDE = "\u3000＝［］＃：．，"
_TRUTH = {"true": "true", "yes": "true", "on": "true", "false": "false", "no": "false", "off": "false"}  # fmt: skip


class _Fault(NamedTuple):
    """The line at fault, the letter at fault (empty at a line's end), and tomllib's words."""

    line: str
    letter: str
    message: str


def syntax_problem(text: str, name: str, error: tomllib.TOMLDecodeError) -> Problem:
    """The one fault that `tomllib` stopped at."""
    message = str(error)
    place = _PLACE.search(message)
    if place is not None and place[1]:
        line, column = int(place[1]), int(place[2])
    else:
        line, column = text.count("\n") + 1, len(text) - (text.rfind("\n") + 1) + 1
    whole = text.replace("\r\n", "\n").split("\n")[line - 1]
    fault = _Fault(whole, whole[column - 1 : column], _PLACE.sub("", message))
    hint, example = next(
        (found for look in _LOOKS for found in look(fault)),
        ("texts stand in quotes, lists in [ ], and each key on its own line", ""),
    )
    return Problem(
        code="config_syntax",
        file=name,
        line=line,
        column=column,
        key="",
        message=f"not TOML: {fault.message}",
        hint=hint,
        example=example,
    )


def _only_once(fault: _Fault) -> Iterator[tuple[str, str]]:
    if any(word in fault.message for word in ("Cannot overwrite", "twice", "declare", "mutate")):
        yield "a key or a [section] may stand only once; each table is a [[tables]] block", ""


def _lone_returns(fault: _Fault) -> Iterator[tuple[str, str]]:
    if "\r" in fault.line:
        yield (
            "the lines end with a lone carriage return: save the file with line ends LF or CRLF",
            "",
        )


def _foreign_letters(fault: _Fault) -> Iterator[tuple[str, str]]:
    found = next((letter for letter in fault.line if letter in _TYPOGRAPHIC), "")
    if found and found in fault.line.partition("#")[0]:
        right = re.sub(f"[{_TYPOGRAPHIC}]", '"', fault.line).strip()
        yield f'{found} is a typographic quote: write "', right
    found = next((letter for letter in fault.line.partition("#")[0] if letter in _WIDE), "")
    if found:
        name = "a full-width space" if found == "\u3000" else f"{found} is a full-width letter"
        yield f"{name}: switch the keyboard to half-width", ""


def _open_quote(fault: _Fault) -> Iterator[tuple[str, str]]:
    if "Illegal character '\\n'" in fault.message or "Unterminated string" in fault.message:
        pair = _PAIR.match(fault.line)
        if pair:
            value = pair["value"].strip("\"'")
            yield "the quote is not closed in this line", f'{pair["key"]} = "{value}"'
        yield "the quote is not closed", ""


def _backslash(fault: _Fault) -> Iterator[tuple[str, str]]:
    if "hex value" in fault.message or "Unescaped" in fault.message or "escape" in fault.message:
        right = re.sub(r'"([^"]*)"', r"'\1'", fault.line).strip()
        yield "in double quotes a backslash begins a code: use single quotes", right


def _open_header(fault: _Fault) -> Iterator[tuple[str, str]]:
    head = re.match(r"\s*(\[+)\s*([\w.-]+)", fault.line)
    if head and ("declaration" in fault.message or "Expected ']'" in fault.message):
        shut = "]" * len(head[1])
        yield "the section's name is not closed", f"{head[1]}{head[2]}{shut}"


def _colon(fault: _Fault) -> Iterator[tuple[str, str]]:
    pair = _PAIR.match(fault.line)
    if pair and pair["sign"] == ":" and "Expected '='" in fault.message:
        yield (
            "between key and value stands =, not a colon",
            f"{pair['key']} = {_right(pair['value'])}",
        )
    elif "Expected '='" in fault.message:
        yield "a line is key = value, [section] or # remark", ""


def _bare_word(fault: _Fault) -> Iterator[tuple[str, str]]:
    pair = _PAIR.match(fault.line)
    if not pair or pair["sign"] != "=":
        return
    value = pair["value"]
    if not value:
        yield f"after {pair['key']} = a value is missing", ""
    elif value.lower() in _TRUTH and value not in ("true", "false"):
        yield "write true or false, in small letters", f"{pair['key']} = {_right(value)}"
    elif _NUMBER_WITH_UNIT.fullmatch(value):
        yield "a number stands alone, its unit is fixed", f"{pair['key']} = {_right(value)}"
    elif value[0] not in "\"'[{" and (
        "Invalid value" in fault.message or "statement" in fault.message
    ):
        yield "a text stands in quotes", f'{pair["key"]} = "{value}"'


def _right(value: str) -> str:
    number = _NUMBER_WITH_UNIT.fullmatch(value)
    if number:
        return number[1]
    if value.lower() in _TRUTH:
        return _TRUTH[value.lower()]
    return value if value[:1] in ("'", '"', "[", "{") or value.isdigit() else f'"{value}"'


_LOOKS: tuple[Callable[[_Fault], Iterator[tuple[str, str]]], ...] = (
    _only_once, _lone_returns, _foreign_letters, _backslash, _open_header, _colon, _bare_word, _open_quote,
)  # fmt: skip
"""Each gives hint and example when it knows the fault; the first one that does is told."""
