"""`tablectl score`: for people, as one JSON object, and as a program that is asked line by line."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tablectl.cli import main as cli
from tablectl.cli.score import score_lines
from tests.scoring.shorthand import case_of

HAND = ["234567m345p67s88s", "5s"]
GOOD = case_of("tenhou", *HAND, riichi=1, deposits=1, id="good")


def run(*arguments: str) -> int:
    try:
        return cli.main(["score", *arguments])
    except SystemExit as stop:
        return int(stop.code or 0)


def test_a_hand_is_shown_with_its_fu_table_and_articles(capsys: pytest.CaptureFixture[str]) -> None:
    code = run("234m345p67s55s", "8s", "--ron", "W", "--meld", "ankan:4444z", "--riichi",
               "--ruleset", "saikouisen", "--deposits", "1")  # fmt: skip
    out = capsys.readouterr().out
    assert code == 0
    for line in (
        "riichi (立直): 1 han", "base: 20 fu", "concealed ron: 10 fu", "concealed kan of 4z: 32 fu",
        "fu: 62 rounded up to 70", "ron: 2300", "S +3300, W -2300", "A49.1.1", "A48", "1 han 70 fu: 2300",
    ):  # fmt: skip
        assert line in out
    columns = {
        text.index("A4") for text in out.splitlines() if "立直" in text or "base: 20" in text
    }
    assert len(columns) == 2, (
        "wide characters take two columns, so the index differs by their number"
    )


@pytest.mark.parametrize(
    ("arguments", "last"),
    [
        ([*HAND, "--tsumo"], "3 han 20 fu: 700-1300"),
        ([*HAND, "--tsumo", "--seat", "E"], "3 han 20 fu: 1300 all"),
        ([*HAND, "--tsumo", "--riichi", "--dora", "3p"], "5 han 20 fu mangan: 2000-4000"),
        (["1112345678999m", "9m", "--ron", "S", "--seat", "E", "--ruleset", "mu"], "yakuman: 48000"),
        (["1112224446677z", "7z", "--tsumo"], "2 yakuman: 16000-32000"),
        ([*HAND, "--ron", "E", "--flag", "first_turn", "--ruleset", "wrc-2025"], "5 han mangan: 8000"),
        ([*HAND, "--ron", "E", "--ruleset", "tenhou,kiriage=true", "--dora", "3p", "--riichi"],
         "4 han 30 fu mangan: 8000"),
    ],
)  # fmt: skip
def test_the_last_line_is_what_is_said(
    arguments: list[str], last: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(*arguments) == 0
    assert capsys.readouterr().out.splitlines()[-1] == last


def test_no_win_says_why_and_exits_1(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("567m345p67s88s", "5s", "--ron", "W", "--meld", "chi:123m") == 1
    assert "no win under tenhou: no yaku" in capsys.readouterr().out
    assert run("234567m345p67s89s", "5s", "--ron", "W") == 1
    assert "no winning shape" in capsys.readouterr().out
    rules = "saikouisen,unclear_tsumo=no_win"
    assert run(*HAND, "--tsumo", "--flag", "unclear_tsumo", "--ruleset", rules) == 1
    assert "not shown apart" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "a hand and the winning tile are needed"),
        (HAND, "say how it was won"),
        ([*HAND, "--tsumo", "--meld", "567m"], "TYPE:TILES"),
        ([*HAND, "--tsumo", "--pao", "daisangen"], "YAKUMAN=WIND"),
        ([*HAND, "--tsumo", "--flag", "ipatsu"], "is no flag"),
        ([*HAND, "--tsumo", "--ruleset", "tenho"], "tenhou"),
        ([*HAND, "--tsumo", "--ruleset", "tenhou,kuitann=true"], "kuitan"),
        (["234567m345p67s8s", "5s", "--tsumo"], "13 are needed"),
        (["x", "5s", "--tsumo"], "cannot be read at character 1"),
        ([*HAND, "--jsonl"], "give no HAND"),
        ([*HAND, "--tsumo", "--ron", "E"], "not allowed with"),
    ],
)  # fmt: skip
def test_a_slip_is_named_with_what_to_do_and_exits_2(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(*arguments) == 2
    error = capsys.readouterr().err
    assert words in error
    assert "Traceback" not in error


def test_json_holds_the_contract_and_a_slip_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(*HAND, "--tsumo", "--json") == 0
    result = json.loads(capsys.readouterr().out)
    assert (result["han"], result["payments"]) == (3, [700, 1300])
    assert result["explain"][0].keys() == {"text", "ref"}
    assert run(*HAND, "--tsumo", "--json", "--flag", "rinshan") == 2
    assert json.loads(capsys.readouterr().out)["error"]["code"] == "rinshan_without_kan"


def test_liability_shows_in_the_payments(capsys: pytest.CaptureFixture[str]) -> None:
    melds = [word for tiles in ("555z", "666z", "777z") for word in ("--meld", f"pon:{tiles}")]
    assert run("234m1z", "1z", "--ron", "N", *melds, "--pao", "daisangen=W", "--honba", "1") == 0
    out = capsys.readouterr().out
    assert "liability of W for daisangen" in out
    assert "S +32300, W -16300, N -16000" in out


def test_house_rules_are_read_from_a_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    house = tmp_path / "hall.toml"
    house.write_text(
        'id = "hall"\nextends = "tenhou"\n[points]\nkiriage = true\n', encoding="utf-8"
    )
    assert run(*HAND, "--ron", "E", "--riichi", "--dora", "3p", "--ruleset", str(house)) == 0
    assert "8000" in capsys.readouterr().out.splitlines()[-1]
    house.write_text('id = "hall"\nextends = "tenhou"\n[points]\nkirage = true\n', encoding="utf-8")
    assert run(*HAND, "--ron", "E", "--ruleset", str(house)) == 2
    assert "hall.toml" in capsys.readouterr().err


# --- JSON lines ---------------------------------------------------------------------------------------


def answers(lines: bytes, *more: Any) -> tuple[int, list[dict[str, Any]]]:
    out = io.BytesIO()
    code = score_lines(io.BytesIO(lines), out, *more)
    return code, [json.loads(line) for line in out.getvalue().decode().splitlines()]


def test_one_line_in_one_line_out_in_order_errors_in_place() -> None:
    bad = {**GOOD, "id": "bad", "honba": -1}
    lines = [
        json.dumps(GOOD),
        "nonsense",
        json.dumps(bad),
        "",
        "[]",
        json.dumps({**GOOD, "id": "second"}),
    ]
    code, results = answers("\n".join(lines).encode() + b"\n\xff\n")
    assert code == 1
    assert [result["id"] for result in results] == ["good", None, "bad", None, None, "second", None]
    assert [result.get("error", {}).get("code") for result in results] == [
        None, "bad_json", "out_of_range", "bad_json", "not_an_object", None, "bad_json",
    ]  # fmt: skip
    assert answers(json.dumps(GOOD).encode())[0] == 0
    no_win = {**GOOD, "concealed": "234567m345p67s89s"}
    assert answers(json.dumps(no_win).encode()) == (
        0,
        [{"id": "good", "valid": False, "reason": "not_complete"}],
    )


def test_a_result_has_every_field_of_the_contract() -> None:
    _, [result] = answers(json.dumps(GOOD).encode())
    assert list(result) == [
        "id", "valid", "yaku", "han", "dora", "ura_dora", "red_dora", "fu", "limit", "yakuman_count",
        "points", "payments", "deltas", "explain",
    ]  # fmt: skip
    assert result["deltas"] == {"E": -2600, "S": 6200, "W": -1300, "N": -1300}


def test_the_ruleset_of_the_command_serves_cases_that_name_none() -> None:
    case = {name: value for name, value in GOOD.items() if name != "ruleset"}
    case |= {"win": "ron", "from": "E", "dora_indicators": ["3p"]}
    for ruleset, options, points in (
        ("tenhou", {}, 7700),
        ("saikouisen", {}, 8000),
        ("tenhou", {"kiriage": True}, 8000),
    ):
        code, [result] = answers(json.dumps(case).encode(), ruleset, options)
        assert (code, result["points"]) == (0, points)
    named = {**case, "ruleset": "tenhou"}
    assert answers(json.dumps(named).encode(), "saikouisen", {})[1][0]["points"] == 7700
    assert answers(json.dumps(case).encode())[1][0]["error"]["code"] == "missing_field"


def test_an_id_may_hold_any_text() -> None:
    for word in ("東一局", "\ud800", 'quote " and \\', ""):
        code, [result] = answers(json.dumps({**GOOD, "id": word}).encode())
        assert (code, result["id"]) == (0, word)


def test_another_program_can_ask_and_be_answered_at_once() -> None:
    """Each answer comes before the next line is sent; output is UTF-8 in any locale."""
    environment = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"}
    process = subprocess.Popen(
        [sys.executable, "-m", "tablectl", "score", "--jsonl"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    for number in range(3):
        process.stdin.write(json.dumps({**GOOD, "id": str(number)}).encode() + b"\n")
        process.stdin.flush()
        line = process.stdout.readline().decode("utf-8")
        assert "立直" in line
        assert json.loads(line)["id"] == str(number)
    process.stdin.close()
    assert process.wait(timeout=20) == 0
    process.stdout.close()


def test_help_teaches(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--help") == 0
    out = capsys.readouterr().out
    for words in ("examples:", "--jsonl <", "0m 0p 0s", "exit codes", "unclear_tsumo"):
        assert words in out
