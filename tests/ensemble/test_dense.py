"""An ensemble reads a dense view: votes, candidates, changes and reasons are exact."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive import dense as naive
from scipy import sparse

import manylabel
from manylabel import Ensemble
from manylabel.exceptions import InputError
from manylabel.neighbors import DenseIndex
from manylabel.neighbors.dense_scorer import DenseNeighbors, DenseSource, DenseVotes
from manylabel.scoring import Candidates, Documents, Training, WordSums
from manylabel.scoring.candidates import all_pairs

N = 120


@pytest.fixture(scope="module")
def corpus():
    """Words are noise, and vectors tell the labels."""
    rng = np.random.default_rng(4)
    Y = rng.random((N, 6)) < 0.3
    Y[np.arange(N), rng.integers(0, 6, N)] = True
    X = sparse.csr_array(rng.poisson(0.3, (N, 30)).astype(float))
    vectors = Y @ rng.standard_normal((6, 8)) + 0.3 * rng.standard_normal((N, 8))
    return Documents(X, views={"dense": vectors}), sparse.csr_array(Y.astype(np.int8))


@pytest.fixture(scope="module")
def fitted(corpus):
    """An ensemble of the first 100 documents, which must not be changed."""
    documents, Y = corpus
    return Ensemble(k=20, scorers=["neighbours", "dense"]).fit(documents[:100], Y[:100])


def by_hand(documents, Y, alive, query, alpha, k, skip=None, incomplete=None):
    """The share of each label, and the neighbours."""
    X = np.asarray(documents.view("dense"), float)
    near = naive.search(X, [query], k, skip=[skip], alive=alive)[0]
    given = [set(row.nonzero()[0].tolist()) for row in Y.toarray()]
    incomplete = np.zeros(len(X), bool) if incomplete is None else incomplete
    labels = range(Y.shape[1])
    return [naive.share(near, given, label, alpha, incomplete) for label in labels], near


@given(st.integers(0, 99), st.booleans())
def test_votes_are_those_of_the_definition(seed, has_incomplete):
    rng = np.random.default_rng(seed)
    n, n_labels, k = int(rng.integers(3, 9)), int(rng.integers(1, 5)), int(rng.integers(1, 6))
    documents = Documents(
        sparse.csr_array((n, 1)), views={"dense": rng.integers(-1, 3, (n, 3)).astype(float)}
    )
    Y = sparse.csr_array((rng.random((n, n_labels)) < 0.4).astype(np.int8))
    incomplete = rng.random(n) < 0.4 if has_incomplete else None
    known = DenseNeighbors(DenseIndex(documents.view("dense")), Y, k, incomplete)
    known.alpha = float(rng.choice([1, 2, 4]))
    every = Candidates(all_pairs(n, n_labels))
    documents.numbers = np.arange(n)
    left_out = known.shares(known.search(documents, None), every.pattern).reshape(n, n_labels)
    for row in range(n):
        query = documents.view("dense")[row]
        shares, near = by_hand(documents, Y, None, query, known.alpha, k, row, incomplete)
        np.testing.assert_allclose(left_out[row], shares, atol=1e-12)
        one = documents[[row]]
        reasons = known.reasons(one, every.take(np.array([row])), None)
        for label in range(n_labels):
            why = reasons(label)
            assert sum(reason.share for reason in why) == pytest.approx(shares[label], abs=1e-9)
            assert {reason.index for reason in why} <= {row for row, _ in near}


def test_it_is_fitted_only_if_documents_have_the_view(corpus, fitted):
    documents, Y = corpus
    plain = Ensemble(k=20).fit(documents.counts[:100], Y[:100])
    assert "dense" not in plain.report_.gain
    assert "dense" not in [source.name for source in plain.sources_]
    assert fitted.views_ == {"dense"}
    assert fitted.report_.alone["dense"]["p@1"] > 0.8 > fitted.report_.alone["neighbours"]["p@1"]
    assert {source.name for source in fitted.sources_} <= {"dense", "all"}
    with pytest.raises(InputError, match="no view 'dense'; they have counts, rows"):
        fitted.decision_function(documents.counts[100:])
    with pytest.raises(InputError, match="no view 'dense'"):
        Ensemble(scorers=["neighbours", "dense"]).fit(documents.counts, Y)


def test_held_out_scores_leave_the_document_out(corpus, fitted):
    documents, Y = corpus
    some = documents[:100]
    training = Training(some, Y[:100], np.zeros(100, np.int8), settings={"k": 20})
    scorer, every = DenseVotes(), Candidates(all_pairs(100, 6))
    scores = scorer.fit(training, every.pattern, every).reshape(100, 6)
    alpha = scorer.known.alpha
    for row in (0, 17, 99):
        expected, _ = by_hand(some, Y[:100], None, some.view("dense")[row], alpha, 20, row)
        np.testing.assert_allclose(scores[row], expected, atol=1e-12)
    assert alpha == fitted.scorers_["dense"].known.alpha


def new_scores(model, documents):
    """The votes for every label of new documents."""
    n_labels = model.n_labels_
    every = Candidates(all_pairs(len(documents), n_labels))
    return model.scorers_["dense"].score(documents, every).reshape(-1, n_labels)


def test_learning_forgetting_and_relabelling_count_at_once(corpus):
    documents, Y = corpus
    new = documents[100:]
    model = Ensemble(k=20, scorers=["neighbours", "dense"], sources=["dense"])
    model.fit(documents[:80], Y[:80]).partial_fit(documents[80:100], Y[80:100])
    model.remove([3, 85])
    wider = sparse.csr_array(np.eye(2, 7, 5, dtype=np.int8))
    model.relabel([7, 90], wider)
    truth = sparse.csr_array(sparse.hstack([Y[:100], np.zeros((100, 1), np.int8)])).tolil()
    truth[[7, 90]] = wider.toarray()
    truth, alive = sparse.csr_array(truth), ~np.isin(np.arange(100), [3, 85])
    known = model.scorers_["dense"].known
    assert known is model.sources_[0].known  # changed by both, once
    some, expected = documents[:100], []
    for query in new.view("dense"):
        expected.append(by_hand(some, truth, alive, query, known.alpha, 20)[0])
    np.testing.assert_allclose(new_scores(model, new), expected, atol=1e-12)
    assert np.any(new_scores(model, new)[:, 6])  # the new label
    assert model.compact().tolist() == np.flatnonzero(alive).tolist()
    np.testing.assert_allclose(new_scores(model, new), expected, atol=1e-12)
    assert known.index.n_rows == known.Y.shape[0] == model.alive_.size == 98


def test_flags_of_incomplete_documents_that_are_added_count(corpus):
    documents, Y = corpus
    model = Ensemble(k=20, scorers=["neighbours", "dense"], sources=["dense"])
    model.fit(documents[:80], Y[:80])
    flags = np.arange(20) % 2 == 0
    model.partial_fit(documents[80:100], Y[80:100], incomplete=flags)
    known = model.scorers_["dense"].known
    np.testing.assert_array_equal(np.flatnonzero(known.incomplete), 80 + np.flatnonzero(flags))
    query = documents.view("dense")[110]
    incomplete = np.concatenate([np.zeros(80, bool), flags])
    expected, _ = by_hand(documents[:100], Y[:100], None, query, known.alpha, 20, None, incomplete)
    np.testing.assert_allclose(new_scores(model, documents[[110]])[0], expected, atol=1e-12)


def test_documents_without_the_view_change_nothing(corpus, fitted):
    documents, Y = corpus
    before = fitted.source_.Y.shape, fitted.alive_.size
    with pytest.raises(InputError, match="no view 'dense'"):
        fitted.partial_fit(documents.counts[100:], Y[100:])
    narrow = Documents(documents.counts[100:], views={"dense": np.ones((20, 3))})
    with pytest.raises(InputError, match="the view 'dense' has 3 columns, but 8 are expected"):
        fitted.partial_fit(narrow, Y[100:])
    with pytest.raises(InputError, match="must be a dense matrix; got a sparse one"):
        Ensemble().fit(Documents(documents.counts, views={"dense": documents.counts}), Y)
    assert (fitted.source_.Y.shape, fitted.alive_.size) == before


def test_a_document_that_was_learned_is_scored_as_if_it_were_new(corpus):
    documents, Y = corpus
    model = Ensemble(k=20, scorers=["neighbours", "dense"]).fit(documents[:100], Y[:100])
    model.partial_fit(documents[100:], Y[100:])
    numbers = np.arange(100, 103)
    some, candidates = model._candidates(documents[numbers], None, numbers)
    scorer = model.scorers_["dense"]
    scores = candidates.scores(scorer.score(some, candidates)).toarray()
    for row, number in enumerate(numbers):
        query = documents.view("dense")[number]
        expected, _ = by_hand(documents, Y, None, query, scorer.known.alpha, 20, number)
        mine = candidates.pattern.toarray()[row] > 0
        np.testing.assert_allclose(scores[row, mine], np.array(expected)[mine], atol=1e-12)
    left_out = model.scores_left_out(documents[numbers], numbers).toarray()
    assert (left_out != model.decision_function(documents[numbers]).toarray()).any()


def test_the_search_is_shared_until_something_changes(corpus, fitted):
    documents, Y = corpus
    known, new = fitted.scorers_["dense"].known, documents[100:]
    first = known.search(new, None)
    assert known.search(new, None) is first
    model = Ensemble(k=20, scorers=["neighbours", "dense"]).fit(documents[:90], Y[:90])
    before = model.decision_function(new).toarray()
    after = model.partial_fit(documents[90:100], Y[90:100]).decision_function(new).toarray()
    assert (before != after).any()
    fresh = model.decision_function(documents[100:]).toarray()
    np.testing.assert_array_equal(after, fresh)


def test_it_proposes_labels_that_words_do_not_find(corpus):
    rng = np.random.default_rng(9)
    n, n_labels = 300, 100
    at = rng.integers(0, n_labels, n)
    Y = sparse.csr_array((np.ones(n, np.int8), (np.arange(n), at)), shape=(n, n_labels))
    vectors = rng.standard_normal((n_labels, 16))[at] + 0.1 * rng.standard_normal((n, 16))
    X = sparse.csr_array(rng.poisson(0.2, (n, 20)).astype(float))
    model = Ensemble(k=10, n_candidates=10).fit(Documents(X, views={"dense": vectors}), Y)
    (source,) = model.sources_
    assert isinstance(source, DenseSource)
    assert model.report_.recall > 0.9
    assert model.views_ == {"dense"}


@pytest.fixture(scope="module")
def sums(corpus):
    """Documents with one of many words for each label; vectors tell which words mean the same."""
    rng = np.random.default_rng(6)
    _, Y = corpus
    at, labels = Y.nonzero()
    words = labels * 60 + rng.integers(0, 60, at.size)
    counts = sparse.csr_array((np.ones(at.size), (at, words)), shape=(N, 360))
    vectors = np.repeat(rng.standard_normal((6, 10)), 60, axis=0)
    vectors += 0.2 * rng.standard_normal(vectors.shape)
    return Documents(counts, views={"dense": WordSums(counts, vectors)}), Y


def test_a_neighbours_similarity_is_divided_among_the_words(sums):
    documents, Y = sums
    model = Ensemble(k=20, scorers=["neighbours", "dense"]).fit(documents[:100], Y[:100])
    one = documents[[105]]
    found = model.explain(one, top=3)[0]
    n_words = 0
    for why in found:
        assert why.total == pytest.approx(why.score, abs=1e-9)
        for part in why.reasons:
            if part.kind != "dense":
                continue
            assert part.title == "documents about similar things"
            assert sum(r.share for r in part.reasons) == pytest.approx(part.share, abs=1e-9)
            for neighbour in part.reasons:
                shares = [word.share for word in neighbour.reasons]
                assert sum(shares) == pytest.approx(neighbour.similarity, abs=1e-5)
                assert shares == sorted(shares, reverse=True)
                assert {word.index for word in neighbour.reasons} == set(
                    one.counts.indices.tolist()
                )
                n_words += len(shares)
    assert n_words
    array = Documents(one.counts, views={"dense": np.asarray(one.view("dense"))})
    assert all(
        not neighbour.reasons
        for why in model.explain(array, top=3)[0]
        for part in why.reasons
        if part.kind == "dense"
        for neighbour in part.reasons
    )


def test_rows_of_zeros_have_no_neighbours(corpus):
    documents, Y = corpus
    model = Ensemble(k=20, scorers=["neighbours", "dense"], sources=["dense"])
    model.fit(documents[:100], Y[:100])
    nothing = Documents(documents.counts[[101]], views={"dense": np.zeros((1, 8))})
    assert not new_scores(model, nothing).any()
    for why in model.explain(nothing)[0]:
        assert why.total == pytest.approx(why.score, abs=1e-9)


def test_sums_of_words_are_a_view_like_any_other(sums):
    documents, _ = sums
    view = documents.view("dense")
    dense = np.asarray(view)
    np.testing.assert_allclose(dense, documents.counts.toarray() @ view.vectors)
    np.testing.assert_array_equal(documents[[5, 2]].view("dense"), dense[[5, 2]])
    both = Documents.stacked([documents[:3], documents[7:9]]).view("dense")
    assert isinstance(both, WordSums)
    np.testing.assert_array_equal(both, dense[[0, 1, 2, 7, 8]])
    assert (len(both), both.shape) == (5, (5, 10))
    with pytest.raises(InputError, match="a row for each of the 3 columns of `rows`; got 2"):
        WordSums(np.ones((1, 3)), np.ones((2, 5)))
    with pytest.raises(InputError, match="must be a sum over the 360 columns of the counts"):
        Documents(documents.counts[:1], views={"dense": WordSums(np.ones((1, 3)), np.ones((3, 5)))})


def test_a_saved_ensemble_shares_what_it_shared(corpus, tmp_path):
    documents, Y = corpus
    model = Ensemble(k=20, scorers=["neighbours", "dense"], sources=["dense"])
    model.fit(documents[:100], Y[:100])
    manylabel.save(model, tmp_path / "model")
    same = manylabel.load(tmp_path / "model")
    assert same.sources_[0].known is same.scorers_["dense"].known
    for each in (model, same):
        each.partial_fit(documents[100:110], Y[100:110]).remove([4])
    new = documents[110:]
    expected = model.decision_function(new).toarray()
    np.testing.assert_array_equal(same.decision_function(new).toarray(), expected)
    known = same.scorers_["dense"].known
    known.Y = known.Y[1:]
    with pytest.raises(InputError, match="the dense neighbours are damaged"):
        known._check_stored()


def test_without_the_votes_nothing_searches_for_them(corpus, monkeypatch):
    documents, Y = corpus
    monkeypatch.setattr(
        "manylabel.ensemble.ensemble.choose_scorers",
        lambda held_out, protected: (["neighbours"], dict.fromkeys(held_out.scores, 0.0)),
    )
    model = Ensemble(k=20, scorers=["neighbours", "dense"]).fit(documents, Y)
    assert "dense" not in model.scorers_
    assert "dense" not in model.lazy_combination_.curves
    model.sources_ = []
    assert model.views_ == frozenset()
    model.decision_function(documents.counts)


def test_an_earlier_training_of_the_same_documents_does_not_count(corpus):
    documents, Y = corpus
    settings = {"k": 20, "scorers": ["neighbours", "dense"]}
    Ensemble(**settings).fit(documents, Y)
    other = Y[:, ::-1]
    again = Ensemble(**settings).fit(documents, other)
    fresh = Ensemble(**settings).fit(documents[np.arange(N)], other)
    assert again.report_.alone["dense"] == fresh.report_.alone["dense"]
