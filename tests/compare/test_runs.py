"""Cells in separate processes: what they leave behind, and when they run again."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from manylabel.compare import Plan, Problem, Row, Watcher, run
from manylabel.compare.cells import cells_of, plain, read_cell
from manylabel.compare.data import load, prepare, problem_key
from manylabel.compare.runner import _work_folder
from manylabel.corpus import read
from manylabel.exceptions import CorpusError
from manylabel.store.locks import exclusive

OWN = """
import os

from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier

def make(C=1.0):
    print("something on standard output")
    os.write(1, b"something from compiled code\\n")
    return OneVsRestClassifier(LogisticRegression(C=C))

def fail():
    raise RuntimeError("no luck")
"""


class Heard(Watcher):
    """Remembers everything."""

    def __init__(self) -> None:
        self.totals, self.phases, self.ended = (0, 0), [], []

    def plan(self, total, finished):
        self.totals = (total, finished)

    def phase(self, cell, phase):
        self.phases.append(phase)

    def done(self, cell, error):
        self.ended.append((cell.row.title, error))


@pytest.fixture
def own(tmp_path, monkeypatch):
    """A folder with a user's estimator; it is the current folder."""
    (tmp_path / "my_models.py").write_text(OWN)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_models_run_and_what_is_finished_does_not_run_again(problem, own):
    rows = (
        Row("kNN", "instance-knn", {"k": 5}),
        Row("mine", "my_models:make", {"C": 10.0}),
        Row("broken", "my_models:fail"),
    )
    plan = Plan("t", (problem,), rows, metrics=("p@1", "micro-f1"))
    heard = Heard()
    results = run(plan, own / "out", watcher=heard)
    assert heard.totals == (3, 0)
    assert heard.phases[:5] == ["load", "compile", "train", "predict", "measure"]
    assert heard.ended == [("kNN", None), ("mine", None), ("broken", "RuntimeError: no luck")]
    lines = {line.title: line for line in results.lines["tiny"]}
    assert 0.5 < lines["kNN"].values["p@1"].mean <= 1
    assert lines["kNN"].memory > 1e7
    assert lines["kNN"].settings["k"] == 5
    assert lines["mine"].values["micro-f1"].mean > 0.5
    assert lines["broken"].error == "RuntimeError: no luck"
    assert not list((own / "out").glob("work-*"))

    heard = Heard()
    more = replace(plan, rows=(*rows[:2], Row("other name", "instance-knn", {"k": 5})))
    again = run(more, own / "out", watcher=heard)
    assert heard.totals == (3, 3)
    assert heard.ended == []
    assert again.lines["tiny"][2].values == again.lines["tiny"][0].values


class Impatient(Heard):
    """Interrupts everything once a cell is finished."""

    def done(self, cell, error):
        super().done(cell, error)
        raise KeyboardInterrupt


@pytest.mark.slow
def test_after_an_interruption_only_what_is_missing_runs(problem, tmp_path):
    rows = tuple(Row(str(k), "instance-knn", {"k": k}) for k in (1, 2, 3))
    plan = Plan("t", (problem,), rows)
    with pytest.raises(KeyboardInterrupt):
        run(plan, tmp_path, watcher=Impatient())
    assert not list(tmp_path.glob("work-*"))
    heard = Heard()
    results = run(plan, tmp_path, parallel=2, watcher=heard)
    assert heard.totals[1] >= 1
    assert len(heard.ended) == 3 - heard.totals[1]
    assert len(results.finished) == 3


def test_an_edited_estimator_is_another(problem, own):
    plan = Plan("t", (problem,), (Row("mine", "my_models:make"),))
    [before] = cells_of(plan)
    (own / "my_models.py").write_text(OWN + "\n")
    [after] = cells_of(plan)
    assert before.key != after.key


@pytest.mark.parametrize(
    "change",
    [
        {"rows": (Row("svm", "svm", {"C": 2.0}),)},
        {"n_jobs": 2},
        {"metrics": ("p@9",)},
        {"top": 3},
    ],
)
def test_whatever_changes_the_result_changes_the_cell(problem, change):
    plan = Plan("t", (problem,), (Row("svm", "svm"),))
    [before], [after] = cells_of(plan), cells_of(replace(plan, **change))
    assert before.key != after.key


def test_titles_and_shown_measures_change_nothing(problem):
    plan = Plan("t", (problem,), (Row("svm", "svm"),))
    other = Plan("u", (replace(problem, name="n"),), (Row("SVM", "svm"),), metrics=("p@1",))
    assert cells_of(plan)[0].key == cells_of(other)[0].key


def test_only_what_depends_on_chance_has_many_seeds(problem):
    rows = (Row("kNN", "instance-knn"), Row("trees", "fastxml"))
    fixed = Plan("t", (problem,), rows, seeds=3)
    assert [(c.row.title, c.seed) for c in cells_of(fixed)] == [
        ("kNN", 0), ("trees", 0), ("trees", 1), ("trees", 2)
    ]  # fmt: skip
    assert len(cells_of(replace(fixed, once=("tiny",)))) == 2
    split = replace(fixed, problems=(Problem("s", problem.train),))
    assert len(cells_of(split)) == 6
    assert len({cell.problem_key for cell in cells_of(split)}) == 3


