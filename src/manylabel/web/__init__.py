"""The HTTP API and the page."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec

from manylabel.exceptions import MissingExtraError

for _package in ("fastapi", "uvicorn", "prometheus_client"):
    if find_spec(_package) is None:
        raise MissingExtraError("Serving a model", _package, "web")


@contextmanager
def _late_models() -> Iterator[None]:
    """Let Pydantic build the models that are defined here when they are first used.

    FastAPI defines one for each part of an OpenAPI description, and few servers are ever asked for
    that. Building them takes a fifth of the time that FastAPI needs to be imported.
    """
    from pydantic import BaseModel

    before = BaseModel.model_config
    BaseModel.model_config = {**before, "defer_build": True}
    try:
        yield
    finally:
        BaseModel.model_config = before


with _late_models():
    import fastapi  # noqa: F401

from manylabel.web.app import create_app  # noqa: E402
from manylabel.web.server import Server  # noqa: E402
from manylabel.web.settings import Settings  # noqa: E402

__all__ = ["Server", "Settings", "create_app"]
