"""`manylabel tune`."""

from __future__ import annotations

import pytest

from manylabel.tagger import Tagger


@pytest.mark.slow
def test_the_best_setting_of_a_neighbour_model_is_saved(call, catalogue, tmp_path):
    grid = ("--try", "k=5,50", "--try", "lam=0,0.5,1")
    given = ("--set", "k=1", "--set", "lam=1", "--set", "alpha=1", "--set", "beta=1")
    called = call(
        "tune", catalogue / "train.jsonl", "-o", tmp_path / "m", "--model", "lcif", *grid, *given,
        "--json",
    )  # fmt: skip
    assert called.code == 0
    assert "Tuning lcif for micro-f1" in called.err
    found = called.json
    assert (found["metric"], found["tried"]) == ("micro-f1", len(found["trials"]))
    assert (
        found["trials"][0]["value"]
        == found["value"]
        == max(trial["value"] for trial in found["trials"])
    )
    assert found["held_out"]["tuned"] > found["held_out"]["untuned"]
    others = {"alpha": 1, "beta": 1}
    assert Tagger.load(tmp_path / "m").parameters == found["parameters"] | others
    assert set(found["parameters"]) == {"k", "lam"}


def test_the_table_shows_the_best_settings_first(call, catalogue, tmp_path):
    called = call(
        "tune", catalogue / "train.jsonl", "-o", tmp_path / "m", "--try", "k=5,50", "-q",
        "--model", "lcif", "--metric", "hamming-loss", "--set", "lam=1.0", "--table",
    )  # fmt: skip
    assert (called.code, called.err) == (0, "")
    head, _, *lines = [line for line in called.out.splitlines() if line.strip()]
    assert head.split() == ["k", "hamming-loss", "seconds"]
    values = [float(line.split()[1]) for line in lines]
    assert values == sorted(values)
    tuned = Tagger.load(tmp_path / "m").parameters
    assert (tuned["lam"], str(tuned["k"])) == (1.0, lines[0].split()[0])


def test_other_models_try_every_combination_on_a_part_held_out(call, few, tmp_path):
    called = call(
        "tune", few, "-o", tmp_path / "m", "--model", "subset-svm", "--set", "C=1",
        "--try", "C=0.1,1", "--try", "n_neighbors=20,50", "--metric", "p@1", "--json", "-q",
    )  # fmt: skip
    found = called.json
    assert found["tried"] == 4
    assert set(found["parameters"]) == {"C", "n_neighbors"}
    again = call(
        "tune", few, "-o", tmp_path / "again", "--model", "subset-svm", "--set", "C=1",
        "--try", "C=0.1,1", "--try", "n_neighbors=20,50", "--metric", "p@1", "--json", "-q",
    ).json  # fmt: skip
    assert [trial["value"] for trial in again["trials"]] == [
        trial["value"] for trial in found["trials"]
    ]


def test_a_parameter_outside_the_shared_search_is_tried_by_itself(call, catalogue, tmp_path):
    found = call(
        "tune", catalogue / "train.jsonl", "-o", tmp_path / "m", "--try", "weighting=null,tfidf",
        "--model", "lcif", "--set", "k=20", "--set", "lam=0.8", "--json", "-q",
    ).json  # fmt: skip
    assert [trial["weighting"] for trial in found["trials"]] == ["tfidf", None]


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--try", "k"], 2, "--try k must be NAME=VALUE,VALUE, such as k=20,50."),
        (["--try", "kk=1,2"], 1, "ensemble has no parameter 'kk'"),
        (
            ["--model", "svm", "--set", "C=1"],
            1,
            "no parameters of OneVsRestSVM to tune for micro-f1 by default; name the parameters",
        ),
        (["--metric", "micro-f"], 1, "did you mean micro-f1"),
        (["--model", "lcfi"], 1, "did you mean lcif?"),
        (["--model", "svm", "--held-out", "2"], 1, "--held-out must be a share"),
        (["--model", "svm", "--cv", "some"], 1, '--cv must be "auto", "loo", a number of folds'),
        (["--model", "svm", "--cv", "loo"], 1, "leave-one-out needs a model"),
    ],
)
def test_a_mistake_is_one_line_and_leaves_nothing(
    call, catalogue, tmp_path, arguments, code, message
):
    called = call("tune", catalogue / "train.jsonl", "-o", tmp_path / "m", "-q", *arguments)
    assert called.code == code
    assert message in called.err
    assert called.err.count("\n") == 1
    assert not (tmp_path / "m").exists()


