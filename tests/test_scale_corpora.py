"""Generated corpora of any size: streamed, seeded, with a known best score."""

from __future__ import annotations

import json
import lzma
import sys
from pathlib import Path

import numpy as np
import pytest
from naive import themes as naive

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.scale_corpora import SIZES, judge, main, with_pairs, write_pairs, write_themes
from benchmarks.themes import SHARES, Size, Themes
from manylabel import LCIF, read
from manylabel.metrics import precision_at

TINY = Size(train=700, test=300, words=600, labels=450, length=20.0, cardinality=4.0)


@pytest.fixture(scope="module")
def model():
    return Themes(TINY, seed=3)


def test_the_posterior_is_exact(model):
    distributions = [
        naive.word_probabilities(
            SHARES,
            model.background,
            model.topic_words[model.topic_of[theme]],
            model.topic_weights,
            model.theme_words[theme],
            model.theme_weights,
        )
        for theme in range(model.n_themes)
    ]
    assert all(sum(words.values()) == pytest.approx(1) for words in distributions)
    (drawn,) = model.draw(12, "test")
    labels, values = model.best(drawn.X, top=4)
    for row in range(12):
        mine = drawn.X[[row]]
        counts = dict(zip(mine.indices.tolist(), mine.data.tolist(), strict=True))
        expected = naive.label_chances(
            counts, model.prior, distributions, model.labels.tolist(), model.chances
        )
        best = sorted(expected.values(), reverse=True)[:4]
        np.testing.assert_allclose(values[row], best, rtol=1e-9)
        np.testing.assert_allclose([expected[label] for label in labels[row]], best, rtol=1e-9)


def test_the_best_ranking_keeps_its_promise(model):
    """The posterior's expectation agrees with the drawn labels, within chance."""
    scores = judge(model, 2000)
    for k in (1, 3, 5):
        assert scores[f"p@{k}"] == pytest.approx(scores[f"expected p@{k}"], abs=0.035)
    assert scores["p@1"] > scores["p@5"] > 0.3


def test_documents_are_like_the_size_says(model):
    (drawn,) = model.draw(4096)
    assert drawn.X.sum(axis=1).mean() == pytest.approx(TINY.length, rel=0.05)
    assert drawn.Y.sum(axis=1).mean() == pytest.approx(TINY.cardinality, rel=0.1)
    assert drawn.Y.sum(axis=1).min() == 1
    assert model.n_labels == pytest.approx(TINY.labels, rel=0.05)


@pytest.mark.parametrize("n", [1, 4096, 5000])
def test_more_documents_begin_with_the_same(model, n):
    again = Themes(TINY, seed=3)
    parts = list(again.draw(n))
    assert sum(part.X.shape[0] for part in parts) == n
    (first,) = model.draw(1)
    assert (parts[0].X[[0]] != first.X).nnz == (parts[0].Y[[0]] != first.Y).nnz == 0
    assert (next(Themes(TINY, seed=4).draw(1)).X != first.X).nnz > 0


def test_a_model_learns_and_stays_below_the_best(tmp_path):
    best = write_themes(tmp_path, TINY, seed=1)
    train, test = read(tmp_path / "train.txt"), read(tmp_path / "test.txt")
    assert (len(train), len(test), train.n_features) == (700, 300, 600)
    found = precision_at(test.Y, LCIF(k=10).fit(train.X, train.Y).decision_function(test.X), 1)
    assert 0.4 * best["p@1"] < found <= best["p@1"] + 0.03


def test_published_sizes_shrink_together():
    small = SIZES["amazon-670k"].scaled(0.01)
    assert (small.train, small.test, small.labels, small.words) == (4904, 1530, 6701, 13591)


def test_pairs_become_labels(tmp_path):
    source = tmp_path / "source"
    source.mkdir()
    rows = {"train": [["b", "a"], ["a", "b", "c"], []], "test": [["a", "c"], ["c", "d"]]}
    for part, lists in rows.items():
        with lzma.open(source / f"{part}.jsonl.xz", "wt") as file:
            for labels in lists:
                file.write(json.dumps({"id": "x", "text": "t", "labels": labels}) + "\n")
    assert with_pairs(["b", "a", "a"]) == ["a", "b", "a+b"]
    about = write_pairs(tmp_path / "all", source)
    assert about["train"] == {
        "documents": 3,
        "labels": 6,
        "labels per document": 3.0,
        "labels without training documents": 0,
    }
    assert about["test"]["labels without training documents"] == 2
    first = next(iter(read(tmp_path / "all" / "train.jsonl").label_lists()))
    assert sorted(first) == ["a", "a+b", "b"]
    about = write_pairs(tmp_path / "some", source, at_least=2)
    assert about["train"]["labels"] == 4


def test_a_scale_above_one_is_refused(tmp_path, capsys):
    with pytest.raises(SystemExit):
        main(["amazon-670k", str(tmp_path), "--scale", "2"])
    assert "--scale must be above 0 and at most 1; got 2.0." in capsys.readouterr().err
