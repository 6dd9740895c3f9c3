"""IBLR-ML: logistic regression on the labels of the neighbours."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import expit

from manylabel.metrics import ndcg_at
from manylabel.neighbors.automatic import AUTO
from manylabel.neighbors.brknn import BLOCK, LazyClassifier, joined, label_counts
from manylabel.parallel import run_blocks
from manylabel.progress import progress_bar
from manylabel.validation import check_positive, check_real, check_whole, csr_parts

__all__ = ["IBLR", "fit_logistic", "logistic_scores"]

#: The value of the constant feature, so that its penalty is a hundredth of the others'.
INTERCEPT_FEATURE = 10.0


def fit_logistic(
    inputs: sparse.csr_array,
    Y: sparse.csr_array,
    C: float = 1.0,
    *,
    prune: float = 0.0,
    max_iter: int = 100,
    n_jobs: int | None = None,
    verbose: bool | int = 0,
) -> tuple[sparse.csr_array, NDArray[np.float64], int]:
    r"""Fit a logistic regression for each label.

    Each minimises :math:`\frac12|w|^2 + \frac12(b/10)^2 + C \sum_i \ln(1 + e^{-y_i(w x_i + b)})`.

    Parameters
    ----------
    inputs : csr_array of shape (n_samples, n_inputs)
    Y : csr_array of shape (n_samples, n_labels)
        Canonical labels.
    C : float
    prune : float
        Drop coefficients whose absolute value is below this.
    max_iter : int
        Maximum Newton steps.
    n_jobs : int, optional
        Threads, over labels.
    verbose : bool
        Show a progress bar.

    Returns
    -------
    coef : csr_array of shape (n_inputs, n_labels)
    intercept : array of shape (n_labels,)
        Infinite for a label that every sample has, minus infinite for one that none has; neither
        has coefficients.
    n_iter : int
        The maximum number of steps over all labels.
    """
    from sklearn.linear_model import LogisticRegression

    n_samples, n_labels = Y.shape
    rows = inputs.astype(np.float64)
    by_label = Y.tocsc()
    intercept = np.empty(n_labels)
    steps, sizes = np.zeros(n_labels, np.int64), np.zeros(n_labels, np.int64)
    pieces: dict[int, tuple[NDArray[np.int32], NDArray[np.float64]]] = {}

    def work(label: int, _: int) -> None:
        carriers = by_label.indices[by_label.indptr[label] : by_label.indptr[label + 1]]
        if carriers.size in (0, n_samples):
            intercept[label] = np.inf if carriers.size else -np.inf
            return
        target = np.zeros(n_samples, np.int8)
        target[carriers] = 1
        model = LogisticRegression(
            C=C, solver="liblinear", intercept_scaling=INTERCEPT_FEATURE, max_iter=max_iter
        ).fit(rows, target)
        intercept[label], steps[label] = model.intercept_[0], model.n_iter_.max()
        weights = model.coef_[0]
        kept = np.flatnonzero((weights != 0) & (np.abs(weights) >= prune))
        sizes[label] = kept.size
        pieces[label] = kept.astype(np.int32), weights[kept]

    with progress_bar("labels", verbose) as bar:
        run_blocks(work, n_labels, 1, n_jobs, bar)
    coef = joined(pieces, sizes, inputs.shape[1]).T.tocsr()
    return coef, intercept, int(max(1, steps.max()))


def logistic_scores(
    inputs: sparse.csr_array,
    counts: sparse.csr_array,
    coef: sparse.csr_array,
    intercept: NDArray[np.float64],
    n_jobs: int | None = None,
) -> sparse.csr_array:
    """Probabilities of the labels that neighbours carry, and of other likely labels.

    Parameters
    ----------
    inputs : csr_array of shape (n_rows, n_inputs)
    counts : csr_array of shape (n_rows, n_labels)
        Its stored entries are candidates.
    coef, intercept
        From :func:`fit_logistic`.
    n_jobs : int, optional
        Threads.

    Returns
    -------
    scores : csr_array of shape (n_rows, n_labels)
        A label that no neighbour carries is stored only if its probability is at least one half.
    """
    from manylabel.kernels import knn_logistic

    ptr, columns, values = csr_parts(inputs, np.float64)
    own_ptr, own, _ = csr_parts(counts, np.int32)
    parts = csr_parts(coef, np.float64)
    constant = np.flatnonzero(intercept >= 0).astype(np.int32)
    sizes = np.empty(inputs.shape[0], np.int64)
    pieces: dict[int, tuple[NDArray[np.int32], NDArray[np.float64]]] = {}

    def work(start: int, stop: int) -> None:
        labels, margins = knn_logistic.margins(
            ptr[start : stop + 1], columns, values, own_ptr[start : stop + 1], own,
            parts, intercept, constant, sizes[start:stop],
        )  # fmt: skip
        pieces[start] = labels, expit(margins)

    run_blocks(work, inputs.shape[0], BLOCK, n_jobs)
    return joined(pieces, sizes, intercept.size)


class IBLR(LazyClassifier):
    """Instance-based logistic regression: the features are counts of the neighbours' labels.

    The labels of a document's k nearest documents are counted. Each label has a logistic regression
    on all of these counts, learned from the training documents and their neighbours, so neighbours
    with related labels add to a label's score. A label that no neighbour carries is a candidate
    only if its probability is at least one half.

    Training reads every document for every label: fine for a few thousand labels and documents,
    slow for many more.

    Parameters
    ----------
    k : int or "auto", default="auto"
        Neighbours. "auto" takes the number of 5, 10, 20, 50 and 100 with which regressions learned
        from one half of up to 1,000 training documents rank the labels of the other half best.
    plus : bool, default=False
        Add the weighted features of the document itself (IBLR-ML+).
    C : float, default=1
        Weight of the loss against the regularisation; above 0. The paper does not regularise; a
        very large value comes close to that.
    prune : float, default=0.01
        Drop coefficients whose absolute value is below this, and store the rest sparse.
    weighting : {"tfidf", "bm25", "binary", "share", None} or Weighting, default="tfidf"
        Of the features, for the cosines.
    threshold : str, float or threshold, default="0.5"
        From scores to labels; the default always predicts at least the best label. A threshold
        that reads scores is fitted on the probabilities of at most 20,000 training documents, from
        their neighbours other than themselves.
    max_iter : int, default=100
        Maximum Newton steps per label.
    n_jobs : int, optional
        Threads.
    verbose : bool or int, default=0
        Show progress bars.

    Attributes
    ----------
    k_ : int
        The number of neighbours.
    coef_ : csr_array of shape (n_labels, n_labels), or (n_labels + n_features, n_labels)
        In row i, column l: what a neighbour with label i adds to the log-odds of label l. With
        ``plus``, the rows below hold what features add.
    intercept_ : ndarray of shape (n_labels,)
        Infinite for labels that all training documents have, minus infinite for those that none
        has.
    n_iter_ : int
        The maximum number of steps over all labels.
    index_ : NeighborIndex
        The training documents.
    labels_ : csr_array of shape (n_samples, n_labels)
        Their labels.
    weighting_ : Weighting

    References
    ----------
    Cheng and Hüllermeier (2009), Combining instance-based learning and logistic regression for
    multilabel classification. The neighbours here are the nearest by cosine.

    Examples
    --------
    >>> X = [[2, 0, 1], [1, 0, 0], [3, 1, 0], [0, 1, 1], [0, 1, 0], [0, 2, 1]]
    >>> Y = [[1, 0], [1, 0], [1, 0], [0, 1], [0, 1], [0, 1]]
    >>> model = IBLR(k=2).fit(X, Y)
    >>> model.predict([[1, 0, 0], [0, 1, 0]]).tolist()
    [[1, 0], [0, 1]]
    """

    gives_probabilities = True

    def __init__(
        self,
        k: int | str = AUTO,
        *,
        plus: bool = False,
        C: float = 1.0,
        prune: float = 0.01,
        weighting: Any = "tfidf",
        threshold: Any = "0.5",
        max_iter: int = 100,
        n_jobs: int | None = None,
        verbose: bool | int = 0,
    ) -> None:
        self.k = k
        self.plus = plus
        self.C = C
        self.prune = prune
        self.weighting = weighting
        self.threshold = threshold
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_positive("C", self.C)
        check_real("prune", self.prune, 0)
        check_whole("max_iter", self.max_iter, 1)

    def _fit(self, X: sparse.csr_array, Y: sparse.csr_array) -> None:
        self._remember(X, Y)
        counts = self._counts_without_itself()
        inputs = self._inputs(counts, X)
        self.coef_, self.intercept_, self.n_iter_ = fit_logistic(
            inputs,
            Y,
            self.C,
            prune=self.prune,
            max_iter=self.max_iter,
            n_jobs=self.n_jobs,
            verbose=self.verbose,
        )
        self._hold_out(lambda rows: self._probabilities(inputs[rows], counts[rows]))

    def _scores(self, X: sparse.csr_array, top: int | None) -> sparse.csr_array:
        counts = label_counts(self._neighbors(X).indices, self.labels_, self.n_jobs)
        return self._probabilities(self._inputs(counts, X), counts)

    def _worth(self, rows: NDArray[np.int64], neighbors: NDArray[np.int32]) -> float:
        """How well regressions of each half of the documents rank the labels of the other half.

        Many neighbours have more labels in common than few, and regressions overfit them: votes
        would say the opposite. The features of ``plus`` are left out.
        """
        counts, Y = label_counts(neighbors, self.labels_, self.n_jobs), self.labels_[rows]
        halves = np.arange(0, rows.size, 2), np.arange(1, rows.size, 2)
        total = 0.0
        for learned, asked in (halves, halves[::-1]):
            coef, intercept, _ = fit_logistic(
                counts[learned], Y[learned], self.C, prune=self.prune, n_jobs=self.n_jobs
            )
            some = counts[asked]
            scores = logistic_scores(some, some, coef, intercept, self.n_jobs)
            total += ndcg_at(Y[asked], scores, 5)
        return total

    def _inputs(self, counts: sparse.csr_array, X: sparse.csr_array) -> sparse.csr_array:
        """The features of the regressions."""
        if not self.plus:
            return counts
        return sparse.hstack([counts, self.weighting_.transform(X)], format="csr")

    def _probabilities(
        self, inputs: sparse.csr_array, counts: sparse.csr_array
    ) -> sparse.csr_array:
        return logistic_scores(inputs, counts, self.coef_, self.intercept_, self.n_jobs)
