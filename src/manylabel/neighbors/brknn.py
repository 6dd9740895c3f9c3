"""BRkNN, and the base class of the lazy baselines, which count the neighbours' labels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manylabel.base import Grid, MultiLabelClassifier
from manylabel.exceptions import ParameterError
from manylabel.metrics import ndcg_at
from manylabel.neighbors.automatic import AUTO, documents_to_try
from manylabel.neighbors.index import NeighborIndex
from manylabel.neighbors.strategies import Neighbors
from manylabel.parallel import run_blocks
from manylabel.predictions import canonical_scores, rank_order
from manylabel.text.weighting import Weighting, make_weighting
from manylabel.thresholds import Fixed, Threshold, make_threshold
from manylabel.thresholds.base import pick
from manylabel.validation import check_unless_auto, check_whole, csr_parts

__all__ = ["BRkNN", "LazyClassifier", "label_counts", "share_scores"]

#: Rows per task.
BLOCK = 1024
#: Maximum training documents to learn a threshold from.
HELD_OUT = 20_000
#: Numbers of neighbours that "auto" may become; the first is that of very small corpora and of
#: single classes.
_AUTOMATIC_K = (10, 5, 20, 50, 100)


def label_counts(
    neighbors: NDArray[np.int32], Y: sparse.csr_array, n_jobs: int | None = None
) -> sparse.csr_array:
    """Count the neighbours of each row that carry each label.

    Parameters
    ----------
    neighbors : array of shape (n_rows, k)
        Row numbers of Y, -1 where there is no neighbour: :attr:`Neighbors.indices`, or its first
        columns.
    Y : csr_array of shape (n_samples, n_labels)
        Canonical labels.
    n_jobs : int, optional
        Threads.

    Returns
    -------
    counts : csr_array of shape (n_rows, n_labels), int32
        Only labels that some neighbour carries are stored.

    Examples
    --------
    >>> Y = sparse.csr_array(np.array([[1, 0, 1], [1, 0, 0]], np.int8))
    >>> label_counts(np.array([[0, 1], [1, -1]], np.int32), Y).toarray().tolist()
    [[2, 0, 1], [1, 0, 0]]
    """
    from manylabel.kernels import knn_labels

    n_rows = neighbors.shape[0]
    y_ptr, y_labels, _ = csr_parts(Y, np.int8)
    lengths = np.diff(y_ptr)
    sizes = np.empty(n_rows, np.int64)
    pieces: dict[int, tuple[NDArray[np.int32], NDArray[np.int32]]] = {}

    def work(start: int, stop: int) -> None:
        rows = neighbors[start:stop]
        capacity = int(lengths[rows[rows >= 0]].sum())
        labels, counts = np.empty(capacity, np.int32), np.empty(capacity, np.int32)
        knn_labels.count_labels(rows, y_ptr, y_labels, sizes[start:stop], labels, counts)
        end = int(sizes[start:stop].sum())
        pieces[start] = labels[:end].copy(), counts[:end].copy()

    run_blocks(work, n_rows, BLOCK, n_jobs)
    return joined(pieces, sizes, Y.shape[1])


def joined(
    pieces: dict[int, tuple[NDArray[np.int32], NDArray[Any]]],
    sizes: NDArray[np.int64],
    n_labels: int,
) -> sparse.csr_array:
    """Join blocks of rows, given as (labels, values) by the number of their first row."""
    blocks = [pieces[start] for start in sorted(pieces)] or [(np.empty(0, np.int32),) * 2]
    labels, values = (np.concatenate(arrays) for arrays in zip(*blocks, strict=True))
    # SciPy keeps both index arrays in one type, so narrow pointers keep the labels narrow.
    narrow = labels.size <= np.iinfo(np.int32).max
    indptr = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32 if narrow else np.int64)
    return sparse.csr_array((values, labels, indptr), shape=(sizes.size, n_labels))


def share_scores(
    neighbors: NDArray[np.int32], Y: sparse.csr_array, n_jobs: int | None = None
) -> sparse.csr_array:
    """The share of each row's neighbours that carry each label: BRkNN's confidences.

    Parameters and shape are those of :func:`label_counts`. A row with fewer than k neighbours
    divides by their number.
    """
    counts = label_counts(neighbors, Y, n_jobs)
    n_neighbors = (neighbors >= 0).sum(axis=1)
    shares = counts.data / np.repeat(n_neighbors, np.diff(counts.indptr))
    return sparse.csr_array((shares, counts.indices, counts.indptr), shape=counts.shape)


class LazyClassifier(MultiLabelClassifier):
    """Base class of the classifiers that use only the labels of a document's k neighbours."""

    default_grid: ClassVar[Grid] = {"k": (5, 10, 20, 50, 100)}

    #: An index of the same rows that several models share; None to build one.
    shared_index: Any = None

    k: int | str
    weighting: Any
    n_jobs: int | None
    verbose: bool | int
    #: None in a model folder from before ``k`` could be "auto".
    k_: int | None = None
    weighting_: Weighting
    index_: NeighborIndex
    labels_: sparse.csr_array

    def _check_parameters(self) -> None:
        """Raise ParameterError for a parameter outside its domain."""
        check_unless_auto(check_whole, "k", self.k, 1)

    def _remember(self, X: sparse.csr_array, Y: sparse.csr_array) -> None:
        """Index the training documents and keep their labels."""
        self.weighting_ = make_weighting(self.weighting).fit(X)
        rows = self.weighting_.transform(X)
        self.index_ = NeighborIndex(rows) if self.shared_index is None else self.shared_index
        self.labels_ = Y
        self.k_ = self._best_k() if self.k == AUTO else int(self.k)

    def _best_k(self) -> int:
        """The number of neighbours that rank the labels of left-out documents best."""
        rows = documents_to_try(np.ones(self.labels_.shape[0], np.bool_))
        if not rows.size or self.single_label_:
            return _AUTOMATIC_K[0]
        near = self.index_.search_self(max(_AUTOMATIC_K), rows=rows, n_jobs=self.n_jobs).indices
        worth = {k: self._worth(rows, near[:, :k]) for k in _AUTOMATIC_K}
        return max(worth, key=lambda k: worth[k])

    def _worth(self, rows: NDArray[np.int64], neighbors: NDArray[np.int32]) -> float:
        """How well the labels of training documents are ranked, given their nearest others."""
        votes = share_scores(neighbors, self.labels_, self.n_jobs)
        return ndcg_at(self.labels_[rows], votes, 5)

    @property
    def _n_neighbors(self) -> int:
        return int(self.k) if self.k_ is None else self.k_

    def _neighbors(self, X: sparse.csr_array) -> Neighbors:
        """The nearest training documents of new ones."""
        rows = self.weighting_.transform(X)
        k = self._n_neighbors
        return self.index_.search(rows, k, n_jobs=self.n_jobs, verbose=self.verbose)

    def _counts_without_itself(self) -> sparse.csr_array:
        """Counts of the labels of each training document's neighbours other than itself."""
        k = self._n_neighbors
        near = self.index_.search_self(k, n_jobs=self.n_jobs, verbose=self.verbose)
        return label_counts(near.indices, self.labels_, self.n_jobs)

    def _hold_out(self, scores: Callable[[NDArray[np.int64]], sparse.csr_array]) -> None:
        """Keep the scores of some training rows, if there is a threshold that reads them."""
        if not self.single_label_ and make_threshold(self.threshold).reads_scores:
            rows = np.arange(self.labels_.shape[0])
            if rows.size > HELD_OUT:
                rows = np.sort(np.random.default_rng(0).choice(rows, HELD_OUT, replace=False))
            self._held_out = scores(rows), self.labels_[rows]

    def _held_out_scores(
        self, X: sparse.csr_array, Y: sparse.csr_array
    ) -> tuple[sparse.csr_array, sparse.csr_array]:
        """The scores that `_fit` has stored."""
        return self.__dict__.pop("_held_out")


