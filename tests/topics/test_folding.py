"""Documents that come later."""

from __future__ import annotations

import numpy as np
import pytest
from topics.topic_problems import MODELS, clear_cut

from manylabel.exceptions import InputError
from manylabel.metrics import precision_at
from manylabel.topics import DependencyLDA, FlatLDA, PriorLDA


@pytest.mark.parametrize("model", MODELS)
def test_documents_can_be_folded_in_with_new_labels(model):
    X, Y = clear_cut()
    known = ~Y[:, 7].astype(bool)
    Y_known = Y[known][:, :7]
    fitted = model(random_state=0).fit(X[known], Y_known)
    fitted.partial_fit(X[~known], Y[~known])
    assert fitted.n_labels_ == 8
    assert {word for word, _ in fitted.label_words(7, top=3)} == {21, 22, 23}
    scores = fitted.decision_function(X[~known][:5])
    assert (scores.toarray()[:, 7] > 0.1).all()
    with pytest.raises(InputError, match="the model has 8 labels"):
        fitted.partial_fit(X[:1], Y[:1, :7])


@pytest.mark.parametrize("model", MODELS)
def test_folding_in_comes_near_to_training_on_everything(model, corpus):
    X, Y, X_new, Y_new = corpus
    folded = model().partial_fit(X[:150], Y[:150]).partial_fit(X[150:], Y[150:])
    whole = model().fit(X, Y)
    near, same = (fitted.decision_function(X_new).toarray() for fitted in (folded, whole))
    assert folded.word_labels_.tokens.sum() == pytest.approx(X.sum(), rel=1e-5)
    assert folded.training_.word_labels is folded.word_labels_
    assert (near.argmax(axis=1) == same.argmax(axis=1)).mean() > 0.8
    assert precision_at(Y_new, near, 1) > 0.9


def test_a_new_label_joins_the_topics_of_its_documents():
    X, Y = clear_cut()
    known = ~Y[:, 7].astype(bool)
    model = DependencyLDA(n_topics=2, topic_chains=1).fit(X[known], Y[known][:, :7])
    model.partial_fit(X[~known], Y[~known])
    of_new = model.topics_[0].counts[:, [7]].toarray().ravel()
    of_its_group = model.topics_[0].counts[:, [6]].toarray().ravel()
    assert of_new.sum() == pytest.approx(Y[:, 7].sum())
    assert of_new.argmax() == of_its_group.argmax()


def test_new_labels_are_welcome_where_labels_have_no_pseudo_count():
    X, Y = clear_cut()
    known = ~Y[:, 7].astype(bool)
    model = PriorLDA(label_beta=0.0).fit(X[known], Y[known][:, :7])
    model.partial_fit(X[~known], Y[~known])
    np.testing.assert_allclose(model.topics_[0].counts.toarray()[0], Y.sum(axis=0))
    assert np.isfinite(model.decision_function(X[:3]).data).all()


def test_thresholds_by_label_refuse_new_labels():
    X, Y = clear_cut()
    model = FlatLDA(threshold="per-label").fit(X, Y[:, :7])
    with pytest.raises(InputError, match="fitted for each of 7 labels; fit again"):
        model.partial_fit(X[:2], Y[:2])
