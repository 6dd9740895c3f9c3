"""Propose labels by their names."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from manylabel.scoring import Candidates, CandidateSource, Documents, Training
from manylabel.vocabulary.label_names import LabelNames
from manylabel.vocabulary.name_clues import names_in
from manylabel.vocabulary.name_words import Rarity, count_words

__all__ = ["NameSource", "has_names", "rarity_in"]


def has_names(training: Training) -> bool:
    """Whether labels have names and documents have texts."""
    return isinstance(training.vocabulary, LabelNames) and training.documents.texts is not None


def rarity_in(training: Training) -> Rarity:
    """How rare the words of names are in the training documents; counted once."""
    documents, named = training.documents, training.vocabulary
    known = documents.cache.get("rarity")
    if known is None or known.terms is not named.matcher.terms:
        assert documents.texts is not None
        documents.cache["rarity"] = known = count_words(named, documents.texts)
    return known


class NameSource(CandidateSource):
    """Proposes labels with a name, or words of a name, in the text, even labels without documents.

    *Songs for the piano* speaks for *piano music*, though its name is not in the text.
    """

    name = "names"

    def __init__(self) -> None:
        self.named: LabelNames | None = None
        self.rarity: Rarity | None = None

    def wants(self, training: Training) -> bool:
        """Whether labels have names and documents have texts."""
        return has_names(training)

    def fit(self, training: Training) -> None:
        """Store the names, and how rare their words are."""
        self.named, self.rarity = training.vocabulary, rarity_in(training)

    def propose(
        self,
        documents: Documents,
        leave_out: NDArray[np.int64] | None = None,
        n_jobs: int | None = None,
    ) -> Candidates:
        """Propose the labels with the best clues."""
        assert self.named is not None
        assert self.rarity is not None
        looked = names_in(documents, self.named, self.rarity, n_jobs)
        if looked is None:
            return Candidates(
                sparse.csr_array((len(documents), self.named.n_labels), dtype=np.int8)
            )
        return Candidates(looked.best)

    def grow(self, n_labels: int) -> None:
        """Add labels that appear later; they have no names."""
        if self.named is not None:
            self.named.grow(n_labels)
