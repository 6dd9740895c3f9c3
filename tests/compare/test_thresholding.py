"""One threshold or one for each label: figure 1 of Feremans et al."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from manylabel.compare import Plan, Problem, Results, Row
from manylabel.compare.cells import Cell, Finished, read_cell, write_cell
from manylabel.compare.figures import figure_sections, figure_status
from manylabel.compare.presets.lcif import THRESHOLD_ROWS
from manylabel.compare.thresholding import (
    gain_table,
    match_table,
    predicted_labels,
    threshold_statements,
)
from manylabel.compare.units import label_counts
from manylabel.compare.worker import _measure
from manylabel.metrics.registry import Inputs

MEASURE = "macro-f1-one"
PRESET = "lcif-table-2"
#: Forty labels, the last four of which are in no test document.
TRUTH = (np.arange(50)[:, None] < np.r_[np.arange(38, 2, -1), [0] * 4]).astype(int)
#: The ten most frequent labels for every document, and no others.
ONE = np.tile((np.arange(40) < 10).astype(int), (50, 1))
#: All labels of the test documents as they are; the first document gets the other four, too.
EACH = TRUTH.copy()
EACH[0, 36:] = 1
PLAN = Plan(
    "Title",
    (Problem("corel5k", "train", "test", title="Corel5k"),),
    tuple(Row(title, "lcif", tuned_for=(MEASURE,)) for title in THRESHOLD_ROWS),
    (MEASURE,),
)


def finished(labels: np.ndarray) -> Finished:
    given = Inputs(TRUTH, None, labels, None)
    measures, units = _measure(given, [MEASURE])
    record = {
        "measures": measures,
        "seconds": {"train": 1.0, "predict": 1.0},
        "memory": {"peak": 1e8},
        "settings": {},
        "curves": {},
        "machine": {},
    }
    return Finished(record, units, {MEASURE: label_counts(given)})


@pytest.fixture
def results() -> Results:
    cells = [Cell(PLAN.problems[0], "corpus", row, 0, row.title) for row in PLAN.rows]
    runs = {THRESHOLD_ROWS[0]: finished(ONE), THRESHOLD_ROWS[1]: finished(EACH)}
    corpus = {"documents": [99, 50], "frequencies": [90] * 36 + [2] * 3 + [21]}
    return Results(PLAN, cells, runs, {}, {"corpus": corpus})


def without_counts(results: Results) -> Results:
    runs = {key: replace(run, counts={}) for key, run in results.finished.items()}
    return replace(results, finished=runs)


def test_counts_are_kept_beside_the_measures(tmp_path):
    write_cell(tmp_path, "key", finished(EACH))
    read = read_cell(tmp_path, "key")
    assert set(read.units) == {MEASURE}
    np.testing.assert_array_equal(read.counts[MEASURE][2], TRUTH.sum(axis=0))
    assert read.counts[MEASURE].dtype == np.int64


def test_labels_are_in_the_order_of_their_frequency(results):
    found = predicted_labels(results, PLAN.problems[0])
    assert np.all(np.diff(found.true) <= 0)
    assert found.predicted[0][:11].tolist() == [50] * 10 + [0]
    assert found.off(1) == 0
    # The first ten have 38 to 29 documents, the next twenty 28 to 9.
    assert found.off(0) == pytest.approx((10 * 16.5 + 20 * 18.5) / 30)


def test_the_table_sums_documents_by_frequency(results):
    lines = [[cell.strip() for cell in line.split("|")[1:-1]] for line in
             match_table(results).splitlines() if line.startswith("|")]  # fmt: skip
    assert lines[2] == ["1 to 10", "10", "335", "500", "335"]
    assert lines[4] == ["21 to 30", "10", "135", "0", "135"]
    assert lines[5][:2] == ["others in the test documents", "6"]
    assert lines[6] == ["not in the test documents", "4", "0", "0", "4"]
    assert "10 are predicted too often and 20 too rarely" in match_table(results)


def test_what_is_lost_on_labels_that_are_not_there_is_told(results):
    small = replace(results, finished=dict(results.finished))
    labels = ONE.copy()
    labels[0, 36:] = 1
    small.finished[THRESHOLD_ROWS[1]] = finished(labels)
    table = gain_table(small)
    assert "worse" in table
    assert "labels that are not in the test documents -0.100" in table
    assert "one threshold predicts 0 and label thresholds 4" in table
    assert "3 of the 4 new ones have at most 20 training documents" in table
    assert "+0.000 |" in table
    assert "reason is not known" in gain_table(without_counts(small))


def test_a_gain_needs_no_reason(results):
    row = next(line for line in gain_table(results).splitlines() if line.startswith("| Corel5k"))
    assert "| better |" in row
    assert "change of macro F1" not in gain_table(results)


def test_statements_follow_from_the_counts(results):
    assert [each.holds for each in threshold_statements(results)] == [True] * 4
    swapped = dict(zip(THRESHOLD_ROWS, reversed(results.finished.values()), strict=True))
    swapped = replace(results, finished=swapped)
    assert [each.holds for each in threshold_statements(swapped)] == [False] * 4


def test_older_cells_have_no_figure(results):
    older = without_counts(results)
    assert match_table(older) == ""
    assert len(threshold_statements(older)) == 1
    assert figure_status("lcif-figure-1", {PRESET: older}) == "not shown"
    assert figure_sections(PRESET, older)[1] == {}


def test_the_status_counts_statements_and_missing_runs(results):
    assert figure_status("lcif-figure-1", {}) == "not run yet"
    assert figure_status("lcif-figure-1", {PRESET: results}) == "4 of 4 statements hold"
    half = replace(results, finished={THRESHOLD_ROWS[0]: results.finished[THRESHOLD_ROWS[0]]})
    assert figure_status("lcif-figure-1", {PRESET: half}) == "not run yet"
    assert figure_sections(PRESET, half) == ([], {})


def test_the_picture_is_linked(results):
    sections, pictures = figure_sections(PRESET, results)
    assert "(images/lcif-figure-1.svg)" in "\n".join(sections)
    assert pictures["lcif-figure-1.svg"].startswith("<?xml")
    assert "predicted, label thresholds" in pictures["lcif-figure-1.svg"]
