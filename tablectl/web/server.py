"""The HTTP server inside the daemon's loop: pages, the read-only API, live streams, health and metrics."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import socket
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any, Final

from aiohttp import web

from tablectl.bus.source import TableSource
from tablectl.bus.tasks import end
from tablectl.web.hub import CHUNK, Hub
from tablectl.web.streams import Stream, stream_events, stream_tables

STATIC: Final = Path(__file__).parent / "static"
STOP_S: Final = 0.5
HEADERS: Final = {
    # Everything a page needs comes from here: nothing else is loaded, run or framed.
    "Content-Security-Policy": "default-src 'self'; img-src 'self' data:; object-src 'none'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'self'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
}

Health = Callable[[], tuple[bool, dict[str, Any]]]
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class WebAddressError(OSError):
    """The address cannot be listened on: `code`, the value at fault, a hint."""

    code: Final = "web_address"

    def __init__(self, host: str, port: int, cause: OSError) -> None:
        # asyncio puts the address into the words of the system once more
        word = os.strerror(cause.errno) if cause.errno and cause.errno > 0 else str(cause)
        super().__init__(f"web: cannot listen on {host}:{port}: {word}")
        self.value = f"{host}:{port}"
        hints = {
            errno.EADDRINUSE: f"another program has this port (sudo ss -ltnp 'sport = :{port}' names it);"
            " choose another one in [web] port",
            errno.EACCES: "ports below 1024 are for root: choose a higher one in [web] port",
        }
        self.hint = hints.get(
            cause.errno or 0,
            "check [web] host and port; 127.0.0.1 is this machine only, 0.0.0.0 every network",
        )


class WebServer:
    """Pages of all tables of one daemon. Only public data passes through here."""

    def __init__(
        self,
        tables: Sequence[TableSource],
        *,
        venue: str,
        venue_name: str = "",
        host: str = "127.0.0.1",
        port: int = 0,
        health: Health = lambda: (True, {}),
        metrics: Callable[[], str] = lambda: "",
    ) -> None:
        self.hubs = {table.table_id: Hub(table) for table in tables}
        self._venue = {"id": venue, "name": venue_name}
        self._host = host
        self._port = port
        self._health = health
        self._metrics = metrics
        self._runner: web.AppRunner | None = None
        self._followers: list[asyncio.Task[None]] = []
        self._streams: set[asyncio.Task[Any]] = set()

    @property
    def address(self) -> str:
        """`http://host:port` that is really listened on."""
        host = f"[{self._host}]" if ":" in self._host else self._host
        return f"http://{host}:{self._port}"

    def wake(self, table_id: str) -> None:
        """Something was committed or changed at a table."""
        self.hubs[table_id].wake()

    async def start(self) -> None:
        """Listen. Raises `WebAddressError`."""
        runner = web.AppRunner(
            self._app(), access_log=None, handle_signals=False, shutdown_timeout=STOP_S
        )
        for hub in self.hubs.values():
            await hub.read()
        await runner.setup()
        try:
            site = web.TCPSite(runner, self._host, self._port)
            await site.start()
        except (OSError, OverflowError) as error:
            await runner.cleanup()
            cause = error if isinstance(error, OSError) else OSError(str(error))
            raise WebAddressError(self._host, self._port, cause) from None
        self._runner = runner
        sockets: list[socket.socket] = list(getattr(site._server, "sockets", ()))  # noqa: SLF001  # the only way to the port chosen for 0
        if sockets:
            self._port = int(sockets[0].getsockname()[1])
        self._followers = [asyncio.create_task(hub.follow()) for hub in self.hubs.values()]

    async def stop(self) -> None:
        """Close every stream and the port."""
        await end([*self._followers, *self._streams])
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None

    # ---- routes -----------------------------------------------------------------------------------

    def _app(self) -> web.Application:
        app = web.Application(middlewares=[_errors_as_json], client_max_size=64 * 1024)
        app.on_response_prepare.append(_add_headers)
        app.router.add_get("/", _to_board)
        app.router.add_get("/board", _page("board.html"))
        app.router.add_get("/api/tables", self._tables)
        app.router.add_get("/api/tables/{table}", self._table)
        app.router.add_get("/api/tables/{table}/events", self._events)
        app.router.add_get("/api/tables/{table}/stream", self._table_stream, allow_head=False)
        app.router.add_get("/api/stream", self._board_stream, allow_head=False)
        app.router.add_get("/healthz", self._healthz)
        app.router.add_get("/metrics", self._metrics_page)
        app.router.add_static("/static/", STATIC, append_version=False)
        return app

    async def _tables(self, request: web.Request) -> web.Response:
        rows = [hub.row() for hub in self.hubs.values()]
        return _json({"venue": self._venue, "tables": rows})

    async def _table(self, request: web.Request) -> web.Response:
        return _json(self._hub(request).row())

    async def _events(self, request: web.Request) -> web.Response:
        """Public events after `?after=SEQ`, at most a few hundred: how a consumer heals a gap."""
        hub = self._hub(request)
        text = request.query.get("after", "0")
        if not text.isdecimal() or len(text) > 18:
            return _problem(
                400, "bad_after", "after is the seq of the last event you have", after=text
            )
        events = await hub.source.public_events(int(text), CHUNK)
        return _json(
            {
                "stream": hub.source.stream,
                "last_seq": hub.source.last_seq(),
                "events": [event.to_json() for event in events],
            }
        )

    async def _table_stream(self, request: web.Request) -> web.StreamResponse:
        hub = self._hub(request)
        last_event_id = request.headers.get("Last-Event-ID")
        return await self._streaming(
            request, lambda stream: stream_events(stream, hub, last_event_id)
        )

    async def _board_stream(self, request: web.Request) -> web.StreamResponse:
        return await self._streaming(request, lambda stream: stream_tables(stream, self.hubs))

    async def _streaming(
        self, request: web.Request, write: Callable[[Stream], Coroutine[Any, Any, None]]
    ) -> web.StreamResponse:
        """Run a stream until the page leaves or the server stops; either way it just ends."""
        stream = await Stream.open(request)
        task = asyncio.ensure_future(write(stream))
        self._streams.add(task)
        try:
            await asyncio.wait([task])
            if not task.cancelled():
                with contextlib.suppress(ConnectionError):
                    task.result()
        finally:
            self._streams.discard(task)
            await end([task])
        return stream.response

    async def _healthz(self, request: web.Request) -> web.Response:
        healthy, facts = self._health()
        return _json({"healthy": healthy, **facts}, status=200 if healthy else 503)

    async def _metrics_page(self, request: web.Request) -> web.Response:
        return web.Response(
            body=self._metrics().encode(),
            headers={"Content-Type": "text/plain; version=0.0.4; charset=utf-8"},
        )

    def _hub(self, request: web.Request) -> Hub:
        table = request.match_info["table"]
        hub = self.hubs.get(table)
        if hub is None:
            raise _NoTableError(table, list(self.hubs))
        return hub


class _NoTableError(Exception):
    def __init__(self, table: str, known: list[str]) -> None:
        super().__init__(f"there is no table {table!r} here")
        self.table = table
        self.known = known


@web.middleware
async def _errors_as_json(request: web.Request, handler: Handler) -> web.StreamResponse:
    try:
        return await handler(request)
    except _NoTableError as error:
        return _problem(404, "unknown_table", str(error), table=error.table, known=error.known)
    except web.HTTPException as error:
        if error.status < 400 or not request.path.startswith("/api/"):
            raise
        return _problem(error.status, "http_error", error.reason)


async def _add_headers(request: web.Request, response: web.StreamResponse) -> None:
    response.headers.update(HEADERS)
    if request.path.startswith("/static/"):
        response.headers["Cache-Control"] = "no-cache"


async def _to_board(request: web.Request) -> web.StreamResponse:
    raise web.HTTPFound("/board")


def _page(name: str) -> Handler:
    async def serve(request: web.Request) -> web.StreamResponse:
        return web.FileResponse(STATIC / name, headers={"Cache-Control": "no-cache"})

    return serve


def _json(value: Any, status: int = 200) -> web.Response:
    return web.json_response(value, status=status, headers={"Cache-Control": "no-store"})


def _problem(status: int, code: str, message: str, **facts: Any) -> web.Response:
    return _json({"error": {"code": code, "message": message, **facts}}, status)
