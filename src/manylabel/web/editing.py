"""The API with which people edit labels."""

from __future__ import annotations

from dataclasses import asdict
from typing import Literal

from fastapi import APIRouter, Body, Depends
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field

from manylabel.web.audit import Writer
from manylabel.web.examples import Examples
from manylabel.web.messages import LabelName, ModelName, Request
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
        description="`hide` and `show` take collections of the vocabulary as well.",
    )
    to: LabelName | None = Field(
        None, description="What a label is renamed to, or labels are merged into."
    )
    name: LabelName | None = Field(
        None, description="What people read, of a label that is renamed or added."
    )


class EditAnswer(BaseModel):
    """What was edited; every later answer takes it into account."""

    model: str
    action: str
    labels: list[str]
    to: str | None
    documents: int = Field(description="How many documents have other labels now.")
    undone: str | None = Field(description="The action that was taken back.")
    not_updated: list[str] = Field(
        description="Parts of the model that know it after the next training."
    )
    message: str = Field(description="The same in a sentence.")


def editing_routes(service: Service, examples: Examples) -> APIRouter:
    """The routes with which labels are edited."""
    router = APIRouter(prefix="/v1", tags=["Labels for texts"])

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
        """Rename, merge, hide, show, delete or add labels, or take the last edit back."""
        served = service.model(body.model)
        change = await service.write(
            served,
            lambda: served.tagger.edit_labels(body.action, body.labels, body.to, body.name),
            by,
            body.action,
        )
        return JSONResponse({"model": served.name} | asdict(change) | {"message": str(change)})

    return router
