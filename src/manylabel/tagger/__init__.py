"""Text in, labels out: what the command line and the web server are built on."""

from __future__ import annotations

from typing import TYPE_CHECKING

# First: it imports SciPy's matrices and scikit-learn without what a tagger does not use.
from manylabel import estimators  # noqa: F401
from manylabel.public import lazy_exports
from manylabel.tagger.changes import Change
from manylabel.tagger.descriptions import LabelDescription
from manylabel.tagger.explanations import (
    LabelReasons,
    NeighbourReason,
    PartReason,
    TextExplanation,
    WordReason,
)
from manylabel.tagger.label_edits import LabelChange
from manylabel.tagger.labels import LabelInfo, read_label_info
from manylabel.tagger.suggestions import Suggestion, Suggestions
from manylabel.tagger.tagger import DEFAULT_MODEL, Tagger

if TYPE_CHECKING:
    from manylabel.audit.report import AuditReport, Finding, Witness, read_decisions

__all__ = [
    "DEFAULT_MODEL",
    "AuditReport",
    "Change",
    "Finding",
    "LabelChange",
    "LabelDescription",
    "LabelInfo",
    "LabelReasons",
    "NeighbourReason",
    "PartReason",
    "Suggestion",
    "Suggestions",
    "Tagger",
    "TextExplanation",
    "Witness",
    "WordReason",
    "read_decisions",
    "read_label_info",
]

# Tagging does not need the audit: import it on first use.
_AUDIT = ("AuditReport", "Finding", "Witness", "read_decisions")

__getattr__, __dir__ = lazy_exports(
    __name__, dict.fromkeys(_AUDIT, "manylabel.audit.report"), *(set(__all__) - set(_AUDIT))
)
