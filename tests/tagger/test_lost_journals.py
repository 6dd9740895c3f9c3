"""Journals that are missing, truncated or damaged are reported, never ignored."""

from __future__ import annotations

import errno
import os
import random
import shutil
import sqlite3
import tarfile
from contextlib import suppress
from pathlib import Path

import pytest
from tagger.tagger_problems import texts_and_labels

from manylabel import Tagger
from manylabel.exceptions import JournalError, StoreError
from manylabel.store.journal import JOURNAL, Journal
from manylabel.store.mark import Mark

FIRST_FORMAT = Path(__file__).parents[1] / "store" / "data" / "first-format.tar.xz"
TEXTS, LABELS = texts_and_labels(40)


def remedy(word: str) -> str:
    return (
        f"; restore the folder from a backup, or continue without {word}: "
        "Tagger.load(path, without_journal=True)."
    )


@pytest.fixture(scope="module")
def pristine(tmp_path_factory):
    path = tmp_path_factory.mktemp("lost") / "model"
    tagger = Tagger("lcif", parameters={"k": 5}).fit(TEXTS, LABELS)
    tagger.save(path)
    for number in range(1, 4):
        tagger.learn([f"a zebra, number {number}"], [["zebras"]], [f"n{number}"])
    tagger._folder.journal.close()
    return path


@pytest.fixture
def folder(pristine, tmp_path):
    return shutil.copytree(pristine, tmp_path / "model")


def refused(folder: Path) -> str:
    with pytest.raises(JournalError) as error:
        Tagger.load(folder)
    return str(error.value)


def change(folder: Path, statement: str) -> None:
    connection = sqlite3.connect(folder / JOURNAL)
    with connection:
        connection.execute(statement)
    connection.close()


def remove(folder: Path) -> None:
    for path in folder.glob(f"{JOURNAL}*"):
        path.unlink()


def empty(folder: Path) -> None:
    remove(folder)
    (folder / JOURNAL).touch()


def cut(folder: Path) -> None:
    remove(folder)
    (folder / JOURNAL).write_bytes(b"S")


@pytest.mark.parametrize("lose", [remove, empty, cut])
def test_a_journal_that_is_gone_is_missed(folder, lose):
    lose(folder)
    assert refused(folder) == (
        f"{folder}/{JOURNAL}: 3 changes that were made since the model was saved are lost: the "
        "journal should have 3 entries and has none" + remedy("them")
    )


def test_a_file_that_is_no_journal(folder):
    (folder / JOURNAL).write_bytes(b"S" * 5000)
    message = refused(folder)
    assert message.startswith(f"{folder}/{JOURNAL}: the journal cannot be read (")
    assert message.endswith(remedy("its changes"))


def test_the_journal_of_another_model(folder, tmp_path):
    other = Tagger("lcif", parameters={"k": 5}).fit(TEXTS, LABELS)
    other.save(tmp_path / "other")
    other.learn(["a zebra"], [["zebras"]], ["n1"])
    other._folder.journal.close()
    remove(folder)
    shutil.copy(tmp_path / "other" / JOURNAL, folder / JOURNAL)
    assert "3 changes that were made since the model was saved are lost" in refused(folder)


def test_an_older_copy_of_the_journal(folder):
    older = (folder / JOURNAL).read_bytes()
    with_it = Tagger.load(folder)
    with_it.learn(["one more"], [["zebras"]], ["n4"])
    with_it._folder.journal.close()
    remove(folder)
    (folder / JOURNAL).write_bytes(older)
    assert refused(folder) == (
        f"{folder}/{JOURNAL}: 1 change that was made since the model was saved is lost: the "
        "journal should have 4 entries and has 3" + remedy("it")
    )


@pytest.mark.parametrize("number", [1, 2])
def test_a_damaged_middle_is_refused(folder, number):
    change(folder, f"UPDATE entries SET content = '{{}}' WHERE number = {number}")
    assert refused(folder) == (
        f"{folder}/{JOURNAL}: entry {number} of the journal is damaged, and later ones are "
        "not" + remedy("it and all later ones")
    )


def test_a_damaged_tail_is_named(folder):
    change(folder, "UPDATE entries SET content = replace(content, 'a zebra', 'A zebra')"
           " WHERE number > 1")  # fmt: skip
    assert refused(folder) == (
        f"{folder}/{JOURNAL}: the last 2 entries of the journal are damaged (learn 'n2', "
        "learn 'n3')" + remedy("them")
    )


def test_an_entry_that_is_gone(folder):
    change(folder, "DELETE FROM entries WHERE number = 2")
    assert "entry 2 of the journal is missing, and later ones are not" in refused(folder)
    change(folder, "DELETE FROM entries WHERE number = 3")
    assert "2 changes that were made since the model was saved are lost" in refused(folder)


def test_every_cut_is_noticed(folder):
    """Cut anywhere, also in the middle of a page."""
    whole = (folder / JOURNAL).read_bytes()
    for size in random.Random(0).sample(range(len(whole)), 40):
        (folder / JOURNAL).write_bytes(whole[:size])
        refused(folder)


def test_garbage_is_noticed_or_does_not_matter(folder):
    rng = random.Random(0)
    whole = (folder / JOURNAL).read_bytes()
    for _ in range(60):
        position = rng.randrange(len(whole) - 64)
        (folder / JOURNAL).write_bytes(
            whole[:position] + rng.randbytes(64) + whole[position + 64 :]
        )
        with suppress(StoreError):
            assert Tagger.load(folder).n_documents == 43


