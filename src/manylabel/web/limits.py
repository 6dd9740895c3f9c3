"""Limits per client: requests per second, and requests at the same time."""

from __future__ import annotations

import math
import time
from collections import Counter, OrderedDict
from ipaddress import IPv6Network, ip_address

from starlette.types import ASGIApp, Receive, Scope, Send

from manylabel.web.errors import problem
from manylabel.web.settings import Settings

__all__ = ["Buckets", "Limits", "client_of"]

#: Default limits for clients on other machines.
RATE, CONCURRENT = 50.0, 20
#: Maximum clients to remember; the least recent one is dropped first.
_REMEMBERED = 10_000


class Limits:
    """Refuses requests of clients that send too many, per second or at the same time.

    A client is an IPv4 address, or the first 64 bits of an IPv6 address. Clients on this machine
    are limited only if a limit was set.

    Parameters
    ----------
    app : ASGI application
    settings : Settings
    """

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self._app = app
        self._rates = settings.max_rate, RATE if settings.max_rate is None else settings.max_rate
        self._most = (
            settings.max_concurrent,
            (CONCURRENT if settings.max_concurrent is None else settings.max_concurrent),
        )
        self._buckets = Buckets(self._rates[1]) if self._rates[1] else None
        self._busy: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        client, is_here = client_of(scope)
        local = 0 if is_here else 1
        rate, most = self._rates[local], self._most[local]
        if rate and self._buckets is not None:
            wait = self._buckets.take(client, time.monotonic())
            if wait > 0:
                await _refused(f"{rate:g} per second", wait)(scope, receive, send)
                return
        if not most:
            await self._app(scope, receive, send)
            return
        if self._busy[client] >= most:
            await _refused(f"{most} at the same time", 1.0)(scope, receive, send)
            return
        self._busy[client] += 1
        try:
            await self._app(scope, receive, send)
        finally:
            self._busy[client] -= 1
            if not self._busy[client]:
                del self._busy[client]


def _refused(limit: str, wait: float) -> ASGIApp:
    return problem(
        429,
        f"Too many requests from your address; the limit is {limit}. Try again in a moment.",
        {"Retry-After": str(math.ceil(wait))},
    )


class Buckets:
    """A token bucket per client.

    Parameters
    ----------
    rate : float
        Requests per second; the requests of two seconds may arrive at once.

    Examples
    --------
    >>> buckets = Buckets(rate=1)
    >>> [buckets.take("a", now=0.0) for _ in range(3)]
    [0.0, 0.0, 1.0]
    >>> buckets.take("a", now=1.0)
    0.0
    """

    def __init__(self, rate: float) -> None:
        self._rate, self._size = rate, max(1.0, 2 * rate)
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, client: str, now: float) -> float:
        """Count a request; returns the seconds to wait if the bucket is empty, otherwise 0."""
        left, then = self._left.pop(client, (self._size, now))
        left = min(self._size, left + (now - then) * self._rate)
        is_taken = left >= 1
        self._left[client] = (left - 1 if is_taken else left, now)
        if len(self._left) > _REMEMBERED:
            self._left.popitem(last=False)
        return 0.0 if is_taken else (1 - left) / self._rate


def client_of(scope: Scope) -> tuple[str, bool]:
    """The client that sent a request, and whether it is on this machine."""
    given = (scope.get("client") or ("",))[0]
    try:
        address = ip_address(given.partition("%")[0])
    except ValueError:  # no network address: a local socket, or a test
        return given, True
    if address.version == 6:
        if address.ipv4_mapped is not None:
            return str(address.ipv4_mapped), address.ipv4_mapped.is_loopback
        return str(IPv6Network((address, 64), strict=False)), address.is_loopback
    return str(address), address.is_loopback
