"""Settings of a server: rights and limits."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from manylabel.exceptions import ParameterError

__all__ = ["Settings"]

_HOST_PATTERN = re.compile(r"(\*|(\*\.)?[^*]+)")


@dataclass(frozen=True)
class Settings:
    """Settings of a server: rights and limits.

    Parameters
    ----------
    allow_learn : bool, default=False
        Whether requests may change the models: learn, forget, edit labels.
    token : str or mapping of str to str, optional
        The token that such requests need in their ``Authorization: Bearer`` header; or several, by
        the names of their holders.
    read_token : str or mapping of str to str, optional
        The token that all other requests need, except for the page itself and health checks. A
        token for learning is also one for reading.
    max_body : int, default=4_000_000
        Maximum bytes of a request.
    max_texts : int, default=256
        Maximum texts per request.
    timeout : float, default=30
        Maximum seconds for receiving a request, and again for answering it.
    threads : int, optional
        Requests to work on at the same time; by default the number of cores plus two.
    max_waiting : int, default=512
        Maximum requests that wait for a thread; further ones are refused.
    max_rate : float, optional
        Maximum requests per second and client; 0 for no limit. By default 50 for clients on other
        machines.
    max_concurrent : int, optional
        Maximum requests of a client at the same time; 0 for no limit. By default 20 for clients on
        other machines.
    hosts : tuple of str, optional
        Accepted host names, such as ``example.org`` or ``*.example.org``; by default any. On a
        loopback address, `Server` accepts only the names of this machine by default.
    origins : tuple of str, default=()
        Other web sites whose pages may use the API.
    root_path : str, default=""
        The path under which a proxy serves this server, such as ``/labels``.
    examples : tuple of str, default=()
        Example texts that the page offers.
    log : {"none", "text", "json"}, default="none"
        The format of the access log, "manylabel.access".
    audit_log : str, optional
        A file to append a line of JSON to for each change of a model: who, when, which documents.

    Examples
    --------
    >>> Settings(max_texts=0)
    Traceback (most recent call last):
    manylabel.exceptions.ParameterError: `max_texts` must be more than 0; got 0.
    """

    allow_learn: bool = False
    token: str | Mapping[str, str] | None = field(default=None, repr=False)
    read_token: str | Mapping[str, str] | None = field(default=None, repr=False)
    max_body: int = 4_000_000
    max_texts: int = 256
    timeout: float = 30.0
    threads: int = (os.cpu_count() or 1) + 2
    max_waiting: int = 512
    max_rate: float | None = None
    max_concurrent: int | None = None
    hosts: tuple[str, ...] | None = None
    origins: tuple[str, ...] = ()
    root_path: str = ""
    examples: tuple[str, ...] = ()
    log: str = "none"
    audit_log: str | None = None

    def __post_init__(self) -> None:
        for name in ("max_body", "max_texts", "timeout", "threads", "max_waiting"):
            value = getattr(self, name)
            if not value > 0:
                raise ParameterError(f"`{name}` must be more than 0; got {value!r}.")
        for name in ("max_rate", "max_concurrent"):
            value = getattr(self, name)
            if value is not None and not value >= 0:
                raise ParameterError(f"`{name}` must be at least 0; got {value!r}.")
        if self.log not in ("none", "text", "json"):
            raise ParameterError(f"`log` must be none, text or json; got {self.log!r}.")
        for given in (self.token, self.read_token):
            tokens = [given] if isinstance(given, str) else list((given or {}).values())
            if not all(token.strip() for token in tokens):
                raise ParameterError(
                    "the token is empty; give at least one character, or no token."
                )
        for host in self.hosts or ():
            if not _HOST_PATTERN.fullmatch(host):
                raise ParameterError(
                    f"invalid host name {host!r}: write example.org or *.example.org."
                )
        if self.root_path and not re.fullmatch(r"(/[\w.~-]+)+", self.root_path, re.ASCII):
            raise ParameterError(
                f"invalid `root_path` {self.root_path!r}: write it like /labels, with a slash at "
                "the start and none at the end."
            )
