"""One SVM per label, trained on the documents that have the label as a candidate."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manylabel.base import Grid
from manylabel.linear.automatic import AUTO
from manylabel.linear.base import LinearClassifier
from manylabel.linear.candidates import best_scores
from manylabel.linear.scorer import LinearScorer
from manylabel.linear.training import hold_out
from manylabel.neighbors import NeighborIndex
from manylabel.neighbors.source import NeighborSource
from manylabel.scoring import Documents, Training
from manylabel.validation import check_whole

__all__ = ["SubsetSVM"]


class SubsetSVM(LinearClassifier):
    r"""A linear SVM for each label against the documents that are easily confused with its own.

    Label :math:`l` is trained on the documents that carry it and those that have it among the
    labels of their ``n_neighbors`` nearest other documents: far fewer than all, and the ones that
    are hard to tell apart. A document is scored only for the labels of its own neighbours. The
    training problem is that of :class:`OneVsRestSVM`.

    Parameters
    ----------
    n_neighbors : int, default=50
        Nearest documents, by cosine, whose labels are a document's candidates.
    C : float or "auto", default="auto"
        Weight of the loss against the regularisation. "auto" takes 1, or the one of 0.1, 0.3 and 3
        that ranks held-out documents clearly better, among up to 2,000 training documents.
    weighting : {"tfidf", "bm25", "binary", "share", "raw", None} or Weighting, default="tfidf"
        Of the features, also for the search for neighbours.
    prune : float, default=0.01
        Drop weights whose absolute value is below this.
    threshold : str, float or threshold, default="cardinality"
        From scores to labels. It is fitted on a fifth of the documents, scored by weights trained
        without them.
    bias : bool, default=True
        Add a constant feature, regularised like the others.
    max_iter : int, default=1000
        Sweeps over the documents of a label.
    tol : float, default=0.1
        Stop when no document is further from its optimum than this, in units of the margin.
    random_state : int, RandomState or None, default=0
        Each label has its own random stream, so the result does not depend on ``n_jobs``.
    n_jobs : int, optional
        Threads.
    verbose : bool or int, default=0
        Show progress bars.

    Attributes
    ----------
    C_ : float
        The weight of the loss.
    coef_ : csr_array of shape (n_features, n_labels), float32
    intercept_ : ndarray of shape (n_labels,)
        Minus infinity for labels without a training document.
    source_ : NeighborSource
        Proposes the labels of neighbours.
    scorer_ : LinearScorer
        Scores them.
    weighting_ : Weighting
    n_iter_ : int
        The maximum number of sweeps over all labels.

    Examples
    --------
    >>> X = [[2, 0, 1], [1, 0, 0], [0, 3, 0], [0, 1, 1]]
    >>> Y = [[1, 0], [1, 0], [0, 1], [0, 1]]
    >>> svm = SubsetSVM(n_neighbors=2, threshold=0.0).fit(X, Y)
    >>> svm.decision_function([[1, 0, 0], [0, 1, 0]]).indices.tolist()
    [0, 1]
    """

    default_grid: ClassVar[Grid] = {"C": (0.1, 0.3, 1.0, 3.0, 10.0), "n_neighbors": (20, 50, 100)}

    def __init__(
        self,
        n_neighbors: int = 50,
        *,
        C: float | str = AUTO,
        weighting: Any = "tfidf",
        prune: float = 0.01,
        threshold: Any = "cardinality",
        bias: bool = True,
        max_iter: int = 1000,
        tol: float = 0.1,
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: bool | int = 0,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.C = C
        self.weighting = weighting
        self.prune = prune
        self.threshold = threshold
        self.bias = bias
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_whole("n_neighbors", self.n_neighbors, 1)

    def _fit(self, X: sparse.csr_array, Y: sparse.csr_array) -> None:
        X, Y, sample_weight = self._counted(X, Y)
        documents = Documents(X)
        documents.rows = self._weigh(X, sample_weight)
        self.source_ = NeighborSource(NeighborIndex(documents.rows), Y, k=self.n_neighbors)
        settings = self._settings(documents.rows, Y)
        folds = np.full(Y.shape[0], -1, np.int8)
        if self._needs_held_out_scores():
            folds = hold_out(Y.shape[0], settings.seed)
        training = Training(documents, Y, folds, hides_unique=False, sample_weight=sample_weight)
        candidates, held = self.source_.propose_training(
            documents, training.held, n_jobs=self.n_jobs, verbose=self.verbose
        )
        self.scorer_ = LinearScorer(settings, all_pairs=0)
        scores = self.scorer_.fit(training, candidates, held)
        self.n_iter_ = self.scorer_.n_iter
        if training.held.size:
            self._held_out = held.scores(scores), Y[training.held]

    @property
    def coef_(self) -> sparse.csr_array:  # type: ignore[override]
        """Weights of features by label."""
        return self.scorer_.model.coef

    @property
    def intercept_(self) -> NDArray[np.float64]:  # type: ignore[override]
        """One for each label."""
        return self.scorer_.model.intercept

    def _scores(self, X: sparse.csr_array, top: int | None) -> sparse.csr_array:
        documents = Documents(X, weighting=self.weighting_)
        if self.single_label_:
            # A vector of classes needs a score of each class.
            return best_scores(self._model, documents.rows, None, self.n_jobs)
        candidates = self.source_.propose(documents, n_jobs=self.n_jobs)
        return candidates.scores(self.scorer_.score(documents, candidates, self.n_jobs))
