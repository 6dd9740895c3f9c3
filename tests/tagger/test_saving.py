"""Taggers in folders, with a journal of what they learn."""

from __future__ import annotations

import os
import shutil
import sqlite3
import threading

import pytest
from tagger.tagger_problems import texts_and_labels

import manylabel
from manylabel import LCIF, Corpus, Tagger
from manylabel.exceptions import InputError, StoreError
from manylabel.store import leftovers, read_manifest
from manylabel.store.journal import Journal, Writer
from manylabel.store.locks import exclusive

QUERY = "a cat with a feather in the river"
TEXTS, LABELS = texts_and_labels(40)


def fitted(model: str = "lcif", **parameters) -> Tagger:
    return Tagger(model, parameters=parameters).fit(TEXTS, LABELS, label_info={"cats": "Cats"})


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "model"
    fitted(k=5).save(path)
    return path


def state(tagger: Tagger) -> tuple:
    found = tagger.suggest(QUERY, top=None)
    ids = [f"n{number}" for number in range(9)]
    known = {name for name in ids if tagger._state.documents.find(name) is not None}
    return found.to_list(), known, tagger.n_documents, tagger.labels


def entries(folder) -> int:
    with Journal(folder) as journal:
        return len(journal.read().entries)


@pytest.mark.parametrize("model", ["ensemble", "lcif", "flat-lda", "svm", "br-knn"])
def test_a_loaded_tagger_is_the_same(model, tmp_path):
    tagger = fitted(model)
    tagger.save(tmp_path / "model")
    same = Tagger.load(tmp_path / "model")
    assert state(same) == state(tagger)
    assert same.label_info("cats").name == "Cats"
    assert same.describe_label("cats") == tagger.describe_label("cats")
    assert same.document("3") == tagger.document("3")
    assert same.model_name == model
    assert same.path == tmp_path / "model"
    if tagger._state.model.can_explain:
        assert same.explain(QUERY) == tagger.explain(QUERY)


def test_the_manifest_tells_what_is_in_the_folder(folder):
    info = read_manifest(folder)["info"]
    assert (info["model"], info["documents"], info["labels"]) == ("lcif", 40, 4)


def test_changes_are_there_after_loading(folder):
    tagger = Tagger.load(folder)
    tagger.learn(["a zebra and a cat"], [["zebras"]], ["n1"])
    tagger.learn(["a bird", "a dog"], [["birds"], ["dogs"]], ["n2", "n3"])
    tagger.forget(["n2", "7"])
    assert entries(folder) == 5
    assert state(Tagger.load(folder)) == state(tagger)


def test_a_tagger_that_was_saved_keeps_what_it_learns(tmp_path):
    tagger = fitted(k=5)
    assert tagger.path is None
    tagger.learn(["a bird"], [["birds"]], ["n0"])
    tagger.save(tmp_path / "model")
    tagger.learn(["a bird"], [["birds"]], ["n1"])
    assert state(Tagger.load(tmp_path / "model"))[1] == {"n0", "n1"}
    tagger.fit(TEXTS, LABELS)
    assert tagger.path is None
    tagger.learn(["a bird"], [["birds"]], ["n2"])
    assert state(Tagger.load(tmp_path / "model"))[1] == {"n0", "n1"}


def test_others_know_it_at_their_next_call(folder):
    one, other = Tagger.load(folder), Tagger.load(folder)
    one.learn(["a zebra by the river"], [["zebras"]], ["n1"])
    assert other.suggest("river", include=["zebras"]).labels == ["zebras"]
    other.learn(["an owl by the river"], [["owls"]], ["n2"])
    assert "owls" in one.labels
    assert one.document("n2").labels == ["owls"]
    one.forget("n2")
    assert other.n_documents == 41
    assert state(one) == state(other) == state(Tagger.load(folder))


def test_free_ids_are_free_in_all_processes(folder):
    one, other = Tagger.load(folder), Tagger.load(folder)
    assert one.learn(["a cat"], [["cats"]]).learned == ("40",)
    assert other.learn(["a dog"], [["dogs"]]).learned == ("41",)