def test_the_mark_must_be_there_and_whole(folder):
    (mark,) = folder.glob("journal-*.mark")
    content = mark.read_bytes()
    mark.write_bytes(content[:5])
    assert refused(folder) == (
        f"{mark}: the file, which has the number of changes in the journal, was altered"
        + remedy("the changes in the journal")
    )
    mark.unlink()
    assert refused(folder) == (
        f"{mark}: the file, which has the number of changes in the journal, is missing"
        + remedy("the changes in the journal")
    )
    mark.symlink_to(folder / JOURNAL)
    assert "this is a link" in refused(folder)


def test_a_model_that_has_everything_needs_no_journal(folder):
    tagger = Tagger.load(folder)
    tagger.compact()
    tagger._folder.journal.close()
    remove(folder)
    again = Tagger.load(folder)
    assert again.n_documents == 43
    again.learn(["a zebra"], [["zebras"]], ["n4"])
    assert Tagger.load(folder).n_documents == 44


def test_going_on_without(folder):
    change(folder, "UPDATE entries SET content = '{}' WHERE number = 3")
    with pytest.warns(UserWarning, match=r"^1 change in the journal is lost\.$"):
        tagger = Tagger.load(folder, without_journal=True)
    assert tagger.n_documents == 42
    assert tagger.path is None
    assert "damaged" in refused(folder)
    tagger.save(folder)
    tagger.learn(["a zebra"], [["zebras"]], ["n4"])
    assert Tagger.load(folder).n_documents == 43
    assert len(list(folder.glob("journal-*.mark"))) == 1


def test_going_on_without_a_file_that_is_no_journal(folder):
    empty(folder)
    (folder / JOURNAL).write_bytes(b"S" * 5000)
    with pytest.warns(UserWarning, match=r"^3 changes in the journal are lost\.$"):
        tagger = Tagger.load(folder, without_journal=True)
    tagger.save(folder)
    assert Tagger.load(folder).n_documents == 40


def test_going_on_without_what_is_not_damaged(folder):
    """Everything that can be read is kept."""
    assert Tagger.load(folder, without_journal=True).n_documents == 43


def test_folders_without_marks_and_checksums_still_load(tmp_path):
    with tarfile.open(FIRST_FORMAT) as archive:
        archive.extractall(tmp_path, filter="data")
    folder = tmp_path / "tagger-lcif"
    assert not list(folder.glob("*.mark"))
    tagger = Tagger.load(folder)
    before = tagger.n_documents
    tagger.learn(["one more"], [tagger.labels[:1]], ["fresh"])
    assert Tagger.load(folder).n_documents == before + 1
    tagger._folder.journal.close()
    remove(folder)
    assert " lost: " in refused(folder)


def test_a_journal_without_checksums_still_loads(folder):
    change(folder, "ALTER TABLE entries DROP COLUMN checksum")
    tagger = Tagger.load(folder)
    assert tagger.n_documents == 43
    tagger.learn(["one more"], [["zebras"]], ["n4"])
    assert Tagger.load(folder).n_documents == 44


def test_entries_without_checksums_that_are_no_changes(folder):
    change(folder, "UPDATE entries SET content = '{', checksum = NULL WHERE number = 3")
    assert "the last entry of the journal is damaged (learn)" in refused(folder)


def test_a_mark_outlives_half_a_write(tmp_path):
    mark = Mark(tmp_path)
    assert mark.read("aa") is None
    for number in range(5):
        mark.write("aa", number)
        assert mark.read("aa") == number
    mark.write("aa", 2)
    assert mark.read("aa") == 4, "it never goes back"
    (path,) = tmp_path.iterdir()
    content = path.read_bytes()
    for start in (0, 512):
        path.write_bytes(content[:start] + bytes(20) + content[start + 20 :])
        assert mark.read("aa") in (3, 4)
        mark.write("aa", 5)
        assert mark.read("aa") == 5
        path.write_bytes(content)


def test_marks_of_former_models_go(folder):
    before = os.listdir(folder)
    Tagger("lcif", parameters={"k": 5}).fit(TEXTS, LABELS).save(folder)
    assert len(list(folder.glob("*.mark"))) == 1
    assert not {path.name for path in folder.glob("*.mark")} & set(before)


def test_journals_carry_checksums(folder):
    with Journal(folder) as journal:
        assert len(journal.read().entries) == 3
    connection = sqlite3.connect(folder / JOURNAL)
    assert all(len(row[0]) == 8 for row in connection.execute("SELECT checksum FROM entries"))
    connection.close()


def test_the_mark_is_whole_where_the_system_writes_few_bytes_at_a_time(folder, monkeypatch):
    whole = os.pwrite
    monkeypatch.setattr(os, "pwrite", lambda file, data, position: whole(file, data[:7], position))
    Mark(folder).write("c0ffee", 12)
    assert Mark(folder).read("c0ffee") == 12


def test_a_change_that_cannot_be_recorded_is_not_acknowledged(folder, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    tagger = Tagger.load(folder)
    monkeypatch.setattr(os, "pwrite", full)
    with pytest.raises(StoreError, match="so the last change may or may not have been made; free"):
        tagger.learn(["a lion"], [["lions"]], ["n4"])
    monkeypatch.undo()
    # The journal has it, and the next process finds it there.
    assert Tagger.load(folder).document("n4").labels == ["lions"]
