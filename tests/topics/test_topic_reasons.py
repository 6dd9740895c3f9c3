"""Why a topic model gives a label."""

from __future__ import annotations

import numpy as np
import pytest
from topics.topic_problems import INFERENCES, MODELS, clear_cut

from manylabel.exceptions import InputError
from manylabel.topics import DependencyLDA, FlatLDA, PriorLDA, SubsetLLDA


@pytest.mark.parametrize("combine", ["counts", "posterior", "scaled"])
@pytest.mark.parametrize("inference", INFERENCES)
@pytest.mark.parametrize("model", MODELS)
def test_reasons_add_up_to_the_score(model, inference, combine, corpus, training):
    X, Y, X_new, _ = corpus
    fitted = model(training=training, inference=inference, burn_in=3, samples=4, combine=combine)
    scores = fitted.fit(X, Y).decision_function(X_new[:3]).toarray()
    for row, explanations in enumerate(fitted.explain(X_new[:3], top=3)):
        best = np.sort(scores[row])[::-1][:3]
        np.testing.assert_allclose([why.score for why in explanations], best, rtol=1e-5)
        for why in explanations:
            assert why.total == pytest.approx(scores[row, why.label], rel=1e-5)
            assert why.row == row
            assert {reason.kind for reason in why.reasons} <= {"word", "prior"}


def test_a_label_is_explained_by_its_words():
    X, Y = clear_cut()
    model = FlatLDA().fit(X, Y)
    assert {word for word, _ in model.label_words(2, top=3)} == {6, 7, 8}
    (why,) = model.explain(np.eye(24)[[6]], labels=[2])[0]
    word = next(reason for reason in why.reasons if reason.kind == "word")
    assert word.index == 6
    assert word.similarity > 0.8
    with pytest.raises(InputError, match="labels are numbered 0 to 7; got 8"):
        model.explain(X[:1], labels=[8])


@pytest.mark.parametrize(
    ("model", "kind"), [(DependencyLDA, "topic"), (SubsetLLDA, "neighbour"), (PriorLDA, None)]
)
@pytest.mark.parametrize("inference", INFERENCES)
def test_a_prior_tells_where_it_comes_from(model, kind, inference):
    X, Y = clear_cut()
    settings = {"n_topics": 2} if kind == "topic" else {}
    fitted = model(inference=inference, combine="scaled", **settings).fit(X, Y)
    (why,) = fitted.explain(X[:1], labels=[Y[0].argmax()])[0]
    (prior,) = [reason for reason in why.reasons if reason.kind == "prior"]
    if kind is None:
        assert prior.reasons == ()
        return
    assert {reason.kind for reason in prior.reasons} == {kind, "bias"}
    assert sum(reason.share for reason in prior.reasons) == pytest.approx(prior.share)
    first = prior.reasons[0]
    assert first.share > 0
    if kind == "topic":
        leading = {label // 4 for label, _ in fitted.topic_labels(first.index, top=1)}
        assert leading == {0}
        assert first.similarity == fitted.document_topics(X[:1])[0, first.index]
    else:
        assert Y[first.index, why.label] == 1


@pytest.mark.parametrize("sampler", ["fast", "proper"])
def test_topics_of_documents_make_their_prior(sampler):
    X, Y = clear_cut()
    model = DependencyLDA(n_topics=2, sampler=sampler, eta=3.0, alpha_sum=0.5, inference="cgs")
    shares = model.fit(X, Y).document_topics(X[:6])
    assert shares.shape == (6, 4)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    topics = np.vstack([topics.toarray() for topics in model.topics_])
    expected = (3.0 * shares @ topics + 0.5 / 8) / 3.5
    off = 1e-9 if sampler == "fast" else 0.1
    np.testing.assert_allclose(model.label_prior(X[:6]), expected, atol=off)
