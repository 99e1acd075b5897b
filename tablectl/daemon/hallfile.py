"""The hall's file beyond its own words: what a start would find out, found before anything is opened.

One look for `config check`, `run`, reload and `doctor`, so that none of them knows more than the others.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from importlib.metadata import entry_points
from pathlib import Path
from urllib.parse import urlsplit

from tablectl.bus.broker import Broker, BrokerAddressError
from tablectl.config import Problem, Settings, TableSettings
from tablectl.config.check import beyond_syntax
from tablectl.config.problem import Places
from tablectl.engine.rules import HallRules, RuleError
from tablectl.engine.rules.word import split
from tablectl.mirror.tags import TileFileError, load_tags
from tablectl.table.drivers import GROUP as DRIVERS
from tablectl.table.errors import PortAddressError
from tablectl.table.locate import PYSERIAL_SCHEMES, TRANSPORTS


def problems(settings: Settings, path: Path, *, serving: bool = False) -> list[Problem]:
    """Every fault and warning of a well-formed file, in the order of the file.

    `serving`: this process is the daemon. Another one cannot see what systemd gives to the service only.
    """
    places = Places.of(path)
    found = [*beyond_syntax(settings, places), *_address(settings, places)]
    if not serving:
        found = [
            replace(p, severity="warning") if p.code == "secret_elsewhere" else p for p in found
        ]
    rules, rule_faults = _house_rules(settings, places)
    found += rule_faults
    for index, table in enumerate(settings.tables):
        found += _table(table, index, places)
        if rules is not None:
            found += _ruleset(rules, table, index, places)
    return sorted(found, key=lambda problem: (problem.line, problem.column))


def errors(found: list[Problem]) -> list[Problem]:
    """Those that keep a daemon from starting."""
    return [problem for problem in found if problem.severity == "error"]


def rules_of(settings: Settings) -> HallRules:
    """The rulesets that may be named in this hall. Raises RuleError."""
    return HallRules(rule_files(settings))


def rule_files(settings: Settings) -> list[Path]:
    """The house-rule files of the hall and of its tables."""
    names = [split(table.ruleset)[0] for table in settings.tables]
    return [*settings.venue.rulesets, *(Path(name) for name in names if name.endswith(".toml"))]


def _address(settings: Settings, places: Places) -> Iterator[Problem]:
    if settings.mqtt is None:
        return
    try:
        Broker.from_url(settings.mqtt.url)
    except BrokerAddressError as error:
        yield places.problem(
            error.code, ("mqtt", "url"), str(error), error.hint, 'url = "mqtt://localhost:1883"'
        )


def _house_rules(settings: Settings, places: Places) -> tuple[HallRules | None, list[Problem]]:
    """Each file by itself, so that every fault is told; then all of them together."""
    found = []
    for index, file in enumerate(settings.venue.rulesets):
        try:
            HallRules([file])
        except RuleError as error:
            found.append(_rule_problem(error, ("venue", "rulesets", index), places))
    for index, table in enumerate(settings.tables):
        name = split(table.ruleset)[0]
        if name.endswith(".toml"):
            try:
                HallRules([Path(name)])
            except RuleError as error:
                found.append(_rule_problem(error, ("tables", index, "ruleset"), places))
    if found:
        return None, list(dict.fromkeys(found))
    try:
        return rules_of(settings), []
    except RuleError as error:
        return None, [_rule_problem(error, ("venue", "rulesets"), places)]


def _ruleset(
    rules: HallRules, table: TableSettings, index: int, places: Places
) -> Iterator[Problem]:
    try:
        rules.pick(table.ruleset)
    except RuleError as error:
        yield _rule_problem(error, ("tables", index, "ruleset"), places)


def _rule_problem(error: RuleError, key: tuple[str | int, ...], places: Places) -> Problem:
    """A fault in a rule file stands there; one of the hall's own word stands in the hall's file."""
    hint = f"did you mean '{error.nearest}'?" if error.nearest else error.hint
    if error.file and error.code != "unreadable" and not _of_options(error):
        return Problem(error.code, error.file, error.line, 1, error.key, error.message, hint)
    message = f"{error.file}: {error.message}" if error.file else error.message
    if error.code == "unreadable":
        hint = hint or "name a file that is there; a path is relative to this file"
    return places.problem(error.code, key, message, hint)


def _of_options(error: RuleError) -> bool:
    return error.code == "unknown_option"


def _table(table: TableSettings, index: int, places: Places) -> Iterator[Problem]:
    at = ("tables", index)
    scheme = urlsplit(table.port).scheme if "://" in table.port else ""
    own = {point.name for point in entry_points(group=TRANSPORTS)}
    if scheme and scheme not in PYSERIAL_SCHEMES | own:
        yield places.problem(
            PortAddressError.code, (*at, "port"), f"there is no transport {scheme}://",
            f"known are {', '.join(sorted(own | {'socket', 'rfc2217'}))}, paths, and usb:VID:PID",
            'port = "socket://adapter.local:4001"',
        )  # fmt: skip
    drivers = ["framed", "line", *sorted(point.name for point in entry_points(group=DRIVERS))]
    if table.driver not in drivers:
        yield places.problem(
            "driver", (*at, "driver"), f"there is no driver {table.driver!r}",
            f"installed are: {', '.join(drivers)}", 'driver = "framed"',
        )  # fmt: skip
    if table.tiles is not None:
        try:
            load_tags(table.tiles)
        except TileFileError as error:
            yield places.problem(
                error.code, (*at, "tiles"), f"{error.path}: {error.message}", error.hint
            )
