"""The hall board in a real Chromium: what a spectator sees, live, in both languages, through losses."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tablectl.engine.game import commands as cmd
from tablectl.web.server import WebServer
from tests.web.browser import chromium, watch_errors
from tests.web.played import NAMES, PlayedTable, start_of_game, start_of_hand


class Hall:
    """A web server in a thread of its own, so that a test may drive a browser meanwhile."""

    def __init__(self, tables: list[PlayedTable]) -> None:
        self.tables = tables
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self.port = 0
        self.open()

    def open(self) -> None:
        self.server = WebServer(self.tables, venue="hall", venue_name="麻雀 一番館", port=self.port)
        self._wait(self.server.start())
        self.port = int(self.server.address.rpartition(":")[2])

    def shut(self) -> None:
        self._wait(self.server.stop())

    def do(self, table: PlayedTable, act: Callable[[], Any]) -> None:
        """Change a table inside the server's loop, and wake its pages."""

        async def change() -> None:
            act()
            self.server.wake(table.table_id)

        self._wait(change())

    def close(self) -> None:
        self.shut()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    def _wait(self, coroutine: Any) -> None:
        asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(20)


@pytest.fixture(scope="module")
def page() -> Iterator[Page]:
    with chromium() as browser:
        yield browser.new_page(viewport={"width": 1280, "height": 800}, locale="en-GB")


@contextmanager
def hall(*tables: PlayedTable) -> Iterator[Hall]:
    opened = Hall(list(tables))
    try:
        yield opened
    finally:
        opened.close()


def seat(page: Page, number: int, table: str = "t1") -> Any:
    return page.locator(f'article[data-table="{table}"] .seat[data-seat="{number}"]')


def test_a_score_change_a_riichi_and_the_dealer_are_seen_live(page: Page) -> None:
    errors = watch_errors(page)
    table = PlayedTable()
    table.do(start_of_game())
    with hall(table) as opened:
        page.goto(f"{opened.server.address}/board?lang=en")
        for number, name in enumerate(NAMES):
            expect(seat(page, number).locator(".player")).to_have_text(name)
            expect(seat(page, number).locator(".score")).to_have_text("25,000")
        expect(page.locator(".round")).to_have_text("East 1")
        expect(seat(page, 0)).to_have_class("seat dealer")
        opened.do(table, lambda: table.do(*start_of_hand(), cmd.DeclareRiichi(2)))
        expect(seat(page, 2)).to_have_class("seat riichi")
        expect(page.locator(".news")).to_have_text("千早: riichi")
        opened.do(table, lambda: table.do(cmd.Win(2, 1, han=4, fu=30), cmd.Settle()))
        expect(seat(page, 2).locator(".score")).to_have_text("32,700")
        expect(seat(page, 1).locator(".score")).to_have_text("17,300")
        expect(page.locator(".round")).to_have_text("East 2")
        expect(seat(page, 1)).to_have_class("seat dealer")
        expect(page.locator(".news")).to_have_text("千早: ron from Björk · 4 han 30 fu · 7,700")
    assert [e for e in errors if "ERR_" not in e] == []


def test_the_language_is_switched_and_remembered(page: Page) -> None:
    table = PlayedTable()
    table.do(start_of_game(), *start_of_hand())
    with hall(table) as opened:
        page.goto(f"{opened.server.address}/board")
        expect(page.locator(".round")).to_have_text("East 1")
        page.get_by_role("button", name="日本語に切り替える").click()
        expect(page.locator(".round")).to_have_text("東1局")
        assert page.evaluate("document.documentElement.lang") == "ja"
        page.reload()
        expect(page.locator(".round")).to_have_text("東1局")
        page.get_by_role("button", name="Switch to English").click()
        expect(page.locator(".round")).to_have_text("East 1")


def test_the_page_comes_back_by_itself_after_the_daemon_was_away(page: Page) -> None:
    table = PlayedTable()
    table.do(start_of_game())
    with hall(table) as opened:
        page.goto(f"{opened.server.address}/board?lang=en")
        expect(page.locator("#connection")).to_have_text("live")
        opened.shut()
        expect(page.locator("#connection")).to_have_text("connection lost, trying again …")
        table.do(*start_of_hand(), cmd.Win(0, 3, limit="mangan"), cmd.Settle())
        opened.open()
        expect(page.locator("#connection")).to_have_text("live", timeout=15_000)
        expect(seat(page, 0).locator(".score")).to_have_text("37,000")


def test_all_tables_fit_on_one_screen_and_idle_ones_say_so(page: Page) -> None:
    tables = [PlayedTable(f"t{number}", f"{number}番卓") for number in range(1, 7)]
    for table in tables[:5]:
        table.do(start_of_game())
    with hall(*tables) as opened:
        page.goto(f"{opened.server.address}/board?lang=en")
        expect(page.locator("article")).to_have_count(6)
        expect(page.locator('article[data-table="t6"] .round')).to_have_text("no game")
        bottom = page.evaluate("Math.max(...[...document.querySelectorAll('article')]"
                               ".map((e) => e.getBoundingClientRect().bottom))")  # fmt: skip
        assert bottom <= 800
        overflow = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        assert overflow <= 0


def test_a_name_that_is_markup_stays_text(page: Page) -> None:
    table = PlayedTable()
    evil = "<img src=x onerror=document.title=1>"
    table.do(start_of_game(names=(evil, "b", "c", "d")))
    with hall(table) as opened:
        page.goto(f"{opened.server.address}/board?lang=en")
        expect(seat(page, 0).locator(".player")).to_have_text(evil)
        assert page.locator(".player img").count() == 0
        assert page.title() != "1"
