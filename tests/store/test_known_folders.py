"""A large model from elsewhere is looked at before its first answer, one's own is not."""

from __future__ import annotations

import io
import os
import shutil
import zlib

import numpy as np
import pytest

from manylabel import Tagger
from manylabel.exceptions import StoreError
from manylabel.store import folder as folders
from manylabel.store import known, manifest

TEXTS = [f"{a} {b}" for a in ("cat", "dog", "owl") for b in ("sea", "hill", "rain")]
LABELS = [text.split() for text in TEXTS]


@pytest.fixture(autouse=True)
def large(monkeypatch, tmp_path):
    """Treat every model as a large one, with records of this test alone."""
    monkeypatch.setattr("manylabel.store.arrays.MAPPED", 1)
    monkeypatch.setattr("manylabel.store.folder.VERIFIED", 0)
    monkeypatch.delenv("MANYLABEL_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def looks(monkeypatch):
    """Whether indices were looked at, of each model loaded so far."""
    found, decoder = [], folders.Decoder
    monkeypatch.setattr(
        folders, "Decoder", lambda arrays, is_deep: found.append(is_deep) or decoder(arrays)
    )
    return found


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "model"
    Tagger("lcif", parameters={"k": 3}).fit(TEXTS, LABELS).save(path)
    return path


def load(path):
    tagger = Tagger.load(path)
    tagger._check._look = None  # the check in the background looks, too
    tagger.check_files()
    return tagger


def forge(path, change):
    """Change the first array that this can, and make the manifest agree."""
    described = manifest.read_manifest(path)
    for name, record in described["files"].items():
        file = path / described["data"] / name
        array = np.load(file)
        if change(array):
            buffer = io.BytesIO()
            np.save(buffer, array)
            file.write_bytes(buffer.getvalue())
            record["crc32"] = f"{zlib.crc32(buffer.getvalue()):08x}"
            (path / "model.json").write_bytes(manifest.as_bytes(described))
            return
    raise AssertionError("no array can be changed so")


def far(array):
    if array.dtype == np.int32 and array.size == 2 * len(TEXTS) and array.max() < 10:
        array[0] = 10**6
        return True
    return False


def test_indices_of_a_stranger_that_point_nowhere_are_refused_before_the_first_answer(model):
    forge(model, far)
    for _ in range(2):
        with pytest.raises(StoreError, match="the model is damaged"):
            Tagger.load(model)


def test_an_altered_file_is_named_rather_than_its_indices(model):
    before = (model / "model.json").read_bytes()
    forge(model, far)
    (model / "model.json").write_bytes(before)
    with pytest.raises(StoreError, match="npy: the file was altered after it was written"):
        Tagger.load(model)


def test_ones_own_model_is_not_looked_at(model, looks):
    load(model)
    assert looks == [False]


def test_a_copy_is_looked_at_once(model, looks, tmp_path):
    copy = shutil.copytree(model, tmp_path / "copy")
    load(copy)
    load(copy)
    assert looks == [True, False]


def test_a_changed_file_is_looked_at_again(model, looks):
    file = next((model / manifest.read_manifest(model)["data"]).iterdir())
    os.utime(file)
    load(model)
    assert looks == [True]


def test_records_that_others_can_write_are_not_believed(model, looks, tmp_path):
    (tmp_path / "cache" / "manylabel" / "checked").chmod(0o777)
    load(model)
    load(model)
    assert looks == [True, True]


def test_without_a_place_for_records_every_model_is_looked_at(model, looks, monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    load(model)
    load(model)
    assert looks == [True, True]


def test_old_records_are_removed(tmp_path, monkeypatch):
    monkeypatch.setattr(known, "_MAX_RECORDS", 3)
    for number in range(6):
        known.remember(f"{number:064}")
    assert len(list((tmp_path / "cache" / "manylabel" / "checked").iterdir())) == 3
    assert known.is_known(f"{5:064}")
    assert not known.is_known(None)
