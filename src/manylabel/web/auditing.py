"""The API of audits: labels of a model's own documents that look wrong or missing."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, Body, Depends
from fastapi.responses import JSONResponse
from pydantic import Field

from manylabel.web.errors import ApiError
from manylabel.web.examples import Examples
from manylabel.web.messages import Answer, ModelName, Request
from manylabel.web.routes import WRITE, require_json
from manylabel.web.service import Served, Service

if TYPE_CHECKING:
    from manylabel.tagger import AuditReport

__all__ = ["audit_routes"]

#: Maximum documents of a model to audit, and pairs to report.
_DOCUMENTS, _PAIRS = 5_000, 1_000


class AuditRequest(Request):
    """How much to report."""

    model: ModelName = None
    top: int = Field(100, ge=1, le=_PAIRS, description="Maximum pairs to report.")


class Witness(Answer):
    """A similar document; its text is cut."""

    id: str
    similarity: float
    text: str


class Pair(Answer):
    """A label of a document that looks wrong or missing."""

    id: str
    label: str
    name: str
    text: str = Field(description="The beginning of the document.")
    given: bool = Field(description="The document has the label, which looks wrong.")
    probability: float = Field(
        description="That the document has the label, from models that have not seen it."
    )
    error: float = Field(description="The probability that the label is wrong, or missing.")
    reasons: dict[str, float] = Field(description="Shares of the log-odds of `probability`.")
    titles: dict[str, str] = Field(description="What the reasons are called on the page.")
    having: list[Witness] = Field(description="Similar documents with the label.")
    lacking: list[Witness] = Field(description="Similar documents without it.")


class AuditAnswer(Answer):
    """Labels that look wrong or missing, most suspicious first."""

    model: str
    documents: int
    labels: int
    pairs: list[Pair]


class Auditor:
    """Audits one model at a time, and keeps each report until its model changes."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: dict[str, tuple[object, AuditReport]] = {}

    def report(self, served: Served) -> AuditReport:
        """The report on a model as it is now."""
        tagger = served.tagger
        if tagger.n_documents > _DOCUMENTS:
            raise ApiError(
                413,
                f"The model has {tagger.n_documents:,} documents; the limit of an audit here is "
                f"{_DOCUMENTS:,}. Run `manylabel audit` on the server instead.",
            )
        version = tagger.version
        kept, report = self._kept.get(served.name, (None, None))
        if report is not None and kept == version:
            return report
        if not self._lock.acquire(blocking=False):
            raise ApiError(
                503, "Another audit is running; try again in a moment.", {"Retry-After": "5"}
            )
        try:
            report = tagger.audit(top=_PAIRS)
            self._kept[served.name] = version, report
        finally:
            self._lock.release()
        return report


def audit_routes(service: Service, examples: Examples) -> APIRouter:
    """The route of audits."""
    router = APIRouter(prefix="/v1", tags=["Review"])
    auditor = Auditor()

    @router.post(
        "/audit",
        response_model=AuditAnswer,
        responses=WRITE,
        dependencies=[Depends(require_json), Depends(service.writer)],
    )
    async def audit(body: AuditRequest = Body(openapi_examples=examples.audit)) -> JSONResponse:
        """Find labels of learned documents that look wrong or missing.

        This trains a model, so it needs the right to learn. If it takes longer than a request may,
        ask again: the report is kept until the model changes.
        """
        served = service.model(body.model)
        report = await service.workers.read(lambda: auditor.report(served))
        facts: dict[str, Any] = {
            "model": served.name,
            "documents": report.n_documents,
            "labels": report.n_labels,
            "pairs": [pair.to_dict() for pair in report[: body.top]],
        }
        return JSONResponse(facts)

    return router
