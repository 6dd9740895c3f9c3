"""Tables, plots and the page."""

from __future__ import annotations

import csv
import json
import re
import sys
from dataclasses import replace
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest
from compare.made import FAILED, SKILLS, made_plan, made_results

from manylabel.compare.cells import plain
from manylabel.compare.data_files import to_csv, to_json
from manylabel.compare.frequency import frequency_curves
from manylabel.compare.latex import to_latex
from manylabel.compare.page import to_html
from manylabel.compare.plan import Claim, Highlight
from manylabel.compare.plots import PLOTS, plots_of
from manylabel.compare.report import write_report
from manylabel.compare.summary import highlight_table, results_page, verdict
from manylabel.compare.tables import (
    digits_of,
    measure_title,
    number,
    seconds,
    to_markdown,
)


@pytest.fixture(scope="module")
def results():
    return made_results(made_plan(), SKILLS, FAILED)


def lines_of(results, problem="one"):
    return {line.title: line for line in results.lines[problem]}


def test_the_best_is_marked_and_others_are_tested_against_it(results):
    lines = lines_of(results)
    assert lines["good"].values["p@1"].is_best
    assert lines["<b>bad</b>"].values["p@1"].p_value < 0.05
    assert not lines["<b>bad</b>"].values["p@1"].is_level
    assert lines["good"].values["hamming-loss"].is_best
    assert "p@1" not in lines["sets only"].values
    assert lines["broken"].error == "it broke | badly"
    assert lines["Elsewhere"].published == {"p@1": 0.5}


def test_values_are_means_over_seeds():
    results = made_results(made_plan(seeds=3), SKILLS, FAILED)
    value = lines_of(results)["<b>bad</b>"].values["p@1"]
    runs = results.runs(results.plan.problems[0], "<b>bad</b>")
    assert value.mean == pytest.approx(sum(run.measures["p@1"] for run in runs) / 3)
    assert value.deviation > 0


def test_ranks_are_of_the_models_that_have_every_measure_on_every_corpus(results):
    assert results.ranks == {
        "good": {"p@1": 1.0, "micro-f1": 1.0, "hamming-loss": 1.0},
        "<b>bad</b>": {"p@1": 2.0, "micro-f1": 2.0, "hamming-loss": 2.0},
    }
    one = made_results(made_plan(problems=results.plan.problems[:1]), SKILLS, FAILED)
    assert one.ranks == {}


def test_markdown_has_ours_and_theirs_and_what_went_wrong(results):
    page = to_markdown(results)
    row = next(line for line in page.splitlines() if line.startswith("| good"))
    assert "**0.980** (0.900) | **1.000** (0.100)" in row
    assert "1.80 (7)" in row
    assert "| Elsewhere" in page
    assert "broken failed: it broke | badly" in page
    assert "In brackets: A paper (2000), table 1." in page
    tables = re.findall(r"(?:^\|.*\n)+", page, re.MULTILINE)
    for table in tables:
        assert len({line.count("|") for line in table.splitlines()}) == 1


def test_values_have_intervals_and_any_pair_is_tested(results):
    problem = results.plan.problems[0]
    for title in ("good", "<b>bad</b>"):
        value = lines_of(results)[title].values["p@1"]
        low, high = value.interval
        assert low <= value.mean <= high
        assert high - low < 0.4
    assert results.pairs(problem, "p@1").keys() == {("good", "<b>bad</b>")}
    assert results.pairs(problem, "micro-f1").keys() == {
        ("good", "<b>bad</b>"), ("good", "sets only"), ("<b>bad</b>", "sets only"),
    }  # fmt: skip
    assert "| 95 % interval |" in to_markdown(results)
    assert "Every pair of models" in to_html(results, {})
    assert "good − &lt;b&gt;bad&lt;/b&gt;" in to_html(results, {})
    found = to_json(results)["corpora"]["one"]
    assert len(found["pairs"]["micro-f1"]) == 3
    assert found["models"]["good"]["measures"]["p@1"]["interval"][0] > 0.8


