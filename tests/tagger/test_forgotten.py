"""After `forget` and `compact` nothing of a text is in any file of the folder."""

from __future__ import annotations

import sqlite3
import threading

import pytest
from tagger.tagger_problems import texts_and_labels

from manylabel import Tagger
from manylabel.store.journal import JOURNAL, Journal

TEXTS, LABELS = texts_and_labels(60)
SECRET = "Zacharias Quillfeather of Ölmütz sold eleven xylophones to Ms Prendergast in Vladivostok"


def secrets_in(folder) -> set[str]:
    """Files that hold a word of the secret, in any form that we know of."""
    found = set()
    for path in folder.rglob("*"):
        if path.is_file():
            content = path.read_bytes().lower()
            for word in SECRET.lower().split():
                for form in (word.encode(), word.encode("unicode_escape"), word[:6].encode()):
                    if len(word) > 5 and form in content:
                        found.add(path.name)
    return found


@pytest.mark.parametrize("model", ["lcif", "ensemble", "svm", "br-knn"])
@pytest.mark.parametrize("how", ["trained", "learned"])
def test_nothing_is_left_after_compact(model, how, tmp_path):
    texts, labels, ids = list(TEXTS), list(LABELS), [f"d{i}" for i in range(60)]
    trained = Tagger(model, random_state=0)
    if how == "trained":
        trained.fit([*texts, SECRET], [*labels, labels[0]], [*ids, "secret"])
    else:
        trained.fit(texts, labels, ids)
    trained.save(tmp_path / "model")
    # Another process keeps the model open, as a server does.
    served = Tagger.load(tmp_path / "model")
    served.suggest("a cat")
    if how == "learned":
        if not trained._state.model.can_learn:
            pytest.skip("cannot learn")
        trained.learn([SECRET], [labels[0]], ["secret"])
        assert JOURNAL in {name.removesuffix("-wal") for name in secrets_in(tmp_path / "model")}
    document = trained.document("secret")
    trained.forget("secret")
    assert trained.traces([document])
    served.suggest("a dog")
    trained.compact()
    assert trained.traces([document]) == []
    assert secrets_in(tmp_path / "model") == set()
    assert served.suggest(SECRET).labels == Tagger.load(tmp_path / "model").suggest(SECRET).labels
    assert secrets_in(tmp_path / "model") == set()


def test_words_of_others_stay(tmp_path):
    tagger = Tagger("lcif").fit([*TEXTS, "a cat of Zanzibar"], [*LABELS, LABELS[0]])
    before = tagger.suggest(TEXTS[0], top=None)
    tagger.forget("60")
    tagger.compact()
    names = set(tagger._state.vectorizer.vocabulary_)
    assert "cat" in names
    assert "zanzibar" not in names
    assert len(tagger.suggest(TEXTS[0], top=None).labels) == len(before.labels)
    assert "(forgotten)" not in [word for word, _ in tagger.describe_label("cats").words]


def test_a_reader_in_the_middle_is_waited_for(tmp_path):
    with Journal(tmp_path) as journal:
        with journal.writing() as writer:
            writer.begin("one", 0)
            writer.append([("learn", SECRET)])
        reader = sqlite3.connect(tmp_path / JOURNAL, check_same_thread=False)
        reader.isolation_level = None
        reader.execute("BEGIN")
        assert reader.execute("SELECT count(*) FROM entries").fetchone() == (1,)
        with journal.writing() as writer:
            writer.fold(1)
        threading.Timer(0.3, reader.rollback).start()
        assert journal.scrub()
        assert secrets_in(tmp_path) == set()
        reader.close()
    assert not Journal(tmp_path / "nothing").path.exists()
    assert Journal(tmp_path / "nothing").scrub()
