"""The routes of the API: suggest, explain, learn, forget, labels, models."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from fastapi import APIRouter, Body, Depends, Query, Request
from fastapi.responses import JSONResponse

from manylabel import __version__
from manylabel.exceptions import InputError
from manylabel.tagger import Change, LabelReasons, Suggestions
from manylabel.tagger.display import separate
from manylabel.web import messages
from manylabel.web.audit import Writer
from manylabel.web.errors import ApiError, as_sentence, problem_responses
from manylabel.web.examples import Examples
from manylabel.web.service import Served, Service

__all__ = ["api_routes", "require_json"]

READ = problem_responses(400, 401, 404, 413, 415, 422, 429, 503)
WRITE = problem_responses(400, 401, 403, 404, 413, 415, 422, 429, 503)
LOOKUP = problem_responses(401, 404, 422, 429, 503)
LISTED = problem_responses(401, 429)
#: Maximum example documents of a label.
_SHOWN_DOCUMENTS = 10


async def require_json(request: Request) -> None:
    """Refuse bodies that are not JSON: a form on a foreign page could send them without CORS."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise ApiError(
            415, "The body must be JSON, with the header Content-Type: application/json."
        )


def api_routes(service: Service, examples: Examples) -> APIRouter:
    """The routes under /v1."""
    router = APIRouter(prefix="/v1", tags=["Labels"])
    json_only = [Depends(require_json)]

    @router.get("/models", response_model=messages.ModelsAnswer, responses=LISTED)
    async def models() -> JSONResponse:
        """The served models, and what the server allows."""
        settings = service.settings
        return JSONResponse(
            {
                "version": __version__,
                "models": [_model(served) for served in service.models.values()],
                "learning": service.learning,
                "reading": service.reading,
                "limits": {
                    "body": settings.max_body,
                    "texts": settings.max_texts,
                    "seconds": settings.timeout,
                },
                "examples": list(settings.examples),
            }
        )

    @router.get("/labels", response_model=messages.LabelsAnswer, responses=LOOKUP)
    async def labels(
        query: str = Query("", max_length=200, description="Part of a label's name."),
        limit: int = Query(20, ge=1, le=1000),
        model: str | None = Query(None),
        hidden: bool = Query(False, description="List hidden labels instead."),
    ) -> JSONResponse:
        """Find labels whose names contain the query, ignoring case and accents."""
        served = service.model(model)
        if hidden:
            listed = [served.label(label) for label in served.tagger.hidden_labels]
            named = [one for one in listed if query.casefold() in one["name"].casefold()]
            return JSONResponse(
                {"model": served.name, "labels": named[:limit], "total": len(named)}
            )
        matching, total = await service.workers.read(lambda: served.vocabulary.search(query, limit))
        listed = [served.label(label) for label in matching]
        return JSONResponse({"model": served.name, "labels": listed, "total": total})

    @router.get("/label", response_model=messages.DescriptionAnswer, responses=LOOKUP)
    async def label(
        label: str = Query(min_length=1, max_length=1000, examples=[examples.label]),
        model: str | None = Query(None),
        top: int = Query(12, ge=1, le=100, description="Number of words and of related labels."),
    ) -> JSONResponse:
        """Describe a label: its words, documents and related labels."""
        served = service.model(model)
        return JSONResponse(await service.workers.read(lambda: _description(served, label, top)))

    @router.post(
        "/suggest",
        response_model=messages.SuggestAnswer | messages.SuggestBatchAnswer,
        responses=READ,
        dependencies=json_only,
    )
    async def suggest(
        body: messages.SuggestRequest = Body(openapi_examples=examples.suggest),
    ) -> JSONResponse:
        """Suggest labels for one text or several, with reasons on request."""
        served = service.model(body.model)
        service.check_number(len(body.texts or ()))
        choice = body.model_dump(include={"top", "threshold", "include", "exclude", "explain"})
        if body.text is not None:
            suggestions = await service.suggest(served, body.text, **choice)
            return JSONResponse({"model": served.name, "labels": _suggested(served, suggestions)})
        several = await service.suggest(served, body.texts, **choice)
        documents = [{"labels": _suggested(served, suggestions)} for suggestions in several]
        return JSONResponse({"model": served.name, "documents": documents})

    @router.post(
        "/explain", response_model=messages.ExplainAnswer, responses=READ, dependencies=json_only
    )
    async def explain(
        body: messages.ExplainRequest = Body(openapi_examples=examples.explain),
    ) -> JSONResponse:
        """Explain labels: parts that sum to the score, similar documents, and words."""
        served = service.model(body.model)

        def call() -> list[dict[str, Any]]:
            explained = served.tagger.explain(body.text, label=body.labels, top=body.top)
            return [_reasons(served, reasons) for reasons in explained]

        return JSONResponse({"model": served.name, "labels": await service.workers.read(call)})

    @router.post(
        "/learn", response_model=messages.ChangeAnswer, responses=WRITE, dependencies=json_only
    )
    async def learn(
        body: messages.LearnRequest = Body(openapi_examples=examples.learn),
        by: Writer = Depends(service.writer),
    ) -> JSONResponse:
        """Learn documents. They are on disk before the answer, and count at once."""
        served = service.model(body.model)
        service.check_number(len(body.documents))
        change = await service.learn(
            served,
            [document.text for document in body.documents],
            [list(dict.fromkeys(document.labels)) for document in body.documents],
            [document.id for document in body.documents],
            by,
            [document.incomplete for document in body.documents],
        )
        return JSONResponse(_change(served, change))

    @router.post(
        "/forget", response_model=messages.ChangeAnswer, responses=WRITE, dependencies=json_only
    )
    async def forget(
        body: messages.ForgetRequest = Body(openapi_examples=examples.forget),
        by: Writer = Depends(service.writer),
    ) -> JSONResponse:
        """Forget documents; `not_updated` names parts that forget only at the next training."""
        served = service.model(body.model)
        service.check_number(len(body.ids))
        return JSONResponse(_change(served, await service.forget(served, body.ids, by)))

    return router