def test_the_footer_has_command_date_and_versions(results):
    told = replace(results, command="manylabel compare a b", date="2026-01-31 12:00 UTC")
    for page in (to_markdown(told), to_html(told, {})):
        for piece in ("Command: manylabel compare a b", "Date: 2026-01-31 12:00 UTC", "python 3"):
            assert piece in page
    assert to_json(told)["command"] == "manylabel compare a b"


def test_a_column_has_the_same_digits_all_the_way(results):
    assert digits_of([0.5, 9.99]) == 3
    assert digits_of([0.5, 10.0, float("nan")]) == 1
    assert [seconds(value, 12.0) for value in (0.123, 12.0)] == ["0.1", "12.0"]
    page = to_markdown(made_results(made_plan(metrics=("coverage-error",)), SKILLS, FAILED))
    tables = page.partition("## Average ranks")[0]
    column = re.findall(r"^\| [^|]+ \| +[*≈ ]*([\d.]+)", tables, re.MULTILINE)
    assert len({len(cell.partition(".")[2]) for cell in column}) == 1


def test_many_measures_stand_one_below_the_other():
    names = tuple(made_plan().names_measured()[:12])
    page = to_markdown(made_results(made_plan(metrics=names), SKILLS, FAILED))
    assert "| Measure " in page
    assert re.search(r"^\| P@1 +\|", page, re.MULTILINE)
    assert re.search(r"^\| Train, s +\|", page, re.MULTILINE)


def test_csv_has_every_measure_of_every_run(results):
    rows = list(csv.DictReader(to_csv(results).splitlines()))
    assert {row["model"] for row in rows} == set(SKILLS)
    assert {"p@1", "auc-roc", "train-seconds", "peak-bytes"} <= {row["measure"] for row in rows}


def test_json_is_json(results):
    found = json.loads(json.dumps(plain(to_json(results)), allow_nan=False))
    assert found["corpora"]["one"]["models"]["good"]["published"]["p@1"] == 0.9


def test_latex_escapes_what_latex_would_read(results):
    page = to_latex(results)
    assert r"One \& <Only>" in page
    assert page.count(r"\begin{tabular}{lrrrrr}") == 2
    assert r"\textbf{1.000}" in page


class Tags(HTMLParser):
    """The tags of a page, and whether they are closed in order."""

    void = ("meta", "path", "use", "rect", "line", "circle")

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open, self.seen, self.ids = [], set(), []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.seen.add(tag)
        self.ids += [value for name, value in attributes if name == "id"]
        if tag not in self.void:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.ids += [value for name, value in attributes if name == "id"]

    def handle_endtag(self, tag):
        if tag not in self.void:
            assert self.open.pop() == tag


def test_the_page_is_whole_and_escapes_everything(results):
    plots = {problem.name: plots_of(results, problem) for problem in results.plan.problems}
    page = to_html(results, plots)
    tags = Tags(page)
    assert tags.open == []
    assert not tags.seen & {"script", "b", "i", "img", "link", "iframe"}
    assert len(tags.ids) == len(set(tags.ids))
    assert "&lt;script&gt;" in page
    addresses = set(re.findall(r"https?://[^\"' )]+", page))
    assert all("w3.org" in address for address in addresses), "only names of XML vocabularies"


@pytest.mark.slow
def test_every_plot_is_drawn_as_svg_and_pdf_and_always_the_same(results):
    first, second = (plots_of(results, results.plan.problems[0]) for _ in range(2))
    assert [plot.name for plot in first] == list(PLOTS)
    for plot, again in zip(first, second, strict=True):
        assert (plot.svg, plot.pdf) == (again.svg, again.pdf)
        assert plot.pdf.startswith(b"%PDF-")
        assert ElementTree.fromstring(plot.svg).tag.endswith("svg")
        assert plot.caption.endswith(".")


