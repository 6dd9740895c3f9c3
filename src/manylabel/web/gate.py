"""Middleware: access, limits on bodies, headers, metrics and logs."""

from __future__ import annotations

import asyncio
import logging
import time

from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from manylabel.web.access import REQUEST_ID, AccessLog, request_id
from manylabel.web.errors import problem, token_needed
from manylabel.web.metrics import Metrics
from manylabel.web.settings import Settings
from manylabel.web.tokens import Tokens

__all__ = ["Gate", "KnownHosts", "Observer", "Readers"]

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
#: Paths that need no token: the page itself contains no data, and the others report health.
_OPEN = frozenset({"/", "/docs", "/health", "/healthz", "/readyz", "/review"})
_KNOWN = "manylabel.known"


class Observer:
    """Counts and times answers, adds headers, and answers unexpected errors with 500.

    Parameters
    ----------
    app : ASGI application
    metrics : Metrics
    log : AccessLog
    root_path : str, default=""
        The path under which a proxy serves this server. Requests may arrive with or without it.
    """

    def __init__(self, app: ASGIApp, metrics: Metrics, log: AccessLog, root_path: str = "") -> None:
        self._app, self._metrics, self._log, self._root = app, metrics, log, root_path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        start, status, size = time.perf_counter(), 0, 0
        name = request_id(Headers(scope=scope))
        # HEAD gets the answer of GET without the body.
        is_head = scope["method"] == "HEAD"
        inner = {**scope, REQUEST_ID: name} | ({"method": "GET"} if is_head else {})
        app = self._app
        if self._root:
            inner |= _below(self._root, scope["path"])
            if inner["path"] == self._root:
                # The page uses relative addresses, so its own must end in a slash.
                app = RedirectResponse(f"{self._root}/")

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
            await app(inner, receive, observed)
        except Exception:
            _log.exception("%s %s (%s)", scope["method"], scope["path"], name)
            if not status:
                failed = problem(500, "Internal error; see the server's log.")
                await failed(scope, receive, observed)
        finally:
            route = getattr(inner.get("route"), "path", "none")
            took = time.perf_counter() - start
            self._metrics.answered(scope["method"], route, status, took)
            self._log.write(scope, name, status, size, took)


class KnownHosts:
    """Refuses requests with an unknown Host header.

    This stops DNS rebinding: a foreign page whose name resolves to this machine cannot read
    answers.

    Parameters
    ----------
    app : ASGI application
    hosts : sequence of str
    """

    def __init__(self, app: ASGIApp, hosts: tuple[str, ...]) -> None:
        self._app = app
        named = [*hosts, *(f"[{host}]" for host in hosts if ":" in host)]
        self._check = TrustedHostMiddleware(self._known, named, www_redirect=False)

    async def _known(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope[_KNOWN] = True
        await self._app(scope, receive, send)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""

        async def sent(message: Message) -> None:
            if _KNOWN in scope or scope["type"] != "http":
                await send(message)

        await self._check(scope, receive, sent)
        if _KNOWN not in scope and scope["type"] == "http":
            # Starlette's own refusal does not say what to do.
            host = Headers(scope=scope).get("host", "")
            await problem(400, f"Unknown Host header {host!r}; see --allow-host.")(
                scope, receive, send
            )


class Readers:
    """Refuses requests without a token, except for the page itself and health checks.

    Parameters
    ----------
    app : ASGI application
    tokens : Tokens
    """

    def __init__(self, app: ASGIApp, tokens: Tokens) -> None:
        self._app, self._tokens = app, tokens

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] == "http":
            path = scope["path"].removeprefix(scope.get("root_path", ""))
            given = Headers(scope=scope).get("authorization")
            is_open = path in _OPEN or path.startswith("/static/")
            if not is_open and self._tokens.holder(given, "read") is None:
                error = token_needed("Reading needs")
                refused = problem(error.status, error.sentence, error.headers)
                await refused(scope, receive, send)
                return
        await self._app(scope, receive, send)


class Gate:
    """Refuses requests that are too large or arrive too slowly.

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
                413, f"The body is too large; the limit is {most:,} bytes.", {"Connection": "close"}
            )(scope, receive, send)
            return
        await self._app(scope, _replayed(body, receive), send)


async def _read(receive: Receive, most: int) -> bytes | None:
    """Read a body; None if it is too large."""
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
    """A ``receive`` that first returns the body that was read already."""
    given = False

    async def again() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again


def _below(root: str, path: str) -> dict[str, str]:
    """The scope of a request under a root path, which a proxy may have removed."""
    is_cut = path != root and not path.startswith(f"{root}/")
    return {"root_path": root, "path": root + path if is_cut else path}
