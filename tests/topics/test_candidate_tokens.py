"""A document's tokens go to the same candidates whether phi is looked up or searched."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from manylabel.scoring import lookups
from manylabel.topics.schedule import Schedule
from manylabel.topics.word_labels import WordLabels, expected_tokens

PLAN = Schedule(chains=1, burn_in=2, samples=1, lag=1)


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    monkeypatch.setattr(lookups, "MANY", 3)


@given(st.integers(0, 2**32 - 1), st.sampled_from([1, 63, 64, 65, 200]))
@pytest.mark.parametrize("inference", ["cvb0", "cgs", "cgs_p"])
def test_the_same_to_the_last_bit(inference, seed, n_labels):
    random = np.random.default_rng(seed)

    def matrix(n, m, density):
        kept = random.random((n, m)) < density
        return sparse.csr_array(random.integers(1, 5, (n, m)) * kept * 1.0)

    n_words, n_documents = 12, 3
    counts = matrix(n_words, n_labels, random.choice([0.0, 0.1, 0.9, 1.0], (n_words, 1)))
    known = WordLabels.from_counts(counts, 0.1)
    X, priors = matrix(n_documents, n_words, 0.7), matrix(n_documents, n_labels, 0.3)

    def tokens():
        return expected_tokens(known, X, priors, inference=inference, schedule=PLAN, seed=3)

    first = tokens()
    assert not known.pairs_for(0).lookup.at.size
    known.pairs_for(lookups.PATIENCE)
    assert known.pairs_for(0).lookup.at.size == n_words
    np.testing.assert_array_equal(tokens().data, first.data)
