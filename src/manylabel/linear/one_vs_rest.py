"""One SVM per label, trained on every document."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manylabel.base import Grid
from manylabel.linear.automatic import AUTO
from manylabel.linear.base import LinearClassifier
from manylabel.linear.candidates import best_scores
from manylabel.linear.training import Members, MembersByLabel, hold_out, train
from manylabel.neighbors import NeighborIndex
from manylabel.validation import check_whole

__all__ = ["AllRows", "NearRows", "OneVsRestSVM"]

#: A label without many near rows has at least this many others.
_LEAST_SAMPLE = 6_000


class OneVsRestSVM(LinearClassifier):
    r"""A linear SVM for each label against the rest.

    Each minimises :math:`\frac12|w|^2 + \sum_i C_i \max(0, 1 - y_i w \cdot x_i)^2` by dual
    coordinate descent over all documents. Small weights are dropped and the rest stored sparse, as
    in DiSMEC. A score is the signed distance from the middle of the margin, in units of the margin,
    so scores are comparable between labels as well as between documents. Labels without a training
    document are never scored.

    Parameters
    ----------
    C : float or "auto", default="auto"
        Weight of the loss against the regularisation. "auto" takes 1, or the one of 0.1, 0.3 and 3
        that ranks held-out documents clearly better, among up to 2,000 training documents.
    tuned : bool, default=False
        Choose the weight of each label's positive documents by accuracy on a hold-out, among
        1, 2, 5, 10, 25, 50, 100, 250, 500, 1000 and negatives / positives.
    near : int, optional
        Train each label on its documents, this many nearest others of each, and a random sample of
        the rest that is weighted to stand for all of it. By default, every label is trained on all
        documents, which is exact but takes far longer for thousands of labels. With ``near``,
        tuning is quick, too: 15 sweeps for each weight, and it ends once two weights in a row were
        worse than the best, or as many held-out negatives are wrong as all rows of the best.
    weighting : {"tfidf", "bm25", "binary", "share", "raw", None} or Weighting, default="tfidf"
        Of the features. Only ``"raw"`` and ``"share"`` leave rows with lengths other than 1: a 0/1
        row of length 8 is worth 64 times the ``C`` of one of length 1.
    prune : float, default=0.01
        Drop weights whose absolute value is below this.
    n_candidates : int, default=100
        Store scores of this many labels per document, the best ones. None stores a score of every
        label for every document, which label-pivoted measures need.
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
        Show a progress bar.

    Attributes
    ----------
    C_ : float
        The weight of the loss.
    coef_ : csr_array of shape (n_features, n_labels), float32
    intercept_ : ndarray of shape (n_labels,)
        Minus infinity for labels without a training document.
    positive_weights_ : ndarray of shape (n_labels,)
        Ones unless ``tuned``.
    weighting_ : Weighting
    n_iter_ : int
        The maximum number of sweeps over all labels.

    References
    ----------
    Hsieh et al. (2008), A dual coordinate descent method for large-scale linear SVM.
    Babbar and Schölkopf (2017), DiSMEC.
    Rubin et al. (2012), section 5.1, for the tuned form.

    Examples
    --------
    >>> X = [[2, 0, 1], [1, 0, 0], [0, 3, 0], [0, 1, 1]]
    >>> Y = [[1, 0], [1, 0], [0, 1], [0, 1]]
    >>> svm = OneVsRestSVM(threshold=0.0).fit(X, Y)
    >>> svm.predict([[1, 0, 0], [0, 1, 0]]).tolist()
    [[1, 0], [0, 1]]
    >>> [(why.kind, why.index) for why in svm.explain([[1, 0, 0]], labels=[0])[0][0].reasons]
    [('word', 0), ('bias', None)]
    """

    default_grid: ClassVar[Grid] = {"C": (0.1, 0.3, 1.0, 3.0, 10.0)}

    def __init__(
        self,
        C: float | str = AUTO,
        *,
        tuned: bool = False,
        near: int | None = None,
        weighting: Any = "tfidf",
        prune: float = 0.01,
        n_candidates: int | None = 100,
        threshold: Any = "cardinality",
        bias: bool = True,
        max_iter: int = 1000,
        tol: float = 0.1,
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: bool | int = 0,
    ) -> None:
        self.C = C
        self.tuned = tuned
        self.near = near
        self.weighting = weighting
        self.prune = prune
        self.n_candidates = n_candidates
        self.threshold = threshold
        self.bias = bias
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.n_candidates is not None:
            check_whole("n_candidates", self.n_candidates, 1)
        if self.near is not None:
            check_whole("near", self.near, 1)

    def _fit(self, X: sparse.csr_array, Y: sparse.csr_array) -> None:
        X, Y, sample_weight = self._counted(X, Y)
        rows = self._weigh(X, sample_weight)
        settings = self._settings(rows, Y, tuned=bool(self.tuned), quick=self.near is not None)
        folds = hold_out(X.shape[0], settings.seed) if self._needs_held_out_scores() else None
        members = self._members(rows, Y.T.tocsr(), settings.seed)
        trained = train(rows, members, self.n_labels_, settings, folds, sample_weight=sample_weight)
        self.positive_weights_ = trained.positive_weights
        self.n_iter_ = int(trained.sweeps.max(initial=1))
        self._set_model(trained.weights.model(X.shape[1]))
        if folds is not None:
            held = np.flatnonzero(folds == 0)
            without = trained.without.model(X.shape[1])
            self._held_out = (
                best_scores(without, rows[held], self.n_candidates, self.n_jobs),
                Y[held],
            )

    def _members(
        self, rows: sparse.csr_array, by_label: sparse.csr_array, seed: int
    ) -> MembersByLabel:
        """The documents to train each label on."""
        if self.near is None:
            return AllRows(by_label)
        k = min(self.near, rows.shape[0] - 1)
        found = NeighborIndex(rows).search_self(k, n_jobs=self.n_jobs, verbose=self.verbose)
        return NearRows(by_label, found.indices, seed)

    def _scores(self, X: sparse.csr_array, top: int | None) -> sparse.csr_array:
        rows = self.weighting_.transform(X)
        # A vector of classes needs a score of each class.
        kept = None if self.single_label_ else top or self.n_candidates
        return best_scores(self._model, rows, kept, self.n_jobs)


@dataclass(frozen=True)
class AllRows:
    """Train every label on all rows.

    Parameters
    ----------
    by_label : csr_array of shape (n_labels, n_rows)
        The rows that have each label.
    """

    by_label: sparse.csr_array

    def of_label(self, label: int) -> Members:
        """The rows to train a label on: all."""
        n_rows = self.by_label.shape[1]
        return np.arange(n_rows, dtype=np.int32), _mask(self.by_label, label), None


@dataclass(frozen=True)
class NearRows:
    """Train each label on its rows, on those near them, and on a sample of the others.

    The sample has as many rows as are near, at least 6,000; each stands for several others, by its
    weight. A label for which this would be half of all rows is trained on all.

    Parameters
    ----------
    by_label : csr_array of shape (n_labels, n_rows)
        The rows that have each label.
    neighbors : ndarray of shape (n_rows, k)
        The rows that are near each row.
    seed : int
        For drawing the samples.
    """

    by_label: sparse.csr_array
    neighbors: NDArray[Any]
    seed: int

    def of_label(self, label: int) -> Members:
        """The rows to train a label on."""
        positive = _mask(self.by_label, label)
        chosen = positive.copy()
        near = self.neighbors[positive].ravel()
        chosen[near[near >= 0]] = True
        others = np.flatnonzero(~chosen)
        n_sampled = max(_LEAST_SAMPLE, int(chosen.sum()))
        if chosen.sum() + n_sampled >= positive.size / 2:
            return np.arange(positive.size, dtype=np.int32), positive, None
        generator = np.random.default_rng([self.seed, label])
        sampled = generator.choice(others, n_sampled, replace=False, shuffle=False)
        factors = np.ones(positive.size)
        factors[sampled] = others.size / n_sampled
        chosen[sampled] = True
        rows = np.flatnonzero(chosen).astype(np.int32)
        return rows, positive[rows], factors[rows]


def _mask(by_label: sparse.csr_array, label: int) -> NDArray[np.bool_]:
    """Which rows have a label."""
    mask = np.zeros(by_label.shape[1], bool)
    mask[by_label.indices[by_label.indptr[label] : by_label.indptr[label + 1]]] = True
    return mask
