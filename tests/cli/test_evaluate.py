"""`manylabel evaluate`."""

from __future__ import annotations

import re

import pytest

from manylabel.metrics import MEASURES, get_measure
from manylabel.tagger import Tagger


def test_measures_are_one_flat_object(call, catalogue):
    called = call("evaluate", catalogue / "model", catalogue / "test.jsonl", "--json")
    assert (called.code, called.err) == (0, "")
    found = called.json
    assert all(isinstance(value, float) for value in found.values())
    assert {"p@1", "p@3", "p@5", "rp@5", "ndcg@5", "psp@1", "recall@5"} <= set(found)
    assert {name for name in MEASURES if not name.endswith("@k")} <= set(found)
    assert found == Tagger.load(catalogue / "model").evaluate(catalogue / "test.jsonl")


def test_the_tables_put_cutoffs_side_by_side_and_say_what_measures_mean(call, catalogue):
    shown = call("evaluate", catalogue / "model", catalogue / "test.jsonl", "--table").out
    assert max(map(len, shown.splitlines())) <= 80
    assert "lcif on 158 documents" in shown
    assert re.search(
        r"p@k +\d+\.\d\d % +\d+\.\d\d % +\d+\.\d\d % +precision among the k best", shown
    )
    assert re.search(r"micro-f1 +\d+\.\d\d % +F1 over all", shown)
    assert re.search(r"coverage-error +\d+\.\d\d +rank of the last", shown)
    assert "20 more: --json, or --metrics with their names" in shown


def test_measures_can_be_chosen(call, catalogue):
    chosen = ("--metrics", "p@2, label-auc-roc")
    asked = ("evaluate", catalogue / "model", catalogue / "test.jsonl", *chosen)
    assert list(call(*asked, "--json").json) == ["p@2", "label-auc-roc"]
    shown = call(*asked, "--table").out
    assert "k = 2" in shown
    assert get_measure("label-auc-roc").name in shown
    assert "more" not in shown


@pytest.mark.parametrize(
    ("metrics", "message"),
    [("p@0", "unknown measure 'p@0'"), ("micro-f", "did you mean micro-f1")],
)
def test_unknown_measures_are_refused_at_once(call, metrics, message):
    called = call("evaluate", "nowhere", "nowhere", "--metrics", metrics)
    assert called.code == 1
    assert message in called.err


def test_features_are_measured_too(call, rows, tmp_path):
    assert (
        call("train", rows, "-o", tmp_path / "m", "--model", "lcif", "-q", "--set", "k=1").code == 0
    )
    assert call("evaluate", tmp_path / "m", rows, "--json").json["p@1"] == pytest.approx(2 / 3)


def test_texts_are_no_features(call, rows, catalogue):
    called = call("evaluate", catalogue / "model", rows)
    assert called.code == 1
    assert "this tagger was trained on texts; the corpus has only features." in called.err