def test_compacting_empties_the_journal_and_equals_retraining(folder):
    one, other = Tagger.load(folder), Tagger.load(folder)
    one.learn(["a kitten by the river"], [["zebras"]], ["n1"])
    one.forget("3")
    other.compact()
    assert entries(folder) == 0
    assert state(one) == state(other) == state(Tagger.load(folder))
    vocabulary = one._state.vectorizer
    kept = [row for row in range(40) if row != 3]
    fresh = Tagger("lcif", parameters={"k": 5}, vectorizer=vocabulary).fit(
        [*(TEXTS[row] for row in kept), "a kitten by the river"],
        [*(LABELS[row] for row in kept), ["zebras"]],
    )
    fresh_scores = {found.label: found.score for found in fresh.suggest(QUERY, top=None)}
    scores = {found.label: found.score for found in one.suggest(QUERY, top=None)}
    assert scores == pytest.approx(fresh_scores)
    one.learn(["a bird"], [["birds"]], ["n2"])
    assert state(Tagger.load(folder))[1] == {"n1", "n2"}


def test_other_processes_see_a_retrained_model(folder):
    one, other = Tagger.load(folder), Tagger.load(folder)
    one.learn(["a zebra by the river"], [["zebras"]], ["n1"])
    other.compact(retrain=True)
    assert one.suggest("zebra", top=1).labels == ["zebras"]
    one.learn(["an owl by the river"], [["owls"]], ["n2"])
    assert state(one) == state(other) == state(Tagger.load(folder))


def test_saving_again_folds_the_journal(folder):
    tagger = Tagger.load(folder)
    tagger.learn(["a zebra by the river"], [["zebras"]], ["n1"])
    before = state(tagger)
    tagger.save(folder)
    assert entries(folder) == 0
    assert state(tagger) == before == state(Tagger.load(folder))


@pytest.mark.parametrize("step", ["begin", "fold"])
def test_a_crash_between_the_model_and_the_journal_is_harmless(folder, step, monkeypatch):
    tagger, other = Tagger.load(folder), Tagger.load(folder)
    tagger.learn(["a zebra by the river"], [["zebras"]], ["n1"])
    tagger.forget("3")

    def crash(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Writer, step, crash)
        with pytest.raises(KeyboardInterrupt):
            tagger.compact() if step == "fold" else fitted(k=2).save(folder)
    after = Tagger.load(folder)
    assert entries(folder) == 2
    assert state(after)[1] == ({"n1"} if step == "fold" else set())
    other.learn(["an owl by the river"], [["owls"]], ["n2"])
    assert state(other) == state(Tagger.load(folder))
    assert state(other)[1] == ({"n1", "n2"} if step == "fold" else {"n2"})


def test_a_model_may_take_the_place_of_another(folder):
    old = Tagger.load(folder)
    old.learn(["a zebra by the river"], [["zebras"]], ["n1"])
    new = Tagger("instance-knn", parameters={"k": 3}).fit(TEXTS[:20], LABELS[:20])
    new.save(folder)
    assert state(Tagger.load(folder)) == state(new)
    assert state(new)[1] == set()
    assert state(old) == state(new)
    assert old.model_name == "instance-knn"
    old.learn(["an owl by the river"], [["owls"]], ["n2"])
    assert state(new)[1] == {"n2"}


def test_a_copy_elsewhere_has_a_journal_of_its_own(folder, tmp_path):
    tagger = Tagger.load(folder)
    tagger.learn(["a zebra"], [["zebras"]], ["n1"])
    tagger.save(tmp_path / "copy")
    tagger.learn(["an owl"], [["owls"]], ["n2"])
    shutil.copytree(tmp_path / "copy", tmp_path / "second")
    Tagger.load(tmp_path / "second").learn(["a bird"], [["birds"]], ["n3"])
    assert state(Tagger.load(folder))[1] == {"n1"}
    assert state(Tagger.load(tmp_path / "copy"))[1] == {"n1", "n2"}
    assert state(Tagger.load(tmp_path / "second"))[1] == {"n1", "n2", "n3"}


def test_the_plain_functions_save_and_load_taggers_too(folder, tmp_path):
    tagger = manylabel.load(folder)
    tagger.learn(["a zebra"], [["zebras"]], ["n1"])
    manylabel.save(tagger, tmp_path / "copy")
    copy = manylabel.load(tmp_path / "copy")
    copy.learn(["an owl"], [["owls"]], ["n2"])
    assert state(manylabel.load(tmp_path / "copy"))[1] == {"n1", "n2"}
    manylabel.save(tagger, folder)
    assert state(manylabel.load(folder))[1] == {"n1"}
    unfitted = tmp_path / "unfitted"
    manylabel.save(Tagger("svm", language="fi"), unfitted)
    assert repr(Tagger.load(unfitted)) == "<Tagger: svm, not fitted>"


