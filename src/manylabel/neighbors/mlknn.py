"""ML-kNN: the probability of a label, given the number of neighbours that carry it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manylabel.neighbors.automatic import AUTO
from manylabel.neighbors.brknn import LazyClassifier, label_counts
from manylabel.validation import check_positive, csr_parts

__all__ = ["MLkNN", "count_posteriors", "posterior_scores"]


def count_posteriors(
    counts: sparse.csr_array, Y: sparse.csr_array, k: int, smoothing: float = 1.0
) -> sparse.csr_array:
    r"""The probability of each label given the number of neighbours that carry it.

    With :math:`n_l` of :math:`n` documents carrying label :math:`l`, of which :math:`c_l(j)` have
    :math:`j` neighbours that do, :math:`\bar c_l(j)` the same of the others, and smoothing
    :math:`s`:

    .. math::
        P(l) = \frac{s + n_l}{2s + n}, \quad
        P(j|l) = \frac{s + c_l(j)}{s(k + 1) + n_l}, \quad
        P(j|\bar l) = \frac{s + \bar c_l(j)}{s(k + 1) + n - n_l}

    Parameters
    ----------
    counts : csr_array of shape (n_samples, n_labels)
        Of the labels of each training document's neighbours other than itself.
    Y : csr_array of shape (n_samples, n_labels)
        Canonical labels of the training documents.
    k : int
        The number of neighbours behind the counts.
    smoothing : float

    Returns
    -------
    posteriors : csr_array of shape (n_labels, k + 1)
        :math:`P(l|j)` in row l, column j. A label's row is stored up to the number of documents
        with the label, since no count can be larger.

    Examples
    --------
    >>> Y = sparse.csr_array(np.array([[1], [1], [0]], np.int8))
    >>> counts = sparse.csr_array(np.array([[1], [1], [0]], np.int32))
    >>> count_posteriors(counts, Y, k=1).toarray().round(3).tolist()
    [[0.36, 0.771]]
    """
    from manylabel.kernels import knn_labels

    n_samples, n_labels = Y.shape
    frequency = np.bincount(Y.indices, minlength=n_labels)
    sizes = np.minimum(frequency, k) + 1
    indptr = np.concatenate([[0], np.cumsum(sizes)])
    none = indptr[:-1]

    ptr, labels, numbers = csr_parts(counts, np.int64)
    carried = np.empty(labels.size, np.bool_)
    knn_labels.mark_common(ptr, labels, *csr_parts(Y, np.int8)[:2], carried)
    cells = none[labels] + numbers
    with_label = np.bincount(cells[carried], minlength=indptr[-1])
    without = np.bincount(cells[~carried], minlength=indptr[-1])
    with_label[none] = frequency - np.add.reduceat(with_label, none)
    without[none] = n_samples - frequency - np.add.reduceat(without, none)

    n_with = np.repeat(frequency, sizes)
    prior = (smoothing + n_with) / (2 * smoothing + n_samples)
    base = smoothing * (k + 1)
    present = prior * (smoothing + with_label) / (base + n_with)
    absent = (1 - prior) * (smoothing + without) / (base + n_samples - n_with)
    columns = np.arange(indptr[-1]) - np.repeat(none, sizes)
    return sparse.csr_array(
        (present / (present + absent), columns, indptr), shape=(n_labels, k + 1)
    )


def posterior_scores(counts: sparse.csr_array, posteriors: sparse.csr_array) -> sparse.csr_array:
    """The probability of each label that neighbours carry, and of other likely labels.

    Parameters
    ----------
    counts : csr_array of shape (n_rows, n_labels)
        From :func:`manylabel.neighbors.brknn.label_counts`.
    posteriors : csr_array of shape (n_labels, k + 1)
        From :func:`count_posteriors`.

    Returns
    -------
    scores : csr_array of shape (n_rows, n_labels)
        A label that no neighbour carries is stored only if its probability is then at least one
        half, which only very frequent labels reach.
    """
    likely = np.flatnonzero(posteriors.data[posteriors.indptr[:-1]] >= 0.5)
    if likely.size:
        counts = _with_zeros(counts, likely)
    scores = posteriors.data[posteriors.indptr[counts.indices] + counts.data]
    return sparse.csr_array((scores, counts.indices, counts.indptr), shape=counts.shape)


def _with_zeros(counts: sparse.csr_array, labels: NDArray[np.int64]) -> sparse.csr_array:
    """The counts with an entry for each of the labels in every row."""
    n_rows = counts.shape[0]
    entries = counts.tocoo()
    data = np.concatenate([entries.data, np.zeros(n_rows * labels.size, counts.dtype)])
    rows = np.concatenate([entries.row, np.repeat(np.arange(n_rows), labels.size)])
    columns = np.concatenate([entries.col, np.tile(labels, n_rows)])
    return sparse.csr_array((data, (rows, columns)), shape=counts.shape)


class MLkNN(LazyClassifier):
    """Multi-label k-nearest neighbours: Bayes' rule on the number of neighbours with a label.

    A score is the probability of the label given how many of the k nearest documents carry it,
    estimated from the neighbours of the training documents. A label that no neighbour carries has
    the same probability for every such document, so it is a candidate only if that is at least
    one half.

    Parameters
    ----------
    k : int or "auto", default="auto"
        Neighbours. "auto" takes the number of 5, 10, 20, 50 and 100 whose votes rank the labels of
        up to 1,000 training documents best, each scored as if it were new.
    smoothing : float, default=1
        Added to every count of training documents; above 0.
    weighting : {"tfidf", "bm25", "binary", "share", None} or Weighting, default="tfidf"
        Of the features, for the cosines.
    threshold : str, float or threshold, default="0.5"
        From scores to labels. The paper predicts all labels that are more likely than not, and may
        predict none: ``Fixed(0.5, at_least_one=False)``. The default always predicts at least the
        best label. A threshold that reads scores is fitted on the probabilities of at most 20,000
        training documents, from their neighbours other than themselves.
    n_jobs : int, optional
        Threads.
    verbose : bool or int, default=0
        Show a progress bar.

    Attributes
    ----------
    k_ : int
        The number of neighbours.
    posteriors_ : csr_array of shape (n_labels, k + 1)
        The probability of each label given each count; stored up to the number of training
        documents that carry the label.
    index_ : NeighborIndex
        The training documents.
    labels_ : csr_array of shape (n_samples, n_labels)
        Their labels.
    weighting_ : Weighting

    References
    ----------
    Zhang and Zhou (2007), ML-KNN: a lazy learning approach to multi-label learning. The neighbours
    here are the nearest by cosine.

    Examples
    --------
    >>> X = [[2, 0, 1], [1, 0, 0], [3, 1, 0], [0, 1, 1], [0, 1, 0], [0, 2, 1]]
    >>> Y = [[1, 0], [1, 0], [1, 0], [0, 1], [0, 1], [0, 1]]
    >>> model = MLkNN(k=2).fit(X, Y)
    >>> model.decision_function([[1, 0, 0]]).toarray().round(2).tolist()
    [[0.8, 0.0]]
    >>> model.predict([[1, 0, 0], [0, 1, 0]]).tolist()
    [[1, 0], [0, 1]]
    """

    gives_probabilities = True

    def __init__(
        self,
        k: int | str = AUTO,
        *,
        smoothing: float = 1.0,
        weighting: Any = "tfidf",
        threshold: Any = "0.5",
        n_jobs: int | None = None,
        verbose: bool | int = 0,
    ) -> None:
        self.k = k
        self.smoothing = smoothing
        self.weighting = weighting
        self.threshold = threshold
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_positive("smoothing", self.smoothing)

    def _fit(self, X: sparse.csr_array, Y: sparse.csr_array) -> None:
        self._remember(X, Y)
        counts = self._counts_without_itself()
        self.posteriors_ = count_posteriors(counts, Y, self._n_neighbors, float(self.smoothing))
        self._hold_out(lambda rows: posterior_scores(counts[rows], self.posteriors_))

    def _scores(self, X: sparse.csr_array, top: int | None) -> sparse.csr_array:
        counts = label_counts(self._neighbors(X).indices, self.labels_, self.n_jobs)
        return posterior_scores(counts, self.posteriors_)
