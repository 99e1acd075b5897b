"""The daemon's own word at /healthz, or whether its address is free."""

from __future__ import annotations

import errno
import json
import socket
import urllib.error
import urllib.request
from typing import Any

from tablectl.config import WebSettings
from tablectl.doctor.finding import Finding, fail, ok, warn

WAIT_S = 3.0


def examine(web: WebSettings, daemon: int) -> list[Finding]:
    """`daemon`: pid of a running daemon, 0 for none."""
    if not web.enabled:
        return []
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(web.host, web.host)  # noqa: S104 - only compared
    shown = f"[{host}]" if ":" in host else host
    address = f"http://{shown}:{web.port}"
    if not daemon:
        return [_free(web, address)] if web.port else []
    try:
        facts = _ask(f"{address}/healthz")
    except (OSError, ValueError) as error:
        return [
            fail(
                "daemon", address, "pages_silent", f"the running daemon does not answer: {error}",
                "see journalctl -u tablectl; restart it if it hangs",
            )
        ]  # fmt: skip
    return _parts(facts, address)


def _ask(url: str) -> dict[str, Any]:
    try:
        with urllib.request.urlopen(url, timeout=WAIT_S) as answer:  # noqa: S310 - our own http address
            body = answer.read()
    except urllib.error.HTTPError as error:  # 503: not well, and says why
        body = error.read()
    facts = json.loads(body)
    if not isinstance(facts, dict) or "tables" not in facts:
        msg = "something else answers there"
        raise ValueError(msg)
    return facts


def _parts(facts: dict[str, Any], address: str) -> list[Finding]:
    found = [
        fail(
            "daemon", address, "stuck", f"{part} is stuck",
            "systemd restarts it after WatchdogSec; else sudo systemctl restart tablectl",
        )
        for part in facts["stuck"]
    ]  # fmt: skip
    journal = facts["journal"]
    if journal["state"] != "ok":
        found.append(
            fail(
                "daemon", "journal", f"journal_{journal['state']}", f"{journal['state']}: {journal['reason']}",
                "make room on the disk; the daemon catches up by itself",
            )
        )  # fmt: skip
    for name, table in facts["tables"].items():
        found += _table(name, table)
    lag = facts["loop_lag_ms"]
    if lag > 250:
        found.append(
            warn(
                "daemon", address, "loop_late", f"the loop was {lag:.0f} ms late in the last minute",
                "look for another program that takes the processor (top), or fewer tables on this host",
            )
        )  # fmt: skip
    return found or [ok("daemon", address, f"version {facts['version']}, all parts well")]


def _table(name: str, table: dict[str, Any]) -> list[Finding]:
    found = []
    if table["link"] != "up":
        reason = table["reason"] or "no reason given"
        found.append(
            fail("daemon", name, "link_down", f"link {table['link']}: {reason}", "see its port and board below")
        )  # fmt: skip
    if table["bus"] not in {"online", "off"}:
        text = f"{table['bus']} at the broker, {table['outbox']} events wait"
        fix = "see the broker's line; events are kept"
        if table["bus"] == "stopped":
            fix = "another daemon speaks for this table: stop one of them, then restart this one"
        found.append(fail("daemon", name, f"bus_{table['bus']}", text, fix))
    if not table["durable"]:
        found.append(
            fail("daemon", name, "not_durable", "the last events are in memory only", "make room on the disk")
        )  # fmt: skip
    found += [
        warn(
            "daemon", name, "machine", f"the machine says: {trouble}",
            "free, cool or clean what it names; the table tells when it is well again",
        )
        for trouble in table.get("machine", ())
    ]  # fmt: skip
    if table.get("contradiction"):
        found.append(
            warn(
                "daemon", name, "contradiction", "what the table sees contradicts the rules: scoring waits",
                "a person looks at the table: put its tiles right, or ask hand/take_over and report the result",
            )
        )  # fmt: skip
    if table["fault"]:
        found.append(
            warn(
                "daemon", name, "defect", f"a defect was met: {table['fault']}",
                "the log has its trace (journalctl -u tablectl); please report it",
            )
        )  # fmt: skip
    return found


def _free(web: WebSettings, address: str) -> Finding:
    family = socket.AF_INET6 if ":" in web.host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((web.host, web.port))
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                return fail(
                    "web", address, "web_port_busy", "another program listens there",
                    f"sudo ss -ltnp 'sport = :{web.port}' names it; or another [web] port",
                )  # fmt: skip
            if error.errno == errno.EACCES:
                return fail(
                    "web", address, "web_port_denied", "ports below 1024 are for root",
                    "choose a higher one in [web] port",
                )  # fmt: skip
            return fail(
                "web", address, "web_address", f"cannot be used: {error.strerror or error}",
                'set [web] host to an address of this computer ("0.0.0.0" is all)',
            )  # fmt: skip
    return ok("web", address, "free for the pages")