@pytest.mark.slow
def test_a_tuned_model_reports_each_measure_of_the_model_tuned_for_it(problem, tmp_path):
    row = Row("LCIF", "lcif", tuned_for=("p@1", "micro-f1"))
    results = run(Plan("t", (problem,), (row,), metrics=("p@1", "micro-f1")), tmp_path)
    [line] = results.lines["tiny"]
    assert line.error is None
    assert {"k", "alpha", "lam"} <= line.settings.keys()
    assert {"p@1", "micro-f1", "hamming-loss"} <= line.values.keys()
    [finished] = results.finished.values()
    assert finished.counts.keys() == {"p@1", "micro-f1"}
    right, given, true = finished.counts["micro-f1"].sum(axis=1)
    assert line.values["micro-f1"].mean == pytest.approx(2 * right / (given + true))


@pytest.mark.slow
def test_models_that_cannot_be_tuned_say_so(problem, tmp_path):
    rows = (
        Row("own", "sklearn.dummy:DummyClassifier", tuned_for=("p@1",)),
        Row("SVM", "svm", {"C": 1.0}, tuned_for=("p@1",)),
    )
    results = run(Plan("t", (problem,), rows), tmp_path)
    assert [line.error for line in results.lines["tiny"]] == [
        "sklearn.dummy:DummyClassifier cannot be tuned here; give its parameters with --set.",
        "no parameters of OneVsRestSVM to tune for p@1 by default; name the parameters and the "
        "values to try.",
    ]


@pytest.mark.slow
def test_a_model_that_shares_no_work_is_tuned_too(problem, tmp_path):
    row = Row("SVM", "svm", tuned_for=("p@1",))
    [line] = run(Plan("t", (problem,), (row,), metrics=("p@1",)), tmp_path).lines["tiny"]
    assert line.error is None
    assert line.settings.keys() == {"C"}


def test_corpora_are_prepared_as_they_are(problem, tmp_path):
    description = prepare(problem, None, tmp_path)
    data, train = load(tmp_path), read(problem.train)
    assert (data.X_train != train.X).nnz == 0
    assert (data.Y_train != train.Y).nnz == 0
    assert description["documents"] == [40, 20]
    assert description["frequencies"] == train.Y.sum(axis=0).tolist()


def test_each_document_is_tested_in_one_fold(problem, tmp_path):
    tested = np.zeros(0)
    for fold in range(3):
        folder = tmp_path / str(fold)
        folder.mkdir()
        about = prepare(Problem("s", problem.train, folds=3), fold, folder)
        data = load(folder)
        assert sum(about["documents"]) == 40
        assert about["documents"][1] in (13, 14)
        tested = np.append(tested, data.X_test.sum(axis=1))
    whole = tmp_path / "whole"
    whole.mkdir()
    prepare(problem, None, whole)
    assert sorted(tested) == sorted(load(whole).X_train.sum(axis=1))
    assert problem_key(Problem("s", problem.train), 0) != problem_key(
        Problem("s", problem.train, folds=3), 0
    )
    with pytest.raises(CorpusError, match="40 documents cannot be split into 41 folds"):
        prepare(Problem("s", problem.train, folds=41), 0, tmp_path)


def test_splits_are_random_and_repeatable(problem, tmp_path):
    def labels(seed):
        folder = tmp_path / str(seed)
        folder.mkdir(exist_ok=True)
        prepare(Problem("s", problem.train, n_train=30), seed, folder)
        return load(folder).Y_train.toarray()

    assert labels(0).shape == (30, 6)
    assert (labels(0) == labels(0)).all()
    assert (labels(0) != labels(1)).any()
    with pytest.raises(CorpusError, match="40 documents cannot be split into 50 for training"):
        prepare(Problem("s", problem.train, n_train=50), 0, tmp_path)


def test_texts_are_counted_with_the_words_of_training(tmp_path):
    for name, text in (("train", "a cat"), ("test", "a dog")):
        line = json.dumps({"text": text, "labels": [text[2:]]})
        (tmp_path / f"{name}.jsonl").write_text(line + "\n" + line + "\n")
    paths = (str(tmp_path / "train.jsonl"), str(tmp_path / "test.jsonl"))
    prepare(Problem("texts", *paths), None, tmp_path)
    data = load(tmp_path)
    assert data.X_test.shape[1] == data.X_train.shape[1]
    assert data.Y_train.toarray().tolist() == [[1, 0], [1, 0]]
    assert data.Y_test.toarray().tolist() == [[0, 1], [0, 1]]


def test_what_json_cannot_hold_becomes_what_it_can():
    assert plain({"a": (float("nan"), np.float64(1.5)), 2: np.int64(3)}) == {
        "a": [None, 1.5],
        "2": 3,
    }


@pytest.mark.slow
def test_cells_are_read_as_they_were_written(problem, tmp_path):
    plan = Plan("t", (problem,), (Row("kNN", "instance-knn"),))
    results = run(plan, tmp_path)
    [cell] = cells_of(plan)
    finished = read_cell(tmp_path / "cells", cell.key)
    assert finished.measures.keys() == results.finished[cell.key].measures.keys()
    assert finished.units["p@1"].shape == (2, 20)
    phases = {"load", "compile", "train", "tune", "predict", "measure"}
    assert finished.record["seconds"].keys() == phases


def test_what_a_killed_comparison_left_goes(tmp_path):
    left, in_use = tmp_path / "work-killed", tmp_path / "work-running"
    for folder in (left, in_use):
        folder.mkdir()
        (folder / "corpus.npy").touch()
    (left / ".lock").touch()
    with exclusive(in_use), _work_folder(tmp_path) as work:
        assert not left.exists()
        assert in_use.exists()
        assert work.parent == tmp_path
        with _work_folder(tmp_path):
            assert work.exists()
    assert not work.exists()
