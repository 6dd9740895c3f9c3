"""Curves that put the true labels of a document before its other candidates.

Curves that are most likely, candidate by candidate, mostly tell hopeless candidates from the rest.
Here only the best candidates of a document compete, and with each other.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from manylabel.ensemble.choosing import (
    CURVES,
    HeldOut,
    measured_by_sample,
    most_likely,
    standard_error,
)
from manylabel.ensemble.curves import (
    N_GROUPS,
    RIDGE,
    WEIGHT_SPREAD,
    Combination,
    curves_with,
    frequency_group,
    rises_of,
)
from manylabel.parallel import single_threaded_blas
from manylabel.predictions import best_of_rows

__all__ = ["Lists", "rank_curves"]

#: Candidates per document that compete.
_TOP = 20
_MAX_STEPS = 100
#: Standard errors by which ranking must improve.
_MIN_ERRORS = 2


def rank_curves(
    held_out: HeldOut, combination: Combination, measure: str, Y_train: sparse.csr_array
) -> Combination:
    """Learn curves, offsets and weights that rank better; ``combination`` if they do not.

    Each half of the documents judges, by a ranking measure, what was learned on the other. The gain
    over the most likely curves must be above two standard errors: of a few hundred documents,
    curves learn chance.
    """
    halves = held_out.halves()
    if not all(half.truth.any() for half in halves):
        return combination
    gains = []
    for learn, judge in (halves, halves[::-1]):
        likely = most_likely(learn, list(combination.curves), combination, CURVES // 2)
        values = measured_by_sample(judge, measure, Y_train)
        asked = judge.scores, judge.counts
        gains.append(values(_ranked(learn, likely)(*asked)) - values(likely(*asked)))
    gain = np.concatenate(gains)
    is_better = gain.mean() > _MIN_ERRORS * standard_error(gain)
    return _ranked(held_out, combination) if is_better else combination


def _ranked(held_out: HeldOut, combination: Combination) -> Combination:
    """First curves and offsets for all labels, then weights by their frequency."""
    ptr = held_out.candidates.pattern.indptr.astype(np.int64)
    every = combination(held_out.scores, held_out.counts)
    best = np.flatnonzero(best_of_rows(ptr, every, _TOP))
    lists = Lists.of(held_out.candidates.rows[best], held_out.truth[best])
    if lists.n_true == 0:
        return combination
    scores = {name: held_out.scores[name][best] for name in combination.curves}
    is_in = frequency_group(held_out.counts[best])[:, None] == np.arange(N_GROUPS)

    knots = {name: curve.knots for name, curve in combination.curves.items()}
    bases = [rises_of(scores[name], positions) for name, positions in knots.items()]
    rises = np.concatenate([np.diff(curve.values) for curve in combination.curves.values()])
    ridge = 2 * lists.n_true * RIDGE
    learned = lists.fit(
        np.concatenate([*bases, is_in], axis=1, dtype=np.float32),
        start=np.concatenate([rises, combination.offsets]),
        prior_mean=np.concatenate([np.zeros(rises.size), combination.offsets]),
        prior_precision=np.repeat([ridge, ridge / 10], [rises.size, N_GROUPS]),
        lower_bound=np.repeat([0.0, -np.inf], [rises.size, N_GROUPS]),
    )
    curves, offsets = curves_with(knots, learned), learned[rises.size :]
    if len(curves) < 2:
        return Combination(curves, offsets)

    by_group = [curve(scores[name])[:, None] * is_in for name, curve in curves.items()]
    n_weights = len(curves) * N_GROUPS
    expected = np.concatenate([np.ones(n_weights), offsets])
    learned = lists.fit(
        np.concatenate([*by_group, is_in], axis=1, dtype=np.float32),
        start=expected,
        prior_mean=expected,
        prior_precision=np.repeat([1 / WEIGHT_SPREAD**2, 1.0], [n_weights, N_GROUPS]),
        lower_bound=np.repeat([0.0, -np.inf], [n_weights, N_GROUPS]),
    )
    weights = learned[:n_weights].reshape(-1, N_GROUPS)
    return Combination(curves, learned[n_weights:], weights=dict(zip(curves, weights, strict=True)))


@dataclass(frozen=True)
class Lists:
    """Candidates of documents, of which the true ones should have the highest scores.

    Parameters
    ----------
    rows : ndarray of shape (n_candidates,)
        The document of each candidate, from 0, in ascending order.
    truth : ndarray of shape (n_candidates,)
        Which candidates are true.
    starts : ndarray of shape (n_documents,)
        The first candidate of each document.
    """

    rows: NDArray[np.int64]
    truth: NDArray[np.bool_]
    starts: NDArray[np.int64]

    @classmethod
    def of(cls, rows: ArrayLike, truth: ArrayLike) -> Lists:
        """Lists of the candidates of documents; those without candidates are left out."""
        _, starts, numbers = np.unique(rows, return_index=True, return_inverse=True)
        return cls(numbers, np.asarray(truth, np.bool_), starts)

    @property
    def n_true(self) -> int:
        """The number of true candidates."""
        return int(self.truth.sum())

    def loss(self, scores: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        r"""Minus the log-likelihood that each true candidate comes before all false ones.

        The loss of a document with true candidates :math:`T` and false ones :math:`F` is

        .. math:: \sum_{t \in T} \log\Big(e^{z_t} + \sum_{f \in F} e^{z_f}\Big) - z_t

        Returns
        -------
        loss : float
        gradient : ndarray of shape (n_candidates,)

        Examples
        --------
        >>> loss, gradient = Lists.of([0, 0], [True, False]).loss(np.log([3.0, 1.0]))
        >>> round(loss, 3), gradient.round(3).tolist()  # log(4 / 3)
        (0.288, [-0.25, 0.25])
        """
        if not scores.size:
            return 0.0, scores
        rows, true = self.rows, np.flatnonzero(self.truth)
        highest = np.maximum.reduceat(scores, self.starts)
        weights = np.exp(scores - highest[rows])
        others = np.bincount(rows, np.where(self.truth, 0.0, weights), self.starts.size)
        total = others[rows[true]] + weights[true]
        loss = np.sum(np.log(total) + highest[rows[true]] - scores[true])
        inverse = np.bincount(rows[true], 1 / total, self.starts.size)
        gradient = np.where(self.truth, 0.0, weights * inverse[rows])
        gradient[true] = weights[true] / total - 1
        return float(loss), gradient

    def fit(
        self,
        design: NDArray[np.float32],
        start: NDArray[np.float64],
        prior_mean: NDArray[np.float64],
        prior_precision: NDArray[np.float64],
        lower_bound: NDArray[np.float64],
    ) -> NDArray[np.float64]:
        """The weights of columns with the least loss and a normal prior."""
        from scipy.optimize import minimize

        def objective(at: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
            loss, gradient = self.loss((design @ at.astype(np.float32)).astype(np.float64))
            away = prior_precision * (at - prior_mean)
            slope = design.T @ gradient.astype(np.float32) + away
            loss += 0.5 * float(away @ (at - prior_mean))
            return loss / self.n_true, slope / self.n_true

        with single_threaded_blas():
            found = minimize(
                objective,
                start,
                jac=True,
                method="L-BFGS-B",
                bounds=[(lowest, None) for lowest in lower_bound],
                options={"maxiter": _MAX_STEPS},
            )
        best: NDArray[np.float64] = found.x
        return best
