"""`manylabel tune`."""

from __future__ import annotations

import pytest

from manylabel.tagger import Tagger


def test_the_best_setting_of_a_neighbour_model_is_saved(call, library, tmp_path):
    grid = ("--try", "k=5,50", "--try", "lam=0,0.5,1")
    called = call("tune", library / "train.jsonl", "-o", tmp_path / "m", *grid, "--json")
    assert called.code == 0
    assert "Tuning lcif for micro-f1" in called.err
    found = called.json
    assert (found["metric"], found["tried"]) == ("micro-f1", len(found["trials"]))
    assert (
        found["trials"][0]["value"]
        == found["value"]
        == max(trial["value"] for trial in found["trials"])
    )
    assert Tagger.load(tmp_path / "m").parameters == found["parameters"]
    assert set(found["parameters"]) == {"k", "lam"}


def test_the_table_shows_the_best_settings_first(call, library, tmp_path):
    called = call(
        "tune", library / "train.jsonl", "-o", tmp_path / "m", "--try", "k=5,50", "-q",
        "--metric", "hamming-loss", "--set", "lam=1.0",
    )  # fmt: skip
    assert (called.code, called.err) == (0, "")
    head, _, *lines = [line for line in called.out.splitlines() if line.strip()]
    assert head.split() == ["k", "hamming-loss", "seconds"]
    values = [float(line.split()[1]) for line in lines]
    assert values == sorted(values)
    tuned = Tagger.load(tmp_path / "m").parameters
    assert (tuned["lam"], str(tuned["k"])) == (1.0, lines[0].split()[0])


def test_other_models_try_every_combination_on_a_part_held_out(call, library, tmp_path):
    called = call(
        "tune", library / "train.jsonl", "-o", tmp_path / "m", "--model", "subset-svm",
        "--try", "C=0.1,1", "--try", "n_neighbors=20,50", "--metric", "p@1", "--json", "-q",
    )  # fmt: skip
    found = called.json
    assert found["tried"] == 4
    assert set(found["parameters"]) == {"C", "n_neighbors"}
    again = call(
        "tune", library / "train.jsonl", "-o", tmp_path / "again", "--model", "subset-svm",
        "--try", "C=0.1,1", "--try", "n_neighbors=20,50", "--metric", "p@1", "--json", "-q",
    ).json  # fmt: skip
    assert [trial["value"] for trial in again["trials"]] == [
        trial["value"] for trial in found["trials"]
    ]


def test_a_parameter_outside_the_shared_search_is_tried_by_itself(call, library, tmp_path):
    found = call(
        "tune", library / "train.jsonl", "-o", tmp_path / "m", "--try", "weighting=null,tfidf",
        "--set", "k=20", "--json", "-q",
    ).json  # fmt: skip
    assert [trial["weighting"] for trial in found["trials"]] == ["tfidf", None]


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--try", "k"], 2, "--try k must be NAME=VALUE,VALUE, such as k=20,50."),
        (["--try", "kk=1,2"], 1, "lcif has no parameter 'kk'"),
        (["--model", "prior-lda"], 1, "say what to try, such as --try NAME=1,2,3."),
        (["--metric", "micro-f"], 1, "did you mean micro-f1"),
        (["--model", "lcfi"], 1, "did you mean lcif?"),
        (["--model", "svm", "--held-out", "2"], 1, "`test_size` must be"),
    ],
)
def test_a_mistake_is_one_line_and_leaves_nothing(
    call, library, tmp_path, arguments, code, message
):
    called = call("tune", library / "train.jsonl", "-o", tmp_path / "m", "-q", *arguments)
    assert called.code == code
    assert message in called.err
    assert called.err.count("\n") == 1
    assert not (tmp_path / "m").exists()


def test_features_are_tuned_too(call, rows, tmp_path):
    called = call("tune", rows, "-o", tmp_path / "m", "--try", "k=1,2", "--metric", "p@1", "-q")
    assert called.code == 0
