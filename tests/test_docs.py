"""What documents say exists: links lead somewhere, commands, options and make targets are there."""

from __future__ import annotations

import argparse
import importlib
import re
import shlex
from pathlib import Path

import pytest

from tablectl.cli.main import COMMANDS

ROOT = Path(__file__).parents[1]
DOCUMENTS = sorted(
    path
    for place in ("*.md", "docs/**/*.md", "firmware_protocol/**/*.md", "deploy/**/*.md")
    for path in ROOT.glob(place)
)
LINK = re.compile(r"\]\((?!https?:|mailto:)([^)\s]+)\)")
NAMED = re.compile(
    r"`(docs/[\w./-]+|tests/[\w./-]+|tablectl/[\w./-]+\.\w+|firmware_protocol/[\w./-]+)`"
)
COMMAND = re.compile(r"(?:^|[`\s])tablectl ([a-z]+)\b([^`#\n]*)", re.MULTILINE)
CODE = re.compile(r"^```[^\n]*\n.*?^```|^(?: {4}|\t)[^\n]*$|`[^`\n]+`", re.MULTILINE | re.DOTALL)


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def anchors(path: Path) -> set[str]:
    """Anchors of the headings of a document, as hosts of Markdown make them."""
    headings = re.findall(r"^#+ (.*)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("document", DOCUMENTS, ids=name_of)
def test_every_link_leads_somewhere(document: Path) -> None:
    text = document.read_text(encoding="utf-8")
    lost = []
    for link in LINK.findall(text):
        file, _, anchor = link.partition("#")
        target = (document.parent / file) if file else document
        if not target.exists() or (anchor and anchor not in anchors(target)):
            lost.append(link)
    lost += [one for one in NAMED.findall(text) if not list(ROOT.glob(one.rstrip("/")))]
    assert not lost


def parser_of(command: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=command)
    importlib.import_module(COMMANDS[command].module).configure(parser)
    return parser


def options_of(parser: argparse.ArgumentParser, words: list[str]) -> set[str]:
    """Options of a parser, and of its sub-command that `words` begin with."""
    options = {"--help", *parser._option_string_actions}
    for action in parser._actions:
        choices = action.choices
        if isinstance(choices, dict) and words:
            assert words[0] in choices or words[0].startswith("-"), f"{parser.prog} {words[0]}"
            if words[0] in choices:
                options |= options_of(choices[words[0]], words[1:])
    return options


@pytest.mark.parametrize("document", DOCUMENTS, ids=name_of)
def test_every_command_and_option_exists(document: Path) -> None:
    code = "\n".join(CODE.findall(document.read_text(encoding="utf-8")))
    for command, rest in COMMAND.findall(code):
        assert command in COMMANDS, f"tablectl {command}"
        try:
            words = shlex.split(re.split(r"[|>&;]", rest)[0])
        except ValueError:
            words = rest.split()
        options = options_of(parser_of(command), words)
        for word in words:
            if word.startswith("--"):
                assert word.partition("=")[0].rstrip("…,.:)") in options, f"{command} {word}"


@pytest.mark.parametrize("document", DOCUMENTS, ids=name_of)
def test_every_make_target_exists(document: Path) -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    code = "\n".join(CODE.findall(document.read_text(encoding="utf-8")))
    named = set(re.findall(r"\bmake ([a-z][a-z-]*)", code))
    if "firmware_protocol" in document.parts or document.name == "firmware.md":
        makefile = ROOT / "firmware_protocol" / "c" / "Makefile"
        if makefile.exists():
            targets |= set(re.findall(r"^([a-z-]+):", makefile.read_text("utf-8"), re.MULTILINE))
    assert named <= targets


def test_the_commands_and_the_readme_know_each_other() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert [name for name in COMMANDS if f"`{name}`" not in readme] == []


def helps() -> dict[str, argparse.ArgumentParser]:
    """Every command, and every command inside a command."""
    found = {}
    for command in sorted(COMMANDS):
        found[command] = parser_of(command)
        for action in found[command]._actions:
            if isinstance(action.choices, dict):
                found |= {f"{command} {name}": part for name, part in action.choices.items()}
    return found


@pytest.mark.parametrize(("command", "parser"), list(helps().items()), ids=list(helps()))
def test_every_help_teaches(command: str, parser: argparse.ArgumentParser) -> None:
    text = (parser.epilog or "") + parser.format_help()
    assert f"tablectl {command}" in (parser.epilog or ""), "an example is missing"
    assert re.search(r"exit codes?|exit:", text, re.IGNORECASE), "exit codes are missing"
    for line in text.splitlines():
        assert line == line.rstrip()


SOURCES = sorted(
    path
    for room in ("tablectl", "hardware_sim", "firmware_protocol")
    for path in ROOT.glob(f"{room}/**/*.py")
)
ADVICE = re.compile(
    r"tablectl (" + "|".join(COMMANDS) + r")\b((?: (?:-{1,2}[\w-]+|\{[^}]*\}|[\w./=,-]+))*)"
)


@pytest.mark.parametrize("source", SOURCES, ids=name_of)
def test_every_command_that_a_message_advises_exists(source: Path) -> None:
    for command, rest in ADVICE.findall(source.read_text(encoding="utf-8")):
        words = rest.split()
        options = options_of_advice(command, words)
        for word in words:
            if word.startswith("--"):
                assert word.partition("=")[0].rstrip("…,.:)") in options, (
                    f"tablectl {command}{rest}"
                )


def options_of_advice(command: str, words: list[str]) -> set[str]:
    """As `options_of`, for a sentence: its second word may be no sub-command."""
    parser = parser_of(command)
    options = {"--help", *parser._option_string_actions}
    for action in parser._actions:
        if isinstance(action.choices, dict) and words and words[0] in action.choices:
            options |= options_of(action.choices[words[0]], words[1:])
    return options
