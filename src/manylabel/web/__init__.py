"""The HTTP API and the page."""

from __future__ import annotations

from importlib.util import find_spec

from manylabel.exceptions import MissingExtraError

for _package in ("fastapi", "uvicorn", "prometheus_client"):
    if find_spec(_package) is None:
        raise MissingExtraError("Serving a model", _package, "web")

from manylabel.web.app import create_app  # noqa: E402
from manylabel.web.server import Server  # noqa: E402
from manylabel.web.settings import Settings  # noqa: E402

__all__ = ["Server", "Settings", "create_app"]
