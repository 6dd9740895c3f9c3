"""The API of the review view: save decisions, and choose what to review next."""

from __future__ import annotations

from typing import Any, Literal

from fastapi import APIRouter, Body, Depends, Query
from fastapi.responses import JSONResponse
from pydantic import Field

from manylabel.web.audit import Writer
from manylabel.web.errors import ApiError
from manylabel.web.examples import Examples
from manylabel.web.messages import (
    Answer,
    ChangeAnswer,
    DocumentId,
    LabelName,
    ModelName,
    Request,
    Text,
)
from manylabel.web.routes import LOOKUP, READ, WRITE, _change, require_json
from manylabel.web.service import Service

__all__ = ["review_routes"]


class Reviewed(Request):
    """A person's decisions about the labels of a document."""

    id: DocumentId
    text: Text | None = Field(None, description="Required for a new document.")
    accepted: list[LabelName] = Field(default_factory=list)
    rejected: list[LabelName] = Field(default_factory=list)


class ReviewRequest(Request):
    """Documents with decisions."""

    model: ModelName = None
    documents: list[Reviewed] = Field(min_length=1)
    incomplete: bool = Field(
        False,
        description="Leave the rest of new documents open: labels that they lack are unknown, not "
        "wrong.",
    )


class Decision(Answer):
    """One decision about one label of a document."""

    id: str
    label: str
    decision: str


class ReviewAnswer(ChangeAnswer):
    """What changed, and the decisions that undo it."""

    undo: list[Decision]


class DocumentAnswer(Answer):
    """A document that the model has learned from, and the labels that it has now."""

    model: str
    id: str
    text: str
    labels: list[str]


class NextRequest(Request):
    """Texts to choose from."""

    model: ModelName = None
    texts: list[Text] = Field(min_length=1)
    n: int = Field(20, ge=1, le=1000)
    by: Literal["auto", "coverage", "words", "uncertainty"] = Field(
        "auto",
        description="Texts that represent most others; those with frequent words that few known "
        "documents have; those of which the model is least sure. By default words for titles, and "
        "coverage for longer texts.",
    )


class NextAnswer(Answer):
    """Positions of the chosen texts, in the order in which to label them."""

    model: str
    order: list[int]


def review_routes(service: Service, examples: Examples) -> APIRouter:
    """The routes of the review view."""
    router = APIRouter(prefix="/v1", tags=["Review"])
    json_only = [Depends(require_json)]

    @router.post("/review", response_model=ReviewAnswer, responses=WRITE, dependencies=json_only)
    async def review(
        body: ReviewRequest = Body(openapi_examples=examples.review),
        by: Writer = Depends(service.writer),
    ) -> JSONResponse:
        """Add accepted labels to documents and remove rejected ones; keep all others."""
        served = service.model(body.model)
        service.check_number(len(body.documents))
        decisions = [
            {"id": each.id, "label": label, "decision": decision, "text": each.text or ""}
            for each in body.documents
            for decision, labels in (("add", each.accepted), ("remove", each.rejected))
            for label in labels
        ]
        undo: list[dict[str, str]] = []

        def call() -> Any:
            nonlocal undo
            for each in body.documents:
                if each.text is None:
                    served.document(each.id)
            change, undo = served.tagger.fix(decisions, incomplete=body.incomplete)
            return change

        change = await service.change(served, call, by, "review")
        return JSONResponse(_change(served, change) | {"undo": undo})

    @router.get("/document", response_model=DocumentAnswer, responses=LOOKUP)
    async def document(
        id: str = Query(min_length=1, max_length=1000, examples=[examples.document]),
        model: str | None = Query(None, description="A name of /v1/models; the first by default."),
    ) -> JSONResponse:
        """The text of a learned document and its labels."""
        served = service.model(model)
        found = await service.workers.read(lambda: served.document(id))
        if found.text is None:
            raise ApiError(404, "The texts of this model's documents were not kept.")
        return JSONResponse(
            {"model": served.name, "id": found.id, "text": found.text, "labels": found.labels}
        )

    @router.post("/next", response_model=NextAnswer, responses=READ, dependencies=json_only)
    async def following(
        body: NextRequest = Body(openapi_examples=examples.next),
    ) -> JSONResponse:
        """Choose texts to label first: those that teach most, or the most uncertain ones."""
        served = service.model(body.model)
        service.check_number(len(body.texts))
        chosen = await service.workers.read(
            lambda: served.tagger.next(body.texts, body.n, by=body.by)
        )
        return JSONResponse({"model": served.name, "order": [int(str(one.id)) for one in chosen]})

    return router
