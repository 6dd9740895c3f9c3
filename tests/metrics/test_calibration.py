from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from manylabel.exceptions import InputError
from manylabel.metrics import calibration


def test_scores_that_come_true_have_hardly_any_error():
    rng = np.random.default_rng(0)
    scores = rng.random((400, 50))
    truth = rng.random((400, 50)) < scores
    found = calibration(truth, sparse.csr_array(scores))
    assert found.error < 0.01
    assert found.n_pairs.sum() == 20_000
    assert np.abs(found.scores - found.right).max() < 0.03


def test_overconfident_scores_are_detected():
    rng = np.random.default_rng(0)
    scores = rng.uniform(0.1, 1, (200, 20))
    truth = rng.random((200, 20)) < scores / 2
    assert calibration(truth, scores).error == pytest.approx(scores.mean() / 2, abs=0.02)


def test_labels_that_are_no_candidates_are_left_out():
    found = calibration([[1, 1]], sparse.csr_array([[0.0, 0.75]]))
    assert (found.n_pairs.tolist(), found.error) == ([1], 0.25)


def test_nothing_to_look_at_is_no_error():
    assert calibration([[1, 0]], sparse.csr_array((1, 2))).error == 0


def test_other_scores_are_refused():
    with pytest.raises(InputError, match="must be probabilities between 0 and 1"):
        calibration([[1, 0]], [[3.0, 0.5]])


def test_the_reliability_diagram_is_drawn(tmp_path):
    pytest.importorskip("matplotlib")
    calibration([[1, 0]], [[0.9, 0.2]]).plot(tmp_path / "plot.svg")
    assert "<svg" in (tmp_path / "plot.svg").read_text()
