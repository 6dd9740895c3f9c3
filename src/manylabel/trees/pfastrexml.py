"""PfastreXML: FastXML for rare labels, with propensities and re-ranked candidates."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manylabel.base import Grid
from manylabel.evidence import Reason
from manylabel.metrics import propensities
from manylabel.parallel import run_blocks
from manylabel.predictions import keep_top
from manylabel.text.weighting import Weighting
from manylabel.trees.fastxml import FastXML
from manylabel.trees.forest import BLOCK
from manylabel.validation import check_real, csr_parts

__all__ = ["PfastreXML"]


class PfastreXML(FastXML):
    r"""FastXML with propensity-scored gains, re-ranked by centroids (Jain, Prabhu & Varma 2016).

    A rare label is often missing in the training data, and more valuable if it is predicted. Its
    gain in the nodes' DCG and its share of a leaf are therefore divided by its propensity
    :math:`p_l`, the probability that a true label was recorded. The DCG of a document is not
    normalised, because the ideal DCG depends on labels that were not recorded. The candidates
    :math:`l` of a document :math:`x` of unit length are then ranked by

    .. math:: \alpha \ln P_l(x) + (1 - \alpha) \ln \frac{1}{1 + e^{\gamma \|x - \mu_l\|^2 / 2}}

    where :math:`P_l` is the mean share of the label in the leaves and :math:`\mu_l` the mean of its
    training documents: a classifier that can be learned from a few documents. Scores are negative.

    Parameters
    ----------
    n_trees, max_leaf, leaf_labels, C, bias, weighting, threshold, random_state, n_jobs, verbose
        As in :class:`FastXML`.
    alpha : float, default=0.8
        Weight of the trees, 0 to 1; 1 leaves out the centroids and is the paper's PfastXML.
    gamma : float, default=30.0
        How fast the second term falls with the distance to the centroid. The authors' program
        leaves out the factor 1/2: its 30 is 60 here.
    A, B : float, default=0.55 and 1.5
        Of the propensities, as in :func:`manylabel.metrics.propensities`.

    Attributes
    ----------
    forest_ : Forest
        The trees as flat arrays.
    weighting_ : Weighting
    scale_ : float
        The factor of all weights.
    propensities_ : ndarray of shape (n_labels,)
    centroids_ : csr_array of float32 of shape (n_labels, n_features)
        Mean of the training documents of each label; an empty row for a label without documents.

    Examples
    --------
    >>> X = [[2, 1, 0, 0], [1, 2, 0, 0], [0, 0, 1, 2], [0, 0, 2, 1]] * 5
    >>> Y = [[1, 0], [1, 0], [0, 1], [0, 1]] * 5
    >>> model = PfastreXML(n_trees=5, max_leaf=4, random_state=0).fit(X, Y)
    >>> model.predict([[1, 1, 0, 0], [0, 0, 1, 1]]).tolist()
    [[1, 0], [0, 1]]
    """

    default_grid: ClassVar[Grid] = {"alpha": (0.5, 0.8, 1.0), "gamma": (10.0, 30.0, 100.0)}

    def __init__(
        self,
        n_trees: int = 50,
        max_leaf: int = 10,
        *,
        alpha: float = 0.8,
        gamma: float = 30.0,
        A: float = 0.55,
        B: float = 1.5,
        leaf_labels: int = 100,
        C: float = 4.0,
        bias: float = 0.1,
        weighting: str | Weighting | None = "tfidf",
        threshold: Any = "cardinality",
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            n_trees,
            max_leaf,
            leaf_labels=leaf_labels,
            C=C,
            bias=bias,
            weighting=weighting,
            threshold=threshold,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
        )
        self.alpha = alpha
        self.gamma = gamma
        self.A = A
        self.B = B

    propensities_: NDArray[np.float64]
    centroids_: sparse.csr_array

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_real("alpha", self.alpha, 0, 1)
        check_real("gamma", self.gamma, 0)
        check_real("A", self.A, 0)
        check_real("B", self.B, 0)

    def _learn(self, X: sparse.csr_array, Y: sparse.csr_array, n_trees: int) -> None:
        self.propensities_ = propensities(Y, self.A, self.B)
        members = Y.T.tocsr().astype(np.float32)
        sums = sparse.csr_array(members @ _unit_rows(X))
        counts = np.maximum(np.diff(members.indptr), 1)
        sums.data /= np.repeat(counts, np.diff(sums.indptr))
        sums.sort_indices()
        self.centroids_ = sums
        super()._learn(X, Y, n_trees)

    def _gains(self, Y: sparse.csr_array) -> NDArray[np.float64]:
        return 1 / self.propensities_

    def _ideal(self, Y: sparse.csr_array) -> NDArray[np.float64]:
        """Ones: DCG is not normalised, because the ideal depends on labels not recorded."""
        return np.ones(Y.shape[0])

    def _leaf_scores(
        self, X: sparse.csr_array, leaves: NDArray[np.int32], top: int | None
    ) -> sparse.csr_array:
        shares = self.forest_.scores(leaves, self.n_labels_, None, self.n_jobs)
        shares.data = self.alpha * np.log(shares.data)
        shares.data += (1 - self.alpha) * self._closeness(X, shares)
        return shares if top is None else keep_top(shares, top)

    def _reasons(
        self, X: sparse.csr_array, row: int, leaves: NDArray[np.int32], label: int
    ) -> tuple[Reason, ...]:
        """Trees and centroid; the shares of the single trees sum to the mean share itself."""
        trees = super()._reasons(X, row, leaves, label)
        candidate = sparse.csr_array(([1.0], [label], [0, 1]), shape=(1, self.n_labels_))
        closeness = float(self._closeness(X[[row]], candidate)[0])
        mean = sum(reason.share for reason in trees)
        return (
            Reason("trees", self.alpha * float(np.log(mean)), reasons=trees),
            Reason("centroid", (1 - self.alpha) * closeness),
        )

    def _closeness(self, X: sparse.csr_array, candidates: sparse.csr_array) -> NDArray[np.float64]:
        """The second term of the score, without its weight, of each stored candidate."""
        from manylabel.kernels.trees_score import products

        unit = _unit_rows(X)
        rows, centroids = csr_parts(unit), csr_parts(self.centroids_)
        indptr, labels, _ = csr_parts(candidates)
        dots = np.empty(candidates.nnz)

        def work(start: int, stop: int) -> None:
            span = slice(indptr[start], indptr[stop])
            pointers = indptr[start : stop + 1] - indptr[start]
            dots[span] = products(
                *rows, start, stop, X.shape[1], pointers, labels[span], *centroids
            )

        run_blocks(work, X.shape[0], BLOCK, self.n_jobs)
        own = (np.diff(unit.indptr) > 0).astype(np.float64)
        lengths = self.centroids_.multiply(self.centroids_).sum(axis=1)
        distances = np.repeat(own, np.diff(indptr)) - 2 * dots + lengths[labels]
        return -np.logaddexp(0, self.gamma / 2 * np.maximum(distances, 0))


def _unit_rows(X: sparse.csr_array) -> sparse.csr_array:
    """Rows of length one; rows of zeros do not change."""
    from sklearn.preprocessing import normalize  # slow to import

    return sparse.csr_array(normalize(X))
