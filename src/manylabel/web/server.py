"""The server: a process that finishes open requests before it stops."""

from __future__ import annotations

import gc
import signal
import socket
from collections.abc import Mapping
from dataclasses import replace
from ipaddress import ip_address

from uvicorn.config import Config
from uvicorn.server import Server as Uvicorn

from manylabel.exceptions import ParameterError
from manylabel.tagger import Tagger
from manylabel.web.app import create_app
from manylabel.web.settings import Settings

__all__ = ["Server", "address_of", "listen", "settings_for"]

_LOOPBACK = ("localhost", "127.0.0.1", "::1")


class Server:
    """Serves models on a port, which it binds at once.

    Parameters
    ----------
    models : mapping of str to Tagger
    settings : Settings, optional
    host : str, default="127.0.0.1"
        An address of this machine; ``0.0.0.0`` for all of them.
    port : int, default=8000
        0 for any free port.
    proxies : tuple of str, default=()
        Addresses of proxies whose forwarded client addresses are trusted; by default those on this
        machine.
    listening : socket, optional
        A socket that listens already, as :func:`listen` makes it; several servers may share it.

    Examples
    --------
    >>> tagger = Tagger("lcif", parameters={"k": 1}).fit(["a cat", "a dog"], [["cats"], ["dogs"]])
    >>> server = Server({"animals": tagger}, port=0)
    >>> server.address  # doctest: +ELLIPSIS
    'http://127.0.0.1:...'
    >>> server.close()
    """

    def __init__(
        self,
        models: Mapping[str, Tagger],
        settings: Settings | None = None,
        host: str = "127.0.0.1",
        port: int = 8000,
        proxies: tuple[str, ...] = (),
        listening: socket.socket | None = None,
    ) -> None:
        settings = settings_for(host, settings or Settings())
        self._app = create_app(models, settings)
        self._timeout = settings.timeout
        self._proxies = [*(proxies or ("127.0.0.1", "::1"))]
        self._socket = listen(host, port) if listening is None else listening
        self.address = address_of(self._socket, host)

    def run(self) -> None:
        """Answer requests until Ctrl-C or SIGTERM."""
        config = Config(
            self._app,
            log_level="warning",
            access_log=False,
            server_header=False,
            forwarded_allow_ips=self._proxies,
            timeout_graceful_shutdown=int(2 * self._timeout) + 1,
        )
        self._app.state.service.when_ready = _collect_often
        # Uvicorn raises the signal that stopped it again: ignore that, so the process exits with 0.
        handled = (signal.SIGINT, signal.SIGTERM)
        before = [signal.signal(number, lambda *_: None) for number in handled]
        try:
            Uvicorn(config).run(sockets=[self._socket])
        finally:
            for number, handler in zip(handled, before, strict=True):
                signal.signal(number, handler)
            self.close()

    def close(self) -> None:
        """Release the port."""
        self._socket.close()


def _collect_often() -> None:
    """Keep the memory of a process flat that answers requests for a long time.

    Connections leave cycles of objects, which only the garbage collector frees. What the server
    and its models consist of stays, and is never looked at again, so a collection takes a fraction
    of a millisecond.
    """
    gc.freeze()
    gc.set_threshold(5_000, 10, 10)
    gc.enable()


def settings_for(host: str, settings: Settings) -> Settings:
    """Settings with the host names of an address; refuses those that are unsafe on it."""
    if _is_loopback(host):
        if settings.hosts is None:
            settings = replace(settings, hosts=(*_LOOPBACK, host))
    elif settings.allow_learn and settings.token is None:
        raise ParameterError(
            f"learning on {host}, which other machines can reach, needs a token; give `token`."
        )
    return settings


def listen(host: str, port: int) -> socket.socket:
    """Listen on an address and a port; 0 for any free port."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.create_server((host, port), family=family)
    # Otherwise the body of an answer waits 40 ms for the acknowledgement of its head.
    # Connections inherit this option.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening


def address_of(listening: socket.socket, host: str) -> str:
    """The address of a server for browsers."""
    name = f"[{host}]" if ":" in host else host
    return f"http://{name}:{listening.getsockname()[1]}"


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
