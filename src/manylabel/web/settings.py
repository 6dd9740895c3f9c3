"""What a server allows, and how much of it."""

from __future__ import annotations

import os
from dataclasses import dataclass, field

from manylabel.exceptions import ParameterError

__all__ = ["Settings"]


@dataclass(frozen=True)
class Settings:
    """What a server allows, and how much of it.

    Parameters
    ----------
    allow_learn : bool, default=False
        Whether requests may teach documents to the models, and make them forget some.
    token : str, optional
        What such requests must carry in their ``Authorization: Bearer`` header.
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
    hosts : tuple of str, optional
        Host names by which the server may be called; by default any.
    origins : tuple of str, default=()
        Other web sites whose pages may use the API.
    examples : tuple of str, default=()
        Texts that the page offers to begin with.
    log : {"none", "text", "json"}, default="none"
        How a line per request is written to the log, "manylabel.access".

    Examples
    --------
    >>> Settings(max_texts=0)
    Traceback (most recent call last):
    manylabel.exceptions.ParameterError: `max_texts` must be more than 0; got 0.
    """

    allow_learn: bool = False
    token: str | None = field(default=None, repr=False)
    max_body: int = 4_000_000
    max_texts: int = 256
    timeout: float = 30.0
    threads: int = (os.cpu_count() or 1) + 2
    max_waiting: int = 512
    hosts: tuple[str, ...] | None = None
    origins: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()
    log: str = "none"

    def __post_init__(self) -> None:
        for name in ("max_body", "max_texts", "timeout", "threads", "max_waiting"):
            value = getattr(self, name)
            if not value > 0:
                raise ParameterError(f"`{name}` must be more than 0; got {value!r}.")
        if self.log not in ("none", "text", "json"):
            raise ParameterError(f"`log` must be none, text or json; got {self.log!r}.")
        if self.token is not None and not self.token.strip():
            raise ParameterError("the token is empty; write at least one character, or have none.")
