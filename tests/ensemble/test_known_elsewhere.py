"""Which labels models know that were trained without a fold."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from manylabel import Ensemble
from manylabel.ensemble.fitting import known_elsewhere
from manylabel.network.scorer import NetworkScorer
from manylabel.scoring import Candidates, Documents, Training
from manylabel.scoring.candidates import all_pairs

combine = Ensemble._combine


@given(st.integers(0, 2**16), st.integers(2, 12), st.integers(1, 5), st.integers(1, 4))
@settings(deadline=None, max_examples=40)
def test_a_label_is_known_if_a_document_of_another_fold_has_it(seed, n_rows, n_labels, n_folds):
    rng = np.random.default_rng(seed)
    Y = (rng.random((n_rows, n_labels)) < 0.3).astype(np.int8)
    folds = rng.integers(-1, n_folds, n_rows).astype(np.int8)
    folds[0] = 0
    training = Training(Documents(sparse.csr_array((n_rows, 1))), sparse.csr_array(Y), folds)
    held = Candidates(all_pairs(training.held.size, n_labels))
    found = known_elsewhere(training, held).reshape(-1, n_labels)
    for position, row in enumerate(training.held.tolist()):
        for label in range(n_labels):
            others = [other for other in range(n_rows) if folds[other] != folds[row]]
            assert found[position, label] == any(Y[other, label] for other in others)


def test_a_scorer_has_no_opinion_on_held_out_labels_that_are_new_to_it(monkeypatch):
    given = []
    monkeypatch.setattr(
        Ensemble,
        "_combine",
        lambda self, scorers, held_out, Y: (
            given.append(held_out) or combine(self, scorers, held_out, Y)
        ),
    )
    rng = np.random.default_rng(0)
    X = sparse.csr_array((rng.random((60, 30)) < 0.2).astype(np.int32))
    # Half of the labels have one document.
    own = np.tile(np.eye(30, dtype=np.int8), (2, 1))
    own[30:, 15:] = 0
    Ensemble(scorers=["neighbours", "linear"], sources=["all"]).fit(X, sparse.csr_array(own))
    (held_out,) = given
    linear = held_out.scores["linear"]
    assert 0 < held_out.known.mean() < 1
    assert (linear[~held_out.known] == 0).all()
    assert (linear[held_out.known] != 0).all()
    # A true label of a single document is no different from a label without documents.
    alone = held_out.truth & (held_out.counts == 0)
    assert alone.any()
    assert not held_out.known[alone].any()


def test_the_network_judges_labels_that_no_document_has_as_a_candidate():
    rng = np.random.default_rng(1)
    X = sparse.csr_array((rng.random((40, 12)) < 0.3).astype(np.float64))
    Y = sparse.csr_array((rng.random((40, 3)) < 0.3).astype(np.int8))
    # The last label is proposed only where it is wrong.
    pairs = np.ones((40, 3), np.int8)
    pairs[:, 2] = 1 - Y.toarray()[:, 2]
    candidates = sparse.csr_array(pairs)
    documents = Documents(X.astype(np.float32))
    scorer = NetworkScorer()
    training = Training(documents, Y, (np.arange(40) % 2).astype(np.int8))
    held = scorer.fit(training, candidates, Candidates(candidates))
    later = scorer.score(documents, Candidates(candidates))
    mine = candidates.indices == 2
    assert (held[mine] < 0).mean() > 0.8
    assert (later[mine] < 0).mean() > 0.8