def test_rare_and_frequent_labels_are_compared_in_bins(results):
    reference, other = frequency_curves(results, results.plan.problems[0])
    assert reference.title == "good"
    assert reference.differs is None
    assert sum(reference.n_labels) == 10, "labels that occur in training and in test"
    assert len(other.differs) == len(other.bins) == len(reference.bins)


def test_a_report_has_its_files_also_without_matplotlib(results, tmp_path, monkeypatch):
    names = {path.relative_to(tmp_path).as_posix() for path in write_report(results, tmp_path)}
    assert names == {
        "index.html", "results.md", "results.tex", "results.csv", "results.json",
        *(
            f"plots/{corpus}-{plot}.{kind}"
            for corpus in ("one", "two") for plot in PLOTS for kind in ("svg", "pdf")
        ),
    }  # fmt: skip
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    names = {path.relative_to(tmp_path).as_posix() for path in write_report(results, tmp_path)}
    assert "index.html" in names
    assert not any(name.startswith("plots/") for name in names)


def test_the_summary_says_how_far_published_values_are_reached(results):
    assert verdict(results, results.plan.problems[0]) == (
        "Published values: 2. Ours are better in 2 cases, the same in 0 (within 0.005 and 5%) and "
        "worse in 0."
    )
    low = made_results(made_plan(published={("two", "<b>bad</b>"): {"p@1": 1.0}}), SKILLS, FAILED)
    assert verdict(low, low.plan.problems[1]).startswith(
        "Published values: 1. Ours are better in 0 cases, the same in 0 (within 0.005 and 5%) and "
        "worse in 1: "
        "<b>bad</b>, P@1 by 0."
    )
    assert verdict(low, low.plan.problems[0]) == ""


def test_the_page_counts_what_a_paper_claims():
    metrics = ("p@1", "auc-roc", "label-average-precision")
    plan = made_plan(
        metrics=metrics, claims=(Claim("good", "<b>bad</b>", ("auc-roc", "p@1"), {"one": "all"}),)
    )
    page = results_page({"a-preset": made_results(plan, SKILLS, FAILED)}, "", "", "")
    said = "good is better than <b>bad</b> by 2 of 2 document-pivoted measures."
    assert f"{said} The paper: all." in page
    assert page.count(said) == 2
    assert "`manylabel compare --preset a-preset`" in page
    assert "(figure 12)" in page
    assert "\nIn all: " in page


def test_highlights_stand_beside_what_was_published_and_what_was_run():
    plan = made_plan(
        published={("one", "good"): {"p@1": 0.5}, ("one", "BERT, published"): {"p@1": 0.25}},
        highlights=(
            Highlight("one", ("p@1",), "good", ("good", "<b>bad</b>", "BERT, published", "absent")),
            Highlight("one", ("p@1",), "not run", ("good",)),
        ),
    )
    results = made_results(plan, SKILLS, FAILED)
    bad = next(line for line in results.lines["one"] if line.title == "<b>bad</b>")
    score = f"{bad.values['p@1'].mean:.3f}".removeprefix("0")
    *_, row = lines = highlight_table({"a-preset": results}).splitlines()
    assert len(lines) == 3
    assert row.startswith(f"| One & <Only>: P@1 | good, published: .500; <b>bad</b>: {score} in ")
    assert "; BERT, published: .250 | good: " in row


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("ndcg@3", "nDCG@3"),
        ("label-auc-pr", "Label AUC PR"),
        ("macro-f1@break-even", "Macro F1@break even"),
        ("average-precision", "Average precision"),
    ],
)
def test_measures_have_the_names_of_papers(name, title):
    assert measure_title(name) == title


def test_numbers_have_as_many_digits_as_they_need():
    assert [number(value) for value in (0.1234, 12.34, float("nan"))] == ["0.123", "12.3", "–"]
