"""Rows as people type them, and the papers' comparisons."""

from __future__ import annotations

import pytest

from manylabel.compare import PRESETS, Plan, Row, make_preset
from manylabel.compare.estimators import make_estimator, make_search
from manylabel.compare.plan import Problem, parse_row
from manylabel.compare.presets import data_folder
from manylabel.exceptions import InputError, ParameterError
from manylabel.metrics import get_measure


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("lcif", Row("lcif", "lcif", {"k": 3})),
        ("lcif:tuned", Row("lcif:tuned", "lcif", {"k": 3}, tuned_for=("p@1",))),
        ("a.b:make", Row("a.b:make", "a.b:make", {"k": 3})),
    ],
)
def test_rows_are_models_tuned_models_and_estimators_of_ones_own(text, expected):
    assert parse_row(text, {"k": 3}, "p@1") == expected


def test_a_paper_s_settings_follow_a_colon():
    assert parse_row("prior-lda:rubin-yahoo", {}, "p@1").make().eta == 70.0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("lcfi", "unknown model 'lcfi'; did you mean lcif?"),
        ("lcif:best", "lcif has no presets; leave 'best' out."),
        ("a b:c", "unknown model 'a b:c'; write one such as lcif, or package.module:factory."),
    ],
)
def test_rows_that_mean_nothing_are_refused(text, message):
    with pytest.raises(ParameterError) as error:
        parse_row(text, {}, "p@1")
    assert str(error.value) == message


def test_a_row_with_a_seed_of_its_own_runs_once_and_keeps_it():
    row = Row("Trees", "fastxml", {"random_state": 7})
    assert not row.depends_on_seed
    assert make_estimator(row, seed=3, n_jobs=1).random_state == 7
    row = Row("Trees", "fastxml")
    assert row.depends_on_seed
    assert make_estimator(row, seed=3, n_jobs=1).random_state == 3


def test_a_package_may_be_in_another_environment(monkeypatch):
    row = Row("Theirs", "their.module:make", needs="no_such_package")
    monkeypatch.setenv("MANYLABEL_NO_SUCH_PACKAGE", "/elsewhere/bin/python")
    assert not row.is_missing


def test_a_row_whose_package_is_missing_is_left_out_with_a_sentence():
    problem = Problem("p", "train", "test")
    rows = (Row("LCIF", "lcif"), Row("Theirs", "their.module:make", needs="no_such_package"))
    plan = Plan("t", (problem,), rows, notes=("A note.",))
    assert [row.title for row in plan.rows_of(problem)] == ["LCIF"]
    assert plan.sentences() == [
        "A note.",
        "Theirs is left out: no_such_package is not installed.",
    ]


@pytest.fixture
def data(tmp_path):
    """Files of every corpus, without content."""
    for name in ("bibtex", "delicious", "medical", "corel5k", "eurlex57k", "yso-finna-en"):
        (tmp_path / name).mkdir()
        for part in ("train", "test"):
            (tmp_path / name / f"{part}.txt").touch()
    for name in ("imdb-f", "yahoo-arts", "yahoo-health"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "all.txt").touch()
    return tmp_path


@pytest.mark.parametrize("name", PRESETS)
def test_presets_are_whole(name, data):
    plan = make_preset(name, data)
    titles = {problem.name: plan.titles_of(problem) for problem in plan.problems}
    assert plan.notes
    assert plan.source
    assert all(get_measure(metric).name == metric for metric in plan.names_measured())
    for problem in plan.problems:
        for row in plan.rows_of(problem):
            if row.is_ours:
                assert row.make() is not None
    for corpus, title in plan.published:
        assert title in titles[corpus]
    for claim in plan.claims:
        for corpus in claim.words:
            assert {claim.better, claim.worse} <= set(titles[corpus])
            assert set(claim.metrics) <= set(plan.metrics)


def test_corpora_that_are_not_there_are_left_out_with_a_sentence(data):
    (data / "bibtex" / "train.txt").unlink()
    plan = make_preset("subset-llda-tables-2-4", data)
    assert [problem.name for problem in plan.problems] == ["delicious"]
    assert "Bibtex is left out: its files are missing." in plan.sentences()


def test_rows_of_a_ranking_are_rows_of_the_plan(data):
    for name in PRESETS:
        plan = make_preset(name, data)
        titles = {title for problem in plan.problems for title in plan.titles_of(problem)}
        for ranked in plan.rankings.values():
            assert set(ranked) <= titles


def test_only_rows_that_say_so_choose_on_test_documents(data):
    for name in PRESETS:
        plan = make_preset(name, data)
        for row in (*plan.rows, *(row for own in plan.own_rows.values() for row in own)):
            assert (row.chooses == "test") == ("chosen on test" in row.title)


def test_hamming_loss_has_a_threshold_that_suits_it(data):
    rows = {row.title: row for row in make_preset("lcif-table-2", data).rows}
    found = {
        metric: make_search(rows["LCIF"], metric, 0, 1, 100).grid["threshold"]
        for metric in ("micro-f1", "hamming-loss")
    }
    assert found == {
        "micro-f1": ("cardinality",),
        "hamming-loss": ("cardinality", "best:hamming-loss"),
    }


def test_label_thresholds_are_tuned_from_label_thresholds(data):
    rows = {row.title: row for row in make_preset("lcif-table-2", data).rows}
    # The tuner may keep what it starts from.
    cuts = rows["LCIF, label thresholds"]
    assert (cuts.parameters["threshold"], cuts.grid["threshold"]) == ("per-label", ("per-label",))


def test_a_preset_can_be_limited_to_some_corpora(data):
    assert [p.name for p in make_preset("lcif-table-2", data, ["medical"]).problems] == ["medical"]
    with pytest.raises(ParameterError, match="lcif-table-2 has no corpus 'x'; it has medical, "):
        make_preset("lcif-table-2", data, ["x"])


def test_what_is_not_there_at_all_is_an_error(tmp_path, monkeypatch):
    with pytest.raises(ParameterError, match="unknown preset 'x'; there are lcif-table-2, "):
        make_preset("x", tmp_path)
    with pytest.raises(InputError, match=r"contains none of the corpora of xmc \(eurlex57k, "):
        make_preset("xmc", tmp_path)
    monkeypatch.setenv("MANYLABEL_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(InputError, match="give one with --data or MANYLABEL_DATA"):
        data_folder()
    assert data_folder(str(tmp_path)) == tmp_path


def test_choosing_usual_measures_does_not_change_what_is_computed():
    usual = Plan("", (), ()).names_measured()
    assert Plan("", (), (), metrics=("p@1",)).names_measured() == usual
    assert Plan("", (), (), metrics=("p@7",)).names_measured() == [*usual, "p@7"]
