"""The score of a network of one hidden layer for each candidate label."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manylabel.evidence import Reason, word_reasons
from manylabel.network.training import Network, NetworkSettings, Trainer
from manylabel.parallel import map_blocks
from manylabel.predictions import values_at
from manylabel.scoring import Candidates, Documents, Scorer, Training
from manylabel.scoring.scorer import Reasons

__all__ = ["NetworkScorer"]

#: With fewer documents there is too little to learn vectors from.
_FEWEST = 1_000
#: Hidden units of a network: of one among several, and of one alone.
_SIZE, _SIZE_OF_ONE = 256, 384
#: Networks without the only fold: their mean errs less than each.
_COPIES_OF_ONE = 4
#: How far the steps go that add the documents which were held out.
_LATE = (0.3, 0.1)


class NetworkScorer(Scorer):
    """Networks whose hidden units are sums of the vectors of a document's words.

    Unlike a linear model they know that words mean other things beside other words. Where documents
    are in several folds there is a network without each; without a single fold there are several,
    which begin at random. The score is their mean.

    Attributes
    ----------
    networks : list of Network
    """

    name: ClassVar[str] = "network"
    reads_incomplete: ClassVar[bool] = True
    title: ClassVar[str] = "words together"
    sentence: ClassVar[str] = "Words of the text as a network reads them, each beside the others."

    def __init__(self, settings: NetworkSettings | None = None) -> None:
        self.settings = settings
        self.networks: list[Network] = []

    def wants(self, training: Training) -> bool:
        """Where it pays: not for few documents, nor for many long ones unless time is no matter.

        On EURLEX57K it took half a minute, and the linear models of words and of phrases left
        nothing for it to add.
        """
        is_quick = training.is_small or training.settings.get("effort") == "best"
        return len(training.documents) >= _FEWEST and is_quick

    def fit(
        self, training: Training, candidates: sparse.csr_array, held: Candidates
    ) -> NDArray[np.float64]:
        """Train without each fold, and score its documents."""
        n_folds = training.n_folds
        settings = self.settings or NetworkSettings(size=_SIZE if n_folds > 1 else _SIZE_OF_ONE)
        rows, folds = training.documents.rows, training.folds
        # Labels that are no candidates are left out, true or not: if only the true ones were read,
        # a label that no neighbour has would seem to be true whenever it is asked for.
        positive = (values_at(training.Y, candidates) > 0).astype(np.float32)
        copies = 1 if n_folds > 1 else _COPIES_OF_ONE
        shared = (rows, candidates, positive, folds, settings, training.seed, copies)
        scores = np.zeros(len(held))
        of = folds[training.held]
        reread = training.shared.rows[training.held]
        # Labels whose documents never had them as a candidate are judged, too, as in held-out
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
        """The mean of the networks; 0 for labels that they do not know."""
        known, pattern = self._known(candidates), candidates.pattern
        total = np.zeros(len(candidates))
        for network in self.networks:
            total += network.scores(documents.rows, pattern, n_jobs)
        return np.where(known, total / max(len(self.networks), 1), 0.0)

    def _known(self, candidates: Candidates) -> NDArray[np.bool_]:
        """Which candidates' labels were there in training."""
        return self.networks[0].is_trained[candidates.labels]

    def explaining(
        self, documents: Documents, candidates: Candidates
    ) -> tuple[NDArray[np.float64], Reasons]:
        """Scores, and what each word adds beside the others."""
        known = self._known(candidates)
        each = [network.shares(documents.rows, 0) for network in self.networks]

        def reasons(place: int) -> list[Reason]:
            if not known[place]:
                return []
            by_copy = [of(int(candidates.labels[place])) for of in each]
            shares = sum(shares for _, shares, _ in by_copy) / len(by_copy)
            constant = sum(constant for _, _, constant in by_copy) / len(by_copy)
            words = word_reasons(by_copy[0][0].tolist(), np.asarray(shares).tolist())
            return [Reason("bias", float(constant)), *words]

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
    """A network that has not seen a fold, and the one to use; blocks are of one network."""
    fold = number // copies
    trainer = Trainer(rows, pairs, positive, settings, seed + number, hidden=folds == fold)
    rest = np.flatnonzero(folds != fold)
    before = trainer.train(rest)
    if folds.max() > 0:
        # The others have seen it.
        return before, before
    before = before.copy()
    return before, trainer.train(np.arange(folds.size), 1, _LATE)