def test_features_are_learned_durably(tmp_path):
    corpus = Corpus([[2, 0, 1], [0, 3, 0], [1, 1, 0]], [[1, 0], [0, 1], [1, 1]])
    tagger = Tagger("lcif", parameters={"k": 2}).fit(corpus)
    tagger.save(tmp_path / "model")
    tagger.learn(Corpus([[0, 1, 4], [0, 0, 0]], [[1, 0], [0, 0]], ids=["a", "b"]))
    same = Tagger.load(tmp_path / "model")
    assert same.suggest(corpus) == tagger.suggest(corpus)


def test_what_is_shown_is_not_for_the_folder(tmp_path, capsys):
    Tagger("lcif", verbose=1).fit(TEXTS, LABELS).save(tmp_path / "model")
    capsys.readouterr()
    tagger = Tagger.load(tmp_path / "model")
    assert tagger.verbose == 0
    assert tagger.suggest(QUERY)
    assert capsys.readouterr() == ("", "")
    model = LCIF(verbose=1).fit([[1, 0], [0, 1]], [[1, 0], [0, 1]])
    manylabel.save(model, tmp_path / "estimator")
    assert manylabel.load(tmp_path / "estimator").verbose == LCIF().verbose


def test_an_ensemble_is_compacted_with_its_documents(tmp_path):
    tagger = fitted("ensemble")
    tagger.save(tmp_path / "model")
    tagger.learn(["a kitten in the river"], [["zebras"]], ["n1"])
    tagger.forget(["3", "7"])
    before = state(tagger)
    tagger.compact()
    assert entries(tmp_path / "model") == 0
    same = Tagger.load(tmp_path / "model")
    assert state(same) == state(tagger)
    assert state(same)[1:] == before[1:]
    assert [found["label"] for found in state(same)[0]] == [found["label"] for found in before[0]]
    assert same.explain("kitten in the river", label="zebras")[0].neighbours[0].id == "n1"
    same.forget("n1")
    assert same.suggest(QUERY)
    assert same._state.model.source_.index.n_rows == 39


def test_threads_can_be_chosen_when_loading(folder):
    tagger = Tagger.load(folder, n_jobs=2)
    assert tagger.n_jobs == 2
    assert tagger._state.model.n_jobs == 2


def test_another_writer_is_waited_for_then_named(folder, monkeypatch):
    monkeypatch.setattr("manylabel.store.journal.PATIENCE", 0.05)
    tagger, other = Tagger.load(folder), Tagger.load(folder)
    tagger.learn(["a cat"], [["cats"]], ["n1"])
    with Journal(folder).writing(), pytest.raises(StoreError) as error:
        tagger.learn(["a cat"], [["cats"]], ["n2"])
    assert "another process is writing to this model" in str(error.value)
    assert str(folder) in str(error.value)
    assert state(tagger)[1] == state(other)[1] == {"n1"}
    tagger.learn(["a cat"], [["cats"]], ["n2"])
    assert state(other)[1] == {"n1", "n2"}


def test_nothing_is_learned_if_it_cannot_be_written(folder, monkeypatch):
    tagger = Tagger.load(folder)

    def full(*_: object) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(Writer, "commit", full)
    with pytest.raises(StoreError, match=r"disk is full.*free some space"):
        tagger.learn(["a cat"], [["cats"]], ["n1"])
    monkeypatch.undo()
    assert state(tagger)[1] == set()
    assert tagger.learn(["a cat"], [["cats"]], ["n1"]).replaced == ()


def test_forgotten_texts_leave_the_disk_with_compacting(folder):
    tagger = Tagger.load(folder)
    tagger.learn(["cat quetzalcoatlus"], [["cats"]], ["n1"])
    tagger.forget("n1")
    tagger.compact()
    tagger._folder.journal.close()
    for path in folder.rglob("*"):
        assert path.is_dir() or b"quetzalcoatlus" not in path.read_bytes()


