"""Candidates of several sources."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse

from manylabel.scoring.candidates import union

patterns = arrays(np.int8, (3, 6), elements=st.integers(0, 1))


@given(st.lists(patterns, min_size=1, max_size=3))
def test_a_single_document_has_the_same_candidates_as_among_others(given):
    together = union([sparse.csr_array(pattern) for pattern in given])
    assert together.toarray().tolist() == (np.sum(given, axis=0) > 0).astype(int).tolist()
    for row in range(3):
        alone = union([sparse.csr_array(pattern[[row]]) for pattern in given])
        expected = together[[row]]
        assert alone.toarray().tolist() == expected.toarray().tolist()
        assert alone.indices.tolist() == expected.indices.tolist()
        assert (alone.dtype, alone.indices.dtype) == (expected.dtype, expected.indices.dtype)
        assert alone.has_canonical_format
