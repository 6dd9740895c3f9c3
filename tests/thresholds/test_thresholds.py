"""From scores to label sets."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from metrics.problems import indicator, problems
from naive import measures, thresholds
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from manylabel import metrics
from manylabel.exceptions import InputError, ParameterError
from manylabel.thresholds import (
    Best,
    Cardinality,
    Fixed,
    PerLabel,
    Proportional,
    TopK,
    make_threshold,
)

ALL = [Fixed(0.3), TopK(2), Cardinality(), PerLabel(), Proportional(), Best()]

# Set measure -> its value for true and given sets, from the definitions.
VALUES = {
    "micro-f1": lambda true, given_sets, n: measures.micro_f1(true, given_sets),
    "macro-f1": lambda *sets: by_label(*sets, "f1", "zero"),
    "macro-f1-one": lambda *sets: by_label(*sets, "f1", "one"),
    "macro-f1-skip": lambda *sets: by_label(*sets, "f1", "skip"),
    "macro-precision": lambda *sets: by_label(*sets, "precision", "zero"),
    "macro-recall": lambda *sets: by_label(*sets, "recall", "zero"),
    "example-f1": lambda true, given_sets, n: measures.set_measure(true, given_sets, "f1", "zero"),
    "accuracy": lambda true, given_sets, n: measures.set_measure(
        true, given_sets, "jaccard", "zero"
    ),
    "subset-accuracy": lambda true, given_sets, n: measures.average(
        [t == g for t, g in zip(true, given_sets, strict=True)]
    ),
    "hamming-loss": lambda true, given_sets, n: (
        -measures.average([len(t ^ g) for t, g in zip(true, given_sets, strict=True)])
    ),
}


def by_label(true, given_sets, n_labels, name, absent):
    true_columns = measures.transposed_sets(true, n_labels)
    given_columns = measures.transposed_sets(given_sets, n_labels)
    return measures.set_measure(true_columns, given_columns, name, absent)


def sets_of(labels):
    return [set(labels[[row]].indices.tolist()) for row in range(labels.shape[0])]


@given(problem=problems(), cut=st.sampled_from([-2.0, 0.0, 0.25, 0.3, 2.0]), one=st.booleans())
def test_fixed_gives_what_reaches_the_threshold(problem, cut, one):
    given_sets = sets_of(Fixed(cut, at_least_one=one).apply(problem.S))
    assert given_sets == thresholds.above(problem.scores, cut, one)


@given(problem=problems(), k=st.integers(1, 7))
def test_top_k_gives_the_k_best_candidates(problem, k):
    expected = [set(measures.ranked(row)[:k]) for row in problem.scores]
    assert sets_of(TopK(k).apply(problem.S)) == expected


@given(problem=problems(), one=st.booleans())
def test_cardinality_is_as_near_to_the_training_cardinality_as_any_threshold(problem, one):
    target = measures.average([len(labels) for labels in problem.train]) * len(problem.scores)
    cut = Cardinality(at_least_one=one).fit(problem.S, problem.Y_train)
    gap = abs(cut.apply(problem.S).nnz - target)
    every = [sum(map(len, given_sets)) for given_sets in thresholds.every_cut(problem.scores, one)]
    assert gap == pytest.approx(min(abs(n - target) for n in every))


@given(problem=problems())
def test_per_label_gives_each_label_nearest_to_its_training_frequency(problem):
    cut = PerLabel(at_least_one=False).fit(problem.S, problem.Y_train)
    given_counts = cut.apply(problem.S).toarray().sum(axis=0)
    for label in range(problem.n_labels):
        frequency = sum(label in labels for labels in problem.train)
        column = [row[label] for row in problem.scores if label in row]
        if not frequency:
            assert given_counts[label] == 0
            assert cut.thresholds_[label] == np.inf
            continue
        target = max(1.0, frequency * len(problem.scores) / len(problem.train))
        possible = {0, *(sum(s >= value for s in column) for value in column)}
        nearest = min(abs(n - target) for n in possible)
        assert abs(given_counts[label] - target) == pytest.approx(nearest)


@given(problem=problems(), one=st.booleans())
def test_per_label_applies_each_labels_own_threshold(problem, one):
    cut = PerLabel(at_least_one=one).fit(problem.S, problem.Y_train)
    expected = thresholds.above(problem.scores, cut.thresholds_.tolist(), one)
    assert sets_of(cut.apply(problem.S)) == expected


@given(problem=problems())
def test_proportional_gives_each_label_to_its_share_of_the_documents(problem):
    labels = Proportional(at_least_one=False).fit(None, problem.Y_train).apply(problem.S)
    for label, rows in enumerate(measures.transposed_sets(sets_of(labels), problem.n_labels)):
        frequency = sum(label in t for t in problem.train)
        count = int(np.ceil(frequency * len(problem.scores) / len(problem.train) - 1e-9))
        assert rows == thresholds.top_documents(problem.scores, label, count)


@given(problem=problems())
def test_proportional_by_document_gives_the_median_number_of_labels(problem):
    count = int(np.ceil(np.median([len(labels) for labels in problem.train])))
    cut = Proportional("document", at_least_one=False).fit(None, problem.Y_train)
    expected = [set(measures.ranked(row)[:count]) for row in problem.scores]
    assert sets_of(cut.apply(problem.S)) == expected


@pytest.mark.parametrize("metric", sorted(VALUES))
@given(problem=problems(), one=st.booleans())
def test_best_is_as_good_as_the_best_of_all_thresholds(metric, problem, one):
    value = VALUES[metric]
    labels = Best(metric, at_least_one=one).fit(problem.S, problem.Y).apply(problem.S)
    got = value(problem.truth, sets_of(labels), problem.n_labels)
    every = [
        value(problem.truth, given_sets, problem.n_labels)
        for given_sets in thresholds.every_cut(problem.scores, one)
    ]
    # Without labels there is nothing to average, which counts as 0.
    assert np.nan_to_num(got) == pytest.approx(max(np.nan_to_num(every)))


@given(problem=problems())
def test_best_by_label_reaches_the_highest_f1_of_every_label(problem):
    cut = Best("macro-f1", per_label=True, at_least_one=False).fit(problem.S, problem.Y)
    got = metrics.f1(problem.Y, cut.apply(problem.S), None)
    for label in range(problem.n_labels):
        true = {row for row, labels in enumerate(problem.truth) if label in labels}
        column = {row: s[label] for row, s in enumerate(problem.scores) if label in s}
        cuts = [{row for row, s in column.items() if s >= value} for value in column.values()]
        best = max((measures.shares(*measures.set_counts(true, c))[2] for c in cuts), default=0.0)
        assert got[label] == pytest.approx(best)


@pytest.mark.parametrize("threshold", ALL, ids=lambda t: type(t).__name__)
@given(problem=problems())
def test_with_at_least_one_only_documents_without_candidates_get_nothing(threshold, problem):
    fitted = clone(threshold).fit(problem.S, problem.Y)
    labels = fitted.apply(problem.S)
    assert labels.dtype == np.int8
    assert labels.shape == problem.S.shape
    assert set(labels.data.tolist()) <= {1}
    if isinstance(threshold, PerLabel):
        return  # labels that training never saw are not given at all
    for candidates, given_set in zip(problem.scores, sets_of(labels), strict=True):
        assert bool(given_set) == bool(candidates)


def test_labels_need_not_be_those_of_the_scored_documents():
    scores = [[0.9, 0.8], [0.7, 0.1], [0.6, 0.2]]
    cut = Cardinality(at_least_one=False).fit(scores, [[1, 0]])
    assert cut.apply(scores).nnz == 3


def test_the_threshold_lies_between_the_given_and_the_left_out():
    cut = Cardinality(at_least_one=False).fit([[0.9, 0.3]], [[1, 0]])
    assert cut.threshold_ == pytest.approx(0.6)


def test_neighbouring_floats_are_told_apart():
    low = np.float32(0.5)
    scores = sparse.csr_array(np.array([[np.nextafter(low, np.float32(1)), low]], np.float32))
    cut = Cardinality(at_least_one=False).fit(scores, [[1, 0]])
    assert cut.apply(scores).indices.tolist() == [0]


def test_top_k_learns_the_cardinality():
    cut = TopK().fit(Y=[[1, 1, 1], [1, 0, 0]])
    assert cut.k_ == 2
    with pytest.raises(InputError, match=r"TopK\(\) needs labels to learn k from"):
        TopK().fit()


@pytest.mark.parametrize("threshold", [TopK(), Cardinality(), PerLabel(), Proportional(), Best()])
def test_applying_before_fitting_is_an_error(threshold):
    with pytest.raises(NotFittedError):
        threshold.apply([[0.5]])


@pytest.mark.parametrize("threshold", [PerLabel(), Proportional(), Best(per_label=True)])
def test_the_number_of_labels_may_not_change(threshold):
    threshold = clone(threshold)
    if isinstance(threshold, Best):
        threshold.metric = "macro-f1"
    threshold.fit([[0.5, 0.1, 0.2]], [[1, 0, 0]])
    with pytest.raises(InputError, match="scores has 2 columns, but 3 are expected"):
        threshold.apply([[0.5, 0.1]])


def test_no_candidates_at_all_is_no_error():
    nothing = sparse.csr_array((3, 2))
    for threshold in ALL:
        fitted = clone(threshold).fit(nothing, indicator([{0}, set(), {1}], 2))
        assert fitted.apply(nothing).nnz == 0


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("cardinality", "Cardinality()"),
        ("per-label", "PerLabel()"),
        ("proportional", "Proportional()"),
        ("top", "TopK()"),
        ("top-5", "TopK(k=5)"),
        ("0.3", "Fixed(threshold=0.3)"),
        (0, "Fixed(threshold=0.0)"),
        ("0:abstain", "Fixed(at_least_one=False, threshold=0.0)"),
        ("best:example-f1", "Best(metric='example-f1')"),
        ("best:macro-f1:per-label", "Best(metric='macro-f1', per_label=True)"),
    ],
)
def test_short_names(spec, expected):
    assert repr(make_threshold(spec)) == expected


def test_a_threshold_is_its_own_spec():
    cut = TopK(3)
    assert make_threshold(cut) is cut


@pytest.mark.parametrize("spec", ["cardinalty", "top-0", "best:p@1", "nan", None, True])
def test_bad_specs_are_refused(spec):
    with pytest.raises(ParameterError, match="must be"):
        make_threshold(spec)


def test_a_near_miss_is_corrected():
    with pytest.raises(ParameterError, match="Did you mean 'cardinality'"):
        make_threshold("cardinalty")


def test_measures_without_a_threshold_cannot_choose_one():
    with pytest.raises(ParameterError, match="`metric` must be one of accuracy, "):
        Best("ndcg@5").fit([[0.5]], [[1]])
    with pytest.raises(ParameterError, match="`per_label` needs the metric 'macro-f1'"):
        Best(per_label=True).fit([[0.5]], [[1]])


def test_rare_labels_share_the_threshold_of_their_kind():
    rng = np.random.default_rng(0)
    Y = sparse.csr_array((rng.random((60, 12)) < np.linspace(0.01, 0.5, 12)).astype(np.int8))
    scores = sparse.csr_array(np.clip(0.4 * Y.toarray() + rng.random((60, 12)) * 0.6, 0.01, 1))
    grouped = make_threshold("best:macro-f1:grouped").fit(scores, Y)
    alone = make_threshold("best:macro-f1:per-label").fit(scores, Y)
    counts = np.asarray(Y.sum(axis=0)).ravel()
    often = counts >= grouped.back_off
    assert often.any()
    assert grouped.thresholds_[often].tolist() == alone.thresholds_[often].tolist()
    for low, high in ((1, 2), (2, 4), (4, 8)):
        kind = np.flatnonzero((counts >= low) & (counts < high))
        if kind.size:
            together = Best(at_least_one=False).fit(scores[:, kind], Y[:, kind])
            assert set(grouped.thresholds_[kind]) == {together.threshold_}


def test_a_threshold_may_abstain():
    scores, Y = [[0.9, 0.1], [0.2, 0.1], [0.8, 0.3]], [[1, 0], [0, 0], [1, 0]]
    cut = make_threshold("best:micro-f1:abstain").fit(scores, Y)
    assert cut.apply(scores).toarray().tolist() == [[1, 0], [0, 0], [1, 0]]
    assert make_threshold("best:micro-f1").fit(scores, Y).apply(scores).toarray()[1].sum() == 1
