"""`tablectl rules`, as a person and as a program see it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tablectl.cli.main import main
from tablectl.engine.rules import ids, load


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = main(["rules", *words])
    out, err = capsys.readouterr()
    return code, out, err


def run_json(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    code, out, err = run(capsys, *words, "--json")
    assert (code, err) == (0, "")
    return json.loads(out)


def test_list_names_all_rulesets_in_both_languages(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "list")
    assert code == 0
    for name in ids():
        assert f"\n{name} " in out
    assert "最高位戦" in out
    assert "天鳳" in out
    assert [r["id"] for r in run_json(capsys, "list")["rulesets"]] == list(ids())


def test_columns_line_up_in_japanese_too(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "list")
    header, *rows = out.splitlines()
    at = header.index("名称")
    titles = [r["title_ja"] for r in run_json(capsys, "list")["rulesets"]]
    assert [row[at:].startswith(t) for row, t in zip(rows, titles, strict=True)] == [True] * 10


def test_show_prints_each_value_with_its_article(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "show", "saikouisen")
    line = next(row for row in out.splitlines() if row.startswith("  honba_ron "))
    assert line.split()[:3] == ["honba_ron", "300", "A50.2"]
    line = next(row for row in out.splitlines() if row.startswith("  P14 "))
    assert line.split()[:4] == ["P14", "minor_chombo_stop_win", "A55.3.1", "kuikae"]


def test_show_as_json_is_complete(capsys: pytest.CaptureFixture[str]) -> None:
    found = run_json(capsys, "show", "tenhou,kuitan=false,length=tonpuusen")
    rules = load("tenhou", {"kuitan": False, "length": "tonpuusen"})
    assert {n: v["value"] for n, v in found["values"].items()} == rules.to_dict()["values"]
    assert all(v["ref"] and v["text"] for v in found["values"].values())
    assert found["hash"] == rules.hash
    assert found["common"]["fu_chiitoitsu"]["ref"] == "Y6"


def test_show_one_topic(capsys: pytest.CaptureFixture[str]) -> None:
    assert set(run_json(capsys, "show", "mu", "--topic", "tenpai")["values"]) == {
        "tenpai_exhausted_rule"
    }


def test_diff_shows_only_differences_side_by_side(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "diff", "saikouisen", "saikouisen-classic")
    line = next(row for row in out.splitlines() if row.startswith("  kiriage "))
    assert line.split()[1] == "yes"
    assert line.split()[-2:] == ["no", "C-sum"]
    assert "honba_ron" not in out
    found = run_json(capsys, "diff", "jpml-a", "jpml-a-2023")["differences"]
    assert set(found) == {"rinshan_tsumo_fu"}
    assert found["rinshan_tsumo_fu"]["first"] == {"value": 0, "ref": "J-X.3 (3-J3)"}
    assert found["rinshan_tsumo_fu"]["second"] == {"value": 2, "ref": "X6 (3-J3)"}


def test_diff_of_equals_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "diff", "mu", "mu,chombo=A")
    assert out == "mu and mu,chombo=A have the same values.\n"


def test_a_house_file_stands_where_an_id_does(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "会.toml"
    path.write_text('id = "kai"\nextends = "tenhou"\ntitle_ja = "会"\nkuitan = false\n', "utf-8")
    _, out, _ = run(capsys, "diff", "tenhou", str(path))
    assert next(row for row in out.splitlines() if "kuitan" in row).split() == [
        *("kuitan", "yes", "T5", "no", "house", "rule", "kai")
    ]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["show", "tenhuo"], "Did you mean 'tenhou'?"),
        (["show", "tenhou", "--topic", "furi"], "Did you mean 'furiten'?"),
        (["show", "tenhou,kuitann=false"], "Did you mean 'kuitan'?"),
        (["show", "nothing.toml"], "nothing.toml: cannot read"),
        (["diff", "mu", "m-leage"], "Did you mean 'm-league'?"),
    ],
)
def test_a_mistake_is_answered_not_thrown(
    capsys: pytest.CaptureFixture[str], words: list[str], says: str
) -> None:
    code, out, err = run(capsys, *words)
    assert (code, out) == (2, "")
    assert says in err
    code, out, _ = run(capsys, *words, "--json")
    assert code == 2
    assert json.loads(out)["error"]["code"]


def test_help_teaches(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as leaving:
        main(["rules", "--help"])
    assert leaving.value.code == 0
    assert "tablectl rules diff saikouisen m-league" in capsys.readouterr().out
