"""One demo from the first line on the terminal to the last: plays, tells, ends cleanly on Ctrl-C."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
import webbrowser
from dataclasses import dataclass
from typing import TextIO

from tablectl.cli.demo.ending import summary
from tablectl.cli.demo.process import DemoError
from tablectl.cli.demo.stage import Plan, Stage
from tablectl.cli.demo.teller import Teller, final_lines, is_terminal

EXIT_OK, EXIT_FINDINGS, EXIT_INTERRUPTED = 0, 1, 130


@dataclass(frozen=True, slots=True)
class Show:
    """How a plan is shown."""

    plan: Plan
    headless: bool
    exit_at_end: bool
    as_json: bool


def perform(show: Show) -> int:
    """0 played and all is well, 1 something differed, 130 ended by Ctrl-C before the end."""
    return asyncio.run(_perform(show))


async def _perform(show: Show) -> int:
    main = asyncio.current_task()
    assert main is not None
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, main.cancel)
    # With --json only the summary goes to standard output.
    out = sys.stderr if show.as_json else sys.stdout
    teller = Teller(out, live=is_terminal(out) and not show.headless)
    over = False
    try:
        async with Stage(show.plan, teller.hear) as stage:
            _open_page(show, stage.address, teller)
            await stage.play()
            teller.finish()
            findings = _tell_end(stage, teller)
            if show.as_json:
                print(json.dumps(summary(show.plan.record.id, stage.seen)), flush=True)
            over = True
            if not show.exit_at_end:
                teller.say(f"The page stays at {stage.address} until Ctrl-C.")
                await asyncio.Event().wait()
            return EXIT_FINDINGS if findings else EXIT_OK
    except asyncio.CancelledError:
        teller.finish()
        main.uncancel()
        if not over:
            teller.say("interrupted; everything is stopped")
        return EXIT_OK if over else EXIT_INTERRUPTED
    finally:
        teller.finish()


def _open_page(show: Show, address: str, teller: Teller) -> None:
    teller.say(f"Board: {address}")
    plan = show.plan
    pace = "as fast as possible" if plan.speed is None else f"{plan.speed:g} times human speed"
    teller.say(
        f"Record {plan.record.id} on a simulated table, level {plan.level}, {pace}. Ctrl-C ends."
    )
    desktop = os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    if not show.headless and desktop and is_terminal(sys.stdout):
        with contextlib.suppress(webbrowser.Error, OSError):
            webbrowser.open(address)


def _tell_end(stage: Stage, teller: Teller) -> list[str]:
    """The final table, and what a subscriber must never see."""
    seen = stage.seen
    ended = next((event for event in reversed(seen.events) if event.type == "game_ended"), None)
    started = next((event for event in seen.events if event.type == "game_started"), None)
    if ended is not None and started is not None:
        names = [
            name or player
            for name, player in zip(started.field("names"), started.field("players"), strict=True)
        ]
        facts = {key: ended.field(key) for key in ("scores", "ranks", "points", "points_scale")}
        for line in final_lines(names, facts):
            teller.say(line)
    findings = [f"seq {wanted} is missing (next was {came})" for wanted, came in seen.gaps]
    hands = sum(event.type == "hand_ended" for event in seen.events)
    if ended is None and hands < len(stage.plan.record.rounds):
        findings.append(f"only {hands} of {len(stage.plan.record.rounds)} hands ended")
    report = stage.simulator.table.report()
    if report["executed_twice"]:
        findings.append(f"the table did an action twice: {report['executed_twice']}")
    for finding in findings:
        print(f"tablectl demo: {finding}", file=sys.stderr)
    teller.say(
        f"{hands} hands, {len(seen.ids)} events over MQTT ({stage.broker.name}), "
        f"{len(seen.gaps)} gaps."
    )
    return findings


def tell_error(error: DemoError, stream: TextIO) -> None:
    """One error for a person."""
    print(f"tablectl demo: {error}", file=stream)
