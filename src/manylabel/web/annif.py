"""The routes of Annif's REST API, for existing clients of Annif.

A model is a project. A label is a subject: the subject's URI is the label, and the subject's label
is the label's name.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qsl

from fastapi import APIRouter, Body, Depends, Query, Request, Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field

from manylabel import __version__
from manylabel.tagger import Suggestions
from manylabel.text.languages import DETECTED, detect_language
from manylabel.web.audit import Writer
from manylabel.web.errors import ApiError
from manylabel.web.examples import Examples
from manylabel.web.messages import Answer, DocumentId, LabelName, Text
from manylabel.web.routes import LISTED, LOOKUP, READ, WRITE, require_json
from manylabel.web.service import Served, Service

__all__ = ["annif_routes"]

_MAX_RESULTS = 1000


class Backend(Answer):
    """The kind of model behind a project."""

    backend_id: str


class Vocab(Answer):
    """The subjects of a project."""

    vocab_id: str
    languages: list[str]
    size: int
    loaded: bool


class Vocabs(Answer):
    """The subjects of all projects."""

    vocabs: list[Vocab]


class DetectRequest(BaseModel):
    """A text, and the languages that it may be in."""

    text: Text
    languages: list[str] = Field(min_length=1, max_length=50)


class DetectedLanguage(Answer):
    """The code of a language and its probability; null stands for all other languages."""

    language: str | None
    score: float


class DetectAnswer(Answer):
    """Languages, most likely first."""

    results: list[DetectedLanguage]


class Project(Answer):
    """A model."""

    project_id: str
    name: str
    language: str
    backend: Backend
    vocab: Vocab
    vocab_language: str
    is_trained: bool
    modification_time: str | None


class Projects(Answer):
    """All models."""

    projects: list[Project]


class Info(Answer):
    """The name and version of this server."""

    title: str
    version: str


class Result(Answer):
    """A suggested subject."""

    uri: str
    label: str
    notation: str | None
    score: float


class Results(Answer):
    """Suggested subjects, best first."""

    results: list[Result]


class BatchResults(Results):
    """Suggested subjects of one document of several."""

    document_id: str | None


class Document(BaseModel):
    """A text; metadata are ignored."""

    text: Text
    document_id: DocumentId | None = None
    metadata: dict[str, str] | None = None


class Documents(BaseModel):
    """Several texts."""

    documents: list[Document] = Field(min_length=1)


class Subject(BaseModel):
    """A subject by its URI; the label is ignored."""

    uri: LabelName
    label: str | None = None


class IndexedDocument(BaseModel):
    """A text with its subjects."""

    text: Text
    subjects: list[Subject]
    document_id: DocumentId | None = None
    metadata: dict[str, str] | None = None


class SuggestForm(BaseModel):
    """The fields of the form; others are ignored."""

    text: str
    limit: int = Field(10, ge=0)
    threshold: float = Field(0.0, ge=0.0, le=1.0)
    language: str | None = None


def annif_routes(service: Service, examples: Examples) -> APIRouter:
    """The routes of Annif under /v1."""
    router = APIRouter(prefix="/v1", tags=["Annif's API"])

    @router.get("/", response_model=Info, responses=LISTED)
    async def info() -> JSONResponse:
        """The name and version of this server."""
        return JSONResponse({"title": "manylabel, with Annif's REST API", "version": __version__})

    @router.get("/projects", response_model=Projects, responses=LISTED)
    async def projects() -> JSONResponse:
        """All models."""
        return JSONResponse({"projects": [_project(model) for model in service.models.values()]})

    @router.get("/projects/{project_id}", response_model=Project, responses=LOOKUP)
    async def project(project_id: str) -> JSONResponse:
        """One model."""
        return JSONResponse(_project(service.model(project_id)))

    @router.get("/vocabs", response_model=Vocabs)
    async def vocabs() -> JSONResponse:
        """The labels of all models."""
        vocabularies = [_project(model)["vocab"] for model in service.models.values()]
        return JSONResponse({"vocabs": vocabularies})

    @router.post(
        "/detect-language",
        response_model=DetectAnswer,
        responses=READ,
        dependencies=[Depends(require_json)],
    )
    async def detect(
        body: DetectRequest = Body(openapi_examples=examples.annif_detect),
    ) -> JSONResponse:
        """The probability of each given language for a text, and of all others."""
        languages = await service.workers.read(lambda: _languages(body.text, body.languages))
        return JSONResponse({"results": languages})

    @router.post(
        "/projects/{project_id}/suggest",
        response_model=Results,
        responses=READ,
        openapi_extra={
            "requestBody": {
                "required": True,
                "content": {
                    "application/x-www-form-urlencoded": {
                        "schema": SuggestForm.model_json_schema(),
                        "example": examples.annif_suggest,
                    }
                },
            }
        },
    )
    async def suggest(project_id: str, request: Request) -> JSONResponse:
        """Suggest subjects for a text."""
        served = service.model(project_id)
        form = await _form(request)
        answers = await _suggested(service, served, [form.text], form.limit, form.threshold)
        return JSONResponse({"results": answers[0]})

    @router.post(
        "/projects/{project_id}/suggest-batch",
        response_model=list[BatchResults],
        responses=READ,
        dependencies=[Depends(require_json)],
    )
    async def suggest_batch(
        project_id: str,
        body: Documents = Body(openapi_examples=examples.annif_batch),
        limit: int = Query(10, ge=0),
        threshold: float = Query(0.0, ge=0.0, le=1.0),
        language: str | None = Query(None),
    ) -> JSONResponse:
        """Suggest subjects for several texts."""
        served = service.model(project_id)
        service.check_number(len(body.documents))
        texts = [document.text for document in body.documents]
        answers = await _suggested(service, served, texts, limit, threshold)
        return JSONResponse(
            [
                {"document_id": document.document_id, "results": results}
                for document, results in zip(body.documents, answers, strict=True)
            ]
        )

    @router.post(
        "/projects/{project_id}/learn",
        status_code=204,
        response_class=Response,
        responses=WRITE,
        dependencies=[Depends(require_json)],
    )
    async def learn(
        project_id: str,
        body: list[IndexedDocument] = Body(openapi_examples=examples.annif_learn, min_length=1),
        by: Writer = Depends(service.writer),
    ) -> Response:
        """Learn documents with their subjects."""
        served = service.model(project_id)
        service.check_number(len(body))
        labels = [list(dict.fromkeys(one.uri for one in document.subjects)) for document in body]
        await service.learn(
            served,
            [document.text for document in body],
            labels,
            [document.document_id for document in body],
            by,
        )
        return Response(status_code=204)

    return router


def _languages(text: str, wanted: list[str]) -> list[dict[str, Any]]:
    """The given languages, and null with the rest of the probability."""
    for language in wanted:
        if language not in DETECTED:
            raise ApiError(400, f"Unknown language {language!r}; there are {', '.join(DETECTED)}.")
    known = [(code, share) for code, share in detect_language(text) if code in wanted]
    rest = max(0.0, 1.0 - sum(share for _, share in known))
    results = [{"language": code, "score": share} for code, share in known]
    return [*results, {"language": None, "score": rest}]


async def _form(request: Request) -> SuggestForm:
    """Read and check the form of a request."""
    from fastapi.exceptions import RequestValidationError
    from pydantic import ValidationError

    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/x-www-form-urlencoded":
        raise ApiError(415, "The body must be a form: application/x-www-form-urlencoded.")
    try:
        fields = dict(parse_qsl((await request.body()).decode(), keep_blank_values=True))
        return SuggestForm.model_validate(fields)
    except UnicodeDecodeError:
        raise ApiError(400, "The form is not in UTF-8.") from None
    except ValidationError as error:
        errors = [one | {"loc": ("body", *one["loc"])} for one in error.errors()]  # type: ignore[operator]
        raise RequestValidationError(errors) from None


async def _suggested(
    service: Service, served: Served, texts: list[str], limit: int, threshold: float
) -> list[list[dict[str, Any]]]:
    """Results per text; as in Annif, a threshold of 0 is none."""
    if limit == 0:
        return [[] for _ in texts]
    answers: list[Suggestions] = await service.suggest(
        served, texts, top=min(limit, _MAX_RESULTS), threshold=threshold or None
    )
    codes = [served.tagger.notations(results.labels) for results in answers]
    return [
        [
            {"uri": label, "label": name, "notation": code or None, "score": score}
            for (label, score, name), code in zip(results, mine, strict=True)
        ]
        for results, mine in zip(answers, codes, strict=True)
    ]


def _project(served: Served) -> dict[str, Any]:
    tagger = served.tagger
    language = tagger.text_language or "und"
    return {
        "project_id": served.name,
        "name": served.name,
        "language": language,
        "backend": {"backend_id": tagger.model_name},
        "vocab": {
            "vocab_id": served.name,
            "languages": tagger.vocabulary_languages or [language],
            "size": len(tagger.labels),
            "loaded": True,
        },
        "vocab_language": language,
        "is_trained": True,
        "modification_time": None,
    }
