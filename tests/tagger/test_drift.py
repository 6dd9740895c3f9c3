"""What a model promised for documents that it learned later, and what people accepted."""

import shutil

import numpy as np
import pytest
from scipy import sparse

from manylabel import Tagger
from manylabel.cli.app import run
from manylabel.corpus import load_catalogue
from manylabel.exceptions import InputError
from manylabel.tagger.documents import widened
from manylabel.tagger.drift import drift_of

TRAIN, TEST = load_catalogue("train"), load_catalogue("test")
LABELS = list(TEST.label_lists())


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """The folder of a model, trained once."""
    folder = tmp_path_factory.mktemp("trained") / "model"
    Tagger(parameters={"scorers": ["neighbours", "words"]}).fit(TRAIN).save(folder)
    return folder


@pytest.fixture
def new_tagger(trained, tmp_path):
    """Taggers that a test may change: copies of the one that was trained."""
    return lambda name="model": Tagger.load(shutil.copytree(trained, tmp_path / name))


def test_nothing_drifts_before_anything_is_learned(new_tagger):
    found = new_tagger().drift()
    assert found.n_documents == 0
    assert not found.should_retrain
    assert found.advice == "No documents learned since the training."


def test_learned_documents_are_scored_as_if_they_had_not_been_learned(new_tagger):
    with_all, without_one = new_tagger("all"), new_tagger("one less")
    with_all.learn(TEST.texts[:5], LABELS[:5])
    without_one.learn(TEST.texts[1:5], LABELS[1:5])
    with with_all._reading() as state:
        document = state.read([TEST.texts[0]])[0]
        found = state.model.scores_left_out(document, state.learned_since()[:1])
    with without_one._reading() as state:
        expected = state.scores(state.read([TEST.texts[0]])[0])
    width = max(found.shape[1], expected.shape[1])
    np.testing.assert_allclose(
        widened(found, width).toarray(), widened(expected, width).toarray(), atol=1e-6
    )


def test_a_change_that_was_undone_does_not_count(new_tagger):
    tagger = new_tagger()
    name = load_catalogue("train").ids[0]
    label = tagger.document(name).labels[0]
    _, undo = tagger.fix([{"id": name, "label": label, "decision": "remove"}])
    assert tagger.n_learned == tagger.drift().n_documents == 1
    tagger.fix(undo)
    assert tagger.n_learned == tagger.drift().n_documents == 0


def test_changed_training_documents_are_not_compared(tmp_path):
    # The linear models have seen them, with their old labels.
    parameters = {"scorers": ["neighbours", "linear"], "n_candidates": 30}
    tagger = Tagger(parameters=parameters).fit(TRAIN)
    tagger.save(tmp_path / "model")
    names = TRAIN.ids[:3]
    rain = {"label": "Rain", "decision": "add"}
    tagger.fix([{"id": name, **rain} for name in names])
    found = tagger.drift()
    assert (found.n_documents, found.n_changed) == (0, 3)
    assert found.advice == (
        "Cannot say whether to train again: only 3 training documents changed, which the model "
        "has seen, and nothing new was learned."
    )
    tagger.learn(TEST.texts[:2], LABELS[:2])
    # What was changed is still known after a compaction, and after another change.
    tagger.compact()
    tagger.fix([{"id": names[0], "label": "Snow", "decision": "add"}])
    tagger.forget(names[1])
    tagger = Tagger.load(tmp_path / "model")
    assert (tagger.drift().n_documents, tagger.drift().n_changed) == (2, 2)
    tagger.fix([{"id": name, **rain} for name in TRAIN.ids[5:105]])
    assert tagger.drift().advice == (
        "Train again: 2 new documents and 102 changed documents since training on 386."
    )


