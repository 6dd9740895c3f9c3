"""Random numbers."""

from __future__ import annotations

import numpy as np

from manylabel.kernels import rng


def draws(seed, name, n=20_000):
    state = np.empty(1, np.uint64)
    rng.start_stream(state, np.uint64(seed), np.uint64(name))
    return np.array([rng.uniform(state) for _ in range(n)])


def test_numbers_are_uniform():
    numbers = draws(0, 0)
    assert 0.0 <= numbers.min() < numbers.max() < 1.0
    counts = np.histogram(numbers, bins=20, range=(0, 1))[0]
    # The 99.9 % point of chi-square with 19 degrees of freedom.
    assert ((counts - 1000) ** 2 / 1000).sum() < 43.8
    assert abs(np.corrcoef(numbers[1:], numbers[:-1])[0, 1]) < 0.03


def test_streams_of_neighbouring_seeds_and_names_have_nothing_in_common():
    streams = [draws(seed, name) for seed in range(2) for name in range(2)]
    off_diagonal = np.corrcoef(streams) - np.eye(4)
    assert np.abs(off_diagonal).max() < 0.03
    np.testing.assert_array_equal(draws(1, 1, 5), streams[3][:5])


def test_a_stream_is_named_by_a_document_and_not_by_its_place():
    words, values = np.array([4, 7, 4, 7, 8], np.int32), np.array([1.0, 2, 1, 2, 2])
    name = rng.document_name(words, values, 0, 2)
    assert rng.document_name(words, values, 2, 4) == name
    assert rng.document_name(words, values, 3, 5) != name
