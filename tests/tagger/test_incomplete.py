"""Documents of which only some labels are known: the rest is left open, now and after training."""

import numpy as np
import pytest
from naive import incomplete as naive
from typer.testing import CliRunner

from manylabel import Tagger
from manylabel.cli.app import make_app
from manylabel.corpus import load_catalogue
from manylabel.exceptions import InputError
from manylabel.vocabulary.clues import find_labels

QUICK = {"scorers": ["neighbours", "nearest", "words", "linear", "topics"]}


@pytest.fixture(scope="module")
def catalogue():
    train = load_catalogue("train")
    return train.texts, list(train.label_lists())


@pytest.fixture(scope="module")
def flags(catalogue):
    return (np.random.default_rng(0).random(len(catalogue[0])) < 0.2).tolist()


@pytest.fixture(scope="module")
def ensemble(catalogue, flags):
    """Trained on complete and incomplete documents."""
    return Tagger(parameters=QUICK).fit(*catalogue, incomplete=flags)


def test_what_is_open_survives_saving_loading_and_compacting(catalogue, tmp_path):
    texts, labels = catalogue
    tagger = Tagger("lcif").fit(texts[:100], labels[:100])
    tagger.save(tmp_path / "model")
    tagger.learn(texts[100:102], labels[100:102], ids=["x", "y"], incomplete=[True, False])
    question = texts[103]
    expected = tagger.suggest(question, top=None).to_list()
    same = Tagger.load(tmp_path / "model")
    assert same.document("x").incomplete
    assert not same.document("y").incomplete
    assert same.suggest(question, top=None).to_list() == expected
    same.forget("y")
    same.compact()
    again = Tagger.load(tmp_path / "model")
    assert again.document("x").incomplete
    again.compact(retrain=True)
    assert again.document("x").incomplete
    assert again._latest().model.incomplete_.tolist() == [False] * 100 + [True]


def test_learning_is_as_if_the_open_document_had_been_there(catalogue):
    texts, labels = catalogue
    plain = {"weighting": None, "k": 50, "alpha": 2.0, "beta": 1.0, "lam": 0.8}
    flags = [True, False, True]
    whole = Tagger("lcif", parameters=plain).fit(
        texts[:103], labels[:103], incomplete=[False] * 100 + flags
    )
    # The same words, so that nothing but the documents differs.
    part = Tagger("lcif", parameters=plain).fit(texts[:103], labels[:103])
    part.forget([str(number) for number in range(100, 103)])
    part.learn(texts[100:103], labels[100:103], incomplete=flags)
    for text in texts[103:110]:
        found = dict(zip(*_scored(part, text), strict=True))
        assert found == pytest.approx(dict(zip(*_scored(whole, text), strict=True)), abs=1e-9)


def _scored(tagger, text):
    found = tagger.suggest(text, top=None)
    return found.labels, [score for _, score, _ in found]


def test_missing_labels_of_an_open_document_are_no_evidence_against_them(catalogue):
    texts, labels = catalogue
    tagger = Tagger("instance-knn", parameters={"k": 5}).fit(texts[:200], labels[:200])
    text = texts[7]
    before = dict(zip(*_scored(tagger, text), strict=True))
    other = next(label for label in labels[8] if label not in labels[7])
    tagger.learn([text], [[other]], ids=["open"], incomplete=True)
    opened = dict(zip(*_scored(tagger, text), strict=True))
    tagger.learn([text], [[other]], ids=["open"])
    closed = dict(zip(*_scored(tagger, text), strict=True))
    mine = labels[7][0]
    assert closed[mine] < opened[mine]
    assert opened[mine] > 0.9 * before[mine]


def test_an_ensemble_is_judged_by_complete_documents(ensemble, flags):
    model = ensemble._latest().model
    assert model.source_.incomplete.tolist() == flags
    assert model.held_out_[1].shape[0] == flags.count(False)
    # Topics have seen no incomplete document: they count complete ones only.
    assert model.report_.n_documents == flags.count(False)


def test_reasons_of_an_ensemble_still_add_up(ensemble, catalogue):
    for text in catalogue[0][:5]:
        for why in ensemble.explain(text, top=3):
            assert sum(part.share for part in why.parts) == pytest.approx(why.score, abs=1e-6)


