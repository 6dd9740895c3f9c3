"""Instance kNN, feature kNN and their linear combination (Feremans et al. 2020)."""

from __future__ import annotations

from typing import Any

from manylabel.neighbors.grids import FEATURES, INSTANCES, LAMBDAS, THRESHOLDS
from manylabel.neighbors.voting import VotingClassifier

__all__ = ["LCIF", "FeatureKNN", "InstanceKNN"]


class InstanceKNN(VotingClassifier):
    r"""Score labels by the votes of the most similar training documents.

    .. math:: \hat y_{qj} = \frac{\sum_{i \in kNN(q)} y_{ij}\, s_{qi}^\alpha}
                                 {\sum_{i \in kNN(q)} s_{qi}^\alpha}

    with :math:`s` the cosine (definition 6).

    Parameters
    ----------
    k : int or "auto", default="auto"
        The number of training documents that vote. "auto", here and below, takes the value that
        ranks the labels of a sample of training documents best, each scored as if it were new.
    alpha : float or "auto", default="auto"
        The power of their similarities.
    weighting : {"tfidf", "bm25", "binary", "share", None} or Weighting, default="tfidf"
        Of the features; None is the paper's plain cosine.
    second_order : float, default=0
        The weight of the second-order votes, from 0 to 1. Each neighbour then also votes for the
        labels of its own k nearest documents in label space (cosine of label rows), weighted by
        that similarity. The paper only names this variant; this is our reading of it.
    threshold : str or Threshold, default="cardinality"
        From scores to labels: see :func:`manylabel.thresholds.make_threshold`. It is fitted on
        leave-one-out scores of the training documents.
    update_weights : bool, default=True
        Recompute the weights of all documents when some are added or removed.
    strategy : str, default="auto"
        How to search for neighbours; the answer is always the same. See
        :meth:`NeighborIndex.search`.
    n_jobs : int, optional
        Threads.
    verbose : int, default=0
        Show progress bars.

    Attributes
    ----------
    settings_ : dict
        The values of the parameters above that may be "auto". Documents that are added or removed
        later do not change them.

    Examples
    --------
    >>> X = [[1, 1, 0], [1, 0, 1], [0, 1, 1], [0, 0, 1]]
    >>> Y = [[1, 0], [1, 0], [0, 1], [0, 1]]
    >>> InstanceKNN(k=2).fit(X, Y).predict([[0, 1, 1]])
    array([[0, 1]])
    """

    default_grid = INSTANCES | THRESHOLDS

    lam = 1.0

    def __init__(
        self,
        k: int | str = "auto",
        *,
        alpha: float | str = "auto",
        weighting: Any = "tfidf",
        second_order: float = 0.0,
        threshold: Any = "cardinality",
        update_weights: bool = True,
        strategy: str = "auto",
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.k = k
        self.alpha = alpha
        self.weighting = weighting
        self.second_order = second_order
        self.threshold = threshold
        self.update_weights = update_weights
        self.strategy = strategy
        self.n_jobs = n_jobs
        self.verbose = verbose


class FeatureKNN(VotingClassifier):
    r"""Score labels by the votes of a document's features.

    .. math:: \hat y_{qj} = \frac{\sum_i x_{qi}\, s(f_i, l_j)^\beta}{\sum_i x_{qi}}

    with :math:`s` the cosine of a feature column and a label column (definitions 7 and 8).

    Parameters
    ----------
    beta : float or "auto", default="auto"
        The power of the similarities.
    labels_per_feature : int, optional
        Keep only the nearest labels of each feature, for many labels.
    candidates : int, default=100
        Maximum labels to score per document: the best ones.
    weighting, threshold, update_weights, n_jobs, verbose
        As for :class:`InstanceKNN`.

    Attributes
    ----------
    settings_ : dict
        The values of the parameters above that may be "auto". Documents that are added or removed
        later do not change them.

    Examples
    --------
    >>> X = [[1, 1, 0], [1, 0, 1], [0, 1, 1], [0, 0, 1]]
    >>> Y = [[1, 0], [1, 0], [0, 1], [0, 1]]
    >>> FeatureKNN().fit(X, Y).predict([[1, 0, 0]])
    array([[1, 0]])
    """

    default_grid = FEATURES | THRESHOLDS

    lam = 0.0

    def __init__(
        self,
        beta: float | str = "auto",
        *,
        labels_per_feature: int | None = None,
        candidates: int = 100,
        weighting: Any = "tfidf",
        threshold: Any = "cardinality",
        update_weights: bool = True,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.beta = beta
        self.labels_per_feature = labels_per_feature
        self.candidates = candidates
        self.weighting = weighting
        self.threshold = threshold
        self.update_weights = update_weights
        self.n_jobs = n_jobs
        self.verbose = verbose


class LCIF(VotingClassifier):
    r"""The linear combination of :class:`InstanceKNN` and :class:`FeatureKNN`.

    .. math:: \hat y = \lambda\, \hat y^{INS} + (1 - \lambda)\, \hat y^{FL}

    on the labels that either part proposes (definition 9).

    Parameters
    ----------
    k, alpha, second_order, strategy
        Of the instance part: see :class:`InstanceKNN`.
    beta, labels_per_feature, candidates
        Of the feature part: see :class:`FeatureKNN`.
    lam : float or "auto", default="auto"
        Lambda, the share of the instance part, from 0 to 1.
    weighting, threshold, update_weights, n_jobs, verbose
        As for :class:`InstanceKNN`.

    Attributes
    ----------
    settings_ : dict
        The values of the parameters above that may be "auto". Documents that are added or removed
        later do not change them.

    Examples
    --------
    >>> X = [[1, 1, 0], [1, 0, 1], [0, 1, 1], [0, 0, 1]]
    >>> Y = [[1, 0], [1, 0], [0, 1], [0, 1]]
    >>> model = LCIF(k=2).fit(X, Y)
    >>> why = model.explain([[0, 1, 1]])[0][0]
    >>> why.label, abs(why.total - why.score) < 1e-12
    (1, True)
    """

    default_grid = INSTANCES | FEATURES | LAMBDAS | THRESHOLDS

    def __init__(
        self,
        k: int | str = "auto",
        *,
        alpha: float | str = "auto",
        beta: float | str = "auto",
        lam: float | str = "auto",
        weighting: Any = "tfidf",
        second_order: float = 0.0,
        labels_per_feature: int | None = None,
        candidates: int = 100,
        threshold: Any = "cardinality",
        update_weights: bool = True,
        strategy: str = "auto",
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.k = k
        self.alpha = alpha
        self.beta = beta
        self.lam = lam
        self.weighting = weighting
        self.second_order = second_order
        self.labels_per_feature = labels_per_feature
        self.candidates = candidates
        self.threshold = threshold
        self.update_weights = update_weights
        self.strategy = strategy
        self.n_jobs = n_jobs
        self.verbose = verbose
