"""The access log: who requested what, when, and how long the answer took."""

from __future__ import annotations

import json
import logging
import re
import secrets
import sys
from datetime import UTC, datetime

from starlette.datastructures import Headers
from starlette.types import Scope

__all__ = ["REQUEST_ID", "AccessLog", "request_id"]

#: The key of a request's id in its ASGI scope.
REQUEST_ID = "manylabel.id"

_GIVEN = re.compile(r"[\w.-]{1,64}", re.ASCII)


def request_id(headers: Headers) -> str:
    """The id of a request for logs: the one that a proxy gave it, or a new one."""
    given = headers.get("x-request-id", "")
    return given if _GIVEN.fullmatch(given) else secrets.token_hex(8)


class AccessLog:
    """Writes a line per request, without its content: texts stay private.

    Parameters
    ----------
    form : {"none", "text", "json"}
    """

    def __init__(self, form: str) -> None:
        self._form = form
        self._log = logging.getLogger("manylabel.access")
        if form == "none":
            return
        self._log.setLevel(logging.INFO)
        if not self._log.handlers:
            handler = logging.StreamHandler(sys.stderr)
            handler.setFormatter(logging.Formatter("%(message)s"))
            self._log.addHandler(handler)
            self._log.propagate = False

    def write(self, scope: Scope, name: str, status: int, size: int, seconds: float) -> None:
        """Log an answered request."""
        if self._form == "none":
            return
        facts = {
            "time": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "client": (scope.get("client") or ("-",))[0],
            "method": scope["method"],
            "path": scope["path"],
            "status": status,
            "bytes": size,
            "ms": round(1000 * seconds, 1),
            "id": name,
        }
        if self._form == "json":
            self._log.info("%s", json.dumps(facts))
            return
        # A path may contain anything, even a line break.
        path = json.dumps(facts["path"])[1:-1]
        self._log.info(
            "%s",
            f'{facts["time"]} {facts["client"]} "{facts["method"]} {path}" {status} '
            f"{size} bytes {facts['ms']} ms {name}",
        )