def test_an_ensemble_changes_exactly(ensemble, catalogue, flags):
    texts, _ = catalogue
    model = ensemble._latest().model
    source = model.source_
    rows, Y = source.index.rows(np.arange(len(texts))).toarray(), source.Y.toarray()
    number = flags.index(True)
    query = rows[number + 1]
    if source.features is not None:
        expected = naive.word_votes(query[query > 0], rows[:, query > 0], Y[:, :8], flags)
        plain = source.features.plain
        found = np.zeros(8)
        for word in np.flatnonzero(query):
            span = slice(plain.ptr[word], plain.ptr[word + 1])
            for label, value in zip(plain.indices[span], plain.data[span], strict=True):
                if label < 8:
                    found[label] += query[word] * value / query.sum()
        assert found == pytest.approx(expected, abs=1e-5)
    text = texts[number + 1]
    before = ensemble.suggest(text, top=None).to_list()
    ensemble.learn(["A ship at sea"], [["Ships"]], ids=["new"], incomplete=True)
    ensemble.suggest(text)
    ensemble.forget("new")
    after = ensemble.suggest(text, top=None).to_list()
    assert [one["label"] for one in after] == [one["label"] for one in before]
    expected = pytest.approx([one["score"] for one in before], rel=1e-4)  # sums are single
    assert [one["score"] for one in after] == expected


def test_an_audit_judges_only_the_given_labels_of_open_documents(ensemble, flags):
    # Audit the tagger's own documents.
    found = ensemble.audit(top=2000)
    opened = {str(number) for number, flag in enumerate(flags) if flag}
    assert any(one.id in opened for one in found)
    assert all(one.given for one in found if one.id in opened)


def test_names_count_only_where_the_truth_is_known(tmp_path):
    file = tmp_path / "names.tsv"
    file.write_text("cats\tcat\ndogs\tdog\nsea\tsea\n")
    tagger = Tagger(vocabulary=file).fit()
    texts = ["A cat and a dog", "A dog at sea", "The sea and a cat"]
    labels = [["cats"], ["dogs"], ["sea"]]
    tagger.learn(texts, labels, incomplete=[True, False, True])
    tagger.suggest("A cat")
    state = tagger._latest()
    scorer = state.model.scorer_
    pattern = find_labels(state.model.vocabulary, texts).pattern.tocoo()
    found = list(zip(*(position.tolist() for position in pattern.coords), strict=True))
    Y = state.documents.label_matrix(state.n_labels).toarray()
    matched, hits = naive.name_counts(found, Y, [True, False, True])
    assert scorer.counts.named.tolist() == matched
    assert scorer.counts.named_true.tolist() == hits


def test_drift_leaves_out_what_was_left_open(ensemble):
    test = load_catalogue("test")
    texts, labels = test.texts[:20], list(test.label_lists())[:20]
    ids = [f"late{number}" for number in range(20)]
    ensemble.learn(texts, labels, ids, incomplete=[number < 15 for number in range(20)])
    assert ensemble.drift().n_documents == 5
    ensemble.forget(ids)


def test_models_that_cannot_leave_labels_open_refuse(catalogue):
    texts, labels = catalogue
    tagger = Tagger("flat-lda", parameters={"train_samples": 1}).fit(texts[:50], labels[:50])
    with pytest.raises(
        InputError, match="flat-lda cannot learn incomplete documents: it would count"
    ):
        tagger.learn(texts[:1], labels[:1], incomplete=True)
    with pytest.raises(InputError, match="`incomplete` must be True or False, or an array of them"):
        tagger.learn(texts[:1], labels[:1], incomplete=[True, True])


def test_the_command_line_leaves_the_rest_open(catalogue, tmp_path):
    texts, labels = catalogue
    Tagger("lcif").fit(texts[:50], labels[:50]).save(tmp_path / "model")
    arguments = ["learn", str(tmp_path / "model"), "--text", "A cat", "--label", "cats"]
    answer = CliRunner().invoke(make_app(), [*arguments, "--id", "x", "--incomplete", "--quiet"])
    assert answer.exit_code == 0, answer.output
    assert Tagger.load(tmp_path / "model").document("x").incomplete
