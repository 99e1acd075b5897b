"""The configuration file: every fault is named with its place, its meaning and a way out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tablectl.cli.main import main
from tablectl.config import ConfigError, Problem, Settings, load, loads
from tablectl.config.check import beyond_syntax
from tablectl.config.explain import keys, template
from tablectl.config.positions import positions
from tablectl.config.reload import Change, changes

TABLE = '[[tables]]\nid = "t1"\nport = "/dev/ttyUSB0"\n'


def faults(text: str) -> list[Problem]:
    with pytest.raises(ConfigError) as caught:
        loads(text, name="hall.toml")
    return caught.value.problems


def fault(text: str) -> Problem:
    (problem,) = faults(text)
    return problem


@pytest.mark.parametrize(
    ("text", "code", "line", "column", "hint"),
    [
        ('[mqtt]\npasswd = "x"\n', "unknown_key", 2, 1, "password"),
        ('[venue]\nid = "Big Hall"\n', "bad_value", 2, 1, "small letters"),
        ('[mqtt]\n  keepalive = "soon"\n', "bad_value", 2, 3, "seconds"),
        ('[mqtt]\npassword = { fil = "/x" }\n', "unknown_key", 2, 14, "'file'"),
        ('[mqtt]\nurl = "http://broker"\n', "bad_value", 2, 1, "broker address"),
        ('[[tables]]\nid = "t1"\n', "missing_key", 1, 1, "serial port"),
        (TABLE + "[tables.sensors]\nsettle_ms = -1\n", "bad_value", 5, 1, "lie this long"),
        (TABLE + '[[tables]]\nid = "t1"\nport = "b"\n', "duplicate_id", 5, 1, "line 2"),
        (
            TABLE + '[[tables]]\nid = "t2"\nport = "/dev/ttyUSB0"\n',
            "duplicate_port",
            6,
            1,
            "line 3",
        ),
        ('[broadcast]\ndelay = "later"\n', "bad_value", 2, 1, "hand has ended"),
        ("[web]\nport = 70000\n", "bad_value", 2, 1, "TCP port"),
        ("a = 1\nb = = 2\n", "config_syntax", 2, 5, "quotes"),
        ("[web]\nport = 1\nport = 2\n", "config_syntax", 3, 9, "only once"),
        ('venue = "x"\n', "bad_value", 1, 1, "the hall"),
        ('[tabels]\nid = "t1"\n', "unknown_key", 1, 1, "'tables'"),
    ],
)
def test_each_fault_names_its_place_and_a_way_out(
    text: str, code: str, line: int, column: int, hint: str
) -> None:
    problem = fault(text)
    assert (problem.code, problem.line, problem.column) == (code, line, column)
    assert hint in problem.hint
    assert str(problem).startswith(f"hall.toml:{line}:{column}: ")


def test_misspelt_key_shows_the_right_one_as_example() -> None:
    assert fault('[mqtt]\npasswd = "x"\n').example == (
        'password = { file = "/etc/tablectl/mqtt.password" }'
    )


def test_all_faults_are_reported_at_once_in_the_order_of_the_file() -> None:
    found = faults('[web]\nport = "x"\n[mqtt]\nkeep = 1\n[venue]\nid = "A"\n')
    assert [problem.line for problem in found] == [2, 4, 6]


def test_secret_in_a_wrong_place_is_not_printed() -> None:
    problem = fault("[mqtt]\npassword = 12345\n")
    assert "12345" not in str(problem)


def test_environment_overrides_and_its_faults_name_the_variable(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TABLECTL_WEB__PORT", "9000")
    assert loads("[web]\nport = 1\n").web.port == 9000
    monkeypatch.setenv("TABLECTL_WEB__PORTT", "9000")
    assert "TABLECTL_WEB__PORTT" in fault("").file


def test_secrets_come_from_text_file_environment_and_credential(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "pw").write_text("from file\n", encoding="utf-8")
    (tmp_path / "cred").write_text("from systemd", encoding="utf-8")
    monkeypatch.setenv("HALL_PASSWORD", "from environment")
    monkeypatch.setenv("CREDENTIALS_DIRECTORY", str(tmp_path))

    def reveal(value: str) -> str:
        mqtt = loads(f"[mqtt]\npassword = {value}\n").mqtt
        assert mqtt is not None
        assert mqtt.password is not None
        assert "from text" not in repr(mqtt)
        return mqtt.password.reveal()

    assert reveal('"from text"') == "from text"
    assert reveal(f'{{ file = "{tmp_path}/pw" }}') == "from file"
    assert reveal('{ env = "HALL_PASSWORD" }') == "from environment"
    assert reveal('{ credential = "cred" }') == "from systemd"


def test_missing_secret_is_found_by_check_and_says_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "t.toml"
    path.write_text(f'[mqtt]\nusername = "u"\npassword = {{ file = "{tmp_path}/no" }}\n{TABLE}')
    (problem,) = beyond_syntax(load(path), path)
    assert (problem.code, problem.line) == ("secret_missing", 3)
    assert "chmod 600" in problem.hint


def test_paths_are_relative_to_the_file(tmp_path: Path) -> None:
    path = tmp_path / "t.toml"
    keys = 'tiles = "tiles.toml"\ncapture = "t.capture"\n[journal]\npath = "j.db"\n'
    path.write_text(TABLE + keys, encoding="utf-8")
    settings = load(path)
    assert settings.tables[0].capture == tmp_path / "t.capture"
    assert settings.journal.path == tmp_path / "j.db"
    assert settings.tables[0].tiles == tmp_path / "tiles.toml"


def test_byte_order_mark_is_fine_and_other_encodings_are_named(tmp_path: Path) -> None:
    path = tmp_path / "t.toml"
    path.write_bytes(b"\xef\xbb\xbf" + TABLE.encode())
    assert load(path).tables[0].id == "t1"
    path.write_bytes("[venue]\nname = '雀荘'\n".encode("shift_jis"))
    with pytest.raises(ConfigError) as caught:
        load(path)
    assert (caught.value.problems[0].line, caught.value.problems[0].column) == (2, 9)


def test_positions_follow_every_form_of_toml() -> None:
    text = (
        "a.'b c' = [1, {x = 2}] # [not] = this\n"
        'text = """\n[no]\nkey = 1"""\n'
        "[[t]]\nn = 'x'\n  [t.sub]\n  k = \"\\\"]\"\n[[t]]\n'q' = { a.b = 1, c = [\n 2,\n 3] }\n"
    )
    found = positions(text)
    assert found["a", "b c", 1, "x"] == (1, 16)
    assert found["t", 0, "sub", "k"] == (8, 3)
    assert found["t", 1, "q", "a", "b"] == (10, 9)
    assert found["t", 1, "q", "c", 1] == (12, 2)
    assert ("key",) not in found


def test_reload_tells_live_changes_from_those_that_need_a_restart() -> None:
    old = loads('[log]\nlevel = "info"\n' + TABLE)
    new = loads('[log]\nlevel = "debug"\n[web]\nport = 1\n' + TABLE.replace("USB0", "USB1"))
    assert changes(old, old) == []
    assert changes(old, new) == [
        Change("web.port", live=False),
        Change("log.level", live=True),
        Change("tables.t1.port", live=False),
    ]


def test_every_key_is_explained_with_an_example_that_is_valid() -> None:
    for key in keys():
        assert key.meaning, key.dotted
        for example in key.examples:
            section = key.section.replace("tables", "tables", 1)
            text = f"{key.name} = {example}\n"
            if section == "tables":
                have = "".join(f'{n} = "x"\n' for n in ("id", "port") if n != key.name)
                text = f"[[tables]]\n{have}{text}"
            elif section.startswith("tables."):
                text = f"{TABLE}[{section}]\n{text}"
            else:
                text = f"[{section}]\n{text}"
            loads(text)


def test_template_is_valid_and_uncommented_it_is_still_valid() -> None:
    text = template(["/dev/serial/by-id/a", "/dev/serial/by-id/b"])
    assert [table.port[-1] for table in loads(text).tables] == ["a", "b"]
    uncommented = "\n".join(
        line[2:] if line.startswith("# ") and " = " in line.partition("    #")[0] else line
        for line in template([]).splitlines()
    )
    assert loads(uncommented).mqtt is not None


def test_init_check_explain(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "hall.toml"
    assert main(["config", "init", str(path)]) == 0
    assert main(["config", "init", str(path)]) == 2
    assert "--force" in capsys.readouterr().err
    assert main(["config", "check", str(path)]) == 0
    path.write_text("[web]\nprot = 1\n", encoding="utf-8")
    capsys.readouterr()
    assert main(["config", "check", str(path), "--json"]) == 1
    report = json.loads(capsys.readouterr().out)
    assert report["problems"][0]["code"] == "unknown_key"
    assert main(["config", "check", str(tmp_path / "absent.toml")]) == 2
    assert "config init" in capsys.readouterr().err
    assert main(["config", "explain", "mqtt.password"]) == 0
    assert "credential" in capsys.readouterr().out
    assert main(["config", "explain", "mqtt.pasword"]) == 2
    assert "mqtt.password" in capsys.readouterr().err


def test_defaults_are_usable() -> None:
    assert Settings().tables == ()
