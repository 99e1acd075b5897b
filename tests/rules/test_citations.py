"""Every value of every shipped file says where it stands, in the notation of its own text."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tablectl.engine.rules import ids, load
from tablectl.engine.rules.codec import known_keys, value_names
from tablectl.engine.rules.shelf import DATA
from tablectl.engine.rules.topics import COMMON_RULES, INFRACTION_WORDS, TOPICS

DOC = Path(__file__).parents[2] / "docs" / "rules.md"

# what a citation of a ruleset may begin with: its own text, or an outside source, or silence
OWN = {
    "saikouisen": "A|C-sum",
    "saikouisen-classic": "A|C-sum",
    "mu": "M",
    "jpml-a": "J",
    "jpml-a-2022": "J|practice until 2022",
    "jpml-a-2023": "J",
    "tenhou": r"[TYNQ]\d|Tsup|Tbox",
    "m-league": "X",
    "wrc-2025": "X",
    "ema-2016": "X",
}
SILENT = r"∅|\(i\)|unknown|X\d"


def _values(node: Any, path: tuple[str, ...] = ()) -> list[tuple[tuple[str, ...], Any]]:
    """Every setting of a file with its place, inside options too."""
    found = []
    for key, child in node.items():
        here = (*path, key)
        if isinstance(child, dict) and "value" not in child:
            found += _values(child, here)
        elif path and path[0] != "refs" and key != "ref":
            found.append((here, child))
    return found


FILES = sorted(DATA.glob("*.toml"))


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_every_setting_has_a_citation(path: Path) -> None:
    settings = _values(tomllib.loads(path.read_text(encoding="utf-8")))
    bare = [
        ".".join(p) for p, v in settings if not (isinstance(v, dict) and v.get("ref", "").strip())
    ]
    assert settings
    assert bare == []


def test_every_shipped_file_is_a_ruleset_or_the_base() -> None:
    assert {p.stem for p in FILES} == {*ids(), "base"}


@pytest.mark.parametrize("ruleset", ids())
def test_a_ruleset_cites_its_own_text(ruleset: str) -> None:
    rules = load(ruleset)
    pattern = re.compile(f"(?:{OWN[ruleset]}|{SILENT})")
    foreign = {n: rules.ref(n) for n in known_keys() if not pattern.match(rules.ref(n))}
    assert foreign == {}


@pytest.mark.parametrize("ruleset", ids())
def test_a_file_says_only_what_differs(ruleset: str) -> None:
    """A value equal to the inherited one is not written again (its citation stands under refs)."""
    data = tomllib.loads((DATA / f"{ruleset}.toml").read_text(encoding="utf-8"))
    parent = load(data["extends"]).to_dict()["values"]
    own = load(ruleset).to_dict()["values"]
    written = [p[-1] for p, _ in _values(data) if p[0] != "options"]
    assert written
    again = [n for n in written if own[n] == parent[n]]
    assert again == [n for n in again if n == "P7"]  # Classic: same sanction, another article


@pytest.mark.parametrize("ruleset", [*ids(), "base"])
def test_the_common_rules_are_cited_where_the_text_has_them(ruleset: str) -> None:
    rules = load(ruleset)
    without = {name for name in COMMON_RULES if not rules.ref(name)}
    assert without == set()


def test_each_yaku_of_mu_has_its_item() -> None:
    rules = load("mu")
    assert rules.ref("yaku.shousangen") == "M51(24)"
    assert rules.ref("yaku.renhou") == "M51"  # not an item of its own: the list


def test_every_value_belongs_to_one_topic() -> None:
    listed = [name for _, (_, words) in TOPICS.items() for name in words]
    assert sorted([*listed, "infractions"]) == sorted(value_names())
    assert len(INFRACTION_WORDS) == 50


def test_every_note_that_is_cited_is_explained() -> None:
    text = DOC.read_text(encoding="utf-8")
    cited = {m for p in FILES for m in re.findall(r"3-[SMJT]\d+", p.read_text(encoding="utf-8"))}
    cited |= {m for p in FILES for m in re.findall(r"\bX\d+", p.read_text(encoding="utf-8"))}
    assert cited
    missing = {m for m in cited if not re.search(rf"\b{re.escape(m)}\b", text)}
    assert missing == set()