def test_a_folder_that_goes_away(folder):
    tagger = Tagger.load(folder)
    tagger.learn(["a cat"], [["cats"]], ["n1"])
    before = state(tagger)
    shutil.rmtree(folder)
    assert state(tagger) == before
    with pytest.raises(StoreError):
        tagger.learn(["a cat"], [["cats"]], ["n2"])


def test_folders_that_hold_no_tagger(tmp_path, folder):
    manylabel.save(LCIF().fit([[1, 0], [0, 1]], [[1, 0], [0, 1]]), tmp_path / "other")
    with pytest.raises(StoreError, match="contains LCIF, not a tagger"):
        Tagger.load(tmp_path / "other")
    with pytest.raises(StoreError, match="no such folder"):
        Tagger.load(tmp_path / "nowhere")
    with pytest.raises(InputError, match="not fitted"):
        Tagger().save(tmp_path / "empty")
    tagger = Tagger.load(folder)
    tagger.learn(["a cat"], [["cats"]], ["n1"])
    (folder / "journal.sqlite").write_bytes(b"something else, which is long enough" * 100)
    for rest in ("journal.sqlite-wal", "journal.sqlite-shm"):
        (folder / rest).unlink(missing_ok=True)
    with pytest.raises(StoreError, match="the journal cannot be read"):
        Tagger.load(folder)


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is forbidden to root")
def test_a_folder_that_may_only_be_read(folder):
    Tagger.load(folder).learn(["a cat"], [["cats"]], ["n1"])
    folder.chmod(0o555)
    tagger = Tagger.load(folder)
    assert state(tagger)[1] == {"n1"}
    with pytest.raises(StoreError, match="get write permission"):
        tagger.learn(["a cat"], [["cats"]], ["n2"])


def test_what_a_killed_writer_left_goes_with_the_next_write(folder):
    left = [folder / "data-0123456789abcdef", folder / "model.json.0123456789abcdef.tmp"]
    left[0].mkdir()
    (left[0] / "0.npy").write_bytes(b"half")
    left[1].touch()
    (folder / "journal-beef.mark").touch()
    (folder / "notes.txt").touch()
    names = ["data-0123456789abcdef", "journal-beef.mark", "model.json.0123456789abcdef.tmp"]
    assert leftovers(folder) == names
    tagger = Tagger.load(folder)
    assert leftovers(folder) == names, "those who read remove nothing"
    with exclusive(folder):
        tagger.learn(["a bird"], [["birds"]], ["n0"])
    assert leftovers(folder) == names, "another process may be writing them"
    Tagger.load(folder).learn(["a bird"], [["birds"]], ["n1"])
    assert leftovers(folder) == []
    assert (folder / "notes.txt").exists()
    assert Tagger.load(folder).n_documents == 42


@pytest.mark.parametrize("change", ["learn", "compact", "save"])
def test_a_change_that_waits_while_the_tagger_moves_goes_with_it(folder, tmp_path, change):
    tagger = Tagger.load(folder)
    old, new = tagger._folder.journal, tmp_path / "new"
    calls = {
        "learn": lambda: tagger.learn(["a bird"], [["birds"]], ["n1"]),
        "compact": tagger.compact,
        "save": lambda: tagger.save(folder),
    }
    begun = threading.Event()
    wait = old.writing

    def noted():
        begun.set()
        return wait()

    with old.writing():
        old.writing = noted
        waiting = threading.Thread(target=calls[change])
        waiting.start()
        assert begun.wait(60)
        tagger.save(new)
    waiting.join()
    assert tagger.path == (folder if change == "save" else new)
    assert state(Tagger.load(tagger.path)) == state(tagger)
    assert ("n1" in state(tagger)[1]) == (change == "learn")


def test_a_tagger_does_not_change_while_it_is_written(folder, tmp_path, monkeypatch):
    tagger, others = Tagger.load(folder), []
    mark = tagger._store_mark

    def later():
        others.append(threading.Thread(target=tagger.learn, args=(["a bird"], [["birds"]], ["n1"])))
        others[0].start()
        others[0].join(0.2)
        return mark()

    monkeypatch.setattr(tagger, "_store_mark", later)
    manylabel.save(tagger, tmp_path / "copy")
    others[0].join()
    assert Tagger.load(tmp_path / "copy").n_documents == 40
    assert Tagger.load(folder).n_documents == 41
