"""Pages, API and streams over real HTTP: public data only, and streams that resume where they broke off."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
from collections.abc import AsyncIterator, Coroutine
from typing import Any

import aiohttp
import pytest

from tablectl.engine.game import commands as cmd
from tablectl.engine.game.codec import Visibility, plan
from tablectl.engine.game.events import EVENTS
from tablectl.web.hub import QUIET
from tablectl.web.server import STATIC, WebAddressError, WebServer
from tests.web.played import PlayedTable, start_of_game, start_of_hand
from tests.web.sse import events, next_of


@contextlib.asynccontextmanager
async def serving(
    *tables: PlayedTable, **more: Any
) -> AsyncIterator[tuple[WebServer, aiohttp.ClientSession]]:
    server = WebServer(tables, venue="hall", venue_name="麻雀 一番館", **more)
    await server.start()
    try:
        async with aiohttp.ClientSession(server.address) as client:
            yield server, client
    finally:
        await server.stop()


def go(story: Coroutine[Any, Any, None]) -> None:
    async def bounded() -> None:
        async with asyncio.timeout(30):
            await story

    asyncio.run(bounded())


def test_tables_are_listed_with_link_state_and_news() -> None:
    async def story() -> None:
        table, idle = PlayedTable("t1"), PlayedTable("t2", "2番卓")
        table.do(start_of_game(), *start_of_hand(), cmd.DeclareRiichi(2))
        async with serving(table, idle) as (_, client):
            async with client.get("/api/stream") as response:
                stream = events(response)
                rows = [(await next_of(stream, "table")).data for _ in range(2)]
            assert {row["table"] for row in rows} == {"t1", "t2"}
            async with client.get("/api/tables") as response:
                body = await response.json()
            assert body["venue"] == {"id": "hall", "name": "麻雀 一番館"}
            first, second = body["tables"]
            game = first["state"]["game"]
            assert first["name"] == "1番卓"
            assert game["seats"][2]["riichi"] == "accepted"
            assert game["round"] == {
                "wind": "E", "number": 1, "honba": 0, "deposits": 1, "dealer": 0,
            }  # fmt: skip
            assert first["news"][0]["type"] == "riichi_declared"
            assert second["state"]["game"] is None
            async with client.get("/api/tables/t2") as response:
                assert (await response.json())["table"] == "t2"

    go(story())


def test_a_stream_tells_each_change_and_resumes_after_last_event_id() -> None:
    async def story() -> None:
        table = PlayedTable()
        table.do(start_of_game())
        async with serving(table) as (server, client):
            async with client.get("/api/tables/t1/stream") as response:
                assert response.headers["Content-Type"].startswith("text/event-stream")
                stream = events(response)
                first = (await next_of(stream, "table")).data
                assert first["state"]["last_seq"] == 1
                table.do(cmd.PressStart())
                server.wake("t1")
                sent = await next_of(stream, "event")
                assert sent.data["type"] == "hand_started"
                assert sent.id == f"{table.stream}:2"
            table.do(cmd.WallsReady(), cmd.RollDice(3, 4), cmd.Deal(), cmd.RevealDora())
            server.wake("t1")
            headers = {"Last-Event-ID": str(sent.id)}
            async with client.get("/api/tables/t1/stream", headers=headers) as response:
                stream = events(response)
                missed = [(await next_of(stream, "event")).data["seq"] for _ in range(3)]
            assert missed == [3, 4, 5]

    go(story())


@pytest.mark.parametrize(
    "given", ["another-journal:1", "x", ":", "99999999999999999999:1", "\u00e9:1"]
)
def test_a_foreign_last_event_id_starts_from_now(given: str) -> None:
    async def story() -> None:
        table = PlayedTable()
        table.do(start_of_game(), cmd.PressStart())
        async with serving(table) as (server, client):
            headers = {"Last-Event-ID": given}
            async with client.get("/api/tables/t1/stream", headers=headers) as response:
                stream = events(response)
                await next_of(stream, "table")
                table.do(cmd.WallsReady())
                server.wake("t1")
                assert (await next_of(stream, "event")).data["seq"] == 3

    go(story())


def test_events_after_a_seq_heal_a_gap() -> None:
    async def story() -> None:
        table = PlayedTable()
        table.do(start_of_game(), *start_of_hand())
        async with serving(table) as (_, client):
            async with client.get("/api/tables/t1/events?after=2") as response:
                body = await response.json()
            assert [event["seq"] for event in body["events"]] == list(
                range(3, body["last_seq"] + 1)
            )
            assert body["stream"] == table.stream

    go(story())


@pytest.mark.parametrize(
    ("path", "status", "code"),
    [
        ("/api/tables/nobody", 404, "unknown_table"),
        ("/api/tables/nobody/stream", 404, "unknown_table"),
        ("/api/tables/t1/events?after=-1", 400, "bad_after"),
        ("/api/tables/t1/events?after=" + "9" * 30, 400, "bad_after"),
        ("/api/nothing", 404, "http_error"),
    ],
)
def test_errors_of_the_api_are_json_with_a_code(path: str, status: int, code: str) -> None:
    async def story() -> None:
        async with serving(PlayedTable()) as (_, client), client.get(path) as response:
            assert response.status == status
            assert (await response.json())["error"]["code"] == code

    go(story())


@pytest.mark.parametrize(
    "path", ["/board", "/static/board.js", "/api/tables", "/api/stream", "/nothing"]
)
def test_every_answer_carries_the_security_headers(path: str) -> None:
    async def story() -> None:
        async with serving(PlayedTable()) as (_, client), client.get(path) as response:
            policy = response.headers["Content-Security-Policy"]
            assert "default-src 'self'" in policy
            assert "unsafe" not in policy
            assert response.headers["X-Content-Type-Options"] == "nosniff"
            assert response.headers["Referrer-Policy"] == "no-referrer"

    go(story())


@pytest.mark.parametrize(
    "path", ["/static/../server.py", "/static/%2e%2e/server.py", "/static//etc/passwd", "/static/"]
)
def test_nothing_outside_the_pages_can_be_read(path: str) -> None:
    async def story() -> None:
        async with serving(PlayedTable()) as (server, _):
            reader, writer = await asyncio.open_connection(
                "127.0.0.1", int(server.address.rpartition(":")[2])
            )
            writer.write(f"GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
            answer = await reader.read()
            writer.close()
            assert answer.split()[1] in (b"403", b"404")

    go(story())


def test_health_and_metrics_come_from_the_daemon() -> None:
    async def story() -> None:
        health = (False, {"journal": "memory"})
        async with serving(PlayedTable(), health=lambda: health, metrics=lambda: "up 1\n") as (
            _,
            client,
        ):
            async with client.get("/healthz") as response:
                assert response.status == 503
                assert await response.json() == {"healthy": False, "journal": "memory"}
            async with client.get("/metrics") as response:
                assert await response.text() == "up 1\n"

    go(story())


def test_a_taken_port_is_told_with_what_to_do() -> None:
    async def story() -> None:
        async with serving(PlayedTable()) as (server, _):
            port = int(server.address.rpartition(":")[2])
            second = WebServer([PlayedTable()], venue="hall", port=port)
            with pytest.raises(WebAddressError) as caught:
                await second.start()
            assert caught.value.code == "web_address"
            assert str(port) in str(caught.value)
            assert "[web] port" in caught.value.hint

    go(story())


def test_stopping_ends_open_streams_at_once() -> None:
    async def story() -> None:
        server = WebServer([PlayedTable()], venue="hall")
        await server.start()
        async with (
            aiohttp.ClientSession(server.address) as client,
            client.get("/api/stream") as response,
        ):
            await next_of(events(response), "table")
            async with asyncio.timeout(2):
                await server.stop()
                await response.read()

    go(story())


def test_no_concealed_tile_reaches_a_page() -> None:
    """A hand at level tiles: every tile of the four hands is known to the engine, none to the API."""

    async def story() -> None:
        table = PlayedTable()
        start = start_of_game()
        table.do(
            cmd.StartGame("g", start.ruleset, start.players, knowledge="tiles", auto_deal=True)
        )
        hands = tuple(tuple(4 * [kind] + 4 * [kind + 1] + 4 * [kind + 2] + [27 + seat])
                      for seat, kind in enumerate((0, 3, 9, 12)))  # fmt: skip
        table.do(
            cmd.PressStart(), cmd.WallsReady(), cmd.Deal(hands), cmd.RevealDora(26), cmd.Draw(0, 18)
        )
        assert table.state.seats[0].hand
        async with serving(table) as (_, client):
            for path in ("/api/tables", "/api/tables/t1", "/api/tables/t1/events"):
                async with client.get(path) as response:
                    body = json.loads(await response.text())
                assert {text for text in _texts(body) if re.fullmatch("[0-9][mpsz]", text)} == {
                    "9s"
                }

    go(story())


def _texts(value: Any) -> list[str]:
    """Every text in game data; a ruleset holds none of tiles."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for key, item in value.items() if key != "ruleset" for text in _texts(item)]
    if isinstance(value, list):
        return [text for item in value for text in _texts(item)]
    return []


@pytest.mark.parametrize("language", ["en", "ja"])
def test_the_board_has_words_for_every_event_it_tells(language: str) -> None:
    text = (STATIC / "words.js").read_text(encoding="utf-8")
    block = text.split(f"\n  {language}: {{")[1].split("\n    },\n  },")[0].split("says: {")[1]
    said = set(re.findall(r"^      (\w+): \(", block, re.MULTILINE)) | {"won"}
    public = {
        kind
        for kind, event in EVENTS.items()
        if not plan(event) or any(field.visibility is Visibility.PUBLIC for field in plan(event))
    }
    assert public - QUIET <= said
    assert said <= public
