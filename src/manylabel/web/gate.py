"""What happens to every request before and after its route: limits, headers, counting."""

from __future__ import annotations

import asyncio
import logging
import time

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from manylabel.web.access import AccessLog, request_id
from manylabel.web.errors import problem
from manylabel.web.metrics import Metrics
from manylabel.web.settings import Settings

__all__ = ["Gate", "Observer"]

_log = logging.getLogger("manylabel.web")

_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


class Observer:
    """Counts and times answers, gives them their headers, and turns accidents into a 500.

    Parameters
    ----------
    app : ASGI application
    metrics : Metrics
    log : AccessLog
    """

    def __init__(self, app: ASGIApp, metrics: Metrics, log: AccessLog) -> None:
        self._app, self._metrics, self._log = app, metrics, log

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        start, status, size = time.perf_counter(), 0, 0
        name = request_id(Headers(scope=scope))
        # Whatever can be got can be asked about: the same answer without its body.
        is_head = scope["method"] == "HEAD"
        inner = {**scope, "method": "GET"} if is_head else scope

        async def observed(message: Message) -> None:
            nonlocal status, size
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                for header, value in _HEADERS.items():
                    headers.setdefault(header, value)
                headers.setdefault("Cache-Control", "no-store")
                headers.setdefault("X-Request-ID", name)
            elif message["type"] == "http.response.body":
                size += len(message.get("body", b""))
                if is_head:
                    message = {**message, "body": b""}
            await send(message)

        try:
            await self._app(inner, receive, observed)
        except Exception:
            _log.exception("%s %s (%s)", scope["method"], scope["path"], name)
            if not status:
                failed = problem(500, "Something went wrong; the server's log says what.")
                await failed(scope, receive, observed)
        finally:
            route = getattr(inner.get("route"), "path", "none")
            took = time.perf_counter() - start
            self._metrics.answered(scope["method"], route, status, took)
            self._log.write(scope, name, status, size, took)


class Gate:
    """Turns away requests that call the server by a wrong name, are too large or too slow.

    Parameters
    ----------
    app : ASGI application
    settings : Settings
    """

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self._app, self._settings = app, settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        hosts = self._settings.hosts
        if hosts is not None and _host(headers.get("host", "")) not in hosts:
            # A foreign page whose name suddenly leads to this machine must not read answers.
            await problem(400, "This server does not go by that name.")(scope, receive, send)
            return
        if scope["method"] in ("GET", "HEAD", "OPTIONS"):
            await self._app(scope, receive, send)
            return
        most = self._settings.max_body
        try:
            announced = int(headers.get("content-length", 0))
            async with asyncio.timeout(self._settings.timeout):
                body = None if announced > most else await _read(receive, most)
        except TimeoutError:
            await problem(
                408,
                f"The request did not arrive within {self._settings.timeout:g} seconds.",
                {"Connection": "close"},
            )(scope, receive, send)
            return
        if body is None:
            await problem(
                413, f"The body is too large; at most {most} bytes.", {"Connection": "close"}
            )(scope, receive, send)
            return
        await self._app(scope, _replayed(body, receive), send)


async def _read(receive: Receive, most: int) -> bytes | None:
    """The body; None if it is too large."""
    pieces, size = [], 0
    while True:
        message = await receive()
        pieces.append(message.get("body", b""))
        size += len(pieces[-1])
        if size > most:
            return None
        if not message.get("more_body"):
            return b"".join(pieces)


def _replayed(body: bytes, receive: Receive) -> Receive:
    """The body once more, then whatever else comes."""
    given = False

    async def again() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again


def _host(header: str) -> str:
    """The name in a Host header, without the port."""
    if header.startswith("["):
        return header[1:].partition("]")[0]
    return header.partition(":")[0].lower()
