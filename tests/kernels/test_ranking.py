"""Rankings follow the tie rule: higher score first, then lower column."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from manylabel import predictions
from manylabel.kernels.compile import Kernel
from manylabel.kernels.ranking import rank_order
from manylabel.metrics import judge

# Few distinct values, so that most are tied; rows are shorter and longer than a sorted stretch.
_ROW = st.lists(st.sampled_from([-1.0, 0.0, 0.25, 0.5, 1.0, np.inf]), max_size=80)


@given(st.lists(_ROW, max_size=4), st.sampled_from([np.float32, np.float64]))
def test_equal_scores_keep_the_order_of_their_columns(rows, dtype):
    ptr = np.cumsum([0, *map(len, rows)])
    scores = np.array([score for row in rows for score in row], dtype)
    expected = [
        start + place
        for start, row in zip(ptr, rows, strict=False)
        for place in sorted(range(len(row)), key=lambda column, row=row: (-row[column], column))
    ]
    assert rank_order(ptr, scores).tolist() == expected


@given(st.data())
def test_few_entries_are_ranked_and_judged_without_kernels_to_the_same_result(data):
    sizes = data.draw(st.lists(st.integers(0, 12), min_size=2, max_size=6))
    ptr, size = np.concatenate([[0], np.cumsum(sizes)]), sum(sizes)
    some = st.sampled_from([-1.0, 0.0, 0.25, 0.5, 1.0])
    scores = np.array(data.draw(st.lists(some, min_size=size, max_size=size)), np.float64)
    assert predictions._order_of_rows(ptr, scores).tolist() == rank_order(ptr, scores).tolist()
    columns = np.concatenate([*map(np.arange, sizes), []]).astype(np.int64)
    matrix = sparse.csr_array((scores, columns, ptr), shape=(len(sizes), 12))
    flags = data.draw(st.lists(st.booleans(), min_size=scores.size, max_size=scores.size))
    kept = np.flatnonzero(flags)
    truth = sparse.csr_array(
        (np.ones(kept.size, np.int8), columns[kept], np.searchsorted(kept, ptr)),
        shape=matrix.shape,
    )
    top = data.draw(st.integers(1, 5))
    found = []
    for few in (0, 1000):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(predictions, "FEW", few)
            patch.setattr(judge, "FEW", few)
            patch.setattr(Kernel, "is_compiled", not few)
            judged = judge.judge_matrices(truth, matrix)
            best = predictions.best_of_rows(ptr, scores, top)
            first = judged.head(top)
            arrays = *vars(judged).values(), best, first
            found.append([(array.dtype, array.tolist()) for array in arrays])
    assert found[0] == found[1]
