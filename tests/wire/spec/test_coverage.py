"""Every normative sentence of SPEC.md has a test that names it, and no test names a sentence that is not there."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import firmware_protocol

SPEC = Path(firmware_protocol.__file__).parent / "SPEC.md"
HERE = Path(__file__).parent


def sentences() -> dict[str, str]:
    """Id → text of every normative sentence."""
    found = re.findall(
        r"^\* \*\*\[([A-Z]-\d+)\]\*\* (.+)$", SPEC.read_text(encoding="utf-8"), re.MULTILINE
    )
    assert len(found) == len(dict(found)), "an id is used twice"
    return dict(found)


def named() -> dict[str, list[str]]:
    """Id → tests that name it with `@pytest.mark.spec`."""
    out: dict[str, list[str]] = {}
    for path in sorted(HERE.glob("test_*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if not isinstance(node, ast.FunctionDef):
                continue
            for mark in node.decorator_list:
                if isinstance(mark, ast.Call) and ast.unparse(mark.func) == "pytest.mark.spec":
                    for argument in mark.args:
                        out.setdefault(ast.literal_eval(argument), []).append(node.name)
    return out


def test_every_sentence_has_a_test_and_every_test_a_sentence() -> None:
    texts, tests = sentences(), named()
    assert len(texts) > 80
    uncovered = {key: text for key, text in texts.items() if key not in tests}
    assert not uncovered, "sentences without a test:\n" + "\n".join(
        f"{k} {t}" for k, t in uncovered.items()
    )
    assert sorted(set(tests) - set(texts)) == []


def test_ids_are_consecutive_and_each_sentence_is_normative() -> None:
    by_letter: dict[str, list[int]] = {}
    for key, text in sentences().items():
        letter, number = key.split("-")
        by_letter.setdefault(letter, []).append(int(number))
        assert re.search(r"\b(SHALL|SHOULD|MAY)\b", text) or key == "F-12", key
    for letter, numbers in by_letter.items():
        assert numbers == list(range(1, len(numbers) + 1)), letter


def test_sentences_named_in_the_sources_exist() -> None:
    texts = sentences()
    cited = set()
    for path in SPEC.parent.glob("*.py"):
        cited |= set(re.findall(r"SPEC ([A-Z]-\d+)", path.read_text(encoding="utf-8")))
    assert len(cited) > 10
    assert sorted(cited - set(texts)) == []