def test_wrong_labels_are_seen(new_tagger):
    tagger = new_tagger()
    labels = LABELS[:60]
    tagger.learn(TEST.texts[:60], labels)
    assert not tagger.drift().is_significant
    shuffled = [labels[(position + 17) % 60] for position in range(60)]
    tagger = new_tagger("wrong")
    tagger.learn(TEST.texts[:60], shuffled)
    found = tagger.drift()
    assert found.is_significant
    assert found.accepted < found.promised
    assert found.advice == "Train again: people accept less than the model promises."


def test_calibrated_probabilities_do_not_drift():
    rng = np.random.default_rng(3)
    chances = rng.random((400, 5))
    truth = sparse.csr_array((rng.random((400, 5)) < chances).astype(np.int8))
    assert not drift_of(sparse.csr_array(chances), truth, 4000).is_significant
    too_low = sparse.csr_array(chances * 0.8)
    assert drift_of(too_low, truth, 4000).is_significant


def test_two_documents_that_differ_alike_prove_nothing():
    found = drift_of(sparse.csr_array([[0.97], [0.98]]), sparse.csr_array([[1], [1]]), 500)
    # Labels that follow these probabilities vary by 0.22; the two documents by 0.007.
    assert found.z == pytest.approx(0.05 / np.sqrt(0.97 * 0.03 + 0.98 * 0.02))
    assert not found.should_retrain


def test_it_survives_saving_compacting_and_retraining(new_tagger, tmp_path):
    tagger = new_tagger()
    tagger.learn(TEST.texts[:10], LABELS[:10])
    tagger.forget(TRAIN.ids[0])
    before = tagger.drift()
    tagger.compact()
    after = Tagger.load(tmp_path / "model").drift()
    assert (after.n_documents, after.n_trained) == (10, len(TRAIN) - 1)
    assert after.promised == pytest.approx(before.promised, abs=1e-6)
    tagger.compact(retrain=True)
    assert tagger.drift().n_documents == 0


def test_other_models_are_refused():
    tagger = Tagger("lcif").fit(TRAIN)
    tagger.learn(TEST.texts[:2], LABELS[:2])
    with pytest.raises(InputError, match="not probabilities"):
        tagger.drift()


def test_the_shell_says_when_to_train_again(new_tagger, tmp_path, capfd):
    tagger = new_tagger()
    labels = LABELS[:60]
    tagger.learn(TEST.texts[:60], [labels[(position + 17) % 60] for position in range(60)])
    assert run(["stats", str(tmp_path / "model"), "--table"]) == 0
    shown = capfd.readouterr().out
    assert "Train again: people accept less" in shown
    assert "--retrain" in shown
    assert run(["stats", str(tmp_path / "model"), "--json"]) == 0
    assert '"retrain": true' in capfd.readouterr().out
    assert run(["stats", str(tmp_path / "model"), "--plot", "x.svg"]) != 0
    assert "--plot is for a corpus" in capfd.readouterr().err


def test_the_shell_shows_the_size_of_models_without_probabilities(tmp_path, capfd):
    tagger = Tagger("lcif").fit(TRAIN)
    tagger.save(tmp_path / "model")
    tagger.learn(TEST.texts[:2], LABELS[:2])
    assert run(["stats", str(tmp_path / "model"), "--table"]) == 0
    shown = " ".join(capfd.readouterr().out.split())
    assert "learned-since-training 2" in shown
    assert "promised" not in shown
    assert "Cannot say whether to train again: the scores of lcif are not probabilities" in shown
    assert run(["stats", str(tmp_path / "model"), "--json"]) == 0
    assert '"learned-since-training": 2, "promised": null' in capfd.readouterr().out


def test_the_shell_does_not_compare_incomplete_documents(new_tagger, tmp_path, capfd):
    new_tagger().learn(TEST.texts[:2], LABELS[:2], incomplete=True)
    assert run(["stats", str(tmp_path / "model"), "--table"]) == 0
    shown = " ".join(capfd.readouterr().out.split())
    assert "learned-since-training 2" in shown
    assert "Cannot say whether to train again: all documents learned are incomplete." in shown
