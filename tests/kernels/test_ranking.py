"""Rankings follow the tie rule: higher score first, then lower column."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from manylabel.kernels.ranking import rank_order

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
