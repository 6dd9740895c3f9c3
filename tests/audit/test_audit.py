"""What looks wrong with the labels of documents."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from metrics.problems import indicator
from naive import audit as naive
from scipy import sparse

from manylabel.audit import (
    audit,
    choose_by_words,
    choose_next,
    document_errors,
    most_uncertain,
    pair_errors,
    uncertainty,
    unlisted_errors,
)
from manylabel.audit.labels import same_labels, split, two_meanings, unlearned
from manylabel.corpus import Corpus, load_catalogue, write
from manylabel.ensemble import Combination, Curve, Ensemble, OutOfSample
from manylabel.exceptions import CorpusError, InputError, ParameterError
from manylabel.tagger import Tagger, read_decisions

QUICK = {"scorers": ["neighbours", "words", "linear"]}
LINE = Combination({"s": Curve(np.array([0.0, 1.0]), np.array([0.0, 1.0]))}, np.zeros(6))


def out_of(pattern, log_odds):
    n = pattern.nnz
    return OutOfSample(pattern, {"s": log_odds}, np.zeros(n, int), LINE, np.ones(n, bool))


def flipped(corpus, rate, seed=0):
    """The corpus with some labels taken away and others given at random; and which."""
    rng = np.random.default_rng(seed)
    Y = corpus.Y.toarray().astype(bool)
    rows, columns = np.nonzero(Y)
    wrong = set()
    for position in rng.permutation(rows.size)[: int(rate * rows.size)]:
        row = rows[position]
        other = rng.choice(np.flatnonzero(~Y[row]))
        Y[row, columns[position]] = False
        Y[row, other] = True
        wrong |= {(row, columns[position]), (row, other)}
    labels = [[corpus.label_names[c] for c in np.flatnonzero(row)] for row in Y]
    return Corpus.from_texts(corpus.texts, labels, corpus.ids), {
        (corpus.ids[row], corpus.label_names[c]) for row, c in wrong
    }


@pytest.fixture(scope="module")
def noisy():
    return flipped(load_catalogue("train"), 0.06)


@pytest.fixture(scope="module")
def report(noisy):
    return Tagger(parameters=QUICK).audit(noisy[0], top=60)


@given(
    truth=st.lists(st.sets(st.integers(0, 3)), min_size=1, max_size=6),
    values=st.lists(st.floats(-12, 6), min_size=4, max_size=4),
    proposed=st.lists(st.booleans(), min_size=5, max_size=5),
    share=st.sampled_from([0.01, 0.03, 0.2]),
    times=st.sampled_from([1, 30]),
)
def test_errors_follow_from_bayes_rule(truth, values, proposed, share, times):
    truth = truth * times
    Y = indicator(truth, 4)
    # Labels that a document has are judged even if nothing proposes them.
    judged = np.resize(proposed, (len(truth), 4)) | (Y.toarray() > 0)
    pattern = sparse.csr_array(judged.astype(np.int8))
    log_odds = np.resize(values, pattern.nnz)
    found = pair_errors(out_of(pattern, log_odds), Y, share)
    dense = np.full(judged.shape, None)
    dense[judged] = log_odds
    expected = [
        [
            naive.error(row, label, truth, share, dense.tolist())
            for label in range(4)
            if judged[row, label]
        ]
        for row in range(len(truth))
    ]
    np.testing.assert_allclose(found, [value for row in expected for value in row], rtol=1e-6)
    np.testing.assert_allclose(
        document_errors(pattern, found),
        [naive.suspicion(row) for row in expected],
        rtol=1e-6,
        atol=1e-9,
    )


def test_labels_that_are_often_given_by_accident_are_suspected():
    rng = np.random.default_rng(0)
    documents = [set(np.flatnonzero(row)) for row in rng.random((800, 2)) < (0.6, 0.0)]
    Y = indicator(documents, 2)
    pattern = sparse.csr_array(np.ones((800, 2), np.int8))
    log_odds = rng.normal(size=(800, 2)) - 3
    found = pair_errors(out_of(pattern, log_odds.ravel()), Y, 0.03).reshape(800, 2)
    # The least likely documents are given the first label about as often as any.
    rate = naive.accident_rate(log_odds[:, 0].tolist(), 0, documents)
    for row in range(0, 800, 80):
        expected = naive.error(row, 0, documents, 0.03, log_odds.tolist())
        assert found[row, 0] == pytest.approx(expected, rel=1e-6)
    assert naive.accident_rate(log_odds[:, 1].tolist(), 1, documents) == 0
    assert 0.03 < rate < 0.6


def test_accidents_that_do_not_grow_with_the_labels_of_a_document():
    rng = np.random.default_rng(0)
    # Some documents have one label, others five; accidents hit both alike.
    true = rng.random((2_000, 8)) < rng.choice([0.1, 0.6], (2_000, 1))
    documents = [set(np.flatnonzero(row)) for row in true ^ (rng.random((2_000, 8)) < 0.2)]
    log_odds = np.where(true, 3.0, -3.0) + rng.normal(size=true.shape)
    assert naive.occasions(0, documents, log_odds.tolist()) == 1
    found = pair_errors(
        out_of(sparse.csr_array(np.ones(true.shape, np.int8)), log_odds.ravel()),
        indicator(documents, 8),
    )
    for row in range(0, 2_000, 500):
        expected = naive.error(row, 1, documents, 0.03, log_odds.tolist())
        assert found[8 * row + 1] == pytest.approx(expected, rel=1e-6)


def test_a_document_with_more_labels_than_expected_lacks_more():
    rng = np.random.default_rng(0)
    generous = rng.permutation(200) < 100
    # Everybody is expected to have two of eight labels; some have one and others five.
    documents = [set(rng.permutation(8)[: 5 if many else 1]) for many in generous]
    out = out_of(sparse.csr_array(np.ones((200, 8), np.int8)), np.full(1600, np.log(1 / 3)))
    given = indicator(documents, 8)
    found = np.where(given.toarray() > 0, 0, pair_errors(out, given).reshape(200, 8)).sum(axis=1)
    assert found[generous].min() / 3 > found[~generous].max() / 7
    dense = np.full((200, 8), np.log(1 / 3)).tolist()
    assert naive.generosity(int(generous.argmax()), documents, dense) > 1.5


@given(
    st.lists(st.sets(st.integers(0, 3)), min_size=1, max_size=8),
    st.lists(st.booleans(), min_size=1, max_size=32),
)
def test_pairs_that_nothing_proposed_follow_their_label(truth, values):
    Y = indicator(truth, 4)
    proposed = np.resize(values, (len(truth), 4))
    pattern = sparse.csr_array((proposed | (Y.toarray() > 0)).astype(np.int8))
    out = out_of(pattern, np.zeros(pattern.nnz))
    out = replace(out, proposed=proposed[pattern.toarray() > 0])
    sets = [set(np.flatnonzero(row)) for row in proposed]
    expected = [naive.unlisted_error(label, truth, sets, 0.03) for label in range(4)]
    np.testing.assert_allclose(unlisted_errors(out, Y, 0.03), expected)


def test_a_document_without_pairs_has_no_errors():
    pattern = sparse.csr_array((2, 3), dtype=np.int8)
    assert document_errors(pattern, np.empty(0)).tolist() == [0.0, 0.0]


def test_every_label_of_every_document_is_judged():
    corpus = load_catalogue("train").vectorized()
    model = Ensemble(**QUICK)
    out = model.fit_out_of_sample(corpus.X, corpus.Y)
    assert out.pattern.multiply(corpus.Y).nnz == corpus.Y.nnz
    assert 0 < (~out.proposed).sum() < corpus.Y.nnz
    for entry in (0, out.pattern.nnz // 2):
        np.testing.assert_allclose(sum(out.shares(entry).values()), out.log_odds[entry])
    assert not hasattr(model, "_out_of_sample")


def test_a_document_does_not_vouch_for_its_own_labels():
    # A label that one document alone has cannot be known without it.
    corpus = load_catalogue("train").vectorized()
    Y = sparse.csr_array(
        sparse.hstack([corpus.Y, sparse.csr_array((len(corpus), 1), dtype=np.int8)])
    )
    Y = Y.tolil()
    Y[5, -1] = 1
    Y = sparse.csr_array(Y)
    out = Ensemble(**QUICK).fit_out_of_sample(corpus.X, Y)
    assert out.probabilities[[5], [Y.shape[1] - 1]][0] < 0.02


def test_how_many_documents_have_a_label_does_not_give_it_away():
    # Labels that two documents have by chance: with one of the two left out, the other's label
    # has one document, and so has no wrong candidate.
    corpus = load_catalogue("train").vectorized()
    n, rng = len(corpus), np.random.default_rng(0)
    pairs = np.zeros((n, 60), np.int8)
    for label in range(60):
        pairs[rng.choice(n, 2, replace=False), label] = 1
    Y = sparse.csr_array(sparse.hstack([corpus.Y, pairs], "csr"))
    out = Ensemble(**QUICK).fit_out_of_sample(corpus.X, Y)
    is_rare = out.pattern.indices >= corpus.Y.shape[1]
    assert is_rare.any()
    assert out.probabilities.data[is_rare].mean() < 0.05


def test_many_documents_are_judged_in_rounds_and_combined_by_a_sample(monkeypatch):
    from manylabel import predictions
    from manylabel.ensemble import fitting, out_of_sample

    corpus = load_catalogue("train").vectorized()
    model = Ensemble(**QUICK)
    out = model.fit_out_of_sample(corpus.X, corpus.Y)
    errors, unlisted = pair_errors(out, corpus.Y), unlisted_errors(out, corpus.Y)
    documents = document_errors(out.pattern, errors)
    assert {out.log_odds.dtype, errors.dtype, out.probabilities.dtype} == {np.dtype(np.float32)}
    monkeypatch.setattr(out_of_sample, "_ROUND", 100)
    monkeypatch.setattr(predictions, "_ROWS", 70)
    again = replace(out)
    np.testing.assert_array_equal(again.log_odds, out.log_odds)
    np.testing.assert_array_equal(again.probabilities.data, out.probabilities.data)
    np.testing.assert_array_equal(pair_errors(again, corpus.Y), errors)
    np.testing.assert_array_equal(unlisted_errors(again, corpus.Y), unlisted)
    np.testing.assert_allclose(document_errors(out.pattern, errors), documents, rtol=1e-6)
    # Scorers are combined by a sample, and all documents are judged.
    assert model.held_out_[0].shape[0] == len(corpus)
    monkeypatch.setattr(fitting, "_MAX_JUDGED", 200)
    few = model.fit_out_of_sample(corpus.X, corpus.Y)
    assert model.held_out_[0].shape[0] == 200
    assert few.pattern.shape[0] == few.nearest.indices.shape[0] == len(corpus)
    assert np.corrcoef(few.log_odds, out.log_odds)[0, 1] > 0.95


def test_flipped_labels_come_first(noisy, report):
    _, wrong = noisy
    found = [(each.id, each.label) in wrong for each in report]
    chance = len(wrong) / (len(noisy[0]) * len(noisy[0].label_names))
    assert np.mean(found) > 15 * chance
    assert np.mean(found[:20]) >= np.mean(found)
    errors = [each.error for each in report]
    assert errors == sorted(errors, reverse=True)


def test_reasons_sum_to_the_log_odds_and_witnesses_are_told_apart(noisy, report):
    corpus, _ = noisy
    labels = dict(zip(corpus.ids, map(set, corpus.label_lists()), strict=True))
    for each in report:
        total = sum(each.reasons.values())
        np.testing.assert_allclose(1 / (1 + np.exp(-total)), each.probability)
        assert each.given == (each.label in labels[each.id])
        assert all(each.label in labels[other.id] for other in each.having)
        assert all(each.label not in labels[other.id] for other in each.lacking)
        assert each.id not in {other.id for other in (*each.having, *each.lacking)}


def test_a_report_can_be_written(report, tmp_path):
    report.write(tmp_path / "a.jsonl")
    lines = [json.loads(line) for line in (tmp_path / "a.jsonl").read_text().splitlines()]
    assert [(line["id"], line["label"]) for line in lines] == [(f.id, f.label) for f in report]
    assert set(lines[0]) >= {"id", "label", "given", "probability", "reasons"}
    assert set(lines[0]["titles"]) == set(lines[0]["reasons"])
    assert lines[0]["titles"]["prior"] == "how common the label is"
    assert lines[0]["titles"]["words"] == "words typical of it"
    report.write(tmp_path / "a.csv")
    assert (tmp_path / "a.csv").read_text().splitlines()[0].startswith("id,label,name,given,")
    assert "prior:" in (tmp_path / "a.csv").read_text().splitlines()[1]
    report.write(tmp_path / "a.html")
    page = (tmp_path / "a.html").read_text()
    assert "http" not in page
    assert "similar documents" in page
    assert "Looks" in repr(report)
    with pytest.raises(
        InputError, match=r"a report's name must end in .jsonl, .csv, .html; got '.pdf'"
    ):
        report.write(tmp_path / "a.pdf")


def test_the_same_documents_with_other_labels_are_found():
    corpus = load_catalogue("train")
    texts = [*corpus.texts, corpus.texts[7]]
    labels = [*corpus.label_lists(), ["Dogs"]]
    ids = [*corpus.ids, "copy"]
    found = Tagger(parameters=QUICK).audit(Corpus.from_texts(texts, labels, ids), top=5)
    assert found.duplicates[0]["ids"] == [corpus.ids[7], "copy"]
    assert found.duplicates[0]["only-second"] == ["Dogs"]


def test_labels_that_are_the_same_by_another_name_are_found():
    rng = np.random.default_rng(0)
    Y = np.zeros((400, 3), np.int8)
    Y[np.arange(400), rng.integers(0, 3, 400)] = 1
    # Nothing tells 0 and 1 apart; 2 is known for certain.
    P = np.where(Y[:, [2]] == 1, [0.02, 0.02, 0.95], [0.5, 0.5, 0.02])
    (pair,) = same_labels(sparse.csr_array(P), sparse.csr_array(Y), 5)
    assert (pair.first, pair.second) == (0, 1)
    assert pair.likeness > 0.95
    # A label that is as probable everywhere is not like any other.
    P = np.where(Y == 1, [0.5, 0.5, 0.95], [0.4, 0.4, 0.4])
    assert same_labels(sparse.csr_array(P), sparse.csr_array(Y), 5) == []
    # Nothing to compare, because nothing is learned.
    assert same_labels(sparse.csr_array(np.full(Y.shape, 0.01)), sparse.csr_array(Y), 5) == []
    P[:, 2] = 0.01
    assert [each.label for each in unlearned(sparse.csr_array(P), sparse.csr_array(Y), 5)] == [2]


def test_a_label_of_two_meanings_is_found():
    rng = np.random.default_rng(0)
    rows = rng.random((80, 40)) * 0.2
    rows[:30, :15] += 1
    rows[30:60, 20:] += 1
    rows[60:, 15:20] += 1
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    Y = np.zeros((80, 2), np.int8)
    Y[:60, 0] = 1
    Y[60:, 1] = 1
    (meaning,) = two_meanings(sparse.csr_array(rows), sparse.csr_array(Y), 5)
    assert meaning.label == 0
    groups = [{number < 30 for number in group} for group in meaning.examples]
    assert sorted(map(str, groups)) == ["{False}", "{True}"]


@given(
    values=st.lists(st.sampled_from([0.0, 0.1, 0.5, 1.0]), min_size=36, max_size=36),
    size=st.integers(4, 9),
)
def test_no_cut_along_the_eigenvector_is_better(values, size):
    similar = np.resize(values, (9, 9))[:size, :size]
    similar = np.triu(similar, 1) + np.triu(similar, 1).T
    groups, cut = split(similar)
    linked = [row for row in range(size) if similar[row].any()]
    if groups is None:
        assert len(linked) < 4
        return
    assert sorted(np.concatenate(groups).tolist()) == linked
    assert len(groups[0]) >= len(groups[1]) >= 2
    np.testing.assert_allclose(cut, naive.normalised_cut(similar.tolist(), *groups), atol=1e-9)
    # The best cut of all cannot be worse.
    assert cut >= naive.best_cut(similar.tolist(), linked) - 1e-9


def test_one_meaning_is_not_two():
    rng = np.random.default_rng(0)
    rows = rng.random((60, 40)) * (rng.random((60, 40)) < 0.3)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    Y = sparse.csr_array(np.ones((60, 1), np.int8))
    assert two_meanings(sparse.csr_array(rows), Y, 5) == []


def test_parameters_are_checked():
    corpus = load_catalogue("train").vectorized()
    with pytest.raises(ParameterError, match="`share` must lie between 0 and 1, both excluded"):
        audit(corpus.X, corpus.Y, share=1.0)


# Decisions


def test_decisions_change_labels_and_can_be_taken_back(tmp_path):
    corpus = load_catalogue("train")
    Tagger("lcif").fit(corpus).save(tmp_path / "model")
    tagger = Tagger.load(tmp_path / "model")
    first, second = corpus.ids[:2]
    before = [tagger.document(name).labels for name in (first, second)]
    decisions = [
        {"id": first, "label": before[0][0], "decision": "remove"},
        {"id": first, "label": "Rain", "decision": "add"},
        {"id": second, "label": before[1][0], "decision": "keep"},
    ]
    change, undo = tagger.fix(decisions)
    assert change.replaced == (first,)
    assert change.new_labels == ("Rain",)
    again = Tagger.load(tmp_path / "model")
    assert set(again.document(first).labels) == {*before[0][1:], "Rain"}
    again.fix(undo)
    assert set(tagger.document(first).labels) == set(before[0])
    assert tagger.fix([])[0].learned == ()
    # What a review of new documents exports has their texts.
    path = tmp_path / "new.jsonl"
    new = {"id": "new", "label": "Rain", "decision": "add", "text": "Rain in the mountains"}
    path.write_text(json.dumps(new) + "\n")
    assert tagger.fix(read_decisions(path))[0].learned == ("new",)
    assert tagger.document("new").text == "Rain in the mountains"
    # The line of a report does not: its text is a beginning.
    path.write_text(json.dumps(new | {"given": False}) + "\n")
    assert "text" not in read_decisions(path)[0]


def test_what_is_no_decision_is_refused(tmp_path):
    path = tmp_path / "d.jsonl"
    path.write_text('{"id": "1", "label": "x", "decision": "add"}\n{"id": "1"}\n')
    with pytest.raises(CorpusError, match=r"d.jsonl, line 2: expected {\"id\""):
        read_decisions(path)
    path.write_text('{"id": "1", "label": "x", "decision": "maybe"}\n')
    with pytest.raises(
        CorpusError, match="line 1: a decision must be one of add, remove, keep; got 'maybe'"
    ):
        read_decisions(path)
    tagger = Tagger("lcif").fit(["a cat"], [["cats"]], ids=["1"])
    with pytest.raises(InputError, match="no document has the id '2'"):
        tagger.fix([{"id": "2", "label": "x", "decision": "add"}])
    with pytest.raises(
        InputError, match="a decision must be one of add, remove, keep; got 'perhaps'"
    ):
        tagger.fix([{"id": "1", "label": "x", "decision": "perhaps"}])


def test_the_command_looks_and_fixes(tmp_path, capfd):
    from manylabel.cli.app import run

    corpus = load_catalogue("train")
    write(corpus, tmp_path / "c.jsonl")
    model = str(tmp_path / "model")
    Tagger(parameters=QUICK, random_state=0).fit(corpus).save(model)
    assert run(["audit", model, "-o", str(tmp_path / "r.jsonl"), "--top", "7", "-q"]) == 0
    suspects = [json.loads(line) for line in (tmp_path / "r.jsonl").read_text().splitlines()]
    assert len(suspects) == 7
    decisions = tmp_path / "d.jsonl"
    turned = {True: "remove", False: "add"}
    given = suspects[0]["given"]
    decisions.write_text(json.dumps({**suspects[0], "decision": turned[given]}) + "\n")
    undo = tmp_path / "u.jsonl"
    assert run(["audit", model, "--fix", str(decisions), "--undo", str(undo)]) == 0
    assert "1 replaced" in capfd.readouterr().err
    assert json.loads(undo.read_text())["decision"] == turned[not given]
    for arguments, message in [
        ([str(tmp_path / "c.jsonl"), "--fix", str(decisions)], "--fix needs a model folder"),
        ([model, "--undo", "x"], "--undo needs --fix."),
        ([model, "-o", "x.pdf"], "must end in .jsonl, .csv or .html."),
    ]:
        assert run(["audit", *arguments]) == 2
        assert message in capfd.readouterr().err


# What to label next


@given(
    rows=st.lists(
        st.lists(st.sampled_from([0.0, 1.0, 2.0, 5.0]), min_size=3, max_size=3),
        min_size=1,
        max_size=9,
    ),
    known=st.lists(st.sampled_from([0.0, 0.3, 1.0]), min_size=9, max_size=9),
    n=st.integers(1, 10),
)
def test_documents_that_represent_the_others_come_first(rows, known, n):
    X = np.array(rows)
    lengths = np.linalg.norm(X, axis=1)
    unit = X / np.where(lengths, lengths, 1)[:, None]
    expected = naive.choose_next((unit @ unit.T).tolist(), n, known[: len(rows)], 100)
    found = choose_next(sparse.csr_array(X), n, np.array(known[: len(rows)]))
    assert len(set(found.tolist())) == len(expected)
    # Rounding may swap documents that help alike; what they represent together is the same.
    worth = [represented(unit, choice, known[: len(rows)]) for choice in (expected, found)]
    np.testing.assert_allclose(*worth, atol=1e-5)


def represented(unit, chosen, known):
    """After each choice, how well all documents are represented."""
    similarity = unit @ unit.T
    np.fill_diagonal(similarity, 1.0)
    covered, sums = np.array(known), []
    for row in chosen:
        covered = np.maximum(covered, similarity[row])
        sums.append(covered.sum())
    return sums


@given(
    documents=st.lists(st.sets(st.integers(0, 4)), min_size=1, max_size=8),
    known=st.lists(st.integers(0, 3), min_size=5, max_size=5),
    n=st.integers(1, 9),
)
def test_documents_with_frequent_new_words_come_first(documents, known, n):
    rows = indicator(documents, 5)
    expected = naive.choose_by_words(documents, n, dict(enumerate(known)))
    found = choose_by_words(rows, n, np.array(known)).tolist()
    assert len(set(found)) == len(expected)
    # Rounding may swap documents of the same worth; the first is the first of these.
    assert found[0] == expected[0]
    assert choose_by_words(rows, n).tolist()[0] == naive.choose_by_words(documents, n, {})[0]


def test_unsure_documents_come_first_and_no_two_alike():
    rows = sparse.csr_array(np.array([[1.0, 0, 0], [0.99, 0.14, 0], [0, 1, 0], [0, 0, 1]]))
    worth = np.array([1.0, 0.99, 0.5, 0.6])
    assert most_uncertain(worth, rows, 3).tolist() == [0, 3, 2]
    # What is known already need not be asked.
    assert most_uncertain(worth, rows, 1, np.array([0.99, 0.99, 0.1, 0.9])).tolist() == [2]
    assert sorted(most_uncertain(worth, rows, 9).tolist()) == [0, 1, 2, 3]


def test_scores_that_are_no_probabilities_do_not_tell_how_sure_a_model_is():
    with pytest.raises(InputError, match="scores must be probabilities"):
        uncertainty(sparse.csr_array([[2.0]]))
    tagger = Tagger("lcif").fit(load_catalogue("train"))
    assert {found.id for found in tagger.next(["ships", "ships", "bees"], n=2)} == {"0", "2"}
    with pytest.raises(InputError, match="lcif gives no probabilities to be unsure of: choose by"):
        tagger.next(["ships"], by="uncertainty")
    expected = "`by` must be auto, coverage, words, uncertainty; got 'luck'"
    with pytest.raises(ParameterError, match=expected):
        tagger.next(["ships"], by="luck")


def test_titles_are_chosen_by_words_and_longer_texts_by_coverage():
    tagger = Tagger(parameters={"scorers": ["neighbours", "words"]}).fit(load_catalogue("train"))
    texts = load_catalogue("test").texts[:60]
    titles = [" ".join(text.split()[:6]) for text in texts]
    for pool, expected, other in ((texts, "coverage", "words"), (titles, "words", "coverage")):
        by_itself, asked, unlike = (
            [each.id for each in tagger.next(pool, n=5, by=by)] for by in ("auto", expected, other)
        )
        assert by_itself == asked != unlike


def test_the_command_chooses_documents(tmp_path, capfd):
    from manylabel.cli.app import run

    model, pool = str(tmp_path / "model"), str(tmp_path / "pool.jsonl")
    Tagger(parameters=QUICK, random_state=0).fit(load_catalogue("train")).save(model)
    test = load_catalogue("test")
    write(test, pool)
    assert run(["next", model, pool, "-n", "4", "-q"]) == 0
    found = [json.loads(line) for line in capfd.readouterr().out.splitlines()]
    assert len({each["id"] for each in found}) == 4
    assert all(each["text"] == test.texts[test.ids.index(each["id"])] for each in found)
    assert [each["label"] for each in found[0]["labels"]]
    assert run(["next", model, pool, "-n", "4", "-q", "--by", "uncertainty"]) == 0
    unsure = [json.loads(line)["id"] for line in capfd.readouterr().out.splitlines()]
    assert len(unsure) == 4
    assert unsure != [each["id"] for each in found]
    assert run(["next", model, pool, "-n", "4", "-q", "--by", "words"]) == 0
    assert len(capfd.readouterr().out.splitlines()) == 4
    assert run(["next", model, pool, "--by", "luck"]) == 2
    assert "--by must be auto, coverage, words, uncertainty; got 'luck'" in capfd.readouterr().err
