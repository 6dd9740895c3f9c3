"""FastXML: an ensemble of trees whose nodes split documents by nDCG."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manylabel.base import ExplainLabels, Grid, MultiLabelClassifier
from manylabel.estimators import check_random_state
from manylabel.evidence import Explanation, Reason
from manylabel.exceptions import InputError
from manylabel.parallel import effective_jobs
from manylabel.progress import progress_bar
from manylabel.text.weighting import Weighting, make_weighting
from manylabel.trees.forest import Forest, grow_forest
from manylabel.validation import check_real, check_whole, csr_parts

__all__ = ["FastXML"]

# The share of documents, and of trees, that a threshold is fitted with.
_HELD_SHARE = 0.2


class FastXML(MultiLabelClassifier):
    r"""Trees that send documents with the same labels to the same leaves (Prabhu & Varma 2014).

    A node searches for a split :math:`\delta_i = \pm 1` of its documents and a ranking of the
    labels for each side that maximise the sum of nDCG, then for a sparse linear classifier
    :math:`w` that separates the sides (equation 4 of the paper):

    .. math::
        \min \|w\|_1 + \sum_i C_{\delta_i} \ln(1 + e^{-\delta_i w^\top x_i})
        - \sum_i I(y_i) \sum_{l \in y_i} \frac{1}{\ln(1 + r^{\delta_i}_l)}

    From random sides, rankings and sides are optimised in turn until no document moves; :math:`w`
    is then learned once, and divides the documents. A node that has few documents, or whose
    classifier does not divide them, is a leaf and stores the share of its documents with each
    label. The score of a label is its mean share in the leaves that a document reaches.

    Parameters
    ----------
    n_trees : int, default=50
    max_leaf : int, default=10
        Maximum documents in a leaf that is not split further.
    leaf_labels : int, default=100
        Maximum labels per leaf, best first.
    C : float, default=4.0
        Weight of the log loss against the L1 norm; the two sides of a node have equal total weight.
    bias : float, default=0.1
        Value of the constant feature of every document; 0 for none.
    weighting : {"tfidf", "bm25", "binary", "share", None} or Weighting, default="tfidf"
        Of the features; None as in the paper. All rows are scaled by the same factor, such that the
        mean squared length is 1, so a short document weighs less than a long one. For rows of
        length 1, pass a `Weighting`, which normalizes.
    threshold : str, float or threshold, default="cardinality"
        From scores to labels; see :func:`manylabel.thresholds.make_threshold`.
    random_state : int, RandomState or None, default=0
        For the initial sides of the nodes; each tree has its own random stream.
    n_jobs : int, optional
        Threads; the trees do not depend on their number.
    verbose : int, default=0
        Show a progress bar.

    Attributes
    ----------
    forest_ : Forest
        The trees as flat arrays.
    weighting_ : Weighting
    scale_ : float
        The factor of all weights.

    Examples
    --------
    >>> X = [[2, 1, 0, 0], [1, 2, 0, 0], [0, 0, 1, 2], [0, 0, 2, 1]] * 5
    >>> Y = [[1, 0], [1, 0], [0, 1], [0, 1]] * 5
    >>> model = FastXML(n_trees=5, max_leaf=4, random_state=0).fit(X, Y)
    >>> model.predict([[1, 1, 0, 0], [0, 0, 1, 1]])
    array([[1, 0],
           [0, 1]])
    """

    can_explain = True
    default_grid: ClassVar[Grid] = {"C": (1.0, 4.0, 16.0), "max_leaf": (5, 10, 20)}

    def __init__(
        self,
        n_trees: int = 50,
        max_leaf: int = 10,
        *,
        leaf_labels: int = 100,
        C: float = 4.0,
        bias: float = 0.1,
        weighting: str | Weighting | None = "tfidf",
        threshold: Any = "cardinality",
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_trees = n_trees
        self.max_leaf = max_leaf
        self.leaf_labels = leaf_labels
        self.C = C
        self.bias = bias
        self.weighting = weighting
        self.threshold = threshold
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    forest_: Forest
    weighting_: Weighting
    scale_: float

    def _explaining(
        self, X: sparse.csr_array, top: int | None
    ) -> tuple[sparse.csr_array, ExplainLabels]:
        """Reasons are trees.

        In FastXML they are of kind ``"tree"``, with the tree as index. In PfastreXML they are of
        kinds ``"trees"`` and ``"centroid"``; the shares of the single trees below ``"trees"`` sum
        to the mean share :math:`P_l` whose logarithm is taken.
        """
        weighted = self._weighted(X)
        leaves = self.forest_.leaves(weighted, self.n_jobs)
        scores = self._leaf_scores(weighted, leaves, top)

        def explain(labels: NDArray[np.int64]) -> list[Explanation]:
            values = scores.data[np.searchsorted(scores.indices, labels)].tolist()
            return [
                Explanation(0, label, value, self._reasons(weighted, 0, leaves[0], label))
                for label, value in zip(labels.tolist(), values, strict=True)
            ]

        return scores, explain

    def _check_parameters(self) -> None:
        check_whole("n_trees", self.n_trees, 1)
        check_whole("max_leaf", self.max_leaf, 1)
        check_whole("leaf_labels", self.leaf_labels, 1)
        check_real("C", self.C, 0)
        check_real("bias", self.bias, 0)
        make_weighting(self.weighting)
        effective_jobs(self.n_jobs)

    def _fit(self, X: sparse.csr_array, Y: sparse.csr_array) -> None:
        self.weighting_ = make_weighting(self.weighting, np.float32)
        if not isinstance(self.weighting, Weighting):
            self.weighting_.set_params(normalize=False)
        self.weighting_.fit(X)
        self.scale_ = 1.0
        weighted = self._weighted(X)
        mean_square = float(np.square(weighted.data, dtype=np.float64).sum()) / X.shape[0]
        self.scale_ = 1 / np.sqrt(mean_square or 1.0)
        weighted = self._weighted(X)
        self._seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        if self._needs_held_out_scores():
            self._held_out = self._score_held_out(weighted, Y)
        self._learn(weighted, Y, self.n_trees)

    def _weighted(self, X: sparse.csr_array) -> sparse.csr_array:
        """Weights of the features, all rows scaled by the same factor."""
        weighted = self.weighting_.transform(X)
        weighted.data = (weighted.data * self.scale_).astype(np.float32)
        return weighted

    def _learn(self, X: sparse.csr_array, Y: sparse.csr_array, n_trees: int) -> None:
        """Grow the trees on weighted documents."""
        with progress_bar("trees", self.verbose) as callback:
            self.forest_ = grow_forest(
                X,
                Y,
                self._gains(Y),
                self._ideal(Y),
                n_trees=n_trees,
                max_leaf=self.max_leaf,
                leaf_labels=self.leaf_labels,
                C=float(self.C),
                bias=float(self.bias),
                seed=self._seed,
                n_jobs=self.n_jobs,
                callback=callback,
            )

    def _score_held_out(
        self, X: sparse.csr_array, Y: sparse.csr_array
    ) -> tuple[sparse.csr_array, sparse.csr_array]:
        """Scores of a fifth of the documents by fewer trees that have not seen them."""
        order = np.random.default_rng(self._seed).permutation(X.shape[0])
        n_held = round(_HELD_SHARE * X.shape[0])
        # With too few documents to hold any out, they score themselves.
        held, others = order[: n_held or None], order[n_held:]
        self._learn(X[others], Y[others], max(1, round(_HELD_SHARE * self.n_trees)))
        leaves = self.forest_.leaves(X[held], self.n_jobs)
        return self._leaf_scores(X[held], leaves, None), Y[held]

    def _gains(self, Y: sparse.csr_array) -> NDArray[np.float64]:
        """The gain of each label at the first rank."""
        return np.ones(Y.shape[1])

    def _ideal(self, Y: sparse.csr_array) -> NDArray[np.float64]:
        """The factor from DCG to nDCG for each document."""
        from manylabel.kernels.trees_grow import ideal_gains

        return ideal_gains(csr_parts(Y, np.int8)[0])

    def _scores(self, X: sparse.csr_array, top: int | None) -> sparse.csr_array:
        weighted = self._weighted(X)
        return self._leaf_scores(weighted, self.forest_.leaves(weighted, self.n_jobs), top)

    def _check_stored(self) -> None:
        """Refuse leaves of labels that do not exist."""
        if not hasattr(self, "forest_"):
            return  # saved before it was fitted
        if self.forest_.leaf_labels.max(initial=-1) >= self.n_labels_:
            raise InputError("the trees are damaged: a leaf has a label that does not exist.")

    def _leaf_scores(
        self, X: sparse.csr_array, leaves: NDArray[np.int32], top: int | None
    ) -> sparse.csr_array:
        """Scores of weighted documents whose leaves are known."""
        return self.forest_.scores(leaves, self.n_labels_, top, self.n_jobs)

    def _reasons(
        self, X: sparse.csr_array, row: int, leaves: NDArray[np.int32], label: int
    ) -> tuple[Reason, ...]:
        """The share of each tree in a label's mean, greatest first."""
        forest = self.forest_
        reasons = []
        for tree, leaf in enumerate(leaves):
            span = slice(forest.leaf_indptr[leaf], forest.leaf_indptr[leaf + 1])
            share = float(forest.shares[span][forest.leaf_labels[span] == label].sum())
            if share:
                reasons.append(Reason("tree", share / leaves.size, tree))
        return tuple(sorted(reasons, key=lambda reason: -reason.share))
