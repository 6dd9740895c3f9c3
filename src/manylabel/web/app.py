"""The ASGI application."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI
from fastapi.middleware.cors import CORSMiddleware
from fastapi.openapi.utils import get_openapi

from manylabel import __version__
from manylabel.tagger import Tagger
from manylabel.web.access import AccessLog
from manylabel.web.annif import annif_routes
from manylabel.web.auditing import audit_routes
from manylabel.web.editing import editing_routes
from manylabel.web.errors import add_handlers
from manylabel.web.examples import Examples
from manylabel.web.gate import Gate, KnownHosts, Observer, Readers
from manylabel.web.label_studio import label_studio_routes
from manylabel.web.limits import Limits
from manylabel.web.messages import Problem
from manylabel.web.pages import PageFiles, page_routes, state_routes
from manylabel.web.review import review_routes
from manylabel.web.routes import api_routes
from manylabel.web.service import Service
from manylabel.web.settings import Settings
from manylabel.web.uploads import upload_routes

__all__ = ["create_app"]

_ABOUT = """\
Suggests labels for texts and explains them. With `--allow-learn`, learns from corrections at once.

Errors are `application/problem+json` with one sentence in `detail`.
"""


def create_app(models: Mapping[str, Tagger], settings: Settings | None = None) -> FastAPI:
    """Make an application for any ASGI server.

    Parameters
    ----------
    models : mapping of str to Tagger
        Fitted taggers by name; the first is the default.
    settings : Settings, optional

    Returns
    -------
    FastAPI

    Examples
    --------
    >>> tagger = Tagger("lcif", parameters={"k": 1}).fit(["a cat", "a dog"], [["cats"], ["dogs"]])
    >>> app = create_app({"animals": tagger})
    >>> "/v1/suggest" in app.openapi()["paths"]
    True
    """
    settings = settings or Settings()
    service = Service(models, settings)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        warming = asyncio.create_task(asyncio.to_thread(service.warm_up))
        yield
        await warming
        await asyncio.to_thread(service.close)

    app = FastAPI(
        title="manylabel",
        version=__version__,
        description=_ABOUT,
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
    )
    app.state.service = service
    examples = Examples(service)
    app.include_router(api_routes(service, examples))
    app.include_router(upload_routes(service))
    app.include_router(review_routes(service, examples))
    app.include_router(audit_routes(service, examples))
    app.include_router(editing_routes(service, examples))
    app.include_router(annif_routes(service, examples))
    app.include_router(label_studio_routes(service, examples))
    app.include_router(state_routes(service))
    app.include_router(page_routes())
    app.mount("/static", PageFiles(), name="static")
    add_handlers(app)
    # The middleware that is added last sees a request first.
    app.add_middleware(Gate, settings=settings)
    if settings.read_token is not None:
        app.add_middleware(Readers, tokens=service.tokens)
    app.add_middleware(Limits, settings=settings)
    if settings.hosts is not None:
        app.add_middleware(KnownHosts, hosts=settings.hosts)
    if settings.origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=settings.origins,
            allow_methods=["GET", "POST"],
            allow_headers=["Authorization", "Content-Type"],
        )
    app.add_middleware(
        Observer,
        metrics=service.metrics,
        log=AccessLog(settings.log),
        root_path=settings.root_path,
    )
    app.openapi = lambda: _described(app)  # type: ignore[method-assign]
    return app


def _described(app: FastAPI) -> dict[str, Any]:
    """The OpenAPI description, with the schema of errors, which no route declares as its answer."""
    if app.openapi_schema is None:
        described = get_openapi(
            title=app.title, version=app.version, description=app.description, routes=app.routes
        )
        schemas = described["components"]["schemas"]
        schemas["Problem"] = Problem.model_json_schema()
        described["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        described["security"] = [{}, {"token": []}]
        app.openapi_schema = described
    return app.openapi_schema
