"""Errors as HTTP answers: a status and one sentence, as RFC 9457 defines them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from manylabel.exceptions import ManylabelError, StoreError

__all__ = [
    "ApiError",
    "add_handlers",
    "as_sentence",
    "problem",
    "problem_responses",
    "token_needed",
]

PROBLEM_TYPE = "application/problem+json"
#: Maximum characters of a sentence, which may quote the request.
_MAX_LENGTH = 500

_WORD = re.compile(r"[a-z]+[ ,;]")
_MEANINGS = {
    400: "The body is not JSON.",
    401: "The token is missing or wrong.",
    403: "The server does not allow this.",
    404: "There is no such model, label or document.",
    413: "The request is too large.",
    415: "The body has the wrong type.",
    422: "A value is missing or invalid.",
    429: "Too many requests from one address.",
    503: "The server is busy, or the answer took too long.",
}


class ApiError(Exception):
    """An error to answer a request with.

    Parameters
    ----------
    status : int
    sentence : str
    headers : mapping, optional
    """

    def __init__(
        self, status: int, sentence: str, headers: Mapping[str, str] | None = None
    ) -> None:
        self.status, self.sentence, self.headers = status, sentence, headers
        super().__init__(sentence)


def token_needed(what: str) -> ApiError:
    """The error for a request without the right token; ``what`` is for example "This needs"."""
    return ApiError(
        401,
        f"{what} the server's token, in the header 'Authorization: Bearer TOKEN'.",
        {"WWW-Authenticate": "Bearer"},
    )


def problem(status: int, sentence: str, headers: Mapping[str, str] | None = None) -> JSONResponse:
    """Make the answer for an error."""
    if len(sentence) > _MAX_LENGTH:
        sentence = sentence[: _MAX_LENGTH - 4] + " ..."
    # An unpaired surrogate, quoted from a request, cannot be sent.
    sentence = sentence.encode("utf-8", "replace").decode("utf-8")
    content = {"title": HTTPStatus(status).phrase, "status": status, "detail": sentence}
    return JSONResponse(content, status, dict(headers or {}), PROBLEM_TYPE)


def problem_responses(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Describe errors for the OpenAPI documentation."""
    schema = {"$ref": "#/components/schemas/Problem"}
    return {
        status: {
            "description": _MEANINGS[status],
            "content": {PROBLEM_TYPE: {"schema": schema}},
        }
        for status in statuses
    }


def add_handlers(app: FastAPI) -> None:
    """Turn exceptions into answers."""

    @app.exception_handler(ApiError)
    async def refused(_: Request, error: ApiError) -> JSONResponse:
        return problem(error.status, error.sentence, error.headers)

    @app.exception_handler(ManylabelError)
    async def unusable(_: Request, error: ManylabelError) -> JSONResponse:
        return problem(503 if isinstance(error, StoreError) else 422, as_sentence(str(error)))

    @app.exception_handler(RequestValidationError)
    async def invalid(_: Request, error: RequestValidationError) -> JSONResponse:
        first = error.errors()[0]
        if first["type"] == "json_invalid":
            return problem(400, "The body is not valid JSON.")
        return problem(422, _validation_sentence(first))

    @app.exception_handler(HTTPException)
    async def http(request: Request, error: HTTPException) -> JSONResponse:
        sentence = {
            400: "The body is not valid JSON.",
            404: "Unknown address; /docs lists the routes.",
            405: f"This address does not accept {request.method}; /docs lists the routes.",
        }.get(error.status_code, f"{error.detail}.")
        return problem(error.status_code, sentence, error.headers)


def _validation_sentence(error: Mapping[str, Any]) -> str:
    """Say which value is invalid and why."""
    section, *below = [str(part) for part in error["loc"]]
    where = ".".join(below) or {"body": "body"}.get(section, section)
    what = str(error["msg"]).removeprefix("Value error, ")
    if error["type"] == "value_error":
        return as_sentence(what)
    quoted = f"`{where}`" if below else where
    if error["type"] == "extra_forbidden":
        return f"Unknown field {quoted}; /docs lists the fields of this request."
    if error["type"] == "missing":
        return (
            f"Missing {'field ' if below else ''}{quoted}; /docs lists the fields of this request."
        )
    return as_sentence(f"Invalid {quoted}: {what[:1].lower()}{what[1:]}")


def as_sentence(text: str) -> str:
    """Add a full stop, and a capital letter unless the text starts with a name or a path."""
    text = text if text.endswith((".", "?")) else f"{text}."
    return text[:1].upper() + text[1:] if _WORD.match(text) else text
