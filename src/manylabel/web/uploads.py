"""The text of office files that people drop on the page."""

from __future__ import annotations

import asyncio
from pathlib import PurePath

from fastapi import APIRouter, Query, Request
from fastapi.responses import JSONResponse

from manylabel.corpus.document_files import DOCUMENT_EXTENSIONS
from manylabel.corpus.document_files_isolated import isolated_text
from manylabel.web.errors import ApiError
from manylabel.web.messages import Answer
from manylabel.web.routes import READ
from manylabel.web.service import Service

__all__ = ["upload_routes"]

_BYTES = "application/octet-stream"
#: Files to read at the same time: each may take much memory.
_MAX_CONCURRENT = 2


class TextAnswer(Answer):
    """The text of a file."""

    name: str
    text: str


def upload_routes(service: Service) -> APIRouter:
    """The route that extracts the text of a file."""
    router = APIRouter(prefix="/v1", tags=["Labels"])
    turns = asyncio.Semaphore(_MAX_CONCURRENT)

    @router.post(
        "/text",
        response_model=TextAnswer,
        responses=READ,
        openapi_extra={
            "requestBody": {
                "required": True,
                "content": {
                    _BYTES: {
                        "schema": {"type": "string", "format": "binary"},
                        "example": "<title>Bees</title><p>A monk keeps bees in an abbey.</p>",
                    }
                },
            }
        },
    )
    async def text(
        request: Request,
        name: str = Query(
            min_length=1,
            max_length=255,
            examples=["page.html"],
            description="The name of the file, with its extension.",
        ),
    ) -> JSONResponse:
        """Extract the text of a .docx, .pdf, .html or .epub file; the server keeps nothing."""
        kind = DOCUMENT_EXTENSIONS.get(PurePath(name).suffix.lower())
        if kind is None:
            endings = ", ".join(sorted(DOCUMENT_EXTENSIONS))
            raise ApiError(415, f"Unknown type of file {name!r}; supported are {endings}.")
        # A form on a foreign page cannot send this type without CORS.
        if request.headers.get("content-type", "") != _BYTES:
            raise ApiError(415, f"The body must be a file, with the header Content-Type: {_BYTES}.")
        content = await request.body()
        async with turns:
            text = await service.workers.read(
                lambda: isolated_text(kind, content, name, service.settings.timeout)
            )
        return JSONResponse({"name": name, "text": text})

    return router
