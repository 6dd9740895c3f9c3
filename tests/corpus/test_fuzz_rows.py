"""Extreme Classification text and svmlight: what the naive readers read, or an error."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive import corpora as naive
from naive.mutation import mutated

from manylabel.corpus import Corpus, read
from manylabel.exceptions import CorpusError
from manylabel.kernels import corpus_parsing

numbers = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.integers(-(10**25), 10**25).map(str),
    st.decimals(allow_nan=False, allow_infinity=False, places=7).map(str),
    st.from_regex(
        r"[-+]?([0-9]{1,25}\.?[0-9]{0,25}|\.[0-9]{1,25})([eE][-+]?[0-9]{1,3})?", fullmatch=True
    ),
)
lines = st.lists(
    st.tuples(
        st.lists(st.integers(0, 4), max_size=3),
        st.dictionaries(st.integers(0, 6), numbers, max_size=4),
    ),
    max_size=5,
).map(
    lambda rows: [
        " ".join([",".join(map(str, labels)), *(f"{f}:{v}" for f, v in features.items())])
        for labels, features in rows
    ]
)
MARKS = [b" ", b"\n", b":", b",", b"-", b"1", b"99", b"\t", b"\r", b"#", b"e", b"."]


@given(numbers)
def test_numbers_are_those_of_python(text):
    kind, value, end = corpus_parsing.read_number(
        np.frombuffer(text.encode(), np.uint8), 0, len(text)
    )
    assert end == len(text)
    assert kind in (corpus_parsing.EXACT, corpus_parsing.LONG)
    if kind == corpus_parsing.EXACT:
        assert value == float(text)
        assert math.copysign(1, value) == math.copysign(1, float(text))


@pytest.mark.parametrize("power", range(23))
def test_numbers_halfway_between_two_floats_are_rounded_as_python_does(power):
    random = np.random.default_rng(power)
    for half in (random.integers(1 << 52, 1 << 53, size=50) * 2 + 1).tolist():
        for whole in (half - 1, half, half + 1):
            text = f"{whole}e-{power}"
            block = np.frombuffer(text.encode(), np.uint8)
            kind, value, _ = corpus_parsing.read_number(block, 0, len(text))
            assert kind == corpus_parsing.LONG or value == float(text)


def rows_of(corpus: Corpus, base: int = 0) -> list[tuple[set[int], dict[int, float]]]:
    return [
        (
            set(corpus.Y[[row]].indices.tolist()),
            dict(
                zip(
                    (corpus.X[[row]].indices + base).tolist(),
                    corpus.X[[row]].data.tolist(),
                    strict=True,
                )
            ),
        )
        for row in range(len(corpus))
    ]


@given(mutated(lines.map(lambda rows: "\n".join([f"{len(rows)} 7 5", *rows])), MARKS))
def test_mutated_xc_is_read_as_the_naive_reader_does_or_refused(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("fuzz") / "x.txt"
    path.write_bytes(data)
    try:
        expected = naive.read_xc(data)
    except naive.RefusedError:
        with pytest.raises(CorpusError):
            read(path, format="xc")
        return
    corpus = read(path, format="xc")
    assert (corpus.n_features, corpus.n_labels) == expected[:2]
    assert rows_of(corpus) == expected[2]


@given(mutated(lines.map("\n".join), MARKS), st.booleans())
def test_mutated_svmlight_is_read_as_the_naive_reader_does_or_refused(
    tmp_path_factory, data, zero_based
):
    path = tmp_path_factory.mktemp("fuzz") / "x.svm"
    path.write_bytes(data)
    base = 0 if zero_based else 1
    try:
        expected = naive.read_svmlight(data, base)
    except naive.RefusedError:
        with pytest.raises(CorpusError):
            read(path, format="svmlight", zero_based=zero_based)
        return
    corpus = read(path, format="svmlight", zero_based=zero_based)
    assert rows_of(corpus, base) == expected
