"""Every table and figure of the papers, with its status."""

from __future__ import annotations

from dataclasses import replace

import pytest
from compare.made import made_results

from manylabel.compare import PRESETS, Plan, Problem, Row
from manylabel.compare.best_models import best_counts
from manylabel.compare.figures import FIGURES
from manylabel.compare.inventory import (
    FUTURE,
    ITEMS,
    Item,
    future_table,
    inventory_table,
    status_of,
)
from manylabel.compare.paper_tables import time_table
from manylabel.compare.plan import Claim
from manylabel.compare.summary import claims_held, judged_values, results_page

PLAN = Plan(
    "Title",
    (Problem("one", "train", "test", title="One"),),
    (Row("Good", "lcif"), Row("Poor", "ml-knn")),
    ("micro-f1", "p@1"),
    published={("one", "Good"): {"micro-f1": 0.0, "p@1": 2.0}},
    source="A paper",
)


@pytest.fixture
def results():
    return made_results(PLAN, {"Good": 0.9, "Poor": 0.3}, {})


def test_items_name_presets_that_exist_or_say_where_they_stand():
    for item in ITEMS:
        assert item.preset in PRESETS if item.preset else item.status
        assert item.cause or item.status == "search"
        assert item.figure is None or FIGURES[item.figure].preset == item.preset
        assert status_of(item, {}, "searched", "exemplified") not in ("search", "examples", "")
    assert {item.figure for item in ITEMS} - {None} == set(FIGURES)
    assert {item.paper for item in ITEMS} == {paper for paper, *_ in FUTURE}


def test_values_are_counted_by_what_became_of_them(results):
    assert judged_values(results) == (1, 0, 1)
    assert judged_values(results, ("p@1",)) == (0, 0, 1)
    item = Item("P", "Table 1", "all", "it")
    assert status_of(item, {"it": results}, "") == "1 better, 0 reached, 1 not reached"
    assert status_of(replace(item, metrics=("seconds",)), {"it": results}, "") == "shown"


def test_what_was_not_run_says_so(results):
    item = Item("P", "Table 1", "all", "it")
    assert status_of(item, {}, "") == "not run yet"
    results.finished.pop(results.cells[1].key)
    assert status_of(item, {"it": results}, "").endswith("; 1 of 2 runs missing")
    page = results_page({"it": results}, "searches", "inventory", "future")
    assert "Not run yet:\n\n- One: Poor.\n" in page
    results.finished.clear()
    page = results_page({"it": results}, "searches", "inventory", "future")
    assert "Not run yet: preset `it`." in page


def test_figures_follow_the_tables_of_their_preset(results):
    figures = {"it": ["### A figure\n"], "other": ["### Another\n"]}
    page = results_page({"it": results}, "searches", "inventory", "future", figures)
    assert (
        page.index("How to read these tables")
        < page.index("### A figure")
        < page.index("## The test")
    )
    assert "### Another" not in page
    item = Item("P", "Figure 1", "thresholds", "lcif-table-2", figure="lcif-figure-1")
    assert status_of(item, {}, "") == "not run yet"


def test_statements_hold_or_not():
    claims = (
        Claim("Good", "Poor", ("micro-f1", "p@1"), {"one": "2 of 2"}),
        Claim("Poor", "Good", ("micro-f1", "p@1"), {"one": "nearly all"}),
        Claim("Good", "Poor", ("micro-f1", "p@1"), {"other": "2 of 2"}),
    )
    results = made_results(replace(PLAN, claims=claims), {"Good": 0.9, "Poor": 0.3}, {})
    assert claims_held(results, ("document",)) == (1, 2)
    assert claims_held(results, ("label",)) == (0, 0)


def test_tables_have_a_line_for_each_item():
    assert len(inventory_table({}).splitlines()) == len(ITEMS) + 2
    assert len(future_table().splitlines()) == len(FUTURE) + 2


def test_models_are_counted_where_they_are_best():
    metrics = ("auc-roc", "ranking-loss", "micro-f1@calibrated")
    plan = replace(
        PLAN,
        metrics=(*metrics, *(f"label-{name}" for name in metrics)),
        rankings={"all": ("Good", "Poor")},
    )
    results = made_results(plan, {"Good": 0.9, "Poor": 0.3}, {})
    table = best_counts(results, plan.problems[0])
    good = next(line for line in table.splitlines() if line.startswith("| Good"))
    # Ranking loss counts once, with the area under ROC.
    assert [cell.strip() for cell in good.split("|")[2:-1]] == ["1", "1", "1", "1", "4"]
    assert best_counts(made_results(PLAN, {"Good": 0.9, "Poor": 0.3}, {}), PLAN.problems[0]) == ""


def test_tuning_is_told_apart_where_there_is_some(results):
    problem = PLAN.problems[0]
    assert time_table(results, problem) == ""
    for run in results.finished.values():
        run.record["seconds"]["tune"] = 0.5 * run.record["seconds"]["train"]
    results.__dict__.pop("lines")
    table = time_table(results, problem)
    # Trained in 1.8 s, half of it tuning; predicted in 0.5 s.
    assert "| Good  | 0.90 |              1.40 |" in table


def test_a_claim_says_binary_only_of_binary_measures():
    claims = (Claim("Good", "Poor", ("micro-f1", "p@1"), {"one": "2 of 2"}),)
    results = made_results(replace(PLAN, claims=claims), {"Good": 0.9, "Poor": 0.3}, {})
    page = results_page({"it": results}, "searches", "inventory", "future")
    assert "Good is better than Poor by 2 of 2 document-pivoted measures. The paper: 2 of 2" in page
