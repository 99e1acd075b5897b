"""The configuration file: every fault is named with its place, its meaning and a way out."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from tablectl.cli.main import main
from tablectl.config import ConfigError, Problem, Settings, load, loads
from tablectl.config.explain import keys, template
from tablectl.config.positions import positions
from tablectl.config.reload import Change, changes
from tablectl.daemon import hallfile

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
    (problem,) = hallfile.problems(load(path), path)
    assert (problem.code, problem.line) == ("secret_missing", 3)
    assert "chmod 640" in problem.hint


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


# ---------------------------------------------------------------- what a technician types


@pytest.mark.parametrize(
    ("text", "hint", "example"),
    [
        ("[venue]\nname = “麻雀”\n", "typographic quote", 'name = "麻雀"'),
        ("[venue]\n\u3000name = 'x'\n", "full-width", ""),
        ("[web]\nenabled = True\n", "small letters", "enabled = true"),
        ("[web]\nenabled = yes\n", "small letters", "enabled = true"),
        ("[mqtt]\nkeepalive = 15s\n", "unit", "keepalive = 15"),
        ("[[tables]]\nid = t1\n", "quotes", 'id = "t1"'),
        ("[[tables]]\nport = /dev/ttyUSB0\n", "quotes", 'port = "/dev/ttyUSB0"'),
        ("venue: home\n", "colon", 'venue = "home"'),
        ('[[tables]]\nid = "t1\n', "not closed", 'id = "t1"'),
        ("[[tables]\n", "not closed", "[[tables]]"),
        ('[[tables]]\nport = "C:\\Users\\x"\n', "single quotes", "port = 'C:\\Users\\x'"),
        ("[web]\nport =\n", "value is missing", ""),
        ("[web]\rport = 1\r", "carriage return", ""),
    ],
)
def test_what_is_no_toml_is_shown_as_it_would_be_right(text: str, hint: str, example: str) -> None:
    problem = fault(text)
    assert problem.code == "config_syntax"
    assert hint in problem.hint
    assert problem.example == example
    if example:
        tomllib.loads(example)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('[web]\nport = "8731"\n', "without quotes"),
        ("[web]\nport = 87.5\n", "whole number"),
        ('[web]\nenabled = "yes"\n', "true or false"),
        ("[journal]\nfsync = 1\n", "true or false"),
        ("[journal]\nkeep_days = true\n", "whole number"),
        ("[venue]\nid = 2024-01-01\n", "text in quotes"),
        ('[tables]\nid = "t1"\n', "double brackets"),
        ('[[mqtt]]\nurl = "mqtt://x"\n', "single brackets"),
        ('[[tables]]\nid = "t1"\nport = "ttyUSB0"\n', "/dev/ttyUSB0"),
        ('[[tables]]\nid = "t1"\nport = " "\n', "cannot be reached"),
    ],
)
def test_a_wrong_type_is_never_taken_for_the_right_one(text: str, words: str) -> None:
    problem = fault(text)
    assert problem.code == "bad_value"
    assert words in problem.message


def test_a_key_in_the_wrong_section_names_its_own() -> None:
    assert "[[tables]]" in fault("[web]\nbaud = 9600\n").hint
    assert "[mqtt]" in fault("[web]\nkeepalive = 5\n").hint


def test_a_word_with_a_capital_is_named_in_small_letters() -> None:
    assert fault(TABLE + 'level = "Tiles"\n').hint == "did you mean 'tiles'?"


def test_every_double_is_named_beside_other_faults() -> None:
    found = faults(TABLE + TABLE + "bad = 1\n")
    assert [(p.code, p.line) for p in found] == [
        ("duplicate_id", 5), ("duplicate_port", 6), ("unknown_key", 7),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        "[mqtt]\npassword = 12345\n",
        '[mqtt]\npassword = ["hunter2-12345"]\n',
        '[[mqtt]]\npassword = "hunter2-12345"\n',
        '[mqtt]\nurl = "mqtt://me:hunter2-12345@broker"\n',
        '[mqtt]\nurl = "broker:hunter2-12345@x"\n',
        '[mqtt]\npasswrod = "hunter2-12345"\n',
        '[mqtt]\npassword = { value = "hunter2-12345", env = "X" }\n',
        "[mqtt]\npassword = { value = 12345 }\n",
    ],
)
def test_no_fault_prints_a_secret(text: str) -> None:
    assert "12345" not in "".join(str(problem) for problem in faults(text))


# ---------------------------------------------------------------- environment


def test_values_of_the_environment_have_the_types_of_the_file(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in (
        ("LOG__UNMASK", "true"), ("BROADCAST__DELAY", "300"), ("VENUE__NAME", "123"),
        ("MQTT__PASSWORD", "12345"), ("MQTT__USERNAME", "77"), ("VENUE__RULESETS", '["a.toml"]'),
    ):  # fmt: skip
        monkeypatch.setenv(f"TABLECTL_{name}", value)
    settings = loads("")
    assert settings.log.unmask is True
    assert (settings.broadcast.delay, settings.venue.name) == (300, "123")
    assert settings.venue.rulesets == (Path("a.toml"),)
    assert settings.mqtt is not None
    assert settings.mqtt.password is not None
    assert (settings.mqtt.username, settings.mqtt.password.reveal()) == ("77", "12345")
    monkeypatch.setenv("TABLECTL_MQTT__PASSWORD", '{"env": "OTHER"}')
    monkeypatch.setenv("OTHER", "of another variable")
    mqtt = loads("").mqtt
    assert mqtt is not None
    assert mqtt.password is not None
    assert mqtt.password.reveal() == "of another variable"


@pytest.mark.parametrize(
    ("name", "value", "hint"),
    [
        ("TABLECTL_WEBB__PORT", "1", "TABLECTL_WEB__PORT"),
        ("TABLECTL_WEB_PORT", "1", "TABLECTL_WEB__PORT"),
        ("TABLECTL_MQTT_URL", "mqtt://x", "TABLECTL_MQTT__URL"),
        ("TABLECTL_WEB__PORTT", "1", "port"),
        ("TABLECTL_WEB__PORT", "x", "TCP port"),
        ("TABLECTL_TABLES", "[{", "one key"),
        ("TABLECTL_TABLES", '[{"id": "A B", "port": "/x"}]', "topics"),
        ("TABLECTL_TABLES__0__PORT", "/x", "block"),
        ("TABLECTL_LOG__UNMASK", "yes", "test bench"),
    ],
)
def test_a_fault_of_the_environment_names_its_variable(
    name: str, value: str, hint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, value)
    problem = fault(TABLE)
    assert (problem.file, problem.line) == (f"environment variable {name}", 0)
    assert hint in problem.hint


def test_other_variables_of_that_name_are_nobodys_business(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TABLECTL_SHARED", "/x")
    monkeypatch.setenv("TABLECTL_SCALE", "1")  # near enough to `tables` to be taken for it
    monkeypatch.setenv("TABLECTL_KILL_AT", "")
    assert loads(TABLE).tables[0].id == "t1"


# ---------------------------------------------------------------- secrets


def judged(folder: Path, text: str) -> dict[str, Problem]:
    """Problems of a whole file by code."""
    path = folder / "hall.toml"
    path.write_text(text, encoding="utf-8")
    path.chmod(0o640)
    return {problem.code: problem for problem in hallfile.problems(load(path), path)}


def secret(folder: Path, source: str) -> dict[str, Problem]:
    return judged(folder, f'[mqtt]\nusername = "u"\npassword = {source}\n{TABLE}')


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"pw\r\n", ""), (b"\xef\xbb\xbfpw\n", ""), (b"", "secret_empty"), (b"\n", "secret_empty"),
        (b"user:$7$hash\nother:$7$hash\n", "secret_lines"), (b"\xff", "secret_missing"),
    ],
)  # fmt: skip
def test_a_secret_file_holds_one_line(tmp_path: Path, data: bytes, code: str) -> None:
    file = tmp_path / "pw"
    file.write_bytes(data)
    file.chmod(0o640)
    assert list(secret(tmp_path, '{ file = "pw" }')) == ([code] if code else [])


def test_a_secret_that_everybody_may_read_is_a_warning(tmp_path: Path) -> None:
    (tmp_path / "pw").write_text("x", encoding="utf-8")
    (tmp_path / "pw").chmod(0o644)
    found = secret(tmp_path, '{ file = "pw" }')
    assert (found["secret_open"].severity, found["secret_open"].line) == ("warning", 3)
    assert "chmod 640" in found["secret_open"].hint
    path = tmp_path / "hall.toml"
    path.write_text(f'[mqtt]\nusername = "u"\npassword = "x"\n{TABLE}', encoding="utf-8")
    path.chmod(0o644)
    (problem,) = hallfile.problems(load(path), path)
    assert (problem.code, problem.severity) == ("secret_open", "warning")
    assert main(["config", "check", str(path)]) == 0, "a warning is no fault"


def test_a_credential_is_seen_by_the_service_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CREDENTIALS_DIRECTORY", raising=False)
    monkeypatch.setattr("tablectl.config.secret.SERVICE_CREDENTIALS", tmp_path / "none")
    found = secret(tmp_path, '{ credential = "mqtt" }')
    assert found["secret_elsewhere"].severity == "warning"
    path = tmp_path / "hall.toml"
    (problem,) = hallfile.problems(load(path), path, serving=True)
    assert (problem.code, problem.severity) == ("secret_elsewhere", "error")
    assert "LoadCredential=mqtt:" in problem.hint
    monkeypatch.setenv("CREDENTIALS_DIRECTORY", str(tmp_path))
    assert (
        "LoadCredential=mqtt:" in secret(tmp_path, '{ credential = "mqtt" }')["secret_missing"].hint
    )
    assert "before the colon" in fault('[mqtt]\npassword = { credential = "../x" }\n').message


# ---------------------------------------------------------------- what the file names


@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        ('[mqtt]\nurl = "mqtt://b:1:2"\n' + TABLE, "bad_broker_address", 2),
        ('[mqtt]\nurl = "mqtt://"\n' + TABLE, "bad_broker_address", 2),
        ('[mqtt]\nca_file = "no.pem"\n' + TABLE, "file_missing", 2),
        ('[mqtt]\nca_file = "hall.toml"\n' + TABLE, "no_certificate", 2),
        ('[journal]\npath = "."\n' + TABLE, "journal_is_folder", 2),
        (TABLE + 'driver = "lines"\n', "driver", 4),
        (TABLE.replace("/dev/ttyUSB0", "sokcet://x:1"), "port_address", 3),
        (TABLE + 'tiles = "no.toml"\n', "tiles_unreadable", 4),
        (TABLE + 'tiles = "hall.toml"\n', "tiles_format", 4),
        (TABLE + 'ruleset = "tenhuo"\n', "unknown_ruleset", 4),
        (TABLE + 'ruleset = "tenhou,kuitann=false"\n', "unknown_option", 4),
        (TABLE + 'ruleset = "no.toml"\n', "unreadable", 4),
        ('[venue]\nrulesets = ["no.toml"]\n' + TABLE, "unreadable", 2),
        ("", "no_tables", 0),
    ],
)
def test_what_a_start_would_find_out_is_found_before(
    tmp_path: Path, text: str, code: str, line: int
) -> None:
    found = judged(tmp_path, text)
    assert list(found) == [code]
    assert (found[code].line, found[code].severity) == (line, "error")
    assert found[code].hint
    assert main(["config", "check", str(tmp_path / "hall.toml")]) == 1
    assert main(["run", "--config", str(tmp_path / "hall.toml")]) == 2


def test_one_port_under_two_names_is_one_port(tmp_path: Path) -> None:
    (tmp_path / "by-id").symlink_to("/dev/null")
    second = TABLE.replace("t1", "t2").replace("/dev/ttyUSB0", "by-id")
    third = TABLE.replace("t1", "t3").replace("/dev/ttyUSB0", "/dev/null")
    found = judged(tmp_path, TABLE + second + third)
    assert (found["duplicate_port"].line, found["duplicate_port"].key) == (9, "tables[3].port")
    assert "'t2'" in found["duplicate_port"].message


def test_all_that_the_file_names_is_relative_to_it(tmp_path: Path) -> None:
    text = (
        '[venue]\nrulesets = ["friday.toml"]\n[mqtt]\nca_file = "ca.pem"\npassword = { file = "pw" }\n'
        '[[tables]]\nid = "t1"\nport = "tty-of-mine"\nruleset = "hall.toml,kuitan=false"\n'
    )
    path = tmp_path / "t.toml"
    path.write_text(text, encoding="utf-8")
    settings = load(path)
    assert settings.mqtt is not None
    assert settings.mqtt.password is not None
    assert settings.mqtt.password.file == tmp_path / "pw"
    assert settings.mqtt.ca_file == tmp_path / "ca.pem"
    assert settings.venue.rulesets == (tmp_path / "friday.toml",)
    assert settings.tables[0].port == str(tmp_path / "tty-of-mine")
    assert settings.tables[0].ruleset == f"{tmp_path / 'hall.toml'},kuitan=false"


# ---------------------------------------------------------------- the command


@pytest.mark.parametrize(
    ("name", "words"),
    [
        (".", "is a folder"), ("none/t.toml", "mkdir -p"), ("none.toml", "config init"),
        ("file/t.toml", "is a file"),
    ],
)  # fmt: skip
def test_a_file_that_cannot_be_read_says_why(
    tmp_path: Path, name: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    for command in (["config", "check"], ["run", "--config"], ["doctor", "--config"]):
        assert main([*command, str(tmp_path / name)]) == 2
        assert words in capsys.readouterr().err
    assert main(["config", "init", "--force", str(tmp_path / name)]) == (
        0 if name == "none.toml" else 2
    )


@pytest.mark.parametrize(
    "words",
    ["mqtt", "[mqtt]", "MQTT", "mqtt.url", "url", "TABLECTL_MQTT__URL", "[[tables]]", "sensors"],
)
def test_a_key_is_explained_however_it_is_named(
    words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    if words == "sensors":
        assert main(["config", "explain", words]) == 2
        assert "tables.sensors" in capsys.readouterr().err
        return
    assert main(["config", "explain", words]) == 0
    said = capsys.readouterr().out
    assert "example:" in said
    assert "a change" in said
