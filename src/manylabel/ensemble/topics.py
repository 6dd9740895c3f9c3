"""The topic part: which words of a document each candidate accounts for."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manylabel.parallel import map_blocks
from manylabel.topics.candidates import expected_tokens
from manylabel.topics.fold import own_credit
from manylabel.topics.sampling import lengths
from manylabel.topics.schedule import Schedule
from manylabel.topics.training import train_phi
from manylabel.topics.word_labels import WordLabels

__all__ = ["TopicPart", "train_without_folds"]

#: Sweeps of training and of prediction; more hardly change the ranking of candidates.
_TRAINING, _PREDICTION = 4, 2
#: The candidates with the most votes that share a document's words.
_SHARING = 25
#: Prior weight a word: of the votes, and shared among all labels.
_ETA, _ALPHA = 0.75, 0.1
_TRAIN_ETA = 50.0


class TopicPart:
    """Labelled LDA over the candidates, with the neighbours' votes as prior (Subset LLDA, eq. 2).

    Parameters
    ----------
    word_labels : WordLabels
    """

    def __init__(self, word_labels: WordLabels) -> None:
        self.word_labels = word_labels

    @classmethod
    def train(
        cls, X: sparse.csr_array, Y: sparse.csr_array, seed: int, n_jobs: int | None
    ) -> TopicPart:
        """Learn how words go with labels."""
        trained = train_phi(
            X,
            Y,
            inference="cvb0",
            eta=_TRAIN_ETA,
            chains=1,
            burn_in=_TRAINING,
            random_state=seed,
            n_jobs=n_jobs,
        )
        return cls(trained.word_labels)

    def with_documents(self, X: sparse.csr_array, Y: sparse.csr_array) -> TopicPart:
        """As if it had been trained on more documents, nearly."""
        credit = own_credit(self.word_labels, X, Y, _TRAIN_ETA, 0.0)
        return TopicPart(self.word_labels.with_counts(credit))

    def with_labels(self, n_labels: int) -> TopicPart:
        """With room for labels that no document has had."""
        nothing = sparse.csr_array((self.word_labels.n_words, n_labels))
        return TopicPart(self.word_labels.with_counts(nothing))

    def scores(
        self,
        X: sparse.csr_array,
        candidates: sparse.csr_array,
        votes: NDArray[np.float32],
        n_jobs: int | None = None,
    ) -> NDArray[np.float64]:
        """The share of a document's words that each candidate gets; 0 for those with few votes."""
        length = lengths(X)
        priors, sharing = self._priors(length, candidates, votes)
        tokens = expected_tokens(
            self.word_labels,
            X,
            priors,
            inference="cvb0",
            schedule=Schedule(1, _PREDICTION, 1, 1),
            n_jobs=n_jobs,
        )
        scores = np.zeros(candidates.nnz)
        scores[sharing] = tokens.data / np.repeat(np.maximum(length, 1e-12), np.diff(priors.indptr))
        return scores

    def credit(
        self, X: sparse.csr_array, candidates: sparse.csr_array, votes: NDArray[np.float32]
    ) -> NDArray[np.float64]:
        """The same of a single document, by word and candidate."""
        length = lengths(X)
        credit = np.zeros((X.nnz, candidates.nnz))
        priors, sharing = self._priors(length, candidates, votes)
        expected_tokens(
            self.word_labels,
            X,
            priors,
            inference="cvb0",
            schedule=Schedule(1, _PREDICTION, 1, 1),
            wanted=np.flatnonzero(sharing).astype(np.int32),
            credit=credit,
        )
        return credit / max(length[0], 1e-12)

    def _priors(
        self,
        length: NDArray[np.float64],
        candidates: sparse.csr_array,
        votes: NDArray[np.float32],
    ) -> tuple[sparse.csr_array, NDArray[np.bool_]]:
        """Prior weights of the candidates that share the words, and which these are."""
        from manylabel.kernels.votes import keep_best_of_rows

        ptr = candidates.indptr.astype(np.int64)
        sharing = np.zeros(candidates.nnz, np.bool_)
        # As others call it: another type would be compiled by itself, for a second.
        keep_best_of_rows(ptr, candidates.indices, votes.astype(np.float64), _SHARING, sharing)
        each = np.repeat(length, np.diff(ptr))[sharing]
        weights = each * (_ETA * votes[sharing] + _ALPHA / candidates.shape[1])
        kept_ptr = np.concatenate([[0], np.cumsum(sharing)])[ptr]
        priors = sparse.csr_array(
            (weights, candidates.indices[sharing], kept_ptr), shape=candidates.shape
        )
        return priors, sharing


def train_without_folds(
    X: sparse.csr_array, Y: sparse.csr_array, folds: NDArray[np.int8], seed: int
) -> tuple[list[TopicPart], TopicPart]:
    """A part for each fold that has not seen its documents, and one that has seen everything."""
    n_folds = int(folds.max()) + 1
    n_parts = n_folds if n_folds == 1 else n_folds + 1
    parts = list(map_blocks(_train_without, (X, Y, folds, seed), n_parts, 1, fixed=True))
    if n_folds > 1:
        return parts[:-1], parts[-1]
    out = np.flatnonzero(folds == 0)
    return parts, parts[0].with_documents(X[out], Y[out])


def _train_without(
    X: sparse.csr_array,
    Y: sparse.csr_array,
    folds: NDArray[np.int8],
    seed: int,
    fold: int,
    stop: int,
) -> TopicPart:
    """A part that has not seen a fold; blocks are of one fold."""
    rest = np.flatnonzero(folds != fold)
    return TopicPart.train(X[rest], Y[rest], seed, None)
