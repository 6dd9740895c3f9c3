"""Figures 8, 9 and 13 to 15 of Rubin et al., from made-up results."""

from __future__ import annotations

from dataclasses import replace

import pytest
from compare.made import made_results

from manylabel.compare import Plan, Problem, Results, Row
from manylabel.compare.best_models import best_statements, best_table
from manylabel.compare.figures import FIGURES, figure_sections, figure_status
from manylabel.compare.other_papers import other_papers_statements, other_papers_table
from manylabel.compare.presets.rubin import rubin
from manylabel.compare.standing import (
    BY_CARDINALITY,
    BY_FREQUENCY,
    METRICS,
    MODELS,
    cardinality_statements,
    frequency_statements,
    standing_table,
    standings,
)

PRESET = "rubin-figures-6-7-10-11"
SKILLS = dict(zip(MODELS, (0.42, 0.32, 0.27, 0.37, 0.22), strict=True))
ROWS = tuple(Row(title, "lcif") for title in MODELS)


def cells_of(table: str) -> list[list[str]]:
    """The cells of a table's rows, without its header."""
    lines = [line for line in table.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines[2:]]


@pytest.fixture(scope="module")
def results(tmp_path_factory) -> Results:
    """Dependency-LDA is best where labels are frequent, and worst where they are rare."""
    preset = rubin(tmp_path_factory.mktemp("none"))
    problems = tuple(
        Problem(name, "train", "test", title=title)
        for name, title in (
            ("yahoo-arts", "Arts"), ("yahoo-health", "Health"), ("eurlex57k", "EURLEX57K")
        )
    )  # fmt: skip
    # As in the preset, SVMs are not tuned on the largest corpus.
    own = {"eurlex57k": tuple(row for row in ROWS if row.title != "Tuned SVM")}
    plan = Plan("Title", problems, ROWS, preset.metrics, own_rows=own, rankings=preset.rankings)
    made = made_results(plan, SKILLS, {})
    poor = made_results(plan, SKILLS | {"Dependency-LDA": 0.1}, {})
    changed = {key: run for key, run in poor.finished.items() if key.startswith("eurlex57k/")}
    corpora = {
        "yahoo-arts": {"frequencies": [0, 40, 50, 60], "cardinality": 1.5},
        "yahoo-health": {"frequencies": [70, 80], "cardinality": 1.6},
        "eurlex57k": {"frequencies": [1, 2, 9], "cardinality": 5.0},
    }
    return replace(made, finished=made.finished | changed, corpora=corpora)


def test_corpora_are_in_the_order_of_the_axis(results):
    assert [each.position for each in standings(results, BY_FREQUENCY)] == [2, 50, 75]
    names = [each.problem.name for each in standings(results, BY_CARDINALITY)]
    assert names == ["yahoo-arts", "yahoo-health", "eurlex57k"]


def test_values_are_centred_within_a_corpus(results):
    for each in standings(results, BY_CARDINALITY):
        for name in METRICS:
            total = sum(each.centred(model, name) for model in BY_CARDINALITY.models)
            assert total == pytest.approx(0)


def test_a_vanilla_svm_stands_in_where_none_was_tuned(results):
    table = cells_of(standing_table(results, BY_FREQUENCY))
    assert len(table) == 9
    assert table[0][1:3] == ["EURLEX57K", "2"]
    assert [row[-1].endswith("(vanilla)") for row in table] == [True, False, False] * 3


def test_a_failed_svm_has_no_stand_in(results):
    left = {
        key: run for key, run in results.finished.items() if key != "yahoo-arts/Tuned SVM/0"
    }  # fmt: skip
    found = standings(replace(results, finished=left), BY_FREQUENCY)
    assert [each.problem.name for each in found] == ["eurlex57k", "yahoo-health"]


def test_leads_fall_and_grow(results):
    topics, flat = frequency_statements(results)
    # The lead of Dependency-LDA grows with the frequencies here: the opposite of the paper.
    assert not topics.holds
    assert "0 of 11 measures from EURLEX57K to Health" in topics.ours
    assert flat.holds
    assert not any(each.holds for each in cardinality_statements(results))


def test_one_corpus_has_no_order(results):
    one = replace(results.plan, problems=results.plan.problems[:1])
    assert standing_table(replace(results, plan=one), BY_FREQUENCY) == ""
    assert frequency_statements(replace(results, plan=one)) == []


def test_the_best_are_counted_on_every_corpus(results):
    table = cells_of(best_table(results))
    assert [row[0] for row in table[::2]] == ["EURLEX57K", "Arts", "Health"]
    assert table[1][1] == "Vanilla SVM"
    for row in table:
        counts = [int(cell) for cell in row[2:]]
        assert counts[4:] == [counts[0] + counts[1], counts[2] + counts[3], sum(counts[:4])]
    assert int(table[2][-1]) > int(table[3][-1])
    texts = {each.text: each for each in best_statements(results)}
    power = texts["With power-law frequencies, Dependency-LDA has an advantage over SVMs"]
    assert not power.holds
    assert len(best_statements(results)) == 4


def test_statements_about_other_papers_are_checked(results):
    statements = {each.text: each for each in other_papers_statements(results)}
    assert len(statements) == 8
    assert statements["Arts, macro F1: Dependency-LDA is better than all others"].holds
    assert not statements["Arts, micro F1: Dependency-LDA is worse than tuned SVMs"].holds
    assert statements["Health: tuned SVMs are better than vanilla SVMs"].holds
    lost = statements["EUR-Lex: Dependency-LDA is better than the other LDA models"]
    assert not lost.holds
    assert lost.ours.startswith("0 of 10 comparisons, differences -")


def test_the_best_of_the_papers_models_are_bold(results):
    tables = other_papers_table(results).split("\n\n")
    assert tables[0] == "Arts:"
    assert [row[1].startswith("**") for row in cells_of(tables[1])] == [True] + [False] * 4
    # Four errors and average precision, without tuned SVMs.
    assert [len(row) for row in cells_of(tables[-1])] == [6] * 4


def test_every_figure_has_a_status_and_a_section(results):
    sections, pictures = figure_sections(PRESET, results)
    assert set(pictures) == {"rubin-figure-8.svg", "rubin-figure-9.svg"}
    page = "\n".join(sections)
    for name, figure in FIGURES.items():
        if figure.preset == PRESET:
            assert f"### {figure.heading}\n" in page
            assert "statements hold" in figure_status(name, {PRESET: results})
    assert figure_sections("lcif-table-2", results) == ([], {})


def test_missing_runs_are_counted(results):
    some = {k: run for k, run in results.finished.items() if k != "yahoo-arts/Vanilla SVM/0"}
    status = figure_status("rubin-figure-13", {PRESET: replace(results, finished=some)})
    assert status.endswith("; 1 of 14 runs missing")
    nothing = {PRESET: replace(results, finished={})}
    assert figure_status("rubin-figure-13", nothing) == "not run yet"
