"""Folders that are broken, foreign, too new or malicious."""

from __future__ import annotations

import json
import os
import re
import shutil
import zlib
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from manylabel import LCIF, __version__, load, save
from manylabel.exceptions import ManylabelError, StoreError
from manylabel.store import manifest as manifests
from manylabel.store import migrations, read_manifest

REPAIR = "; restore the folder from a backup, or save the model again."


@pytest.fixture(scope="module")
def pristine(tmp_path_factory):
    rng = np.random.default_rng(0)
    X = sparse.csr_array(rng.poisson(0.4, (300, 40)))
    Y = sparse.csr_array((rng.random((300, 7)) < 0.3).astype(np.int8))
    folder = tmp_path_factory.mktemp("pristine") / "model"
    save(LCIF(k=3).fit(X, Y), folder, info={"labels": 7})
    return folder


@pytest.fixture
def folder(pristine, tmp_path):
    return shutil.copytree(pristine, tmp_path / "model")


@pytest.fixture(params=["read", "mapped"])
def how(request, monkeypatch):
    if request.param == "mapped":
        monkeypatch.setattr("manylabel.store.arrays.MAPPED", 1)


def array_files(folder: Path) -> list[Path]:
    return sorted(folder.glob("data-*/*"))


def rewrite(folder: Path, **changes: object) -> None:
    """Change the manifest and make its checksum fit."""
    manifest = read_manifest(folder) | changes
    (folder / "model.json").write_bytes(manifests.as_bytes(manifest))


def refused(folder: Path, **options: object) -> str:
    """The sentence with which a folder is refused."""
    with pytest.raises(StoreError) as caught:
        load(folder, **options)
    message = str(caught.value)
    assert message.startswith(str(folder))
    assert message.endswith(".")
    assert "\n" not in message
    return message


def test_errors_are_errors_of_manylabel():
    assert issubclass(StoreError, ManylabelError)


