"""A journal that survives."""

from __future__ import annotations

import os

import pytest

from manylabel.exceptions import StoreError
from manylabel.store.journal import Entry, Journal, Snapshot


@pytest.fixture
def journal(tmp_path):
    with Journal(tmp_path, patience=0.05) as journal, journal.writing() as writer:
        writer.begin("one", 0)
    return journal


def write(journal: Journal, *contents: str) -> int:
    with journal.writing() as writer:
        return writer.append([("kind", content) for content in contents])


def test_a_journal_that_is_not_there_is_empty(tmp_path):
    journal = Journal(tmp_path)
    assert journal.read() == Snapshot("", 0, [])
    assert not journal.has_changed()
    assert not os.listdir(tmp_path)


def test_entries_are_numbered_from_one(journal):
    assert write(journal, "a", "b") == 2
    assert write(journal, "c") == 3
    assert journal.read(1).entries == [Entry(2, "kind", "b"), Entry(3, "kind", "c")]
    assert write(journal) == 3


def test_folded_entries_are_gone_and_their_numbers_too(journal):
    write(journal, "a", "b", "c")
    with journal.writing() as writer:
        writer.fold(2)
    assert journal.read() == Snapshot("one", 2, [Entry(3, "kind", "c")])
    with journal.writing() as writer:
        writer.fold(3)
    assert write(journal, "d") == 4


def test_a_new_model_starts_an_empty_journal(journal):
    write(journal, "a")
    with journal.writing() as writer:
        writer.begin("two", 7)
    assert journal.read() == Snapshot("two", 7, [])
    assert write(journal, "b") == 8


def test_all_or_nothing(journal):
    with pytest.raises(ZeroDivisionError), journal.writing() as writer:
        writer.append([("kind", str(1 / (writer.append([("kind", "a")]) - 1)))])
    assert journal.read().entries == []


def test_an_early_commit_lets_others_in(journal, tmp_path):
    with journal.writing() as writer:
        writer.append([("kind", "a")])
        writer.commit()
        assert write(Journal(tmp_path), "b") == 2
    assert [entry.content for entry in journal.read().entries] == ["a", "b"]


def test_changes_by_others_are_noticed_once(journal, tmp_path):
    other = Journal(tmp_path)
    assert other.has_changed()
    other.read()
    assert not other.has_changed()
    write(journal, "a")
    assert other.has_changed()
    assert other.has_changed()
    assert len(other.read().entries) == 1
    assert not other.has_changed()


def test_readers_see_what_was_there_before_a_writer_is_done(journal, tmp_path):
    write(journal, "a")
    with journal.writing() as writer:
        writer.append([("kind", "b")])
        assert len(Journal(tmp_path).read().entries) == 1
        assert len(journal.read().entries) == 1
        assert len(writer.read().entries) == 2


def test_a_second_writer_waits_then_gives_up(journal, tmp_path):
    other = Journal(tmp_path, patience=0.05)
    with journal.writing(), pytest.raises(StoreError) as error, other.writing():
        pass
    assert str(error.value) == (
        f"{tmp_path}: another process is writing to this model and did not finish within 0.05 "
        "seconds; try again later."
    )
    assert write(other, "a") == 1


def test_a_child_does_not_use_the_connection_of_its_parent(journal, tmp_path):
    write(journal, "a")
    child = os.fork()
    if child == 0:
        try:
            write(journal, "from the child")
            assert len(journal.read().entries) == 2
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    assert [entry.content for entry in journal.read().entries] == ["a", "from the child"]
    write(journal, "b")
    assert len(Journal(tmp_path).read().entries) == 3


def test_texts_of_any_characters(journal):
    write(journal, "ä\0\n漢字🐈")
    assert journal.read().entries[0].content == "ä\0\n漢字🐈"


def test_a_folder_that_does_not_exist(tmp_path):
    with pytest.raises(StoreError, match="no such folder"), Journal(tmp_path / "x").writing():
        pass
