"""One SVM a label, trained on the documents for which the label is a question at all."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manylabel.linear.base import LinearClassifier, best_scores, candidate_scores
from manylabel.linear.training import LinearModel, Pairs, Settings, hold_out, train
from manylabel.neighbors import NeighborIndex
from manylabel.predictions import values_at
from manylabel.validation import check_whole, pointers

__all__ = ["SubsetSVM", "candidate_labels", "train_on_candidates"]

_CANDIDATE, _POSITIVE = 1, 2


class SubsetSVM(LinearClassifier):
    r"""A linear SVM for each label against the documents that might be taken for its own.

    Label :math:`l` is trained on the documents that carry it and those that have it among the
    labels of their ``n_neighbors`` nearest other documents: far fewer than all, and the ones that
    are hard to tell apart. A document is scored only on the labels of its own neighbours. The
    training problem is that of :class:`OneVsRestSVM`.

    Parameters
    ----------
    n_neighbors : int, default=50
        Nearest documents, by cosine, whose labels are a document's candidates.
    C : float, default=1
        Weight of the loss against the regularisation.
    weighting : {"tfidf", "bm25", "binary", "share", None} or Weighting, default="tfidf"
        What is done to the features, for the neighbours as well.
    prune : float, default=0.01
        Drop weights that are nearer 0 than this.
    threshold : str, float or threshold, default="cardinality"
        From scores to labels. It is fitted on a fifth of the documents, scored by the weights that
        come out without them.
    bias : bool, default=True
        Add a constant feature, regularised like the others.
    max_iter : int, default=1000
        Sweeps over the documents of a label.
    tol : float, default=0.1
        Stop when no document is further from its optimum than this, in units of the margin.
    random_state : int, RandomState or None, default=0
        Each label has its own random stream, so that the number of threads does not matter.
    n_jobs : int, optional
        Threads.
    verbose : bool or int, default=0
        Show progress bars.

    Attributes
    ----------
    coef_ : csr_array of shape (n_features, n_labels), float32
    intercept_ : ndarray of shape (n_labels,)
        Minus infinity for labels without a training document.
    index_ : NeighborIndex
        Of the weighted training documents.
    labels_ : csr_array of shape (n_samples, n_labels)
        Their labels.
    weighting_ : Weighting
    n_iter_ : int
        The most sweeps that any label took.

    Examples
    --------
    >>> X = [[2, 0, 1], [1, 0, 0], [0, 3, 0], [0, 1, 1]]
    >>> Y = [[1, 0], [1, 0], [0, 1], [0, 1]]
    >>> svm = SubsetSVM(n_neighbors=2, threshold=0.0).fit(X, Y)
    >>> svm.decision_function([[1, 0, 0], [0, 1, 0]]).indices.tolist()
    [0, 1]
    """

    def __init__(
        self,
        n_neighbors: int = 50,
        *,
        C: float = 1.0,
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
        rows = self._weigh(X)
        self.index_, self.labels_ = NeighborIndex(rows), Y
        found = self.index_.search_self(self.n_neighbors, n_jobs=self.n_jobs, verbose=self.verbose)
        candidates = candidate_labels(found.indices, Y)
        settings = self._settings()
        folds = hold_out(Y.shape[0], settings.seed) if self._needs_held_out_scores() else None
        model, scores, self.n_iter_ = train_on_candidates(rows, Y, candidates, settings, folds)
        self._set_model(model)
        if folds is not None:
            held = np.flatnonzero(folds == 0)
            self._held_out = scores[held], Y[held]

    def _scores(self, X: sparse.csr_array, top: int | None) -> sparse.csr_array:
        rows = self.weighting_.transform(X)
        if self.single_label_:
            # A vector of classes asks for a score of each class.
            return best_scores(self._model, rows, None, self.n_jobs)
        found = self.index_.search(rows, self.n_neighbors, n_jobs=self.n_jobs)
        candidates = candidate_labels(found.indices, self.labels_)
        return candidate_scores(self._model, rows, candidates, self.n_jobs)


def candidate_labels(neighbors: NDArray[np.int32], Y: sparse.csr_array) -> sparse.csr_array:
    """The labels of each document's neighbours, as an indicator matrix.

    Parameters
    ----------
    neighbors : array of shape (n_documents, n_neighbors)
        Rows of ``Y``; -1 where there are no more.
    Y : csr_array of shape (n_rows, n_labels)

    Examples
    --------
    >>> Y = sparse.csr_array([[1, 0, 0], [0, 0, 1]])
    >>> candidate_labels(np.array([[1, 0], [1, -1]]), Y).toarray().tolist()
    [[1, 0, 1], [0, 0, 1]]
    """
    there = neighbors >= 0
    indptr = pointers(there.sum(axis=1))
    ones = np.ones(int(indptr[-1]), np.int32)
    shape = neighbors.shape[0], Y.shape[0]
    candidates = sparse.csr_array((ones, neighbors[there], indptr), shape=shape) @ Y
    candidates.sort_indices()
    candidates.data = np.full(candidates.nnz, _CANDIDATE, np.int8)
    return candidates


def train_on_candidates(
    X: sparse.csr_array,
    Y: sparse.csr_array,
    candidates: sparse.csr_array,
    settings: Settings,
    folds: NDArray[np.int8] | None = None,
) -> tuple[LinearModel, sparse.csr_array, int]:
    """Train each label on the rows that carry it or have it as a candidate.

    Parameters
    ----------
    X : csr_array of shape (n_rows, n_features)
        Weighted rows.
    Y, candidates : csr_array of shape (n_rows, n_labels)
        The rows' labels and the labels of their neighbours.
    settings : Settings
    folds : array of shape (n_rows,), int8, optional
        Score each row's candidates by the weights that come out without the rows of its fold. Rows
        of fold -1 are not scored.

    Returns
    -------
    model : LinearModel
    scores : csr_array of shape (n_rows, n_labels)
        Held-out scores of the candidates; nothing in rows without a fold.
    n_iter : int
        The most sweeps that any label took.
    """
    pairs = sparse.csr_array((candidates + Y * np.int8(_POSITIVE)).T.tocsr())
    members = pairs.indices.astype(np.int32, copy=False)
    positive = (pairs.data & _POSITIVE).astype(bool)
    trained = train(
        X,
        Pairs(pairs.indptr, members, positive),
        Y.shape[1],
        settings,
        folds,
        with_scores=True,
    )
    scores = sparse.csr_array(candidates.shape)
    if folds is not None:
        scored = folds[members] >= 0
        ptr = np.searchsorted(np.flatnonzero(scored), pairs.indptr)
        by_label = sparse.csr_array((trained.scores, members[scored], ptr), shape=pairs.shape)
        scores = _at_candidates(by_label.T.tocsr(), candidates, folds >= 0)
    return trained.weights.model(X.shape[1]), scores, int(trained.sweeps.max(initial=1))


def _at_candidates(
    scores: sparse.csr_array, candidates: sparse.csr_array, scored: NDArray[np.bool_]
) -> sparse.csr_array:
    """The scores of the candidates of some rows; nothing in the others."""
    asked = candidates[np.flatnonzero(scored)]
    values = values_at(scores[np.flatnonzero(scored)], asked)
    ptr = pointers(np.diff(candidates.indptr) * scored)
    return sparse.csr_array((values, asked.indices, ptr), shape=candidates.shape)