class BRkNN(LazyClassifier):
    r"""Binary relevance kNN with one search: a label's score is the share of neighbours with it.

    Parameters
    ----------
    k : int or "auto", default="auto"
        Number of neighbours. If fewer documents share a feature with a sample, only those count.
        "auto" takes the one of 5, 10, 20, 50 and 100 whose votes rank the labels of up to 1,000
        training documents best, each scored as if it were new.
    variant : {None, "a", "b"}, default=None
        Which labels to predict. None: those that at least half of the neighbours carry. ``"a"``:
        also the best label if there are none. ``"b"``: the s best labels, where s is the mean
        number of labels of the neighbours, rounded half up.
    weighting : {"tfidf", "bm25", "binary", "share", None} or Weighting, default="tfidf"
        Of the features, for the cosines; None as in the paper.
    n_jobs : int, optional
        Threads.
    verbose : bool or int, default=0
        Show a progress bar.

    Attributes
    ----------
    k_ : int
        The number of neighbours.
    index_ : NeighborIndex
        The training documents.
    labels_ : csr_array of shape (n_samples, n_labels)
        Their labels.
    weighting_ : Weighting

    References
    ----------
    Spyromitros, Tsoumakas and Vlahavas (2008), An empirical study of lazy multilabel
    classification algorithms. The neighbours here are the nearest by cosine.

    Examples
    --------
    >>> X = [[2, 0, 1], [1, 0, 0], [1, 1, 1]]
    >>> Y = [[1, 1, 0], [1, 0, 0], [0, 1, 1]]
    >>> model = BRkNN(k=3).fit(X, Y)
    >>> model.decision_function([[1, 0, 1]]).toarray().round(2).tolist()
    [[0.67, 0.67, 0.33]]
    >>> model.predict([[1, 0, 1]]).tolist()
    [[1, 1, 0]]
    """

    def __init__(
        self,
        k: int | str = AUTO,
        *,
        variant: str | None = None,
        weighting: Any = "tfidf",
        n_jobs: int | None = None,
        verbose: bool | int = 0,
    ) -> None:
        self.k = k
        self.variant = variant
        self.weighting = weighting
        self.n_jobs = n_jobs
        self.verbose = verbose

    @property
    def threshold(self) -> Threshold:
        """The threshold of the variant, from shares to labels."""
        if self.variant == "b":
            return MeanSize()
        return Fixed(0.5, at_least_one=self.variant == "a")

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.variant not in (None, "a", "b"):
            raise ParameterError(f"`variant` must be None, 'a' or 'b'; got {self.variant!r}.")

    def _fit(self, X: sparse.csr_array, Y: sparse.csr_array) -> None:
        self._remember(X, Y)

    def _scores(self, X: sparse.csr_array, top: int | None) -> sparse.csr_array:
        return share_scores(self._neighbors(X).indices, self.labels_, self.n_jobs)


class MeanSize(Threshold):
    """Give each row its s best labels, where s is the sum of its scores, rounded half up.

    The sum of the shares of neighbours that carry each label is the neighbours' mean number of
    labels.
    """

    reads_scores = False

    def fit(self, scores: Any = None, Y: Any = None) -> MeanSize:
        """Learn nothing."""
        return self

    def apply(self, scores: Any) -> sparse.csr_array:
        """The predicted labels as an indicator matrix (int8) of the shape of ``scores``."""
        matrix = canonical_scores(scores)
        # Sums are multiples of 1/k, so 1e-9 only undoes the rounding errors of the shares.
        sizes = np.floor(matrix.sum(axis=1) + 0.5 + 1e-9)
        lengths = np.diff(matrix.indptr)
        position = np.arange(matrix.nnz) - np.repeat(matrix.indptr[:-1], lengths)
        given = np.zeros(matrix.nnz, bool)
        given[rank_order(matrix)] = position < np.repeat(sizes, lengths)
        return pick(matrix, given)
