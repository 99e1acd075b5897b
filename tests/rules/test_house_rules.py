"""House-rule files: inheritance, and every fault named with its line and the nearest name."""

from __future__ import annotations

from pathlib import Path

import pytest

from tablectl.engine.rules import RuleError, load, load_file

HALL = """\
id = "our-hall"
extends = "tenhou"
title = "Friday evenings"
title_ja = "金曜の会"

kuitan = false                       # anywhere at the top …
[frame]                              # … or in the table of its topic
uma = [30000, 10000, -10000, -30000]
tobi = { value = "none", ref = "hall rule 3", note = "we lend sticks" }

[infractions]
P14 = "chombo"
P21 = { value = "stop_win", other = "chombo", when = "after_discard" }
"""


def write(folder: Path, text: str, name: str = "hall.toml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_a_file_as_windows_editors_write_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "windows.toml"
    path.write_bytes(b"\xef\xbb\xbf" + HALL.replace("\n", "\r\n").encode())
    assert load_file(path).to_dict() == load_file(write(tmp_path, HALL)).to_dict()


def test_a_house_file_changes_what_it_names_and_keeps_the_rest(tmp_path: Path) -> None:
    hall, tenhou = load_file(write(tmp_path, HALL)), load("tenhou")
    changed = {
        name
        for name, value in hall.to_dict()["values"].items()
        if value != tenhou.to_dict()["values"][name]
    }
    assert changed == {"kuitan", "uma", "tobi", "P14", "P21"}
    assert hall.id == "our-hall"
    assert hall.ruling(21).other == "chombo"
    assert hall.ref("tobi") == "hall rule 3"
    assert hall.ref("kuitan") == "house rule our-hall"
    assert hall.ref("honba_ron") == tenhou.ref("honba_ron")


def test_a_house_file_extends_another_and_takes_the_options_of_its_root(tmp_path: Path) -> None:
    write(tmp_path, HALL)
    child = write(tmp_path, 'extends = "hall.toml"\nnoten_pool = 0\n', "late-night.toml")
    rules = load_file(child, {"length": "tonpuusen"})
    assert (rules.id, rules.noten_pool, rules.kuitan, rules.length) == (
        "late-night",
        0,
        False,
        "tonpuusen",
    )


def test_a_house_file_may_declare_options(tmp_path: Path) -> None:
    text = 'extends = "mu"\n[options.night]\nref = "hall"\n[options.night.choices.late]\nnoten_pool = 0\n'
    assert load_file(write(tmp_path, text), {"night": "late"}).noten_pool == 0


FAULTS = [
    # text, code, line, nearest name
    ('extends = "tenhou"\nkuitann = true\n', "unknown_value", 2, "kuitan"),
    ('extends = "tenhou"\n[frame]\noca = 0\n', "unknown_value", 3, "oka"),
    ('extends = "tenhou"\n[frames]\noka = 0\n', "unknown_value", 2, "frame"),
    ('extends = "tenhou"\n\n[riichi]\noka = 0\n', "unknown_value", 4, "frame"),
    ('extends = "tenhou"\nP51 = "chombo"\n', "unknown_value", 2, "P5"),
    ('extends = "tenhou"\noka = { valu = 0 }\n', "unknown_value", 2, "value"),
    (
        'extends = "tenhou"\nP1 = { value = "chombo", whn = "repeated" }\n',
        "unknown_value",
        2,
        "when",
    ),
    ('extends = "tenhou"\n[refs]\nfu_bace = "7"\n', "unknown_value", 3, "fu_base"),
    ('extends = "tenhou"\nkuitan = "yes"\n', "wrong_type", 2, ""),
    ('extends = "tenhou"\noka = 1.5\n', "wrong_type", 2, ""),
    ('extends = "tenhou"\noka = true\n', "wrong_type", 2, ""),
    ('extends = "tenhou"\numa = 30\n', "wrong_type", 2, ""),
    ('extends = "tenhou"\ntobi = 0\n', "wrong_type", 2, ""),
    ('extends = "tenhou"\npao = "daisangen"\n', "wrong_type", 2, ""),
    ('extends = "tenhou"\nframe = 3\n', "wrong_type", 2, ""),
    ('extends = "tenhou"\nrefs = 3\n', "wrong_type", 2, ""),
    ('extends = "tenhou"\n[options]\nlate = 3\n', "wrong_type", 3, ""),
    ('extends = "tenhou"\ntobi = "below_zer"\n', "impossible_value", 2, "below_zero"),
    ('extends = "tenhou"\npao = ["daisangn"]\n', "impossible_value", 2, "daisangen"),
    ('extends = "tenhou"\npao = ["daisangen", "daisangen"]\n', "impossible_value", 2, ""),
    ('extends = "tenhou"\numa = [30, 10, -10, -30]\n', "impossible_value", 2, ""),
    ('extends = "tenhou"\numa = [30000, 10000, -10000]\n', "impossible_value", 2, ""),
    ('extends = "tenhou"\numa = [30000, 10000, -10000, -20000]\n', "impossible_value", 2, ""),
    ('extends = "tenhou"\numa = [-30000, 10000, 10000, 10000]\n', "impossible_value", 2, ""),
    ('extends = "tenhou"\nstart_points = 25050\n', "impossible_value", 2, ""),
    ('extends = "tenhou"\nstart_points = -25000\n', "impossible_value", 2, ""),
    ('extends = "tenhou"\nstart_points = 99000000\n', "impossible_value", 2, ""),
    ('extends = "tenhou"\ndouble_wind_pair_fu = 3\n', "impossible_value", 2, ""),
    ('extends = "tenhou"\ncounted_yakuman = 5\n', "impossible_value", 2, ""),
    ('extends = "tenhou"\nnoten_pool = 2500\n', "impossible_value", 2, ""),
    ('extends = "tenhou"\nhonba_counted = false\n', "impossible_value", 2, ""),
    ('extends = "tenhou"\n\nkan_dora = false\n', "impossible_value", 3, ""),
    ('extends = "tenhou"\numa_kind = "floating"\n', "impossible_value", 2, ""),
    (
        'extends = "tenhou"\nP1 = { value = "chombo", other = "warning" }\n',
        "impossible_value",
        2,
        "",
    ),
    ('id = "mu"\nextends = "tenhou"\n', "impossible_value", 1, ""),
    ('id = "Our Hall"\nextends = "tenhou"\n', "impossible_value", 1, ""),
    ('extends = "tenhou"\noka = { ref = "hall" }\n', "missing_value", 2, ""),
    ('extends = "tenhou"\nP1 = { when = "repeated" }\n', "missing_value", 2, ""),
    ('extends = "tenhuo"\n', "bad_extends", 1, "tenhou"),
    ("kuitan = true\n", "bad_extends", 1, ""),
    ('extends = "nobody.toml"\n', "bad_extends", 1, ""),
    ('extends = "hall.toml"\n', "cyclic_extends", 1, ""),
    ('extends = "tenhou"\nkuitan = \n', "bad_toml", 2, ""),
    ('extends = "tenhou"\noka = 1\noka = 2\n', "bad_toml", 3, ""),
]


@pytest.mark.parametrize(("text", "code", "line", "near"), FAULTS)
def test_a_fault_is_named_with_its_place(
    tmp_path: Path, text: str, code: str, line: int, near: str
) -> None:
    path = write(tmp_path, text)
    with pytest.raises(RuleError) as caught:
        load_file(path)
    error = caught.value
    assert (error.code, error.file, error.line, error.nearest) == (code, str(path), line, near)
    assert str(path) in str(error)
    assert not near or f"Did you mean {near!r}?" in str(error)


def test_a_circle_of_files_is_named_with_all_of_them(tmp_path: Path) -> None:
    write(tmp_path, 'extends = "two.toml"\n', "one.toml")
    write(tmp_path, '\nextends = "one.toml"\n', "two.toml")
    with pytest.raises(RuleError) as caught:
        load_file(tmp_path / "one.toml")
    assert caught.value.code == "cyclic_extends"
    assert caught.value.line == 2
    assert "one.toml → two.toml → one.toml" in str(caught.value)


def test_a_file_that_is_not_there_or_is_no_text(tmp_path: Path) -> None:
    with pytest.raises(RuleError) as caught:
        load_file(tmp_path / "none.toml")
    assert caught.value.code == "unreadable"
    (tmp_path / "bad.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(RuleError) as caught:
        load_file(tmp_path / "bad.toml")
    assert caught.value.code == "unreadable"


def test_a_fault_in_a_file_that_is_extended_names_that_file(tmp_path: Path) -> None:
    write(tmp_path, 'extends = "tenhou"\n\nkuitan = 3\n', "below.toml")
    top = write(tmp_path, 'extends = "below.toml"\n')
    with pytest.raises(RuleError) as caught:
        load_file(top)
    assert (Path(caught.value.file).name, caught.value.line) == ("below.toml", 3)


def test_the_example_of_the_documentation_loads(tmp_path: Path) -> None:
    text = (Path(__file__).parents[2] / "docs" / "rules.md").read_text(encoding="utf-8")
    example = text.partition("```toml\n")[2].partition("```")[0]
    rules = load_file(write(tmp_path, example), {"night": "late"})
    assert (rules.id, rules.length, rules.uma[0]) == ("our-hall", "tonpuusen", 30000)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("kuitann = false", "there is no rule value 'kuitann'. Did you mean 'kuitan'?"),
        ("uma = [30, 10, -10, -30]", "points are multiples of 100 (1 pt = 1000 points)."),
    ],
)
def test_faults_read_as_the_documentation_shows_them(tmp_path: Path, line: str, says: str) -> None:
    path = write(tmp_path, f'extends = "tenhou"\n{line}\n')
    with pytest.raises(RuleError) as caught:
        load_file(path)
    assert str(caught.value).startswith(f"{path}:2: ")
    assert str(caught.value).endswith(says)
