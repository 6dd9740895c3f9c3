"""Folders that the first format wrote still load, answer the same and are saved in today's."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from manylabel import load, save
from manylabel.models import MODELS
from manylabel.store import FORMAT_VERSION, read_manifest
from manylabel.store.classes import CLASSES
from manylabel.tagger import Tagger

ARCHIVE = Path(__file__).parent / "data" / "first-format.tar.xz"
TAGGERS = ("tagger-ensemble", "tagger-lcif")


@pytest.fixture(scope="module")
def first(tmp_path_factory):
    """The folders as the first format wrote them."""
    folder = tmp_path_factory.mktemp("first")
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(folder, filter="data")
    return folder


@pytest.fixture(scope="module")
def known(first):
    """What the models answered when they were written."""
    return json.loads((first / "answers.json").read_text())


def names_in(folder):
    """The names of all classes in a manifest, as it is on disk."""
    found, nodes = set(), [json.loads((folder / "model.json").read_text())["model"]]
    while nodes:
        node = nodes.pop()
        if isinstance(node, dict):
            nodes.extend(node.values())
            if "object" in node:
                found.add(node["object"]["class"])
        elif isinstance(node, list):
            nodes.extend(node)
    return found


def assert_scores(model, known, name):
    scores = model.decision_function(sparse.csr_array(known["queries"]))
    dense = np.full(scores.shape, np.nan)
    rows = np.repeat(np.arange(scores.shape[0]), np.diff(scores.indptr))
    dense[rows, scores.indices] = scores.data
    expected = np.array(known["answers"][name], float)
    np.testing.assert_allclose(dense, expected, rtol=1e-12, atol=0)


def assert_suggestions(tagger, known, name):
    found = tagger.suggest(known["text"], top=8)
    assert found.labels == [label for label, _ in known["answers"][name]]
    scores = [score for _, score in known["answers"][name]]
    np.testing.assert_allclose([each.score for each in found], scores, rtol=1e-12, atol=0)


def test_there_is_a_folder_of_every_model_that_the_first_format_had(known):
    assert set(known["answers"]) == {*MODELS, *TAGGERS}


@pytest.mark.parametrize("name", MODELS)
def test_a_model_answers_the_same_and_is_saved_under_the_new_names(first, known, name, tmp_path):
    assert json.loads((first / name / "model.json").read_text())["version"] == 1
    model = load(first / name)
    assert_scores(model, known, name)
    save(model, tmp_path)
    manifest = read_manifest(tmp_path)
    assert manifest["version"] == FORMAT_VERSION
    assert manifest["class"] == type(model).__name__
    assert names_in(tmp_path) <= set(CLASSES)
    assert_scores(load(tmp_path), known, name)


@pytest.mark.parametrize("name", TAGGERS)
def test_a_tagger_has_its_journal_and_is_saved_under_the_new_names(first, known, name, tmp_path):
    tagger = Tagger.load(first / name)
    assert tagger.document("new").labels == ["Antarctica", "New label"]
    assert_suggestions(tagger, known, name)
    tagger.save(tmp_path / "elsewhere")
    assert names_in(tmp_path / "elsewhere") <= set(CLASSES)
    assert_suggestions(Tagger.load(tmp_path / "elsewhere"), known, name)


@pytest.mark.parametrize("name", TAGGERS)
def test_a_tagger_goes_on_learning_in_its_old_folder(first, known, name, tmp_path):
    tagger = Tagger.load(first / name)
    tagger.save(tmp_path / "other")
    tagger.learn(["Emperor penguins on the ice"], [["Antarctica"]], ids=["newer"])
    tagger.compact()
    again = Tagger.load(tmp_path / "other")
    assert again.suggest(known["text"]) == tagger.suggest(known["text"])
    assert again.document("newer").labels == ["Antarctica"]


@pytest.mark.parametrize("name", TAGGERS)
def test_labels_of_a_tagger_from_before_labels_could_be_edited_can_be(first, known, name, tmp_path):
    tagger = Tagger.load(first / name)
    tagger.save(tmp_path / "other")
    assert "edits" not in (tmp_path / "other" / "model.json").read_text()
    tagger.edit_labels("rename", "New label", "Newer label")
    tagger.edit_labels("hide", "Antarctica")
    again = Tagger.load(tmp_path / "other")
    assert again.document("new").labels == ["Antarctica", "Newer label"]
    assert again.hidden_labels == ["Antarctica"]
    assert "Antarctica" not in again.suggest(known["text"], top=None).labels
    again.edit_labels("undo")
    again.edit_labels("undo")
    assert_suggestions(Tagger.load(tmp_path / "other"), known, name)


def test_the_manifest_of_the_first_format_reads_as_one_of_today(first):
    manifest = read_manifest(first / "lcif")
    assert manifest["version"] == FORMAT_VERSION
    assert manifest["class"] == "LCIF"
