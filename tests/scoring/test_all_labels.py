"""All labels as candidates."""

import numpy as np
from scipy import sparse

import manylabel
from manylabel import Ensemble


def test_every_label_is_a_candidate_if_there_are_few_or_the_user_asks_for_it(tmp_path):
    rng = np.random.default_rng(0)
    Y = sparse.csr_array((rng.random((90, 6)) < 0.3).astype(np.int8))
    X = sparse.csr_array(rng.poisson(0.5, (90, 20)).astype(float))
    settings = {"k": 5, "scorers": ["neighbours", "linear"]}
    fewer = Ensemble(n_candidates=5, **settings).fit(X[:80], Y[:80])
    assert fewer.sources_ == []
    asked = Ensemble(n_candidates=5, sources=["all"], **settings).fit(X[:80], Y[:80])
    model = Ensemble(n_candidates=6, **settings).fit(X[:80], Y[:80])
    assert np.diff(asked.decision_function(X[80:]).indptr).tolist() == [6] * 10
    assert np.diff(model.decision_function(X[80:]).indptr).tolist() == [6] * 10
    more = sparse.csr_array(sparse.hstack([Y[80:], np.ones((10, 1), np.int8)], "csr"))
    model.partial_fit(X[80:], more)
    scores = model.decision_function(X[:5])
    assert np.diff(scores.indptr).tolist() == [7] * 5
    manylabel.save(model, tmp_path / "model")
    assert (manylabel.load(tmp_path / "model").decision_function(X[:5]) != scores).nnz == 0
