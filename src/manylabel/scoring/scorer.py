"""The interface of scorers: give every candidate label a number, and explain it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manylabel.evidence import Reason
from manylabel.scoring.candidates import Candidates
from manylabel.scoring.documents import Documents
from manylabel.scoring.training import Training

__all__ = ["Reasons", "Scorer"]

#: From the place of a candidate of a single document to the reasons for its score.
Reasons = Callable[[int], Sequence[Reason]]


class Scorer(ABC):
    """Gives every candidate of a document a number.

    A subclass has a ``name`` and a ``title``, and implements :meth:`fit` and :meth:`score`. The
    other defaults suit a scorer that does not change after ``fit`` and does not explain its scores.
    Its attributes must be what a model folder can hold: numbers, strings, arrays, sparse matrices,
    and objects of registered classes.

    An ensemble turns scores into log-odds by a rising curve, so a higher score must never speak
    against a label; 0 should mean that the scorer has no opinion.
    """

    #: A unique name: in the model folder, in tables and as the ``kind`` of a reason.
    name: ClassVar[str]
    #: How the scorer is shown to people as a reason: "similar documents".
    title: ClassVar[str]
    #: One sentence on what the scorer reads.
    sentence: ClassVar[str] = ""
    #: The view of documents that it reads; see :meth:`manylabel.scoring.Documents.view`.
    view: ClassVar[str] = "rows"
    #: The lowest effort at which an ensemble fits it by default: "quick", "normal" or "best".
    effort: ClassVar[str] = "normal"
    #: Whether documents added or removed after ``fit`` count at once. Scores of labels that are
    #: new after ``fit`` are then meaningful, too.
    learns_at_once: ClassVar[bool] = False
    #: Whether it then judges labels that are new after ``fit`` as it judges others.
    judges_new_labels: ClassVar[bool] = True
    #: Whether it says something of labels that no document has.
    judges_bare_labels: ClassVar[bool] = False
    #: Whether it treats labels that an incomplete document lacks as unknown. Other scorers learn
    #: from the complete documents alone.
    reads_incomplete: ClassVar[bool] = False
    #: Whether an ensemble keeps it even if it does not seem to help.
    is_needed: ClassVar[bool] = False
    #: Whether :meth:`prepare` takes long and may run in parallel with the search for candidates.
    prepares_aside: ClassVar[bool] = False

    def wants(self, training: Training) -> bool:
        """Whether to fit this scorer by default, for training data like this."""
        return True

    def prepare(self, training: Training) -> None:  # noqa: B027
        """Learn what can be learned without candidates; always called before ``fit``."""

    def consult(self, source: Any, training: Training, forced: bool) -> bool:
        """Configure the source for this scorer, before candidates are proposed.

        Returns
        -------
        bool
            False if the scorer turns out not to help. With ``forced`` the user has asked for it,
            and it is used in any case.
        """
        return True

    @abstractmethod
    def fit(
        self, training: Training, candidates: sparse.csr_array, held: Candidates
    ) -> NDArray[np.float64]:
        """Learn, and return out-of-sample scores of the held-out documents.

        Parameters
        ----------
        training : Training
        candidates : csr_array of shape (n_documents, n_labels), int8
            The candidates of all training documents, each proposed as if the document were new.
        held : Candidates
            Those of the documents in ``training.held``, with the evidence of the sources.

        Returns
        -------
        scores : ndarray
            Of each candidate in ``held``, as learned without the document.
        """

    @abstractmethod
    def score(
        self, documents: Documents, candidates: Candidates, n_jobs: int | None = None
    ) -> NDArray[np.float64]:
        """A score of each candidate, in the order of ``candidates.pattern``."""

    def reasons(self, documents: Documents, candidates: Candidates, place: int) -> Sequence[Reason]:
        """Reasons whose shares add up to the score of one candidate of a single document.

        An empty list means that the score is not explained further.
        """
        return []

    def explaining(
        self, documents: Documents, candidates: Candidates
    ) -> tuple[NDArray[np.float64], Reasons]:
        """Scores of a single document, and a function that gives the reasons for each.

        Override this if scores and reasons share work.
        """
        scores = self.score(documents, candidates, 1)
        return scores, lambda place: self.reasons(documents, candidates, place)

    def add(  # noqa: B027
        self,
        documents: Documents,
        Y: sparse.csr_array,
        incomplete: NDArray[np.bool_] | None = None,
    ) -> None:
        """Learn more documents; ``incomplete`` says of which the missing labels are unknown."""

    def remove(  # noqa: B027
        self,
        documents: Documents,
        Y: sparse.csr_array,
        incomplete: NDArray[np.bool_] | None = None,
    ) -> None:
        """Forget documents."""

    def grow(self, n_labels: int) -> None:  # noqa: B027
        """Extend to new labels."""
