"""The API for editing labels."""

from __future__ import annotations

from dataclasses import asdict
from typing import Literal

from fastapi import APIRouter, Body, Depends
from fastapi.responses import JSONResponse
from pydantic import Field

from manylabel.web.audit import Writer
from manylabel.web.examples import Examples
from manylabel.web.messages import Answer, LabelName, ModelName, Request
from manylabel.web.routes import WRITE, require_json
from manylabel.web.service import Service

__all__ = ["editing_routes"]


class EditRequest(Request):
    """What to do with which labels."""

    model: ModelName = None
    action: Literal["rename", "merge", "hide", "show", "delete", "add", "undo"]
    labels: list[LabelName] = Field(
        default_factory=list,
        max_length=1000,
        description="`hide` and `show` also take collections of the vocabulary.",
    )
    to: LabelName | None = Field(None, description="The label to rename to, or to merge into.")
    name: LabelName | None = Field(
        None, description="The name to show for a renamed or added label."
    )


class EditAnswer(Answer):
    """What was edited; it takes effect at once."""

    model: str
    action: str
    labels: list[str]
    to: str | None
    documents: int = Field(description="Number of documents whose labels changed.")
    undone: str | None = Field(description="The action that was undone.")
    not_updated: list[str] = Field(
        description="Parts of the model that change only at the next training."
    )
    message: str = Field(description="The edit as a sentence.")


def editing_routes(service: Service, examples: Examples) -> APIRouter:
    """The route that edits labels."""
    router = APIRouter(prefix="/v1", tags=["Labels"])

    @router.post(
        "/labels/edit",
        response_model=EditAnswer,
        responses=WRITE,
        dependencies=[Depends(require_json)],
    )
    async def edit(
        body: EditRequest = Body(openapi_examples=examples.edit),
        by: Writer = Depends(service.writer),
    ) -> JSONResponse:
        """Rename, merge, hide, show, delete or add labels, or undo the last edit."""
        served = service.model(body.model)
        change = await service.write(
            served,
            lambda: served.tagger.edit_labels(body.action, body.labels, body.to, body.name),
            by,
            body.action,
        )
        return JSONResponse({"model": served.name} | asdict(change) | {"message": str(change)})

    return router
