"""`tablectl rules list | show | diff`: what each ruleset says, and the article that says it."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Iterator
from itertools import zip_longest
from typing import TYPE_CHECKING, Any
from unicodedata import east_asian_width

from tablectl.cli.parts import add_part

if TYPE_CHECKING:
    from tablectl.engine.rules.shelf import Sheet


def configure(parser: argparse.ArgumentParser) -> None:
    """Arguments of `tablectl rules`."""
    parser.epilog = (
        "A ruleset R is an id of 'tablectl rules list', or the path of a house-rule file\n"
        "(it ends in .toml and extends a ruleset; see docs/rules.md). Options, or any value by\n"
        "name, follow after commas: tenhou,kuitan=false,length=tonpuusen\n\n"
        "examples:\n"
        "  tablectl rules list\n"
        "  tablectl rules show tenhou,kuitan=false --topic yaku\n"
        "  tablectl rules diff saikouisen m-league\n"
        "  tablectl rules diff tenhou tenhou,era=until-2009\n"
        "  tablectl rules diff mu ./our-hall.toml --json\n\n"
        "exit codes: 0 ok, 2 no such ruleset, or a fault in a rule file"
    )
    parts = parser.add_subparsers(dest="part", required=True, metavar="list|show|diff")
    listing = add_part(
        parts, "list", "the rulesets that are shipped",
        "  tablectl rules list\n  tablectl rules list --json | jq -r '.rulesets[].id'", "0 ok",
    )  # fmt: skip
    listing.add_argument("--json", action="store_true", help="as one JSON object")
    show = add_part(
        parts, "show", "every value of one ruleset with its citation",
        "  tablectl rules show saikouisen\n"
        "  tablectl rules show tenhou,kuitan=false --topic yaku\n"
        "  tablectl rules show ./our-hall.toml --json > our-hall.json",
        "0 ok, 2 no such ruleset, or a fault in a rule file",
    )  # fmt: skip
    show.add_argument(
        "ruleset", metavar="R", help="id or house-rule file, with options after commas"
    )
    show.add_argument(
        "--topic", metavar="TOPIC", help="only one topic, such as 'riichi', 'fu' or 'infractions'"
    )
    diff = add_part(
        parts, "diff", "where two rulesets differ",
        "  tablectl rules diff saikouisen m-league\n"
        "  tablectl rules diff tenhou ./our-hall.toml --json",
        "0 ok (also where they differ), 2 no such ruleset, or a fault in a rule file",
    )  # fmt: skip
    diff.add_argument("first", metavar="R1", help="id or house-rule file, with options")
    diff.add_argument("second", metavar="R2", help="id or house-rule file, with options")
    for part in (show, diff):
        part.add_argument("--json", action="store_true", help="as one JSON object")


def run(args: argparse.Namespace) -> int:
    """0 ok, 2 no such ruleset or a fault in a file."""
    from tablectl.engine.rules import RuleError

    try:
        if args.part == "list":
            return _list(as_json=args.json)
        if args.part == "show":
            return _show(args.ruleset, args.topic, as_json=args.json)
        return _diff(args.first, args.second, as_json=args.json)
    except RuleError as error:
        if args.json:
            print(_json({"error": error.to_dict()}))
        sys.stderr.write(f"tablectl rules: {error}\n")
        return 2


def _open(word: str) -> Sheet:
    """The ruleset that a word names, with its options."""
    from tablectl.engine.rules import sheet
    from tablectl.engine.rules.word import split

    return sheet(*split(word))


def _list(*, as_json: bool) -> int:
    from tablectl.engine.rules import ids, sheet

    sheets = [sheet(name) for name in ids()]
    if as_json:
        print(_json({"rulesets": [_head(s) for s in sheets]}))
        return 0
    rows = [("ID", "NAME", "名称", "OPTIONS")]
    rows += [(s.rules.id, s.title, s.title_ja, " ".join(s.options)) for s in sheets]
    _table(rows)
    return 0


def _show(word: str, topic: str | None, *, as_json: bool) -> int:
    from tablectl.engine.rules import RuleError
    from tablectl.engine.rules.errors import nearest
    from tablectl.engine.rules.topics import COMMON_RULES, TOPICS

    found = _open(word)
    groups = dict(_groups(found))
    if topic is not None and topic not in groups:
        near = nearest(topic, groups)
        raise RuleError(
            "unknown_value",
            f"there is no topic {topic!r}",
            value=topic,
            nearest=near,
            hint="" if near else "Topics: " + ", ".join(groups),
        )
    chosen = {k: v for k, v in groups.items() if topic in (None, k)}
    if as_json:
        values = {r["name"]: r for rows in chosen.values() for r in rows}
        common = {n: {"text": t, "ref": found.rules.ref(n)} for n, t in COMMON_RULES.items()}
        body: dict[str, Any] = {**_head(found), "values": values}
        print(_json(body if topic else {**body, "common": common}))
        return 0
    print(f"{found.rules.id}: {found.title}  {found.title_ja}".rstrip())
    print(f"text: {found.text or '–'}   hash: {found.rules.hash[:16]}")
    for option in found.options.values():
        print(f"option {option.name}: {' | '.join(option.choices)}   {option.ref}")
    for key, rows in chosen.items():
        print(f"\n{TOPICS[key][0] if key in TOPICS else 'Infractions and what they bring'}")
        _table([(f"  {r['name']}", _value(r["value"]), r["ref"], r["text"]) for r in rows])
    if topic is None:
        print("\nThe same in all rulesets")
        _table([(f"  {n}", found.rules.ref(n), text) for n, text in COMMON_RULES.items()])
    return 0


def _diff(first: str, second: str, *, as_json: bool) -> int:
    from tablectl.engine.rules.topics import TOPICS

    left, right = _open(first), _open(second)
    differences: dict[str, list[tuple[dict[str, Any], dict[str, Any]]]] = {}
    for (topic, a_rows), (_, b_rows) in zip(_groups(left), _groups(right), strict=True):
        pairs = [
            (a, b)
            for a, b in zip(a_rows, b_rows, strict=True)
            if _value(a["value"]) != _value(b["value"])
        ]
        if pairs:
            differences[topic] = pairs
    if as_json:
        body = {
            a["name"]: {
                "topic": topic,
                "text": a["text"],
                "first": {"value": a["value"], "ref": a["ref"]},
                "second": {"value": b["value"], "ref": b["ref"]},
            }
            for topic, pairs in differences.items()
            for a, b in pairs
        }
        print(_json({"rulesets": [_head(left), _head(right)], "differences": body}))
        return 0
    if not differences:
        print(f"{first} and {second} have the same values.")
        return 0
    for topic, pairs in differences.items():
        print(TOPICS[topic][0] if topic in TOPICS else "Infractions and what they bring")
        rows = [("", first, "", second, "")]
        rows += [
            (f"  {a['name']}", _value(a["value"]), a["ref"], _value(b["value"]), b["ref"])
            for a, b in pairs
        ]
        _table(rows)
        print()
    return 0


def _head(sheet: Sheet) -> dict[str, Any]:
    return {
        "id": sheet.rules.id,
        "title": sheet.title,
        "title_ja": sheet.title_ja,
        "text": sheet.text,
        "extends": sheet.extends,
        "hash": sheet.rules.hash,
        "options": {
            o.name: {"ref": o.ref, "choices": list(o.choices)} for o in sheet.options.values()
        },
    }


def _groups(sheet: Sheet) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Topic → its values as {"name", "value", "ref", "text"}; last the infractions."""
    from tablectl.engine.rules.topics import INFRACTION_WORDS, TOPICS

    rules = sheet.rules
    values = rules.to_dict()["values"]

    def row(name: str, text: str) -> dict[str, Any]:
        return {"name": name, "value": values[name], "ref": rules.ref(name), "text": text}

    for topic, (_, words) in TOPICS.items():
        yield topic, [row(name, text) for name, text in words.items()]
    yield (
        "infractions",
        [row(f"P{number}", text) for number, text in enumerate(INFRACTION_WORDS, start=1)],
    )


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        when = str(value["when"]).replace("_", " ")
        return f"{value['sanction']}; {value['other']} ({when})"
    if isinstance(value, list):
        joint = "\n" if value and isinstance(value[0], list) else " "
        return joint.join(map(_value, value)) if value else "–"
    return str(value)


def _table(rows: Iterable[tuple[str, ...]]) -> None:
    """Columns aligned by what they take on a screen: Japanese letters take two cells."""
    lines: list[tuple[str, ...]] = []
    for row in rows:
        lines += zip_longest(*(cell.split("\n") for cell in row), fillvalue="")
    widths = [max(map(_cells, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        padded = (
            cell + " " * (width - _cells(cell)) for cell, width in zip(line, widths, strict=True)
        )
        print("  ".join(padded).rstrip())


def _cells(text: str) -> int:
    return sum(2 if east_asian_width(letter) in "WF" else 1 for letter in text)


def _json(body: Any) -> str:
    return json.dumps(body, ensure_ascii=False, indent=2)