def test_features_are_tuned_too(call, rows, tmp_path):
    called = call(
        "tune", rows, "-o", tmp_path / "m", "--try", "k=1,2", "--metric", "p@1", "-q",
        "--model", "lcif", "--held-out", "0.4",
    )  # fmt: skip
    assert called.code == 0


def test_the_default_model_is_tuned_and_never_worse_than_trained(call, few, catalogue, tmp_path):
    test = catalogue / "test.jsonl"
    # Settings of which none can be better: two neighbours, two candidates.
    tuned = call(
        "tune", few, "-o", tmp_path / "tuned", "--try", "k=2", "--try", "n_candidates=2",
        "--cv", "0.3", "--json",
    )  # fmt: skip
    assert "Tuning ensemble for micro-f1" in tuned.err
    assert "No setting is better than the untuned model. Using the untuned model." in tuned.err
    first = tuned.json["trials"][0]
    assert {name: first[name] for name in ("k", "n_candidates")} == tuned.json["parameters"]
    assert tuned.json["parameters"] == {"k": 100, "n_candidates": 100}
    call("train", few, "-o", tmp_path / "trained", "-q")
    figures = [
        call("evaluate", tmp_path / name, test, "--json", "-q").json
        for name in ("tuned", "trained")
    ]
    assert figures[0] == figures[1]


@pytest.mark.slow
def test_a_winner_that_fails_on_documents_held_out_is_not_kept(
    call, catalogue, tmp_path, monkeypatch
):
    from manylabel.selection import measuring

    honest = measuring.Measuring.value

    def optimistic(self, setting):
        value = honest(self, setting)
        # In the trials two neighbours seem best; the documents set aside are measured honestly.
        return 1.0 if self.shares and setting["k"] == 2 else value

    monkeypatch.setattr(measuring.Measuring, "value", optimistic)
    called = call(
        "tune", catalogue / "train.jsonl", "-o", tmp_path / "m", "--model", "lcif",
        "--try", "k=2", "--json",
    )  # fmt: skip
    found = called.json
    assert found["trials"][0]["k"] == 2
    assert found["held_out"]["tuned"] < found["held_out"]["untuned"]
    assert found["parameters"] == {"k": "auto"}
    assert "untuned. Using the untuned model." in called.err


@pytest.mark.slow
def test_trials_have_the_features_that_train_chooses(call, catalogue, tmp_path, monkeypatch):
    from manylabel.tagger import features

    # The catalogue has too few documents to be asked otherwise.
    monkeypatch.setattr(features, "_MIN_DOCUMENTS", 100)
    chosen = []
    original = features.choose_features

    def recorded(*args, **kwargs):
        chosen.append(original(*args, **kwargs))
        return chosen[-1]

    monkeypatch.setattr(features, "choose_features", recorded)
    monkeypatch.setattr("manylabel.tagger.tagger.choose_features", recorded)
    settings = ("--set", "k=20", "--try", "C=1", "--cv", "0.3", "-q")
    called = call("tune", catalogue / "train.jsonl", "-o", tmp_path / "m", *settings)
    assert called.code == 0
    for_trials, for_training = (vectorizer.get_params() for vectorizer in chosen)
    assert for_trials == for_training
    chosen.clear()
    words = call(
        "tune", catalogue / "train.jsonl", "-o", tmp_path / "w", *settings, "--features", "words"
    )
    assert (words.code, chosen) == (0, [])


def test_the_grid_of_the_paper_has_a_name(call, catalogue, tmp_path):
    called = call(
        "tune", catalogue / "train.jsonl", "-o", tmp_path / "m", "--model", "feature-knn",
        "--try", "paper", "--json",
    )  # fmt: skip
    assert called.code == 0
    assert {trial["beta"] for trial in called.json["trials"]} == {"auto", 0.5, 1.0, 1.5, 2.0}
    assert {trial["threshold"] for trial in called.json["trials"]} == {"cardinality"}


def test_the_grid_of_the_paper_is_for_the_paper_s_models(call, catalogue, tmp_path):
    called = call(
        "tune", catalogue / "train.jsonl", "-o", tmp_path / "m", "--model", "svm", "--try", "paper"
    )
    assert called.code == 2
    assert "--try paper is for instance-knn, feature-knn and lcif, not for svm" in called.err
