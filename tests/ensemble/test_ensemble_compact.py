"""An ensemble that has learned and forgotten becomes one that never did anything else."""

import numpy as np
import pytest

from manylabel import Ensemble
from manylabel.corpus import load_catalogue


@pytest.fixture(scope="module")
def corpus():
    return load_catalogue("train").vectorized()


@pytest.mark.parametrize("words", [[], ["words"]])
def test_what_is_left_is_indexed_again_and_scores_stay(corpus, words):
    X, Y = corpus.X, corpus.Y
    model = Ensemble(scorers=["neighbours", "nearest", "linear", *words]).fit(X[:300], Y[:300])
    model.partial_fit(X[300:400], Y[300:400]).remove(np.arange(50, 90))
    before = model.decision_function(X[400:])
    numbers = model.compact()
    after = model.decision_function(X[400:])
    assert numbers.tolist() == [*range(50), *range(90, 400)]
    assert model.alive_.all()
    assert model.alive_.size == 360
    index = model.source_.index
    assert len(index) == index.n_rows == 360
    assert len(index.arrays()) > 0
    assert np.array_equal(after.indices, before.indices)
    np.testing.assert_allclose(after.data, before.data, rtol=1e-9)
    model.remove([359])
    assert len(index) == 359
