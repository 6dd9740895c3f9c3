"""Fast and proper inference, and the number of topics: appendix B of Rubin et al."""

from __future__ import annotations

import pytest
from compare.made import made_results

from manylabel.compare import make_preset
from manylabel.compare.inventory import ITEMS, status_of
from manylabel.compare.summary import claims_held


@pytest.fixture
def plan(tmp_path):
    (tmp_path / "yahoo-arts").mkdir()
    (tmp_path / "yahoo-arts" / "all.txt").touch()
    return make_preset("rubin-appendix-b", tmp_path)


def test_rows_differ_in_the_sampler_or_in_the_topics_alone(plan):
    models = {row.title: row.make().get_params() for row in plan.rows}
    fast = models.pop("Fast, T = 20")
    sampler, *topics = models.values()
    assert {name for name in fast if fast[name] != sampler[name]} == {"sampler"}
    for other in topics:
        assert {name for name in fast if fast[name] != other[name]} == {"n_topics", "label_beta"}
    assert {model["n_topics"] for model in (fast, *topics)} == {5, 10, 20, 40, 80}


def test_pseudo_counts_of_labels_sum_to_the_same(plan):
    models = [row.make() for row in plan.rows]
    assert {model.n_topics * model.label_beta for model in models} == {20.0}


def test_the_status_counts_statements_on_documents_and_labels(plan):
    skills = {row.title: 0.4 if "Proper" in row.title else 0.8 for row in plan.rows}
    results = made_results(plan, skills, {})
    assert claims_held(results, ("document", "label")) == (2, 2)
    item = next(item for item in ITEMS if item.name == "Appendix B")
    assert status_of(item, {"rubin-appendix-b": results}, "") == "2 of 2 statements hold"
    assert status_of(item, {}, "") == "not run yet"
