"""The page and its files, and what machines ask to know how the server is."""

from __future__ import annotations

import hashlib
from pathlib import Path

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, PlainTextResponse, Response

from manylabel.web import messages
from manylabel.web.errors import ApiError, problem_responses
from manylabel.web.metrics import CONTENT_TYPE
from manylabel.web.service import Service

__all__ = ["page_routes", "state_routes"]

_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}


class _File:
    """A file of the page, ready to be sent."""

    def __init__(self, path: Path) -> None:
        self.content = path.read_bytes()
        self.type = _TYPES[path.suffix]
        self.tag = f'"{hashlib.sha256(self.content).hexdigest()[:16]}"'

    def answer(self, request: Request) -> Response:
        """The file, or that it has not changed."""
        headers = {"ETag": self.tag, "Cache-Control": "no-cache"}
        if request.headers.get("if-none-match") == self.tag:
            return Response(status_code=304, headers=headers)
        return Response(self.content, media_type=self.type, headers=headers)


def page_routes() -> APIRouter:
    """The page, its documentation and their files; only files that are there at the start."""
    router = APIRouter(include_in_schema=False)
    folder = Path(__file__).with_name("static")
    files = {path.name: _File(path) for path in folder.iterdir() if path.suffix in _TYPES}

    @router.get("/")
    async def page(request: Request) -> Response:
        return files["page.html"].answer(request)

    @router.get("/review")
    async def review(request: Request) -> Response:
        return files["review.html"].answer(request)

    @router.get("/docs")
    async def docs(request: Request) -> Response:
        return files["docs.html"].answer(request)

    @router.get("/static/{name}")
    async def static(name: str, request: Request) -> Response:
        if name not in files:
            raise ApiError(404, "There is no such file.")
        return files[name].answer(request)

    return router


def state_routes(service: Service) -> APIRouter:
    """Whether the server lives, is ready, and what it did."""
    router = APIRouter(tags=["The server"])

    @router.get("/healthz", response_model=messages.StateAnswer)
    async def healthz() -> JSONResponse:
        """Whether the server lives."""
        return JSONResponse({"status": "alive"})

    @router.get("/readyz", response_model=messages.StateAnswer, responses=problem_responses(503))
    async def readyz() -> JSONResponse:
        """Whether the server has its models at hand."""
        if not service.is_ready:
            raise ApiError(503, "The models are not ready yet.", {"Retry-After": "1"})
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
