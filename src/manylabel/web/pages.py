"""The page and its files, health checks and metrics."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, PlainTextResponse, Response
from starlette.staticfiles import StaticFiles

from manylabel.web import messages
from manylabel.web.errors import ApiError, problem_responses
from manylabel.web.metrics import CONTENT_TYPE
from manylabel.web.service import Service

__all__ = ["PageFiles", "page_routes", "state_routes"]

_FOLDER = Path(__file__).with_name("static")


class PageFiles(StaticFiles):
    """The files of the page; browsers revalidate them each time."""

    def __init__(self) -> None:
        super().__init__(directory=_FOLDER)

    def file_response(self, *args: Any, **kwargs: Any) -> Response:
        """A file, or a 304 if it has not changed."""
        response = super().file_response(*args, **kwargs)
        response.headers["Cache-Control"] = "no-cache"
        return response


def page_routes() -> APIRouter:
    """The routes of the page, the review and the documentation of the API."""
    router = APIRouter(include_in_schema=False)
    files = PageFiles()

    def add(path: str, name: str) -> None:
        @router.get(path)
        async def page(request: Request) -> Response:
            return await files.get_response(name, request.scope)

    add("/", "page.html")
    add("/review", "review.html")
    add("/docs", "docs.html")

    return router


def state_routes(service: Service) -> APIRouter:
    """The routes of health checks and metrics."""
    router = APIRouter(tags=["Server"])

    @router.get("/healthz", response_model=messages.StateAnswer)
    async def healthz() -> JSONResponse:
        """Report that the server is running."""
        return JSONResponse({"status": "alive"})

    @router.get("/readyz", response_model=messages.StateAnswer, responses=problem_responses(503))
    async def readyz() -> JSONResponse:
        """Report whether the models are loaded and compiled."""
        if not service.is_ready:
            raise ApiError(503, "The models are still loading.", {"Retry-After": "1"})
        return JSONResponse({"status": "ready"})

    @router.get("/metrics", response_class=PlainTextResponse)
    async def metrics() -> Response:
        """Requests, latencies and documents, in the text format of Prometheus."""
        sizes = {
            name: (served.tagger.n_documents, len(served.tagger.labels))
            for name, served in service.models.items()
        }
        return Response(service.metrics.text(sizes), media_type=CONTENT_TYPE)

    return router
