"""What the linear classifiers share: parameters, scores and explanations."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from manylabel.base import MultiLabelClassifier
from manylabel.evidence import Explanation, Reason
from manylabel.exceptions import InputError, ParameterError
from manylabel.linear.training import LinearModel, Settings
from manylabel.parallel import run_blocks
from manylabel.predictions import keep_top, rank_order
from manylabel.text.weighting import Weighting, make_weighting
from manylabel.validation import check_real, check_whole, csr_parts

__all__ = ["LinearClassifier", "best_scores", "candidate_scores"]

#: Documents that a thread scores before it takes more.
BLOCK = 256


class LinearClassifier(MultiLabelClassifier):
    """Base of the linear classifiers."""

    can_explain = True

    C: float
    weighting: Any
    prune: float
    bias: bool
    max_iter: int
    tol: float
    random_state: Any
    n_jobs: int | None
    verbose: bool | int

    # Scores of rows by weights that do not know them, and their labels, kept for the threshold.
    _held_out: tuple[sparse.csr_array, sparse.csr_array]
    coef_: sparse.csr_array
    intercept_: NDArray[np.float64]
    weighting_: Weighting

    def explain(
        self, X: Any, labels: ArrayLike | None = None, top: int = 5
    ) -> list[list[Explanation]]:
        """Say which features speak for and against labels.

        Parameters
        ----------
        X : sparse matrix or array-like of shape (n_samples, n_features)
        labels : array of int, optional
            The labels to explain; by default the ``top`` best of each sample.
        top : int

        Returns
        -------
        list of list of Explanation
            One list a sample, best label first or in the order of ``labels``. Reasons are of kind
            ``"word"``, a feature's weight times its value, and ``"bias"``; their shares add up to
            the score.
        """
        check_is_fitted(self)
        features = self._checked_features(X, reset=False)
        if labels is None:
            best = keep_top(self._scores(features, top), top)
            chosen = np.split(best.indices[rank_order(best)], best.indptr[1:-1])
        else:
            chosen = [self._explainable(labels)] * features.shape[0]
        rows = self.weighting_.transform(features)
        return [
            [self._explanation(rows, row, int(label)) for label in chosen[row]]
            for row in range(rows.shape[0])
        ]

    def _explainable(self, labels: ArrayLike) -> NDArray[np.int64]:
        """Check that labels exist and have scores."""
        chosen = np.atleast_1d(np.asarray(labels, np.int64))
        for label in chosen:
            if not 0 <= label < self.n_labels_:
                raise InputError(f"labels are numbered 0 to {self.n_labels_ - 1}; got {label}.")
            if self.intercept_[label] == -np.inf:
                raise InputError(
                    f"label {label} had no training document, so it has no score to explain."
                )
        return chosen

    def _explanation(self, rows: sparse.csr_array, row: int, label: int) -> Explanation:
        """Add up one label's score of one weighted row."""
        start, stop = rows.indptr[row], rows.indptr[row + 1]
        features = rows.indices[start:stop]
        values = rows.data[start:stop].astype(np.float32).astype(np.float64)
        reasons = [Reason("bias", float(self.intercept_[label]))] if self.bias else []
        for feature, value in zip(features, values, strict=True):
            first, last = self.coef_.indptr[feature], self.coef_.indptr[feature + 1]
            place = first + np.searchsorted(self.coef_.indices[first:last], label)
            if place < last and self.coef_.indices[place] == label:
                share = float(value * self.coef_.data[place])
                reasons.append(Reason("word", share, index=int(feature)))
        reasons.sort(key=lambda reason: -reason.share)
        return Explanation(row, label, sum(reason.share for reason in reasons), tuple(reasons))

    def _check_parameters(self) -> None:
        """Raise ParameterError for a parameter outside its domain."""
        _check_above_zero("C", self.C)
        _check_above_zero("tol", self.tol)
        check_real("prune", self.prune, 0)
        check_whole("max_iter", self.max_iter, 1)

    def _settings(self, **more: Any) -> Settings:
        """The parameters that training needs."""
        return Settings(
            C=float(self.C),
            bias=bool(self.bias),
            prune=float(self.prune),
            max_iter=int(self.max_iter),
            tol=float(self.tol),
            seed=int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max)),
            n_jobs=self.n_jobs,
            verbose=self.verbose,
            **more,
        )

    def _weigh(self, X: sparse.csr_array) -> sparse.csr_array:
        """Learn the weighting of the training rows and apply it."""
        self.weighting_ = make_weighting(self.weighting, np.float32)
        return self.weighting_.fit(X).transform(X)

    @property
    def _model(self) -> LinearModel:
        return LinearModel(self.coef_, self.intercept_)

    def _set_model(self, model: LinearModel) -> None:
        self.coef_, self.intercept_ = model.coef, model.intercept


def best_scores(
    model: LinearModel, X: sparse.csr_array, top: int | None, n_jobs: int | None
) -> sparse.csr_array:
    """Scores of the ``top`` best labels of each weighted row; of every trained label if None.

    Rows are scored in blocks, so that nothing is as large as rows times labels.
    """
    from manylabel.kernels import svm
    from manylabel.kernels.index import Rows

    n_kept = int(np.isfinite(model.intercept).sum())
    if top is not None:
        n_kept = min(n_kept, top)
    rows, coef = Rows(*csr_parts(X)), Rows(*csr_parts(model.coef))
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
) -> sparse.csr_array:
    """Scores of the stored entries of ``candidates`` for weighted rows."""
    from manylabel.kernels import svm
    from manylabel.kernels.index import Rows

    rows, coef = Rows(*csr_parts(X)), Rows(*csr_parts(model.coef))
    ptr, labels, _ = csr_parts(candidates)
    scores = np.empty(labels.size, np.float64)

    def work(start: int, stop: int) -> None:
        svm.candidate_scores(start, stop, rows, coef, model.intercept, ptr, labels, scores)

    run_blocks(work, X.shape[0], BLOCK, n_jobs)
    return sparse.csr_array((scores, labels, ptr), shape=candidates.shape)


def _check_above_zero(name: str, value: Any) -> None:
    check_real(name, value, 0)
    if value == 0:
        raise ParameterError(f"`{name}` must be a number above 0; got 0.")
