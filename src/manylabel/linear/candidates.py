"""Linear models where each document has only some candidate labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manylabel.linear.model import LinearModel
from manylabel.linear.training import Members, Settings, train
from manylabel.parallel import run_blocks
from manylabel.predictions import values_at
from manylabel.validation import csr_parts, pointers

__all__ = ["Pairs", "best_scores", "candidate_scores", "train_on_candidates"]

#: Documents per block that a thread scores.
BLOCK = 256
_CANDIDATE, _POSITIVE = 1, 2


@dataclass(frozen=True)
class Pairs:
    """Train each label on its own rows, listed label after label."""

    ptr: NDArray[Any]
    rows: NDArray[np.int32]
    positive: NDArray[np.bool_]

    def of_label(self, label: int) -> Members:
        """The rows to train a label on."""
        span = slice(self.ptr[label], self.ptr[label + 1])
        return self.rows[span], self.positive[span], None


def train_on_candidates(
    X: sparse.csr_array,
    Y: sparse.csr_array,
    candidates: sparse.csr_array,
    settings: Settings,
    folds: NDArray[np.int8] | None = None,
    sample_weight: NDArray[np.float64] | None = None,
    asked: sparse.csr_array | None = None,
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
        Score each row's candidates by weights trained without the rows of its fold. Rows of fold
        -1 are not scored.
    sample_weight : array of shape (n_rows,), optional
        Factor of ``C`` for each row, above 0; ones by default.
    asked : csr_array of shape (n_rows, n_labels), optional
        The pairs whose held-out scores to return; by default the candidates.

    Returns
    -------
    model : LinearModel
    scores : csr_array of shape (n_rows, n_labels)
        Held-out scores of the pairs that are asked for; nothing in rows without a fold.
    n_iter : int
        The maximum number of sweeps over all labels.
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
        sample_weight=sample_weight,
    )
    scores = sparse.csr_array(candidates.shape)
    if folds is not None:
        scored = folds[members] >= 0
        ptr = np.searchsorted(np.flatnonzero(scored), pairs.indptr)
        by_label = sparse.csr_array((trained.scores, members[scored], ptr), shape=pairs.shape)
        scores = _scores_at(by_label, candidates if asked is None else asked, folds >= 0)
    return trained.weights.model(X.shape[1]), scores, int(trained.sweeps.max(initial=1))


def _scores_at(
    by_label: sparse.csr_array, asked: sparse.csr_array, scored: NDArray[np.bool_]
) -> sparse.csr_array:
    """The scores of the pairs that are asked for, in some of the rows; ``by_label`` has them all.

    There may be many more scores than are asked for; then they are not sorted by row.
    """
    lengths = np.diff(asked.indptr)
    if by_label.nnz == lengths[scored].sum():
        # All of them are asked for.
        return sparse.csr_array(by_label.T.tocsr())
    columns, ptr = asked.indices[np.repeat(scored, lengths)], pointers(lengths * scored)
    positions = sparse.csr_array((np.arange(columns.size), columns, ptr), shape=asked.shape)
    positions = sparse.csr_array(positions.T.tocsr())
    values = np.empty(columns.size)
    values[positions.data] = values_at(by_label, positions)
    return sparse.csr_array((values, columns, ptr), shape=asked.shape)


def best_scores(
    model: LinearModel, X: sparse.csr_array, top: int | None, n_jobs: int | None
) -> sparse.csr_array:
    """Scores of the ``top`` best labels of each weighted row; of every trained label if None.

    Rows are scored in blocks, so that no array has the size of rows times labels.
    """
    from manylabel.kernels import svm
    from manylabel.kernels.index import Rows

    n_kept = int(np.isfinite(model.intercept).sum())
    if top is not None:
        n_kept = min(n_kept, top)
    rows, coef = Rows(*csr_parts(X)), model.rows
    labels = np.empty((X.shape[0], n_kept), np.int32)
    scores = np.empty((X.shape[0], n_kept), np.float64)

    def work(start: int, stop: int) -> None:
        svm.best_scores(start, stop, rows, coef, model.intercept, labels, scores)

    if n_kept:
        run_blocks(work, X.shape[0], BLOCK, n_jobs)
    indptr = np.arange(X.shape[0] + 1) * n_kept
    shape = X.shape[0], model.intercept.size
    return sparse.csr_array((scores.ravel(), labels.ravel(), indptr), shape=shape)


def candidate_scores(
    model: LinearModel, X: sparse.csr_array, candidates: sparse.csr_array, n_jobs: int | None
) -> NDArray[np.float64]:
    """Scores of the stored entries of ``candidates`` for weighted rows."""
    from manylabel.kernels import svm
    from manylabel.kernels.index import Rows

    rows, coef, lookup = Rows(*csr_parts(X)), model.rows, model.lookups.after(X.shape[0])
    ptr, labels, _ = csr_parts(candidates, candidates.dtype)
    scores = np.empty(labels.size, np.float64)

    def work(start: int, stop: int) -> None:
        svm.candidate_scores(start, stop, rows, coef, lookup, model.intercept, ptr, labels, scores)

    run_blocks(work, X.shape[0], BLOCK, n_jobs)
    return scores
