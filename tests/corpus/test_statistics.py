"""The figures and plots of the papers' tables of corpora."""

from __future__ import annotations

import sys
from collections import Counter
from statistics import mean, median

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from manylabel.corpus import Corpus
from manylabel.corpus.plots import plot_label_frequencies, plot_labels_per_document
from manylabel.exceptions import MissingExtraError

PETS = Corpus([[1, 0, 2], [0, 3, 0], [0, 0, 0]], [[1, 0], [1, 1], [1, 0]])


@given(st.lists(st.sets(st.integers(0, 3)), min_size=1, max_size=10))
def test_figures_follow_their_definitions(sets):
    Y = np.array([[label in labels for label in range(4)] for labels in sets], dtype=int)
    X = np.tril(np.ones((len(sets), 5)), 1)
    found = Corpus(X, Y).statistics().to_dict()
    frequencies = [sum(label in labels for labels in sets) for label in range(4)]
    combinations = Counter(map(frozenset, sets))
    often = Counter(frequencies)
    per_row = [int((row != 0).sum()) for row in X]
    assert found == pytest.approx(
        {
            "documents": len(sets),
            "features": 5,
            "labels": 4,
            "label-cardinality": mean(map(len, sets)),
            "label-density": mean(map(len, sets)) / 4,
            "labels-per-document-median": median(map(len, sets)),
            "labels-per-document-max": max(map(len, sets)),
            "label-frequency-mean": mean(frequencies),
            "label-frequency-median": median(frequencies),
            "label-frequency-mode": min(f for f in often if often[f] == max(often.values())),
            "label-frequency-max": max(frequencies),
            "distinct-label-sets": len(combinations),
            "label-set-frequency-mean": len(sets) / len(combinations),
            "unique-label-set-proportion": sum(combinations[frozenset(s)] == 1 for s in sets)
            / len(sets),
            "feature-cardinality": mean(per_row),
            "feature-density": mean(per_row) / 5,
            "documents-without-labels": sum(not labels for labels in sets),
            "documents-without-features": sum(not count for count in per_row),
            "labels-without-documents": frequencies.count(0),
        }
    )


def test_texts_have_no_figures_of_features_yet():
    found = Corpus.from_texts(["a"], [["x"]]).statistics()
    assert found.features is None
    assert found.feature_cardinality is None
    assert found.documents_without_features is None


def test_an_empty_corpus_has_zeros():
    found = Corpus(np.zeros((0, 0)), np.zeros((0, 0))).statistics().to_dict()
    assert set(found.values()) == {0}


@pytest.mark.parametrize(
    ("plot", "mark"), [(plot_label_frequencies, 1), (plot_labels_per_document, 2)]
)
def test_plots_are_figures_and_files(tmp_path, plot, mark):
    for ending, magic in {".svg": b"<?xml", ".png": b"\x89PNG"}.items():
        path = tmp_path / f"plot{ending}"
        figure = plot(PETS, path)
        assert path.read_bytes().startswith(magic)
    assert figure.axes[0].get_xlabel()


def test_figure_1_counts_labels_by_frequency():
    line = plot_label_frequencies(PETS).axes[0].lines[0]
    assert line.get_xdata().tolist() == [1, 3]
    assert line.get_ydata().tolist() == [1, 1]


def test_figure_2_counts_documents_by_labels():
    bars = plot_labels_per_document(PETS).axes[0].patches
    assert [bar.get_height() for bar in bars] == [2, 1]


def test_plots_without_matplotlib_name_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtraError, match=r"Drawing plots needs matplotlib.*\[plot\]"):
        plot_label_frequencies(PETS)
