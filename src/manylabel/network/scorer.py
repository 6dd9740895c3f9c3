"""Score each candidate label with a network that has one hidden layer."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manylabel.evidence import WordReasons
from manylabel.network.training import Network, NetworkSettings, Trainer
from manylabel.parallel import map_blocks
from manylabel.predictions import values_at
from manylabel.scoring import Candidates, Documents, Scorer, Training
from manylabel.scoring.scorer import Reasons
from manylabel.scoring.training import FEW_PER_LABEL

__all__ = ["NetworkScorer"]

#: Fewer documents are too few to learn vectors from.
_MIN_DOCUMENTS = 1_000
#: Hidden units of a network if there are several folds, and if there is one.
_SIZE, _SIZE_OF_ONE = 256, 384
#: Networks per fold if there is only one fold: their mean is better than each.
_COPIES_OF_ONE = 3
#: Hidden units of the network that is tried first.
_TRIAL_SIZE = 64
#: Learning rates, first and last, of the epoch that adds the held-out documents.
_HELD_OUT_RATES = (0.3, 0.1)


class NetworkScorer(Scorer):
    """Scores candidates with networks whose hidden units are sums of word vectors.

    Unlike a linear model, a network learns that the meaning of a word depends on the others. With
    several folds there is one network per fold, trained without it; with one fold there are several
    networks with different random starts. The score is their mean.

    Attributes
    ----------
    networks : list of Network
    """

    name: ClassVar[str] = "network"
    learns_from_candidates: ClassVar[bool] = True
    reads_incomplete: ClassVar[bool] = True
    title: ClassVar[str] = "words together"
    sentence: ClassVar[str] = "Words of the text, which a network weighs in combination."

    def __init__(self, settings: NetworkSettings | None = None) -> None:
        self.settings = settings
        self.networks: list[Network] = []

    def wants(self, training: Training) -> bool:
        """Whether a network is worth its time: not for few documents, nor for many long ones.

        On EURLEX57K it took half a minute and added nothing to the linear models of words and of
        phrases, so large corpora use it only with effort "best".
        """
        is_quick = training.is_small or training.settings.get("effort") == "best"
        is_large_enough = training.documents_per_label >= FEW_PER_LABEL
        return len(training.documents) >= _MIN_DOCUMENTS and is_quick and is_large_enough

    def needs_trial(self, training: Training) -> bool:
        """Always: a network often learns nothing that linear models have not learned."""
        return True

    def trial(
        self, training: Training, candidates: sparse.csr_array, held: Candidates
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Train a small network without the first fold, and score its documents."""
        settings = replace(self.settings or NetworkSettings(), size=_TRIAL_SIZE)
        positive = (values_at(training.Y, candidates) > 0).astype(np.float32)
        hidden = training.folds == 0
        trainer = Trainer(
            training.documents.rows, candidates, positive, settings, training.seed,
            training.n_jobs, hidden,
        )  # fmt: skip
        network = trainer.train(np.flatnonzero(~hidden))
        out = np.flatnonzero(hidden[training.held])
        rows = training.shared.rows[training.held[out]]
        return out, network.scores(rows, held.take(out).pattern, training.n_jobs)

    def fit(
        self, training: Training, candidates: sparse.csr_array, held: Candidates
    ) -> NDArray[np.float64]:
        """Train without each fold, and score the documents of the fold."""
        n_folds = training.n_folds
        settings = self.settings or NetworkSettings(size=_SIZE if n_folds > 1 else _SIZE_OF_ONE)
        rows, folds = training.documents.rows, training.folds
        # Labels that are not candidates are left out, even true ones. Otherwise the network would
        # learn that a label which no neighbour has is always true.
        positive = (values_at(training.Y, candidates) > 0).astype(np.float32)
        copies = 1 if n_folds > 1 else _COPIES_OF_ONE
        shared = (rows, candidates, positive, folds, settings, training.seed, copies)
        scores = np.zeros(len(held))
        of = folds[training.held]
        reread = training.shared.rows[training.held]
        # Labels that were never a candidate of their documents are scored as well, as in held-out
        # documents.
        known = np.bincount(training.Y.indices, minlength=training.Y.shape[1]) > 0
        self.networks = []
        trained = map_blocks(
            _train_without, shared, n_folds * copies, 1, training.n_jobs, fixed=True
        )
        for number, (before, after) in enumerate(trained):
            fold = number // copies
            out = np.flatnonzero(of == fold)
            mine = np.repeat(of == fold, np.diff(held.pattern.indptr))
            scores[mine] += before.scores(reread[out], held.take(out).pattern, training.n_jobs)
            self.networks.append(replace(after, is_trained=known))
        return scores / copies

    def score(
        self, documents: Documents, candidates: Candidates, n_jobs: int | None = None
    ) -> NDArray[np.float64]:
        """The mean score of the networks; 0 for unknown labels."""
        known, pattern = self._known(candidates), candidates.pattern
        total = np.zeros(len(candidates))
        for network in self.networks:
            total += network.scores(documents.rows, pattern, n_jobs)
        return np.where(known, total / max(len(self.networks), 1), 0.0)

    def _known(self, candidates: Candidates) -> NDArray[np.bool_]:
        """Which candidates have labels that occurred in training."""
        return self.networks[0].is_trained[candidates.labels]

    def explaining(
        self, documents: Documents, candidates: Candidates
    ) -> tuple[NDArray[np.float64], Reasons]:
        """Scores, and the share of each word in them."""
        known = self._known(candidates)
        each = [network.shares(documents.rows, 0) for network in self.networks]

        def reasons(position: int) -> WordReasons:
            if not known[position]:
                return WordReasons([], [])
            by_copy = [of(int(candidates.labels[position])) for of in each]
            shares = sum(shares for _, shares, _ in by_copy) / len(by_copy)
            constant = sum(constant for _, _, constant in by_copy) / len(by_copy)
            return WordReasons.with_bias(float(constant), by_copy[0][0], np.asarray(shares))

        return self.score(documents, candidates, 1), reasons

    def grow(self, n_labels: int) -> None:
        """New labels have no vectors."""
        self.networks = [network.grown(n_labels) for network in self.networks]


def _train_without(
    rows: sparse.csr_array,
    pairs: sparse.csr_array,
    positive: NDArray[np.float32],
    folds: NDArray[np.int8],
    settings: NetworkSettings,
    seed: int,
    copies: int,
    number: int,
    stop: int,
) -> tuple[Network, Network]:
    """A network that has not seen a fold, and the one to keep; each block is one network."""
    fold = number // copies
    trainer = Trainer(rows, pairs, positive, settings, seed + number, hidden=folds == fold)
    rest = np.flatnonzero(folds != fold)
    before = trainer.train(rest)
    if folds.max() > 0:
        # The networks of the other folds have seen this one.
        return before, before
    before = before.copy()
    return before, trainer.train(np.arange(folds.size), 1, _HELD_OUT_RATES)
