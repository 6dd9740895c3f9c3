"""What a server allows, and how much of it."""

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
    """What a server allows, and how much of it.

    Parameters
    ----------
    allow_learn : bool, default=False
        Whether requests may teach documents to the models, and make them forget some.
    token : str or mapping of str to str, optional
        What such requests must carry in their ``Authorization: Bearer`` header; or several, by the
        names of the people who have them.
    read_token : str or mapping of str to str, optional
        What all other requests must carry, but for the page itself and the checks of health. The
        tokens that allow learning allow reading, too.
    max_body : int, default=4_000_000
        Bytes of a request.
    max_texts : int, default=256
        Texts of a request.
    timeout : float, default=30
        Seconds for sending a request, and again for answering it.
    threads : int, optional
        Requests that are worked on at the same time; by default two more than there are cores.
    max_waiting : int, default=512
        Requests that may wait for a thread before others are turned away.
    max_rate : float, optional
        Requests per second from one client; 0 for no limit. By default 50 for clients on other
        machines.
    max_concurrent : int, optional
        Requests of one client that are answered at the same time; 0 for no limit. By default 20 for
        clients on other machines.
    hosts : tuple of str, optional
        Host names by which the server may be called, such as ``example.org`` or
        ``*.example.org``; by default any.
    origins : tuple of str, default=()
        Other web sites whose pages may use the API.
    root_path : str, default=""
        The path under which a proxy shows the server, such as ``/labels``.
    examples : tuple of str, default=()
        Texts that the page offers to begin with.
    log : {"none", "text", "json"}, default="none"
        How a line per request is written to the log, "manylabel.access".
    audit_log : str, optional
        A file to which a line of JSON is added for each change of a model: who, when, which
        documents.

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
                    "the token is empty; write at least one character, or have none."
                )
        for host in self.hosts or ():
            if not _HOST_PATTERN.fullmatch(host):
                raise ParameterError(
                    f"Invalid host name {host!r}: write example.org or *.example.org."
                )
        if self.root_path and not re.fullmatch(r"(/[\w.~-]+)+", self.root_path, re.ASCII):
            raise ParameterError(
                f"Invalid `root_path` {self.root_path!r}: write it as /labels, with a slash at the "
                "beginning and none at the end."
            )
