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

#: A function from the position of a candidate of a single document to the reasons for its score.
Reasons = Callable[[int], Sequence[Reason]]


class Scorer(ABC):
    """Scores every candidate label of a document.

    A subclass has a ``name`` and a ``title``, and implements :meth:`fit` and :meth:`score`. The
    other defaults suit a scorer that does not change after ``fit`` and does not explain its scores.
    Its attributes must be of types that a model folder can store: numbers, strings, arrays, sparse
    matrices, and objects of registered classes.

    An ensemble turns scores into log-odds by an increasing curve, so a higher score must mean more
    evidence for the label; 0 should mean no evidence.
    """

    #: A unique name: in the model folder, in tables and as the ``kind`` of a reason.
    name: ClassVar[str]
    #: The title of its reasons, such as "similar documents".
    title: ClassVar[str]
    #: One sentence on what the scorer reads.
    sentence: ClassVar[str] = ""
    #: The view of documents that it reads; see :meth:`manylabel.scoring.Documents.view`.
    view: ClassVar[str] = "rows"
    #: The lowest effort at which an ensemble fits it by default: "quick", "normal" or "best".
    effort: ClassVar[str] = "normal"
    #: Whether documents added or removed after ``fit`` count at once. It can then score labels that
    #: are new after ``fit``.
    learns_at_once: ClassVar[bool] = False
    #: Whether its scores of labels that are new after ``fit`` are as reliable as others.
    scores_new_labels: ClassVar[bool] = True
    #: Whether it searches for something of its own. If an ensemble can do without such a scorer, it
    #: does not keep it for new labels either.
    searches: ClassVar[bool] = False
    #: Whether it can score labels without documents.
    scores_unused_labels: ClassVar[bool] = False
    #: Whether it treats labels that an incomplete document lacks as unknown. Other scorers learn
    #: from the complete documents alone.
    reads_incomplete: ClassVar[bool] = False
    #: Whether an ensemble keeps it even if it does not seem to help.
    is_needed: ClassVar[bool] = False
    #: The name of a scorer that it contains, in a way: an ensemble drops it after that one only.
    builds_on: ClassVar[str] = ""
    #: Whether ``fit`` learns from the candidates of all training documents, not only of those that
    #: are held out.
    learns_from_candidates: ClassVar[bool] = False
    #: Scorers with the same value here, other than "", are tried together: their trials score the
    #: same candidates.
    trials: ClassVar[str] = ""
    #: Whether :meth:`prepare` takes long and may run in parallel with the search for candidates.
    prepares_in_background: ClassVar[bool] = False

    def wants(self, training: Training) -> bool:
        """Whether to fit this scorer by default, for training data like this."""
        return True

    def needs_trial(self, training: Training) -> bool:
        """Whether ``fit`` takes long and may be in vain: an ensemble looks at a trial first."""
        return False

    def prepare(self, training: Training) -> None:  # noqa: B027
        """Learn what can be learned without candidates; always called before ``fit``."""

    def configure_source(self, source: Any, training: Training, forced: bool) -> bool:
        """Configure the source for this scorer, before candidates are proposed.

        Returns
        -------
        bool
            False if the scorer turns out not to help. With ``forced``, the user has asked for it,
            and it is used anyway.
        """
        return True

    def trial(
        self, training: Training, candidates: sparse.csr_array, held: Candidates
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Out-of-sample scores by a smaller model; parameters as in :meth:`fit`.

        An ensemble drops the scorer if they do not help.

        Returns
        -------
        rows : ndarray
            Positions in ``training.held`` of the documents that were scored, ascending.
        scores : ndarray
            Of their candidates; NaN for those that were not scored.
        """
        raise NotImplementedError

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

    def reasons(
        self, documents: Documents, candidates: Candidates, position: int
    ) -> Sequence[Reason]:
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
        return scores, lambda position: self.reasons(documents, candidates, position)

    def check(self, documents: Documents) -> None:  # noqa: B027
        """Refuse documents that :meth:`add` would refuse, before anything changes."""

    def add(  # noqa: B027
        self,
        documents: Documents,
        Y: sparse.csr_array,
        incomplete: NDArray[np.bool_] | None = None,
    ) -> None:
        """Learn more documents; ``incomplete`` marks those whose missing labels are unknown.

        ``documents.numbers`` has their numbers.
        """

    def remove(  # noqa: B027
        self,
        documents: Documents,
        Y: sparse.csr_array,
        incomplete: NDArray[np.bool_] | None = None,
    ) -> None:
        """Forget documents, of which only ``rows``, ``numbers`` and perhaps texts are known."""

    def relabel(
        self,
        documents: Documents,
        before: sparse.csr_array,
        after: sparse.csr_array,
        incomplete: NDArray[np.bool_] | None = None,
    ) -> None:
        """Replace the labels of documents; by default, forget them and learn them again."""
        for change, Y in ((self.remove, before), (self.add, after)):
            # Scorers that learn from complete documents alone may not take the flags.
            change(documents, Y) if incomplete is None else change(documents, Y, incomplete)

    def compact(self) -> None:  # noqa: B027
        """Number the remaining documents from 0."""

    def grow(self, n_labels: int) -> None:  # noqa: B027
        """Extend to new labels."""
