"""Tokens: who sent a request."""

from __future__ import annotations

import base64
import binascii
import hmac
from collections.abc import Mapping
from typing import Literal

from manylabel.exceptions import ParameterError
from manylabel.web.settings import Settings

__all__ = ["Tokens", "read_tokens"]

Right = Literal["write", "read"]


def read_tokens(content: str) -> str | dict[str, str]:
    r"""Parse a file with one token, or with a line ``NAME TOKEN`` per holder.

    Examples
    --------
    >>> read_tokens("sesame")
    'sesame'
    >>> read_tokens("anna k3y\nben s3cret")
    {'anna': 'k3y', 'ben': 's3cret'}
    """
    lines = [line.split() for line in content.splitlines() if line.strip()]
    if len(lines) <= 1 and len(lines[0] if lines else ()) <= 1:
        return content.strip()
    tokens: dict[str, str] = {}
    for line in lines:
        if len(line) != 2:
            raise ParameterError(
                "invalid token file: expected one token, or a line 'NAME TOKEN' per person."
            )
        name, token = line
        if name in tokens:
            raise ParameterError(f"invalid token file: the name {name!r} occurs twice.")
        tokens[name] = token
    return tokens


class Tokens:
    """Identifies the sender of a request by its ``Authorization`` header.

    Parameters
    ----------
    settings : Settings
    """

    def __init__(self, settings: Settings) -> None:
        self._known: list[tuple[Right, str, bytes]] = [
            ("write", name, token) for name, token in _by_name(settings.token)
        ] + [("read", name, token) for name, token in _by_name(settings.read_token)]

    def holder(self, authorization: str | None, right: Right) -> str | None:
        """The name of the one who has a right; "" for a token without a name, None for no one."""
        given = _given(authorization)
        holder = None
        # Compare with every token, so that the time reveals nothing.
        for known, name, token in self._known:
            is_right = given is not None and hmac.compare_digest(given, token)
            if is_right and known in ("write", right) and holder is None:
                holder = name
        return holder


def _by_name(token: str | Mapping[str, str] | None) -> list[tuple[str, bytes]]:
    named = {} if token is None else {"": token} if isinstance(token, str) else token
    return [(name, one.strip().encode()) for name, one in named.items()]


def _given(authorization: str | None) -> bytes | None:
    """The token in a header: after ``Bearer``, or the password after ``Basic``."""
    kind, _, value = (authorization or "").partition(" ")
    if kind.lower() == "bearer":
        return value.strip().encode("utf-8", "replace")
    if kind.lower() == "basic":
        try:
            return base64.b64decode(value, validate=True).partition(b":")[2]
        except (binascii.Error, ValueError):
            return None
    return None