def test_files_that_were_cut_short(folder, how):
    assert len(array_files(folder)) > 10
    for path in array_files(folder):
        content = path.read_bytes()
        for size in (0, 1, len(content) // 2, len(content) - 1):
            path.write_bytes(content[:size])
            assert refused(folder) == (
                f"{path}: the file has {size} bytes, not the {len(content)} that were written"
                + REPAIR
            )
        path.write_bytes(content)


def test_files_that_grew(folder):
    path = array_files(folder)[3]
    path.write_bytes(path.read_bytes() + b"x")
    assert "bytes, not the" in refused(folder)


def test_files_with_a_flipped_byte(folder, how):
    for path in array_files(folder):
        content = bytearray(path.read_bytes())
        for position in (0, 7, len(content) // 2, len(content) - 1):
            content[position] ^= 0x10
            path.write_bytes(content)
            assert refused(folder) == f"{path}: the file was altered after it was written" + REPAIR
            content[position] ^= 0x10
        path.write_bytes(content)


def test_large_files_are_compared_unless_refused(folder, monkeypatch):
    monkeypatch.setattr("manylabel.store.arrays.MAPPED", 1)
    monkeypatch.setattr("manylabel.store.folder.VERIFIED", 0)
    path = max(array_files(folder), key=lambda file: file.stat().st_size)
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    load(folder, verify=False)
    assert "was altered" in refused(folder)
    assert "was altered" in refused(folder, verify=True)


def test_missing_files(folder):
    for path in array_files(folder):
        content = path.read_bytes()
        path.unlink()
        assert refused(folder) == f"{path}: the file is missing" + REPAIR
        path.write_bytes(content)
    load(folder)


def test_a_manifest_with_any_byte_changed(folder):
    path = folder / "model.json"
    content = path.read_bytes()
    for position in {
        *range(0, len(content), 37),
        *range(60),
        *range(len(content) - 40, len(content)),
    }:
        path.write_bytes(
            content[:position] + bytes([content[position] ^ 0x02]) + content[position + 1 :]
        )
        assert refused(folder).startswith(f"{path}: ")


def test_a_manifest_that_was_cut_short(folder):
    path = folder / "model.json"
    content = path.read_bytes()
    for size in (0, 1, len(content) // 2, len(content) - 2):
        path.write_bytes(content[:size])
        assert refused(folder) == (
            f"{path}: the file is not JSON: it was cut short or altered" + REPAIR
        )


def test_what_is_no_model(tmp_path):
    assert refused(tmp_path / "none") == (
        f"{tmp_path}/none: no such folder; give a model folder, as `manylabel train` or "
        "`save` writes it."
    )
    (tmp_path / "file").touch()
    assert refused(tmp_path / "file") == (
        f"{tmp_path}/file: this is a file; give a model folder, as `manylabel train` or "
        "`save` writes it."
    )
    assert refused(tmp_path) == (
        f"{tmp_path}: this is not a model folder: it has no model.json; give one that `save` wrote."
    )
    for other in ("[]", '{"layers": 3}', "3"):
        (tmp_path / "model.json").write_text(other)
        assert refused(tmp_path) == (
            f"{tmp_path}/model.json: this is not the manifest of a manylabel model; "
            "give another folder."
        )


def test_other_things_are_not_written_over(tmp_path, folder):
    (tmp_path / "thesis.txt").write_text("years of work")
    with pytest.raises(StoreError, match=r"has other files \(model\) and no model; choose"):
        save(LCIF(), tmp_path)
    with pytest.raises(StoreError, match=r"thesis\.txt: this is a file; choose a new folder"):
        save(LCIF(), tmp_path / "thesis.txt")
    assert sorted(os.listdir(tmp_path)) == ["model", "thesis.txt"]


@pytest.mark.parametrize("name", ["../secret.npy", "/etc/passwd", "a/b.npy", "..", ".hidden", ""])
def test_files_outside_the_folder(folder, name):
    (folder / "secret.npy").write_bytes(b"secret")
    rewrite(folder, files={name: {"bytes": 6, "crc32": f"{zlib.crc32(b'secret'):08x}"}})
    assert refused(folder) == (
        f"{folder}/model.json: the file names {name!r}, which is not inside the model folder"
        + REPAIR
    )


@pytest.mark.parametrize("name", ["..", "/etc", "../other", "data-", "model.json"])
def test_arrays_in_other_folders(folder, name):
    rewrite(folder, data=name)
    assert "which is not inside the model folder" in refused(folder)


def test_links_are_not_followed(folder, tmp_path):
    path = array_files(folder)[0]
    for link in (path, path.parent, folder / "model.json"):
        moved = link.rename(tmp_path / "elsewhere")
        link.symlink_to(moved)
        assert refused(folder).startswith(
            f"{link}: this is a link, which is not allowed in a model folder; replace it by the "
        )
        link.unlink()
        moved.rename(link)
    load(folder)


def test_a_path_to_the_folder_may_be_a_link(folder, tmp_path):
    (tmp_path / "current").symlink_to(folder)
    assert load(tmp_path / "current").k == 3


def test_newer_formats_are_refused(folder):
    rewrite(folder, version=9, library="7.1")
    assert refused(folder) == (
        f"{folder}/model.json: the model has format 9, written by manylabel 7.1, and this library "
        "reads formats up to 2; update manylabel."
    )


def test_older_formats_are_migrated(folder, monkeypatch):
    monkeypatch.setattr(migrations, "FORMAT_VERSION", 4)
    monkeypatch.setattr(manifests, "FORMAT_VERSION", 4)
    steps = {
        2: lambda manifest: manifest | {"info": {"third": True}},
        3: lambda manifest: manifest | {"info": manifest["info"] | {"fourth": True}},
    }
    monkeypatch.setattr(migrations, "MIGRATIONS", steps)
    manifest = read_manifest(folder)
    assert manifest["version"] == 4
    assert manifest["info"] == {"third": True, "fourth": True}
    assert load(folder).k == 3


@pytest.mark.parametrize(
    "name",
    [
        "os.system",
        "builtins.object",
        "pathlib.Path",
        "manylabel.store.folder.Path",
        "manylabel.store.saving.save",
        "manylabel.neighbors.lcif.Nothing",
        "manylabel.nothing.Nothing",
        "manylabel.cli.__main__.run",
        "manylabel.neighbors.lcif.Gone",
        "manylabel.neighbors.lcif:LCIF",
        "Nothing",
        "",
    ],
)
def test_unknown_classes_are_refused(folder, name):
    rewrite(folder, model={"object": {"class": name, "state": {}}})
    assert refused(folder) == (
        f"{folder}/model.json: the file has the class {name!r}, which manylabel {__version__} does "
        f"not have; it was written by version {__version__}: update manylabel if that is newer."
    )


def test_classes_that_have_changed_since_are_refused(folder):
    name = "Combination"
    rewrite(folder, model={"object": {"class": name, "state": {"curves": None}}})
    assert refused(folder) == (
        f"{folder}/model.json: the file has a {name!r} in a form unknown to manylabel "
        f"{__version__}; it was written by version {__version__}: use that version, or train again."
    )


@pytest.mark.parametrize(
    "change",
    [
        {"model": {"array": "999-nothing.npy"}},
        {"model": {"nothing": 1}},
        {"model": {"list": [1, 2], "tuple": [1]}},
        {"model": [1, 2]},
        {"model": {"ref": 3}},
        {"model": {"dict": [[1], []]}},
        {"model": {"object_array": [[2], [1]]}},
        {"model": {"object": {"class": "MultiLabelClassifier"}}},
        {"model": {"object": {"class": "IndexRows", "state": {"ptr": 1}}}},
        {"files": []},
        {"files": {"a.npy": {}}},
        {"info": None},
        {"version": "1"},
        {"version": 1, "model": {"object": {"class": ["LCIF"]}}},
    ],
    ids=str,
)
def test_manifests_that_make_no_sense(folder, change):
    rewrite(folder, **change)
    message = refused(folder)
    assert re.search("invalid content|names the class", message)


def test_files_that_are_no_arrays(folder):
    path = array_files(folder)[0]
    for content in (b"no array", np.lib.format.magic(1, 0) + b"\x04\x00{}  "):
        path.write_bytes(content)
        files = read_manifest(folder)["files"]
        files[path.name] = {"bytes": len(content), "crc32": f"{zlib.crc32(content):08x}"}
        rewrite(folder, files=files)
        assert refused(folder).startswith(f"{path}: this is not an array file (")


def test_arrays_of_objects_are_not_unpickled(folder):
    path = array_files(folder)[0]
    np.save(path, np.array([{}], object), allow_pickle=True)
    files = read_manifest(folder)["files"]
    content = path.read_bytes()
    files[path.name] = {"bytes": len(content), "crc32": f"{zlib.crc32(content):08x}"}
    rewrite(folder, files=files)
    assert "this is not an array file" in refused(folder)


def test_a_broken_model_can_be_replaced(folder):
    (folder / "model.json").write_text("{")
    save(LCIF(k=5), folder)
    assert load(folder).k == 5
    assert len(os.listdir(folder)) == 3


def test_the_manifest_is_json_that_people_can_read(folder):
    manifest = json.loads((folder / "model.json").read_text())
    assert manifest["class"] == "LCIF"
    assert manifest["parameters"]["k"] == 3
    assert manifest["info"] == {"labels": 7}
