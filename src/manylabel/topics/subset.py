"""Labelled LDA restricted to the labels of a document's neighbours."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manylabel.base import Grid
from manylabel.estimators import check_is_fitted
from manylabel.evidence import Reason
from manylabel.neighbors import NeighborIndex, Neighbors
from manylabel.neighbors.scorers import NeighborVotes
from manylabel.neighbors.source import NeighborSource
from manylabel.predictions import keep_top
from manylabel.scoring import Candidates, Documents
from manylabel.scoring.documents import lengths
from manylabel.text.weighting import Weighting, make_weighting
from manylabel.topics.base import Credit, TopicClassifier
from manylabel.topics.presets import presets_of
from manylabel.topics.scorer import ALPHA_PER_WORD, ETA_PER_WORD, TopicScorer
from manylabel.validation import check_real, check_whole

__all__ = ["SubsetLLDA"]


@dataclass(kw_only=True, eq=False, repr=False)
class SubsetLLDA(TopicClassifier):
    r"""Labelled LDA over the labels of a document's neighbours (Papanikolaou and Tsoumakas, 2017).

    The candidates of a document are the labels of its ``n_neighbors`` nearest training documents,
    and the prior of candidate l is :math:`\alpha'_l = \eta f_l + \alpha` (eq. 2), where
    :math:`f_l` is the share of the neighbours that carry it. The paper counts neighbours; here each
    is weighted by a power of its similarity. ``SubsetLLDA.from_preset("papanikolaou")`` has the
    paper's settings.

    Parameters
    ----------
    n_neighbors : int, default=50
    power : float, default=3
        The weight of a neighbour is its similarity to this power; 0 counts neighbours.
    weighting : {"tfidf", "bm25", "binary", "share", None} or Weighting, default="tfidf"
        Weighting of the counts before the search for neighbours.
    eta : float, optional
        Prior weight of a label that all neighbours carry; by default in proportion to the
        document's length.
    alpha_sum : float, optional
        Prior weight shared evenly among all labels, candidates or not; by default in proportion to
        the document's length.
    inference : {"cvb0", "cgs", "cgs_p"}, default="cvb0"
    combine : {"posterior", "counts", "scaled"}, default="posterior"
    beta : float, optional
        Pseudo-count of each word under each label; by default 0.01.
    training, ...
        These and the two above are as in :class:`FlatLDA`.

    Attributes
    ----------
    training_, word_labels_
        As in :class:`FlatLDA`.
    source_ : NeighborSource
        Proposes the labels of neighbours, with their votes.

    Examples
    --------
    >>> X = [[3, 1, 0], [2, 0, 1], [0, 1, 3], [0, 0, 2]]
    >>> Y = [[1, 0], [1, 0], [0, 1], [0, 1]]
    >>> SubsetLLDA().fit(X, Y).predict([[2, 0, 0], [0, 0, 1]]).tolist()
    [[1, 0], [0, 1]]
    """

    presets = presets_of("SubsetLLDA")
    default_grid: ClassVar[Grid] = {"n_neighbors": (20, 50, 100), "power": (1.0, 3.0, 5.0)}

    inference: str = "cvb0"
    n_neighbors: int = 50
    power: float = 3.0
    weighting: Any = "tfidf"
    eta: float | None = None
    combine: str = "posterior"

    _eta_per_word = ETA_PER_WORD
    _alpha_per_word = ALPHA_PER_WORD

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_whole("n_neighbors", self.n_neighbors, 1)
        check_real("power", self.power, 0.0)
        if self.eta is not None:
            check_real("eta", self.eta, 0.0)
        make_weighting(self.weighting)

    def _fit_prior(self, X: sparse.csr_array, Y: sparse.csr_array) -> None:
        self.weighting_: Weighting = make_weighting(self.weighting).fit(X)
        index = NeighborIndex(self.weighting_.transform(X))
        self.source_ = NeighborSource(index, Y, k=self.n_neighbors, alpha=self.power)

    def _more_prior(self, X: sparse.csr_array, Y: sparse.csr_array) -> None:
        self.source_.add(self._documents(X), Y)

    def _documents(self, X: sparse.csr_array) -> Documents:
        return Documents(X, weighting=self.weighting_)

    def _scorer(self) -> TopicScorer:
        """The scorer of the candidates, with the current parameters."""
        return TopicScorer(
            self.word_labels_,
            eta=self.eta,
            alpha_sum=self.alpha_sum,
            sharing=None,
            inference=self.inference,
            schedule=self._schedule(),
            seed=self.seed_,
        )

    def _scores(self, X: sparse.csr_array, top: int | None) -> sparse.csr_array:
        documents = self._documents(X)
        return self._scored_candidates(documents, self._candidates(documents), top)

    def _candidates(self, documents: Documents) -> Candidates:
        return self.source_.propose(documents, n_jobs=self.n_jobs)

    def scores_from_neighbors(
        self, X: sparse.csr_array, neighbors: Neighbors, top: int | None = None
    ) -> sparse.csr_array:
        """Score documents whose neighbours are known.

        Parameters
        ----------
        X : csr_array of shape (n_samples, n_features)
            Counts, canonical.
        neighbors : Neighbors
            Among the documents of ``fit`` and ``partial_fit``, numbered in their order.
        top : int, optional
        """
        check_is_fitted(self)
        documents = self._documents(X)
        return self._scored_candidates(documents, self.source_.vote(X, neighbors), top)

    def _scored_candidates(
        self, documents: Documents, candidates: Candidates, top: int | None
    ) -> sparse.csr_array:
        scorer = self._scorer()
        priors, _ = scorer.priors(documents, candidates)
        scores = scorer.infer(documents, priors, self.n_jobs)
        n_candidates = np.diff(scores.indptr)
        length, whole = (
            np.repeat(lengths(each), n_candidates) for each in (documents.counts, priors)
        )
        scores.data = self._shares(scores.data, priors.data, length, whole)
        return scores if top is None else keep_top(scores, top)

    def _credit(self, X: sparse.csr_array, labels: NDArray[np.int64]) -> Credit:
        documents, scorer = self._documents(X), self._scorer()
        candidates = self._candidates(documents)
        priors, _ = scorer.priors(documents, candidates)
        column = np.full(self.n_labels_, -1, np.int32)
        column[labels] = np.arange(labels.size)
        credit = np.zeros((X.nnz, labels.size))
        scorer.infer(documents, priors, 1, wanted=column[priors.indices], credit=credit)
        prior = priors.toarray().ravel()
        whole = max(prior.sum(), np.finfo(float).tiny)
        sources = self._sources(documents, candidates, labels)
        return Credit(credit[:, column[labels]], prior[labels], whole, sources)

    def _sources(
        self, documents: Documents, candidates: Candidates, labels: NDArray[np.int64]
    ) -> list[list[Reason]]:
        """The neighbours of one document that carry each label, with their shares of its prior."""
        eta = self._prior_weights(documents.counts)[0][0]
        _, reasons = NeighborVotes().explaining(documents, candidates)
        positions = np.searchsorted(candidates.labels, labels)
        return [
            [replace(reason.scaled(eta), reasons=()) for reason in reasons(int(position))]
            for position in positions
        ]

    def label_prior(self, X: Any) -> sparse.csr_array:
        """Each candidate's share of the prior, for each sample."""
        check_is_fitted(self)
        documents = self._documents(self._checked_features(X, reset=False))
        priors, _ = self._scorer().priors(documents, self._candidates(documents))
        priors.data = priors.data / np.repeat(lengths(priors), np.diff(priors.indptr))
        return priors
