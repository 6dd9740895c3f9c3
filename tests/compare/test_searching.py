"""Tables 4 and 5 of Feremans et al."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from manylabel.compare.plan import Problem
from manylabel.compare.searching import PUBLISHED, measure_search, search_tables
from manylabel.corpus import read


def rows(n, seed):
    rng = np.random.default_rng(seed)
    return sparse.csr_array((rng.random((n, 12)) < 0.2).astype(float))


@pytest.mark.slow
def test_every_way_is_counted_and_timed():
    X, Q = rows(60, 0), rows(7, 1)
    found = measure_search(X, Q, k=5)
    # Term at a time evaluates every row that shares a feature with the query.
    shares = np.asarray(((Q @ X.T) > 0).sum(axis=1)).mean()
    assert found["candidates"]["taat"] == pytest.approx(shares)
    assert found["candidates"].keys() == found["milliseconds"].keys()
    assert (found["rows"], found["queries"]) == (60, 7)


def test_what_is_finished_is_not_measured_again_and_what_is_not_says_so(tmp_path):
    file = tmp_path / "train.txt"
    file.write_text("x")
    problem = Problem("medical", str(file), str(file), title="Medical")
    calls = []

    def parts(asked):
        calls.append(asked.name)
        return rows(30, 0), rows(5, 1)

    text, status = search_tables((problem,), tmp_path / "out", parts, collect=True)
    assert "not run yet" in text
    assert status == "not run yet"
    first = search_tables((problem,), tmp_path / "out", parts)
    assert search_tables((problem,), tmp_path / "out", parts) == first
    assert calls == ["medical"]
    assert "(197)" in first[0]
    assert "not run yet" not in first[0]
    assert first[1] == "4 better, 0 reached, 0 not reached"


def test_medical_has_the_paper_s_numbers_of_candidates(shared_data):
    train, test = (
        read(next((shared_data / "medical").glob(f"{part}.*"))) for part in ("train", "test")
    )
    found = measure_search(train.X, test.X)["candidates"]
    fagin, wand, _, taat = PUBLISHED["medical"]
    assert [round(found[name]) for name in ("fagin", "wand", "taat")] == [fagin, wand, taat]