def _model(served: Served) -> dict[str, Any]:
    tagger = served.tagger
    return {
        "name": served.name,
        "kind": tagger.model_name,
        "documents": tagger.n_documents,
        "labels": len(tagger.labels),
        "scores": served.scores,
    }


def _suggested(served: Served, suggestions: Suggestions) -> list[dict[str, Any]]:
    labels = [{"label": label, "name": name, "score": score} for label, score, name in suggestions]
    if suggestions.why is None:
        return labels
    reasons = [{"reasons": _reasons(served, why)} for why in suggestions.why]
    return [label | why for label, why in zip(labels, reasons, strict=True)]


def _reasons(served: Served, reasons: LabelReasons) -> dict[str, Any]:
    spans = separate(reasons.highlights())
    fields = reasons.to_dict()
    del fields["total"]  # the sum of the parts
    return fields | {
        "neighbours": [
            near | {"labels": [served.label(label) for label in near["labels"]]}
            for near in fields["neighbours"]
        ],
        "highlights": [{"start": start, "end": end, "weight": w} for start, end, w in spans],
    }


def _description(served: Served, label: str, top: int) -> dict[str, Any]:
    try:
        described = served.tagger.describe_label(label, top)
    except InputError as error:
        raise ApiError(404, as_sentence(str(error))) from None
    return {
        "model": served.name,
        "label": label,
        "name": described.name,
        "description": described.description,
        "documents": described.documents,
        "words": [{"word": word, "weight": weight} for word, weight in described.words],
        "together": [
            served.label(other) | {"documents": count} for other, count in described.together
        ],
        "examples": _typical(served, label, [word for word, _ in described.words]),
    }


def _typical(served: Served, label: str, words: list[str]) -> list[dict[str, Any]]:
    """Example documents of a label: those that share most of its words."""
    try:
        near = served.tagger.explain(" ".join(words), label=label)[label].neighbours
    except InputError:  # the label has no words, or the model cannot explain
        return []
    return [
        {
            "id": document.id,
            "text": document.text,
            "labels": [served.label(other) for other in document.labels],
        }
        for document in sorted(near, key=lambda one: -one.similarity)[:_SHOWN_DOCUMENTS]
    ]


def _change(served: Served, change: Change) -> dict[str, Any]:
    return {"model": served.name} | asdict(change) | {"documents": served.tagger.n_documents}
