"""Multi-label svmlight, as scikit-learn reads and writes it."""

from __future__ import annotations

import io

import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

from manylabel.corpus import Corpus, read, write
from manylabel.exceptions import CorpusError


def test_rows_comments_and_blank_lines(file):
    corpus = read(file("# hello\n2,0 1:2 3:0.5 # note\n\n0:1\n3\n", "train.svm"))
    assert corpus.X.toarray().tolist() == [[0, 2, 0, 0.5], [1, 0, 0, 0], [0] * 4]
    assert corpus.Y.toarray().tolist() == [[1, 0, 1, 0], [0] * 4, [0, 0, 0, 1]]


def test_features_count_from_one_unless_a_zero_occurs(file):
    path = file("0 1:5 3:7\n", "train.svm")
    assert read(path).X.toarray().tolist() == [[5, 0, 7]]
    assert read(path, zero_based=True).X.toarray().tolist() == [[0, 5, 0, 7]]
    told = file("# Column indices are zero-based\n0 1:5\n", "told.svm")
    assert read(told).X.toarray().tolist() == [[0, 5]]


def test_names_beside_the_file_tell_its_width(file):
    path = file("1 0:5\n", "train.svm")
    file("a\nb\nc\n", "labels.txt")
    assert read(path).Y.shape == (1, 3)
    with pytest.raises(CorpusError, match="line 1: expected labels from 0 to 0, found 1"):
        read(path, labels=["a"])


def test_it_is_told_from_the_other_formats_by_content(file):
    assert read(file("3,1 4:1 5:2\n 1:1\n")).Y.shape == (2, 4)


@pytest.mark.parametrize(
    ("content", "options", "line", "message"),
    [
        ("# nothing\n\n", {}, None, "expected at least one row, found none"),
        ("0 1:1\n0 0:1\n", {"zero_based": False}, 2, "expected features from 1 to 1, found 0"),
        ("0 1:1\n+1 1:1\n", {}, 2, "expected whole numbers as labels"),
        ("0 qid:1 1:1\n", {}, 1, "expected 'feature:value' with a whole number"),
        ("# c\n0 1:1 1:2\n", {}, 2, "expected each feature once, found feature 1 twice"),
        ("0 2147483647:1\n", {}, 1, "expected features below 2147483647"),
        ("# 2 rows, 3 features from 0, 1 labels\n0 1:1\n", {}, None, "expected 2 rows"),
        ("# 1 rows, 3 features from 0, 1 labels\n0 3:1\n", {}, 2, "features from 0 to 2, found 3"),
    ],
)
def test_bad_input_is_refused(file, content, options, line, message):
    with pytest.raises(CorpusError) as caught:
        read(file(content, "x.svm"), **options)
    assert message in str(caught.value)
    assert caught.value.line == line


def test_rows_without_anything_are_kept(tmp_path):
    path = tmp_path / "out.svm"
    write(Corpus([[0, 0], [0, 1]], [[0], [1]]), path)
    assert read(path).X.toarray().tolist() == [[0, 0], [0, 1]]
    with pytest.raises(CorpusError, match="a row without labels and features would be a blank"):
        write(Corpus(np.zeros((1, 0)), [[0]]), path)


def test_scikit_learn_and_we_read_each_others_files(tmp_path):
    random = np.random.default_rng(0)
    X = random.random((30, 8)).round(6) * (random.random((30, 8)) < 0.5)
    Y = (random.random((30, 4)) < 0.4).astype(int)
    Y[0], X[:, 0], X[0, 0] = 1, 0, 1
    theirs = tmp_path / "theirs.svm"
    dump_svmlight_file(X, Y, str(theirs), multilabel=True, zero_based=True)
    corpus = read(theirs)
    np.testing.assert_array_equal(corpus.X.toarray(), X)
    np.testing.assert_array_equal(corpus.Y.toarray(), Y)
    ours = tmp_path / "ours.svm"
    write(Corpus(X, Y), ours)
    loaded, labels = load_svmlight_file(
        io.BytesIO(ours.read_bytes()), n_features=8, multilabel=True, zero_based=True
    )
    np.testing.assert_array_equal(loaded.toarray(), X)
    assert [set(map(int, row)) for row in labels] == [set(np.flatnonzero(row)) for row in Y]
