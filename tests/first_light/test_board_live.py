"""The whole way to a person's eye: pty, frames, daemon, broker, server, and a real Chromium."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import expect

from tablectl.records import bundled
from tablectl.records.reader import read_records
from tests.conftest import need_program
from tests.first_light.demos import interrupt, start
from tests.first_light.test_demo_life import first_lines
from tests.web.browser import chromium, watch_errors


def test_a_score_change_is_seen_on_the_board(tmp_path: Path) -> None:
    need_program("mosquitto")
    record = next(read_records(bundled.resolve(None)))
    quick = ("--speed", "30", "--headless", "--table-level", "basic")
    with chromium() as browser, start(tmp_path, *quick) as demo:
        address = first_lines(demo, 1)[0].removeprefix("Board: ")
        page = browser.new_page(locale="en-GB")
        errors = watch_errors(page)
        page.goto(f"{address}?lang=en")
        scores = page.locator(".seat .score")
        first = record.rounds[0]
        before = [f"{score:,}" for score in first["start"]]
        after = [f"{score:,}" for score in first["end"]]
        assert before != after
        expect(scores).to_have_text(before, timeout=30_000)
        expect(page.locator(".change").first).to_be_visible(timeout=60_000)
        expect(scores).to_have_text(after, timeout=10_000)
        following = record.rounds[1]
        expect(page.locator(".round")).to_have_text(f"East {following['num']}")
        assert errors == []
        ended = interrupt(demo)
    assert ended.code == 130
