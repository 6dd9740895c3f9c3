"""What gives every candidate label a number, and says why."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
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
Reasons = Callable[[int], list[Reason]]


class Scorer(ABC):
    """Gives every candidate of a document a number.

    A subclass has a ``name`` and a ``title``, and implements :meth:`fit` and :meth:`score`. The
    rest is as it should be for a scorer whose knowledge stays as ``fit`` left it and whose scores
    have no reasons of their own. Whatever it keeps must be what a model folder can hold: numbers,
    strings, arrays, sparse matrices, and objects of registered classes.

    An ensemble turns scores into log-odds by a rising curve, so a higher score must never speak
    against a label; 0 should mean that the scorer has nothing to say.
    """

    #: In the model folder, in tables and in the ``kind`` of a reason.
    name: ClassVar[str]
    #: What people read where the scorer is a reason: "similar documents".
    title: ClassVar[str]
    #: One sentence that says what it goes by.
    sentence: ClassVar[str] = ""
    #: The view of documents that it reads; see :meth:`manylabel.scoring.Documents.view`.
    view: ClassVar[str] = "rows"
    #: The least effort with which an ensemble fits it, if it may choose: "quick", "normal", "best".
    effort: ClassVar[str] = "normal"
    #: Whether documents that come and go after ``fit`` are known at once. Scores of labels that
    #: appear after ``fit`` are then meaningful, too.
    learns_at_once: ClassVar[bool] = False
    #: Whether an ensemble keeps it even if it does not seem to help.
    is_needed: ClassVar[bool] = False
    #: Whether :meth:`prepare` takes long and may run beside the search for candidates.
    prepares_aside: ClassVar[bool] = False

    def wants(self, training: Training) -> bool:
        """Whether it pays to fit this scorer where the user leaves the choice to us."""
        return True

    def prepare(self, training: Training) -> None:  # noqa: B027
        """Learn what can be learned without candidates; always called before ``fit``."""

    def consult(self, source: Any, training: Training, forced: bool) -> bool:
        """Ask the source for what the scorer needs of it, before candidates are proposed.

        Returns
        -------
        bool
            False if it turns out that the scorer is of no use. With ``forced`` the user has asked
            for it, and its use is not questioned.
        """
        return True

    @abstractmethod
    def fit(
        self, training: Training, candidates: sparse.csr_array, held: Candidates
    ) -> NDArray[np.float64]:
        """Learn, and score documents by what can be known without them.

        Parameters
        ----------
        training : Training
        candidates : csr_array of shape (n_documents, n_labels), int8
            The candidates of all training documents, each proposed as if the document had not
            been there.
        held : Candidates
            Those of the documents in ``training.held``, with what the sources know of them.

        Returns
        -------
        scores : ndarray
            Of each candidate in ``held``, by what would have been learned without the document.
        """

    @abstractmethod
    def score(
        self, documents: Documents, candidates: Candidates, n_jobs: int | None = None
    ) -> NDArray[np.float64]:
        """A score of each candidate, in the order of ``candidates.pattern``."""

    def reasons(self, documents: Documents, candidates: Candidates, place: int) -> list[Reason]:
        """Reasons whose shares add up to the score of one candidate of a single document.

        An empty list means that the score has no parts.
        """
        return []

    def explaining(
        self, documents: Documents, candidates: Candidates
    ) -> tuple[NDArray[np.float64], Reasons]:
        """Scores of a single document, and what gives the reasons for each.

        For scorers that would have to do the same work twice.
        """
        scores = self.score(documents, candidates, 1)
        return scores, lambda place: self.reasons(documents, candidates, place)

    def add(self, documents: Documents, Y: sparse.csr_array) -> None:  # noqa: B027
        """Learn more documents."""

    def remove(self, documents: Documents, Y: sparse.csr_array) -> None:  # noqa: B027
        """Forget documents."""

    def grow(self, n_labels: int) -> None:  # noqa: B027
        """Make room for labels that appear later."""
