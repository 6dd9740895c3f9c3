"""Extreme Classification text is read exactly or refused with file, line and expectation."""

from __future__ import annotations

import gzip
import tracemalloc

import numpy as np
import pytest

from manylabel.corpus import Corpus, limits, read, write
from manylabel.exceptions import CorpusError


def test_rows_labels_and_values(file):
    corpus = read(file("4 5 3\n2,0 1:2 3:0.5\n 4:-1e-3\n\n1\n"))
    assert corpus.X.toarray().tolist() == [
        [0, 2, 0, 0.5, 0],
        [0, 0, 0, 0, -0.001],
        [0] * 5,
        [0] * 5,
    ]
    assert corpus.Y.toarray().tolist() == [[1, 0, 1], [0, 0, 0], [0, 0, 0], [0, 1, 0]]
    assert corpus.X.dtype == np.float64
    assert corpus.Y.dtype == np.int8
    assert corpus.label_names == ["0", "1", "2"]


def test_a_row_may_start_with_its_features_and_end_in_any_way(file):
    corpus = read(file("2 3 1\r\n0:1\t2:2  \r\n0 \t1:1"))
    assert corpus.X.toarray().tolist() == [[1, 0, 2], [0, 1, 0]]
    assert corpus.Y.toarray().tolist() == [[0], [1]]


def test_features_in_any_order_are_sorted_and_zeros_dropped(file):
    corpus = read(file("1 9 1\n0 8:1 2:3 5:0\n"))
    assert corpus.X.indices.tolist() == [2, 8]
    assert corpus.X.data.tolist() == [3, 1]


def test_a_label_given_twice_counts_once(file):
    assert read(file("1 1 4\n3,3,1 0:1\n")).Y.indices.tolist() == [1, 3]


def test_blank_lines_after_the_last_row_are_no_rows(file):
    assert len(read(file("1 1 1\n0 0:1\n\n \n"))) == 1


def test_names_are_found_beside_the_file(file):
    path = file("1 2 2\n0 1:1\n")
    file("cats\ndogs\n", "labels.txt")
    file("fur\nbark\n", "features.txt")
    corpus = read(path)
    assert corpus.label_names == ["cats", "dogs"]
    assert corpus.feature_names == ["fur", "bark"]
    assert read(path, labels=["x", "y"]).label_names == ["x", "y"]


def test_names_that_do_not_fit_are_refused(file):
    path = file("1 2 2\n0 1:1\n")
    file("cats\n", "labels.txt")
    with pytest.raises(
        CorpusError, match=r"expected 2 names in .*labels.txt, one for each of the labels, found 1"
    ):
        read(path)


@pytest.mark.parametrize(
    ("content", "line", "message"),
    [
        ("", None, "the file is empty"),
        ("2 3\n", 1, "expected a header of three whole numbers"),
        ("2 3 x\n", 1, "expected a header of three whole numbers"),
        ("1 9999999999 1\n0 1:1\n", 1, "expected at most 2147483647 features and labels"),
        ("3 2 2\n0 0:1\n1 1:1\n", 3, "expected 3 rows as in the header, found 2"),
        ("1 2 2\n0 0:1\n\n1 1:1\n", 4, "expected 1 row as in the header, found more"),
        ("1 2 2\n0 2:1\n", 2, "expected features below 2, found '2'"),
        ("1 2 2\n2 1:1\n", 2, "expected labels below 2, found '2'"),
        ("1 2 2\n99999999999999999999999 1:1\n", 2, "expected labels below 2"),
        ("2 2 2\n0 0:1\n1 1:nan\n", 3, "finite number as the value of feature 1, found 'nan'"),
        ("1 2 2\n0 0:inf\n", 2, "expected a finite number"),
        ("1 2 2\n0 0:1e999\n", 2, "expected a finite number"),
        ("1 2 2\n0 0:1_0\n", 2, "expected a finite number"),
        ("1 2 2\n0 0:\n", 2, "found ''"),
        ("1 2 2\n0 0:1:2\n", 2, "found '1:2'"),
        ("1 2 2\n0 -1:2\n", 2, "expected 'feature:value'"),
        ("1 2 2\n0 1\n", 2, "expected 'feature:value' with a whole number as feature, found '1'"),
        ("1 2 2\na 1:1\n", 2, "expected whole numbers as labels, separated by commas, found 'a'"),
        ("1 2 2\n-1 1:1\n", 2, "expected whole numbers as labels"),
        ("1 2 2\n1.0 1:1\n", 2, "found '1.0'"),
        ("1 2 2\n0,,1 1:1\n", 2, "found ''"),
        ("1 2 2\n0, 1 1:1\n", 2, "expected whole numbers as labels"),
        ("1 2 2\n0 1:1 0:2 1:3\n", 2, "expected each feature once, found feature 1 twice"),
        (b"1 2 2\n0 1:\xff\n", 2, "expected UTF-8 text, found byte 0xff at position 5"),
        (b"1 2 \xff\n0 1:1\n", 1, "expected UTF-8 text"),
    ],
)
def test_bad_input_is_refused_with_file_line_and_expectation(file, content, line, message):
    path = file(content)
    with pytest.raises(CorpusError) as caught:
        read(path, format="xc")
    assert message in str(caught.value)
    assert caught.value.line == line
    assert caught.value.path == str(path)


def test_the_line_is_right_far_into_a_file_of_many_blocks(file):
    rows = ["0 0:1 1:0.25"] * 500_000
    rows[444_444] = "0 0:1 1:?"
    with pytest.raises(CorpusError, match=r"line 444446: .* found '\?'"):
        read(file("500000 2 1\n" + "\n".join(rows)))


def test_memory_grows_with_the_values_not_with_the_file(file):
    rows = ("0 0:1" + " " * 2000 + "1:1\n").encode() * 20_000
    path = file(gzip.compress(b"20000 2 1\n" + rows, 1), "train.txt.gz")
    with limits(expansion=1000):
        read(path)
        tracemalloc.start()
        corpus = read(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert corpus.X.nnz == 40_000
    assert peak < len(rows) / 2


def test_a_line_of_a_million_columns_is_read(file):
    line = " ".join(f"{feature}:1" for feature in range(1_000_000))
    corpus = read(file(f"1 1000000 1\n0 {line}\n"))
    assert corpus.X.nnz == 1_000_000


def test_a_header_that_promises_columns_without_end_costs_nothing(file):
    corpus = read(file("1 2147483647 2147483647\n5 7:1\n"))
    assert corpus.X.shape == (1, 2147483647)


def test_texts_are_refused(tmp_path):
    with pytest.raises(CorpusError, match="vectorise it first"):
        write(Corpus.from_texts(["a"], [["x"]]), tmp_path / "out.txt")


def test_names_of_another_corpus_are_not_overwritten(file, tmp_path):
    file("cats\n", "labels.txt")
    corpus = Corpus([[1]], [[1]], label_names=["dogs"])
    with pytest.raises(CorpusError, match="the file exists and has other names than the corpus"):
        write(corpus, tmp_path / "out.txt")
