"""`manylabel check`: what is damaged in a model folder."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import zlib

import numpy as np
import pytest

from manylabel import LCIF, load, save
from manylabel.store import read_manifest
from manylabel.store.checking import BackgroundCheck
from manylabel.store.manifest import as_bytes
from manylabel.tagger import Tagger


def flip(path, place):
    content = bytearray(path.read_bytes())
    content[place] ^= 1
    path.write_bytes(content)


def test_a_sound_model(call, model):
    called = call("check", model)
    assert (called.code, called.out) == (0, "")
    assert called.err.endswith("no damage.\nChanges since the model was saved: 0.\n")
    call("learn", model, "--text", "Zebras", "--label", "zebras")
    (model / "data-0123456789abcdef").mkdir()
    found = call("check", model, "--json").json
    assert found.pop("files") > 10
    assert found == {"changes": 1, "damage": [], "leftovers": ["data-0123456789abcdef"]}


def test_every_damaged_file_is_named(call, model):
    largest, second = sorted(model.glob("data-*/*"), key=lambda path: -path.stat().st_size)[:2]
    flip(largest, -1)
    second.unlink()
    called = call("check", model)
    assert called.code == 1
    repair = "; restore the folder from a backup, or save the model again."
    assert set(called.out.splitlines()) == {
        f"{largest}: the file was altered after it was written" + repair,
        f"{second}: the file is missing" + repair,
    }


def test_what_is_no_model(call, tmp_path):
    called = call("check", tmp_path, "--json")
    assert called.code == 1
    assert "this is not a model folder" in called.json["damage"][0]


def test_a_damaged_journal(call, model):
    call("learn", model, "--text", "Zebras", "--label", "zebras", "--id", "x1")
    connection = sqlite3.connect(model / "journal.sqlite")
    with connection:
        connection.execute("UPDATE entries SET content = replace(content, 'Z', 'z')")
    connection.close()
    called = call("check", model)
    assert called.code == 1
    assert "the last entry of the journal is damaged (learn 'x1')" in called.out


@pytest.fixture
def large(model, monkeypatch):
    """A model that counts as too large to be checked before it is used.

    What a test does to its files counts as done by the disk, which leaves their times.
    """
    monkeypatch.setattr("manylabel.store.known.is_known", lambda _: True)
    monkeypatch.setattr("manylabel.store.arrays.MAPPED", 1)
    monkeypatch.setattr("manylabel.store.folder.VERIFIED", 0)
    return model


def test_a_large_model_is_checked_while_it_answers(large):
    tagger = Tagger.load(large)
    assert tagger._check.wait(60)
    assert tagger.suggest("zebras and ships").labels
    largest = max(large.glob("data-*/*"), key=lambda path: path.stat().st_size)
    flip(largest, -1)
    tagger = Tagger.load(large)
    assert tagger._check.wait(60)
    for ask in (tagger.suggest, tagger.explain):
        with pytest.raises(ValueError, match="the file was altered after it was written"):
            ask("zebras and ships")


def test_changes_in_memory_are_no_damage(large):
    """Arrays are mapped privately, and a model may write to its own."""
    tagger = Tagger.load(large)
    tagger.learn(["zebras"], [["zebras"]], ["x1"])
    tagger.forget(["x1"])
    assert tagger._check.wait(60)
    assert tagger.suggest("zebras and ships").labels


def test_a_model_that_is_replaced_meanwhile_is_no_damage(large):
    tagger = Tagger.load(large)
    other = Tagger.load(large)
    other.learn(["zebras"], [["zebras"]], ["x1"])
    other.compact()
    assert tagger._check.wait(60)
    assert tagger.suggest("zebras and ships").labels
    assert tagger.n_documents == 490


def forge_whole_numbers(folder, itemsize):
    """Raise a number of each array of whole numbers of a size, and compute its checksum again."""
    manifest = read_manifest(folder)
    for path in sorted(folder.glob("data-*/*")):
        array = np.load(path)
        if array.dtype.kind == "i" and array.dtype.itemsize == itemsize and array.size:
            array[array.argmax()] = 2**30
            np.save(path, array)
            content = path.read_bytes()
            record = manifest["files"][path.name]
            record |= {"bytes": len(content), "crc32": f"{zlib.crc32(content):08x}"}
    (folder / "model.json").write_bytes(as_bytes(manifest))


def test_indices_that_point_nowhere_are_found_in_a_large_model_too(call, large):
    forge_whole_numbers(large, 4)
    called = call("check", large)
    assert called.code == 1
    assert "the model is damaged" in called.out
    tagger = Tagger.load(large)
    assert tagger._check.wait(60)
    with pytest.raises(ValueError, match="the model is damaged"):
        tagger.suggest("zebras and ships")


def test_texts_that_end_nowhere_are_refused_at_once(call, large):
    forge_whole_numbers(large, 8)
    called = call("check", large)
    assert called.code == 1
    assert "restore the folder from a backup" in called.out
    with pytest.raises(ValueError, match="restore the folder from a backup"):
        Tagger.load(large)


@pytest.fixture
def late(monkeypatch):
    """The check of a large model begins when a caller waits for its end."""
    compare = BackgroundCheck._compare

    def waiting(self):
        self._is_awaited.wait()
        compare(self)

    monkeypatch.setattr(BackgroundCheck, "_compare", waiting)


@pytest.fixture
def early(monkeypatch):
    """The check of a large model ends before the model is used."""
    start = BackgroundCheck.start

    def whole(self):
        start(self)
        self.wait()

    monkeypatch.setattr(BackgroundCheck, "start", whole)


@pytest.mark.parametrize("when", ["early", "late"])
def test_a_command_does_not_succeed_with_a_damaged_large_model(
    call, large, tmp_path, request, when
):
    request.getfixturevalue(when)
    largest = max(large.glob("data-*/*"), key=lambda path: path.stat().st_size)
    flip(largest, -1)
    sentence = f"manylabel: {largest}: the file was altered after it was written; restore the "
    warning = "Do not use the output of this command.\n"
    for command in (["predict", large, "--text", "ships"], ["labels", large]):
        called = call(*command)
        assert called.code == 1
        assert called.err.startswith(sentence)
        assert called.err.endswith(warning)
        assert bool(called.out) == (when == "late")
    output = tmp_path / "labels.jsonl"
    called = call("predict", large, "--text", "ships", "-o", output)
    assert called.code == 1
    assert called.err.startswith(sentence)
    assert not output.exists()


def test_an_error_that_damage_may_have_caused_names_the_damage(call, large, late, monkeypatch):
    def broken(*_, **__):
        raise IndexError("beyond the end")

    monkeypatch.setattr(Tagger, "suggest", broken)
    assert "beyond the end" in call("predict", large, "--text", "ships").err
    flip(max(large.glob("data-*/*"), key=lambda path: path.stat().st_size), -1)
    called = call("predict", large, "--text", "ships")
    assert called.code == 1
    assert "the file was altered after it was written" in called.err
    assert "beyond the end" not in called.err


def test_a_damaged_large_model_is_not_saved_with_a_right_checksum(call, large, tmp_path):
    flip(max(large.glob("data-*/*"), key=lambda path: path.stat().st_size), -1)
    before = (large / "model.json").read_bytes()
    for change in (
        lambda: Tagger.load(large).compact(),
        lambda: Tagger.load(large).save(tmp_path / "copy"),
        lambda: save(Tagger.load(large), tmp_path / "copy"),
    ):
        with pytest.raises(ValueError, match="the file was altered after it was written"):
            change()
    assert (large / "model.json").read_bytes() == before
    assert not (tmp_path / "copy").exists()


def test_a_large_estimator_is_checked_before_it_is_used(tmp_path, monkeypatch):
    monkeypatch.setattr("manylabel.store.arrays.MAPPED", 1)
    monkeypatch.setattr("manylabel.store.folder.VERIFIED", 0)
    save(LCIF(k=1).fit([[1, 0], [0, 1]], [[1, 0], [0, 1]]), tmp_path / "model")
    flip(max(tmp_path.glob("model/data-*/*"), key=lambda path: path.stat().st_size), -1)
    with pytest.raises(ValueError, match="the file was altered after it was written"):
        load(tmp_path / "model")
    load(tmp_path / "model", verify=False)


def test_a_process_that_ends_before_the_check_says_so(large):
    code = f"""
import manylabel.store.arrays, manylabel.store.folder, manylabel.store.checking as checking
manylabel.store.arrays.MAPPED, manylabel.store.folder.VERIFIED, checking.BLOCK = 1, 0, 100
from manylabel import Tagger
print(len(Tagger.load({str(large)!r}).suggest("ships").labels))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(done.stdout) > 0
    assert f"{large} was in use, but is not checked to the end; run `manylabel check" in done.stderr
