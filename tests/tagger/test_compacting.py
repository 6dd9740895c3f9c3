"""Compacting works on a copy: meanwhile others ask, learn, forget and edit."""

from __future__ import annotations

import threading
from contextlib import contextmanager

import pytest
from tagger.tagger_problems import texts_and_labels

from manylabel import Tagger
from manylabel.exceptions import JournalError, StoreError
from manylabel.store import FolderWriter, leftovers
from manylabel.store.journal import Journal

QUERY = "a cat with a feather in the river"
TEXTS, LABELS = texts_and_labels(40)
STEPS = {"compact": "_compacted", "retrain": "_retrained"}


def fitted(model: str, folder) -> Tagger:
    tagger = Tagger(model).fit(TEXTS, LABELS)
    tagger.save(folder)
    tagger.learn(["a zebra by the river", "an owl"], [["zebras"], ["owls"]], ["n1", "n2"])
    tagger.forget(["n2", "3"])
    return tagger


def change(tagger: Tagger) -> None:
    tagger.learn(["a lynx by the river", "a cat"], [["lynxes"], ["cats"]], ["m1", "m2"])
    tagger.forget(["m2", "5"])
    tagger.edit_labels("merge", ["fish"], to="fishes")
    tagger.edit_labels("rename", "zebras", to="stripes")
    tagger.edit_labels("undo")
    tagger.edit_labels("hide", "dogs")


def state(tagger: Tagger) -> tuple:
    documents = tagger._latest().documents
    ids = [documents.id(number) for number in documents.kept().tolist()]
    labels = [tagger.document(name).labels for name in ids]
    return tagger.suggest(QUERY, top=None).to_list(), ids, labels, tagger.labels


def entries(folder) -> int:
    with Journal(folder) as journal:
        return len(journal.read().entries)


@contextmanager
def compacting(tagger: Tagger, monkeypatch, how: str = "compact"):
    """Let another thread compact; it waits in the middle until the end of the block."""
    begun, go_on, errors = threading.Event(), threading.Event(), []
    work = getattr(type(tagger), STEPS[how])

    def slowly(self, state):
        changed = work(self, state)
        begun.set()
        assert go_on.wait(60)
        return changed

    def compact():
        try:
            tagger.compact(retrain=how == "retrain")
        except Exception as error:
            errors.append(error)

    with monkeypatch.context() as patched:
        patched.setattr(type(tagger), STEPS[how], slowly)
        thread = threading.Thread(target=compact)
        thread.start()
        try:
            assert begun.wait(60)
            yield errors
        finally:
            go_on.set()
            thread.join()


@pytest.mark.parametrize("how", STEPS)
@pytest.mark.parametrize("model", ["lcif", "ensemble"])
def test_changes_meanwhile_follow_those_before(model, how, tmp_path, monkeypatch):
    tagger = fitted(model, tmp_path / "meanwhile")
    before = state(tagger)
    with compacting(tagger, monkeypatch, how) as errors:
        assert state(tagger) == before
        change(tagger)
        changed = state(tagger)
        assert state(Tagger.load(tmp_path / "meanwhile")) == changed
    assert not errors
    assert entries(tmp_path / "meanwhile") == 8
    found = state(tagger)
    assert found == state(Tagger.load(tmp_path / "meanwhile"))
    assert found[1:3] == changed[1:3]
    afterwards = fitted(model, tmp_path / "afterwards")
    afterwards.compact(retrain=how == "retrain")
    change(afterwards)
    assert found == state(afterwards)
    tagger.compact()
    assert entries(tmp_path / "meanwhile") == 0
    assert state(tagger)[1:] == found[1:]


@pytest.mark.parametrize(
    "edit", [("merge", ["owls"], "birds"), ("rename", ["owls"], "ducks"), ("delete", ["owls"])]
)
def test_labels_that_training_drops_can_be_edited_meanwhile(edit, tmp_path, monkeypatch):
    tagger = fitted("lcif", tmp_path / "model")
    with compacting(tagger, monkeypatch, "retrain") as errors:
        tagger.edit_labels(*edit)
    assert not errors
    assert "owls" not in tagger.labels
    assert state(tagger) == state(Tagger.load(tmp_path / "model"))
    tagger.edit_labels("undo")
    assert state(tagger) == state(Tagger.load(tmp_path / "model"))


def test_another_process_learns_meanwhile(tmp_path, monkeypatch):
    tagger, other = fitted("lcif", tmp_path / "model"), Tagger.load(tmp_path / "model")
    with compacting(tagger, monkeypatch) as errors:
        other.learn(["a lynx by the river"], [["lynxes"]], ["m1"])
    assert not errors
    assert "m1" in state(tagger)[1]
    assert state(tagger) == state(other) == state(Tagger.load(tmp_path / "model"))


@pytest.mark.parametrize("step", ["load", "publish"])
def test_a_failure_leaves_the_old_model_and_all_changes(step, tmp_path, monkeypatch):
    tagger = fitted("lcif", tmp_path / "model")
    with monkeypatch.context() as failing, compacting(tagger, monkeypatch) as errors:
        failing.setattr(FolderWriter, step, fail)
        change(tagger)
        changed = state(tagger)
    assert "no more" in str(errors[0])
    assert leftovers(tmp_path / "model") == []
    assert entries(tmp_path / "model") == 12
    assert state(tagger) == state(Tagger.load(tmp_path / "model")) == changed
    tagger.compact()
    assert state(tagger)[1:] == changed[1:]


def fail(*_: object) -> None:
    raise StoreError("no more")


def test_changes_that_get_lost_meanwhile_are_reported(tmp_path, monkeypatch):
    tagger = fitted("lcif", tmp_path / "model")
    with compacting(tagger, monkeypatch) as errors:
        tagger.learn(["a lynx"], [["lynxes"]], ["m1"])
        with Journal(tmp_path / "model").writing() as writer:
            writer._connection.execute("DELETE FROM entries WHERE number = 5")
    assert isinstance(errors[0], JournalError)
    assert "1 change that was made since the model was saved is lost" in str(errors[0])


def test_saving_waits_and_nothing_else_does(tmp_path, monkeypatch):
    tagger = fitted("lcif", tmp_path / "model")
    done = threading.Event()

    def save():
        tagger.save(tmp_path / "model")
        done.set()

    with compacting(tagger, monkeypatch) as errors:
        thread = threading.Thread(target=save)
        thread.start()
        assert not done.wait(0.1)
        assert tagger.suggest(QUERY).labels
        tagger.learn(["a lynx"], [["lynxes"]], ["m1"])
    thread.join()
    assert not errors
    assert entries(tmp_path / "model") == 0
    assert state(tagger) == state(Tagger.load(tmp_path / "model"))
    assert "m1" in state(tagger)[1]


def test_a_tagger_that_moves_meanwhile_is_compacted_where_it_is(tmp_path, monkeypatch):
    tagger = fitted("lcif", tmp_path / "old")
    with compacting(tagger, monkeypatch) as errors:
        tagger.save(tmp_path / "new")
        tagger.learn(["a lynx"], [["lynxes"]], ["m1"])
    assert not errors
    assert entries(tmp_path / "old") == 4
    assert entries(tmp_path / "new") == 0
    assert state(tagger) == state(Tagger.load(tmp_path / "new"))
    assert "m1" in state(tagger)[1]
