"""Score candidates by the words of a document that each label accounts for."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manylabel.evidence import WordReasons
from manylabel.parallel import map_blocks
from manylabel.predictions import best_of_rows
from manylabel.scoring import Candidates, Documents, Scorer, Training
from manylabel.scoring.scorer import Reasons
from manylabel.topics.fold import own_credit
from manylabel.topics.schedule import Schedule
from manylabel.topics.training import train_phi
from manylabel.topics.word_labels import WordLabels, expected_tokens
from manylabel.validation import trusted_csr

__all__ = ["TopicScorer"]

#: Sweeps of training and of prediction; more hardly change the ranking of candidates.
_TRAINING, _PREDICTION = 4, 2
#: A document's words are divided among this many candidates, those with the most votes.
_SHARING = 25
#: Prior weight per word: of the votes, and shared among all labels.
ETA_PER_WORD, ALPHA_PER_WORD = 0.75, 0.1
_TRAIN_ETA = 50.0
#: The evidence of the candidate source that is the prior.
_VOTES = "neighbours"


class TopicScorer(Scorer):
    """Labelled LDA over the candidates, with the neighbours' votes as prior (Subset LLDA, eq. 2).

    Parameters
    ----------
    word_labels : WordLabels, optional
        The label-word distributions; :meth:`prepare` learns them.
    eta : float, optional
        Prior weight of a label that has all votes; by default in proportion to the document's
        length.
    alpha_sum : float, optional
        Prior weight shared evenly among all labels; by default in proportion to the length.
    sharing : int or None
        Share the words among this many candidates, those with the most votes; None for all.
    inference : {"cvb0", "cgs", "cgs_p"}
    schedule : Schedule
    seed : int
    """

    name: ClassVar[str] = "topics"
    title: ClassVar[str] = "what the text is about"
    sentence: ClassVar[str] = "Words of the text that the label explains better than others."
    prepares_in_background = True

    def __init__(
        self,
        word_labels: WordLabels | None = None,
        *,
        eta: float | None = None,
        alpha_sum: float | None = None,
        sharing: int | None = _SHARING,
        inference: str = "cvb0",
        schedule: Schedule | None = None,
        seed: int = 0,
    ) -> None:
        self.word_labels = word_labels
        self.eta, self.alpha_sum, self.sharing = eta, alpha_sum, sharing
        self.inference, self.seed = inference, seed
        self.schedule = schedule or Schedule(1, _PREDICTION, 1, 1)
        self._without: list[WordLabels] = []

    # Training

    def prepare(self, training: Training) -> None:
        """Learn the label-word distributions from all documents, and without each fold."""
        X, Y, folds = training.documents.counts, training.Y, training.folds
        n_folds = training.n_folds
        n_trained = n_folds if n_folds == 1 else n_folds + 1
        work = (X, Y, folds, training.seed)
        trained = list(map_blocks(_train_without, work, n_trained, 1, fixed=True))
        if n_folds > 1:
            self._without, self.word_labels = trained[:-1], trained[-1]
            return
        self._without = trained
        out = np.flatnonzero(folds == 0)
        credit = own_credit(trained[0], X[out], Y[out], _TRAIN_ETA, 0.0)
        self.word_labels = trained[0].with_counts(credit)

    def fit(
        self, training: Training, candidates: sparse.csr_array, held: Candidates
    ) -> NDArray[np.float64]:
        """Score documents by what was learned without their fold; see the base class."""
        folds, whole = training.folds[training.held], self.word_labels
        shared = training.shared[training.held]
        scores = np.zeros(len(held))
        for fold, without in enumerate(self._without):
            self.word_labels = without
            out = np.flatnonzero(folds == fold)
            there = np.repeat(folds == fold, np.diff(held.pattern.indptr))
            scores[there] = self.score(shared[out], held.take(out), training.n_jobs)
        self.word_labels, self._without = whole, []
        return scores

    # Prediction

    def score(
        self, documents: Documents, candidates: Candidates, n_jobs: int | None = None
    ) -> NDArray[np.float64]:
        """The share of a document's words that each candidate gets; 0 for those with few votes."""
        priors, sharing = self.priors(documents, candidates)
        return self._scores(documents, priors, sharing, self.infer(documents, priors, n_jobs))

    def explaining(
        self, documents: Documents, candidates: Candidates
    ) -> tuple[NDArray[np.float64], Reasons]:
        """Scores, and the words behind each, from one inference."""
        priors, sharing = self.priors(documents, candidates)
        columns = np.cumsum(sharing) - 1
        credit = np.zeros((documents.counts.nnz, int(sharing.sum())))
        wanted = np.arange(credit.shape[1], dtype=np.int32)
        tokens = self.infer(documents, priors, 1, wanted=wanted, credit=credit)
        words, length = documents.counts.indices, max(documents.lengths[0], 1e-12)

        def reasons(position: int) -> WordReasons:
            if not sharing[position]:
                return WordReasons([], [])
            shares = credit[:, columns[position]] / length
            there = np.flatnonzero(shares)
            return WordReasons(words[there], shares[there])

        return self._scores(documents, priors, sharing, tokens), reasons

    def priors(
        self, documents: Documents, candidates: Candidates
    ) -> tuple[sparse.csr_array, NDArray[np.bool_]]:
        """Prior weights of the candidates that share the words (eq. 2), and which these are."""
        pattern, votes = candidates.pattern, candidates.evidence[_VOTES]
        ptr, n_labels = pattern.indptr.astype(np.int64), pattern.shape[1]
        sharing = np.ones(pattern.nnz, np.bool_)
        if self.sharing is not None:
            sharing = best_of_rows(ptr, votes, self.sharing)
        is_single = len(ptr) == 2
        length = documents.lengths if is_single else np.repeat(documents.lengths, np.diff(ptr))
        if self.eta is None and self.alpha_sum is None:
            weights = length * (ETA_PER_WORD * votes + ALPHA_PER_WORD / n_labels)
        else:
            eta = ETA_PER_WORD * length if self.eta is None else self.eta
            alpha_sum = ALPHA_PER_WORD * length if self.alpha_sum is None else self.alpha_sum
            weights = eta * votes + alpha_sum / n_labels
        labels = pattern.indices[sharing]
        kept_ptr = (
            np.array([0, labels.size])
            if is_single
            else np.concatenate([[0], np.cumsum(sharing)])[ptr]
        )
        priors = trusted_csr(weights[sharing], labels, kept_ptr.astype(labels.dtype), pattern.shape)
        return priors, sharing

    def infer(
        self, documents: Documents, priors: sparse.csr_array, n_jobs: int | None, **more: Any
    ) -> sparse.csr_array:
        """The tokens of each document that go to each of its candidates."""
        assert self.word_labels is not None
        return expected_tokens(
            self.word_labels,
            documents.counts,
            priors,
            inference=self.inference,
            schedule=self.schedule,
            seed=self.seed,
            n_jobs=n_jobs,
            **more,
        )

    def _scores(
        self,
        documents: Documents,
        priors: sparse.csr_array,
        sharing: NDArray[np.bool_],
        tokens: sparse.csr_array,
    ) -> NDArray[np.float64]:
        """Tokens as shares of the documents' lengths; 0 for candidates that get no words."""
        length = np.maximum(documents.lengths, 1e-12)
        scores = np.zeros(sharing.size)
        if length.size > 1:
            length = np.repeat(length, np.diff(priors.indptr))
        scores[sharing] = tokens.data / length
        return scores

    def grow(self, n_labels: int) -> None:
        """New labels have no words."""
        assert self.word_labels is not None
        nothing = sparse.csr_array((self.word_labels.n_words, n_labels))
        self.word_labels = self.word_labels.with_counts(nothing)


def _train_without(
    X: sparse.csr_array,
    Y: sparse.csr_array,
    folds: NDArray[np.int8],
    seed: int,
    fold: int,
    stop: int,
) -> WordLabels:
    """The label-word distributions without a fold; a block is a single fold."""
    rest = np.flatnonzero(folds != fold)
    return train_phi(
        X[rest],
        Y[rest],
        inference="cvb0",
        eta=_TRAIN_ETA,
        chains=1,
        burn_in=_TRAINING,
        random_state=seed,
    ).word_labels
